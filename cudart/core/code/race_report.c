/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses of threads that race, made findings.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cudart/core/code/finding_place.h"
#include "cudart/core/code/race_access.h"
#include "cudart/core/code/race_memory.h"
#include "cudart/core/memory/describe.h"
#include "cudart/core/races/works.h"

static const char *name_of(const struct race_access *access)
{
    if (!(access->flags & RACE_WRITES))
        return "was read";
    if (access->flags & RACE_PENDING)
        return "is still being copied to";
    return access->flags & RACE_STRONG ? "was changed" : "was written";
}

static void describe(const struct crt_race_access *access, const struct race_access *other,
                     char *where, size_t cap)
{
    const struct rt_launch *launch = access->thread->block->launch;
    const uint32_t *grid = launch->grid;
    const uint32_t *block = launch->block;
    char place[PTX_PLACE_TEXT_BYTES + 16];
    crt_place_text(access->thread, other->line, place, sizeof place);
    uint64_t base = access->owner ? (uint64_t)(uintptr_t)access->owner->rt->shared : 0;
    snprintf(where, cap, "address 0x%" PRIx64 " %s by block (%u,%u,%u), thread (%u,%u,%u) at %s",
             access->address - base, name_of(other), other->block % grid[0],
             other->block / grid[0] % grid[1], other->block / grid[0] / grid[1],
             other->thread % block[0], other->thread / block[0] % block[1],
             other->thread / block[0] / block[1], place);
}

static void describe_work(const struct crt_race_access *access, uint32_t work,
                          const struct race_access *other, char *where, size_t cap)
{
    char who[CRT_WHERE_BYTES];
    crt_race_describe(work, other, who, sizeof who);
    snprintf(where, cap, "address 0x%" PRIx64 " %s by %s", access->address, name_of(other), who);
    crt_race_describe_calls(access->running->work, "; this one was launched", where, cap);
}

/* other: of this launch, or of another work. */
static void add_finding_of(const struct crt_race_access *access, enum crt_finding_kind kind,
                           uint32_t work, const struct race_access *other)
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
             access->owner ? "shared" : "global");
    if (work != 0)
        describe_work(access, work, other, where, sizeof where);
    else
        describe(access, other, where, sizeof where);
    crt_find_place(&placed, access->thread);
    finding->access = what;
    finding->where = where;
    finding->verb = verbs[access->what & RT_ACCESS_MASK];
    finding->space = access->owner ? "shared" : "global";
    finding->address = access->address;
    finding->bytes = access->bytes;
    if (access->owner)
        finding->address = (uint32_t)(access->address - (uintptr_t)access->owner->rt->shared);
    crt_finding_add(finding);
}

void crt_race_add_finding(const struct crt_race_access *access, const struct race_access *other)
{
    add_finding_of(access, access->owner ? CRT_FINDING_SHARED_RACE : CRT_FINDING_GLOBAL_RACE, 0,
                   other);
}

void crt_race_add_stream_finding(const struct crt_race_access *access, uint32_t work,
                                 const struct race_access *other)
{
    add_finding_of(access,
                   race_work_get(work)->is_host ? CRT_FINDING_HOST_RACE : CRT_FINDING_STREAM_RACE,
                   work, other);
}
