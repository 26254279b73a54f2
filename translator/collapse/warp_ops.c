/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations of a warp when all its live lanes have come to the same one: operations on vectors
 * with an element for each lane. Helpers (translator/rt/fused.c) take over in the rare case that
 * lanes do not name each other in their masks. Elements of lanes that are not live are frozen: any
 * value will do.
 */
#include <stddef.h>
#include <string.h>

#include "translator/collapse/region_loop.h"
#include "translator/collapse/warp_ops.h"
#include "translator/rt/fused.h"

#define ALL_LANES UINT32_MAX

/* ---- the bodies of each operation, from its row ---- */

#define FUSED_NOTHING(ID, name)
#define FUSED_WORDS(ID, name)   [RT_CALL_##ID] = {do_words, NULL},
#define FUSED_VECTORS(ID, name) [RT_CALL_##ID] = {tr_wo_##name, NULL},
#define FUSED_MASKED(ID, name)  [RT_CALL_##ID] = {tr_wo_##name, "rt_fused_" #name},

static struct tr_warp_result do_words(const struct tr_warp_op *op);

static const struct {
    struct tr_warp_result (*build)(const struct tr_warp_op *op);
    const char *helper;
} bodies[RT_PLACEHOLDER_COUNT] = {
#define PLACEHOLDER(ID, name, home, gives, takes, sync, waits, effect, shape, fused)               \
    FUSED_##fused(ID, name)
#include "kernel_abi/placeholders.def"
#undef PLACEHOLDER
};

/* ---- small tools ---- */

LLVMValueRef tr_wo_splat(const struct tr_warp_op *op, LLVMValueRef scalar)
{
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(scalar), RT_WARP_SIZE);
    LLVMTypeRef indices = LLVMVectorType(op->fuse->i32, RT_WARP_SIZE);
    LLVMValueRef one = LLVMBuildInsertElement(op->builder, LLVMGetPoison(type), scalar,
                                              tr_fuse_i32(op->fuse, 0), "");
    return LLVMBuildShuffleVector(op->builder, one, LLVMGetPoison(type), LLVMConstNull(indices),
                                  "");
}

LLVMValueRef tr_wo_splat_i32(const struct tr_warp_op *op, uint32_t value)
{
    return tr_wo_splat(op, tr_fuse_i32(op->fuse, value));
}

/* i32 with a bit for each lane */
static LLVMValueRef bits_of(const struct tr_warp_op *op, LLVMValueRef lanes)
{
    return LLVMBuildBitCast(op->builder, lanes, op->fuse->i32, "");
}

static LLVMValueRef lanes_of(const struct tr_warp_op *op, LLVMValueRef bits)
{
    return LLVMBuildBitCast(op->builder, bits, LLVMVectorType(op->fuse->i1, RT_WARP_SIZE), "");
}

static LLVMValueRef is_equal(const struct tr_warp_op *op, LLVMValueRef a, LLVMValueRef b)
{
    return LLVMBuildICmp(op->builder, LLVMIntEQ, a, b, "");
}

LLVMValueRef tr_wo_intrinsic(const struct tr_warp_op *op, const char *name, LLVMTypeRef *types,
                             unsigned type_count, LLVMValueRef *args, unsigned count)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(op->fuse->module, id, types, type_count);
    return LLVMBuildCall2(op->builder, LLVMGlobalGetValueType(function), function, args, count, "");
}

static bool is_all_lanes(LLVMValueRef bits)
{
    return LLVMIsAConstantInt(bits) != NULL && LLVMConstIntGetZExtValue(bits) == ALL_LANES;
}

/* ---- operands ---- */

LLVMValueRef tr_wo_operand(const struct tr_warp_op *op, unsigned i)
{
    LLVMValueRef operand = LLVMGetOperand(op->call, i);
    if (LLVMIsAConstantInt(operand) != NULL)
        return tr_wo_splat(op, operand);
    if (LLVMIsConstant(operand))
        return tr_wo_splat(op, LLVMConstNull(LLVMTypeOf(operand)));
    LLVMValueRef lanes = tr_kept_operand(op->fused, op->sync, i);
    return op->is_whole ? lanes : LLVMBuildFreeze(op->builder, lanes, "");
}

LLVMValueRef tr_wo_first(const struct tr_warp_op *op, LLVMValueRef lanes)
{
    LLVMValueRef first = tr_fuse_i32(op->fuse, 0);
    if (!op->is_whole) {
        LLVMValueRef args[2] = {op->live, LLVMConstNull(op->fuse->i1)};
        first = tr_wo_intrinsic(op, "llvm.cttz", (LLVMTypeRef[1]){op->fuse->i32}, 1, args, 2);
        first = LLVMBuildAnd(op->builder, first, tr_fuse_i32(op->fuse, RT_WARP_SIZE - 1), "");
    }
    return LLVMBuildExtractElement(op->builder, lanes, first, "");
}

LLVMValueRef tr_wo_live_or(const struct tr_warp_op *op, LLVMValueRef lanes, LLVMValueRef other)
{
    return op->is_whole ? lanes
                        : LLVMBuildSelect(op->builder, lanes_of(op, op->live), lanes, other, "");
}

/* i1: the condition holds in all live lanes */
static LLVMValueRef all_live(const struct tr_warp_op *op, LLVMValueRef condition)
{
    LLVMValueRef set = LLVMBuildAnd(op->builder, bits_of(op, condition), op->live, "");
    return is_equal(op, set, op->live);
}

/* The warp's lanes that exist and have not exited. */
static LLVMValueRef live_lanes(const struct tr_warp_op *op, const struct tr_lanes *lanes)
{
    const struct tr_fuse *fuse = op->fuse;
    LLVMBuilderRef b = op->builder;
    LLVMValueRef unused = LLVMBuildSub(b, tr_fuse_i32(fuse, RT_WARP_SIZE), lanes->count, "");
    LLVMValueRef existing = LLVMBuildLShr(b, tr_fuse_i32(fuse, ALL_LANES), unused, "live");
    if (!tr_looks_for_exited(op->fused, op->sync))
        return existing;
    LLVMValueRef index = LLVMBuildZExt(b, lanes->first, fuse->i64, "");
    LLVMValueRef entries =
        tr_load_lanes(fuse, fuse->i16, tr_fuse_element(fuse, fuse->i16, fuse->frame_base, index));
    LLVMValueRef exited = tr_wo_splat(op, LLVMConstInt(fuse->i16, RT_ENTRY_EXITED, false));
    LLVMValueRef is_live = LLVMBuildICmp(b, LLVMIntNE, entries, exited, "");
    return LLVMBuildAnd(b, bits_of(op, is_live), existing, "live");
}

static struct tr_warp_op begin(struct tr_fused *fused, uint32_t sync, const struct tr_lanes *lanes)
{
    const struct tr_kernel *kernel = fused->fuse->kernel;
    struct tr_warp_op op = {.fused = fused,
                            .fuse = fused->fuse,
                            .builder = fused->fuse->builder,
                            .sync = sync,
                            .call = kernel->graph.values[kernel->sync_points[sync].value].llvm};
    op.placeholder = tr_placeholder_of(op.call);
    op.mask = rt_find_parameter(op.placeholder, RT_TYPE_MASK);
    op.mode = rt_find_parameter(op.placeholder, RT_TYPE_MODE);
    op.live = live_lanes(&op, lanes);
    op.is_whole = is_all_lanes(op.live);
    return op;
}

/* ---- where lanes do not name each other ---- */

static void put_operand(const struct tr_warp_op *op, unsigned i, LLVMTypeRef type, size_t offset)
{
    LLVMValueRef lanes = tr_as_integers(op->fuse, tr_wo_operand(op, i));
    LLVMValueRef place = tr_fuse_offset(op->fuse, tr_scratch(op->fused), offset);
    LLVMTypeRef vector = LLVMVectorType(type, RT_WARP_SIZE);
    tr_store_lanes(op->fuse, LLVMBuildZExt(op->builder, lanes, vector, ""), place);
}

/* Fills the op in the scratch memory and calls the helper on it: i32. Operands follow in the order
 * mode (if there is one), value, others. */
static LLVMValueRef call_helper(const struct tr_warp_op *op, const char *name)
{
    static const size_t offsets[] = {
        offsetof(struct rt_fused_op, mode), offsetof(struct rt_fused_op, value),
        offsetof(struct rt_fused_op, b), offsetof(struct rt_fused_op, c)};
    const struct tr_fuse *fuse = op->fuse;
    int place = op->mode < 0 ? 1 : 0;
    for (int i = 1; i < op->mask; i++, place++)
        put_operand(op, (unsigned)i, place == 1 ? fuse->i64 : fuse->i32, offsets[place]);
    put_operand(op, (unsigned)op->mask, fuse->i32, offsetof(struct rt_fused_op, mask));
    LLVMValueRef args[2] = {tr_scratch(op->fused), op->live};
    return tr_fuse_call(fuse, name, fuse->i32, args, 2);
}

static struct tr_warp_result build_general(const struct tr_warp_op *op)
{
    LLVMValueRef predicates = call_helper(op, bodies[op->placeholder].helper);
    LLVMValueRef results =
        tr_fuse_offset(op->fuse, tr_scratch(op->fused), offsetof(struct rt_fused_op, result));
    return (struct tr_warp_result){.values = tr_load_lanes(op->fuse, op->fuse->i32, results),
                                   .predicates = lanes_of(op, predicates)};
}

/* i1: all live lanes are in each other's masks; NULL: they always are, or there are no masks. */
static LLVMValueRef name_each_other(const struct tr_warp_op *op)
{
    if (op->mask < 0 || is_all_lanes(LLVMGetOperand(op->call, (unsigned)op->mask)))
        return NULL;
    LLVMValueRef live = tr_wo_splat(op, op->live);
    LLVMValueRef masks = tr_wo_operand(op, (unsigned)op->mask);
    LLVMValueRef named = LLVMBuildAnd(op->builder, masks, live, "");
    return all_live(op, is_equal(op, named, live));
}

/* ---- operations of all live lanes ---- */

struct tr_warp_result tr_wo_vote(const struct tr_warp_op *op)
{
    LLVMBuilderRef b = op->builder;
    LLVMValueRef zero = tr_fuse_i32(op->fuse, 0);
    LLVMValueRef is_set =
        LLVMBuildICmp(b, LLVMIntNE, tr_wo_operand(op, 2), tr_wo_splat(op, zero), "");
    LLVMValueRef ballot = LLVMBuildAnd(b, bits_of(op, is_set), op->live, "");
    LLVMValueRef is_all = is_equal(op, ballot, op->live);
    LLVMValueRef is_none = is_equal(op, ballot, zero);
    struct tr_warp_result result = {.same = ballot};
    switch (LLVMConstIntGetZExtValue(LLVMGetOperand(op->call, 1))) {
    case RT_VOTE_ALL:
        result.same = LLVMBuildZExt(b, is_all, op->fuse->i32, "");
        break;
    case RT_VOTE_ANY:
        result.same = LLVMBuildZExt(b, LLVMBuildNot(b, is_none, ""), op->fuse->i32, "");
        break;
    case RT_VOTE_UNI:
        result.same = LLVMBuildZExt(b, LLVMBuildOr(b, is_all, is_none, ""), op->fuse->i32, "");
        break;
    default:
        break;
    }
    return result;
}

static LLVMValueRef reduce(const struct tr_warp_op *op, const char *intrinsic, LLVMValueRef lanes,
                           uint32_t neutral)
{
    lanes = tr_wo_live_or(op, lanes, tr_wo_splat_i32(op, neutral));
    LLVMTypeRef type = LLVMTypeOf(lanes);
    return tr_wo_intrinsic(op, intrinsic, &type, 1, &lanes, 1);
}

/* Bit patterns to the order of the numbers and back (rt_f32_order). */
static LLVMValueRef f32_order(const struct tr_warp_op *op, LLVMValueRef bits,
                              LLVMValueRef magnitude)
{
    LLVMBuilderRef b = op->builder;
    LLVMValueRef is_negative =
        LLVMBuildICmp(b, LLVMIntSLT, bits, LLVMConstNull(LLVMTypeOf(bits)), "");
    return LLVMBuildSelect(b, is_negative, LLVMBuildXor(b, bits, magnitude, ""), bits, "");
}

/* rt_redux_f32 of all live lanes. */
static LLVMValueRef reduce_f32(const struct tr_warp_op *op, enum rt_reduce kind)
{
    const struct tr_fuse *fuse = op->fuse;
    LLVMBuilderRef b = op->builder;
    bool propagates = kind == RT_REDUCE_MIN_F32_NAN || kind == RT_REDUCE_MAX_F32_NAN;
    bool is_max = kind == RT_REDUCE_MAX_F32 || kind == RT_REDUCE_MAX_F32_NAN;
    uint32_t neutral = is_max ? (uint32_t)INT32_MIN : INT32_MAX;
    LLVMValueRef bits = tr_wo_operand(op, 2);
    LLVMValueRef magnitude = tr_wo_splat_i32(op, RT_F32_MAGNITUDE);
    LLVMValueRef is_number = LLVMBuildICmp(b, LLVMIntULE, LLVMBuildAnd(b, bits, magnitude, ""),
                                           tr_wo_splat_i32(op, RT_F32_INFINITY), "");
    LLVMValueRef numbers = LLVMBuildAnd(b, bits_of(op, is_number), op->live, "");
    LLVMValueRef order = LLVMBuildSelect(b, is_number, f32_order(op, bits, magnitude),
                                         tr_wo_splat_i32(op, neutral), "");
    order =
        reduce(op, is_max ? "llvm.vector.reduce.smax" : "llvm.vector.reduce.smin", order, neutral);
    LLVMValueRef is_nan = propagates
                              ? LLVMBuildICmp(b, LLVMIntNE, numbers, op->live, "")
                              : LLVMBuildICmp(b, LLVMIntEQ, numbers, tr_fuse_i32(fuse, 0), "");
    return LLVMBuildSelect(b, is_nan, tr_fuse_i32(fuse, RT_F32_NAN),
                           f32_order(op, order, tr_fuse_i32(fuse, RT_F32_MAGNITUDE)), "");
}

struct tr_warp_result tr_wo_redux(const struct tr_warp_op *op)
{
    static const struct {
        const char *intrinsic;
        uint32_t neutral;
    } kinds[] = {
        [RT_REDUCE_AND] = {"llvm.vector.reduce.and", UINT32_MAX},
        [RT_REDUCE_OR] = {"llvm.vector.reduce.or", 0},
        [RT_REDUCE_XOR] = {"llvm.vector.reduce.xor", 0},
        [RT_REDUCE_ADD] = {"llvm.vector.reduce.add", 0},
        [RT_REDUCE_MIN] = {"llvm.vector.reduce.umin", UINT32_MAX},
        [RT_REDUCE_MAX] = {"llvm.vector.reduce.umax", 0},
        [RT_REDUCE_MIN_SIGNED] = {"llvm.vector.reduce.smin", INT32_MAX},
        [RT_REDUCE_MAX_SIGNED] = {"llvm.vector.reduce.smax", (uint32_t)INT32_MIN},
    };
    uint64_t kind = LLVMConstIntGetZExtValue(LLVMGetOperand(op->call, 1));
    struct tr_warp_result result = {0};
    if (kind >= RT_REDUCE_MIN_F32)
        result.same = reduce_f32(op, (enum rt_reduce)kind);
    else
        result.same = reduce(op, kinds[kind].intrinsic, tr_wo_operand(op, 2), kinds[kind].neutral);
    return result;
}

/* The lanes with the first lane's value; in match.any the helper takes the others
 * (can_be_quick). */
static LLVMValueRef lanes_like_first(const struct tr_warp_op *op)
{
    LLVMValueRef value = tr_wo_operand(op, 2);
    return is_equal(op, value, tr_wo_splat(op, tr_wo_first(op, value)));
}

static bool is_match_all(const struct tr_warp_op *op)
{
    return LLVMConstIntGetZExtValue(LLVMGetOperand(op->call, 1)) != 0;
}

struct tr_warp_result tr_wo_match(const struct tr_warp_op *op)
{
    LLVMBuilderRef b = op->builder;
    struct tr_warp_result result = {.same = op->live};
    LLVMValueRef is_same = LLVMConstNull(op->fuse->i1);
    if (is_match_all(op)) {
        is_same = all_live(op, lanes_like_first(op));
        result.same = LLVMBuildSelect(b, is_same, op->live, tr_fuse_i32(op->fuse, 0), "");
    }
    result.predicates = tr_wo_splat(op, is_same);
    return result;
}

struct tr_warp_result tr_wo_elect(const struct tr_warp_op *op)
{
    LLVMValueRef first = LLVMBuildNeg(op->builder, op->live, "");
    first = LLVMBuildAnd(op->builder, first, op->live, "");
    LLVMValueRef args[2] = {op->live, LLVMConstNull(op->fuse->i1)};
    LLVMTypeRef type = op->fuse->i32;
    return (struct tr_warp_result){.same = tr_wo_intrinsic(op, "llvm.cttz", &type, 1, args, 2),
                                   .predicates = lanes_of(op, first)};
}

struct tr_warp_result tr_wo_movmatrix(const struct tr_warp_op *op)
{
    LLVMBuilderRef b = op->builder;
    LLVMValueRef shifts[RT_WARP_SIZE];
    LLVMValueRef sources[2][RT_WARP_SIZE];
    LLVMValueRef halves[2];
    for (uint32_t lane = 0; lane < RT_WARP_SIZE; lane++) {
        shifts[lane] = tr_fuse_i32(op->fuse, rt_transpose_shift(lane));
        for (uint32_t half = 0; half < 2; half++)
            sources[half][lane] = tr_fuse_i32(op->fuse, rt_transpose_source(lane, half));
    }
    LLVMValueRef pairs = tr_wo_live_or(op, tr_wo_operand(op, 1), tr_wo_splat_i32(op, 0));
    for (int i = 0; i < 2; i++) {
        LLVMValueRef from = LLVMConstVector(sources[i], RT_WARP_SIZE);
        halves[i] = LLVMBuildShuffleVector(b, pairs, pairs, from, "");
        halves[i] = LLVMBuildLShr(b, halves[i], LLVMConstVector(shifts, RT_WARP_SIZE), "");
    }
    LLVMValueRef low = LLVMBuildAnd(b, halves[0], tr_wo_splat_i32(op, 0xffff), "");
    LLVMValueRef high = LLVMBuildShl(b, halves[1], tr_wo_splat_i32(op, 16), "");
    return (struct tr_warp_result){.values = LLVMBuildOr(b, low, high, "")};
}

struct tr_warp_result tr_wo_activemask(const struct tr_warp_op *op)
{
    return (struct tr_warp_result){.same = op->live};
}

/* The words of all lanes are where one lane alone would have them. */
static struct tr_warp_result do_words(const struct tr_warp_op *op)
{
    const struct tr_fuse *fuse = op->fuse;
    LLVMBuilderRef b = op->builder;
    int code = rt_find_parameter(op->placeholder, RT_TYPE_CODE);
    LLVMValueRef function = LLVMGetOperand(op->call, (unsigned)code);
    LLVMValueRef words =
        tr_fuse_field(fuse, fuse->ptr, fuse->block, offsetof(struct rt_block, words), "words");
    LLVMValueRef warp = LLVMBuildZExt(b, tr_lanes_now(op->fused).warp, fuse->i64, "");
    LLVMValueRef args[2] = {tr_fuse_scaled(fuse, words, warp, RT_WARP_BYTES), op->live};
    LLVMBuildCall2(b, LLVMGlobalGetValueType(function), function, args, 2, "");
    return (struct tr_warp_result){0};
}

/* ---- one of the two ---- */

/* i1: the code for all live lanes can do it; NULL: always. */
static LLVMValueRef can_be_quick(const struct tr_warp_op *op)
{
    if (op->mode >= 0 && LLVMIsAConstantInt(LLVMGetOperand(op->call, (unsigned)op->mode)) == NULL)
        return LLVMConstNull(op->fuse->i1); /* the mode is not known */
    LLVMValueRef test = name_each_other(op);
    if (op->placeholder != RT_CALL_MATCH || is_match_all(op))
        return test;
    LLVMValueRef is_same = all_live(op, lanes_like_first(op));
    return test == NULL ? is_same : LLVMBuildAnd(op->builder, test, is_same, "");
}

/* Spreads the results over lanes if they may differ. */
static void spread(const struct tr_warp_op *op, struct tr_warp_result *result)
{
    if (result->values == NULL)
        result->values = tr_wo_splat(op, result->same);
    if (result->predicates == NULL)
        result->predicates = LLVMConstNull(LLVMVectorType(op->fuse->i1, RT_WARP_SIZE));
}

static LLVMValueRef merge(const struct tr_warp_op *op, LLVMValueRef values[2],
                          LLVMBasicBlockRef blocks[2])
{
    LLVMValueRef phi = LLVMBuildPhi(op->builder, LLVMTypeOf(values[0]), "");
    LLVMAddIncoming(phi, values, blocks, 2);
    return phi;
}

static struct tr_warp_result build_either(const struct tr_warp_op *op, LLVMValueRef test)
{
    LLVMBasicBlockRef blocks[2] = {tr_fuse_new_block(op->fuse, "warp_op"),
                                   tr_fuse_new_block(op->fuse, "warp_op_masked")};
    LLVMBasicBlockRef done = tr_fuse_new_block(op->fuse, "warp_op_done");
    struct tr_warp_result results[2];
    LLVMBuildCondBr(op->builder, test, blocks[0], blocks[1]);
    for (int i = 0; i < 2; i++) {
        LLVMPositionBuilderAtEnd(op->builder, blocks[i]);
        results[i] = i == 0 ? bodies[op->placeholder].build(op) : build_general(op);
        spread(op, &results[i]);
        results[i].values =
            LLVMBuildBitCast(op->builder, results[i].values, LLVMTypeOf(results[0].values), "");
        blocks[i] = LLVMGetInsertBlock(op->builder);
        LLVMBuildBr(op->builder, done);
    }
    LLVMPositionBuilderAtEnd(op->builder, done);
    LLVMValueRef values[2] = {results[0].values, results[1].values};
    LLVMValueRef predicates[2] = {results[0].predicates, results[1].predicates};
    return (struct tr_warp_result){.values = merge(op, values, blocks),
                                   .predicates = merge(op, predicates, blocks)};
}

/* Stores a result that is the same in all lanes in a variable. */
static void give_same(struct tr_fused *fused, uint32_t sync, LLVMValueRef result)
{
    if (fused->result[sync] == NULL)
        fused->result[sync] = tr_fuse_variable(fused->fuse, LLVMTypeOf(result), "result");
    LLVMBuildStore(fused->fuse->builder, result, fused->result[sync]);
}

void tr_build_warp_op(struct tr_fused *fused, uint32_t sync, const struct tr_lanes *lanes)
{
    struct tr_warp_op op = begin(fused, sync, lanes);
    if (LLVMGetTypeKind(LLVMTypeOf(op.call)) == LLVMVoidTypeKind) {
        if (bodies[op.placeholder].build != NULL)
            bodies[op.placeholder].build(&op);
        return; /* without a body, coming together was all it does */
    }
    LLVMValueRef test = can_be_quick(&op);
    struct tr_warp_result result;
    if (test == NULL)
        result = bodies[op.placeholder].build(&op);
    else if (LLVMIsConstant(test) && LLVMIsNull(test))
        result = build_general(&op);
    else
        result = build_either(&op, test);
    if (result.same != NULL && LLVMTypeOf(op.call) == fused->fuse->i32) {
        give_same(fused, sync, result.same);
        return;
    }
    spread(&op, &result);
    tr_give_lanes(fused, sync, result.values,
                  tr_asks_predicate(op.call) ? result.predicates : NULL);
}

/* Whether all have the same mask; if not, a helper decides. */
LLVMValueRef tr_build_mask_test(struct tr_fused *fused, uint32_t sync, const struct tr_lanes *lanes)
{
    struct tr_warp_op op = begin(fused, sync, lanes);
    LLVMValueRef masks = tr_wo_operand(&op, (unsigned)op.mask);
    LLVMValueRef is_same =
        all_live(&op, is_equal(&op, masks, tr_wo_splat(&op, tr_wo_first(&op, masks))));
    LLVMBasicBlockRef look = tr_fuse_new_block(op.fuse, "masks");
    LLVMBasicBlockRef done = tr_fuse_new_block(op.fuse, "masks_done");
    LLVMBasicBlockRef blocks[2] = {LLVMGetInsertBlock(op.builder), look};
    LLVMBuildCondBr(op.builder, is_same, done, look);
    LLVMPositionBuilderAtEnd(op.builder, look);
    put_operand(&op, (unsigned)op.mask, op.fuse->i32, offsetof(struct rt_fused_op, mask));
    LLVMValueRef args[2] = {tr_scratch(fused), op.live};
    LLVMValueRef agree = tr_fuse_call(op.fuse, "rt_fused_masks_agree", op.fuse->i32, args, 2);
    LLVMValueRef values[2] = {
        LLVMConstInt(op.fuse->i1, 1, false),
        LLVMBuildICmp(op.builder, LLVMIntNE, agree, tr_fuse_i32(op.fuse, 0), "")};
    LLVMBuildBr(op.builder, done);
    LLVMPositionBuilderAtEnd(op.builder, done);
    return merge(&op, values, blocks);
}

void tr_build_barrier_reduction(struct tr_fused *fused, uint32_t sync)
{
    const struct tr_fuse *fuse = fused->fuse;
    const struct tr_kernel *kernel = fuse->kernel;
    LLVMValueRef call = kernel->graph.values[kernel->sync_points[sync].value].llvm;
    LLVMValueRef predicate = LLVMGetOperand(call, 3);
    bool looks = tr_looks_for_exited(fused, sync);
    bool is_constant = LLVMIsAConstantInt(predicate) != NULL;
    uint64_t constant = is_constant ? LLVMConstIntGetZExtValue(predicate) : 0;
    LLVMValueRef args[5] = {looks ? fuse->frame_base : LLVMConstNull(fuse->ptr), fuse->thread_count,
                            is_constant ? LLVMConstNull(fuse->ptr)
                                        : tr_fuse_thread_array(fuse, fuse->frame.operand_array[2]),
                            tr_fuse_i64(fuse, constant), LLVMGetOperand(call, 4)};
    LLVMValueRef result = tr_fuse_call(fuse, "rt_fused_bar_red", fuse->i32, args, 5);
    give_same(fused, sync, result);
    if (!fuse->can_mix || fuse->kernel->scope == TR_SCOPE_BLOCK)
        return;
    /* For warps that do not go on in loops. */
    LLVMValueRef fill[3] = {tr_fuse_thread_array(fuse, fuse->frame.result_array),
                            fuse->thread_count, result};
    tr_fuse_call(fuse, "rt_fused_fill", fuse->void_type, fill, 3);
}
