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

/* Strong accesses whose scopes contain each other's threads do not race (PTX ISA "Morally strong
 * operations"). */
static bool is_morally_strong(const struct race_access *a, const struct race_access *b)
{
    bool is_wide = !((a->flags | b->flags) & RACE_BLOCK);
    return (a->flags & b->flags & RACE_STRONG) && (is_wide || a->block == b->block);
}

/* Writes of what stands there already change nothing: programs set flags in this way. */
static bool is_same_value(const struct race_access *a, const struct race_access *b)
{
    return (a->flags & b->flags & RACE_VALUE) && a->bytes == b->bytes && a->value == b->value;
}

static bool is_race(const struct race_block *block, const struct race_access *access,
                    const struct race_access *earlier)
{
    return (access->bytes & earlier->bytes) != 0 && !is_morally_strong(access, earlier) &&
           !is_same_value(access, earlier) && !is_before(block, access, earlier);
}

/* As is_morally_strong, of different runs: their blocks have nothing to do with each other. */
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

static void keep(struct race_cell *cell, const struct race_block *block,
                 const struct race_access *access)
{
    if (!(access->flags & RACE_WRITES)) {
        *find_place(cell, block, access) = *access;
        return;
    }
    cell->write = *access;
    cell->reads[0].bytes = cell->reads[1].bytes = 0;
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
