/* SPDX-License-Identifier: Apache-2.0
 *
 * atom, red, membar, fence.
 *
 * Shared memory belongs to a block, and a block's threads are never pre-empted: there, atomics are
 * a load, the operation and a store. Elsewhere integers use LLVM's atomics (128 bits: cmpxchg16b,
 * which every processor with AVX has), and so do sums of floats whose address is known to be global
 * (module/flushing_sums.c); those of others, and floats of 16 bits for their arithmetic, are the
 * compare-and-swap loops of rt/atomic.c.
 */
#include "translator/emit/emit.h"
#include "translator/module/module_steps.h"
#include "translator/rt/arith.h"
#include "translator/rt/atomic.h"

struct atomic {
    enum ptx_mod op;
    enum ptx_type type;
    enum ptx_space space;
    LLVMAtomicOrdering ordering;
    LLVMValueRef pointer;
    LLVMValueRef operand; /* b; the new value of a cas */
    LLVMValueRef compare; /* cas only */
};

/* "If the .sem qualifier is absent, .relaxed is assumed" (PTX ISA "atom"). */
static LLVMAtomicOrdering atomic_ordering(const struct ptx_inst *inst)
{
    switch (ptx_inst_mod(inst, PTX_GROUP_SEM)) {
    case PTX_MOD_ACQUIRE:
        return LLVMAtomicOrderingAcquire;
    case PTX_MOD_RELEASE:
        return LLVMAtomicOrderingRelease;
    case PTX_MOD_ACQ_REL:
        return LLVMAtomicOrderingAcquireRelease;
    case PTX_MOD_SC:
        return LLVMAtomicOrderingSequentiallyConsistent;
    default:
        return LLVMAtomicOrderingMonotonic;
    }
}

static LLVMAtomicOrdering failure_ordering(LLVMAtomicOrdering success)
{
    switch (success) {
    case LLVMAtomicOrderingAcquire:
    case LLVMAtomicOrderingAcquireRelease:
        return LLVMAtomicOrderingAcquire;
    case LLVMAtomicOrderingSequentiallyConsistent:
        return success;
    default:
        return LLVMAtomicOrderingMonotonic;
    }
}

/* ---- integers ---- */

static bool integer_operation(const struct atomic *atomic, LLVMAtomicRMWBinOp *op)
{
    bool is_signed = ptx_type_is_signed(atomic->type);
    switch (atomic->op) {
    case PTX_MOD_ADD:
        *op = LLVMAtomicRMWBinOpAdd;
        return true;
    case PTX_MOD_AND:
        *op = LLVMAtomicRMWBinOpAnd;
        return true;
    case PTX_MOD_OR:
        *op = LLVMAtomicRMWBinOpOr;
        return true;
    case PTX_MOD_XOR:
        *op = LLVMAtomicRMWBinOpXor;
        return true;
    case PTX_MOD_EXCH:
        *op = LLVMAtomicRMWBinOpXchg;
        return true;
    case PTX_MOD_MIN:
        *op = is_signed ? LLVMAtomicRMWBinOpMin : LLVMAtomicRMWBinOpUMin;
        return true;
    case PTX_MOD_MAX:
        *op = is_signed ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpUMax;
        return true;
    case PTX_MOD_INC: /* d = (a >= b) ? 0 : a + 1 */
        *op = LLVMAtomicRMWBinOpUIncWrap;
        return true;
    case PTX_MOD_DEC: /* d = (a == 0 || a > b) ? b : a - 1 */
        *op = LLVMAtomicRMWBinOpUDecWrap;
        return true;
    default:
        return false;
    }
}

/* The new value of a cell, from the old one; NULL if there is no such operation. */
static LLVMValueRef updated_value(struct tr_ctx *ctx, const struct atomic *atomic, LLVMValueRef old)
{
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef value = atomic->operand;
    LLVMTypeRef type = LLVMTypeOf(old);
    LLVMValueRef zero = LLVMConstNull(type);
    LLVMValueRef one = LLVMConstInt(type, 1, false);
    bool is_signed = ptx_type_is_signed(atomic->type);
    switch (atomic->op) {
    case PTX_MOD_ADD:
        return ptx_type_is_float(atomic->type) ? LLVMBuildFAdd(b, old, value, "")
                                               : LLVMBuildAdd(b, old, value, "");
    case PTX_MOD_AND:
        return LLVMBuildAnd(b, old, value, "");
    case PTX_MOD_OR:
        return LLVMBuildOr(b, old, value, "");
    case PTX_MOD_XOR:
        return LLVMBuildXor(b, old, value, "");
    case PTX_MOD_EXCH:
        return value;
    case PTX_MOD_CAS:
        return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntEQ, old, atomic->compare, ""), value, old,
                               "");
    case PTX_MOD_MIN:
        return LLVMBuildSelect(
            b, LLVMBuildICmp(b, is_signed ? LLVMIntSLT : LLVMIntULT, old, value, ""), old, value,
            "");
    case PTX_MOD_MAX:
        return LLVMBuildSelect(
            b, LLVMBuildICmp(b, is_signed ? LLVMIntSGT : LLVMIntUGT, old, value, ""), old, value,
            "");
    case PTX_MOD_INC:
        return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntUGE, old, value, ""), zero,
                               LLVMBuildAdd(b, old, one, ""), "");
    case PTX_MOD_DEC: {
        LLVMValueRef is_zero = LLVMBuildICmp(b, LLVMIntEQ, old, zero, "");
        LLVMValueRef is_above = LLVMBuildICmp(b, LLVMIntUGT, old, value, "");
        return LLVMBuildSelect(b, LLVMBuildOr(b, is_zero, is_above, ""), value,
                               LLVMBuildSub(b, old, one, ""), "");
    }
    default:
        return NULL;
    }
}

/* One OS thread at a time runs threads of a block, so that plain accesses are atomic. Volatile:
 * they must stay as they are and in order where threads become iterations of a loop. */
static LLVMValueRef shared_atomic(struct tr_ctx *ctx, const struct atomic *atomic)
{
    unsigned align = ptx_type_bytes(atomic->type);
    LLVMValueRef old =
        LLVMBuildLoad2(ctx->builder, tr_type(ctx, atomic->type), atomic->pointer, "");
    LLVMSetAlignment(old, align);
    LLVMSetVolatile(old, true);
    LLVMValueRef value = updated_value(ctx, atomic, old);
    if (value == NULL)
        return NULL;
    LLVMValueRef store = LLVMBuildStore(ctx->builder, value, atomic->pointer);
    LLVMSetAlignment(store, align);
    LLVMSetVolatile(store, true);
    return old;
}

static LLVMValueRef global_integer(struct tr_ctx *ctx, const struct atomic *atomic)
{
    unsigned align = ptx_type_bytes(atomic->type);
    if (atomic->op == PTX_MOD_CAS) {
        LLVMValueRef pair =
            LLVMBuildAtomicCmpXchg(ctx->builder, atomic->pointer, atomic->compare, atomic->operand,
                                   atomic->ordering, failure_ordering(atomic->ordering), false);
        LLVMSetAlignment(pair, align);
        return LLVMBuildExtractValue(ctx->builder, pair, 0, "");
    }
    LLVMAtomicRMWBinOp op = LLVMAtomicRMWBinOpXchg;
    if (!integer_operation(atomic, &op))
        return NULL;
    LLVMValueRef old = LLVMBuildAtomicRMW(ctx->builder, op, atomic->pointer, atomic->operand,
                                          atomic->ordering, false);
    LLVMSetAlignment(old, align);
    return old;
}

/* ---- floats ---- */

/* "atom.add.f32 on global memory flushes subnormal inputs and results to sign-preserving zero;
 * on shared memory it does not" (PTX ISA "atom"): 1 where it does. For other spaces than shared. */
static LLVMValueRef flushes_subnormals(struct tr_ctx *ctx, const struct atomic *atomic)
{
    if (atomic->space == PTX_SPACE_GLOBAL)
        return tr_const_int(ctx, 32, 1);
    LLVMValueRef address = LLVMBuildPtrToInt(ctx->builder, atomic->pointer, ctx->i64, "");
    LLVMValueRef is_shared = tr_is_in_space(ctx, address, PTX_SPACE_SHARED);
    return tr_resize(ctx, LLVMBuildNot(ctx->builder, is_shared, ""), 32, false);
}

static bool float_operation(enum ptx_mod mod, enum rt_atomic_op *op)
{
    switch (mod) {
    case PTX_MOD_ADD:
        *op = RT_ATOMIC_ADD;
        return true;
    case PTX_MOD_MIN:
        *op = RT_ATOMIC_MIN;
        return true;
    case PTX_MOD_MAX:
        *op = RT_ATOMIC_MAX;
        return true;
    default:
        return false;
    }
}

/* The helpers take and return 16-bit values in 32 bits. */
static LLVMValueRef half_atomic(struct tr_ctx *ctx, const struct atomic *atomic,
                                enum rt_atomic_op op)
{
    bool is_pair = ptx_type_bits(atomic->type) == 32;
    bool is_f16 = atomic->type == PTX_TYPE_F16 || atomic->type == PTX_TYPE_F16X2;
    LLVMValueRef value = tr_resize(ctx, atomic->operand, 32, false);
    value = tr_helper(
        ctx, is_pair ? "rt_atomic_half_x2" : "rt_atomic_half", ctx->i32, atomic->pointer, value,
        tr_const_int(ctx, 32, is_f16 ? RT_HALF_F16 : RT_HALF_BF16), tr_const_int(ctx, 32, op));
    return tr_resize(ctx, value, ptx_type_bits(atomic->type), false);
}

static LLVMValueRef float_sum(struct tr_ctx *ctx, const struct atomic *atomic)
{
    LLVMValueRef sum = LLVMBuildAtomicRMW(ctx->builder, LLVMAtomicRMWBinOpFAdd, atomic->pointer,
                                          atomic->operand, atomic->ordering, false);
    LLVMSetAlignment(sum, ptx_type_bytes(atomic->type));
    return sum;
}

static LLVMValueRef flushing_sum(struct tr_ctx *ctx, const struct atomic *atomic)
{
    LLVMValueRef sum = float_sum(ctx, atomic);
    LLVMSetAtomicSyncScopeID(sum, tr_flush_scope(ctx->llvm));
    return sum;
}

static LLVMValueRef float_atomic(struct tr_ctx *ctx, const struct atomic *atomic)
{
    enum rt_atomic_op op = RT_ATOMIC_ADD;
    bool is_wide = atomic->type == PTX_TYPE_F32 || atomic->type == PTX_TYPE_F64;
    if (!float_operation(atomic->op, &op) || (is_wide && op != RT_ATOMIC_ADD))
        return NULL;
    if (!is_wide)
        return half_atomic(ctx, atomic, op);
    if (atomic->space == PTX_SPACE_SHARED)
        return shared_atomic(ctx, atomic);
    if (atomic->type == PTX_TYPE_F64)
        return float_sum(ctx, atomic);
    if (atomic->space == PTX_SPACE_GLOBAL)
        return flushing_sum(ctx, atomic);
    return tr_helper(ctx, "rt_atomic_add_f32", ctx->f32, atomic->pointer, atomic->operand,
                     flushes_subnormals(ctx, atomic));
}

/* ---- the instructions ---- */

/* Whether programs use the operation to wait for another thread: cas and exch take locks, and any
 * other one on global memory can stand for a load (add of 0). */
static bool may_wait(const struct atomic *atomic)
{
    return atomic->op == PTX_MOD_CAS || atomic->op == PTX_MOD_EXCH ||
           atomic->space != PTX_SPACE_SHARED;
}

/* Returns the old value, NULL if not supported. */
static LLVMValueRef emit_element(struct tr_ctx *ctx, const struct atomic *atomic)
{
    if (ptx_type_is_float(atomic->type))
        return float_atomic(ctx, atomic);
    return atomic->space == PTX_SPACE_SHARED ? shared_atomic(ctx, atomic)
                                             : global_integer(ctx, atomic);
}

static bool releases(LLVMAtomicOrdering ordering)
{
    return ordering == LLVMAtomicOrderingRelease || ordering == LLVMAtomicOrderingAcquireRelease;
}

static bool acquires(LLVMAtomicOrdering ordering)
{
    return ordering == LLVMAtomicOrderingAcquire || ordering == LLVMAtomicOrderingAcquireRelease;
}

/* "the atomicity is guaranteed separately for each of the individual scalar elements; the entire
 * vector is not guaranteed to be atomic as a single access". All sources are read before the first
 * destination is written. */
static enum pxr_status emit_atomic(struct tr_ctx *ctx, const struct ptx_inst *inst, bool has_result)
{
    unsigned first = has_result ? 1 : 0; /* index of the address operand */
    unsigned count = ptx_inst_vector_len(inst);
    struct atomic atomic = {
        .op = ptx_inst_mod(inst, PTX_GROUP_ATOMOP),
        .type = inst->types[0],
        .space = ptx_inst_space(inst),
        .ordering = atomic_ordering(inst),
    };
    unsigned bytes = ptx_type_bytes(atomic.type);
    struct ptx_operand parts[TR_MAX_VECTOR];
    if (!tr_has_operand(inst, first + 1) ||
        tr_vector_parts(tr_operand(inst, first + 1), parts) < count)
        return tr_unsupported(ctx, inst, "fewer sources than elements");
    if (has_result && may_wait(&atomic))
        tr_poll(ctx);
    LLVMValueRef base =
        tr_access_address(ctx, tr_operand(inst, first), atomic.space, bytes * count);
    tr_check(ctx, tr_operand(inst, first), base, atomic.space, bytes * count, RT_ACCESS_ATOMIC);
    tr_race_access(ctx, base, atomic.space, tr_const_int(ctx, 64, bytes * count),
                   RT_ACCESS_ATOMIC | RT_RACE_STRONG, NULL);
    tr_race_release(ctx, base, releases(atomic.ordering));
    LLVMValueRef asked = NULL;
    if (atomic.op == PTX_MOD_EXCH)
        asked = tr_ask_written(ctx, base, atomic.space, bytes, RT_ACCESS_ATOMIC_VALUE);
    else
        tr_use_range(ctx, base, atomic.space, tr_const_int(ctx, 64, bytes * count),
                     RT_ACCESS_ATOMIC_VALUE);
    tr_write_range(ctx, base, atomic.space, tr_const_int(ctx, 64, bytes * count));
    if (atomic.op == PTX_MOD_CAS)
        atomic.compare = tr_value(ctx, inst, first + 1, atomic.type);
    LLVMValueRef old[TR_MAX_VECTOR];
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef offset = tr_const_int(ctx, 64, (uint64_t)i * bytes);
        atomic.pointer = LLVMBuildGEP2(ctx->builder, ctx->i8, base, &offset, 1, "");
        atomic.operand = atomic.op == PTX_MOD_CAS ? tr_value(ctx, inst, first + 2, atomic.type)
                                                  : tr_operand_value(ctx, &parts[i], atomic.type);
        old[i] = emit_element(ctx, &atomic);
        if (old[i] == NULL)
            return tr_unsupported(ctx, inst, "no such atomic operation on this type");
    }
    old[0] = tr_as_read(ctx, old[0], asked);
    if (has_result)
        tr_race_acquire(ctx, base, acquires(atomic.ordering));
    unsigned results = has_result ? tr_vector_parts(tr_operand(inst, 0), parts) : 0;
    for (unsigned i = 0; i < count && i < results; i++)
        tr_set_operand(ctx, &parts[i], atomic.type, old[i]);
    return PXR_OK;
}

enum pxr_status tr_emit_atom(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return emit_atomic(ctx, inst, true);
}

enum pxr_status tr_emit_red(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    return emit_atomic(ctx, inst, false);
}

/* membar, fence. A block runs on one processor thread at a time: within it only the compiler must
 * keep order. All accesses of this machine go through coherent caches, so a fence between proxies
 * (.proxy.alias, .async, .tensormap …) is an ordinary one, and one that is restricted to some of
 * the memory or operations (.sync_restrict, .op_restrict) may as well hold for all. */
enum pxr_status tr_emit_membar(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    bool is_block = ptx_inst_mod(inst, PTX_GROUP_SCOPE) == PTX_MOD_CTA;
    LLVMAtomicOrdering ordering = LLVMAtomicOrderingSequentiallyConsistent;
    enum ptx_mod sem = ptx_inst_mod(inst, PTX_GROUP_SEM);
    if (sem == PTX_MOD_ACQ_REL)
        ordering = LLVMAtomicOrderingAcquireRelease;
    else if (sem == PTX_MOD_ACQUIRE)
        ordering = LLVMAtomicOrderingAcquire;
    else if (sem == PTX_MOD_RELEASE)
        ordering = LLVMAtomicOrderingRelease;
    /* Behind a fence ordinary loads see what others have written meanwhile: some loops wait in this
     * way. */
    if (ordering != LLVMAtomicOrderingRelease)
        tr_poll(ctx);
    if (inst == ctx->table_fence)
        tr_placeholder(ctx, RT_CALL_BAR_SYNC, ctx->thread, tr_const_int(ctx, 32, 0),
                       tr_const_int(ctx, 32, 0));
    else
        LLVMBuildFence(ctx->builder, ordering, is_block, "");
    tr_race_fence(ctx);
    return PXR_OK;
}
