/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of small numbers as bits.
 */
#include "translator/analysis/analysis.h"

struct tr_set tr_set_make(struct pxr_arena *arena, uint32_t size)
{
    struct tr_set set = {.word_count = size / 64 + 1};
    set.words = pxr_arena_alloc_array(arena, set.word_count, sizeof *set.words);
    return set;
}

bool tr_set_merge(struct tr_set *set, const struct tr_set *more)
{
    uint64_t changed = 0;
    for (uint32_t i = 0; i < set->word_count; i++) {
        uint64_t merged = set->words[i] | more->words[i];
        changed |= merged ^ set->words[i];
        set->words[i] = merged;
    }
    return changed != 0;
}

uint32_t tr_set_count(const struct tr_set *set)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < set->word_count; i++)
        count += (uint32_t)__builtin_popcountll(set->words[i]);
    return count;
}

uint32_t tr_set_next(const struct tr_set *set, uint32_t n)
{
    uint32_t i = n / 64;
    if (i >= set->word_count)
        return TR_NONE;
    uint64_t word = set->words[i] & (UINT64_MAX << (n % 64));
    while (word == 0) {
        if (++i >= set->word_count)
            return TR_NONE;
        word = set->words[i];
    }
    return i * 64 + (uint32_t)__builtin_ctzll(word);
}
