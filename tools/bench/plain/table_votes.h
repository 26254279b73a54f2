/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of table_votes.c in C; see plain/table_votes.c.
 */
#ifndef PTXRUN_TOOLS_BENCH_PLAIN_TABLE_VOTES_H
#define PTXRUN_TOOLS_BENCH_PLAIN_TABLE_VOTES_H

#include "tools/bench/plain/plain.h"

#define TABLE_VOTERS 32 /* elements that one vote is about */

/* buffer[0]: elements; buffer[1]: a count for each n[0] / TABLE_VOTERS; n[1]: rounds; scalar[0]:
 * the limit. */
table_plain plain_vote_any;
table_plain plain_vote_all;
table_plain plain_vote_ballot;

#endif
