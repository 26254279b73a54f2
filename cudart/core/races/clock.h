/* SPDX-License-Identifier: Apache-2.0
 *
 * What somebody knows of others: for each of them a stamp, before which everything it did has
 * happened before. A sparse vector clock. Not thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_RACES_CLOCK_H
#define PTXRUN_CUDART_CORE_RACES_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct race_known {
    uint64_t unit;
    uint32_t stamp;
};

/* All zero: nothing is known. */
struct race_clock {
    struct race_known *known; /* by unit */
    size_t count;
    size_t cap;
    bool knows_all; /* memory was short: rather no race than one that is none */
};

/* The stamp of a unit; 0: nothing is known of it. */
uint32_t race_clock_of(const struct race_clock *clock, uint64_t unit);

/* Stamps only grow. */
void race_clock_raise(struct race_clock *clock, uint64_t unit, uint32_t stamp);
void race_clock_join(struct race_clock *clock, const struct race_clock *other);

void race_clock_clear(struct race_clock *clock); /* keeps its memory */
void race_clock_free(struct race_clock *clock);

#endif
