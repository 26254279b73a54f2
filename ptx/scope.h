/* SPDX-License-Identifier: Apache-2.0
 *
 * Names while a module is parsed: one table per scope ({ } blocks nest and shadow). Internal to
 * ptx/. Everything lives in an arena that dies with the parser.
 */
#ifndef PTXRUN_PTX_SCOPE_H
#define PTXRUN_PTX_SCOPE_H

#include "ptx/ptx.h"

enum ptx_symbol_kind {
    PTX_SYMBOL_VAR,
    PTX_SYMBOL_FUNC,
    PTX_SYMBOL_LABEL,
    PTX_SYMBOL_RANGE,     /* %r<100>: key is "%r" */
    PTX_SYMBOL_TARGETS,   /* label list of .branchtargets */
    PTX_SYMBOL_PROTOTYPE, /* .callprototype, or the first function of a .calltargets list */
    PTX_SYMBOL_SREG,
    PTX_SYMBOL_SREG_VECTOR, /* %tid; its first component */
    PTX_SYMBOL_LOST,        /* named in a statement that has an error: its meaning is not known */
    PTX_SYMBOL_LOST_RANGE
};

struct ptx_label_list {
    const struct ptx_label **labels;
    uint32_t count;
};

struct ptx_symbol; /* hash table entry; opaque outside scope.c */

struct ptx_symbol_value {
    enum ptx_symbol_kind kind;
    union {
        struct ptx_var *var;
        struct ptx_func *func; /* FUNC, PROTOTYPE */
        const struct ptx_label *label;
        const struct ptx_var_range *range;
        const struct ptx_label_list *targets;
        enum ptx_sreg sreg;
    };
};

struct ptx_scope {
    struct ptx_scope *parent;
    struct ptx_symbol *names;
    struct ptx_symbol *ranges;
    size_t first_pending; /* of the parser's unresolved label references */
};

enum ptx_define_result { PTX_DEFINE_OK, PTX_DEFINE_DUPLICATE, PTX_DEFINE_NO_MEMORY };

/* Ranges and other names are separate tables: "%r" the range and "%r" the register differ. A name
 * that is LOST may be defined after all. */
enum ptx_define_result ptx_scope_define(struct ptx_scope *scope, struct pxr_arena *arena,
                                        struct pxr_str name, struct ptx_symbol_value value);

/* Looks the name up, perhaps in a RANGE, in this scope and those around it; *scope becomes the one
 * that has it. NULL when none has it. */
const struct ptx_symbol_value *ptx_scope_find(struct ptx_scope **scope, struct pxr_str name);

/* The same in this scope only. */
const struct ptx_symbol_value *ptx_scope_find_here(const struct ptx_scope *scope,
                                                   struct pxr_str name);

/* Whether this scope has a range of the prefix, "%r". */
bool ptx_scope_has_range(const struct ptx_scope *scope, struct pxr_str prefix);

#endif
