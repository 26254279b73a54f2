/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/module/relation.h"

LLVMIntPredicate tr_relation_inverse(LLVMIntPredicate relation)
{
    static const LLVMIntPredicate inverses[] = {
        [LLVMIntEQ - LLVMIntEQ] = LLVMIntNE,   [LLVMIntNE - LLVMIntEQ] = LLVMIntEQ,
        [LLVMIntUGT - LLVMIntEQ] = LLVMIntULE, [LLVMIntUGE - LLVMIntEQ] = LLVMIntULT,
        [LLVMIntULT - LLVMIntEQ] = LLVMIntUGE, [LLVMIntULE - LLVMIntEQ] = LLVMIntUGT,
        [LLVMIntSGT - LLVMIntEQ] = LLVMIntSLE, [LLVMIntSGE - LLVMIntEQ] = LLVMIntSLT,
        [LLVMIntSLT - LLVMIntEQ] = LLVMIntSGE, [LLVMIntSLE - LLVMIntEQ] = LLVMIntSGT,
    };
    return inverses[relation - LLVMIntEQ];
}

LLVMIntPredicate tr_relation_swapped(LLVMIntPredicate relation)
{
    static const LLVMIntPredicate swaps[] = {
        [LLVMIntEQ - LLVMIntEQ] = LLVMIntEQ,   [LLVMIntNE - LLVMIntEQ] = LLVMIntNE,
        [LLVMIntUGT - LLVMIntEQ] = LLVMIntULT, [LLVMIntUGE - LLVMIntEQ] = LLVMIntULE,
        [LLVMIntULT - LLVMIntEQ] = LLVMIntUGT, [LLVMIntULE - LLVMIntEQ] = LLVMIntUGE,
        [LLVMIntSGT - LLVMIntEQ] = LLVMIntSLT, [LLVMIntSGE - LLVMIntEQ] = LLVMIntSLE,
        [LLVMIntSLT - LLVMIntEQ] = LLVMIntSGT, [LLVMIntSLE - LLVMIntEQ] = LLVMIntSGE,
    };
    return swaps[relation - LLVMIntEQ];
}
