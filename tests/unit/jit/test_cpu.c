/* SPDX-License-Identifier: Apache-2.0
 *
 * Which CPUs code can be made for on this machine, and what is said about the others.
 */
#include <criterion/criterion.h>
#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>
#include <stdio.h>
#include <string.h>
#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include "jit/cpu.h"
#include "jit/llvm_target.h"

/* LLVM's targets are registered when the first target is acquired. */
static void init(void)
{
    struct jit_target *target;
    struct pxr_error err;
    cr_assert_eq(jit_target_acquire(&target, &err), PXR_OK, "%s", err.message);
    jit_target_release(target);
}

TestSuite(cpu, .init = init);

Test(cpu, no_name_is_this_machine)
{
    struct jit_cpu cpu;
    char *name = LLVMGetHostCPUName();
    char *features = LLVMGetHostCPUFeatures();
    cr_assert_eq(jit_cpu_named("", &cpu, NULL), PXR_OK);
    cr_expect_str_eq(cpu.name, name);
    cr_expect_str_eq(cpu.features, features);
    LLVMDisposeMessage(name);
    LLVMDisposeMessage(features);
    jit_cpu_fini(&cpu);
}

Test(cpu, a_name_that_llvm_does_not_know_is_refused)
{
    static const char *const names[] = {"x86-64-v9", "x86-64-v3,", "+avx2", "help", " "};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct jit_cpu cpu;
        struct pxr_error err = {0};
        cr_expect_eq(jit_cpu_named(names[i], &cpu, &err), PXR_COMPILE_FAILED, "%s", names[i]);
        cr_expect_not_null(strstr(err.message, names[i]), "%s", err.message);
        cr_expect_not_null(strstr(err.message, "knows no CPU"), "%s", err.message);
    }
}

#if defined(__x86_64__)

/* What the error names is a feature that LLVM sees missing here. */
static void expect_lack(const struct pxr_error *err)
{
    const char *lacks = strstr(err->message, "lacks '");
    cr_assert_not_null(lacks, "%s", err->message);
    char missing[64] = "-";
    sscanf(lacks, "lacks '%62[^']", missing + 1);
    char *features = LLVMGetHostCPUFeatures();
    cr_expect_not_null(strstr(features, missing), "%s", err->message);
    LLVMDisposeMessage(features);
}

Test(cpu, levels_have_the_vectors_of_their_definition)
{
    static const struct {
        const char *name;
        unsigned vector_bits;
    } levels[] = {{"x86-64", 128},    {"x86-64-v2", 128}, {"x86-64-v3", 256},
                  {"x86-64-v4", 512}, {"haswell", 256},   {"nehalem", 128}};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        struct jit_cpu cpu;
        struct pxr_error err = {0};
        if (jit_cpu_named(levels[i].name, &cpu, &err) != PXR_OK) {
            expect_lack(&err);
            continue;
        }
        cr_expect_eq(cpu.vector_bits, levels[i].vector_bits, "%s", levels[i].name);
        cr_expect_str_eq(cpu.name, levels[i].name);
        jit_cpu_fini(&cpu);
    }
}

Test(cpu, every_64_bit_machine_runs_code_of_the_first_level)
{
    struct jit_cpu cpu;
    struct pxr_error err = {0};
    cr_assert_eq(jit_cpu_named("x86-64", &cpu, &err), PXR_OK, "%s", err.message);
    jit_cpu_fini(&cpu);
}

/* No machine is both of these: the one has XOP, the other AMX. */
Test(cpu, what_the_machine_lacks_is_named)
{
    static const char *const names[] = {"bdver4", "sapphirerapids"};
    int refused = 0;
    for (int i = 0; i < 2; i++) {
        struct jit_cpu cpu;
        struct pxr_error err = {0};
        if (jit_cpu_named(names[i], &cpu, &err) == PXR_OK) {
            jit_cpu_fini(&cpu);
            continue;
        }
        refused++;
        cr_expect_not_null(strstr(err.message, names[i]), "%s", err.message);
        expect_lack(&err);
    }
    cr_expect_geq(refused, 1);
}

#elif defined(__aarch64__)

Test(cpu, code_that_the_machine_cannot_run_is_refused)
{
    if (getauxval(AT_HWCAP) & HWCAP_SVE)
        cr_skip_test("the machine has SVE");
    struct jit_cpu cpu;
    struct pxr_error err = {0};
    cr_assert_eq(jit_cpu_named("neoverse-v1", &cpu, &err), PXR_COMPILE_FAILED);
    cr_expect_not_null(strstr(err.message, "lacks '"), "%s", err.message);
}

Test(cpu, every_64_bit_machine_runs_code_without_extensions)
{
    static const char *const names[] = {"generic", "cortex-a53"};
    for (int i = 0; i < 2; i++) {
        struct jit_cpu cpu;
        struct pxr_error err = {0};
        cr_assert_eq(jit_cpu_named(names[i], &cpu, &err), PXR_OK, "%s", err.message);
        cr_expect_eq(cpu.vector_bits, 128);
        jit_cpu_fini(&cpu);
    }
}

#endif
