/* SPDX-License-Identifier: Apache-2.0
 *
 * The results of operations of a warp, as functions of numbers: used by the scheduler, where lanes
 * come one by one, and by generated code, where all have come together (translator/rt/fused.c).
 * Plain C without dependencies, as it is also compiled to bitcode.
 */
#ifndef PTXRUN_KERNEL_ABI_LANES_H
#define PTXRUN_KERNEL_ABI_LANES_H

#include "kernel_abi/rt.h"

#define RT_PREDICATE_BIT (UINT64_C(1) << 32)

/* PTX ISA shfl.sync: b is a lane or a distance, c holds the clamp (bits 0-4) and the segment mask
 * (bits 8-12). Returns the lane, below 32, whose value `lane` gets, if *is_in_range; otherwise it
 * keeps its own. */
static inline uint32_t rt_shfl_source(uint32_t mode, uint32_t lane, uint32_t b, uint32_t c,
                                      bool *is_in_range)
{
    int32_t distance = (int32_t)(b & 31);
    uint32_t clamp = c & 31;
    uint32_t segment = c >> 8 & 31;
    int32_t max_lane = (int32_t)((lane & segment) | (clamp & ~segment));
    int32_t source;
    switch (mode) {
    case RT_SHFL_UP:
        source = (int32_t)lane - distance;
        *is_in_range = source >= max_lane;
        break;
    case RT_SHFL_DOWN:
        source = (int32_t)lane + distance;
        *is_in_range = source <= max_lane;
        break;
    case RT_SHFL_BFLY:
        source = (int32_t)lane ^ distance;
        *is_in_range = source <= max_lane;
        break;
    default:
        source = (int32_t)((lane & segment) | ((uint32_t)distance & ~segment));
        *is_in_range = source <= max_lane;
        break;
    }
    return (uint32_t)source & 31;
}

/* ballot: those of `lanes` whose predicate is true. */
static inline uint32_t rt_vote_result(uint32_t mode, uint32_t ballot, uint32_t lanes)
{
    switch (mode) {
    case RT_VOTE_ALL:
        return ballot == lanes;
    case RT_VOTE_ANY:
        return ballot != 0;
    case RT_VOTE_UNI:
        return ballot == lanes || ballot == 0;
    default:
        return ballot;
    }
}

#define RT_F32_MAGNITUDE 0x7fffffffu
#define RT_F32_INFINITY  0x7f800000u
#define RT_F32_NAN       0x7fffffffu /* the canonical one */

static inline bool rt_f32_is_nan(uint32_t bits)
{
    return (bits & RT_F32_MAGNITUDE) > RT_F32_INFINITY;
}

/* Maps bit patterns to the order of the numbers, -0.0 below +0.0. */
static inline int32_t rt_f32_order(uint32_t bits)
{
    return (int32_t)(bits >> 31 != 0 ? bits ^ RT_F32_MAGNITUDE : bits);
}

/* PTX ISA redux.sync: NaNs are left out, unless there is nothing else; with .NaN one of them is
 * enough. */
static inline uint32_t rt_redux_f32(uint32_t op, uint32_t x, uint32_t y)
{
    bool propagates = op == RT_REDUCE_MIN_F32_NAN || op == RT_REDUCE_MAX_F32_NAN;
    bool is_max = op == RT_REDUCE_MAX_F32 || op == RT_REDUCE_MAX_F32_NAN;
    if (rt_f32_is_nan(x) || rt_f32_is_nan(y)) {
        if (propagates || (rt_f32_is_nan(x) && rt_f32_is_nan(y)))
            return RT_F32_NAN;
        return rt_f32_is_nan(x) ? y : x;
    }
    return (rt_f32_order(x) > rt_f32_order(y)) == is_max ? x : y;
}

/* Combines two lanes' values; call rt_redux_end after the last. */
static inline uint32_t rt_redux_step(uint32_t op, uint32_t x, uint32_t y)
{
    switch (op) {
    case RT_REDUCE_AND:
        return x & y;
    case RT_REDUCE_OR:
        return x | y;
    case RT_REDUCE_XOR:
        return x ^ y;
    case RT_REDUCE_MIN:
        return x < y ? x : y;
    case RT_REDUCE_MAX:
        return x > y ? x : y;
    case RT_REDUCE_MIN_SIGNED:
        return (int32_t)x < (int32_t)y ? x : y;
    case RT_REDUCE_MAX_SIGNED:
        return (int32_t)x > (int32_t)y ? x : y;
    case RT_REDUCE_MIN_F32:
    case RT_REDUCE_MAX_F32:
    case RT_REDUCE_MIN_F32_NAN:
    case RT_REDUCE_MAX_F32_NAN:
        return rt_redux_f32(op, x, y);
    default:
        return x + y;
    }
}

static inline uint32_t rt_redux_end(uint32_t op, uint32_t sum)
{
    return op >= RT_REDUCE_MIN_F32 && rt_f32_is_nan(sum) ? RT_F32_NAN : sum;
}

/* PTX ISA movmatrix: a lane has two neighbours of a row of 8 by 8 halves, four lanes have the row.
 * The first (0) and second (1) half of its part of the transposed matrix come from this lane … */
static inline uint32_t rt_transpose_source(uint32_t lane, uint32_t half)
{
    return (lane % 4 * 2 + half) * 4 + lane / 8;
}

/* … from this bit on. */
static inline uint32_t rt_transpose_shift(uint32_t lane)
{
    return lane / 4 % 2 * 16;
}

/* The result of bar.red over so many threads, of which so many have a true predicate. */
static inline uint32_t rt_barrier_reduction(uint32_t op, uint32_t threads, uint32_t set)
{
    switch (op) {
    case RT_REDUCE_AND:
        return set == threads;
    case RT_REDUCE_OR:
        return set != 0;
    default:
        return set;
    }
}

#endif
