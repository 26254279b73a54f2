/* SPDX-License-Identifier: Apache-2.0
 *
 * rt/int.c: corner values, and bit-by-bit models of the manual's definitions.
 */
#include "rt_samples.h"

#include <criterion/criterion.h>

Test(rt_int, division_by_zero_and_overflow_do_not_trap)
{
    cr_assert_eq(rt_div_u32(7, 0), UINT32_MAX);
    cr_assert_eq(rt_div_s32(7, 0), -1);
    cr_assert_eq(rt_div_u64(7, 0), UINT64_MAX);
    cr_assert_eq(rt_div_s64(-7, 0), -1);
    cr_assert_eq(rt_rem_u32(7, 0), UINT32_MAX);
    cr_assert_eq(rt_rem_s64(-7, 0), -1);
    cr_assert_eq(rt_div_s32(INT32_MIN, -1), INT32_MIN);
    cr_assert_eq(rt_div_s64(INT64_MIN, -1), INT64_MIN);
    cr_assert_eq(rt_rem_s32(INT32_MIN, -1), 0);
    cr_assert_eq(rt_rem_s64(INT64_MIN, -1), 0);
}

Test(rt_int, division_truncates_toward_zero)
{
    cr_assert_eq(rt_div_s32(-7, 2), -3);
    cr_assert_eq(rt_rem_s32(-7, 2), -1);
    cr_assert_eq(rt_div_s32(7, -1), -7);
    cr_assert_eq(rt_div_u32(0xfffffff9u, 2), 0x7ffffffcu);
    cr_assert_eq(rt_rem_u64(UINT64_MAX, 10), 5u);
    cr_assert_eq(rt_div_s64(-9, 4), -2);
}

/* "bfe" as the manual writes it, but for positions and lengths above 255 with 64 bits, which
 * devices take as they are. */
static uint64_t model_bfe(uint64_t a, uint32_t b, uint32_t c, unsigned bits, bool is_signed)
{
    uint64_t msb = bits - 1;
    uint64_t pos = bits == 32 ? b & 0xff : b;
    uint64_t len = bits == 32 ? c & 0xff : c;
    uint64_t last = pos + len - 1 < msb ? pos + len - 1 : msb;
    unsigned sign = !is_signed || len == 0 ? 0 : (unsigned)(a >> last & 1);
    uint64_t d = 0;
    for (unsigned i = 0; i <= msb; i++) {
        unsigned bit = i < len && pos + i <= msb ? (unsigned)(a >> (pos + i) & 1) : sign;
        d |= (uint64_t)bit << i;
    }
    return d;
}

static uint64_t model_bfi(uint64_t a, uint64_t b, uint32_t c, uint32_t d, unsigned bits)
{
    uint64_t pos = bits == 32 ? c & 0xff : c;
    uint64_t len = bits == 32 ? d & 0xff : d;
    for (unsigned i = 0; i < len && pos + i < bits; i++)
        b = (b & ~(UINT64_C(1) << (pos + i))) | (a >> i & 1) << (pos + i);
    return b;
}

Test(rt_int, bit_fields_follow_the_manual_for_every_position_and_length)
{
    uint64_t state = 3;
    for (uint32_t pos = 0; pos < 70; pos++) {
        for (uint32_t len = 0; len < 70; len++) {
            for (int i = 0; i < 4; i++) {
                uint64_t a = random_bits(&state);
                uint64_t b = random_bits(&state);
                uint32_t p = pos | (uint32_t)(b & 0xffffff00u);
                cr_assert_eq(rt_bfe_u32((uint32_t)a, p, len),
                             (uint32_t)model_bfe((uint32_t)a, p, len, 32, false));
                cr_assert_eq((uint32_t)rt_bfe_s32((int32_t)a, p, len),
                             (uint32_t)model_bfe((uint32_t)a, p, len, 32, true));
                cr_assert_eq(rt_bfe_u64(a, p, len), model_bfe(a, p, len, 64, false));
                cr_assert_eq((uint64_t)rt_bfe_s64((int64_t)a, p, len),
                             model_bfe(a, p, len, 64, true));
                cr_assert_eq(rt_bfi_b32((uint32_t)a, (uint32_t)b, p, len),
                             (uint32_t)model_bfi((uint32_t)a, (uint32_t)b, p, len, 32));
                cr_assert_eq(rt_bfi_b64(a, b, p, len), model_bfi(a, b, p, len, 64));
            }
        }
    }
    cr_assert_eq(rt_bfe_s32(INT32_MIN, 255, 255), -1);
    cr_assert_eq(rt_bfe_u32(UINT32_MAX, 255, 255), 0u);
    cr_assert_eq(rt_bfe_u64(7, 0x100, 3), 0u);
    cr_assert_eq(rt_bfe_u64(7, 0, 0x100), 7u);
    cr_assert_eq(rt_bfi_b64(7, 1, 0, 0xffffffff), 7u);
}

Test(rt_int, bfind_finds_the_first_bit_that_is_no_sign)
{
    cr_assert_eq(rt_bfind_u32(0, 0), UINT32_MAX);
    cr_assert_eq(rt_bfind_u32(0, 1), UINT32_MAX);
    cr_assert_eq(rt_bfind_s32(-1, 0), UINT32_MAX);
    cr_assert_eq(rt_bfind_u32(1, 0), 0u);
    cr_assert_eq(rt_bfind_u32(1, 1), 31u);
    cr_assert_eq(rt_bfind_s32(INT32_MIN, 0), 30u);
    cr_assert_eq(rt_bfind_s32(-2, 1), 31u);
    cr_assert_eq(rt_bfind_u64(UINT64_C(1) << 40, 0), 40u);
    cr_assert_eq(rt_bfind_u64(UINT64_C(1) << 40, 1), 23u);
    cr_assert_eq(rt_bfind_s64(-1, 0), UINT32_MAX);
    cr_assert_eq(rt_bfind_s64(INT64_MAX, 0), 62u);
}

Test(rt_int, fns_finds_the_nth_set_bit_both_ways)
{
    cr_assert_eq(rt_fns(0xaaaaaaaa, 3, 1), 3u);
    cr_assert_eq(rt_fns(0xaaaaaaaa, 3, -1), 3u);
    cr_assert_eq(rt_fns(0xaaaaaaaa, 2, 1), 3u);
    cr_assert_eq(rt_fns(0xaaaaaaaa, 2, -1), 1u);
    cr_assert_eq(rt_fns(0xaaaaaaaa, 2, 0), UINT32_MAX);
    cr_assert_eq(rt_fns(0xaaaaaaaa, 3, 0), 3u);
    cr_assert_eq(rt_fns(0xaaaaaaaa, 0, 17), UINT32_MAX);
    cr_assert_eq(rt_fns(0xaaaaaaaa, 0, 16), 31u);
    cr_assert_eq(rt_fns(0xaaaaaaaa, 0, INT32_MIN + 1), UINT32_MAX);
    cr_assert_eq(rt_fns(0xaaaaaaaa, 33, 1), UINT32_MAX); /* device */
    cr_assert_eq(rt_fns(0xaaaaaaaa, 31, INT32_MIN), 0u); /* device */
}

static uint32_t model_bmsk(uint32_t a, uint32_t b, bool clamp)
{
    uint32_t a1 = a & 0x1f;
    uint32_t mask0 = UINT32_MAX << a1;
    uint32_t b1 = b & 0x1f;
    uint32_t sum = a1 + b1;
    bool overflow = sum >= 32;
    if (clamp && a >= 32) {
        overflow = true;
        mask0 = 0;
    }
    if (clamp && b >= 32)
        overflow = true;
    uint32_t mask1 = overflow ? 0 : b1 == 0 ? UINT32_MAX : UINT32_MAX << sum;
    return mask0 & ~mask1;
}

Test(rt_int, bmsk_and_szext_follow_the_manual)
{
    for (uint32_t a = 0; a < 70; a++) {
        for (uint32_t b = 0; b < 70; b++) {
            cr_assert_eq(rt_bmsk(a, b, 0), model_bmsk(a, b, false));
            cr_assert_eq(rt_bmsk(a, b, 1), model_bmsk(a, b, true));
        }
    }
    cr_assert_eq(rt_bmsk(1, 2, 0), 6u);
    cr_assert_eq(rt_szext(0xffffffff, 0, 0, 0), 0u);
    cr_assert_eq(rt_szext(0x80, 8, 0, 1), 0xffffff80u);
    cr_assert_eq(rt_szext(0x80, 8, 0, 0), 0x80u);
    cr_assert_eq(rt_szext(0x12345678, 32, 1, 1), 0x12345678u);
    cr_assert_eq(rt_szext(0x12345678, 32, 0, 1), 0u);
    cr_assert_eq(rt_szext(0x12345678, 40, 0, 1), 0x78u);
    cr_assert_eq(rt_szext(1, 1, 1, 1), UINT32_MAX);
}

Test(rt_int, prmt_selects_bytes_in_every_mode)
{
    uint32_t a = 0x83020180;
    uint32_t b = 0x87868504;
    cr_assert_eq(rt_prmt(a, b, 0x3210, RT_PRMT_INDEX), a);
    cr_assert_eq(rt_prmt(a, b, 0x7654, RT_PRMT_INDEX), b);
    cr_assert_eq(rt_prmt(a, b, 0xbc98, RT_PRMT_INDEX), 0xff0000ffu);
    cr_assert_eq(rt_prmt(a, b, 0xffff0077, RT_PRMT_INDEX), 0x80808787u);
    cr_assert_eq(rt_prmt(a, b, 1, RT_PRMT_F4E), 0x04830201u);
    cr_assert_eq(rt_prmt(a, b, 3, RT_PRMT_F4E), 0x86850483u);
    cr_assert_eq(rt_prmt(a, b, 0, RT_PRMT_B4E), 0x85868780u);
    cr_assert_eq(rt_prmt(a, b, 1, RT_PRMT_B4E), 0x86878001u);
    cr_assert_eq(rt_prmt(a, b, 3, RT_PRMT_RC8), 0x83838383u);
    cr_assert_eq(rt_prmt(a, b, 2, RT_PRMT_ECL), 0x83020202u);
    cr_assert_eq(rt_prmt(a, b, 2, RT_PRMT_ECR), 0x02020180u);
    cr_assert_eq(rt_prmt(a, b, 1, RT_PRMT_RC16), 0x83028302u);
    cr_assert_eq(rt_prmt(a, b, 2, RT_PRMT_RC16), 0x01800180u);
}

Test(rt_int, dot_products_take_each_operands_sign)
{
    cr_assert_eq(rt_dp4a(0x01020304, 0x05060708, 100, 0, 0), 100u + 5 + 12 + 21 + 32);
    cr_assert_eq((int32_t)rt_dp4a(0xffffffff, 0x01010101, 0, 1, 0), -4);
    cr_assert_eq(rt_dp4a(0xffffffff, 0xffffffff, 0, 0, 0), 4u * 255 * 255);
    cr_assert_eq((int32_t)rt_dp4a(0xffffffff, 0xffffffff, 0, 1, 0), -4 * 255);
    cr_assert_eq((int32_t)rt_dp2a(0xffff0002, 0x04030201, 10, 1, 1, 0), 10 + 2 - 2);
    cr_assert_eq((int32_t)rt_dp2a(0xffff0002, 0x04030201, 10, 1, 1, 1), 10 + 6 - 4);
    cr_assert_eq(rt_dp2a(0xffff0002, 0x04030201, 10, 0, 0, 1), 10u + 6 + 4 * 65535);
}

Test(rt_int, pairs_of_16_bit_integers_compare_by_halves)
{
    cr_assert_eq(rt_minmax_u16x2(0x0001ffff, 0xffff0001, 0), 0x00010001u);
    cr_assert_eq(rt_minmax_u16x2(0x0001ffff, 0xffff0001, 1), 0xffffffffu);
    cr_assert_eq(rt_minmax_s16x2(0x0001ffff, 0xffff0001, 0, 0), 0xffffffffu);
    cr_assert_eq(rt_minmax_s16x2(0x0001ffff, 0xffff0001, 1, 0), 0x00010001u);
    cr_assert_eq(rt_minmax_s16x2(0x8000ffff, 0xfffff000, 1, 1), 0u);
}
