/* SPDX-License-Identifier: Apache-2.0
 *
 * Configurations of one turn, tried in processes of their own: what the vectoriser makes may end
 * them, as may the vectoriser.
 */
#ifndef PTXRUN_TESTS_VECTOR_TURN_ATTEMPT_H
#define PTXRUN_TESTS_VECTOR_TURN_ATTEMPT_H

#include "tests/vector/turn_run.h"

/* outcomes: one for each configuration. Fails if the turn as it is cannot be run. */
enum pxr_status turn_attempt(const struct turn_case *c, const struct turn_config *configs,
                             uint32_t count, struct turn_outcome *outcomes, struct pxr_error *err);

#endif
