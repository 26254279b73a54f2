/* SPDX-License-Identifier: Apache-2.0 */
#include "scalar_helper.h"

Test(scalar_integer, sums_wrap_and_saturate)
{
    static const struct vector vectors[] = {
        {"add.u16 %h0, %h1, %h2", {0xffff, 2}, 1},
        {"add.s32 %r0, %r1, %r2", {0x7fffffff, 1}, 0x80000000},
        {"add.sat.s32 %r0, %r1, %r2", {0x7fffffff, 1}, 0x7fffffff},
        {"add.sat.s32 %r0, %r1, %r2", {0x80000000, 0xffffffff}, 0x80000000},
        {"sub.sat.s32 %r0, %r1, %r2", {0x80000000, 1}, 0x80000000},
        {"sub.u64 %d0, %d1, %d2", {0, 1}, UINT64_MAX},
        {"sad.s32 %r0, %r1, %r2, %r3", {0xffffffff, 4, 10}, 15},
        {"sad.u32 %r0, %r1, %r2, %r3", {0xffffffff, 4, 10}, 0x00000005},
        {"sad.u16 %h0, %h1, %h2, %h3", {3, 5, 0xffff}, 1},
        {"abs.s16 %h0, %h1", {0x8000}, 0x8000},
        {"abs.s64 %d0, %d1", {(uint64_t)-7}, 7},
        {"neg.s32 %r0, %r1", {5}, 0xfffffffb},
    };

    CHECK(vectors);
}

Test(scalar_integer, products_by_half)
{
    static const struct vector vectors[] = {
        {"mul.lo.s32 %r0, %r1, %r2", {0xffffffff, 3}, 0xfffffffd},
        {"mul.hi.s32 %r0, %r1, %r2", {0xffffffff, 3}, 0xffffffff},
        {"mul.hi.u32 %r0, %r1, %r2", {0xffffffff, 3}, 2},
        {"mul.wide.s16 %r0, %h1, %h2", {0xffff, 3}, 0xfffffffd},
        {"mul.wide.u16 %r0, %h1, %h2", {0xffff, 3}, 0x2fffd},
        {"mul.wide.s32 %d0, %r1, %r2", {0x80000000, 0x80000000}, UINT64_C(1) << 62},
        {"mul.hi.u64 %d0, %d1, %d2", {UINT64_MAX, UINT64_MAX}, UINT64_MAX - 1},
        {"mul.hi.s64 %d0, %d1, %d2", {UINT64_MAX, UINT64_MAX}, 0},
        {"mad.lo.u32 %r0, %r1, %r2, %r3", {7, 6, 5}, 47},
        {"mad.hi.sat.s32 %r0, %r1, %r2, %r3", {0x7fffffff, 0x7fffffff, 0x7fffffff}, 0x7fffffff},
        {"mad.wide.s32 %d0, %r1, %r2, %d3", {0xffffffff, 2, 1}, UINT64_MAX},
        {"mul24.lo.u32 %r0, %r1, %r2", {0xffffff, 0xffffff}, 0xfe000001},
        {"mul24.hi.u32 %r0, %r1, %r2", {0xffffff, 0xffffff}, 0xfffffe00},
        {"mul24.hi.s32 %r0, %r1, %r2", {0xffffffff, 0x10000}, 0xffffffff},
        {"mad24.hi.sat.s32 %r0, %r1, %r2, %r3", {0x7fffff, 0x7fffff, 0x7fffffff}, 0x7fffffff},
        {"mad24.lo.s32 %r0, %r1, %r2, %r3", {0xffffff, 2, 3}, 1},
        {"dp4a.s32.s32 %r0, %r1, %r2, %r3", {0xff01ff01, 0x02020202, 10}, 10},
        {"dp4a.u32.s32 %r0, %r1, %r2, %r3", {0xff000000, 0xff000000, 0}, 0xffffff01},
        {"dp2a.lo.s32.u32 %r0, %r1, %r2, %r3", {0xffff0002, 0x04030201, 0}, 0},
        {"dp2a.hi.s32.u32 %r0, %r1, %r2, %r3", {0xffff0002, 0x04030201, 100}, 102},
    };

    CHECK(vectors);
}

Test(scalar_integer, division_cuts_off_toward_zero)
{
    static const struct vector vectors[] = {
        {"div.s32 %r0, %r1, %r2", {(uint32_t)-7, 2}, (uint32_t)-3},
        {"rem.s32 %r0, %r1, %r2", {(uint32_t)-7, 2}, (uint32_t)-1},
        {"rem.s32 %r0, %r1, %r2", {7, (uint32_t)-2}, 1},
        {"div.u32 %r0, %r1, %r2", {(uint32_t)-7, 2}, 0x7ffffffc},
        {"div.s16 %h0, %h1, %h2", {0x8000, 2}, 0xc000},
        {"rem.s64 %d0, %d1, %d2", {(uint64_t)1 << 63, UINT64_MAX}, 0},
        {"div.u64 %d0, %d1, %d2", {UINT64_MAX, 10}, UINT64_C(1844674407370955161)},
    };

    CHECK(vectors);
}

Test(scalar_integer, extremes)
{
    static const struct vector vectors[] = {
        {"min.s32 %r0, %r1, %r2", {0xffffffff, 1}, 0xffffffff},
        {"min.u32 %r0, %r1, %r2", {0xffffffff, 1}, 1},
        {"max.relu.s32 %r0, %r1, %r2", {0xffffffff, 0xfffffffe}, 0},
        {"min.s16x2 %r0, %r1, %r2", {0x0001ffff, 0x80000001}, 0x8000ffff},
        {"max.u16x2 %r0, %r1, %r2", {0x0001ffff, 0x80000001}, 0x8000ffff},
        {"min.relu.s16x2 %r0, %r1, %r2", {0x0001ffff, 0x80000001}, 0},
    };

    CHECK(vectors);
}

Test(scalar_integer, carry_runs_through_a_chain)
{
    struct oracle_scalar scalar = {.in_count = 2, .in = {{.u64 = 0xffffffff}, {.u64 = 1}}};

    cr_assert_eq(oracle_evaluate(instruction("add.cc.u32 %r0, %r1, %r2"), &scalar), PXR_OK);
    cr_expect_eq(scalar.out.u32, 0);
    cr_expect(scalar.carry);
    scalar.in[0].u64 = 5;
    scalar.in[1].u64 = 6;
    cr_assert_eq(oracle_evaluate(instruction("addc.u32 %r0, %r1, %r2"), &scalar), PXR_OK);
    cr_expect_eq(scalar.out.u32, 12);
    cr_expect(scalar.carry, "addc without .cc leaves CC.CF");
    cr_assert_eq(oracle_evaluate(instruction("sub.cc.u64 %d0, %d1, %d2"), &scalar), PXR_OK);
    cr_expect_eq(scalar.out.u64, UINT64_MAX);
    cr_expect_not(scalar.carry, "a borrow is no carry on sm_90");
    cr_assert_eq(oracle_evaluate(instruction("subc.cc.s32 %r0, %r1, %r2"), &scalar), PXR_OK);
    cr_expect_eq(scalar.out.u32, 0xfffffffe);
    cr_expect_not(scalar.carry);
    scalar.in[0].u64 = 6;
    cr_assert_eq(oracle_evaluate(instruction("sub.cc.u32 %r0, %r1, %r2"), &scalar), PXR_OK);
    cr_expect_eq(scalar.out.u32, 0, "sub.cc takes no borrow in");
    cr_expect(scalar.carry);
    cr_assert_eq(oracle_evaluate(instruction("subc.u32 %r0, %r1, %r2"), &scalar), PXR_OK);
    cr_expect_eq(scalar.out.u32, 0);
    scalar.carry = false;
    scalar.in_count = 3;
    scalar.in[0].u64 = 0xffffffff;
    scalar.in[1].u64 = 0xffffffff;
    scalar.in[2].u64 = 3;
    cr_assert_eq(oracle_evaluate(instruction("mad.hi.cc.u32 %r0, %r1, %r2, %r3"), &scalar), PXR_OK);
    cr_expect_eq(scalar.out.u32, 1);
    cr_expect(scalar.carry);
    cr_assert_eq(oracle_evaluate(instruction("madc.lo.cc.u32 %r0, %r1, %r2, %r3"), &scalar),
                 PXR_OK);
    cr_expect_eq(scalar.out.u32, 5);
    cr_expect_not(scalar.carry);
}

Test(scalar_integer, bits_are_counted_and_found)
{
    static const struct vector vectors[] = {
        {"popc.b32 %r0, %r1", {0xf0f0f0f1}, 17},
        {"popc.b64 %r0, %d1", {UINT64_MAX}, 64},
        {"clz.b32 %r0, %r1", {0}, 32},
        {"clz.b64 %r0, %d1", {1}, 63},
        {"bfind.u32 %r0, %r1", {0}, 0xffffffff},
        {"bfind.u32 %r0, %r1", {0x00010000}, 16},
        {"bfind.s32 %r0, %r1", {0xffffffff}, 0xffffffff},
        {"bfind.s32 %r0, %r1", {0xfffffffd}, 1},
        {"bfind.shiftamt.u64 %r0, %d1", {1}, 63},
        {"brev.b32 %r0, %r1", {0x00000003}, 0xc0000000},
        {"brev.b64 %d0, %d1", {1}, UINT64_C(1) << 63},
        {"fns.b32 %r0, %r1, %r2, %r3", {0xaaaaaaaa, 3, 1}, 3},
        {"fns.b32 %r0, %r1, %r2, %r3", {0xaaaaaaaa, 3, (uint32_t)-1}, 3},
        {"fns.b32 %r0, %r1, %r2, %r3", {0xaaaaaaaa, 2, 1}, 3},
        {"fns.b32 %r0, %r1, %r2, %r3", {0xaaaaaaaa, 2, (uint32_t)-1}, 1},
        {"fns.b32 %r0, %r1, %r2, %r3", {0xaaaaaaaa, 2, 0}, 0xffffffff},
        {"fns.b32 %r0, %r1, %r2, %r3", {0xaaaaaaaa, 0, 17}, 0xffffffff},
        {"fns.b32 %r0, %r1, %r2, %r3", {0xaaaaaaaa, 5, 0x80000001}, 0xffffffff},
        {"fns.b32 %r0, %r1, %r2, %r3", {0xaaaaaaaa, 5, 0x80000000}, 0}, /* sm_90 */
    };

    CHECK(vectors);
}

Test(scalar_integer, bit_fields_beyond_the_register)
{
    static const struct vector vectors[] = {
        {"bfe.u32 %r0, %r1, %r2, %r3", {0x12345678, 8, 8}, 0x56},
        {"bfe.s32 %r0, %r1, %r2, %r3", {0x0000f000, 12, 4}, 0xffffffff},
        {"bfe.s32 %r0, %r1, %r2, %r3", {0x80000000, 40, 4}, 0xffffffff},
        {"bfe.s32 %r0, %r1, %r2, %r3", {0x80000000, 28, 8}, 0xfffffff8},
        {"bfe.u32 %r0, %r1, %r2, %r3", {0x80000000, 28, 8}, 8},
        {"bfe.s64 %d0, %d1, %r2, %r3", {UINT64_MAX, 0, 0}, 0},
        {"bfe.u32 %r0, %r1, %r2, %r3", {0x12345678, 0x100, 0x104}, 8},
        {"bfi.b32 %r0, %r1, %r2, %r3, %r4", {0xff, 0, 4, 4}, 0xf0},
        {"bfi.b32 %r0, %r1, %r2, %r3, %r4", {0xff, 0x1234, 32, 4}, 0x1234},
        {"bfi.b32 %r0, %r1, %r2, %r3, %r4", {0xff, 0, 28, 8}, 0xf0000000},
        {"bfi.b64 %d0, %d1, %d2, %r3, %r4", {0, UINT64_MAX, 60, 255}, UINT64_MAX >> 4},
        /* 64 bits on sm_90: position and length are not cut to 8 bits */
        {"bfe.u64 %d0, %d1, %r2, %r3", {0x123456789a, 0, 0x80000000}, 0x123456789a},
        {"bfe.u64 %d0, %d1, %r2, %r3", {0x123456789a, 0x100, 8}, 0},
        {"bfe.s64 %d0, %d1, %r2, %r3", {UINT64_C(1) << 63, 0x80000000, 8}, UINT64_MAX},
        {"bfe.s64 %d0, %d1, %r2, %r3", {UINT64_C(1) << 63, 0xffffffff, 2}, UINT64_MAX},
        {"bfi.b64 %d0, %d1, %d2, %r3, %r4", {5, 7, 0, 0x80000000}, 5},
        {"bfi.b64 %d0, %d1, %d2, %r3, %r4", {5, 7, 0x100, 8}, 7},
        {"bfi.b32 %r0, %r1, %r2, %r3, %r4", {5, 7, 0x100, 0x108}, 5},
        {"szext.clamp.s32 %r0, %r1, %r2", {0xff, 8}, 0xffffffff},
        {"szext.clamp.u32 %r0, %r1, %r2", {0xfff, 8}, 0xff},
        {"szext.clamp.s32 %r0, %r1, %r2", {0xff, 0}, 0},
        {"szext.clamp.s32 %r0, %r1, %r2", {0x12345678, 40}, 0x12345678},
        {"szext.wrap.s32 %r0, %r1, %r2", {0x80, 40}, 0xffffff80},
        {"bmsk.clamp.b32 %r0, %r1, %r2", {4, 8}, 0xff0},
        {"bmsk.clamp.b32 %r0, %r1, %r2", {32, 8}, 0},
        {"bmsk.clamp.b32 %r0, %r1, %r2", {4, 32}, 0xfffffff0},
        {"bmsk.wrap.b32 %r0, %r1, %r2", {36, 40}, 0xff0},
        {"bmsk.wrap.b32 %r0, %r1, %r2", {4, 32}, 0},
        {"bmsk.wrap.b32 %r0, %r1, %r2", {30, 8}, 0xc0000000},
    };

    CHECK(vectors);
}
