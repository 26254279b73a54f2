/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs one case on the oracle, with different schedules, and on all that is tested; compares all
 * memory.
 */
#ifndef PTXRUN_TESTS_RANDOM_COMPARE_H
#define PTXRUN_TESTS_RANDOM_COMPARE_H

#include "tests/shapes/backend.h"

enum verdict {
    VERDICT_SAME,
    VERDICT_DIFFERENT,   /* the code under test is wrong, or the oracle */
    VERDICT_INVALID,     /* the case: it does not parse, faults on the oracle, or has a race */
    VERDICT_UNSUPPORTED, /* an engine refuses an instruction by name */
    VERDICT_COUNT
};

struct comparison {
    enum verdict verdict;
    struct pxr_error err;                         /* why, unless it is the same */
    struct runner_made made[BACKEND_BUILD_COUNT]; /* by builds, of those tested; without texts */
    const struct backend *backend; /* which differs or refuses; NULL: the oracle, or none */
    struct case_memory memory;     /* the oracle's; VERDICT_SAME and _DIFFERENT */
};

/* tested: in their order, until one differs. schedules: how often the oracle runs, at least 1; two
 * show most races, more show what reads something that nothing has written. The caller calls
 * comparison_fini. */
void compare_case(const struct ptx_case *c, const struct backend_list *tested, unsigned schedules,
                  struct comparison *comparison);
void comparison_fini(struct comparison *comparison);

#endif
