/* SPDX-License-Identifier: Apache-2.0
 *
 * Units in order, with their stamps.
 */
#include "cudart/core/races/clock.h"

#include <stdlib.h>
#include <string.h>

/* The first place whose unit is not less. */
static size_t place_of(const struct race_clock *clock, uint64_t unit)
{
    size_t low = 0;
    size_t high = clock->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (clock->known[middle].unit < unit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t race_clock_of(const struct race_clock *clock, uint64_t unit)
{
    if (clock->knows_all)
        return UINT32_MAX;
    size_t place = place_of(clock, unit);
    return place < clock->count && clock->known[place].unit == unit ? clock->known[place].stamp : 0;
}

static bool make_room(struct race_clock *clock)
{
    if (clock->count < clock->cap)
        return true;
    size_t cap = clock->cap ? 2 * clock->cap : 8;
    struct race_known *known = realloc(clock->known, cap * sizeof *known);
    if (!known)
        return false;
    clock->known = known;
    clock->cap = cap;
    return true;
}

void race_clock_raise(struct race_clock *clock, uint64_t unit, uint32_t stamp)
{
    if (stamp == 0)
        return;
    size_t place = place_of(clock, unit);
    if (place < clock->count && clock->known[place].unit == unit) {
        if (clock->known[place].stamp < stamp)
            clock->known[place].stamp = stamp;
        return;
    }
    if (!make_room(clock)) {
        clock->knows_all = true;
        return;
    }
    memmove(&clock->known[place + 1], &clock->known[place],
            (clock->count - place) * sizeof *clock->known);
    clock->known[place] = (struct race_known){.unit = unit, .stamp = stamp};
    clock->count++;
}

void race_clock_join(struct race_clock *clock, const struct race_clock *other)
{
    clock->knows_all |= other->knows_all;
    for (size_t i = 0; i < other->count; i++)
        race_clock_raise(clock, other->known[i].unit, other->known[i].stamp);
}

void race_clock_clear(struct race_clock *clock)
{
    clock->count = 0;
    clock->knows_all = false;
}

void race_clock_free(struct race_clock *clock)
{
    free(clock->known);
    *clock = (struct race_clock){0};
}
