/* SPDX-License-Identifier: Apache-2.0
 *
 * A module as PTX text again.
 */
#ifndef PTXRUN_PTX_PRINT_H
#define PTXRUN_PTX_PRINT_H

#include <stdio.h>

#include "ptx/ptx.h"

enum ptx_print_style {
    /* The parsed text token for token; only blanks and comments differ. */
    PTX_PRINT_AS_WRITTEN,
    /* Made from the values: numbers, array sizes, initialisers and the order of qualifiers have one
     * form each. Parts kept as text (.loc, .section, .pragma, properties of textures) stay. */
    PTX_PRINT_NORMAL
};

/* A linked module is refused: its parts are names of different scopes. out stays the caller's.
 * Errors: PXR_INVALID_ARGUMENT, PXR_IO. Thread-safe for different files. */
enum pxr_status ptx_print(const struct ptx_module *module, enum ptx_print_style style, FILE *out,
                          struct pxr_error *err);

#endif
