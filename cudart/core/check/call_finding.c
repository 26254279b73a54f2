/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/check/call_finding.h"

#include <stdlib.h>

void crt_call_finding_add(enum crt_finding_kind kind, const char *access, const char *where,
                          const struct crt_frames *frames, bool is_refused)
{
    struct crt_host_place place = crt_frames_source(frames);
    char *call = crt_frames_text(frames);
    crt_finding_add(&(struct crt_finding){.kind = kind,
                                          .access = access,
                                          .where = where,
                                          .call = call,
                                          .function = crt_frames_function(frames),
                                          .file = place.file,
                                          .line = place.line,
                                          .is_refused = is_refused});
    free(call);
}
