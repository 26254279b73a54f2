/* SPDX-License-Identifier: Apache-2.0 */
#include "scalar_helper.h"

#define ONE     0x3f800000
#define INF     0x7f800000
#define NAN32   0x7fffffff
#define QUIET64 UINT64_C(0x7ff8000000000000)
#define TINY    0x33000000 /* 2^-25 */

Test(scalar_float, rounding_is_per_instruction)
{
    static const struct vector vectors[] = {
        {"add.f32 %r0, %r1, %r2", {ONE, TINY}, ONE},
        {"add.rp.f32 %r0, %r1, %r2", {ONE, TINY}, ONE + 1},
        {"add.rm.f32 %r0, %r1, %r2", {ONE | 0x80000000, TINY | 0x80000000}, 0xbf800001},
        {"add.rz.f32 %r0, %r1, %r2", {ONE | 0x80000000, TINY | 0x80000000}, 0xbf800000},
        {"sub.rz.f32 %r0, %r1, %r2", {ONE, TINY}, ONE - 1},
        {"sub.rn.f32 %r0, %r1, %r2", {ONE, ONE}, 0},
        {"sub.rm.f32 %r0, %r1, %r2", {ONE, ONE}, 0x80000000},
        {"mul.rz.f32 %r0, %r1, %r2", {0x7f7fffff, 0x40000000}, 0x7f7fffff},
        {"mul.rn.f32 %r0, %r1, %r2", {0x7f7fffff, 0x40000000}, INF},
        {"div.rp.f32 %r0, %r1, %r2", {ONE, 0x40400000}, 0x3eaaaaab},
        {"div.rm.f32 %r0, %r1, %r2", {ONE, 0x40400000}, 0x3eaaaaaa},
        {"rcp.rn.f64 %d0, %d1", {UINT64_C(0x4008000000000000)}, UINT64_C(0x3fd5555555555555)},
        {"sqrt.rp.f32 %r0, %r1", {0x40000000}, 0x3fb504f4},
        {"sqrt.rm.f32 %r0, %r1", {0x40000000}, 0x3fb504f3},
        {"sqrt.rn.f32 %r0, %r1", {0x80000000}, 0x80000000},
        {"rcp.rn.f32 %r0, %r1", {0x80000000}, 0xff800000},
    };

    CHECK(vectors);
}

Test(scalar_float, fma_rounds_once)
{
    static const struct vector vectors[] = {
        {"fma.rn.f32 %r0, %r1, %r2, %r3", {0x3f800001, 0x3f800001, 0xbf800002}, 0x28800000},
        {"mad.rn.f32 %r0, %r1, %r2, %r3", {0x3f800001, 0x3f800001, 0xbf800002}, 0x28800000},
        {"fma.rn.f16 %h0, %h1, %h2, %h3", {0x3c01, 0x3c01, 0xbc02}, 0x0010},
        {"fma.rn.ftz.f16 %h0, %h1, %h2, %h3", {0x3c01, 0x3c01, 0xbc02}, 0},
        {"fma.rn.bf16 %h0, %h1, %h2, %h3", {0x3f81, 0x3f81, 0xbf82}, 0x3880},
        {"fma.rn.f64 %d0, %d1, %d2, %d3",
         {UINT64_C(0x3ff0000000000001), UINT64_C(0x3ff0000000000001), UINT64_C(0xbff0000000000002)},
         UINT64_C(0x3970000000000000)},
    };

    CHECK(vectors);
}

Test(scalar_float, ftz_flushes_inputs_and_results_and_keeps_the_sign)
{
    static const struct vector vectors[] = {
        {"add.ftz.f32 %r0, %r1, %r2", {0x80000001, 0x80000000}, 0x80000000},
        {"add.f32 %r0, %r1, %r2", {0x80000001, 0x80000000}, 0x80000001},
        {"mul.ftz.f32 %r0, %r1, %r2", {0x80800000, 0x3f000000}, 0x80000000},
        {"mul.f32 %r0, %r1, %r2", {0x80800000, 0x3f000000}, 0x80400000},
        {"mul.ftz.f16 %h0, %h1, %h2", {0x8001, 0x7bff}, 0x8000},
        {"mul.f16 %h0, %h1, %h2", {0x8001, 0x4000}, 0x8002},
        {"abs.ftz.f32 %r0, %r1", {0x80000001}, 0},
        {"neg.ftz.f32 %r0, %r1", {1}, 0x80000000},
        {"neg.f32 %r0, %r1", {1}, 0x80000001},
        {"div.rn.ftz.f32 %r0, %r1, %r2", {ONE, 1}, INF},
        {"sqrt.rn.ftz.f32 %r0, %r1", {0x807fffff}, 0x80000000},
        {"max.ftz.f32 %r0, %r1, %r2", {1, 0x80000000}, 0},
    };

    CHECK(vectors);
}

Test(scalar_float, results_are_clamped)
{
    static const struct vector vectors[] = {
        {"add.sat.f32 %r0, %r1, %r2", {ONE, ONE}, ONE},
        {"add.sat.f32 %r0, %r1, %r2", {0xbf800000, 0}, 0},
        {"add.sat.f32 %r0, %r1, %r2", {INF, 0xff800000}, 0},
        {"add.sat.f16x2 %r0, %r1, %r2", {0x3c003800, 0x3c003400}, 0x3c003a00},
        {"fma.rn.relu.f16 %h0, %h1, %h2, %h3", {0x3c00, 0xbc00, 0}, 0},
        {"fma.rn.relu.f16 %h0, %h1, %h2, %h3", {0x7e00, 0xbc00, 0}, 0x7fff},
        {"fma.rn.relu.bf16x2 %r0, %r1, %r2, %r3", {0x3f80bf80, 0x3f803f80, 0}, 0x3f800000},
    };

    CHECK(vectors);
}

Test(scalar_float, min_and_max)
{
    static const struct vector vectors[] = {
        {"min.f32 %r0, %r1, %r2", {0, 0x80000000}, 0x80000000},
        {"max.f32 %r0, %r1, %r2", {0x80000000, 0}, 0},
        {"min.f32 %r0, %r1, %r2", {NAN32, ONE}, ONE},
        {"min.NaN.f32 %r0, %r1, %r2", {0x7fc00001, ONE}, NAN32},
        {"max.NaN.f16x2 %r0, %r1, %r2", {0x7e003c00, 0x3c004000}, 0x7fff4000},
        {"max.xorsign.abs.f32 %r0, %r1, %r2", {0xc0000000, ONE}, 0xc0000000},
        {"min.xorsign.abs.f32 %r0, %r1, %r2", {0xc0000000, 0xbf800000}, ONE},
        {"min.f64 %d0, %d1, %d2", {UINT64_C(0xfff0000000000000), 0}, UINT64_C(0xfff0000000000000)},
        {"min.bf16 %h0, %h1, %h2", {0x3f80, 0xbf80}, 0xbf80},
    };

    CHECK(vectors);
}

Test(scalar_float, signs_and_special_values)
{
    static const struct vector vectors[] = {
        {"copysign.f32 %r0, %r1, %r2", {0x80000000, ONE}, 0xbf800000},
        {"copysign.f64 %d0, %d1, %d2", {0, UINT64_MAX}, UINT64_MAX >> 1},
        {"neg.bf16x2 %r0, %r1", {0x3f80bf80}, 0xbf803f80},
        {"abs.f16x2 %r0, %r1", {0xbc003c00}, 0x3c003c00},
        {"sin.approx.f32 %r0, %r1", {0x80000000}, 0x80000000},
        {"cos.approx.f32 %r0, %r1", {0x80000000}, ONE},
        {"lg2.approx.f32 %r0, %r1", {0x80000000}, 0xff800000},
        {"lg2.approx.f32 %r0, %r1", {0x41000000}, 0x40400000},
        {"lg2.approx.f32 %r0, %r1", {0xbf800000}, NAN32},
        {"ex2.approx.f32 %r0, %r1", {0xff800000}, 0},
        {"ex2.approx.f32 %r0, %r1", {0x40400000}, 0x41000000},
        {"ex2.approx.ftz.f32 %r0, %r1", {0xc2fe0000}, 0},
        {"ex2.approx.f32 %r0, %r1", {0xc2fe0000}, 0x00400000},
        {"ex2.approx.ftz.bf16 %h0, %h1", {0x8001}, 0x3f80},
        {"tanh.approx.f32 %r0, %r1", {0xff800000}, 0xbf800000},
        {"tanh.approx.f16x2 %r0, %r1", {0x7c008000}, 0x3c008000},
        {"rcp.approx.f32 %r0, %r1", {0xff800000}, 0x80000000},
        {"rsqrt.approx.f32 %r0, %r1", {0x80000000}, 0xff800000},
        {"rsqrt.approx.f32 %r0, %r1", {0x40800000}, 0x3f000000},
        {"sqrt.approx.f32 %r0, %r1", {0xff800000}, NAN32},
        {"rcp.approx.ftz.f64 %d0, %d1",
         {UINT64_C(0x7ff8000000000000)},
         UINT64_C(0x7fffffff00000000)},
        {"rcp.approx.ftz.f64 %d0, %d1",
         {UINT64_C(0x40080000ffffffff)},
         UINT64_C(0x3fd5555500000000)},
        {"rcp.approx.ftz.f64 %d0, %d1",
         {UINT64_C(0x8000000000000001)},
         UINT64_C(0xfff0000000000000)},
        {"rsqrt.approx.ftz.f64 %d0, %d1",
         {UINT64_C(0x800fffff00000001)},
         UINT64_C(0xfff0000000000000)},
        {"rsqrt.approx.f64 %d0, %d1", {UINT64_C(0x4010000000000000)}, UINT64_C(0x3fe0000000000000)},
        {"div.approx.f32 %r0, %r1, %r2", {INF, 0x7f000000}, NAN32},
        {"div.approx.f32 %r0, %r1, %r2", {0xbf800000, 0x7f000000}, 0x80000000},
        {"div.full.f32 %r0, %r1, %r2", {0xbf800000, 0x7f000000}, 0x80400000},
        {"div.approx.f32 %r0, %r1, %r2", {ONE, 0x7e800000}, 0x00800000},
    };

    CHECK(vectors);
}

Test(scalar_float, packed_and_mixed_precision)
{
    static const struct vector vectors[] = {
        {"add.rp.f32x2 %d0, %d1, %d2",
         {UINT64_C(0x3f8000003f800000), UINT64_C(0x330000003f800000)},
         UINT64_C(0x3f80000140000000)},
        {"fma.rn.ftz.f32x2 %d0, %d1, %d2, %d3",
         {UINT64_C(0x0000000140000000), UINT64_C(0x3f80000040400000), ONE},
         UINT64_C(0x0000000040e00000)},
        {"add.f32.f16 %r0, %h1, %r2", {0x3c00, ONE}, 0x40000000},
        {"sub.rz.sat.f32.bf16 %r0, %h1, %r2", {0x3f80, TINY}, ONE - 1},
        {"fma.rn.f32.f16 %r0, %h1, %h2, %r3", {0x4000, 0x4200, ONE}, 0x40e00000},
        {"add.u16x2 %r0, %r1, %r2", {0xffff0001, 0x0001ffff}, 0},
        {"min.f32 %r0, %r1, %r2, %r3", {ONE, NAN32, 0xbf800000}, 0xbf800000},
        {"max.NaN.abs.f32 %r0, %r1, %r2, %r3", {ONE, 0xc0000000, 0}, 0x40000000},
        {"max.NaN.f32 %r0, %r1, %r2, %r3", {ONE, 0xc0000000, 0x7fc00000}, NAN32},
        {"fma.rn.oob.f16 %h0, %h1, %h2, %h3", {0xfff7, 0x3c00, 0x3c00}, 0},
        {"fma.rn.oob.bf16 %h0, %h1, %h2, %h3", {0x7fc0, 0x3f80, 0x3f80}, 0x7fff},
    };

    CHECK(vectors);
}

/* Bits that the manual leaves open, as sm_90 has them: f64 keeps a source's NaN. */
Test(scalar_float, nan_of_f64_is_a_source_made_quiet)
{
    static const struct vector vectors[] = {
        {"add.f64 %d0, %d1, %d2", {UINT64_C(0xfff4759300007f80), 0}, UINT64_C(0xfffc759300007f80)},
        {"add.f64 %d0, %d1, %d2", {QUIET64 + 1, QUIET64 + 2}, QUIET64 + 2},
        {"sub.f64 %d0, %d1, %d2", {QUIET64 + 1, QUIET64 + 2}, QUIET64 + 2},
        {"max.f64 %d0, %d1, %d2", {QUIET64 + 1, QUIET64 + 2}, QUIET64 + 2},
        {"div.rn.f64 %d0, %d1, %d2", {QUIET64 + 1, QUIET64 + 2}, QUIET64 + 1},
        {"fma.rn.f64 %d0, %d1, %d2, %d3", {QUIET64 + 1, QUIET64 + 2, QUIET64 + 3}, QUIET64 + 2},
        {"fma.rn.f64 %d0, %d1, %d2, %d3", {QUIET64 + 1, 0, QUIET64 + 3}, QUIET64 + 3},
        {"rcp.rn.f64 %d0, %d1", {QUIET64 + 1}, QUIET64 + 1},
        {"neg.f64 %d0, %d1", {QUIET64 + 1}, QUIET64 + 1},
        {"sqrt.rn.f64 %d0, %d1", {UINT64_C(0xbff0000000000000)}, UINT64_C(0xfff8000000000000)},
        {"add.f32 %r0, %r1, %r2", {0xffc00001, ONE}, NAN32},
        {"abs.f32 %r0, %r1", {0xffc00001}, NAN32},
        {"neg.f16 %h0, %h1", {0x7e00}, 0x7fff},
    };

    CHECK(vectors);
}

/* Tininess after rounding with an exponent of any size. 10610063 * 13264529 is 2^47 - 1. */
Test(scalar_float, ftz_flushes_what_only_subnormal_rounding_makes_normal)
{
    static const struct vector vectors[] = {
        {"mul.rn.ftz.f32 %r0, %r1, %r2", {0x80800000, 0x3f7fffff}, 0x80000000},
        {"mul.rn.f32 %r0, %r1, %r2", {0x80800000, 0x3f7fffff}, 0x80800000},
        {"mul.rn.ftz.f32 %r0, %r1, %r2", {0x01a1e58f, 0x3e4a6691}, 0x00800000},
        {"mul.rz.ftz.f32 %r0, %r1, %r2", {0x01a1e58f, 0x3e4a6691}, 0},
        {"rcp.rp.ftz.f32 %r0, %r1", {0x7e800001}, 0},
        {"rcp.rp.ftz.f32 %r0, %r1", {0x7e800000}, 0x00800000},
        {"mul.rn.ftz.f16 %h0, %h1, %h2", {0x0400, 0x3bff}, 0},
        {"cvt.rn.ftz.f32.f64 %r0, %d1", {UINT64_C(0x380fffffe0000000)}, 0},
        {"cvt.rn.ftz.f32.f64 %r0, %d1", {UINT64_C(0x380fffffffffffff)}, 0x00800000},
    };

    CHECK(vectors);
}
