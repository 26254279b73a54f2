/* SPDX-License-Identifier: Apache-2.0
 *
 * See kernel_survey.h.
 */
#include "ptx/kernel_survey.h"

static uint32_t count(const struct ptx_func *func)
{
    uint32_t instructions = 0;
    for (uint32_t i = 0; i < func->stmt_count; i++)
        instructions += func->stmts[i].kind == PTX_STMT_INST;
    return instructions;
}

uint32_t ptx_count_instructions(const struct ptx_func *kernel,
                                const struct ptx_kernel_layout *layout)
{
    uint32_t instructions = count(kernel);
    for (uint32_t i = 0; i < layout->reached_count; i++)
        instructions += count(layout->reached[i]);
    return instructions;
}

static bool uses_float_atomics(const struct ptx_func *func)
{
    for (uint32_t i = 0; i < func->stmt_count; i++) {
        const struct ptx_inst *inst = &func->stmts[i].inst;
        if (func->stmts[i].kind == PTX_STMT_INST && ptx_inst_has(inst, PTX_GROUP_ATOMOP) &&
            inst->type_count > 0 && ptx_type_is_float(inst->types[0]))
            return true;
    }
    return false;
}

bool ptx_has_float_atomics(const struct ptx_func *kernel, const struct ptx_kernel_layout *layout)
{
    bool has_any = uses_float_atomics(kernel);
    for (uint32_t i = 0; i < layout->reached_count && !has_any; i++)
        has_any = uses_float_atomics(layout->reached[i]);
    return has_any;
}
