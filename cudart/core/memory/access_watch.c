/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/memory/access_watch.h"

#include "cudart/core/base/process.h"

static const struct crt_access_watcher *watcher;

/* Of the task that runs. */
static CRT_THREAD_LOCAL const struct crt_frames *task_calls;

void crt_set_access_watcher(const struct crt_access_watcher *to)
{
    watcher = to;
}

bool crt_accesses_are_watched(void)
{
    return watcher != NULL;
}

void crt_watch_calls(const struct crt_frames *calls)
{
    task_calls = calls;
}

void crt_watch_begin(const char *name)
{
    if (watcher)
        watcher->begin(name, task_calls);
}

void crt_watch_access(uintptr_t base, size_t bytes, bool is_write)
{
    if (watcher)
        watcher->access(base, bytes, is_write);
}

void crt_watch_forget(uintptr_t base, size_t bytes)
{
    if (watcher)
        watcher->forget(base, bytes);
}
