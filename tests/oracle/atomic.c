/* SPDX-License-Identifier: Apache-2.0
 *
 * atom and red (PTX ISA, "atom", "red"). Threads run one instruction at a time, so an operation is
 * atomic by itself; scopes and orders mean nothing.
 */
#include <math.h>
#include <string.h>

#include "tests/oracle/dispatch.h"
#include "tests/oracle/machine.h"

/* ---- half precision ---- */

/* Bits of a 16-bit format: sign, exponent, mantissa. */
struct half_format {
    int exponent_bits;
    int mantissa_bits;
};

static struct half_format format_of(enum ptx_type type)
{
    if (type == PTX_TYPE_F16 || type == PTX_TYPE_F16X2)
        return (struct half_format){5, 10};
    return (struct half_format){8, 7};
}

static double half_to_double(uint16_t bits, struct half_format format)
{
    int bias = (1 << (format.exponent_bits - 1)) - 1;
    int exponent = bits >> format.mantissa_bits & ((1 << format.exponent_bits) - 1);
    int mantissa = bits & ((1 << format.mantissa_bits) - 1);
    double value;

    if (exponent == (1 << format.exponent_bits) - 1)
        value = mantissa ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexp(mantissa, 1 - bias - format.mantissa_bits);
    else
        value =
            ldexp(mantissa + (1 << format.mantissa_bits), exponent - bias - format.mantissa_bits);
    return bits >> 15 ? -value : value;
}

/* To nearest, ties to even. Exact for the sum of two halves: where a double has already rounded
 * it, the smaller one is too small to matter. */
static uint16_t double_to_half(double value, struct half_format format)
{
    int bias = (1 << (format.exponent_bits - 1)) - 1;
    uint32_t infinity = ((1U << format.exponent_bits) - 1) << format.mantissa_bits;
    uint32_t sign = signbit(value) ? 0x8000 : 0;
    uint32_t bits;
    int exponent;

    if (isnan(value))
        return 0x7fff; /* PTX ISA: the canonical NaN */
    value = fabs(value);
    if (value == 0)
        return (uint16_t)sign;
    if (isinf(value))
        return (uint16_t)(sign | infinity);
    frexp(value, &exponent);
    exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
    /* the mantissa's leading bit, if there is one, adds 1 to the exponent */
    bits = ((uint32_t)(exponent + bias - 1) << format.mantissa_bits) +
           (uint32_t)nearbyint(ldexp(value, format.mantissa_bits - exponent));
    return (uint16_t)(sign | (bits < infinity ? bits : infinity));
}

/* PTX ISA, "min", "max": a number wins over a NaN, and -0 is less than +0. */
static bool is_smaller(double a, double b)
{
    return a < b || (a == b && signbit(a) && !signbit(b));
}

static uint16_t half_operation(enum ptx_mod op, uint16_t a, uint16_t b, struct half_format format)
{
    double x = half_to_double(a, format);
    double y = half_to_double(b, format);

    if (op == PTX_MOD_ADD)
        return double_to_half(x + y, format);
    if (isnan(x) || isnan(y))
        return isnan(y) ? double_to_half(x, format) : b;
    return is_smaller(x, y) == (op == PTX_MOD_MIN) ? a : b;
}

/* ---- single and double precision ---- */

static float flush(float value)
{
    return fpclassify(value) == FP_SUBNORMAL ? copysignf(0, value) : value;
}

/* PTX ISA, "atom": on global memory add.f32 flushes subnormal inputs and results to zero of the
 * same sign; on shared memory it does not. */
static float add_single(float a, float b, bool is_shared)
{
    return is_shared ? a + b : flush(flush(a) + flush(b));
}

static union oracle_value float_operation(enum ptx_mod op, enum ptx_type type,
                                          union oracle_value old, union oracle_value b,
                                          bool is_shared)
{
    struct half_format format = format_of(type);
    union oracle_value result = {0};

    switch (type) {
    case PTX_TYPE_F32:
        result.f32 = add_single(old.f32, b.f32, is_shared);
        break;
    case PTX_TYPE_F64:
        result.f64 = old.f64 + b.f64;
        break;
    case PTX_TYPE_F16:
    case PTX_TYPE_BF16:
        result.u64 = half_operation(op, old.u16, b.u16, format);
        break;
    default: /* a pair */
        result.u64 = half_operation(op, (uint16_t)(old.u32 >> 16), (uint16_t)(b.u32 >> 16), format);
        result.u64 = result.u64 << 16 | half_operation(op, old.u16, b.u16, format);
        break;
    }
    return result;
}

/* ---- integers and bits ---- */

static bool is_less(enum ptx_type type, union oracle_value a, union oracle_value b)
{
    if (ptx_type_is_signed(type))
        return oracle_signed(a, type) < oracle_signed(b, type);
    return a.u64 < b.u64;
}

static union oracle_value integer_operation(enum ptx_mod op, enum ptx_type type,
                                            union oracle_value old, union oracle_value b,
                                            union oracle_value c)
{
    union oracle_value result = b; /* exch */

    switch (op) {
    case PTX_MOD_CAS:
        result = old.u128 == b.u128 ? c : old;
        break;
    case PTX_MOD_ADD:
        result.u64 = old.u64 + b.u64;
        break;
    case PTX_MOD_INC:
        result.u64 = old.u64 >= b.u64 ? 0 : old.u64 + 1;
        break;
    case PTX_MOD_DEC:
        result.u64 = old.u64 == 0 || old.u64 > b.u64 ? b.u64 : old.u64 - 1;
        break;
    case PTX_MOD_MIN:
        result = is_less(type, old, b) ? old : b;
        break;
    case PTX_MOD_MAX:
        result = is_less(type, old, b) ? b : old;
        break;
    case PTX_MOD_AND:
        result.u128 = old.u128 & b.u128;
        break;
    case PTX_MOD_OR:
        result.u128 = old.u128 | b.u128;
        break;
    case PTX_MOD_XOR:
        result.u128 = old.u128 ^ b.u128;
        break;
    default:
        break;
    }
    return result;
}

/* ---- the instructions ---- */

union oracle_value oracle_combine(enum ptx_mod op, enum ptx_type type, union oracle_value old,
                                  union oracle_value b, union oracle_value c, bool is_shared)
{
    if (ptx_type_is_float(type) && op != PTX_MOD_EXCH && op != PTX_MOD_CAS)
        return float_operation(op, type, old, b, is_shared);
    return integer_operation(op, type, old, b, c);
}

/* New value of one element; sources are b, and c of cas. */
static union oracle_value operate(struct oracle_thread *thread, const struct ptx_inst *inst,
                                  const struct ptx_operand *sources, unsigned elem,
                                  union oracle_value old, bool is_shared)
{
    enum ptx_mod op = ptx_inst_mod(inst, PTX_GROUP_ATOMOP);
    enum ptx_type type = inst->types[0];
    union oracle_value b = oracle_read_elem(thread, &sources[0], elem, type);
    union oracle_value c = {0};

    if (op == PTX_MOD_CAS)
        c = oracle_read_elem(thread, &sources[1], elem, type);
    return oracle_combine(op, type, old, b, c, is_shared);
}

/* target: where the old values go, NULL for red. */
static enum pxr_status atomic(struct oracle_thread *thread, const struct ptx_inst *inst,
                              const struct ptx_operand *target, const struct ptx_operand *address)
{
    unsigned size_bytes = ptx_type_bytes(inst->types[0]);
    unsigned len = ptx_inst_vector_len(inst);
    union oracle_value old[8] = {0};
    bool is_shared;
    uint8_t *host;
    enum pxr_status status =
        oracle_resolve(thread, inst, ptx_inst_space(inst), oracle_address_of(thread, address),
                       size_bytes * len, ORACLE_STORE, &host, &is_shared);

    if (status != PXR_OK)
        return status;
    for (unsigned i = 0; i < len; i++) {
        union oracle_value result;

        memcpy(&old[i], host + i * size_bytes, size_bytes);
        result = operate(thread, inst, address + 1, i, old[i], is_shared);
        memcpy(host + i * size_bytes, &result, size_bytes);
    }
    for (unsigned i = 0; target && i < len; i++)
        oracle_write_elem(thread, target, i, inst->types[0], old[i]);
    return PXR_OK;
}

enum pxr_status oracle_atom(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return atomic(thread, inst, &inst->operands[0], &inst->operands[1]);
}

enum pxr_status oracle_red(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return atomic(thread, inst, NULL, &inst->operands[0]);
}
