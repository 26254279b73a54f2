/* SPDX-License-Identifier: Apache-2.0
 *
 * A check of alignment asks for the low bits of an address. What is added to it in multiples does
 * not matter: with `base + 4 * i + 8` it is the base alone that decides whether it is a multiple of
 * four. Asked so, the checks of all accesses to an array are one question, which early-cse answers
 * once, and which does not change from thread to thread. (In good code, instcombine finds that.)
 */
#include <llvm-c/Core.h>

#include "translator/module/low_zeros.h"
#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

/* How many operations an address may be made of. Of longer ones it is the rest that is asked. */
#define CHAIN_LENGTH 16
#define MAX_ALIGN    256

static LLVMOpcode opcode_of(LLVMValueRef value)
{
    return LLVMIsAInstruction(value) ? LLVMGetInstructionOpcode(value) : (LLVMOpcode)0;
}

static bool is_wide_enough(LLVMValueRef value, uint64_t align)
{
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(LLVMTypeOf(value)) >= 16 && align <= MAX_ALIGN;
}

static bool is_multiple(LLVMValueRef value, uint64_t align)
{
    return tr_low_zeros(value) >= __builtin_ctzll(align);
}

/* One step towards what decides the low bits of an integer or of a pointer; the value itself: there
 * is none. */
static LLVMValueRef strip_one(LLVMValueRef value, uint64_t align)
{
    LLVMOpcode opcode = opcode_of(value);
    if (opcode == (LLVMOpcode)0)
        return value;
    LLVMValueRef first = LLVMGetOperand(value, 0);
    LLVMValueRef second = LLVMGetNumOperands(value) == 2 ? LLVMGetOperand(value, 1) : NULL;
    switch (opcode) {
    case LLVMAdd:
        if (is_multiple(second, align))
            return first;
        return is_multiple(first, align) ? second : value;
    case LLVMSub:
        return is_multiple(second, align) ? first : value;
    case LLVMGetElementPtr: {
        LLVMTypeRef element = LLVMGetGEPSourceElementType(value);
        bool is_bytes = LLVMGetTypeKind(element) == LLVMIntegerTypeKind &&
                        LLVMGetIntTypeWidth(element) == 8 && second != NULL;
        return is_bytes && is_multiple(second, align) ? first : value;
    }
    case LLVMSExt:
    case LLVMZExt:
        return is_wide_enough(first, align) ? first : value;
    case LLVMPtrToInt:
    case LLVMIntToPtr: /* the translator's are of 64 bits */
        return first;
    default:
        return value;
    }
}

static LLVMValueRef strip(LLVMValueRef value, uint64_t align)
{
    for (unsigned i = 0; i < CHAIN_LENGTH; i++) {
        LLVMValueRef next = strip_one(value, align);
        if (next == value)
            break;
        value = next;
    }
    return value;
}

/* The value of which a comparison asks whether it is a multiple of *align; NULL: it asks something
 * else. */
static LLVMValueRef asked_for(LLVMValueRef inst, uint64_t *align)
{
    if (LLVMIsAICmpInst(inst) == NULL || LLVMGetICmpPredicate(inst) != LLVMIntNE)
        return NULL;
    LLVMValueRef low = LLVMGetOperand(inst, 0);
    LLVMValueRef zero = LLVMGetOperand(inst, 1);
    if (opcode_of(low) != LLVMAnd || LLVMIsAConstantInt(zero) == NULL || !LLVMIsNull(zero))
        return NULL;
    LLVMValueRef mask = LLVMGetOperand(low, 1);
    if (LLVMIsAConstantInt(mask) == NULL || LLVMGetIntTypeWidth(LLVMTypeOf(mask)) > 64)
        return NULL;
    *align = LLVMConstIntGetZExtValue(mask) + 1;
    bool is_power = *align >= 2 && *align <= MAX_ALIGN && (*align & (*align - 1)) == 0;
    return is_power ? LLVMGetOperand(low, 0) : NULL;
}

/* Asks the same of what decides. */
static void ask(LLVMBuilderRef b, LLVMValueRef inst, LLVMValueRef root, uint64_t align)
{
    LLVMPositionBuilderBefore(b, inst);
    if (LLVMGetTypeKind(LLVMTypeOf(root)) == LLVMPointerTypeKind) {
        LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(root));
        root = LLVMBuildPtrToInt(b, root, LLVMInt64TypeInContext(llvm), "");
    }
    LLVMTypeRef type = LLVMTypeOf(root);
    LLVMValueRef low = LLVMBuildAnd(b, root, LLVMConstInt(type, align - 1, false), "");
    LLVMValueRef question = LLVMBuildICmp(b, LLVMIntNE, low, LLVMConstNull(type), "");
    LLVMReplaceAllUsesWith(inst, question);
    LLVMInstructionEraseFromParent(inst);
}

void tr_ask_low_bits(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f)) {
        TR_FOR_EACH_INSTRUCTION(inst, f) {
            uint64_t align;
            LLVMValueRef value = asked_for(inst, &align);
            LLVMValueRef root = value != NULL ? strip(value, align) : NULL;
            if (root != value)
                ask(b, inst, root, align);
        }
    }
    LLVMDisposeBuilder(b);
}
