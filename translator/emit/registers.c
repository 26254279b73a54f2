/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/emit/registers.h"

void tr_for_operand_registers(const struct ptx_operand *operand, tr_register_fn fn, void *data)
{
    switch (operand->kind) {
    case PTX_OPERAND_REG:
        fn(operand, data);
        break;
    case PTX_OPERAND_VECTOR:
    case PTX_OPERAND_PAIR:
    case PTX_OPERAND_SUM:
    case PTX_OPERAND_ADDRESS:
        for (uint32_t i = 0; i < operand->elem_count; i++)
            tr_for_operand_registers(&operand->elems[i], fn, data);
        break;
    default:
        break;
    }
}

void tr_for_registers(const struct ptx_inst *inst, tr_register_fn fn, void *data)
{
    for (uint32_t i = 0; i < inst->operand_count; i++)
        tr_for_operand_registers(&inst->operands[i], fn, data);
    for (uint32_t i = 0; inst->call != NULL && i < inst->call->ret_count; i++)
        tr_for_operand_registers(&inst->call->rets[i], fn, data);
    for (uint32_t i = 0; inst->call != NULL && i < inst->call->arg_count; i++)
        tr_for_operand_registers(&inst->call->args[i], fn, data);
    if (inst->guard != NULL) {
        struct ptx_operand guard = {.kind = PTX_OPERAND_REG, .var = inst->guard};
        fn(&guard, data);
    }
}
