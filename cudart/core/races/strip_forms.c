/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses that one can say together.
 */
#include "cudart/core/races/strip_forms.h"

#define PART(unit) ((65536 + (unit) - 1) / (unit))
#define PARTS(unit)                                                                                \
    PART(unit), PART((unit) + 1), PART((unit) + 2), PART((unit) + 3), PART((unit) + 4),            \
        PART((unit) + 5), PART((unit) + 6), PART((unit) + 7)

const uint32_t race_strip_parts[RACE_STRIP_BYTES + 1] = {
    0, PARTS(1), PARTS(9), PARTS(17), PARTS(25), PARTS(33), PARTS(41), PARTS(49), PARTS(57)};

/* Two threads, each of one unit, as lanes that go down a column: where the steps of others go on
 * so, one access can say all of it. */
static bool find_step(const struct race_strip_access *a, const struct race_strip_access *b,
                      uint64_t bytes, struct race_strip_access *joined)
{
    int unit_a = (int)(race_first_of(a->bytes) / a->unit);
    int unit_b = (int)(race_first_of(bytes) / a->unit);
    if (a->step != 0 || b->step != 0 || a->unit != b->unit || a->offset != 0 || b->offset != 0 ||
        unit_a == unit_b || (int)(race_last_of(a->bytes) / a->unit) != unit_a ||
        (int)(race_last_of(bytes) / a->unit) != unit_b)
        return false;
    int step = (b->thread - a->thread) / (unit_b - unit_a);
    int thread = a->thread - step * unit_a;
    if (thread + step * unit_b != b->thread || thread != (int16_t)thread || step != (int16_t)step)
        return false;
    joined->thread = (int16_t)thread;
    joined->step = (int16_t)step;
    return true;
}

/* Whether the place says of these bytes of the access who has accessed them, by its own form: of
 * each of its threads' bytes, as units may begin elsewhere. */
static bool says_the_same(const struct race_strip_access *place,
                          const struct race_strip_access *access, uint64_t bytes)
{
    while (bytes != 0) {
        unsigned first = race_first_of(bytes);
        uint64_t unit = race_bytes_of_unit(access, first) & bytes;
        uint32_t thread = race_strip_thread(access, first);
        if (race_strip_thread(place, first) != thread ||
            race_strip_thread(place, race_last_of(unit)) != thread)
            return false;
        bytes &= ~unit;
    }
    return true;
}

/* The form in which one access can say both, of other bytes each. */
static bool join_forms(const struct race_strip_access *place,
                       const struct race_strip_access *access, uint64_t bytes,
                       struct race_strip_access *joined)
{
    return race_has_same_form(place, access) || says_the_same(place, access, bytes) ||
           find_step(place, access, bytes, joined);
}

/* So that these words have the access's lines, and others of the bytes theirs; false: they are too
 * far. */
static bool join_lines(struct race_strip_access *joined, const struct race_strip_access *access,
                       uint64_t bytes, uint64_t others)
{
    int64_t distance = (int64_t)access->line - joined->line;
    while (bytes != 0) {
        unsigned word = race_first_of(bytes) / RACE_CELL_BYTES;
        uint64_t in_word = race_bytes_of_word(word);
        int64_t line = distance + access->lines[word];
        if (line != (int8_t)line || (others & in_word && joined->lines[word] != line))
            return false;
        joined->lines[word] = (int8_t)line;
        bytes &= ~in_word;
    }
    return true;
}

bool race_strip_takes(const struct race_strip_access *place, const struct race_strip_access *access,
                      uint64_t bytes, struct race_strip_access *joined)
{
    uint64_t others = place->bytes & ~bytes;
    if (others == 0) {
        *joined = *access;
        return true;
    }
    if (place->block != access->block || place->stamp != access->stamp ||
        place->flags != access->flags)
        return false;
    *joined = *place;
    return join_forms(place, access, bytes, joined) && join_lines(joined, access, bytes, others);
}

uint64_t race_bytes_of_same_warp(const struct race_strip_access *a,
                                 const struct race_strip_access *b, uint64_t bytes)
{
    uint32_t warp, other;
    uint64_t same = 0;
    if (bytes == 0 || a->block != b->block)
        return 0;
    if (race_is_of_one_warp(a, bytes, &warp) && race_is_of_one_warp(b, bytes, &other))
        return warp == other ? bytes : 0;
    while (bytes != 0) {
        unsigned byte = race_first_of(bytes);
        uint64_t units = race_first_units(a, b, bytes);
        if (race_strip_thread(a, byte) / RT_WARP_SIZE == race_strip_thread(b, byte) / RT_WARP_SIZE)
            same |= units;
        bytes &= ~units;
    }
    return same;
}
