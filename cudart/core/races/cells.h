/* SPDX-License-Identifier: Apache-2.0
 *
 * The last accesses to memory, by words of 4 bytes: the last write, and two reads behind it, by
 * threads as far apart as can be. Not thread-safe: whoever uses a cell has it locked.
 */
#ifndef PTXRUN_CUDART_CORE_RACES_CELLS_H
#define PTXRUN_CUDART_CORE_RACES_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "cudart/core/races/order.h"

#define RACE_CELL_BYTES 4

enum race_flags {
    RACE_WRITES = 1,
    RACE_STRONG = 2,   /* relaxed, volatile, atomic … */
    RACE_BLOCK = 4,    /* … only towards threads of its block */
    RACE_VALUE = 8,    /* a write whose value is known */
    RACE_SYSTEM = 16,  /* strong, … and towards the host */
    RACE_HOST = 32,    /* of the host, which may be strong or not */
    RACE_PENDING = 64, /* a copy that its thread has not waited for: nobody may come to it, … */
    RACE_ARRIVES = 128 /* … until this write, its end, which does not race itself */
};

struct race_access {
    uint32_t block; /* as race_block.index */
    uint32_t stamp;
    uint32_t line;  /* of the PTX */
    uint32_t value; /* what the word's bytes become, at their places */
    uint16_t thread;
    uint8_t bytes; /* a bit for each of the word's; 0: no access */
    uint8_t flags; /* enum race_flags */
};

struct race_cell {
    uint32_t run; /* in which the accesses were done; those of another are forgotten */
    struct race_access write;
    struct race_access reads[2];
};

/* Strong accesses whose scopes contain each other's threads do not race (PTX ISA "Morally strong
 * operations"). */
static inline bool race_are_strong(unsigned flags, uint32_t block, unsigned other_flags,
                                   uint32_t other_block)
{
    bool is_wide = !((flags | other_flags) & RACE_BLOCK);
    return (flags & other_flags & RACE_STRONG) && (is_wide || block == other_block);
}

/* The thread of this block does the access, in this run (not 0): the access that races with it, or
 * NULL. The first is kept until the cell's next access. */
const struct race_access *race_cell_access(struct race_cell *cell, uint32_t run,
                                           const struct race_block *block,
                                           const struct race_access *access);

/* The same unless it races; false: it does, and nothing is changed. */
bool race_cell_take(struct race_cell *cell, uint32_t run, const struct race_block *block,
                    const struct race_access *access);

/* Whether the access races with none of the cell's, all of its run, whatever its value is, and what
 * is kept of it is what it is itself. */
bool race_cell_is_harmless(const struct race_cell *cell, const struct race_block *block,
                           const struct race_access *access);

/* As race_cell_access, of lanes of one warp, whose accesses are reads, or all strong: none of them
 * races. The cell is told of the last one, and if they read then of the first one. access: of the
 * thread of lane 0, whether it takes part or not; lanes: a bit for each, two at least. */
void race_cell_access_lanes(struct race_cell *cell, uint32_t run, const struct race_block *block,
                            const struct race_access *access, uint64_t lanes);
/* Whether it can be told so. */
bool race_cell_is_for_lanes(const struct race_cell *cell, uint32_t run,
                            const struct race_block *block, const struct race_access *access,
                            uint64_t lanes);

/* An access that a cell has of another run, with which this one races if nothing orders the two
 * runs; or NULL. */
const struct race_access *race_cell_conflict(const struct race_cell *cell,
                                             const struct race_access *access);

#endif
