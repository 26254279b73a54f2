/* SPDX-License-Identifier: Apache-2.0
 *
 * One local array while it is looked at, and rewritten if possible. Private to interleave.c and
 * array_users.c.
 */
#ifndef PTXRUN_TRANSLATOR_COLLAPSE_ARRAY_USERS_H
#define PTXRUN_TRANSLATOR_COLLAPSE_ARRAY_USERS_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "translator/analysis/analysis.h"

struct tr_array {
    struct tr_graph *graph;
    LLVMTargetDataRef layout;
    LLVMBuilderRef builder;
    LLVMTypeRef i64;
    uint32_t value;        /* the alloca */
    uint32_t align;        /* of its memory */
    uint32_t unit;         /* bytes of the smallest access; 0: there is none yet … */
    uint32_t widest;       /* … and of the largest */
    struct tr_set derived; /* addresses computed from the array's */
    struct tr_set users;   /* other users of these addresses, which do not give them away */
    LLVMValueRef *offset;  /* by value, for derived addresses: i64 */
    LLVMValueRef pitch;
};

static inline const struct tr_value *tr_array_value(const struct tr_array *array, uint32_t value)
{
    return &array->graph->values[value];
}

static inline bool tr_is_of_array(const struct tr_array *array, uint32_t value)
{
    return value != TR_NONE && tr_set_has(&array->derived, value);
}

/* Fills the sets, unit and widest. Returns whether the address goes nowhere else, and there are
 * accesses for which elements of one size exist. */
bool tr_find_array_users(struct tr_array *array);

#endif
