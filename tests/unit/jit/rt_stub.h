/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands for the scheduler in tests of loaded code: records the last barrier call.
 */
#ifndef PTXRUN_TESTS_JIT_RT_STUB_H
#define PTXRUN_TESTS_JIT_RT_STUB_H

#include <stdint.h>

/* Of the calling thread. */
struct rt_stub_record {
    uint32_t bar_sync_calls;
    uint32_t bar_sync_id;
    uint32_t bar_sync_count;
    uintptr_t return_address; /* of the last rt_bar_sync */
};

extern _Thread_local struct rt_stub_record rt_stub;

/* Stands for all that no test calls. */
void rt_stub_abort(void);

#endif
