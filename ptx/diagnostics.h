/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors with a position in PTX text. Internal to ptx/.
 */
#ifndef PTXRUN_PTX_DIAGNOSTICS_H
#define PTXRUN_PTX_DIAGNOSTICS_H

#include "ptx/ptx.h"

struct ptx_diagnostic {
    int line;
    int column;
    const char *message; /* without position */
};

/* Sorts the list, which is not empty, by position and tells it in *err, as ptx_parse promises.
 * Returns PXR_BAD_PTX, or PXR_NEWER_PTX if the module is of a later version than is known. */
enum pxr_status ptx_report(const struct ptx_module *module, struct ptx_diagnostic *list,
                           unsigned count, struct pxr_error *err);

#endif
