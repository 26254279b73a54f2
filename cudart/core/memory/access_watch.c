/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/memory/access_watch.h"

static const struct crt_access_watcher *watcher;

void crt_set_access_watcher(const struct crt_access_watcher *to)
{
    watcher = to;
}

bool crt_accesses_are_watched(void)
{
    return watcher != NULL;
}

void crt_watch_begin(struct crt_watched *watched, const char *name, const struct crt_frames *calls)
{
    if (watcher)
        watcher->begin(watched, name, calls);
}

void crt_watch_access(struct crt_watched *watched, uintptr_t base, size_t bytes, bool is_write)
{
    if (watcher)
        watcher->access(watched, base, bytes, is_write);
}

void crt_watch_forget(uintptr_t base, size_t bytes)
{
    if (watcher)
        watcher->forget(base, bytes);
}
