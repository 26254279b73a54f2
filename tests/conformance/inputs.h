/* SPDX-License-Identifier: Apache-2.0
 *
 * Values to feed instructions: edge values of every type crossed, exhaustive where that is small,
 * and random ones with a fixed seed that favour what instructions get wrong.
 */
#ifndef PTXRUN_TESTS_CONFORMANCE_INPUTS_H
#define PTXRUN_TESTS_CONFORMANCE_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/ops.h"

#define CONF_MAX_INPUTS 8

/* count samples of in_count operands; one column per operand. */
struct conf_inputs {
    unsigned in_count;
    enum ptx_type types[CONF_MAX_INPUTS];
    size_t count;
    size_t
        random_count; /* of these: the last ones, the first of which are the same in any number */
    size_t capacity;
    uint8_t *columns[CONF_MAX_INPUTS]; /* conf_type_bytes(type) each */
};

/* Bytes an operand of the type takes in a buffer: 1, 2, 4, 8 or 16. */
unsigned conf_type_bytes(enum ptx_type type);

/* Edge values of one operand when `in_count` of them are crossed; returns how many. */
#define CONF_MAX_EDGES 65536
size_t conf_edges(enum ptx_type type, unsigned in_count, unsigned __int128 *edges);

/* Edges (or everything) and then random_count random samples. False when out of memory. */
bool conf_inputs_make(struct conf_inputs *inputs, const enum ptx_type *types, unsigned in_count,
                      size_t random_count);
/* Behind all of them, for fused operations: sums that are ties if they are rounded twice. Of fewer
 * than three operands, or of integers, there are none. False when out of memory. */
bool conf_inputs_add_near_ties(struct conf_inputs *inputs);
/* Leaves count of the samples, chosen at random, or all if there are fewer. */
void conf_inputs_choose(struct conf_inputs *inputs, size_t count);
void conf_inputs_free(struct conf_inputs *inputs);

/* The bits of one element of a floating-point type: f16x2 has elements of two bytes. Patterns above
 * infinity are NaNs. */
struct conf_float {
    unsigned bytes;
    uint64_t magnitude;
    uint64_t infinity;
};
struct conf_float conf_float_of(enum ptx_type type);

static inline unsigned __int128 conf_load(const uint8_t *bytes, unsigned size_bytes)
{
    unsigned __int128 value = 0;
    __builtin_memcpy(&value, bytes, size_bytes);
    return value;
}

/* A sequence that is the same everywhere. */
struct conf_random {
    uint64_t state;
};
uint64_t conf_next(struct conf_random *random);

#endif
