/* SPDX-License-Identifier: Apache-2.0
 *
 * Whatever LLVM's code generator calls, for any CPU, is in jit/library_calls.c; and the conversions
 * served there give what instructions give on CPUs that have them.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include "call_forms.h"
#include "jit/cpu.h"
#include "jit/elf_object.h"
#include "jit/library_calls.h"
#include "translator/module/rt_bitcode.h"

#define X86_64  "x86_64-unknown-linux-gnu"
#define AARCH64 "aarch64-unknown-linux-gnu"

static void init(void)
{
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
}

TestSuite(library_calls, .init = init);

static LLVMModuleRef make_module(LLVMContextRef context, unsigned vector_bits)
{
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    call_forms_write(file, vector_bits);
    fclose(file);
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, len, "forms");
    LLVMModuleRef module = NULL;
    char *message = NULL;
    if (LLVMParseIRInContext2(context, buffer, &module, &message))
        cr_assert_fail("%s", message);
    LLVMDisposeMemoryBuffer(buffer);
    free(text);
    return module;
}

static LLVMMemoryBufferRef compile(const char *triple, const char *cpu, const char *features,
                                   unsigned vector_bits)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = make_module(context, vector_bits);
    LLVMTargetMachineRef machine = jit_cpu_machine(cpu, features, triple, LLVMCodeGenLevelLess);
    cr_assert_not_null(machine, "%s", triple);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetModuleDataLayout(module, layout);
    LLVMSetTarget(module, triple);
    LLVMMemoryBufferRef object = NULL;
    char *message = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &object))
        cr_assert_fail("%s", message);
    LLVMDisposeTargetData(layout);
    LLVMDisposeTargetMachine(machine);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return object;
}

/* Returns how many calls there are. */
static unsigned check_calls(const char *cpu, LLVMMemoryBufferRef buffer)
{
    struct elf_object object;
    struct pxr_error err;
    unsigned calls = 0;
    cr_assert_eq(elf_object_init(&object, (const uint8_t *)LLVMGetBufferStart(buffer),
                                 LLVMGetBufferSize(buffer), &err),
                 PXR_OK, "%s", err.message);
    for (uint32_t i = 1; i < object.symbol_count; i++) {
        Elf64_Sym symbol = elf_symbol(&object, i);
        const char *name = elf_symbol_name(&object, &symbol);
        if (symbol.st_shndx != SHN_UNDEF)
            continue;
        calls++;
        cr_expect_not_null(jit_library_call_address(name), "code for %s calls %s", cpu, name);
    }
    elf_object_fini(&object);
    LLVMDisposeMemoryBuffer(buffer);
    return calls;
}

static unsigned check_x86(const char *level, unsigned vector_bits)
{
    return check_calls(level, compile(X86_64, level, "+cx16", vector_bits));
}

Test(library_calls, of_sse2_are_all_served)
{
    cr_expect_geq(check_x86("x86-64", 128), 30);
}

Test(library_calls, of_sse4_are_all_served)
{
    cr_expect_geq(check_x86("x86-64-v2", 128), 20);
}

Test(library_calls, of_avx2_are_all_served)
{
    cr_expect_geq(check_x86("x86-64-v3", 256), 15);
}

Test(library_calls, of_avx512_are_all_served)
{
    cr_expect_geq(check_x86("x86-64-v4", 512), 15);
}

Test(library_calls, of_avx512_with_every_extension_are_all_served)
{
    check_x86("sapphirerapids", 512);
    check_x86("znver5", 512);
}

Test(library_calls, of_aarch64_are_all_served)
{
    cr_expect_geq(check_calls("AArch64", compile(AARCH64, "generic", "", 128)), 10);
}

Test(library_calls, of_aarch64_with_atomics_and_sve_are_all_served)
{
    check_calls("AArch64", compile(AARCH64, "neoverse-v2", "", 128));
}

Test(library_calls, have_one_entry_each)
{
    for (size_t i = 0; i < jit_library_call_count; i++)
        cr_expect_eq(jit_library_call_address(jit_library_calls[i].name),
                     (void *)jit_library_calls[i].function, "%s", jit_library_calls[i].name);
    cr_expect_null(jit_library_call_address("system"));
    cr_expect_null(jit_library_call_address(""));
}

/* LLVM's conversions to bfloat differ from CPU to CPU: that of AVX512_BF16 makes subnormals zero,
 * and one from double may round twice. So the helpers compute theirs in integers. */
static bool is_bfloat(LLVMTypeRef type)
{
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        type = LLVMGetElementType(type);
    return LLVMGetTypeKind(type) == LLVMBFloatTypeKind;
}

static unsigned check_no_bfloat(LLVMValueRef function)
{
    unsigned seen = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != NULL;
             inst = LLVMGetNextInstruction(inst)) {
            seen++;
            cr_expect_not(is_bfloat(LLVMTypeOf(inst)), "%s", LLVMGetValueName(function));
        }
    return seen;
}

Test(library_calls, helpers_leave_no_conversion_to_bfloat_to_llvm)
{
    unsigned seen = 0;
    for (size_t i = 0; i < tr_rt_family_count; i++) {
        const struct tr_rt_bitcode *family = &tr_rt_families[i];
        LLVMContextRef context = LLVMContextCreate();
        LLVMModuleRef module = NULL;
        LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
            (const char *)family->begin, (size_t)(family->end - family->begin), family->name);
        cr_assert_not(LLVMParseBitcodeInContext2(context, buffer, &module));
        LLVMValueRef function = LLVMGetFirstFunction(module);
        for (; function != NULL; function = LLVMGetNextFunction(function))
            seen += check_no_bfloat(function);
        LLVMDisposeModule(module);
        LLVMDisposeMemoryBuffer(buffer);
        LLVMContextDispose(context);
    }
    cr_expect_geq(seen, 1000);
}
