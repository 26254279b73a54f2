/* SPDX-License-Identifier: Apache-2.0
 *
 * Random kernels full of barriers, most of them needless: those without races leave the same memory
 * with and without the barrier optimisation, however threads are collapsed and ordered.
 *
 * PTXRUN_BARRIER_KERNELS: how many; PTXRUN_BARRIER_SEED: the first one's seed.
 */
#include "barrier_kernels.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Types.h>

#include "tests/support/runner.h"
#include "translator/barriers/barriers.h"

#define WORDS      4096
#define BODY_BYTES 16384
#define KERNELS    150
#define THREADS    64
#define STATEMENTS 512
#define PHASES     1024
#define SHARED     1024 /* words of the kernel's shared variable; behind them, those of `out` */
#define PLACES     (SHARED + WORDS)

/* ---- programs: lists of statements; addresses and ways depend on the thread only ---- */

enum kind { ACCESS, IF, END_IF, LOOP, END_LOOP, BARRIER, RETURN };
enum access { STORE, UPDATE, LOAD, STORE_GLOBAL, LOAD_GLOBAL };
enum place { OWN, MIRROR, BASE, FOLDED, SPREAD };

struct statement {
    enum kind kind;
    enum access access;
    enum place place;
    unsigned offset;
    unsigned number; /* of the barrier; threads below it take the way; rounds of the loop */
    unsigned label;
};

struct program {
    struct statement statements[STATEMENTS];
    unsigned count;
    unsigned labels;
    uint64_t state;
};

static unsigned pick(struct program *p, unsigned count)
{
    p->state = p->state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(p->state >> 33) % count;
}

static void add(struct program *p, struct statement statement)
{
    cr_assert_lt(p->count, STATEMENTS);
    p->statements[p->count++] = statement;
}

static void add_access(struct program *p)
{
    static const unsigned offsets[] = {0, 0, 0, 4, 128, 256, 256, 512, 1024};
    static const enum place places[] = {OWN, OWN, OWN, OWN, MIRROR, BASE, FOLDED, SPREAD};
    static const enum access accesses[] = {STORE, STORE,        UPDATE,     LOAD,
                                           LOAD,  STORE_GLOBAL, LOAD_GLOBAL};
    struct statement statement = {.kind = ACCESS};
    statement.offset = offsets[pick(p, sizeof offsets / sizeof offsets[0])];
    statement.place = places[pick(p, sizeof places / sizeof places[0])];
    statement.access = accesses[pick(p, sizeof accesses / sizeof accesses[0])];
    if (statement.access >= STORE_GLOBAL)
        statement.offset = 256 * pick(p, 3);
    add(p, statement);
}

static void add_branch(struct program *p, bool is_top)
{
    struct statement branch = {.kind = IF, .number = pick(p, THREADS), .label = p->labels++};
    add(p, branch);
    for (unsigned i = pick(p, 3) + 1; i-- > 0;)
        add_access(p);
    if (is_top && pick(p, 12) == 0)
        add(p, (struct statement){.kind = RETURN});
    branch.kind = END_IF;
    add(p, branch);
}

static void add_statements(struct program *p, bool is_top)
{
    for (unsigned i = pick(p, 6) + 3; i-- > 0;) {
        if (pick(p, 4) == 0) {
            add_branch(p, is_top);
        } else if (is_top && pick(p, 6) == 0) {
            struct statement loop = {.kind = LOOP, .number = pick(p, 3) + 2, .label = p->labels++};
            add(p, loop);
            add_statements(p, false);
            add(p, (struct statement){.kind = BARRIER});
            loop.kind = END_LOOP;
            add(p, loop);
        } else {
            add_access(p);
        }
        if (pick(p, 5) != 0)
            add(p, (struct statement){.kind = BARRIER, .number = pick(p, 4) == 0});
    }
}

/* ---- as text ---- */

struct writer {
    char text[BODY_BYTES];
    size_t used;
};

static void __attribute__((format(printf, 2, 3))) emit(struct writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int written = vsnprintf(w->text + w->used, BODY_BYTES - w->used, format, args);
    va_end(args);
    cr_assert(written >= 0 && (size_t)written < BODY_BYTES - w->used);
    w->used += (size_t)written;
}

static void emit_access(struct writer *w, const struct statement *s)
{
    static const char *const places[] = {
        [OWN] = "mov.u32 %r9, %own;",      [MIRROR] = "mov.u32 %r9, %mirror;",
        [BASE] = "mov.u32 %r9, %base;",    [FOLDED] = "and.b32 %r9, %own, 60;",
        [SPREAD] = "shl.b32 %r9, %tx, 3;",
    };
    if (s->access < STORE_GLOBAL)
        emit(w, "%s add.u32 %%r9, %%r9, %u; ", places[s->place], s->offset);
    if (s->access == STORE)
        emit(w, "st.shared.u32 [%%r9], %%r5;\n");
    else if (s->access == UPDATE)
        emit(w, "ld.shared.u32 %%r7, [%%r9]; add.u32 %%r7, %%r7, 3; st.shared.u32 [%%r9], %%r7;\n");
    else if (s->access == LOAD)
        emit(w, "ld.shared.u32 %%r7, [%%r9]; mad.lo.u32 %%r5, %%r5, 5, %%r7;\n");
    else if (s->access == STORE_GLOBAL)
        emit(w, "st.global.u32 [%%gout+%u], %%r5;\n", s->offset);
    else
        emit(w, "ld.global.u32 %%r7, [%%gout+%u]; xor.b32 %%r5, %%r5, %%r7;\n", s->offset);
}

static void emit_statement(struct writer *w, const struct statement *s)
{
    if (s->kind == ACCESS)
        emit_access(w, s);
    else if (s->kind == IF)
        emit(w, "setp.lt.u32 %%p1, %%tx, %u; @!%%p1 bra skip%u;\n", s->number, s->label);
    else if (s->kind == END_IF)
        emit(w, "skip%u:\n", s->label);
    else if (s->kind == LOOP)
        emit(w, "mov.u32 %%r6, 0; again%u:\n", s->label);
    else if (s->kind == END_LOOP)
        emit(w, "add.u32 %%r6, %%r6, 1; setp.lt.u32 %%p2, %%r6, %u; @%%p2 bra again%u;\n",
             s->number, s->label);
    else if (s->kind == BARRIER)
        emit(w, "bar.sync %u;\n", s->number);
    else
        emit(w, "ret;\n");
}

/* Around the program, all that it may read gets its first value, and what threads have found out
 * becomes visible. */
static char *make_text(const struct program *p)
{
    struct writer w = {.used = 0};
    for (unsigned i = 0; i < SHARED / THREADS; i++)
        emit(&w, "add.u32 %%r5, %%tx, %u; st.shared.u32 [%%own+%u], %%r5;\n", i * 100,
             i * 4 * THREADS);
    emit(&w, "st.global.u32 [%%gout], %%tx; st.global.u32 [%%gout+256], %%r5;\n"
             "st.global.u32 [%%gout+512], %%r5; bar.sync 0;\n");
    for (unsigned i = 0; i < p->count; i++)
        emit_statement(&w, &p->statements[i]);
    emit(&w, "st.global.u32 [%%gout+1024], %%r5; bar.sync 0; ld.shared.u32 %%r7, [%%own];\n"
             "st.global.u32 [%%gout+2048], %%r7;");
    return barrier_kernel(w.text);
}

/* ---- races ---- */

/* What threads did to a word between two barriers: 0, or the thread plus 1. */
struct word {
    uint8_t writer;
    uint8_t reader;
    bool has_readers; /* several */
};

static unsigned word_of(const struct statement *s, unsigned thread)
{
    unsigned byte = s->offset;
    if (s->access >= STORE_GLOBAL)
        return SHARED + byte / 4 + thread;
    if (s->place == OWN)
        byte += 4 * thread;
    else if (s->place == MIRROR)
        byte += 4 * (THREADS - 1 - thread);
    else if (s->place == FOLDED)
        byte += 4 * thread & 60;
    else if (s->place == SPREAD)
        byte += 8 * thread;
    return byte / 4;
}

static bool touch(struct word *word, unsigned thread, bool is_write)
{
    uint8_t own = (uint8_t)(thread + 1);
    bool is_race = word->writer != 0 && word->writer != own;
    if (is_write) {
        is_race |= word->has_readers || (word->reader != 0 && word->reader != own);
        word->writer = own;
    } else {
        word->has_readers |= word->reader != 0 && word->reader != own;
        word->reader = own;
    }
    return is_race;
}

static bool touch_all(struct word *phase, const struct statement *s, unsigned thread)
{
    struct word *word = &phase[word_of(s, thread)];
    bool is_race = false;
    if (s->access != STORE && s->access != STORE_GLOBAL)
        is_race |= touch(word, thread, false);
    if (s->access != LOAD && s->access != LOAD_GLOBAL)
        is_race |= touch(word, thread, true);
    return is_race;
}

static unsigned find_partner(const struct program *p, unsigned from, enum kind kind)
{
    unsigned at = from;
    while (p->statements[at].kind != kind || p->statements[at].label != p->statements[from].label)
        kind == LOOP ? at-- : at++;
    return at;
}

/* One thread from the beginning to its end. */
static bool thread_races(const struct program *p, unsigned thread, struct word (*phases)[PLACES])
{
    unsigned phase = 1;
    unsigned rounds = 0;
    bool is_race = false;
    for (unsigned at = 0; at < p->count; at++) {
        const struct statement *s = &p->statements[at];
        if (s->kind == ACCESS)
            is_race |= touch_all(phases[phase], s, thread);
        else if (s->kind == IF && thread >= s->number)
            at = find_partner(p, at, END_IF);
        else if (s->kind == LOOP)
            rounds = 0;
        else if (s->kind == END_LOOP && ++rounds < s->number)
            at = find_partner(p, at, LOOP);
        else if (s->kind == BARRIER)
            phase++;
        else if (s->kind == RETURN)
            return is_race;
        cr_assert_lt(phase, PHASES - 2);
    }
    const struct statement own = {.kind = ACCESS, .access = LOAD, .place = OWN};
    return is_race | touch_all(phases[phase + 1], &own, thread);
}

static bool has_race(const struct program *p)
{
    struct word(*phases)[PLACES] = calloc(PHASES, sizeof *phases);
    bool is_race = false;
    cr_assert(phases);
    for (unsigned thread = 0; thread < THREADS && !is_race; thread++)
        is_race = thread_races(p, thread, phases);
    free(phases);
    return is_race;
}

/* ---- running them ---- */

struct tally {
    struct tr_facts facts;
    uint32_t changed; /* barriers that went, loads forwarded */
};

static void optimise(void *data, LLVMModuleRef module)
{
    struct tally *tally = data;
    struct tr_barrier_report report;
    cr_assert_eq(tr_optimise_barriers(module, NULL, &tally->facts, &report, NULL), PXR_OK);
    tally->changed += report.removed_count + report.merged_count + report.forwarded_count;
    tr_barrier_report_fini(&report);
}

static void run(struct runner *runner, const char *text, uint32_t *in, uint32_t *out)
{
    struct pxr_error err = {0};
    struct runner_buffer buffers[] = {{in, WORDS * sizeof *in}, {out, WORDS * sizeof *out}};
    struct runner_launch launch = {.kernel = "k",
                                   .grid = {1, 1, 1},
                                   .block = {THREADS, 1, 1},
                                   .buffers = buffers,
                                   .buffer_count = 2};
    memset(out, 0x55, WORDS * sizeof *out);
    cr_assert_eq(runner_run(runner, text, &launch, &err), PXR_OK, "%s\n%s", err.message, text);
}

static void expect_same(const char *text, enum pxr_collapse collapse, struct tally *tally,
                        uint32_t *in, const uint32_t *expected, uint32_t *out, uint64_t seed)
{
    struct runner *runner = NULL;
    struct runner_build build = {.collapse = collapse, .has_facts = true, .workers = 1};
    if (collapse == PXR_COLLAPSE_PRECISE)
        build.hooks = (struct runner_hooks){.data = tally, .mutate = optimise};
    cr_assert_eq(runner_open_inprocess(&build, &runner, NULL), PXR_OK);
    for (unsigned chaos = 0; chaos < 3; chaos++) {
        runner_set_chaos(chaos);
        run(runner, text, in, out);
        cr_expect_arr_eq(out, expected, WORDS * sizeof *out, "seed %llu, collapse %d:\n%s",
                         (unsigned long long)seed, collapse, text);
    }
    runner_close(runner);
}

static void compare(const char *text, struct tally *tally, uint64_t seed)
{
    struct runner *oracle = NULL;
    uint32_t *in = runner_alloc(3 * WORDS * sizeof *in);
    uint32_t *expected = in + WORDS;
    uint32_t *out = in + 2 * WORDS;
    cr_assert_eq(runner_open_oracle(0, &oracle, NULL), PXR_OK);
    run(oracle, text, in, expected);
    runner_close(oracle);
    expect_same(text, PXR_COLLAPSE_PRECISE, tally, in, expected, out, seed);
    expect_same(text, PXR_COLLAPSE_FLAT, tally, in, expected, out, seed);
    free(in);
}

static uint64_t setting(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

Test(barriers, random_kernels_leave_the_same_memory)
{
    uint64_t first = setting("PTXRUN_BARRIER_SEED", 1);
    uint64_t count = setting("PTXRUN_BARRIER_KERNELS", KERNELS);
    struct tally tally = {.facts = {.block = {THREADS, 1, 1}}};
    uint32_t compared = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct program program = {.state = seed * 0x9e3779b97f4a7c15u + 1};
        add_statements(&program, true);
        if (has_race(&program))
            continue;
        char *text = make_text(&program);
        compare(text, &tally, seed);
        free(text);
        compared++;
    }
    printf("%u kernels, %u changes\n", compared, tally.changed);
    cr_expect_gt(compared, count / 16, "%u kernels", compared);
    cr_expect_gt(tally.changed, compared, "%u changes in %u kernels", tally.changed, compared);
}
