/* SPDX-License-Identifier: Apache-2.0
 *
 * rt/video.c: the stages of PTX ISA "Video Instructions", one by one.
 */
#include <stdint.h>

#include <criterion/criterion.h>

#include "translator/rt/arith.h"

Test(rt_video, parts_are_extended_by_their_sign)
{
    cr_assert_eq(rt_video_part(0x80ff7f01, 0, 0, 8, 1), 1);
    cr_assert_eq(rt_video_part(0x80ff7f01, 0, 16, 8, 1), -1);
    cr_assert_eq(rt_video_part(0x80ff7f01, 0, 16, 8, 0), 255);
    cr_assert_eq(rt_video_part(0x80ff7f01, 0, 16, 16, 1), -0x7f01);
    cr_assert_eq(rt_video_part(0x80ff7f01, 0, 16, 16, 0), 0x80ff);
    cr_assert_eq(rt_video_part(0x80000000, 0, 0, 32, 1), INT32_MIN);
    cr_assert_eq(rt_video_part(0x80000000, 0, 0, 32, 0), 0x80000000);
    cr_assert_eq(rt_video_part(1, 0x87654321, 56, 8, 0), 0x87, "bytes 4 to 7 are of b");
    cr_assert_eq(rt_video_part(1, 0x87654321, 48, 16, 1), -0x789b);
}

Test(rt_video, operations_are_exact)
{
    int64_t u32 = UINT32_MAX;
    cr_assert_eq(rt_video_operate(u32, u32, RT_VIDEO_ADD), 2 * u32);
    cr_assert_eq(rt_video_operate(INT32_MIN, u32, RT_VIDEO_SUB), INT32_MIN - u32);
    cr_assert_eq(rt_video_operate(INT32_MIN, u32, RT_VIDEO_ABSDIFF), u32 - INT32_MIN);
    cr_assert_eq(rt_video_operate(-1, u32, RT_VIDEO_MIN), -1);
    cr_assert_eq(rt_video_operate(-1, u32, RT_VIDEO_MAX), u32);
    cr_assert_eq(rt_video_operate(3, 4, RT_VIDEO_AVRG), 4);
    cr_assert_eq(rt_video_operate(-3, -4, RT_VIDEO_AVRG), -4);
    cr_assert_eq(rt_video_operate(-3, 3, RT_VIDEO_AVRG), 0);
    cr_assert_eq(rt_video_operate(-1, 0, RT_VIDEO_AVRG), -1);
    cr_assert_eq(rt_video_operate(-1, u32, RT_VIDEO_LT), 1);
    cr_assert_eq(rt_video_operate(-1, u32, RT_VIDEO_GE), 0);
    cr_assert_eq(rt_video_operate(7, 7, RT_VIDEO_LE), 1);
    cr_assert_eq(rt_video_operate(7, 7, RT_VIDEO_GT), 0);
    cr_assert_eq(rt_video_operate(7, 7, RT_VIDEO_EQ), 1);
    cr_assert_eq(rt_video_operate(7, 7, RT_VIDEO_NE), 0);
}

Test(rt_video, shift_amounts_are_clamped_or_wrapped)
{
    cr_assert_eq(rt_video_shift(1, 31, 1, 1), INT64_C(1) << 31);
    cr_assert_eq((uint32_t)rt_video_shift(1, 32, 1, 1), 0);
    cr_assert_gt(rt_video_shift(1, 32, 1, 1), UINT32_MAX);
    cr_assert_lt(rt_video_shift(-1, 200, 1, 1), INT32_MIN);
    cr_assert_eq(rt_video_shift(0, 200, 1, 1), 0);
    cr_assert_eq(rt_video_shift(1, 33, 1, 0), 2);
    cr_assert_eq(rt_video_shift(-256, 4, 0, 1), -16);
    cr_assert_eq(rt_video_shift(-256, 99, 0, 1), -1);
    cr_assert_eq(rt_video_shift(UINT32_MAX, 32, 0, 1), 0);
    cr_assert_eq(rt_video_shift(UINT32_MAX, 36, 0, 0), UINT32_MAX >> 4);
}

Test(rt_video, saturation_of_several_results_is_to_each)
{
    cr_assert_eq(rt_video_saturate(300, 8, 0), 255);
    cr_assert_eq(rt_video_saturate(-1, 8, 0), 0);
    cr_assert_eq(rt_video_saturate(300, 8, 1), 127);
    cr_assert_eq(rt_video_saturate(-300, 8, 1), -128);
    cr_assert_eq(rt_video_saturate(40000, 16, 1), 32767);
    cr_assert_eq(rt_video_saturate(70000, 16, 0), 65535);
    cr_assert_eq(rt_video_saturate(INT64_C(1) << 33, 32, 0), UINT32_MAX);
    cr_assert_eq(rt_video_saturate(INT64_C(1) << 33, 32, 1), INT32_MAX);
    cr_assert_eq(rt_video_saturate(-(INT64_C(1) << 33), 32, 1), INT32_MIN);
}

/* What devices do, where the manual says otherwise; see translator/rt/README.md. */
Test(rt_video, saturation_of_one_result_is_as_on_devices)
{
    cr_assert_eq(rt_video_saturate_scalar(INT64_C(1) << 33, 32, 1), INT32_MAX);
    cr_assert_eq(rt_video_saturate_scalar(-(INT64_C(1) << 33), 32, 1), INT32_MIN);
    cr_assert_eq(rt_video_saturate_scalar(-1, 32, 0), 0);
    cr_assert_eq((uint32_t)rt_video_saturate_scalar((INT64_C(1) << 32) + 5, 32, 0), 5);
    cr_assert_eq(rt_video_saturate_scalar(300, 8, 0), 255);
    cr_assert_eq(rt_video_saturate_scalar(-1, 8, 0), 255);
    cr_assert_eq(rt_video_saturate_scalar(-1, 8, 1), 127);
    cr_assert_eq(rt_video_saturate_scalar(-1, 16, 1), 32767);
    cr_assert_eq(rt_video_saturate_scalar(100, 8, 1), 100);
    cr_assert_eq(rt_video_saturate_shift(INT64_C(1) << 32, 0), UINT32_MAX);
    cr_assert_eq(rt_video_saturate_shift(INT64_C(1) << 34, 0), 0, "34 bits are kept");
    cr_assert_eq(rt_video_saturate_shift(INT64_C(3) << 32, 1), INT32_MIN);
    cr_assert_eq(rt_video_narrow(0x80000000, 32), INT32_MIN);
    cr_assert_eq(rt_video_narrow(0x80000000, 64), 0x80000000);
}

Test(rt_video, the_second_operation_compares_by_the_sign_of_the_destination)
{
    cr_assert_eq(rt_video_second(5, UINT32_MAX, RT_VIDEO_ADD, 0), 4);
    cr_assert_eq(rt_video_second(5, UINT32_MAX, RT_VIDEO_MIN, 0), 5);
    cr_assert_eq(rt_video_second(5, UINT32_MAX, RT_VIDEO_MIN, 1), UINT32_MAX);
    cr_assert_eq(rt_video_second(5, UINT32_MAX, RT_VIDEO_MAX, 1), 5);
    cr_assert_eq(rt_video_second(-5, 7, RT_VIDEO_MIN, 1), (uint32_t)-5);
    cr_assert_eq(rt_video_second(-5, 7, RT_VIDEO_MIN, 0), 7, "negative is large");
    cr_assert_eq(rt_video_merge(0x1ff, 0x12345678, 8, 8), 0x1234ff78);
    cr_assert_eq(rt_video_merge(-2, 0x12345678, 16, 16), 0xfffe5678);
    cr_assert_eq(rt_video_merge(-2, 0x12345678, 0, 32), 0xfffffffe);
}

Test(rt_video, multiply_and_add_takes_signed_words)
{
    cr_assert_eq(rt_video_mad(3, 5, 7, 0, 0), 22);
    cr_assert_eq(rt_video_mad(3, 5, 7, RT_VMAD_PLUS_ONE, 0), 23);
    cr_assert_eq(rt_video_mad(3, 5, 7, RT_VMAD_SIGNED | RT_VMAD_NEGATE_PRODUCT, 0), (uint32_t)-8);
    cr_assert_eq(rt_video_mad(3, 5, 7, RT_VMAD_SIGNED | RT_VMAD_NEGATE_ADDEND, 0), 8);
    cr_assert_eq(rt_video_mad(1000, 1000, 64, 0, 7), 1000064 >> 7);
    cr_assert_eq(rt_video_mad(-1000, 1000, 0, RT_VMAD_SIGNED, 15), (uint32_t)(-1000000 >> 15));
    cr_assert_eq(rt_video_mad(UINT32_MAX, 1, 0, RT_VMAD_SATURATE, 0), 0);
    cr_assert_eq(rt_video_mad(INT32_MAX, INT32_MAX, 0, RT_VMAD_SATURATE, 0), UINT32_MAX);
    cr_assert_eq(rt_video_mad(INT32_MIN, INT32_MAX, 0, RT_VMAD_SIGNED | RT_VMAD_SATURATE, 0),
                 (uint32_t)INT32_MIN);
    cr_assert_eq(rt_video_mad(0, 0, UINT32_MAX, RT_VMAD_SIGNED, 7), UINT32_MAX);
    cr_assert_eq(rt_video_mad(0, 0, UINT32_MAX, 0, 7), UINT32_MAX, "-1 in 64 bits");
    cr_assert_eq(rt_video_mad(0, 0, UINT32_MAX, 0, 15), UINT32_MAX);
}
