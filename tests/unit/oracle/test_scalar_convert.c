/* SPDX-License-Identifier: Apache-2.0 */
#include "scalar_helper.h"

#define ONE   0x3f800000
#define NAN32 0x7fffffff
#define NAN64 UINT64_C(0x7ff8000000000000)

Test(scalar_convert, between_integers)
{
    static const struct vector vectors[] = {
        {"cvt.s64.s32 %d0, %r1", {0x80000000}, UINT64_C(0xffffffff80000000)},
        {"cvt.u64.u32 %d0, %r1", {0x80000000}, 0x80000000},
        {"cvt.u64.s32 %d0, %r1", {0x80000000}, UINT64_C(0xffffffff80000000)},
        {"cvt.u8.u32 %r0, %r1", {0x1234}, 0x34},
        {"cvt.sat.u8.s32 %r0, %r1", {0xffffffff}, 0},
        {"cvt.sat.u8.u32 %r0, %r1", {0x1234}, 0xff},
        {"cvt.sat.s8.s32 %r0, %r1", {0xffffff00}, 0x80},
        {"cvt.sat.s32.u32 %r0, %r1", {0x80000000}, 0x7fffffff},
        {"cvt.s32.s8 %r0, %r1", {0x80}, 0xffffff80},
    };

    CHECK(vectors);
}

Test(scalar_convert, to_integers_rounds_and_clamps)
{
    static const struct vector vectors[] = {
        {"cvt.rni.s32.f32 %r0, %r1", {0x40200000}, 2},
        {"cvt.rni.s32.f32 %r0, %r1", {0x40600000}, 4},
        {"cvt.rzi.s32.f32 %r0, %r1", {0xc0200000}, 0xfffffffe},
        {"cvt.rmi.s32.f32 %r0, %r1", {0xc0200000}, 0xfffffffd},
        {"cvt.rpi.s32.f32 %r0, %r1", {1}, 1},
        {"cvt.rpi.ftz.s32.f32 %r0, %r1", {1}, 0},
        {"cvt.rzi.s32.f32 %r0, %r1", {NAN32}, 0},
        {"cvt.rzi.s64.f32 %d0, %r1", {NAN32}, UINT64_C(1) << 63},
        {"cvt.rzi.u64.f32 %d0, %r1", {NAN32}, UINT64_C(1) << 63},
        {"cvt.rzi.u32.f64 %r0, %d1", {NAN64}, 0x80000000},
        {"cvt.rzi.s32.f64 %r0, %d1", {NAN64}, 0x80000000},
        {"cvt.rzi.u16.f32 %h0, %r1", {NAN32}, 0},
        {"cvt.rzi.s32.f32 %r0, %r1", {0x7f800000}, 0x7fffffff},
        {"cvt.rzi.u32.f32 %r0, %r1", {0xbf800000}, 0},
        {"cvt.rzi.u32.f32 %r0, %r1", {0x4f800000}, 0xffffffff},
        {"cvt.rzi.u8.f32 %r0, %r1", {0x43800000}, 0xff},
        {"cvt.rzi.s8.f32 %r0, %r1", {0xc3800000}, 0x80},
        {"cvt.rni.u64.f64 %d0, %d1", {UINT64_C(0x43f0000000000000)}, UINT64_MAX},
        {"cvt.rni.s64.f64 %d0, %d1", {UINT64_C(0xc3e0000000000000)}, UINT64_C(1) << 63},
        {"cvt.rni.s16.f16 %h0, %h1", {0x7bff}, 0x7fff},
        {"cvt.rni.u16.bf16 %h0, %h1", {0x4049}, 3},
    };

    CHECK(vectors);
}

Test(scalar_convert, to_floating_point)
{
    static const struct vector vectors[] = {
        {"cvt.rn.f32.s32 %r0, %r1", {0x7fffffff}, 0x4f000000},
        {"cvt.rz.f32.s32 %r0, %r1", {0x7fffffff}, 0x4effffff},
        {"cvt.rm.f32.s64 %r0, %d1", {UINT64_C(0x8000000000000001)}, 0xdf000000},
        {"cvt.rp.f32.u64 %r0, %d1", {UINT64_MAX}, 0x5f800000},
        {"cvt.rn.f64.u64 %d0, %d1", {UINT64_MAX}, UINT64_C(0x43f0000000000000)},
        {"cvt.rn.f16.u32 %h0, %r1", {65520}, 0x7c00},
        {"cvt.rn.f16.u32 %h0, %r1", {65519}, 0x7bff},
        {"cvt.rz.f16.u32 %h0, %r1", {1000000}, 0x7bff},
        {"cvt.rn.f32.s8 %r0, %r1", {0xff}, 0xbf800000},
        {"cvt.rn.bf16.u16 %h0, %h1", {257}, 0x4380},
        {"cvt.rn.f16.f32 %h0, %r1", {0x33000000}, 0},
        {"cvt.rn.f16.f32 %h0, %r1", {0x33000001}, 1},
        {"cvt.rp.f16.f32 %h0, %r1", {1}, 1},
        {"cvt.rp.ftz.f16.f32 %h0, %r1", {1}, 1}, /* sm_90 does not flush */
        {"cvt.rm.ftz.f16.f32 %h0, %r1", {0x80000001}, 0x8001},
        {"cvt.f32.f16 %r0, %h1", {0x8001}, 0xb3800000},
        {"cvt.f64.f32 %d0, %r1", {1}, UINT64_C(0x36a0000000000000)},
        {"cvt.ftz.f64.f32 %d0, %r1", {0x80000001}, UINT64_C(1) << 63},
        {"cvt.rn.f32.f64 %r0, %d1", {UINT64_C(0x36a0000000000000)}, 1},
        {"cvt.rn.ftz.f32.f64 %r0, %d1", {UINT64_C(0xb6a0000000000000)}, 0x80000000},
        {"cvt.rni.f32.f32 %r0, %r1", {0xbe99999a}, 0x80000000},
        {"cvt.rpi.f32.f32 %r0, %r1", {0x40200000}, 0x40400000},
        {"cvt.sat.f32.f32 %r0, %r1", {0x40200000}, ONE},
        {"cvt.sat.f32.f32 %r0, %r1", {NAN32}, 0},
        {"cvt.ftz.f32.f32 %r0, %r1", {0x80000001}, 0x80000000},
        {"cvt.f32.bf16 %r0, %h1", {0x4049}, 0x40490000},
        {"cvt.rn.bf16.f32 %h0, %r1", {0x3f808000}, 0x3f80},
        {"cvt.rn.bf16.f32 %h0, %r1", {0x3f818000}, 0x3f82},
        {"cvt.rz.bf16.f32 %h0, %r1", {0x3f81ffff}, 0x3f81},
        {"cvt.rn.relu.bf16.f32 %h0, %r1", {0xbf800000}, 0},
        {"cvt.rn.relu.bf16.f32 %h0, %r1", {0xffc00000}, 0x7fff},
        {"cvt.rna.tf32.f32 %r0, %r1", {0x3f801000}, 0x3f802000},
        {"cvt.rn.tf32.f32 %r0, %r1", {0x3f801000}, 0x3f800000},
        {"cvt.rn.f16x2.f32 %r0, %r1, %r2", {ONE, 0x40000000}, 0x3c004000},
        {"cvt.rz.relu.bf16x2.f32 %r0, %r1, %r2", {0xbf800000, 0x40000000}, 0x00004000},
    };

    CHECK(vectors);
}

/* Bits that the manual leaves open, as sm_90 has them. */
Test(scalar_convert, nan_keeps_what_hardware_keeps)
{
    static const struct vector vectors[] = {
        {"cvt.f32.f32 %r0, %r1", {0xffa00001}, 0xffa00001},
        {"cvt.ftz.f32.f32 %r0, %r1", {0xffa00001}, NAN32},
        {"cvt.rni.f32.f32 %r0, %r1", {0xffa00001}, NAN32},
        {"cvt.f32.f16 %r0, %h1", {0xfe01}, NAN32},
        {"cvt.f32.bf16 %r0, %h1", {0xff81}, 0xff810000},
        {"cvt.rn.f16.f32 %h0, %r1", {0xffa00001}, 0x7fff},
        {"cvt.f64.f64 %d0, %d1", {UINT64_C(0xfff4759300007f80)}, UINT64_C(0xfff4759300007f80)},
        {"cvt.rni.f64.f64 %d0, %d1", {UINT64_C(0xfff4759300007f80)}, UINT64_C(0xfffc759300007f80)},
        {"cvt.rn.f32.f64 %r0, %d1", {UINT64_C(0xfff4759300007f80)}, 0xffe3ac98},
        {"cvt.rn.f16.f64 %h0, %d1", {UINT64_C(0xfff4759300007f80)}, 0xff1d},
        {"cvt.rn.bf16.f64 %h0, %d1", {UINT64_C(0xfff4759300007f80)}, 0xffe3},
        {"cvt.f64.f32 %d0, %r1", {0x7fc00000}, NAN64},
        {"cvt.ftz.f64.f32 %d0, %r1", {0x7fc00000}, UINT64_C(0x7fffffffe0000000)},
        {"cvt.f64.bf16 %d0, %h1", {0x7fff}, UINT64_C(0x7fffe00000000000)},
        {"cvt.rn.tf32.f32 %r0, %r1", {0x7fc00000}, 0x7fffe000},
        {"cvt.rna.tf32.f32 %r0, %r1", {0xffc01fff}, 0xffc00000},
        {"cvt.rna.tf32.f32 %r0, %r1", {0x7f800001}, 0x7f800000},
        {"cvt.rna.tf32.f32 %r0, %r1", {0x7f7fffff}, 0x7f800000},
        {"cvt.rna.satfinite.tf32.f32 %r0, %r1", {0x7f800000}, 0x7f7fe000},
        {"cvt.rna.satfinite.tf32.f32 %r0, %r1", {0x7f7fffff}, 0x7f7fe000},
        {"cvt.rna.satfinite.tf32.f32 %r0, %r1", {0x7fc00000}, 0x7fbfe000},
    };

    CHECK(vectors);
}

Test(scalar_convert, satfinite_and_small_formats)
{
    static const struct vector vectors[] = {
        {"cvt.rn.satfinite.f16.f32 %h0, %r1", {0x7f800000}, 0x7bff},
        {"cvt.rn.satfinite.bf16.f32 %h0, %r1", {0xff800000}, 0xff7f},
        {"cvt.rn.satfinite.f16x2.f32 %r0, %r1, %r2", {0x47800000, NAN32}, 0x7bff7fff},
        {"cvt.rn.satfinite.e4m3x2.f32 %h0, %r1, %r2", {ONE, 0xc3e00000}, 0x38fe},
        {"cvt.rn.satfinite.e4m3x2.f32 %h0, %r1, %r2", {0x43e80001, NAN32}, 0x7e7f},
        {"cvt.rn.satfinite.relu.e5m2x2.f32 %h0, %r1, %r2", {0xbf800000, 0x7f800000}, 0x007b},
        {"cvt.rn.satfinite.e5m2x2.f16x2 %h0, %r1", {0x3c00bc00}, 0x3cbc},
        {"cvt.rn.f16x2.e4m3x2 %r0, %h1", {0x38fe}, 0x3c00df00},
        {"cvt.rn.relu.f16x2.e5m2x2 %r0, %h1", {0xbc01}, 0x00000100},
        {"cvt.rn.f16x2.e4m3x2 %r0, %h1", {0x0180}, 0x18008000},
        {"cvt.pack.sat.s16.s32 %r0, %r1, %r2", {0xffff0000, 40000}, 0x80007fff},
        {"cvt.pack.sat.u8.s32.b32 %r0, %r1, %r2, %r3", {300, 0xffffffff, 0x1234}, 0x1234ff00},
        {"cvt.pack.sat.s4.s32.b32 %r0, %r1, %r2, %r3", {7, 0xfffffff0, 0xabcdef}, 0xabcdef78},
        {"cvt.pack.sat.u2.s32.b32 %r0, %r1, %r2, %r3", {5, 1, 1}, 0x1d},
    };

    CHECK(vectors);
}

Test(scalar_convert, formats_of_four_and_six_bits)
{
    static const struct vector vectors[] = {
        {"cvt.rn.satfinite.e2m3x2.f32 %h0, %r1, %r2", {0x40f00000, 0xbf800000}, 0x1f28},
        {"cvt.rn.satfinite.e3m2x2.f32 %h0, %r1, %r2", {NAN32, 0x42000000}, 0x1f1f},
        {"cvt.rn.satfinite.e2m3x2.f32 %h0, %r1, %r2", {0x3e000000, 0x3d800000}, 0x0100},
        {"cvt.rn.f16x2.e2m3x2 %r0, %h1", {0x1f28}, 0x4780bc00},
        {"cvt.rn.f16x2.e3m2x2 %r0, %h1", {0x1f01}, 0x4f002c00},
        {"cvt.rp.ue8m0x2.f32 %h0, %r1, %r2", {0x3f800001, ONE}, 0x807f},
        {"cvt.rz.satfinite.ue8m0x2.f32 %h0, %r1, %r2", {0x3fffffff, 0x7f800000}, 0x7ffe},
        {"cvt.rn.bf16x2.ue8m0x2 %r0, %h1", {0x7f00}, 0x3f800040},
    };

    CHECK(vectors);
}

Test(scalar_convert, random_bits_carry_into_the_result)
{
    static const struct vector vectors[] = {
        {"cvt.rs.bf16x2.f32 %r0, %r1, %r2, %r3", {0x3f808000, 0x3f808000, 0x80007fff}, 0x3f813f80},
        {"cvt.rs.f16x2.f32 %r0, %r1, %r2, %r3", {0x3f801000, 0xbf801000, 0xf000efff}, 0x3c01bc00},
        {"cvt.rs.f16x2.f32 %r0, %r1, %r2, %r3", {ONE, ONE, 0xffffffff}, 0x3c003c00},
        {"cvt.rs.satfinite.f16x2.f32 %r0, %r1, %r2, %r3",
         {0x7f800000, 0x477fffff, 0x1fff},
         0x7bff7bff},
    };

    CHECK(vectors);
}
