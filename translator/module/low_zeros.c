/* SPDX-License-Identifier: Apache-2.0
 *
 * See low_zeros.h. What wraps around loses high bits only.
 */
#include "translator/module/low_zeros.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEPTH_MAX 6 /* of operations that are looked into */

static bool read_constant(LLVMValueRef value, uint64_t *constant)
{
    if (LLVMIsAConstantInt(value) == NULL || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64)
        return false;
    *constant = LLVMConstIntGetZExtValue(value);
    return true;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

static int low_zeros(LLVMValueRef value, int depth)
{
    uint64_t constant = 0;
    if (read_constant(value, &constant))
        return constant == 0 ? 64 : __builtin_ctzll(constant);
    if (LLVMIsAInstruction(value) == NULL || depth == DEPTH_MAX)
        return 0;
    LLVMValueRef first = LLVMGetNumOperands(value) > 0 ? LLVMGetOperand(value, 0) : NULL;
    LLVMValueRef second = LLVMGetNumOperands(value) > 1 ? LLVMGetOperand(value, 1) : NULL;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMShl:
        return read_constant(second, &constant)
                   ? least(64, (int)(constant & 63) + low_zeros(first, depth + 1))
                   : low_zeros(first, depth + 1);
    case LLVMMul:
        return least(64, low_zeros(first, depth + 1) + low_zeros(second, depth + 1));
    case LLVMAdd:
    case LLVMSub:
    case LLVMOr:
        return least(low_zeros(first, depth + 1), low_zeros(second, depth + 1));
    case LLVMAnd:
        return most(low_zeros(first, depth + 1), low_zeros(second, depth + 1));
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMFreeze:
        return low_zeros(first, depth + 1);
    default:
        return 0;
    }
}

int tr_low_zeros(LLVMValueRef value)
{
    return low_zeros(value, 0);
}
