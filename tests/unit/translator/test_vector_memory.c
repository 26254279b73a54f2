/* SPDX-License-Identifier: Apache-2.0
 *
 * Accesses to memory, atomic operations and calls in vectors of threads: each kernel runs thread
 * after thread and widened, on the same memory, which must be the same afterwards. Arrays end where
 * a page begins that nobody may access, or begin where one ends.
 */
#include <criterion/criterion.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include "jit/llvm_target.h"
#include "tests/support/emitting.h"
#include "tests/support/orc.h"
#include "translator/module/marks.h"
#include "translator/vector/vector.h"

#define PAGE        4096
#define ARRAY_BYTES (16 * PAGE)
#define MAX_CALLS   4096

/* ---- arrays with pages around them that cannot be accessed ---- */

enum array { INPUT, OUTPUT, INDEX, FLAG, SEEN, ARRAY_COUNT };

static uint8_t *arrays[ARRAY_COUNT]; /* ARRAY_BYTES each */

static void make_arrays(void)
{
    for (int i = 0; i < ARRAY_COUNT; i++) {
        uint8_t *all =
            mmap(NULL, ARRAY_BYTES + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        cr_assert_neq(all, MAP_FAILED);
        arrays[i] = all + PAGE;
        cr_assert_eq(mprotect(arrays[i], ARRAY_BYTES, PROT_READ | PROT_WRITE), 0);
    }
}

/* ---- kernels ---- */

struct kernel {
    char name[96]; /* what it is, for messages */
    char *code;    /* malloc: the iteration's part that is tested, ends in `br label %next` */
    uint32_t row;  /* threads in one, and how many rows */
    uint32_t rows;
    uint32_t input_bytes;
    uint32_t output_bytes;
    bool is_conditional; /* for threads whose flag is set only */
    bool is_guard;       /* … and nothing comes before that */
};

static uint32_t thread_count(const struct kernel *kernel)
{
    return kernel->row * kernel->rows;
}

struct form {
    uint32_t width;
    uint32_t jam;
    uint32_t bits;
    uint32_t skipped; /* steps of tuning */
};

#define ALL_STEPS UINT32_MAX

static const struct form forms[] = {{16, 1, 512, 0},       {16, 4, 512, 0}, {8, 2, 512, 0},
                                    {4, 2, 256, 0},        {8, 1, 256, 0},  {4, 1, 128, 0},
                                    {2, 4, 128, 0},        {32, 2, 512, 0}, {16, 4, 512, ALL_STEPS},
                                    {4, 2, 256, ALL_STEPS}};

#define FORM_COUNT (sizeof forms / sizeof *forms)

#define ITERATION                                                                                  \
    "define void @kernel(ptr %%a, ptr %%b, ptr %%i, ptr %%m, ptr %%seen) {\n"                      \
    "entry:\n br label %%row\n"                                                                    \
    "row:\n %%y = phi i32 [0, %%entry], [%%y1, %%row_done]\n br label %%head\n"                    \
    "head:\n %%x = phi i32 [0, %%row], [%%x1, %%next]\n"                                           \
    " %%xl = zext nneg i32 %%x to i64\n %%yl = zext nneg i32 %%y to i64\n"                         \
    " %%r = mul nuw nsw i64 %%yl, %u\n %%t = add nuw nsw i64 %%r, %%xl\n"                          \
    " %%back = sub i64 %u, %%t\n %%t32 = trunc i64 %%t to i32\n"                                   \
    " %%pi = getelementptr i32, ptr %%i, i64 %%t\n"                                                \
    " %%pm = getelementptr i8, ptr %%m, i64 %%t\n"                                                 \
    " %%m8 = load i8, ptr %%pm\n %%c = trunc i8 %%m8 to i1\n%s"                                    \
    " br i1 %%c, label %%body, label %%%s\n"                                                       \
    "body:\n%s\n"                                                                                  \
    "next:\n %%x1 = add nuw nsw i32 %%x, 1\n %%xc = icmp ult i32 %%x1, %u\n"                       \
    " br i1 %%xc, label %%head, label %%row_done\n"                                                \
    "row_done:\n %%y1 = add nuw nsw i32 %%y, 1\n %%yc = icmp ult i32 %%y1, %u\n"                   \
    " br i1 %%yc, label %%row, label %%done\ndone:\n ret void\n}\n"

#define SEE " %ps = getelementptr i8, ptr %seen, i64 %t\n store i8 %m8, ptr %ps\n"

static char *text_of(const struct kernel *kernel)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    fprintf(file, ITERATION, kernel->row, thread_count(kernel) - 1, kernel->is_guard ? "" : SEE,
            kernel->is_conditional ? "next" : "body", kernel->code, kernel->row, kernel->rows);
    fclose(file);
    return text;
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

static LLVMModuleRef parse(LLVMContextRef context, const struct jit_target *target,
                           const struct kernel *kernel)
{
    char *text = text_of(kernel);
    LLVMModuleRef module = NULL;
    char *message = NULL;
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "kernel");
    if (LLVMParseIRInContext(context, buffer, &module, &message))
        cr_assert_fail("%s: %s\n%s", kernel->name, message, text);
    free(text);
    LLVMSetDataLayout(module, target->data_layout);
    return module;
}

static void mark(LLVMValueRef function)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block)) {
        const char *name = LLVMGetBasicBlockName(block);
        if (strcmp(name, "next") == 0)
            tr_mark_threads(block, 'x', 0);
        if (strcmp(name, "row_done") == 0)
            tr_mark_threads(block, 'y', 0);
    }
}

/* Returns how many places for the defect there are. */
static uint32_t widen(LLVMModuleRef module, const struct kernel *kernel,
                      const struct tr_vector_options *options)
{
    LLVMValueRef function = LLVMGetNamedFunction(module, "kernel");
    struct tr_vector_report report;
    mark(function);
    cr_assert_eq(tr_vectorise(function, options, &report, NULL), PXR_OK);
    cr_assert_eq(report.widened_count, 1, "%s: %s", kernel->name, report.explanation);
    free(report.explanation);
    char *message = NULL;
    if (LLVMVerifyModule(module, LLVMReturnStatusAction, &message))
        cr_assert_fail("%s: %s", kernel->name, message);
    LLVMDisposeMessage(message);
    return report.seed_sites;
}

static void check_llvm(LLVMErrorRef error)
{
    if (error != NULL)
        cr_assert_fail("%s", LLVMGetErrorMessage(error));
}

struct code {
    LLVMOrcLLJITRef jit;
    void (*run)(void *, void *, void *, void *, void *);
};

static struct code compile(LLVMModuleRef module, struct jit_target *target)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    check_llvm(LLVMRunPasses(module,
                             "function(early-cse,instcombine<no-verify-fixpoint>,simplifycfg,adce)",
                             target->machine, options));
    LLVMDisposePassBuilderOptions(options);
    LLVMMemoryBufferRef object = NULL;
    char *message = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(emitting_machine(target), module, LLVMObjectFile,
                                            &message, &object))
        cr_assert_fail("%s", message);
    struct code code;
    check_llvm(LLVMOrcCreateLLJIT(&code.jit, NULL));
    LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(code.jit);
    check_llvm(orc_define(code.jit, NULL, 0));
    check_llvm(LLVMOrcLLJITAddObjectFile(code.jit, library, object));
    LLVMOrcExecutorAddress address = 0;
    check_llvm(LLVMOrcLLJITLookup(code.jit, &address, "kernel"));
    memcpy(&code.run, &address, sizeof code.run);
    return code;
}

/* ---- running ---- */

/* What kernels call: they are told the thread and a value, and give back another one. */
static uint64_t calls[MAX_CALLS][2];
static uint32_t call_count;
static jmp_buf end_of_run;

static uint64_t note(uint64_t thread, uint64_t value)
{
    cr_assert_lt(call_count, MAX_CALLS);
    calls[call_count][0] = thread;
    calls[call_count++][1] = value;
    return thread * 3 + value;
}

static void __attribute__((noreturn)) fault(uint64_t thread)
{
    note(thread, 0);
    longjmp(end_of_run, 1);
}

static uint64_t next_random(void)
{
    static uint64_t state = 0x9e3779b97f4a7c15;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

enum flags { FLAGS_RANDOM, FLAGS_ALL, FLAGS_FEW, FLAGS_NONE_IN_ROW, FLAGS_COUNT };

static uint8_t flag_of(enum flags flags, uint32_t thread)
{
    switch (flags) {
    case FLAGS_ALL:
        return 1;
    case FLAGS_FEW:
        return next_random() % 8 == 0;
    case FLAGS_NONE_IN_ROW:
        return thread / 16 % 2;
    default:
        return next_random() & 1;
    }
}

struct place {
    uint8_t *begin;
    uint32_t bytes;
};

/* Where in their pages arrays are. */
enum where { AT_BEGIN, AT_END, IN_BETWEEN };

static void place_arrays(const struct kernel *kernel, enum where where, struct place *places)
{
    uint32_t count = thread_count(kernel);
    uint32_t bytes[ARRAY_COUNT] = {kernel->input_bytes, kernel->output_bytes, 4 * count, count,
                                   count};
    for (int i = 0; i < ARRAY_COUNT; i++) {
        cr_assert_leq(bytes[i], ARRAY_BYTES);
        uint32_t offset = where == AT_END     ? ARRAY_BYTES - bytes[i]
                          : where == AT_BEGIN ? 0
                                              : 4 * PAGE;
        places[i] = (struct place){arrays[i] + offset, bytes[i]};
    }
}

static void fill_arrays(const struct kernel *kernel, enum flags flags, const struct place *places)
{
    for (int i = 0; i < ARRAY_COUNT; i++)
        for (uint32_t k = 0; k < ARRAY_BYTES; k += 8) {
            uint64_t random = next_random();
            memcpy(arrays[i] + k, &random, 8);
        }
    for (uint32_t t = 0; t < thread_count(kernel); t++) {
        uint32_t index = (uint32_t)(next_random() % thread_count(kernel));
        memcpy(places[INDEX].begin + 4 * (size_t)t, &index, 4);
        places[FLAG].begin[t] = flag_of(flags, t);
    }
}

__attribute__((no_sanitize("undefined"))) static void run(const struct code *code,
                                                          const struct place *places)
{
    call_count = 0;
    if (setjmp(end_of_run) == 0)
        code->run(places[INPUT].begin, places[OUTPUT].begin, places[INDEX].begin,
                  places[FLAG].begin, places[SEEN].begin);
}

/* What a run leaves behind. */
struct outcome {
    uint8_t output[ARRAY_BYTES];
    uint8_t seen[ARRAY_BYTES];
    uint64_t calls[MAX_CALLS][2];
};

static void run_to(const struct code *code, const struct place *places, struct outcome *outcome)
{
    memset(calls, 0, sizeof calls);
    run(code, places);
    memcpy(outcome->output, arrays[OUTPUT], ARRAY_BYTES);
    memcpy(outcome->seen, arrays[SEEN], ARRAY_BYTES);
    memcpy(outcome->calls, calls, sizeof calls);
}

/* Whether both leave the same in memory and have called the same. */
static bool is_same(const struct code *scalar, const struct code *vector,
                    const struct place *places)
{
    static uint8_t before[2][ARRAY_BYTES];
    static struct outcome outcomes[2];
    memcpy(before[0], arrays[OUTPUT], ARRAY_BYTES);
    memcpy(before[1], arrays[SEEN], ARRAY_BYTES);
    run_to(scalar, places, &outcomes[0]);
    memcpy(arrays[OUTPUT], before[0], ARRAY_BYTES);
    memcpy(arrays[SEEN], before[1], ARRAY_BYTES);
    run_to(vector, places, &outcomes[1]);
    return memcmp(&outcomes[0], &outcomes[1], sizeof outcomes[0]) == 0;
}

static bool try_all_flags(const struct kernel *kernel, enum where where, const struct code *scalar,
                          const struct code *vector)
{
    for (int flags = 0; flags < FLAGS_COUNT; flags++) {
        struct place places[ARRAY_COUNT];
        place_arrays(kernel, where, places);
        fill_arrays(kernel, flags, places);
        if (!is_same(scalar, vector, places))
            return false;
    }
    return true;
}

/* Runs the kernel both ways. The number of defects' places in *sites. */
static bool try_kernel(const struct kernel *kernel, const struct form *form,
                       enum tr_vector_seed seed, uint32_t site, uint32_t *sites)
{
    struct tr_target wanted = tr_target_find("", form->bits);
    struct tr_vector_options options = {.width = form->width,
                                        .jam = form->jam,
                                        .target = &wanted,
                                        .skipped = form->skipped,
                                        .is_forced = true,
                                        .seed = seed,
                                        .seed_site = site};
    LLVMContextRef context = LLVMContextCreate();
    struct jit_target *target = host_target();
    LLVMModuleRef modules[2] = {parse(context, target, kernel), parse(context, target, kernel)};
    *sites = widen(modules[1], kernel, &options);
    struct code scalar = compile(modules[0], target);
    struct code vector = compile(modules[1], target);
    bool is_right = true;
    if (seed == TR_VECTOR_SEED_NONE)
        is_right = try_all_flags(kernel, AT_BEGIN, &scalar, &vector) &&
                   try_all_flags(kernel, AT_END, &scalar, &vector);
    else
        is_right = try_all_flags(kernel, IN_BETWEEN, &scalar, &vector);
    LLVMOrcDisposeLLJIT(scalar.jit);
    LLVMOrcDisposeLLJIT(vector.jit);
    LLVMDisposeModule(modules[0]);
    LLVMDisposeModule(modules[1]);
    jit_target_release(target);
    LLVMContextDispose(context);
    return is_right;
}

static void check_kernel(const struct kernel *kernel, const struct form *form)
{
    uint32_t sites = 0;
    if (!try_kernel(kernel, form, TR_VECTOR_SEED_NONE, 0, &sites)) {
        char *text = text_of(kernel);
        cr_expect_fail("%s: %u lanes, jam %u, %u bits\n%s", kernel->name, form->width, form->jam,
                       form->bits, text);
        free(text);
    }
}

/* ---- fields of structures ---- */

struct type {
    const char *text;
    uint32_t bytes;
};

static const struct type types[] = {
    {"i8", 1},     {"i16", 2},  {"i32", 4},        {"i64", 8},         {"float", 4},   {"ptr", 8},
    {"double", 8}, {"half", 2}, {"<2 x half>", 4}, {"<2 x float>", 8}, {"<4 x i8>", 4}};

#define TYPE_COUNT (sizeof types / sizeof *types)

struct structure {
    const struct type *type;
    uint32_t step;   /* fields from one thread's to the next */
    uint32_t loaded; /* sets of fields */
    uint32_t stored;
    bool is_reversed; /* the last thread's comes first */
};

static uint32_t nth_field(uint32_t fields, uint32_t n)
{
    for (uint32_t field = 0;; field = (field + 1) % 32)
        if ((fields >> field & 1) != 0 && n-- == 0)
            return field;
}

/* Loads in ascending order, stores in descending, each of another field's value. */
static void put_structure(FILE *code, const struct structure *s)
{
    const char *type = s->type->text;
    fprintf(code, " %%k = mul i64 %s, %u\n", s->is_reversed ? "%back" : "%t", s->step);
    for (uint32_t f = 0; f < s->step; f++)
        if ((s->loaded >> f & 1) != 0)
            fprintf(code,
                    " %%i%u = add i64 %%k, %u\n %%p%u = getelementptr %s, ptr %%a, i64 %%i%u\n"
                    " %%v%u = load %s, ptr %%p%u, align %u\n",
                    f, f, f, type, f, f, type, f, s->type->bytes);
    fprintf(code, " %%q = getelementptr %s, ptr %%b, i64 %%k\n", type);
    uint32_t n = 0;
    for (uint32_t f = s->step; f-- > 0;)
        if ((s->stored >> f & 1) != 0)
            fprintf(code,
                    " %%q%u = getelementptr i8, ptr %%q, i64 %u\n"
                    " store %s %%v%u, ptr %%q%u, align %u\n",
                    f, f * s->type->bytes, type, nth_field(s->loaded, ++n), f, s->type->bytes);
    fputs(" br label %next\n", code);
}

/* Bytes from the first to the last that is accessed, if the first is the lowest field's. */
static uint32_t extent(const struct structure *s, uint32_t fields, uint32_t threads)
{
    uint32_t last = 31 - (uint32_t)__builtin_clz(fields);
    return ((threads - 1) * s->step + last + 1) * s->type->bytes;
}

static struct kernel kernel_of(const struct structure *s, uint32_t row, uint32_t rows)
{
    struct kernel kernel = {.row = row, .rows = rows};
    size_t bytes = 0;
    FILE *code = open_memstream(&kernel.code, &bytes);
    put_structure(code, s);
    fclose(code);
    snprintf(kernel.name, sizeof kernel.name, "%s, step %u, loads %x, stores %x%s", s->type->text,
             s->step, s->loaded, s->stored, s->is_reversed ? ", reversed" : "");
    kernel.input_bytes = extent(s, s->loaded, row * rows);
    kernel.output_bytes = extent(s, s->stored, row * rows);
    return kernel;
}

static void check_structure(const struct structure *s, const struct form *form)
{
    static const uint32_t sizes[][2] = {{64, 1}, {50, 1}, {16, 4}, {13, 3}, {32, 2}};
    const uint32_t *size = sizes[next_random() % 5];
    struct kernel kernel = kernel_of(s, size[0], size[1]);
    kernel.is_conditional = next_random() & 1;
    kernel.is_guard = next_random() & 1;
    check_kernel(&kernel, form);
    free(kernel.code);
}

Test(vector_memory, every_stride_of_every_type_does_what_scalars_do, .init = make_arrays)
{
    for (uint32_t step = 1; step <= 10; step++)
        for (uint32_t t = 0; t < TYPE_COUNT; t++)
            for (int reversed = 0; reversed < 2; reversed++) {
                struct structure s = {.type = &types[t], .step = step, .is_reversed = reversed};
                s.loaded = 1U << next_random() % step;
                s.stored = 1U << next_random() % step;
                check_structure(&s, &forms[next_random() % FORM_COUNT]);
            }
}

Test(vector_memory, fields_are_done_together_and_nothing_else, .init = make_arrays)
{
    for (uint32_t round = 0; round < 20; round++)
        for (uint32_t step = 2; step <= 8; step++) {
            uint32_t all = (1U << step) - 1;
            struct structure s = {.type = &types[next_random() % TYPE_COUNT], .step = step};
            s.loaded = round % 3 == 0 ? all : 1 + (uint32_t)(next_random() % all);
            s.stored = round % 4 < 2 ? all : 1 + (uint32_t)(next_random() % all);
            s.is_reversed = next_random() % 4 == 0;
            check_structure(&s, &forms[next_random() % FORM_COUNT]);
        }
}

/* ---- everything else ---- */

/* $T: the type; @note, @fault: functions of this file. */
struct other {
    const char *name;
    const char *types; /* numbers in `types` */
    uint32_t input;    /* elements for each thread */
    uint32_t output;
    bool is_one_row; /* the order of threads matters */
    const char *code;
};

#define ALL     "0123456789:"
#define LOAD_T  "%p = getelementptr $T, ptr %a, i64 %t\n %v = load $T, ptr %p\n"
#define STORE_T "%q = getelementptr $T, ptr %b, i64 %t\n store $T %v, ptr %q\n"
#define LOAD_I  "%n = load i32, ptr %pi\n %nl = sext i32 %n to i64\n"
#define Q_AT_N  "%q = getelementptr $T, ptr %b, i64 %nl\n"
#define Q_AT_Y  "%q = getelementptr $T, ptr %b, i64 %yl\n"
#define Q_AT_8  "%n8 = and i64 %nl, 7\n %q = getelementptr $T, ptr %b, i64 %n8\n"

static const struct other others[] = {
    {"gather", ALL, 1, 1, false,
     LOAD_I "%p = getelementptr $T, ptr %a, i64 %nl\n %v = load $T, ptr %p\n" STORE_T},
    {"gather of bytes from it", ALL, 1, 1, false,
     LOAD_I
     "%n2 = shl i64 %nl, 0\n %o = mul i64 %n2, ptrtoint (ptr getelementptr ($T, ptr null, "
     "i64 1) to i64)\n %p = getelementptr i8, ptr %a, i64 %o\n %v = load $T, ptr %p\n" STORE_T},
    {"gather behind a row's beginning", ALL, 2, 1, false,
     LOAD_I "%s = getelementptr $T, ptr %a, i64 %yl\n %p = getelementptr $T, ptr %s, i64 %nl\n"
            " %v = load $T, ptr %p\n" STORE_T},
    {"scatter, the last of a lane stays", ALL, 1, 1, true,
     LOAD_I LOAD_T Q_AT_N "store $T %v, ptr %q\n"},
    {"one address for all", ALL, 1, 1, false, "%v = load $T, ptr %a\n" STORE_T},
    {"one address for a row", ALL, 1, 1, false,
     "%p = getelementptr $T, ptr %a, i64 %yl\n %v = load $T, ptr %p\n" STORE_T},
    {"store to one address", ALL, 1, 1, true, LOAD_T "store $T %v, ptr %b\n"},
    {"store to one address for a row", ALL, 1, 1, false, LOAD_T Q_AT_Y "store $T %v, ptr %q\n"},
    {"store of one value to one address", "23", 1, 1, false, "store $T 5, ptr %b\n"},
    {"store of a row's value", "3", 1, 1, false, Q_AT_Y "store i64 %yl, ptr %q\n"},
    {"store of the thread's number", "3", 1, 1, true, "store i64 %t, ptr %b\n"},
    {"bits", "0", 1, 1, false,
     LOAD_T "%bit = trunc i8 %v to i1\n %q = getelementptr i8, ptr %b, i64 %t\n store i1 %bit, ptr "
            "%q\n"},
    {"wide integers", "3", 2, 2, false,
     "%p = getelementptr i128, ptr %a, i64 %t\n %v = load i128, ptr %p, align 8\n"
     " %q = getelementptr i128, ptr %b, i64 %t\n store i128 %v, ptr %q, align 8\n"},
    {"four floats", "4", 4, 4, false,
     "%p = getelementptr <4 x float>, ptr %a, i64 %t\n %v = load <4 x float>, ptr %p, align 4\n"
     " %q = getelementptr <4 x float>, ptr %b, i64 %back\n store <4 x float> %v, ptr %q, align "
     "4\n"},
    {"fields of different types", "2", 2, 2, false,
     "%k = shl i64 %t, 1\n %p = getelementptr i32, ptr %a, i64 %k\n"
     " %p1 = getelementptr i8, ptr %p, i64 4\n %v = load i32, ptr %p\n %f = load float, ptr %p1\n"
     " %q = getelementptr i32, ptr %b, i64 %k\n %q1 = getelementptr i8, ptr %q, i64 4\n"
     " store float %f, ptr %q\n store i32 %v, ptr %q1\n"},
    {"a store between loads of fields", "2", 2, 2, false,
     "%k = shl i64 %t, 1\n %p = getelementptr i32, ptr %b, i64 %k\n"
     " %p1 = getelementptr i8, ptr %p, i64 4\n %v = load i32, ptr %p\n store i32 %v, ptr %p1\n"
     " %w = load i32, ptr %p1\n %s = add i32 %v, %w\n store i32 %s, ptr %p\n"},
    {"two stores to one field", "2", 2, 2, false,
     "%k = shl i64 %t, 1\n %p = getelementptr i32, ptr %b, i64 %k\n"
     " %p1 = getelementptr i8, ptr %p, i64 4\n store i32 1, ptr %p1\n store i32 2, ptr %p\n"
     " store i32 3, ptr %p1\n"},
    {"stores that meet other lanes'", "2", 2, 4, true,
     "%k = shl i64 %t, 1\n %p = getelementptr i32, ptr %b, i64 %k\n"
     " %p1 = getelementptr i8, ptr %p, i64 8\n store i32 %t32, ptr %p1\n"
     " %n = xor i32 %t32, -1\n store i32 %n, ptr %p\n"},
    {"stores that overlap", "2", 1, 2, true,
     "%p = getelementptr i16, ptr %b, i64 %t\n store i32 %t32, ptr %p, align 2\n"},
    {"volatile", ALL, 1, 1, false,
     "%p = getelementptr $T, ptr %a, i64 %t\n %v = load volatile $T, ptr %p\n"
     " %q = getelementptr $T, ptr %b, i64 %t\n store volatile $T %v, ptr %q\n"},
    {"volatile, anywhere", ALL, 1, 1, true,
     LOAD_I "%p = getelementptr $T, ptr %a, i64 %nl\n %v = load volatile $T, ptr %p\n" Q_AT_N
            "store volatile $T %v, ptr %q\n"},
    {"histogram", "23", 1, 1, false,
     LOAD_I Q_AT_8
     "%o = load volatile $T, ptr %q\n %s = add $T %o, 3\n store volatile $T %s, ptr %q\n"},
    {"histogram that asks for places", "23", 1, 9, true,
     LOAD_I Q_AT_8
     "%o = load volatile $T, ptr %q\n %s = add $T %o, 3\n store volatile $T %s, ptr %q\n"
     " %g = getelementptr $T, ptr %b, i64 8\n %h = getelementptr $T, ptr %g, i64 %t\n store $T %o, "
     "ptr "
     "%h\n"},
    {"exchange", "23", 1, 9, true,
     LOAD_I LOAD_T Q_AT_8 "%o = load volatile $T, ptr %q\n store volatile $T %v, ptr %q\n"
                          " %g = getelementptr $T, ptr %b, i64 8\n %h = getelementptr $T, ptr %g, "
                          "i64 %t\n store $T %o, ptr "
                          "%h\n"},
    {"greatest", "0123", 1, 1, false,
     LOAD_T Q_AT_Y "%o = load volatile $T, ptr %q\n %m0 = icmp sgt $T %o, %v\n"
                   " %s = select i1 %m0, $T %o, $T %v\n store volatile $T %s, ptr %q\n"},
    {"difference", "0123", 1, 1, false,
     LOAD_T Q_AT_Y
     "%o = load volatile $T, ptr %q\n %s = sub $T %o, %v\n store volatile $T %s, ptr %q\n"},
    {"difference from it", "0123", 1, 1, true,
     LOAD_T "%o = load volatile $T, ptr %b\n %s = sub $T %v, %o\n store volatile $T %s, ptr %b\n"},
    {"xor", "0123", 1, 1, false,
     LOAD_T "%o = load volatile $T, ptr %b\n %s = xor $T %o, %v\n store volatile $T %s, ptr %b\n"},
    {"count", "0123", 1, 1, false, "%o = atomicrmw add ptr %b, $T 1 monotonic\n"},
    {"count down in a row", "0123", 1, 1, false,
     Q_AT_Y "%o = atomicrmw sub ptr %q, $T 3 seq_cst\n"},
    {"atomic sum", "0123", 1, 1, false, LOAD_T "%o = atomicrmw add ptr %b, $T %v monotonic\n"},
    {"atomic and", "0123", 1, 1, false,
     LOAD_T Q_AT_Y "%o = atomicrmw and ptr %q, $T %v monotonic\n"},
    {"atomic or", "0123", 1, 1, false, LOAD_T Q_AT_Y "%o = atomicrmw or ptr %q, $T %v monotonic\n"},
    {"atomic xor of one value", "0123", 1, 1, false,
     "%o = atomicrmw xor ptr %b, $T 77 monotonic\n"},
    {"atomic or of a row's value", "3", 1, 1, false,
     "%o = atomicrmw or ptr %b, i64 %yl monotonic\n"},
    {"atomic minimum", "0123", 1, 1, false,
     LOAD_T Q_AT_Y "%o = atomicrmw min ptr %q, $T %v monotonic\n"},
    {"atomic maximum", "0123", 1, 1, false, LOAD_T "%o = atomicrmw max ptr %b, $T %v monotonic\n"},
    {"atomic unsigned minimum", "0123", 1, 1, false,
     LOAD_T "%o = atomicrmw umin ptr %b, $T %v monotonic\n"},
    {"atomic unsigned maximum", "0123", 1, 1, false,
     LOAD_T Q_AT_Y "%o = atomicrmw umax ptr %q, $T %v monotonic\n"},
    {"atomic exchange", "0123", 1, 1, true, LOAD_T "%o = atomicrmw xchg ptr %b, $T %v monotonic\n"},
    {"atomic sum of floats", "4", 1, 1, true,
     LOAD_T "%o = atomicrmw fadd ptr %b, float %v monotonic\n"},
    {"atomic sum with places", "23", 1, 2, true,
     LOAD_T "%o = atomicrmw add ptr %b, $T %v monotonic\n"
            " %g = getelementptr $T, ptr %b, i64 1\n %h = getelementptr $T, ptr %g, i64 %t\n store "
            "$T %o, ptr "
            "%h\n"},
    {"sum with places", "23", 1, 2, true,
     LOAD_T "%o = load volatile $T, ptr %b\n %s = sub $T %o, %v\n store volatile $T %s, ptr %b\n"
            " %g = getelementptr $T, ptr %b, i64 1\n %h = getelementptr $T, ptr %g, i64 %t\n"
            " %z = mul $T %o, 3\n %z1 = xor $T %z, %s\n store $T %z1, ptr %h\n"},
    {"count with places in a row", "0123", 1, 5, false,
     Q_AT_Y "%o = atomicrmw add ptr %q, $T 1 monotonic\n"
            " %g = getelementptr $T, ptr %b, i64 8\n %h = getelementptr $T, ptr %g, i64 %t\n store "
            "$T %o, ptr "
            "%h\n"},
    {"atomic sum anywhere", "23", 1, 1, false,
     LOAD_I LOAD_T Q_AT_N "%o = atomicrmw add ptr %q, $T %v monotonic\n"},
    {"compare and exchange", "23", 1, 9, true,
     LOAD_I LOAD_T Q_AT_8 "%x2 = cmpxchg ptr %q, $T 0, $T %v monotonic monotonic\n"
                          " %e = extractvalue {$T, i1} %x2, 0\n %z = extractvalue {$T, i1} %x2, 1\n"
                          " %s = select i1 %z, $T 9, $T %e\n"
                          " %g = getelementptr $T, ptr %b, i64 8\n %h = getelementptr $T, ptr %g, "
                          "i64 %t\n store $T %s, ptr "
                          "%h\n"},
    {"call", "3", 1, 1, true, LOAD_T "%o = call i64 @note(i64 %t, i64 %v)\n"},
    {"call with a result", "3", 1, 1, true,
     LOAD_T "%w = call i64 @note(i64 %yl, i64 %v)\n %q = getelementptr i64, ptr %b, i64 %t\n"
            " store i64 %w, ptr %q\n"},
    {"call of what a condition says", "3", 1, 1, true,
     LOAD_T
     "%z = icmp sgt i64 %v, 0\n %u = zext i1 %z to i64\n %o = call i64 @note(i64 %u, i64 %t)\n"},
    {"fault", "3", 1, 1, true,
     LOAD_T "%z = icmp slt i64 %v, -8800000000000000000\n br i1 %z, label %bad, label %next\n"
            "bad:\n call void @fault(i64 %t)\n unreachable\n"},
};

#define OTHER_COUNT (sizeof others / sizeof *others)

static void put_code(FILE *file, const char *code, const char *type)
{
    for (; *code != '\0'; code++) {
        if (code[0] == '$' && code[1] == 'T') {
            fputs(type, file);
            code++;
        } else if (strncmp(code, "@note", 5) == 0) {
            fprintf(file, "inttoptr (i64 %llu to ptr)", (unsigned long long)(uintptr_t)note);
            code += 4;
        } else if (strncmp(code, "@fault", 6) == 0) {
            fprintf(file, "inttoptr (i64 %llu to ptr)", (unsigned long long)(uintptr_t)fault);
            code += 5;
        } else {
            fputc(*code, file);
        }
    }
    if (strstr(code - strlen("unreachable\n"), "unreachable") == NULL)
        fputs(" br label %next\n", file);
}

static struct kernel kernel_of_other(const struct other *other, const struct type *type)
{
    struct kernel kernel = {.row = 24, .rows = other->is_one_row ? 1 : 3};
    size_t bytes = 0;
    FILE *code = open_memstream(&kernel.code, &bytes);
    put_code(code, other->code, type->text);
    fclose(code);
    snprintf(kernel.name, sizeof kernel.name, "%s, %s", other->name, type->text);
    kernel.input_bytes = other->input * thread_count(&kernel) * type->bytes;
    kernel.output_bytes = other->output * thread_count(&kernel) * type->bytes;
    return kernel;
}

static void check_other(const struct other *other, bool is_conditional)
{
    for (const char *t = other->types; *t != '\0'; t++) {
        struct kernel kernel = kernel_of_other(other, &types[*t - '0']);
        kernel.is_conditional = is_conditional;
        kernel.is_guard = strstr(other->code, "@fault") != NULL; /* others may have come further */
        check_kernel(&kernel, &forms[next_random() % FORM_COUNT]);
        kernel.is_guard = true;
        check_kernel(&kernel, &forms[next_random() % FORM_COUNT]);
        free(kernel.code);
    }
}

Test(vector_memory, all_threads_access_and_exchange_as_scalars_do, .init = make_arrays)
{
    for (size_t i = 0; i < OTHER_COUNT; i++)
        check_other(&others[i], false);
}

Test(vector_memory, some_threads_access_and_exchange_as_scalars_do, .init = make_arrays)
{
    for (size_t i = 0; i < OTHER_COUNT; i++)
        check_other(&others[i], true);
}

/* ---- defects are found ---- */

/* How many of the places where the defect can be made are not seen. */
static uint32_t count_missed(const struct structure *structure, const struct form *form,
                             enum tr_vector_seed seed)
{
    struct kernel kernel = kernel_of(structure, 50, 1);
    kernel.is_conditional = true;
    uint32_t sites = 1;
    uint32_t missed = 0;
    for (uint32_t site = 0; site < sites; site++)
        missed += try_kernel(&kernel, form, seed, site, &sites);
    cr_expect_gt(sites, 2, "%s", kernel.name);
    free(kernel.code);
    return missed;
}

static const struct form defect_forms[] = {{8, 2, 512, 0}, {4, 1, 128, 0}};

Test(vector_memory, an_address_one_element_off_is_seen, .init = make_arrays)
{
    static const struct structure structures[] = {{&types[2], 1, 1, 1, false},
                                                  {&types[4], 3, 7, 7, false},
                                                  {&types[6], 4, 5, 5, true},
                                                  {&types[1], 9, 4, 2, false}};
    for (int f = 0; f < 2; f++)
        for (size_t i = 0; i < sizeof structures / sizeof *structures; i++)
            cr_expect_eq(count_missed(&structures[i], &defect_forms[f], TR_VECTOR_SEED_STRIDE), 0);
}

/* In two of the places it is a condition's mask that is not used; conditions of lanes behind the
 * row's end happen to be false. */
Test(vector_memory, a_store_of_lanes_that_are_not_active_is_seen, .init = make_arrays)
{
    static const struct structure structures[] = {{&types[2], 1, 1, 1, false},
                                                  {&types[3], 1, 1, 1, true}};
    for (size_t i = 0; i < sizeof structures / sizeof *structures; i++)
        cr_expect_leq(count_missed(&structures[i], &defect_forms[0], TR_VECTOR_SEED_MASK), 2);
}
