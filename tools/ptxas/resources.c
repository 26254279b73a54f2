/* SPDX-License-Identifier: Apache-2.0
 *
 * See resources.h. Memory, stack and barriers are what the PTX asks for. Registers are a number
 * that is plausible and that the driver reports too: CPUs have no register file that threads share.
 */
#include "tools/ptxas/resources.h"

#include <inttypes.h>
#include <stdio.h>

#include "ptx/ops.h"

enum { PLAUSIBLE_REGISTERS = 32, BARRIERS = 16 };

static bool is_block_barrier(enum ptx_op op)
{
    switch (op) {
    case PTX_OP_BAR_SYNC:
    case PTX_OP_BAR_ARRIVE:
    case PTX_OP_BAR_RED_POPC:
    case PTX_OP_BAR_RED:
    case PTX_OP_BARRIER_SYNC:
    case PTX_OP_BARRIER_ARRIVE:
    case PTX_OP_BARRIER_RED_POPC:
    case PTX_OP_BARRIER_RED:
        return true;
    default:
        return false;
    }
}

/* A bit for each barrier that the instruction may mean: all where a register says which. */
static uint32_t barriers_of(const struct ptx_inst *inst)
{
    if (!is_block_barrier(inst->op))
        return 0;
    bool has_result = inst->op == PTX_OP_BAR_RED || inst->op == PTX_OP_BAR_RED_POPC ||
                      inst->op == PTX_OP_BARRIER_RED || inst->op == PTX_OP_BARRIER_RED_POPC;
    const struct ptx_operand *which = &inst->operands[has_result];
    if (which->kind != PTX_OPERAND_INT || which->bits >= BARRIERS)
        return (UINT32_C(1) << BARRIERS) - 1;
    return UINT32_C(1) << which->bits;
}

static uint32_t barriers_in(const struct ptx_func *func)
{
    uint32_t barriers = 0;
    for (uint32_t i = 0; i < func->stmt_count; i++) {
        if (func->stmts[i].kind == PTX_STMT_INST)
            barriers |= barriers_of(&func->stmts[i].inst);
    }
    return barriers;
}

static unsigned count_barriers(const struct ptx_func *kernel,
                               const struct ptx_kernel_layout *layout)
{
    uint32_t barriers = barriers_in(kernel);
    for (uint32_t i = 0; i < layout->reached_count; i++)
        barriers |= barriers_in(layout->reached[i]);
    return (unsigned)__builtin_popcount(barriers);
}

static void print_kernel(const struct ptx_module *module, const struct ptx_func *kernel,
                         const char *arch)
{
    struct ptx_kernel_layout layout;
    if (ptx_layout_kernel(module, kernel, &layout, NULL) != PXR_OK)
        return;
    unsigned registers = PLAUSIBLE_REGISTERS;
    if (kernel->max_registers && kernel->max_registers < registers)
        registers = kernel->max_registers;
    fprintf(stderr,
            "ptxas info    : Compiling entry function '%s' for '%s'\n"
            "ptxas info    : Function properties for %s\n"
            "    %u bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
            "ptxas info    : Used %u registers, used %u barriers",
            kernel->name, arch, kernel->name, layout.local_bytes, registers,
            count_barriers(kernel, &layout));
    if (layout.local_bytes)
        fprintf(stderr, ", %u bytes cumulative stack size", layout.local_bytes);
    if (layout.shared_static_bytes > layout.shared_reserved_bytes)
        fprintf(stderr, ", %u bytes smem",
                layout.shared_static_bytes - layout.shared_reserved_bytes);
    fprintf(stderr, ", %u bytes cmem[0]\n", kernel->param_bytes);
    ptx_layout_fini(&layout);
}

static uint64_t bytes_in(const struct ptx_module *module, enum ptx_space space)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < module->var_count; i++) {
        if (module->vars[i]->space == space)
            bytes += module->vars[i]->size_bytes;
    }
    return bytes;
}

void ptxas_print_resources(const struct ptx_module *module, const char *arch)
{
    uint64_t constants = bytes_in(module, PTX_SPACE_CONST);
    fprintf(stderr, "ptxas info    : %" PRIu64 " bytes gmem", bytes_in(module, PTX_SPACE_GLOBAL));
    if (constants)
        fprintf(stderr, ", %" PRIu64 " bytes cmem[3]", constants);
    fputc('\n', stderr);
    for (uint32_t i = 0; i < module->func_count; i++) {
        if (module->funcs[i]->is_entry && module->funcs[i]->has_body)
            print_kernel(module, module->funcs[i], arch);
    }
    fputs("ptxas info    : ptxrun makes no machine code: the number of registers is an estimate\n",
          stderr);
}
