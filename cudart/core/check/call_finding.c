/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/check/call_finding.h"

#include <stdlib.h>

void crt_call_finding_add(const struct crt_finding *finding, const struct crt_frames *frames)
{
    struct crt_finding placed = *finding;
    struct crt_host_place place = crt_frames_source(frames);
    char *call = crt_frames_text(frames);
    placed.call = call;
    placed.function = crt_frames_function(frames);
    placed.file = place.file;
    placed.line = place.line;
    crt_finding_add(&placed);
    free(call);
}
