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
    return (access->bytes & earlier->bytes) != 0 &&
           !race_are_strong(access->flags, access->block, earlier->flags, earlier->block) &&
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

static void keep_write(struct race_cell *cell, const struct race_access *access)
{
    cell->write = *access;
    cell->reads[0].bytes &= (uint8_t)~access->bytes;
    cell->reads[1].bytes &= (uint8_t)~access->bytes;
}

static void keep(struct race_cell *cell, const struct race_block *block,
                 const struct race_access *access)
{
    if (access->flags & RACE_WRITES)
        keep_write(cell, access);
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
    return !find_race(cell, block, &any);
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
           is_before_warp(block, warp, earlier);
}

/* Whether the earlier access comes before all of the lanes', or before none but that of its own
 * thread: what only some lanes know is of their warp, and older than now. */
static bool is_alike(const struct race_block *block, uint32_t warp,
                     const struct race_access *earlier)
{
    return earlier->bytes == 0 || earlier->block != block->index ||
           earlier->thread / RT_WARP_SIZE != warp || earlier->stamp == block->now ||
           is_before_warp(block, warp, earlier);
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
    if (access->flags & RACE_WRITES)
        return is_harmless(block, warp, access, &reads[0]) &&
               is_harmless(block, warp, access, &reads[1]);
    return is_alike(block, warp, &reads[0]) && is_alike(block, warp, &reads[1]);
}

/* The lane of a read of now. */
static uint64_t lane_of(const struct race_access *read, const struct race_block *block,
                        const struct race_access *access, uint64_t lanes)
{
    unsigned lane = (unsigned)(read->thread - access->thread);
    bool is_now = read->bytes != 0 && read->block == block->index && read->stamp == block->now;
    return is_now && lane < 64 ? lanes & UINT64_C(1) << lane : 0;
}

static unsigned lowest(uint64_t lanes)
{
    return (unsigned)__builtin_ctzll(lanes);
}

static unsigned highest(uint64_t lanes)
{
    return 63 - (unsigned)__builtin_clzll(lanes);
}

static void put(struct race_access *place, const struct race_access *access, unsigned lane)
{
    *place = *access;
    place->thread = (uint16_t)(access->thread + lane);
}

/* Reads, none of which is by who has read there now. The first lane takes a place that is free, and
 * the second one another such place. All others push each other out of one place, so the last of
 * them is left. */
static void keep_lanes(struct race_cell *cell, const struct race_block *block,
                       const struct race_access *access, uint64_t lanes)
{
    struct race_access *reads = cell->reads;
    uint32_t warp = warp_of(access, lanes);
    uint64_t rest = lanes & (lanes - 1);
    bool is_free[2];
    for (unsigned i = 0; i < 2; i++)
        is_free[i] = reads[i].bytes == 0 || is_before_warp(block, warp, &reads[i]);
    bool is_of_warp =
        is_free[0] || (reads[0].block == access->block && reads[0].thread / RT_WARP_SIZE == warp);
    if (is_free[0] && is_free[1] && (rest & (rest - 1)) == 0) {
        put(&reads[0], access, lowest(lanes));
        put(&reads[1], access, lowest(rest));
        return;
    }
    put(&reads[is_of_warp ? 0 : 1], access, highest(lanes));
    if (is_of_warp && is_free[1])
        put(&reads[1], access, lowest(is_free[0] ? rest : lanes));
}

/* Those who have read there now keep their place: if that is the last one, the last but one is left
 * in the other. */
void race_cell_access_lanes(struct race_cell *cell, uint32_t run, const struct race_block *block,
                            const struct race_access *access, uint64_t lanes)
{
    uint64_t again = 0;
    if (cell->run != run)
        *cell = (struct race_cell){.run = run};
    if (access->flags & RACE_WRITES) {
        struct race_access last;
        put(&last, access, highest(lanes));
        keep_write(cell, &last);
        return;
    }
    for (unsigned i = 0; i < 2; i++)
        again |= lane_of(&cell->reads[i], block, access, lanes);
    if (again == 0) {
        keep_lanes(cell, block, access, lanes);
        return;
    }
    uint64_t last = UINT64_C(1) << highest(lanes);
    uint64_t rest = lanes & (lanes - 1);
    again |= last | UINT64_C(1) << highest(lanes ^ last) | (lanes ^ rest) | (rest & -rest);
    for (; again != 0; again &= again - 1) {
        struct race_access one;
        put(&one, access, lowest(again));
        keep(cell, block, &one);
    }
}
