/* SPDX-License-Identifier: Apache-2.0
 *
 * emit_convert.c: widths and signs of integers, saturation, rounding both ways, NaN.
 */
#include <criterion/criterion.h>

#include "eval_table.h"
#include "harness.h"

#define ONE    0x3f800000u
#define INF    0x7f800000u
#define QNAN   0x7fc00000u
#define SUB    0x00400000u
#define ONE64  0x3ff0000000000000u
#define QNAN64 0x7ff8000000000000u

Test(emit_convert, integers_extend_and_truncate_by_their_own_type)
{
    static const struct eval_case cases[] = {
        {"cvt.s64.s32 %rd4, %r1;", 'd', 0x80000000, 0, 0, 0xffffffff80000000u},
        {"cvt.u64.u32 %rd4, %r1;", 'd', 0x80000000, 0, 0, 0x80000000u},
        {"cvt.u32.u64 %r4, %rd1;", 'r', 0x123456789abcdef0u, 0, 0, 0x9abcdef0},
        {"cvt.u16.u32 %h4, %r1;", 'h', 0x12345678, 0, 0, 0x5678},
        {"cvt.u32.u16 %r4, %h1;", 'r', 0xffff, 0, 0, 0xffff},
        {"cvt.s32.s16 %r4, %h1;", 'r', 0x8000, 0, 0, 0xffff8000},
        {"cvt.u64.u16 %rd4, %h1;", 'd', 0x8000, 0, 0, 0x8000},
        {"cvt.u16.u64 %h4, %rd1;", 'h', 0x1234567, 0, 0, 0x4567},
        {"cvt.s32.s8 %r4, %r1;", 'r', 0x1280, 0, 0, 0xffffff80},
        {"cvt.u32.u8 %r4, %r1;", 'r', 0x1280, 0, 0, 0x80},
        {"cvt.s16.s8 %h4, %h1;", 'h', 0x80, 0, 0, 0xff80},
        {"cvt.s8.s32 %r4, %r1;", 'r', 0x1ff, 0, 0, 0xffffffff},
        {"cvt.u8.u32 %r4, %r1;", 'r', 0x1ff, 0, 0, 0xff},
        {"cvt.s64.s8 %rd4, %r1;", 'd', 0xff, 0, 0, UINT64_MAX},
        {"cvt.s64.s16 %rd4, %h1;", 'd', 0xffff, 0, 0, UINT64_MAX},
        {"cvt.sat.u8.s32 %r4, %r1;", 'r', 300, 0, 0, 255},
        {"cvt.sat.u8.s32 %r4, %r1;", 'r', 0xffffffff, 0, 0, 0},
        {"cvt.sat.s8.s32 %r4, %r1;", 'r', 0xfffffe00, 0, 0, 0xffffff80},
        {"cvt.sat.s16.u32 %h4, %r1;", 'h', 0xffffffff, 0, 0, 0x7fff},
        {"cvt.sat.u32.s64 %r4, %rd1;", 'r', 1ull << 40, 0, 0, 0xffffffff},
        {"cvt.sat.s32.s64 %r4, %rd1;", 'r', 1ull << 63, 0, 0, 0x80000000},
        {"cvt.sat.u64.s64 %rd4, %rd1;", 'd', 1ull << 63, 0, 0, 0},
        {"cvt.sat.s64.u64 %rd4, %rd1;", 'd', UINT64_MAX, 0, 0, INT64_MAX},
        {"cvt.sat.u32.s32 %r4, %r1;", 'r', 0x80000000, 0, 0, 0},
        {"cvt.sat.s32.u32 %r4, %r1;", 'r', 0x80000000, 0, 0, 0x7fffffff},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_convert, floats_become_integers_rounded_and_clamped)
{
    static const struct eval_case cases[] = {
        {"cvt.rzi.s32.f32 %r4, %f1;", 'r', 0xbfc00000, 0, 0, 0xffffffff}, /* -1.5 */
        {"cvt.rni.s32.f32 %r4, %f1;", 'r', 0x40200000, 0, 0, 2},          /* 2.5 */
        {"cvt.rni.s32.f32 %r4, %f1;", 'r', 0xbfc00000, 0, 0, 0xfffffffe},
        {"cvt.rmi.s32.f32 %r4, %f1;", 'r', 0xbfc00000, 0, 0, 0xfffffffe},
        {"cvt.rpi.s32.f32 %r4, %f1;", 'r', 0x40200000, 0, 0, 3},
        {"cvt.rzi.u32.f32 %r4, %f1;", 'r', 0xbfc00000, 0, 0, 0},
        {"cvt.rzi.u32.f32 %r4, %f1;", 'r', 0x4f7fffff, 0, 0, 0xffffff00},
        {"cvt.rzi.s32.f32 %r4, %f1;", 'r', 0x4f000000, 0, 0, 0x7fffffff},
        {"cvt.rzi.s32.f32 %r4, %f1;", 'r', 0xff800000, 0, 0, 0x80000000},
        {"cvt.rzi.s32.f32 %r4, %f1;", 'r', QNAN, 0, 0, 0},
        {"cvt.rzi.u32.f32 %r4, %f1;", 'r', QNAN, 0, 0, 0},
        {"cvt.rpi.ftz.s32.f32 %r4, %f1;", 'r', SUB, 0, 0, 0},
        {"cvt.rpi.s32.f32 %r4, %f1;", 'r', SUB, 0, 0, 1},
        {"cvt.rzi.s64.f32 %rd4, %f1;", 'd', 0xcf800000, 0, 0, 0xffffffff00000000u},
        {"cvt.rzi.s64.f32 %rd4, %f1;", 'd', QNAN, 0, 0, 1ull << 63},
        {"cvt.rni.u64.f32 %rd4, %f1;", 'd', 0x7f7fffff, 0, 0, UINT64_MAX},
        {"cvt.rzi.u64.f32 %rd4, %f1;", 'd', QNAN, 0, 0, 1ull << 63},
        {"cvt.rzi.s32.f64 %r4, %fd1;", 'r', 0xc000000000000000u, 0, 0, 0xfffffffe},
        {"cvt.rzi.s32.f64 %r4, %fd1;", 'r', QNAN64, 0, 0, 0x80000000},
        {"cvt.rni.u32.f64 %r4, %fd1;", 'r', 0x41f0000000000000u, 0, 0, 0xffffffff},
        {"cvt.rmi.s64.f64 %rd4, %fd1;", 'd', 0xbfe0000000000000u, 0, 0, UINT64_MAX},
        {"cvt.rpi.u64.f64 %rd4, %fd1;", 'd', 0x3fe0000000000000u, 0, 0, 1},
        {"cvt.rzi.s16.f32 %h4, %f1;", 'h', 0x47c35000, 0, 0, 0x7fff}, /* 100000 */
        {"cvt.rzi.u8.f32 %r4, %f1;", 'r', 0x43960000, 0, 0, 255},     /* 300 */
        {"cvt.rzi.s8.f32 %r4, %f1;", 'r', 0xc3960000, 0, 0, 0xffffff80},
        {"cvt.rni.s32.f16 %r4, %h1;", 'r', 0x4100, 0, 0, 2}, /* 2.5 */
        {"cvt.rzi.s32.f16 %r4, %h1;", 'r', 0xfc00, 0, 0, 0x80000000},
        {"cvt.rzi.u16.f16 %h4, %h1;", 'h', 0x7bff, 0, 0, 65504},
        {"cvt.rzi.s16.f16 %h4, %h1;", 'h', 0x7bff, 0, 0, 32767},
        {"cvt.rzi.u8.f16 %r4, %h1;", 'r', 0x5cb0, 0, 0, 255},
        {"cvt.rzi.s8.f16 %r4, %h1;", 'r', 0xc500, 0, 0, 0xfffffffb},
        {"cvt.rzi.s32.bf16 %r4, %h1;", 'r', 0x40a0, 0, 0, 5},
        {"cvt.rzi.s64.f16 %rd4, %h1;", 'd', 0xc500, 0, 0, (uint64_t)-5},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_convert, integers_become_floats_rounded_once)
{
    static const struct eval_case cases[] = {
        {"cvt.rn.f32.s32 %f4, %r1;", 'f', 0xffffffff, 0, 0, 0xbf800000},
        {"cvt.rn.f32.u32 %f4, %r1;", 'f', 0xffffffff, 0, 0, 0x4f800000},
        {"cvt.rz.f32.u32 %f4, %r1;", 'f', 0xffffffff, 0, 0, 0x4f7fffff},
        {"cvt.rm.f32.s32 %f4, %r1;", 'f', 0x80000001, 0, 0, 0xcf000000},
        {"cvt.rp.f32.s32 %f4, %r1;", 'f', 0x80000001, 0, 0, 0xceffffff},
        {"cvt.rn.f32.u16 %f4, %h1;", 'f', 0xffff, 0, 0, 0x477fff00},
        {"cvt.rn.f32.s16 %f4, %h1;", 'f', 0xffff, 0, 0, 0xbf800000},
        {"cvt.rn.f32.s8 %f4, %r1;", 'f', 0xff, 0, 0, 0xbf800000},
        {"cvt.rn.f32.u8 %f4, %r1;", 'f', 0x1ff, 0, 0, 0x437f0000},
        {"cvt.rn.f32.s64 %f4, %rd1;", 'f', (1ull << 40) + 1, 0, 0, 0x53800000},
        {"cvt.rp.f32.s64 %f4, %rd1;", 'f', (1ull << 40) + 1, 0, 0, 0x53800001},
        {"cvt.rz.f32.u64 %f4, %rd1;", 'f', UINT64_MAX, 0, 0, 0x5f7fffff},
        {"cvt.rn.f32.u64 %f4, %rd1;", 'f', UINT64_MAX, 0, 0, 0x5f800000},
        {"cvt.rn.f64.s32 %fd4, %r1;", 'F', 0xffffffff, 0, 0, 0xbff0000000000000u},
        {"cvt.rn.f64.u32 %fd4, %r1;", 'F', 0xffffffff, 0, 0, 0x41efffffffe00000u},
        {"cvt.rn.f64.s64 %fd4, %rd1;", 'F', UINT64_MAX, 0, 0, 0xbff0000000000000u},
        {"cvt.rn.f64.u64 %fd4, %rd1;", 'F', UINT64_MAX, 0, 0, 0x43f0000000000000u},
        {"cvt.rz.f64.u64 %fd4, %rd1;", 'F', UINT64_MAX, 0, 0, 0x43efffffffffffffu},
        {"cvt.rm.f64.s64 %fd4, %rd1;", 'F', INT64_MAX, 0, 0, 0x43dfffffffffffffu},
        {"cvt.rn.f64.u16 %fd4, %h1;", 'F', 1, 0, 0, ONE64},
        {"cvt.rn.f16.s32 %h4, %r1;", 'h', 2049, 0, 0, 0x6800},
        {"cvt.rp.f16.s32 %h4, %r1;", 'h', 2049, 0, 0, 0x6801},
        {"cvt.rn.f16.u32 %h4, %r1;", 'h', 0xffffffff, 0, 0, 0x7c00},
        {"cvt.rz.f16.u64 %h4, %rd1;", 'h', UINT64_MAX, 0, 0, 0x7bff},
        {"cvt.rn.f16.s64 %h4, %rd1;", 'h', UINT64_MAX, 0, 0, 0xbc00},
        {"cvt.rn.f16.u16 %h4, %h1;", 'h', 3, 0, 0, 0x4200},
        {"cvt.rn.f16.s16 %h4, %h1;", 'h', 0xfffd, 0, 0, 0xc200},
        {"cvt.rn.f16.s8 %h4, %r1;", 'h', 0xfd, 0, 0, 0xc200},
        {"cvt.rn.f16.u8 %h4, %r1;", 'h', 0xfd, 0, 0, 0x5be8},
        {"cvt.rn.bf16.s32 %h4, %r1;", 'h', 257, 0, 0, 0x4380},
        {"cvt.rn.bf16.u64 %h4, %rd1;", 'h', UINT64_MAX, 0, 0, 0x5f80},
        {"cvt.rn.sat.f32.s32 %f4, %r1;", 'f', 5, 0, 0, ONE},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_convert, floats_change_format)
{
    static const struct eval_case cases[] = {
        {"cvt.f64.f32 %fd4, %f1;", 'F', ONE, 0, 0, ONE64},
        {"cvt.ftz.f64.f32 %fd4, %f1;", 'F', 0x80400000, 0, 0, 1ull << 63},
        {"cvt.f64.f32 %fd4, %f1;", 'F', 1, 0, 0, 0x36a0000000000000u},
        {"cvt.rn.f32.f64 %f4, %fd1;", 'f', ONE64 + 1, 0, 0, ONE},
        {"cvt.rp.f32.f64 %f4, %fd1;", 'f', ONE64 + 1, 0, 0, ONE + 1},
        {"cvt.rz.f32.f64 %f4, %fd1;", 'f', 0xbff0000000000001u, 0, 0, 0xbf800000},
        {"cvt.rm.f32.f64 %f4, %fd1;", 'f', 0xbff0000000000001u, 0, 0, 0xbf800001},
        {"cvt.rn.ftz.f32.f64 %f4, %fd1;", 'f', 0xb800000000000000u, 0, 0, 0x80000000},
        {"cvt.sat.f32.f32 %f4, %f1;", 'f', 0x40000000, 0, 0, ONE},
        {"cvt.sat.f32.f32 %f4, %f1;", 'f', QNAN, 0, 0, 0},
        {"cvt.sat.f64.f64 %fd4, %fd1;", 'F', 0xbff0000000000000u, 0, 0, 0},
        {"cvt.rzi.f32.f32 %f4, %f1;", 'f', 0xbfc00000, 0, 0, 0xbf800000},
        {"cvt.rni.f32.f32 %f4, %f1;", 'f', 0x40200000, 0, 0, 0x40000000},
        {"cvt.rmi.f32.f32 %f4, %f1;", 'f', 0xbf000000, 0, 0, 0xbf800000},
        {"cvt.rpi.f32.f32 %f4, %f1;", 'f', 0xbf000000, 0, 0, 0x80000000},
        {"cvt.rmi.ftz.f32.f32 %f4, %f1;", 'f', 0x80400000, 0, 0, 0x80000000},
        {"cvt.rmi.f64.f64 %fd4, %fd1;", 'F', 0xbfe0000000000000u, 0, 0, 0xbff0000000000000u},
        {"cvt.rni.f64.f64 %fd4, %fd1;", 'F', 0x4004000000000000u, 0, 0, 0x4000000000000000u},
        {"cvt.f32.f16 %f4, %h1;", 'f', 0x0001, 0, 0, 0x33800000},
        {"cvt.f64.f16 %fd4, %h1;", 'F', 0x3c00, 0, 0, ONE64},
        {"cvt.f32.bf16 %f4, %h1;", 'f', 0x3f80, 0, 0, ONE},
        {"cvt.rn.f16.f32 %h4, %f1;", 'h', 0x3f801000, 0, 0, 0x3c00},
        {"cvt.rp.f16.f32 %h4, %f1;", 'h', 0x3f801000, 0, 0, 0x3c01},
        {"cvt.rz.f16.f32 %h4, %f1;", 'h', 0x7f7fffff, 0, 0, 0x7bff},
        {"cvt.rm.f16.f64 %h4, %fd1;", 'h', 0xbff0000000000001u, 0, 0, 0xbc01},
        {"cvt.rn.f16.f64 %h4, %fd1;", 'h', 0x3ff0020000000001u, 0, 0, 0x3c01},
        {"cvt.rn.f16.f32 %h4, %f1;", 'h', QNAN, 0, 0, 0x7fff},
        {"cvt.rp.ftz.f16.f32 %h4, %f1;", 'h', SUB, 0, 0, 1}, /* device: it is not flushed */
        {"cvt.rn.relu.f16.f32 %h4, %f1;", 'h', 0xbf800000, 0, 0, 0},
        {"cvt.rn.sat.f16.f32 %h4, %f1;", 'h', 0x40000000, 0, 0, 0x3c00},
        {"cvt.rmi.f16.f16 %h4, %h1;", 'h', 0xb800, 0, 0, 0xbc00},
        {"cvt.rni.f16.f16 %h4, %h1;", 'h', 0x4100, 0, 0, 0x4000},
        {"cvt.sat.f16.f16 %h4, %h1;", 'h', 0x4100, 0, 0, 0x3c00},
        {"cvt.rn.bf16.f32 %h4, %f1;", 'h', 0x3f808000, 0, 0, 0x3f80},
        {"cvt.rn.bf16.f32 %h4, %f1;", 'h', 0x3f818000, 0, 0, 0x3f82},
        {"cvt.rz.bf16.f32 %h4, %f1;", 'h', 0x3f80ffff, 0, 0, 0x3f80},
        {"cvt.rn.relu.bf16.f32 %h4, %f1;", 'h', 0xbf800000, 0, 0, 0},
        {"cvt.rn.bf16.f64 %h4, %fd1;", 'h', 0x3ff0100000000001u, 0, 0, 0x3f81},
        {"cvt.rn.f16x2.f32 %r4, %f1, %f2;", 'r', ONE, 0x40000000, 0, 0x3c004000},
        {"cvt.rz.f16x2.f32 %r4, %f1, %f2;", 'r', 0x7f7fffff, 0x40000000, 0, 0x7bff4000},
        {"cvt.rn.bf16x2.f32 %r4, %f1, %f2;", 'r', ONE, 0x40000000, 0, 0x3f804000},
        {"cvt.rn.relu.bf16x2.f32 %r4, %f1, %f2;", 'r', ONE, 0xc0000000, 0, 0x3f800000},
        {"cvt.rna.tf32.f32 %r4, %f1;", 'r', 0x3f801000, 0, 0, 0x3f802000},
        {"cvt.rn.relu.tf32.f32 %r4, %f1;", 'r', 0xbf801000, 0, 0, 0},
    };
    CHECK_EVAL_TABLE(cases);
}

/* What a device makes of inf - inf is positive in f32. */
Test(convert, a_nan_made_in_f32_is_positive_in_f64)
{
    uint32_t in[3] = {0x7f800000, 0xff800000, 0xffc00001};
    uint64_t out[2] = {0};
    harness_eval("ld.f32 %f1, [%in]; ld.f32 %f2, [%in+4]; add.f32 %f3, %f1, %f2;\n"
                 "cvt.f64.f32 %fd1, %f3; st.f64 [%out], %fd1;\n"
                 "ld.f32 %f4, [%in+8]; cvt.f64.f32 %fd2, %f4; st.f64 [%out+8], %fd2;",
                 in, out);
    cr_expect_eq(out[0] >> 63, 0);
    cr_expect_eq(out[1], 0xfff8000020000000);
}
