/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads of words that need not be told of them (races/strips.h).
 */
#include "cudart/core/code/race_access.h"
#include "cudart/core/code/race_memory.h"

/* Under which key what the lanes read may have been settled; 0: it must be told. */
static uint64_t key_of(const struct crt_race_access *access)
{
    const struct crt_running_block *running = access->running;
    if (access->race.flags != 0)
        return 0;
    if (!access->owner)
        return access->what & RT_RACE_UNTOLD ? running->work : 0;
    return access->owner == running ? running->races.time : 0;
}

/* Whether the lanes have left the last barrier of all threads: then what was written before it is
 * settled for them. */
static bool have_left(const struct crt_race_row *row)
{
    const struct race_block *block = &row->access.running->races;
    uint32_t thread = row->access.race.thread;
    uint32_t last = (thread + 63 - (uint32_t)__builtin_clzll(row->lanes)) / RT_WARP_SIZE;
    for (uint32_t warp = (thread + (uint32_t)__builtin_ctzll(row->lanes)) / RT_WARP_SIZE;
         warp <= last; warp++)
        if (block->warps[warp].row.block < block->whole)
            return false;
    return true;
}

bool crt_race_are_settled(const struct race_shadow *shadow, uint64_t key, uint64_t begin,
                          uint64_t end)
{
    uint64_t last = (end - 1) / RACE_CELL_BYTES;
    uint64_t word = begin / RACE_CELL_BYTES;
    while (word <= last) {
        uint64_t strip = word / RACE_STRIP_WORDS;
        uint64_t from = word % RACE_STRIP_WORDS;
        uint64_t left = last - word;
        uint64_t to = left < RACE_STRIP_WORDS - from ? from + left : RACE_STRIP_WORDS - 1;
        uint64_t words = (UINT64_C(2) << to) - (UINT64_C(1) << from);
        if (!race_shadow_is_settled(shadow, strip, key, words))
            return false;
        word = (strip + 1) * RACE_STRIP_WORDS;
    }
    return true;
}

uint64_t crt_race_settling_key(const struct crt_race_row *row)
{
    uint64_t key = key_of(&row->access);
    return key != 0 && row->access.owner && !have_left(row) ? 0 : key;
}

bool crt_race_row_is_settled(const struct crt_race_row *row, uint64_t begin, uint64_t end)
{
    uint64_t key = crt_race_settling_key(row);
    return key != 0 && crt_race_are_settled(crt_race_shadow_of(&row->access), key, begin, end);
}

bool crt_race_is_settled(const struct crt_running_block *running, uint64_t address, uint64_t bytes,
                         uint32_t what)
{
    bool may_be = (what & (RT_ACCESS_MASK | RT_RACE_STRONG | RT_RACE_UNTOLD)) ==
                  (RT_ACCESS_READ | RT_RACE_UNTOLD);
    uint64_t place;
    return may_be && bytes != 0 && running->work != 0 && crt_race_place(address, bytes, &place) &&
           crt_race_are_settled(crt_race_shadow(), running->work, place, place + bytes);
}

static const struct race_block *settling_block(const struct crt_race_access *access)
{
    return access->owner ? &access->running->races : NULL;
}

void crt_race_settle(const struct crt_race_access *access, uint64_t strip)
{
    uint64_t key = key_of(access);
    if (key != 0)
        race_shadow_settle(crt_race_shadow_of(access), strip, key, settling_block(access));
}

void crt_race_settle_cell(const struct crt_race_access *access, uint64_t word)
{
    uint64_t key = key_of(access);
    if (key != 0)
        race_shadow_settle_cell(crt_race_shadow_of(access), word, key, settling_block(access));
}
