/* SPDX-License-Identifier: Apache-2.0
 *
 * emit_integer.c: every instruction and modifier, at the values where they differ from C.
 */
#include <criterion/criterion.h>

#include "eval_table.h"

#define MIN32 0x80000000u
#define MIN64 0x8000000000000000u

Test(emit_integer, addition_and_subtraction_wrap_or_saturate)
{
    static const struct eval_case cases[] = {
        {"add.s32 %r4, %r1, %r2;", 'r', 0x7fffffff, 1, 0, MIN32},
        {"add.u16x2 %r4, %r1, %r2;", 'r', 0xffff0001, 0x0001ffff, 0, 0},
        {"add.s16x2 %r4, %r1, %r2;", 'r', 0x7fff8000, 0x0001ffff, 0, 0x80007fff},
        {"add.u32 %r4, %r1, -1;", 'r', 5, 0, 0, 4},
        {"add.s64 %rd4, %rd1, %rd2;", 'd', UINT64_MAX, 2, 0, 1},
        {"add.u64 %rd4, %rd1, 8;", 'd', 1, 0, 0, 9},
        {"add.s16 %h4, %h1, %h2;", 'h', 0xffff, 2, 0, 1},
        {"add.u16 %h4, %h1, %h2;", 'h', 0x8000, 0x8000, 0, 0},
        {"add.sat.s32 %r4, %r1, %r2;", 'r', 0x7fffffff, 1, 0, 0x7fffffff},
        {"add.sat.s32 %r4, %r1, %r2;", 'r', MIN32, 0xffffffff, 0, MIN32},
        {"add.sat.s32 %r4, %r1, %r2;", 'r', 3, 0xfffffffe, 0, 1},
        {"sub.s32 %r4, %r1, %r2;", 'r', MIN32, 1, 0, 0x7fffffff},
        {"sub.u32 %r4, %r1, %r2;", 'r', 0, 1, 0, 0xffffffff},
        {"sub.s64 %rd4, %rd1, %rd2;", 'd', 0, 1, 0, UINT64_MAX},
        {"sub.s16 %h4, %h1, %h2;", 'h', 0, 1, 0, 0xffff},
        {"sub.sat.s32 %r4, %r1, %r2;", 'r', MIN32, 1, 0, MIN32},
        {"sub.sat.s32 %r4, %r1, %r2;", 'r', 0x7fffffff, 0xffffffff, 0, 0x7fffffff},
        {"neg.s32 %r4, %r1;", 'r', MIN32, 0, 0, MIN32},
        {"neg.s64 %rd4, %rd1;", 'd', 1, 0, 0, UINT64_MAX},
        {"neg.s16 %h4, %h1;", 'h', 1, 0, 0, 0xffff},
        {"abs.s32 %r4, %r1;", 'r', MIN32, 0, 0, MIN32},
        {"abs.s32 %r4, %r1;", 'r', 0xfffffffb, 0, 0, 5},
        {"abs.s64 %rd4, %rd1;", 'd', (uint64_t)-7, 0, 0, 7},
        {"abs.s16 %h4, %h1;", 'h', 0xfffd, 0, 0, 3},
        {"sad.s32 %r4, %r1, %r2, %r3;", 'r', 0xffffffff, 2, 10, 13},
        {"sad.u32 %r4, %r1, %r2, %r3;", 'r', 0xffffffff, 2, 10, 7},
        {"sad.u16 %h4, %h1, %h2, %h3;", 'h', 3, 10, 1, 8},
        {"sad.s64 %rd4, %rd1, %rd2, %rd3;", 'd', UINT64_MAX, 1, 1, 3},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_integer, carries_run_through_chains)
{
    static const struct eval_case cases[] = {
        {"add.cc.u32 %r5, %r1, %r2; addc.u32 %r4, 0, 0;", 'r', 0xffffffff, 1, 0, 1},
        {"add.cc.u32 %r5, %r1, %r2; addc.u32 %r4, 0, 0;", 'r', 0xfffffffe, 1, 0, 0},
        {"add.cc.s32 %r5, %r1, %r2; addc.cc.s32 %r6, %r3, 0; addc.s32 %r4, 0, 0;", 'r', 0xffffffff,
         1, 0xffffffff, 1},
        {"add.cc.u32 %r5, %r1, %r2; addc.cc.u32 %r6, %r3, -1; addc.u32 %r4, 0, 0;", 'r', 0xffffffff,
         1, 0xffffffff, 1},
        {"add.cc.u64 %rd5, %rd1, %rd2; addc.u64 %rd4, %rd3, 0;", 'd', UINT64_MAX, UINT64_MAX, 5, 6},
        {"sub.cc.u32 %r5, %r1, %r2; subc.u32 %r4, %r3, 0;", 'r', 0, 1, 7, 6},
        {"sub.cc.u32 %r5, %r1, %r2; subc.u32 %r4, %r3, 0;", 'r', 1, 1, 7, 7},
        {"sub.cc.u32 %r5, %r1, %r2; subc.cc.u32 %r6, %r3, 0; subc.u32 %r4, 0, 0;", 'r', 0, 1, 0,
         0xffffffff},
        {"sub.cc.u64 %rd5, %rd1, %rd2; subc.u64 %rd4, %rd3, 0;", 'd', 0, UINT64_MAX, 9, 8},
        {"sub.cc.u32 %r5, %r1, %r2; addc.u32 %r4, 0, 0;", 'r', 1, 1, 0, 1}, /* device: no borrow */
        {"sub.cc.u32 %r5, %r1, %r2; addc.u32 %r4, 0, 0;", 'r', 0, 1, 0, 0},
        {"add.cc.u32 %r5, %r1, %r2; subc.u32 %r4, %r3, 0;", 'r', 1, 1, 7, 6},
        {"mad.lo.cc.u32 %r5, %r1, %r2, %r3; addc.u32 %r4, 0, 0;", 'r', 0xffffffff, 1, 1, 1},
        {"mad.lo.cc.u32 %r5, %r1, %r2, %r3; madc.hi.u32 %r4, %r1, %r2, 0;", 'r', 0xffffffff,
         0xffffffff, 0xffffffff, 0xffffffff},
        {"mad.hi.cc.u32 %r5, %r1, %r2, %r3; addc.u32 %r4, 0, 0;", 'r', 0xffffffff, 0xffffffff, 2,
         1},
        {"add.cc.u32 %r5, %r3, 1; madc.lo.cc.u32 %r4, %r1, %r2, 0;", 'r', 3, 5, 0xffffffff, 16},
        {"add.cc.u32 %r5, %r3, 1; madc.hi.cc.u32 %r6, %r1, %r2, -1; addc.u32 %r4, 0, 0;", 'r', 3, 5,
         0xffffffff, 1},
        {"add.cc.u64 %rd5, %rd3, 1; madc.lo.u64 %rd4, %rd1, %rd2, 0;", 'd', 3, 5, UINT64_MAX, 16},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_integer, products_give_the_half_asked_for)
{
    static const struct eval_case cases[] = {
        {"mul.lo.s32 %r4, %r1, %r2;", 'r', 0x10001, 0x10001, 0, 0x20001},
        {"mul.lo.u32 %r4, %r1, 3;", 'r', 0xffffffff, 0, 0, 0xfffffffd},
        {"mul.lo.s64 %rd4, %rd1, %rd2;", 'd', UINT64_MAX, 3, 0, (uint64_t)-3},
        {"mul.lo.s16 %h4, %h1, %h2;", 'h', 0x101, 0x101, 0, 0x201},
        {"mul.hi.s32 %r4, %r1, %r2;", 'r', 0xffffffff, 5, 0, 0xffffffff},
        {"mul.hi.u32 %r4, %r1, %r2;", 'r', 0xffffffff, 5, 0, 4},
        {"mul.hi.u64 %rd4, %rd1, %rd2;", 'd', UINT64_MAX, UINT64_MAX, 0, UINT64_MAX - 1},
        {"mul.hi.s64 %rd4, %rd1, %rd2;", 'd', UINT64_MAX, 2, 0, UINT64_MAX},
        {"mul.hi.s16 %h4, %h1, %h2;", 'h', 0x8000, 0x8000, 0, 0x4000},
        {"mul.hi.u16 %h4, %h1, %h2;", 'h', 0xffff, 0xffff, 0, 0xfffe},
        {"mul.wide.s32 %rd4, %r1, %r2;", 'd', 0xffffffff, 4, 0, (uint64_t)-4},
        {"mul.wide.u32 %rd4, %r1, %r2;", 'd', 0xffffffff, 0xffffffff, 0, 0xfffffffe00000001u},
        {"mul.wide.s32 %rd4, %r1, -8;", 'd', 2, 0, 0, (uint64_t)-16},
        {"mul.wide.u16 %r4, %h1, %h2;", 'r', 0xffff, 0xffff, 0, 0xfffe0001u},
        {"mul.wide.s16 %r4, %h1, %h2;", 'r', 0xffff, 2, 0, 0xfffffffe},
        {"mad.lo.s32 %r4, %r1, %r2, %r3;", 'r', 3, 5, 0xffffffff, 14},
        {"mad.lo.s64 %rd4, %rd1, %rd2, %rd3;", 'd', 3, 5, 1, 16},
        {"mad.lo.u16 %h4, %h1, %h2, %h3;", 'h', 0x100, 0x100, 7, 7},
        {"mad.hi.u32 %r4, %r1, %r2, %r3;", 'r', MIN32, 6, 1, 4},
        {"mad.wide.u32 %rd4, %r1, %r2, %rd3;", 'd', 0xffffffff, 2, 0x100000000u, 0x2fffffffeu},
        {"mad.wide.s32 %rd4, %r1, %r2, %rd3;", 'd', 0xffffffff, 2, 1, UINT64_MAX},
        {"mad.wide.s16 %r4, %h1, %h2, %r3;", 'r', 0xffff, 2, 1, 0xffffffff},
        {"mad.hi.sat.s32 %r4, %r1, %r2, %r3;", 'r', 0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff},
        {"mad.hi.sat.s32 %r4, %r1, %r2, %r3;", 'r', 0x7fffffff, MIN32, MIN32, MIN32},
        {"mul24.lo.s32 %r4, %r1, %r2;", 'r', 0x00ffffff, 3, 0, 0xfffffffd},
        {"mul24.lo.u32 %r4, %r1, %r2;", 'r', 0xffffffff, 0x1000001, 0, 0xffffff},
        {"mul24.hi.u32 %r4, %r1, %r2;", 'r', 0xffffff, 0xffffff, 0, 0xfffffe00},
        {"mul24.hi.s32 %r4, %r1, %r2;", 'r', 0xffffff, 1, 0, 0xffffffff},
        {"mad24.lo.s32 %r4, %r1, %r2, %r3;", 'r', 0xffffff, 3, 10, 7},
        {"mad24.hi.sat.s32 %r4, %r1, %r2, %r3;", 'r', 0x7fffff, 0x7fffff, 0x7fffffff, 0x7fffffff},
        {"dp4a.u32.u32 %r4, %r1, %r2, %r3;", 'r', 0xff010101, 0x01020304, 1, 265},
        {"dp4a.s32.u32 %r4, %r1, %r2, %r3;", 'r', 0xff010101, 0x01020304, 1, 9},
        {"dp2a.lo.s32.u32 %r4, %r1, %r2, %r3;", 'r', 0xffff0002, 0x04030201, 10, 10},
        {"dp2a.hi.u32.u32 %r4, %r1, %r2, %r3;", 'r', 0x00010002, 0x04030201, 10, 20},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_integer, division_never_traps)
{
    static const struct eval_case cases[] = {
        {"div.s32 %r4, %r1, %r2;", 'r', 0xfffffff9, 2, 0, 0xfffffffd},
        {"div.s32 %r4, %r1, %r2;", 'r', MIN32, 0xffffffff, 0, MIN32},
        {"div.s32 %r4, %r1, %r2;", 'r', 1, 0, 0, 0xffffffff},
        {"div.u32 %r4, %r1, %r2;", 'r', 0xfffffff9, 2, 0, 0x7ffffffc},
        {"div.u32 %r4, %r1, %r2;", 'r', 1, 0, 0, 0xffffffff},
        {"div.s64 %rd4, %rd1, %rd2;", 'd', MIN64, UINT64_MAX, 0, MIN64},
        {"div.u64 %rd4, %rd1, %rd2;", 'd', UINT64_MAX, 10, 0, UINT64_MAX / 10},
        {"div.u16 %h4, %h1, %h2;", 'h', 0xffff, 0x10, 0, 0xfff},
        {"div.s16 %h4, %h1, %h2;", 'h', 0x8000, 0xffff, 0, 0x8000},
        {"div.s16 %h4, %h1, %h2;", 'h', 0xfff9, 2, 0, 0xfffd},
        {"rem.s32 %r4, %r1, %r2;", 'r', 0xfffffff9, 2, 0, 0xffffffff},
        {"rem.s32 %r4, %r1, %r2;", 'r', MIN32, 0xffffffff, 0, 0},
        {"rem.u32 %r4, %r1, %r2;", 'r', 0xfffffff9, 10, 0, 9},
        {"rem.u64 %rd4, %rd1, %rd2;", 'd', 100, 7, 0, 2},
        {"rem.s64 %rd4, %rd1, %rd2;", 'd', MIN64, UINT64_MAX, 0, 0},
        {"rem.u64 %rd4, %rd1, %rd2;", 'd', 100, 0, 0, UINT64_MAX},
        {"rem.u16 %h4, %h1, %h2;", 'h', 100, 7, 0, 2},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_integer, minimum_and_maximum_respect_the_sign)
{
    static const struct eval_case cases[] = {
        {"min.s32 %r4, %r1, %r2;", 'r', 0xffffffff, 1, 0, 0xffffffff},
        {"min.u32 %r4, %r1, %r2;", 'r', 0xffffffff, 1, 0, 1},
        {"max.s32 %r4, %r1, %r2;", 'r', 0xffffffff, 1, 0, 1},
        {"max.u32 %r4, %r1, %r2;", 'r', 0xffffffff, 1, 0, 0xffffffff},
        {"min.s64 %rd4, %rd1, %rd2;", 'd', UINT64_MAX, 1, 0, UINT64_MAX},
        {"max.u64 %rd4, %rd1, %rd2;", 'd', UINT64_MAX, 1, 0, UINT64_MAX},
        {"min.u16 %h4, %h1, %h2;", 'h', 0xffff, 1, 0, 1},
        {"max.s16 %h4, %h1, %h2;", 'h', 0xffff, 1, 0, 1},
        {"max.s32 %r4, %r1, 0;", 'r', MIN32, 0, 0, 0},
        {"min.relu.s32 %r4, %r1, %r2;", 'r', 0xffffffff, 1, 0, 0},
        {"max.relu.s32 %r4, %r1, %r2;", 'r', 4, 1, 0, 4},
        {"min.u16x2 %r4, %r1, %r2;", 'r', 0x0001ffff, 0xffff0001, 0, 0x00010001},
        {"max.s16x2 %r4, %r1, %r2;", 'r', 0x0001ffff, 0xffff0001, 0, 0x00010001},
        {"max.relu.s16x2 %r4, %r1, %r2;", 'r', 0x8000ffff, 0xfffff000, 0, 0},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_integer, bit_instructions_follow_the_manual)
{
    static const struct eval_case cases[] = {
        {"popc.b32 %r4, %r1;", 'r', 0xf0f0f0f1, 0, 0, 17},
        {"popc.b64 %r4, %rd1;", 'r', UINT64_MAX, 0, 0, 64},
        {"clz.b32 %r4, %r1;", 'r', 0, 0, 0, 32},
        {"clz.b32 %r4, %r1;", 'r', 1, 0, 0, 31},
        {"clz.b64 %r4, %rd1;", 'r', 0, 0, 0, 64},
        {"clz.b64 %r4, %rd1;", 'r', 0x100000000u, 0, 0, 31},
        {"brev.b32 %r4, %r1;", 'r', 1, 0, 0, MIN32},
        {"brev.b64 %rd4, %rd1;", 'd', 1, 0, 0, MIN64},
        {"bfind.u32 %r4, %r1;", 'r', 0, 0, 0, 0xffffffff},
        {"bfind.u32 %r4, %r1;", 'r', 0x1000, 0, 0, 12},
        {"bfind.s32 %r4, %r1;", 'r', 0xfffff000, 0, 0, 11},
        {"bfind.shiftamt.u32 %r4, %r1;", 'r', 0x1000, 0, 0, 19},
        {"bfind.u64 %r4, %rd1;", 'r', 0x1000000000u, 0, 0, 36},
        {"bfind.s64 %r4, %rd1;", 'r', UINT64_MAX, 0, 0, 0xffffffff},
        {"bfe.u32 %r4, %r1, %r2, %r3;", 'r', 0xabcdef12, 8, 8, 0xef},
        {"bfe.s32 %r4, %r1, %r2, %r3;", 'r', 0xabcdef12, 8, 8, 0xffffffef},
        {"bfe.u32 %r4, %r1, %r2, %r3;", 'r', 0xffffffff, 40, 8, 0},
        {"bfe.s32 %r4, %r1, %r2, %r3;", 'r', MIN32, 255, 255, 0xffffffff},
        {"bfe.u64 %rd4, %rd1, %r2, %r3;", 'd', 0x123456789abcdef0u, 32, 64, 0x12345678},
        {"bfe.s64 %rd4, %rd1, %r2, %r3;", 'd', 0xf23456789abcdef0u, 60, 4, UINT64_MAX},
        {"bfi.b32 %r4, %r1, %r2, %r3, 8;", 'r', 0xff, 0, 4, 0xff0},
        {"bfi.b32 %r4, %r1, %r2, %r3, 8;", 'r', 0xff, 0x11111111, 40, 0x11111111},
        {"bfi.b32 %r4, %r1, %r2, 0, %r3;", 'r', 0x12345678, 0xffffffff, 200, 0x12345678},
        {"bfi.b64 %rd4, %rd1, %rd2, %r3, 32;", 'd', 0xffffffffff, 1, 32, 0xffffffff00000001u},
        {"fns.b32 %r4, %r1, %r2, %r3;", 'r', 0xaaaaaaaa, 2, (uint32_t)-1, 1},
        {"bmsk.clamp.b32 %r4, %r1, %r2;", 'r', 4, 8, 0, 0xff0},
        {"bmsk.clamp.b32 %r4, %r1, %r2;", 'r', 32, 8, 0, 0},
        {"bmsk.wrap.b32 %r4, %r1, %r2;", 'r', 33, 2, 0, 6},
        {"szext.clamp.s32 %r4, %r1, %r2;", 'r', 0x80, 8, 0, 0xffffff80},
        {"szext.wrap.u32 %r4, %r1, %r2;", 'r', 0x1ff, 40, 0, 0xff},
    };
    CHECK_EVAL_TABLE(cases);
}
