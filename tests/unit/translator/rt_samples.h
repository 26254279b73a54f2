/* SPDX-License-Identifier: Apache-2.0
 *
 * Values the tests of translator/rt try: the edges of each format, and a reproducible stream of
 * random bit patterns (all exponents alike, many close together, so that sums cancel).
 */
#ifndef PTXRUN_TESTS_RT_SAMPLES_H
#define PTXRUN_TESTS_RT_SAMPLES_H

#include <fenv.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "translator/rt/arith.h"

static inline uint64_t random_bits(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline float float_of(uint32_t bits)
{
    float a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

static inline uint32_t float_bits(float a)
{
    uint32_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

static inline double double_of(uint64_t bits)
{
    double a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

static inline uint64_t double_bits(double a)
{
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

static const uint32_t f32_edges[] = {
    0x00000000, 0x00000001, 0x00000002, 0x007fffff, 0x00800000, 0x00800001, 0x00ffffff,
    0x01000000, 0x0c800000, 0x33800000, 0x34000000, 0x3effffff, 0x3f000000, 0x3f7fffff,
    0x3f800000, 0x3f800001, 0x3fc00000, 0x40000000, 0x40490fdb, 0x4b7fffff, 0x4b800000,
    0x4b800001, 0x4effffff, 0x4f000000, 0x4f800000, 0x5f000000, 0x5f800000, 0x7e800000,
    0x7f000000, 0x7f7ffffe, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x7f800001,
};
#define F32_EDGE_COUNT (sizeof f32_edges / sizeof f32_edges[0])

static const uint64_t f64_edges[] = {
    0x0000000000000000, 0x0000000000000001, 0x0000000000000002, 0x000fffffffffffff,
    0x0010000000000000, 0x0010000000000001, 0x001fffffffffffff, 0x0020000000000000,
    0x0360000000000000, 0x1ff0000000000000, 0x1fffffffffffffff, 0x2000000000000001,
    0x3c90000000000000, 0x3ca0000000000000, 0x3cafffffffffffff, 0x3cb0000000000000,
    0x3fdfffffffffffff, 0x3fe0000000000000, 0x3fefffffffffffff, 0x3ff0000000000000,
    0x3ff0000000000001, 0x3ff8000000000000, 0x4000000000000000, 0x400921fb54442d18,
    0x4340000000000000, 0x43e0000000000000, 0x5fefffffffffffff, 0x7fd0000000000000,
    0x7fe0000000000000, 0x7feffffffffffffe, 0x7fefffffffffffff, 0x7ff0000000000000,
    0x7ff8000000000000,
};
#define F64_EDGE_COUNT (sizeof f64_edges / sizeof f64_edges[0])

/* Edges with both signs first, then random ones. */
static inline float sample_f32(uint32_t index, uint64_t *state)
{
    if (index < 2 * F32_EDGE_COUNT)
        return float_of(f32_edges[index / 2] ^ (index % 2 ? 0x80000000u : 0));
    uint64_t bits = random_bits(state);
    if (bits >> 63) /* near one: cancellation and ties */
        return float_of(((uint32_t)bits & 0x800000ffu) | 0x3f000000u |
                        ((uint32_t)bits & 0x01800000u));
    return float_of((uint32_t)bits);
}

static inline double sample_f64(uint32_t index, uint64_t *state)
{
    if (index < 2 * F64_EDGE_COUNT)
        return double_of(f64_edges[index / 2] ^ (index % 2 ? 0x8000000000000000u : 0));
    uint64_t bits = random_bits(state);
    if (random_bits(state) & 1)
        return double_of((bits & 0x80700000000000ffu) | 0x3f80000000000000u);
    return double_of(bits);
}

static const int host_modes[] = {[RT_ROUND_NEAREST] = FE_TONEAREST,
                                 [RT_ROUND_ZERO] = FE_TOWARDZERO,
                                 [RT_ROUND_DOWN] = FE_DOWNWARD,
                                 [RT_ROUND_UP] = FE_UPWARD};

/* NaN equals NaN, whatever the payload; everything else bit for bit. */
static inline bool same_f32(float a, float b)
{
    return float_bits(a) == float_bits(b) || (a != a && b != b);
}

static inline bool same_f64(double a, double b)
{
    return double_bits(a) == double_bits(b) || (a != a && b != b);
}

#endif
