/* SPDX-License-Identifier: Apache-2.0
 *
 * How often the body of a loop runs, where that is a matter of arithmetic: a counter goes on by a
 * constant, and the branch at the loop's end compares it with another.
 */
#ifndef PTXRUN_TRANSLATOR_MODULE_TRIPS_H
#define PTXRUN_TRANSLATOR_MODULE_TRIPS_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Core.h>

/* A loop's counter, and the test at its end. */
struct tr_counter {
    LLVMValueRef phi;
    LLVMValueRef start;
    LLVMValueRef branch;       /* at the end of the loop's only latch */
    bool goes_on;              /* what the branch's condition is where the loop goes on */
    LLVMIntPredicate relation; /* phi + offset relation limit: the loop goes on */
    int64_t offset;
    int64_t limit;
    int64_t step; /* for each iteration, not 0 */
};

/* False: the phi is none, or nobody knows. */
bool tr_find_counter(LLVMValueRef phi, struct tr_counter *counter);

/* How often the body runs if nothing else ends the loop and the counter starts at start, as a
 * signed number; 0: the counter would wrap first, or nobody knows. */
uint64_t tr_trips_from(const struct tr_counter *counter, int64_t start);

#endif
