/* SPDX-License-Identifier: Apache-2.0
 *
 * Architectures that code can be asked for, and which PTX suits them.
 */
#ifndef PTXRUN_TOOLS_PTXAS_ARCHITECTURE_H
#define PTXRUN_TOOLS_PTXAS_ARCHITECTURE_H

#include <stdbool.h>

#include "ptx/ptx.h"

struct ptxas_architecture {
    const char *name; /* "sm_90a" */
    unsigned number;
    char suffix;     /* 'a', 'f' or 0 */
    bool is_virtual; /* compute_90: check only */
};

/* Errors: PXR_INVALID_ARGUMENT, in ptxas' words. */
enum pxr_status ptxas_read_architecture(const char *name, struct ptxas_architecture *arch,
                                        struct pxr_error *err);

/* Whether PTX for this target may be assembled for the architecture; as above. */
enum pxr_status ptxas_check_target(const struct ptx_module *module,
                                   const struct ptxas_architecture *arch, struct pxr_error *err);

#endif
