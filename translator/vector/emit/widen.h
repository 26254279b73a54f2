/* SPDX-License-Identifier: Apache-2.0
 *
 * One version of an iteration while it is emitted. Private to translator/vector.
 *
 * How a value of the iteration is held, by its shape (iteration->shapes):
 *   uniform  one scalar for all copies
 *   affine   a scalar for each copy that differs: what its lane 0 has (or would have, if lane 0
 *            is not active: lane k has scalar + k * stride, modulo the width)
 *   varying  a vector for each copy that differs. Scalar type T becomes <width x T>; a vector type
 *            <n x T> becomes <width * n x T>, the n elements of lane 0 first.
 * Copies that cannot differ share: a value that does not depend on the row is made once for all
 * rows, one that is uniform along the row once for all copies along it.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_EMIT_WIDEN_H
#define PTXRUN_TRANSLATOR_VECTOR_EMIT_WIDEN_H

#include <llvm-c/Target.h>

#include "translator/analysis/address.h"
#include "translator/vector/plan/access_plan.h"
#include "translator/vector/plan/plan.h"

#define TR_MAX_COPIES 32

/* The lanes that are active where the builder is. */
struct tr_active {
    /* By copy: <width x i1>; NULL: all lanes are active. If one copy's is NULL, all are. */
    LLVMValueRef mask[TR_MAX_COPIES];
};

struct tr_widen;

/* What the steps of tuning that are not skipped do; NULL: skipped. */
struct tr_tuning_hooks {
    const struct tr_access_step *accesses[3]; /* NULL behind the last one */
    /* Called where one copy of a load of neighbours is emitted, which begins at this address: asks
     * for the memory that will be loaded later. */
    void (*ask_ahead)(struct tr_widen *widen, const struct tr_memory *memory, uint32_t copy,
                      LLVMValueRef address);
    /* Whether ask_ahead does so for what the next block's load will read. */
    bool (*is_in_run)(const struct tr_widen *widen, uint32_t load);
    /* Finds how a value that is about to be defined grows from row to row; false: it finds
     * nothing. */
    bool (*find_step)(struct tr_widen *widen, uint32_t value);
    /* Quotients that lead to addresses are expected to be the same for all lanes. */
    bool has_common_places;
    /* Makes rows of one row of threads, which the nest then has instead, where the program does.
     * width: threads of a vector. */
    enum pxr_status (*split_rows)(struct tr_nest *nest, uint32_t width, struct pxr_error *err);
    /* The number of threads of a row that have work, if all others do nothing: the nest's count, or
     * a number of at least 1 that is made before the nest. iteration: without guards. */
    LLVMValueRef (*shorten)(const struct tr_nest *nest, const struct tr_iteration *iteration,
                            bool is_jammed);
};

struct tr_widen {
    const struct tr_iteration *iteration;
    const struct tr_vector_options *options;
    const struct tr_tuning_hooks *tuning;
    uint32_t width;
    uint32_t jam[2];        /* copies along the row, rows */
    uint32_t copies;        /* jam[0] * jam[1]; copy c is vector c % jam[0] of row c / jam[0] */
    bool is_concise;        /* units have no second copy without masks */
    uint32_t least_divisor; /* lanes go on group by group if divisors are as large */
    LLVMContextRef llvm;
    LLVMModuleRef module;
    LLVMValueRef function;
    LLVMBasicBlockRef entry; /* control comes through it once, before the nest */
    LLVMBuilderRef builder;
    LLVMTargetDataRef layout;
    LLVMTypeRef i1, i8, i32, i64, ptr;
    LLVMValueRef *now;         /* by value * copies + copy: the value that holds it; NULL: none
                                  yet */
    struct tr_move *row_steps; /* by value: of scalars that rows do not share */
    struct pxr_arena *arena;
    struct tr_active active;
    uint32_t *seed_sites; /* counts up */
};

/* ---- values (value.c). Operands are those of the original instruction: values of the iteration,
 * values from outside of it, or constants ---- */

/* Copies that cannot differ share one value: the copy at which it is defined. */
uint32_t tr_widen_holder(const struct tr_widen *widen, uint32_t value, uint32_t copy);

/* The shape of an operand where it is used; constants are uniform. */
struct tr_shape tr_widen_shape(const struct tr_widen *widen, LLVMValueRef operand);

/* The scalar of a uniform or affine operand. */
LLVMValueRef tr_widen_scalar(struct tr_widen *widen, LLVMValueRef operand, uint32_t copy);

/* The operand as a vector, whatever its shape. */
LLVMValueRef tr_widen_vector(struct tr_widen *widen, LLVMValueRef operand, uint32_t copy);

/* The operand in one lane (an i32 value), as a scalar of its own type. */
LLVMValueRef tr_widen_lane(struct tr_widen *widen, LLVMValueRef operand, uint32_t copy,
                           LLVMValueRef lane);

/* The type that holds varying values of this type. */
LLVMTypeRef tr_widen_type(const struct tr_widen *widen, LLVMTypeRef type);

/* The result of the iteration's instruction, at the copy that holds it. Uniform, affine: a scalar.
 */
void tr_widen_define(struct tr_widen *widen, uint32_t value, uint32_t copy, LLVMValueRef result);

/* <width x i1> of the lanes that the value at this copy is for: the union over the copies that
 * share it; NULL: all lanes. For executing an instruction that copies share. */
LLVMValueRef tr_widen_mask_for(struct tr_widen *widen, uint32_t value, uint32_t copy);

/* i1: whether any lane of the mask is set; mask is not NULL. */
LLVMValueRef tr_widen_any(struct tr_widen *widen, LLVMValueRef mask);

/* <width x T> with the scalar in each lane. */
LLVMValueRef tr_widen_splat(struct tr_widen *widen, LLVMValueRef scalar);

LLVMBasicBlockRef tr_widen_new_block(const struct tr_widen *widen, const char *name);

/* Whether to make here the defect that a test asks for. */
bool tr_widen_seed(struct tr_widen *widen, enum tr_vector_seed kind);

/* ---- numbers (number.c) ---- */

/* Emits the code of a number for a copy, once, where it is first needed. */
LLVMValueRef tr_widen_number(struct tr_widen *widen, struct tr_number *number, uint32_t copy);

/* ---- masks (mask.c). A mask is <width x i1> by copy; NULL: all lanes ---- */

LLVMValueRef tr_widen_mask_constant(const struct tr_widen *widen, bool is_set);
/* Lanes of `mask` whose condition is true; conditions of other lanes may be poison. */
LLVMValueRef tr_widen_mask_and(struct tr_widen *widen, LLVMValueRef mask, LLVMValueRef condition);
/* i1: whether some lane of some copy is set, or every lane of every copy. */
LLVMValueRef tr_widen_mask_any(struct tr_widen *widen, const LLVMValueRef *mask);
LLVMValueRef tr_widen_mask_all(struct tr_widen *widen, const LLVMValueRef *mask);
/* Per lane, `a` where the mask is set, otherwise b; both are held like varying values of the scalar
 * type `type`. */
LLVMValueRef tr_widen_blend(struct tr_widen *widen, LLVMTypeRef type, LLVMValueRef mask,
                            LLVMValueRef a, LLVMValueRef b);

#endif
