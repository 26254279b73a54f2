/* SPDX-License-Identifier: Apache-2.0
 *
 * Architectures that code can be asked for, and which PTX suits them.
 */
#ifndef PTXRUN_PTX_ARCHITECTURE_H
#define PTXRUN_PTX_ARCHITECTURE_H

#include <stdbool.h>

#include "ptx/ptx.h"

struct ptx_architecture {
    const char *name; /* "sm_90a" */
    unsigned number;
    char suffix;     /* 'a', 'f' or 0 */
    bool is_virtual; /* compute_90: check only */
};

/* Errors: PXR_INVALID_ARGUMENT, in ptxas' words. */
enum pxr_status ptx_architecture_read(const char *name, struct ptx_architecture *arch,
                                      struct pxr_error *err);

/* Whether PTX for this target may be assembled for the architecture; as above. */
enum pxr_status ptx_architecture_check(const struct ptx_module *module,
                                       const struct ptx_architecture *arch, struct pxr_error *err);

#endif
