/* SPDX-License-Identifier: Apache-2.0
 *
 * Atomic accesses of 16 bytes in machine code of several processors: a load is one instruction that
 * does not write, and nothing calls a library.
 */
#include <criterion/criterion.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/TargetMachine.h>
#include <stdio.h>
#include <string.h>

#include "jit/compile.h"
#include "translator/pipeline.h"

#if defined(__x86_64__)

static const char ir[] = "define i128 @relaxed(ptr %p) {\n"
                         "  %v = load atomic i128, ptr %p monotonic, align 16\n"
                         "  ret i128 %v\n"
                         "}\n"
                         "define i128 @acquired(ptr %p) {\n"
                         "  %v = load atomic i128, ptr %p acquire, align 16\n"
                         "  ret i128 %v\n"
                         "}\n"
                         "define i64 @volatile(ptr %p) {\n"
                         "  %v = load atomic volatile i128, ptr %p monotonic, align 16\n"
                         "  %high = lshr i128 %v, 64\n"
                         "  %half = trunc i128 %high to i64\n"
                         "  ret i64 %half\n"
                         "}\n"
                         "define <4 x i32> @vector(ptr %p) {\n"
                         "  %v = load atomic <4 x i32>, ptr %p acquire, align 16\n"
                         "  ret <4 x i32> %v\n"
                         "}\n"
                         "define void @stored_vector(ptr %p, <2 x i64> %v) {\n"
                         "  store atomic <2 x i64> %v, ptr %p release, align 16\n"
                         "  ret void\n"
                         "}\n"
                         "define void @stored(ptr %p, i128 %v) {\n"
                         "  store atomic i128 %v, ptr %p release, align 16\n"
                         "  ret void\n"
                         "}\n";

/* Of the code for a processor. */
struct assembly {
    LLVMContextRef context;
    LLVMMemoryBufferRef text;
};

static LLVMTargetMachineRef machine_for(const char *cpu)
{
    struct jit_target *native; /* so that LLVM knows its targets */
    struct pxr_error err = {0};
    cr_assert_eq(jit_target_acquire(&native, &err), PXR_OK, "%s", err.message);
    LLVMTargetRef target;
    cr_assert_not(LLVMGetTargetFromTriple(native->triple, &target, NULL));
    LLVMTargetMachineRef machine = LLVMCreateTargetMachine(
        target, native->triple, cpu, "", LLVMCodeGenLevelLess, LLVMRelocPIC, LLVMCodeModelSmall);
    jit_target_release(native);
    return machine;
}

static struct assembly assemble(const char *cpu)
{
    struct assembly assembly = {.context = LLVMContextCreate()};
    LLVMMemoryBufferRef input = LLVMCreateMemoryBufferWithMemoryRangeCopy(ir, sizeof ir - 1, "ir");
    LLVMModuleRef module = NULL;
    cr_assert_not(LLVMParseIRInContext(assembly.context, input, &module, NULL));
    tr_lower_whole_accesses(module, false);
    cr_assert_not(LLVMVerifyModule(module, LLVMReturnStatusAction, NULL));
    LLVMTargetMachineRef machine = machine_for(cpu);
    cr_assert_not(LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMAssemblyFile, NULL,
                                                      &assembly.text));
    LLVMDisposeTargetMachine(machine);
    LLVMDisposeModule(module);
    return assembly;
}

static void dispose(struct assembly *assembly)
{
    LLVMDisposeMemoryBuffer(assembly->text);
    LLVMContextDispose(assembly->context);
}

/* The lines of one function, until the directive that gives its size. */
static void copy_function(const struct assembly *assembly, const char *name, char *body,
                          size_t body_bytes)
{
    char label[64];
    snprintf(label, sizeof label, "\n%s:", name);
    const char *begin = strstr(LLVMGetBufferStart(assembly->text), label);
    cr_assert_not_null(begin);
    const char *end = strstr(begin, ".size");
    cr_assert_not_null(end);
    cr_assert_lt((size_t)(end - begin), body_bytes);
    memcpy(body, begin, (size_t)(end - begin));
    body[end - begin] = '\0';
}

static unsigned count_of(const char *text, const char *part)
{
    unsigned count = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

static const char *const processors[] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "znver3"};
#define PROCESSOR_COUNT (sizeof processors / sizeof processors[0])

/* (%rdi) is the address: one instruction names it, with a vector register of 16 bytes. */
Test(whole_accesses, loads_are_one_instruction_that_does_not_write)
{
    static const char *const functions[] = {"relaxed", "acquired", "volatile", "vector"};
    char body[4096];
    for (size_t i = 0; i < PROCESSOR_COUNT; i++) {
        struct assembly assembly = assemble(processors[i]);
        for (size_t k = 0; k < sizeof functions / sizeof functions[0]; k++) {
            copy_function(&assembly, functions[k], body, sizeof body);
            cr_expect_eq(count_of(body, "(%rdi)"), 1, "%s: %s", processors[i], body);
            cr_expect_eq(count_of(body, "(%rdi), %xmm"), 1, "%s: %s", processors[i], body);
            cr_expect_eq(count_of(body, "lock") + count_of(body, "call"), 0, "%s: %s",
                         processors[i], body);
        }
        dispose(&assembly);
    }
}

/* The oldest processors have neither instruction and are not served. */
Test(whole_accesses, stores_are_one_move_or_a_compare_and_swap)
{
    static const char *const functions[] = {"stored", "stored_vector"};
    char body[4096];
    for (size_t i = 1; i < PROCESSOR_COUNT; i++) {
        struct assembly assembly = assemble(processors[i]);
        bool has_avx = strcmp(processors[i], "x86-64-v2") != 0;
        for (size_t k = 0; k < sizeof functions / sizeof functions[0]; k++) {
            copy_function(&assembly, functions[k], body, sizeof body);
            cr_expect_eq(count_of(body, "call"), 0, "%s: %s", processors[i], body);
            const char *wanted = has_avx ? "%xmm0, (%rdi)" : "cmpxchg16b\t(%rdi)";
            cr_expect_eq(count_of(body, wanted), 1, "%s: %s", processors[i], body);
        }
        dispose(&assembly);
    }
}

#else

Test(whole_accesses, are_tested_on_x86_64)
{
    cr_skip_test("other instructions");
}

#endif
