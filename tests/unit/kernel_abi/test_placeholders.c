/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of the table of placeholders: found by name, and free of contradictions.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "kernel_abi/placeholders.h"

#define FOR_EACH_ROW(row)                                                                          \
    for (const struct rt_placeholder_info *row = &rt_placeholders[RT_CALL_NONE + 1];               \
         row < &rt_placeholders[RT_PLACEHOLDER_COUNT]; row++)

static bool has(const struct rt_placeholder_info *row, enum rt_type type)
{
    return rt_find_parameter((enum rt_placeholder)(row - rt_placeholders), type) >= 0;
}

Test(placeholders, rows_are_found_by_their_whole_names)
{
    FOR_EACH_ROW(row)
    {
        char longer[64];
        size_t len = strlen(row->name);
        snprintf(longer, sizeof longer, "%s_", row->name);
        cr_expect_eq(row->name_len, len);
        cr_expect_eq(rt_find_placeholder(row->name, len), row - rt_placeholders, "%s", row->name);
        cr_expect_eq(rt_find_placeholder(longer, len + 1), RT_CALL_NONE, "%s", longer);
    }
    cr_expect_eq(rt_find_placeholder("", 0), RT_CALL_NONE);
    cr_expect_eq(rt_find_placeholder("rt_", 3), RT_CALL_NONE);
    cr_expect_eq(rt_find_placeholder("xt_shfl", 7), RT_CALL_NONE);
    cr_expect_eq(rt_find_placeholder("rt_fma_f32", 10), RT_CALL_NONE);
}

Test(placeholders, who_calls_nothing_known_may_do_anything)
{
    const struct rt_placeholder_info *none = &rt_placeholders[RT_CALL_NONE];
    cr_expect_eq(none->effect, RT_EFFECT_ANY);
    cr_expect_eq(none->sync, RT_SYNC_NONE);
    cr_expect_eq(none->waits, RT_WAITS_NOBODY);
    cr_expect_eq(none->shape, RT_SHAPE_VARYING);
}

Test(placeholders, sync_points_wait_and_can_be_arrived_at)
{
    FOR_EACH_ROW(row)
    {
        char arrive[64];
        snprintf(arrive, sizeof arrive, "rt_arrive_%s", row->name + strlen("rt_"));
        if (row->sync == RT_SYNC_NONE)
            cr_expect_null(row->arrive, "%s", row->name);
        else
            cr_expect_str_eq(row->arrive, arrive);
        cr_expect(row->sync == RT_SYNC_NONE || row->waits != RT_WAITS_NOBODY, "%s", row->name);
        /* One that has operands in memory does more than to order it. */
        cr_expect(row->sync == RT_SYNC_NONE || row->effect == RT_EFFECT_ORDER ||
                      (row->effect == RT_EFFECT_ANY && row->sync == RT_SYNC_WARP),
                  "%s", row->name);
        cr_expect(row->sync != RT_SYNC_WARP || has(row, RT_TYPE_MASK) || has(row, RT_TYPE_SITE),
                  "%s", row->name);
    }
}

Test(placeholders, ends_give_nothing)
{
    FOR_EACH_ROW(row)
    if (rt_is_end((enum rt_placeholder)(row - rt_placeholders))) {
        cr_expect_eq(row->result, RT_TYPE_VOID, "%s", row->name);
        cr_expect_eq(row->sync, RT_SYNC_NONE, "%s", row->name);
    }
}

Test(placeholders, shapes_fit_the_parameters)
{
    FOR_EACH_ROW(row)
    {
        bool is_of_lanes = row->shape == RT_SHAPE_LANES || row->shape == RT_SHAPE_ALL;
        cr_expect(!is_of_lanes || has(row, RT_TYPE_MASK), "%s", row->name);
        cr_expect(row->shape != RT_SHAPE_ALL || has(row, RT_TYPE_MODE), "%s", row->name);
        cr_expect(row->shape == RT_SHAPE_VARYING || row->result != RT_TYPE_VOID, "%s", row->name);
        cr_expect(row->shape != RT_SHAPE_BLOCK || row->sync == RT_SYNC_BARRIER_RED, "%s",
                  row->name);
    }
}
