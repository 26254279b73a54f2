/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of boxes of tensors, cp.async.bulk.tensor and its relatives, and tensor maps that are
 * changed. Like bulk copies they happen at once, and nothing is waited for in groups.
 */
#include "translator/emit/emit_bulk.h"
#include "translator/rt/tensor.h"

#define COORDINATES_MAX 5

/* One instruction. */
struct tensor {
    const struct ptx_inst *inst;
    enum rt_tensor_action action;
    LLVMValueRef map;
    LLVMValueRef coordinates[3]; /* two in each of the first ones */
    LLVMValueRef request;        /* rt_tensor_request, and offsets */
    LLVMValueRef shared;
    const struct ptx_operand *shared_operand; /* NULL: it is another block's */
    LLVMValueRef bytes;                       /* of shared memory, an i32 */
};

static uint32_t rank_of(const struct ptx_inst *inst)
{
    static const enum ptx_mod ranks[] = {PTX_MOD_1D, PTX_MOD_2D, PTX_MOD_3D, PTX_MOD_4D,
                                         PTX_MOD_5D};
    uint32_t rank = 0;
    while (rank < COORDINATES_MAX && !ptx_inst_has_word(inst, ranks[rank]))
        rank++;
    return rank + 1;
}

static enum rt_tensor_access access_of(const struct ptx_inst *inst)
{
    static const struct {
        enum ptx_mod word;
        enum rt_tensor_access access;
    } words[] = {
        {PTX_MOD_IM2COL, RT_TENSOR_ACCESS_IM2COL},
        {PTX_MOD_IM2COL_NO_OFFS, RT_TENSOR_ACCESS_IM2COL},
        {PTX_MOD_IM2COL_W, RT_TENSOR_ACCESS_W},
        {PTX_MOD_IM2COL_W_128, RT_TENSOR_ACCESS_W128},
        {PTX_MOD_TILE_GATHER4, RT_TENSOR_ACCESS_FOUR_ROWS},
        {PTX_MOD_TILE_SCATTER4, RT_TENSOR_ACCESS_FOUR_ROWS},
    };
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        if (ptx_inst_has_word(inst, words[i].word))
            return words[i].access;
    return RT_TENSOR_ACCESS_TILE;
}

/* {w, h, d}, or {halo, offset}: 16 bits each. */
static LLVMValueRef read_offsets(struct tr_ctx *ctx, const struct ptx_operand *operand)
{
    struct ptx_operand parts[TR_MAX_VECTOR];
    unsigned count = tr_vector_parts(operand, parts);
    LLVMValueRef offsets = tr_const_int(ctx, 64, 0);
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef part =
            tr_resize(ctx, tr_operand_value(ctx, &parts[i], PTX_TYPE_B16), 64, false);
        part = LLVMBuildShl(ctx->builder, part, tr_const_int(ctx, 64, 16 * i), "");
        offsets = LLVMBuildOr(ctx->builder, offsets, part, "");
    }
    return offsets;
}

/* [map, {c0, c1 …}] */
static void read_place(struct tr_ctx *ctx, struct tensor *tensor, const struct ptx_operand *operand)
{
    struct ptx_operand parts[TR_MAX_VECTOR];
    unsigned count = tr_vector_parts(&operand->elems[1], parts);
    LLVMValueRef map = tr_access_address(ctx, operand, PTX_SPACE_NONE, RT_TENSOR_MAP_ALIGN);
    tensor->map = LLVMBuildPtrToInt(ctx->builder, map, ctx->i64, "");
    for (unsigned i = 0; i < COORDINATES_MAX; i++) {
        LLVMValueRef value =
            i < count ? tr_operand_value(ctx, &parts[i], PTX_TYPE_S32) : tr_const_int(ctx, 32, 0);
        if (i == COORDINATES_MAX - 1) {
            tensor->coordinates[2] = value;
            continue;
        }
        value = tr_resize(ctx, value, 64, false);
        if (i % 2 == 0)
            tensor->coordinates[i / 2] = value;
        else
            tensor->coordinates[i / 2] =
                LLVMBuildOr(ctx->builder, tensor->coordinates[i / 2],
                            LLVMBuildShl(ctx->builder, value, tr_const_int(ctx, 64, 32), ""), "");
    }
    tr_touch(ctx, map, tr_const_int(ctx, 32, RT_TENSOR_MAP_BYTES));
}

static struct tensor read_tensor(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                 enum rt_tensor_action action, enum rt_bulk_op op,
                                 unsigned place_at, unsigned offsets_at)
{
    enum rt_tensor_access access = access_of(inst);
    bool has_offsets = access >= RT_TENSOR_ACCESS_IM2COL && action == RT_TENSOR_LOAD;
    uint64_t request = rt_tensor_request(action, access, rank_of(inst), op);
    struct tensor tensor = {
        .inst = inst, .action = action, .request = tr_const_int(ctx, 64, request)};
    read_place(ctx, &tensor, tr_operand(inst, place_at));
    if (has_offsets)
        tensor.request = LLVMBuildOr(ctx->builder, tensor.request,
                                     read_offsets(ctx, tr_operand(inst, offsets_at)), "");
    tensor.bytes =
        tr_placeholder(ctx, RT_CALL_TENSOR_BYTES, ctx->thread, tensor.map, tensor.request);
    tr_fault_if(ctx,
                LLVMBuildICmp(ctx->builder, LLVMIntEQ, tensor.bytes, tr_const_int(ctx, 32, 0), ""),
                PXR_FAULT_INSTRUCTION, tensor.map);
    return tensor;
}

static void find_shared(struct tr_ctx *ctx, struct tensor *tensor, unsigned operand)
{
    tensor->shared_operand = tr_operand(tensor->inst, operand);
    tensor->shared =
        tr_access_address(ctx, tensor->shared_operand, PTX_SPACE_SHARED, RT_TENSOR_SHARED_ALIGN);
}

static LLVMValueRef edge(struct tr_ctx *ctx, const struct tensor *tensor, uint64_t which)
{
    const LLVMValueRef *c = tensor->coordinates;
    LLVMValueRef request =
        LLVMBuildOr(ctx->builder, tensor->request, tr_const_int(ctx, 64, which), "");
    return tr_placeholder(ctx, RT_CALL_TENSOR_EDGE, ctx->thread, tensor->map, c[0], c[1], c[2],
                          request);
}

/* What of the box lies in the tensor must be memory, with all that lies between. That counts as
 * written, too, and no check of races is told of it, as others may access it. */
static void touch_global(struct tr_ctx *ctx, const struct tensor *tensor)
{
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef first = edge(ctx, tensor, 0);
    LLVMValueRef last = edge(ctx, tensor, RT_TENSOR_LAST);
    LLVMValueRef bytes =
        LLVMBuildAdd(b, LLVMBuildSub(b, last, first, ""), tr_const_int(ctx, 64, 1), "");
    LLVMValueRef is_none = LLVMBuildICmp(b, LLVMIntEQ, first, tr_const_int(ctx, 64, 0), "");
    bytes = LLVMBuildSelect(b, is_none, tr_const_int(ctx, 64, 0), bytes, "");
    LLVMValueRef memory = LLVMBuildIntToPtr(b, first, ctx->ptr, "");
    bool is_load = tensor->action == RT_TENSOR_LOAD;
    tr_check_range(ctx, NULL, memory, PTX_SPACE_GLOBAL, bytes,
                   is_load ? RT_ACCESS_READ : RT_ACCESS_WRITE);
    tr_touch(ctx, memory, bytes);
    if (!is_load)
        tr_write_range(ctx, memory, PTX_SPACE_GLOBAL, bytes);
}

/* If there are bytes for this block. */
static void copy(struct tr_ctx *ctx, const struct tensor *tensor)
{
    LLVMBuilderRef b = ctx->builder;
    LLVMBasicBlockRef some = tr_new_block(ctx, "copy_box");
    LLVMBasicBlockRef after = tr_new_block(ctx, "copied_box");
    const LLVMValueRef *c = tensor->coordinates;
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, tensor->bytes, tr_const_int(ctx, 32, 0), ""),
                    after, some);
    LLVMPositionBuilderAtEnd(b, some);
    tr_check_and_tell_range(ctx, tensor->shared_operand, tensor->shared, PTX_SPACE_SHARED,
                            tensor->bytes,
                            tensor->action == RT_TENSOR_LOAD ? RT_ACCESS_WRITE : RT_ACCESS_READ);
    tr_touch(ctx, tensor->shared, tensor->bytes);
    if (tensor->action == RT_TENSOR_LOAD)
        tr_write_range(ctx, tensor->shared, PTX_SPACE_SHARED, tensor->bytes);
    touch_global(ctx, tensor);
    tr_placeholder(ctx, RT_CALL_TENSOR_COPY, ctx->thread,
                   LLVMBuildPtrToInt(b, tensor->shared, ctx->i64, ""), tensor->map, c[0], c[1],
                   c[2], tensor->request);
    LLVMBuildBr(b, after);
    LLVMPositionBuilderAtEnd(b, after);
}

/* The first of the blocks gets the box, and the others what it has got. */
static void copy_to_blocks(struct tr_ctx *ctx, struct tensor *tensor, unsigned mask_at)
{
    LLVMBuilderRef b = ctx->builder;
    struct tr_multicast blocks = tr_read_multicast(ctx, tensor->inst, mask_at, tensor->shared);
    LLVMValueRef is_none = LLVMBuildICmp(b, LLVMIntEQ, blocks.ranks, tr_const_int(ctx, 32, 0), "");
    LLVMValueRef args[2] = {blocks.ranks, tr_const_int(ctx, 1, 0)};
    LLVMValueRef first = tr_intrinsic(ctx, "llvm.cttz", &ctx->i32, 1, args, 2);
    blocks.object = tr_mbarrier_object(ctx, tr_operand(tensor->inst, 2), PTX_SPACE_SHARED);
    tensor->shared = tr_in_block(ctx, tensor->shared, first);
    tensor->shared_operand = NULL;
    tensor->bytes = LLVMBuildSelect(b, is_none, tr_const_int(ctx, 32, 0), tensor->bytes, "");
    copy(ctx, tensor);
    tr_multicast(ctx, &blocks, tensor->shared, tensor->bytes);
}

/* cp.async.bulk.tensor [dstMem], [map, coordinates], [mbar] {, offsets} {, mask} {, policy} */
enum pxr_status tr_emit_tensor_load(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    struct tensor tensor = read_tensor(ctx, inst, RT_TENSOR_LOAD, RT_BULK_ADD, 1, 3);
    find_shared(ctx, &tensor, 0);
    if (ptx_inst_has_word(inst, PTX_MOD_MULTICAST_CLUSTER)) {
        copy_to_blocks(ctx, &tensor, access_of(inst) >= RT_TENSOR_ACCESS_IM2COL ? 4 : 3);
        return PXR_OK;
    }
    copy(ctx, &tensor);
    tr_complete_transactions(ctx, tr_operand(inst, 2), PTX_SPACE_SHARED, tensor.bytes);
    return PXR_OK;
}

static void to_global(struct tr_ctx *ctx, const struct ptx_inst *inst, enum rt_tensor_action action,
                      enum rt_bulk_op op)
{
    struct tensor tensor = read_tensor(ctx, inst, action, op, 0, 0);
    find_shared(ctx, &tensor, 1);
    copy(ctx, &tensor);
}

/* cp.async.bulk.tensor [map, coordinates], [srcMem] {, policy} */
enum pxr_status tr_emit_tensor_store(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    to_global(ctx, inst, RT_TENSOR_STORE, RT_BULK_ADD);
    return PXR_OK;
}

enum pxr_status tr_emit_tensor_reduce(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    enum rt_bulk_op op = RT_BULK_ADD;
    if (!tr_bulk_reduction(ptx_inst_mod(inst, PTX_GROUP_ATOMOP), &op))
        return tr_unsupported(ctx, inst, "no such reduction");
    to_global(ctx, inst, RT_TENSOR_REDUCE, op);
    return PXR_OK;
}

/* cp.async.bulk.prefetch.tensor [map, coordinates] {, offsets} {, policy}: the map must be one. */
enum pxr_status tr_emit_tensor_prefetch(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    read_tensor(ctx, inst, RT_TENSOR_LOAD, RT_BULK_ADD, 0, 1);
    return PXR_OK;
}

/* ---- changing maps ---- */

static const struct {
    enum ptx_mod word;
    enum rt_tensor_field field;
    unsigned ordinals; /* 0: the field is one number */
} fields[] = {
    {PTX_MOD_GLOBAL_ADDRESS, RT_TENSOR_FIELD_ADDRESS, 0},
    {PTX_MOD_RANK, RT_TENSOR_FIELD_RANK, 0},
    {PTX_MOD_BOX_DIM, RT_TENSOR_FIELD_BOX, RT_TENSOR_RANK_MAX},
    {PTX_MOD_GLOBAL_DIM, RT_TENSOR_FIELD_SIZE, RT_TENSOR_RANK_MAX},
    {PTX_MOD_GLOBAL_STRIDE, RT_TENSOR_FIELD_STRIDE, RT_TENSOR_RANK_MAX - 1},
    {PTX_MOD_ELEMENT_STRIDE, RT_TENSOR_FIELD_STEP, RT_TENSOR_RANK_MAX},
    {PTX_MOD_ELEMTYPE, RT_TENSOR_FIELD_TYPE, 0},
    {PTX_MOD_INTERLEAVE_LAYOUT, RT_TENSOR_FIELD_INTERLEAVE, 0},
    {PTX_MOD_SWIZZLE_MODE, RT_TENSOR_FIELD_SWIZZLE, 0},
    {PTX_MOD_SWIZZLE_ATOMICITY, RT_TENSOR_FIELD_ATOMICITY, 0},
    {PTX_MOD_FILL_MODE, RT_TENSOR_FIELD_FILL, 0},
};

/* The driver must have made the map. */
static void check_mark(struct tr_ctx *ctx, LLVMValueRef map)
{
    LLVMValueRef mark = LLVMBuildLoad2(ctx->builder, ctx->i32, map, "");
    LLVMValueRef wanted = tr_const_int(ctx, 32, RT_TENSOR_MAP_MARK);
    tr_fault_if(ctx, LLVMBuildICmp(ctx->builder, LLVMIntNE, mark, wanted, ""),
                PXR_FAULT_INSTRUCTION, LLVMBuildPtrToInt(ctx->builder, map, ctx->i64, ""));
}

/* tensormap.replace [addr] {, ordinal}, value */
enum pxr_status tr_emit_tensormap_replace(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    unsigned i = 0;
    while (!ptx_inst_has_word(inst, fields[i].word))
        i++;
    uint64_t ordinal = fields[i].ordinals == 0 ? 0 : tr_operand(inst, 1)->bits;
    if (fields[i].ordinals != 0 && ordinal >= fields[i].ordinals)
        return tr_unsupported(ctx, inst, "no such dimension");
    unsigned value_at = fields[i].ordinals == 0 ? 1 : 2;
    bool is_long = inst->types[1] == PTX_TYPE_B64;
    LLVMValueRef value = tr_value(ctx, inst, value_at, is_long ? PTX_TYPE_B64 : PTX_TYPE_B32);
    LLVMValueRef map =
        tr_access_address(ctx, tr_operand(inst, 0), ptx_inst_space(inst), RT_TENSOR_MAP_ALIGN);
    check_mark(ctx, map);
    tr_touch(ctx, map, tr_const_int(ctx, 32, RT_TENSOR_MAP_BYTES));
    tr_helper(ctx, "rt_tensor_replace", ctx->void_type, map, tr_const_int(ctx, 32, fields[i].field),
              tr_const_int(ctx, 32, ordinal), tr_resize(ctx, value, 64, false));
    return PXR_OK;
}

/* tensormap.cp_fenceproxy [dst], [src], 128: lanes copy the same, and none goes on while another
 * has not. */
enum pxr_status tr_emit_tensormap_copy(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef size = tr_const_int(ctx, 32, RT_TENSOR_MAP_BYTES);
    if (tr_operand(inst, 2)->bits != RT_TENSOR_MAP_BYTES)
        return tr_unsupported(ctx, inst, "another size than 128");
    LLVMValueRef target =
        tr_access_address(ctx, tr_operand(inst, 0), PTX_SPACE_GLOBAL, RT_TENSOR_MAP_BYTES);
    LLVMValueRef source =
        tr_access_address(ctx, tr_operand(inst, 1), PTX_SPACE_SHARED, RT_TENSOR_MAP_BYTES);
    tr_touch(ctx, source, size);
    tr_touch(ctx, target, size);
    tr_helper(ctx, "rt_bulk_copy", ctx->void_type, target, source, size,
              tr_const_int(ctx, 32, 0xffff));
    enum pxr_status status = tr_emit_membar(ctx, inst);
    tr_placeholder(ctx, RT_CALL_WARP_SYNC, ctx->thread, tr_const_int(ctx, 32, UINT32_MAX));
    tr_step_met(ctx, inst);
    return status;
}
