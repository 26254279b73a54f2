/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/module/written_values.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "kernel_abi/placeholders.h"
#include "kernel_abi/rt.h"
#include "translator/module/checks.h"
#include "translator/module/declare.h"

/* What is followed from one read at most. */
#define FOLLOWED_MAX      64

#define MARK_OPERANDS_MAX 4

/* ---- marks: calls of functions that have no body ---- */

enum mark { MARK_READ, MARK_OWN, MARK_WRITTEN_OF, MARK_STORED, MARKS, NO_MARK = MARKS };

static const char *const prefixes[MARKS] = {[MARK_READ] = "read.",
                                            [MARK_OWN] = "own.",
                                            [MARK_WRITTEN_OF] = "written_of.",
                                            [MARK_STORED] = "stored."};

static void add_attribute(LLVMValueRef function, const char *name, uint64_t value)
{
    LLVMContextRef llvm = LLVMGetModuleContext(LLVMGetGlobalParent(function));
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(llvm, kind, value));
}

/* One for each type of the first operand. */
static LLVMValueRef mark_function(LLVMModuleRef module, enum mark mark,
                                  const LLVMValueRef *operands, unsigned count)
{
    LLVMTypeRef type = LLVMTypeOf(operands[0]);
    LLVMTypeRef parameters[MARK_OPERANDS_MAX];
    char name[64] = "";
    char *type_name = LLVMPrintTypeToString(type);
    strcat(strcpy(name, prefixes[mark]), strlen(type_name) < 32 ? type_name : "");
    LLVMDisposeMessage(type_name);
    LLVMValueRef function = LLVMGetNamedFunction(module, name);
    if (function != NULL)
        return function;
    for (unsigned i = 0; i < count; i++)
        parameters[i] = LLVMTypeOf(operands[i]);
    if (mark == MARK_WRITTEN_OF)
        type = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
    function = LLVMAddFunction(module, name, LLVMFunctionType(type, parameters, count, false));
    add_attribute(function, "memory", 0); /* none */
    add_attribute(function, "nounwind", 0);
    add_attribute(function, "willreturn", 0);
    return function;
}

static LLVMValueRef call_mark(LLVMBuilderRef builder, enum mark mark, LLVMValueRef *operands,
                              unsigned count)
{
    LLVMModuleRef module =
        LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInsertBlock(builder)));
    LLVMValueRef function = mark_function(module, mark, operands, count);
    return LLVMBuildCall2(builder, LLVMGlobalGetValueType(function), function, operands, count, "");
}

LLVMValueRef tr_mark_read(LLVMBuilderRef builder, LLVMValueRef value, LLVMValueRef written)
{
    return call_mark(builder, MARK_READ, (LLVMValueRef[]){value, written}, 2);
}

LLVMValueRef tr_mark_own(LLVMBuilderRef builder, LLVMValueRef written, LLVMValueRef thread,
                         LLVMValueRef place, LLVMValueRef accesses)
{
    LLVMValueRef operands[MARK_OPERANDS_MAX] = {written, thread, place, accesses};
    return call_mark(builder, MARK_OWN, operands, MARK_OPERANDS_MAX);
}

LLVMValueRef tr_written_of(LLVMBuilderRef builder, LLVMValueRef value)
{
    return call_mark(builder, MARK_WRITTEN_OF, &value, 1);
}

LLVMValueRef tr_mark_stored(LLVMBuilderRef builder, LLVMValueRef value)
{
    return call_mark(builder, MARK_STORED, &value, 1);
}

static enum mark mark_of_function(LLVMValueRef function)
{
    size_t len = 0;
    const char *name = LLVMGetValueName2(function, &len);
    for (int i = 0; i < MARKS; i++)
        if (LLVMIsDeclaration(function) && strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return (enum mark)i;
    return NO_MARK;
}

static enum mark mark_of(LLVMValueRef value)
{
    if (LLVMIsACallInst(value) == NULL)
        return NO_MARK;
    LLVMValueRef callee = LLVMGetCalledValue(value);
    return LLVMIsAFunction(callee) == NULL ? NO_MARK : mark_of_function(callee);
}

/* ---- instructions that move bytes ---- */

static unsigned bytes_of_type(LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(type) % 8 == 0 ? LLVMGetIntTypeWidth(type) / 8 : 0;
    case LLVMFloatTypeKind:
        return 4;
    case LLVMDoubleTypeKind:
        return 8;
    case LLVMVectorTypeKind:
        return LLVMGetVectorSize(type) * bytes_of_type(LLVMGetElementType(type));
    default:
        return 0;
    }
}

/* 0: it has no whole bytes, or too many. */
static unsigned bytes_of(LLVMValueRef value)
{
    unsigned bytes = bytes_of_type(LLVMTypeOf(value));
    return bytes <= RT_WRITTEN_MAX ? bytes : 0;
}

static bool constant_of(LLVMValueRef value, uint64_t *number)
{
    if (LLVMIsAConstantInt(value) == NULL || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64)
        return false;
    *number = LLVMConstIntGetZExtValue(value);
    return true;
}

/* A constant mask: the bytes that it makes 0. Of others it may keep some bits, as where a program
 * sets one of several fields of bits: such a byte is as unwritten as it was. */
static bool is_mask(LLVMValueRef value, uint32_t *zeros)
{
    uint64_t number;
    *zeros = 0;
    if (!constant_of(value, &number))
        return false;
    for (unsigned i = 0; i < bytes_of(value); i++)
        *zeros |= (uint32_t)((uint8_t)(number >> (8 * i)) == 0) << i;
    return true;
}

/* The distance of bytes by which it shifts, or the place of an element in bytes. */
static bool find_distance(LLVMValueRef inst, unsigned *bytes)
{
    uint64_t number;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    unsigned operand = opcode == LLVMInsertElement ? 2 : 1;
    if (!constant_of(LLVMGetOperand(inst, operand), &number) || number >= UINT8_MAX)
        return false;
    *bytes = (unsigned)number / 8;
    if (opcode == LLVMShl || opcode == LLVMLShr)
        return number % 8 == 0 && LLVMGetTypeKind(LLVMTypeOf(inst)) == LLVMIntegerTypeKind;
    LLVMValueRef vector = LLVMGetOperand(inst, 0);
    *bytes = (unsigned)number * bytes_of_type(LLVMGetElementType(LLVMTypeOf(vector)));
    return *bytes < bytes_of(vector);
}

/* Whether the instruction only moves the bytes of the operand that is the value. */
static bool moves(LLVMValueRef inst, LLVMValueRef value)
{
    uint32_t zeros;
    unsigned bytes;
    if (bytes_of(inst) == 0 || bytes_of(value) == 0)
        return false;
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMPHI:
    case LLVMFreeze:
    case LLVMBitCast:
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMOr:
        return true;
    case LLVMSelect:
        return LLVMGetOperand(inst, 0) != value;
    case LLVMAnd:
        return is_mask(LLVMGetOperand(inst, 1), &zeros);
    case LLVMShl:
    case LLVMLShr:
    case LLVMExtractElement:
    case LLVMInsertElement:
        return find_distance(inst, &bytes);
    default:
        return false;
    }
}

/* ---- where values go ---- */

struct followed {
    unsigned count;
    LLVMValueRef values[FOLLOWED_MAX];
};

/* False: there are too many. */
static bool add_followed(struct followed *followed, LLVMValueRef value)
{
    for (unsigned i = 0; i < followed->count; i++)
        if (followed->values[i] == value)
            return true;
    if (followed->count == FOLLOWED_MAX)
        return false;
    followed->values[followed->count++] = value;
    return true;
}

/* Whether the instruction only tells the value to checks of races, beside the store. */
static bool only_tells(LLVMValueRef inst)
{
    size_t len = 0;
    if (LLVMIsACallInst(inst) == NULL)
        return false;
    const char *name = LLVMGetValueName2(LLVMGetCalledValue(inst), &len);
    return rt_find_placeholder(name, len) == RT_CALL_RACE_ACCESS;
}

/* Whether the value, which was read, and all that is made of it, is only stored. */
static bool is_only_stored(LLVMValueRef read)
{
    struct followed followed = {.count = 1, .values = {read}};
    for (unsigned i = 0; i < followed.count; i++) {
        LLVMValueRef value = followed.values[i];
        for (LLVMUseRef use = LLVMGetFirstUse(value); use != NULL; use = LLVMGetNextUse(use)) {
            LLVMValueRef user = LLVMGetUser(use);
            enum mark mark = mark_of(user);
            if (mark == MARK_WRITTEN_OF || mark == MARK_STORED || only_tells(user))
                continue;
            if (LLVMIsAInstruction(user) == NULL || !moves(user, value) ||
                !add_followed(&followed, user))
                return false;
        }
    }
    return true;
}

/* Whether something of the value was read and is only stored. */
static bool has_read(LLVMValueRef value)
{
    struct followed followed = {.count = 1, .values = {value}};
    for (unsigned i = 0; i < followed.count; i++) {
        LLVMValueRef from = followed.values[i];
        if (mark_of(from) == MARK_READ)
            return true;
        if (LLVMIsAInstruction(from) == NULL)
            continue;
        for (unsigned k = 0; k < (unsigned)LLVMGetNumOperands(from); k++) {
            LLVMValueRef operand = LLVMGetOperand(from, k);
            if (LLVMIsAInstruction(operand) != NULL && moves(from, operand) &&
                !add_followed(&followed, operand))
                return true;
        }
    }
    return false;
}

/* ---- what has been written of them ---- */

struct pair {
    LLVMValueRef value;
    LLVMValueRef written;
};

struct follow {
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMTypeRef i32;
    struct pair *phis;
    size_t phi_count;
    size_t phi_cap;
};

static LLVMValueRef number(const struct follow *follow, uint32_t n)
{
    return LLVMConstInt(follow->i32, n, false);
}

static uint32_t ones(unsigned count)
{
    return count < RT_WRITTEN_MAX ? (UINT32_C(1) << count) - 1 : RT_WRITTEN_ALL;
}

static LLVMValueRef written_of(struct follow *follow, LLVMValueRef value);

static LLVMValueRef written_of_phi(struct follow *follow, LLVMValueRef phi)
{
    for (size_t i = 0; i < follow->phi_count; i++)
        if (follow->phis[i].value == phi)
            return follow->phis[i].written;
    if (follow->phi_count == follow->phi_cap) {
        size_t cap = follow->phi_cap ? 2 * follow->phi_cap : 16;
        struct pair *phis = realloc(follow->phis, cap * sizeof *phis);
        if (phis == NULL)
            return number(follow, RT_WRITTEN_ALL);
        follow->phis = phis;
        follow->phi_cap = cap;
    }
    LLVMPositionBuilderBefore(follow->builder, phi);
    LLVMValueRef written = LLVMBuildPhi(follow->builder, follow->i32, "written");
    follow->phis[follow->phi_count++] = (struct pair){phi, written};
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
        LLVMBasicBlockRef from = LLVMGetIncomingBlock(phi, i);
        LLVMValueRef incoming = written_of(follow, LLVMGetIncomingValue(phi, i));
        LLVMAddIncoming(written, &incoming, &from, 1);
    }
    return written;
}

/* Bytes of the first value that lie behind the distance; others are 1. */
static LLVMValueRef take_up(struct follow *follow, LLVMValueRef written, unsigned distance)
{
    written = LLVMBuildLShr(follow->builder, written, number(follow, distance), "");
    return LLVMBuildOr(follow->builder, written, number(follow, ~(RT_WRITTEN_ALL >> distance)), "");
}

static LLVMValueRef put_up(struct follow *follow, LLVMValueRef written, unsigned distance)
{
    written = LLVMBuildShl(follow->builder, written, number(follow, distance), "");
    return LLVMBuildOr(follow->builder, written, number(follow, ones(distance)), "");
}

static LLVMValueRef end_at(struct follow *follow, LLVMValueRef written, unsigned bytes)
{
    return LLVMBuildOr(follow->builder, written, number(follow, ~ones(bytes)), "");
}

static LLVMValueRef insert(struct follow *follow, LLVMValueRef inst, LLVMValueRef vector,
                           LLVMValueRef element, unsigned distance)
{
    uint32_t place = ones(bytes_of(LLVMGetOperand(inst, 1))) << distance;
    vector = LLVMBuildOr(follow->builder, vector, number(follow, place), "");
    return LLVMBuildAnd(follow->builder, vector, put_up(follow, element, distance), "");
}

static LLVMValueRef written_of_move(struct follow *follow, LLVMValueRef inst)
{
    LLVMBuilderRef b = follow->builder;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    uint32_t zeros;
    unsigned distance = 0;
    LLVMValueRef operands[3] = {NULL};
    for (unsigned i = 0; i < 3 && i < (unsigned)LLVMGetNumOperands(inst); i++)
        operands[i] = written_of(follow, LLVMGetOperand(inst, i));
    LLVMPositionBuilderBefore(b, inst);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(inst));
    switch (opcode) {
    case LLVMTrunc:
        return end_at(follow, operands[0], bytes_of(inst));
    case LLVMOr:
        return LLVMBuildAnd(b, operands[0], operands[1], "");
    case LLVMSelect:
        return LLVMBuildSelect(b, LLVMGetOperand(inst, 0), operands[1], operands[2], "");
    case LLVMAnd:
        is_mask(LLVMGetOperand(inst, 1), &zeros);
        return LLVMBuildOr(b, operands[0], number(follow, zeros), "");
    case LLVMShl:
        find_distance(inst, &distance);
        return end_at(follow, put_up(follow, operands[0], distance), bytes_of(inst));
    case LLVMLShr:
        find_distance(inst, &distance);
        return take_up(follow, operands[0], distance);
    case LLVMExtractElement:
        find_distance(inst, &distance);
        return end_at(follow, take_up(follow, operands[0], distance), bytes_of(inst));
    case LLVMInsertElement:
        find_distance(inst, &distance);
        return insert(follow, inst, operands[0], operands[1], distance);
    default:
        return operands[0];
    }
}

static LLVMValueRef written_of(struct follow *follow, LLVMValueRef value)
{
    if (mark_of(value) == MARK_READ)
        return LLVMGetOperand(value, 1);
    if (LLVMIsAInstruction(value) == NULL || LLVMGetNumOperands(value) == 0 || !has_read(value) ||
        !moves(value, LLVMGetOperand(value, LLVMIsASelectInst(value) != NULL)))
        return number(follow, RT_WRITTEN_ALL);
    return LLVMIsAPHINode(value) != NULL ? written_of_phi(follow, value)
                                         : written_of_move(follow, value);
}

/* ---- taking marks out ---- */

/* Calls f of each call of this mark, which may erase it. */
static void for_each(struct follow *follow, enum mark mark,
                     void (*f)(struct follow *follow, LLVMValueRef call))
{
    for (LLVMValueRef function = LLVMGetFirstFunction(follow->module); function != NULL;
         function = LLVMGetNextFunction(function)) {
        if (mark_of_function(function) != mark)
            continue;
        LLVMUseRef next;
        for (LLVMUseRef use = LLVMGetFirstUse(function); use != NULL; use = next) {
            next = LLVMGetNextUse(use);
            f(follow, LLVMGetUser(use));
        }
    }
}

static void replace(LLVMValueRef call, LLVMValueRef value)
{
    LLVMReplaceAllUsesWith(call, value);
    LLVMInstructionEraseFromParent(call);
}

static void erase_unused(LLVMValueRef inst)
{
    if (LLVMIsAInstruction(inst) != NULL && LLVMGetFirstUse(inst) == NULL)
        LLVMInstructionEraseFromParent(inst);
}

static void build_check(struct follow *follow, LLVMValueRef before, enum rt_placeholder check,
                        LLVMValueRef *operands, unsigned count)
{
    LLVMValueRef function = tr_declare_placeholder(follow->module, check);
    LLVMPositionBuilderBefore(follow->builder, before);
    LLVMSetCurrentDebugLocation2(follow->builder, LLVMInstructionGetDebugLoc(before));
    LLVMBuildCall2(follow->builder, LLVMGlobalGetValueType(function), function, operands, count,
                   "");
}

/* All of it must have been written: a check stands where that was asked. */
static void check_read(struct follow *follow, LLVMValueRef call)
{
    LLVMValueRef asked = LLVMIsACallInst(LLVMGetOperand(call, 1));
    LLVMValueRef operands[RT_PARAMETERS_MAX];
    unsigned count = asked == NULL ? 0 : (unsigned)LLVMGetNumArgOperands(asked);
    for (unsigned i = 0; i < count; i++)
        operands[i] = LLVMGetOperand(asked, i);
    replace(call, LLVMGetOperand(call, 0));
    if (asked == NULL)
        return;
    if (mark_of(asked) == MARK_OWN) {
        LLVMValueRef own[] = {operands[1], operands[0], operands[2], operands[3]};
        build_check(follow, asked, RT_CALL_CHECK_OWN, own, count);
    } else {
        operands[TR_CHECK_VARIABLE] = LLVMConstNull(LLVMTypeOf(operands[TR_CHECK_ACCESSES]));
        build_check(follow, asked, RT_CALL_CHECK, operands, TR_CHECK_VARIABLE + 1);
        erase_unused(asked);
    }
}

static void check_if_used(struct follow *follow, LLVMValueRef call)
{
    if (!is_only_stored(call))
        check_read(follow, call);
}

static void replace_written(struct follow *follow, LLVMValueRef call)
{
    replace(call, written_of(follow, LLVMGetOperand(call, 0)));
}

static void say_written(struct follow *follow, LLVMValueRef call)
{
    replace(call, number(follow, RT_WRITTEN_ALL));
}

static void drop_mark(struct follow *follow, LLVMValueRef call)
{
    (void)follow;
    LLVMValueRef asked = mark_of(call) == MARK_READ ? LLVMGetOperand(call, 1) : NULL;
    replace(call, LLVMGetOperand(call, 0));
    if (asked != NULL && mark_of(asked) == NO_MARK)
        erase_unused(asked);
}

static void drop_functions(LLVMModuleRef module)
{
    LLVMValueRef next;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = next) {
        next = LLVMGetNextFunction(f);
        if (mark_of_function(f) != NO_MARK)
            LLVMDeleteFunction(f);
    }
}

bool tr_has_written_marks(LLVMModuleRef module)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f))
        if (mark_of_function(f) != NO_MARK)
            return true;
    return false;
}

void tr_follow_written(LLVMModuleRef module, bool has_values)
{
    LLVMContextRef llvm = LLVMGetModuleContext(module);
    struct follow follow = {.module = module,
                            .builder = LLVMCreateBuilderInContext(llvm),
                            .i32 = LLVMInt32TypeInContext(llvm)};
    for_each(&follow, MARK_READ, has_values ? check_if_used : check_read);
    for_each(&follow, MARK_WRITTEN_OF, has_values ? replace_written : say_written);
    for_each(&follow, MARK_STORED, drop_mark);
    for_each(&follow, MARK_READ, drop_mark);
    for_each(&follow, MARK_OWN, drop_mark);
    drop_functions(module);
    free(follow.phis);
    LLVMDisposeBuilder(follow.builder);
}
