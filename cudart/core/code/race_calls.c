/* SPDX-License-Identifier: Apache-2.0
 *
 * What code with checks of races calls (kernel_abi/placeholders.def): what threads do, told to
 * core/races, and accesses that it finds without order, made findings.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cudart/core/code/finding_place.h"
#include "cudart/core/code/race_memory.h"
#include "cudart/core/code/running_block.h"
#include "cudart/core/code/schedules.h"
#include "cudart/core/memory/describe.h"
#include "cudart/core/races/syncs.h"
#include "cudart/core/races/works.h"
#include "scheduler/scheduler.h"

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

/* A barrier of a cluster has places of its own, at which no object can be: one for each of two
 * phases, as a block may have come to the next one before another has left. */
static uintptr_t place_of(const struct crt_running_block *running, const struct rt_thread *thread,
                          uint64_t address)
{
    const struct rt_block *block = thread->block;
    uint64_t distance = (uint64_t)block->cluster_rank << RT_CLUSTER_DISTANCE_LOG2;
    unsigned phase = running->cluster_phases[thread->warp] >> thread->lane & 1;
    return address ? (uintptr_t)address : (uintptr_t)block->shared - distance + 1 + phase;
}

void rt_race_release(struct rt_thread *thread, uint64_t address, uint32_t is_ordered)
{
    struct crt_running_block *running = crt_running_of(thread);
    if (!running)
        return;
    if (address == 0)
        running->cluster_phases[thread->warp] ^= UINT32_C(1) << thread->lane;
    race_sync_release(&running->races, crt_thread_number(thread), is_ordered,
                      place_of(running, thread, address));
}

void rt_race_acquire(struct rt_thread *thread, uint64_t address, uint32_t is_ordered)
{
    struct crt_running_block *running = crt_running_of(thread);
    if (running)
        race_sync_acquire(&running->races, crt_thread_number(thread), is_ordered,
                          place_of(running, thread, address));
}

/* ---- accesses ---- */

struct access {
    const struct rt_thread *thread;
    struct crt_running_block *running;
    struct crt_running_block *owner; /* of the shared memory */
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
    uint64_t base = access->is_shared ? (uint64_t)(uintptr_t)access->owner->rt->shared : 0;
    snprintf(where, cap,
             "address 0x%" PRIx64 " was %s by block (%u,%u,%u), thread (%u,%u,%u) at %s",
             access->address - base, name_of(other), other->block % grid[0],
             other->block / grid[0] % grid[1], other->block / grid[0] / grid[1],
             other->thread % block[0], other->thread / block[0] % block[1],
             other->thread / block[0] / block[1], place);
}

static void describe_work(const struct access *access, uint32_t work,
                          const struct race_access *other, char *where, size_t cap)
{
    char who[CRT_WHERE_BYTES];
    crt_race_describe(work, other, who, sizeof who);
    snprintf(where, cap, "address 0x%" PRIx64 " was %s by %s", access->address, name_of(other),
             who);
    crt_race_describe_calls(access->running->work, "; this one was launched", where, cap);
}

/* other: of this launch, or of another work. */
static void add_finding_of(const struct access *access, enum crt_finding_kind kind, uint32_t work,
                           const struct race_access *other)
{
    static const char *const verbs[] = {
        [RT_ACCESS_READ] = "read", [RT_ACCESS_WRITE] = "write", [RT_ACCESS_ATOMIC] = "atomic"};
    static const char *const names[] = {[RT_ACCESS_READ] = "read of",
                                        [RT_ACCESS_WRITE] = "write of",
                                        [RT_ACCESS_ATOMIC] = "atomic operation on"};
    char what[96];
    char where[2 * CRT_WHERE_BYTES];
    struct crt_placed_finding placed;
    struct crt_finding *finding = &placed.finding;
    crt_name_place(&placed, access->thread, access->race.line);
    finding->kind = kind;
    if (crt_finding_again(finding))
        return;
    snprintf(what, sizeof what, "%s %" PRIu64 " byte%s of %s memory",
             names[access->what & RT_ACCESS_MASK], access->bytes, access->bytes == 1 ? "" : "s",
             access->is_shared ? "shared" : "global");
    if (work != 0)
        describe_work(access, work, other, where, sizeof where);
    else
        describe(access, other, where, sizeof where);
    crt_find_place(&placed, access->thread);
    finding->access = what;
    finding->where = where;
    finding->verb = verbs[access->what & RT_ACCESS_MASK];
    finding->space = access->is_shared ? "shared" : "global";
    finding->address = access->address;
    finding->bytes = access->bytes;
    if (access->is_shared)
        finding->address = (uint32_t)(access->address - (uintptr_t)access->owner->rt->shared);
    crt_finding_add(finding);
}

static void add_finding(const struct access *access, const struct race_access *other)
{
    add_finding_of(access, access->is_shared ? CRT_FINDING_SHARED_RACE : CRT_FINDING_GLOBAL_RACE, 0,
                   other);
}

static void add_stream_finding(const struct access *access, uint32_t work,
                               const struct race_access *other)
{
    add_finding_of(access,
                   race_work_get(work)->is_host ? CRT_FINDING_HOST_RACE : CRT_FINDING_STREAM_RACE,
                   work, other);
}

/* In a cell of shared memory no other worker looks. */
static bool check_shared(const struct access *access, uint64_t place, struct race_access *found)
{
    const struct crt_running_block *owner = access->owner;
    const struct race_access *race =
        race_cell_access(&owner->cells[place / RACE_CELL_BYTES], owner->races.run,
                         &access->running->races, &access->race);
    if (race)
        *found = *race;
    return race != NULL;
}

/* *other: the work that the access is of that it races with; 0: its own launch. */
static bool check_global(const struct access *access, uint64_t place, struct race_access *found,
                         uint32_t *other)
{
    struct crt_running_block *running = access->running;
    const struct race_access *race = NULL;
    struct race_cell *cell = crt_race_lock_cell(place);
    if (cell->run != running->work && !crt_race_work_is_before(running, cell->run)) {
        race = race_cell_conflict(cell, &access->race);
        if (race) {
            *other = cell->run;
            *found = *race;
        }
    }
    bool is_race = race != NULL;
    race = race_cell_access(cell, running->work, &running->races, &access->race);
    if (race) {
        *other = 0;
        *found = *race;
    }
    crt_race_unlock_cell(cell);
    return is_race || race;
}

/* Bytes [first, first + count) of what is written, from byte `place` of a word on. */
static uint32_t word_of(uint64_t value, uint64_t first, unsigned count, unsigned place)
{
    if (first >= sizeof value)
        return 0;
    uint64_t bytes = value >> (8 * first) & ((UINT64_C(1) << (8 * count)) - 1);
    return (uint32_t)(bytes << (8 * place));
}

/* place: in the memory of which the cells are. */
static void check_words(struct access *access, uint64_t place)
{
    struct race_access found = {0};
    uint32_t other = 0;
    bool is_race = false;
    for (uint64_t done = 0; done < access->bytes;) {
        unsigned from = (place + done) % RACE_CELL_BYTES;
        uint64_t left = access->bytes - done;
        unsigned here = RACE_CELL_BYTES - from;
        if (here > left)
            here = (unsigned)left;
        access->race.bytes = (uint8_t)(((1u << here) - 1) << from);
        access->race.value = word_of(access->value, done, here, from);
        if (access->is_shared)
            is_race |= check_shared(access, place + done, &found);
        else
            is_race |= check_global(access, place + done, &found, &other);
        done += here;
    }
    if (is_race && other != 0)
        add_stream_finding(access, other, &found);
    else if (is_race)
        add_finding(access, &found);
}

/* Copies and fills of whole pages. An access lies in one, or two. */
static void check_pages(const struct access *access, uint64_t place)
{
    uint8_t flags = access->race.flags;
    uint64_t last = place + access->bytes - 1;
    struct race_access found;
    uint32_t other = crt_race_enter_page(place, access->running, flags, &found);
    if (other == 0 && access->bytes > 1)
        other = crt_race_enter_page(last, access->running, flags, &found);
    if (other != 0)
        add_stream_finding(access, other, &found);
}

static uint8_t flags_of(uint32_t what)
{
    bool is_write = (what & RT_ACCESS_MASK) != RT_ACCESS_READ;
    return (uint8_t)((is_write ? RACE_WRITES : 0) | (what & RT_RACE_STRONG ? RACE_STRONG : 0) |
                     (what & RT_RACE_STRONG && what & RT_RACE_BLOCK ? RACE_BLOCK : 0) |
                     (what & RT_RACE_STRONG && what & RT_RACE_SYSTEM ? RACE_SYSTEM : 0) |
                     (what & RT_RACE_VALUE ? RACE_VALUE : 0));
}

/* Whether all of it lies in this memory; *place: where. */
static bool is_within(uint64_t address, uint64_t bytes, uint64_t begin, uint64_t size_bytes,
                      uint64_t *place)
{
    *place = address - begin;
    return *place < size_bytes && bytes <= size_bytes - *place;
}

/* The block of the thread's cluster in whose shared memory it lies, and where; NULL: in none. */
static struct crt_running_block *find_owner(const struct access *access, uint64_t *place)
{
    const struct rt_block *rt = access->thread->block;
    struct crt_running_block *owner = access->running;
    if (is_within(access->address, access->bytes, (uint64_t)(uintptr_t)rt->shared,
                  (uint64_t)owner->cell_count * RACE_CELL_BYTES, place))
        return owner;
    if (rt->launch->cluster_blocks < 2)
        return NULL;
    const struct rt_block *other = sch_find_block(access->thread, access->address, access->bytes);
    owner = other ? crt_running_beside(other) : NULL;
    return owner && is_within(access->address, access->bytes, (uint64_t)(uintptr_t)other->shared,
                              (uint64_t)owner->cell_count * RACE_CELL_BYTES, place)
               ? owner
               : NULL;
}

/* Other memory is a thread's own, or nobody checks it here: memory of the host. */
void rt_race_access(struct rt_thread *thread, uint64_t address, uint64_t bytes, uint64_t value,
                    uint32_t what, uint32_t line)
{
    crt_schedules_access(thread, __builtin_return_address(0));
    struct crt_running_block *running = crt_running_of(thread);
    if (!running)
        return;
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
    access.owner = find_owner(&access, &place);
    access.is_shared = access.owner != NULL;
    if (access.is_shared) {
        check_words(&access, place);
    } else if (crt_race_place(address, bytes, &place)) {
        check_pages(&access, place);
        check_words(&access, place);
    }
}
