/* SPDX-License-Identifier: Apache-2.0
 *
 * tr_assume_facts: random functions behave the same with and without facts on launches of which the
 * facts are true, no flag it sets is ever wrong, and the cases it exists for do get simpler.
 */
#include "ir_interp.h"

#include <criterion/criterion.h>
#include <llvm-c/IRReader.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_abi/rt.h"
#include "translator/pipeline.h"

/* Parameters of the kernel of all tests: an address to store results at, two more addresses, two
 * integers of 32 bits and one of 64. */
enum { OUT, IN_A, IN_B, SMALL, LARGE, WIDE, PARAMS };

static const uint32_t param_bytes[PARAMS] = {8, 8, 8, 4, 4, 8};

#define RESULTS      16
#define PARAM_OFFSET 8 /* between parameters */

struct kernel {
    struct ptx_var vars[PARAMS];
    const struct ptx_var *pointers[PARAMS];
    struct ptx_func func;
};

static void describe_kernel(struct kernel *kernel)
{
    for (uint32_t i = 0; i < PARAMS; i++) {
        kernel->vars[i] =
            (struct ptx_var){.type = param_bytes[i] == 8 ? PTX_TYPE_U64 : PTX_TYPE_U32,
                             .size_bytes = param_bytes[i],
                             .param_offset_bytes = PARAM_OFFSET * i};
        kernel->pointers[i] = &kernel->vars[i];
    }
    kernel->func = (struct ptx_func){.params = (void *)kernel->pointers, .param_count = PARAMS};
}

/* ---- random numbers ---- */

static uint64_t random_state;

static uint32_t below(uint32_t limit)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((random_state >> 33) * limit >> 31);
}

/* Often one of the ends. */
static uint32_t between(uint32_t low, uint32_t high)
{
    switch (below(3)) {
    case 0:
        return high;
    case 1:
        return below(2) ? low : low + (high - low) / 2;
    default:
        return low + (uint32_t)((((uint64_t)below(1u << 30) << 2) + below(4)) *
                                    ((uint64_t)(high - low) + 1) >>
                                32);
    }
}

/* ---- random functions, as text ---- */

struct writer {
    FILE *out;
    unsigned next;     /* number of the next value */
    unsigned count[2]; /* of i32 and i64 values in scope */
    char names[2][400][8];
};

__attribute__((format(printf, 3, 4))) static void define(struct writer *w, bool is_wide,
                                                         const char *format, ...)
{
    char name[8];
    snprintf(name, sizeof name, "v%u", w->next++);
    fprintf(w->out, "  %%%s = ", name);
    va_list args;
    va_start(args, format);
    vfprintf(w->out, format, args);
    va_end(args);
    fputc('\n', w->out);
    memcpy(w->names[is_wide][w->count[is_wide]++], name, sizeof name);
}

static const char *pick(const struct writer *w, bool is_wide)
{
    unsigned count = w->count[is_wide];
    unsigned recent = count < 6 ? count : 6;
    unsigned n = below(2) ? below(count) : count - 1 - below(recent);
    return w->names[is_wide][n];
}

static void write_arithmetic(struct writer *w, bool is_wide)
{
    static const char *const ops[] = {"add", "add", "add", "mul", "mul", "sub", "and", "or", "xor"};
    const char *type = is_wide ? "i64" : "i32";
    switch (below(5)) {
    case 0:
        define(w, is_wide, "shl %s %%%s, %u", type, pick(w, is_wide), 1 + below(8));
        break;
    case 1:
        define(w, is_wide, "%s %s %%%s, %u", below(2) ? "lshr" : "ashr", type, pick(w, is_wide),
               1 + below(20));
        break;
    case 2:
        define(w, is_wide, "%s %s %%%s, %d", ops[below(9)], type, pick(w, is_wide),
               (int)below(40) - 8);
        break;
    case 3:
        define(w, is_wide, "%s %s %%%s, %u", below(2) ? "udiv" : "urem", type, pick(w, is_wide),
               1 + below(300));
        break;
    default:
        define(w, is_wide, "%s %s %%%s, %%%s", ops[below(9)], type, pick(w, is_wide),
               pick(w, is_wide));
    }
}

static const char *random_predicate(void)
{
    static const char *const predicates[] = {"eq",  "ne",  "ult", "ule", "ugt",
                                             "uge", "slt", "sle", "sgt", "sge"};
    return predicates[below(10)];
}

static void write_some(struct writer *w, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        bool is_wide = below(2);
        switch (below(6)) {
        case 0:
            define(w, true, "%s i32 %%%s to i64", below(3) ? "sext" : "zext", pick(w, false));
            break;
        case 1:
            fprintf(w->out, "  %%c%u = icmp %s i32 %%%s, %%%s\n", w->next, random_predicate(),
                    pick(w, false), pick(w, false));
            define(w, is_wide, "select i1 %%c%u, %s %%%s, %s %%%s", w->next,
                   is_wide ? "i64" : "i32", pick(w, is_wide), is_wide ? "i64" : "i32",
                   pick(w, is_wide));
            break;
        case 2:
            if (below(4) == 0) {
                define(w, false, "trunc i64 %%%s to i32", pick(w, true));
                break;
            }
            /* fall through */
        default:
            write_arithmetic(w, is_wide);
        }
    }
}

static void write_inputs(struct writer *w)
{
    static const char *const registers[] = {"tid_x",  "tid_y",    "ctaid_x", "ctaid_y", "ntid_x",
                                            "ntid_y", "nctaid_x", "laneid",  "warpid"};
    for (size_t i = 0; i < sizeof registers / sizeof registers[0]; i++)
        define(w, false, "call i32 @rt_sreg_%s(ptr %%ctx)", registers[i]);
    fputs("  %block = load ptr, ptr %ctx\n  %launch = load ptr, ptr %block\n"
          "  %params = load ptr, ptr %launch\n",
          w->out);
    for (int i = 0; i < PARAMS; i++) {
        fprintf(w->out, "  %%p%d = getelementptr i8, ptr %%params, i64 %d\n", i, PARAM_OFFSET * i);
        define(w, param_bytes[i] == 8, "load i%u, ptr %%p%d, !invariant.load !0",
               8 * param_bytes[i], i);
    }
    fputs("  %o = load ptr, ptr %p0\n", w->out);
}

static void write_results(struct writer *w, unsigned first)
{
    for (unsigned i = first; i < first + RESULTS / 4; i++) {
        bool is_wide = below(2);
        fprintf(w->out,
                "  %%o%u = getelementptr i64, ptr %%o, i64 %u\n  store %s %%%s, ptr %%o%u\n", i, i,
                is_wide ? "i64" : "i32", pick(w, is_wide), i);
    }
}

/* for (i = start; i < end; i += step), in one of the forms compilers give it. */
static void write_loop(struct writer *w)
{
    struct writer before = *w;
    char start[8], end[8];
    snprintf(start, sizeof start, "%s", below(2) ? pick(w, false) : w->names[0][0]);
    snprintf(end, sizeof end, "%s", below(2) ? w->names[0][below(11)] : pick(w, false));
    unsigned step = 1 + (below(3) ? 0 : below(7));
    fputs("  br label %head\nhead:\n", w->out);
    define(w, false, "phi i32 [ %%%s, %%%s ], [ %%next, %%head ]", start, "join");
    fprintf(w->out, "  %%sum = phi i32 [ 0, %%join ], [ %%more, %%head ]\n");
    const char *counter = w->names[0][w->count[0] - 1];
    char name[8];
    snprintf(name, sizeof name, "%s", counter);
    write_some(w, 6);
    fprintf(w->out, "  %%more = add i32 %%sum, %%%s\n  %%next = add i32 %%%s, %u\n", pick(w, false),
            name, step);
    write_results(w, RESULTS / 2);
    fprintf(w->out, "  %%again = icmp %s i32 %%next, %%%s\n",
            below(4) ? (below(2) ? "slt" : "ult") : "ne", end);
    fputs("  br i1 %again, label %head, label %done\ndone:\n", w->out);
    unsigned next = w->next;
    memcpy(w->count, before.count, sizeof w->count); // what is after the loop is not dominated by
    w->next = next;                                  // nothing in it, but keep it simple
    memcpy(w->names, before.names, sizeof w->names);
    fputs("  %so = getelementptr i64, ptr %o, i64 15\n  store i32 %more, ptr %so\n", w->out);
}

/* Straight code, a condition around some more, a loop. */
static char *write_function(void)
{
    static const char *const registers[] = {"tid", "ntid", "ctaid", "nctaid"};
    struct writer w = {.next = 0};
    char *text = NULL;
    size_t len = 0;
    w.out = open_memstream(&text, &len);
    for (int i = 0; i < 4; i++)
        for (int d = 0; d < 3; d++)
            fprintf(w.out, "declare i32 @rt_sreg_%s_%c(ptr) memory(none)\n", registers[i],
                    "xyz"[d]);
    fputs("declare i32 @rt_sreg_laneid(ptr) memory(none)\n"
          "declare i32 @rt_sreg_warpid(ptr) memory(none)\n!0 = !{}\n"
          "define void @ptxrun_kernel(ptr %ctx) {\nentry:\n",
          w.out);
    write_inputs(&w);
    write_some(&w, 10);
    write_results(&w, 0);
    fprintf(w.out,
            "  %%if = icmp %s i32 %%%s, %%%s\n  br i1 %%if, label %%then, label %%join\nthen:\n",
            random_predicate(), pick(&w, false), pick(&w, false));
    struct writer before = w;
    write_some(&w, 8);
    write_results(&w, RESULTS / 4);
    memcpy(w.count, before.count, sizeof w.count);
    memcpy(w.names, before.names, sizeof w.names);
    fputs("  br label %join\njoin:\n", w.out);
    write_loop(&w);
    fputs("  ret void\n}\n", w.out);
    fclose(w.out);
    return text;
}

/* ---- random facts and launches ---- */

static struct tr_facts random_facts(void)
{
    static const uint32_t blocks[] = {0, 1, 16, 100, 256};
    static const uint32_t grids[] = {0, 1, 256, 4096, 1u << 22, TR_GRID_MAX_X};
    static const uint8_t sizes[] = {0, 8, 12, 15, 20, 30};
    struct tr_facts facts = {.block = {blocks[below(5)], below(2), below(2)},
                             .grid_max = {grids[below(6)], grids[below(3)], below(2)}};
    facts.params[SMALL].max_log2 = sizes[below(6)];
    facts.params[LARGE].max_log2 = sizes[below(6)];
    facts.params[WIDE].max_log2 = sizes[below(6)];
    for (int i = IN_A; i <= IN_B; i++)
        facts.params[i].align_log2 = (uint8_t)(below(3) ? 6 : 4 * below(2));
    return facts;
}

struct launch {
    struct rt_thread thread;
    struct rt_block block;
    struct rt_launch launch;
    uint64_t params[PARAMS];
};

/* In one place for all: its address is a parameter too. */
static uint64_t results[RESULTS];

static uint64_t random_value(const struct tr_param_fact *fact, unsigned bytes)
{
    uint64_t value = (uint64_t)between(0, UINT32_MAX) << (bytes == 8 ? below(33) : 0);
    if (fact->max_log2)
        value = between(0, UINT32_C(1) << fact->max_log2);
    value &= ~((UINT64_C(1) << fact->align_log2) - 1);
    return bytes == 8 ? value : (uint32_t)value;
}

/* A thread of a launch of which the facts are true; too_far: by one block they are not. */
static void random_launch(struct launch *l, const struct tr_facts *facts, bool too_far)
{
    static const uint32_t block_limits[3] = {TR_BLOCK_MAX_THREADS, TR_BLOCK_MAX_THREADS,
                                             TR_BLOCK_MAX_Z};
    static const uint32_t grid_limits[3] = {TR_GRID_MAX_X, TR_GRID_MAX_YZ, TR_GRID_MAX_YZ};
    memset(l, 0, sizeof *l);
    for (int d = 0; d < 3; d++) {
        uint32_t block = facts->block[d] ? facts->block[d] : between(1, block_limits[d]);
        uint32_t grid_max = facts->grid_max[d] ? facts->grid_max[d] : grid_limits[d];
        uint32_t grid = between(1, grid_max < grid_limits[d] ? grid_max : grid_limits[d]);
        l->launch.block[d] = block;
        l->launch.grid[d] = grid + too_far;
        l->block.ctaid[d] = between(0, grid - 1) + too_far;
        l->thread.tid[d] = between(0, block - 1);
    }
    l->thread.lane = below(32);
    uint32_t threads = facts->block[0] * facts->block[1] * facts->block[2];
    l->thread.warp = between(0, threads ? (threads + 31) / 32 - 1 : 31);
    for (int i = 0; i < PARAMS; i++)
        l->params[i] = random_value(&facts->params[i], param_bytes[i]);
}

static bool read_register(void *data, const char *name, uint64_t *result)
{
    const struct launch *l = data;
    const struct {
        const char *name;
        const uint32_t *values;
    } triples[] = {{"rt_sreg_tid_", l->thread.tid},
                   {"rt_sreg_ntid_", l->launch.block},
                   {"rt_sreg_ctaid_", l->block.ctaid},
                   {"rt_sreg_nctaid_", l->launch.grid}};
    for (int i = 0; i < 4; i++) {
        size_t len = strlen(triples[i].name);
        if (strncmp(name, triples[i].name, len) == 0) {
            *result = triples[i].values[name[len] - 'x'];
            return true;
        }
    }
    *result = strcmp(name, "rt_sreg_laneid") == 0 ? l->thread.lane : l->thread.warp;
    return strcmp(name, "rt_sreg_laneid") == 0 || strcmp(name, "rt_sreg_warpid") == 0;
}

static enum ir_outcome run_launch(LLVMModuleRef module, struct launch *l)
{
    memset(results, 0, sizeof results);
    l->params[OUT] = (uint64_t)(uintptr_t)results;
    l->launch.params = (const uint8_t *)l->params;
    l->block.launch = &l->launch;
    l->thread.block = &l->block;
    return ir_run(LLVMGetNamedFunction(module, "ptxrun_kernel"), &l->thread, read_register, l);
}

/* ---- the property ---- */

static LLVMModuleRef parse(LLVMContextRef context, const char *text)
{
    size_t len = strlen(text);
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, len, "test");
    LLVMModuleRef module;
    char *message = NULL;
    cr_assert_not(LLVMParseIRInContext(context, buffer, &module, &message), "%s\n%s", message,
                  text);
    return module;
}

struct tally {
    unsigned compared;
    unsigned skipped;
    unsigned wrong;
};

static void compare_launch(LLVMModuleRef plain, LLVMModuleRef assumed, const struct launch *sample,
                           struct tally *tally)
{
    struct launch a = *sample, b = *sample;
    uint64_t expected[RESULTS];
    enum ir_outcome want = run_launch(plain, &a);
    memcpy(expected, results, sizeof expected);
    enum ir_outcome got = run_launch(assumed, &b);
    if (want != IR_RETURNED || got == IR_TOO_LONG || got == IR_UNSUPPORTED)
        tally->skipped++;
    else if (got != IR_RETURNED || memcmp(results, expected, sizeof expected) != 0)
        tally->wrong++;
    else
        tally->compared++;
}

static struct tally try_functions(unsigned functions, bool too_far)
{
    struct tally tally = {0};
    struct kernel kernel;
    describe_kernel(&kernel);
    for (unsigned f = 0; f < functions; f++) {
        LLVMContextRef context = LLVMContextCreate();
        char *text = write_function();
        struct tr_facts facts = random_facts();
        LLVMModuleRef plain = parse(context, text);
        LLVMModuleRef assumed = parse(context, text);
        struct pxr_error err = {0};
        tr_assume_facts(assumed, &kernel.func, &facts);
        cr_assert_eq(tr_run_passes(assumed, tr_steps[TR_STEP_APPLY_FACTS].passes, NULL, &err),
                     PXR_OK, "%s", err.message);
        unsigned wrong = tally.wrong;
        for (int i = 0; i < 12; i++) {
            struct launch sample;
            random_launch(&sample, &facts, too_far);
            compare_launch(plain, assumed, &sample, &tally);
        }
        if (!too_far && tally.wrong != wrong) {
            char *after = LLVMPrintModuleToString(assumed);
            fprintf(stderr, "%s\nbecomes\n%s\n", text, after);
            LLVMDisposeMessage(after);
        }
        LLVMDisposeModule(plain);
        LLVMDisposeModule(assumed);
        LLVMContextDispose(context);
        free(text);
    }
    return tally;
}

Test(assume_facts, results_are_the_same_and_no_flag_is_wrong_where_the_facts_are_true)
{
    random_state = 1;
    struct tally tally = try_functions(500, false);
    cr_expect_eq(tally.wrong, 0);
    cr_expect_gt(tally.compared, 12 * 500 / 2, "%u compared, %u skipped", tally.compared,
                 tally.skipped);
}

Test(assume_facts, a_launch_with_one_block_too_many_is_noticed)
{
    random_state = 2;
    cr_expect_gt(try_functions(200, true).wrong, 100);
}

/* ---- what it is for ---- */

static char *assume(const char *body, const struct tr_facts *facts)
{
    static const char head[] =
        "declare i32 @rt_sreg_tid_x(ptr) memory(none)\n"
        "declare i32 @rt_sreg_ctaid_x(ptr) memory(none)\n"
        "declare i32 @rt_sreg_ntid_x(ptr) memory(none)\n"
        "declare i32 @rt_sreg_tid_y(ptr) memory(none)\n"
        "declare i32 @rt_sreg_ntid_z(ptr) memory(none)\n"
        "declare i32 @rt_sreg_dynamic_smem_size(ptr) memory(none)\n"
        "declare void @rt_fault(ptr, i32, i64) noreturn\n"
        "define void @ptxrun_kernel(ptr %ctx) {\nentry:\n"
        "  %tid = call i32 @rt_sreg_tid_x(ptr %ctx)\n"
        "  %ctaid = call i32 @rt_sreg_ctaid_x(ptr %ctx)\n"
        "  %ntid = call i32 @rt_sreg_ntid_x(ptr %ctx)\n"
        "  %block = load ptr, ptr %ctx\n  %launch = load ptr, ptr %block\n"
        "  %params = load ptr, ptr %launch\n  %out = load i64, ptr %params\n";
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    fprintf(out, "%s%s  ret void\n}\n", head, body);
    fclose(out);
    struct kernel kernel;
    describe_kernel(&kernel);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse(context, text);
    struct pxr_error err = {0};
    tr_assume_facts(module, &kernel.func, facts);
    cr_assert_eq(tr_run_passes(module, tr_steps[TR_STEP_APPLY_FACTS].passes, NULL, &err), PXR_OK,
                 "%s", err.message);
    char *ir = LLVMPrintModuleToString(module);
    char *copy = strdup(ir);
    LLVMDisposeMessage(ir);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    free(text);
    return copy;
}

static void expect_text(const char *body, const struct tr_facts *facts, const char *text,
                        bool is_there)
{
    char *ir = assume(body, facts);
    cr_expect_eq(strstr(ir, text) != NULL, is_there, "%s: '%s' in\n%s",
                 is_there ? "missing" : "unexpected", text, ir);
    free(ir);
}

/* out[ctaid * ntid + tid], as nvcc writes it. */
static const char store_at_index[] = "  %m = mul i32 %ctaid, %ntid\n  %i = add i32 %m, %tid\n"
                                     "  %w = sext i32 %i to i64\n  %o = shl i64 %w, 2\n"
                                     "  %a = add i64 %out, %o\n  %p = inttoptr i64 %a to ptr\n"
                                     "  store i32 %i, ptr %p\n";

Test(assume_facts, a_global_index_within_bounds_is_not_negative)
{
    struct tr_facts none = {.has_dynamic_shared = false};
    struct tr_facts facts = {.block = {250, 1, 1}, .grid_max = {1u << 22, 1, 1}};
    struct tr_facts large = {.block = {1024, 1, 1}, .grid_max = {1u << 22, 1, 1}};
    expect_text(store_at_index, &none, "sext i32", true);
    expect_text(store_at_index, &facts, "sext i32", false);
    expect_text(store_at_index, &facts, "zext nneg i32", true);
    expect_text(store_at_index, &facts, "mul nuw nsw i32 %ctaid, 250", true);
    expect_text(store_at_index, &large, "sext i32", true);
}

Test(assume_facts, counters_of_loops_within_bounds_do_not_wrap)
{
    static const char loop[] = "  %np = getelementptr i8, ptr %params, i64 24\n"
                               "  %n = load i32, ptr %np\n  br label %head\nhead:\n"
                               "  %j = phi i32 [ 0, %entry ], [ %k, %head ]\n"
                               "  %m = mul i32 %ctaid, %n\n  %i = add i32 %m, %j\n"
                               "  %w = sext i32 %i to i64\n  %o = shl i64 %w, 2\n"
                               "  %a = add i64 %out, %o\n  %p = inttoptr i64 %a to ptr\n"
                               "  store i32 %i, ptr %p\n  %k = add i32 %j, 1\n"
                               "  %c = icmp slt i32 %k, %n\n"
                               "  br i1 %c, label %head, label %done\ndone:\n";
    struct tr_facts facts = {.grid_max = {4096, 1, 1}};
    expect_text(loop, &facts, "sext i32 %i", true);
    facts.params[SMALL].max_log2 = 15;
    expect_text(loop, &facts, "sext i32", false);
}

Test(assume_facts, alignment_checks_go_where_the_alignment_is_a_fact)
{
    static const char check[] = "  %low = and i64 %out, 3\n  %bad = icmp ne i64 %low, 0\n"
                                "  br i1 %bad, label %fault, label %fine\nfault:\n"
                                "  call void @rt_fault(ptr %ctx, i32 13, i64 %out)\n"
                                "  unreachable\nfine:\n"
                                "  %p = inttoptr i64 %out to ptr\n  store i32 1, ptr %p\n";
    struct tr_facts facts = {.block = {1, 1, 1}};
    expect_text(check, &facts, "call void @rt_fault", true);
    facts.params[OUT].align_log2 = 4;
    expect_text(check, &facts, "call void @rt_fault", false);
    facts.params[OUT].align_log2 = 0;
    facts.params[IN_A].align_log2 = 6;
    expect_text(check, &facts, "call void @rt_fault", true);
}

Test(assume_facts, half_of_a_parameter_is_not_the_parameter)
{
    static const char half[] = "  %hp = getelementptr i8, ptr %params, i64 40\n"
                               "  %h = load i32, ptr %hp\n  %w = sext i32 %h to i64\n"
                               "  %p = inttoptr i64 %out to ptr\n  store i64 %w, ptr %p\n";
    struct tr_facts facts = {.block = {1, 1, 1}};
    facts.params[WIDE].max_log2 = 8;
    expect_text(half, &facts, "%hp, align 4, !range", false);
    expect_text(half, &facts, "sext", true);
}

Test(assume_facts, a_row_of_unknown_length_has_no_other_directions)
{
    static const char sum[] =
        "  %y = call i32 @rt_sreg_tid_y(ptr %ctx)\n  %z = call i32 @rt_sreg_ntid_z(ptr %ctx)\n"
        "  %s = add i32 %y, %z\n  %p = inttoptr i64 %out to ptr\n  store i32 %s, ptr %p\n"
        "  %q = getelementptr i8, ptr %p, i64 4\n  store i32 %ntid, ptr %q\n";
    struct tr_facts none = {.has_dynamic_shared = false};
    struct tr_facts row = {.block = {0, 1, 1}};
    expect_text(sum, &none, "call i32 @rt_sreg_tid_y", true);
    expect_text(sum, &row, "call i32 @rt_sreg_tid_y", false);
    expect_text(sum, &row, "store i32 1,", true);
    expect_text(sum, &row, "store i32 %ntid,", true);
}

Test(assume_facts, dynamic_shared_size_is_a_constant_when_known)
{
    static const char size[] = "  %s = call i32 @rt_sreg_dynamic_smem_size(ptr %ctx)\n"
                               "  %p = inttoptr i64 %out to ptr\n  store i32 %s, ptr %p\n";
    struct tr_facts facts = {.dynamic_shared_bytes = 0};
    expect_text(size, &facts, "call i32 @rt_sreg_dynamic_smem_size", true);
    facts.has_dynamic_shared = true;
    expect_text(size, &facts, "store i32 0", true);
    facts.dynamic_shared_bytes = 4096;
    expect_text(size, &facts, "store i32 4096", true);
}
