/* SPDX-License-Identifier: Apache-2.0
 *
 * Last accesses to device memory: cells for words, and for pages what need not be kept by words.
 * Memory of both comes when it is touched.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_RACE_MEMORY_H
#define PTXRUN_CUDART_CORE_CODE_RACE_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cudart/core/base/host_frames.h"
#include "cudart/core/code/running_block.h"

/* Device memory, and what is known of its words. */
struct crt_race_memory {
    uint64_t begin;
    uint64_t size_bytes; /* 0 until it has been looked for */
    struct race_shadow shadow;
};
extern struct crt_race_memory crt_race_memory;
/* Looks for it, the first time. */
void crt_race_find_device_memory(void);

/* The place of an access in the memory of which there are cells; false: it has none. */
static inline bool crt_race_place(uint64_t address, uint64_t bytes, uint64_t *place)
{
    if (crt_race_memory.size_bytes == 0)
        crt_race_find_device_memory();
    *place = address - crt_race_memory.begin;
    return *place < crt_race_memory.size_bytes && bytes <= crt_race_memory.size_bytes - *place;
}

/* Its words, which others use, too. */
static inline const struct race_shadow *crt_race_shadow(void)
{
    return &crt_race_memory.shadow;
}

/* A lock is for cells that lie together, which one worker uses for a while, and on a cache line of
 * its own. */
#define CRT_RACE_LOCK_BYTES ((uint64_t)256)
#define CRT_RACE_LOCKS      1024
struct crt_race_lock {
    _Alignas(64) atomic_flag flag;
};
extern struct crt_race_lock crt_race_locks[CRT_RACE_LOCKS];

static inline atomic_flag *crt_race_lock_of(uint64_t place)
{
    return &crt_race_locks[place / CRT_RACE_LOCK_BYTES % CRT_RACE_LOCKS].flag;
}

static inline void crt_race_lock(uint64_t place)
{
    while (atomic_flag_test_and_set_explicit(crt_race_lock_of(place), memory_order_acquire))
        continue;
}

static inline void crt_race_unlock(uint64_t place)
{
    atomic_flag_clear_explicit(crt_race_lock_of(place), memory_order_release);
}
/* The word's cell, in which it stands then. */
struct race_cell *crt_race_lock_cell(uint64_t place);

#define CRT_RACE_PAGE_BYTES ((uint64_t)4096)

static inline bool crt_race_is_in_page(uint64_t place, uint64_t bytes)
{
    return bytes == 0 || place / CRT_RACE_PAGE_BYTES == (place + bytes - 1) / CRT_RACE_PAGE_BYTES;
}

/* A block accesses bytes of a page, in this way (enum race_flags): the copy or fill of all of it
 * that races with that, and what it does; 0: none. */
uint32_t crt_race_enter_page(uint64_t place, struct crt_running_block *running, uint8_t flags,
                             struct race_access *other);

/* Whether all that the work has done comes before what the block does; as is known, or asked for.
 */
bool crt_race_ask_work_is_before(struct crt_running_block *running, uint32_t work);
static inline bool crt_race_work_is_before(struct crt_running_block *running, uint32_t work)
{
    return work == running->work || work == running->ordered_works[work % CRT_ORDERED_WORKS] ||
           crt_race_ask_work_is_before(running, work);
}

/* The number of a launch among the works, of which a block begins. */
uint32_t crt_race_work_of(const struct rt_launch *launch);

/* The host does it, which is this one of the works. */
void crt_race_access_host(uint32_t work, uintptr_t base, size_t bytes, bool is_write);

/* From now on copies, fills and the host are watched: copies and fills are watched, and what
 * operations come after is kept. Once. */
void crt_race_watch(void);

/* Adds ", launched at main.cu:12" to the text, with those words in front. */
void crt_race_describe_calls(uint32_t work, const char *what, char *text, size_t cap);

/* "copy, called at main.cu:12", or the kernel, block and thread with their place. */
void crt_race_describe(uint32_t work, const struct race_access *access, char *text, size_t cap);

#endif
