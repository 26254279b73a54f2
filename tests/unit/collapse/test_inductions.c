/* SPDX-License-Identifier: Apache-2.0
 *
 * Loop variables that are split: which ones, and that the thread does the same as before. It runs,
 * before and after, with placeholders of this file.
 */
#include "translator/collapse/inductions.h"

#include <criterion/criterion.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/Target.h>
#include <stdio.h>
#include <string.h>

#include "kernel_text.h"

/* ---- running one thread ---- */

#define LOG_MAX 256

static struct {
    uint64_t values[LOG_MAX]; /* given to @use */
    size_t count;
} used;

static void note_use(uint64_t value)
{
    cr_assert_lt(used.count, LOG_MAX);
    used.values[used.count++] = value;
}

static uint32_t give_seven(void *thread)
{
    (void)thread;
    return 7;
}

static void pass_barrier(void *thread, uint32_t id, uint32_t count)
{
    (void)thread;
    (void)id;
    (void)count;
}

static void bind(LLVMExecutionEngineRef engine, LLVMModuleRef module, const char *name,
                 void *address)
{
    LLVMAddGlobalMapping(engine, LLVMGetNamedFunction(module, name), address);
}

/* The module stays as it is. */
__attribute__((no_sanitize("undefined"))) static void run_thread(LLVMModuleRef module)
{
    LLVMModuleRef copy = LLVMCloneModule(module);
    LLVMExecutionEngineRef engine = NULL;
    char *message = NULL;
    LLVMLinkInMCJIT();
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    cr_assert(!LLVMCreateMCJITCompilerForModule(&engine, copy, NULL, 0, &message), "%s", message);
    bind(engine, copy, "use", (void *)note_use);
    bind(engine, copy, "rt_sreg_tid_x", (void *)give_seven);
    bind(engine, copy, "rt_bar_sync", (void *)pass_barrier);
    void *parameters[1] = {&used};
    void *launch[1] = {parameters};
    void *record[1] = {launch};
    void *thread[1] = {record};
    memset(&used, 0, sizeof used);
    void (*kernel)(void *) = (void (*)(void *))LLVMGetFunctionAddress(engine, "ptxrun_kernel");
    kernel(thread);
    LLVMDisposeExecutionEngine(engine);
}

/* ---- splitting ---- */

/* Whether anything was split; saved: how many values every thread has to save at sync point 1 then.
 */
static bool split(const char *body, uint32_t *saved)
{
    struct kernel_text text = kernel_text_parse(body);
    kernel_text_plan(&text, TR_SCOPE_BLOCK);
    run_thread(text.module);
    uint64_t before[LOG_MAX];
    size_t count = used.count;
    memcpy(before, used.values, sizeof before);

    bool is_split = tr_split_inductions(&text.kernel, false);
    cr_assert(!LLVMVerifyFunction(text.function, LLVMPrintMessageAction));
    run_thread(text.module);
    cr_assert_gt(count, 0);
    cr_assert_eq(used.count, count);
    cr_assert_arr_eq(used.values, before, count * sizeof before[0]);

    tr_kernel_fini(&text.kernel);
    kernel_text_plan(&text, TR_SCOPE_BLOCK);
    *saved = 0;
    for (uint32_t v = 0; v < text.kernel.graph.value_count; v++)
        *saved += text.storage.crossings[1].home[v] == TR_HOME_THREAD;
    cr_assert(!tr_split_inductions(&text.kernel, false), "split again");
    kernel_text_end(&text);
    return is_split;
}

#define BEGIN                                                                                      \
    "entry:\n%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n" PARAMETER                                 \
    "%wide = zext i32 %tid to i64\n%start = xor i64 %wide, 3\n"                                    \
    "br label %loop\nloop:\n"                                                                      \
    "%n = phi i32 [ 0, %entry ], [ %more, %loop ]\n"
#define END                                                                                        \
    BARRIER "call void @use(i64 %p)\n"                                                             \
            "%more = add i32 %n, 1\n%go = icmp ult i32 %more, 5\n"                                 \
            "br i1 %go, label %loop, label %end\nend:\nret void\n}\n!0 = !{}\n"

Test(inductions, own_start_and_common_step_are_kept_apart)
{
    uint32_t saved;
    cr_assert(split(BEGIN "%p = phi i64 [ %start, %entry ], [ %next, %loop ]\n"
                          "%next = add i64 %p, 64\n" END,
                    &saved));
    cr_assert_eq(saved, 0);
}

Test(inductions, a_step_may_be_computed_and_subtracted)
{
    uint32_t saved;
    cr_assert(split(BEGIN "%p = phi i64 [ %start, %entry ], [ %next, %loop ]\n"
                          "%wide.n = zext i32 %n to i64\n%step = mul i64 %wide.n, %wide.n\n"
                          "%next = sub i64 %p, %step\n" END,
                    &saved));
    cr_assert_eq(saved, 0);
}

Test(inductions, an_address_goes_on_by_elements)
{
    uint32_t saved;
    cr_assert(split("entry:\n%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n" PARAMETER
                    "%start = getelementptr i64, ptr %out, i32 %tid\nbr label %loop\nloop:\n"
                    "%n = phi i32 [ 0, %entry ], [ %more, %loop ]\n"
                    "%at = phi ptr [ %start, %entry ], [ %next, %loop ]\n"
                    "%p = ptrtoint ptr %at to i64\n"
                    "%next = getelementptr [3 x i32], ptr %at, i32 -2\n" END,
                    &saved));
    cr_assert_eq(saved, 0);
}

Test(inductions, a_loop_may_go_back_from_several_places)
{
    uint32_t saved;
    cr_assert(
        split("entry:\n%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n" PARAMETER
              "%wide = zext i32 %tid to i64\n%start = xor i64 %wide, 3\nbr label %loop\nloop:\n"
              "%n = phi i32 [ 0, %entry ], [ %more, %same ], [ %more, %on ], [ %more, %on ]\n"
              "%p = phi i64 [ %start, %entry ], [ %p, %same ], [ %next, %on ], [ %next, %on ]\n"
              "%more = add i32 %n, 1\n" BARRIER "call void @use(i64 %p)\n"
              "%odd = and i32 %n, 1\n%is.odd = icmp eq i32 %odd, 1\n"
              "br i1 %is.odd, label %same, label %on\n"
              "same:\nbr label %loop\n"
              "on:\n%next = add i64 9, %p\n"
              "switch i32 %more, label %end [ i32 1, label %loop\ni32 3, label %loop ]\n"
              "end:\nret void\n}\n!0 = !{}\n",
              &saved));
    cr_assert_eq(saved, 0);
}

Test(inductions, a_variable_may_start_with_that_of_the_loop_around)
{
    uint32_t saved;
    cr_assert(split("entry:\n%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n" PARAMETER
                    "%wide = zext i32 %tid to i64\n%start = xor i64 %wide, 3\nbr label %outer\n"
                    "outer:\n%m = phi i32 [ 0, %entry ], [ %m.more, %latch ]\n"
                    "%q = phi i64 [ %start, %entry ], [ %q.next, %latch ]\n"
                    "br label %loop\nloop:\n"
                    "%n = phi i32 [ 0, %outer ], [ %more, %loop ]\n"
                    "%p = phi i64 [ %q, %outer ], [ %next, %loop ]\n"
                    "%next = add i64 %p, 5\n" BARRIER "call void @use(i64 %p)\n"
                    "%more = add i32 %n, 1\n%go = icmp ult i32 %more, 5\n"
                    "br i1 %go, label %loop, label %latch\n"
                    "latch:\n%q.next = add i64 %q, 1000\n%m.more = add i32 %m, 1\n"
                    "%again = icmp ult i32 %m.more, 3\n"
                    "br i1 %again, label %outer, label %end\nend:\nret void\n}\n!0 = !{}\n",
                    &saved));
    cr_assert_eq(saved, 0);
}

Test(inductions, a_step_of_the_threads_own_stays)
{
    uint32_t saved;
    cr_assert(!split(BEGIN "%p = phi i64 [ %start, %entry ], [ %next, %loop ]\n"
                           "%next = add i64 %p, %start\n" END,
                     &saved));
    cr_assert_gt(saved, 0);
}

Test(inductions, other_arithmetic_stays)
{
    uint32_t saved;
    cr_assert(!split(BEGIN "%p = phi i64 [ %start, %entry ], [ %next, %loop ]\n"
                           "%next = mul i64 %p, 3\n" END,
                     &saved));
    cr_assert(!split(BEGIN "%p = phi i64 [ %start, %entry ], [ %next, %loop ]\n"
                           "%next = sub i64 3, %p\n" END,
                     &saved));
}

Test(inductions, a_start_from_memory_stays)
{
    uint32_t saved;
    cr_assert(!split("entry:\n%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n" PARAMETER
                     "%where = getelementptr i64, ptr %out, i32 %tid\n"
                     "%start = load i64, ptr %where\nbr label %loop\nloop:\n"
                     "%n = phi i32 [ 0, %entry ], [ %more, %loop ]\n"
                     "%p = phi i64 [ %start, %entry ], [ %next, %loop ]\n"
                     "%next = add i64 %p, 64\n" END,
                     &saved));
}

Test(inductions, a_loop_without_sync_points_stays)
{
    uint32_t saved;
    cr_assert(!split("entry:\n%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n" BARRIER
                     "%wide = zext i32 %tid to i64\nbr label %loop\nloop:\n"
                     "%n = phi i32 [ 0, %entry ], [ %more, %loop ]\n"
                     "%p = phi i64 [ %wide, %entry ], [ %next, %loop ]\n"
                     "%next = add i64 %p, 64\ncall void @use(i64 %p)\n"
                     "%more = add i32 %n, 1\n%go = icmp ult i32 %more, 5\n"
                     "br i1 %go, label %loop, label %end\nend:\nret void\n}\n",
                     &saved));
}

/* ---- loops in which nobody waits ---- */

static bool is_plain_loop_split(const char *start, bool for_vectors)
{
    char body[2048];
    snprintf(body, sizeof body, "%s%s%s",
             "entry:\n%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n" PARAMETER, start,
             "br label %loop\nloop:\n%n = phi i32 [ 0, %entry ], [ %more, %loop ]\n"
             "%p = phi i64 [ %start, %entry ], [ %next, %loop ]\n"
             "%next = add i64 %p, 64\ncall void @use(i64 %p)\n"
             "%more = add i32 %n, 1\n%go = icmp ult i32 %more, 5\n"
             "br i1 %go, label %loop, label %end\nend:\nret void\n}\n!0 = !{}\n");
    struct kernel_text text = kernel_text_parse(body);
    kernel_text_plan(&text, TR_SCOPE_BLOCK);
    run_thread(text.module);
    cr_assert_eq(used.count, 5);
    uint64_t before[5];
    memcpy(before, used.values, sizeof before);
    bool is_split = tr_split_inductions(&text.kernel, for_vectors);
    cr_assert(!LLVMVerifyFunction(text.function, LLVMPrintMessageAction));
    run_thread(text.module);
    cr_assert_eq(used.count, 5);
    cr_assert_arr_eq(used.values, before, sizeof before);
    kernel_text_end(&text);
    return is_split;
}

/* Neighbours can be told by the first value then. */
Test(inductions, vectors_want_an_index_that_may_wrap_apart)
{
    static const char narrow[] = "%index = mul i32 %tid, 3\n%wide = sext i32 %index to i64\n"
                                 "%bytes = shl i64 %wide, 2\n%start = add i64 %bytes, 4096\n";
    static const char same[] = "%start = ptrtoint ptr %out to i64\n";
    static const char loaded[] = "%where = getelementptr i32, ptr %out, i32 %tid\n"
                                 "%index = load i32, ptr %where\n"
                                 "%start = sext i32 %index to i64\n";
    cr_expect(is_plain_loop_split(narrow, true));
    cr_expect(!is_plain_loop_split(narrow, false));
    cr_expect(!is_plain_loop_split(same, true));
    cr_expect(!is_plain_loop_split(loaded, true));
}

/* What is accessed is that pointer and indices then. */
Test(inductions, vectors_want_a_pointer_apart)
{
    static const char parameter[] = "%address = load i64, ptr %params, !invariant.load !0\n"
                                    "%place = xor i32 %tid, 3\n%bytes = zext i32 %place to i64\n"
                                    "%start = add i64 %address, %bytes\n";
    static const char number[] = "%place = xor i32 %tid, 3\n%start = zext i32 %place to i64\n";
    cr_expect(is_plain_loop_split(parameter, true));
    cr_expect(!is_plain_loop_split(parameter, false));
    cr_expect(!is_plain_loop_split(number, true));
}
