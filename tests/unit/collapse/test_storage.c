/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans for values across sync points: homes in small kernels where one can say what they should
 * be, and what every plan promises for the kernels of tests/ptx/shapes.
 */
#include "kernel_text.h"
#include "plan_check.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "translator/collapse/frame.h"
#include "translator/pipeline.h"

static void check_plan(struct kernel_text *text)
{
    plan_check_lists(&text->kernel, &text->storage);
    plan_check_available(&text->kernel, &text->storage);
    for (uint64_t seed = 1; seed <= 8; seed++)
        plan_check_walk(&text->kernel, &text->storage, seed);
}

static struct kernel_text plan_ir(const char *body, enum tr_scope scope)
{
    struct kernel_text text = kernel_text_parse(body);
    kernel_text_plan(&text, scope);
    check_plan(&text);
    return text;
}

static enum tr_home home_of(const struct kernel_text *plan, uint32_t sync, const char *name)
{
    return plan->storage.crossings[sync].home[kernel_text_value(plan, name)];
}

static void expect_home(const struct kernel_text *plan, uint32_t sync, const char *name,
                        enum tr_home expected)
{
    static const char *const names[] = {"none", "thread", "group", "again"};
    enum tr_home home = home_of(plan, sync, name);
    cr_assert_eq(home, expected, "%%%s at synchronisation point %u: %s, not %s", name, sync,
                 names[home], names[expected]);
}

static uint32_t saved_count(const struct kernel_text *plan, uint32_t sync)
{
    return tr_set_count(&plan->storage.crossings[sync].saved);
}

/* ---- homes ---- */

Test(storage, index_arithmetic_is_computed_again)
{
    struct kernel_text plan =
        plan_ir("%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n"
                "%block = call i32 @rt_sreg_ctaid_x(ptr %ctx)\n"
                "%size = call i32 @rt_sreg_ntid_x(ptr %ctx)\n"
                "%base = mul i32 %block, %size\n"
                "%i = add i32 %base, %tid\n"
                "%wide = zext i32 %i to i64\n"
                "%offset = shl i64 %wide, 2\n" PARAMETER
                "%address = getelementptr i8, ptr %out, i64 %offset\n"
                "%x = load i32, ptr %address\n" BARRIER "store i32 %x, ptr %address\n"
                "ret void\n}\n!0 = !{}\n",
                TR_SCOPE_BLOCK);
    expect_home(&plan, 1, "x", TR_HOME_THREAD);
    expect_home(&plan, 1, "address", TR_HOME_AGAIN);
    expect_home(&plan, 1, "tid", TR_HOME_AGAIN);
    expect_home(&plan, 1, "out", TR_HOME_AGAIN);
    cr_assert_eq(saved_count(&plan, 1), 1);
    kernel_text_end(&plan);
}

/* Of a thread that is run by itself. */
static bool has_memory(struct kernel_text *plan, const char *name)
{
    struct tr_frame frame;
    struct pxr_error err = {0};
    LLVMTargetDataRef target = LLVMCreateTargetData(KERNEL_TEXT_LAYOUT);
    enum pxr_status status =
        tr_frame_layout(&frame, &plan->kernel, &plan->storage, true, false, target, &err);
    LLVMDisposeTargetData(target);
    cr_assert_eq(status, PXR_OK, "%s", err.message);
    return frame.thread_array[kernel_text_value(plan, name)] != TR_NONE;
}

Test(storage, what_is_only_a_part_of_others_has_no_memory)
{
    struct kernel_text plan =
        plan_ir(PARAMETER "%x = load i32, ptr %out\n"
                          "%part = mul i32 %x, 3\n"
                          "%y = add i32 %part, 1\n" BARRIER "store i32 %x, ptr %out\n"
                          "store i32 %y, ptr %out\n"
                          "ret void\n}\n!0 = !{}\n",
                TR_SCOPE_BLOCK);
    expect_home(&plan, 1, "x", TR_HOME_THREAD);
    expect_home(&plan, 1, "part", TR_HOME_AGAIN);
    expect_home(&plan, 1, "y", TR_HOME_AGAIN);
    cr_expect(has_memory(&plan, "x"));
    cr_expect_not(has_memory(&plan, "part"));
    cr_expect(has_memory(&plan, "y"));
    kernel_text_end(&plan);
}

#define LOOP                                                                                       \
    "%cell = alloca i32\n" PARAMETER "br label %loop\n"                                            \
    "loop:\n"                                                                                      \
    "%n = phi i32 [ 0, %entry ], [ %next, %loop ]\n"                                               \
    "%sum = phi i32 [ 0, %entry ], [ %more, %loop ]\n"

Test(storage, counter_of_a_uniform_loop_is_the_groups_and_an_accumulator_the_threads)
{
    struct kernel_text plan =
        plan_ir("entry:\n%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n" LOOP
                "%more = add i32 %sum, %tid\n" BARRIER "%next = add i32 %n, 1\n"
                "%go = icmp ult i32 %next, 9\n"
                "br i1 %go, label %loop, label %end\n"
                "end:\nstore i32 %more, ptr %out\n"
                "ret void\n}\n!0 = !{}\n",
                TR_SCOPE_BLOCK);
    expect_home(&plan, 1, "n", TR_HOME_GROUP);
    cr_assert(home_of(&plan, 1, "more") == TR_HOME_THREAD ||
              home_of(&plan, 1, "sum") == TR_HOME_THREAD);
    kernel_text_end(&plan);
}

Test(storage, counter_of_a_divergent_loop_is_the_threads)
{
    struct kernel_text plan =
        plan_ir("entry:\n%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n" LOOP
                "%more = add i32 %sum, %tid\n" BARRIER "%next = add i32 %n, 1\n"
                "%go = icmp ult i32 %next, %tid\n"
                "br i1 %go, label %loop, label %end\n"
                "end:\n" BARRIER "store i32 %more, ptr %out\n"
                "ret void\n}\n!0 = !{}\n",
                TR_SCOPE_BLOCK);
    expect_home(&plan, 1, "n", TR_HOME_THREAD);
    kernel_text_end(&plan);
}

Test(storage, behind_a_sync_that_loops_cannot_pass_nothing_is_the_groups)
{
    struct kernel_text plan = plan_ir("entry:\n%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n" LOOP
                                      "%more = add i32 %sum, %tid\n"
                                      "call void @rt_bar_arrive(ptr %ctx, i32 1, i32 64)\n"
                                      "%next = add i32 %n, 1\n"
                                      "%go = icmp ult i32 %next, 9\n"
                                      "br i1 %go, label %loop, label %end\n"
                                      "end:\nstore i32 %more, ptr %out\n"
                                      "ret void\n}\n!0 = !{}\n",
                                      TR_SCOPE_BLOCK);
    expect_home(&plan, 1, "n", TR_HOME_THREAD);
    kernel_text_end(&plan);
}

Test(storage, memory_that_may_change_and_clocks_are_not_read_again)
{
    struct kernel_text plan = plan_ir("%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n" PARAMETER
                                      "%address = getelementptr i32, ptr %out, i32 %tid\n"
                                      "%plain = load i32, ptr %address\n"
                                      "%steady = load i32, ptr %address, !invariant.load !0\n"
                                      "%time = call i32 @rt_sreg_clock(ptr %ctx)\n" BARRIER
                                      "%s1 = add i32 %plain, %time\n"
                                      "%s2 = add i32 %s1, %steady\n"
                                      "store i32 %s2, ptr %out\n"
                                      "ret void\n}\n!0 = !{}\n",
                                      TR_SCOPE_BLOCK);
    expect_home(&plan, 1, "plain", TR_HOME_THREAD);
    expect_home(&plan, 1, "time", TR_HOME_THREAD);
    cr_assert_neq(home_of(&plan, 1, "steady"), TR_HOME_NONE);
    kernel_text_end(&plan);
}

#define TWO_LOADS                                                                                  \
    "%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n" PARAMETER                                         \
    "%address = getelementptr float, ptr %out, i32 %tid\n"                                         \
    "%x = load float, ptr %address\n"                                                              \
    "%beside = getelementptr float, ptr %address, i32 1\n"                                         \
    "%y = load float, ptr %beside\n"                                                               \
    "%a = fadd float %x, %y\n%b = fsub float %x, %y\n"                                             \
    "%c = fmul float %x, %y\n%d = fsub float %y, %x\n"
#define FOUR_STORES                                                                                \
    "store float %a, ptr %address\nstore float %b, ptr %address\n"                                 \
    "store float %c, ptr %address\nstore float %d, ptr %address\n"

Test(storage, what_many_values_are_made_from_is_saved_instead_of_them)
{
    struct kernel_text plan =
        plan_ir(TWO_LOADS BARRIER FOUR_STORES "ret void\n}\n!0 = !{}\n", TR_SCOPE_BLOCK);
    expect_home(&plan, 1, "x", TR_HOME_THREAD);
    expect_home(&plan, 1, "y", TR_HOME_THREAD);
    expect_home(&plan, 1, "a", TR_HOME_AGAIN);
    expect_home(&plan, 1, "d", TR_HOME_AGAIN);
    cr_assert_eq(saved_count(&plan, 1), 2);
    kernel_text_end(&plan);
}

Test(storage, what_is_saved_although_not_live_is_saved_at_every_sync_before)
{
    struct kernel_text plan =
        plan_ir(TWO_LOADS BARRIER "call void @use(i64 1)\n" BARRIER BARRIER FOUR_STORES
                                  "ret void\n}\n!0 = !{}\n",
                TR_SCOPE_BLOCK);
    for (uint32_t sync = 1; sync <= 3; sync++) {
        expect_home(&plan, sync, "x", TR_HOME_THREAD);
        expect_home(&plan, sync, "y", TR_HOME_THREAD);
        expect_home(&plan, sync, "b", TR_HOME_AGAIN);
    }
    kernel_text_end(&plan);
}

/* At sync point 3, where all threads come alike, a and b are cheapest; at sync point 4, x and y,
 * which are smaller. They are then needed at sync point 3 too, though nobody uses them behind it,
 * and x at sync point 2.
 */
Test(storage, what_is_saved_although_not_live_is_there_since_its_definition)
{
    struct kernel_text plan =
        plan_ir("entry:\n%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n" PARAMETER BARRIER
                "%block = call i32 @rt_sreg_ctaid_x(ptr %ctx)\n"
                "%first = icmp eq i32 %block, 0\n"
                "br i1 %first, label %then, label %join\n"
                "then:\nbr label %join\n"
                "join:\n%x = phi i32 [ 1, %entry ], [ 7, %then ]\n"
                "%wide.x = zext i32 %x to i64\nbr label %go\n"
                "go:\n%y = call i32 @rt_bar_red(ptr %ctx, i32 0, i32 0, i32 %tid, i32 2)\n"
                "br label %on\n"
                "on:\n%wide.y = zext i32 %y to i64\n"
                "%a = add i64 %wide.x, %wide.y\n%b = sub i64 %wide.x, %wide.y\n" BARRIER
                "%low = icmp ult i32 %tid, 7\nbr i1 %low, label %some, label %end\n"
                "some:\n" BARRIER "store i64 %a, ptr %out\nstore i64 %b, ptr %out\nbr label %end\n"
                "end:\n" BARRIER "ret void\n}\n!0 = !{}\n",
                TR_SCOPE_BLOCK);
    expect_home(&plan, 1, "x", TR_HOME_NONE);
    expect_home(&plan, 2, "x", TR_HOME_GROUP);
    expect_home(&plan, 2, "y", TR_HOME_NONE);
    expect_home(&plan, 3, "x", TR_HOME_GROUP);
    expect_home(&plan, 3, "y", TR_HOME_GROUP);
    expect_home(&plan, 4, "x", TR_HOME_THREAD);
    expect_home(&plan, 4, "y", TR_HOME_THREAD);
    expect_home(&plan, 4, "a", TR_HOME_AGAIN);
    cr_assert_eq(saved_count(&plan, 4), 2);
    cr_assert_eq(saved_count(&plan, 5), 0);
    kernel_text_end(&plan);
}

/* One element serves all sync points: where it has been written before, it need only be read. */
Test(storage, a_value_that_was_saved_before_is_kept_rather_than_another_saved)
{
    struct kernel_text plan =
        plan_ir("%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n" PARAMETER
                "%address = getelementptr float, ptr %out, i32 %tid\n"
                "%x = load float, ptr %address\n"
                "%a = fadd float %x, 1.0\n" BARRIER "store float %x, ptr %out\n" BARRIER
                "store float %a, ptr %out\nret void\n}\n!0 = !{}\n",
                TR_SCOPE_BLOCK);
    expect_home(&plan, 1, "x", TR_HOME_THREAD);
    expect_home(&plan, 1, "a", TR_HOME_AGAIN);
    expect_home(&plan, 2, "x", TR_HOME_THREAD);
    expect_home(&plan, 2, "a", TR_HOME_AGAIN);
    kernel_text_end(&plan);
}

/* Ten instructions, each made from the one before, and %last of them; it is needed behind a
 * barrier. */
static struct kernel_text plan_of_chain(const char *operation, const char *last)
{
    char body[4096];
    int len =
        snprintf(body, sizeof body, "%s%s", "%s0 = call i32 @rt_sreg_tid_x(ptr %ctx)\n" PARAMETER,
                 "%size = call i32 @rt_sreg_ntid_x(ptr %ctx)\n");
    for (int i = 0; i < 9; i++)
        len += snprintf(body + len, sizeof body - len, "%%s%d = %s i32 %%s%d, %%size\n", i + 1,
                        operation, i);
    snprintf(body + len, sizeof body - len, "%%last = %s\n%s", last,
             BARRIER "store i32 %last, ptr %out\nret void\n}\n!0 = !{}\n");
    return plan_ir(body, TR_SCOPE_BLOCK);
}

static enum tr_home home_of_chain(const char *operation, const char *last)
{
    struct kernel_text plan = plan_of_chain(operation, last);
    enum tr_home home = home_of(&plan, 1, "last");
    kernel_text_end(&plan);
    return home;
}

/* Where it is limited, too: only the lanes at a border are not neighbours then. */
Test(storage, an_index_is_worth_more_instructions_than_another_value)
{
    static const char *const limits[] = {
        "call i32 @llvm.umin.i32(i32 %s9, i32 %size)",
        "select i1 false, i32 0, i32 %s9",
        "urem i32 %s9, 100",
    };
    cr_assert_eq(home_of_chain("add", "add i32 %s9, 1"), TR_HOME_AGAIN);
    cr_assert_eq(home_of_chain("xor", "add i32 %s9, 1"), TR_HOME_THREAD);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        cr_assert_eq(home_of_chain("add", limits[i]), TR_HOME_AGAIN, "%s", limits[i]);
        cr_assert_eq(home_of_chain("xor", limits[i]), TR_HOME_THREAD, "%s", limits[i]);
    }
}

Test(storage, a_long_chain_is_saved_at_its_end)
{
    char body[8192] = "%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n" PARAMETER
                      "%address = getelementptr float, ptr %out, i32 %tid\n"
                      "%x0 = load float, ptr %address\n";
    for (int i = 0; i < 40; i++) {
        char line[80];
        snprintf(line, sizeof line, "%%x%d = fmul float %%x%d, %%x%d\n", i + 1, i, i);
        strcat(body, line);
    }
    strcat(body, BARRIER "store float %x40, ptr %address\nstore float %x0, ptr %address\n"
                         "ret void\n}\n!0 = !{}\n");
    struct kernel_text plan = plan_ir(body, TR_SCOPE_BLOCK);
    expect_home(&plan, 1, "x40", TR_HOME_THREAD);
    expect_home(&plan, 1, "x0", TR_HOME_THREAD);
    expect_home(&plan, 1, "x20", TR_HOME_NONE);
    expect_home(&plan, 1, "address", TR_HOME_AGAIN);
    kernel_text_end(&plan);
}

Test(storage, a_frozen_value_is_saved)
{
    struct kernel_text plan =
        plan_ir("%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n" PARAMETER "%wild = shl i32 1, %tid\n"
                "%some = freeze i32 %wild\n" BARRIER "store i32 %some, ptr %out\n"
                "ret void\n}\n!0 = !{}\n",
                TR_SCOPE_BLOCK);
    expect_home(&plan, 1, "some", TR_HOME_THREAD);
    kernel_text_end(&plan);
}

Test(storage, division_is_done_again_by_constants_only)
{
    struct kernel_text plan = plan_ir("%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n" PARAMETER
                                      "%size = call i32 @rt_sreg_ntid_x(ptr %ctx)\n"
                                      "%a = udiv i32 %tid, %size\n"
                                      "%b = urem i32 %tid, 3\n"
                                      "%c = sdiv i32 %tid, -1\n" BARRIER "%s1 = add i32 %a, %b\n"
                                      "%s2 = add i32 %s1, %c\n"
                                      "store i32 %s2, ptr %out\n"
                                      "ret void\n}\n!0 = !{}\n",
                                      TR_SCOPE_BLOCK);
    expect_home(&plan, 1, "a", TR_HOME_THREAD);
    expect_home(&plan, 1, "b", TR_HOME_AGAIN);
    expect_home(&plan, 1, "c", TR_HOME_THREAD);
    kernel_text_end(&plan);
}

Test(storage, memory_of_the_threads_own_is_never_saved)
{
    struct kernel_text plan =
        plan_ir("%cell = alloca [4 x i32]\n"
                "%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n"
                "%at = getelementptr i32, ptr %cell, i32 %tid\n" BARRIER "store i32 1, ptr %at\n"
                "ret void\n}\n",
                TR_SCOPE_BLOCK);
    expect_home(&plan, 1, "cell", TR_HOME_NONE);
    expect_home(&plan, 1, "at", TR_HOME_AGAIN);
    kernel_text_end(&plan);
}

Test(storage, result_of_a_sync_crosses_the_next_one)
{
    struct kernel_text plan = plan_ir(
        PARAMETER "%got = call i64 @rt_shfl(ptr %ctx, i32 0, i32 7, i32 1, i32 31, i32 -1)\n"
                  "%low = trunc i64 %got to i32\n" BARRIER "store i32 %low, ptr %out\n"
                  "ret void\n}\n!0 = !{}\n",
        TR_SCOPE_WARP);
    expect_home(&plan, 1, "got", TR_HOME_NONE);
    cr_assert_eq(saved_count(&plan, 1), 0);
    cr_assert_eq(saved_count(&plan, 2), 1);
    kernel_text_end(&plan);
}

Test(storage, kernels_too_large_for_a_cut_are_planned_too)
{
    enum { COUNT = 6000 };
    size_t room = COUNT * 160;
    char *body = malloc(room);
    size_t len = (size_t)snprintf(body, room, "%s",
                                  "%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n"
                                  "%wide = zext i32 %tid to i64\n" PARAMETER);
    for (int i = 0; i < COUNT; i++)
        len += (size_t)snprintf(body + len, room - len,
                                "%%a%d = getelementptr i64, ptr %%out, i64 %d\n"
                                "%%x%d = load i64, ptr %%a%d\n%%y%d = add i64 %%x%d, %%wide\n",
                                i, i, i, i, i, i);
    len += (size_t)snprintf(body + len, room - len, "%s", BARRIER);
    for (int i = 0; i < COUNT; i++)
        len += (size_t)snprintf(body + len, room - len, "store i64 %%y%d, ptr %%a%d\n", i, i);
    snprintf(body + len, room - len, "ret void\n}\n!0 = !{}\n");
    struct kernel_text plan = plan_ir(body, TR_SCOPE_BLOCK);
    expect_home(&plan, 1, "y17", TR_HOME_THREAD);
    expect_home(&plan, 1, "a17", TR_HOME_AGAIN);
    kernel_text_end(&plan);
    free(body);
}

/* ---- all shapes of control flow ---- */

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file, "%s", path);
    char *text = calloc(1, 1 << 20);
    cr_assert_lt(fread(text, 1, (1 << 20) - 1, file), (1 << 20) - 1);
    fclose(file);
    return text;
}

static uint32_t plan_entry(const struct ptx_module *ptx, const struct ptx_func *entry)
{
    struct pxr_error err = {0};
    struct ptx_kernel_layout layout;
    struct tr_options options = {.triple = "x86_64-unknown-linux-gnu",
                                 .data_layout = KERNEL_TEXT_LAYOUT};
    uint32_t sync_points = 0;
    if (ptx_layout_kernel(ptx, entry, &layout, &err) != PXR_OK)
        return 0;
    for (int scope = TR_SCOPE_WARP; scope <= TR_SCOPE_BLOCK; scope++) {
        struct kernel_text plan = {.context = LLVMContextCreate()};
        enum pxr_status status =
            tr_translate_kernel(ptx, entry, &layout, &options, plan.context, &plan.module, &err);
        cr_assert_eq(status, PXR_OK, "%s", err.message);
        kernel_text_plan(&plan, (enum tr_scope)scope);
        check_plan(&plan);
        sync_points += plan.kernel.sync_count - 1;
        kernel_text_end(&plan);
    }
    ptx_layout_fini(&layout);
    return sync_points;
}

static uint32_t plan_file(const char *path)
{
    char *text = read_file(path);
    struct ptx_module *ptx = NULL;
    struct pxr_error err = {0};
    uint32_t sync_points = 0;
    cr_assert_eq(ptx_parse(pxr_str_from(text), path, &ptx, &err), PXR_OK, "%s", err.message);
    for (uint32_t i = 0; i < ptx->func_count; i++)
        if (ptx->funcs[i]->is_entry)
            sync_points += plan_entry(ptx, ptx->funcs[i]);
    ptx_module_destroy(ptx);
    free(text);
    return sync_points;
}

Test(storage, plans_of_all_shapes_keep_their_promises)
{
    DIR *folder = opendir(PTXRUN_TEST_SHAPES);
    cr_assert_not_null(folder);
    uint32_t sync_points = 0;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot == NULL || strcmp(dot, ".ptx") != 0)
            continue;
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", PTXRUN_TEST_SHAPES, entry->d_name);
        sync_points += plan_file(path);
    }
    closedir(folder);
    cr_assert_gt(sync_points, 200, "%u synchronisation points", sync_points);
}
