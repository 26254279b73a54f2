/* SPDX-License-Identifier: Apache-2.0
 *
 * Barriers go, merge and are forwarded across exactly where the rules of
 * translator/barriers/barriers.c allow it. Each kernel is translated, optimised and its report
 * looked at; test_barriers_random.c runs kernels with and without.
 */
#include "barrier_kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>

#include "ptx/ptx.h"
#include "tests/support/runner.h"
#include "translator/barriers/barriers.h"
#include "translator/pipeline.h"

struct expected {
    uint32_t removed;
    uint32_t merged;
    uint32_t forwarded;
    uint32_t dead;
    uint32_t own;
};

static void check_report(const struct tr_barrier_report *report, struct expected expected)
{
    const char *said = report->text == NULL ? "" : report->text;
    cr_expect_eq(report->removed_count, expected.removed, "removed %u, not %u:\n%s",
                 report->removed_count, expected.removed, said);
    cr_expect_eq(report->merged_count, expected.merged, "merged %u, not %u:\n%s",
                 report->merged_count, expected.merged, said);
    cr_expect_eq(report->forwarded_count, expected.forwarded, "forwarded %u, not %u:\n%s",
                 report->forwarded_count, expected.forwarded, said);
    cr_expect_eq(report->dead_count, expected.dead, "dead %u, not %u:\n%s", report->dead_count,
                 expected.dead, said);
    cr_expect_eq(report->own_count, expected.own, "own %u, not %u:\n%s", report->own_count,
                 expected.own, said);
}

static void check(const char *text, const struct tr_facts *facts, bool check_alignment,
                  struct expected expected)
{
    struct pxr_error err = {0};
    struct tr_barrier_report report;
    struct ptx_module *ptx = barrier_kernel_parse(text);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = barrier_kernel_translate(ptx, context, check_alignment, facts);
    uint32_t before = barrier_kernel_calls(module, "rt_bar_sync");
    cr_assert_eq(tr_optimise_barriers(module, ptx_find_entry(ptx, "k"), facts, &report, &err),
                 PXR_OK, "%s", err.message);
    check_report(&report, expected);
    cr_expect_eq(report.barrier_count, before);
    cr_expect_eq(before - barrier_kernel_calls(module, "rt_bar_sync"),
                 report.removed_count + report.merged_count);
    char *message = NULL;
    cr_expect_not(LLVMVerifyModule(module, LLVMReturnStatusAction, &message), "%s", message);
    LLVMDisposeMessage(message);
    tr_barrier_report_fini(&report);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    ptx_module_destroy(ptx);
}

/* ---- running ---- */

#define WORDS 4096

/* Facts are constants for the hook. */
static void optimise(void *data, LLVMModuleRef module)
{
    struct tr_barrier_report report;
    cr_assert_eq(tr_optimise_barriers(module, NULL, data, &report, NULL), PXR_OK);
    tr_barrier_report_fini(&report);
}

/* Of `in`, the first eight bytes are an address within it. */
static void run(struct runner *runner, const char *text, const struct tr_facts *facts, uint32_t *in,
                uint32_t *out)
{
    struct pxr_error err = {0};
    struct runner_buffer buffers[] = {{in, WORDS * sizeof *in}, {out, WORDS * sizeof *out}};
    struct runner_launch launch = {
        .kernel = "k", .grid = {1, 1, 1}, .buffers = buffers, .buffer_count = 2};
    memcpy(launch.block, facts->block, sizeof launch.block);
    for (uint32_t i = 0; i < WORDS; i++)
        in[i] = i * 2654435761u;
    uint64_t address = (uint64_t)(uintptr_t)(in + WORDS / 2);
    memcpy(in, &address, sizeof address);
    memset(out, 0x55, WORDS * sizeof *out);
    cr_assert_eq(runner_run(runner, text, &launch, &err), PXR_OK, "%s\n%s", err.message, text);
    runner_close(runner);
}

static struct runner *open_inprocess(struct tr_facts *facts, enum pxr_collapse collapse)
{
    struct pxr_error err = {0};
    struct runner *runner = NULL;
    struct runner_build build = {.collapse = collapse, .has_facts = true, .workers = 1};
    if (collapse == PXR_COLLAPSE_PRECISE)
        build.hooks = (struct runner_hooks){.data = facts, .mutate = optimise};
    cr_assert_eq(runner_open_inprocess(&build, &runner, &err), PXR_OK, "%s", err.message);
    return runner;
}

/* One thread after another, from barrier to barrier: who reads what another thread wrote behind a
 * barrier that is gone gets something else. */
static void expect_same_memory(const char *text, struct tr_facts *facts)
{
    static const enum pxr_collapse collapses[] = {PXR_COLLAPSE_PRECISE, PXR_COLLAPSE_FLAT,
                                                  PXR_COLLAPSE_HIERARCHICAL};
    uint32_t *memory = runner_alloc(5 * WORDS * sizeof *memory);
    uint32_t *in = memory;
    uint32_t *expected = memory + WORDS;
    struct runner *oracle = NULL;
    cr_assert_eq(runner_open_oracle(0, &oracle, NULL), PXR_OK);
    run(oracle, text, facts, in, expected);
    for (size_t i = 0; i < sizeof collapses / sizeof collapses[0]; i++) {
        uint32_t *in_before = memory + 3 * WORDS;
        memcpy(in_before, in, WORDS * sizeof *in);
        run(open_inprocess(facts, collapses[i]), text, facts, in, memory + 2 * WORDS);
        cr_expect_arr_eq(in, in_before, WORDS * sizeof *in, "collapse %d:\n%s", collapses[i], text);
        cr_expect_arr_eq(memory + 2 * WORDS, expected, WORDS * sizeof *in, "collapse %d:\n%s",
                         collapses[i], text);
    }
    free(memory);
}

/* In a block of one row of 64 threads; checks of alignment make no difference. */
static void expect_report(const char *body, struct expected expected)
{
    char *text = barrier_kernel(body);
    const struct tr_facts facts = {.block = {64, 1, 1}};
    check(text, &facts, false, expected);
    check(text, &facts, true, expected);
    free(text);
}

static void expect(const char *body, struct expected expected)
{
    char *text = barrier_kernel(body);
    struct tr_facts facts = {.block = {64, 1, 1}};
    expect_report(body, expected);
    expect_same_memory(text, &facts);
    free(text);
}

static void expect_in_block(const char *body, uint32_t x, uint32_t y, struct expected expected)
{
    char *text = barrier_kernel(body);
    struct tr_facts facts = {.block = {x, y, x == 0 ? 0 : 1}};
    check(text, &facts, false, expected);
    if (x != 0)
        expect_same_memory(text, &facts);
    free(text);
}

#define NOTHING ((struct expected){0})

/* ---- rule 1: a barrier that orders nothing ---- */

Test(barriers, one_between_accesses_to_the_threads_own_elements_is_removed)
{
    expect("ld.global.u32 %r5, [%gin+8]; add.u32 %r5, %r5, 1; bar.sync 0;"
           "st.global.u32 [%gin+8], %r5; bar.sync 0; ld.global.u32 %r6, [%gin+136];"
           "st.global.u32 [%gout], %r6;",
           (struct expected){.removed = 1});
}

Test(barriers, one_between_parts_of_shared_memory_that_are_apart_is_removed)
{
    expect("st.shared.u32 [%own], %tx; bar.sync 0; ld.shared.u32 %r5, [%mirror+256];"
           "st.global.u32 [%gout], %r5;",
           (struct expected){.removed = 1});
}

Test(barriers, one_between_parts_that_touch_each_other_stays)
{
    expect("st.shared.u32 [%own], %tx; bar.sync 0; ld.shared.u32 %r5, [%mirror+252];"
           "st.global.u32 [%gout], %r5;",
           NOTHING);
}

Test(barriers, the_last_one_of_a_kernel_is_removed)
{
    expect("st.shared.u32 [%mirror], %tx; bar.sync 0; ld.shared.u32 %r5, [%own];"
           "st.global.u32 [%gout], %r5; bar.sync 0;",
           (struct expected){.removed = 1});
}

Test(barriers, one_between_reads_is_removed)
{
    expect("ld.global.u32 %r5, [%gin]; bar.sync 0; ld.global.u32 %r6, [%gin+4];"
           "add.u32 %r5, %r5, %r6; bar.sync 0; st.shared.u32 [%own], %r5;",
           (struct expected){.removed = 2});
}

Test(barriers, one_between_shared_and_global_memory_is_removed)
{
    expect("st.shared.u32 [%mirror], %tx; bar.sync 0; st.global.u32 [%gin], %tx;",
           (struct expected){.removed = 1});
}

Test(barriers, one_between_accesses_of_one_thread_is_removed)
{
    expect("setp.eq.u32 %p1, %tx, 0; @%p1 st.shared.u32 [%base], %tx; bar.sync 0;"
           "@!%p1 bra skip; ld.shared.u32 %r5, [%base]; st.global.u32 [%rd2], %r5; skip:",
           (struct expected){.removed = 1, .own = 2});
    expect("setp.eq.u32 %p1, %tx, 0; @%p1 st.shared.u32 [%base], %tx; bar.sync 0;"
           "setp.ne.u32 %p2, %tx, 1; @%p2 bra skip; ld.shared.u32 %r5, [%base];"
           "st.global.u32 [%rd2], %r5; skip:",
           NOTHING);
}

Test(barriers, a_neighbours_element_keeps_it)
{
    expect("st.shared.u32 [%own], %tx; bar.sync 0; ld.shared.u32 %r5, [%own+4];"
           "st.global.u32 [%gout], %r5;",
           NOTHING);
    expect("ld.shared.u32 %r5, [%own+4]; bar.sync 0; st.shared.u32 [%own], %r5;", NOTHING);
    expect("st.shared.u32 [%own+4], %tx; bar.sync 0; st.shared.u32 [%own], %tx;", NOTHING);
}

Test(barriers, accesses_wider_than_the_stride_keep_it)
{
    expect_report("ld.global.u32 %r5, [%gin]; bar.sync 0; cvt.u64.u32 %rd5, %r5;"
                  "st.global.u64 [%gin], %rd5;",
                  NOTHING);
    expect_report("ld.shared.v2.u32 {%r5, %r6}, [%own]; bar.sync 0; st.shared.u32 [%own], %r6;",
                  NOTHING);
    expect_report(
        "shl.b32 %r7, %tx, 1; add.u32 %r7, %base, %r7; ld.shared.u32 %r5, [%r7]; bar.sync 0;"
        "st.shared.u32 [%r7], %r5;",
        NOTHING);
    expect("shl.b32 %r7, %tx, 3; add.u32 %r7, %base, %r7; ld.shared.v2.u32 {%r5, %r6}, [%r7];"
           "bar.sync 0; st.shared.u64 [%r7], %rd5; bar.sync 1; st.global.u32 [%gout], %r6;",
           (struct expected){.removed = 2});
}

Test(barriers, an_element_of_all_threads_keeps_it)
{
    expect("ld.shared.u32 %r5, [%base]; bar.sync 0; st.shared.u32 [%base], %r5;", NOTHING);
    expect("and.b32 %r7, %tx, 31; shl.b32 %r7, %r7, 2; add.u32 %r7, %base, %r7;"
           "ld.shared.u32 %r5, [%r7]; bar.sync 0; st.shared.u32 [%r7], %r5;",
           NOTHING);
}

Test(barriers, pointers_of_the_caller_may_be_the_same)
{
    expect("ld.global.u32 %r5, [%rd1+8]; bar.sync 0; st.global.u32 [%gout], %r5;", NOTHING);
    expect("st.global.u32 [%gin], %tx; bar.sync 0; ld.global.u32 %r5, [%gout];"
           "st.shared.u32 [%own], %r5;",
           NOTHING);
}

Test(barriers, pointers_into_different_allocations_are_apart)
{
    char *text =
        barrier_kernel("ld.global.u32 %r5, [%rd1+8]; bar.sync 0; st.global.u32 [%gout], %r5;");
    struct tr_facts facts = {.params = {{.is_distinct = true}, {.is_distinct = true}}};
    check(text, &facts, true, (struct expected){.removed = 1});
    facts.params[0].is_distinct = false;
    check(text, &facts, true, NOTHING);
    free(text);
    text = barrier_kernel("ld.global.u32 %r5, [%rd2+8]; bar.sync 0; st.global.u32 [%gout], %r5;");
    facts.params[0].is_distinct = true;
    check(text, &facts, true, NOTHING);
    free(text);
}

Test(barriers, a_pointer_from_memory_may_lead_anywhere)
{
    expect("ld.global.u64 %rd6, [%rd1]; st.shared.u32 [%mirror], %tx; bar.sync 0;"
           "ld.u32 %r5, [%rd6]; st.global.u32 [%gout], %r5;",
           NOTHING);
    expect("cvta.shared.u64 %rd6, s; st.shared.u32 [%own], %tx; bar.sync 0;"
           "ld.u32 %r5, [%rd6+4]; st.global.u32 [%gout], %r5;",
           NOTHING);
}

Test(barriers, what_orders_by_itself_keeps_it)
{
    expect("st.shared.u32 [%own], %tx; bar.sync 0; atom.global.add.u32 %r5, [%rd2], 1;", NOTHING);
    expect("ld.volatile.global.u32 %r5, [%rd1]; bar.sync 0; st.shared.u32 [%own], %r5;", NOTHING);
    expect("ld.volatile.shared.u32 %r5, [%own]; bar.sync 0; st.shared.u32 [%own], %r5;", NOTHING);
    expect("st.global.u32 [%gout], %tx; membar.gl; bar.sync 0; st.shared.u32 [%own], %tx;",
           NOTHING);
    expect("st.shared.u32 [%own], %tx; bar.sync 0; bar.warp.sync 0xffffffff;", NOTHING);
    expect("st.shared.u32 [%own], %tx; bar.sync 0; shfl.sync.idx.b32 %r5, %tx, 0, 31, 0xffffffff;"
           "st.global.u32 [%gout], %r5;",
           NOTHING);
    expect_report("xor.b32 %r6, %own, 124; bar.sync 0; st.volatile.shared.u32 [%own], %tx;"
                  "ld.volatile.shared.u32 %r5, [%r6]; st.global.u32 [%gout], %r5;",
                  NOTHING);
    expect("bar.sync 0; activemask.b32 %r5; st.global.u32 [%gout], %r5;", NOTHING);
    expect_report("ld.shared.u32 %r5, [%own]; bar.sync 0; mov.u64 %rd6, %clock64;"
                  "st.global.u64 [%rd2], %rd6; st.global.u32 [%gout+8], %r5;",
                  NOTHING);
}

Test(barriers, atomics_of_shared_memory_are_accesses_of_every_thread)
{
    expect("st.shared.u32 [%own], 0; bar.sync 0; and.b32 %r5, %tx, 7; shl.b32 %r5, %r5, 2;"
           "add.u32 %r5, %base, %r5; atom.shared.add.u32 %r6, [%r5], 1;",
           NOTHING);
    expect("st.shared.u32 [%base], 0; bar.sync 0; red.shared.add.u32 [%base], 1;", NOTHING);
}

Test(barriers, at_the_end_of_a_loops_body_it_orders_the_next_round)
{
    expect("mov.u32 %r5, 0; again: ld.shared.u32 %r6, [%mirror]; bar.sync 0;"
           "st.shared.u32 [%own], %r6; bar.sync 0; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 4;"
           "@%p1 bra again; st.global.u32 [%gout], %r6;",
           NOTHING);
    expect("mov.u32 %r5, 0; st.shared.u32 [%own], %tx; bar.sync 0;"
           "again: ld.shared.u32 %r6, [%mirror]; bar.sync 0; add.u32 %r5, %r5, 1; add.u32 %r6, "
           "%r6, 1; st.shared.u32 [%own], %r6;"
           "bar.sync 0; setp.lt.u32 %p1, %r5, 4; @%p1 bra again; st.global.u32 [%gout], %r6;",
           NOTHING);
}

Test(barriers, in_a_loop_over_own_elements_it_is_removed)
{
    expect("mov.u32 %r5, 0; st.shared.u32 [%own], %tx; again: ld.shared.u32 %r6, [%own];"
           "bar.sync 0; add.u32 %r6, %r6, %r5; st.shared.u32 [%own], %r6; add.u32 %r5, %r5, 1;"
           "setp.lt.u32 %p1, %r5, 4; @%p1 bra again; st.global.u32 [%gout], %r6;",
           (struct expected){.removed = 1, .own = 3});
}

Test(barriers, an_element_that_moves_from_round_to_round_keeps_it)
{
    expect("mov.u32 %r5, 0; mov.u32 %r7, %own; again: ld.shared.u32 %r6, [%r7]; bar.sync 0;"
           "add.u32 %r6, %r6, %r5; st.shared.u32 [%r7], %r6; add.u32 %r5, %r5, 1;"
           "add.u32 %r7, %r7, 4; setp.lt.u32 %p1, %r5, 4; @%p1 bra again;",
           NOTHING);
}

Test(barriers, where_threads_part_before_different_ones_all_stay)
{
    expect("setp.lt.u32 %p1, %tx, 32; @%p1 bra low; bar.sync 0; st.shared.u32 [%own], %tx;"
           "bra.uni end; low: bar.sync 0; st.shared.u32 [%own], %tx; end: bar.sync 0;",
           NOTHING);
    expect("setp.lt.u32 %p1, %tx, 32; @%p1 bar.sync 0; st.shared.u32 [%own], %tx; bar.sync 0;",
           NOTHING);
    expect("mov.u32 %r5, 0; again: bar.sync 0; add.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, %tx;"
           "@%p1 bra again; bar.sync 0;",
           NOTHING);
}

Test(barriers, where_all_threads_take_the_same_way_it_may_go)
{
    expect("ld.param.u64 %rd6, [in]; setp.eq.u64 %p1, %rd6, 0; st.shared.u32 [%own+4], %tx;"
           "@%p1 bra skip; bar.sync 0; ld.shared.u32 %r5, [%own+1024];"
           "st.global.u32 [%gout], %r5; skip: bar.sync 0; ld.shared.u32 %r6, [%own];"
           "st.global.u32 [%gout+4], %r6;",
           (struct expected){.removed = 1});
}

Test(barriers, threads_that_end_early_do_not_keep_it)
{
    expect("setp.ge.u32 %p1, %tx, 60; @%p1 ret; ld.shared.u32 %r5, [%own]; bar.sync 0;"
           "st.shared.u32 [%own], %r5;",
           (struct expected){.removed = 1, .own = 2});
}

Test(barriers, what_threads_do_before_they_end_early_keeps_it)
{
    expect("setp.lt.u32 %p1, %tx, 60; @%p1 bra work; st.shared.u32 [%base], %tx; ret;"
           "work: bar.sync 0; ld.shared.u32 %r5, [%base]; st.global.u32 [%gout], %r5;",
           NOTHING);
}

Test(barriers, rows_and_columns_of_a_block_are_apart_if_its_shape_is_known)
{
    const char *body = "mad.lo.u32 %r7, %ty, 16, %tx; shl.b32 %r7, %r7, 2; add.u32 %r7, %base, %r7;"
                       "ld.shared.u32 %r5, [%r7]; bar.sync 0; st.shared.u32 [%r7], %r5;";
    expect_in_block(body, 16, 16, (struct expected){.removed = 1, .own = 2});
    expect_in_block(body, 17, 8, NOTHING);
    expect_in_block(body, 0, 0, NOTHING);
    expect_in_block("ld.shared.u32 %r5, [%own]; bar.sync 0; st.shared.u32 [%own], %r5;", 8, 2,
                    NOTHING);
}

Test(barriers, own_elements_are_apart_in_a_row_of_any_length)
{
    char *text =
        barrier_kernel("ld.shared.u32 %r5, [%own]; bar.sync 0; st.shared.u32 [%own], %r5;");
    const struct tr_facts row = {.block = {0, 1, 1}}, rows = {.block = {0, 0, 1}};
    check(text, &row, false, (struct expected){.removed = 1, .own = 2});
    check(text, &row, true, (struct expected){.removed = 1, .own = 2});
    check(text, &rows, false, NOTHING);
    free(text);
}

/* ---- rule 2: one next to another ---- */

Test(barriers, adjacent_ones_become_one)
{
    expect("st.shared.u32 [%own], %tx; bar.sync 0; bar.sync 0; ld.shared.u32 %r5, [%mirror];"
           "st.global.u32 [%gout], %r5;",
           (struct expected){.merged = 1});
    expect("st.shared.u32 [%own], %tx; bar.sync 0; add.u32 %r5, %tx, 1; bar.sync 3; bar.sync 1;"
           "ld.shared.u32 %r5, [%mirror]; st.global.u32 [%gout], %r5;",
           (struct expected){.merged = 2});
}

Test(barriers, work_on_own_memory_between_two_does_not_keep_them)
{
    expect(".local .align 4 .b8 mine[64]; st.shared.u32 [%own], %tx; bar.sync 0;"
           "and.b32 %r5, %tx, 12; cvt.u64.u32 %rd6, %r5; mov.u64 %rd7, mine;"
           "add.u64 %rd7, %rd7, %rd6; st.local.u32 [mine], %tx; st.local.u32 [%rd7], %r5;"
           "ld.local.u32 %r6, [mine]; bar.sync 0; ld.shared.u32 %r5, [%mirror];"
           "add.u32 %r5, %r5, %r6; st.global.u32 [%gout], %r5;",
           (struct expected){.merged = 1});
}

Test(barriers, an_access_between_two_on_one_way_keeps_both)
{
    expect("setp.eq.u32 %p1, %tx, 9; st.shared.u32 [%own], %tx; bar.sync 0;"
           "@%p1 st.shared.u32 [%base+8], 1; bar.sync 0; ld.shared.u32 %r5, [%mirror];"
           "st.global.u32 [%gout], %r5;",
           NOTHING);
}

Test(barriers, those_of_a_kernel_with_counted_ones_are_left_alone)
{
    expect("st.shared.u32 [%own], %tx; bar.sync 0; bar.sync 0; ld.shared.u32 %r5, [%mirror];"
           "st.global.u32 [%gout], %r5; bar.sync 1, 64;",
           NOTHING);
    expect("setp.lt.u32 %p1, %tx, 32; bar.sync 0; bar.sync 0; @%p1 bra low; bar.arrive 1, 64;"
           "bra.uni end; low: bar.sync 1, 64; end:",
           NOTHING);
    expect("bar.sync 0; bar.sync 0; mov.u32 %r5, %ctaid.x; bar.sync %r5;", NOTHING);
}

Test(barriers, a_reduction_is_no_reason_to_merge)
{
    expect("setp.lt.u32 %p1, %tx, 32; st.shared.u32 [%own], %tx; bar.sync 0;"
           "bar.red.popc.u32 %r5, 0, %p1; st.global.u32 [%gout], %r5;",
           NOTHING);
}

/* ---- rules 3 and 4: forwarding, and stores that nobody reads any more ---- */

Test(barriers, what_only_the_thread_itself_uses_stays_in_a_register)
{
    expect("ld.global.u32 %r5, [%gin]; st.shared.u32 [%own], %r5;"
           "st.shared.u32 [%own+256], %r5; bar.sync 0; ld.shared.u32 %r6, [%own];"
           "ld.shared.u32 %r7, [%mirror+256]; add.u32 %r6, %r6, %r7; st.global.u32 [%gout], %r6;",
           (struct expected){.forwarded = 1, .dead = 1});
    expect("ld.global.u32 %r5, [%gin]; st.shared.u32 [%own], %r5; bar.sync 0;"
           "ld.shared.f32 %f1, [%own]; add.f32 %f1, %f1, %f1; st.global.f32 [%gout+1024], %f1;",
           (struct expected){.forwarded = 1, .dead = 1});
}

Test(barriers, what_others_read_too_is_not_kept_twice)
{
    expect("ld.global.u32 %r5, [%gin]; st.shared.u32 [%own], %r5; bar.sync 0;"
           "ld.shared.u32 %r6, [%own]; ld.shared.u32 %r7, [%mirror]; add.u32 %r6, %r6, %r7;"
           "st.global.u32 [%gout], %r6;",
           NOTHING);
    expect("ld.global.u32 %r5, [%gin]; st.shared.u32 [%own], %r5; ld.shared.u32 %r6, [%own];"
           "bar.sync 0; ld.shared.u32 %r7, [%mirror]; add.u32 %r6, %r6, %r7;"
           "st.global.u32 [%gout], %r6;",
           NOTHING);
}

Test(barriers, global_memory_is_forwarded_and_still_written)
{
    expect("st.global.u32 [%gout], %tx; bar.sync 0; ld.global.u32 %r5, [%gout];"
           "st.shared.u32 [%own], %r5; bar.sync 0; ld.shared.u32 %r5, [%mirror];"
           "st.global.u32 [%gout+512], %r5;",
           (struct expected){.forwarded = 1, .removed = 1});
}

Test(barriers, a_store_overwritten_before_others_look_is_dead)
{
    expect("ld.global.u32 %r5, [%gin]; st.shared.u32 [%own], %r5; bar.sync 0;"
           "ld.shared.u32 %r6, [%own]; add.u32 %r6, %r6, 7; st.shared.u32 [%own], %r6; bar.sync 0;"
           "ld.shared.u32 %r7, [%mirror]; st.global.u32 [%gout], %r7;",
           (struct expected){.forwarded = 1, .dead = 1, .removed = 1});
}

Test(barriers, a_store_that_others_see_first_is_not_dead)
{
    expect("ld.global.u32 %r5, [%gin]; st.shared.u32 [%own], %r5; bar.sync 0;"
           "ld.shared.u32 %r6, [%own]; ld.shared.u32 %r7, [%mirror]; bar.sync 0;"
           "add.u32 %r6, %r6, 7; st.shared.u32 [%own], %r6; bar.sync 0;"
           "ld.shared.u32 %r6, [%mirror]; add.u32 %r7, %r7, %r6; st.global.u32 [%gout], %r7;",
           NOTHING);
    expect("ld.global.u32 %r5, [%gin]; st.shared.u32 [%own], %r5; bar.sync 0;"
           "ld.shared.u32 %r6, [%own]; and.b32 %r7, %r6, 1; setp.eq.u32 %p1, %r7, 0;"
           "@%p1 st.shared.u32 [%own], %tx; bar.sync 0; ld.shared.u32 %r7, [%mirror];"
           "add.u32 %r7, %r7, %r6; st.global.u32 [%gout], %r7;",
           (struct expected){.forwarded = 1, .removed = 1});
    expect("ld.global.u32 %r5, [%gin]; st.shared.u32 [%own], %r5; bar.sync 0;"
           "ld.shared.u32 %r6, [%own]; setp.lt.u32 %p1, %tx, 8; @%p1 ret;"
           "st.shared.u32 [%own], %tx; bar.sync 0; ld.shared.u32 %r7, [%mirror];"
           "add.u32 %r7, %r7, %r6; st.global.u32 [%gout], %r7;",
           (struct expected){.forwarded = 1, .removed = 1});
}

Test(barriers, what_another_thread_may_write_is_not_forwarded)
{
    expect("st.shared.u32 [%own], %tx; bar.sync 0; st.shared.u32 [%mirror], %ty; bar.sync 0;"
           "ld.shared.u32 %r5, [%own]; st.global.u32 [%gout], %r5;",
           NOTHING);
    expect("st.shared.u32 [%own], %tx; bar.sync 0; and.b32 %r5, %tx, 7; shl.b32 %r5, %r5, 2;"
           "add.u32 %r5, %base, %r5; atom.shared.add.u32 %r6, [%r5], 1; bar.sync 0;"
           "ld.shared.u32 %r5, [%own]; st.global.u32 [%gout], %r5;",
           NOTHING);
    expect("st.shared.u32 [%own], %tx; bar.sync 0; ld.shared.u32 %r5, [%own];"
           "st.global.u32 [%gout], %r5; bar.sync 0; st.shared.u32 [%own+4], %r5;",
           (struct expected){.removed = 1});
}

Test(barriers, what_the_thread_itself_may_have_overwritten_is_not_forwarded)
{
    expect("ld.global.u32 %r5, [%rd1]; st.shared.u32 [%own], %tx; bar.sync 0;"
           "setp.eq.u32 %p1, %r5, 1; @%p1 st.shared.u32 [%own], %r5; bar.sync 0;"
           "ld.shared.u32 %r6, [%own]; st.shared.u32 [%own+512], %r6;",
           (struct expected){.removed = 2, .own = 3});
    expect("ld.global.u32 %r5, [%rd1]; st.shared.u32 [%own], %tx; bar.sync 0;"
           "st.shared.u16 [%own+2], %h1; ld.shared.u32 %r6, [%own];"
           "st.shared.u32 [%own+512], %r6;",
           (struct expected){.removed = 1});
}

Test(barriers, a_store_on_one_way_only_is_not_forwarded)
{
    expect("setp.gt.u32 %p1, %tx, 9; @%p1 st.shared.u32 [%own], %tx; bar.sync 0;"
           "ld.shared.u32 %r5, [%own]; st.global.u32 [%gout], %r5;",
           (struct expected){.removed = 1, .own = 2});
}

Test(barriers, the_nearest_store_is_forwarded)
{
    expect("st.shared.u32 [%own], %tx; bar.sync 0; add.u32 %r5, %tx, 5; st.shared.u32 [%own], %r5;"
           "bar.sync 0; ld.shared.u32 %r6, [%own]; st.global.u32 [%gout], %r6;",
           (struct expected){.forwarded = 1, .dead = 2, .removed = 2});
}

Test(barriers, other_sizes_and_places_are_not_forwarded)
{
    expect("st.shared.u32 [%own], %tx; bar.sync 0; ld.shared.u16 %h1, [%own];"
           "st.global.u16 [%gout], %h1;",
           (struct expected){.removed = 1});
    expect("ld.volatile.shared.u32 %r5, [%own]; st.volatile.shared.u32 [%own], %tx; bar.sync 0;"
           "ld.volatile.shared.u32 %r5, [%own]; st.global.u32 [%gout], %r5;",
           NOTHING);
    expect("st.global.u32 [%gout], %tx; bar.sync 0; ld.global.u32 %r5, [%gout];"
           "st.shared.u32 [%own], %r5; bar.sync 0; atom.global.add.u32 %r6, [%rd1], 1;",
           (struct expected){.removed = 1});
}

Test(barriers, a_value_stored_in_a_loop_is_that_of_the_round)
{
    expect("mov.u32 %r5, 0; again: add.u32 %r5, %r5, %tx; st.shared.u32 [%own], %r5;"
           "st.shared.u32 [%own+256], %r5; bar.sync 0; ld.shared.u32 %r6, [%own];"
           "ld.shared.u32 %r7, [%mirror+256]; bar.sync 0; add.u32 %r5, %r6, %r7;"
           "setp.lt.u32 %p1, %r8, 4; add.u32 %r8, %r8, 1; @%p1 bra again;"
           "st.global.u32 [%gout], %r5;",
           (struct expected){.forwarded = 1, .dead = 1});
}

Test(barriers, a_value_of_the_round_before_is_not_forwarded)
{
    expect("mov.u32 %r5, 0; st.shared.u32 [%own], %tx; again: ld.shared.u32 %r6, [%own];"
           "bar.sync 0; add.u32 %r6, %r6, 3; st.shared.u32 [%own], %r6; add.u32 %r5, %r5, 1;"
           "setp.lt.u32 %p1, %r5, 4; @%p1 bra again; st.global.u32 [%gout], %r6;",
           (struct expected){.removed = 1, .own = 3});
}

/* ---- rule 5: own elements become values ---- */

Test(barriers, an_element_stored_in_a_loop_and_in_branches_becomes_a_value)
{
    expect("st.shared.u32 [%own], %tx; mov.u32 %r5, 0; again: ld.shared.u32 %r6, [%mirror+256];"
           "bar.sync 0; setp.gt.u32 %p1, %tx, 9; @%p1 bra big; ld.shared.u32 %r7, [%own];"
           "add.u32 %r7, %r7, 7; st.shared.u32 [%own], %r7; bra both;"
           "big: st.shared.u32 [%own], %r5; both: st.shared.u32 [%own+256], %r5; bar.sync 0;"
           "add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 3; @%p2 bra again;"
           "ld.shared.u32 %r7, [%own]; ld.shared.u32 %r6, [%mirror+256]; add.u32 %r7, %r7, %r6;"
           "st.global.u32 [%gout], %r7;",
           (struct expected){.forwarded = 1, .own = 3});
}

Test(barriers, floats_and_integers_of_one_size_are_one_element)
{
    expect("mov.u32 %r5, 0; st.shared.u32 [%own], %tx; again: ld.shared.f32 %f1, [%own];"
           "bar.sync 0; add.f32 %f1, %f1, %f1; st.shared.f32 [%own], %f1; add.u32 %r5, %r5, 1;"
           "setp.lt.u32 %p1, %r5, 4; @%p1 bra again; st.global.f32 [%gout], %f1;",
           (struct expected){.removed = 1, .own = 3});
}

Test(barriers, an_element_that_others_may_touch_stays_in_memory)
{
    static const char *const others[] = {
        "ld.shared.u32 %r6, [%mirror]; st.global.u32 [%gout+256], %r6;",
        "st.shared.u32 [%mirror], %ty;",
        "ld.shared.u16 %h1, [%own+2]; st.global.u16 [%gout+256], %h1;",
        "ld.volatile.shared.u32 %r6, [%own]; st.global.u32 [%gout+256], %r6;",
        ("shr.u32 %r6, %tx, 3; shl.b32 %r6, %r6, 2; add.u32 %r6, %base, %r6;"
         "ld.shared.u32 %r6, [%r6]; st.global.u32 [%gout+256], %r6;"),
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char body[1024];
        snprintf(body, sizeof body,
                 "setp.gt.u32 %%p1, %%tx, 9; st.shared.u32 [%%own], %%tx;"
                 "@%%p1 st.shared.u32 [%%own], %%r8; bar.sync 0; ld.shared.u32 %%r5, [%%own];"
                 "bar.sync 0; %s bar.sync 0; st.global.u32 [%%gout], %%r5;",
                 others[i]);
        char *text = barrier_kernel(body);
        struct tr_facts facts = {.block = {64, 1, 1}};
        struct tr_barrier_report report;
        struct ptx_module *ptx = barrier_kernel_parse(text);
        LLVMContextRef context = LLVMContextCreate();
        LLVMModuleRef module = barrier_kernel_translate(ptx, context, false, &facts);
        cr_assert_eq(tr_optimise_barriers(module, NULL, &facts, &report, NULL), PXR_OK);
        cr_expect_eq(report.own_count, 0, "%s:\n%s", others[i], report.text);
        tr_barrier_report_fini(&report);
        LLVMDisposeModule(module);
        LLVMContextDispose(context);
        ptx_module_destroy(ptx);
        expect_same_memory(text, &facts);
        free(text);
    }
}

/* The second store is of threads whose elements nobody else reads; the first one is not. */
Test(barriers, an_element_that_others_read_before_some_threads_store_again_stays_in_memory)
{
    expect("st.shared.u32 [%own], %tx; bar.sync 0; setp.gt.u32 %p1, %tx, 31; @%p1 bra done;"
           "ld.shared.u32 %r6, [%own+128]; add.u32 %r6, %r6, 3; st.shared.u32 [%own], %r6;"
           "done: bar.sync 0; ld.shared.u32 %r5, [%own]; st.global.u32 [%gout], %r5;",
           (struct expected){.removed = 1});
}

/* ---- what is left alone ---- */

Test(barriers, a_kernel_without_any_has_nothing_to_say)
{
    expect("st.shared.u32 [%own], %tx; ld.shared.u32 %r5, [%own]; st.global.u32 [%gout], %r5;",
           NOTHING);
}
