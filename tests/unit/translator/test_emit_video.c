/* SPDX-License-Identifier: Apache-2.0
 *
 * emit_video.c: selectors, saturation, second operations, merges and masks, with values worked out
 * from PTX ISA "Scalar Video Instructions" and "SIMD Video Instructions"; "device": the value is
 * what devices give, and not what the manual says (translator/rt/README.md).
 */
#include <criterion/criterion.h>

#include "eval_table.h"

#define A 0x80ff7f01u /* bytes 01 7f ff 80, halves 7f01 80ff */
#define B 0x10fe0203u
#define C 0x12345678u

Test(emit_video, scalar_sources_are_selected_and_extended)
{
    static const struct eval_case cases[] = {
        {"vadd.u32.u32.u32 %r4, %r1, %r2;", 'r', A, B, 0, A + B},
        {"vadd.s32.s32.u32 %r4, %r1.b2, %r2.b2;", 'r', A, B, 0, 0xfd}, /* -1 + 254 */
        {"vadd.s32.u32.u32 %r4, %r1.b2, %r2.b2;", 'r', A, B, 0, 0x1fd},
        {"vsub.s32.s32.s32 %r4, %r1.h1, %r2.b0;", 'r', A, B, 0, 0xffff80fc},
        {"vabsdiff.u32.s32.s32 %r4, %r1.b3, %r2.b1;", 'r', A, B, 0, 130},
        {"vabsdiff.u32.u32.u32 %r4, %r2, %r1;", 'r', A, B, 0, A - B},
        {"vmin.s32.s32.s32 %r4, %r1.b2, %r2.b0;", 'r', A, B, 0, 0xffffffff},
        {"vmin.s32.u32.u32 %r4, %r1.b2, %r2.b0;", 'r', A, B, 0, 3},
        {"vmax.u32.s32.u32 %r4, %r1.h1, %r2.h1;", 'r', A, B, 0, 0x10fe},
        {"vmax.s32.s32.s32 %r4, %r1, 5;", 'r', A, B, 0, 5},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_video, scalar_results_saturate_to_type_and_part)
{
    static const struct eval_case cases[] = {
        {"vadd.u32.u32.u32.sat %r4, %r1, %r1;", 'r', A, B, 0, A + A}, /* device */
        {"vadd.s32.s32.s32.sat %r4, %r1, %r1;", 'r', A, B, 0, 0x80000000},
        {"vsub.u32.u32.u32.sat %r4, %r2, %r1;", 'r', A, B, 0, 0},
        {"vadd.u32.u32.u32.sat %r4.b1, %r1.b2, %r2.b2, %r3;", 'r', A, B, C, 0x1234ff78},
        {"vadd.s32.u32.u32.sat %r4.b3, %r1.b2, %r2.b2, %r3;", 'r', A, B, C, 0x7f345678},
        {"vsub.u32.s32.s32.sat %r4.h0, %r1.b3, %r2.b0, %r3;", 'r', A, B, C,
         0x1234ffff}, /* device */
        {"vsub.s32.s32.s32.sat %r4.b0, %r1.h1, %r2.b0, %r3;", 'r', A, B, C,
         0x1234567f},                                                                /* device */
        {"vadd.u32.u32.u32 %r4.h1, %r1.h1, %r2.h1, %r3;", 'r', A, B, C, 0x00005678}, /* device */
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_video, scalar_second_operations)
{
    static const struct eval_case cases[] = {
        {"vadd.u32.u32.u32.add %r4, %r1.b0, %r2.b0, %r3;", 'r', A, B, C, C + 4},
        {"vsub.s32.u32.u32.min %r4, %r1.b0, %r2.b0, %r3;", 'r', A, B, C, 0xfffffffe},
        {"vsub.u32.u32.u32.min %r4, %r1.b0, %r2.b0, %r3;", 'r', A, B, C, C},
        {"vsub.u32.u32.u32.sat.min %r4, %r1.b0, %r2.b0, %r3;", 'r', A, B, C, 0},
        {"vmax.s32.s32.s32.max %r4, %r1, %r2, %r3;", 'r', A, B, C, C},
        {"vabsdiff.u32.u32.u32.add %r4, %r1.b1, %r2.b1, %r3;", 'r', A, B, 1, 126},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_video, shifts)
{
    static const struct eval_case cases[] = {
        {"vshl.u32.u32.u32.wrap %r4, %r1.b0, %r2.b0;", 'r', A, B, 0, 8},
        {"vshl.u32.u32.u32.wrap %r4, %r1.b0, %r2.b2;", 'r', A, B, 0, 0x40000000}, /* 254 & 31 */
        {"vshl.u32.u32.u32.clamp %r4, %r1.b0, %r2.b2;", 'r', A, B, 0, 0},
        {"vshl.u32.u32.u32.sat.clamp %r4, %r1.b0, %r2.b2;", 'r', A, B, 0, 0xffffffff},
        {"vshl.u32.u32.u32.sat.clamp %r4, %r1.b1, %r2.b2;", 'r', A, B, 0, 0}, /* device */
        /* devices compare what .sat leaves as a sign-extended word */
        {"vshr.u32.u32.u32.sat.wrap.min %r4, %r1, %r2.b3, %r3;", 'r', A, 0, 0xffffffff, 0xffffffff},
        {"vshr.u32.u32.u32.wrap.min %r4, %r1, %r2.b3, %r3;", 'r', A, 0, 0xffffffff, A},
        {"vshr.s32.s32.u32.clamp %r4, %r1, %r2.b0;", 'r', A, B, 0, 0xf01fefe0},
        {"vshr.u32.u32.u32.clamp %r4, %r1, %r2.b0;", 'r', A, B, 0, 0x101fefe0},
        {"vshr.u32.u32.u32.clamp %r4, %r1, %r2.b2;", 'r', A, B, 0, 0},
        {"vshr.s32.s32.u32.clamp.add %r4, %r1, %r2.b2, %r3;", 'r', A, B, 9, 8},
        {"vshr.u32.u32.u32.wrap %r4.h0, %r1, %r2.b0, %r3;", 'r', A, B, C, 0x1234efe0},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_video, comparisons_give_one)
{
    static const struct eval_case cases[] = {
        {"vset.s32.u32.lt %r4, %r1.b2, %r2.b0;", 'r', A, B, 0, 1},
        {"vset.u32.u32.lt %r4, %r1.b2, %r2.b0;", 'r', A, B, 0, 0},
        {"vset.u32.u32.eq %r4, %r1, %r1;", 'r', A, B, 0, 1},
        {"vset.u32.u32.ne.add %r4, %r1, %r2, %r3;", 'r', A, B, C, C + 1},
        {"vset.u32.u32.ge.max %r4, %r1, %r2, %r3;", 'r', A, B, C, C},
        {"vset.s32.s32.le %r4.b2, %r1, %r2, %r3;", 'r', A, B, C, 0x12015678},
        {"vset.s32.s32.gt.min %r4, %r1, %r2, %r3;", 'r', A, B, C, 0},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_video, multiply_and_add)
{
    static const struct eval_case cases[] = {
        {"vmad.u32.u32.u32 %r4, %r1.b1, %r2.b0, %r3;", 'r', A, B, 7, 127 * 3 + 7},
        {"vmad.s32.s32.u32 %r4, %r1.b2, %r2.b0, %r3;", 'r', A, B, 7, 4},
        {"vmad.s32.u32.u32 %r4, -%r1.b1, %r2.b0, %r3;", 'r', A, B, 7, (uint32_t)-374},
        {"vmad.s32.u32.u32 %r4, -%r1.b1, -%r2.b0, %r3;", 'r', A, B, 7, 388},
        {"vmad.s32.u32.u32 %r4, %r1.b1, %r2.b0, -%r3;", 'r', A, B, 7, 374},
        {"vmad.u32.u32.u32.po %r4, %r1.b1, %r2.b0, %r3;", 'r', A, B, 7, 389},
        {"vmad.u32.u32.u32.shr7 %r4, %r1.h0, %r2.h1, %r3;", 'r', A, B, 0, 0x7f01u * 0x10feu >> 7},
        {"vmad.s32.s32.s32.shr15 %r4, %r1.h1, %r2.h1, %r3;", 'r', A, B, 0,
         (uint32_t)(-0x7f01 * 0x10fe >> 15)},
        {"vmad.s32.s32.s32.sat %r4, %r1, %r2, %r3;", 'r', A, B, 0, 0x80000000},
        {"vmad.u32.u32.u32.sat %r4, %r1, %r2, %r3;", 'r', A, B, 0, 0}, /* device */
        {"vmad.u32.u32.u32.sat %r4, %r2, %r2, %r3;", 'r', A, B, 0, 0xffffffff},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_video, two_and_four_results_at_once)
{
    static const struct eval_case cases[] = {
        {"vadd2.u32.u32.u32 %r4, %r1, %r2, %r3;", 'r', A, B, C, 0x91fd8104},
        {"vadd2.u32.u32.u32.sat %r4, %r1, %r1, %r3;", 'r', A, B, C, 0xfffffe02},
        {"vsub2.s32.s32.s32.sat %r4.h1, %r1, %r2, %r3;", 'r', A, B, C, 0x80005678},
        {"vadd2.u32.u32.u32 %r4, %r1.h01, %r2.h33, %r3;", 'r', A, B, C, 0x8fff91fd},
        {"vavrg2.s32.s32.s32 %r4, %r1, %r2, %r3;", 'r', A, B, C, 0xc8fe4082},
        {"vabsdiff2.u32.s32.s32.add %r4, %r1, %r2, %r3;", 'r', A, B, 1, 1 + 0x7cfe + 0x8fff},
        {"vmin2.s32.s32.s32 %r4.h0, %r1, %r2, %r3;", 'r', A, B, C, 0x12340203},
        {"vmax2.u32.u32.u32 %r4, %r1, %r2, %r3;", 'r', A, B, C, 0x80ff7f01},
        {"vset2.s32.s32.lt %r4, %r1, %r2, %r3;", 'r', A, B, C, 0x00010000},
        {"vset2.u32.u32.gt.add %r4, %r1, %r2, %r3;", 'r', A, B, C, C + 2},
        {"vadd4.u32.u32.u32 %r4, %r1, %r2, %r3;", 'r', A, B, C, 0x90fd8104},
        {"vadd4.u32.u32.u32.sat %r4, %r1, %r2, %r3;", 'r', A, B, C, 0x90ff8104},
        {"vadd4.s32.s32.s32.sat %r4, %r1, %r2, %r3;", 'r', A, B, C, 0x90fd7f04},
        {"vsub4.u32.u32.u32.sat %r4.b20, %r1, %r2, %r3;", 'r', A, B, C, 0x12015600},
        {"vavrg4.u32.u32.u32 %r4, %r1, %r2, %r3;", 'r', A, B, C, 0x48ff4102},
        {"vabsdiff4.u32.u32.u32.add %r4, %r1, %r2, %r3;", 'r', A, B, 0, 2 + 125 + 1 + 112},
        {"vabsdiff4.u32.u32.u32.add %r4.b30, %r1, %r2, %r3;", 'r', A, B, 0, 2 + 112},
        {"vmin4.s32.s32.s32 %r4, %r1, %r2, %r3;", 'r', A, B, C, 0x80fe0201},
        {"vmax4.u32.u32.u32 %r4, %r1.b0123, %r2.b7777, %r3;", 'r', A, B, C, 0x107fff80},
        {"vset4.u32.u32.ge %r4, %r1, %r2, %r3;", 'r', A, B, C, 0x01010100},
        {"vset4.s32.s32.eq.add %r4, %r1, %r1, %r3;", 'r', A, B, C, C + 4},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_video, results_make_no_branches)
{
    static const char *const instructions[] = {
        "vadd.s32.u32.s32.sat.max %r4, %r1.b1, %r2.h1, %r3;",
        "vabsdiff.u32.s32.s32.sat %r4.b2, %r1, %r2, %r3;",
        "vshl.s32.s32.u32.sat.clamp %r4, %r1, %r2;",
        "vmad.s32.s32.u32.sat.shr7 %r4, %r1, %r2, -%r3;",
        "vset.s32.u32.le.min %r4, %r1, %r2, %r3;",
        "vavrg4.s32.s32.s32.sat %r4.b310, %r1.b0246, %r2, %r3;",
        "vset2.u32.s32.gt.add %r4, %r1, %r2, %r3;",
    };
    CHECK_STRAIGHT_LINE(instructions);
}
