/* SPDX-License-Identifier: Apache-2.0
 *
 * Configurations of one iteration, tried in another process: the vectoriser may crash it, and so
 * may its code.
 */
#ifndef PTXRUN_TESTS_VECTOR_ITERATION_ATTEMPT_H
#define PTXRUN_TESTS_VECTOR_ITERATION_ATTEMPT_H

#include "tests/vector/iteration_run.h"

/* outcomes: one for each configuration. Fails if the iteration as it is cannot be run. */
enum pxr_status iteration_attempt(const struct iteration_case *c,
                                  const struct iteration_config *configs, uint32_t count,
                                  struct iteration_outcome *outcomes, struct pxr_error *err);

/* Ends the process that has tried them. */
void iteration_attempt_end(void);

#endif
