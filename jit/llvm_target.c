/* SPDX-License-Identifier: Apache-2.0
 *
 * Target machine for the chosen CPU. LLVM's default for fusing (FPOpFusion::Standard) contracts
 * only what is marked `contract` or is llvm.fmuladd, and the translator makes neither: a product
 * and a sum stay two roundings.
 */
#include "jit/llvm_target.h"

#include <llvm-c/Core.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include "jit/cpu.h"
#include "util/caches.h"
#include "util/options.h"

static pthread_once_t targets_once = PTHREAD_ONCE_INIT;

/* Targets not in use, at most as many as threads ever compiled at once. They stay. */
static struct {
    pthread_mutex_t lock;
    struct jit_target *head; /* guarded by lock */
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Switches that only LLVM's command line has. This LLVM is a private copy, so they are nobody
 * else's. Loops over the threads of a block are short: a second vector loop for what the first
 * leaves over, or several iterations side by side, make more code than they save time
 * (docs/measurements.md). Loop strength reduction takes a sixth of all compile time, for no gain
 * that could be measured. The three after it bound what grows faster than the code: CodeGenPrepare
 * visits only what has changed in functions of that many blocks, the register allocator gives up
 * splitting a value around regions after so many edges, and gvn looks for an earlier access to the
 * same memory in so many blocks before it. Where variables are is not followed:
 * there are none, and looking for them took a twentieth of code generation, a fifth in long
 * functions. An index of names would be larger than what it indexes, and GDB takes it for complete.
 */
static void set_switches(void)
{
    static const char *const switches[] = {"ptxrun",
                                           "-enable-epilogue-vectorization=false",
                                           "-force-vector-interleave=1",
                                           "-disable-lsr",
                                           "-cgpp-huge-func=100",
                                           "-grow-region-complexity-budget=500",
                                           "-memdep-block-number-limit=40",
                                           "-experimental-debug-variable-locations=false",
                                           "-accel-tables=Disable"};
    LLVMParseCommandLineOptions(sizeof switches / sizeof switches[0], switches, "");
}

static void register_targets(void)
{
    set_switches();
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMInitializeNativeAsmParser();
}

/* MXCSR's modes are what sm_90 does, bit for bit: both look at results after rounding with an
 * exponent of any size. AArch64's FZ looks before rounding (docs/hardware.md). */
static bool flushes_as_ptx(void)
{
#if defined(__x86_64__)
    return true;
#else
    return false;
#endif
}

/* AArch64 with LSE2 has a pair load for it, if LLVM knows that, too; x86-64 gets a load without
 * asking what LLVM believes of the processor (translator/module/whole_accesses.c). */
static bool has_whole_loads(LLVMTargetMachineRef machine, const struct jit_cpu *cpu)
{
#if defined(__aarch64__)
    return (getauxval(AT_HWCAP) & HWCAP_USCAT) != 0 && jit_cpu_has(machine, cpu, "lse2");
#else
    (void)machine;
    (void)cpu;
    return false;
#endif
}

/* A virtual machine may see a cache that it shares with others: no processor has more than so much
 * of it for each CPU. */
#define CACHE_OF_CPU_BYTES     (UINT64_C(16) << 20)
#define CACHE_IF_UNKNOWN_BYTES (UINT64_C(32) << 20)

/* Code for a CPU that was named is the same wherever it is made: it knows nothing of this machine.
 */
static void find_cache(struct tr_target *target)
{
    if (*pxr_option_cpu()) {
        target->cache_bytes = target->cache_share_bytes = CACHE_IF_UNKNOWN_BYTES;
        return;
    }
    uint64_t bytes = pxr_last_cache_bytes();
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t most = CACHE_OF_CPU_BYTES * (cpus > 0 ? (uint64_t)cpus : 1);
    target->cache_bytes = bytes > 0 ? bytes : CACHE_IF_UNKNOWN_BYTES;
    target->cache_share_bytes = target->cache_bytes < most ? target->cache_bytes : most;
}

static void destroy_target(struct jit_target *target)
{
    if (target->machine)
        LLVMDisposeTargetMachine(target->machine);
    if (target->quick)
        LLVMDisposeTargetMachine(target->quick);
    LLVMDisposeMessage(target->triple);
    LLVMDisposeMessage(target->data_layout);
    free(target);
}

static enum pxr_status init_target(struct jit_target *target, struct pxr_error *err)
{
    target->triple = LLVMGetDefaultTargetTriple();
    const struct jit_cpu *cpu;
    enum pxr_status status = jit_cpu_chosen(&cpu, err);
    if (status != PXR_OK)
        return status;
    target->cpu = tr_target_find(cpu->name, cpu->vector_bits);
    find_cache(&target->cpu);
    target->machine =
        jit_cpu_machine(cpu->name, cpu->features, target->triple, LLVMCodeGenLevelLess);
    if (!target->machine)
        return pxr_fail(err, PXR_COMPILE_FAILED, "LLVM cannot make code for '%s'", target->triple);
    /* Only where there may be any: LLVM prints features that it does not know of a processor. */
    if (target->cpu.gains_bf16_dots)
        target->cpu.gains_bf16_dots = jit_cpu_has(target->machine, cpu, "avx512bf16");
    target->flushes_as_ptx = flushes_as_ptx();
    target->has_whole_loads = has_whole_loads(target->machine, cpu);
    LLVMTargetDataRef data = LLVMCreateTargetDataLayout(target->machine);
    target->data_layout = LLVMCopyStringRepOfTargetData(data);
    LLVMDisposeTargetData(data);
    return PXR_OK;
}

LLVMTargetMachineRef jit_target_quick(struct jit_target *target)
{
    if (target->quick)
        return target->quick;
    char *cpu = LLVMGetTargetMachineCPU(target->machine);
    char *features = LLVMGetTargetMachineFeatureString(target->machine);
    target->quick = jit_cpu_machine(cpu, features, target->triple, LLVMCodeGenLevelNone);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    return target->quick;
}

enum pxr_status jit_target_acquire(struct jit_target **target, struct pxr_error *err)
{
    pthread_once(&targets_once, register_targets);
    pthread_mutex_lock(&pool.lock);
    struct jit_target *found = pool.head;
    if (found)
        pool.head = found->next;
    pthread_mutex_unlock(&pool.lock);
    *target = found;
    if (found)
        return PXR_OK;
    found = calloc(1, sizeof *found);
    if (!found)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory to compile");
    enum pxr_status status = init_target(found, err);
    if (status == PXR_OK)
        *target = found;
    else
        destroy_target(found);
    return status;
}

void jit_target_release(struct jit_target *target)
{
    if (!target)
        return;
    pthread_mutex_lock(&pool.lock);
    target->next = pool.head;
    pool.head = target;
    pthread_mutex_unlock(&pool.lock);
}

/* ---- in words ---- */

/* A list without what the CPU lacks: the length of that list is LLVM's affair. */
static void print_features(FILE *out, const char *features)
{
    for (const char *at = features; *at != '\0'; at += *at == ',') {
        size_t len = strcspn(at, ",");
        if (at[0] == '+')
            fprintf(out, " %.*s", (int)len, at);
        at += len;
    }
}

static void print_target(FILE *out, const struct jit_target *target, const struct jit_cpu *cpu)
{
    fprintf(out, "%s\n%s\n", target->triple, target->data_layout);
    fprintf(out, "cpu %s family %s vectors %u whole loads %d cache %llu share %llu\n",
            pxr_option_cpu(), target->cpu.family, cpu->vector_bits, target->has_whole_loads,
            (unsigned long long)target->cpu.cache_bytes,
            (unsigned long long)target->cpu.cache_share_bytes);
    print_features(out, cpu->features);
}

enum pxr_status jit_target_describe(char **text, struct pxr_error *err)
{
    struct jit_target *target;
    const struct jit_cpu *cpu;
    size_t len;
    enum pxr_status status = jit_target_acquire(&target, err);
    if (status == PXR_OK)
        status = jit_cpu_chosen(&cpu, err);
    FILE *out = status == PXR_OK ? open_memstream(text, &len) : NULL;
    if (out)
        print_target(out, target, cpu);
    if (status == PXR_OK && (!out || fclose(out) != 0))
        status = pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory to describe the CPU");
    jit_target_release(target);
    return status;
}

static void set_attribute(LLVMValueRef fn, const char *key, const char *value)
{
    LLVMContextRef ctx = LLVMGetModuleContext(LLVMGetGlobalParent(fn));
    LLVMAddAttributeAtIndex(
        fn, LLVMAttributeFunctionIndex,
        LLVMCreateStringAttribute(ctx, key, (unsigned)strlen(key), value, (unsigned)strlen(value)));
}

static void set_enum_attribute(LLVMValueRef fn, const char *key)
{
    LLVMContextRef ctx = LLVMGetModuleContext(LLVMGetGlobalParent(fn));
    unsigned kind = LLVMGetEnumAttributeKindForName(key, strlen(key));
    LLVMAddAttributeAtIndex(fn, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(ctx, kind, 0));
}

/* A function's own CPU would override the target machine's, and keep it from being inlined. */
static void prepare_function(const struct jit_target *target, LLVMValueRef fn)
{
    static const char *const foreign[] = {"target-cpu", "target-features", "tune-cpu",
                                          "frame-pointer"};
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        LLVMRemoveStringAttributeAtIndex(fn, LLVMAttributeFunctionIndex, foreign[i],
                                         (unsigned)strlen(foreign[i]));
    const char *bits = target->cpu.vector_bits == 512   ? "512"
                       : target->cpu.vector_bits == 256 ? "256"
                                                        : "128";
    set_attribute(fn, "prefer-vector-width", bits);
    set_attribute(fn, "min-legal-vector-width", bits);
    /* A frame larger than the stack's guard page must not step over it. */
    set_attribute(fn, "probe-stack", "inline-asm");
    /* No unwinding through generated code: no .eh_frame. */
    set_enum_attribute(fn, "nounwind");
    LLVMRemoveEnumAttributeAtIndex(fn, LLVMAttributeFunctionIndex,
                                   LLVMGetEnumAttributeKindForName("uwtable", 7));
}

/* A PTX function or constant called `memcpy` or `fmod` is not the C library's: neither LLVM's
 * knowledge of that name nor a library call it makes up may meet it. */
static void hide_name(LLVMValueRef global)
{
    size_t len;
    const char *name = LLVMGetValueName2(global, &len);
    char hidden[512];
    LLVMLinkage linkage = LLVMGetLinkage(global);
    if ((linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage) || len == 0 ||
        len > sizeof hidden - 5 || memcmp(name, "rt_", len < 3 ? len : 3) == 0 ||
        memchr(name, '.', len))
        return;
    memcpy(hidden, "ptx.", 4);
    memcpy(hidden + 4, name, len);
    LLVMSetValueName2(global, hidden, len + 4);
}

void jit_target_prepare(const struct jit_target *target, LLVMModuleRef module)
{
    LLVMSetTarget(module, target->triple);
    LLVMSetDataLayout(module, target->data_layout);
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn)) {
        if (LLVMIsDeclaration(fn))
            continue;
        prepare_function(target, fn);
        hide_name(fn);
    }
    for (LLVMValueRef var = LLVMGetFirstGlobal(module); var; var = LLVMGetNextGlobal(var))
        hide_name(var);
}
