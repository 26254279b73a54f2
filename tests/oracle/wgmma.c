/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands of wgmma.mma_async: d, a or a-desc, b-desc, {sp-meta, sp-sel,} scale-d, {imm-scale-a,
 * imm-scale-b, {imm-trans-a, of a-desc,} {imm-trans-b}}.
 */
#include <string.h>

#include "tests/oracle/matrix.h"

#define GROUP_ROWS 64

static bool is_transposed(const struct ptx_inst *inst, unsigned constants, bool is_b)
{
    if (constants < 3 || (!is_b && constants < 4))
        return false;
    return inst->operands[inst->operand_count - (is_b ? 1 : 2)].bits == 1;
}

/* "Four contiguous warps such that the rank of the first is a multiple of four." */
struct oracle_wgmma oracle_wgmma_operands(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    struct ptx_matrices matrices;
    ptx_find_matrices(inst, &matrices);
    unsigned scale_d = matrices.metadata.row != NULL ? 5 : 3;
    unsigned constants = inst->operand_count - scale_d - 1;
    const struct ptx_operand *scales = &inst->operands[scale_d + 1];
    struct oracle_wgmma wgmma = {
        .has_descriptor = inst->operands[1].kind != PTX_OPERAND_VECTOR,
        .has_c = oracle_read(thread, inst, scale_d, PTX_TYPE_PRED).u8 != 0,
        .sign = constants < 2 ? 1 : (float)((int64_t)scales[0].bits * (int64_t)scales[1].bits),
        .first_row = thread->warp % 4 * (GROUP_ROWS / 4)};
    for (unsigned i = wgmma.has_descriptor ? 0 : 1; i < 2; i++)
        wgmma.in_memory[i] = (struct oracle_shared_matrix){
            .descriptor = oracle_read(thread, inst, 1 + i, PTX_TYPE_B64).u64,
            .is_transposed = is_transposed(inst, constants, i == 1),
            .bits = matrices.a.bits};
    return wgmma;
}

static enum pxr_status reach(struct oracle_thread *thread, const struct ptx_inst *inst,
                             const struct oracle_shared_matrix *matrix, unsigned lines, unsigned k)
{
    enum pxr_status status = PXR_OK;
    uint64_t element;
    for (unsigned line = 0; line < lines && status == PXR_OK; line++)
        for (unsigned i = 0; i < k && status == PXR_OK; i++)
            status = oracle_shared_element(thread, inst, matrix, line, i, &element);
    return status;
}

enum pxr_status oracle_wgmma_reach(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    struct ptx_matrices matrices;
    enum pxr_status status = PXR_OK;
    struct oracle_wgmma wgmma = oracle_wgmma_operands(thread, inst);
    ptx_find_matrices(inst, &matrices);
    if (thread->lane != 0)
        return PXR_OK;
    unsigned stored = matrices.k / (matrices.metadata.row != NULL ? 2 : 1);
    if (wgmma.has_descriptor)
        status = reach(thread, inst, &wgmma.in_memory[0], GROUP_ROWS, stored);
    if (status == PXR_OK)
        status = reach(thread, inst, &wgmma.in_memory[1], matrices.groups * 8, matrices.k);
    return status;
}
