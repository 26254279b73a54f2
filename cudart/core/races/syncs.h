/* SPDX-License-Identifier: Apache-2.0
 *
 * What threads learn that read a place in memory, from those that have written there. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_RACES_SYNCS_H
#define PTXRUN_CUDART_CORE_RACES_SYNCS_H

#include "cudart/core/races/order.h"

/* As race_release and race_acquire, through the place. */
void race_sync_release(struct race_block *block, uint32_t thread, bool is_ordered, uintptr_t place);
void race_sync_acquire(struct race_block *block, uint32_t thread, bool is_ordered, uintptr_t place);

#endif
