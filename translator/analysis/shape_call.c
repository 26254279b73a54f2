/* SPDX-License-Identifier: Apache-2.0
 *
 * The shape of a call's result: special registers (ptx/sregs.def), placeholders and functions
 * without side effects. All others are varying.
 */
#include "translator/analysis/calls.h"
#include "translator/analysis/shape.h"
#include "translator/module/sregs.h"

#include <llvm-c/Core.h>

#include "kernel_abi/rt.h"

/* ---- special registers ---- */

/* Whether the block is one warp. Neighbours in a row have consecutive lane numbers in a block of
 * any shape; in a block of several warps the numbers begin again with each. */
static bool is_single_warp(const struct tr_shape_context *context)
{
    const uint32_t *block = context->block;
    if (context->scope == TR_SCOPE_WARP)
        return true;
    return block[0] != 0 && block[1] != 0 && block[2] != 0 &&
           (uint64_t)block[0] * block[1] * block[2] <= RT_WARP_SIZE;
}

static struct tr_shape shape_of_tid(const struct tr_shape_context *context, unsigned direction)
{
    const uint32_t *block = context->block;
    bool is_warp = context->scope == TR_SCOPE_WARP;
    if (block[direction] == 1)
        return tr_shape_uniform();
    if (direction == 0)
        return tr_shape_affine(context, 32, 1, true);
    /* Whole planes of x and y that are whole warps. */
    uint64_t plane = (uint64_t)block[0] * block[1];
    if (direction == 2 && is_warp && plane != 0 && plane % RT_WARP_SIZE == 0)
        return tr_shape_uniform();
    return tr_shape_row(context);
}

static struct tr_shape shape_of_warpid(const struct tr_shape_context *context)
{
    uint32_t row = context->block[0];
    if (is_single_warp(context))
        return tr_shape_uniform();
    if (row != 0 && RT_WARP_SIZE % row == 0)
        return tr_shape_row(context);
    return tr_shape_varying();
}

static struct tr_shape shape_of_register(const struct tr_shape_context *context,
                                         const struct tr_sreg_info *sreg)
{
    if (sreg->scope >= TR_SREG_BLOCK)
        return tr_shape_uniform();
    switch (sreg->quantity) {
    case TR_QUANTITY_THREAD_INDEX:
        return shape_of_tid(context, sreg->axis);
    case TR_QUANTITY_LANE:
        return is_single_warp(context) ? tr_shape_affine(context, 32, 1, true) : tr_shape_varying();
    case TR_QUANTITY_WARP:
        return shape_of_warpid(context);
    default:
        return tr_shape_varying();
    }
}

/* ---- placeholders ---- */

static bool is_constant_argument(LLVMValueRef call, unsigned index, uint64_t constant)
{
    LLVMValueRef argument = LLVMGetOperand(call, index);
    return LLVMIsAConstantInt(argument) != NULL && LLVMConstIntGetZExtValue(argument) == constant;
}

/* All threads that take part in a reduction get the same result. All of the scope take part where
 * the segment is uniform and the barrier is the same one and for all of the block. */
static bool is_uniform_reduction(LLVMValueRef call, const struct tr_shape *operands)
{
    return operands[1].kind == TR_UNIFORM && is_constant_argument(call, 2, 0);
}

static bool is_constant_parameter(LLVMValueRef call, enum rt_type type, uint64_t constant)
{
    int parameter = rt_find_parameter(tr_placeholder_of(call), type);
    return parameter >= 0 && is_constant_argument(call, (unsigned)parameter, constant);
}

/* Whether all threads of the scope get the same, when they come to the placeholder together. */
static bool is_agreement(const struct tr_shape_context *context, LLVMValueRef call,
                         const struct tr_shape *operands)
{
    bool is_warp = context->scope == TR_SCOPE_WARP;
    switch (tr_placeholder_info(call)->shape) {
    case RT_SHAPE_BLOCK:
        return is_uniform_reduction(call, operands);
    case RT_SHAPE_COMING:
        return is_warp;
    case RT_SHAPE_LANES:
        return is_warp && is_constant_parameter(call, RT_TYPE_MASK, UINT32_MAX);
    case RT_SHAPE_ALL:
        return is_warp && is_constant_parameter(call, RT_TYPE_MASK, UINT32_MAX) &&
               is_constant_parameter(call, RT_TYPE_MODE, 1);
    default:
        return false;
    }
}

static struct tr_shape shape_of_placeholder(const struct tr_shape_context *context,
                                            LLVMValueRef call, const struct tr_shape *operands)
{
    /* Threads side by side may read a clock together, as the lanes of a warp do. */
    if (context->is_race_free && tr_placeholder_info(call)->shape == RT_SHAPE_CLOCK)
        return tr_shape_uniform();
    if (context->is_uniform_segment && is_agreement(context, call, operands))
        return tr_shape_uniform();
    return tr_shape_varying();
}

/* ---- any call ---- */

struct tr_shape tr_shape_of_call(const struct tr_shape_context *context,
                                 const struct tr_value *value, const struct tr_shape *operands)
{
    enum ptx_sreg sreg = tr_sreg_of(value->llvm);
    if (sreg != PTX_SREG_NONE)
        return shape_of_register(context, &tr_sregs[sreg]);
    if (tr_placeholder_of(value->llvm) != RT_CALL_NONE)
        return shape_of_placeholder(context, value->llvm, operands);
    if (tr_is_pure_call(value->llvm))
        return tr_shape_of_function(context, operands, value->operand_count);
    return tr_shape_varying();
}
