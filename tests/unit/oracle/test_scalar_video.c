/* SPDX-License-Identifier: Apache-2.0 */
#include "scalar_helper.h"

Test(scalar_video, parts_are_selected_clamped_and_merged)
{
    static const struct vector vectors[] = {
        {"vadd.u32.u32.u32 %r0, %r1, %r2", {0xffffffff, 2}, 1},
        {"vadd.s32.u32.s32.sat %r0, %r1, %r2", {0x80000000, 0xffffffff}, 0x7fffffff},
        {"vsub.s32.s32.u32 %r0, %r1.h1, %r2.h1", {0x80000000, 0x00010000}, 0xffff7fff},
        {"vsub.u32.u32.u32.sat %r0, %r1, %r2", {1, 2}, 0},
        {"vabsdiff.u32.s32.s32 %r0, %r1.b0, %r2.b3", {0x80, 0x7f000000}, 255},
        {"vabsdiff.s32.s32.s32.sat %r0.b1, %r1.b0, %r2.b3, %r3",
         {0x80, 0x7f000000, 0xaaaaaaaa},
         0xaaaa7faa},
        {"vmin.s32.s32.s32.add %r0, %r1, %r2, %r3", {0xffffffff, 5, 10}, 9},
        {"vmax.u32.u32.u32 %r0.h0, %r1.h0, %r2.h0, %r3", {0x1234, 0x5678, 0x11112222}, 0x11115678},
        {"vmax.s32.u32.u32.min %r0, %r1, %r2, %r3", {7, 9, 0xffffffff}, 0xffffffff},
        {"vset.s32.u32.lt %r0, %r1, %r2", {0xffffffff, 0}, 1},
        {"vset.u32.u32.ne.add %r0, %r1.b0, %r2.b1, %r3", {0x11, 0x2200, 41}, 42},
        {"vset.u32.u32.ge %r0.b3, %r1, %r2, %r3", {5, 5, 0xffffffff}, 0x01ffffff},
        {"vshl.u32.u32.u32.clamp %r0, %r1, %r2", {1, 40}, 0},
        {"vshl.u32.u32.u32.wrap %r0, %r1, %r2", {1, 40}, 0x100},
        {"vshl.s32.s32.u32.sat.clamp %r0, %r1.b0, %r2.b0", {0x80, 24}, 0x80000000},
        {"vshr.s32.s32.u32.clamp %r0, %r1.h1, %r2", {0x80000000, 40}, 0xffffffff},
        {"vshr.u32.u32.u32.wrap %r0, %r1, %r2.h1", {0x80000000, 0x00210000}, 0x40000000},
    };

    CHECK(vectors);
}

/* Where sm_90 does not do what the manual says: a result that it gave in each case. */
Test(scalar_video, departures_of_hardware_are_followed)
{
    static const struct vector vectors[] = {
        /* the upper half of d gets the upper half of the result */
        {"vmax.u32.u32.u32 %r0.h1, %r1, %r2.h0, %r3", {0x12345678, 0, 0x11112222}, 0x12342222},
        {"vset.u32.u32.eq %r0.h1, %r1, %r2, %r3", {5, 5, 0x11112222}, 0x2222},
        /* .sat of a whole unsigned d: too large wraps, negative is 0 */
        {"vadd.u32.u32.u32.sat %r0, %r1.h0, %r2", {0x7fffffff, 0xffffffff}, 0xfffe},
        {"vadd.u32.s32.u32.sat %r0, %r1, %r2", {0x80800000, 0x00800000}, 0},
        {"vabsdiff.u32.u32.s32.sat %r0, %r1, %r2.h1", {0xffffffff, 0xffffffff}, 0},
        /* .sat of a part of d: a negative result is large */
        {"vadd.u32.u32.s32.sat %r0.b2, %r1.b0, %r2, %r3", {0, 0x80000000, 0x40780f32}, 0x40ff0f32},
        {"vadd.s32.s32.u32.sat %r0.h0, %r1.h0, %r2.b3, %r3", {0x8000, 0, 0xc7547600}, 0xc7547fff},
        /* shifts keep 34 bits and clamp to all of d, whatever part is written */
        {"vshl.u32.u32.u32.sat.clamp %r0, %r1, %r2", {1, 40}, 0xffffffff},
        {"vshl.u32.u32.u32.sat.clamp %r0, %r1, %r2", {2, 40}, 0},
        {"vshl.s32.s32.u32.sat.clamp %r0, %r1, %r2", {0x7f, 63}, 0x80000000},
        {"vshr.u32.s32.u32.sat.wrap %r0.h1, %r1, %r2, %r3",
         {0x00800000, 0, 0x403c7afd},
         0x00807afd},
        /* .min, .max: sums are signed words, compared without sign */
        {"vadd.u32.u32.u32.max %r0, %r1.b2, %r2, %r3", {0, 0x80000000, 0x81852422}, 0x80000000},
        {"vadd.u32.u32.u32.min %r0, %r1, %r2, %r3", {0, 0x80000000, 0x81852422}, 0x81852422},
        {"vmin.u32.u32.u32.max %r0, %r1, %r2, %r3",
         {0x80000000, 0x80000000, 0x81852422},
         0x81852422},
        {"vadd.s32.u32.u32.max %r0, %r1, %r2, %r3", {0x80000000, 0, 5}, 5},
        {"vabsdiff.u32.u32.s32.min %r0, %r1, %r2, %r3", {0xffffffff, 0x80000000, 9}, 9},
        {"vshl.u32.s32.u32.sat.wrap.max %r0, %r1, %r2, %r3", {1, 31, 0xe8f94c9a}, 0x80000000},
        {"vshl.u32.s32.u32.wrap.max %r0, %r1, %r2, %r3", {1, 31, 0xe8f94c9a}, 0xe8f94c9a},
        {"vshl.u32.u32.u32.sat.clamp.min %r0, %r1, %r2, %r3",
         {0x80000000, 0, 0xffffffff},
         0xffffffff},
        {"vshr.u32.u32.u32.sat.clamp.min %r0, %r1, %r2, %r3",
         {0x80000000, 0, 0xffffffff},
         0xffffffff},
        /* vset: c is as signed as a */
        {"vset.s32.u32.lt.min %r0, %r1, %r2, %r3", {0, 1, 0xffffffff}, 0xffffffff},
        {"vset.u32.s32.lt.min %r0, %r1, %r2, %r3", {0, 1, 0xffffffff}, 1},
        /* vmad: signed words multiplied, a signed word added */
        {"vmad.u32.u32.u32.shr7 %r0, %r1, %r2, %r3", {0, 0, 0xc7547600}, 0xff8ea8ec},
        {"vmad.s32.u32.u32.shr15 %r0, %r1, %r2, %r3", {0xbc00, 0x80000000, 0x81852422}, 0x43ff030a},
        {"vmad.s32.u32.u32.sat %r0, %r1.b3, %r2.h0, %r3", {0x8000, 0, 0xc7547600}, 0},
        {"vmad.s32.u32.u32.sat.shr7 %r0, %r1, %r2, %r3", {0x8000, 0, 0xc7547600}, 0xffffffff},
        {"vmad.u32.u32.u32.sat %r0, %r1, %r2, %r3", {0xffffffff, 0xffffffff, 1}, 2},
        {"vmad.s32.u32.s32.sat %r0, %r1, %r2, %r3",
         {0x80000000, 0x807fffff, 0x932d823f},
         0x7fffffff},
    };

    CHECK(vectors);
}

Test(scalar_video, vmad_negates_adds_one_and_scales)
{
    static const struct vector vectors[] = {
        {"vmad.u32.u32.u32 %r0, %r1, %r2, %r3", {3, 4, 5}, 17},
        {"vmad.s32.u32.u32 %r0, -%r1, %r2, %r3", {3, 4, 5}, (uint32_t)-7},
        {"vmad.s32.u32.u32 %r0, %r1, %r2, -%r3", {3, 4, 5}, 7},
        {"vmad.s32.s32.u32.sat %r0, %r1, %r2, -%r3", {0x80000000, 2, 1}, 0x80000000},
        {"vmad.u32.u32.u32.po %r0, %r1.h0, %r2.b1, %r3", {3, 0x0400, 5}, 18},
        {"vmad.u32.u32.u32.shr7 %r0, %r1, %r2, %r3", {0x80, 1, 0x80}, 2},
        {"vmad.s32.s32.s32.shr15 %r0, %r1, %r2, %r3", {0xffffffff, 1, 0}, 0xffffffff},
        {"vmad.u32.u32.u32.sat %r0, %r1, %r2, %r3", {0x10000, 0x10000, 0}, 0xffffffff},
    };

    CHECK(vectors);
}

Test(scalar_video, simd_elements_come_from_both_registers)
{
    static const struct vector vectors[] = {
        {"vadd2.s32.s32.s32 %r0, %r1, %r2, %r3", {0x00010002, 0x00030004, 0}, 0x00040006},
        {"vadd2.u32.u32.u32.sat %r0.h1, %r1, %r2, %r3",
         {0xffff0001, 0x00020001, 0x12345678},
         0xffff5678},
        {"vsub2.s32.s32.s32.sat %r0.h0, %r1.h10, %r2.h32, %r3",
         {0x00008000, 0x00000001, 0xaaaabbbb},
         0xaaaa8000},
        {"vmin2.s32.u32.u32.add %r0.h10, %r1.h00, %r2.h22, %r3", {5, 3, 100}, 106},
        {"vavrg2.s32.s32.s32 %r0, %r1, %r2, %r3", {0x0001fffe, 0x0002ffff, 0}, 0x0002fffe},
        {"vabsdiff2.u32.u32.u32.add %r0, %r1, %r2, %r3", {0x00010005, 0x00040003, 1}, 6},
        {"vadd4.u32.u32.u32 %r0, %r1, %r2, %r3", {0x01020304, 0x01010101, 0}, 0x02030405},
        {"vsub4.s32.s32.s32.sat %r0.b20, %r1.b3210, %r2.b7654, %r3",
         {0x01800380, 0x01010101, 0xeeeeeeee},
         0xee80ee80},
        {"vmax4.s32.u32.u32.add %r0.b0, %r1.b0000, %r2.b4444, %r3", {0x99, 0x77, 1}, 0x9a},
        {"vavrg4.u32.u32.u32 %r0, %r1, %r2, %r3", {0x00000103, 0x00000204, 0}, 0x00000204},
        {"vset2.s32.u32.lt %r0, %r1, %r2, %r3", {0x80008000, 0x00010001, 0}, 0x00010001},
        {"vset4.u32.u32.ne.add %r0, %r1, %r2, %r3", {0x01020304, 0x01000300, 40}, 42},
    };

    CHECK(vectors);
}
