/* SPDX-License-Identifier: Apache-2.0
 *
 * LLVM's intrinsic functions that do to each element of a vector what they do to a scalar. LLVM's C
 * interface does not tell which types the name of one depends on, so a table has it.
 */
#include <string.h>

#include "translator/analysis/calls.h"
#include "translator/module/walk.h"
#include "translator/vector/emit/form.h"

#define MAX_ARGUMENTS 8
#define ALL_VECTORS   UINT32_MAX

struct elementwise {
    const char *name; /* behind "llvm." */
    /* The types it is overloaded by: r: the result's; 0, 1: an argument's; f, g: of the result's
     * first and second field. */
    const char *overloads;
    uint32_t scalar_argument; /* an argument that is a constant for all elements */
};

static const struct elementwise table[] = {
    {"abs", "r", 1},
    {"arithmetic.fence", "r", ALL_VECTORS},
    {"bitreverse", "r", ALL_VECTORS},
    {"bswap", "r", ALL_VECTORS},
    {"canonicalize", "r", ALL_VECTORS},
    {"ceil", "r", ALL_VECTORS},
    {"copysign", "r", ALL_VECTORS},
    {"ctlz", "r", 1},
    {"ctpop", "r", ALL_VECTORS},
    {"cttz", "r", 1},
    {"experimental.constrained.ceil", "r", ALL_VECTORS},
    {"experimental.constrained.fadd", "r", ALL_VECTORS},
    {"experimental.constrained.fcmp", "0", ALL_VECTORS},
    {"experimental.constrained.fcmps", "0", ALL_VECTORS},
    {"experimental.constrained.fdiv", "r", ALL_VECTORS},
    {"experimental.constrained.floor", "r", ALL_VECTORS},
    {"experimental.constrained.fma", "r", ALL_VECTORS},
    {"experimental.constrained.fmul", "r", ALL_VECTORS},
    {"experimental.constrained.fmuladd", "r", ALL_VECTORS},
    {"experimental.constrained.fpext", "r0", ALL_VECTORS},
    {"experimental.constrained.fptosi", "r0", ALL_VECTORS},
    {"experimental.constrained.fptoui", "r0", ALL_VECTORS},
    {"experimental.constrained.fptrunc", "r0", ALL_VECTORS},
    {"experimental.constrained.fsub", "r", ALL_VECTORS},
    {"experimental.constrained.maximum", "r", ALL_VECTORS},
    {"experimental.constrained.maxnum", "r", ALL_VECTORS},
    {"experimental.constrained.minimum", "r", ALL_VECTORS},
    {"experimental.constrained.minnum", "r", ALL_VECTORS},
    {"experimental.constrained.nearbyint", "r", ALL_VECTORS},
    {"experimental.constrained.rint", "r", ALL_VECTORS},
    {"experimental.constrained.round", "r", ALL_VECTORS},
    {"experimental.constrained.roundeven", "r", ALL_VECTORS},
    {"experimental.constrained.sitofp", "r0", ALL_VECTORS},
    {"experimental.constrained.sqrt", "r", ALL_VECTORS},
    {"experimental.constrained.trunc", "r", ALL_VECTORS},
    {"experimental.constrained.uitofp", "r0", ALL_VECTORS},
    {"fabs", "r", ALL_VECTORS},
    {"floor", "r", ALL_VECTORS},
    {"fma", "r", ALL_VECTORS},
    {"fmuladd", "r", ALL_VECTORS},
    {"fptosi.sat", "r0", ALL_VECTORS},
    {"fptoui.sat", "r0", ALL_VECTORS},
    {"frexp", "fg", ALL_VECTORS},
    {"fshl", "r", ALL_VECTORS},
    {"fshr", "r", ALL_VECTORS},
    {"is.fpclass", "0", 1},
    {"ldexp", "r1", ALL_VECTORS},
    {"maximum", "r", ALL_VECTORS},
    {"maximumnum", "r", ALL_VECTORS},
    {"maxnum", "r", ALL_VECTORS},
    {"minimum", "r", ALL_VECTORS},
    {"minimumnum", "r", ALL_VECTORS},
    {"minnum", "r", ALL_VECTORS},
    {"nearbyint", "r", ALL_VECTORS},
    {"ptrmask", "r1", ALL_VECTORS},
    {"rint", "r", ALL_VECTORS},
    {"round", "r", ALL_VECTORS},
    {"roundeven", "r", ALL_VECTORS},
    {"sadd.sat", "r", ALL_VECTORS},
    {"sadd.with.overflow", "0", ALL_VECTORS},
    {"scmp", "r0", ALL_VECTORS},
    {"smax", "r", ALL_VECTORS},
    {"smin", "r", ALL_VECTORS},
    {"smul.with.overflow", "0", ALL_VECTORS},
    {"sqrt", "r", ALL_VECTORS},
    {"sshl.sat", "r", ALL_VECTORS},
    {"ssub.sat", "r", ALL_VECTORS},
    {"ssub.with.overflow", "0", ALL_VECTORS},
    {"trunc", "r", ALL_VECTORS},
    {"uadd.sat", "r", ALL_VECTORS},
    {"uadd.with.overflow", "0", ALL_VECTORS},
    {"ucmp", "r0", ALL_VECTORS},
    {"umax", "r", ALL_VECTORS},
    {"umin", "r", ALL_VECTORS},
    {"umul.with.overflow", "0", ALL_VECTORS},
    {"ushl.sat", "r", ALL_VECTORS},
    {"usub.sat", "r", ALL_VECTORS},
    {"usub.with.overflow", "0", ALL_VECTORS},
};

static const struct elementwise *find(LLVMValueRef call)
{
    size_t len = 0;
    const char *name = tr_intrinsic_name(call, &len);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strlen(table[i].name) == len && memcmp(table[i].name, name, len) == 0)
            return &table[i];
    return NULL;
}

bool tr_has_vector_intrinsic(LLVMValueRef call)
{
    return find(call) != NULL;
}

bool tr_is_assumption(LLVMValueRef call)
{
    static const char assume[] = "assume";
    size_t len = 0;
    const char *name = tr_intrinsic_name(call, &len);
    return len == sizeof assume - 1 && memcmp(name, assume, len) == 0;
}

static LLVMTypeRef overload(LLVMValueRef call, char which)
{
    LLVMTypeRef result = LLVMTypeOf(call);
    switch (which) {
    case 'r':
        return result;
    case 'f':
        return LLVMStructGetTypeAtIndex(result, 0);
    case 'g':
        return LLVMStructGetTypeAtIndex(result, 1);
    default:
        return LLVMTypeOf(LLVMGetOperand(call, (unsigned)(which - '0')));
    }
}

LLVMValueRef tr_form_intrinsic(struct tr_widen *widen, uint32_t value, uint32_t copy)
{
    LLVMValueRef call = widen->iteration->graph.values[value].llvm;
    const struct elementwise *row = find(call);
    LLVMTypeRef types[2];
    size_t type_count = strlen(row->overloads);
    for (size_t i = 0; i < type_count; i++)
        types[i] = tr_widen_type(widen, overload(call, row->overloads[i]));
    LLVMValueRef arguments[MAX_ARGUMENTS];
    unsigned count = LLVMGetNumArgOperands(call);
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef argument = LLVMGetOperand(call, i);
        bool is_scalar = i == row->scalar_argument ||
                         LLVMGetTypeKind(LLVMTypeOf(argument)) == LLVMMetadataTypeKind;
        arguments[i] = is_scalar ? argument : tr_widen_vector(widen, argument, copy);
    }
    unsigned id = LLVMGetIntrinsicID(LLVMGetCalledValue(call));
    LLVMValueRef callee = LLVMGetIntrinsicDeclaration(widen->module, id, types, type_count);
    LLVMValueRef wide = LLVMBuildCall2(widen->builder, LLVMGlobalGetValueType(callee), callee,
                                       arguments, count, "");
    if (tr_is_kept_call(call))
        tr_keep_call(wide);
    return wide;
}
