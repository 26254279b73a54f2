/* SPDX-License-Identifier: Apache-2.0
 *
 * What code with checks of races calls (kernel_abi/placeholders.def): what threads do, told to
 * core/races, and accesses that it finds without order, made findings.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>

#include "cudart/core/code/finding_place.h"
#include "cudart/core/code/running_block.h"
#include "cudart/core/code/schedules.h"
#include "cudart/core/memory/shadow.h"
#include "cudart/core/races/syncs.h"
#include "scheduler/scheduler.h"
#include "util/log.h"

/* ---- what orders threads ---- */

void rt_race_arrive(struct rt_thread *thread, uint32_t id, uint32_t count)
{
    struct crt_running_block *running = crt_running_of(thread);
    if (running)
        race_barrier_arrive(&running->races, crt_thread_number(thread), id, count);
}

void rt_race_leave(struct rt_thread *thread, uint32_t id)
{
    struct crt_running_block *running = crt_running_of(thread);
    if (running)
        race_barrier_leave(&running->races, crt_thread_number(thread), id);
}

void rt_race_lanes(struct rt_thread *thread, uint32_t mask)
{
    struct crt_running_block *running = crt_running_of(thread);
    if (running)
        race_lanes_met(&running->races, crt_thread_number(thread), mask);
}

void rt_race_fence(struct rt_thread *thread)
{
    struct crt_running_block *running = crt_running_of(thread);
    if (running)
        race_fence(&running->races, crt_thread_number(thread));
}

/* A barrier of a cluster has a place of its own, at which no object can be. */
static uintptr_t place_of(const struct rt_block *block, uint64_t address)
{
    uint64_t distance = (uint64_t)block->cluster_rank << RT_CLUSTER_DISTANCE_LOG2;
    return address ? (uintptr_t)address : (uintptr_t)block->shared - distance + 1;
}

void rt_race_release(struct rt_thread *thread, uint64_t address, uint32_t is_ordered)
{
    struct crt_running_block *running = crt_running_of(thread);
    if (running)
        race_sync_release(&running->races, crt_thread_number(thread), is_ordered,
                          place_of(thread->block, address));
}

void rt_race_acquire(struct rt_thread *thread, uint64_t address, uint32_t is_ordered)
{
    struct crt_running_block *running = crt_running_of(thread);
    if (running)
        race_sync_acquire(&running->races, crt_thread_number(thread), is_ordered,
                          place_of(thread->block, address));
}

/* ---- accesses ---- */

/* A lock is for cells that lie together, which one worker uses for a while, and on a cache line of
 * its own. */
#define LOCKS          1024
#define LOCK_AREA_LOG2 12

struct lock {
    _Alignas(64) atomic_flag flag;
};

static struct {
    pthread_once_t once;
    struct rt_checked range; /* of device memory; empty: there are no cells */
    struct race_cell *cells; /* a page of them comes when it is touched */
    struct lock locks[LOCKS];
} global = {.once = PTHREAD_ONCE_INIT};

static void make_global_cells(void)
{
    struct rt_checked range = crt_shadow_checked();
    size_t bytes = range.size_bytes / RACE_CELL_BYTES * sizeof(struct race_cell);
    void *cells = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (cells == MAP_FAILED) {
        pxr_log(PXR_LOG_WARNING, "no address space for checks of races in global memory; smaller "
                                 "--device-memory needs less");
        return;
    }
    global.cells = cells;
    global.range = range;
}

struct access {
    const struct rt_thread *thread;
    const struct crt_running_block *running;
    struct race_access race;
    uint64_t address;
    uint64_t bytes;
    uint64_t value;
    uint32_t what;
    bool is_shared;
};

static const char *name_of(const struct race_access *access)
{
    if (!(access->flags & RACE_WRITES))
        return "read";
    return access->flags & RACE_STRONG ? "changed" : "written";
}

static void describe(const struct access *access, const struct race_access *other, char *where,
                     size_t cap)
{
    const struct rt_launch *launch = access->thread->block->launch;
    const uint32_t *grid = launch->grid;
    const uint32_t *block = launch->block;
    char place[PTX_PLACE_TEXT_BYTES + 16];
    crt_place_text(access->thread, other->line, place, sizeof place);
    uint64_t base = access->is_shared ? (uint64_t)(uintptr_t)access->thread->block->shared : 0;
    snprintf(where, cap,
             "address 0x%" PRIx64 " was %s by block (%u,%u,%u), thread (%u,%u,%u) at %s",
             access->address - base, name_of(other), other->block % grid[0],
             other->block / grid[0] % grid[1], other->block / grid[0] / grid[1],
             other->thread % block[0], other->thread / block[0] % block[1],
             other->thread / block[0] / block[1], place);
}

static void add_finding(const struct access *access, const struct race_access *other)
{
    static const char *const verbs[] = {
        [RT_ACCESS_READ] = "read", [RT_ACCESS_WRITE] = "write", [RT_ACCESS_ATOMIC] = "atomic"};
    static const char *const names[] = {[RT_ACCESS_READ] = "read of",
                                        [RT_ACCESS_WRITE] = "write of",
                                        [RT_ACCESS_ATOMIC] = "atomic operation on"};
    char what[96];
    char where[PTX_PLACE_TEXT_BYTES + 256];
    struct crt_placed_finding placed;
    struct crt_finding *finding = &placed.finding;
    crt_name_place(&placed, access->thread, access->race.line);
    finding->kind = access->is_shared ? CRT_FINDING_SHARED_RACE : CRT_FINDING_GLOBAL_RACE;
    if (crt_finding_again(finding))
        return;
    snprintf(what, sizeof what, "%s %" PRIu64 " byte%s of %s memory",
             names[access->what & RT_ACCESS_MASK], access->bytes, access->bytes == 1 ? "" : "s",
             access->is_shared ? "shared" : "global");
    describe(access, other, where, sizeof where);
    crt_find_place(&placed, access->thread);
    finding->access = what;
    finding->where = where;
    finding->verb = verbs[access->what & RT_ACCESS_MASK];
    finding->space = access->is_shared ? "shared" : "global";
    finding->address = access->address;
    finding->bytes = access->bytes;
    if (access->is_shared)
        finding->address = (uint32_t)(access->address - (uintptr_t)access->thread->block->shared);
    crt_finding_add(finding);
}

/* In a cell of shared memory nobody else looks. */
static bool check_word(const struct access *access, struct race_cell *cell, uint32_t run,
                       struct race_access *found)
{
    atomic_flag *lock = &global.locks[((uintptr_t)cell >> LOCK_AREA_LOG2) % LOCKS].flag;
    while (!access->is_shared && atomic_flag_test_and_set_explicit(lock, memory_order_acquire))
        continue;
    const struct race_access *race =
        race_cell_access(cell, run, &access->running->races, &access->race);
    if (!access->is_shared)
        atomic_flag_clear_explicit(lock, memory_order_release);
    if (race)
        *found = *race;
    return race != NULL;
}

/* Bytes [first, first + count) of what is written, from byte `place` of a word on. */
static uint32_t word_of(uint64_t value, uint64_t first, unsigned count, unsigned place)
{
    if (first >= sizeof value)
        return 0;
    uint64_t bytes = value >> (8 * first) & ((UINT64_C(1) << (8 * count)) - 1);
    return (uint32_t)(bytes << (8 * place));
}

/* place: in the memory of which the first cell is. */
static void check_words(struct access *access, struct race_cell *cells, uint64_t place,
                        uint32_t run)
{
    struct race_access found = {0};
    bool is_race = false;
    for (uint64_t done = 0; done < access->bytes;) {
        unsigned from = (place + done) % RACE_CELL_BYTES;
        uint64_t left = access->bytes - done;
        unsigned here = RACE_CELL_BYTES - from;
        if (here > left)
            here = (unsigned)left;
        access->race.bytes = (uint8_t)(((1u << here) - 1) << from);
        access->race.value = word_of(access->value, done, here, from);
        is_race |= check_word(access, &cells[(place + done) / RACE_CELL_BYTES], run, &found);
        done += here;
    }
    if (is_race)
        add_finding(access, &found);
}

static uint8_t flags_of(uint32_t what)
{
    bool is_write = (what & RT_ACCESS_MASK) != RT_ACCESS_READ;
    return (uint8_t)((is_write ? RACE_WRITES : 0) | (what & RT_RACE_STRONG ? RACE_STRONG : 0) |
                     (what & RT_RACE_STRONG && what & RT_RACE_BLOCK ? RACE_BLOCK : 0) |
                     (what & RT_RACE_VALUE ? RACE_VALUE : 0));
}

/* Whether all of it lies in this memory; *place: where. */
static bool is_within(uint64_t address, uint64_t bytes, uint64_t begin, uint64_t size_bytes,
                      uint64_t *place)
{
    *place = address - begin;
    return *place < size_bytes && bytes <= size_bytes - *place;
}

/* Other memory is a thread's own, or nobody checks it here: shared memory of other blocks, memory
 * of the host. */
void rt_race_access(struct rt_thread *thread, uint64_t address, uint64_t bytes, uint64_t value,
                    uint32_t what, uint32_t line)
{
    crt_schedules_access(thread, __builtin_return_address(0));
    struct crt_running_block *running = crt_running_of(thread);
    if (!running)
        return;
    pthread_once(&global.once, make_global_cells);
    const struct rt_block *rt = thread->block;
    struct access access = {.thread = thread,
                            .running = running,
                            .race = {.block = running->races.index,
                                     .stamp = running->races.now,
                                     .line = line,
                                     .thread = (uint16_t)crt_thread_number(thread),
                                     .flags = flags_of(what)},
                            .address = address,
                            .bytes = bytes,
                            .value = value,
                            .what = what};
    uint64_t place;
    access.is_shared = is_within(address, bytes, (uint64_t)(uintptr_t)rt->shared,
                                 (uint64_t)running->cell_count * RACE_CELL_BYTES, &place);
    if (access.is_shared)
        check_words(&access, running->cells, place, running->races.run);
    else if (is_within(address, bytes, global.range.begin, global.range.size_bytes, &place))
        check_words(&access, global.cells, place, (uint32_t)rt->launch->grid_id);
}

bool crt_race_last_write(uint64_t address, uint64_t run, struct crt_last_write *write)
{
    uint64_t place;
    if (!is_within(address, 1, global.range.begin, global.range.size_bytes, &place))
        return false;
    const struct race_cell *cell = &global.cells[place / RACE_CELL_BYTES];
    if (cell->run != (uint32_t)run || cell->write.bytes == 0)
        return false;
    *write = (struct crt_last_write){
        .block = cell->write.block, .thread = cell->write.thread, .line = cell->write.line};
    return true;
}
