/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the printer's files. Internal to ptx/.
 */
#ifndef PTXRUN_PTX_PRINTER_H
#define PTXRUN_PTX_PRINTER_H

#include "ptx/print.h"

struct ptx_printer {
    FILE *out;
    bool is_normal;
};

static inline void ptx_print_text(const struct ptx_printer *p, struct pxr_str text)
{
    fwrite(text.ptr, 1, text.len, p->out);
}

/* Whether the text as written is wanted and there. */
static inline bool ptx_print_written(const struct ptx_printer *p, struct pxr_str text)
{
    if (p->is_normal || text.len == 0)
        return false;
    ptx_print_text(p, text);
    return true;
}

/* ---- print.c ---- */
void ptx_print_body(const struct ptx_printer *p, const struct ptx_func *func);

/* ---- print_decl.c ---- */
/* linkage, space, type …, up to the name */
void ptx_print_var_head(const struct ptx_printer *p, const struct ptx_var *var);
/* name, dimensions, initial value */
void ptx_print_var_name(const struct ptx_printer *p, const struct ptx_var *var);
void ptx_print_range_name(const struct ptx_printer *p, const struct ptx_var_range *range);
void ptx_print_func_head(const struct ptx_printer *p, const struct ptx_func *func);

#endif
