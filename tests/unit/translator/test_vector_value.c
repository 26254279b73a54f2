/* SPDX-License-Identifier: Apache-2.0
 *
 * Vector forms of instructions: each iteration of vector_cases.h is run as it is, thread after
 * thread, and widened, a rectangle of threads at a time; what they give must be the same.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "jit/cpu.h"
#include "jit/llvm_target.h"
#include "tests/support/emitting.h"
#include "tests/support/orc.h"
#include "translator/module/module_steps.h"
#include "vector_iterations.h"

static uint8_t input[SLOTS][THREADS][CELL_BYTES];
static uint8_t output[THREADS][CELL_BYTES];

/* ---- inputs ---- */

static uint64_t next_random(void)
{
    static uint64_t state = 0x9e3779b97f4a7c15;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Any bits, or small numbers of some type. */
static void fill_cell(uint8_t *cell)
{
    uint64_t random[2] = {next_random(), next_random()};
    float small = (float)(int16_t)random[1] / 64;
    double large = small;
    switch (random[0] % 8) {
    case 0:
        memset(cell, 0, CELL_BYTES);
        break;
    case 1:
        memset(cell, 0xff, CELL_BYTES);
        break;
    case 2:
        memset(cell, 0, CELL_BYTES);
        cell[0] = (uint8_t)random[1];
        break;
    case 3:
        for (int i = 0; i < CELL_BYTES; i += 4)
            memcpy(cell + i, &small, 4);
        break;
    case 4:
        for (int i = 0; i < CELL_BYTES; i += 8)
            memcpy(cell + i, &large, 8);
        break;
    default:
        memcpy(cell, random, CELL_BYTES);
        break;
    }
}

static void fill_input(void)
{
    for (int slot = 0; slot < SLOTS; slot++)
        for (int thread = 0; thread < THREADS; thread++)
            fill_cell(input[slot][thread]);
}

/* ---- compiling ---- */

static struct jit_target *host_target(void)
{
    struct jit_target *target;
    struct pxr_error err;
    if (jit_target_acquire(&target, &err) != PXR_OK)
        cr_assert_fail("%s", err.message);
    return target;
}

static LLVMModuleRef parse(LLVMContextRef context, char *text, size_t len)
{
    LLVMModuleRef module = NULL;
    char *message = NULL;
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, len, "iterations");
    if (LLVMParseIRInContext(context, buffer, &module, &message))
        cr_assert_fail("%s", message);
    return module;
}

/* For sanitizers plain code, of a processor without registers for masks: functions here take
 * vectors of i1. */
static LLVMTargetMachineRef make_machine(const struct jit_target *target)
{
    return emits_plain_code() ? jit_cpu_machine("", "", target->triple, LLVMCodeGenLevelNone)
                              : target->machine;
}

/* With passes that make use of what is poison. */
static LLVMMemoryBufferRef compile(LLVMModuleRef module, const struct jit_target *target)
{
    char *message = NULL;
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
        cr_assert_fail("%s", message);
    LLVMDisposeMessage(message);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error =
        LLVMRunPasses(module, "function(early-cse,instcombine<no-verify-fixpoint>,simplifycfg)",
                      target->machine, options);
    cr_assert_eq(error, NULL);
    LLVMDisposePassBuilderOptions(options);
    tr_end_flushes(module);
    LLVMMemoryBufferRef object = NULL;
    LLVMTargetMachineRef machine = make_machine(target);
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &object))
        cr_assert_fail("%s", message);
    if (machine != target->machine)
        LLVMDisposeTargetMachine(machine);
    return object;
}

static void check_llvm(LLVMErrorRef error)
{
    if (error != NULL)
        cr_assert_fail("%s", LLVMGetErrorMessage(error));
}

static LLVMOrcLLJITRef load(LLVMMemoryBufferRef object)
{
    LLVMOrcLLJITRef jit = NULL;
    check_llvm(LLVMOrcCreateLLJIT(&jit, NULL));
    LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(jit);
    check_llvm(orc_define(jit, NULL, 0));
    check_llvm(LLVMOrcLLJITAddObjectFile(jit, library, object));
    return jit;
}

static uint64_t find(LLVMOrcLLJITRef jit, const char *kind, uint32_t number)
{
    char name[32];
    LLVMOrcExecutorAddress address = 0;
    snprintf(name, sizeof name, "%s%u", kind, number);
    check_llvm(LLVMOrcLLJITLookup(jit, &address, name));
    return address;
}

/* ---- running ---- */

typedef void (*scalar_fn)(int32_t u, int32_t v, int32_t z, int64_t w, float f, void *p);
typedef void (*vector_fn)(uint32_t x, uint32_t y, int32_t u, int32_t v, int32_t z, int64_t w,
                          float f, void *p);

static const int64_t any_long = 0x123456789abcdef0;
#define ARGUMENTS -5, INT32_MAX - 3, 0, any_long, 1.5f, input

/* Code of the JIT has no type in front of it to be checked. */
__attribute__((no_sanitize("undefined"))) static void run_scalar(uint64_t address)
{
    scalar_fn function = (scalar_fn)(uintptr_t)address;
    function(ARGUMENTS);
}

__attribute__((no_sanitize("undefined"))) static void run_vector(uint64_t address,
                                                                 const struct form *form)
{
    vector_fn function = (vector_fn)(uintptr_t)address;
    for (uint32_t y = 0; y < ROWS; y += form->jam[1])
        for (uint32_t x = 0; x < LENGTH; x += form->width * form->jam[0])
            function(x, y, ARGUMENTS);
}

static bool is_nan(const struct vector_type *type, uint64_t bits)
{
    unsigned fraction = type->element_bytes * 8 - 1 - type->float_bits;
    uint64_t exponent = ((UINT64_C(1) << type->float_bits) - 1) << fraction;
    return type->float_bits != 0 && (bits & exponent) == exponent &&
           (bits & ((UINT64_C(1) << fraction) - 1)) != 0;
}

/* Which of the NaNs an operation gives is not the same in all instructions. */
static bool is_same(const struct vector_type *type, const uint8_t *a, const uint8_t *b)
{
    if (type->element_bytes > 8)
        return memcmp(a, b, CELL_BYTES) == 0;
    for (unsigned i = 0; i < type->elements; i++) {
        uint64_t elements[2] = {0, 0};
        memcpy(&elements[0], a + i * type->element_bytes, type->element_bytes);
        memcpy(&elements[1], b + i * type->element_bytes, type->element_bytes);
        if (elements[0] != elements[1] && !(is_nan(type, elements[0]) && is_nan(type, elements[1])))
            return false;
    }
    return memcmp(a + type->elements * type->element_bytes,
                  b + type->elements * type->element_bytes,
                  CELL_BYTES - type->elements * type->element_bytes) == 0;
}

/* ---- all cases ---- */

static const struct vector_type *type_of(const char *suffix, size_t len)
{
    for (size_t t = 0; t < vector_type_count; t++)
        if (strlen(vector_types[t].suffix) == len &&
            memcmp(vector_types[t].suffix, suffix, len) == 0)
            return &vector_types[t];
    cr_assert_fail("no type %s", suffix);
    return NULL;
}

struct iterations {
    struct iteration_text *iterations;
    uint32_t count;
};

static void add_iterations(struct iterations *iterations, const struct vector_case *test,
                           const struct vector_type *type)
{
    for (int is_masked = test->condition != NULL; is_masked <= 1; is_masked++) {
        iterations->iterations = realloc(iterations->iterations,
                                         (iterations->count + 1) * sizeof *iterations->iterations);
        iterations->iterations[iterations->count++] = (struct iteration_text){
            .test = test,
            .type = type,
            .result = test->result != NULL ? type_of(test->result, strlen(test->result)) : type,
            .is_masked = is_masked,
        };
    }
}

static struct iterations all_iterations(void)
{
    struct iterations iterations = {0};
    for (size_t i = 0; i < vector_case_count; i++)
        for (const char *types = vector_cases[i].types; *types != '\0';) {
            size_t len = strcspn(types, " ");
            add_iterations(&iterations, &vector_cases[i], type_of(types, len));
            types += len + strspn(types + len, " ");
        }
    return iterations;
}

static LLVMModuleRef make_module(LLVMContextRef context, const struct jit_target *target,
                                 const struct iterations *iterations)
{
    char *buffer = NULL;
    size_t len = 0;
    FILE *text = open_memstream(&buffer, &len);
    put_cell_functions(text, input[0][0], output[0]);
    for (uint32_t i = 0; i < iterations->count; i++)
        put_iteration(text, &iterations->iterations[i], i);
    fclose(text);
    LLVMModuleRef module = parse(context, buffer, len);
    free(buffer);
    LLVMSetDataLayout(module, target->data_layout);
    return module;
}

static void compare(LLVMOrcLLJITRef jit, const struct iterations *iterations, uint32_t number,
                    const struct form *form)
{
    static uint8_t expected[THREADS][CELL_BYTES];
    const struct iteration_text *iteration = &iterations->iterations[number];
    memset(output, 0xa5, sizeof output);
    run_scalar(find(jit, "scalar", number));
    memcpy(expected, output, sizeof output);
    memset(output, 0xa5, sizeof output);
    run_vector(find(jit, "vector", number), form);
    for (int t = 0; t < THREADS; t++)
        if (!is_same(iteration->result, expected[t], output[t])) {
            cr_expect_fail("iteration %u, %s (%s%s), thread %d of row %d", number,
                           iteration->test->body, iteration->type->text,
                           iteration->is_masked ? ", masked" : "", t % LENGTH, t / LENGTH);
            return;
        }
}

static void run_all(const struct form *form)
{
    struct jit_target *target = host_target();
    LLVMContextRef context = LLVMContextCreate();
    struct iterations iterations = all_iterations();
    LLVMModuleRef module = make_module(context, target, &iterations);
    for (uint32_t i = 0; i < iterations.count; i++) {
        struct widened widened;
        begin_widened(&widened, module, i, form);
        end_widened(&widened);
    }
    if (getenv("PTXRUN_TEST_IR") != NULL)
        LLVMDumpModule(module);
    LLVMOrcLLJITRef jit = load(compile(module, target));
    fill_input();
    for (uint32_t i = 0; i < iterations.count; i++)
        compare(jit, &iterations, i, form);
    check_llvm(LLVMOrcDisposeLLJIT(jit));
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    jit_target_release(target);
    free(iterations.iterations);
}

Test(vector_value, vectors_of_16_give_what_threads_give)
{
    run_all(&(struct form){.width = 16, .jam = {1, 1}});
}

Test(vector_value, vectors_along_a_row_give_what_threads_give)
{
    run_all(&(struct form){.width = 2, .jam = {3, 1}});
}

Test(vector_value, rectangles_of_vectors_give_what_threads_give)
{
    run_all(&(struct form){.width = 4, .jam = {2, 2}});
}

/* ---- single iterations ---- */

struct single {
    LLVMContextRef context;
    struct jit_target *target;
    LLVMModuleRef module;
    struct widened widened;
};

/* result: of type i32; condition NULL: all threads */
static void widen_single(struct single *single, const char *body, const char *condition,
                         const struct form *form)
{
    struct vector_case test = {.types = "32", .body = body, .condition = condition};
    const struct vector_type *i32 = type_of("32", 2);
    struct iteration_text iteration = {
        .test = &test, .type = i32, .result = i32, .is_masked = condition != NULL};
    struct iterations iterations = {.iterations = &iteration, .count = 1};
    single->target = host_target();
    single->context = LLVMContextCreate();
    single->module = make_module(single->context, single->target, &iterations);
    begin_widened(&single->widened, single->module, 0, form);
}

static void end_single(struct single *single)
{
    end_widened(&single->widened);
    LLVMDisposeModule(single->module);
    LLVMContextDispose(single->context);
    jit_target_release(single->target);
}

static uint32_t number_of(const struct single *single, const char *name)
{
    const struct tr_graph *graph = &single->widened.iteration.graph;
    size_t len = 0;
    for (uint32_t v = 0; v < graph->value_count; v++)
        if (strcmp(LLVMGetValueName2(graph->values[v].llvm, &len), name) == 0)
            return v;
    cr_assert_fail("no value %s", name);
    return 0;
}

/* Lines of the widened function that have the word. */
static uint32_t count_lines(const struct single *single, const char *word)
{
    char *text = LLVMPrintValueToString(single->widened.widen.function);
    uint32_t count = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        count++;
    LLVMDisposeMessage(text);
    return count;
}

static const struct form plain_form = {.width = 4, .jam = {1, 1}};

static uint32_t count_after(const char *body, const char *condition, const char *word)
{
    struct single single;
    widen_single(&single, body, condition, &plain_form);
    uint32_t count = count_lines(&single, word);
    end_single(&single);
    return count;
}

#define SOME_THREADS "%m = or i1 %c1, false"

Test(vector_value, an_assumption_is_kept_where_it_holds_for_all_lanes)
{
    const char *of_all = "%k = icmp slt i32 %u, 0\n call void @llvm.assume(i1 %k)\n"
                         " %r = add i32 %a32, 1";
    const char *of_each = "call void @llvm.assume(i1 %a1)\n %r = add i32 %a32, 1";
    cr_expect_eq(count_after(of_all, NULL, "@llvm.assume"), 1);
    cr_expect_eq(count_after(of_all, SOME_THREADS, "@llvm.assume"), 0);
    cr_expect_eq(count_after(of_each, NULL, "@llvm.assume"), 0);
}

Test(vector_value, a_fence_for_all_lanes_is_one)
{
    const char *body = "fence seq_cst\n %r = add i32 %a32, 1";
    cr_expect_eq(count_after(body, NULL, "fence seq_cst"), 1);
    cr_expect_eq(count_after(body, SOME_THREADS, "fence seq_cst"), 1);
}

/* Whether a scalar of the widened iteration's body has it. */
static bool has_flag(const struct single *single, const char *flag)
{
    const struct tr_widen *widen = &single->widened.widen;
    const struct tr_graph *graph = &widen->iteration->graph;
    uint32_t body = graph->values[number_of(single, "r")].segment;
    bool is_found = false;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        bool is_scalar = widen->iteration->shapes.values[v].kind != TR_VARYING;
        if (graph->values[v].segment != body || !is_scalar || widen->now[v] == NULL)
            continue;
        char *text = LLVMPrintValueToString(widen->now[v]);
        is_found |= strstr(text, flag) != NULL;
        LLVMDisposeMessage(text);
    }
    return is_found;
}

static bool has_flag_after(const char *body, const char *condition, const char *flag)
{
    struct single single;
    widen_single(&single, body, condition, &plain_form);
    bool is_found = has_flag(&single, flag);
    end_single(&single);
    return is_found;
}

/* The result of lane 0 may be poison that nobody uses; those of the others follow from it. What all
 * lanes have in common is poison for all of them or for none. */
Test(vector_value, scalars_have_flags_only_where_lanes_have_the_same)
{
    static const struct {
        const char *body; /* %1$s: what it is made of */
        const char *flag;
    } tests[] = {
        {"%%r = add nuw i32 %1$s, 5", " nuw "},
        {"%%r = mul nsw i32 %1$s, 5", " nsw "},
        {"%%n = sub nsw i32 %1$s, 5\n %%k = zext nneg i32 %%n to i64\n"
         " %%r = trunc i64 %%k to i32",
         " nneg "},
        {"%%n = zext nneg i32 %1$s to i64\n %%r = trunc nsw i64 %%n to i32", " nsw "},
        {"%%n = shl i32 %1$s, 4\n %%r = or disjoint i32 %%n, 3", " disjoint "},
        {"%%n = add nsw i32 %1$s, 5\n %%k = icmp samesign slt i32 %%n, %1$s\n"
         " %%r = zext i1 %%k to i32",
         " samesign "},
        {"%%n = getelementptr inbounds i8, ptr %%p, i32 %1$s\n %%r = ptrtoint ptr %%n to i32",
         " inbounds "},
        {"%%n = zext nneg i32 %1$s to i64\n %%k = getelementptr nuw i8, ptr %%p, i64 %%n\n"
         " %%r = ptrtoint ptr %%k to i32",
         " nuw "},
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        char rising[256];
        char common[256];
        snprintf(rising, sizeof rising, tests[i].body, "%i");
        snprintf(common, sizeof common, tests[i].body, "%u");
        cr_expect(has_flag_after(common, NULL, tests[i].flag), "%s", common);
        cr_expect_not(has_flag_after(rising, NULL, tests[i].flag), "%s", rising);
        cr_expect_not(has_flag_after(rising, SOME_THREADS, tests[i].flag), "%s", rising);
    }
}

/* Whether the widened %q is made with the flag (with a space on each side). */
static bool is_flag_of_q(const char *body, const char *flag)
{
    struct single single;
    char iteration[192];
    snprintf(iteration, sizeof iteration, "%s\n %%r = add i32 %%a32, 1", body);
    widen_single(&single, iteration, NULL, &plain_form);
    char *text = LLVMPrintValueToString(single.widened.widen.now[number_of(&single, "q")]);
    bool is_found = strstr(text, flag) != NULL;
    LLVMDisposeMessage(text);
    end_single(&single);
    return is_found;
}

Test(vector_value, vectors_have_the_flags_of_threads)
{
    static const char *const bodies[] = {
        "nuw %q = add nuw i32 %a32, %b32",
        "nsw %q = mul nsw i32 %a32, %b32",
        "nsw %q = shl nsw i32 %a32, 3",
        "nsw %q = trunc nsw i64 %a64 to i32",
        "exact %q = lshr exact i32 %a32, 3",
        "exact %q = udiv exact i32 %a32, 7",
        "disjoint %q = or disjoint i32 %a32, %b32",
        "nneg %q = zext nneg i32 %a32 to i64",
        "nneg %q = uitofp nneg i32 %a32 to float",
        "samesign %q = icmp samesign ult i32 %a32, %b32",
        "inbounds %q = getelementptr inbounds i8, ptr %p, i64 %a64",
        "nuw %q = getelementptr nuw i8, ptr %p, i64 %a64",
        "nnan %q = fadd nnan float %af, %bf",
        "nsz %q = select nsz i1 %a1, float %af, float %bf",
        "ninf %q = call ninf float @llvm.sqrt.f32(float %af)"};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char flag[16];
        char with[128];
        char without[128];
        snprintf(flag, sizeof flag, " %.*s ", (int)strcspn(bodies[i], " "), bodies[i]);
        snprintf(with, sizeof with, "%s", strchr(bodies[i], '%'));
        size_t before = (size_t)(strstr(with, flag) - with);
        snprintf(without, sizeof without, "%.*s %s", (int)before, with,
                 with + before + strlen(flag));
        cr_expect(is_flag_of_q(with, flag), "%s", with);
        cr_expect_not(is_flag_of_q(without, flag), "%s", without);
    }
}

/* Copies, as bits, that hold the value. */
static uint32_t holders(const struct single *single, const char *name)
{
    const struct tr_widen *widen = &single->widened.widen;
    uint32_t value = number_of(single, name);
    uint32_t bits = 0;
    for (uint32_t c = 0; c < widen->copies; c++)
        if (widen->now[value * widen->copies + c] != NULL)
            bits |= UINT32_C(1) << c;
    return bits;
}

Test(vector_value, copies_share_what_cannot_differ)
{
    struct single single;
    struct form form = {.width = 4, .jam = {2, 2}};
    widen_single(&single,
                 "%same = mul i32 %u, 3\n %of_row = mul i32 %y, %u\n %of_column = add i32 %i, %u\n"
                 " %odd = urem i32 %of_column, 3\n %both = add i32 %of_column, %of_row\n"
                 " %r = mul i32 %both, %odd",
                 NULL, &form);
    cr_expect_eq(holders(&single, "same"), 1);
    cr_expect_eq(holders(&single, "of_row"), 1 + 4);
    cr_expect_eq(holders(&single, "of_column"), 1 + 2);
    cr_expect_eq(holders(&single, "odd"), 1 + 2);
    cr_expect_eq(holders(&single, "both"), 15);
    cr_expect_eq(holders(&single, "r"), 15);
    end_single(&single);
}

/* The rest of the second vector in a row is known from the first. */
Test(vector_value, only_the_first_copy_along_a_row_does_the_instruction)
{
    struct single single;
    struct form form = {.width = 4, .jam = {4, 1}};
    widen_single(&single, "%r = shl i32 %i, 5", NULL, &form);
    cr_expect_eq(count_lines(&single, " shl "), 1);
    end_single(&single);
}

Test(vector_value, one_defect_is_made_where_it_is_asked_for)
{
    struct single single;
    widen_single(&single, "%r = add i32 %i, 1", NULL, &plain_form);
    struct widened *widened = &single.widened;
    widened->options.seed = TR_VECTOR_SEED_STRIDE;
    widened->options.seed_site = 1;
    cr_expect_not(tr_widen_seed(&widened->widen, TR_VECTOR_SEED_STRIDE));
    cr_expect_not(tr_widen_seed(&widened->widen, TR_VECTOR_SEED_MASK));
    cr_expect(tr_widen_seed(&widened->widen, TR_VECTOR_SEED_STRIDE));
    cr_expect_not(tr_widen_seed(&widened->widen, TR_VECTOR_SEED_STRIDE));
    cr_expect_eq(widened->seed_sites, 3);
    end_single(&single);
}
