/* SPDX-License-Identifier: Apache-2.0
 *
 * See number_text.h.
 */
#include "cudart/core/code/number_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "kernel_abi/numbers.h"

/* What one operand takes. */
#define NUMBER_BYTES 48

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The upper half has all but the last 32 bits of the fraction. */
static double double_of(uint32_t upper)
{
    uint64_t bits = (uint64_t)upper << 32;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double half_of(uint32_t bits)
{
    uint32_t exponent = bits >> 10 & 0x1f;
    uint32_t fraction = bits & 0x3ff;
    double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 0x1f)
        return fraction ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(fraction, -24);
    return sign * ldexp(0x400 + fraction, (int)exponent - 25);
}

static void write_number(enum rt_number_type type, uint32_t bits, char text[NUMBER_BYTES])
{
    switch (type) {
    case RT_NUMBER_INT:
        snprintf(text, NUMBER_BYTES, "%" PRId32, (int32_t)bits);
        break;
    case RT_NUMBER_F16:
        snprintf(text, NUMBER_BYTES, "%g", half_of(bits));
        break;
    case RT_NUMBER_BF16:
        snprintf(text, NUMBER_BYTES, "%g", (double)float_of(bits << 16));
        break;
    case RT_NUMBER_F16X2:
        snprintf(text, NUMBER_BYTES, "(%g, %g)", half_of(bits & 0xffff), half_of(bits >> 16));
        break;
    case RT_NUMBER_BF16X2:
        snprintf(text, NUMBER_BYTES, "(%g, %g)", (double)float_of(bits << 16),
                 (double)float_of(bits & 0xffff0000));
        break;
    case RT_NUMBER_F32:
        snprintf(text, NUMBER_BYTES, "%.9g", (double)float_of(bits));
        break;
    case RT_NUMBER_F64:
        snprintf(text, NUMBER_BYTES, "%g", double_of(bits));
        break;
    }
}

static const char *const between[] = {
    [RT_NUMBER_ADD] = " + ", [RT_NUMBER_SUB] = " - ",  [RT_NUMBER_MUL] = " * ",
    [RT_NUMBER_MAD] = " * ", [RT_NUMBER_SHL] = " << ", [RT_NUMBER_DIV] = " / ",
    [RT_NUMBER_REM] = " % ", [RT_NUMBER_CVT] = NULL,
};

static const char *const before[] = {
    [RT_NUMBER_RCP] = "1 / ",
    [RT_NUMBER_SQRT] = "square root of ",
    [RT_NUMBER_RSQRT] = "1 / square root of ",
    [RT_NUMBER_SIN] = "sine of ",
    [RT_NUMBER_COS] = "cosine of ",
    [RT_NUMBER_LG2] = "log2 of ",
    [RT_NUMBER_EX2] = "exp2 of ",
    [RT_NUMBER_TANH] = "tanh of ",
    [RT_NUMBER_CVT] = "conversion of ",
};

void crt_number_text(uint32_t origin, uint64_t first_two, uint32_t third, bool is_division,
                     char text[CRT_NUMBER_TEXT_BYTES])
{
    char a[NUMBER_BYTES];
    char b[NUMBER_BYTES];
    char c[NUMBER_BYTES];
    enum rt_number_type type = origin & RT_NUMBER_TYPE_MASK;
    enum rt_number_operation operation =
        origin >> RT_NUMBER_OPERATION_SHIFT & RT_NUMBER_OPERATION_MASK;
    const char *infix = between[operation];
    size_t cap = CRT_NUMBER_TEXT_BYTES;
    write_number(type, (uint32_t)first_two, a);
    write_number(type, (uint32_t)(first_two >> 32), b);
    write_number(type, third, c);
    if (is_division)
        snprintf(text, cap, "%" PRId64 "%s0", (int64_t)first_two, infix);
    else if (operation == RT_NUMBER_MAD)
        snprintf(text, cap, "%s * %s + %s", a, b, c);
    else if (infix)
        snprintf(text, cap, "%s%s%s", a, infix, b);
    else if (first_two >> 32) /* cvt to a pair */
        snprintf(text, cap, "%s%s and %s", before[operation], a, b);
    else
        snprintf(text, cap, "%s%s", before[operation], a);
}
