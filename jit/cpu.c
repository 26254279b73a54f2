/* SPDX-License-Identifier: Apache-2.0
 *
 * See cpu.h. LLVM's C API does not tell which features a CPU has. Its inliner does: it takes a
 * function into another only if the other's CPU has all features that the first one's code may use.
 */
#include "jit/cpu.h"

#include <llvm-c/Core.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/options.h"

/* The features of every 64-bit CPU of this architecture. Atomic accesses of 16 bytes are one
 * instruction: all CPUs of 64 bits but the very first have it, and "x86-64" is one of these. */
#if defined(__x86_64__)
#define ALWAYS   "+64bit,+cx16"
#define HAS_WIDE true
#else
#define ALWAYS   "+neon"
#define HAS_WIDE false
#endif

/* LLVM's list for this machine has all features of x86-64, and those that it lacks; of AArch64 only
 * what the system names. These are asked for one by one: what code of ours may use of them. */
#if defined(__x86_64__)
#define UNLISTED ""
#else
#define UNLISTED                                                                                   \
    "-lse,-lse2,-lse128,-rcpc,-rcpc-immo,-rcpc3,-rdm,-fullfp16,-fp16fml,-dotprod,-i8mm,-bf16,"     \
    "-jsconv,-complxnum,-cssc,-mops,-sve,-sve2,-sme"
#endif

#define FEATURE_BYTES  64
#define FEATURES_BYTES 128

/* ---- asking the inliner ---- */

/* One side of a call: the CPU that a function is compiled for. */
struct side {
    const char *cpu;
    const char *features;
};

/* What is good for a CPU is to be the same on both sides: it counts as features, too. */
static void set_side(LLVMContextRef context, LLVMValueRef function, const struct side *side)
{
    const char *const pairs[][2] = {
        {"target-cpu", side->cpu}, {"target-features", side->features}, {"tune-cpu", "generic"}};
    for (int i = 0; i < 3; i++)
        if (pairs[i][1][0] != '\0')
            LLVMAddAttributeAtIndex(
                function, LLVMAttributeFunctionIndex,
                LLVMCreateStringAttribute(context, pairs[i][0], (unsigned)strlen(pairs[i][0]),
                                          pairs[i][1], (unsigned)strlen(pairs[i][1])));
}

static LLVMValueRef add_function(LLVMContextRef context, LLVMModuleRef module, const char *name,
                                 const struct side *side, LLVMBuilderRef builder)
{
    LLVMTypeRef type = LLVMFunctionType(LLVMInt32TypeInContext(context), NULL, 0, false);
    LLVMValueRef function = LLVMAddFunction(module, name, type);
    set_side(context, function, side);
    LLVMPositionBuilderAtEnd(builder, LLVMAppendBasicBlockInContext(context, function, ""));
    return function;
}

/* A caller whose only instruction but the last is a call. */
static LLVMModuleRef make_call(LLVMContextRef context, const char *triple,
                               const struct side *caller, const struct side *callee)
{
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext("probe", context);
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    LLVMSetTarget(module, triple);
    LLVMValueRef inner = add_function(context, module, "inner", callee, builder);
    LLVMBuildRet(builder, LLVMConstInt(LLVMInt32TypeInContext(context), 1, false));
    add_function(context, module, "outer", caller, builder);
    LLVMBuildRet(builder,
                 LLVMBuildCall2(builder, LLVMGlobalGetValueType(inner), inner, NULL, 0, ""));
    LLVMDisposeBuilder(builder);
    return module;
}

/* Whether one CPU can run all code that is made for another. */
static bool can_run(LLVMTargetMachineRef machine, const struct side *cpu, const struct side *other)
{
    LLVMContextRef context = LLVMContextCreate();
    char *triple = LLVMGetTargetMachineTriple(machine);
    LLVMModuleRef module = make_call(context, triple, cpu, other);
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(module, "cgscc(inline)", machine, options);
    LLVMBasicBlockRef body = LLVMGetEntryBasicBlock(LLVMGetNamedFunction(module, "outer"));
    bool is_inlined = !error && !LLVMIsACallInst(LLVMGetFirstInstruction(body));
    LLVMConsumeError(error);
    LLVMDisposePassBuilderOptions(options);
    LLVMDisposeModule(module);
    LLVMDisposeMessage(triple);
    LLVMContextDispose(context);
    return is_inlined;
}

/* LLVM's generic CPU has nothing that not all have, but on AArch64 one that traces. */
static const char *to_plain(LLVMTargetMachineRef machine)
{
    char *triple = LLVMGetTargetMachineTriple(machine);
    bool is_aarch64 = strncmp(triple, "aarch64", 7) == 0;
    LLVMDisposeMessage(triple);
    return is_aarch64 ? "-ete,-trbe," : "";
}

static bool has_feature(LLVMTargetMachineRef machine, const struct side *cpu, const char *feature)
{
    char list[FEATURE_BYTES + 16];
    snprintf(list, sizeof list, "%s+%s", to_plain(machine), feature);
    const struct side other = {"generic", list};
    return can_run(machine, cpu, &other);
}

/* ---- lists ---- */

/* What a list such as "+avx,-avx512f,+avx2" says of <name>: '+', '-', or '\0' if it does not. */
static char sign_in(const char *features, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = features; *at != '\0'; at += *at == ',') {
        size_t item = strcspn(at, ",");
        if (item == len + 1 && memcmp(at + 1, name, len) == 0)
            return at[0];
        at += item;
    }
    return '\0';
}

static bool lists(const char *features, const char *name)
{
    return sign_in(features, name) == '+';
}

/* To ask the inliner takes a millisecond. */
bool jit_cpu_has(LLVMTargetMachineRef machine, const struct jit_cpu *cpu, const char *feature)
{
    const struct side side = {cpu->name, cpu->features};
    char sign = sign_in(cpu->features, feature);
    return sign != '\0' ? sign == '+' : has_feature(machine, &side, feature);
}

/* ---- the widest vectors ---- */

/* AVX-512 without BW and VL has masks neither for bytes nor for narrower registers, and AVX alone
 * no integers. AArch64: NEON's, also where SVE is there, as code is made for a fixed width. */
static const char *const wide_features[] = {"avx512f", "avx512vl", "avx512bw", "avx512dq", "avx2"};
enum { WIDE_COUNT = 5 };

static unsigned widest_vector_bits(const char *features)
{
    bool has_512 = true;
    for (int i = 0; i < WIDE_COUNT - 1; i++)
        has_512 = has_512 && lists(features, wide_features[i]);
    return has_512 ? 512 : lists(features, wide_features[WIDE_COUNT - 1]) ? 256 : 128;
}

/* ---- names ---- */

static bool is_known(const char *name)
{
    static const char *const names[] = {
#define CPU(name) name,
#include "jit/cpu_names.def"
#undef CPU
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Whether only operating systems, or programs by name, use it: code of kernels does not. Virtual
 * machines often hide such features. */
static bool is_of_system(const char *feature)
{
    static const char *const features[] = {
        "cldemote",  "clflushopt", "clwb",    "clzero",   "enqcmd",  "fsgsbase",
        "invpcid",   "movdir64b",  "movdiri", "mwaitx",   "pconfig", "pku",
        "ptwrite",   "rdpid",      "rdpru",   "rdrnd",    "rdseed",  "rtm",
        "serialize", "sgx",        "shstk",   "tsxldtrk", "uintr",   "waitpkg",
        "wbnoinvd",  "xsave",      "xsavec",  "xsaveopt", "xsaves"};
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++)
        if (strcmp(features[i], feature) == 0)
            return true;
    return false;
}

/* Fails if the host lacks a feature that the CPU has: of those in a list, "-<feature>". (The
 * inliner also considers what is good for a CPU, so that its no is not the last word.) */
static enum pxr_status check_features(LLVMTargetMachineRef machine, const char *name,
                                      const struct side *host, const char *list,
                                      struct pxr_error *err)
{
    const struct side wanted = {name, ALWAYS};
    for (const char *at = list; *at != '\0'; at += *at == ',') {
        size_t len = strcspn(at, ",");
        char feature[FEATURE_BYTES];
        if (at[0] == '-' && len < sizeof feature) {
            snprintf(feature, sizeof feature, "%.*s", (int)len - 1, at + 1);
            if (!is_of_system(feature) && has_feature(machine, &wanted, feature) &&
                !has_feature(machine, host, feature))
                return pxr_fail(err, PXR_COMPILE_FAILED,
                                "this machine cannot run code for CPU '%s' (option cpu): it lacks "
                                "'%s'",
                                name, feature);
        }
        at += len;
    }
    return PXR_OK;
}

static enum pxr_status check_named(LLVMTargetMachineRef machine, const char *name,
                                   const struct side *host, struct pxr_error *err)
{
    const struct side wanted = {name, ALWAYS};
    if (!is_known(name))
        return pxr_fail(err, PXR_COMPILE_FAILED, "LLVM knows no CPU '%s' (option cpu)", name);
    if (can_run(machine, host, &wanted))
        return PXR_OK;
    enum pxr_status status = check_features(machine, name, host, host->features, err);
    return status == PXR_OK ? check_features(machine, name, host, UNLISTED, err) : status;
}

/* Lists the features that this machine always has, and those of the CPU that make vectors wide: as
 * complete as the host's list for all that is looked up in it. */
static void list_features(LLVMTargetMachineRef machine, const char *name, char *list, size_t bytes)
{
    const struct side cpu = {name, ALWAYS};
    snprintf(list, bytes, "%s", ALWAYS);
    for (int i = 0; HAS_WIDE && i < WIDE_COUNT; i++)
        if (has_feature(machine, &cpu, wide_features[i])) {
            size_t len = strlen(list);
            snprintf(list + len, bytes - len, ",+%s", wide_features[i]);
        }
}

static enum pxr_status make_cpu(const char *name, const char *features, struct jit_cpu *cpu,
                                struct pxr_error *err)
{
    *cpu = (struct jit_cpu){.name = strdup(name),
                            .features = strdup(features),
                            .vector_bits = widest_vector_bits(features)};
    if (cpu->name && cpu->features)
        return PXR_OK;
    jit_cpu_fini(cpu);
    return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory to compile");
}

static enum pxr_status make_named(const char *name, const struct side *host, struct jit_cpu *cpu,
                                  struct pxr_error *err)
{
    char *triple = LLVMGetDefaultTargetTriple();
    LLVMTargetMachineRef machine =
        jit_cpu_machine(host->cpu, host->features, triple, LLVMCodeGenLevelLess);
    LLVMDisposeMessage(triple);
    if (!machine)
        return pxr_fail(err, PXR_COMPILE_FAILED, "LLVM cannot make code for this machine");
    char features[FEATURES_BYTES];
    enum pxr_status status = check_named(machine, name, host, err);
    if (status == PXR_OK) {
        list_features(machine, name, features, sizeof features);
        status = make_cpu(name, features, cpu, err);
    }
    LLVMDisposeTargetMachine(machine);
    return status;
}

enum pxr_status jit_cpu_named(const char *name, struct jit_cpu *cpu, struct pxr_error *err)
{
    *cpu = (struct jit_cpu){0};
    char *host_name = LLVMGetHostCPUName();
    char *host_features = LLVMGetHostCPUFeatures();
    const struct side host = {host_name, host_features};
    enum pxr_status status = name[0] == '\0' ? make_cpu(host_name, host_features, cpu, err)
                                             : make_named(name, &host, cpu, err);
    LLVMDisposeMessage(host_features);
    LLVMDisposeMessage(host_name);
    return status;
}

void jit_cpu_fini(struct jit_cpu *cpu)
{
    free(cpu->name);
    free(cpu->features);
    *cpu = (struct jit_cpu){0};
}

/* ---- the process's ---- */

/* Written once under `once`, then constant. */
static struct {
    pthread_once_t once;
    enum pxr_status status;
    struct jit_cpu cpu;
    struct pxr_error error; /* if it is not PXR_OK */
} chosen = {.once = PTHREAD_ONCE_INIT};

static void choose(void)
{
    chosen.status = jit_cpu_named(pxr_option_cpu(), &chosen.cpu, &chosen.error);
}

enum pxr_status jit_cpu_chosen(const struct jit_cpu **cpu, struct pxr_error *err)
{
    pthread_once(&chosen.once, choose);
    *cpu = &chosen.cpu;
    return chosen.status == PXR_OK ? PXR_OK
                                   : pxr_fail(err, chosen.status, "%s", chosen.error.message);
}

LLVMTargetMachineRef jit_cpu_machine(const char *name, const char *features, const char *triple,
                                     LLVMCodeGenOptLevel level)
{
    char *message = NULL;
    LLVMTargetRef target;
    if (LLVMGetTargetFromTriple(triple, &target, &message)) {
        LLVMDisposeMessage(message);
        return NULL;
    }
    LLVMTargetMachineOptionsRef options = LLVMCreateTargetMachineOptions();
    LLVMTargetMachineOptionsSetCPU(options, name);
    LLVMTargetMachineOptionsSetFeatures(options, features);
    LLVMTargetMachineOptionsSetCodeGenOptLevel(options, level);
    LLVMTargetMachineOptionsSetRelocMode(options, LLVMRelocPIC);
    LLVMTargetMachineOptionsSetCodeModel(options, LLVMCodeModelSmall);
    LLVMTargetMachineRef machine = LLVMCreateTargetMachineWithOptions(target, triple, options);
    LLVMDisposeTargetMachineOptions(options);
    return machine;
}
