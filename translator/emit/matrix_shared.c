/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrices of wgmma in shared memory (PTX ISA, "Shared Memory Matrix Layout", "Matrix Descriptor
 * Format"). Eight lines of 16 bytes lie side by side, those of a swizzled matrix at a distance of
 * 32, 64 or 128; a line is a row of A or column of B, or, transposed, 8 elements of one k. The two
 * offsets of the descriptor lead to what comes next in both directions. A swizzle adds, without
 * carry, the number of each piece of 128 bytes to the number of 16 bytes in it.
 */
#include "translator/emit/matrix.h"

#define LINE_BYTES 16
#define EIGHT      8

/* What the descriptor says: i32. */
struct descriptor {
    LLVMValueRef start;
    LLVMValueRef leading;
    LLVMValueRef stride;
    LLVMValueRef base;        /* what the first piece of a pattern of 1024 bytes counts as */
    LLVMValueRef width;       /* bytes from a line to the next */
    LLVMValueRef mask;        /* width / 16 - 1 */
    LLVMValueRef shift;       /* the bits of the mask */
    LLVMValueRef is_swizzled; /* i1 */
};

struct loader {
    const struct tr_warp_function *made;
    const struct tr_shared_matrix *matrix;
    struct descriptor descriptor;
    LLVMValueRef first; /* i32: eights of lines before the matrix's part */
    LLVMValueRef memory;
};

static LLVMValueRef field_of(struct tr_ctx *ctx, LLVMValueRef word, unsigned bit, unsigned bits)
{
    word = LLVMBuildLShr(ctx->builder, word, tr_const_int(ctx, 64, bit), "");
    word = LLVMBuildAnd(ctx->builder, word, tr_const_int(ctx, 64, (1u << bits) - 1), "");
    return LLVMBuildTrunc(ctx->builder, word, ctx->i32, "");
}

/* matrix-descriptor-encode leaves the lowest four bits out. */
static LLVMValueRef bytes_of(struct tr_ctx *ctx, LLVMValueRef word, unsigned bit)
{
    return LLVMBuildShl(ctx->builder, field_of(ctx, word, bit, 14), tr_const_int(ctx, 32, 4), "");
}

/* The mode is 0: none, 1: 128 bytes, 2: 64, 3: 32. */
static struct descriptor decode(struct tr_ctx *ctx, LLVMValueRef word)
{
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef mode = field_of(ctx, word, 62, 2);
    LLVMValueRef zero = tr_const_int(ctx, 32, 0);
    LLVMValueRef is_swizzled = LLVMBuildICmp(b, LLVMIntNE, mode, zero, "");
    LLVMValueRef shift = LLVMBuildSub(b, tr_const_int(ctx, 32, 4), mode, "");
    shift = LLVMBuildSelect(b, is_swizzled, shift, zero, "");
    LLVMValueRef one = tr_const_int(ctx, 32, 1);
    return (struct descriptor){
        .start = bytes_of(ctx, word, 0),
        .leading = bytes_of(ctx, word, 16),
        .stride = bytes_of(ctx, word, 32),
        .base = field_of(ctx, word, 49, 3),
        .width = LLVMBuildShl(b, tr_const_int(ctx, 32, LINE_BYTES), shift, ""),
        .mask = LLVMBuildSub(b, LLVMBuildShl(b, one, shift, ""), one, ""),
        .shift = shift,
        .is_swizzled = is_swizzled,
    };
}

/* ---- addresses ---- */

/* Of each lane, where an element is, apart from what the descriptor says. */
struct place {
    LLVMValueRef eight; /* of lines, from `first` on */
    LLVMValueRef line;  /* of eight */
    LLVMValueRef next;  /* 16 bytes of k; transposed: eights of k */
    LLVMValueRef k;     /* transposed: of eight */
    LLVMValueRef bytes; /* of 16 */
};

static struct place place_of(const struct loader *loader, unsigned element)
{
    const struct ptx_fragment *fragment = loader->matrix->fragment;
    struct tr_ctx *ctx = loader->made->ctx;
    LLVMValueRef parts[5][RT_WARP_SIZE];
    for (unsigned lane = 0; lane < RT_WARP_SIZE; lane++) {
        struct ptx_cell cell = ptx_cell_of(fragment, (struct ptx_slot){lane, element});
        unsigned line = loader->matrix->is_b ? cell.column : cell.row;
        unsigned k = loader->matrix->is_b ? cell.row : cell.column;
        unsigned along = (loader->matrix->is_transposed ? line % EIGHT : k) * fragment->bits / 8;
        parts[0][lane] = tr_const_int(ctx, 32, line / EIGHT);
        parts[1][lane] = tr_const_int(ctx, 32, line % EIGHT);
        parts[2][lane] =
            tr_const_int(ctx, 32, loader->matrix->is_transposed ? k / EIGHT : along / LINE_BYTES);
        parts[3][lane] = tr_const_int(ctx, 32, k % EIGHT);
        parts[4][lane] = tr_const_int(ctx, 32, along % LINE_BYTES);
    }
    return (struct place){
        LLVMConstVector(parts[0], RT_WARP_SIZE), LLVMConstVector(parts[1], RT_WARP_SIZE),
        LLVMConstVector(parts[2], RT_WARP_SIZE), LLVMConstVector(parts[3], RT_WARP_SIZE),
        LLVMConstVector(parts[4], RT_WARP_SIZE)};
}

/* sum + count * bytes, where bytes is the same for all lanes. */
static LLVMValueRef add_times(struct tr_ctx *ctx, LLVMValueRef sum, LLVMValueRef count,
                              LLVMValueRef bytes)
{
    LLVMValueRef product = LLVMBuildMul(ctx->builder, count, tr_splat(ctx, bytes), "");
    return LLVMBuildAdd(ctx->builder, sum, product, "");
}

static LLVMValueRef offset_by_k(const struct loader *loader, const struct place *place)
{
    const struct descriptor *descriptor = &loader->descriptor;
    struct tr_ctx *ctx = loader->made->ctx;
    LLVMValueRef eight = LLVMBuildAdd(ctx->builder, place->eight, tr_splat(ctx, loader->first), "");
    LLVMValueRef next = LLVMBuildSelect(ctx->builder, descriptor->is_swizzled,
                                        tr_const_int(ctx, 32, LINE_BYTES), descriptor->leading, "");
    LLVMValueRef sum = add_times(ctx, place->bytes, eight, descriptor->stride);
    sum = add_times(ctx, sum, place->line, descriptor->width);
    return add_times(ctx, sum, place->next, next);
}

/* Eights of lines fill the width before the offset leads on. */
static LLVMValueRef offset_transposed(const struct loader *loader, const struct place *place)
{
    const struct descriptor *descriptor = &loader->descriptor;
    struct tr_ctx *ctx = loader->made->ctx;
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef lines =
        LLVMBuildSelect(b, descriptor->is_swizzled, descriptor->leading, descriptor->stride, "");
    LLVMValueRef next =
        LLVMBuildSelect(b, descriptor->is_swizzled, descriptor->stride, descriptor->leading, "");
    LLVMValueRef eight = LLVMBuildAdd(b, place->eight, tr_splat(ctx, loader->first), "");
    LLVMValueRef inside = LLVMBuildAnd(b, eight, tr_splat(ctx, descriptor->mask), "");
    LLVMValueRef sum = add_times(ctx, place->bytes, inside, tr_const_int(ctx, 32, LINE_BYTES));
    eight = LLVMBuildLShr(b, eight, tr_splat(ctx, descriptor->shift), "");
    sum = add_times(ctx, sum, eight, lines);
    sum = add_times(ctx, sum, place->k, descriptor->width);
    return add_times(ctx, sum, place->next, next);
}

static LLVMValueRef swizzled(const struct loader *loader, LLVMValueRef address)
{
    struct tr_ctx *ctx = loader->made->ctx;
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef piece = LLVMBuildLShr(b, address, tr_splat_int(ctx, 32, 7), "");
    piece = LLVMBuildSub(b, piece, tr_splat(ctx, loader->descriptor.base), "");
    piece = LLVMBuildAnd(b, piece, tr_splat(ctx, loader->descriptor.mask), "");
    return LLVMBuildXor(b, address, LLVMBuildShl(b, piece, tr_splat_int(ctx, 32, 4), ""), "");
}

/* ---- loads ---- */

/* An integer of so many bits for each lane. */
static LLVMValueRef load(const struct loader *loader, unsigned element, unsigned bits)
{
    struct tr_ctx *ctx = loader->made->ctx;
    struct place place = place_of(loader, element);
    LLVMValueRef offset = loader->matrix->is_transposed ? offset_transposed(loader, &place)
                                                        : offset_by_k(loader, &place);
    offset = LLVMBuildAdd(ctx->builder, offset, tr_splat(ctx, loader->descriptor.start), "");
    offset = swizzled(loader, offset);
    offset = LLVMBuildZExt(ctx->builder, offset, tr_lanes_of(ctx->i64), "");
    LLVMValueRef pointers = LLVMBuildGEP2(ctx->builder, ctx->i8, loader->memory, &offset, 1, "");
    LLVMTypeRef lanes = tr_lanes_of(tr_int_type(ctx, bits));
    LLVMTypeRef types[2] = {lanes, tr_lanes_of(ctx->ptr)};
    LLVMValueRef args[3] = {pointers, LLVMConstAllOnes(tr_lanes_of(ctx->i1)), LLVMGetPoison(lanes)};
    LLVMValueRef gather = tr_intrinsic(ctx, "llvm.masked.gather", types, 2, args, 3);
    unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMAddCallSiteAttribute(gather, 1, LLVMCreateEnumAttribute(ctx->llvm, kind, bits / 8));
    return gather;
}

/* Transposed, the elements of a register are not neighbours. */
static LLVMValueRef load_pair(const struct loader *loader, unsigned element)
{
    LLVMBuilderRef b = loader->made->ctx->builder;
    LLVMTypeRef words = tr_lanes_of(loader->made->ctx->i32);
    LLVMValueRef low = LLVMBuildZExt(b, load(loader, element, 16), words, "");
    LLVMValueRef high = LLVMBuildZExt(b, load(loader, element + 1, 16), words, "");
    high = LLVMBuildShl(b, high, tr_splat_int(loader->made->ctx, 32, 16), "");
    return LLVMBuildOr(b, low, high, "");
}

void tr_load_shared(const struct tr_warp_function *made, const struct tr_shared_matrix *matrix,
                    LLVMValueRef first, LLVMValueRef *registers)
{
    struct tr_ctx *ctx = made->ctx;
    LLVMValueRef memory = tr_of_first_lane(made, TR_ROW_ADDRESS, 64);
    struct loader loader = {
        .made = made,
        .matrix = matrix,
        .descriptor = decode(ctx, tr_of_first_lane(made, matrix->row, 64)),
        .first = first,
        .memory = LLVMBuildIntToPtr(ctx->builder, memory, ctx->ptr, ""),
    };
    unsigned in_register = 32 / matrix->fragment->bits;
    for (unsigned r = 0; r < ptx_fragment_registers(matrix->fragment); r++)
        registers[r] = matrix->is_transposed ? load_pair(&loader, r * in_register)
                                             : load(&loader, r * in_register, 32);
}
