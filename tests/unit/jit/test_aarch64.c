/* SPDX-License-Identifier: Apache-2.0
 *
 * Machine code for AArch64, made on any machine: atomic operations and fences are the instructions
 * that the memory order of PTX asks for. No run of them on another processor shows a missing one:
 * under an emulator all memory is as orderly as the emulator's machine has it.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include "jit/cpu.h"
#include "jit/llvm_target.h"
#include "ptx/ptx.h"
#include "translator/pipeline.h"

#define TRIPLE "aarch64-unknown-linux-gnu"

static void init(void)
{
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
}

TestSuite(aarch64, .init = init);

/* With the atomics of ARMv8.1, and without. */
static const char *const with_atomics[] = {"neoverse-n1", "neoverse-v2"};
static const char *const without_atomics[] = {"generic", "cortex-a72"};
#define CPUS 2

/* The ways to code: of one thread, of loops, of vectors, of loops in the quick tier. */
static const struct {
    enum pxr_collapse collapse;
    enum tr_effort effort;
} ways[] = {{PXR_COLLAPSE_PRECISE, TR_EFFORT_FULL},
            {PXR_COLLAPSE_FLAT, TR_EFFORT_FULL},
            {PXR_COLLAPSE_VECTOR, TR_EFFORT_FULL},
            {PXR_COLLAPSE_AUTO, TR_EFFORT_QUICK}};
enum { WAYS = sizeof ways / sizeof ways[0] };

/* ---- from PTX to assembly ---- */

static char *kernel_text(const char *instructions)
{
    char *text = NULL;
    int len =
        asprintf(&text,
                 ".version 8.8\n.target sm_90\n.address_size 64\n"
                 ".visible .entry k(.param .u64 .ptr .global .align 16 in, .param .u64 out)\n{\n"
                 ".reg .pred %%p<4>;\n.reg .b16 %%h<4>;\n.reg .b32 %%r<8>;\n.reg .b64 %%rd<8>;\n"
                 ".reg .b128 %%q<4>;\n.reg .f32 %%f<4>;\n.reg .f64 %%fd<4>;\n"
                 "ld.param.u64 %%rd1, [in];\nld.param.u64 %%rd2, [out];\n"
                 "mov.u32 %%r7, %%tid.x;\nmul.wide.u32 %%rd3, %%r7, 16;\n"
                 "add.u64 %%rd1, %%rd1, %%rd3;\nadd.u64 %%rd2, %%rd2, %%rd3;\n"
                 "%s\nret;\n}\n",
                 instructions);
    cr_assert_gt(len, 0);
    return text;
}

static struct jit_target target_for(const char *cpu)
{
    struct jit_target target = {.triple = TRIPLE, .cpu = tr_target_find(cpu, 128)};
    target.machine = jit_cpu_machine(cpu, "", TRIPLE, LLVMCodeGenLevelLess);
    target.quick = jit_cpu_machine(cpu, "", TRIPLE, LLVMCodeGenLevelNone);
    cr_assert(target.machine && target.quick);
    const struct jit_cpu described = {.name = (char *)cpu, .features = ""};
    target.has_whole_loads = jit_cpu_has(target.machine, &described, "lse2");
    LLVMTargetDataRef data = LLVMCreateTargetDataLayout(target.machine);
    target.data_layout = LLVMCopyStringRepOfTargetData(data);
    LLVMDisposeTargetData(data);
    return target;
}

static void dispose_target(struct jit_target *target)
{
    LLVMDisposeTargetMachine(target->machine);
    LLVMDisposeTargetMachine(target->quick);
    LLVMDisposeMessage(target->data_layout);
}

static LLVMModuleRef translate(const char *text, const struct jit_target *target,
                               LLVMContextRef context)
{
    struct pxr_error err = {0};
    struct ptx_module *ptx = NULL;
    cr_assert_eq(ptx_parse(pxr_str_from(text), "test.ptx", &ptx, &err), PXR_OK, "%s\n%s",
                 err.message, text);
    const struct ptx_func *kernel = ptx_find_entry(ptx, "k");
    struct ptx_kernel_layout layout;
    cr_assert_eq(ptx_layout_kernel(ptx, kernel, &layout, &err), PXR_OK, "%s", err.message);
    struct tr_options options = {.triple = target->triple,
                                 .data_layout = target->data_layout,
                                 .has_fused = target->cpu.has_fused};
    LLVMModuleRef module = NULL;
    cr_assert_eq(tr_translate_kernel(ptx, kernel, &layout, &options, context, &module, &err),
                 PXR_OK, "%s\n%s", err.message, text);
    ptx_layout_fini(&layout);
    ptx_module_destroy(ptx);
    return module;
}

/* The input of the code generator, as jit/compile.c makes it. */
static LLVMModuleRef make_code(LLVMModuleRef module, const struct jit_target *target, int way)
{
    struct pxr_error err = {0};
    struct tr_budget budget = {.effort = ways[way].effort};
    struct tr_facts facts = {.block = {64, 1, 1}};
    struct tr_compilation compilation = {.module = module,
                                         .budget = &budget,
                                         .machine = target->machine,
                                         .has_whole_loads = target->has_whole_loads};
    struct tr_collapse_options options = {
        .collapse = ways[way].collapse, .is_forced = true, .target = &target->cpu};
    struct tr_collapsed collapsed;
    cr_assert_eq(tr_make_block(&compilation, &facts, &options, &collapsed, &err), PXR_OK, "%s",
                 err.message);
    free(collapsed.explanation);
    jit_target_prepare(target, compilation.module);
    cr_assert_eq(tr_make_code(&compilation, collapsed.collapse, &err), PXR_OK, "%s", err.message);
    module = compilation.module;
    tr_compilation_fini(&compilation);
    return module;
}

/* malloc */
static char *assemble(const char *instructions, const char *cpu, int way)
{
    struct jit_target target = target_for(cpu);
    LLVMContextRef context = LLVMContextCreate();
    char *text = kernel_text(instructions);
    LLVMModuleRef module = make_code(translate(text, &target, context), &target, way);
    LLVMMemoryBufferRef buffer;
    char *message = NULL;
    LLVMTargetMachineRef machine =
        ways[way].effort == TR_EFFORT_QUICK ? target.quick : target.machine;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMAssemblyFile, &message, &buffer))
        cr_assert_fail("%s", message);
    char *assembly = strdup(LLVMGetBufferStart(buffer));
    LLVMDisposeMemoryBuffer(buffer);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    dispose_target(&target);
    free(text);
    return assembly;
}

/* ---- what is in it ---- */

/* Whether an instruction begins with this: its name, or its name and the beginning of its operands.
 */
static bool has_instruction(const char *assembly, const char *begin, size_t len)
{
    for (const char *line = assembly; line; line = strchr(line, '\n')) {
        line += strspn(line, "\n\t ");
        if (strncmp(line, begin, len) == 0 &&
            (strchr(" \t\n", line[len]) || memchr(begin, '\t', len)))
            return true;
    }
    return false;
}

/* wanted: instructions, all of them; `a|b`: one of them. */
static bool has_all(const char *assembly, const char *wanted)
{
    while (*wanted != '\0') {
        bool has_one = false;
        do {
            wanted += *wanted == '|';
            size_t len = strcspn(wanted, "| ");
            has_one = has_one || has_instruction(assembly, wanted, len);
            wanted += len;
        } while (*wanted == '|');
        if (!has_one)
            return false;
        wanted += strspn(wanted, " ");
    }
    return true;
}

struct expected {
    const char *instructions;
    const char *with; /* atomics of ARMv8.1 */
    const char *without;
};

static void check(const struct expected *expected, const char *cpu, const char *wanted)
{
    for (int way = 0; way < WAYS; way++) {
        char *assembly = assemble(expected->instructions, cpu, way);
        cr_expect(has_all(assembly, wanted), "%s, way %d: no '%s' in the code of '%s':\n%s", cpu,
                  way, wanted, expected->instructions, assembly);
        cr_expect_null(strstr(assembly, "__aarch64_"), "%s, way %d: %s calls:\n%s", cpu, way,
                       expected->instructions, assembly);
        free(assembly);
    }
}

static void check_all(const struct expected *expected, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (int cpu = 0; cpu < CPUS; cpu++) {
            check(&expected[i], with_atomics[cpu], expected[i].with);
            check(&expected[i], without_atomics[cpu], expected[i].without);
        }
}

#define CHECK_ALL(expected) check_all(expected, sizeof(expected) / sizeof(expected)[0])

Test(aarch64, loads_and_stores_have_their_order, .timeout = 300)
{
    static const struct expected expected[] = {
        {"ld.acquire.gpu.global.u32 %r1, [%rd1]; st.global.u32 [%rd2], %r1;", "ldar|ldapr", "ldar"},
        {"ld.acquire.sys.global.u64 %rd4, [%rd1]; st.global.u64 [%rd2], %rd4;", "ldar|ldapr",
         "ldar"},
        {"ld.acquire.gpu.global.u16 %h1, [%rd1]; st.global.u16 [%rd2], %h1;", "ldarh|ldaprh",
         "ldarh"},
        {"ld.acquire.gpu.global.u8 %h1, [%rd1]; st.global.u8 [%rd2], %h1;", "ldarb|ldaprb",
         "ldarb"},
        {"st.release.gpu.global.u32 [%rd1], 1;", "stlr", "stlr"},
        {"st.release.sys.global.u64 [%rd1], 1;", "stlr", "stlr"},
        {"st.release.gpu.global.u16 [%rd1], 1;", "stlrh", "stlrh"},
        {"st.release.gpu.global.u8 [%rd1], 1;", "stlrb", "stlrb"},
        {"ld.acquire.gpu.global.b128 %q1, [%rd1]; st.global.b128 [%rd2], %q1;",
         "dmb\tishld|dmb\tish", "dmb\tishld|dmb\tish"},
    };
    CHECK_ALL(expected);
}

Test(aarch64, fences_are_barriers_of_the_inner_domain, .timeout = 300)
{
    static const struct expected expected[] = {
        {"st.global.u32 [%rd1], 1; fence.sc.gpu; st.global.u32 [%rd2], 1;", "dmb\tish", "dmb\tish"},
        {"st.global.u32 [%rd1], 1; fence.acq_rel.gpu; st.global.u32 [%rd2], 1;", "dmb\tish",
         "dmb\tish"},
        {"st.global.u32 [%rd1], 1; fence.acq_rel.sys; st.global.u32 [%rd2], 1;", "dmb\tish",
         "dmb\tish"},
        {"st.global.u32 [%rd1], 1; membar.gl; st.global.u32 [%rd2], 1;", "dmb\tish", "dmb\tish"},
        {"st.global.u32 [%rd1], 1; membar.sys; st.global.u32 [%rd2], 1;", "dmb\tish", "dmb\tish"},
    };
    CHECK_ALL(expected);
}

/* The quick tier orders more than it has to. */
#define RELAXED    "ldxr|ldaxr stxr|stlxr"
#define ACQUIRED   "ldaxr stxr|stlxr"
#define RELEASED   "ldxr|ldaxr stlxr"
#define BOTH       "ldaxr stlxr"
#define ADD(order) "atom." order ".gpu.global.add.u32 %r1, [%rd1], 5; st.global.u32 [%rd2], %r1;"
#define CAS(order)                                                                                 \
    "atom." order ".gpu.global.cas.b64 %rd4, [%rd1], 1, 2; st.global.u64 [%rd2], %rd4;"
#define EXCHANGE(order)                                                                            \
    "atom." order ".gpu.global.exch.b32 %r1, [%rd1], 5; st.global.u32 [%rd2], %r1;"

Test(aarch64, orders_of_atomics_are_those_asked_for, .timeout = 600)
{
    static const struct expected expected[] = {
        {ADD("relaxed"), "ldadd", RELAXED},      {ADD("acquire"), "ldadda", ACQUIRED},
        {ADD("release"), "ldaddl", RELEASED},    {ADD("acq_rel"), "ldaddal", BOTH},
        {CAS("relaxed"), "cas", RELAXED},        {CAS("acquire"), "casa", ACQUIRED},
        {CAS("release"), "casl", RELEASED},      {CAS("acq_rel"), "casal", BOTH},
        {EXCHANGE("relaxed"), "swp", RELAXED},   {EXCHANGE("acquire"), "swpa", ACQUIRED},
        {EXCHANGE("release"), "swpl", RELEASED}, {EXCHANGE("acq_rel"), "swpal", BOTH},
    };
    CHECK_ALL(expected);
}

#define OPERATION(name, type, value)                                                               \
    "atom.relaxed.gpu.global." name "." type " %r1, [%rd1], " value "; st.global.u32 [%rd2], %r1;"

Test(aarch64, operations_have_an_instruction_where_there_is_one, .timeout = 600)
{
    static const struct expected expected[] = {
        {OPERATION("and", "b32", "5"), "ldclr", RELAXED},
        {OPERATION("or", "b32", "5"), "ldset", RELAXED},
        {OPERATION("xor", "b32", "5"), "ldeor", RELAXED},
        {OPERATION("min", "s32", "5"), "ldsmin", RELAXED},
        {OPERATION("max", "s32", "5"), "ldsmax", RELAXED},
        {OPERATION("min", "u32", "5"), "ldumin", RELAXED},
        {OPERATION("max", "u32", "5"), "ldumax", RELAXED},
        {OPERATION("inc", "u32", "5"), "cas", RELAXED},
        {OPERATION("dec", "u32", "5"), "cas", RELAXED},
        {"atom.acq_rel.gpu.global.add.u64 %rd4, [%rd1], 5; st.global.u64 [%rd2], %rd4;", "ldaddal",
         BOTH},
        {"atom.relaxed.gpu.global.cas.b16 %h1, [%rd1], 1, 2; st.global.b16 [%rd2], %h1;", "cash",
         "ldxrh|ldaxrh stxrh|stlxrh"},
        {"atom.acq_rel.gpu.global.cas.b128 %q1, [%rd1], %q2, %q3; st.global.b128 [%rd2], %q1;",
         "caspal", "ldaxp stlxp"},
        {"atom.global.add.f32 %f1, [%rd1], 0f3F800000; st.global.f32 [%rd2], %f1;", "casal",
         "ldaxr stlxr"},
        {"atom.global.add.f64 %fd1, [%rd1], 0d3FF0000000000000; st.global.f64 [%rd2], %fd1;", "cas",
         RELAXED},
        {"atom.acq_rel.gpu.global.add.f64 %fd1, [%rd1], 0d3FF0000000000000; "
         "st.global.f64 [%rd2], %fd1;",
         "casal", BOTH},
        {"red.relaxed.gpu.global.add.u32 [%rd1], 5;", "stadd|ldadd", RELAXED},
        {"red.release.gpu.global.add.u32 [%rd1], 5;", "staddl|ldaddl", RELEASED},
    };
    CHECK_ALL(expected);
}

/* Memory that programs read may be read-only, so a compare-and-swap is no load. With LSE2 a pair is
 * whole, and a vector; without, neither is promised. */
Test(aarch64, loads_of_16_bytes_do_not_write, .timeout = 300)
{
    static const char *const cpus[] = {"neoverse-n1", "neoverse-v1", "neoverse-v2", "cortex-a72"};
    static const char load[] =
        "ld.relaxed.gpu.global.b128 %q1, [%rd1]; st.global.b128 [%rd2], %q1;";
    for (int cpu = 0; cpu < 4; cpu++)
        for (int way = 0; way < WAYS; way++) {
            char *assembly = assemble(load, cpus[cpu], way);
            cr_expect(has_all(assembly, "ldp\tx|ldr\tq"), "%s", assembly);
            cr_expect_null(strstr(assembly, "xp\t"), "%s, way %d: %s", cpus[cpu], way, assembly);
            cr_expect_null(strstr(assembly, "casp"), "%s, way %d: %s", cpus[cpu], way, assembly);
            free(assembly);
        }
}

Test(aarch64, features_of_a_cpu_are_known)
{
    static const struct {
        const char *cpu;
        const char *feature;
        bool has;
    } expected[] = {{"cortex-a53", "lse", false},   {"neoverse-n1", "lse", true},
                    {"neoverse-n1", "lse2", false}, {"neoverse-v1", "lse2", true},
                    {"neoverse-n1", "sve", false},  {"neoverse-v1", "sve", true},
                    {"neoverse-v1", "sve2", false}, {"neoverse-v2", "sve2", true},
                    {"apple-m1", "lse2", true},     {"generic", "lse", false}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        struct jit_target target = target_for(expected[i].cpu);
        const struct jit_cpu cpu = {.name = (char *)expected[i].cpu, .features = ""};
        cr_expect_eq(jit_cpu_has(target.machine, &cpu, expected[i].feature), expected[i].has,
                     "%s of %s", expected[i].feature, expected[i].cpu);
        dispose_target(&target);
    }
}

#define CLAMP                                                                                      \
    "ld.global.f32 %f1, [%rd1]; setp.gt.f32 %p1, %f1, 0f00000000;"                                 \
    "selp.f32 %f2, %f1, 0f00000000, %p1; st.global.f32 [%rd2], %f2;"
#define SATURATE                                                                                   \
    "ld.global.f32 %f1, [%rd1]; add.sat.f32 %f2, %f1, 0f80000000; st.global.f32 [%rd2], %f2;"
#define SMALLER                                                                                    \
    "ld.global.f64 %fd1, [%rd1]; ld.global.f64 %fd2, [%rd1+8]; setp.lt.f64 %p1, %fd1, %fd2;"       \
    "selp.f64 %fd3, %fd1, %fd2, %p1; st.global.f64 [%rd2], %fd3;"

/* fmaxnm of a signalling NaN and a number is a NaN. */
Test(aarch64, choices_stay_choices, .timeout = 300)
{
    static const char *const choices[] = {CLAMP, SATURATE, SMALLER};
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++)
        for (int way = 0; way < WAYS; way++) {
            char *assembly = assemble(choices[i], "neoverse-n1", way);
            bool has_either = strstr(assembly, "fmaxnm") || strstr(assembly, "fminnm");
            cr_expect_not(has_either, "way %d: %s", way, assembly);
            free(assembly);
        }
}
