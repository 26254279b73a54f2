/* SPDX-License-Identifier: Apache-2.0
 *
 * What copies and fills do with memory, told to whoever looks for races; nobody does without
 * --check=race.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_ACCESS_WATCH_H
#define PTXRUN_CUDART_CORE_MEMORY_ACCESS_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/host_frames.h"

struct crt_access_watcher {
    /* The calling worker's task begins a "copy" or "fill" that these calls have asked for. */
    void (*begin)(const char *name, const struct crt_frames *calls);
    void (*access)(uintptr_t base, size_t bytes, bool is_write); /* of it */
    /* The memory is allocated: what was done with it before means nothing. */
    void (*forget)(uintptr_t base, size_t bytes);
};

/* Once, before any of it. */
void crt_set_access_watcher(const struct crt_access_watcher *watcher);

/* Whether there is one: copies and fills must then be tasks. */
bool crt_accesses_are_watched(void);

/* For the task that the thread runs: who has asked for what is told next. */
void crt_watch_calls(const struct crt_frames *calls);

void crt_watch_begin(const char *name);
void crt_watch_access(uintptr_t base, size_t bytes, bool is_write);
void crt_watch_forget(uintptr_t base, size_t bytes);

#endif
