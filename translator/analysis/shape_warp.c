/* SPDX-License-Identifier: Apache-2.0
 *
 * Values derived from a warp's number. Where a warp's lanes are neighbours in one row, tid.x is a
 * multiple of 32 plus the lane, and so are values made of it by adding multiples of 32 that all
 * share. Such numbers agree in all bits but the lowest five: in `tid.x / 32`, and on `tid.x < 32`.
 */
#include "translator/analysis/shape.h"

#include <llvm-c/Core.h>

#include "kernel_abi/rt.h"
#include "translator/module/sregs.h"

/* Instructions on the way from a number to its parts. */
#define DEPTH_MAX 6

#define LANE_BITS 5

static bool is_constant(LLVMValueRef value, uint64_t *constant)
{
    if (LLVMIsAConstantInt(value) == NULL || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64)
        return false;
    *constant = LLVMConstIntGetZExtValue(value);
    return true;
}

/* Whether it is a multiple of 32 that is the same in all threads of the block. */
static bool is_multiple(const struct tr_shape_context *context, LLVMValueRef value, int depth)
{
    uint64_t constant = 0;
    if (is_constant(value, &constant))
        return constant % RT_WARP_SIZE == 0;
    if (tr_sreg_of(value) == PTX_SREG_NTID_X)
        return context->has_whole_warps;
    if (LLVMIsAInstruction(value) == NULL || depth == 0)
        return false;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMMul:
        /* The other factor has to be shared too. */
        for (unsigned i = 0; i < 2; i++)
            if (is_multiple(context, LLVMGetOperand(value, i), depth - 1) &&
                (is_constant(LLVMGetOperand(value, 1 - i), &constant) ||
                 tr_sreg_of(LLVMGetOperand(value, 1 - i)) == PTX_SREG_CTAID_X))
                return true;
        return false;
    case LLVMShl:
        return tr_sreg_of(LLVMGetOperand(value, 0)) == PTX_SREG_CTAID_X &&
               is_constant(LLVMGetOperand(value, 1), &constant) && constant >= LANE_BITS;
    default:
        return false;
    }
}

static bool is_lane_number(const struct tr_shape_context *context, LLVMValueRef value, int depth)
{
    if (tr_sreg_of(value) == PTX_SREG_TID_X)
        return true;
    if (LLVMIsAInstruction(value) == NULL || depth == 0)
        return false;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMAdd:
    case LLVMOr:
        for (unsigned i = 0; i < 2; i++)
            if (is_lane_number(context, LLVMGetOperand(value, i), depth - 1) &&
                is_multiple(context, LLVMGetOperand(value, 1 - i), depth - 1))
                return true;
        return false;
    case LLVMZExt:
    case LLVMFreeze:
        return is_lane_number(context, LLVMGetOperand(value, 0), depth - 1);
    default:
        return false;
    }
}

bool tr_shape_is_lane_number(const struct tr_shape_context *context, LLVMValueRef value)
{
    return context->scope == TR_SCOPE_WARP && context->is_row_scope &&
           is_lane_number(context, value, DEPTH_MAX);
}

/* Whether the bound lies between two warps. */
static bool is_same_order(LLVMIntPredicate predicate, uint64_t bound)
{
    switch (predicate) {
    case LLVMIntULT:
    case LLVMIntUGE:
    case LLVMIntSLT:
    case LLVMIntSGE:
        return bound % RT_WARP_SIZE == 0;
    case LLVMIntUGT:
    case LLVMIntULE:
    case LLVMIntSGT:
    case LLVMIntSLE:
        return bound % RT_WARP_SIZE == RT_WARP_SIZE - 1;
    default:
        return false;
    }
}

bool tr_shape_is_of_warp(const struct tr_shape_context *context, LLVMValueRef inst)
{
    uint64_t constant = 0;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    if ((opcode != LLVMICmp && opcode != LLVMLShr && opcode != LLVMAShr && opcode != LLVMUDiv &&
         opcode != LLVMAnd) ||
        !is_constant(LLVMGetOperand(inst, 1), &constant) ||
        !tr_shape_is_lane_number(context, LLVMGetOperand(inst, 0)))
        return false;
    switch (opcode) {
    case LLVMICmp:
        return is_same_order(LLVMGetICmpPredicate(inst), constant);
    case LLVMLShr:
    case LLVMAShr:
        return constant >= LANE_BITS && constant < LLVMGetIntTypeWidth(LLVMTypeOf(inst));
    case LLVMUDiv:
        return constant != 0 && constant % RT_WARP_SIZE == 0;
    default:
        return constant % RT_WARP_SIZE == 0;
    }
}
