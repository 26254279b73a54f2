/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of instructions with their inputs and results: a whole table is one kernel.
 *
 * The code of a case finds a, b and c in %r1..%r3, %rd1..%rd3, %f1..%f3, %fd1..%fd3 and %h1..%h3
 * (their low bits), with %p3 true and %p4 false, and leaves its result in
 *   'r' %r4   'd' %rd4   'f' %f4   'F' %fd4   'h' %h4   'p' %p1   'q' %p1 and %p2 (bits 0 and 1)
 *   'n' %f4 and 'N' %fd4: any NaN, expected is ignored
 */
#ifndef PTXRUN_TESTS_TRANSLATOR_EVAL_TABLE_H
#define PTXRUN_TESTS_TRANSLATOR_EVAL_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct eval_case {
    const char *code;
    char result;
    uint64_t a, b, c;
    uint64_t expected;
};

void check_eval_table(const struct eval_case *cases, size_t count);

/* Each of these instructions is refused, by name. */
void check_refused(const char *const *instructions, size_t count);

/* None of these instructions makes a conditional branch, so that lanes stay side by side. */
void check_straight_line(const char *const *instructions, size_t count);

#define CHECK_EVAL_TABLE(cases)   check_eval_table(cases, sizeof(cases) / sizeof((cases)[0]))
#define CHECK_REFUSED(list)       check_refused(list, sizeof(list) / sizeof((list)[0]))
#define CHECK_STRAIGHT_LINE(list) check_straight_line(list, sizeof(list) / sizeof((list)[0]))

#endif
