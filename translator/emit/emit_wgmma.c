/* SPDX-License-Identifier: Apache-2.0
 *
 * wgmma.mma_async. Four warps multiply 64 rows of A; each has 16 of them, and rows of D alike, so
 * that none needs another. The manual forbids to touch what the operation reads and writes until it
 * is waited for: so it happens at once, and wgmma.fence, commit_group and wait_group do nothing.
 * Columns of D that do not fit into the words of a warp follow in further meetings.
 */
#include <stddef.h>

#include "translator/emit/matrix.h"

#define A_ROWS     64
#define LINE_BITS  128
#define DESCRIPTOR PTX_TYPE_B64
#define WARPS_MASK 3

/* What the operands are. */
struct wgmma {
    const struct ptx_inst *inst;
    struct ptx_matrices matrices;
    struct tr_wgmma form;
    unsigned registers; /* of a lane, for eight columns of D */
    unsigned metadata;  /* numbers of operands; 0: none */
    unsigned scale_d;
};

/* ---- operands ---- */

static bool is_one_of(const struct ptx_operand *operand, int64_t first, int64_t second)
{
    return (int64_t)operand->bits == first || (int64_t)operand->bits == second;
}

/* imm-scale-a, imm-scale-b, imm-trans-a if A is in memory, imm-trans-b. */
static bool read_constants(struct wgmma *wgmma)
{
    const struct ptx_inst *inst = wgmma->inst;
    unsigned first = wgmma->scale_d + 1;
    unsigned count = inst->operand_count - first;
    unsigned transposes = count > 2 ? count - 2 : 0;
    if (count >= 2) {
        const struct ptx_operand *a = tr_operand(inst, first);
        const struct ptx_operand *b = tr_operand(inst, first + 1);
        if (!is_one_of(a, 1, -1) || !is_one_of(b, 1, -1))
            return false;
        wgmma->form.is_negative = a->bits != b->bits;
    }
    if (transposes == 0)
        return true;
    const struct ptx_operand *last = tr_operand(inst, inst->operand_count - 1);
    const struct ptx_operand *before = tr_operand(inst, inst->operand_count - 2);
    wgmma->form.is_b_transposed = last->bits == 1;
    wgmma->form.is_a_transposed = transposes == 2 && before->bits == 1;
    return transposes == (wgmma->form.is_a_in_memory ? 2 : 1) && is_one_of(last, 0, 1) &&
           (transposes == 1 || is_one_of(before, 0, 1));
}

/* Another selector than ptxas takes is refused. */
static bool read_selector(struct wgmma *wgmma)
{
    if (wgmma->matrices.metadata.row == NULL)
        return true;
    uint64_t selector = tr_operand(wgmma->inst, wgmma->metadata + 1)->bits;
    wgmma->form.selector = (unsigned)selector;
    return selector < ptx_choice_count(&wgmma->matrices.metadata);
}

static bool has_registers(const struct ptx_operand *operand, unsigned count)
{
    return operand->kind == PTX_OPERAND_VECTOR && operand->elem_count == count;
}

static const char *read_operands(struct wgmma *wgmma)
{
    const struct ptx_matrices *matrices = &wgmma->matrices;
    const struct ptx_operand *a = tr_operand(wgmma->inst, 1);
    bool is_sparse = matrices->metadata.row != NULL;
    wgmma->registers = ptx_fragment_registers(&matrices->d);
    wgmma->metadata = is_sparse ? 3 : 0;
    wgmma->scale_d = is_sparse ? 5 : 3;
    wgmma->form.is_a_in_memory = a->kind != PTX_OPERAND_VECTOR;
    if (!has_registers(tr_operand(wgmma->inst, 0), wgmma->registers * matrices->groups) ||
        (!wgmma->form.is_a_in_memory && !has_registers(a, ptx_fragment_registers(&matrices->a))))
        return "another number of registers than its matrices have";
    if (!read_selector(wgmma))
        return "a sparsity selector that its shape does not have";
    return read_constants(wgmma) ? NULL : "constants that it does not take";
}

/* ---- the lane's program ---- */

/* Faults if the matrix reaches beyond shared memory. */
static void put_descriptor(struct tr_ctx *ctx, const struct wgmma *wgmma, bool is_b)
{
    const struct ptx_matrices *matrices = &wgmma->matrices;
    LLVMValueRef descriptor = tr_value(ctx, wgmma->inst, is_b ? 2 : 1, DESCRIPTOR);
    bool is_transposed = is_b ? wgmma->form.is_b_transposed : wgmma->form.is_a_transposed;
    bool is_packed = !is_b && matrices->metadata.row != NULL;
    unsigned k = matrices->k / (is_packed ? 2 : 1);
    unsigned pieces = is_transposed ? k / 8 : k * matrices->a.bits / LINE_BITS;
    unsigned eights = is_b ? matrices->groups : A_ROWS / 8;
    LLVMValueRef bytes = tr_launch_number(ctx, offsetof(struct rt_launch, shared_bytes));
    LLVMValueRef end =
        tr_helper(ctx, "rt_matrix_end", ctx->i64, descriptor, tr_const_int(ctx, 32, eights),
                  tr_const_int(ctx, 32, pieces), tr_const_int(ctx, 32, is_transposed));
    LLVMValueRef is_outside = LLVMBuildICmp(ctx->builder, LLVMIntUGT, end, bytes, "");
    LLVMValueRef memory = LLVMBuildPtrToInt(ctx->builder, tr_shared_base(ctx), ctx->i64, "");
    tr_fault_if(ctx, is_outside, PXR_FAULT_ADDRESS, LLVMBuildAdd(ctx->builder, memory, end, ""));
    tr_put_word(ctx, is_b ? TR_WGMMA_ROW_B : TR_WGMMA_ROW_A, descriptor);
}

static void put_a(struct tr_ctx *ctx, const struct wgmma *wgmma)
{
    const struct ptx_operand *a = tr_operand(wgmma->inst, 1);
    if (wgmma->form.is_a_in_memory) {
        put_descriptor(ctx, wgmma, false);
        return;
    }
    for (unsigned i = 0; i < a->elem_count; i++)
        tr_put_word(ctx, TR_WGMMA_ROW_A + i, tr_operand_value(ctx, &a->elems[i], PTX_TYPE_B32));
}

static void put_memory(struct tr_ctx *ctx)
{
    tr_put_word(ctx, TR_ROW_ADDRESS,
                LLVMBuildPtrToInt(ctx->builder, tr_shared_base(ctx), ctx->i64, ""));
}

/* scale-d and the warp's rank among its four. */
static LLVMValueRef common_number(struct tr_ctx *ctx, const struct wgmma *wgmma)
{
    LLVMBuilderRef b = ctx->builder;
    struct ptx_operand warp = {.kind = PTX_OPERAND_SREG, .sreg = PTX_SREG_WARPID};
    LLVMValueRef rank = tr_operand_value(ctx, &warp, PTX_TYPE_U32);
    rank = LLVMBuildAnd(b, rank, tr_const_int(ctx, 32, WARPS_MASK), "");
    rank = LLVMBuildShl(b, rank, tr_const_int(ctx, 32, TR_WGMMA_RANK), "");
    LLVMValueRef has_c = tr_value(ctx, wgmma->inst, wgmma->scale_d, PTX_TYPE_PRED);
    has_c = LLVMBuildShl(b, tr_resize(ctx, has_c, 32, false), tr_const_int(ctx, 32, TR_WGMMA_HAS_C),
                         "");
    return LLVMBuildOr(b, rank, has_c, "");
}

/* So many eights of columns of D. */
static void multiply(struct tr_ctx *ctx, const struct wgmma *wgmma, LLVMValueRef common,
                     unsigned first, unsigned count)
{
    const struct ptx_operand *d = &tr_operand(wgmma->inst, 0)->elems[first * wgmma->registers];
    unsigned columns = first << TR_WGMMA_FIRST | count << TR_WGMMA_COUNT;
    tr_put_word(ctx, TR_ROW_NUMBER,
                LLVMBuildOr(ctx->builder, common, tr_const_int(ctx, 32, columns), ""));
    for (unsigned i = 0; i < count * wgmma->registers; i++)
        tr_put_word(ctx, TR_WGMMA_ROW_D + i, tr_operand_value(ctx, &d[i], PTX_TYPE_B32));
    tr_meet_for(ctx, tr_wgmma_function(ctx, wgmma->inst, &wgmma->form), true);
    for (unsigned i = 0; i < count * wgmma->registers; i++)
        tr_set_operand(ctx, &d[i], PTX_TYPE_B32, tr_take_word(ctx, TR_WGMMA_ROW_D + i, 32));
}

enum pxr_status tr_emit_wgmma(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    struct wgmma wgmma = {.inst = inst};
    if (!ptx_find_matrices(inst, &wgmma.matrices))
        return tr_unsupported(ctx, inst, NULL);
    const char *what = read_operands(&wgmma);
    if (what != NULL)
        return tr_unsupported(ctx, inst, what);
    wgmma.form.matrices = &wgmma.matrices;
    put_a(ctx, &wgmma);
    put_descriptor(ctx, &wgmma, true);
    put_memory(ctx);
    if (wgmma.metadata != 0)
        tr_put_word(ctx, TR_WGMMA_ROW_METADATA, tr_value(ctx, inst, wgmma.metadata, PTX_TYPE_B32));
    LLVMValueRef common = common_number(ctx, &wgmma);
    unsigned fitting = TR_WGMMA_ROWS_D / wgmma.registers;
    unsigned groups = wgmma.matrices.groups;
    for (unsigned first = 0; first < groups; first += fitting)
        multiply(ctx, &wgmma, common, first, groups - first < fitting ? groups - first : fitting);
    return PXR_OK;
}
