/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx/short_address.h"

bool ptx_is_widened_space(enum ptx_space space)
{
    return space == PTX_SPACE_LOCAL || space == PTX_SPACE_CONST || space == PTX_SPACE_PARAM;
}

static bool makes_short_address(const struct ptx_inst *inst)
{
    if (inst->type_count == 0 || ptx_type_bits(inst->types[0]) != 32)
        return false;
    if (inst->op == PTX_OP_ALLOCA || inst->op == PTX_OP_STACKSAVE)
        return true;
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        const struct ptx_operand *operand = &inst->operands[i];
        if (operand->kind == PTX_OPERAND_SUM)
            operand = operand->elems;
        if (operand->kind == PTX_OPERAND_VAR && ptx_is_widened_space(operand->var->space))
            return true;
    }
    return false;
}

bool ptx_makes_short_addresses(const struct ptx_module *module)
{
    for (uint32_t f = 0; f < module->func_count; f++) {
        const struct ptx_func *func = module->funcs[f];
        for (uint32_t i = 0; i < func->stmt_count; i++)
            if (func->stmts[i].kind == PTX_STMT_INST && makes_short_address(&func->stmts[i].inst))
                return true;
    }
    return false;
}
