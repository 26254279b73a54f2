/* SPDX-License-Identifier: Apache-2.0
 *
 * Tests that are only there for other tests, such as seeded defects, take turns: of their cases a
 * run has one in so many, those of its turn, and all turns together have all. tools/test.sh chooses
 * the turn by the commit, in the variable PTXRUN_TEST_TURN; without one it is the first. `all`: all
 * turns.
 */
#ifndef PTXRUN_TESTS_SUPPORT_TURN_H
#define PTXRUN_TESTS_SUPPORT_TURN_H

#include <stdbool.h>

/* Whether the case of that number is of this run's turn, where there are so many turns. */
bool turn_has(unsigned number, unsigned turns);

/* Says which turn it is, if there are several. */
void turn_print(unsigned turns);

#endif
