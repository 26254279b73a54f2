/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps along the straight way through a block: copies instructions, except those whose result is
 * known by now, and turns accesses to shared memory into values.
 */
#include "translator/analysis/calls.h"
#include "translator/vector/tuning/straight.h"

/* Most instructions on the way. */
#define LENGTH_MAX 2000

/* ---- values on the way ---- */

LLVMValueRef tr_straight_now(const struct tr_way *way, LLVMValueRef value)
{
    uint32_t number = tr_graph_number(&way->graph, value);
    return number == TR_NONE || way->now[number] == NULL ? value : way->now[number];
}

bool tr_straight_is_bit(LLVMValueRef value, bool is_true)
{
    return LLVMIsAConstantInt(value) != NULL &&
           LLVMConstIntGetZExtValue(value) == (is_true ? 1 : 0) &&
           LLVMGetIntTypeWidth(LLVMTypeOf(value)) == 1;
}

/* Simplifies what LLVM's builder does not, which knows constants only. NULL: it stays. */
static LLVMValueRef simplified(LLVMOpcode opcode, LLVMValueRef *operands)
{
    if (opcode == LLVMSelect && LLVMIsAConstantInt(operands[0]) != NULL)
        return operands[tr_straight_is_bit(operands[0], true) ? 1 : 2];
    for (int i = 0; i < 2 && (opcode == LLVMAnd || opcode == LLVMOr); i++) {
        if (tr_straight_is_bit(operands[i], opcode == LLVMOr))
            return operands[i];
        if (tr_straight_is_bit(operands[i], opcode == LLVMAnd))
            return operands[1 - i];
    }
    return NULL;
}

/* Integers, or vectors of them. */
static bool is_integer(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    if (LLVMGetTypeKind(type) == LLVMVectorTypeKind)
        type = LLVMGetElementType(type);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind;
}

static LLVMValueRef shuffled(LLVMBuilderRef b, LLVMValueRef inst, LLVMValueRef *operands)
{
    LLVMTypeRef i32 = LLVMInt32TypeInContext(LLVMGetTypeContext(LLVMTypeOf(inst)));
    LLVMValueRef mask[64];
    unsigned count = LLVMGetNumMaskElements(inst);
    if (count > sizeof mask / sizeof mask[0])
        return NULL;
    for (unsigned i = 0; i < count; i++) {
        int from = LLVMGetMaskValue(inst, i);
        mask[i] = from == LLVMGetUndefMaskElem() ? LLVMGetPoison(i32)
                                                 : LLVMConstInt(i32, (unsigned)from, false);
    }
    return LLVMBuildShuffleVector(b, operands[0], operands[1], LLVMConstVector(mask, count), "");
}

/* Folds constants; NULL: not an operation that decides where a loop over threads ends. */
static LLVMValueRef folded(LLVMBuilderRef b, LLVMValueRef inst, LLVMValueRef *operands)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    switch (opcode) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMLShr:
    case LLVMAnd:
    case LLVMOr:
    case LLVMXor:
        return LLVMBuildBinOp(b, opcode, operands[0], operands[1], "");
    case LLVMICmp:
        return LLVMBuildICmp(b, LLVMGetICmpPredicate(inst), operands[0], operands[1], "");
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMBitCast:
        return LLVMBuildCast(b, opcode, operands[0], LLVMTypeOf(inst), "");
    case LLVMInsertElement:
        return LLVMBuildInsertElement(b, operands[0], operands[1], operands[2], "");
    case LLVMShuffleVector:
        return shuffled(b, inst, operands);
    default:
        return NULL;
    }
}

static LLVMValueRef fold(struct tr_way *way, LLVMValueRef inst)
{
    LLVMValueRef operands[3] = {NULL};
    int count = LLVMGetNumOperands(inst);
    if (count < 1 || count > 3 || !is_integer(inst))
        return NULL;
    bool are_constant = true;
    for (int i = 0; i < count; i++) {
        operands[i] = tr_straight_now(way, LLVMGetOperand(inst, (unsigned)i));
        are_constant &= LLVMIsAConstant(operands[i]) != NULL;
    }
    LLVMValueRef value = simplified(LLVMGetInstructionOpcode(inst), operands);
    return value == NULL && are_constant ? folded(way->builder, inst, operands) : value;
}

LLVMValueRef tr_straight_copy(struct tr_way *way, LLVMValueRef inst)
{
    LLVMValueRef clone = LLVMInstructionClone(inst);
    for (int i = 0; i < LLVMGetNumOperands(clone); i++)
        LLVMSetOperand(clone, (unsigned)i,
                       tr_straight_now(way, LLVMGetOperand(clone, (unsigned)i)));
    LLVMInsertIntoBuilder(way->builder, clone);
    way->length++;
    return clone;
}

/* ---- accesses ---- */

static LLVMValueRef address_of(LLVMValueRef inst)
{
    return LLVMGetOperand(inst, LLVMIsAStoreInst(inst) != NULL ? 1 : 0);
}

/* A load or store. false: its memory must exist. */
static bool access(struct tr_way *way, uint32_t number)
{
    LLVMValueRef inst = way->graph.values[number].llvm;
    bool is_store = LLVMIsAStoreInst(inst) != NULL;
    uint32_t offset = 0;
    enum tr_place place =
        tr_straight_place(&way->pieces, tr_straight_now(way, address_of(inst)), &offset);
    if (place == TR_PLACE_ELSEWHERE) {
        way->now[number] = tr_straight_copy(way, inst);
        return true;
    }
    if (place == TR_PLACE_UNKNOWN || LLVMGetVolatile(inst) ||
        LLVMGetOrdering(inst) != LLVMAtomicOrderingNotAtomic)
        return false;
    if (is_store)
        return tr_straight_store(&way->pieces, tr_straight_now(way, LLVMGetOperand(inst, 0)),
                                 offset);
    way->now[number] = tr_straight_load(&way->pieces, way->builder, LLVMTypeOf(inst), offset);
    return way->now[number] != NULL;
}

/* An instruction for lanes that are not active, or one that leaves work to the run time, is not
 * expected. */
bool tr_straight_is_exception(LLVMValueRef inst)
{
    return LLVMIsACallInst(inst) != NULL && tr_effect_of_call(inst) != RT_EFFECT_NONE;
}

static bool step(struct tr_way *way, uint32_t number)
{
    LLVMValueRef inst = way->graph.values[number].llvm;
    if (LLVMIsALoadInst(inst) != NULL || LLVMIsAStoreInst(inst) != NULL)
        return access(way, number);
    if (LLVMIsAAllocaInst(inst) != NULL || LLVMIsAFenceInst(inst) != NULL ||
        LLVMIsAAtomicRMWInst(inst) != NULL || LLVMIsAAtomicCmpXchgInst(inst) != NULL ||
        (LLVMIsACallInst(inst) != NULL && tr_effect_of_call(inst) != RT_EFFECT_NONE))
        return false;
    LLVMValueRef value = fold(way, inst);
    way->now[number] = value != NULL ? value : tr_straight_copy(way, inst);
    return true;
}

/* Copies a segment but for its phis and terminator. */
bool tr_straight_step_through(struct tr_way *way, uint32_t segment)
{
    const struct tr_segment *s = &way->graph.segments[segment];
    for (uint32_t v = s->first_value; v + 1 < s->first_value + s->value_count; v++)
        if (way->graph.values[v].opcode != LLVMPHI && !step(way, v))
            return false;
    return way->length <= LENGTH_MAX;
}

LLVMValueRef tr_straight_incoming(const struct tr_way *way, LLVMValueRef phi, uint32_t from)
{
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
        if (LLVMGetIncomingBlock(phi, i) == way->graph.segments[from].llvm)
            return tr_straight_now(way, LLVMGetIncomingValue(phi, i));
    return NULL;
}

/* Steps all phis at once: one may take the old value of another. */
void tr_straight_step_phis(struct tr_way *way, uint32_t segment, uint32_t from)
{
    const struct tr_segment *s = &way->graph.segments[segment];
    uint32_t v = s->first_value;
    for (; way->graph.values[v].opcode == LLVMPHI; v++)
        way->next[v] = tr_straight_incoming(way, way->graph.values[v].llvm, from);
    while (v-- > s->first_value)
        way->now[v] = way->next[v];
}
