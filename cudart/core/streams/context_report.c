/* SPDX-License-Identifier: Apache-2.0
 *
 * See context_report.h.
 */
#include "cudart/core/streams/context_report.h"

#include <stdio.h>

#include "cudart/core/base/device.h"
#include "cudart/core/check/call_finding.h"
#include "cudart/core/streams/context.h"

void crt_report_wrong_context(const char *noun, const struct crt_context *owner,
                              const struct crt_context *user)
{
    struct crt_frames frames;
    char what[128];
    char where[128];
    if (!crt_checks_api())
        return;
    crt_frames_take(&frames);
    const char *function = crt_frames_function(&frames);
    snprintf(what, sizeof what, "%s of %s", noun, function);
    if (owner->device == user->device)
        snprintf(where, sizeof where, "both contexts are device %d's", owner->device->index);
    else
        snprintf(where, sizeof where, "it is of device %d, and used for device %d",
                 owner->device->index, user->device->index);
    crt_call_finding_add(
        &(struct crt_finding){
            .kind = CRT_FINDING_WRONG_CONTEXT, .access = what, .where = where, .is_refused = true},
        &frames);
}
