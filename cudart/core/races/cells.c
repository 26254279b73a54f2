/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses to one word, one after another.
 */
#include "cudart/core/races/cells.h"

static bool is_before(const struct race_block *block, const struct race_access *access,
                      const struct race_access *earlier)
{
    return race_is_before(block, access->thread, earlier->block, earlier->thread, earlier->stamp);
}

/* Writes of what stands there already change nothing: programs set flags in this way. */
static bool is_same_value(const struct race_access *a, const struct race_access *b)
{
    return (a->flags & b->flags & RACE_VALUE) && a->bytes == b->bytes && a->value == b->value;
}

static bool is_race(const struct race_block *block, const struct race_access *access,
                    const struct race_access *earlier)
{
    if ((access->bytes & earlier->bytes) == 0 || access->flags & RACE_ARRIVES)
        return false;
    if (earlier->flags & RACE_PENDING)
        return true;
    return !race_are_strong(access->flags, access->block, earlier->flags, earlier->block) &&
           !is_same_value(access, earlier) && !is_before(block, access, earlier);
}

/* As race_are_strong, of different runs: their blocks have nothing to do with each other. */
static bool is_strong_to(const struct race_access *access, const struct race_access *other)
{
    unsigned wanted = other->flags & RACE_HOST ? RACE_SYSTEM : RACE_STRONG;
    return access->flags & RACE_HOST ||
           (access->flags & (RACE_STRONG | RACE_BLOCK | wanted)) == (RACE_STRONG | wanted);
}

static bool is_conflict(const struct race_access *access, const struct race_access *earlier)
{
    return (access->bytes & earlier->bytes) != 0 &&
           !(is_strong_to(access, earlier) && is_strong_to(earlier, access)) &&
           !is_same_value(access, earlier);
}

const struct race_access *race_cell_conflict(const struct race_cell *cell,
                                             const struct race_access *access)
{
    if (is_conflict(access, &cell->write))
        return &cell->write;
    for (int i = 0; access->flags & RACE_WRITES && i < 2; i++)
        if (is_conflict(access, &cell->reads[i]))
            return &cell->reads[i];
    return NULL;
}

static const struct race_access *find_race(const struct race_cell *cell,
                                           const struct race_block *block,
                                           const struct race_access *access)
{
    if (is_race(block, access, &cell->write))
        return &cell->write;
    for (int i = 0; access->flags & RACE_WRITES && i < 2; i++)
        if (is_race(block, access, &cell->reads[i]))
            return &cell->reads[i];
    return NULL;
}

static bool is_same_warp(const struct race_access *a, const struct race_access *b)
{
    return a->block == b->block && a->thread / RT_WARP_SIZE == b->thread / RT_WARP_SIZE;
}

/* Which read tells least that the new one does not. */
static struct race_access *find_place(struct race_cell *cell, const struct race_block *block,
                                      const struct race_access *access)
{
    for (int i = 0; i < 2; i++)
        if (cell->reads[i].bytes == 0 || is_before(block, access, &cell->reads[i]))
            return &cell->reads[i];
    return is_same_warp(access, &cell->reads[0]) ? &cell->reads[0] : &cell->reads[1];
}

/* Bytes that a thread reads one by one are one read. */
static void keep_read(struct race_access *place, const struct race_access *access)
{
    bool is_more = place->block == access->block && place->thread == access->thread &&
                   place->stamp == access->stamp && place->flags == access->flags;
    uint8_t bytes = is_more ? place->bytes : 0;
    *place = *access;
    place->bytes |= bytes;
}

/* Whether the thread of a strong write has written the same bytes plainly before, and passed that
 * on to nobody: those who do not know of the strong write race with the plain one. */
static bool hides(const struct race_block *block, const struct race_access *access,
                  const struct race_access *earlier)
{
    return (access->flags & RACE_STRONG) && !(earlier->flags & (RACE_STRONG | RACE_PENDING)) &&
           earlier->bytes != 0 && (access->bytes & ~earlier->bytes) == 0 &&
           earlier->block == access->block && earlier->thread == access->thread &&
           !race_has_passed_on(block, earlier->thread, earlier->stamp);
}

static void keep_write(struct race_cell *cell, const struct race_block *block,
                       const struct race_access *access)
{
    bool stays_plain = hides(block, access, &cell->write);
    uint32_t line = stays_plain ? cell->write.line : access->line;
    cell->write = *access;
    cell->write.line = line;
    if (stays_plain)
        cell->write.flags &= (uint8_t)~(RACE_STRONG | RACE_VALUE);
    cell->reads[0].bytes &= (uint8_t)~access->bytes;
    cell->reads[1].bytes &= (uint8_t)~access->bytes;
}

static void keep(struct race_cell *cell, const struct race_block *block,
                 const struct race_access *access)
{
    if (access->flags & RACE_WRITES)
        keep_write(cell, block, access);
    else
        keep_read(find_place(cell, block, access), access);
}

const struct race_access *race_cell_access(struct race_cell *cell, uint32_t run,
                                           const struct race_block *block,
                                           const struct race_access *access)
{
    static _Thread_local __attribute__((tls_model("initial-exec"))) struct race_access found;
    if (cell->run != run)
        *cell = (struct race_cell){.run = run};
    const struct race_access *race = find_race(cell, block, access);
    if (race)
        found = *race;
    keep(cell, block, access);
    return race ? &found : NULL;
}

bool race_cell_take(struct race_cell *cell, uint32_t run, const struct race_block *block,
                    const struct race_access *access)
{
    if (cell->run != run)
        *cell = (struct race_cell){.run = run};
    else if (find_race(cell, block, access))
        return false;
    keep(cell, block, access);
    return true;
}

bool race_cell_is_harmless(const struct race_cell *cell, const struct race_block *block,
                           const struct race_access *access)
{
    struct race_access any = *access;
    any.flags &= (uint8_t)~RACE_VALUE;
    return !find_race(cell, block, &any) && !hides(block, &any, &cell->write);
}

/* ---- lanes of a warp at one word ---- */

static uint32_t warp_of(const struct race_access *access, uint64_t lanes)
{
    return (access->thread + (uint32_t)__builtin_ctzll(lanes)) / RT_WARP_SIZE;
}

static bool is_before_warp(const struct race_block *block, uint32_t warp,
                           const struct race_access *earlier)
{
    return race_is_before_warp(block, warp, earlier->block, earlier->thread, earlier->stamp);
}

/* Whether it does not race with any of the lanes. */
static bool is_harmless(const struct race_block *block, uint32_t warp,
                        const struct race_access *access, const struct race_access *earlier)
{
    return (access->bytes & earlier->bytes) == 0 ||
           race_are_strong(access->flags, access->block, earlier->flags, earlier->block) ||
           (!(earlier->flags & RACE_PENDING) && is_before_warp(block, warp, earlier));
}

bool race_cell_is_for_lanes(const struct race_cell *cell, uint32_t run,
                            const struct race_block *block, const struct race_access *access,
                            uint64_t lanes)
{
    uint32_t warp = warp_of(access, lanes);
    const struct race_access *reads = cell->reads;
    if (cell->run != run)
        return true;
    if (!is_harmless(block, warp, access, &cell->write))
        return false;
    return !(access->flags & RACE_WRITES) || (is_harmless(block, warp, access, &reads[0]) &&
                                              is_harmless(block, warp, access, &reads[1]));
}

static struct race_access access_of(const struct race_access *access, unsigned lane)
{
    struct race_access one = *access;
    one.thread = (uint16_t)(one.thread + lane);
    return one;
}

void race_cell_access_lanes(struct race_cell *cell, uint32_t run, const struct race_block *block,
                            const struct race_access *access, uint64_t lanes)
{
    const struct race_access last = access_of(access, 63 - (unsigned)__builtin_clzll(lanes));
    const struct race_access first = access_of(access, (unsigned)__builtin_ctzll(lanes));
    if (cell->run != run)
        *cell = (struct race_cell){.run = run};
    keep(cell, block, &last);
    if (!(access->flags & RACE_WRITES))
        keep(cell, block, &first);
}
