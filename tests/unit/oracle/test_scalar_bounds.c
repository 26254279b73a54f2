/* SPDX-License-Identifier: Apache-2.0 */
#include "scalar_helper.h"

#include <math.h>
#include <string.h>

#define ONE 0x3f800000

static enum oracle_verdict judge(const char *text, const uint64_t *in, uint64_t got)
{
    const struct ptx_inst *inst = instruction(text);
    struct oracle_scalar scalar = evaluate(inst, in);
    union oracle_value value = {.u64 = got};

    return oracle_judge(inst, scalar.in, scalar.in_count, scalar.out, value, NULL, NULL);
}

struct judgement {
    const char *text;
    uint64_t in[3];
    uint64_t got;
    enum oracle_verdict verdict;
};

static void expect_judgements(const struct judgement *judgements, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        enum oracle_verdict verdict =
            judge(judgements[i].text, judgements[i].in, judgements[i].got);

        cr_expect_eq(verdict, judgements[i].verdict,
                     "%s (0x%" PRIx64 ", 0x%" PRIx64 ") = 0x%" PRIx64 ": verdict %d, expected %d",
                     judgements[i].text, judgements[i].in[0], judgements[i].in[1],
                     judgements[i].got, verdict, judgements[i].verdict);
    }
}

#define EXPECT(judgements)                                                                         \
    expect_judgements(judgements, sizeof(judgements) / sizeof((judgements)[0]))

Test(scalar_bounds, exact_instructions_are_judged_bit_by_bit)
{
    static const struct judgement judgements[] = {
        {"add.f32 %r0, %r1, %r2", {ONE, ONE}, 0x40000000, ORACLE_SAME},
        {"add.f32 %r0, %r1, %r2", {ONE, ONE}, 0x40000001, ORACLE_WRONG},
        {"add.f32 %r0, %r1, %r2", {0x7fc00000, ONE}, 0xffc12345, ORACLE_SAME},
        {"add.f32 %r0, %r1, %r2", {0x7fc00000, ONE}, 0x7f800000, ORACLE_WRONG},
        {"sub.f32 %r0, %r1, %r2", {ONE, ONE}, 0x80000000, ORACLE_WRONG},
        {"min.NaN.f32 %r0, %r1, %r2", {0x7fc00000, ONE}, 0x7fc00000, ORACLE_WRONG},
        {"min.NaN.f32 %r0, %r1, %r2", {0x7fc00000, ONE}, 0x7fffffff, ORACLE_SAME},
        {"selp.f32 %r0, %r1, %r2, %p1", {0x7fc00001, ONE, 1}, 0x7fc00002, ORACLE_WRONG},
        {"add.f16x2 %r0, %r1, %r2", {0x7e003c00, 0x3c003c00}, 0x7d014000, ORACLE_SAME},
        {"add.f16x2 %r0, %r1, %r2", {0x7e003c00, 0x3c003c00}, 0x7d014001, ORACLE_WRONG},
        {"add.u16 %h0, %h1, %h2", {1, 2}, 0xdead0003, ORACLE_SAME},
        {"rcp.approx.ftz.f64 %d0, %d1",
         {UINT64_C(0x7ff8000000000000)},
         UINT64_C(0x7ff8000000000000),
         ORACLE_WRONG},
    };

    EXPECT(judgements);
}

Test(scalar_bounds, unspecified_results_are_allowed_and_others_are_not)
{
    static const struct judgement judgements[] = {
        {"div.s32 %r0, %r1, %r2", {5, 0}, 1234, ORACLE_WRONG},
        {"div.s32 %r0, %r1, %r2", {5, 0}, 0xffffffff, ORACLE_SAME},
        {"div.s32 %r0, %r1, %r2", {5, 2}, 3, ORACLE_WRONG},
        {"div.s32 %r0, %r1, %r2", {0x80000000, 0xffffffff}, 0x80000000, ORACLE_SAME},
        {"div.s32 %r0, %r1, %r2", {0x80000000, 0xffffffff}, 0x7fffffff, ORACLE_WRONG},
        {"rem.u16 %h0, %h1, %h2", {5, 0}, 0xffff, ORACLE_SAME},
        {"fns.b32 %r0, %r1, %r2, %r3", {1, 32, 1}, 0xffffffff, ORACLE_SAME},
        {"sin.approx.f32 %r0, %r1", {0x50000000}, 0x40000000, ORACLE_UNSPECIFIED},
        {"div.approx.f32 %r0, %r1, %r2", {1, 2}, 0x3f000001, ORACLE_UNSPECIFIED},
        {"lg2.approx.f32 %r0, %r1", {0x80000001}, 0xff800000, ORACLE_WRONG},
        {"add.sat.f32 %r0, %r1, %r2", {0x80000000, 0x80000000}, 0x80000000, ORACLE_WRONG},
        {"rcp.rp.ftz.f32 %r0, %r1", {0x7e800001}, 0x800000, ORACLE_UNSPECIFIED},
        {"rcp.rp.ftz.f32 %r0, %r1", {0x7e800000}, 0, ORACLE_WRONG},
        {"fma.rn.oob.f16 %h0, %h1, %h2, %h3", {0xfff7, 0x3c00, 0}, 0, ORACLE_SAME},
        {"fma.rn.oob.f16 %h0, %h1, %h2, %h3", {0x7e00, 0x3c00, 0}, 0, ORACLE_WRONG},
        {"mul.rn.ftz.f32 %r0, %r1, %r2", {0x80800000, 0x3f7fffff}, 0x80800000, ORACLE_UNSPECIFIED},
        {"mul.rn.ftz.f32 %r0, %r1, %r2", {0x80800000, 0x3f7fffff}, 0x80000001, ORACLE_WRONG},
        {"mul.rn.ftz.f32 %r0, %r1, %r2", {0x80800000, 0x3f800000}, 0x80000000, ORACLE_WRONG},
        {"cvt.rn.ftz.f32.f64 %r0, %d1",
         {UINT64_C(0x380fffffe0000000)},
         0x800000,
         ORACLE_UNSPECIFIED},
        {"cvt.rn.tf32.f32 %r0, %r1", {0x7fc00000}, 0x7fc00000, ORACLE_SAME},
        {"add.sat.f32 %r0, %r1, %r2", {0xbf800000, 0x80000000}, 1, ORACLE_WRONG},
    };
    union oracle_value in[1] = {{.u64 = 0x50000000}};

    EXPECT(judgements);
    cr_expect_not_null(oracle_unspecified(instruction("sin.approx.f32 %r0, %r1"), in, 1));
    in[0].u64 = ONE;
    cr_expect_null(oracle_unspecified(instruction("sin.approx.f32 %r0, %r1"), in, 1));
}

Test(scalar_bounds, approximations_have_the_manuals_bounds)
{
    static const struct judgement judgements[] = {
        {"rcp.approx.f32 %r0, %r1", {0x40400000}, 0x3eaaaaab, ORACLE_SAME},
        {"rcp.approx.f32 %r0, %r1", {0x40400000}, 0x3eaaaaaa, ORACLE_WITHIN_BOUND},
        {"rcp.approx.f32 %r0, %r1", {0x40400000}, 0x3eaaaaac, ORACLE_WRONG},
        {"rcp.approx.f32 %r0, %r1", {0}, 0x7f7fffff, ORACLE_WRONG},
        {"div.full.f32 %r0, %r1, %r2", {ONE, 0x40400000}, 0x3eaaaaac, ORACLE_WITHIN_BOUND},
        {"div.full.f32 %r0, %r1, %r2", {ONE, 0x40400000}, 0x3eaaaaad, ORACLE_WRONG},
        {"div.approx.f32 %r0, %r1, %r2", {ONE, 0x7f000000}, 0, ORACLE_SAME},
        {"div.approx.f32 %r0, %r1, %r2", {ONE, 0x7f000000}, 0x00200000, ORACLE_WRONG},
        {"div.approx.f32 %r0, %r1, %r2", {ONE, 1}, 0x7f800000, ORACLE_SAME},
        {"sqrt.approx.f32 %r0, %r1", {0x40000000}, 0x3fb504f4, ORACLE_WITHIN_BOUND},
        {"sqrt.approx.f32 %r0, %r1", {0x40000000}, 0x3fb504f5, ORACLE_WRONG},
        {"ex2.approx.f32 %r0, %r1", {0x3f000000}, 0x3fb504f5, ORACLE_WITHIN_BOUND},
        {"ex2.approx.f32 %r0, %r1", {0x3f000000}, 0x3fb504f6, ORACLE_WRONG},
        {"ex2.approx.f32 %r0, %r1", {0x43000000}, 0x7f7fffff, ORACLE_WITHIN_BOUND},
        {"ex2.approx.f32 %r0, %r1", {0x7f800000}, 0x7f7fffff, ORACLE_WRONG},
        {"ex2.approx.ftz.f32 %r0, %r1", {0xc2fe0000}, 0x00400000, ORACLE_WRONG},
        /* 2^-20.5 is about 6.7e-7: sin(1) = 0.84147098 */
        {"sin.approx.f32 %r0, %r1", {ONE}, 0x3f576aa4 + 10, ORACLE_WITHIN_BOUND},
        {"sin.approx.f32 %r0, %r1", {ONE}, 0x3f576aa4 + 13, ORACLE_WRONG},
        {"sin.approx.f32 %r0, %r1", {0x42c80000}, 0xbf01a0f5, ORACLE_WITHIN_BOUND},
        {"lg2.approx.f32 %r0, %r1", {ONE}, 0x34000000, ORACLE_WITHIN_BOUND},
        {"lg2.approx.f32 %r0, %r1", {ONE}, 0x35000000, ORACLE_WRONG},
        {"tanh.approx.f32 %r0, %r1", {ONE}, 0x3f430000, ORACLE_WITHIN_BOUND},
        {"tanh.approx.f32 %r0, %r1", {ONE}, 0x3f440000, ORACLE_WRONG},
        {"tanh.approx.f32 %r0, %r1", {0xbf800000}, 0x3f42f7d6, ORACLE_WRONG},
        {"tanh.approx.f16x2 %r0, %r1", {0x3c003c00}, 0x3a183a17, ORACLE_WITHIN_BOUND},
        {"tanh.approx.f16x2 %r0, %r1", {0x3c003c00}, 0x3a203a17, ORACLE_WRONG},
        {"rcp.approx.ftz.f64 %d0, %d1",
         {UINT64_C(0x4008000000000000)},
         UINT64_C(0x3fd5555600000000),
         ORACLE_WITHIN_BOUND},
        {"rcp.approx.ftz.f64 %d0, %d1",
         {UINT64_C(0x4008000000000000)},
         UINT64_C(0x3fd5556600000000),
         ORACLE_WRONG},
        {"rsqrt.approx.f64 %d0, %d1",
         {UINT64_C(0x4008000000000000)},
         UINT64_C(0x3fe279a74590331d),
         ORACLE_WITHIN_BOUND},
    };

    EXPECT(judgements);
}

Test(scalar_bounds, the_error_is_reported)
{
    const struct ptx_inst *inst = instruction("rcp.approx.f32 %r0, %r1");
    uint64_t in[] = {0x40400000};
    struct oracle_scalar scalar = evaluate(inst, in);
    union oracle_value got = {.u64 = 0x3eaaaaac};
    double seen = 0;
    double allowed = 0;

    oracle_judge(inst, scalar.in, 1, scalar.out, got, &seen, &allowed);
    cr_expect(fabs(seen - 4.0 / 3) < 1e-6);
    cr_expect_eq(allowed, 1);
}

Test(scalar_bounds, every_row_that_only_computes_has_a_body)
{
    for (unsigned op = 0; op < PTX_OP_COUNT; op++) {
        const struct ptx_op_info *info = &ptx_op_table[op];
        struct ptx_inst inst = {.op = (enum ptx_op)op,
                                .types = {PTX_TYPE_B32, PTX_TYPE_B32, PTX_TYPE_B32}};

        switch (info->family) {
        case PTX_FAMILY_INTEGER:
        case PTX_FAMILY_FLOAT:
        case PTX_FAMILY_COMPARE:
        case PTX_FAMILY_LOGIC:
        case PTX_FAMILY_CONVERT:
        case PTX_FAMILY_VIDEO:
            cr_expect(info->fidelity == PTX_FIDELITY_UNSUPPORTED ||
                          oracle_result_type(&inst) != PTX_TYPE_NONE,
                      "%s", info->syntax);
            break;
        default:
            cr_expect_eq(oracle_result_type(&inst), PTX_TYPE_NONE, "%s", info->syntax);
        }
    }
}

/* The quick way of the judge and MPFR agree on which side of the bound a result lies. */
Test(scalar_bounds, correctly_rounded_results_are_within_every_bound)
{
    static const char *const texts[] = {"sin.approx.f32 %r0, %r1",  "cos.approx.ftz.f32 %r0, %r1",
                                        "lg2.approx.f32 %r0, %r1",  "ex2.approx.f32 %r0, %r1",
                                        "tanh.approx.f32 %r0, %r1", "rsqrt.approx.ftz.f32 %r0, %r1",
                                        "sqrt.approx.f32 %r0, %r1", "rcp.approx.ftz.f32 %r0, %r1"};
    uint64_t state = 5;

    for (unsigned n = 0; n < sizeof(texts) / sizeof(texts[0]); n++) {
        const struct ptx_inst *inst = instruction(texts[n]);

        for (unsigned i = 0; i < 20000; i++) {
            uint64_t in[1] = {next_random(&state) & 0xffffffff};
            struct oracle_scalar scalar = evaluate(inst, in);

            cr_assert_eq(oracle_judge(inst, scalar.in, 1, scalar.out, scalar.out, NULL, NULL),
                         ORACLE_SAME);
        }
    }
}
