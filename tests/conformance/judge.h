/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether the oracle's result allows a result.
 */
#ifndef PTXRUN_TESTS_CONFORMANCE_JUDGE_H
#define PTXRUN_TESTS_CONFORMANCE_JUDGE_H

#include <stdbool.h>

#include "ptx/ptx.h"
#include "tests/oracle/thread.h"

struct conf_verdict {
    bool is_right;
    double error; /* of an approximate instruction; 0 otherwise */
    double allowed;
};

/* One result of a case. */
struct conf_result {
    const struct ptx_inst *inst;
    const union oracle_value *sources; /* of the instruction */
    unsigned source_count;
    bool is_main;       /* the destination, not a second predicate or a carry */
    enum ptx_type type; /* the instruction's */
    unsigned bits;      /* of the register it is in */
    union oracle_value got;
    union oracle_value want;
};

#define CONF_MAX_SOURCES 6

/* Type of the instruction's n-th source; PTX_TYPE_NONE when it has no such. */
enum ptx_type conf_source_type(const struct ptx_inst *inst, unsigned source);

struct conf_verdict conf_judge(const struct conf_result *result);

#endif
