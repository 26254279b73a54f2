/* SPDX-License-Identifier: Apache-2.0
 *
 * One thread-local pointer decides where reports go.
 */
#include "cudart/core/base/report.h"

#include <stddef.h>

#include "util/log.h"
#include "util/refusal.h"

static _Thread_local struct pxr_error *redirected;

void crt_report_error(const struct pxr_error *error)
{
    if (!redirected) {
        if (error->status == PXR_UNSUPPORTED)
            pxr_refusal_note("%s", error->message);
        pxr_log(PXR_LOG_ERROR, "%s", error->message);
    } else if (redirected->status == PXR_OK) {
        *redirected = *error;
    }
}

struct pxr_error *crt_report_redirect(struct pxr_error *target)
{
    struct pxr_error *before = redirected;
    redirected = target;
    return before;
}
