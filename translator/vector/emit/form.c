/* SPDX-License-Identifier: Apache-2.0
 *
 * Vector forms of instructions whose results are varying: the same instructions on vectors. Flags
 * stay: they make poison only in lanes that are not active, whose values nobody uses.
 */
#include "translator/vector/emit/form.h"

#define MAX_INDICES 8

static LLVMValueRef instruction(const struct tr_widen *widen, uint32_t value)
{
    return widen->iteration->graph.values[value].llvm;
}

static LLVMValueRef operand(struct tr_widen *widen, uint32_t value, uint32_t i, uint32_t copy)
{
    return tr_widen_vector(widen, LLVMGetOperand(instruction(widen, value), i), copy);
}

static bool is_in_one_form(struct tr_shape shape)
{
    return shape.kind != TR_VARYING && shape.stride == 0;
}

/* ---- flags ---- */

static void copy_flags(LLVMValueRef from, LLVMValueRef to)
{
    /* It may be a constant by now, or come from several instructions. */
    if (LLVMIsAInstruction(to) == NULL ||
        LLVMGetInstructionOpcode(to) != LLVMGetInstructionOpcode(from))
        return;
    switch (LLVMGetInstructionOpcode(from)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMTrunc:
        LLVMSetNSW(to, LLVMGetNSW(from));
        LLVMSetNUW(to, LLVMGetNUW(from));
        break;
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMLShr:
    case LLVMAShr:
        LLVMSetExact(to, LLVMGetExact(from));
        break;
    case LLVMOr:
        LLVMSetIsDisjoint(to, LLVMGetIsDisjoint(from));
        break;
    case LLVMZExt:
    case LLVMUIToFP:
        LLVMSetNNeg(to, LLVMGetNNeg(from));
        break;
    case LLVMICmp:
        LLVMSetICmpSameSign(to, LLVMGetICmpSameSign(from));
        break;
    default:
        break;
    }
    if (LLVMCanValueUseFastMathFlags(from) && LLVMCanValueUseFastMathFlags(to))
        LLVMSetFastMathFlags(to, LLVMGetFastMathFlags(from));
}

void tr_forget_flags(LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMTrunc:
        LLVMSetNSW(inst, false);
        LLVMSetNUW(inst, false);
        break;
    case LLVMZExt:
        LLVMSetNNeg(inst, false);
        break;
    case LLVMICmp:
        LLVMSetICmpSameSign(inst, false);
        break;
    case LLVMGetElementPtr:
        LLVMGEPSetNoWrapFlags(inst, 0);
        break;
    default:
        break;
    }
}

/* ---- arithmetic ---- */

static LLVMValueRef binary(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    return LLVMBuildBinOp(widen->builder, LLVMGetInstructionOpcode(instruction(widen, value)),
                          operand(widen, value, 0, copy), operand(widen, value, 1, copy), "");
}

static LLVMValueRef negate(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    return LLVMBuildFNeg(widen->builder, operand(widen, value, 0, copy), "");
}

static LLVMValueRef freeze(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    return LLVMBuildFreeze(widen->builder, operand(widen, value, 0, copy), "");
}

static LLVMValueRef cast(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    LLVMValueRef inst = instruction(widen, value);
    return LLVMBuildCast(widen->builder, LLVMGetInstructionOpcode(inst),
                         operand(widen, value, 0, copy), tr_widen_type(widen, LLVMTypeOf(inst)),
                         "");
}

/* ---- comparisons and choices ---- */

static LLVMValueRef compare_integers(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    return LLVMBuildICmp(widen->builder, LLVMGetICmpPredicate(instruction(widen, value)),
                         operand(widen, value, 0, copy), operand(widen, value, 1, copy), "");
}

static LLVMValueRef compare_floats(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    return LLVMBuildFCmp(widen->builder, LLVMGetFCmpPredicate(instruction(widen, value)),
                         operand(widen, value, 0, copy), operand(widen, value, 1, copy), "");
}

/* type: of both, in the program. */
static LLVMValueRef choose_fields(struct tr_widen *widen, LLVMValueRef condition, LLVMValueRef yes,
                                  LLVMValueRef no, LLVMTypeRef type)
{
    LLVMBuilderRef b = widen->builder;
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    if (kind != LLVMStructTypeKind && kind != LLVMArrayTypeKind)
        return LLVMBuildSelect(b, tr_widen_repeat(widen, condition, tr_widen_element_count(type)),
                               yes, no, "");
    bool is_struct = kind == LLVMStructTypeKind;
    uint32_t count =
        is_struct ? LLVMCountStructElementTypes(type) : (uint32_t)LLVMGetArrayLength2(type);
    LLVMValueRef result = LLVMGetPoison(LLVMTypeOf(yes));
    for (uint32_t i = 0; i < count; i++) {
        LLVMTypeRef field =
            is_struct ? LLVMStructGetTypeAtIndex(type, i) : LLVMGetElementType(type);
        LLVMValueRef chosen = choose_fields(widen, condition, LLVMBuildExtractValue(b, yes, i, ""),
                                            LLVMBuildExtractValue(b, no, i, ""), field);
        result = LLVMBuildInsertValue(b, result, chosen, i, "");
    }
    return result;
}

static LLVMValueRef choose(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    LLVMValueRef inst = instruction(widen, value);
    LLVMValueRef condition = LLVMGetOperand(inst, 0);
    bool is_single = LLVMGetTypeKind(LLVMTypeOf(condition)) == LLVMIntegerTypeKind;
    LLVMValueRef yes = operand(widen, value, 1, copy);
    LLVMValueRef no = operand(widen, value, 2, copy);
    if (is_single && is_in_one_form(tr_widen_shape(widen, condition)))
        return LLVMBuildSelect(widen->builder, tr_widen_scalar(widen, condition, copy), yes, no,
                               "");
    condition = tr_widen_vector(widen, condition, copy);
    if (is_single)
        return choose_fields(widen, condition, yes, no, LLVMTypeOf(inst));
    return LLVMBuildSelect(widen->builder, condition, yes, no, "");
}

/* ---- addresses ---- */

/* A uniform operand stays a scalar, so that later steps see it is uniform. */
static LLVMValueRef address(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    LLVMValueRef inst = instruction(widen, value);
    LLVMValueRef operands[MAX_INDICES + 1];
    unsigned count = (unsigned)LLVMGetNumOperands(inst);
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef part = LLVMGetOperand(inst, i);
        operands[i] = is_in_one_form(tr_widen_shape(widen, part))
                          ? tr_widen_scalar(widen, part, copy)
                          : tr_widen_vector(widen, part, copy);
    }
    return LLVMBuildGEPWithNoWrapFlags(widen->builder, LLVMGetGEPSourceElementType(inst),
                                       operands[0], operands + 1, count - 1, "",
                                       LLVMGEPGetNoWrapFlags(inst));
}

/* ---- all of them ---- */

typedef LLVMValueRef (*form_fn)(struct tr_widen *widen, uint32_t value, uint32_t copy);

static const form_fn forms[] = {
    [LLVMFNeg] = negate,
    [LLVMAdd] = binary,
    [LLVMFAdd] = binary,
    [LLVMSub] = binary,
    [LLVMFSub] = binary,
    [LLVMMul] = binary,
    [LLVMFMul] = binary,
    [LLVMUDiv] = tr_form_divide,
    [LLVMSDiv] = tr_form_divide,
    [LLVMFDiv] = binary,
    [LLVMURem] = tr_form_divide,
    [LLVMSRem] = tr_form_divide,
    [LLVMFRem] = binary,
    [LLVMShl] = binary,
    [LLVMLShr] = binary,
    [LLVMAShr] = binary,
    [LLVMAnd] = binary,
    [LLVMOr] = binary,
    [LLVMXor] = binary,
    [LLVMGetElementPtr] = address,
    [LLVMTrunc] = cast,
    [LLVMZExt] = cast,
    [LLVMSExt] = cast,
    [LLVMFPToUI] = cast,
    [LLVMFPToSI] = cast,
    [LLVMUIToFP] = cast,
    [LLVMSIToFP] = cast,
    [LLVMFPTrunc] = cast,
    [LLVMFPExt] = cast,
    [LLVMPtrToInt] = cast,
    [LLVMPtrToAddr] = cast,
    [LLVMIntToPtr] = cast,
    [LLVMBitCast] = cast,
    [LLVMAddrSpaceCast] = cast,
    [LLVMICmp] = compare_integers,
    [LLVMFCmp] = compare_floats,
    [LLVMCall] = tr_form_intrinsic,
    [LLVMSelect] = choose,
    [LLVMExtractElement] = tr_form_extract_element,
    [LLVMInsertElement] = tr_form_insert_element,
    [LLVMShuffleVector] = tr_form_shuffle,
    [LLVMExtractValue] = tr_form_extract_value,
    [LLVMInsertValue] = tr_form_insert_value,
    [LLVMFreeze] = freeze,
};

static bool is_constant_element(LLVMValueRef inst, unsigned index)
{
    LLVMValueRef number = LLVMGetOperand(inst, index);
    return LLVMIsAConstantInt(number) != NULL &&
           LLVMConstIntGetZExtValue(number) <
               tr_widen_element_count(LLVMTypeOf(LLVMGetOperand(inst, 0)));
}

bool tr_has_form(LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    if (opcode >= sizeof forms / sizeof *forms || forms[opcode] == NULL)
        return false;
    switch (opcode) {
    case LLVMCall:
        return tr_has_vector_intrinsic(inst);
    case LLVMExtractElement:
        return is_constant_element(inst, 1);
    case LLVMInsertElement:
        return is_constant_element(inst, 2);
    case LLVMGetElementPtr:
        return LLVMGetTypeKind(LLVMTypeOf(inst)) == LLVMPointerTypeKind &&
               LLVMGetNumOperands(inst) <= MAX_INDICES + 1;
    default:
        return true;
    }
}

LLVMValueRef tr_widen_form(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    LLVMValueRef inst = instruction(widen, value);
    LLVMValueRef result = forms[LLVMGetInstructionOpcode(inst)](widen, value, copy);
    copy_flags(inst, result);
    return result;
}
