/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a function of integers and pointers by its IR, keeping track of poison: a flag (nsw, nuw,
 * nneg, exact, disjoint, samesign) or a range that is not true makes a value poison, as the
 * language reference has it. Memory is the test's own.
 */
#ifndef PTXRUN_TESTS_IR_INTERP_H
#define PTXRUN_TESTS_IR_INTERP_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

enum ir_outcome {
    IR_RETURNED,
    IR_FAULTED,     /* called rt_fault */
    IR_POISON,      /* branched on poison, or stored it */
    IR_TOO_LONG,    /* more than IR_MAX_STEPS instructions */
    IR_UNSUPPORTED, /* an instruction or type that this interpreter does not know */
};

#define IR_MAX_STEPS 5000

/* What a call of a declared function gives; false: not known. */
typedef bool (*ir_call_fn)(void *data, const char *name, uint64_t *result);

/* The function takes one pointer. */
enum ir_outcome ir_run(LLVMValueRef function, const void *argument, ir_call_fn call, void *data);

#endif
