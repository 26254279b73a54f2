/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies to shared memory that go on beside their thread until it waits for them (cp.async).
 */
#ifndef PTXRUN_CUDART_CORE_CODE_RACE_COPIES_H
#define PTXRUN_CUDART_CORE_CODE_RACE_COPIES_H

#include "cudart/core/code/race_access.h"

/* The block begins: nothing is under way. */
void crt_race_copies_begin(struct crt_running_block *running);

/* Lanes have begun to copy there. */
void crt_race_copies_add(struct crt_race_row *row);

/* Of lanes from the one of this thread on: what each has begun becomes a group; or each waits for
 * its groups but the last ones. */
void crt_race_copies_commit(struct crt_running_block *running, uint32_t thread, uint64_t lanes);
void crt_race_copies_wait(struct crt_running_block *running, uint32_t thread, uint64_t lanes,
                          uint32_t but);

#endif
