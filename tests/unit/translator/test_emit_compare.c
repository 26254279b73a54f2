/* SPDX-License-Identifier: Apache-2.0
 *
 * emit_compare.c: every comparison with and without NaN, combined predicates, set, selp, slct.
 */
#include <criterion/criterion.h>

#include "eval_table.h"

#define ONE  0x3f800000u
#define TWO  0x40000000u
#define QNAN 0x7fc00000u
#define SUB  0x00400000u

Test(emit_compare, integers_compare_by_the_types_sign)
{
    static const struct eval_case cases[] = {
        {"setp.eq.s32 %p1, %r1, %r2;", 'p', 5, 5, 0, 1},
        {"setp.ne.s32 %p1, %r1, %r2;", 'p', 5, 5, 0, 0},
        {"setp.lt.s32 %p1, %r1, %r2;", 'p', 0xffffffff, 1, 0, 1},
        {"setp.lt.u32 %p1, %r1, %r2;", 'p', 0xffffffff, 1, 0, 0},
        {"setp.le.s32 %p1, %r1, 0;", 'p', 0, 0, 0, 1},
        {"setp.gt.s32 %p1, %r1, -1;", 'p', 0, 0, 0, 1},
        {"setp.gt.u32 %p1, %r1, %r2;", 'p', 0xffffffff, 1, 0, 1},
        {"setp.ge.u32 %p1, %r1, %r2;", 'p', 1, 1, 0, 1},
        {"setp.lo.u32 %p1, %r1, %r2;", 'p', 1, 0xffffffff, 0, 1},
        {"setp.ls.u32 %p1, %r1, %r2;", 'p', 1, 1, 0, 1},
        {"setp.hi.u32 %p1, %r1, %r2;", 'p', 1, 1, 0, 0},
        {"setp.hs.u32 %p1, %r1, %r2;", 'p', 1, 1, 0, 1},
        {"setp.eq.b32 %p1, %r1, %r2;", 'p', 1, 2, 0, 0},
        {"setp.ne.b64 %p1, %rd1, %rd2;", 'p', 1ull << 40, 0, 0, 1},
        {"setp.lt.s64 %p1, %rd1, %rd2;", 'p', UINT64_MAX, 0, 0, 1},
        {"setp.lt.u64 %p1, %rd1, %rd2;", 'p', UINT64_MAX, 0, 0, 0},
        {"setp.lt.s16 %p1, %h1, %h2;", 'p', 0xffff, 0, 0, 1},
        {"setp.gt.u16 %p1, %h1, 3;", 'p', 0xffff, 0, 0, 1},
        {"setp.eq.b16 %p1, %h1, %h2;", 'p', 7, 7, 0, 1},
    };
    CHECK_EVAL_TABLE(cases);
}

/* Each operator on 1 < 2, 2 > 1, 1 = 1, and with a NaN: bits 0 to 3 of the expected value. */
Test(emit_compare, floats_compare_ordered_and_unordered)
{
#define FOUR(op)                                                                                   \
    "setp." op ".f32 %p5, %f1, %f2; setp." op ".f32 %p6, %f2, %f1; setp." op                       \
    ".f32 %p7, %f1, %f1; setp." op ".f32 %p8, %f1, %f3; selp.b32 %r5, 1, 0, %p5;"                  \
    "selp.b32 %r6, 2, 0, %p6; selp.b32 %r7, 4, 0, %p7; selp.b32 %r8, 8, 0, %p8;"                   \
    "or.b32 %r5, %r5, %r6; or.b32 %r7, %r7, %r8; or.b32 %r4, %r5, %r7;"
    static const struct eval_case cases[] = {
        {FOUR("eq"), 'r', ONE, TWO, QNAN, 4},
        {FOUR("ne"), 'r', ONE, TWO, QNAN, 3},
        {FOUR("lt"), 'r', ONE, TWO, QNAN, 1},
        {FOUR("le"), 'r', ONE, TWO, QNAN, 5},
        {FOUR("gt"), 'r', ONE, TWO, QNAN, 2},
        {FOUR("ge"), 'r', ONE, TWO, QNAN, 6},
        {FOUR("equ"), 'r', ONE, TWO, QNAN, 12},
        {FOUR("neu"), 'r', ONE, TWO, QNAN, 11},
        {FOUR("ltu"), 'r', ONE, TWO, QNAN, 9},
        {FOUR("leu"), 'r', ONE, TWO, QNAN, 13},
        {FOUR("gtu"), 'r', ONE, TWO, QNAN, 10},
        {FOUR("geu"), 'r', ONE, TWO, QNAN, 14},
        {FOUR("num"), 'r', ONE, TWO, QNAN, 7},
        {FOUR("nan"), 'r', ONE, TWO, QNAN, 8},
        {"setp.gt.ftz.f32 %p1, %f1, %f2;", 'p', SUB, 0, 0, 0},
        {"setp.gt.f32 %p1, %f1, %f2;", 'p', SUB, 0, 0, 1},
        {"setp.eq.f32 %p1, %f1, %f2;", 'p', 0, 0x80000000, 0, 1},
        {"setp.lt.f64 %p1, %fd1, %fd2;", 'p', 0, 1, 0, 1},
        {"setp.gtu.f64 %p1, %fd1, %fd2;", 'p', 0, 0x7ff8000000000000u, 0, 1},
        {"setp.num.f64 %p1, %fd1, %fd2;", 'p', 0, 0x7ff8000000000000u, 0, 0},
        {"setp.lt.f16 %p1, %h1, %h2;", 'p', 0xbc00, 0x3c00, 0, 1},
        {"setp.lt.ftz.f16 %p1, %h1, %h2;", 'p', 0, 1, 0, 0},
        {"setp.ge.bf16 %p1, %h1, %h2;", 'p', 0x3f80, 0x3f80, 0, 1},
        {"setp.gt.f16x2 %p1|%p2, %r1, %r2;", 'q', 0x3c004000, 0x40003c00, 0, 1},
        {"setp.lt.bf16x2 %p1|%p2, %r1, %r2;", 'q', 0x3f804000, 0x40003f80, 0, 2},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_compare, predicates_combine_with_a_third)
{
    static const struct eval_case cases[] = {
        {"setp.lt.s32 %p1|%p2, %r1, %r2;", 'q', 1, 2, 0, 1},
        {"setp.lt.s32 %p1|%p2, %r1, %r2;", 'q', 2, 1, 0, 2},
        {"setp.lt.and.s32 %p1|%p2, %r1, %r2, %p3;", 'q', 1, 2, 0, 1},
        {"setp.lt.and.s32 %p1|%p2, %r1, %r2, %p4;", 'q', 1, 2, 0, 0},
        {"setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p4;", 'q', 2, 1, 0, 2},
        {"setp.lt.or.s32 %p1|%p2, %r1, %r2, %p3;", 'q', 2, 1, 0, 3},
        {"setp.lt.xor.s32 %p1|%p2, %r1, %r2, %p3;", 'q', 2, 1, 0, 1},
        {"setp.eq.or.f32 %p1, %f1, %f2, %p4;", 'p', ONE, ONE, 0, 1},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_compare, set_gives_all_ones_or_one)
{
    static const struct eval_case cases[] = {
        {"set.lt.u32.s32 %r4, %r1, %r2;", 'r', 1, 2, 0, 0xffffffff},
        {"set.lt.f32.s32 %f4, %r1, %r2;", 'f', 1, 2, 0, ONE},
        {"set.eq.f32.f32 %f4, %f1, %f2;", 'f', ONE, ONE, 0, ONE},
        {"set.nan.u32.f32 %r4, %f1, %f2;", 'r', ONE, QNAN, 0, 0xffffffff},
        {"set.gt.and.s32.u32 %r4, %r1, %r2, %p4;", 'r', 2, 1, 0, 0},
        {"set.eq.ftz.u32.f32 %r4, %f1, %f2;", 'r', SUB, 0, 0, 0xffffffff},
        {"set.eq.f16.f16 %h4, %h1, %h2;", 'h', 0x3c00, 0x3c00, 0, 0x3c00},
        {"set.lt.u16.f16 %h4, %h1, %h2;", 'h', 0x3c00, 0x4000, 0, 0xffff},
        {"set.ge.f16x2.f16x2 %r4, %r1, %r2;", 'r', 0x3c004000, 0x40003c00, 0, 0x00003c00},
        {"set.lt.u32.f16x2 %r4, %r1, %r2;", 'r', 0x3c004000, 0x40003c00, 0, 0xffff0000},
        {"set.ne.bf16x2.bf16x2 %r4, %r1, %r2;", 'r', 0x3f803f80, 0x3f804000, 0, 0x00003f80},
        {"set.gt.bf16.bf16 %h4, %h1, %h2;", 'h', 0x4000, 0x3f80, 0, 0x3f80},
        {"set.ge.u32.f64 %r4, %fd1, %fd2;", 'r', 0, 0, 0, 0xffffffff},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_compare, selections_pick_by_predicate_or_sign)
{
    static const struct eval_case cases[] = {
        {"selp.b32 %r4, %r1, %r2, %p3;", 'r', 1, 2, 0, 1},
        {"selp.s32 %r4, %r1, %r2, %p4;", 'r', 1, 2, 0, 2},
        {"selp.u16 %h4, %h1, %h2, !%p4;", 'h', 1, 2, 0, 1},
        {"selp.f32 %f4, %f1, %f2, %p4;", 'f', ONE, TWO, 0, TWO},
        {"selp.f32 %f4, 0f3F800000, 0f00000000, %p3;", 'f', 0, 0, 0, ONE},
        {"selp.f64 %fd4, %fd1, %fd2, %p3;", 'F', 7, 8, 0, 7},
        {"selp.b64 %rd4, %rd1, -1, %p4;", 'd', 7, 8, 0, UINT64_MAX},
        {"slct.s32.s32 %r4, %r1, %r2, %r3;", 'r', 1, 2, 0, 1},
        {"slct.u32.s32 %r4, %r1, %r2, %r3;", 'r', 1, 2, 0xffffffff, 2},
        {"slct.f32.f32 %f4, %f1, %f2, %f3;", 'f', ONE, TWO, 0x80000000, ONE},
        {"slct.b64.f32 %rd4, %rd1, %rd2, %f3;", 'd', 1, 2, QNAN, 2},
        {"slct.b32.f32 %r4, %r1, %r2, %f3;", 'r', 1, 2, 0x80400000, 2},
        {"slct.ftz.b32.f32 %r4, %r1, %r2, %f3;", 'r', 1, 2, 0x80400000, 1},
    };
    CHECK_EVAL_TABLE(cases);
}
