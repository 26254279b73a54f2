/* SPDX-License-Identifier: Apache-2.0
 *
 * See size.h.
 */
#include "ptx/size.h"

static bool is_branch_back(const struct ptx_inst *inst, int line)
{
    return inst->op == PTX_OP_BRA && inst->operand_count > 0 &&
           inst->operands[0].kind == PTX_OPERAND_LABEL && inst->operands[0].label->line <= line;
}

static bool is_meeting(const struct ptx_inst *inst)
{
    enum ptx_family family = ptx_op_table[inst->op].family;
    return family == PTX_FAMILY_BARRIER || family == PTX_FAMILY_WARP;
}

static void add_function(struct ptx_size *size, const struct ptx_func *func)
{
    for (uint32_t i = 0; i < func->stmt_count; i++) {
        const struct ptx_stmt *stmt = &func->stmts[i];
        if (stmt->kind != PTX_STMT_INST)
            continue;
        size->instructions++;
        size->loops += is_branch_back(&stmt->inst, stmt->line);
        size->meetings += is_meeting(&stmt->inst);
    }
}

struct ptx_size ptx_kernel_size(const struct ptx_func *kernel,
                                const struct ptx_kernel_layout *layout)
{
    struct ptx_size size = {0};
    add_function(&size, kernel);
    for (uint32_t i = 0; i < layout->reached_count; i++)
        add_function(&size, layout->reached[i]);
    return size;
}
