/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that a kernel only writes: which stores are marked, for which launches they go past the
 * caches, and that a function with such stores has a fence at each of its ends.
 */
#include <criterion/criterion.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>

#include "kernel_abi/rt.h"
#include "translator/collapse/tuning/nontemporal.h"
#include "translator/module/marks.h"

#define CACHE_BYTES 4096
#define SHARE_BYTES 1024

/* Parameters are three addresses. */
#define BEGIN BEGIN_FROM("loop")
#define BEGIN_FROM(latch)                                                                          \
    "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-"        \
    "n8:16:32:64-S128\"\n"                                                                         \
    "define void @kernel(ptr %block, i32 %count) {\n"                                              \
    "  %launch = load ptr, ptr %block, !invariant.load !0\n"                                       \
    "  %params = load ptr, ptr %launch, !invariant.load !0\n"                                      \
    "  %a = load i64, ptr %params, !invariant.load !0\n"                                           \
    "  %at.b = getelementptr i8, ptr %params, i64 8\n"                                             \
    "  %b = load i64, ptr %at.b, !invariant.load !0\n"                                             \
    "  %at.c = getelementptr i8, ptr %params, i64 16\n"                                            \
    "  %c = load ptr, ptr %at.c, !invariant.load !0\n"                                             \
    "  %pa = inttoptr i64 %a to ptr\n"                                                             \
    "  %b4 = add i64 %b, 4\n"                                                                      \
    "  %pb = inttoptr i64 %b4 to ptr\n"                                                            \
    "  br label %loop\n"                                                                           \
    "loop:\n"                                                                                      \
    "  %i = phi i64 [0, %0], [%i1, %" latch "]\n"                                                  \
    "  %pc = getelementptr i32, ptr %c, i64 %i\n"                                                  \
    "  %v = load i32, ptr %pa\n"
#define END                                                                                        \
    "  %i1 = add i64 %i, 1\n"                                                                      \
    "  %again = icmp ult i64 %i1, 4\n"                                                             \
    "  br i1 %again, label %loop, label %end\n"                                                    \
    "end:\n  ret void\n}\n!0 = !{}\n"

static LLVMContextRef context;
static LLVMModuleRef module;
static LLVMValueRef function;

static void parse(const char *text)
{
    char *message = NULL;
    context = LLVMContextCreate();
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "test.ll");
    cr_assert(!LLVMParseIRInContext2(context, buffer, &module, &message), "%s", message);
    LLVMDisposeMemoryBuffer(buffer);
    function = LLVMGetNamedFunction(module, "kernel");
}

static void forget(void)
{
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

static unsigned count_if(bool (*is_it)(LLVMValueRef))
{
    unsigned count = 0;
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != NULL;
             inst = LLVMGetNextInstruction(inst))
            count += is_it(inst);
    return count;
}

static bool is_marked(LLVMValueRef inst)
{
    return tr_is_marked(inst, TR_MARK_NONTEMPORAL);
}

static bool is_fence(LLVMValueRef inst)
{
    return LLVMIsAFenceInst(inst) != NULL;
}

static struct tr_streaming mark(void)
{
    struct tr_streaming streaming = {0};
    cr_assert_eq(tr_mark_streams(function, CACHE_BYTES, SHARE_BYTES, &streaming, NULL), PXR_OK);
    return streaming;
}

static unsigned marked(const char *text)
{
    parse(text);
    struct tr_streaming streaming = mark();
    unsigned count = count_if(is_marked);
    cr_expect_eq(count > 0, streaming.of_all != NULL);
    cr_expect_eq(count > 0, streaming.of_rows != NULL);
    forget();
    return count;
}

Test(nontemporal, stores_to_a_parameter_that_nothing_is_read_from_are_marked)
{
    cr_expect_eq(marked(BEGIN "  store i32 %v, ptr %pc\n" END), 1);
    cr_expect_eq(marked(BEGIN "  %pbi = getelementptr i32, ptr %pb, i64 %i\n"
                              "  store i32 %v, ptr %pc\n  store i32 %v, ptr %pbi\n" END),
                 2);
    cr_expect_eq(marked(BEGIN "  %p = select i1 true, ptr %pc, ptr %c\n"
                              "  store i32 %v, ptr %p\n" END),
                 1);
}

Test(nontemporal, what_a_loop_goes_on_writing_to_is_not_marked)
{
    cr_expect_eq(marked(BEGIN "  store i32 %v, ptr %pb\n" END), 0);
    cr_expect_eq(marked(BEGIN "  store i32 %v, ptr %pc\n  store i32 %v, ptr %pb\n" END), 1);
    cr_expect_eq(
        marked(BEGIN_FROM("latch") "  br label %turn\nturn:\n"
                                   "  %k = phi i64 [0, %loop], [%k1, %turn]\n"
                                   "  store i32 %v, ptr %pc\n  %k1 = add i64 %k, 1\n"
                                   "  %more = icmp ult i64 %k1, 4\n"
                                   "  br i1 %more, label %turn, label %latch\nlatch:\n"
                                   "  %i1 = add i64 %i, 1\n  %again = icmp ult i64 %i1, 4\n"
                                   "  br i1 %again, label %loop, label %end\n"
                                   "end:\n  ret void\n}\n!0 = !{}\n"),
        0);
}

Test(nontemporal, what_is_read_as_well_is_not_marked)
{
    cr_expect_eq(marked(BEGIN "  store i32 %v, ptr %pa\n" END), 0);
    cr_expect_eq(marked(BEGIN "  store i32 %v, ptr %pa\n  store i32 %v, ptr %pc\n" END), 1);
}

Test(nontemporal, memory_of_the_block_is_not_marked_and_does_not_matter)
{
    cr_expect_eq(marked(BEGIN "  %at = getelementptr i8, ptr %block, i64 8\n"
                              "  %shared = load ptr, ptr %at\n"
                              "  %ps = getelementptr i32, ptr %shared, i64 %i\n"
                              "  store i32 %v, ptr %ps\n  %s = load i32, ptr %ps\n"
                              "  store i32 %s, ptr %pc\n" END),
                 1);
}

Test(nontemporal, nothing_is_marked_if_an_address_may_come_from_anywhere)
{
    cr_expect_eq(marked(BEGIN "  %p = load ptr, ptr %pb\n  %w = load i32, ptr %p\n"
                              "  store i32 %w, ptr %pc\n" END),
                 0);
    cr_expect_eq(marked(BEGIN "  %is = icmp eq i64 %i, 1\n"
                              "  %p = select i1 %is, ptr %pc, ptr %pb\n"
                              "  store i32 %v, ptr %p\n" END),
                 0);
}

/* ---- for which launches ---- */

struct run {
    struct rt_block block;
    uint8_t of_rows;
    uint8_t of_all;
};

static void note(LLVMBuilderRef b, LLVMValueRef flag, size_t offset)
{
    LLVMTypeRef i8 = LLVMInt8TypeInContext(context);
    LLVMValueRef index = LLVMConstInt(LLVMInt64TypeInContext(context), offset, false);
    LLVMValueRef at = LLVMBuildGEP2(b, i8, LLVMGetParam(function, 0), &index, 1, "");
    LLVMBuildStore(b, LLVMBuildZExt(b, flag, i8, ""), at);
}

typedef void (*kernel_fn)(struct rt_block *block, uint32_t count);

/* One thread writes 4 bytes to c. */
static kernel_fn compile(LLVMOrcLLJITRef *jit)
{
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    parse(BEGIN "  store i32 %v, ptr %pc\n" END);
    struct tr_streaming streaming = mark();
    LLVMBuilderRef b = LLVMCreateBuilderInContext(context);
    LLVMPositionBuilderBefore(b, LLVMGetBasicBlockTerminator(LLVMGetEntryBasicBlock(function)));
    note(b, streaming.of_rows, offsetof(struct run, of_rows));
    note(b, streaming.of_all, offsetof(struct run, of_all));
    LLVMDisposeBuilder(b);
    cr_assert_null(LLVMOrcCreateLLJIT(jit, NULL));
    LLVMOrcThreadSafeContextRef safe = LLVMOrcCreateNewThreadSafeContextFromLLVMContext(context);
    LLVMOrcThreadSafeModuleRef owned = LLVMOrcCreateNewThreadSafeModule(module, safe);
    cr_assert_null(LLVMOrcLLJITAddLLVMIRModule(*jit, LLVMOrcLLJITGetMainJITDylib(*jit), owned));
    LLVMOrcDisposeThreadSafeContext(safe);
    LLVMOrcExecutorAddress address = 0;
    cr_assert_null(LLVMOrcLLJITLookup(*jit, &address, "kernel"));
    return (kernel_fn)address;
}

static int32_t in_array[8], out_array[8];

static struct run run(kernel_fn kernel, const uint32_t grid[3], const uint32_t block[3],
                      void *written)
{
    void *params[3] = {in_array, in_array, written};
    struct rt_launch launch = {.params = (const uint8_t *)params};
    memcpy(launch.grid, grid, sizeof launch.grid);
    memcpy(launch.block, block, sizeof launch.block);
    struct run run = {.block = {.launch = &launch}};
    kernel(&run.block, 1);
    return run;
}

Test(nontemporal, launches_that_write_more_than_half_of_a_cache_are_told_from_others)
{
    static const struct {
        uint32_t grid[3], block[3];
        bool of_rows, of_all;
    } launches[] = {
        {{1, 1, 1}, {128, 1, 1}, false, false}, /* 512 bytes */
        {{1, 1, 1}, {129, 1, 1}, true, false},
        {{16, 1, 1}, {16, 2, 1}, true, false}, /* 2048 bytes */
        {{19, 3, 3}, {3, 1, 1}, true, true},
        {{1, 1, 1}, {1, 1, 1}, false, false},
        {{2147483647, 65535, 65535}, {1024, 1, 1}, true, true},
        {{1u << 30, 1u << 15, 1u << 15}, {1024, 1, 1}, true, true},
    };
    LLVMOrcLLJITRef jit;
    kernel_fn kernel = compile(&jit);
    for (size_t i = 0; i < sizeof launches / sizeof launches[0]; i++) {
        struct run seen = run(kernel, launches[i].grid, launches[i].block, out_array);
        cr_expect_eq(seen.of_rows, launches[i].of_rows, "launch %zu", i);
        cr_expect_eq(seen.of_all, launches[i].of_all, "launch %zu", i);
    }
    LLVMOrcDisposeLLJIT(jit);
}

Test(nontemporal, a_launch_that_reads_and_writes_the_same_array_keeps_it_in_the_caches)
{
    static const uint32_t grid[3] = {1000, 1, 1}, block[3] = {64, 1, 1};
    LLVMOrcLLJITRef jit;
    kernel_fn kernel = compile(&jit);
    struct run seen = run(kernel, grid, block, in_array);
    cr_expect(!seen.of_rows && !seen.of_all);
    seen = run(kernel, grid, block, out_array);
    cr_expect(seen.of_rows && seen.of_all);
    LLVMOrcDisposeLLJIT(jit);
}

/* ---- fences ---- */

static unsigned fences(const char *text)
{
    parse(text);
    LLVMValueRef yes = LLVMConstInt(LLVMInt1TypeInContext(context), 1, false);
    tr_end_streams(function, &(struct tr_streaming){yes, yes});
    unsigned count = count_if(is_fence);
    forget();
    return count;
}

Test(nontemporal, every_end_of_a_function_that_stores_past_the_caches_has_a_fence)
{
    cr_expect_eq(fences("define void @kernel(ptr %p, i1 %c) {\n  br i1 %c, label %a, label %b\n"
                        "a:\n  store i32 1, ptr %p, !nontemporal !0\n  ret void\n"
                        "b:\n  ret void\n}\n!0 = !{i32 1}\n"),
                 2);
    cr_expect_eq(fences("define void @kernel(ptr %p) {\n  store i32 1, ptr %p\n  ret void\n}\n"),
                 0);
}

/* ---- who may ask for order ---- */

static bool has_private_order(const char *inst)
{
    char text[1024];
    snprintf(text, sizeof text,
             "declare void @rt_bar_sync(ptr, i32, i32)\ndeclare void @rt_poll(ptr)\n"
             "declare void @outside()\ndeclare void @rt_exit(ptr)\n"
             "define void @kernel(ptr %%p) {\n  %%v = load i32, ptr %%p\n  %s\n"
             "  store i32 %%v, ptr %%p\n  ret void\n}\n",
             inst);
    parse(text);
    bool is_private = tr_has_private_order(function);
    forget();
    return is_private;
}

Test(nontemporal, kernels_in_which_a_block_may_tell_another_keep_their_order)
{
    cr_expect(has_private_order(""));
    cr_expect(has_private_order("call void @rt_bar_sync(ptr %p, i32 0, i32 0)"));
    cr_expect(has_private_order("call void @rt_exit(ptr %p)"));
    cr_expect(!has_private_order("fence seq_cst"));
    cr_expect(!has_private_order("store volatile i32 1, ptr %p"));
    cr_expect(!has_private_order("%w = load atomic i32, ptr %p acquire, align 4"));
    cr_expect(!has_private_order("%w = atomicrmw add ptr %p, i32 1 monotonic"));
    cr_expect(!has_private_order("call void @rt_poll(ptr %p)"));
    cr_expect(!has_private_order("call void @outside()"));
}
