/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes poison visible: beside every value of a function its *shadow* is computed, a bit for each
 * element that says whether it is poison, and a run ends where poison would decide something: a
 * branch, an address, a mask, a divisor, what is stored. Machine code knows no poison, so that
 * nothing else shows a freeze or a select that is missing.
 */
#ifndef PTXRUN_TESTS_VECTOR_POISON_H
#define PTXRUN_TESTS_VECTOR_POISON_H

#include <llvm-c/Types.h>

#include "util/error.h"

/* The decisions that poison can make. */
enum poison_use {
    POISON_BRANCH,
    POISON_ADDRESS,
    POISON_MASK,
    POISON_DIVISOR,
    POISON_STORED,
    POISON_ARGUMENT,
    POISON_USE_COUNT
};

/* Generated code calls this at each such place: void (i1 is_poison as an i32, i32 use). */
#define POISON_FUNCTION "poison_check"

/* Adds shadows and checks to the function. Not known are: poison from `inbounds`, `exact`, `nnan`
 * and `ninf`, and poison that waits in variables. */
enum pxr_status poison_instrument(LLVMValueRef function, struct pxr_error *err);

#endif
