/* SPDX-License-Identifier: Apache-2.0
 *
 * Which values that a group has in common are computed behind the loop over its threads.
 */
#include <criterion/criterion.h>

#include "kernel_text.h"
#include "translator/collapse/region_loop.h"

/* The value called `name`, kept per group at the sync point, for threads that come from the region.
 */
static bool is_once(const char *body, uint32_t region, uint32_t sync, const char *name)
{
    struct kernel_text text = kernel_text_parse(body);
    kernel_text_plan(&text, TR_SCOPE_BLOCK);
    uint32_t value = kernel_text_value(&text, name);
    cr_assert_eq(text.storage.crossings[sync].home[value], TR_HOME_GROUP);
    cr_assert(tr_set_has(&text.kernel.regions[region].outcomes, sync));
    struct tr_fuse fuse = {.kernel = &text.kernel, .storage = text.storage};
    bool is_dynamic[8] = {false};
    struct tr_fused fused = {.fuse = &fuse, .is_dynamic = is_dynamic};
    bool result = tr_is_group_value(&fused, region, sync, value);
    kernel_text_end(&text);
    return result;
}

#define COUNTED                                                                                    \
    "entry:\n" PARAMETER "br label %loop\n"                                                        \
    "loop:\n%n = phi i32 [ 0, %entry ], [ %more, %latch ]\n" BARRIER "br label %latch\n"           \
    "latch:\n%more = add i32 %n, 1\n"                                                              \
    "%go = icmp ult i32 %more, 5\nbr i1 %go, label %loop, label %end\n"                            \
    "end:\nstore i32 %more, ptr %out\nret void\n}\n!0 = !{}\n"

Test(group, a_counter_is_counted_once)
{
    cr_assert(is_once(COUNTED, 0, 1, "n"));
    cr_assert(is_once(COUNTED, 1, 1, "n"));
}

/* Behind sync point 2, n is the next one, and before is what n was. */
Test(group, a_value_and_the_one_before_it_are_told_apart)
{
    static const char body[] = "entry:\n" PARAMETER "br label %loop\n"
                               "loop:\n%n = phi i32 [ 0, %entry ], [ %more, %loop ]\n"
                               "%before = phi i32 [ 9, %entry ], [ %n, %loop ]\n" BARRIER
                               "call void @use(i64 1)\n" BARRIER "%more = add i32 %n, %before\n"
                               "%go = icmp ult i32 %more, 5\nbr i1 %go, label %loop, label %end\n"
                               "end:\nstore i32 %more, ptr %out\nret void\n}\n!0 = !{}\n";
    cr_assert(is_once(body, 1, 2, "n"));
    cr_assert(is_once(body, 2, 1, "n"));
    cr_assert(is_once(body, 2, 1, "before"));
}

Test(group, what_an_inner_loop_gives_is_left_to_the_threads)
{
    static const char body[] =
        "entry:\n" PARAMETER "br label %loop\n"
        "loop:\n%n = phi i32 [ 0, %entry ], [ %k.more, %latch ]\n" BARRIER "br label %inner\n"
        "inner:\n%k = phi i32 [ %n, %loop ], [ %k.more, %inner ]\n%k.more = add i32 %k, 3\n"
        "%stay = icmp ult i32 %k.more, 100\nbr i1 %stay, label %inner, label %latch\n"
        "latch:\n%go = icmp ult i32 %k.more, 500\nbr i1 %go, label %loop, label %end\n"
        "end:\nstore i32 %n, ptr %out\nret void\n}\n!0 = !{}\n";
    cr_assert(is_once(body, 0, 1, "n"));
    cr_assert(!is_once(body, 1, 1, "n"));
}

Test(group, what_depends_on_the_way_is_left_to_the_threads)
{
    static const char body[] =
        "entry:\n" PARAMETER "br label %loop\n"
        "loop:\n%n = phi i32 [ 0, %entry ], [ %more, %latch ]\n" BARRIER
        "%odd = and i32 %n, 1\n%is.odd = icmp eq i32 %odd, 1\n"
        "br i1 %is.odd, label %then, label %latch\nthen:\nbr label %latch\n"
        "latch:\n%step = phi i32 [ 1, %loop ], [ 3, %then ]\n%more = add i32 %n, %step\n"
        "%go = icmp ult i32 %more, 500\nbr i1 %go, label %loop, label %end\n"
        "end:\nstore i32 %n, ptr %out\nret void\n}\n!0 = !{}\n";
    cr_assert(!is_once(body, 1, 1, "n"));
}

/* A thread may come to sync point 2 with the y of this iteration, or around the loop with the last
 * one's. */
Test(group, what_some_ways_define_is_left_to_the_threads)
{
    static const char body[] =
        "entry:\n" PARAMETER "br label %loop\n"
        "loop:\n%n = phi i32 [ 0, %entry ], [ %more, %latch ]\n%y = mul i32 %n, %n\n"
        "br label %inner\n"
        "inner:\n%k = phi i32 [ 0, %loop ], [ %k.more, %back ]\n" BARRIER
        "%k.more = add i32 %k, %y\n%stay = icmp ult i32 %k.more, 100\n"
        "br i1 %stay, label %back, label %latch\nback:\nbr label %inner\n"
        "latch:\n%more = add i32 %n, 1\n"
        "%go = icmp ult i32 %more, 500\nbr i1 %go, label %loop, label %end\n"
        "end:\nstore i32 %n, ptr %out\nret void\n}\n!0 = !{}\n";
    cr_assert(is_once(body, 0, 1, "n"));
    cr_assert(!is_once(body, 1, 1, "n"));
}

/* Such as a division, which may fault where no thread would have divided. */
Test(group, what_cannot_be_computed_again_is_left_to_the_threads)
{
    static const char body[] =
        "entry:\n" PARAMETER "%size = call i32 @rt_sreg_ntid_x(ptr %ctx)\nbr label %loop\n"
        "loop:\n%n = phi i32 [ 900, %entry ], [ %more, %loop ]\n" BARRIER
        "%more = udiv i32 %n, %size\n"
        "%go = icmp ult i32 %n, 5\nbr i1 %go, label %loop, label %end\n"
        "end:\nstore i32 %n, ptr %out\nret void\n}\n!0 = !{}\n";
    cr_assert(!is_once(body, 1, 1, "n"));
}
