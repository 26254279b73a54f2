/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs that wait for memory: where the lanes of a warp gather so that they stay in step, and
 * which sleeps are left.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_text.h"
#include "translator/collapse/prepare.h"
#include "translator/module/walk.h"

#define ENDS                                                                                       \
    "declare i32 @rt_sreg_laneid(ptr)\n"                                                           \
    "declare i32 @rt_sreg_tid_y(ptr)\n"                                                            \
    "declare void @rt_spin(ptr)\n"                                                                 \
    "declare void @rt_nanosleep(ptr, i32) convergent\n"                                            \
    "!0 = !{}\n"

/* Lanes that the condition holds for store a word, then a flag; all wait for another flag. */
#define RELEASE(condition)                                                                         \
    PARAMETER                                                                                      \
    "%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n"                                                   \
    "%ntid = call i32 @rt_sreg_ntid_x(ptr %ctx)\n"                                                 \
    "store i32 1, ptr %out\n"                                                                      \
    "%flag = getelementptr i8, ptr %out, i64 64\n" condition                                       \
    "br i1 %goes, label %branch, label %wait\n"                                                    \
    "branch:\n"                                                                                    \
    "store i32 2, ptr %out\n"                                                                      \
    "store atomic i32 1, ptr %flag release, align 4\n"                                             \
    "br label %wait\n"                                                                             \
    "wait:\n"                                                                                      \
    "call void @rt_spin(ptr %ctx)\n"                                                               \
    "%seen = load atomic i32, ptr %flag monotonic, align 4\n"                                      \
    "%again = icmp eq i32 %seen, 0\n"                                                              \
    "br i1 %again, label %wait, label %done\n"                                                     \
    "done:\n"                                                                                      \
    "ret void\n"                                                                                   \
    "}\n" ENDS

static LLVMValueRef kernel_of(const struct kernel_text *text)
{
    return LLVMGetNamedFunction(text->module, "ptxrun_kernel");
}

static struct kernel_text bind_waits(const char *body, uint32_t x, uint32_t y)
{
    struct pxr_error err = {0};
    struct tr_facts facts = {.block = {x, y, 1}};
    struct kernel_text text = kernel_text_parse(body);
    bool waits_again = false;
    cr_assert_eq(tr_bind_waits(kernel_of(&text), true, &facts, &waits_again, &err), PXR_OK, "%s",
                 err.message);
    return text;
}

static void end(struct kernel_text *text)
{
    LLVMDisposeModule(text->module);
    LLVMContextDispose(text->context);
}

/* Calls in blocks of this name; NULL: in all. */
static int count_calls(const struct kernel_text *text, enum rt_placeholder which, const char *block)
{
    int count = 0;
    TR_FOR_EACH_INSTRUCTION(inst, kernel_of(text)) {
        const char *name = LLVMGetBasicBlockName(LLVMGetInstructionParent(inst));
        count += LLVMIsACallInst(inst) != NULL && tr_placeholder_of(inst) == which &&
                 (block == NULL || strcmp(name, block) == 0);
    }
    return count;
}

static void expect_gathering(const char *body, uint32_t x, uint32_t y, const char *block,
                             const char *other)
{
    struct kernel_text text = bind_waits(body, x, y);
    cr_expect_eq(count_calls(&text, RT_CALL_WARP_CONVERGE, block), 1, "blocks of %ux%u", x, y);
    cr_expect_eq(count_calls(&text, RT_CALL_WARP_CONVERGE, other), 0, "blocks of %ux%u", x, y);
    end(&text);
}

Test(in_step, a_lane_that_is_alone_gathers_before_its_branch)
{
    static const char *const bodies[] = {
        RELEASE("%goes = icmp eq i32 %tid, 0\n"),
        RELEASE("%lane = and i32 %tid, 31\n%goes = icmp eq i32 31, %lane\n"),
        RELEASE("%lane = call i32 @rt_sreg_laneid(ptr %ctx)\n%goes = icmp eq i32 %lane, 0\n"),
        RELEASE("%last = add i32 %ntid, -1\n%goes = icmp eq i32 %tid, %last\n"),
        RELEASE("%twice = shl i32 %tid, 1\n%goes = icmp eq i32 %twice, %ntid\n"),
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        expect_gathering(bodies[i], 64, 4, "", "branch");
        expect_gathering(bodies[i], 40, 1, "", "branch");
    }
}

Test(in_step, lanes_that_may_be_several_gather_in_their_branch)
{
    static const char *const bodies[] = {
        RELEASE("%goes = icmp ult i32 %tid, 2\n"),
        RELEASE("%goes = icmp ne i32 %tid, 0\n"),
        RELEASE("%pair = lshr i32 %tid, 1\n%goes = icmp eq i32 %pair, 0\n"),
        RELEASE("%top = shl i32 %tid, 28\n%goes = icmp eq i32 %top, 0\n"),
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++)
        expect_gathering(bodies[i], 64, 4, "branch", "");
    static const char rows[] = RELEASE("%row = call i32 @rt_sreg_tid_y(ptr %ctx)\n"
                                       "store i32 %row, ptr %out\n"
                                       "%goes = icmp eq i32 %tid, 0\n");
    /* Two rows in a warp, and blocks of any shape. */
    expect_gathering(rows, 16, 4, "branch", "");
    expect_gathering(rows, 0, 0, "branch", "");
}

/* Its lanes could not tell rows from each other. */
Test(in_step, a_program_that_reads_no_row_is_for_blocks_of_one)
{
    expect_gathering(RELEASE("%goes = icmp eq i32 %tid, 0\n"), 16, 4, "", "branch");
    expect_gathering(RELEASE("%goes = icmp eq i32 %tid, 0\n"), 0, 0, "", "branch");
}

/* Some lanes add to a number, by attempts, and all wait for another one. */
#define ADDS(before)                                                                               \
    PARAMETER                                                                                      \
    "%tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n"                                                   \
    "store i32 1, ptr %out\n"                                                                      \
    "%flag = getelementptr i8, ptr %out, i64 64\n" before "%goes = icmp ult i32 %tid, 2\n"         \
    "br i1 %goes, label %branch, label %wait\n"                                                    \
    "branch:\n"                                                                                    \
    "%first = load atomic i32, ptr %flag monotonic, align 4\n"                                     \
    "br label %attempt\n"                                                                          \
    "attempt:\n"                                                                                   \
    "%old = phi i32 [ %first, %branch ], [ %found, %attempt ]\n"                                   \
    "%sum = add i32 %old, 1\n"                                                                     \
    "%pair = cmpxchg weak ptr %flag, i32 %old, i32 %sum seq_cst monotonic, align 4\n"              \
    "%found = extractvalue { i32, i1 } %pair, 0\n"                                                 \
    "%is_done = extractvalue { i32, i1 } %pair, 1\n"                                               \
    "br i1 %is_done, label %wait, label %attempt\n"                                                \
    "wait:\n"                                                                                      \
    "call void @rt_spin(ptr %ctx)\n"                                                               \
    "%seen = load atomic i32, ptr %out monotonic, align 4\n"                                       \
    "%again = icmp eq i32 %seen, 0\n"                                                              \
    "br i1 %again, label %wait, label %done\n"                                                     \
    "done:\n"                                                                                      \
    "ret void\n"                                                                                   \
    "}\n" ENDS

/* The attempts are one access, which lanes make on their own. */
Test(in_step, lanes_gather_before_the_first_attempt)
{
    expect_gathering(ADDS(""), 64, 1, "", "attempt");
    struct kernel_text text =
        bind_waits(ADDS("call void @rt_bar_sync(ptr %ctx, i32 0, i32 0)\n"), 64, 1);
    cr_expect_eq(count_calls(&text, RT_CALL_WARP_CONVERGE, NULL), 0);
    end(&text);
}

/* Turns in which lanes that the condition holds for arrive at an mbarrier, and all wait for the
 * phase. */
#define TURNS(condition, between) TOLD_TURNS(condition, between, "", "")
/* The same with checks before arrivals and questions. */
#define TOLD_TURNS(condition, between, told_arrival, told_question)                                \
    PARAMETER                                                                                      \
    "%lane = call i32 @rt_sreg_laneid(ptr %ctx)\n"                                                 \
    "%ntid = call i32 @rt_sreg_ntid_x(ptr %ctx)\n"                                                 \
    "%goes = icmp " condition "\n"                                                                 \
    "br label %begin\n"                                                                            \
    "begin:\n"                                                                                     \
    "br label %turn\n"                                                                             \
    "turn:\n"                                                                                      \
    "%n = phi i32 [ 0, %begin ], [ %next, %done ]\n" between                                       \
    "br i1 %goes, label %branch, label %wait\n"                                                    \
    "branch:\n" told_arrival                                                                       \
    "%old = call i64 @rt_mbarrier_update(ptr %ctx, ptr %out, i32 0, i32 1, i32 1)\n"               \
    "br label %wait\n"                                                                             \
    "wait:\n"                                                                                      \
    "call void @rt_give_way(ptr %ctx, i32 0)\n" told_question                                      \
    "%seen = call i32 @rt_mbarrier_ask(ptr %ctx, ptr %out, i32 %n)\n"                              \
    "%again = icmp eq i32 %seen, 0\n"                                                              \
    "br i1 %again, label %wait, label %done\n"                                                     \
    "done:\n"                                                                                      \
    "%next = add i32 %n, 1\n"                                                                      \
    "%more = icmp ult i32 %next, 9\n"                                                              \
    "br i1 %more, label %turn, label %end\n"                                                       \
    "end:\n"                                                                                       \
    "ret void\n"                                                                                   \
    "}\n"                                                                                          \
    "declare i64 @rt_mbarrier_update(ptr, ptr, i32, i32, i32)\n"                                   \
    "declare i32 @rt_mbarrier_ask(ptr, ptr, i32)\n"                                                \
    "declare i32 @rt_mbarrier_exists(ptr, ptr)\n"                                                  \
    "declare void @rt_race_access(ptr, i64, i64, i64, i32, i32)\n"                                 \
    "declare void @rt_race_acquire(ptr, i64, i32)\n"                                               \
    "declare void @rt_give_way(ptr, i32) convergent\n" ENDS

#define EXISTS "%there = call i32 @rt_mbarrier_exists(ptr %ctx, ptr %out)\n"
#define GOES_IF_THERE                                                                              \
    EXISTS "%bad = icmp eq i32 %there, 0\nbr i1 %bad, label %end, label %good\ngood:\n"
#define TOLD   "call void @rt_race_access(ptr %ctx, i64 1, i64 8, i64 0, i32 0, i32 0)\n"
#define LEARNT "call void @rt_race_acquire(ptr %ctx, i64 1, i32 1)\n"

Test(in_step, lanes_gather_before_some_of_them_arrive_at_an_mbarrier)
{
    expect_gathering(TURNS("eq i32 %lane, 7", ""), 64, 1, "turn", "branch");
    expect_gathering(TURNS("ult i32 %lane, 7", ""), 64, 1, "turn", "branch");
}

Test(in_step, lanes_that_met_or_all_arrive_do_not_gather_for_it)
{
    static const char *const bodies[] = {
        TURNS("eq i32 %lane, 7", "call void @rt_bar_sync(ptr %ctx, i32 0, i32 0)\n"),
        TURNS("ult i32 %lane, 7", "call void @rt_bar_sync(ptr %ctx, i32 0, i32 0)\n"),
        TURNS("ne i32 %ntid, 7", ""),
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct kernel_text text = bind_waits(bodies[i], 64, 1);
        cr_expect_eq(count_calls(&text, RT_CALL_WARP_CONVERGE, NULL), 0);
        end(&text);
    }
}

Test(in_step, lanes_gather_in_the_same_place_with_checks)
{
    expect_gathering(TOLD_TURNS("eq i32 %lane, 7", "", EXISTS TOLD, ""), 64, 1, "turn", "branch");
}

/* Whether all threads that wait for a phase are known to wait for nothing else. */
static bool is_certain(const char *body)
{
    struct pxr_error err = {0};
    struct tr_facts facts = {.block = {64, 1, 1}};
    struct kernel_text text = kernel_text_parse(body);
    bool is_certain = false;
    cr_assert_eq(tr_find_mbarrier_waits(kernel_of(&text), true, &facts, &err), PXR_OK, "%s",
                 err.message);
    TR_FOR_EACH_INSTRUCTION(inst, kernel_of(&text))
        if (tr_placeholder_of(inst) == RT_CALL_GIVE_WAY)
            is_certain = LLVMConstIntGetZExtValue(LLVMGetOperand(inst, 1)) != 0;
    end(&text);
    return is_certain;
}

Test(in_step, waits_for_a_phase_are_certain_with_checks)
{
    cr_expect(is_certain(TURNS("eq i32 %lane, 7", "")));
    cr_expect(is_certain(TOLD_TURNS("eq i32 %lane, 7", "", "", GOES_IF_THERE TOLD LEARNT)));
    cr_expect_not(is_certain(TOLD_TURNS("eq i32 %lane, 7", "", "", "store i32 1, ptr %out\n")));
}

Test(in_step, sleeps_stay_only_in_loops_that_wait)
{
    static const char body[] = PARAMETER "call void @rt_nanosleep(ptr %ctx, i32 100)\n"
                                         "br label %wait\n"
                                         "wait:\n"
                                         "call void @rt_spin(ptr %ctx)\n"
                                         "call void @rt_nanosleep(ptr %ctx, i32 100)\n"
                                         "%seen = load atomic i32, ptr %out monotonic, align 4\n"
                                         "%again = icmp eq i32 %seen, 0\n"
                                         "br i1 %again, label %wait, label %done\n"
                                         "done:\n"
                                         "call void @rt_nanosleep(ptr %ctx, i32 100)\n"
                                         "ret void\n"
                                         "}\n" ENDS;
    static const char plain[] = "call void @rt_nanosleep(ptr %ctx, i32 100)\n"
                                "ret void\n"
                                "}\n"
                                "declare void @rt_nanosleep(ptr, i32) convergent\n";
    struct kernel_text text = bind_waits(body, 64, 1);
    cr_expect_eq(count_calls(&text, RT_CALL_NANOSLEEP, NULL), 1);
    cr_expect_eq(count_calls(&text, RT_CALL_NANOSLEEP, "wait"), 1);
    end(&text);
    text = bind_waits(plain, 64, 1);
    cr_expect_eq(count_calls(&text, RT_CALL_NANOSLEEP, NULL), 0);
    end(&text);
}

/* Attempts at `pointer`, which may be %flag; `guess` and `again` say what %guess and %again
 * are in the loop. */
#define ATTEMPTS(guess, pointer, again)                                                            \
    PARAMETER                                                                                      \
    "%flag = getelementptr i8, ptr %out, i64 64\n"                                                 \
    "%first = load i64, ptr %flag\n"                                                               \
    "%most = load i64, ptr %out\n"                                                                 \
    "br label %attempt\n"                                                                          \
    "attempt:\n"                                                                                   \
    "%last = phi i64 [ %first, %0 ], [ %found, %attempt ]\n"                                       \
    "%place = phi ptr [ %flag, %0 ], [ %out, %attempt ]\n"                                         \
    "call void @rt_spin(ptr %ctx)\n" guess "%sum = add i64 %guess, 1\n"                            \
    "%pair = cmpxchg ptr " pointer ", i64 %guess, i64 %sum monotonic monotonic, align 8\n"         \
    "%found = extractvalue { i64, i1 } %pair, 0\n"                                                 \
    "%is_done = extractvalue { i64, i1 } %pair, 1\n"                                               \
    "%failed = icmp ne i64 %guess, %found\n"                                                       \
    "%has_room = icmp ult i64 %found, %most\n" again "br i1 %again, label %attempt, label %done\n" \
    "done:\n"                                                                                      \
    "ret void\n"                                                                                   \
    "}\n" ENDS
#define FREE  "%guess = add i64 0, 0\n"
#define FOUND "%bits = bitcast i64 %last to double\n%guess = bitcast double %bits to i64\n"
#define FRESH "%guess = load atomic i64, ptr %flag monotonic, align 8\n"

static void expect_polls(const char *body, int count)
{
    struct kernel_text text = bind_waits(body, 64, 1);
    cr_expect_eq(count_calls(&text, RT_CALL_SPIN, NULL), count, "%s", body);
    end(&text);
}

Test(in_step, attempts_wait_for_nobody)
{
    expect_polls(ATTEMPTS(FOUND, "%flag", "%again = xor i1 %is_done, true\n"), 0);
    expect_polls(ATTEMPTS(FOUND, "%flag", "%again = and i1 %has_room, %failed\n"), 0);
    expect_polls(ATTEMPTS(FOUND, "%flag", "%again = select i1 %failed, i1 %has_room, i1 false\n"),
                 0);
    expect_polls(ATTEMPTS(FRESH, "%flag", "%again = icmp ne i64 %found, %guess\n"), 0);
}

/* A lock that is free at 0, a success that is not enough, another place in each turn. */
Test(in_step, attempts_that_others_must_help_wait)
{
    expect_polls(ATTEMPTS(FREE, "%flag", "%again = xor i1 %is_done, true\n"), 1);
    expect_polls(ATTEMPTS(FOUND, "%flag", "%again = or i1 %has_room, %failed\n"), 1);
    expect_polls(ATTEMPTS(FOUND, "%flag", "%again = xor i1 %failed, true\n"), 1);
    expect_polls(ATTEMPTS(FOUND, "%place", "%again = xor i1 %is_done, true\n"), 1);
}
