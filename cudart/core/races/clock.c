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

static bool make_room(struct race_clock *clock, size_t more)
{
    if (clock->cap - clock->count >= more)
        return true;
    size_t cap = 2 * clock->cap + more < 8 ? 8 : 2 * clock->cap + more;
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
    if (!make_room(clock, 1)) {
        clock->knows_all = true;
        return;
    }
    memmove(&clock->known[place + 1], &clock->known[place],
            (clock->count - place) * sizeof *clock->known);
    clock->known[place] = (struct race_known){.unit = unit, .stamp = stamp};
    clock->count++;
}

/* That many times fewer units are looked for one by one. */
#define FEW 16

/* Raises the units that both know of; returns how many only the other one knows. */
static size_t raise_common(struct race_clock *clock, const struct race_clock *other)
{
    size_t missing = 0;
    size_t at = 0;
    for (size_t i = 0; i < other->count; i++) {
        const struct race_known *known = &other->known[i];
        while (at < clock->count && clock->known[at].unit < known->unit)
            at++;
        if (at == clock->count || clock->known[at].unit != known->unit)
            missing++;
        else if (clock->known[at].stamp < known->stamp)
            clock->known[at].stamp = known->stamp;
    }
    return missing;
}

/* Adds units that only the other one knows, so many, from the last one on. */
static void add_missing(struct race_clock *clock, const struct race_clock *other, size_t missing)
{
    size_t from = clock->count;
    size_t to = from + missing;
    clock->count = to;
    for (size_t i = other->count; missing > 0; i--) {
        const struct race_known *known = &other->known[i - 1];
        while (from > 0 && clock->known[from - 1].unit > known->unit)
            clock->known[--to] = clock->known[--from];
        if (from > 0 && clock->known[from - 1].unit == known->unit)
            continue;
        clock->known[--to] = *known;
        missing--;
    }
}

void race_clock_join(struct race_clock *clock, const struct race_clock *other)
{
    clock->knows_all |= other->knows_all;
    for (size_t i = 0; other->count * FEW < clock->count && i < other->count; i++)
        race_clock_raise(clock, other->known[i].unit, other->known[i].stamp);
    if (other->count * FEW < clock->count)
        return;
    size_t missing = raise_common(clock, other);
    if (missing == 0)
        return;
    if (make_room(clock, missing))
        add_missing(clock, other, missing);
    else
        clock->knows_all = true;
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
