/* SPDX-License-Identifier: Apache-2.0
 *
 * emit_convert_small.c and the packed forms of emit_convert.c: which source goes where, the
 * modifiers, and cvt.pack. The conversion of one value is tested in test_rt_small.c.
 */
#include <criterion/criterion.h>

#include "eval_table.h"

#define ONE   0x3f800000u
#define TWO   0x40000000u
#define MINUS 0xbf800000u
#define BIG   0x7f000000u
#define QNAN  0x7fc00000u
#define INF   0x7f800000u

Test(emit_convert_small, a_is_the_upper_value)
{
    static const struct eval_case cases[] = {
        {"cvt.rn.satfinite.e4m3x2.f32 %h4, %f1, %f2;", 'h', ONE, TWO, 0, 0x3840},
        {"cvt.rn.satfinite.e5m2x2.f32 %h4, %f1, %f2;", 'h', ONE, TWO, 0, 0x3c40},
        {"cvt.rn.satfinite.e2m3x2.f32 %h4, %f1, %f2;", 'h', ONE, MINUS, 0, 0x0828},
        {"cvt.rn.satfinite.e3m2x2.f32 %h4, %f1, %f2;", 'h', ONE, MINUS, 0, 0x0c2c},
        {"cvt.rn.satfinite.e4m3x2.f16x2 %h4, %r1;", 'h', 0x3c004000, 0, 0, 0x3840},
        {"cvt.rn.satfinite.e5m2x2.f16x2 %h4, %r1;", 'h', 0x3c004000, 0, 0, 0x3c40},
        {"cvt.rn.f16x2.e4m3x2 %r4, %h1;", 'r', 0x3840, 0, 0, 0x3c004000},
        {"cvt.rn.f16x2.e5m2x2 %r4, %h1;", 'r', 0x3c40, 0, 0, 0x3c004000},
        {"cvt.rn.f16x2.e2m3x2 %r4, %h1;", 'r', 0x0828, 0, 0, 0x3c00bc00},
        {"cvt.rn.f16x2.e3m2x2 %r4, %h1;", 'r', 0x0c2c, 0, 0, 0x3c00bc00},
        {"cvt.rz.ue8m0x2.f32 %h4, %f1, %f2;", 'h', ONE, TWO, 0, 0x7f80},
        {"cvt.rp.ue8m0x2.f32 %h4, %f1, %f2;", 'h', ONE + 1, TWO, 0, 0x8080},
        {"cvt.rz.ue8m0x2.bf16x2 %h4, %r1;", 'h', 0x3f804000, 0, 0, 0x7f80},
        {"cvt.rn.bf16x2.ue8m0x2 %r4, %h1;", 'r', 0x7f80, 0, 0, 0x3f804000},
    };
    CHECK_EVAL_TABLE(cases);
}

/* The 4-bit formats need byte registers. */
Test(emit_convert_small, four_bits)
{
    static const struct eval_case cases[] = {
        {"{ .reg .b8 %b; cvt.rn.satfinite.e2m1x2.f32 %b, %f1, %f2; mov.b32 %r4, {%b, %b, %b, %b}; "
         "}",
         'r', ONE, 0xc0c00000, 0, 0x2f2f2f2f},
        {"{ .reg .b8 %b, %c; mov.b16 {%b, %c}, %h1; cvt.rn.f16x2.e2m1x2 %r4, %b; }", 'r', 0x2f, 0,
         0, 0x3c00c600},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_convert_small, modifiers)
{
    static const struct eval_case cases[] = {
        {"cvt.rn.satfinite.relu.e4m3x2.f32 %h4, %f1, %f2;", 'h', MINUS, ONE, 0, 0x0038},
        {"cvt.rn.satfinite.relu.e5m2x2.f16x2 %h4, %r1;", 'h', 0xbc003c00, 0, 0, 0x003c},
        {"cvt.rn.relu.f16x2.e4m3x2 %r4, %h1;", 'r', 0xb838, 0, 0, 0x3c00},
        {"cvt.rn.satfinite.e4m3x2.f32 %h4, %f1, %f2;", 'h', BIG, QNAN, 0, 0x7e7f},
        {"cvt.rp.satfinite.ue8m0x2.f32 %h4, %f1, %f2;", 'h', INF, QNAN, 0, 0xfeff},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_convert_small, satfinite_keeps_infinity_away_from_wider_formats)
{
    static const struct eval_case cases[] = {
        {"cvt.rn.satfinite.f16.f32 %h4, %f1;", 'h', BIG, 0, 0, 0x7bff},
        {"cvt.rn.satfinite.f16.f32 %h4, %f1;", 'h', 0xff800000, 0, 0, 0xfbff},
        {"cvt.rn.satfinite.f16.f32 %h4, %f1;", 'h', QNAN, 0, 0, 0x7fff},
        {"cvt.rn.satfinite.bf16.f32 %h4, %f1;", 'h', 0x7f7fffff, 0, 0, 0x7f7f},
        {"cvt.rn.bf16.f32 %h4, %f1;", 'h', 0x7f7fffff, 0, 0, 0x7f80},
        {"cvt.rn.relu.satfinite.f16x2.f32 %r4, %f1, %f2;", 'r', BIG, 0xff000000, 0, 0x7bff0000},
        {"cvt.rz.satfinite.bf16x2.f32 %r4, %f1, %f2;", 'r', INF, ONE, 0, 0x7f7f3f80},
        {"cvt.rna.satfinite.tf32.f32 %r4, %f1;", 'r', 0x7f7fffff, 0, 0, 0x7f7fe000},
        {"cvt.rna.tf32.f32 %r4, %f1;", 'r', 0x7f7fffff, 0, 0, INF},
        {"cvt.rn.satfinite.relu.tf32.f32 %r4, %f1;", 'r', 0xff800000, 0, 0, 0},
    };
    CHECK_EVAL_TABLE(cases);
}

/* "rounded … based on the carry out of the integer addition of the supplied random bits". */
Test(emit_convert_small, random_bits_decide_the_rounding)
{
    static const struct eval_case cases[] = {
        {"cvt.rs.f16x2.f32 %r4, %f1, %f2, %r3;", 'r', ONE + 1, ONE + 1, 0x00001fff, 0x3c003c01},
        {"cvt.rs.f16x2.f32 %r4, %f1, %f2, %r3;", 'r', ONE + 1, ONE + 1, 0x1fff0000, 0x3c013c00},
        {"cvt.rs.f16x2.f32 %r4, %f1, %f2, %r3;", 'r', ONE, ONE + 0x1000, 0xffff0fff, 0x3c003c00},
        {"cvt.rs.bf16x2.f32 %r4, %f1, %f2, %r3;", 'r', ONE + 1, ONE + 1, 0xffff0000, 0x3f813f80},
        {"cvt.rs.satfinite.bf16x2.f32 %r4, %f1, %f2, %r3;", 'r', 0x7f7fffff, INF, 0xffffffff,
         0x7f7f7f7f},
        {"cvt.rs.relu.f16x2.f32 %r4, %f1, %f2, %r3;", 'r', MINUS, 0x33800000, 0, 0x00000001},
        {"cvt.rs.f16x2.f32 %r4, %f1, %f2, %r3;", 'r', 0x33000000, 0x33000000, 0x10000fff,
         0x00010000},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_convert_small, integers_are_packed_with_saturation)
{
    static const struct eval_case cases[] = {
        {"cvt.pack.sat.u16.s32 %r4, %r1, %r2;", 'r', 70000, (uint32_t)-3, 0, 0xffff0000},
        {"cvt.pack.sat.s16.s32 %r4, %r1, %r2;", 'r', 40000, (uint32_t)-40000, 0, 0x7fff8000},
        {"cvt.pack.sat.u8.s32.b32 %r4, %r1, %r2, %r3;", 'r', 300, 7, 0x12345678, 0x5678ff07},
        {"cvt.pack.sat.s8.s32.b32 %r4, %r1, %r2, %r3;", 'r', (uint32_t)-300, 300, 0x12345678,
         0x5678807f},
        {"cvt.pack.sat.u4.s32.b32 %r4, %r1, %r2, %r3;", 'r', 99, 5, 0x12345678, 0x345678f5},
        {"cvt.pack.sat.s4.s32.b32 %r4, %r1, %r2, %r3;", 'r', (uint32_t)-9, 9, 1, 0x00000187},
        {"cvt.pack.sat.u2.s32.b32 %r4, %r1, %r2, %r3;", 'r', 2, 9, 1, 0x0000001b},
        {"cvt.pack.sat.s2.s32.b32 %r4, %r1, %r2, %r3;", 'r', (uint32_t)-1, 9, 0, 0x0000000d},
    };
    CHECK_EVAL_TABLE(cases);
}

/* Of 1.0625, which lies between 1 and 1.125, random bits decide; of 2 they do not. */
Test(emit_convert_small, four_random_values)
{
    static const struct eval_case cases[] = {
        {"cvt.rs.satfinite.e4m3x4.f32 %r4, {%f1, %f2, %f3, %f1}, %r3;", 'r', ONE, 0x40000000,
         0x40800000, 0x38404838},
        {"cvt.rs.satfinite.e4m3x4.f32 %r4, {%f1, %f2, %f1, %f2}, %r3;", 'r', 0x3f880000, 0x40000000,
         0, 0x38403840},
        {"cvt.rs.satfinite.e4m3x4.f32 %r4, {%f1, %f2, %f1, %f2}, %r3;", 'r', 0x3f880000, 0x40000000,
         0xffffffff, 0x39403940},
        {"cvt.rs.relu.satfinite.e5m2x4.f32 %r4, {%f1, %f2, %f1, %f2}, %r3;", 'r', MINUS, INF,
         0xffffffff, 0x007b007b},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_convert_small, conversions_make_no_branches)
{
    static const char *const instructions[] = {
        "cvt.rn.satfinite.relu.e4m3x2.f32 %h4, %f1, %f2;",
        "cvt.rn.satfinite.e5m2x2.f16x2 %h4, %r1;",
        "cvt.rn.relu.f16x2.e5m2x2 %r4, %h1;",
        "cvt.rn.f16x2.e2m3x2 %r4, %h1;",
        "cvt.rp.satfinite.ue8m0x2.f32 %h4, %f1, %f2;",
        "cvt.rs.relu.satfinite.f16x2.f32 %r4, %f1, %f2, %r3;",
        "cvt.pack.sat.s8.s32.b32 %r4, %r1, %r2, %r3;",
        "cvt.rz.satfinite.tf32.f32 %r4, %f1;",
    };
    CHECK_STRAIGHT_LINE(instructions);
}
