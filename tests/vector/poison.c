/* SPDX-License-Identifier: Apache-2.0
 *
 * See poison.h. A shadow has the shape of its value: i1, <n x i1>, or a struct of such. It is
 * computed right behind its value, from the shadows of the operands.
 */
#include "tests/vector/poison.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Core.h>
#include <uthash.h>

#define MAX_ELEMENTS 4096
#define MAX_FIELDS   64

struct shadow {
    LLVMValueRef value;
    LLVMValueRef shadow;
    UT_hash_handle hh;
};

struct poison {
    LLVMValueRef function;
    LLVMContextRef context;
    LLVMBuilderRef builder;
    LLVMTypeRef i1, i32;
    LLVMValueRef check;
    LLVMTypeRef check_type;
    struct shadow *shadows;
    bool is_out_of_memory;
};

static LLVMValueRef shadow_of(struct poison *p, LLVMValueRef value);

/* ---- shapes ---- */

static bool is_vector(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind;
}

static bool is_struct(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMStructTypeKind;
}

static bool is_aggregate(LLVMTypeRef type)
{
    return is_struct(type) || LLVMGetTypeKind(type) == LLVMArrayTypeKind;
}

static unsigned count_of(LLVMTypeRef type)
{
    if (is_aggregate(type))
        return is_struct(type) ? LLVMCountStructElementTypes(type)
                               : (unsigned)LLVMGetArrayLength2(type);
    return is_vector(type) ? LLVMGetVectorSize(type) : 1;
}

static LLVMTypeRef field_type(LLVMTypeRef type, unsigned field)
{
    return is_struct(type) ? LLVMStructGetTypeAtIndex(type, field) : LLVMGetElementType(type);
}

static LLVMTypeRef shadow_type(const struct poison *p, LLVMTypeRef type)
{
    LLVMTypeRef fields[MAX_FIELDS];
    unsigned count = count_of(type);
    if (!is_aggregate(type))
        return is_vector(type) ? LLVMVectorType(p->i1, count) : p->i1;
    for (unsigned i = 0; i < count; i++)
        fields[i] = shadow_type(p, field_type(type, i));
    return LLVMStructTypeInContext(p->context, fields, count, false);
}

static LLVMValueRef none(const struct poison *p, LLVMTypeRef type)
{
    return LLVMConstNull(shadow_type(p, type));
}

static LLVMValueRef bit(const struct poison *p, bool is_set)
{
    return LLVMConstInt(p->i1, is_set, false);
}

/* ---- shadows from shadows ---- */

static LLVMValueRef shuffle(const struct poison *p, LLVMValueRef vector, const unsigned *from,
                            unsigned count)
{
    LLVMValueRef indices[MAX_ELEMENTS];
    for (unsigned i = 0; i < count; i++)
        indices[i] = LLVMConstInt(p->i32, from[i], false);
    return LLVMBuildShuffleVector(p->builder, vector, LLVMGetPoison(LLVMTypeOf(vector)),
                                  LLVMConstVector(indices, count), "");
}

/* A bit in every element. */
static LLVMValueRef splat(const struct poison *p, LLVMValueRef shadow, unsigned count)
{
    LLVMTypeRef one = LLVMVectorType(p->i1, 1);
    LLVMValueRef zero = LLVMConstNull(p->i32);
    static const unsigned first[MAX_ELEMENTS];
    return shuffle(p, LLVMBuildInsertElement(p->builder, LLVMGetPoison(one), shadow, zero, ""),
                   first, count);
}

/* i1: whether any element's is set. */
static LLVMValueRef any(const struct poison *p, LLVMValueRef shadow)
{
    LLVMTypeRef type = LLVMTypeOf(shadow);
    LLVMValueRef result = bit(p, false);
    if (is_aggregate(type)) {
        for (unsigned i = 0; i < count_of(type); i++)
            result = LLVMBuildOr(p->builder, result,
                                 any(p, LLVMBuildExtractValue(p->builder, shadow, i, "")), "");
        return result;
    }
    if (!is_vector(type))
        return shadow;
    LLVMTypeRef bits = LLVMIntTypeInContext(p->context, count_of(type));
    LLVMValueRef number = LLVMBuildBitCast(p->builder, shadow, bits, "");
    return LLVMBuildICmp(p->builder, LLVMIntNE, number, LLVMConstNull(bits), "");
}

/* One for as many elements: groups of neighbours become one, or one becomes a group of them. */
static LLVMValueRef resize(const struct poison *p, LLVMValueRef shadow, LLVMTypeRef to)
{
    unsigned from_count = count_of(LLVMTypeOf(shadow));
    unsigned count = count_of(to);
    unsigned from[MAX_ELEMENTS];
    if (is_aggregate(LLVMTypeOf(shadow)) || !is_vector(to))
        return any(p, shadow);
    if (!is_vector(LLVMTypeOf(shadow)))
        return splat(p, shadow, count);
    if (from_count == count)
        return shadow;
    LLVMValueRef result = NULL;
    unsigned group = from_count > count ? from_count / count : 1;
    for (unsigned k = 0; k < group; k++) {
        for (unsigned i = 0; i < count; i++)
            from[i] = from_count > count ? i * group + k : i / (count / from_count);
        LLVMValueRef one = shuffle(p, shadow, from, count);
        result = result == NULL ? one : LLVMBuildOr(p->builder, result, one, "");
    }
    return result;
}

/* Both; `more` is of as many elements, or of one for all of them. */
static LLVMValueRef both(const struct poison *p, LLVMValueRef shadow, LLVMValueRef more)
{
    LLVMTypeRef type = LLVMTypeOf(shadow);
    if (!is_aggregate(type))
        return LLVMBuildOr(p->builder, shadow, resize(p, more, type), "");
    for (unsigned i = 0; i < count_of(type); i++) {
        LLVMValueRef field = LLVMBuildExtractValue(p->builder, shadow, i, "");
        LLVMValueRef of_field =
            is_aggregate(LLVMTypeOf(more)) ? LLVMBuildExtractValue(p->builder, more, i, "") : more;
        shadow = LLVMBuildInsertValue(p->builder, shadow, both(p, field, of_field), i, "");
    }
    return shadow;
}

/* ---- constants ---- */

static LLVMValueRef shadow_of_constant(struct poison *p, LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    LLVMValueRef elements[MAX_ELEMENTS];
    unsigned count = count_of(type);
    if (!is_vector(type) && !is_aggregate(type))
        return bit(p, LLVMIsPoison(value));
    if (LLVMIsAConstantVector(value) == NULL && LLVMIsAConstantStruct(value) == NULL &&
        LLVMIsAConstantArray(value) == NULL && !LLVMIsPoison(value))
        return none(p, type);
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef element = LLVMGetAggregateElement(value, i);
        elements[i] = element == NULL ? bit(p, false) : shadow_of_constant(p, element);
    }
    return is_vector(type) ? LLVMConstVector(elements, count)
                           : LLVMConstStructInContext(p->context, elements, count, false);
}

/* ---- checks ---- */

static void check(const struct poison *p, LLVMValueRef is_poison, enum poison_use use)
{
    if (LLVMIsAConstantInt(is_poison) != NULL && LLVMConstIntGetZExtValue(is_poison) == 0)
        return;
    LLVMValueRef arguments[] = {LLVMBuildZExt(p->builder, is_poison, p->i32, ""),
                                LLVMConstInt(p->i32, use, false)};
    LLVMBuildCall2(p->builder, p->check_type, p->check, arguments, 2, "");
}

static void check_operand(struct poison *p, LLVMValueRef inst, unsigned operand,
                          enum poison_use use)
{
    LLVMValueRef shadow = shadow_of(p, LLVMGetOperand(inst, operand));
    LLVMPositionBuilderBefore(p->builder, inst);
    check(p, any(p, shadow), use);
}

/* Whether it is a variable of the function: values that wait in one may be poison. */
static bool is_variable(LLVMValueRef pointer)
{
    while (LLVMIsAGetElementPtrInst(pointer) != NULL)
        pointer = LLVMGetOperand(pointer, 0);
    return LLVMIsAAllocaInst(pointer) != NULL;
}

/* Bits of the shadow where the address is none of a variable for what means nothing. */
static LLVMValueRef elsewhere(const struct poison *p, LLVMValueRef shadow, LLVMValueRef address)
{
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(p->function);
    for (LLVMValueRef inst = LLVMGetFirstInstruction(entry); inst != NULL;
         inst = LLVMGetNextInstruction(inst)) {
        if (LLVMIsAAllocaInst(inst) == NULL)
            continue;
        LLVMValueRef is_other = LLVMBuildICmp(p->builder, LLVMIntNE, address, inst, "");
        shadow = LLVMBuildAnd(p->builder, shadow, is_other, "");
    }
    return shadow;
}

static void check_store(struct poison *p, LLVMValueRef inst)
{
    LLVMValueRef address = LLVMGetOperand(inst, 1);
    check_operand(p, inst, 1, POISON_ADDRESS);
    if (is_variable(address))
        return;
    LLVMValueRef shadow = shadow_of(p, LLVMGetOperand(inst, 0));
    LLVMPositionBuilderBefore(p->builder, inst);
    check(p, elsewhere(p, any(p, shadow), address), POISON_STORED);
}

/* Operands of a masked access: `stored` is TR_NONE for loads. */
struct masked {
    const char *name;
    int stored, address, mask, otherwise;
};

static const struct masked masked_accesses[] = {{"llvm.masked.load", -1, 0, 1, 2},
                                                {"llvm.masked.gather", -1, 0, 1, 2},
                                                {"llvm.masked.expandload", -1, 0, 1, 2},
                                                {"llvm.masked.store", 0, 1, 2, -1},
                                                {"llvm.masked.scatter", 0, 1, 2, -1}};

static const char *callee_name(LLVMValueRef call)
{
    size_t length = 0;
    LLVMValueRef callee = LLVMGetCalledValue(call);
    return LLVMIsAFunction(callee) == NULL ? "" : LLVMGetValueName2(callee, &length);
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static const struct masked *masked_access(LLVMValueRef inst)
{
    if (LLVMIsACallInst(inst) == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof masked_accesses / sizeof *masked_accesses; i++)
        if (begins(callee_name(inst), masked_accesses[i].name))
            return &masked_accesses[i];
    return NULL;
}

static void check_masked(struct poison *p, LLVMValueRef inst, const struct masked *masked)
{
    LLVMValueRef mask = LLVMGetOperand(inst, (unsigned)masked->mask);
    LLVMValueRef address = LLVMGetOperand(inst, (unsigned)masked->address);
    LLVMValueRef of_address = shadow_of(p, address);
    LLVMValueRef of_stored =
        masked->stored < 0 ? NULL : shadow_of(p, LLVMGetOperand(inst, (unsigned)masked->stored));
    check_operand(p, inst, (unsigned)masked->mask, POISON_MASK);
    of_address = resize(p, of_address, LLVMTypeOf(mask));
    check(p, any(p, LLVMBuildAnd(p->builder, mask, of_address, "")), POISON_ADDRESS);
    if (of_stored != NULL && !is_variable(address))
        check(p, any(p, LLVMBuildAnd(p->builder, mask, of_stored, "")), POISON_STORED);
}

static void check_call(struct poison *p, LLVMValueRef inst)
{
    const struct masked *masked = masked_access(inst);
    const char *name = callee_name(inst);
    bool is_assumption = begins(name, "llvm.assume");
    if (masked != NULL)
        check_masked(p, inst, masked);
    else if (!begins(name, "llvm.") || is_assumption)
        for (unsigned i = 0; i < LLVMGetNumArgOperands(inst); i++)
            check_operand(p, inst, i, is_assumption ? POISON_BRANCH : POISON_ARGUMENT);
}

/* Checks the operands that the instruction must not get. */
static void check_instruction(struct poison *p, LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMBr:
    case LLVMSwitch:
        if (LLVMGetInstructionOpcode(inst) == LLVMSwitch || LLVMIsConditional(inst))
            check_operand(p, inst, 0, POISON_BRANCH);
        break;
    case LLVMLoad:
        check_operand(p, inst, 0, POISON_ADDRESS);
        break;
    case LLVMStore:
        check_store(p, inst);
        break;
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        check_operand(p, inst, 0, POISON_ADDRESS);
        for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(inst); i++)
            check_operand(p, inst, i, POISON_STORED);
        break;
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem:
        check_operand(p, inst, 1, POISON_DIVISOR);
        break;
    case LLVMCall:
        check_call(p, inst);
        break;
    default:
        break;
    }
}

/* ---- poison that instructions make ---- */

static LLVMValueRef overflows(const struct poison *p, LLVMValueRef inst, const char *intrinsic)
{
    LLVMValueRef operands[] = {LLVMGetOperand(inst, 0), LLVMGetOperand(inst, 1)};
    LLVMTypeRef type = LLVMTypeOf(inst);
    unsigned id = LLVMLookupIntrinsicID(intrinsic, strlen(intrinsic));
    LLVMValueRef callee =
        LLVMGetIntrinsicDeclaration(LLVMGetGlobalParent(p->function), id, &type, 1);
    LLVMValueRef call = LLVMBuildCall2(p->builder, LLVMIntrinsicGetType(p->context, id, &type, 1),
                                       callee, operands, 2, "");
    return LLVMBuildExtractValue(p->builder, call, 1, "");
}

static LLVMValueRef differs(const struct poison *p, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildICmp(p->builder, LLVMIntNE, a, b, "");
}

/* The amount has as many bits as the number, or more; bits shifted out must not be lost. */
static LLVMValueRef bad_shift(const struct poison *p, LLVMValueRef inst, LLVMValueRef shadow)
{
    LLVMBuilderRef b = p->builder;
    LLVMTypeRef type = LLVMTypeOf(inst);
    LLVMTypeRef element = is_vector(type) ? LLVMGetElementType(type) : type;
    LLVMValueRef bits[MAX_ELEMENTS];
    LLVMValueRef amount = LLVMGetOperand(inst, 1);
    unsigned count = count_of(type);
    for (unsigned i = 0; i < count; i++)
        bits[i] = LLVMConstInt(element, LLVMGetIntTypeWidth(element), false);
    LLVMValueRef limit = is_vector(type) ? LLVMConstVector(bits, count) : bits[0];
    shadow = both(p, shadow, LLVMBuildICmp(b, LLVMIntUGE, amount, limit, ""));
    if (LLVMGetInstructionOpcode(inst) != LLVMShl)
        return shadow;
    LLVMValueRef from = LLVMGetOperand(inst, 0);
    if (LLVMGetNSW(inst))
        shadow = both(p, shadow, differs(p, LLVMBuildAShr(b, inst, amount, ""), from));
    if (LLVMGetNUW(inst))
        shadow = both(p, shadow, differs(p, LLVMBuildLShr(b, inst, amount, ""), from));
    return shadow;
}

static LLVMValueRef bad_sum(const struct poison *p, LLVMValueRef inst, LLVMValueRef shadow)
{
    static const char *const names[][2] = {{"llvm.sadd.with.overflow", "llvm.uadd.with.overflow"},
                                           {"llvm.ssub.with.overflow", "llvm.usub.with.overflow"},
                                           {"llvm.smul.with.overflow", "llvm.umul.with.overflow"}};
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    const char *const *name = names[opcode == LLVMAdd ? 0 : opcode == LLVMSub ? 1 : 2];
    if (LLVMGetNSW(inst))
        shadow = both(p, shadow, overflows(p, inst, name[0]));
    if (LLVMGetNUW(inst))
        shadow = both(p, shadow, overflows(p, inst, name[1]));
    return shadow;
}

/* Elements of two numbers with a common bit, of a negative number, of different signs. */
static LLVMValueRef bad_bits(const struct poison *p, LLVMValueRef inst, LLVMValueRef shadow)
{
    LLVMBuilderRef b = p->builder;
    LLVMValueRef left = LLVMGetOperand(inst, 0);
    LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(left));
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    if (opcode == LLVMOr && LLVMGetIsDisjoint(inst))
        shadow =
            both(p, shadow, differs(p, LLVMBuildAnd(b, left, LLVMGetOperand(inst, 1), ""), zero));
    if (opcode == LLVMZExt && LLVMGetNNeg(inst))
        shadow = both(p, shadow, LLVMBuildICmp(b, LLVMIntSLT, left, zero, ""));
    if (opcode == LLVMICmp && LLVMGetICmpSameSign(inst)) {
        LLVMValueRef signs = LLVMBuildXor(b, left, LLVMGetOperand(inst, 1), "");
        shadow = both(p, shadow, LLVMBuildICmp(b, LLVMIntSLT, signs, zero, ""));
    }
    if (opcode == LLVMTrunc && LLVMGetNSW(inst))
        shadow = both(p, shadow, differs(p, LLVMBuildSExt(b, inst, LLVMTypeOf(left), ""), left));
    if (opcode == LLVMTrunc && LLVMGetNUW(inst))
        shadow = both(p, shadow, differs(p, LLVMBuildZExt(b, inst, LLVMTypeOf(left), ""), left));
    return shadow;
}

static LLVMValueRef from_flags(const struct poison *p, LLVMValueRef inst, LLVMValueRef shadow)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
        return bad_sum(p, inst, shadow);
    case LLVMShl:
    case LLVMLShr:
    case LLVMAShr:
        return bad_shift(p, inst, shadow);
    case LLVMOr:
    case LLVMZExt:
    case LLVMICmp:
    case LLVMTrunc:
        return bad_bits(p, inst, shadow);
    default:
        return shadow;
    }
}

/* ---- shadows of instructions ---- */

static LLVMValueRef shadow_of_select(const struct poison *p, LLVMValueRef inst,
                                     LLVMValueRef *operands)
{
    LLVMValueRef chosen =
        LLVMBuildSelect(p->builder, LLVMGetOperand(inst, 0), operands[1], operands[2], "");
    return both(p, chosen, operands[0]);
}

static LLVMValueRef is_beyond(const struct poison *p, LLVMValueRef vector, LLVMValueRef index)
{
    LLVMValueRef count = LLVMConstInt(LLVMTypeOf(index), count_of(LLVMTypeOf(vector)), false);
    return LLVMBuildICmp(p->builder, LLVMIntUGE, index, count, "");
}

static LLVMValueRef shadow_of_shuffle(const struct poison *p, LLVMValueRef inst,
                                      LLVMValueRef *operands)
{
    LLVMValueRef indices[MAX_ELEMENTS];
    LLVMValueRef nothing[MAX_ELEMENTS];
    unsigned count = LLVMGetNumMaskElements(inst);
    for (unsigned i = 0; i < count; i++) {
        int from = LLVMGetMaskValue(inst, i);
        indices[i] = LLVMConstInt(p->i32, from < 0 ? 0 : (unsigned)from, false);
        nothing[i] = bit(p, from < 0);
    }
    LLVMValueRef shadow = LLVMBuildShuffleVector(p->builder, operands[0], operands[1],
                                                 LLVMConstVector(indices, count), "");
    return LLVMBuildOr(p->builder, shadow, LLVMConstVector(nothing, count), "");
}

static LLVMValueRef shadow_of_field(const struct poison *p, LLVMValueRef inst,
                                    LLVMValueRef aggregate)
{
    const unsigned *indices = LLVMGetIndices(inst);
    for (unsigned i = 0; i < LLVMGetNumIndices(inst); i++)
        aggregate = LLVMBuildExtractValue(p->builder, aggregate, indices[i], "");
    return aggregate;
}

static LLVMValueRef insert_field(const struct poison *p, LLVMValueRef aggregate,
                                 const unsigned *indices, unsigned count, LLVMValueRef field)
{
    if (count == 0)
        return field;
    LLVMValueRef inner = LLVMBuildExtractValue(p->builder, aggregate, indices[0], "");
    inner = insert_field(p, inner, indices + 1, count - 1, field);
    return LLVMBuildInsertValue(p->builder, aggregate, inner, indices[0], "");
}

/* Elements of the result from the same of the operands, or from all of them. */
static LLVMValueRef shadow_of_all(const struct poison *p, LLVMValueRef inst, LLVMValueRef *operands,
                                  unsigned count)
{
    LLVMValueRef shadow = none(p, LLVMTypeOf(inst));
    for (unsigned i = 0; i < count; i++)
        shadow = both(p, shadow, operands[i]);
    return from_flags(p, inst, shadow);
}

static LLVMValueRef shadow_of_call(const struct poison *p, LLVMValueRef inst,
                                   LLVMValueRef *operands)
{
    const struct masked *masked = masked_access(inst);
    LLVMTypeRef type = LLVMTypeOf(inst);
    if (masked != NULL) /* a load */
        return LLVMBuildSelect(p->builder, LLVMGetOperand(inst, (unsigned)masked->mask),
                               none(p, type), operands[masked->otherwise], "");
    if (!begins(callee_name(inst), "llvm."))
        return none(p, type);
    return shadow_of_all(p, inst, operands, LLVMGetNumArgOperands(inst));
}

/* The builder is behind the instruction. */
static LLVMValueRef make_shadow(const struct poison *p, LLVMValueRef inst, LLVMValueRef *operands,
                                unsigned count)
{
    LLVMBuilderRef b = p->builder;
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMSelect:
        return shadow_of_select(p, inst, operands);
    case LLVMExtractElement:
        return both(p, LLVMBuildExtractElement(b, operands[0], LLVMGetOperand(inst, 1), ""),
                    LLVMBuildOr(b, operands[1],
                                is_beyond(p, LLVMGetOperand(inst, 0), LLVMGetOperand(inst, 1)),
                                ""));
    case LLVMInsertElement:
        return both(
            p, LLVMBuildInsertElement(b, operands[0], operands[1], LLVMGetOperand(inst, 2), ""),
            operands[2]);
    case LLVMShuffleVector:
        return shadow_of_shuffle(p, inst, operands);
    case LLVMExtractValue:
        return shadow_of_field(p, inst, operands[0]);
    case LLVMInsertValue:
        return insert_field(p, operands[0], LLVMGetIndices(inst), LLVMGetNumIndices(inst),
                            operands[1]);
    case LLVMCall:
        return shadow_of_call(p, inst, operands);
    case LLVMFreeze:
    case LLVMLoad:
    case LLVMAlloca:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return none(p, LLVMTypeOf(inst));
    default:
        return shadow_of_all(p, inst, operands, count);
    }
}

static void remember(struct poison *p, LLVMValueRef value, LLVMValueRef shadow)
{
    struct shadow *entry = malloc(sizeof *entry);
    if (entry == NULL) {
        p->is_out_of_memory = true;
        return;
    }
    *entry = (struct shadow){.value = value, .shadow = shadow};
    HASH_ADD_PTR(p->shadows, value, entry);
}

#define MAX_OPERANDS 64

static LLVMValueRef shadow_of_instruction(struct poison *p, LLVMValueRef inst)
{
    LLVMValueRef operands[MAX_OPERANDS];
    unsigned count = (unsigned)LLVMGetNumOperands(inst);
    if (LLVMIsACallInst(inst) != NULL)
        count = LLVMGetNumArgOperands(inst);
    count = count < MAX_OPERANDS ? count : MAX_OPERANDS;
    for (unsigned i = 0; i < count; i++)
        operands[i] = shadow_of(p, LLVMGetOperand(inst, i));
    LLVMPositionBuilderBefore(p->builder, LLVMGetNextInstruction(inst));
    return make_shadow(p, inst, operands, count);
}

static LLVMValueRef shadow_of(struct poison *p, LLVMValueRef value)
{
    struct shadow *entry = NULL;
    HASH_FIND_PTR(p->shadows, &value, entry);
    if (entry != NULL)
        return entry->shadow;
    if (LLVMIsAInstruction(value) == NULL)
        return LLVMIsConstant(value) ? shadow_of_constant(p, value) : none(p, LLVMTypeOf(value));
    LLVMValueRef shadow = shadow_of_instruction(p, value);
    remember(p, value, shadow);
    return shadow;
}

/* ---- the function ---- */

static void begin_phis(struct poison *p, LLVMValueRef *insts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (LLVMIsAPHINode(insts[i]) == NULL)
            continue;
        LLVMPositionBuilderBefore(p->builder, insts[i]);
        remember(p, insts[i], LLVMBuildPhi(p->builder, shadow_type(p, LLVMTypeOf(insts[i])), ""));
    }
}

static void end_phi(struct poison *p, LLVMValueRef phi)
{
    LLVMValueRef shadow = shadow_of(p, phi);
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMValueRef value = shadow_of(p, LLVMGetIncomingValue(phi, i));
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
        LLVMAddIncoming(shadow, &value, &from, 1);
    }
}

/* The instructions as they are now; malloc. */
static LLVMValueRef *list_instructions(LLVMValueRef function, size_t *count)
{
    LLVMValueRef *list = NULL;
    *count = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1)
            list = malloc((*count + 1) * sizeof(LLVMValueRef));
        if (pass == 1 && list == NULL)
            return NULL;
        *count = 0;
        for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block != NULL;
             block = LLVMGetNextBasicBlock(block))
            for (LLVMValueRef inst = LLVMGetFirstInstruction(block); inst != NULL;
                 inst = LLVMGetNextInstruction(inst), (*count)++)
                if (list != NULL)
                    list[*count] = inst;
    }
    return list;
}

static void declare_check(struct poison *p, LLVMModuleRef module)
{
    LLVMTypeRef parameters[] = {p->i32, p->i32};
    p->check_type = LLVMFunctionType(LLVMVoidTypeInContext(p->context), parameters, 2, false);
    p->check = LLVMAddFunction(module, POISON_FUNCTION, p->check_type);
}

enum pxr_status poison_instrument(LLVMValueRef function, struct pxr_error *err)
{
    size_t count = 0;
    LLVMModuleRef module = LLVMGetGlobalParent(function);
    struct poison p = {.function = function, .context = LLVMGetModuleContext(module)};
    LLVMValueRef *insts = list_instructions(function, &count);
    p.builder = LLVMCreateBuilderInContext(p.context);
    p.i1 = LLVMInt1TypeInContext(p.context);
    p.i32 = LLVMInt32TypeInContext(p.context);
    p.is_out_of_memory = insts == NULL;
    declare_check(&p, module);
    begin_phis(&p, insts, p.is_out_of_memory ? 0 : count);
    for (size_t i = 0; i < count && !p.is_out_of_memory; i++) {
        check_instruction(&p, insts[i]);
        if (LLVMIsAPHINode(insts[i]) != NULL)
            end_phi(&p, insts[i]);
    }
    struct shadow *entry;
    struct shadow *next;
    HASH_ITER(hh, p.shadows, entry, next)
    {
        HASH_DEL(p.shadows, entry);
        free(entry);
    }
    LLVMDisposeBuilder(p.builder);
    free(insts);
    return p.is_out_of_memory ? pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory") : PXR_OK;
}
