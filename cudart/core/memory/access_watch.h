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

struct sch_op;

/* A copy or fill that the calling worker's task makes. The members are the watcher's. */
struct crt_watched {
    struct sch_op *op;
    uint32_t work;
    uint32_t ordered;
};

struct crt_access_watcher {
    /* name: "copy"; calls: who has asked for it, or NULL. */
    void (*begin)(struct crt_watched *watched, const char *name, const struct crt_frames *calls);
    void (*access)(struct crt_watched *watched, uintptr_t base, size_t bytes, bool is_write);
    /* The memory is allocated: what was done with it before means nothing. */
    void (*forget)(uintptr_t base, size_t bytes);
};

/* Once, before any of it. */
void crt_set_access_watcher(const struct crt_access_watcher *watcher);

/* Whether there is one: copies and fills must then be tasks. */
bool crt_accesses_are_watched(void);

void crt_watch_begin(struct crt_watched *watched, const char *name, const struct crt_frames *calls);
void crt_watch_access(struct crt_watched *watched, uintptr_t base, size_t bytes, bool is_write);
void crt_watch_forget(uintptr_t base, size_t bytes);

#endif
