/* SPDX-License-Identifier: Apache-2.0
 *
 * Random iterations, which end, have no undefined behaviour, and write only to memory of their own
 * thread (or add to memory that nobody reads). Private to tests/vector but for random_iteration.
 */
#ifndef PTXRUN_TESTS_VECTOR_RANDOM_ITERATION_H
#define PTXRUN_TESTS_VECTOR_RANDOM_ITERATION_H

#include <stdbool.h>

#include <llvm-c/Types.h>

#include "tests/vector/iteration_case.h"

/* The iteration of this number. Fails with PXR_COMPILE_FAILED: LLVM rejects the generator's
 * code. */
enum pxr_status random_iteration(struct iteration_case *c, uint64_t seed, struct pxr_error *err);

/* ---- the generator's parts ---- */

#define RANDOM_INTS   8 /* variables; those before RANDOM_OWN begin with what threads differ in */
#define RANDOM_OWN    3
#define RANDOM_LONGS  3
#define RANDOM_FLOATS 3
#define RANDOM_OTHERS 2 /* variables of each other type */
#define RANDOM_DEPTH  4 /* of loops and ifs */

enum random_parameter { A, B, C, N, NX, NY, X, Y, PARAMETERS };

struct random_generator {
    uint64_t state;
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMValueRef function;
    LLVMBasicBlockRef entry;
    LLVMTypeRef i1, i8, i16, i32, i64, f16, f32, f64, ptr;
    LLVMValueRef parameters[PARAMETERS];
    LLVMValueRef thread; /* i32: y * nx + x */
    LLVMValueRef ints[RANDOM_INTS];
    LLVMValueRef longs[RANDOM_LONGS];
    LLVMValueRef floats[RANDOM_FLOATS];
    LLVMValueRef pointers[RANDOM_OTHERS]; /* to i32 that do not change */
    LLVMValueRef flags[RANDOM_OTHERS];    /* i1 */
    LLVMValueRef pairs[RANDOM_OTHERS];    /* <2 x i32> */
    LLVMValueRef doubles[RANDOM_OTHERS];
    bool is_plain;      /* some: neither calls functions nor has atomic operations */
    bool takes_apart;   /* half of the iterations: uses parts of the thread's number, as rows and
                           places in them are */
    uint32_t own_share; /* in 100: how often values of a single thread are used */
    uint32_t budget;    /* statements left */
    LLVMBasicBlockRef end;
    LLVMBasicBlockRef ways_out[RANDOM_DEPTH]; /* of the loops around, by depth */
    LLVMBasicBlockRef ways_again[RANDOM_DEPTH];
    uint32_t loop_depth;
};

uint32_t random_roll(struct random_generator *g, uint32_t below);
LLVMValueRef random_number(const struct random_generator *g, uint32_t value);
LLVMValueRef random_variable(struct random_generator *g, LLVMTypeRef type);
LLVMBasicBlockRef random_block(const struct random_generator *g, const char *name);

/* ---- values (random_value.c) ---- */

LLVMValueRef random_read(struct random_generator *g);       /* an int variable */
LLVMValueRef random_part(struct random_generator *g);       /* some bits of the thread's number */
LLVMValueRef random_read_other(struct random_generator *g); /* i32 made of another variable */
LLVMValueRef random_condition(struct random_generator *g);

/* ---- statements without control flow (random_value.c, random_other.c, random_memory.c) ---- */

void random_assign(struct random_generator *g);
void random_assign_other(struct random_generator *g);
void random_groups(struct random_generator *g); /* random_groups.c; a loop, too */
void random_access(struct random_generator *g);
/* Stores a constant to the thread's own memory; i32: what was there, or a constant. */
LLVMValueRef random_set_own(struct random_generator *g);
/* Stores the i32 with what was there to the thread's own memory. */
void random_mix_into_own(struct random_generator *g, LLVMValueRef value);
LLVMValueRef random_address(struct random_generator *g); /* of an i32 that does not change */
LLVMValueRef random_load(struct random_generator *g);    /* i32, from memory that does not change */
LLVMValueRef random_call(struct random_generator *g, const char *name, LLVMTypeRef result,
                         LLVMTypeRef *types, LLVMValueRef *arguments, unsigned count);
LLVMValueRef random_intrinsic(struct random_generator *g, const char *name, LLVMTypeRef overload,
                              LLVMValueRef *arguments, unsigned count);

#endif
