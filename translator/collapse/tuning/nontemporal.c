/* SPDX-License-Identifier: Apache-2.0
 *
 * Which stores of a kernel write memory that it does not read: by the parameter that an address is
 * made from. This decides how fast stores are, not whether they are right, so that a guess is good
 * enough: addresses of two parameters are taken to be apart if the parameters differ.
 */
#include "translator/collapse/tuning/nontemporal.h"

#include <stddef.h>
#include <string.h>

#include <llvm-c/Core.h>

#include "translator/analysis/calls.h"
#include "translator/collapse/fuse.h"
#include "translator/module/marks.h"
#include "translator/module/sregs.h"

/* ---- the order of accesses ---- */

static bool is_ordered_access(LLVMValueRef inst)
{
    if (LLVMIsALoadInst(inst) == NULL && LLVMIsAStoreInst(inst) == NULL)
        return LLVMIsAAtomicRMWInst(inst) != NULL || LLVMIsAAtomicCmpXchgInst(inst) != NULL ||
               LLVMIsAFenceInst(inst) != NULL;
    return LLVMGetVolatile(inst) || LLVMGetOrdering(inst) != LLVMAtomicOrderingNotAtomic;
}

/* Stops are within the block, but for those that give way to other blocks. */
static bool is_quiet_call(LLVMValueRef call)
{
    bool is_intrinsic = strncmp(tr_callee_name(call), "llvm.", 5) == 0;
    if (tr_effect_of_call(call) == RT_EFFECT_ANY)
        return is_intrinsic || tr_sreg_of(call) != PTX_SREG_NONE;
    return tr_placeholder_info(call)->waits != RT_WAITS_ANYBODY;
}

static bool is_quiet(LLVMValueRef inst)
{
    return !is_ordered_access(inst) && (LLVMIsACallInst(inst) == NULL || is_quiet_call(inst));
}

bool tr_has_private_order(LLVMValueRef kernel)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(kernel); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != NULL;
             inst = LLVMGetNextInstruction(inst))
            if (!is_quiet(inst))
                return false;
    return true;
}

/* ---- what an address is made from ---- */

/* The offset of a parameter, plus 1, or … */
#define ROOT_NONE 0u         /* no address in global memory */
#define ROOT_ANY  UINT32_MAX /* several, or one from somewhere else */

#define PHIS_MAX  16
#define DEPTH_MAX 64

struct walk {
    LLVMValueRef block; /* the function's argument: struct rt_block * */
    LLVMValueRef phis[PHIS_MAX];
    uint32_t phi_count;
    uint32_t depth;
};

/* Takes constant offsets off a pointer. */
static LLVMValueRef strip(LLVMValueRef pointer, uint64_t *offset)
{
    *offset = 0;
    while (LLVMIsAGetElementPtrInst(pointer) != NULL && LLVMGetNumOperands(pointer) == 2 &&
           LLVMIsAConstantInt(LLVMGetOperand(pointer, 1)) != NULL &&
           LLVMGetGEPSourceElementType(pointer) ==
               LLVMInt8TypeInContext(LLVMGetTypeContext(LLVMTypeOf(pointer)))) {
        *offset += LLVMConstIntGetZExtValue(LLVMGetOperand(pointer, 1));
        pointer = LLVMGetOperand(pointer, 0);
    }
    return pointer;
}

/* Whether the value is loaded from a record at *base, which many places do. */
static bool is_field(LLVMValueRef value, size_t offset, LLVMValueRef *base)
{
    uint64_t found;
    if (LLVMIsALoadInst(value) == NULL)
        return false;
    *base = strip(LLVMGetOperand(value, 0), &found);
    return found == offset;
}

static bool is_launch(const struct walk *walk, LLVMValueRef pointer)
{
    LLVMValueRef base;
    return is_field(pointer, offsetof(struct rt_block, launch), &base) && base == walk->block;
}

static uint32_t root_of_load(const struct walk *walk, LLVMValueRef load)
{
    uint64_t offset;
    LLVMValueRef launch;
    LLVMValueRef base = strip(LLVMGetOperand(load, 0), &offset);
    if (is_field(base, offsetof(struct rt_launch, params), &launch) && is_launch(walk, launch))
        return offset < ROOT_ANY - 1 ? (uint32_t)offset + 1 : ROOT_ANY;
    if (base == walk->block || is_launch(walk, base))
        return ROOT_NONE; /* shared memory, the block's frame */
    if (is_field(base, offsetof(struct rt_launch, slots), &launch) && is_launch(walk, launch))
        return ROOT_NONE; /* a variable of the module */
    return ROOT_ANY;
}

static uint32_t joined(uint32_t a, uint32_t b)
{
    return a == ROOT_NONE || a == b ? b : b == ROOT_NONE ? a : ROOT_ANY;
}

static uint32_t root_of(struct walk *walk, LLVMValueRef value);

static uint32_t root_of_operands(struct walk *walk, LLVMValueRef inst, unsigned first)
{
    uint32_t root = ROOT_NONE;
    unsigned count = (unsigned)LLVMGetNumOperands(inst);
    for (unsigned i = first; i < count && root != ROOT_ANY; i++)
        root = joined(root, root_of(walk, LLVMGetOperand(inst, i)));
    return root;
}

static uint32_t root_of_phi(struct walk *walk, LLVMValueRef phi)
{
    for (uint32_t i = 0; i < walk->phi_count; i++)
        if (walk->phis[i] == phi)
            return ROOT_NONE;
    if (walk->phi_count == PHIS_MAX)
        return ROOT_ANY;
    walk->phis[walk->phi_count++] = phi;
    return root_of_operands(walk, phi, 0);
}

static uint32_t root_of_inst(struct walk *walk, LLVMValueRef inst)
{
    uint32_t root;
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMLoad:
        return root_of_load(walk, inst);
    case LLVMPHI:
        return root_of_phi(walk, inst);
    case LLVMGetElementPtr:
        root = root_of(walk, LLVMGetOperand(inst, 0));
        return root != ROOT_NONE ? root : root_of_operands(walk, inst, 1);
    case LLVMAdd:
    case LLVMSub:
    case LLVMOr:
    case LLVMAnd:
    case LLVMIntToPtr:
    case LLVMPtrToInt:
    case LLVMFreeze:
        return root_of_operands(walk, inst, 0);
    case LLVMSelect:
        return root_of_operands(walk, inst, 1);
    case LLVMCall:
        return ROOT_ANY;
    default:
        return ROOT_NONE;
    }
}

/* Numbers of fewer than 64 bits are no addresses. */
static uint32_t root_of(struct walk *walk, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    bool is_wide =
        LLVMGetTypeKind(type) == LLVMPointerTypeKind ||
        (LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 64);
    if (!is_wide || LLVMIsAInstruction(value) == NULL)
        return ROOT_NONE;
    if (walk->depth == DEPTH_MAX)
        return ROOT_ANY;
    walk->depth++;
    uint32_t root = root_of_inst(walk, value);
    walk->depth--;
    return root;
}

/* ---- what the kernel does with the memory of a parameter ---- */

#define ROOTS_MAX 16

struct streams {
    LLVMValueRef function;
    uint32_t count;
    struct {
        uint32_t root;
        bool is_read;
        uint64_t written_bytes; /* by a thread */
    } roots[ROOTS_MAX];
    bool is_unknown; /* something is read that may be anywhere, or there are too many */
};

static void note(struct streams *streams, uint32_t root, uint64_t read_bytes,
                 uint64_t written_bytes)
{
    uint32_t i = 0;
    if (root == ROOT_NONE)
        return;
    while (i < streams->count && streams->roots[i].root != root)
        i++;
    if (root == ROOT_ANY || i == ROOTS_MAX) {
        streams->is_unknown = true;
        return;
    }
    if (i == streams->count)
        streams->roots[streams->count++].root = root;
    streams->roots[i].is_read |= read_bytes > 0;
    streams->roots[i].written_bytes += written_bytes;
}

static uint32_t root_of_address(const struct streams *streams, LLVMValueRef address)
{
    struct walk walk = {.block = LLVMGetParam(streams->function, 0)};
    return root_of(&walk, address);
}

static uint64_t size_of(const struct streams *streams, LLVMTypeRef type)
{
    LLVMModuleRef module = LLVMGetGlobalParent(streams->function);
    return LLVMStoreSizeOfType(LLVMGetModuleDataLayout(module), type);
}

static void look_at(struct streams *streams, LLVMValueRef inst)
{
    if (LLVMIsAStoreInst(inst) != NULL)
        note(streams, root_of_address(streams, LLVMGetOperand(inst, 1)), 0,
             size_of(streams, LLVMTypeOf(LLVMGetOperand(inst, 0))));
    else if (LLVMIsALoadInst(inst) != NULL && !tr_is_invariant_load(inst))
        note(streams, root_of_address(streams, LLVMGetOperand(inst, 0)),
             size_of(streams, LLVMTypeOf(inst)), 0);
}

static void look_at_all(struct streams *streams)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(streams->function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != NULL;
             inst = LLVMGetNextInstruction(inst))
            look_at(streams, inst);
}

static bool is_stream(const struct streams *streams, uint32_t root)
{
    for (uint32_t i = 0; i < streams->count; i++)
        if (streams->roots[i].root == root)
            return !streams->roots[i].is_read && streams->roots[i].written_bytes > 0;
    return false;
}

static void mark_stores(const struct streams *streams)
{
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(streams->function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != NULL;
             inst = LLVMGetNextInstruction(inst))
            if (LLVMIsAStoreInst(inst) != NULL &&
                is_stream(streams, root_of_address(streams, LLVMGetOperand(inst, 1))))
                tr_mark(inst, TR_MARK_NONTEMPORAL);
}

/* ---- the question ---- */

/* Code in the entry block. */
struct question {
    LLVMBuilderRef builder;
    LLVMContextRef llvm;
    LLVMTypeRef i64;
    LLVMValueRef launch;
};

static LLVMValueRef i64(const struct question *question, uint64_t number)
{
    return LLVMConstInt(question->i64, number, false);
}

/* What does not change while the grid runs. */
static LLVMValueRef load(const struct question *question, LLVMTypeRef type, LLVMValueRef base,
                         uint64_t offset)
{
    static const char name[] = "invariant.load";
    LLVMValueRef index = i64(question, offset);
    LLVMTypeRef i8 = LLVMInt8TypeInContext(question->llvm);
    LLVMValueRef at = LLVMBuildGEP2(question->builder, i8, base, &index, 1, "");
    LLVMValueRef loaded = LLVMBuildLoad2(question->builder, type, at, "");
    LLVMSetAlignment(
        loaded,
        LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 32 ? 4 : 8);
    LLVMSetMetadata(
        loaded, LLVMGetMDKindIDInContext(question->llvm, name, sizeof name - 1),
        LLVMMetadataAsValue(question->llvm, LLVMMDNodeInContext2(question->llvm, NULL, 0)));
    return loaded;
}

/* The product of three numbers of the launch and a factor; not more than 2^40 of it times the next
 * number, so that nothing wraps. */
static LLVMValueRef times_shape(const struct question *question, LLVMValueRef product,
                                uint64_t offset)
{
    LLVMBuilderRef b = question->builder;
    LLVMTypeRef i32 = LLVMInt32TypeInContext(question->llvm);
    LLVMValueRef most = i64(question, UINT64_C(1) << 40);
    for (uint32_t d = 0; d < 3; d++) {
        LLVMValueRef by = load(question, i32, question->launch, offset + d * sizeof(uint32_t));
        by = LLVMBuildZExt(b, by, question->i64, "");
        product = LLVMBuildMul(b, product, by, "");
        LLVMValueRef is_less = LLVMBuildICmp(b, LLVMIntULT, product, most, "");
        product = LLVMBuildSelect(b, is_less, product, most, "");
    }
    return product;
}

static LLVMValueRef parameter(const struct question *question, uint32_t root)
{
    LLVMTypeRef ptr = LLVMPointerTypeInContext(question->llvm, 0);
    LLVMValueRef params = load(question, ptr, question->launch, offsetof(struct rt_launch, params));
    return load(question, question->i64, params, root - 1);
}

/* i1: no two of the parameters, of which one is written and one read, are the same. */
static LLVMValueRef are_apart(const struct question *question, const struct streams *streams)
{
    LLVMBuilderRef b = question->builder;
    LLVMValueRef apart = LLVMConstInt(LLVMInt1TypeInContext(question->llvm), 1, false);
    for (uint32_t i = 0; i < streams->count; i++) {
        for (uint32_t k = 0; k < streams->count; k++) {
            if (!is_stream(streams, streams->roots[i].root) || !streams->roots[k].is_read)
                continue;
            LLVMValueRef differ =
                LLVMBuildICmp(b, LLVMIntNE, parameter(question, streams->roots[i].root),
                              parameter(question, streams->roots[k].root), "");
            apart = LLVMBuildAnd(b, apart, differ, "");
        }
    }
    return apart;
}

/* i1: so many threads write more than half of the cache, each of them `bytes`. What is read while
 * they do needs the other half. */
static LLVMValueRef is_too_much(const struct question *question, LLVMValueRef threads,
                                uint64_t bytes, uint64_t cache_bytes)
{
    return LLVMBuildICmp(question->builder, LLVMIntUGT, threads,
                         i64(question, cache_bytes / 2 / bytes), "");
}

static struct tr_streaming ask(const struct streams *streams, uint64_t bytes, uint64_t cache_bytes,
                               uint64_t share_bytes)
{
    LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(streams->function));
    struct question question = {.builder = LLVMCreateBuilderInContext(llvm),
                                .llvm = llvm,
                                .i64 = LLVMInt64TypeInContext(llvm)};
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(streams->function);
    LLVMPositionBuilderBefore(question.builder, LLVMGetBasicBlockTerminator(entry));
    question.launch = load(&question, LLVMPointerTypeInContext(llvm, 0),
                           LLVMGetParam(streams->function, 0), offsetof(struct rt_block, launch));
    LLVMValueRef threads = i64(&question, 1);
    threads = times_shape(&question, threads, offsetof(struct rt_launch, grid));
    threads = times_shape(&question, threads, offsetof(struct rt_launch, block));
    LLVMValueRef apart = are_apart(&question, streams);
    LLVMValueRef of_rows = is_too_much(&question, threads, bytes, share_bytes);
    LLVMValueRef of_all = is_too_much(&question, threads, bytes, cache_bytes);
    struct tr_streaming streaming = {
        .of_rows = LLVMBuildAnd(question.builder, of_rows, apart, "stream_rows"),
        .of_all = LLVMBuildAnd(question.builder, of_all, apart, "stream_all")};
    LLVMDisposeBuilder(question.builder);
    return streaming;
}

struct tr_streaming tr_mark_streams(LLVMValueRef function, uint64_t cache_bytes,
                                    uint64_t share_bytes)
{
    struct streams streams = {.function = function};
    uint64_t bytes = 0;
    look_at_all(&streams);
    if (streams.is_unknown)
        return (struct tr_streaming){NULL, NULL};
    for (uint32_t i = 0; i < streams.count; i++)
        if (is_stream(&streams, streams.roots[i].root))
            bytes += streams.roots[i].written_bytes;
    if (bytes == 0)
        return (struct tr_streaming){NULL, NULL};
    mark_stores(&streams);
    return ask(&streams, bytes, cache_bytes, share_bytes);
}

/* ---- the end ---- */

/* Stores past the caches are not in order with others, not even with those that release. */
static void end_at(LLVMValueRef function, LLVMValueRef end, LLVMValueRef condition)
{
    LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(function));
    LLVMBuilderRef b = LLVMCreateBuilderInContext(llvm);
    LLVMBasicBlockRef drain = LLVMAppendBasicBlockInContext(llvm, function, "drain");
    LLVMBasicBlockRef out = LLVMAppendBasicBlockInContext(llvm, function, "drained");
    LLVMPositionBuilderBefore(b, end);
    LLVMBuildCondBr(b, condition, drain, out);
    LLVMInstructionEraseFromParent(end);
    LLVMPositionBuilderAtEnd(b, drain);
    LLVMBuildFence(b, LLVMAtomicOrderingSequentiallyConsistent, false, "");
    LLVMBuildBr(b, out);
    LLVMPositionBuilderAtEnd(b, out);
    LLVMBuildRetVoid(b);
    LLVMDisposeBuilder(b);
}

static bool has_streams(LLVMValueRef function)
{
    static const char name[] = "nontemporal";
    LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(function));
    unsigned kind = LLVMGetMDKindIDInContext(llvm, name, sizeof name - 1);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
         block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != NULL;
             inst = LLVMGetNextInstruction(inst))
            if (LLVMIsAStoreInst(inst) != NULL && LLVMHasMetadata(inst) &&
                LLVMGetMetadata(inst, kind) != NULL)
                return true;
    return false;
}

void tr_end_streams(LLVMValueRef function, const struct tr_streaming *streaming)
{
    if (streaming->of_rows == NULL || !has_streams(function))
        return;
    LLVMBasicBlockRef last = LLVMGetLastBasicBlock(function);
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function);;
         block = LLVMGetNextBasicBlock(block)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
        if (LLVMIsAReturnInst(end) != NULL)
            end_at(function, end, streaming->of_rows);
        if (block == last)
            return;
    }
}
