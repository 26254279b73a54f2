/* SPDX-License-Identifier: Apache-2.0
 *
 * Instructions for test_vector_value.c: bodies of iterations that compute %r, for several types
 * each.
 *
 * $T, $M: the type, as LLVM writes it and as names of intrinsic functions have it. $a, $b, $c:
 * inputs of that type; %aX, %bX, %cX are inputs of the type with the suffix X. %i: the thread's
 * place in its row, %y: its row; the same in all threads: %u -5, %v 3 less than the greatest i32,
 * %z 0, %w a large i64, %f a float, %p a pointer.
 */
#ifndef PTXRUN_TESTS_VECTOR_CASES_H
#define PTXRUN_TESTS_VECTOR_CASES_H

#include <stddef.h>

struct vector_type {
    const char *suffix;
    const char *text;
    const char *mangled;
    unsigned element_bytes;
    unsigned elements;
    unsigned float_bits; /* of the exponent; 0: no number with a NaN */
};

struct vector_case {
    const char *types;  /* suffixes */
    const char *result; /* NULL: $T */
    const char *body;
    /* Ends with %m, whether the thread does the body; NULL: all threads do, and then some. */
    const char *condition;
};

extern const struct vector_type vector_types[];
extern const size_t vector_type_count;
extern const struct vector_case vector_cases[];
extern const size_t vector_case_count;

#endif
