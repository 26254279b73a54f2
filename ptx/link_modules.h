/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by link_modules.c and link_copy.c. Internal to ptx/.
 */
#ifndef PTXRUN_PTX_LINK_MODULES_H
#define PTXRUN_PTX_LINK_MODULES_H

#include "ptx/ptx.h"

/* One input module: where its objects and its text went. */
struct ptx_link_input {
    const struct ptx_module *module;
    struct ptx_var **vars;   /* by index in the input */
    struct ptx_func **funcs; /* by index in the input */
    const char *text;        /* its place in the result's text */
    int first_line;          /* lines of the result before it */
};

/* Copies everything a function owns, body and parameters, into `to`, which keeps its name,
 * linkage and index. false: out of memory. */
bool ptx_link_copy_func(struct pxr_arena *arena, const struct ptx_link_input *input,
                        const struct ptx_func *from, struct ptx_func *to);

/* Copies the initial value. */
bool ptx_link_copy_init(struct pxr_arena *arena, const struct ptx_link_input *input,
                        const struct ptx_var *from, struct ptx_var *to);

#endif
