/* SPDX-License-Identifier: Apache-2.0
 *
 * The last lanes of a mask moved to its beginning, with no lanes behind them: LLVM 22 shifts a mask
 * of eight lanes or fewer in a register of sixteen (AVX-512: `kshiftrw`), and what is left there of
 * a comparison of more elements comes in. Here the mask is shifted as an integer, which has no more
 * bits than there are lanes.
 *
 * Likewise the first lanes of a mask, with no lanes behind them, and the whole frozen: LLVM 22
 * takes what a comparison leaves of the other lanes for nothing, and freezes that. Here they are
 * cleared as bits of an integer.
 */
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

/* Of a register for masks, at least. */
#define REGISTER_LANES 16

static bool is_mask(LLVMTypeRef type)
{
    return LLVMGetTypeKind(type) == LLVMVectorTypeKind &&
           LLVMGetElementType(type) == LLVMInt1TypeInContext(LLVMGetTypeContext(type));
}

/* Whether the element is false, or may be anything. */
static bool is_off(LLVMValueRef mask, unsigned lane)
{
    LLVMValueRef element = LLVMIsAConstant(mask) ? LLVMGetAggregateElement(mask, lane) : NULL;
    return element != NULL && (LLVMIsNull(element) || LLVMIsUndef(element));
}

/* By how many lanes the shuffle moves its first operand towards the beginning, with lanes that are
 * off behind it; 0: it does something else. */
static unsigned lanes_shifted(LLVMValueRef shuffle)
{
    LLVMTypeRef type = LLVMTypeOf(shuffle);
    unsigned lanes = is_mask(type) ? LLVMGetVectorSize(type) : REGISTER_LANES;
    if (lanes >= REGISTER_LANES || LLVMTypeOf(LLVMGetOperand(shuffle, 0)) != type)
        return 0;
    unsigned shift = (unsigned)LLVMGetMaskValue(shuffle, 0);
    for (unsigned lane = 0; lane < lanes; lane++) {
        int from = LLVMGetMaskValue(shuffle, lane);
        bool is_moved = lane + shift < lanes && from == (int)(lane + shift);
        bool is_new = lane + shift >= lanes && from >= (int)lanes &&
                      is_off(LLVMGetOperand(shuffle, 1), (unsigned)from - lanes);
        if (from != LLVMGetUndefMaskElem() && !is_moved && !is_new)
            return 0;
    }
    return shift < lanes ? shift : 0;
}

/* The first lanes, that the shuffle keeps, with lanes that are off behind them; 0: it does
 * something else. */
static unsigned lanes_kept(LLVMValueRef shuffle)
{
    LLVMTypeRef type = LLVMTypeOf(shuffle);
    unsigned lanes = is_mask(type) ? LLVMGetVectorSize(type) : 0;
    unsigned kept = 0;
    if (LLVMTypeOf(LLVMGetOperand(shuffle, 0)) != type)
        return 0;
    while (kept < lanes && LLVMGetMaskValue(shuffle, kept) == (int)kept)
        kept++;
    for (unsigned lane = kept; lane < lanes; lane++) {
        int from = LLVMGetMaskValue(shuffle, lane);
        bool is_off_there =
            from >= (int)lanes && is_off(LLVMGetOperand(shuffle, 1), (unsigned)from - lanes);
        if (from != LLVMGetUndefMaskElem() && !is_off_there)
            return 0;
    }
    return kept < lanes && lanes <= 64 ? kept : 0;
}

static void replace_by_bits(LLVMBuilderRef b, LLVMValueRef shuffle, unsigned shift, unsigned kept)
{
    LLVMTypeRef type = LLVMTypeOf(shuffle);
    LLVMTypeRef bits = LLVMIntTypeInContext(LLVMGetTypeContext(type), LLVMGetVectorSize(type));
    LLVMPositionBuilderBefore(b, shuffle);
    LLVMSetCurrentDebugLocation2(b, LLVMInstructionGetDebugLoc(shuffle));
    LLVMValueRef mask = LLVMBuildFreeze(b, LLVMGetOperand(shuffle, 0), "");
    mask = LLVMBuildBitCast(b, mask, bits, "");
    if (shift > 0)
        mask = LLVMBuildLShr(b, mask, LLVMConstInt(bits, shift, false), "");
    if (kept > 0)
        mask = LLVMBuildAnd(b, mask, LLVMConstInt(bits, (UINT64_C(1) << kept) - 1, false), "");
    LLVMReplaceAllUsesWith(shuffle, LLVMBuildBitCast(b, mask, type, ""));
    LLVMInstructionEraseFromParent(shuffle);
}

void tr_mend_shifted_masks(LLVMModuleRef module)
{
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef fn = LLVMGetFirstFunction(module); fn; fn = LLVMGetNextFunction(fn))
        TR_FOR_EACH_INSTRUCTION(inst, fn) {
            bool is_shuffle = LLVMIsAShuffleVectorInst(inst) != NULL;
            unsigned shift = is_shuffle ? lanes_shifted(inst) : 0;
            unsigned kept = is_shuffle && shift == 0 ? lanes_kept(inst) : 0;
            if (shift > 0 || kept > 0)
                replace_by_bits(b, inst, shift, kept);
        }
    LLVMDisposeBuilder(b);
}
