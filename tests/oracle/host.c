/* SPDX-License-Identifier: Apache-2.0
 *
 * Short cuts for f32 and f64: the host's own arithmetic, which IEEE 754 defines bit for bit, in
 * the rounding mode asked for. oracle_operate chooses between them and the exact numbers.
 */
#include "tests/oracle/softfloat.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

#pragma STDC FENV_ACCESS ON
#pragma STDC FP_CONTRACT OFF

static int host_mode(enum oracle_round round)
{
    switch (round) {
    case ORACLE_ROUND_ZERO:
        return FE_TOWARDZERO;
    case ORACLE_ROUND_DOWN:
        return FE_DOWNWARD;
    case ORACLE_ROUND_UP:
        return FE_UPWARD;
    default:
        return FE_TONEAREST;
    }
}

/* volatile: nothing may move across the changes of mode. */
static float compute_f32(enum oracle_operation operation, float a, float b, float c)
{
    volatile float x = a;
    volatile float y = b;
    volatile float result = 0;

    switch (operation) {
    case ORACLE_OP_ADD:
        result = x + y;
        break;
    case ORACLE_OP_SUB:
        result = x - y;
        break;
    case ORACLE_OP_MUL:
        result = x * y;
        break;
    case ORACLE_OP_DIV:
        result = x / y;
        break;
    case ORACLE_OP_FMA:
        result = fmaf(x, y, c);
        break;
    case ORACLE_OP_SQRT:
        result = sqrtf(x);
        break;
    }
    return result;
}

static double compute_f64(enum oracle_operation operation, double a, double b, double c)
{
    volatile double x = a;
    volatile double y = b;
    volatile double result = 0;

    switch (operation) {
    case ORACLE_OP_ADD:
        result = x + y;
        break;
    case ORACLE_OP_SUB:
        result = x - y;
        break;
    case ORACLE_OP_MUL:
        result = x * y;
        break;
    case ORACLE_OP_DIV:
        result = x / y;
        break;
    case ORACLE_OP_FMA:
        result = fma(x, y, c);
        break;
    case ORACLE_OP_SQRT:
        result = sqrt(x);
        break;
    }
    return result;
}

uint32_t oracle_host_f32(enum oracle_operation operation, enum oracle_round round, uint32_t a,
                         uint32_t b, uint32_t c)
{
    uint32_t bits[3] = {a, b, c};
    uint32_t result_bits;
    float values[3];
    float result;

    memcpy(values, bits, sizeof(values));
    if (round != ORACLE_ROUND_NEAREST_EVEN)
        fesetround(host_mode(round));
    result = compute_f32(operation, values[0], values[1], values[2]);
    if (round != ORACLE_ROUND_NEAREST_EVEN)
        fesetround(FE_TONEAREST);
    memcpy(&result_bits, &result, sizeof(result));
    return result_bits;
}

uint64_t oracle_host_f64(enum oracle_operation operation, enum oracle_round round, uint64_t a,
                         uint64_t b, uint64_t c)
{
    uint64_t bits[3] = {a, b, c};
    uint64_t result_bits;
    double values[3];
    double result;

    memcpy(values, bits, sizeof(values));
    if (round != ORACLE_ROUND_NEAREST_EVEN)
        fesetround(host_mode(round));
    result = compute_f64(operation, values[0], values[1], values[2]);
    if (round != ORACLE_ROUND_NEAREST_EVEN)
        fesetround(FE_TONEAREST);
    memcpy(&result_bits, &result, sizeof(result));
    return result_bits;
}

/* The exact result, before rounding. */
static struct oracle_number operate(const struct oracle_format *format,
                                    enum oracle_operation operation, enum oracle_round round,
                                    uint64_t a, uint64_t b, uint64_t c)
{
    struct oracle_number x = oracle_unpack(format, a);
    struct oracle_number y = oracle_unpack(format, b);
    struct oracle_number nan = {.class = ORACLE_NAN};

    switch (operation) {
    case ORACLE_OP_ADD:
        return oracle_add(x, y, round);
    case ORACLE_OP_SUB:
        y.is_negative = !y.is_negative;
        return oracle_add(x, y, round);
    case ORACLE_OP_MUL:
        return oracle_multiply(x, y);
    case ORACLE_OP_DIV:
        return oracle_divide(x, y);
    case ORACLE_OP_FMA:
        return oracle_multiply_add(x, y, oracle_unpack(format, c), round);
    case ORACLE_OP_SQRT:
        return oracle_square_root(x);
    }
    return nan;
}

uint64_t oracle_operate_exactly(const struct oracle_format *format, enum oracle_operation operation,
                                enum oracle_round round, uint64_t a, uint64_t b, uint64_t c)
{
    return oracle_pack(format, operate(format, operation, round, a, b, c), round);
}

uint64_t oracle_operate(const struct oracle_format *format, enum oracle_operation operation,
                        enum oracle_round round, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t result;

    if (format == oracle_format(PTX_TYPE_F32))
        result = oracle_host_f32(operation, round, (uint32_t)a, (uint32_t)b, (uint32_t)c);
    else if (format == oracle_format(PTX_TYPE_F64))
        result = oracle_host_f64(operation, round, a, b, c);
    else
        return oracle_operate_exactly(format, operation, round, a, b, c);
    return oracle_is_nan(format, result) ? format->canonical_nan : result;
}

uint64_t oracle_operate_ftz(const struct oracle_format *format, enum oracle_operation operation,
                            enum oracle_round round, uint64_t a, uint64_t b, uint64_t c)
{
    int64_t smallest_normal = INT64_C(1) << format->fraction_bits;
    uint64_t value;
    int64_t rank;

    a = oracle_flush(format, a);
    b = oracle_flush(format, b);
    c = oracle_flush(format, c);
    value = oracle_operate(format, operation, round, a, b, c);
    rank = oracle_is_nan(format, value) ? 0 : oracle_rank(format, value);
    if ((rank == smallest_normal || rank == -smallest_normal) &&
        oracle_is_tiny(format, operate(format, operation, round, a, b, c), round))
        return value & oracle_sign_bit(format);
    return oracle_flush(format, value);
}
