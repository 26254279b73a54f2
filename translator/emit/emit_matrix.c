/* SPDX-License-Identifier: Apache-2.0
 *
 * mma, wmma, ldmatrix, stmatrix: a lane puts its part into the words of the warp, the lanes meet,
 * and a function of the module does the rest for all of them (warp_function.h, matrix_run.h).
 */
#include <string.h>

#include "translator/emit/matrix.h"
#include "translator/emit/matrix_run.h"

#define LINE_BYTES 16 /* of ldmatrix and stmatrix */
#define SELECTORS  4

/* ---- parts of matrices in registers ---- */

static unsigned operand_registers(const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_VECTOR ? operand->elem_count : 1;
}

static bool fits(const struct ptx_inst *inst, unsigned operand, const struct ptx_fragment *fragment)
{
    return operand_registers(tr_operand(inst, operand)) == ptx_fragment_registers(fragment);
}

static enum pxr_status refuse_count(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return tr_unsupported(ctx, inst, "another number of registers than its matrices have");
}

static void put_registers(struct tr_ctx *ctx, struct tr_matrix_operand matrix, unsigned row)
{
    struct ptx_operand parts[TR_MAX_VECTOR];
    unsigned count = tr_vector_parts(matrix.operand, parts);
    for (unsigned i = 0; i < count; i++)
        tr_put_register(ctx, row + i * (matrix.bits / 32), &parts[i], matrix.bits);
}

/* over: as tr_take_register's, of the first. */
static void take_registers(struct tr_ctx *ctx, struct tr_matrix_operand matrix, unsigned row,
                           unsigned over)
{
    struct ptx_operand parts[TR_MAX_VECTOR];
    unsigned count = tr_vector_parts(matrix.operand, parts);
    unsigned rows = matrix.bits / 32;
    for (unsigned i = 0; i < count; i++)
        tr_take_register(ctx, row + i * rows, &parts[i], matrix.bits,
                         over == TR_NO_ROW ? TR_NO_ROW : over + i * rows);
}

static struct tr_matrix_operand matrix_in(const struct ptx_inst *inst, unsigned operand,
                                          const struct ptx_fragment *fragment)
{
    return (struct tr_matrix_operand){tr_operand(inst, operand),
                                      ptx_fragment_register_bits(fragment) == 64 ? 64 : 32};
}

/* ---- products ---- */

/* scale-data, {byte-id, thread-id}: the byte that counts becomes the lowest. */
static void put_scale(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned operand,
                      unsigned row)
{
    struct ptx_operand ids[TR_MAX_VECTOR];
    LLVMValueRef scale = tr_value(ctx, inst, operand, PTX_TYPE_B32);
    tr_vector_parts(tr_operand(inst, operand + 1), ids);
    LLVMValueRef byte = tr_resize(ctx, tr_operand_value(ctx, &ids[0], PTX_TYPE_U16), 32, false);
    byte = LLVMBuildAnd(ctx->builder, byte, tr_const_int(ctx, 32, 3), "");
    LLVMValueRef bits = LLVMBuildShl(ctx->builder, byte, tr_const_int(ctx, 32, 3), "");
    tr_put_number(ctx, row, LLVMBuildLShr(ctx->builder, scale, bits, ""));
    tr_put_number(ctx, row + 1,
                  tr_resize(ctx, tr_operand_value(ctx, &ids[1], PTX_TYPE_U16), 32, false));
}

/* `first`: the operand behind C and metadata. */
static bool has_scale_ids(const struct ptx_inst *inst, unsigned first)
{
    return operand_registers(tr_operand(inst, first + 1)) == 2 &&
           operand_registers(tr_operand(inst, first + 3)) == 2;
}

/* Where all lanes have metadata only 0 makes sense, and where two of four have it the manual leaves
 * open what 2 and 3 do: as 0 and 1. */
static bool find_selector(const struct ptx_inst *inst, unsigned operand,
                          const struct ptx_fragment *metadata, unsigned *selector)
{
    unsigned choices = ptx_choice_count(metadata);
    uint64_t written = tr_operand(inst, operand)->bits;
    *selector = (unsigned)(written % choices);
    return written < SELECTORS && (choices > 1 || written == 0);
}

enum pxr_status tr_emit_mma(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    struct ptx_matrices matrices;
    unsigned operand = 4;
    unsigned selector = 0;
    if (!ptx_find_matrices(inst, &matrices))
        return tr_unsupported(ctx, inst, NULL);
    if (!fits(inst, 0, &matrices.d) || !fits(inst, 1, &matrices.a) || !fits(inst, 2, &matrices.b) ||
        !fits(inst, 3, &matrices.c))
        return refuse_count(ctx, inst);
    bool is_sparse = matrices.metadata.row != NULL;
    bool is_scaled = matrices.blocks != 0;
    unsigned scales = is_sparse ? operand + 2 : operand;
    if (is_sparse && !find_selector(inst, operand + 1, &matrices.metadata, &selector))
        return tr_unsupported(ctx, inst, "a sparsity selector that its shape does not have");
    if (is_scaled && !has_scale_ids(inst, scales))
        return refuse_count(ctx, inst);
    struct tr_matrix_rows rows = tr_rows_of(&matrices);
    struct tr_matrix_operand parts[4] = {
        matrix_in(inst, 0, &matrices.d), matrix_in(inst, 1, &matrices.a),
        matrix_in(inst, 2, &matrices.b), matrix_in(inst, 3, &matrices.c)};
    tr_begin_operation(ctx, inst, parts, 4);
    if (is_sparse)
        tr_put_number(ctx, rows.metadata, tr_value(ctx, inst, operand, PTX_TYPE_B32));
    if (is_scaled) {
        put_scale(ctx, inst, scales, rows.scale_a);
        put_scale(ctx, inst, scales + 2, rows.scale_b);
    }
    put_registers(ctx, parts[1], rows.a);
    put_registers(ctx, parts[2], rows.b);
    put_registers(ctx, parts[3], rows.c);
    take_registers(ctx, parts[0], rows.d, matrices.c.type == matrices.d.type ? rows.c : TR_NO_ROW);
    tr_end_operation(ctx, tr_product_operation(ctx, inst, &matrices, selector));
    return PXR_OK;
}

/* ---- lines in memory ---- */

static LLVMValueRef lane_number(struct tr_ctx *ctx)
{
    struct ptx_operand lane = {.kind = PTX_OPERAND_SREG, .sreg = PTX_SREG_LANEID};
    return tr_operand_value(ctx, &lane, PTX_TYPE_U32);
}

/* The lane's line, if it has one: so many bytes are used or written. */
static void tell_line(struct tr_ctx *ctx, const struct tr_matrix_move *move,
                      const struct ptx_operand *operand, LLVMValueRef line, enum ptx_space space,
                      unsigned bytes)
{
    LLVMBuilderRef b = ctx->builder;
    unsigned lines = move->count * move->lines;
    LLVMValueRef has_line =
        LLVMBuildICmp(b, LLVMIntULT, lane_number(ctx), tr_const_int(ctx, 32, lines), "");
    LLVMValueRef size =
        LLVMBuildSelect(b, has_line, tr_const_int(ctx, 64, bytes), tr_const_int(ctx, 64, 0), "");
    tr_check_and_tell_range(ctx, operand, line, space, size,
                            move->is_store ? RT_ACCESS_WRITE : RT_ACCESS_READ);
    if (move->is_store)
        tr_write_range(ctx, line, space, size);
    else
        tr_use_range(ctx, line, space, size, RT_ACCESS_VALUE);
}

/* ---- wmma.load, wmma.store ---- */

static bool is_by_column(const struct ptx_inst *inst)
{
    return ptx_inst_mod(inst, PTX_GROUP_LAYOUT) == PTX_MOD_COL;
}

static unsigned lines_of(const struct ptx_fragment *fragment, bool is_by_column)
{
    return 1u << strlen(is_by_column ? fragment->column : fragment->row);
}

/* "stride … default is the width of the matrix": lines lie one behind the other. */
static LLVMValueRef distance_of(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                const struct ptx_fragment *fragment)
{
    if (tr_has_operand(inst, 2))
        return tr_value(ctx, inst, 2, PTX_TYPE_B32);
    return tr_const_int(ctx, 32, lines_of(fragment, !is_by_column(inst)));
}

/* Many have the same register. */
static void put_distance(struct tr_ctx *ctx, const struct ptx_inst *inst,
                         const struct ptx_fragment *fragment)
{
    if (tr_has_operand(inst, 2))
        tr_put_register(ctx, TR_ROW_NUMBER, tr_operand(inst, 2), 32);
    else
        tr_put_number(ctx, TR_ROW_NUMBER, distance_of(ctx, inst, fragment));
}

static void put_address(struct tr_ctx *ctx, LLVMValueRef pointer)
{
    tr_put_number(ctx, TR_ROW_ADDRESS, LLVMBuildPtrToInt(ctx->builder, pointer, ctx->i64, ""));
}

static void move_registers(struct tr_ctx *ctx, struct tr_matrix_operand matrix,
                           const struct tr_matrix_move *move)
{
    if (move->is_store)
        put_registers(ctx, matrix, 0);
    else
        take_registers(ctx, matrix, 0, TR_NO_ROW);
    struct tr_operation operation = {.function = tr_move_function(ctx, move),
                                     .touches_memory = true};
    tr_end_operation(ctx, &operation);
}

/* The lane's line of the matrix. */
static void tell_line_at(struct tr_ctx *ctx, const struct tr_matrix_move *move,
                         const struct ptx_operand *operand, LLVMValueRef address,
                         LLVMValueRef distance, enum ptx_space space)
{
    LLVMBuilderRef b = ctx->builder;
    unsigned bits = move->fragment->bits;
    LLVMValueRef place = LLVMBuildMul(b, tr_resize(ctx, lane_number(ctx), 64, false),
                                      tr_resize(ctx, distance, 64, false), "");
    place = LLVMBuildMul(b, place, tr_const_int(ctx, 64, bits), "");
    place = LLVMBuildLShr(b, place, tr_const_int(ctx, 64, 3), "");
    LLVMValueRef line = LLVMBuildGEP2(b, ctx->i8, address, &place, 1, "");
    tell_line(ctx, move, operand, line, space,
              lines_of(move->fragment, !move->is_by_column) * bits / 8);
}

static enum pxr_status emit_wmma_move(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                      bool is_store)
{
    struct ptx_matrices matrices;
    if (!ptx_find_matrices(inst, &matrices))
        return tr_unsupported(ctx, inst, NULL);
    const struct ptx_fragment *fragment = ptx_moved_fragment(&matrices);
    struct tr_matrix_move move = {.name = inst->text,
                                  .fragment = fragment,
                                  .count = 1,
                                  .lines = lines_of(fragment, is_by_column(inst)),
                                  .is_by_column = is_by_column(inst),
                                  .is_store = is_store};
    unsigned registers = is_store ? 1 : 0;
    if (!fits(inst, registers, fragment))
        return refuse_count(ctx, inst);
    struct tr_matrix_operand matrix = matrix_in(inst, registers, fragment);
    tr_begin_operation(ctx, inst, &matrix, 1);
    LLVMValueRef address = tr_access_address(ctx, tr_operand(inst, 1 - registers),
                                             ptx_inst_space(inst), ptx_type_bytes(fragment->type));
    put_address(ctx, address);
    put_distance(ctx, inst, fragment);
    tell_line_at(ctx, &move, tr_operand(inst, 1 - registers), address,
                 distance_of(ctx, inst, fragment), ptx_inst_space(inst));
    move_registers(ctx, matrix, &move);
    return PXR_OK;
}

enum pxr_status tr_emit_wmma_load(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return emit_wmma_move(ctx, inst, false);
}

enum pxr_status tr_emit_wmma_store(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return emit_wmma_move(ctx, inst, true);
}

/* ---- ldmatrix, stmatrix ---- */

/* Only the first lanes have addresses of lines. */
static void put_line_address(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned operand,
                             const struct tr_matrix_move *move)
{
    unsigned lines = move->count * move->lines;
    unsigned bits = move->memory_bits != 0 ? move->memory_bits : move->fragment->bits;
    enum ptx_space space = ptx_inst_space(inst);
    LLVMValueRef pointer = tr_address(ctx, tr_operand(inst, operand), space);
    LLVMValueRef address = LLVMBuildPtrToInt(ctx->builder, pointer, ctx->i64, "");
    if (ctx->options->check_alignment) {
        LLVMBuilderRef b = ctx->builder;
        LLVMValueRef low = LLVMBuildAnd(b, address, tr_const_int(ctx, 64, LINE_BYTES - 1), "");
        LLVMValueRef is_bad = LLVMBuildICmp(b, LLVMIntNE, low, tr_const_int(ctx, 64, 0), "");
        LLVMValueRef has_line =
            LLVMBuildICmp(b, LLVMIntULT, lane_number(ctx), tr_const_int(ctx, 32, lines), "");
        tr_fault_if(ctx, LLVMBuildAnd(b, is_bad, has_line, ""), PXR_FAULT_MISALIGNED, address);
    }
    tr_put_number(ctx, TR_ROW_ADDRESS, address);
    tell_line(ctx, move, tr_operand(inst, operand), pointer, space,
              lines_of(move->fragment, true) * bits / 8);
}

static enum pxr_status emit_matrix_move(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                        bool is_store)
{
    struct ptx_matrices matrices;
    if (!ptx_find_matrices(inst, &matrices))
        return tr_unsupported(ctx, inst, NULL);
    const struct ptx_fragment *fragment = &matrices.d;
    struct tr_matrix_operand registers = {tr_operand(inst, is_store ? 1 : 0), 32};
    unsigned lines = lines_of(fragment, false);
    struct tr_matrix_move move = {.name = inst->text,
                                  .fragment = fragment,
                                  .count = matrices.count,
                                  .lines = lines,
                                  .has_addresses = true,
                                  .memory_bits = matrices.memory_bits,
                                  .is_store = is_store};
    if (operand_registers(registers.operand) != matrices.count * ptx_fragment_registers(fragment))
        return refuse_count(ctx, inst);
    tr_begin_operation(ctx, inst, &registers, 1);
    put_line_address(ctx, inst, is_store ? 0 : 1, &move);
    move_registers(ctx, registers, &move);
    return PXR_OK;
}

enum pxr_status tr_emit_ldmatrix(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return emit_matrix_move(ctx, inst, false);
}

enum pxr_status tr_emit_stmatrix(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return emit_matrix_move(ctx, inst, true);
}
