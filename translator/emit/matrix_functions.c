/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions behind mma, wmma.mma and wgmma.mma_async: a product, or many side by side.
 */
#include <stdio.h>

#include "translator/emit/matrix.h"

#define NAME_MAX_BYTES 200

struct tr_matrix_rows tr_rows_of(const struct ptx_matrices *matrices)
{
    struct tr_matrix_rows rows = {0};
    rows.b = ptx_fragment_registers(&matrices->a) * tr_register_rows(&matrices->a);
    rows.c = rows.b + ptx_fragment_registers(&matrices->b) * tr_register_rows(&matrices->b);
    rows.d = rows.c + ptx_fragment_registers(&matrices->c) * tr_register_rows(&matrices->c);
    rows.scale_a = rows.d + ptx_fragment_registers(&matrices->d) * tr_register_rows(&matrices->d);
    rows.scale_b = rows.scale_a + 2;
    rows.metadata = rows.scale_b + 2;
    return rows;
}

/* The spelling, and what else the code depends on. */
static struct pxr_str name_of(const struct ptx_inst *inst, unsigned choices,
                              char room[NAME_MAX_BYTES])
{
    int length = snprintf(room, NAME_MAX_BYTES, "%.*s#%u", PXR_STR_ARG(inst->text), choices);
    return (struct pxr_str){room, (size_t)length};
}

/* ---- one product ---- */

static const struct ptx_fragment *side_of(const struct ptx_matrices *matrices, enum tr_side side)
{
    return side == TR_SIDE_A ? &matrices->a : &matrices->b;
}

/* Stores A or B as sums need it. */
static struct tr_factor_operation factor_operation(struct tr_ctx *ctx, const char *name,
                                                   const struct ptx_inst *inst,
                                                   const struct ptx_matrices *matrices,
                                                   enum tr_side side)
{
    char full[NAME_MAX_BYTES];
    struct tr_warp_function part;
    LLVMValueRef registers[TR_REGISTERS_MAX];
    struct tr_matrix_rows rows = tr_rows_of(matrices);
    const struct ptx_fragment *fragment = side_of(matrices, side);
    struct tr_factor_operation operation = {.row = side == TR_SIDE_A ? rows.a : rows.b,
                                            .rows = ptx_fragment_registers(fragment) *
                                                    tr_register_rows(fragment)};
    int length = snprintf(full, sizeof full, "%s.%c", name, "ab"[side]);
    tr_begin_part_function(ctx, (struct pxr_str){full, (size_t)length}, 1, &part);
    struct product *product = tr_begin_product(&part, inst, matrices);
    operation.function = part.function;
    operation.bytes = product != NULL ? tr_plan_side(product, side) : 0;
    if (operation.bytes != 0) {
        tr_load_registers(&part, fragment, operation.row, registers);
        if (side == TR_SIDE_A)
            tr_set_a(product, registers);
        else
            tr_set_b(product, registers);
        tr_store_side(product, side, part.memory[0]);
    }
    tr_end_warp_function(&part);
    return operation;
}

static void find_factors(const struct tr_warp_function *made, struct product *product,
                         const struct ptx_matrices *matrices, unsigned selector)
{
    struct tr_matrix_rows rows = tr_rows_of(matrices);
    LLVMValueRef registers[TR_REGISTERS_MAX];
    if (tr_plan_side(product, TR_SIDE_B) != 0) {
        tr_set_side(product, TR_SIDE_B, made->memory[TR_SIDE_B]);
    } else {
        tr_load_registers(made, &matrices->b, rows.b, registers);
        tr_set_b(product, registers);
    }
    if (tr_plan_side(product, TR_SIDE_A) != 0) {
        tr_set_side(product, TR_SIDE_A, made->memory[TR_SIDE_A]);
        return;
    }
    tr_load_registers(made, &matrices->a, rows.a, registers);
    if (matrices->metadata.row != NULL)
        tr_set_sparse_a(product, registers, tr_load_row(made, rows.metadata, 32), selector);
    else
        tr_set_a(product, registers);
}

/* With all that it needs but D; NULL: out of memory. */
static struct product *begin_product(const struct tr_warp_function *made,
                                     const struct ptx_inst *inst,
                                     const struct ptx_matrices *matrices, unsigned selector)
{
    struct product *product = tr_begin_product(made, inst, matrices);
    LLVMValueRef registers[TR_REGISTERS_MAX];
    if (product == NULL)
        return NULL;
    find_factors(made, product, matrices, selector);
    tr_load_registers(made, &matrices->c, tr_rows_of(matrices).c, registers);
    tr_set_c(product, registers);
    return product;
}

/* Returns whether there may be pairs of it. */
static bool build_product(const struct tr_warp_function *made, const struct ptx_inst *inst,
                          const struct ptx_matrices *matrices, unsigned selector)
{
    struct product *product = begin_product(made, inst, matrices, selector);
    LLVMValueRef d[TR_D_ELEMENTS_MAX];
    if (product == NULL)
        return false;
    tr_find_d(product, d);
    tr_store_numbers(made, &matrices->d, tr_rows_of(matrices).d, d);
    return tr_makes_pairs(product);
}

/* Two products with the same A. */
static LLVMValueRef pair_function(struct tr_ctx *ctx, const char *name, const struct ptx_inst *inst,
                                  const struct ptx_matrices *matrices, unsigned selector)
{
    char full[NAME_MAX_BYTES];
    struct tr_warp_function made[2];
    struct product *products[2];
    LLVMValueRef d[2][TR_D_ELEMENTS_MAX];
    int length = snprintf(full, sizeof full, "%s.pair", name);
    tr_begin_pair_function(ctx, (struct pxr_str){full, (size_t)length}, made);
    for (unsigned i = 0; i < 2; i++)
        products[i] = begin_product(&made[i], inst, matrices, selector);
    if (products[0] != NULL && products[1] != NULL) {
        tr_find_pair(products, (LLVMValueRef *[2]){d[0], d[1]});
        for (unsigned i = 0; i < 2; i++)
            tr_store_numbers(&made[i], &matrices->d, tr_rows_of(matrices).d, d[i]);
    }
    tr_end_warp_function(&made[0]);
    return made[0].function;
}

/* Products of the module: the newest first. */
struct product_operation {
    struct product_operation *next;
    struct tr_operation operation;
};

static const struct tr_operation *find_made(const struct tr_ctx *ctx, LLVMValueRef function)
{
    const struct product_operation *made = ctx->product_operations;
    while (made->operation.function != function)
        made = made->next;
    return &made->operation;
}

const struct tr_operation *tr_product_operation(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                                const struct ptx_matrices *matrices,
                                                unsigned selector)
{
    static const struct tr_operation none;
    char room[NAME_MAX_BYTES];
    struct tr_warp_function made;
    struct product_operation *product = pxr_arena_alloc_array(&ctx->arena, 1, sizeof *product);
    if (product == NULL) {
        tr_fail(ctx, PXR_OUT_OF_MEMORY, inst->line, "out of memory");
        return &none;
    }
    if (!tr_begin_part_function(ctx, name_of(inst, selector, room), TR_PART_MEMORIES, &made))
        return find_made(ctx, made.function);
    bool has_pairs = build_product(&made, inst, matrices, selector);
    tr_end_warp_function(&made);
    product->operation = (struct tr_operation){.function = made.function, .is_product = true};
    if (has_pairs)
        product->operation.pair = pair_function(ctx, room, inst, matrices, selector);
    for (enum tr_side side = TR_SIDE_A; side <= TR_SIDE_B; side++)
        if (side == TR_SIDE_B || matrices->metadata.row == NULL)
            product->operation.factors[side] = factor_operation(ctx, room, inst, matrices, side);
    product->next = ctx->product_operations;
    ctx->product_operations = product;
    return &product->operation;
}

/* ---- wgmma: B is in memory, and there are many products with one A ---- */

struct groups {
    struct tr_warp_function made;
    const struct tr_wgmma *wgmma;
    struct product *product;
    LLVMValueRef number; /* i32: what the lanes put into TR_ROW_NUMBER */
};

static LLVMValueRef number_field(const struct groups *groups, unsigned bit, unsigned bits)
{
    LLVMBuilderRef b = groups->made.ctx->builder;
    LLVMValueRef field =
        LLVMBuildLShr(b, groups->number, tr_const_int(groups->made.ctx, 32, bit), "");
    return LLVMBuildAnd(b, field, tr_const_int(groups->made.ctx, 32, (1u << bits) - 1), "");
}

static void set_a(const struct groups *groups)
{
    const struct tr_wgmma *wgmma = groups->wgmma;
    struct tr_ctx *ctx = groups->made.ctx;
    LLVMValueRef registers[TR_REGISTERS_MAX];
    if (wgmma->is_a_in_memory) {
        struct tr_shared_matrix a = {.fragment = &wgmma->matrices->a,
                                     .row = TR_WGMMA_ROW_A,
                                     .is_transposed = wgmma->is_a_transposed};
        LLVMValueRef eights = LLVMBuildShl(ctx->builder, number_field(groups, TR_WGMMA_RANK, 2),
                                           tr_const_int(ctx, 32, 1), "");
        tr_load_shared(&groups->made, &a, eights, registers);
    } else {
        tr_load_registers(&groups->made, &wgmma->matrices->a, TR_WGMMA_ROW_A, registers);
    }
    if (wgmma->matrices->metadata.row != NULL)
        tr_set_sparse_a(groups->product, registers,
                        tr_load_row(&groups->made, TR_WGMMA_ROW_METADATA, 32), wgmma->selector);
    else
        tr_set_a(groups->product, registers);
    if (wgmma->is_negative)
        tr_negate_a(groups->product);
}

/* C is D, or 0. */
static void set_c(const struct groups *groups, const struct tr_warp_function *part)
{
    const struct ptx_fragment *c = &groups->wgmma->matrices->c;
    struct tr_ctx *ctx = part->ctx;
    LLVMValueRef registers[TR_REGISTERS_MAX];
    LLVMValueRef has_c = number_field(groups, TR_WGMMA_HAS_C, 1);
    has_c = tr_splat(ctx, LLVMBuildTrunc(ctx->builder, has_c, ctx->i1, ""));
    tr_load_registers(part, c, TR_WGMMA_ROW_D, registers);
    for (unsigned r = 0; r < ptx_fragment_registers(c); r++)
        registers[r] = LLVMBuildSelect(ctx->builder, has_c, registers[r],
                                       LLVMConstNull(LLVMTypeOf(registers[r])), "");
    tr_set_c(groups->product, registers);
}

static void build_group(const struct groups *groups, LLVMValueRef group)
{
    const struct ptx_matrices *matrices = groups->wgmma->matrices;
    struct tr_ctx *ctx = groups->made.ctx;
    struct tr_shared_matrix b = {.fragment = &matrices->b,
                                 .row = TR_WGMMA_ROW_B,
                                 .is_b = true,
                                 .is_transposed = groups->wgmma->is_b_transposed};
    LLVMValueRef registers[TR_REGISTERS_MAX];
    LLVMValueRef d[TR_D_ELEMENTS_MAX];
    struct tr_warp_function part =
        tr_rows_behind(&groups->made, group, ptx_fragment_registers(&matrices->d));
    LLVMValueRef first = number_field(groups, TR_WGMMA_FIRST, 8);
    tr_load_shared(&groups->made, &b, LLVMBuildAdd(ctx->builder, first, group, ""), registers);
    tr_set_b(groups->product, registers);
    set_c(groups, &part);
    tr_find_d(groups->product, d);
    tr_store_numbers(&part, &matrices->d, TR_WGMMA_ROW_D, d);
}

/* At least one. */
static void build_groups(const struct groups *groups)
{
    struct tr_ctx *ctx = groups->made.ctx;
    LLVMBuilderRef b = ctx->builder;
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
    LLVMBasicBlockRef loop =
        LLVMAppendBasicBlockInContext(ctx->llvm, groups->made.function, "group");
    LLVMBasicBlockRef done =
        LLVMAppendBasicBlockInContext(ctx->llvm, groups->made.function, "done");
    LLVMValueRef numbers[2] = {tr_const_int(ctx, 32, 0)};
    LLVMBuildBr(b, loop);
    LLVMPositionBuilderAtEnd(b, loop);
    LLVMValueRef group = LLVMBuildPhi(b, ctx->i32, "");
    build_group(groups, group);
    numbers[1] = LLVMBuildAdd(b, group, tr_const_int(ctx, 32, 1), "");
    LLVMBasicBlockRef from[2] = {before, LLVMGetInsertBlock(b)};
    LLVMAddIncoming(group, numbers, from, 2);
    LLVMValueRef count = number_field(groups, TR_WGMMA_COUNT, 8);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntULT, numbers[1], count, ""), loop, done);
    LLVMPositionBuilderAtEnd(b, done);
}

LLVMValueRef tr_wgmma_function(struct tr_ctx *ctx, const struct ptx_inst *inst,
                               const struct tr_wgmma *wgmma)
{
    char room[NAME_MAX_BYTES];
    struct groups groups = {.wgmma = wgmma};
    unsigned choices = wgmma->selector | (unsigned)wgmma->is_a_in_memory << 2 |
                       (unsigned)wgmma->is_a_transposed << 3 |
                       (unsigned)wgmma->is_b_transposed << 4 | (unsigned)wgmma->is_negative << 5;
    if (!tr_begin_warp_function(ctx, name_of(inst, choices, room), &groups.made))
        return groups.made.function;
    groups.product = tr_begin_product(&groups.made, inst, wgmma->matrices);
    if (groups.product != NULL) {
        groups.number = tr_of_first_lane(&groups.made, TR_ROW_NUMBER, 32);
        set_a(&groups);
        build_groups(&groups);
    }
    tr_end_warp_function(&groups.made);
    return groups.made.function;
}
