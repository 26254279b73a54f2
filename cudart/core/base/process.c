/* SPDX-License-Identifier: Apache-2.0
 *
 * State of the process: the environment, forks, its exit, and its workers.
 */
#include "cudart/core/base/process.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cudart/core/base/device.h"
#include "cudart/core/base/report.h"
#include "cudart/core/base/stats.h"
#include "scheduler/scheduler.h"
#include "util/log.h"
#include "util/options.h"

/* environment is written once, before is_initialized is set with release order. */
static struct {
    atomic_bool is_initialized;
    atomic_bool is_forked;
    atomic_bool is_exiting;
    _Atomic uint64_t next_number;
    struct crt_environment environment;
} process;

/* Workers do not exist in the child, and CUDA forbids its use there: every call fails. */
static void mark_child(void)
{
    atomic_store_explicit(&process.is_forked, true, memory_order_relaxed);
}

static void mark_exit(void)
{
    atomic_store_explicit(&process.is_exiting, true, memory_order_release);
}

static bool is_flag_set(const char *name)
{
    const char *text = getenv(name);
    return text && *text && strcmp(text, "0") != 0;
}

/* "All paths must be absolute", XDG Base Directory Specification. NULL when there is none. */
static char *find_cache_path(void)
{
    const char *given = getenv("CUDA_CACHE_PATH");
    const char *cache_home = getenv("XDG_CACHE_HOME");
    const char *home = getenv("HOME");
    char *path = NULL;
    int len = -1;
    if (given && *given)
        return strdup(given);
    if (cache_home && cache_home[0] == '/')
        len = asprintf(&path, "%s/ptxrun", cache_home);
    else if (home && home[0] == '/')
        len = asprintf(&path, "%s/.cache/ptxrun", home);
    return len < 0 ? NULL : path;
}

/* Bytes; what is no number is not set. (The default is that of NVIDIA's driver on desktops and
 * servers: cache/cache.h.) */
static uint64_t find_cache_size(void)
{
    const char *text = getenv("CUDA_CACHE_MAXSIZE");
    char *end;
    errno = 0;
    uint64_t bytes = text && *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
    bool is_set = text && *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
    return is_set ? bytes : UINT64_MAX;
}

static void read_environment(struct crt_environment *environment)
{
    environment->launches_block = is_flag_set("CUDA_LAUNCH_BLOCKING");
    environment->cache_is_disabled = is_flag_set("CUDA_CACHE_DISABLE");
    environment->cache_max_bytes = find_cache_size();
    environment->cache_path = find_cache_path();
    environment->jit_is_disabled = is_flag_set("CUDA_DISABLE_PTX_JIT");
    const char *loading = getenv("CUDA_MODULE_LOADING");
    environment->loads_eagerly = loading && strcmp(loading, "EAGER") == 0;
}

void crt_process_prepare(void)
{
    read_environment(&process.environment);
    pthread_atfork(NULL, NULL, mark_child);
    /* The runtime registers its handler when the program starts, so it runs after this one. */
    atexit(mark_exit);
    crt_stats_init(pxr_options_get()->stats, pxr_options_get()->stats_file);
}

void crt_process_set_ready(void)
{
    atomic_store_explicit(&process.is_initialized, true, memory_order_release);
}

enum crt_result crt_check_ready(void)
{
    bool is_ready = atomic_load_explicit(&process.is_initialized, memory_order_acquire) &&
                    !atomic_load_explicit(&process.is_forked, memory_order_relaxed);
    return is_ready ? CRT_SUCCESS : CRT_NOT_INITIALIZED;
}

bool crt_is_forked(void)
{
    return atomic_load_explicit(&process.is_forked, memory_order_relaxed);
}

bool crt_is_exiting(void)
{
    return atomic_load_explicit(&process.is_exiting, memory_order_acquire);
}

const struct crt_environment *crt_environment_get(void)
{
    return &process.environment;
}

enum crt_result crt_start_workers(void)
{
    struct pxr_error error = {0};
    static atomic_bool is_told;
    unsigned devices = (unsigned)crt_device_count();
    unsigned parts[CRT_DEVICES_MAX];
    for (unsigned i = 0; i < devices; i++)
        parts[i] = (unsigned)crt_device_at((int)i)->number;
    const struct sch_groups groups = {
        .count = devices, .part = parts, .part_count = (unsigned)crt_machine_device_count()};
    enum pxr_status status = sch_start_groups(pxr_options_get()->threads, &groups, &error);
    if (status != PXR_OK)
        crt_report_error(&error);
    else if (!atomic_exchange_explicit(&is_told, true, memory_order_relaxed))
        pxr_log(PXR_LOG_INFO,
                "devices in use: %u, with %u worker threads and %zu MiB of memory each", devices,
                sch_worker_count() / devices, crt_device_at(0)->memory_bytes >> 20);
    return crt_result_from_status(status);
}

uint64_t crt_next_number(void)
{
    return atomic_fetch_add_explicit(&process.next_number, 1, memory_order_relaxed) + 1;
}

uint64_t crt_next_numbers(uint64_t count)
{
    return atomic_fetch_add_explicit(&process.next_number, count, memory_order_relaxed) + 1;
}

uint64_t crt_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}
