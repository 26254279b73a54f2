/* SPDX-License-Identifier: Apache-2.0
 *
 * tex, tld4, txq, suq, istypep. A handle is the address of a descriptor (kernel_abi/texture.h), in
 * a register or as the address of a variable; in both texture modes. Fetches are calls of the
 * sampler (translator/rt/texture.c).
 */
#include "translator/emit/emit_texture.h"
#include "kernel_abi/image_shape.h"
#include "translator/module/marks.h"
#include "translator/rt/surface.h"

#define COORDINATES 3
#define LAYER       3

/* ---- handles ---- */

static LLVMValueRef descriptor_of(struct tr_ctx *ctx, LLVMValueRef handle)
{
    LLVMValueRef mask = tr_const_int(ctx, 64, RT_HANDLE_ADDRESS_MASK);
    return LLVMBuildIntToPtr(ctx->builder, LLVMBuildAnd(ctx->builder, handle, mask, ""), ctx->ptr,
                             "");
}

/* Objects end when the work of their context is done: no mark changes while a kernel runs. */
static LLVMValueRef load_mark(struct tr_ctx *ctx, LLVMValueRef handle)
{
    LLVMValueRef mark = LLVMBuildLoad2(ctx->builder, ctx->i32, descriptor_of(ctx, handle), "");
    LLVMSetAlignment(mark, 1);
    tr_mark_invariant(mark);
    return mark;
}

static LLVMValueRef has_mark(struct tr_ctx *ctx, LLVMValueRef found, uint32_t mark)
{
    return LLVMBuildICmp(ctx->builder, LLVMIntEQ, found, tr_const_int(ctx, 32, mark), "");
}

static void check_handle(struct tr_ctx *ctx, LLVMValueRef handle, uint32_t mark, uint32_t other)
{
    LLVMValueRef found = load_mark(ctx, handle);
    LLVMValueRef is_good = has_mark(ctx, found, mark);
    if (other != mark)
        is_good = LLVMBuildOr(ctx->builder, is_good, has_mark(ctx, found, other), "");
    tr_fault_if(ctx, LLVMBuildNot(ctx->builder, is_good, ""), PXR_FAULT_ADDRESS, handle);
}

/* Parameters of opaque types hold a handle, too; variables of other types are the descriptor. */
static bool is_parameter(const struct ptx_operand *base)
{
    return base->kind == PTX_OPERAND_VAR && base->var->space == PTX_SPACE_PARAM;
}

/* A variable of opaque type is a reference: the host puts a handle there. */
bool tr_is_reference(const struct ptx_operand *base)
{
    return base->kind == PTX_OPERAND_VAR && !is_parameter(base) &&
           ptx_type_table[base->var->type].class == PTX_CLASS_OPAQUE;
}

LLVMValueRef tr_reference_handle(struct tr_ctx *ctx, const struct ptx_operand *base)
{
    const struct ptx_operand address = {
        .kind = PTX_OPERAND_ADDRESS, .elem_count = 1, .elems = base};
    if (base->var->type == PTX_TYPE_SAMPLERREF)
        tr_unsupported(ctx, ctx->inst, "a reference to a sampler");
    LLVMValueRef memory = tr_address(ctx, &address, PTX_SPACE_NONE);
    return LLVMBuildLoad2(ctx->builder, ctx->i64, memory, "");
}

static LLVMValueRef read_handle(struct tr_ctx *ctx, const struct ptx_operand *operand)
{
    if (tr_is_reference(operand->elems))
        return tr_reference_handle(ctx, operand->elems);
    if (!is_parameter(operand->elems))
        return LLVMBuildPtrToInt(ctx->builder, tr_address(ctx, operand, PTX_SPACE_NONE), ctx->i64,
                                 "");
    LLVMValueRef memory = tr_address(ctx, operand, PTX_SPACE_PARAM);
    return LLVMBuildLoad2(ctx->builder, ctx->i64, memory, "");
}

LLVMValueRef tr_image_handle(struct tr_ctx *ctx, const struct ptx_operand *operand, uint32_t mark)
{
    LLVMValueRef handle = read_handle(ctx, operand);
    check_handle(ctx, handle, mark, mark);
    return handle;
}

/* [texture, sampler, {…}] of independent mode; without one the texture is its own. */
static LLVMValueRef sampler_handle(struct tr_ctx *ctx, const struct ptx_operand *operand,
                                   LLVMValueRef texture)
{
    if (operand->elem_count < 3)
        return texture;
    const struct ptx_operand *written = &operand->elems[1];
    const struct ptx_operand address = {
        .kind = PTX_OPERAND_ADDRESS, .elem_count = 1, .elems = written};
    LLVMValueRef handle = read_handle(ctx, &address);
    check_handle(ctx, handle, RT_SAMPLER_MARK, RT_TEXTURE_MARK);
    return handle;
}

/* ---- places ---- */

enum rt_texture_kind tr_image_kind(const struct ptx_inst *inst)
{
    static const struct {
        enum ptx_mod word;
        enum rt_texture_kind kind;
    } words[] = {
        {PTX_MOD_1D, RT_TEXTURE_1D},       {PTX_MOD_2D, RT_TEXTURE_2D},
        {PTX_MOD_3D, RT_TEXTURE_3D},       {PTX_MOD_A1D, RT_TEXTURE_A1D},
        {PTX_MOD_A2D, RT_TEXTURE_A2D},     {PTX_MOD_CUBE, RT_TEXTURE_CUBE},
        {PTX_MOD_ACUBE, RT_TEXTURE_ACUBE},
    };
    unsigned i = 0;
    while (!ptx_inst_has_word(inst, words[i].word))
        i++;
    return words[i].kind;
}

/* Cubes have directions. */
static unsigned coordinate_count(enum rt_texture_kind kind)
{
    return rt_texture_is_cube(kind) ? COORDINATES : rt_texture_dimensions(kind);
}

static LLVMValueRef as_i32(struct tr_ctx *ctx, LLVMValueRef value)
{
    return tr_bitcast(ctx, value, ctx->i32);
}

struct tr_place tr_read_place(struct tr_ctx *ctx, const struct ptx_operand *vector,
                              enum rt_texture_kind kind, enum ptx_type type)
{
    struct ptx_operand parts[TR_MAX_VECTOR];
    unsigned written = tr_vector_parts(vector, parts);
    bool is_layered = rt_texture_is_layered(kind);
    struct tr_place place;
    for (unsigned i = 0; i <= LAYER; i++)
        place.at[i] = tr_const_int(ctx, 32, 0);
    if (is_layered)
        place.at[LAYER] = tr_operand_value(ctx, &parts[0], PTX_TYPE_B32);
    for (unsigned i = 0; i < coordinate_count(kind) && i + is_layered < written; i++)
        place.at[i] = as_i32(ctx, tr_operand_value(ctx, &parts[i + is_layered], type));
    return place;
}

LLVMValueRef tr_join(struct tr_ctx *ctx, LLVMValueRef low, LLVMValueRef high)
{
    LLVMBuilderRef b = ctx->builder;
    high = LLVMBuildShl(b, tr_resize(ctx, high, 64, false), tr_const_int(ctx, 64, 32), "");
    return LLVMBuildOr(b, tr_resize(ctx, low, 64, false), high, "");
}

/* ---- fetches ---- */

/* One tex or tld4. */
struct fetch {
    const struct ptx_inst *inst;
    enum rt_texture_kind kind;
    enum ptx_type coordinate_type;
    LLVMValueRef texture;
    LLVMValueRef sampler;
    struct tr_place place;
    LLVMValueRef request;
    LLVMValueRef lod; /* i32: the bits of a float */
};

static struct fetch read_fetch(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    const struct ptx_operand *operand = tr_operand(inst, 1);
    struct fetch fetch = {
        .inst = inst, .kind = tr_image_kind(inst), .coordinate_type = inst->types[1]};
    uint64_t request = (uint64_t)fetch.kind << RT_FETCH_KIND_SHIFT;
    if (fetch.coordinate_type == PTX_TYPE_F32)
        request |= UINT64_C(1) << RT_FETCH_IS_FLOAT;
    if (inst->types[0] == PTX_TYPE_F16 || inst->types[0] == PTX_TYPE_F16X2)
        request |= UINT64_C(1) << RT_FETCH_IS_HALF;
    fetch.texture = tr_image_handle(ctx, operand, RT_TEXTURE_MARK);
    fetch.sampler = sampler_handle(ctx, operand, fetch.texture);
    fetch.place = tr_read_place(ctx, &operand->elems[operand->elem_count - 1], fetch.kind,
                                fetch.coordinate_type);
    fetch.request = tr_const_int(ctx, 64, request);
    fetch.lod = tr_const_int(ctx, 32, 0);
    return fetch;
}

static void add_request(struct tr_ctx *ctx, struct fetch *fetch, uint64_t bits)
{
    fetch->request = LLVMBuildOr(ctx->builder, fetch->request, tr_const_int(ctx, 64, bits), "");
}

/* "Offset values … in the range [-8, 7]": four bits each. */
static void add_offsets(struct tr_ctx *ctx, struct fetch *fetch, const struct ptx_operand *operand)
{
    struct ptx_operand parts[TR_MAX_VECTOR];
    unsigned count = tr_vector_parts(operand, parts);
    for (unsigned i = 0; i < count && i < COORDINATES; i++) {
        LLVMValueRef part = tr_operand_value(ctx, &parts[i], PTX_TYPE_B32);
        part = LLVMBuildAnd(ctx->builder, part, tr_const_int(ctx, 32, 15), "");
        part = LLVMBuildShl(ctx->builder, tr_resize(ctx, part, 64, false),
                            tr_const_int(ctx, 64, RT_FETCH_OFFSET_SHIFT(i)), "");
        fetch->request = LLVMBuildOr(ctx->builder, fetch->request, part, "");
    }
}

/* {, offsets} {, depth}, from this operand on. */
static LLVMValueRef read_rest(struct tr_ctx *ctx, struct fetch *fetch, unsigned next)
{
    const struct ptx_inst *inst = fetch->inst;
    if (tr_has_operand(inst, next) && tr_operand(inst, next)->kind == PTX_OPERAND_VECTOR) {
        add_offsets(ctx, fetch, tr_operand(inst, next));
        next++;
    }
    if (!tr_has_operand(inst, next))
        return tr_const_int(ctx, 32, 0);
    add_request(ctx, fetch, UINT64_C(1) << RT_FETCH_HAS_DEPTH);
    return as_i32(ctx, tr_value(ctx, inst, next, PTX_TYPE_F32));
}

/* Bits of the result from this bit on, as the type. */
static LLVMValueRef part_of(struct tr_ctx *ctx, LLVMValueRef result, unsigned from,
                            enum ptx_type type)
{
    if (from != 0)
        result = LLVMBuildLShr(ctx->builder, result, LLVMConstInt(ctx->i128, from, false), "");
    return tr_bitcast(ctx, tr_resize(ctx, result, ptx_type_bits(type), false), tr_type(ctx, type));
}

/* All that a program can reach is resident. */
static void set_results(struct tr_ctx *ctx, const struct ptx_inst *inst, LLVMValueRef result)
{
    const struct ptx_operand *target = tr_operand(inst, 0);
    struct ptx_operand parts[TR_MAX_VECTOR];
    enum ptx_type type = inst->types[0];
    unsigned count =
        tr_vector_parts(target->kind == PTX_OPERAND_PAIR ? &target->elems[0] : target, parts);
    for (unsigned i = 0; i < count; i++)
        tr_set_operand(ctx, &parts[i], type, part_of(ctx, result, i * ptx_type_bits(type), type));
    tr_set_second(ctx, inst, 0, tr_const_int(ctx, 1, 1));
}

static enum pxr_status finish(struct tr_ctx *ctx, struct fetch *fetch, unsigned rest)
{
    const LLVMValueRef *at = fetch->place.at;
    LLVMValueRef depth = read_rest(ctx, fetch, rest);
    LLVMValueRef result =
        tr_placeholder(ctx, RT_CALL_TEXTURE_FETCH, ctx->thread, fetch->texture, fetch->sampler,
                       tr_join(ctx, at[0], at[1]), tr_join(ctx, at[2], at[LAYER]),
                       tr_join(ctx, fetch->lod, depth), fetch->request);
    set_results(ctx, fetch->inst, result);
    return PXR_OK;
}

/* tex{.base} d{|p}, [a, c] {, offsets} {, depth} */
enum pxr_status tr_emit_tex(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    struct fetch fetch = read_fetch(ctx, inst);
    if (ptx_inst_has_word(inst, PTX_MOD_BASE))
        add_request(ctx, &fetch, UINT64_C(1) << RT_FETCH_IS_BASE);
    return finish(ctx, &fetch, 2);
}

/* tex.level d{|p}, [a, c], lod {, offsets} {, depth}: an integer lod with integer coordinates */
enum pxr_status tr_emit_tex_level(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    struct fetch fetch = read_fetch(ctx, inst);
    LLVMValueRef lod = tr_value(ctx, inst, 2, fetch.coordinate_type);
    if (fetch.coordinate_type != PTX_TYPE_F32)
        lod = LLVMBuildSIToFP(ctx->builder, lod, ctx->f32, "");
    fetch.lod = as_i32(ctx, lod);
    return finish(ctx, &fetch, 3);
}

static struct tr_place read_gradient(struct tr_ctx *ctx, const struct fetch *fetch, unsigned index)
{
    enum rt_texture_kind flat = fetch->kind == RT_TEXTURE_A1D     ? RT_TEXTURE_1D
                                : fetch->kind == RT_TEXTURE_A2D   ? RT_TEXTURE_2D
                                : fetch->kind == RT_TEXTURE_ACUBE ? RT_TEXTURE_CUBE
                                                                  : fetch->kind;
    return tr_read_place(ctx, tr_operand(fetch->inst, index), flat, PTX_TYPE_F32);
}

/* tex.grad d{|p}, [a, c], dPdx, dPdy {, offsets} {, depth} */
enum pxr_status tr_emit_tex_grad(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    struct fetch fetch = read_fetch(ctx, inst);
    struct tr_place dx = read_gradient(ctx, &fetch, 2);
    struct tr_place dy = read_gradient(ctx, &fetch, 3);
    const LLVMValueRef *at = fetch.place.at;
    fetch.lod = tr_placeholder(ctx, RT_CALL_TEXTURE_LOD, ctx->thread, fetch.texture, fetch.sampler,
                               tr_join(ctx, at[0], at[1]), tr_join(ctx, at[2], dx.at[0]),
                               tr_join(ctx, dx.at[1], dx.at[2]), tr_join(ctx, dy.at[0], dy.at[1]),
                               tr_join(ctx, dy.at[2], tr_const_int(ctx, 32, 0)));
    return finish(ctx, &fetch, 4);
}

/* tld4.comp d{|p}, [a, c] {, offsets} {, depth} */
enum pxr_status tr_emit_tld4(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    static const enum ptx_mod channels[] = {PTX_MOD_R, PTX_MOD_G, PTX_MOD_B, PTX_MOD_A};
    struct fetch fetch = read_fetch(ctx, inst);
    unsigned channel = 0;
    while (!ptx_inst_has_word(inst, channels[channel]))
        channel++;
    add_request(ctx, &fetch, (uint64_t)(channel + 1) << RT_FETCH_GATHER_SHIFT);
    return finish(ctx, &fetch, 2);
}

/* ---- queries ---- */

static enum rt_texture_query query_of(const struct ptx_inst *inst)
{
    static const enum ptx_mod words[] = {
        [RT_QUERY_WIDTH] = PTX_MOD_WIDTH,
        [RT_QUERY_HEIGHT] = PTX_MOD_HEIGHT,
        [RT_QUERY_DEPTH] = PTX_MOD_DEPTH,
        [RT_QUERY_CHANNEL_DATA_TYPE] = PTX_MOD_CHANNEL_DATA_TYPE,
        [RT_QUERY_CHANNEL_ORDER] = PTX_MOD_CHANNEL_ORDER,
        [RT_QUERY_NORMALIZED_COORDS] = PTX_MOD_NORMALIZED_COORDS,
        [RT_QUERY_ARRAY_SIZE] = PTX_MOD_ARRAY_SIZE,
        [RT_QUERY_NUM_MIPMAP_LEVELS] = PTX_MOD_NUM_MIPMAP_LEVELS,
        [RT_QUERY_NUM_SAMPLES] = PTX_MOD_NUM_SAMPLES,
        [RT_QUERY_MEMORY_LAYOUT] = PTX_MOD_MEMORY_LAYOUT,
        [RT_QUERY_FORCE_UNNORMALIZED_COORDS] = PTX_MOD_FORCE_UNNORMALIZED_COORDS,
        [RT_QUERY_FILTER_MODE] = PTX_MOD_FILTER_MODE,
        [RT_QUERY_ADDR_MODE_0] = PTX_MOD_ADDR_MODE_0,
        [RT_QUERY_ADDR_MODE_1] = PTX_MOD_ADDR_MODE_1,
        [RT_QUERY_ADDR_MODE_2] = PTX_MOD_ADDR_MODE_2,
    };
    unsigned query = 0;
    while (!ptx_inst_has_word(inst, words[query]))
        query++;
    return (enum rt_texture_query)query;
}

static enum pxr_status emit_query(struct tr_ctx *ctx, const struct ptx_inst *inst,
                                  LLVMValueRef handle, LLVMValueRef level)
{
    LLVMValueRef result = tr_helper(ctx, "rt_texture_query", ctx->i32, descriptor_of(ctx, handle),
                                    tr_const_int(ctx, 32, query_of(inst)), level);
    tr_set(ctx, inst, 0, PTX_TYPE_B32, result);
    return PXR_OK;
}

enum pxr_status tr_emit_txq(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef handle = tr_image_handle(ctx, tr_operand(inst, 1), RT_TEXTURE_MARK);
    LLVMValueRef level =
        tr_has_operand(inst, 2) ? tr_value(ctx, inst, 2, PTX_TYPE_U32) : tr_const_int(ctx, 32, 0);
    return emit_query(ctx, inst, handle, level);
}

enum pxr_status tr_emit_txq_sampler(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef handle = read_handle(ctx, tr_operand(inst, 1));
    check_handle(ctx, handle, RT_SAMPLER_MARK, RT_TEXTURE_MARK);
    return emit_query(ctx, inst, handle, tr_const_int(ctx, 32, 0));
}

enum pxr_status tr_emit_suq(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef handle = tr_image_handle(ctx, tr_operand(inst, 1), RT_SURFACE_MARK);
    return emit_query(ctx, inst, handle, tr_const_int(ctx, 32, 0));
}

/* istypep.type p, a: whether the handle is one of the type */
enum pxr_status tr_emit_istypep(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    uint32_t mark = inst->types[0] == PTX_TYPE_TEXREF    ? RT_TEXTURE_MARK
                    : inst->types[0] == PTX_TYPE_SURFREF ? RT_SURFACE_MARK
                                                         : RT_SAMPLER_MARK;
    LLVMValueRef found = load_mark(ctx, tr_value(ctx, inst, 1, PTX_TYPE_U64));
    tr_set(ctx, inst, 0, PTX_TYPE_PRED, has_mark(ctx, found, mark));
    return PXR_OK;
}
