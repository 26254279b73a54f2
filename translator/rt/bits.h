/* SPDX-License-Identifier: Apache-2.0
 *
 * Bit patterns of floating-point values, and rounding in a chosen direction with nothing but
 * round-to-nearest arithmetic: a sum or product is computed together with its exact error, and the
 * nearest value is moved one step when it lies on the wrong side of the exact one.
 * Private to translator/rt.
 *
 * The arms of every conditional that depends on data are plain variables, which makes it a select:
 * lanes differ, and a branch would have to be turned into masks.
 */
#ifndef PTXRUN_TRANSLATOR_RT_BITS_H
#define PTXRUN_TRANSLATOR_RT_BITS_H

#include <stdint.h>

#include "translator/rt/arith.h"

#define SIGN_F32     0x80000000u
#define INF_F32      0x7f800000u
#define NAN_F32      0x7fffffffu /* the canonical NaN of PTX */
#define SIGN_F64     0x8000000000000000u
#define INF_F64      0x7ff0000000000000u
#define MANTISSA_F64 0x000fffffffffffffu

static inline uint32_t bits_f32(float a)
{
    uint32_t bits;
    __builtin_memcpy(&bits, &a, sizeof(bits));
    return bits;
}

static inline float f32_of(uint32_t bits)
{
    float a;
    __builtin_memcpy(&a, &bits, sizeof(a));
    return a;
}

static inline uint64_t bits_f64(double a)
{
    uint64_t bits;
    __builtin_memcpy(&bits, &a, sizeof(bits));
    return bits;
}

static inline double f64_of(uint64_t bits)
{
    double a;
    __builtin_memcpy(&a, &bits, sizeof(a));
    return a;
}

/* Whether the nearest value has to move: `above` and `below` say that it is greater or less than
 * the exact one, `negative` is its sign. */
static inline int rounds_down(int above, int negative, uint32_t mode)
{
    return mode == RT_ROUND_DOWN ? above : mode == RT_ROUND_ZERO ? above & !negative : 0;
}

static inline int rounds_up(int below, int negative, uint32_t mode)
{
    return mode == RT_ROUND_UP ? below : mode == RT_ROUND_ZERO ? below & negative : 0;
}

/* The neighbour of a bit pattern towards minus or plus infinity. */
static inline uint32_t step_down_f32(uint32_t bits)
{
    uint32_t next = bits + ((bits & SIGN_F32) != 0 ? 1u : UINT32_MAX);
    return (bits & ~SIGN_F32) == 0 ? (SIGN_F32 | 1) : next;
}

static inline uint32_t step_up_f32(uint32_t bits)
{
    return step_down_f32(bits ^ SIGN_F32) ^ SIGN_F32;
}

static inline uint64_t step_down_f64(uint64_t bits)
{
    uint64_t next = bits + ((bits & SIGN_F64) != 0 ? 1u : UINT64_MAX);
    return (bits & ~SIGN_F64) == 0 ? SIGN_F64 | 1 : next;
}

static inline uint64_t step_up_f64(uint64_t bits)
{
    return step_down_f64(bits ^ SIGN_F64) ^ SIGN_F64;
}

/* sum + error, where |error| is at most half a unit in the last place of sum, rounded to f32.
 * The difference of nearest and sum is exact: both are multiples of the same unit. */
static inline float narrow_f32(double sum, double error, uint32_t mode)
{
    float nearest = (float)sum;
    double excess = (double)nearest - sum;
    uint32_t bits = bits_f32(nearest);
    int negative = (bits & SIGN_F32) != 0;
    uint32_t down = step_down_f32(bits);
    uint32_t up = step_up_f32(bits);
    uint32_t result = rounds_down(excess > error, negative, mode) ? down : bits;
    return f32_of(rounds_up(excess < error, negative, mode) ? up : result);
}

/* nearest, when the exact value is nearest + error; only the sign of error matters. */
static inline double adjust_f64(double nearest, double error, uint32_t mode)
{
    uint64_t bits = bits_f64(nearest);
    int negative = (bits & SIGN_F64) != 0;
    uint64_t down = step_down_f64(bits);
    uint64_t up = step_up_f64(bits);
    uint64_t result = rounds_down(error < 0, negative, mode) ? down : bits;
    return f64_of(rounds_up(error > 0, negative, mode) ? up : result);
}

struct sum_f64 {
    double sum;
    double error;
};

/* a + b and its exact error. The larger operand first, so that nothing overflows on the way; when
 * the sum itself does, error is infinite with the sign that brings it back. */
static inline struct sum_f64 two_sum(double a, double b)
{
    int swap = !(__builtin_fabs(a) >= __builtin_fabs(b));
    double large = swap ? b : a;
    double small = swap ? a : b;
    double sum = large + small;
    double error = small - (sum - large);
    return (struct sum_f64){.sum = sum, .error = error};
}

/* An exact zero sum of operands with different signs is -0 when rounding down, else +0. */
static inline double fix_zero_sum(double sum, double a, double b, uint32_t mode)
{
    uint64_t sign = (bits_f64(a) | bits_f64(b)) & SIGN_F64;
    double zero = f64_of(sign);
    double fixed = sum == 0 ? zero : sum;
    return mode == RT_ROUND_DOWN ? fixed : sum;
}

#endif
