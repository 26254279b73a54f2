/* SPDX-License-Identifier: Apache-2.0 */
#include "scalar_helper.h"

#include <math.h>
#include <string.h>
#include <time.h>

#define ROUNDS 200000

/* Random bits, often with an exponent near another's, so that sums cancel. */
static uint64_t random_bits(uint64_t *state, const struct oracle_format *format)
{
    uint64_t bits = next_random(state);
    uint64_t shape = next_random(state);
    uint64_t middle = (uint64_t)format->bias + shape % 8;

    if (shape % 3 != 0 || format->exponent_bits == 0)
        return format->bits == 64 ? bits : bits & ((UINT64_C(1) << format->bits) - 1);
    bits &= oracle_sign_bit(format) | ((UINT64_C(1) << format->fraction_bits) - 1);
    return bits | (middle << format->fraction_bits);
}

static void compare_with_host(enum ptx_type type)
{
    const struct oracle_format *format = oracle_format(type);
    uint64_t state = 42;

    for (unsigned i = 0; i < ROUNDS; i++) {
        enum oracle_operation operation = (enum oracle_operation)(i % (ORACLE_OP_SQRT + 1));
        enum oracle_round round = (enum oracle_round)(i / 7 % 5);
        uint64_t a = random_bits(&state, format);
        uint64_t b = random_bits(&state, format);
        uint64_t c = random_bits(&state, format);
        uint64_t exact;
        uint64_t host;

        if (round == ORACLE_ROUND_NEAREST_AWAY)
            round = ORACLE_ROUND_NEAREST_EVEN;
        exact = oracle_operate_exactly(format, operation, round, a, b, c);
        host = oracle_operate(format, operation, round, a, b, c);
        cr_assert_eq(exact, host,
                     "operation %d, rounding %d, 0x%" PRIx64 " 0x%" PRIx64 " 0x%" PRIx64
                     ": exact 0x%" PRIx64 ", host 0x%" PRIx64,
                     operation, round, a, b, c, exact, host);
    }
}

Test(scalar_softfloat, exact_f32_is_the_hosts)
{
    compare_with_host(PTX_TYPE_F32);
}

Test(scalar_softfloat, exact_f64_is_the_hosts)
{
    compare_with_host(PTX_TYPE_F64);
}

Test(scalar_softfloat, every_f16_converts_as_the_hosts)
{
    const struct oracle_format *f16 = oracle_format(PTX_TYPE_F16);
    const struct oracle_format *f32 = oracle_format(PTX_TYPE_F32);

    for (uint32_t i = 0; i < 0x10000; i++) {
        uint16_t bits = (uint16_t)i;
        uint64_t got = oracle_pack(f32, oracle_unpack(f16, i), ORACLE_ROUND_NEAREST_EVEN);
        _Float16 half;
        float wide;
        uint32_t want;

        memcpy(&half, &bits, sizeof(half));
        wide = (float)half;
        memcpy(&want, &wide, sizeof(want));
        if (oracle_is_nan(f32, want))
            cr_assert(oracle_is_nan(f32, got));
        else
            cr_assert_eq(got, want, "0x%x", i);
        cr_assert(oracle_is_nan(f16, i) ||
                  oracle_pack(f16, oracle_unpack(f16, i), ORACLE_ROUND_ZERO) == i);
    }
}

Test(scalar_softfloat, f32_to_f16_rounds_as_the_hosts)
{
    const struct oracle_format *f16 = oracle_format(PTX_TYPE_F16);
    const struct oracle_format *f32 = oracle_format(PTX_TYPE_F32);
    uint64_t state = 7;

    for (uint32_t i = 0; i < 1000000; i++) {
        /* around the range of f16, and its halfway points */
        uint32_t bits = (uint32_t)next_random(&state);
        float value;
        _Float16 half;
        uint16_t want;

        if (i % 2 == 0)
            bits = (bits & 0x8fffffff) | 0x30000000;
        if (i % 3 == 0)
            bits &= 0xfffff000;
        memcpy(&value, &bits, sizeof(value));
        half = (_Float16)value;
        memcpy(&want, &half, sizeof(want));
        if (!isnan(value))
            cr_assert_eq(oracle_pack(f16, oracle_unpack(f32, bits), ORACLE_ROUND_NEAREST_EVEN),
                         want, "0x%x", bits);
    }
}

Test(scalar_softfloat, small_formats_have_their_extremes)
{
    const struct oracle_format *e4m3 = oracle_format(PTX_TYPE_E4M3);
    const struct oracle_format *e5m2 = oracle_format(PTX_TYPE_E5M2);
    const struct oracle_format *f64 = oracle_format(PTX_TYPE_F64);
    double values[2] = {448, 57344};
    uint64_t bits[2];

    memcpy(bits, values, sizeof(bits));
    cr_expect_eq(oracle_pack(f64, oracle_unpack(e4m3, 0x7e), ORACLE_ROUND_ZERO), bits[0]);
    cr_expect_eq(oracle_pack(f64, oracle_unpack(e5m2, 0x7b), ORACLE_ROUND_ZERO), bits[1]);
    cr_expect(oracle_is_nan(e4m3, 0x7f));
    cr_expect(oracle_is_nan(e4m3, 0xff));
    cr_expect_not(oracle_is_nan(e4m3, 0x78));
    cr_expect_eq(oracle_unpack(e5m2, 0x7c).class, ORACLE_INFINITE);
    for (uint32_t i = 0; i < 256; i++) {
        cr_expect(oracle_is_nan(e4m3, i) ||
                  oracle_pack(e4m3, oracle_unpack(e4m3, i), ORACLE_ROUND_NEAREST_EVEN) == i);
        cr_expect(oracle_is_nan(e5m2, i) ||
                  oracle_pack(e5m2, oracle_unpack(e5m2, i), ORACLE_ROUND_NEAREST_EVEN) == i);
    }
}

Test(scalar_softfloat, fast_functions_are_correctly_rounded)
{
    static const char *const texts[] = {"sin.approx.f32 %r0, %r1",  "cos.approx.f32 %r0, %r1",
                                        "lg2.approx.f32 %r0, %r1",  "ex2.approx.f32 %r0, %r1",
                                        "tanh.approx.f32 %r0, %r1", "rsqrt.approx.f32 %r0, %r1"};
    static const enum oracle_function functions[] = {
        ORACLE_SINE, ORACLE_COSINE, ORACLE_LOG2, ORACLE_EXP2, ORACLE_TANH, ORACLE_RECIPROCAL_ROOT};
    const struct oracle_format *f32 = oracle_format(PTX_TYPE_F32);
    uint64_t state = 3;

    for (unsigned n = 0; n < 6; n++) {
        const struct ptx_inst *inst = instruction(texts[n]);

        for (unsigned i = 0; i < 20000; i++) {
            uint64_t in[1] = {random_bits(&state, f32)};
            uint64_t want = oracle_pack(f32, oracle_apply(functions[n], oracle_unpack(f32, in[0])),
                                        ORACLE_ROUND_NEAREST_EVEN);

            cr_assert_eq(evaluate(inst, in).out.u64, want, "%s of 0x%" PRIx64, texts[n], in[0]);
        }
    }
}
