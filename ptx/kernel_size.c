/* SPDX-License-Identifier: Apache-2.0
 *
 * See size.h.
 */
#include "ptx/kernel_size.h"

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
