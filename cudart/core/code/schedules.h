/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches of kernels in many orders of their threads and blocks (--schedules), for --check=race:
 * what stands in memory afterwards should not depend on the order, and each should end.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_SCHEDULES_H
#define PTXRUN_CUDART_CORE_CODE_SCHEDULES_H

#include <stdatomic.h>
#include <stdbool.h>

#include "cudart/core/code/launch.h"

bool crt_schedules_are_on(void);

/* As crt_launch_submit, waits for the grid, and runs it in other orders from the same memory; in
 * the end memory is as the launch itself has left it. */
enum crt_result crt_schedules_launch(struct crt_launch *launch, struct crt_module *module,
                                     struct crt_stream *stream,
                                     const struct crt_launch_config *config);

/* A thread, or lanes from it on, a bit for each, is about to access memory that others see. It may
 * be the last thing that it does: pc, where it is called from, is where it stands then. */
extern atomic_bool crt_schedules_count_accesses;
void crt_schedules_count(struct rt_thread *thread, uint64_t lanes, const void *pc);
static inline void crt_schedules_access(struct rt_thread *thread, uint64_t lanes, const void *pc)
{
    if (atomic_load_explicit(&crt_schedules_count_accesses, memory_order_relaxed))
        crt_schedules_count(thread, lanes, pc);
}

/* The last write to a word of device memory in a run (rt_launch.grid_id). */
struct crt_last_write {
    uint32_t block;
    uint32_t thread;
    uint32_t line;
};
bool crt_race_last_write(uint64_t address, uint64_t run, struct crt_last_write *write);

#endif
