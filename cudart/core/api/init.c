/* SPDX-License-Identifier: Apache-2.0
 *
 * Initialisation of the process.
 */
#include "cudart/core/api/init.h"

#include <pthread.h>
#include <stdlib.h>

#include "cudart/core/base/device.h"
#include "cudart/core/base/process.h"
#include "cudart/core/check/end.h"
#include "cudart/core/check/findings.h"
#include "cudart/core/code/children.h"
#include "cudart/core/code/device_heap.h"
#include "cudart/core/code/module.h"
#include "cudart/core/code/printf.h"
#include "cudart/core/code/race_memory.h"
#include "cudart/core/graph/graph_run.h"
#include "cudart/core/memory/device_arena.h"
#include "cudart/core/memory/memory.h"
#include "cudart/core/memory/pool.h"
#include "cudart/core/streams/context.h"
#include "util/log.h"

static const struct crt_context_part parts[] = {
    {.waited = crt_printf_flush},    {.waited = crt_pool_release_unused},
    {.end = crt_module_destroy_all}, {.end = crt_heap_free_owned},
    {.end = crt_memory_free_owned},
};

static struct {
    pthread_once_t once;
    enum crt_result result;
} initialisation = {.once = PTHREAD_ONCE_INIT};

static enum crt_result reserve_memory(void)
{
    size_t memory_bytes = crt_device_at(0)->memory_bytes;
    enum crt_result result = crt_arena_init(memory_bytes, crt_device_count());
    if (result != CRT_SUCCESS)
        pxr_log(PXR_LOG_ERROR,
                "cannot reserve %zu MiB of address space for device memory; a limit (ulimit -v) "
                "may be too low, or --device-memory too large",
                memory_bytes >> 20);
    return result;
}

static void initialise(void)
{
    crt_process_prepare();
    crt_check_begin();
    crt_child_set_graph_launcher(crt_run_launch_nested);
    if (crt_checks_races())
        crt_race_watch();
    crt_context_set_parts(parts, sizeof parts / sizeof parts[0]);
    enum crt_result result = crt_device_init(getenv("CUDA_VISIBLE_DEVICES"));
    if (result == CRT_SUCCESS)
        result = reserve_memory();
    if (result == CRT_SUCCESS)
        crt_process_set_ready();
    initialisation.result = result;
}

enum crt_result crt_init(unsigned flags)
{
    if (flags != 0)
        return CRT_INVALID_VALUE;
    if (crt_is_forked())
        return CRT_NOT_INITIALIZED;
    pthread_once(&initialisation.once, initialise);
    return initialisation.result;
}
