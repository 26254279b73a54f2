/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a result is one that the manual allows, given the oracle's. The manual leaves room in
 * three ways, each of which has its table in bounds.c: inputs with unspecified results, NaNs of
 * unspecified bits, approximate instructions with a bound on the error.
 */
#ifndef PTXRUN_TESTS_ORACLE_BOUNDS_H
#define PTXRUN_TESTS_ORACLE_BOUNDS_H

#include "tests/oracle/thread.h"

enum oracle_verdict {
    ORACLE_SAME,         /* bit for bit, or a NaN where any NaN will do */
    ORACLE_WITHIN_BOUND, /* of an approximate instruction */
    ORACLE_UNSPECIFIED,  /* another result, and the manual allows it */
    ORACLE_WRONG
};

/* Judges the result of an instruction whose emitter is in scalars.def (of others: bit for bit). in:
 * source operands in order, raw bits; want: the answer of oracle_evaluate for them; got: the result
 * to judge, bits above its type ignored. error_seen and error_allowed may be NULL; for approximate
 * instructions they get the largest error of an element against the bound, in the bound's unit
 * (units in the last place, absolute or relative), else 0. Thread-safe. */
enum oracle_verdict oracle_judge(const struct ptx_inst *inst, const union oracle_value *in,
                                 unsigned in_count, union oracle_value want, union oracle_value got,
                                 double *error_seen, double *error_allowed);

/* Why the manual does not define (all of) the result for these inputs, or NULL when it does. */
const char *oracle_unspecified(const struct ptx_inst *inst, const union oracle_value *in,
                               unsigned in_count);

#endif
