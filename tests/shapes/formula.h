/* SPDX-License-Identifier: Apache-2.0
 *
 * The formula language of case files: what an element of a buffer is, as a function of its index.
 *
 * Integers of 64 bits, two's complement, wrapping; operators and precedence of C (>> is
 * arithmetic, / and % by zero give 0); names:
 *   i            index of the element
 *   k, j         the counters of the innermost sum or fold, and of the one around it
 *   sum(n, e)    sum of e for k from 0 below n; xor(n, e), and(n, e), or(n, e) likewise
 *   min(a, b)  max(a, b)  popc(a)  clz(a): of 32 bits
 *   hash(a)      32 bits that look random
 */
#ifndef PTXRUN_TESTS_SHAPES_FORMULA_H
#define PTXRUN_TESTS_SHAPES_FORMULA_H

#include <stdbool.h>
#include <stdint.h>

/* Evaluates the text up to its end. False: not a formula; *value is then 0. */
bool formula_eval(const char *text, int64_t i, int64_t *value);

/* The function `hash` of the language. */
uint32_t formula_hash(uint64_t a);

#endif
