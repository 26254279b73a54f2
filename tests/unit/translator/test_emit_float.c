/* SPDX-License-Identifier: Apache-2.0
 *
 * emit_float.c and emit_half.c: each instruction with each modifier, bit for bit. How exact the
 * helpers are is tested by test_rt_float.c, test_rt_approx.c and test_rt_half.c.
 */
#include <criterion/criterion.h>

#include "eval_table.h"

#define ONE             0x3f800000u
#define TWO             0x40000000u
#define INF             0x7f800000u
#define QNAN            0x7fc00000u
#define SUB             0x00400000u /* subnormal */
#define PAIR(low, high) ((uint64_t)(high) << 32 | (low))
#define NEG_SUB         0x80400000u
#define ONE64           0x3ff0000000000000u
#define TWO64           0x4000000000000000u
#define INF64           0x7ff0000000000000u

Test(emit_float, f32_arithmetic_rounds_flushes_and_saturates)
{
    static const struct eval_case cases[] = {
        {"add.f32 %f4, %f1, %f2;", 'f', ONE, TWO, 0, 0x40400000},
        {"add.rn.f32 %f4, %f1, %f2;", 'f', ONE, 0x33800000, 0, ONE},
        {"add.rp.f32 %f4, %f1, %f2;", 'f', ONE, 0x33800000, 0, 0x3f800001},
        {"add.rm.f32 %f4, %f1, %f2;", 'f', ONE, 0xb3000000, 0, 0x3f7fffff},
        {"add.rz.f32 %f4, %f1, %f2;", 'f', ONE, 0xb3000000, 0, 0x3f7fffff},
        {"add.rm.f32 %f4, %f1, %f2;", 'f', ONE, 0xbf800000, 0, 0x80000000},
        {"add.f32 %f4, %f1, %f2;", 'f', SUB, SUB, 0, 0x00800000},
        {"add.ftz.f32 %f4, %f1, %f2;", 'f', SUB, SUB, 0, 0},
        {"add.ftz.f32 %f4, %f1, %f2;", 'f', NEG_SUB, NEG_SUB, 0, 0x80000000},
        {"add.rz.ftz.f32 %f4, %f1, %f2;", 'f', 0x00c00000, 0x80800000, 0, 0},
        {"add.sat.f32 %f4, %f1, %f2;", 'f', ONE, TWO, 0, ONE},
        {"add.sat.f32 %f4, %f1, %f2;", 'f', QNAN, TWO, 0, 0},
        {"add.ftz.sat.f32 %f4, %f1, %f2;", 'f', 0xbf800000, NEG_SUB, 0, 0},
        {"add.f32 %f4, %f1, %f2;", 'n', INF, INF | 0x80000000, 0, 0},
        {"add.f32 %f4, %f1, 0f3F800000;", 'f', ONE, 0, 0, TWO},
        {"sub.f32 %f4, %f1, %f2;", 'f', ONE, TWO, 0, 0xbf800000},
        {"sub.ftz.f32 %f4, %f1, %f2;", 'f', ONE, SUB, 0, ONE},
        {"sub.rp.f32 %f4, %f1, %f2;", 'f', ONE, 0x00000001, 0, ONE},
        {"sub.rm.f32 %f4, %f1, %f2;", 'f', ONE, 0x00000001, 0, 0x3f7fffff},
        {"sub.sat.f32 %f4, %f1, %f2;", 'f', ONE, TWO, 0, 0},
        {"mul.f32 %f4, %f1, %f2;", 'f', TWO, 0x40400000, 0, 0x40c00000},
        {"mul.rn.f32 %f4, %f1, %f2;", 'f', 0x3f800001, 0x3f800001, 0, 0x3f800002},
        {"mul.rp.f32 %f4, %f1, %f2;", 'f', 0x3f800001, 0x3f800001, 0, 0x3f800003},
        {"mul.rm.f32 %f4, %f1, %f2;", 'f', 0x3f800001, 0x3f800001, 0, 0x3f800002},
        {"mul.rz.f32 %f4, %f1, %f2;", 'f', 0x7f7fffff, TWO, 0, 0x7f7fffff},
        {"mul.f32 %f4, %f1, %f2;", 'f', 0x00800000, 0x3f000000, 0, SUB},
        {"mul.ftz.f32 %f4, %f1, %f2;", 'f', 0x80800000, 0x3f000000, 0, 0x80000000},
        {"mul.rn.ftz.f32 %f4, %f1, %f2;", 'f', SUB, TWO, 0, 0},
        {"mul.sat.f32 %f4, %f1, %f2;", 'f', TWO, TWO, 0, ONE},
        {"fma.rn.f32 %f4, %f1, %f2, %f3;", 'f', 0x3f800001, 0x3f800001, 0xbf800002, 0x28800000},
        {"fma.rn.ftz.f32 %f4, %f1, %f2, %f3;", 'f', ONE, ONE, SUB, ONE},
        {"fma.rn.sat.f32 %f4, %f1, %f2, %f3;", 'f', TWO, TWO, ONE, ONE},
        {"fma.rm.f32 %f4, %f1, %f2, %f3;", 'f', ONE, ONE, 0x80000001, 0x3f7fffff},
        {"fma.rz.f32 %f4, %f1, %f2, %f3;", 'f', 0xbf800000, ONE, 0x00000001, 0xbf7fffff},
        {"fma.rp.f32 %f4, %f1, %f2, %f3;", 'f', ONE, ONE, 0x00000001, 0x3f800001},
        {"mad.rn.f32 %f4, %f1, %f2, %f3;", 'f', 0x3f800001, 0x3f800001, 0xbf800002, 0x28800000},
        {"mul.f32 %f5, %f1, %f2; add.f32 %f4, %f5, %f3;", 'f', 0x3f800001, 0x3f800001, 0xbf800002,
         0}, /* never fused */
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_float, f32_division_and_roots)
{
    static const struct eval_case cases[] = {
        {"div.rn.f32 %f4, %f1, %f2;", 'f', ONE, 0x40400000, 0, 0x3eaaaaab},
        {"div.rm.f32 %f4, %f1, %f2;", 'f', ONE, 0x40400000, 0, 0x3eaaaaaa},
        {"div.rz.f32 %f4, %f1, %f2;", 'f', 0xbf800000, 0x40400000, 0, 0xbeaaaaaa},
        {"div.rp.f32 %f4, %f1, %f2;", 'f', ONE, 0x40400000, 0, 0x3eaaaaab},
        {"div.rn.ftz.f32 %f4, %f1, %f2;", 'f', SUB, ONE, 0, 0},
        {"div.rn.f32 %f4, %f1, %f2;", 'f', ONE, 0x80000000, 0, 0xff800000},
        {"div.full.f32 %f4, %f1, %f2;", 'f', 0x7f000000, 0x7f000000, 0, ONE},
        {"div.full.ftz.f32 %f4, %f1, %f2;", 'f', ONE, SUB, 0, INF},
        {"div.approx.f32 %f4, %f1, %f2;", 'f', 0x40c00000, TWO, 0, 0x40400000},
        {"div.approx.f32 %f4, %f1, %f2;", 'f', 0x7f000000, 0x7f000000, 0, 0},
        {"div.approx.f32 %f4, %f1, %f2;", 'n', INF, 0x7f000000, 0, 0},
        {"div.approx.ftz.f32 %f4, %f1, %f2;", 'f', SUB, TWO, 0, 0},
        {"rcp.rn.f32 %f4, %f1;", 'f', 0x40400000, 0, 0, 0x3eaaaaab},
        {"rcp.rm.f32 %f4, %f1;", 'f', 0x40400000, 0, 0, 0x3eaaaaaa},
        {"rcp.approx.f32 %f4, %f1;", 'f', 0x40800000, 0, 0, 0x3e800000},
        {"rcp.approx.ftz.f32 %f4, %f1;", 'f', NEG_SUB, 0, 0, 0xff800000},
        {"rcp.approx.ftz.f32 %f4, %f1;", 'f', 0x7f000000, 0, 0, 0},
        {"sqrt.rn.f32 %f4, %f1;", 'f', TWO, 0, 0, 0x3fb504f3},
        {"sqrt.rm.f32 %f4, %f1;", 'f', TWO, 0, 0, 0x3fb504f3},
        {"sqrt.rp.f32 %f4, %f1;", 'f', TWO, 0, 0, 0x3fb504f4},
        {"sqrt.rn.f32 %f4, %f1;", 'f', 0x80000000, 0, 0, 0x80000000},
        {"sqrt.rn.f32 %f4, %f1;", 'n', 0xbf800000, 0, 0, 0},
        {"sqrt.approx.f32 %f4, %f1;", 'f', 0x40800000, 0, 0, TWO},
        {"sqrt.approx.ftz.f32 %f4, %f1;", 'f', SUB, 0, 0, 0},
        {"rsqrt.approx.f32 %f4, %f1;", 'f', 0x40800000, 0, 0, 0x3f000000},
        {"rsqrt.approx.ftz.f32 %f4, %f1;", 'f', SUB, 0, 0, INF},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_float, f64_arithmetic_rounds_as_told)
{
    static const struct eval_case cases[] = {
        {"add.f64 %fd4, %fd1, %fd2;", 'F', ONE64, ONE64, 0, TWO64},
        {"add.rn.f64 %fd4, %fd1, %fd2;", 'F', ONE64, 1, 0, ONE64},
        {"add.rp.f64 %fd4, %fd1, %fd2;", 'F', ONE64, 1, 0, ONE64 + 1},
        {"add.rm.f64 %fd4, %fd1, %fd2;", 'F', ONE64, 1ull << 63 | 1, 0, ONE64 - 1},
        {"sub.f64 %fd4, %fd1, %fd2;", 'F', TWO64, ONE64, 0, ONE64},
        {"sub.rz.f64 %fd4, %fd1, %fd2;", 'F', ONE64, 1, 0, ONE64 - 1},
        {"mul.f64 %fd4, %fd1, %fd2;", 'F', TWO64, TWO64, 0, 0x4010000000000000u},
        {"mul.rn.f64 %fd4, %fd1, %fd2;", 'F', ONE64 + 1, ONE64 + 1, 0, ONE64 + 2},
        {"mul.rp.f64 %fd4, %fd1, %fd2;", 'F', ONE64 + 1, ONE64 + 1, 0, ONE64 + 3},
        {"fma.rn.f64 %fd4, %fd1, %fd2, %fd3;", 'F', ONE64 + 1, ONE64 + 1, 0xbff0000000000002u,
         0x3970000000000000u},
        {"fma.rm.f64 %fd4, %fd1, %fd2, %fd3;", 'F', ONE64, ONE64, 1ull << 63 | 1, ONE64 - 1},
        {"div.rn.f64 %fd4, %fd1, %fd2;", 'F', ONE64, 0x4008000000000000u, 0, 0x3fd5555555555555u},
        {"div.rp.f64 %fd4, %fd1, %fd2;", 'F', ONE64, 0x4008000000000000u, 0, 0x3fd5555555555556u},
        {"rcp.rn.f64 %fd4, %fd1;", 'F', TWO64, 0, 0, 0x3fe0000000000000u},
        {"rcp.rp.f64 %fd4, %fd1;", 'F', 0x4008000000000000u, 0, 0, 0x3fd5555555555556u},
        {"rcp.approx.ftz.f64 %fd4, %fd1;", 'F', TWO64, 0, 0, 0x3fe0000000000000u},
        {"rcp.approx.ftz.f64 %fd4, %fd1;", 'F', 1, 0, 0, INF64},
        {"sqrt.rn.f64 %fd4, %fd1;", 'F', TWO64, 0, 0, 0x3ff6a09e667f3bcdu},
        {"sqrt.rm.f64 %fd4, %fd1;", 'F', TWO64, 0, 0, 0x3ff6a09e667f3bccu},
        {"rsqrt.approx.f64 %fd4, %fd1;", 'F', 0x4010000000000000u, 0, 0, 0x3fe0000000000000u},
        {"rsqrt.approx.ftz.f64 %fd4, %fd1;", 'F', 0x4010000000000000u, 0, 0, 0x3fe0000000000000u},
        {"abs.f64 %fd4, %fd1;", 'F', 1ull << 63, 0, 0, 0},
        {"neg.f64 %fd4, %fd1;", 'F', 0, 0, 0, 1ull << 63},
        {"min.f64 %fd4, %fd1, %fd2;", 'F', 0, 1ull << 63, 0, 1ull << 63},
        {"max.f64 %fd4, %fd1, %fd2;", 'F', 0x7ff8000000000000u, ONE64, 0, ONE64},
        {"copysign.f64 %fd4, %fd1, %fd2;", 'F', 1ull << 63, ONE64, 0, ONE64 | 1ull << 63},
        {"testp.subnormal.f64 %p1, %fd1;", 'p', 1, 0, 0, 1},
        {"fma.rn.f64 %fd4, %fd1, 0d4000000000000000, 0d3FF0000000000000;", 'F', ONE64, 0, 0,
         0x4008000000000000u},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_float, approximations_of_exact_arguments_are_exact)
{
    static const struct eval_case cases[] = {
        {"ex2.approx.f32 %f4, %f1;", 'f', 0x40400000, 0, 0, 0x41000000},
        {"ex2.approx.ftz.f32 %f4, %f1;", 'f', 0xc2fe0000, 0, 0, 0}, /* 2^-127 */
        {"ex2.approx.f32 %f4, %f1;", 'f', 0xc2fe0000, 0, 0, SUB},
        {"lg2.approx.f32 %f4, %f1;", 'f', 0x41000000, 0, 0, 0x40400000},
        {"lg2.approx.f32 %f4, %f1;", 'f', SUB, 0, 0, 0xc2fe0000},
        {"lg2.approx.ftz.f32 %f4, %f1;", 'f', SUB, 0, 0, 0xff800000},
        {"sin.approx.f32 %f4, %f1;", 'f', 0x80000000, 0, 0, 0x80000000},
        {"sin.approx.ftz.f32 %f4, %f1;", 'f', NEG_SUB, 0, 0, 0x80000000},
        {"cos.approx.f32 %f4, %f1;", 'f', 0, 0, 0, ONE},
        {"cos.approx.ftz.f32 %f4, %f1;", 'n', INF, 0, 0, 0},
        {"tanh.approx.f32 %f4, %f1;", 'f', INF, 0, 0, ONE},
        {"ex2.approx.f16 %h4, %h1;", 'h', 0x4000, 0, 0, 0x4400},
        {"ex2.approx.f16x2 %r4, %r1;", 'r', 0xbc004000, 0, 0, 0x38004400},
        {"ex2.approx.ftz.bf16 %h4, %h1;", 'h', 0x4000, 0, 0, 0x4080},
        {"tanh.approx.f16 %h4, %h1;", 'h', 0xfc00, 0, 0, 0xbc00},
        {"tanh.approx.bf16x2 %r4, %r1;", 'r', 0xff807f80, 0, 0, 0xbf803f80},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_float, signs_minima_and_tests)
{
    static const struct eval_case cases[] = {
        {"abs.f32 %f4, %f1;", 'f', 0xbf800000, 0, 0, ONE},
        {"abs.ftz.f32 %f4, %f1;", 'f', NEG_SUB, 0, 0, 0},
        {"neg.f32 %f4, %f1;", 'f', 0, 0, 0, 0x80000000},
        {"neg.ftz.f32 %f4, %f1;", 'f', SUB, 0, 0, 0x80000000},
        {"min.f32 %f4, %f1, %f2;", 'f', 0, 0x80000000, 0, 0x80000000},
        {"max.f32 %f4, %f1, %f2;", 'f', 0x80000000, 0, 0, 0},
        {"min.f32 %f4, %f1, %f2;", 'f', QNAN, ONE, 0, ONE},
        {"max.f32 %f4, %f1, %f2;", 'f', QNAN, 0xffc00001, 0, 0x7fffffff},
        {"max.NaN.f32 %f4, %f1, %f2;", 'f', ONE, QNAN, 0, 0x7fffffff},
        {"min.ftz.f32 %f4, %f1, %f2;", 'f', SUB, ONE, 0, 0},
        {"max.ftz.f32 %f4, %f1, %f2;", 'f', ONE, TWO, 0, TWO},
        {"min.xorsign.abs.f32 %f4, %f1, %f2;", 'f', 0xc0000000, 0x40400000, 0, 0xc0000000},
        {"copysign.f32 %f4, %f1, %f2;", 'f', 0x80000000, ONE, 0, 0xbf800000},
        {"testp.finite.f32 %p1, %f1;", 'p', ONE, 0, 0, 1},
        {"testp.infinite.f32 %p1, %f1;", 'p', ONE, 0, 0, 0},
        {"testp.number.f32 %p1, %f1;", 'p', QNAN, 0, 0, 0},
        {"testp.notanumber.f32 %p1, %f1;", 'p', QNAN, 0, 0, 1},
        {"testp.normal.f32 %p1, %f1;", 'p', SUB, 0, 0, 0},
        {"testp.normal.f32 %p1, %f1;", 'p', 0x80000000, 0, 0, 1},
        {"testp.subnormal.f32 %p1, %f1;", 'p', SUB, 0, 0, 1},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_float, halves_round_once_and_pairs_go_by_halves)
{
    static const struct eval_case cases[] = {
        {"add.f16 %h4, %h1, %h2;", 'h', 0x3c00, 0x4000, 0, 0x4200},
        {"add.rn.f16 %h4, %h1, %h2;", 'h', 0x0001, 0x0001, 0, 0x0002},
        {"add.ftz.f16 %h4, %h1, %h2;", 'h', 0x0001, 0x0001, 0, 0},
        {"add.sat.f16 %h4, %h1, %h2;", 'h', 0x3c00, 0x4000, 0, 0x3c00},
        {"add.f16x2 %r4, %r1, %r2;", 'r', 0x3c004000, 0x40003c00, 0, 0x42004200},
        {"add.bf16 %h4, %h1, %h2;", 'h', 0x3f80, 0x4000, 0, 0x4040},
        {"sub.f16 %h4, %h1, %h2;", 'h', 0x3c00, 0x4000, 0, 0xbc00},
        {"sub.f16x2 %r4, %r1, %r2;", 'r', 0x3c004000, 0x40003c00, 0, 0xbc003c00},
        {"sub.bf16x2 %r4, %r1, %r2;", 'r', 0x3f804000, 0x40003f80, 0, 0xbf803f80},
        {"mul.f16 %h4, %h1, %h2;", 'h', 0x4000, 0x4200, 0, 0x4600},
        {"mul.f16x2 %r4, %r1, %r2;", 'r', 0x40003c00, 0x4200bc00, 0, 0x4600bc00},
        {"mul.bf16x2 %r4, %r1, %r2;", 'r', 0x40003f80, 0x4040bf80, 0, 0x40c0bf80},
        {"fma.rn.f16 %h4, %h1, %h2, %h3;", 'h', 0x3c01, 0x3c01, 0xbc02, 0x0010},
        {"fma.rn.ftz.f16 %h4, %h1, %h2, %h3;", 'h', 0x3c01, 0x3c01, 0xbc02, 0},
        {"fma.rn.sat.f16 %h4, %h1, %h2, %h3;", 'h', 0x4000, 0x4000, 0, 0x3c00},
        {"fma.rn.relu.f16 %h4, %h1, %h2, %h3;", 'h', 0x4000, 0xc000, 0, 0},
        {"fma.rn.f16x2 %r4, %r1, %r2, %r3;", 'r', 0x40003c00, 0x42003c00, 0x3c003c00, 0x47004000},
        {"fma.rn.bf16 %h4, %h1, %h2, %h3;", 'h', 0x3f81, 0x3fc0, 0x8001, 0x3fc1},
        {"fma.rn.relu.bf16x2 %r4, %r1, %r2, %r3;", 'r', 0x3f80bf80, 0x3f803f80, 0, 0x3f800000},
        {"neg.f16 %h4, %h1;", 'h', 0x3c00, 0, 0, 0xbc00},
        {"neg.f16x2 %r4, %r1;", 'r', 0x3c00bc00, 0, 0, 0xbc003c00},
        {"neg.bf16x2 %r4, %r1;", 'r', 0x3f800000, 0, 0, 0xbf808000},
        {"abs.f16 %h4, %h1;", 'h', 0xbc00, 0, 0, 0x3c00},
        {"abs.ftz.f16x2 %r4, %r1;", 'r', 0xbc008001, 0, 0, 0x3c000000},
        {"abs.bf16 %h4, %h1;", 'h', 0xbf80, 0, 0, 0x3f80},
        {"min.f16 %h4, %h1, %h2;", 'h', 0x8000, 0, 0, 0x8000},
        {"max.f16 %h4, %h1, %h2;", 'h', 0x7e00, 0x3c00, 0, 0x3c00},
        {"max.NaN.f16 %h4, %h1, %h2;", 'h', 0x7e00, 0x3c00, 0, 0x7fff},
        {"min.ftz.f16 %h4, %h1, %h2;", 'h', 0x0001, 0x3c00, 0, 0},
        {"max.f16x2 %r4, %r1, %r2;", 'r', 0x3c00c000, 0x40003c00, 0, 0x40003c00},
        {"min.bf16x2 %r4, %r1, %r2;", 'r', 0x3f80c000, 0x40003f80, 0, 0x3f80c000},
        {"max.xorsign.abs.bf16 %h4, %h1, %h2;", 'h', 0xbf80, 0x4000, 0, 0xc000},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_float, pairs_of_f32_go_by_halves)
{
    static const struct eval_case cases[] = {
        {"add.f32x2 %rd4, %rd1, %rd2;", 'd', PAIR(ONE, TWO), PAIR(TWO, TWO), 0,
         PAIR(0x40400000, 0x40800000)},
        {"add.rp.f32x2 %rd4, %rd1, %rd2;", 'd', PAIR(ONE, ONE), PAIR(1, 0x80000001), 0,
         PAIR(ONE + 1, ONE)},
        {"sub.ftz.f32x2 %rd4, %rd1, %rd2;", 'd', PAIR(SUB, TWO), PAIR(NEG_SUB, ONE), 0,
         PAIR(0, ONE)},
        {"sub.rm.f32x2 %rd4, %rd1, %rd2;", 'd', PAIR(ONE, TWO), PAIR(1, ONE), 0,
         PAIR(ONE - 1, ONE)},
        {"mul.f32x2 %rd4, %rd1, %rd2;", 'd', PAIR(TWO, ONE), PAIR(TWO, SUB), 0,
         PAIR(0x40800000, SUB)},
        {"fma.rn.f32x2 %rd4, %rd1, %rd2, %rd3;", 'd', PAIR(TWO, ONE), PAIR(TWO, ONE),
         PAIR(ONE, ONE), PAIR(0x40a00000, TWO)},
        {"fma.rz.ftz.f32x2 %rd4, %rd1, %rd2, %rd3;", 'd', PAIR(SUB, ONE), PAIR(TWO, ONE),
         PAIR(ONE, 0x80000001), PAIR(ONE, ONE)},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_float, mixed_precision_converts_all_but_the_last_source)
{
    static const struct eval_case cases[] = {
        {"add.f32.f16 %f4, %h1, %f2;", 'f', 0x3c00, ONE, 0, TWO},
        {"add.rz.f32.bf16 %f4, %h1, %f2;", 'f', 0x3f80, 0x80000001, 0, ONE - 1},
        {"add.sat.f32.f16 %f4, %h1, %f2;", 'f', 0x4000, ONE, 0, ONE},
        {"sub.f32.bf16 %f4, %h1, %f2;", 'f', 0x4000, ONE, 0, ONE},
        {"sub.rp.f32.f16 %f4, %h1, %f2;", 'f', 0x3c00, 0x80000001, 0, ONE + 1},
        {"sub.f32.f16 %f4, %h1, %f2;", 'f', 0x0001, 0, 0, 0x33800000},
        {"fma.rn.f32.f16 %f4, %h1, %h2, %f3;", 'f', 0x4000, 0x4200, ONE, 0x40e00000},
        {"fma.rm.f32.bf16 %f4, %h1, %h2, %f3;", 'f', 0x3f80, 0x3f80, 0x80000001, ONE - 1},
        {"fma.rn.sat.f32.bf16 %f4, %h1, %h2, %f3;", 'f', 0x7fc0, 0x3f80, 0, 0},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_float, minima_of_three)
{
    static const struct eval_case cases[] = {
        {"min.f32 %f4, %f1, %f2, %f3;", 'f', TWO, ONE, 0xbf800000, 0xbf800000},
        {"max.f32 %f4, %f1, %f2, %f3;", 'f', QNAN, ONE, TWO, TWO},
        {"max.f32 %f4, %f1, %f2, %f3;", 'f', QNAN, QNAN, ONE, ONE},
        {"max.NaN.f32 %f4, %f1, %f2, %f3;", 'f', ONE, TWO, QNAN, 0x7fffffff},
        {"min.abs.f32 %f4, %f1, %f2, %f3;", 'f', 0xc0000000, 0xbf800000, TWO, ONE},
        {"max.ftz.abs.f32 %f4, %f1, %f2, %f3;", 'f', NEG_SUB, SUB, 0x80000000, 0},
    };
    CHECK_EVAL_TABLE(cases);
}

/* The out-of-bounds NaN is 0x7ff7 with either sign, and only as a factor. */
Test(emit_float, products_with_what_was_out_of_bounds_are_zero)
{
    static const struct eval_case cases[] = {
        {"fma.rn.oob.f16 %h4, %h1, %h2, %h3;", 'h', 0x7ff7, 0x3c00, 0x3c00, 0},
        {"fma.rn.oob.f16 %h4, %h1, %h2, %h3;", 'h', 0x3c00, 0xfff7, 0xbc00, 0},
        {"fma.rn.oob.f16 %h4, %h1, %h2, %h3;", 'h', 0x3c00, 0x3c00, 0x7ff7, 0x7fff},
        {"fma.rn.oob.f16 %h4, %h1, %h2, %h3;", 'h', 0x7ff6, 0x3c00, 0x3c00, 0x7fff},
        {"fma.rn.oob.relu.bf16 %h4, %h1, %h2, %h3;", 'h', 0x3f80, 0xbf80, 0, 0},
        {"fma.rn.oob.bf16x2 %r4, %r1, %r2, %r3;", 'r', 0x7ff73f80, 0x3f803f80, 0x3f803f80,
         0x00004000},
    };
    CHECK_EVAL_TABLE(cases);
}

/* rsqrt.approx.f32 is the exception: a branch around what is rare. */
Test(emit_float, arithmetic_makes_no_branches)
{
    static const char *const instructions[] = {
        "add.rm.f32 %f4, %f1, %f2;",
        "fma.rm.ftz.f32x2 %rd4, %rd1, %rd2, %rd3;",
        "fma.rp.sat.f32.bf16 %f4, %h1, %h2, %f3;",
        "max.ftz.NaN.abs.f32 %f4, %f1, %f2, %f3;",
        "fma.rn.oob.relu.f16x2 %r4, %r1, %r2, %r3;",
        "mul.rp.f32 %f4, %f1, %f2;",
        "fma.rm.f32 %f4, %f1, %f2, %f3;",
        "div.rz.f32 %f4, %f1, %f2;",
        "sqrt.rp.f32 %f4, %f1;",
        "add.sat.ftz.f32 %f4, %f1, %f2;",
        "add.rm.f64 %fd4, %fd1, %fd2;",
        "mul.rp.f64 %fd4, %fd1, %fd2;",
        "sqrt.rz.f64 %fd4, %fd1;",
        "min.f32 %f4, %f1, %f2;",
        "max.NaN.f32 %f4, %f1, %f2;",
        "min.f64 %fd4, %fd1, %fd2;",
        "div.approx.f32 %f4, %f1, %f2;",
        "sin.approx.f32 %f4, %f1;",
        "cos.approx.ftz.f32 %f4, %f1;",
        "lg2.approx.f32 %f4, %f1;",
        "ex2.approx.ftz.f32 %f4, %f1;",
        "tanh.approx.f32 %f4, %f1;",
        "rsqrt.approx.f64 %fd4, %fd1;",
        "rcp.approx.ftz.f64 %fd4, %fd1;",
        "fma.rn.f16x2 %r4, %r1, %r2, %r3;",
        "fma.rn.relu.bf16x2 %r4, %r1, %r2, %r3;",
        "min.f16 %h4, %h1, %h2;",
        "cvt.rp.f16.f32 %h4, %f1;",
        "cvt.rn.bf16x2.f32 %r4, %f1, %f2;",
        "cvt.rz.f32.s64 %f4, %rd1;",
        "cvt.rni.s64.f64 %rd4, %fd1;",
        "div.s32 %r4, %r1, %r2;",
        "bfe.s32 %r4, %r1, %r2, %r3;",
        "bfi.b64 %rd4, %rd1, %rd2, %r1, %r2;",
        "bmsk.clamp.b32 %r4, %r1, %r2;",
        "prmt.b32 %r4, %r1, %r2, %r3;",
        "dp4a.s32.u32 %r4, %r1, %r2, %r3;",
    };
    CHECK_STRAIGHT_LINE(instructions);
}
