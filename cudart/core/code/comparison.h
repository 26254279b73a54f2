/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of two codes of a kernel is faster, from what their blocks have taken. Pure functions; no
 * locks.
 *
 * Blocks of one grid differ, and so do moments of a machine: what counts is the ratio of a code's
 * time to that of the other one right before or behind it on the same thread. Ratios are summed as
 * logarithms, so that what doubles and what halves weigh the same.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_COMPARISON_H
#define PTXRUN_CUDART_CORE_CODE_COMPARISON_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: nothing is known. */
struct crt_comparison {
    uint32_t pairs;
    double sum;     /* of the logarithms of rival by present … */
    double squares; /* … and of their squares */
    double more_ns; /* that the rival has taken than the present code would have; may be negative */
};

enum crt_outcome { CRT_OUTCOME_OPEN, CRT_OUTCOME_STAYS, CRT_OUTCOME_RIVAL };

/* The times of a block in both codes; and for how long the rival has run. */
void crt_comparison_add(struct crt_comparison *comparison, double present_ns, double rival_ns,
                        double ran_ns);

/* The rival's time by that of the present code: the geometric mean of what was added. */
double crt_comparison_ratio(const struct crt_comparison *comparison);

/* Whether it is decided. A rival has to be a little faster beyond doubt: what is there has been
 * chosen for a reason, and is in the caches. */
enum crt_outcome crt_comparison_outcome(const struct crt_comparison *comparison);

/* The same where it has to be decided now: whether the rival is faster in all likelihood. */
bool crt_comparison_is_for_rival(const struct crt_comparison *comparison);

#endif
