/* SPDX-License-Identifier: Apache-2.0 */
#include "scalar_helper.h"

Test(scalar_logic, bitwise)
{
    static const struct vector vectors[] = {
        {"and.b32 %r0, %r1, %r2", {0xff00ff00, 0x0ff00ff0}, 0x0f000f00},
        {"or.b16 %h0, %h1, %h2", {0xf000, 0x000f}, 0xf00f},
        {"xor.b64 %d0, %d1, %d2", {UINT64_MAX, 1}, UINT64_MAX - 1},
        {"not.b16 %h0, %h1", {0x00ff}, 0xff00},
        {"not.pred %p0, %p1", {1}, 0},
        {"cnot.b32 %r0, %r1", {0}, 1},
        {"cnot.b32 %r0, %r1", {0x100}, 0},
        {"lop3.b32 %r0, %r1, %r2, %r3, 0x80", {0xf0, 0xcc, 0xaa, 0x80}, 0x80},
        {"lop3.b32 %r0, %r1, %r2, %r3, 0x1a", {0xf0, 0xcc, 0xaa, 0x1a}, 0x1a},
        {"lop3.b32 %r0, %r1, %r2, %r3, 0x96", {0xff, 0x0f, 0x01, 0x96}, 0xf1},
    };

    CHECK(vectors);
}

Test(scalar_logic, lop3_combines_with_a_predicate)
{
    const struct ptx_inst *inst = instruction("lop3.and.b32 %r0|%p0, %r1, %r2, %r3, 0x80, %p1");
    uint64_t nonzero[] = {1, 1, 1, 0x80, 1};
    uint64_t zero[] = {1, 1, 0, 0x80, 1};

    cr_expect(evaluate(inst, nonzero).second);
    cr_expect_not(evaluate(inst, zero).second);
    cr_expect(evaluate(instruction("lop3.or.b32 %r0|%p0, %r1, %r2, %r3, 0x80, %p1"), zero).second);
}

Test(scalar_logic, shift_amounts_clamp_at_the_width)
{
    static const struct vector vectors[] = {
        {"shl.b32 %r0, %r1, %r2", {1, 31}, 0x80000000},
        {"shl.b32 %r0, %r1, %r2", {1, 32}, 0},
        {"shl.b16 %h0, %h1, %r2", {1, 16}, 0},
        {"shl.b64 %d0, %d1, %r2", {1, 0xffffffff}, 0},
        {"shr.u32 %r0, %r1, %r2", {0x80000000, 0xffffffff}, 0},
        {"shr.s32 %r0, %r1, %r2", {0x80000000, 0xffffffff}, 0xffffffff},
        {"shr.s16 %h0, %h1, %r2", {0x8000, 4}, 0xf800},
        {"shr.b64 %d0, %d1, %r2", {UINT64_MAX, 63}, 1},
        {"shf.l.wrap.b32 %r0, %r1, %r2, %r3", {0x12345678, 0x9abcdef0, 36}, 0xabcdef01},
        {"shf.l.clamp.b32 %r0, %r1, %r2, %r3", {0x12345678, 0x9abcdef0, 36}, 0x12345678},
        {"shf.r.clamp.b32 %r0, %r1, %r2, %r3", {0x12345678, 0x9abcdef0, 32}, 0x9abcdef0},
        {"shf.r.wrap.b32 %r0, %r1, %r2, %r3", {0x12345678, 0x9abcdef0, 32}, 0x12345678},
        {"shf.r.wrap.b32 %r0, %r1, %r2, %r3", {0x12345678, 0x9abcdef0, 8}, 0xf0123456},
    };

    CHECK(vectors);
}

Test(scalar_logic, prmt_in_all_modes)
{
    static const struct vector vectors[] = {
        {"prmt.b32 %r0, %r1, %r2, %r3", {0x33221100, 0x77665544, 0x7531}, 0x77553311},
        {"prmt.b32 %r0, %r1, %r2, %r3", {0x80, 0x7f, 0xc804}, 0x00ff807f},
        {"prmt.b32.f4e %r0, %r1, %r2, %r3", {0x33221100, 0x77665544, 3}, 0x66554433},
        {"prmt.b32.b4e %r0, %r1, %r2, %r3", {0x33221100, 0x77665544, 1}, 0x66770011},
        {"prmt.b32.rc8 %r0, %r1, %r2, %r3", {0x33221100, 0x77665544, 2}, 0x22222222},
        {"prmt.b32.ecl %r0, %r1, %r2, %r3", {0x33221100, 0x77665544, 2}, 0x33222222},
        {"prmt.b32.ecr %r0, %r1, %r2, %r3", {0x33221100, 0x77665544, 2}, 0x22221100},
        {"prmt.b32.rc16 %r0, %r1, %r2, %r3", {0x33221100, 0x77665544, 3}, 0x33223322},
    };

    CHECK(vectors);
}
