/* SPDX-License-Identifier: Apache-2.0
 *
 * emit_logic.c: logic on bits and predicates, shifts beyond the width, look-up tables, permutation.
 */
#include <stdio.h>

#include <criterion/criterion.h>

#include "eval_table.h"

Test(emit_logic, bits_and_predicates_combine)
{
    static const struct eval_case cases[] = {
        {"and.b32 %r4, %r1, %r2;", 'r', 0xff00ff00, 0x0ff00ff0, 0, 0x0f000f00},
        {"or.b32 %r4, %r1, 1;", 'r', 0xff00ff00, 0, 0, 0xff00ff01},
        {"xor.b32 %r4, %r1, %r2;", 'r', 0xff00ff00, 0xffffffff, 0, 0x00ff00ff},
        {"not.b32 %r4, %r1;", 'r', 0, 0, 0, 0xffffffff},
        {"and.b64 %rd4, %rd1, %rd2;", 'd', UINT64_MAX, 1ull << 40, 0, 1ull << 40},
        {"or.b64 %rd4, %rd1, %rd2;", 'd', 1, 1ull << 40, 0, 1ull << 40 | 1},
        {"xor.b64 %rd4, %rd1, -1;", 'd', 1, 0, 0, UINT64_MAX - 1},
        {"not.b64 %rd4, %rd1;", 'd', 1, 0, 0, UINT64_MAX - 1},
        {"and.b16 %h4, %h1, %h2;", 'h', 0xffff, 0xf0, 0, 0xf0},
        {"or.b16 %h4, %h1, %h2;", 'h', 0xf00, 0xf0, 0, 0xff0},
        {"xor.b16 %h4, %h1, %h2;", 'h', 0xffff, 0xf0, 0, 0xff0f},
        {"not.b16 %h4, %h1;", 'h', 0xffff, 0, 0, 0},
        {"and.pred %p1, %p3, %p4;", 'p', 0, 0, 0, 0},
        {"or.pred %p1, %p3, %p4;", 'p', 0, 0, 0, 1},
        {"xor.pred %p1, %p3, %p3;", 'p', 0, 0, 0, 0},
        {"not.pred %p1, %p4;", 'p', 0, 0, 0, 1},
        {"cnot.b32 %r4, %r1;", 'r', 0, 0, 0, 1},
        {"cnot.b32 %r4, %r1;", 'r', 8, 0, 0, 0},
        {"cnot.b64 %rd4, %rd1;", 'd', 0, 0, 0, 1},
        {"cnot.b16 %h4, %h1;", 'h', 0, 0, 0, 1},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_logic, shifts_clamp_at_the_width)
{
    static const struct eval_case cases[] = {
        {"shl.b32 %r4, %r1, %r2;", 'r', 0x80000001, 1, 0, 2},
        {"shl.b32 %r4, %r1, %r2;", 'r', 1, 31, 0, 0x80000000},
        {"shl.b32 %r4, %r1, %r2;", 'r', 1, 32, 0, 0},
        {"shl.b32 %r4, %r1, %r2;", 'r', 1, 0xffffffff, 0, 0},
        {"shl.b64 %rd4, %rd1, %r2;", 'd', 1, 63, 0, 1ull << 63},
        {"shl.b64 %rd4, %rd1, %r2;", 'd', 1, 64, 0, 0},
        {"shl.b16 %h4, %h1, %r2;", 'h', 0xff, 8, 0, 0xff00},
        {"shl.b16 %h4, %h1, %r2;", 'h', 0xff, 16, 0, 0},
        {"shr.u32 %r4, %r1, %r2;", 'r', 0x80000000, 31, 0, 1},
        {"shr.u32 %r4, %r1, %r2;", 'r', 0x80000000, 32, 0, 0},
        {"shr.s32 %r4, %r1, %r2;", 'r', 0x80000000, 4, 0, 0xf8000000},
        {"shr.s32 %r4, %r1, %r2;", 'r', 0x80000000, 32, 0, 0xffffffff},
        {"shr.s32 %r4, %r1, %r2;", 'r', 0x7fffffff, 200, 0, 0},
        {"shr.b32 %r4, %r1, %r2;", 'r', 0x80000000, 4, 0, 0x08000000},
        {"shr.s64 %rd4, %rd1, %r2;", 'd', 1ull << 63, 64, 0, UINT64_MAX},
        {"shr.u64 %rd4, %rd1, %r2;", 'd', 1ull << 63, 63, 0, 1},
        {"shr.b64 %rd4, %rd1, 64;", 'd', 1ull << 63, 0, 0, 0},
        {"shr.s16 %h4, %h1, %r2;", 'h', 0x8000, 20, 0, 0xffff},
        {"shr.u16 %h4, %h1, %r2;", 'h', 0x8000, 15, 0, 1},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_logic, funnel_shifts_wrap_or_clamp)
{
    static const struct eval_case cases[] = {
        {"shf.l.wrap.b32 %r4, %r1, %r2, %r3;", 'r', 0x89abcdef, 0x01234567, 8, 0x23456789},
        {"shf.l.wrap.b32 %r4, %r1, %r2, %r3;", 'r', 0x89abcdef, 0x01234567, 40, 0x23456789},
        {"shf.l.wrap.b32 %r4, %r1, %r2, %r3;", 'r', 0x89abcdef, 0x01234567, 32, 0x01234567},
        {"shf.l.clamp.b32 %r4, %r1, %r2, %r3;", 'r', 0x89abcdef, 0x01234567, 40, 0x89abcdef},
        {"shf.r.wrap.b32 %r4, %r1, %r2, %r3;", 'r', 0x89abcdef, 0x01234567, 8, 0x6789abcd},
        {"shf.r.wrap.b32 %r4, %r1, %r2, %r3;", 'r', 0x89abcdef, 0x01234567, 32, 0x89abcdef},
        {"shf.r.clamp.b32 %r4, %r1, %r2, %r3;", 'r', 0x89abcdef, 0x01234567, 32, 0x01234567},
        {"shf.r.clamp.b32 %r4, %r1, %r2, %r3;", 'r', 0x89abcdef, 0x01234567, 31, 0x02468acf},
    };
    CHECK_EVAL_TABLE(cases);
}

/* With these operands the result of lop3 spells the table itself. */
Test(emit_logic, lop3_computes_all_256_tables)
{
    static struct eval_case cases[256];
    static char code[256][64];
    for (unsigned lut = 0; lut < 256; lut++) {
        snprintf(code[lut], sizeof code[lut], "lop3.b32 %%r4, %%r1, %%r2, %%r3, 0x%x;", lut);
        cases[lut] = (struct eval_case){code[lut], 'r', 0xf0, 0xcc, 0xaa, 0};
        cases[lut].expected = lut | (lut & 1 ? 0xffffff00u : 0);
    }
    CHECK_EVAL_TABLE(cases);
}

Test(emit_logic, lop3_combines_with_a_predicate)
{
    static const struct eval_case cases[] = {
        {"lop3.or.b32 %r4|%p1, %r1, %r2, %r3, 0x80, %p4;", 'p', 3, 6, 2, 1},
        {"lop3.and.b32 %r4|%p1, %r1, %r2, %r3, 0x80, %p4;", 'p', 3, 6, 2, 0},
        {"lop3.or.b32 %r4|%p1, %r1, %r2, %r3, 0x80, %p4;", 'r', 3, 6, 2, 2},
    };
    CHECK_EVAL_TABLE(cases);
}

Test(emit_logic, prmt_permutes_in_every_mode)
{
    static const struct eval_case cases[] = {
        {"prmt.b32 %r4, %r1, %r2, 0x5410;", 'r', 0x33221100, 0x77665544, 0, 0x55441100},
        {"prmt.b32 %r4, %r1, %r2, %r3;", 'r', 0x83020180, 0x87868504, 0xbc98, 0xff0000ff},
        {"prmt.b32.f4e %r4, %r1, %r2, %r3;", 'r', 0x33221100, 0x77665544, 2, 0x55443322},
        {"prmt.b32.b4e %r4, %r1, %r2, %r3;", 'r', 0x33221100, 0x77665544, 2, 0x77001122},
        {"prmt.b32.rc8 %r4, %r1, %r2, %r3;", 'r', 0x33221100, 0x77665544, 2, 0x22222222},
        {"prmt.b32.ecl %r4, %r1, %r2, %r3;", 'r', 0x33221100, 0x77665544, 1, 0x33221111},
        {"prmt.b32.ecr %r4, %r1, %r2, %r3;", 'r', 0x33221100, 0x77665544, 1, 0x11111100},
        {"prmt.b32.rc16 %r4, %r1, %r2, %r3;", 'r', 0x33221100, 0x77665544, 1, 0x33223322},
    };
    CHECK_EVAL_TABLE(cases);
}

/* Each nibble of a selector, in each place. */
Test(emit_logic, prmt_permutes_by_constants)
{
    static const struct eval_case cases[] = {
        {"prmt.b32 %r4, %r1, %r2, 0x2103;", 'r', 0x33221100, 0x77665544, 0, 0x22110033},
        {"prmt.b32 %r4, %r1, %r2, 0x0123;", 'r', 0x33221100, 0x77665544, 0, 0x00112233},
        {"prmt.b32 %r4, %r1, %r2, 0x7654;", 'r', 0x33221100, 0x77665544, 0, 0x77665544},
        {"prmt.b32 %r4, %r1, %r2, 0x4567;", 'r', 0x33221100, 0x77665544, 0, 0x44556677},
        {"prmt.b32 %r4, %r1, %r2, 0x1076;", 'r', 0x33221100, 0x77665544, 0, 0x11007766},
        {"prmt.b32 %r4, %r1, %r2, 0x7632;", 'r', 0x33221100, 0x77665544, 0, 0x77663322},
        {"prmt.b32 %r4, %r1, %r2, 0x5252;", 'r', 0x33221100, 0x77665544, 0, 0x55225522},
        {"prmt.b32 %r4, %r1, %r2, 0x4442;", 'r', 0x33221100, 0, 0, 0x22},
        {"prmt.b32 %r4, %r1, %r2, 0x3333;", 'r', 0x83221100, 0, 0, 0x83838383},
        {"prmt.b32 %r4, %r1, %r2, 0xba98;", 'r', 0x80008000, 0, 0, 0xff00ff00},
        {"prmt.b32 %r4, %r1, %r2, 0x76543210;", 'r', 0x33221100, 0, 0, 0x33221100},
        {"mov.u32 %r5, 0x2103; prmt.b32 %r4, %r1, %r2, %r5;", 'r', 0x33221100, 0, 0, 0x22110033},
    };
    CHECK_EVAL_TABLE(cases);
}

/* What decides is what the register has been given last, on each way. */
Test(emit_logic, prmt_knows_constants_only_while_they_hold)
{
    static const struct eval_case cases[] = {
        {"mov.u32 %r5, 0x2103; add.u32 %r5, %r5, %r3; prmt.b32 %r4, %r1, %r2, %r5;", 'r',
         0x33221100, 0x77665544, 0x1000, 0x33110033},
        {"mov.u32 %r5, 0x2103; mov.u32 %r5, 0x3210; prmt.b32 %r4, %r1, %r2, %r5;", 'r', 0x33221100,
         0, 0, 0x33221100},
        {"mov.u32 %r5, 0x2103; @%p4 mov.u32 %r5, 0x3210; prmt.b32 %r4, %r1, %r2, %r5;", 'r',
         0x33221100, 0, 0, 0x22110033},
        {"mov.u32 %r5, 0x2103; @%p3 mov.u32 %r5, 0x3210; prmt.b32 %r4, %r1, %r2, %r5;", 'r',
         0x33221100, 0, 0, 0x33221100},
        {"mov.u32 %r5, 0x3210; @%p3 bra M; mov.u32 %r5, 0x2103; M: prmt.b32 %r4, %r1, %r2, %r5;",
         'r', 0x33221100, 0, 0, 0x33221100},
        {"mov.u32 %r5, 0x3210; @%p4 bra N; mov.u32 %r5, 0x2103; N: prmt.b32 %r4, %r1, %r2, %r5;",
         'r', 0x33221100, 0, 0, 0x22110033},
        {"mov.u32 %r5, 0x3210; mov.b64 {%r5, %r6}, %rd1; prmt.b32 %r4, %r1, %r2, %r5;", 'r',
         0x33221100, 0, 0, 0x11110000},
    };
    CHECK_EVAL_TABLE(cases);
}
