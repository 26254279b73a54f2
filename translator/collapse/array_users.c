/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the addresses computed from a local array's, and their users, to see whether anybody could
 * tell where the array's elements are.
 */
#include "translator/collapse/array_users.h"

#include "translator/collapse/collapse.h"

static bool is_plain_access(LLVMValueRef access)
{
    return !LLVMGetVolatile(access) && LLVMGetOrdering(access) == LLVMAtomicOrderingNotAtomic;
}

/* Adds an access; false: the type is no word. */
static bool add_access(struct tr_array *array, LLVMTypeRef type)
{
    uint32_t bytes = (uint32_t)LLVMStoreSizeOfType(array->layout, type);
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    if (array->unit == 0 || bytes < array->unit)
        array->unit = bytes;
    if (bytes > array->widest)
        array->widest = bytes;
    return (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) && bytes <= array->align &&
           kind != LLVMVectorTypeKind && kind != LLVMStructTypeKind && kind != LLVMArrayTypeKind &&
           kind != LLVMPointerTypeKind &&
           LLVMSizeOfTypeInBits(array->layout, type) == 8 * (uint64_t)bytes;
}

static bool may_access(struct tr_array *array, const struct tr_value *access)
{
    bool is_store = access->opcode == LLVMStore;
    if (!is_plain_access(access->llvm) || (is_store && tr_is_of_array(array, access->operands[0])))
        return false;
    return add_access(array, LLVMTypeOf(is_store ? LLVMGetOperand(access->llvm, 0) : access->llvm));
}

static bool are_all_derived(const struct tr_array *array, const struct tr_value *inst,
                            uint32_t first)
{
    for (uint32_t i = first; i < inst->operand_count; i++)
        if (!tr_is_of_array(array, inst->operands[i]))
            return false;
    return true;
}

/* Whether it reads the address's low bits, which are the offset's. */
static bool asks_for_low_bits(const struct tr_array *array, LLVMValueRef inst)
{
    LLVMValueRef mask = LLVMIsAConstantInt(LLVMGetOperand(inst, 1));
    return mask != NULL && LLVMConstIntGetZExtValue(mask) < array->align;
}

/* Whether the instruction makes an address of addresses, whatever their operands. */
static bool makes_address(const struct tr_array *array, const struct tr_value *inst)
{
    switch (inst->opcode) {
    case LLVMPtrToInt:
    case LLVMIntToPtr:
        return LLVMTypeOf(inst->llvm) == array->i64 ||
               LLVMTypeOf(LLVMGetOperand(inst->llvm, 0)) == array->i64;
    case LLVMOr:
        return LLVMGetIsDisjoint(inst->llvm);
    case LLVMGetElementPtr:
        return LLVMGetNumOperands(inst->llvm) == 2;
    case LLVMAdd:
    case LLVMSub:
    case LLVMPHI:
    case LLVMSelect:
    case LLVMFreeze:
        return true;
    default:
        return false;
    }
}

/* False: the address gets away. */
static bool add_user(struct tr_array *array, uint32_t user)
{
    const struct tr_value *inst = tr_array_value(array, user);
    if (makes_address(array, inst)) {
        tr_set_add(&array->derived, user);
        return true;
    }
    tr_set_add(&array->users, user);
    switch (inst->opcode) {
    case LLVMLoad:
    case LLVMStore:
        return may_access(array, inst);
    case LLVMAnd:
        return asks_for_low_bits(array, inst->llvm);
    case LLVMICmp:
        return LLVMGetICmpPredicate(inst->llvm) == LLVMIntEQ ||
               LLVMGetICmpPredicate(inst->llvm) == LLVMIntNE;
    case LLVMCall:
        return tr_is_fault(inst->llvm);
    default:
        return false;
    }
}

/* Whether the derived value is one address of this array and a number, or one of several addresses
 * of it. */
static bool is_one_address(const struct tr_array *array, const struct tr_value *inst)
{
    const uint32_t *operands = inst->operands;
    switch (inst->opcode) {
    case LLVMAdd:
    case LLVMOr:
        return tr_is_of_array(array, operands[0]) != tr_is_of_array(array, operands[1]);
    case LLVMSub:
    case LLVMGetElementPtr:
        return tr_is_of_array(array, operands[0]) && !tr_is_of_array(array, operands[1]);
    case LLVMPHI:
    case LLVMICmp:
        return are_all_derived(array, inst, 0);
    case LLVMSelect:
        return are_all_derived(array, inst, 1);
    case LLVMStore:
        return !tr_is_of_array(array, operands[0]);
    default:
        return true;
    }
}

static bool are_all_one_address(const struct tr_array *array, const struct tr_set *set)
{
    for (uint32_t v = tr_set_next(set, 0); v != TR_NONE; v = tr_set_next(set, v + 1))
        if (v != array->value && !is_one_address(array, tr_array_value(array, v)))
            return false;
    return true;
}

/* Words of less than 4 bytes at indices that differ from lane to lane are accessed one by one: more
 * accesses than before would be a loss. */
static bool has_few_pieces(const struct tr_array *array)
{
    return array->widest == array->unit || array->unit >= 4;
}

bool tr_find_array_users(struct tr_array *array)
{
    const struct tr_graph *graph = array->graph;
    bool has_changed = true;
    tr_set_add(&array->derived, array->value);
    while (has_changed) {
        has_changed = false;
        for (uint32_t v = array->value; v < graph->value_count; v++) {
            if (!tr_set_has(&array->derived, v))
                continue;
            for (uint32_t i = 0; i < graph->values[v].use_count; i++) {
                uint32_t user = graph->values[v].uses[i];
                if (tr_set_has(&array->derived, user) || tr_set_has(&array->users, user))
                    continue;
                if (!add_user(array, user))
                    return false;
                has_changed |= user < v;
            }
        }
    }
    return array->unit != 0 && has_few_pieces(array) &&
           are_all_one_address(array, &array->derived) && are_all_one_address(array, &array->users);
}
