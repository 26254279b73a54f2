/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds local arrays that can lie element after element, and rewrites the accesses to them. Values
 * computed from an array's address become distances from the array's beginning, up to the loads and
 * stores. An array whose address goes anywhere else stays as it is. The smallest access decides how
 * large an element is; larger ones access several elements.
 */
#include "translator/collapse/interleave.h"

#include <stdio.h>
#include <string.h>

#include "kernel_abi/placeholders.h"
#include "translator/collapse/array_users.h"
#include "translator/module/marks.h"
#include "translator/module/walk.h"

#define PITCH_PREFIX "ptxrun.pitch."
#define UNIT_MAX     8
#define BYTES_MAX    (1024 * 1024) /* of one thread; 1024 threads' are still within 2^31 */

/* ---- offsets ---- */

static LLVMValueRef offset_of(const struct tr_array *array, const struct tr_value *inst, uint32_t i)
{
    uint32_t operand = inst->operands[i];
    return tr_is_of_array(array, operand) ? array->offset[operand] : LLVMGetOperand(inst->llvm, i);
}

static LLVMValueRef gep_offset(const struct tr_array *array, const struct tr_value *gep)
{
    LLVMBuilderRef b = array->builder;
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep->llvm);
    LLVMValueRef size = LLVMConstInt(array->i64, LLVMABISizeOfType(array->layout, type), false);
    LLVMValueRef index = LLVMBuildIntCast2(b, LLVMGetOperand(gep->llvm, 1), array->i64, true, "");
    return LLVMBuildAdd(b, offset_of(array, gep, 0), LLVMBuildMul(b, index, size, ""), "");
}

static LLVMValueRef make_offset(const struct tr_array *array, const struct tr_value *inst)
{
    LLVMBuilderRef b = array->builder;
    switch (inst->opcode) {
    case LLVMAdd:
    case LLVMOr:
        return LLVMBuildAdd(b, offset_of(array, inst, 0), offset_of(array, inst, 1), "");
    case LLVMSub:
        return LLVMBuildSub(b, offset_of(array, inst, 0), offset_of(array, inst, 1), "");
    case LLVMGetElementPtr:
        return gep_offset(array, inst);
    case LLVMPHI:
        return LLVMBuildPhi(b, array->i64, "");
    case LLVMSelect:
        return LLVMBuildSelect(b, LLVMGetOperand(inst->llvm, 0), offset_of(array, inst, 1),
                               offset_of(array, inst, 2), "");
    case LLVMFreeze:
        return LLVMBuildFreeze(b, offset_of(array, inst, 0), "");
    default:
        return offset_of(array, inst, 0);
    }
}

/* In the order of numbers every value but a phi comes after its operands. */
static void make_offsets(struct tr_array *array)
{
    const struct tr_set *derived = &array->derived;
    array->offset[array->value] = LLVMConstNull(array->i64);
    for (uint32_t v = tr_set_next(derived, array->value + 1); v != TR_NONE;
         v = tr_set_next(derived, v + 1)) {
        LLVMPositionBuilderBefore(array->builder, tr_array_value(array, v)->llvm);
        array->offset[v] = make_offset(array, tr_array_value(array, v));
    }
    for (uint32_t v = tr_set_next(derived, 0); v != TR_NONE; v = tr_set_next(derived, v + 1)) {
        const struct tr_value *phi = tr_array_value(array, v);
        for (uint32_t i = 0; phi->opcode == LLVMPHI && i < phi->operand_count; i++) {
            LLVMValueRef offset = offset_of(array, phi, i);
            LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi->llvm, i);
            LLVMAddIncoming(array->offset[v], &offset, &from, 1);
        }
    }
}

/* ---- who reads the pitch ---- */

static LLVMValueRef pitch_variable(const struct tr_array *array)
{
    char name[sizeof PITCH_PREFIX + 8];
    LLVMModuleRef module = LLVMGetGlobalParent(array->graph->function);
    snprintf(name, sizeof name, PITCH_PREFIX "%u", array->unit);
    LLVMValueRef variable = LLVMGetNamedGlobal(module, name);
    return variable != NULL ? variable : LLVMAddGlobal(module, array->i64, name);
}

/* Reads a number that does not change while the grid runs, and that LLVM does not know. */
static void read_pitch(struct tr_array *array)
{
    LLVMValueRef alloca = tr_array_value(array, array->value)->llvm;
    LLVMPositionBuilderBefore(array->builder, LLVMGetNextInstruction(alloca));
    LLVMSetCurrentDebugLocation2(array->builder, NULL);
    array->pitch = LLVMBuildLoad2(array->builder, array->i64, pitch_variable(array), "pitch");
    tr_mark_invariant(array->pitch);
    LLVMValueRef unit = LLVMConstInt(array->i64, array->unit, false);
    tr_mark_with(alloca, TR_MARK_UNIT, LLVMValueAsMetadata(unit));
}

/* ---- who uses addresses ---- */

static LLVMValueRef element_address(const struct tr_array *array, const struct tr_value *access,
                                    uint32_t piece)
{
    LLVMBuilderRef b = array->builder;
    LLVMTypeRef i8 = LLVMInt8TypeInContext(LLVMGetTypeContext(array->i64));
    LLVMValueRef offset = offset_of(array, access, access->opcode == LLVMStore ? 1 : 0);
    LLVMValueRef behind = LLVMConstInt(array->i64, (uint64_t)piece * array->unit, false);
    if (piece > 0)
        offset = LLVMBuildAdd(b, offset, behind, "");
    offset = LLVMBuildMul(b, offset, array->pitch, "");
    return LLVMBuildGEP2(b, i8, tr_array_value(array, array->value)->llvm, &offset, 1, "");
}

static void mark_access(const struct tr_array *array, LLVMValueRef access)
{
    LLVMSetAlignment(access, array->unit);
    tr_mark(access, TR_MARK_IN_ARRAY);
}

static LLVMTypeRef word(const struct tr_array *array, uint32_t bytes)
{
    return LLVMIntTypeInContext(LLVMGetTypeContext(array->i64), 8 * bytes);
}

/* Leaves the old load without uses. */
static void load_pieces(const struct tr_array *array, const struct tr_value *load, uint32_t bytes)
{
    LLVMBuilderRef b = array->builder;
    LLVMTypeRef whole = word(array, bytes);
    LLVMValueRef value = NULL;
    for (uint32_t i = 0; i < bytes / array->unit; i++) {
        LLVMValueRef piece =
            LLVMBuildLoad2(b, word(array, array->unit), element_address(array, load, i), "");
        mark_access(array, piece);
        LLVMValueRef shift = LLVMConstInt(whole, 8 * (uint64_t)i * array->unit, false);
        piece = LLVMBuildShl(b, LLVMBuildZExt(b, piece, whole, ""), shift, "");
        value = value == NULL ? piece : LLVMBuildOr(b, value, piece, "");
    }
    value = LLVMBuildBitCast(b, value, LLVMTypeOf(load->llvm), "");
    LLVMReplaceAllUsesWith(load->llvm, value);
}

/* The old store becomes the one of the first piece. */
static void store_pieces(const struct tr_array *array, const struct tr_value *store, uint32_t bytes)
{
    LLVMBuilderRef b = array->builder;
    LLVMTypeRef whole = word(array, bytes);
    LLVMValueRef value = LLVMBuildBitCast(b, LLVMGetOperand(store->llvm, 0), whole, "");
    for (uint32_t i = bytes / array->unit; i-- > 0;) {
        LLVMValueRef shift = LLVMConstInt(whole, 8 * (uint64_t)i * array->unit, false);
        LLVMValueRef piece = LLVMBuildLShr(b, value, shift, "");
        piece = LLVMBuildTrunc(b, piece, word(array, array->unit), "");
        LLVMValueRef address = element_address(array, store, i);
        if (i > 0) {
            mark_access(array, LLVMBuildStore(b, piece, address));
            continue;
        }
        LLVMSetOperand(store->llvm, 0, piece);
        LLVMSetOperand(store->llvm, 1, address);
        mark_access(array, store->llvm);
    }
}

static void move_access(const struct tr_array *array, const struct tr_value *access)
{
    bool is_store = access->opcode == LLVMStore;
    LLVMTypeRef type = LLVMTypeOf(is_store ? LLVMGetOperand(access->llvm, 0) : access->llvm);
    uint32_t bytes = (uint32_t)LLVMStoreSizeOfType(array->layout, type);
    if (bytes == array->unit) {
        LLVMSetOperand(access->llvm, is_store ? 1 : 0, element_address(array, access, 0));
        mark_access(array, access->llvm);
    } else if (is_store) {
        store_pieces(array, access, bytes);
    } else {
        load_pieces(array, access, bytes);
    }
}

/* The fault's address becomes its offset, so that the array's own address does not get away. */
static void make_fault_local(const struct tr_array *array, const struct tr_value *fault)
{
    LLVMValueRef status = LLVMGetOperand(fault->llvm, 1);
    uint64_t number = LLVMConstIntGetZExtValue(status) | RT_FAULT_LOCAL;
    LLVMSetOperand(fault->llvm, 1, LLVMConstInt(LLVMTypeOf(status), number, false));
    LLVMSetOperand(fault->llvm, 2, offset_of(array, fault, 2));
}

static void replace_user(const struct tr_array *array, const struct tr_value *user)
{
    LLVMBuilderRef b = array->builder;
    LLVMPositionBuilderBefore(b, user->llvm);
    switch (user->opcode) {
    case LLVMAnd:
    case LLVMICmp:
        for (unsigned i = 0; i < 2; i++)
            if (tr_is_of_array(array, user->operands[i]))
                LLVMSetOperand(user->llvm, i, offset_of(array, user, i));
        return;
    case LLVMCall:
        make_fault_local(array, user);
        return;
    default:
        move_access(array, user);
    }
}

static void rewrite(struct tr_array *array)
{
    const struct tr_set *users = &array->users;
    read_pitch(array);
    make_offsets(array);
    for (uint32_t v = tr_set_next(users, 0); v != TR_NONE; v = tr_set_next(users, v + 1))
        replace_user(array, tr_array_value(array, v));
}

/* ---- the kernel ---- */

static enum pxr_status interleave_array(struct tr_array *array, bool *has_changed,
                                        struct pxr_error *err)
{
    struct pxr_arena *arena = &array->graph->arena;
    uint32_t count = array->graph->value_count;
    array->derived = tr_set_make(arena, count);
    array->users = tr_set_make(arena, count);
    array->offset = pxr_arena_alloc_array(arena, count, sizeof(LLVMValueRef));
    array->align = LLVMGetAlignment(tr_array_value(array, array->value)->llvm);
    if (!array->derived.words || !array->users.words || !array->offset)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    LLVMTypeRef type = LLVMGetAllocatedType(tr_array_value(array, array->value)->llvm);
    if (LLVMABISizeOfType(array->layout, type) > BYTES_MAX || !tr_find_array_users(array))
        return PXR_OK;
    rewrite(array);
    *has_changed = true;
    return PXR_OK;
}

/* Whether there are arrays that may be interleaved: those in the entry block. */
static bool has_arrays(LLVMValueRef kernel)
{
    LLVMValueRef inst = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(kernel));
    while (inst != NULL && LLVMIsAAllocaInst(inst) == NULL)
        inst = LLVMGetNextInstruction(inst);
    return inst != NULL;
}

enum pxr_status tr_interleave(LLVMValueRef kernel, bool *has_changed, struct pxr_error *err)
{
    LLVMModuleRef module = LLVMGetGlobalParent(kernel);
    LLVMContextRef llvm = LLVMGetModuleContext(module);
    struct tr_graph graph;
    *has_changed = false;
    if (!has_arrays(kernel))
        return PXR_OK;
    enum pxr_status status = tr_graph_build(&graph, kernel, NULL, err);
    if (status != PXR_OK)
        return status;
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(llvm);
    for (uint32_t v = 0; v < graph.value_count && status == PXR_OK; v++) {
        struct tr_array array = {.graph = &graph,
                                 .layout = LLVMGetModuleDataLayout(module),
                                 .builder = builder,
                                 .i64 = LLVMInt64TypeInContext(llvm),
                                 .value = v};
        if (graph.values[v].opcode == LLVMAlloca)
            status = interleave_array(&array, has_changed, err);
    }
    LLVMDisposeBuilder(builder);
    tr_graph_fini(&graph);
    return status;
}

/* ---- what others ask ---- */

uint32_t tr_interleaved_unit(LLVMValueRef alloca)
{
    LLVMValueRef node = tr_marked_node(alloca, TR_MARK_UNIT);
    LLVMValueRef unit = NULL;
    if (node == NULL)
        return 0;
    LLVMGetMDNodeOperands(node, &unit);
    return (uint32_t)LLVMConstIntGetZExtValue(unit);
}

uint64_t tr_interleaved_bytes(LLVMTargetDataRef layout, LLVMValueRef alloca)
{
    uint64_t bytes = LLVMABISizeOfType(layout, LLVMGetAllocatedType(alloca));
    return (bytes + UNIT_MAX - 1) & ~(uint64_t)(UNIT_MAX - 1);
}

uint32_t tr_read_pitch_unit(LLVMValueRef inst)
{
    size_t length = 0;
    unsigned unit = 0;
    if (LLVMIsALoadInst(inst) == NULL || LLVMIsAGlobalVariable(LLVMGetOperand(inst, 0)) == NULL)
        return 0;
    const char *name = LLVMGetValueName2(LLVMGetOperand(inst, 0), &length);
    return sscanf(name, PITCH_PREFIX "%u", &unit) == 1 ? unit : 0;
}

void tr_interleave_alone(LLVMValueRef function)
{
    TR_FOR_EACH_INSTRUCTION(load, function) {
        if (tr_read_pitch_unit(load) == 0)
            continue;
        LLVMReplaceAllUsesWith(load, LLVMConstInt(LLVMTypeOf(load), 1, false));
        LLVMInstructionEraseFromParent(load);
    }
}
