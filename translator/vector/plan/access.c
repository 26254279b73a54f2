/* SPDX-License-Identifier: Apache-2.0
 *
 * Classifies an access to memory by the shape of its address; emits nothing.
 */
#include "translator/vector/plan/access.h"

#include <stddef.h>

#include <llvm-c/Target.h>

#include "kernel_abi/rt.h"
#include "translator/analysis/shape.h"
#include "translator/module/marks.h"

static LLVMTargetDataRef layout_of(const struct tr_iteration *iteration)
{
    return LLVMGetModuleDataLayout(LLVMGetGlobalParent(iteration->graph.function));
}

/* ---- the kind ---- */

/* A value from outside of the iteration has no segment that it could vary behind. */
static struct tr_shape shape_where_used(const struct tr_iteration *iteration, uint32_t value,
                                        uint32_t user)
{
    if (value == TR_NONE)
        return (struct tr_shape){.kind = TR_UNIFORM};
    return tr_shape_at(&iteration->graph, &iteration->loops, &iteration->shapes, value,
                       iteration->graph.values[user].segment);
}

static bool has_word_size(LLVMTargetDataRef layout, LLVMTypeRef type, uint32_t bytes)
{
    bool is_power = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    return is_power && LLVMGetTypeKind(type) != LLVMStructTypeKind &&
           LLVMGetTypeKind(type) != LLVMArrayTypeKind &&
           LLVMSizeOfTypeInBits(layout, type) == 8 * (uint64_t)bytes;
}

/* Whether lanes of such a type lie next to each other in memory as in the vector. */
static bool can_be_contiguous(LLVMTargetDataRef layout, const struct tr_memory *memory)
{
    LLVMTypeRef type = memory->type;
    if (memory->is_word)
        return true;
    if (LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return false;
    LLVMTypeRef element = LLVMGetElementType(type);
    return LLVMGetVectorSize(type) <= TR_MAX_STEP &&
           LLVMSizeOfTypeInBits(layout, element) == 8 * LLVMABISizeOfType(layout, element) &&
           LLVMSizeOfTypeInBits(layout, type) == 8 * (uint64_t)memory->bytes;
}

static enum tr_memory_kind kind_of(LLVMTargetDataRef layout, const struct tr_memory *memory)
{
    if (!memory->has_stride)
        return TR_MEMORY_GENERAL;
    if (memory->stride == 0)
        return TR_MEMORY_SAME;
    int64_t bytes = memory->bytes;
    if (memory->stride == bytes || memory->stride == -bytes)
        return can_be_contiguous(layout, memory) ? TR_MEMORY_CONTIGUOUS : TR_MEMORY_GENERAL;
    bool is_small = memory->stride <= TR_MAX_STEP * bytes && memory->stride >= -TR_MAX_STEP * bytes;
    if (memory->is_word && is_small && memory->stride % bytes == 0)
        return TR_MEMORY_STRIDED;
    return TR_MEMORY_GENERAL;
}

struct tr_memory tr_plan_describe(const struct tr_iteration *iteration, uint32_t value)
{
    const struct tr_value *access = &iteration->graph.values[value];
    bool is_store = access->opcode == LLVMStore;
    unsigned operand = is_store ? 1 : 0;
    struct tr_memory memory = {
        .value = value,
        .inst = access->llvm,
        .address = LLVMGetOperand(access->llvm, operand),
        .address_value = access->operands[operand],
        .stored = is_store ? LLVMGetOperand(access->llvm, 0) : NULL,
        .align = LLVMGetAlignment(access->llvm),
    };
    LLVMTargetDataRef layout = layout_of(iteration);
    memory.type = LLVMTypeOf(is_store ? memory.stored : access->llvm);
    memory.bytes = (uint32_t)LLVMStoreSizeOfType(layout, memory.type);
    memory.is_word = has_word_size(layout, memory.type, memory.bytes);
    struct tr_shape shape = shape_where_used(iteration, memory.address_value, value);
    memory.has_stride = shape.kind != TR_VARYING;
    memory.stride = memory.has_stride ? shape.stride : 0;
    memory.kind = kind_of(layout, &memory);
    return memory;
}

/* ---- order ---- */

bool tr_plan_may_read(const struct tr_iteration *iteration, uint32_t value)
{
    const struct tr_value *inst = &iteration->graph.values[value];
    return inst->opcode == LLVMLoad
               ? !tr_is_invariant_load(inst->llvm)
               : tr_plan_may_write(iteration, value) && inst->opcode != LLVMStore;
}

bool tr_plan_may_write(const struct tr_iteration *iteration, uint32_t value)
{
    const struct tr_value *inst = &iteration->graph.values[value];
    switch (inst->opcode) {
    case LLVMLoad:
        return LLVMGetVolatile(inst->llvm) || LLVMGetOrdering(inst->llvm) != 0;
    case LLVMPHI:
    case LLVMBr:
    case LLVMSwitch:
        return false;
    default:
        return !tr_is_function_of_operands(inst);
    }
}

/* With more terms, adding up their varying parts for each access costs more than sharing the others
 * saves. */
#define TERMS_MAX 8

struct tr_sum tr_plan_sum(const struct tr_iteration *iteration, LLVMValueRef address)
{
    struct tr_sum_query query = {
        .layout = layout_of(iteration), .through = TR_AS_INDICES, .most_terms = TERMS_MAX};
    struct tr_sum sum;
    tr_sum_of(&query, address, &sum);
    return sum;
}

/* ---- what the target has instructions for ---- */

bool tr_plan_is_in_shared_memory(LLVMValueRef address)
{
    while (LLVMIsAGetElementPtrInst(address) != NULL)
        address = LLVMGetOperand(address, 0);
    return tr_is_field(address, TR_RECORD_BLOCK, TR_RECORD_BLOCK,
                       offsetof(struct rt_block, shared));
}

static bool has_masks_of(const struct tr_target *target, uint32_t bytes)
{
    return target->masks_all || (target->masks_words && bytes >= 4);
}

bool tr_plan_is_masked_badly(const struct tr_target *target, const struct tr_memory *memory)
{
    return !has_masks_of(target, memory->bytes) && !tr_plan_is_in_shared_memory(memory->address);
}

bool tr_plan_is_better_rewritten(const struct tr_target *target, LLVMValueRef address,
                                 uint32_t bytes)
{
    const struct tr_figures *figures = &target->figures;
    double rewritten = figures->load + figures->vector + figures->store;
    return tr_plan_is_in_shared_memory(address) &&
           (!has_masks_of(target, bytes) || rewritten < figures->masked_store);
}

bool tr_plan_is_gatherable(const struct tr_target *target, const struct tr_memory *memory)
{
    bool is_of_pointers = LLVMGetTypeKind(memory->type) == LLVMVectorTypeKind &&
                          LLVMGetTypeKind(LLVMGetElementType(memory->type)) == LLVMPointerTypeKind;
    return memory->is_word && memory->bytes >= 4 && !is_of_pointers && target->has_gather;
}

bool tr_plan_is_faster_by_lane(const struct tr_target *target, const struct tr_memory *memory)
{
    const struct tr_figures *figures = &target->figures;
    return memory->has_stride && (memory->stored != NULL ? figures->strided_store < figures->scatter
                                                         : figures->strided_load < figures->gather);
}

bool tr_plan_is_nontemporal(const struct tr_memory *memory)
{
    return memory->stored != NULL && !LLVMGetVolatile(memory->inst) &&
           tr_is_marked(memory->inst, TR_MARK_NONTEMPORAL);
}
