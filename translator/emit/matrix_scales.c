/* SPDX-License-Identifier: Apache-2.0
 *
 * Scales of blocks (PTX ISA, "mma", ".block_scale"): every lane has some, and the operand thread-id
 * says which lanes of four have those that count.
 */
#include "translator/emit/matrix.h"

#define E8M0_SHIFT 23          /* the exponent of f32, with its bias */
#define E8M0_LEAST 0x00400000u /* of 0: subnormal in f32 */
#define E8M0_NAN   0xffu
#define NAN_F32    0x7fffffffu
#define UE4M3_BITS 0x7f /* e4m3 without a sign */

static LLVMValueRef brought(struct tr_ctx *ctx, const struct ptx_matrices *matrices, bool is_b,
                            unsigned element, unsigned thread, LLVMValueRef scales)
{
    const struct ptx_fragment *fragment = is_b ? &matrices->scale_b : &matrices->scale_a;
    LLVMValueRef from[RT_WARP_SIZE];
    for (unsigned lane = 0; lane < RT_WARP_SIZE; lane++) {
        struct ptx_cell of_d = ptx_cell_of(&matrices->d, (struct ptx_slot){lane, element});
        struct ptx_cell cell = {is_b ? 0 : of_d.row, is_b ? of_d.column : 0};
        struct ptx_slot place = ptx_slot_of(fragment, cell, ptx_lane_of_choice(fragment, thread));
        from[lane] = tr_const_int(ctx, 32, place.lane);
    }
    return LLVMBuildShuffleVector(ctx->builder, scales, scales, LLVMConstVector(from, RT_WARP_SIZE),
                                  "");
}

static LLVMValueRef number_of_e8m0(struct tr_ctx *ctx, LLVMValueRef bits)
{
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef number = LLVMBuildShl(b, bits, tr_splat_int(ctx, 32, E8M0_SHIFT), "");
    LLVMValueRef is_least = LLVMBuildICmp(b, LLVMIntEQ, bits, tr_splat_int(ctx, 32, 0), "");
    LLVMValueRef is_nan = LLVMBuildICmp(b, LLVMIntEQ, bits, tr_splat_int(ctx, 32, E8M0_NAN), "");
    number = LLVMBuildSelect(b, is_least, tr_splat_int(ctx, 32, E8M0_LEAST), number, "");
    number = LLVMBuildSelect(b, is_nan, tr_splat_int(ctx, 32, NAN_F32), number, "");
    return LLVMBuildBitCast(b, number, tr_lanes_of(ctx->f32), "");
}

LLVMValueRef tr_load_scale(const struct tr_warp_function *made, const struct ptx_matrices *matrices,
                           bool is_b, unsigned element, unsigned block)
{
    struct tr_ctx *ctx = made->ctx;
    LLVMBuilderRef b = ctx->builder;
    struct tr_matrix_rows rows = tr_rows_of(matrices);
    unsigned row = is_b ? rows.scale_b : rows.scale_a;
    LLVMValueRef scales = tr_load_row(made, row, 32);
    LLVMValueRef threads = tr_load_row(made, row + 1, 32);
    LLVMValueRef chosen = brought(ctx, matrices, is_b, element, 0, scales);
    for (unsigned thread = 1;
         thread < ptx_choice_count(is_b ? &matrices->scale_b : &matrices->scale_a); thread++) {
        LLVMValueRef is_it =
            LLVMBuildICmp(b, LLVMIntEQ, threads, tr_splat_int(ctx, 32, thread), "");
        LLVMValueRef other = brought(ctx, matrices, is_b, element, thread, scales);
        chosen = LLVMBuildSelect(b, is_it, other, chosen, "");
    }
    chosen = LLVMBuildLShr(b, chosen, tr_splat_int(ctx, 32, block * 8), "");
    bool is_e8m0 = matrices->scale_a.type == PTX_TYPE_UE8M0;
    chosen = LLVMBuildAnd(b, chosen, tr_splat_int(ctx, 32, is_e8m0 ? 0xff : UE4M3_BITS), "");
    return is_e8m0 ? number_of_e8m0(ctx, chosen) : tr_number_of_small(ctx, PTX_TYPE_E4M3, chosen);
}
