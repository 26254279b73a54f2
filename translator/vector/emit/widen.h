/* SPDX-License-Identifier: Apache-2.0
 *
 * One version of a turn while it is emitted. Private to translator/vector.
 *
 * How a value of the turn is held, by its shape (turn->shapes):
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

#include "translator/vector/plan/plan.h"

#define TR_MAX_COPIES 32

/* The lanes that are active where the builder is. */
struct tr_active {
    /* By copy: <width x i1>; NULL: all lanes are active. If one copy's is NULL, all are. */
    LLVMValueRef mask[TR_MAX_COPIES];
};

/* How a scalar that rows do not share grows from each row to the next. */
struct tr_row_step {
    LLVMValueRef step; /* of pointers in bytes, modulo the width; NULL: not known */
    bool nuw, nsw;     /* it does not wrap on the way to the next row, as an unsigned number and an
                          unsigned step, or as signed ones */
    bool is_positive;  /* as a signed number it is at least 0 in all rows */
};

struct tr_widen {
    const struct tr_turn *turn;
    const struct tr_vector_options *options;
    uint32_t width;
    uint32_t jam[2]; /* copies along the row, rows */
    uint32_t copies; /* jam[0] * jam[1]; copy c is vector c % jam[0] of row c / jam[0] */
    LLVMContextRef llvm;
    LLVMModuleRef module;
    LLVMValueRef function;
    LLVMBuilderRef builder;
    LLVMTargetDataRef layout;
    LLVMTypeRef i1, i8, i32, i64, ptr;
    LLVMValueRef *now;             /* by value * copies + copy: what it is held in; NULL: not yet */
    struct tr_row_step *row_steps; /* by value */
    struct tr_active active;
    uint32_t *seed_sites; /* counts up */
};

/* ---- values (value.c). Operands are those of the original instruction: values of the turn,
 * values from outside of it, or constants ---- */

/* The copy that the value of this copy is held with. */
uint32_t tr_w_holder(const struct tr_widen *widen, uint32_t value, uint32_t copy);

/* Shape of an operand where it is used; constants are uniform. */
struct tr_shape tr_w_shape(const struct tr_widen *widen, LLVMValueRef operand);

/* The operand's scalar: of uniform and affine ones. */
LLVMValueRef tr_w_scalar(struct tr_widen *widen, LLVMValueRef operand, uint32_t copy);

/* The operand as a vector, whatever its shape. */
LLVMValueRef tr_w_vector(struct tr_widen *widen, LLVMValueRef operand, uint32_t copy);

/* The operand in one lane (an i32 value), as a scalar of its own type. */
LLVMValueRef tr_w_lane(struct tr_widen *widen, LLVMValueRef operand, uint32_t copy,
                       LLVMValueRef lane);

/* What type a varying value of this type is held in. */
LLVMTypeRef tr_w_type(const struct tr_widen *widen, LLVMTypeRef type);

/* The result of the turn's instruction, at the copy that holds it. Uniform, affine: a scalar. */
void tr_w_define(struct tr_widen *widen, uint32_t value, uint32_t copy, LLVMValueRef result);

/* <width x i1> of the lanes of any copy that the value at this copy is held for: their union; NULL:
 * all lanes. For the execution of an instruction that copies share. */
LLVMValueRef tr_w_mask_for(struct tr_widen *widen, uint32_t value, uint32_t copy);

/* i1: whether any lane of the mask is set; mask is not NULL. */
LLVMValueRef tr_w_any(struct tr_widen *widen, LLVMValueRef mask);

/* <width x T> with the scalar in each lane. */
LLVMValueRef tr_w_splat(struct tr_widen *widen, LLVMValueRef scalar);

LLVMBasicBlockRef tr_w_new_block(const struct tr_widen *widen, const char *name);

/* Whether the defect that a test asks for is to be made here. */
bool tr_w_seed(struct tr_widen *widen, enum tr_vector_seed kind);

/* ---- rows side by side (rows.c) ---- */

/* Finds the step of a value that is about to be defined; whether there is one. */
bool tr_w_find_step(struct tr_widen *widen, uint32_t value);
/* If there is one: what the first row is to have, from which those of the others follow, even if it
 * has no result that anybody may use and they have. */
LLVMValueRef tr_w_begin_rows(const struct tr_widen *widen, uint32_t value, LLVMValueRef first);
/* … and the value at a copy of another row than the first, whose are defined. */
LLVMValueRef tr_w_in_row(struct tr_widen *widen, uint32_t value, uint32_t copy);
enum tr_growth { TR_ROWS_DIFFER, TR_ROWS_SHARE, TR_ROWS_GROW };
/* Whether rows share the scalar, or each has at least what the row before has in this order. */
enum tr_growth tr_w_growth(const struct tr_widen *widen, LLVMValueRef operand,
                           bool is_in_signed_order);

/* ---- loads and stores (memory.c) ---- */

/* Emits a load or store (neither atomic nor, unless all lanes are active, volatile) for all copies
 * that differ, and defines the load's value. */
void tr_w_access(struct tr_widen *widen, uint32_t value);

/* How many instructions one copy of the access takes, about: 1 contiguous or uniform, more for
 * strides, width for gathers; for estimates, before anything is emitted. *is_gather: it is one. */
uint32_t tr_access_cost(const struct tr_turn *turn, uint32_t width, uint32_t value,
                        bool *is_gather);

/* ---- one lane after the other (serial.c) ---- */

/* Emits an instruction that has effects, or that there is no vector form of (atomics, calls,
 * fences, volatile accesses under a mask), for each active lane of each copy: a loop over set bits
 * of the mask, or over all lanes. Its result, if it has one, is varying. */
void tr_w_serial(struct tr_widen *widen, uint32_t value);

/* ---- everything else (instruction.c) ---- */

/* Emits any instruction of the turn but phis and terminators. */
void tr_w_instruction(struct tr_widen *widen, uint32_t value);

/* Whether the instruction has a vector form; if not it is emitted by tr_w_serial. */
bool tr_has_vector_form(const struct tr_turn *turn, uint32_t value);

/* ---- control (control.c) ---- */

/* What a fast version does when a guard does not let all lanes through. */
struct tr_guard_exits {
    const struct tr_guard *guards;
    uint32_t count;
    LLVMBasicBlockRef none;  /* goes here if no lane takes the expected way … */
    LLVMBasicBlockRef other; /* … and here if some do */
};

/* Emits the turn at the builder's place, with counters defined and `active` set; leaves the builder
 * where all lanes have come to the end. */
enum pxr_status tr_w_turn(struct tr_widen *widen, const struct tr_guard_exits *guards,
                          struct pxr_error *err);

#endif
