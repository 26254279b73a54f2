/* SPDX-License-Identifier: Apache-2.0
 *
 * What core/meetings finds in sequences of calls, as threads make them.
 */
#include <criterion/criterion.h>

#include "cudart/core/meetings/meetings.h"

#define ALL_LANES UINT32_MAX

static struct meet_block block;
static struct meet_found last;
static unsigned found_count;

static void note(void *arg, const struct meet_found *found)
{
    (void)arg;
    last = *found;
    found_count++;
}

static const struct meet_listener listener = {note, NULL};

static void begin(uint32_t threads)
{
    meet_block_begin(&block, threads);
    found_count = 0;
}

static void come(uint32_t first, uint32_t count, uint32_t id, uint32_t waits_for, uint32_t line)
{
    for (uint32_t t = first; t < first + count; t++)
        meet_barrier(&block, t, id, waits_for, true, line, &listener);
}

static void end(uint32_t first, uint32_t count)
{
    for (uint32_t t = first; t < first + count; t++)
        meet_end(&block, t, &listener);
}

static void meet(uint32_t first, uint32_t count, uint32_t mask, uint32_t kind, uint32_t line)
{
    for (uint32_t t = first; t < first + count; t++)
        meet_lanes(&block, t, mask, kind, false, line, &listener);
}

Test(meetings, barriers_that_all_come_to_are_right)
{
    begin(72);
    for (int round = 0; round < 3; round++)
        come(0, 72, 0, 0, 10);
    end(0, 72);
    cr_expect_eq(found_count, 0);
    cr_expect_not(meet_stuck(&block, &listener));
}

Test(meetings, threads_that_end_first_are_missed)
{
    begin(64);
    end(40, 24);
    come(0, 40, 0, 0, 10);
    cr_expect_eq(found_count, 1);
    cr_expect_eq(last.defect, MEET_BARRIER_EXITED);
    cr_expect_eq(last.number, 24);
    cr_expect_eq(last.line, 10);
}

Test(meetings, threads_that_end_while_others_wait_are_missed)
{
    begin(64);
    come(0, 40, 0, 0, 10);
    cr_expect_eq(found_count, 0);
    end(40, 24);
    cr_expect_eq(found_count, 1);
    cr_expect_eq(last.defect, MEET_BARRIER_EXITED);
}

Test(meetings, a_barrier_for_some_does_not_miss_others)
{
    begin(128);
    end(64, 64);
    come(0, 64, 3, 64, 10);
    cr_expect_eq(found_count, 0);
    come(0, 32, 3, 96, 11);
    end(32, 32);
    cr_expect_eq(found_count, 1, "96 threads are not left");
    cr_expect_eq(last.line, 11);
}

Test(meetings, counts_differ)
{
    begin(128);
    come(0, 32, 1, 128, 10);
    come(32, 1, 1, 64, 12);
    cr_expect_eq(found_count, 1);
    cr_expect_eq(last.defect, MEET_BARRIER_COUNT);
    cr_expect_eq(last.other_line, 10);
    cr_expect_eq(last.number, 128);
}

Test(meetings, aligned_barriers_have_one_place_in_a_warp)
{
    begin(64);
    come(0, 32, 0, 0, 10);
    come(32, 16, 0, 0, 11);
    cr_expect_eq(found_count, 0, "warps may come to it in different places");
    come(48, 16, 0, 0, 12);
    cr_expect_eq(last.defect, MEET_DIVERGENT);
    cr_expect_eq(last.other_line, 11);
    cr_expect_eq(last.thread, 63);
}

Test(meetings, lanes_meet_in_any_order)
{
    begin(32);
    meet(16, 16, ALL_LANES, 7, 20);
    meet(0, 16, 0xffff, 7, 10);
    meet(0, 16, ALL_LANES, 7, 20);
    meet(0, 32, ALL_LANES, 7, 30);
    end(0, 32);
    cr_expect_eq(found_count, 0);
}

Test(meetings, lanes_that_the_block_does_not_have_are_not_missed)
{
    begin(40);
    meet(32, 8, ALL_LANES, 7, 20);
    end(0, 40);
    cr_expect_eq(found_count, 0);
}

Test(meetings, a_caller_names_itself)
{
    begin(32);
    meet(16, 1, 0xffff, 7, 20);
    cr_expect_eq(found_count, 1);
    cr_expect_eq(last.defect, MEET_NO_CALLER);
    cr_expect_eq(last.thread, 16);
}

Test(meetings, lanes_that_end_are_missed_before_and_behind)
{
    begin(32);
    end(5, 1);
    meet(0, 1, ALL_LANES, 7, 20);
    cr_expect_eq(found_count, 1);
    cr_expect_eq(last.defect, MEET_MASK_EXITED);
    cr_expect_eq(last.number, 1u << 5);
    end(6, 1);
    cr_expect_eq(found_count, 2);
    cr_expect_eq(last.thread, 0);
    cr_expect_eq(last.line, 20);
}

Test(meetings, sources_take_part)
{
    begin(40);
    meet_source(&block, 3, 0xff, 7, 20, &listener);
    cr_expect_eq(found_count, 0);
    meet_source(&block, 3, 0xff, 8, 20, &listener);
    cr_expect_eq(found_count, 1);
    meet_source(&block, 33, ALL_LANES, 7, 20, &listener);
    cr_expect_eq(found_count, 1);
    meet_source(&block, 33, ALL_LANES, 8, 20, &listener);
    cr_expect_eq(found_count, 2);
    cr_expect_eq(last.defect, MEET_NO_SOURCE);
    cr_expect_eq(last.number, 8);
}

Test(meetings, what_nobody_ends_is_told)
{
    begin(64);
    meet(0, 16, ALL_LANES, 7, 20);
    meet(16, 16, ALL_LANES, 8, 21);
    come(32, 32, 2, 0, 22);
    cr_expect_eq(found_count, 0);
    cr_expect(meet_stuck(&block, &listener));
    cr_expect_eq(found_count, 3);
}
