/* SPDX-License-Identifier: Apache-2.0
 *
 * Strong accesses of vectors are whole: blocks on different workers write {x, ~x, …} to a few cells
 * and read them, and nobody may see a part of one value and a part of another. CUB's kernels that
 * look back keep a value and its state in such a vector.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "tests/support/runner.h"

#define BLOCK_THREADS 32
#define ROUNDS        10000
#define CELLS         2
#define CELL_BYTES    32
#define TEXT_BYTES    (64u << 10)

/* What one thread writes and what it reads, in PTX: %x is a number of 64 bits that differs each
 * time, %y its complement, [%cell] where to. Reading adds to %r0 how many halves do not match. */
struct form {
    const char *name;
    const char *write;
    const char *read;
};

/* The two words of the width of a half: low and complement; %p, %w0, %w1 and so on are free. */
#define MATCH_64(low, high)                                                                        \
    "not.b64 %w9, " high "; setp.ne.u64 %p, " low ", %w9; @%p add.u32 %r0, %r0, 1;\n"
#define MATCH_32(low, high)                                                                        \
    "not.b32 %r9, " high "; setp.ne.u32 %p, " low ", %r9; @%p add.u32 %r0, %r0, 1;\n"
#define MATCH_16(low, high)                                                                        \
    "not.b16 %h9, " high "; setp.ne.u16 %p, " low ", %h9; @%p add.u32 %r0, %r0, 1;\n"
#define EQUAL_32(a, b) "setp.ne.u32 %p, " a ", " b "; @%p add.u32 %r0, %r0, 1;\n"

#define NARROW         "cvt.u32.u64 %r1, %x; not.b32 %r2, %r1;\n"
#define NARROWER       "cvt.u16.u64 %h1, %x; not.b16 %h2, %h1;\n"
#define V2_64(st, ld)                                                                              \
    .write = st " [%cell], {%x, %y};\n", .read = ld " {%w0, %w1}, [%cell];\n" MATCH_64("%w0", "%w" \
                                                                                              "1")
#define V4_32(st, ld)                                                                              \
    .write = NARROW st " [%cell], {%r1, %r1, %r2, %r1};\n",                                        \
    .read = ld " {%r4, %r5, %r6, %r7}, [%cell];\n" MATCH_32("%r4", "%r6") EQUAL_32("%r4", "%r5")   \
        EQUAL_32("%r5", "%r7")
#define B128(st, ld)                                                                               \
    .write = "mov.b128 %q, {%x, %y}; " st " [%cell], %q;\n",                                       \
    .read = ld " %q, [%cell]; mov.b128 {%w0, %w1}, %q;\n" MATCH_64("%w0", "%w1")

/* clang-format off */
static const struct form forms[] = {
    {"v2.u64 relaxed", V2_64("st.relaxed.gpu.v2.u64", "ld.relaxed.gpu.v2.u64")},
    {"v2.b64 volatile", V2_64("st.volatile.global.v2.b64", "ld.volatile.global.v2.b64")},
    {"v2.f64 release, acquire", V2_64("st.release.gpu.global.v2.f64", "ld.acquire.gpu.global.v2.f64")},
    {"v2.u64 cg", V2_64("st.cg.v2.u64", "ld.cg.v2.u64")},
    {"v4.u32 cg", V4_32("st.cg.v4.u32", "ld.cg.v4.u32")},
    {"v4.u32 relaxed", V4_32("st.relaxed.gpu.global.v4.u32", "ld.relaxed.gpu.global.v4.u32")},
    {"v4.f32 volatile", V4_32("st.volatile.v4.f32", "ld.volatile.v4.f32")},
    {"v4.b32 release, acquire", V4_32("st.release.sys.v4.b32", "ld.acquire.sys.v4.b32")},
    {"b128 relaxed", B128("st.relaxed.gpu.global.b128", "ld.relaxed.gpu.global.b128")},
    {"b128 volatile", B128("st.volatile.b128", "ld.volatile.b128")},
    {"b128 release, acquire", B128("st.release.gpu.b128", "ld.acquire.gpu.b128")},
    {"b128 mmio", B128("st.mmio.relaxed.sys.b128", "ld.mmio.relaxed.sys.b128")},
    {"b128 exchanged, v2.u64 relaxed",
     .write = "mov.b128 %q, {%x, %y}; atom.relaxed.gpu.global.exch.b128 %q, [%cell], %q;\n"
              "mov.b128 {%w0, %w1}, %q;\n" MATCH_64("%w0", "%w1"),
     .read = "ld.relaxed.gpu.global.v2.u64 {%w0, %w1}, [%cell];\n" MATCH_64("%w0", "%w1")},
    {"v2.u64 relaxed, b128 compared",
     .write = "st.relaxed.gpu.global.v2.u64 [%cell], {%x, %y};\n",
     .read = "mov.b128 %q, {%x, %x}; atom.global.cas.b128 %q, [%cell], %q, %q;\n"
             "mov.b128 {%w0, %w1}, %q;\n" MATCH_64("%w0", "%w1")},
    {"v4.b64 relaxed, by halves",
     .write = "st.relaxed.gpu.global.v4.b64 [%cell], {%x, %y, %y, %x};\n",
     .read = "ld.relaxed.gpu.global.v4.b64 {%w0, %w1, %w2, %w3}, [%cell];\n"
             MATCH_64("%w0", "%w1") MATCH_64("%w2", "%w3")},
    {"v8.b32 relaxed, by halves",
     .write = NARROW "st.relaxed.gpu.global.v8.b32 [%cell], {%r1, %r2, %r1, %r1, %r1, %r1, %r1, %r2};\n",
     .read = "ld.relaxed.gpu.global.v8.b32 {%r4, %r5, %r6, %r7, %r10, %r11, %r12, %r13}, [%cell];\n"
             MATCH_32("%r4", "%r5") EQUAL_32("%r4", "%r7") MATCH_32("%r10", "%r13") EQUAL_32("%r10", "%r11")},
    {"v2.u32 relaxed",
     .write = NARROW "st.relaxed.gpu.global.v2.u32 [%cell], {%r1, %r2};\n",
     .read = "ld.relaxed.gpu.global.v2.u32 {%r4, %r5}, [%cell];\n" MATCH_32("%r4", "%r5")},
    {"v2.u16 volatile",
     .write = NARROWER "st.volatile.v2.u16 [%cell], {%h1, %h2};\n",
     .read = "ld.volatile.v2.u16 {%h4, %h5}, [%cell];\n" MATCH_16("%h4", "%h5")},
    {"v4.u16 release, acquire",
     .write = NARROWER "st.release.gpu.v4.u16 [%cell], {%h1, %h1, %h1, %h2};\n",
     .read = "ld.acquire.gpu.v4.u16 {%h4, %h5, %h6, %h7}, [%cell];\n" MATCH_16("%h4", "%h7")
             MATCH_16("%h6", "%h7")},
};
/* clang-format on */

#define FORM_COUNT (sizeof forms / sizeof forms[0])

/* Blocks wait for each other, so that all of them write and read at once. */
static const char kernel_text[] =
    ".visible .entry form_%zu(.param .u64 cells, .param .u64 state, .param .u32 rounds)\n"
    "{\n"
    " .reg .pred %%p; .reg .b16 %%h<10>; .reg .b32 %%r<20>; .reg .b64 %%w<10>;\n"
    " .reg .b64 %%x, %%y, %%cell, %%cells, %%state; .reg .b128 %%q;\n"
    " ld.param.u64 %%cells, [cells]; ld.param.u64 %%state, [state];\n"
    " ld.param.u32 %%r14, [rounds];\n"
    " mov.u32 %%r15, %%tid.x; mov.u32 %%r16, %%ctaid.x; mov.u32 %%r17, %%nctaid.x;\n"
    " setp.ne.u32 %%p, %%r15, 0; @%%p bra met;\n"
    " red.release.gpu.global.add.u32 [%%state], 1;\n"
    "meet:\n"
    " ld.acquire.gpu.global.u32 %%r18, [%%state];\n"
    " setp.lt.u32 %%p, %%r18, %%r17; @%%p bra meet;\n"
    "met:\n"
    " bar.sync 0;\n"
    " mad.lo.u32 %%r16, %%r16, 0x9e3779, %%r15; mul.wide.u32 %%x, %%r16, 0x3c6ef371;\n"
    " mov.u32 %%r0, 0;\n"
    "again:\n"
    " mad.lo.u64 %%x, %%x, 0x5851f42d4c957f2d, 0x14057b7ef767814f; not.b64 %%y, %%x;\n"
    " add.u32 %%r19, %%r14, %%r15; rem.u32 %%r19, %%r19, %d; mul.wide.u32 %%cell, %%r19, %d;\n"
    " add.u64 %%cell, %%cells, %%cell;\n"
    " %s %s"
    " sub.u32 %%r14, %%r14, 1; setp.ne.u32 %%p, %%r14, 0; @%%p bra again;\n"
    " setp.eq.u32 %%p, %%r0, 0; @%%p ret;\n"
    " red.global.add.u32 [%%state+4], %%r0; ret;\n"
    "}\n";

static void make_text(char *text)
{
    size_t used =
        (size_t)snprintf(text, TEXT_BYTES, ".version 8.8\n.target sm_100\n.address_size 64\n");
    for (size_t i = 0; i < FORM_COUNT; i++) {
        used += (size_t)snprintf(text + used, TEXT_BYTES - used, kernel_text, i, CELLS, CELL_BYTES,
                                 forms[i].write, forms[i].read);
        CHECK(used < TEXT_BYTES);
    }
}

/* What every form takes for a whole value: the same words where it expects the same, and others
 * where it expects the complement. */
static void run_once(struct runner *runner, size_t form, uint32_t blocks, uint32_t rounds,
                     uint8_t *cells, uint32_t *state)
{
    char name[32];
    snprintf(name, sizeof name, "form_%zu", form);
    state[0] = state[1] = 0;
    struct runner_buffer buffers[] = {
        {cells, CELLS * CELL_BYTES}, {state, 2 * sizeof *state}, {&rounds, sizeof rounds}};
    struct runner_launch launch = {.kernel = name,
                                   .grid = {blocks, 1, 1},
                                   .block = {BLOCK_THREADS, 1, 1},
                                   .buffers = buffers,
                                   .buffer_count = 3,
                                   .values = 1u << 2};
    struct pxr_error err = {0};
    if (runner_launch(runner, &launch, &err) != PXR_OK) {
        printf("%s: %s\n", forms[form].name, err.message);
        exit(1);
    }
}

/* The first launch, of one block, leaves a whole value in every cell. */
static uint32_t count_torn(struct runner *runner, size_t form, uint32_t blocks)
{
    uint8_t *cells = runner_alloc(CELLS * CELL_BYTES);
    uint32_t *state = runner_alloc(2 * sizeof *state);
    CHECK(cells != NULL && state != NULL);
    run_once(runner, form, 1, 1, cells, state);
    CHECK(state[0] == 1);
    run_once(runner, form, blocks, ROUNDS, cells, state);
    CHECK(state[0] == blocks);
    uint32_t torn = state[1];
    free(cells);
    free(state);
    return torn;
}

static bool check_build(const struct runner_build *build, const char *text, const char *name)
{
    struct runner *runner;
    struct pxr_error err = {0};
    CHECK(runner_open_inprocess(build, &runner, &err) == PXR_OK);
    CHECK(runner_load(runner, text, &err) == PXR_OK);
    bool is_whole = true;
    for (size_t i = 0; i < FORM_COUNT; i++) {
        uint32_t torn = count_torn(runner, i, build->workers);
        if (torn == 0)
            continue;
        printf("%s, %u workers: %s: %u values were torn\n", name, build->workers, forms[i].name,
               torn);
        is_whole = false;
    }
    runner_close(runner);
    return is_whole;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        enum pxr_collapse collapse;
        bool has_facts;
    } collapses[] = {{"precise", PXR_COLLAPSE_PRECISE, false},
                     {"flat", PXR_COLLAPSE_FLAT, false},
                     {"hierarchical", PXR_COLLAPSE_HIERARCHICAL, true},
                     {"vector", PXR_COLLAPSE_VECTOR, true}};
    unsigned workers = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2;
    char *text = malloc(TEXT_BYTES);
    CHECK(text != NULL && workers > 0);
    make_text(text);
    bool is_whole = true;
    for (size_t i = 0; i < sizeof collapses / sizeof collapses[0]; i++) {
        struct runner_build build = {.collapse = collapses[i].collapse,
                                     .has_facts = collapses[i].has_facts,
                                     .workers = workers};
        is_whole &= check_build(&build, text, collapses[i].name);
    }
    free(text);
    return is_whole ? 0 : 1;
}
