/* SPDX-License-Identifier: Apache-2.0
 *
 * Every spelling of an instruction's row, for code that goes through all of them: tests, generators
 * and the documentation.
 */
#ifndef PTXRUN_PTX_FORMS_H
#define PTXRUN_PTX_FORMS_H

#include "ptx/ptx.h"

#define PTX_FORM_BYTES 192

struct ptx_form {
    enum ptx_op op;
    char text[PTX_FORM_BYTES]; /* "add.rn.ftz.f32", parts in the row's order */
    unsigned type_count;
    enum ptx_type types[PTX_MAX_TYPES];
    unsigned mod_count;
    enum ptx_mod mods[PTX_MAX_MODS];
    uint64_t groups;  /* union over mods, PTX_GROUP_BIT */
    unsigned min_ptx; /* of the row and of each word */
    unsigned min_sm;
    bool needs_arch; /* only targets such as sm_90a and sm_100f */
};

/* Calls fn for each form of the row until it returns false. What has more of the optional words
 * comes first. A row that takes any words ("*") has no forms. */
void ptx_op_each_form(enum ptx_op op, bool (*fn)(const struct ptx_form *form, void *data),
                      void *data);

/* The row's syntax for reading, sets in full: "add{.rn|.rz}{.sat}(.u32|.s32)", where braces hold
 * optional parts. It is cut if it does not fit. */
void ptx_op_print_syntax(enum ptx_op op, char *text, size_t size_bytes);

#endif
