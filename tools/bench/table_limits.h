/* SPDX-License-Identifier: Apache-2.0
 *
 * What the machine can do at most.
 */
#ifndef PTXRUN_TOOLS_BENCH_TABLE_LIMITS_H
#define PTXRUN_TOOLS_BENCH_TABLE_LIMITS_H

#include "tools/bench/table_case.h"

/* Per second, by enum table_limit; 0: not measured. */
struct table_limits {
    double rate[TABLE_LIMIT_COUNT];
};

/* Measures a limit on so many threads if that has not been done. */
void table_limits_measure(struct table_limits *limits, enum table_limit which, int threads);

#endif
