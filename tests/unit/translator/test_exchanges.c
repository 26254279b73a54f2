/* SPDX-License-Identifier: Apache-2.0
 *
 * Where lanes surely exchange values through shared memory they meet, and nowhere else: how often
 * translator/barriers/exchanges.c makes them. tests/ptx/shapes has kernels that need it.
 */
#include "barrier_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Core.h>

#include "translator/barriers/exchanges.h"

/* Meetings that stand right before a branch. */
static uint32_t count_at_branches(LLVMModuleRef module)
{
    LLVMValueRef converge = LLVMGetNamedFunction(module, "rt_warp_converge");
    uint32_t count = 0;
    for (LLVMUseRef use = converge != NULL ? LLVMGetFirstUse(converge) : NULL; use != NULL;
         use = LLVMGetNextUse(use)) {
        LLVMValueRef next = LLVMGetNextInstruction(LLVMGetUser(use));
        count += LLVMIsABranchInst(next) != NULL && LLVMIsConditional(next);
    }
    return count;
}

static void expect_meetings_in(struct tr_facts facts, const char *body, uint32_t expected,
                               uint32_t at_branches)
{
    struct pxr_error err = {0};
    char *text = barrier_kernel(body);
    struct ptx_module *ptx = barrier_kernel_parse(text);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = barrier_kernel_translate(ptx, context, false, &facts);
    cr_assert_eq(tr_order_exchanges(module, &facts, &err), PXR_OK, "%s", err.message);
    uint32_t meetings = barrier_kernel_calls(module, "rt_warp_converge");
    cr_expect_eq(meetings, expected, "%u meetings, not %u:\n%s", meetings, expected, body);
    uint32_t before = count_at_branches(module);
    cr_expect_eq(before, at_branches, "%u before branches, not %u:\n%s", before, at_branches, body);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    ptx_module_destroy(ptx);
    free(text);
}

/* In a block of one row of 64 threads. */
static void expect_meetings(const char *body, uint32_t expected)
{
    expect_meetings_in((struct tr_facts){.block = {64, 1, 1}}, body, expected, 0);
}

#define STORES "st.shared.u32 [%own+128], %tx;"
#define LOADS  "ld.shared.u32 %r5, [%own+4]; st.global.u32 [%gout], %r5;"

Test(exchanges, lanes_meet_between_a_store_and_the_load_of_another_lane)
{
    expect_meetings(STORES LOADS, 1);
    expect_meetings(LOADS STORES, 1);
    expect_meetings(STORES "bar.warp.sync -1;" LOADS, 0);
    expect_meetings(STORES "ld.shared.u32 %r5, [%own+128]; st.global.u32 [%gout], %r5;", 0);
    expect_meetings(STORES "ld.shared.u32 %r5, [%own+256]; st.global.u32 [%gout], %r5;", 0);
}

/* Only lane 31 loads what another one, lane 0, has stored. */
Test(exchanges, lanes_that_do_not_come_there_exchange_nothing)
{
    static const char *const leave[] = {
        "setp.ge.u32 %p1, %tx, 31; @%p1 bra done;",
        "setp.eq.u32 %p1, %tx, 0; @%p1 bra done; setp.eq.u32 %p2, %tx, 31; @%p2 bra done;",
        "setp.eq.u32 %p1, %tx, 0; setp.ge.or.u32 %p2, %tx, 31, %p1; @%p2 bra done;",
        "setp.gt.u32 %p1, %tx, 0; setp.lt.and.u32 %p2, %tx, 31, %p1; @!%p2 bra done;",
        ("ld.global.u32 %r6, [%gin]; setp.eq.u32 %p1, %r6, 3; setp.ge.or.u32 %p2, %tx, 31, %p1;"
         "@%p2 bra done;"),
        ("cvt.u32.u64 %r6, %rd1; setp.eq.u32 %p1, %r6, %tx; setp.ne.u32 %p3, %r6, 70;"
         "and.pred %p2, %p1, %p3; @!%p2 bra done;"),
        ("ld.global.u32 %r6, [%gin]; setp.eq.u32 %p1, %r6, 3; setp.ge.u32 %p2, %tx, 31;"
         "@%p1 bra other; @%p2 bra done; bra both;"
         "other: @%p2 bra done; st.global.u32 [%gout+4], %r6; both:"),
    };
    static const char *const stay[] = {
        "setp.ge.u32 %p1, %tx, 32; @%p1 bra done;",
        "ld.global.u32 %r6, [%gin]; setp.eq.u32 %p1, %r6, 3; @%p1 bra done;",
        ("ld.global.u32 %r6, [%gin]; setp.eq.u32 %p1, %r6, 3; setp.ge.and.u32 %p2, %tx, 31, %p1;"
         "@%p2 bra done;"),
        "cvt.u32.u64 %r6, %rd1; setp.eq.u32 %p1, %r6, %tx; @%p1 bra done;",
        ("ld.global.u32 %r6, [%gin]; setp.eq.u32 %p1, %r6, 3; setp.ge.u32 %p2, %tx, 31;"
         "@%p1 bra other; @%p2 bra done; bra both;"
         "other: st.global.u32 [%gout+4], %r6; both:"),
    };
    char body[512];
    for (size_t i = 0; i < sizeof leave / sizeof leave[0]; i++) {
        snprintf(body, sizeof body, "%s%sdone:", leave[i], STORES LOADS);
        expect_meetings(body, 0);
    }
    for (size_t i = 0; i < sizeof stay / sizeof stay[0]; i++) {
        snprintf(body, sizeof body, "%s%sdone:", stay[i], STORES LOADS);
        expect_meetings(body, 1);
    }
}

/* What all threads have in common is a number that nobody knows: sums and products with it are the
 * same for two lanes if they always are; bits of it, and of those that it leaves, may be. */
Test(exchanges, what_is_common_to_all_is_no_place)
{
#define COMMON(op) "cvt.u32.u64 %r6, %rd1;" op "shl.b32 %r6, %r6, 2; add.u32 %r7, %own, %r6;"
#define SHIFTED "st.shared.u32 [%r7], %tx; ld.shared.u32 %r5, [%r7+4]; st.global.u32 [%gout], %r5;"
#define APART   "st.shared.u32 [%r7], %tx; ld.shared.u32 %r5, [%own]; st.global.u32 [%gout], %r5;"
    expect_meetings(COMMON() SHIFTED, 1);
    expect_meetings(COMMON("mul.lo.u32 %r6, %r6, 3;") SHIFTED, 1);
    expect_meetings(COMMON("mul.lo.u32 %r6, %r6, %tx;") SHIFTED, 0);
    expect_meetings(COMMON() APART, 0);
    expect_meetings(COMMON("and.b32 %r6, %r6, %tx;") APART, 0);
    expect_meetings(COMMON("xor.b32 %r6, %r6, %tx;") SHIFTED, 0);
    expect_meetings(COMMON("shr.u32 %r6, %r6, 3; and.b32 %r6, %r6, %tx;") SHIFTED, 0);
    expect_meetings(COMMON("rem.u32 %r6, %tx, %r6;") SHIFTED APART, 0);
}

#define COUNTED(count) count "popc.b32 %r6, %r6; shl.b32 %r6, %r6, 2; add.u32 %r7, %own, %r6;"
#define BALLOT         "setp.ge.u32 %p1, %tx, 31; vote.sync.ballot.b32 %r6, %p1, -1;"
#define PACKS          "st.shared.u32 [%r7], %tx;"
#define OWN            "ld.shared.u32 %r5, [%own+512]; st.global.u32 [%gout], %r5;"

/* A place that a vote or a match counts is the warp's: nobody else knows whose it was. */
Test(exchanges, lanes_meet_at_places_that_are_counted)
{
    expect_meetings(COUNTED(BALLOT) PACKS OWN, 1);
    expect_meetings(COUNTED("match.any.sync.b32 %r6, %tx, -1;") PACKS OWN, 1);
    expect_meetings(COUNTED(BALLOT) OWN PACKS, 0);
    expect_meetings(COUNTED(BALLOT) PACKS "bar.warp.sync -1;" OWN, 0);
    expect_meetings(COUNTED(BALLOT) PACKS "ld.shared.u32 %r5, [%r7]; st.global.u32 [%gout], %r5;",
                    0);
    expect_meetings("st.shared.u32 [%own+512], %tx;" COUNTED(BALLOT) PACKS OWN, 0);
    expect_meetings(COUNTED("mov.u32 %r6, %tx;") PACKS OWN, 0);
    expect_meetings(COUNTED("ld.global.u32 %r6, [%gin];") PACKS OWN, 0);
}

/* A kernel of many accesses, as a sort written out has, is looked at like others. */
Test(exchanges, lanes_meet_behind_any_number_of_accesses)
{
    static const char own[] = "st.shared.u32 [%own+512], %tx; membar.cta;";
    enum { TIMES = 1000 };
    size_t size = TIMES * sizeof own + sizeof STORES + sizeof LOADS;
    char *body = calloc(1, size);
    cr_assert_not_null(body);
    for (size_t i = 0; i < TIMES; i++)
        memcpy(body + i * (sizeof own - 1), own, sizeof own);
    strcat(body, STORES LOADS);
    expect_meetings(body, 1);
    free(body);
}

#define TOLD(mode, at)                                                                             \
    "shfl.sync." mode ".b32 %r6, %tx, " at ", 0x1c1f, -1; and.b32 %r7, %tx, 3;"                    \
    "mad.lo.u32 %r7, %r6, 4, %r7; mul.wide.u32 %rd7, %r7, 4;"
#define WORKS(load) "st.global.u32 [%rd5], %tx; ld.global." load "st.global.u32 [%gout], %r5;"
#define GROUP(mode, in)                                                                            \
    TOLD(mode, "0") "add.u64 %rd5, %rd1, %rd7;" TOLD("idx", "1") "add.u64 %rd6, " in ", %rd7;"

/* Groups of four lanes, each of which is told where its group's words are, twice: that may be the
 * same place, and then lanes get the words of others. */
Test(exchanges, lanes_of_a_group_meet_at_places_that_they_are_told)
{
    expect_meetings(GROUP("idx", "%rd1") WORKS("u32 %r5, [%rd6+4];"), 1);
    expect_meetings(GROUP("idx", "%rd1") WORKS("u32 %r5, [%rd6];"), 0);
    expect_meetings(GROUP("idx", "%rd1") WORKS("u32 %r5, [%rd6+16];"), 0);
    expect_meetings(GROUP("idx", "%rd2") WORKS("u32 %r5, [%rd6+4];"), 0);
    expect_meetings(GROUP("up", "%rd1") WORKS("u32 %r5, [%rd6+4];"), 0);
    expect_meetings(GROUP("idx", "%rd1") "bar.warp.sync -1;" WORKS("u32 %r5, [%rd6+4];"), 1);
    expect_meetings(GROUP("idx", "%rd1") "st.global.u32 [%rd5], %tx; bar.warp.sync -1;"
                                         "ld.global.u32 %r5, [%rd6+4]; st.global.u32 [%gout], %r5;",
                    0);
}

#define LOOK_UP(load)                                                                              \
    "ld.global.u32 %r6, [%gin]; shl.b32 %r6, %r6, 2; mov.u32 %r7, s; add.u32 %r7, %r7, "           \
    "%r6;" load
#define TAKES "ld.shared.u32 %r5, [%r7]; st.global.u32 [%gout], %r5;"
#define GIVES "st.shared.u32 [%r7], %r5;"
#define ROWS  "mov.u32 %r4, s; mad.lo.u32 %r4, %tx, 8, %r4; st.shared.u32 [%r4+4], %tx;"

/* What a lane looks up in an array of which each has its own element is another lane's. */
Test(exchanges, lanes_meet_where_they_look_up_what_others_have_stored)
{
    expect_meetings("st.shared.u32 [%own], %tx;" LOOK_UP(TAKES), 1);
    expect_meetings(ROWS LOOK_UP(TAKES), 1);
    expect_meetings(LOOK_UP(TAKES) "st.shared.u32 [%own], %tx;", 1);
    expect_meetings("st.shared.u32 [%own], %tx;"
                    "bar.warp.sync -1;" LOOK_UP(TAKES),
                    0);
    expect_meetings("st.shared.u32 [%own+512], %tx;" LOOK_UP(TAKES), 0);
    expect_meetings("st.shared.u32 [%own], %tx;" LOOK_UP("mad.lo.u32 %r7, %tx, 4, %r7;" TAKES), 0);
    expect_meetings(LOOK_UP(TAKES GIVES), 0);
    expect_meetings("st.shared.u32 [%own], %tx;" LOOK_UP(TAKES GIVES), 2);
}

#define LOOP(first, turn)                                                                          \
    first "mov.u32 %r6, 0; turns:" turn "add.u32 %r6, %r6, 1;"                                     \
          "setp.lt.u32 %p1, %r6, 8; @%p1 bra turns;"
#define NEXT "add.u32 %r7, %r7, 256;"

/* Loops are compared as they begin; what a turn stores may be read in the next one behind a barrier
 * that stands between the two in each turn. */
Test(exchanges, lanes_meet_where_loops_begin_with_an_exchange)
{
    expect_meetings(LOOP("mov.u32 %r7, %own;", "st.shared.u32 [%r7], %tx;" NEXT) LOADS, 1);
    expect_meetings(STORES LOOP("add.u32 %r7, %own, 4;",
                                "ld.shared.u32 %r5, [%r7]; st.global.u32 [%gout], %r5;" NEXT),
                    1);
    expect_meetings(LOOP("mov.u32 %r7, %own;",
                         "st.shared.u32 [%r7], %tx; bar.sync 0;"
                         "ld.shared.u32 %r5, [%r7+4]; st.global.u32 [%gout], %r5;"
                         "xor.b32 %r7, %r7, 512;"),
                    0);
    expect_meetings(STORES LOOP("add.u32 %r7, %own, 4;",
                                "bar.warp.sync -1; ld.shared.u32 %r5, [%r7];"
                                "st.global.u32 [%gout], %r5;" NEXT),
                    0);
}

/* In a tile of 16 columns, two rows a warp. */
static void expect_tile(const char *body, uint32_t expected, uint32_t at_branches)
{
    static const char cells[] =
        "mad.lo.u32 %own, %ty, 64, %own; mad.lo.u32 %r7, %tx, 68, %base; cvt.u32.u64 %r6, %rd1;";
    char text[1024];
    snprintf(text, sizeof text, "%s%s done:", cells, body);
    expect_meetings_in((struct tr_facts){.block = {16, 16, 1}}, text, expected, at_branches);
}

static void expect_meetings_in_tile(const char *body, uint32_t expected)
{
    expect_tile(body, expected, 0);
}

/* Cells of a column are divided by the one on the diagonal: %r7 is column tx's of it. */
#define DIVIDE                                                                                     \
    "ld.shared.u32 %r4, [%own]; ld.shared.u32 %r5, [%r7]; div.u32 %r5, %r4, %r5;"                  \
    "st.shared.u32 [%own], %r5;"

/* What all threads have in common is known where lanes come for which it is equal to what they
 * have: others may not come there then. */
Test(exchanges, lanes_exchange_nothing_where_they_do_not_come_together)
{
    static const char *const apart[] = {
        "setp.ne.u32 %p1, %tx, %r6; setp.le.or.u32 %p2, %ty, %r6, %p1; @%p2 bra done;",
        "setp.ne.u32 %p1, %r6, %tx; setp.ge.or.s32 %p2, %r6, %ty, %p1; @%p2 bra done;",
        "setp.eq.u32 %p1, %tx, %r6; setp.gt.and.u32 %p2, %ty, %r6, %p1; @!%p2 bra done;",
        "setp.ne.u32 %p1, %tx, %r6; @%p1 bra done; setp.le.u32 %p2, %ty, %r6; @%p2 bra done;",
        ("add.u32 %r5, %r6, 7; setp.ne.u32 %p1, %tx, %r6; @%p1 bra done;"
         "add.u32 %r4, %ty, 7; setp.le.u32 %p2, %r4, %r5; @%p2 bra done;"),
    };
    static const char *const together[] = {
        "",
        "setp.ne.u32 %p1, %tx, %r6; @%p1 bra done;",
        "setp.le.u32 %p1, %ty, %r6; @%p1 bra done;",
        "setp.ne.u32 %p1, %tx, %r6; setp.lt.or.u32 %p2, %ty, %r6, %p1; @%p2 bra done;",
        ("cvt.u32.u64 %r5, %rd2; setp.ne.u32 %p1, %tx, %r6; @%p1 bra done;"
         "setp.le.u32 %p2, %ty, %r5; @%p2 bra done;"),
        "setp.ne.u32 %p1, %tx, %r6; setp.le.and.u32 %p2, %ty, %r6, %p1; @%p2 bra done;",
    };
    char body[512];
    for (size_t i = 0; i < sizeof apart / sizeof apart[0]; i++) {
        snprintf(body, sizeof body, "%s%s", apart[i], DIVIDE);
        expect_meetings_in_tile(body, 0);
    }
    for (size_t i = 0; i < sizeof together / sizeof together[0]; i++) {
        snprintf(body, sizeof body, "%s%s", together[i], DIVIDE);
        expect_meetings_in_tile(body, 1);
    }
}

/* In the second turn no lane of this warp comes to the cells, whichever that is. */
Test(exchanges, lanes_that_stay_away_in_a_turn_exchange_nothing_in_it)
{
    static const char body[] =
        "mov.u32 %r6, 0; mov.u32 %r7, %base; turns:"
        "setp.le.u32 %p1, %tx, %r6; setp.le.or.u32 %p2, %ty, %r6, %p1; @%p2 bra next;"
        "mad.lo.u32 %r5, %ty, 64, %r7; ld.shared.u32 %r4, [%r5]; st.shared.u32 [%own], %r4;"
        "next: bar.sync 0; add.u32 %r7, %r7, 16; add.u32 %r6, %r6, 4;"
        "setp.lt.u32 %p3, %r6, 16; @%p3 bra turns;";
    expect_meetings_in_tile(body, 0);
}

/* The cell on the diagonal is one lane's, wherever it is. */
Test(exchanges, one_lane_exchanges_nothing_with_itself)
{
    static const char turns[] =
        "mov.u32 %%r6, 0; turns: mad.lo.u32 %%r7, %%r6, 68, %%base;"
        "setp.ne.u32 %%p1, %%tx, %%r6; setp.%s.or.u32 %%p2, %%ty, %%r6, %%p1; @%%p2 bra next;"
        "ld.shared.u32 %%r4, [%%r7]; add.u32 %%r4, %%r4, 1; st.shared.u32 [%%r7], %%r4;"
        "next: bar.sync 0; add.u32 %%r6, %%r6, 1; setp.lt.u32 %%p3, %%r6, 16; @%%p3 bra turns;";
    char body[512];
    snprintf(body, sizeof body, turns, "ne");
    expect_meetings_in_tile(body, 0);
    snprintf(body, sizeof body, turns, "gt");
    expect_meetings_in_tile(body, 1);
}

/* Where few lanes store what depends on what all have loaded, all meet before they part; also where
 * a uniform branch stands between. Lanes that have parted before meet where they are. */
Test(exchanges, lanes_meet_before_the_branch_to_the_second_access)
{
#define BOTH  "ld.shared.u32 %r4, [%own]; ld.shared.u32 %r5, [%own+64]; setp.le.u32 %p1, %r4, %r5;"
#define STORE "st.shared.u32 [%own], %r5;"
    expect_tile(BOTH "@%p1 bra done;" STORE, 1, 1);
    expect_tile(BOTH "bar.warp.sync -1; @%p1 bra done;" STORE, 0, 0);
    expect_tile(BOTH "setp.eq.u32 %p2, %r6, 3; @%p2 bra done; @%p1 bra done;" STORE, 1, 1);
    expect_tile(BOTH STORE "@%p1 bra done;", 1, 0);
    expect_tile("ld.global.u32 %r3, [%gin]; setp.lt.u32 %p2, %r3, 3; @%p2 bra done;" BOTH
                "@%p1 bra done;" STORE,
                1, 0);
}

/* A counter that goes on by turns is known to be equal to another one, and to what lanes have. */
Test(exchanges, guards_by_counters_of_a_loop_tell_who_comes)
{
    static const char turns[] =
        "mov.u32 %%r6, 0; neg.s32 %%r4, %%tx; turns:"
        "setp.ne.s32 %%p1, %%r4, 0; setp.%s.or.s32 %%p2, %%ty, %%r6, %%p1; @%%p2 bra next;"
        "ld.shared.u32 %%r3, [%%own]; ld.shared.u32 %%r5, [%%r7]; add.u32 %%r5, %%r3, %%r5;"
        "st.shared.u32 [%%own], %%r5; next: bar.sync 0; add.s32 %%r4, %%r4, %d;"
        "add.u32 %%r6, %%r6, %d; setp.lt.u32 %%p3, %%r6, 16; @%%p3 bra turns;";
    static const struct {
        const char *relation;
        int steps[2];
        uint32_t meetings;
    } cases[] = {
        {"le", {1, 1}, 0}, {"lt", {1, 1}, 1}, {"ge", {1, 1}, 0},
        {"gt", {1, 1}, 1}, {"le", {2, 1}, 1}, {"le", {4, 4}, 0},
    };
    char body[512];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(body, sizeof body, turns, cases[i].relation, cases[i].steps[0], cases[i].steps[1]);
        expect_meetings_in_tile(body, cases[i].meetings);
    }
}

/* A sum of all threads, in turns, nobody knows how many: those whose number `guard` leaves, in %p2,
 * add the element that is %r6 threads away. */
#define SUM(guard)                                                                                 \
    "cvt.u32.u64 %r9, %rd1; mov.u32 %r6, 1; turns: bar.sync 0; shl.b32 %r7, %r6, 1;" guard         \
    "@%p2 bra next; shl.b32 %r8, %r6, 2; add.u32 %r8, %own, %r8;"                                  \
    "ld.shared.u32 %r4, [%own]; ld.shared.u32 %r5, [%r8]; add.u32 %r5, %r5, %r4;"                  \
    "st.shared.u32 [%own], %r5;"                                                                   \
    "next: mov.u32 %r6, %r7; setp.lt.s32 %p1, %r7, %r9; @%p1 bra turns;"

/* Every second thread, every fourth and so on: none reads what another one writes. */
Test(exchanges, lanes_far_enough_apart_exchange_nothing)
{
    expect_meetings(SUM("rem.u32 %r5, %tx, %r7; setp.ne.u32 %p2, %r5, 0;"), 0);
    expect_meetings(SUM("rem.u32 %r5, %tx, %r7; ld.global.u32 %r4, [%gin];"
                        "add.u32 %r8, %tx, %r6; setp.ge.u32 %p1, %r8, %r4;"
                        "setp.ne.or.u32 %p2, %r5, 0, %p1;"),
                    0);
    expect_meetings(SUM("rem.u32 %r5, %tx, %r6; setp.ne.u32 %p2, %r5, 0;"), 1);
    expect_meetings(SUM("rem.u32 %r5, %tx, 3; setp.eq.u32 %p2, %r5, 0;"), 1);
}

#define TAKE_AT(index)                                                                             \
    "st.shared.u32 [%own], %tx;" index "mad.lo.u32 %r6, %r5, 4, %base;"                            \
    "ld.shared.u32 %r5, [%r6]; st.global.u32 [%gout], %r5;"

/* A neighbour's element, but for those at the border. */
Test(exchanges, lanes_meet_where_they_load_from_clamped_places)
{
    expect_meetings(TAKE_AT("add.u32 %r5, %tx, 1; min.u32 %r5, %r5, 40;"), 1);
    expect_meetings(TAKE_AT("add.s32 %r5, %tx, 1; min.s32 %r5, %r5, 40;"), 1);
    expect_meetings(TAKE_AT("add.s32 %r5, %tx, -1; max.s32 %r5, %r5, 0;"), 1);
    expect_meetings(TAKE_AT("max.u32 %r5, %tx, 1;"), 1);
    expect_meetings(TAKE_AT("min.u32 %r5, %tx, 40;"), 0);
    expect_meetings(TAKE_AT("max.s32 %r5, %tx, -1;"), 0);
}

/* The second half of a scan, whose distances a loop before has counted: if that had no turn, all
 * lanes would have the same place. */
Test(exchanges, lanes_whose_places_vanish_on_a_way_exchange_nothing)
{
    expect_meetings("cvt.u32.u64 %r9, %rd1; mov.u32 %r6, 1; mov.u32 %r7, %r9;"
                    "up: setp.lt.s32 %p1, %r7, 2; @%p1 bra down;"
                    "shl.b32 %r6, %r6, 1; shr.u32 %r7, %r7, 1; bra up;"
                    "down: mov.u32 %r7, 1;"
                    "turns: bar.sync 0; shr.u32 %r6, %r6, 1; shl.b32 %r8, %r6, 2;"
                    "mad.lo.u32 %r5, %tx, 2, 1; mad.lo.u32 %r5, %r5, %r8, %base;"
                    "add.u32 %r8, %r5, %r8; ld.shared.u32 %r4, [%r5]; st.shared.u32 [%r8], %r4;"
                    "shl.b32 %r7, %r7, 1; setp.lt.s32 %p1, %r7, %r9; @%p1 bra turns;",
                    0);
}
