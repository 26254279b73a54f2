/* SPDX-License-Identifier: Apache-2.0 */
#include "scalar_helper.h"

#define ONE   0x3f800000
#define NAN32 0x7fc00000

Test(scalar_compare, operators_for_less_equal_greater_and_nan)
{
    static const struct {
        const char *name;
        bool less, equal, greater, nan;
    } rows[] = {
        {"eq", 0, 1, 0, 0},  {"ne", 1, 0, 1, 0},  {"lt", 1, 0, 0, 0},  {"le", 1, 1, 0, 0},
        {"gt", 0, 0, 1, 0},  {"ge", 0, 1, 1, 0},  {"equ", 0, 1, 0, 1}, {"neu", 1, 0, 1, 1},
        {"ltu", 1, 0, 0, 1}, {"leu", 1, 1, 0, 1}, {"gtu", 0, 0, 1, 1}, {"geu", 0, 1, 1, 1},
        {"num", 1, 1, 1, 0}, {"nan", 0, 0, 0, 1},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[64];
        uint64_t less[] = {0x80000001, 0};
        uint64_t equal[] = {0x80000000, 0};
        uint64_t greater[] = {ONE, 0xff800000};
        uint64_t nan[] = {ONE, NAN32};
        const struct ptx_inst *inst;

        snprintf(text, sizeof(text), "setp.%s.f32 %%p0|%%p1, %%r1, %%r2", rows[i].name);
        inst = instruction(text);
        cr_expect_eq(evaluate(inst, less).out.u8, rows[i].less, "%s", text);
        cr_expect_eq(evaluate(inst, equal).out.u8, rows[i].equal, "%s", text);
        cr_expect_eq(evaluate(inst, greater).out.u8, rows[i].greater, "%s", text);
        cr_expect_eq(evaluate(inst, nan).out.u8, rows[i].nan, "%s", text);
        cr_expect_eq(evaluate(inst, nan).second, !rows[i].nan, "%s", text);
    }
}

Test(scalar_compare, setp_combines_and_splits)
{
    static const struct vector vectors[] = {
        {"setp.lt.s32 %p0, %r1, %r2", {0xffffffff, 0}, 1},
        {"setp.lo.u32 %p0, %r1, %r2", {0xffffffff, 0}, 0},
        {"setp.hs.u16 %p0, %h1, %h2", {0xffff, 0}, 1},
        {"setp.lt.and.s64 %p0, %d1, %d2, %p1", {1, 2, 0}, 0},
        {"setp.lt.or.s64 %p0, %d1, %d2, %p1", {3, 2, 1}, 1},
        {"setp.lt.xor.s64 %p0, %d1, %d2, %p1", {1, 2, 1}, 0},
        {"setp.eq.ftz.f32 %p0, %r1, %r2", {0x00000001, 0x807fffff}, 1},
        {"setp.eq.f32 %p0, %r1, %r2", {0x00000001, 0x807fffff}, 0},
        {"setp.gt.f16 %p0, %h1, %h2", {0x3c00, 0xbc00}, 1},
        {"setp.eq.bf16 %p0, %h1, %h2", {0x8000, 0}, 1},
    };
    uint64_t pair[] = {0x3c003c00, 0x3c004000, 1};
    struct oracle_scalar scalar =
        evaluate(instruction("setp.eq.and.f16x2 %p0|%p1, %r1, %r2, %p2"), pair);

    CHECK(vectors);
    cr_expect_eq(scalar.out.u8, 0, "p is the lower half");
    cr_expect(scalar.second, "q is the upper half");
}

Test(scalar_compare, set_writes_true_in_the_type)
{
    static const struct vector vectors[] = {
        {"set.lt.u32.s32 %r0, %r1, %r2", {0xffffffff, 0}, 0xffffffff},
        {"set.lt.f32.s32 %r0, %r1, %r2", {0xffffffff, 0}, ONE},
        {"set.nan.s32.f64 %r0, %d1, %d2", {UINT64_C(0x7ff8000000000000), 0}, 0xffffffff},
        {"set.eq.f16.u32 %h0, %r1, %r2", {4, 4}, 0x3c00},
        {"set.eq.bf16.bf16 %h0, %h1, %h2", {4, 4}, 0x3f80},
        {"set.eq.u16.f16 %h0, %h1, %h2", {4, 4}, 0xffff},
        {"set.eq.u32.f16 %r0, %h1, %h2", {4, 4}, 0xffffffff},
        {"set.ne.f16x2.f16x2 %r0, %r1, %r2", {0x3c003c00, 0x3c004000}, 0x00003c00},
        {"set.eq.u32.bf16x2 %r0, %r1, %r2", {0x3f803f80, 0x3f800000}, 0xffff0000},
        {"set.eq.xor.u32.u32 %r0, %r1, %r2, %p1", {4, 4, 1}, 0},
    };

    CHECK(vectors);
}

Test(scalar_compare, selection)
{
    static const struct vector vectors[] = {
        {"selp.b32 %r0, %r1, %r2, %p1", {1, 2, 1}, 1},
        {"selp.f64 %d0, %d1, %d2, %p1", {1, 2, 0}, 2},
        {"slct.u32.s32 %r0, %r1, %r2, %r3", {1, 2, 0x80000000}, 2},
        {"slct.b64.f32 %d0, %d1, %d2, %r3", {1, 2, 0x80000000}, 1},
        {"slct.b64.f32 %d0, %d1, %d2, %r3", {1, 2, 0x80000001}, 2},
        {"slct.ftz.b64.f32 %d0, %d1, %d2, %r3", {1, 2, 0x80000001}, 1},
        {"slct.u16.f32 %h0, %h1, %h2, %r3", {1, 2, NAN32}, 2},
    };

    CHECK(vectors);
}

Test(scalar_compare, testp)
{
    static const struct vector vectors[] = {
        {"testp.normal.f32 %p0, %r1", {0x80000000}, 1},
        {"testp.normal.f32 %p0, %r1", {1}, 0},
        {"testp.subnormal.f64 %p0, %d1", {1}, 1},
        {"testp.finite.f32 %p0, %r1", {0x7f800000}, 0},
        {"testp.infinite.f32 %p0, %r1", {0xff800000}, 1},
        {"testp.number.f32 %p0, %r1", {NAN32}, 0},
        {"testp.notanumber.f64 %p0, %d1", {UINT64_C(0xfff0000000000001)}, 1},
    };

    CHECK(vectors);
}
