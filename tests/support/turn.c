/* SPDX-License-Identifier: Apache-2.0
 *
 * See turn.h.
 */
#include "tests/support/turn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* turns: all of them. */
static unsigned this_turn(unsigned turns)
{
    const char *chosen = getenv("PTXRUN_TEST_TURN");
    if (chosen != NULL && strcmp(chosen, "all") == 0)
        return turns;
    return chosen == NULL ? 0 : (unsigned)(strtoul(chosen, NULL, 10) % turns);
}

bool turn_has(unsigned number, unsigned turns)
{
    unsigned turn = this_turn(turns);
    return turn == turns || number % turns == turn;
}

void turn_print(unsigned turns)
{
    if (turns > 1 && this_turn(turns) < turns)
        printf("turn %u of %u (PTXRUN_TEST_TURN)\n", this_turn(turns), turns);
}
