/* SPDX-License-Identifier: Apache-2.0
 *
 * mbarrier, and cp.async.mbarrier.arrive. translator/rt/mbarrier.h has the object's layout.
 *
 * Shared memory belongs to a block, all of whose threads, and those of its cluster, run on one
 * thread of the processor: what an operation releases or acquires only the compiler must keep in
 * order.
 */
#include "translator/emit/emit.h"
#include "translator/rt/mbarrier.h"

#define OBJECT_BYTES 8

/* At so many bytes of an object, and behind, are places of its phases, at which no object can be.
 */
#define PHASE_PLACES 5

/* Operations that the manual leaves undefined, such as more arrivals than the phase waits for, are
 * faults. */
static void fault_if(struct tr_ctx *ctx, LLVMValueRef is_undefined, LLVMValueRef object)
{
    LLVMValueRef address = LLVMBuildPtrToInt(ctx->builder, object, ctx->i64, "");
    tr_fault_if(ctx, is_undefined, PXR_FAULT_INSTRUCTION, address);
}

static LLVMValueRef has_bit(struct tr_ctx *ctx, LLVMValueRef word, unsigned bit)
{
    word = LLVMBuildLShr(ctx->builder, word, tr_const_int(ctx, 64, bit), "");
    return tr_resize(ctx, word, 1, false);
}

/* The object is in shared memory, also if its address is generic. */
LLVMValueRef tr_mbarrier_object(struct tr_ctx *ctx, const struct ptx_operand *operand,
                                enum ptx_space space)
{
    LLVMValueRef object = tr_access_address(ctx, operand, space, OBJECT_BYTES);
    if (space != PTX_SPACE_SHARED) {
        LLVMValueRef address = LLVMBuildPtrToInt(ctx->builder, object, ctx->i64, "");
        LLVMValueRef is_shared = tr_is_in_space(ctx, address, PTX_SPACE_SHARED);
        tr_fault_if(ctx, LLVMBuildNot(ctx->builder, is_shared, ""), PXR_FAULT_ADDRESS, address);
    }
    return object;
}

static LLVMValueRef object_at(struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned index)
{
    return tr_mbarrier_object(ctx, tr_operand(inst, index), ptx_inst_space(inst));
}

/* To checks of races init and inval are plain writes, which have to be ordered with all else that
 * is done to the object; what is done between them is atomic. */
static void tell_races(struct tr_ctx *ctx, LLVMValueRef object, unsigned what)
{
    tr_race_object(ctx, object, tr_const_int(ctx, 64, OBJECT_BYTES), what);
}

static void store(struct tr_ctx *ctx, LLVMValueRef object, LLVMValueRef word)
{
    tell_races(ctx, object, RT_ACCESS_WRITE);
    tr_write_range(ctx, object, PTX_SPACE_SHARED, tr_const_int(ctx, 64, OBJECT_BYTES));
    LLVMValueRef store = LLVMBuildStore(ctx->builder, word, object);
    LLVMSetAlignment(store, OBJECT_BYTES);
    LLVMSetVolatile(store, true);
}

enum pxr_status tr_emit_mbarrier_init(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMBuilderRef b = ctx->builder;
    LLVMValueRef object = object_at(ctx, inst, 0);
    LLVMValueRef count = tr_value(ctx, inst, 1, PTX_TYPE_U32);
    LLVMValueRef less = LLVMBuildSub(b, count, tr_const_int(ctx, 32, 1), "");
    fault_if(ctx,
             LLVMBuildICmp(b, LLVMIntUGE, less, tr_const_int(ctx, 32, RT_MBARRIER_MAX_COUNT), ""),
             object);
    LLVMValueRef pending = tr_resize(ctx, count, 64, false);
    LLVMValueRef expected =
        LLVMBuildShl(b, pending, tr_const_int(ctx, 64, RT_MBARRIER_EXPECTED_BIT), "");
    LLVMValueRef word = LLVMBuildOr(b, pending, expected, "");
    word = LLVMBuildOr(b, word, tr_const_int(ctx, 64, UINT64_C(1) << RT_MBARRIER_EXISTS_BIT), "");
    store(ctx, object, word);
    return PXR_OK;
}

/* Volatile: a read that could be made before its branch would be torn from what is written back. */
static LLVMValueRef load(struct tr_ctx *ctx, LLVMValueRef object)
{
    LLVMValueRef word = LLVMBuildLoad2(ctx->builder, ctx->i64, object, "");
    LLVMSetAlignment(word, OBJECT_BYTES);
    LLVMSetVolatile(word, true);
    return word;
}

/* Who arrives late, or waits, still finds the numbers. */
enum pxr_status tr_emit_mbarrier_inval(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef object = object_at(ctx, inst, 0);
    LLVMValueRef others = tr_const_int(ctx, 64, ~(UINT64_C(1) << RT_MBARRIER_EXISTS_BIT));
    store(ctx, object, LLVMBuildAnd(ctx->builder, load(ctx, object), others, ""));
    return PXR_OK;
}

/* PTX leaves operations undefined where there is no object; only code with checks of barriers
 * asks. */
static void check_existence(struct tr_ctx *ctx, LLVMValueRef object)
{
    if (!ctx->options->checks_meetings)
        return;
    LLVMValueRef exists = tr_helper(ctx, "rt_mbarrier_exists", ctx->i32, ctx->thread, object);
    fault_if(ctx, LLVMBuildICmp(ctx->builder, LLVMIntEQ, exists, tr_const_int(ctx, 32, 0), ""),
             object);
}

/* To checks of races phases in turn have a place each: who waits for one learns nothing of what
 * others do behind it. A phase that is asked for is the current one or the one before. */
static LLVMValueRef place_of_phase(struct tr_ctx *ctx, LLVMValueRef object, LLVMValueRef phase)
{
    LLVMBuilderRef b = ctx->builder;
    phase = LLVMBuildAnd(b, tr_resize(ctx, phase, 64, false), tr_const_int(ctx, 64, 1), "");
    LLVMValueRef distance = LLVMBuildAdd(b, phase, tr_const_int(ctx, 64, PHASE_PLACES), "");
    return LLVMBuildGEP2(b, ctx->i8, object, &distance, 1, "");
}

/* Returns the object as it was. Its phase then is the one that the thread arrives at. */
static LLVMValueRef update(struct tr_ctx *ctx, LLVMValueRef object, LLVMValueRef transactions,
                           LLVMValueRef arrivals, uint32_t how)
{
    check_existence(ctx, object);
    tell_races(ctx, object, RT_ACCESS_ATOMIC | RT_RACE_STRONG);
    LLVMValueRef old = tr_helper(ctx, "rt_mbarrier_update", ctx->i64, ctx->thread, object,
                                 transactions, arrivals, tr_const_int(ctx, 32, how));
    fault_if(ctx, has_bit(ctx, old, RT_MBARRIER_UNDEFINED_BIT), object);
    if (ctx->options->checks_races)
        tr_race_release(ctx, place_of_phase(ctx, object, has_bit(ctx, old, RT_MBARRIER_PHASE_BIT)),
                        true);
    return old;
}

void tr_complete_transactions(struct tr_ctx *ctx, const struct ptx_operand *operand,
                              enum ptx_space space, LLVMValueRef count)
{
    update(ctx, tr_mbarrier_object(ctx, operand, space), LLVMBuildNeg(ctx->builder, count, ""),
           tr_const_int(ctx, 32, 0), 0);
}

enum pxr_status tr_emit_mbarrier_tx(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef count = tr_value(ctx, inst, 1, PTX_TYPE_U32);
    if (ptx_inst_has_word(inst, PTX_MOD_COMPLETE_TX))
        tr_complete_transactions(ctx, tr_operand(inst, 0), ptx_inst_space(inst), count);
    else
        update(ctx, object_at(ctx, inst, 0), count, tr_const_int(ctx, 32, 0), 0);
    return PXR_OK;
}

/* mbarrier.arrive, arrive_drop: state, [addr] {, count} or, with .expect_tx, state, [addr], tx. The
 * state is "the phase prior to the arrive-on operation". */
enum pxr_status tr_emit_mbarrier_arrive(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    bool expects = ptx_inst_has_word(inst, PTX_MOD_EXPECT_TX);
    LLVMValueRef transactions = tr_const_int(ctx, 32, 0);
    LLVMValueRef arrivals = tr_const_int(ctx, 32, 1);
    uint32_t how = RT_MBARRIER_ARRIVES;
    if (ptx_inst_has_word(inst, PTX_MOD_ARRIVE_DROP))
        how |= RT_MBARRIER_DROPS;
    if (ptx_inst_has_word(inst, PTX_MOD_NOCOMPLETE))
        how |= RT_MBARRIER_NO_COMPLETE;
    LLVMValueRef object = object_at(ctx, inst, 1);
    if (expects)
        transactions = tr_value(ctx, inst, 2, PTX_TYPE_U32);
    else if (tr_has_operand(inst, 2))
        arrivals = tr_value(ctx, inst, 2, PTX_TYPE_U32);
    tr_set(ctx, inst, 0, PTX_TYPE_B64, update(ctx, object, transactions, arrivals, how));
    return PXR_OK;
}

/* "Makes the mbarrier object track all prior cp.async operations of the thread": they are complete,
 * so it arrives at once. Without .noinc the phase waits for one arrival more, which is this one. */
enum pxr_status tr_emit_cp_async_mbarrier(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef object = object_at(ctx, inst, 0);
    bool arrives = ptx_inst_has_word(inst, PTX_MOD_NOINC);
    tr_race_all_copies(ctx);
    update(ctx, object, tr_const_int(ctx, 32, 0), tr_const_int(ctx, 32, arrives),
           arrives ? RT_MBARRIER_ARRIVES : 0);
    return PXR_OK;
}

static LLVMValueRef ask(struct tr_ctx *ctx, LLVMValueRef object, LLVMValueRef phase)
{
    return tr_helper(ctx, "rt_mbarrier_ask", ctx->i32, ctx->thread, object, phase);
}

static LLVMValueRef is_answer(struct tr_ctx *ctx, LLVMValueRef answer,
                              enum rt_mbarrier_answer wanted)
{
    return LLVMBuildICmp(ctx->builder, LLVMIntEQ, answer, tr_const_int(ctx, 32, wanted), "");
}

/* Asks; gives way and asks once more if the answer is no. */
static LLVMValueRef ask_twice(struct tr_ctx *ctx, LLVMValueRef object, LLVMValueRef phase)
{
    LLVMBasicBlockRef again = tr_new_block(ctx, "ask_again");
    LLVMBasicBlockRef after = tr_new_block(ctx, "asked");
    tr_placeholder(ctx, RT_CALL_LINE_UP, ctx->thread);
    LLVMValueRef answers[2];
    LLVMBasicBlockRef ends[2];
    answers[0] = ask(ctx, object, phase);
    ends[0] = LLVMGetInsertBlock(ctx->builder);
    LLVMBuildCondBr(ctx->builder, is_answer(ctx, answers[0], RT_MBARRIER_INCOMPLETE), again, after);
    LLVMPositionBuilderAtEnd(ctx->builder, again);
    tr_placeholder(ctx, RT_CALL_GIVE_WAY, ctx->thread, tr_const_int(ctx, 32, 0));
    answers[1] = ask(ctx, object, phase);
    ends[1] = LLVMGetInsertBlock(ctx->builder);
    LLVMBuildBr(ctx->builder, after);
    LLVMPositionBuilderAtEnd(ctx->builder, after);
    LLVMValueRef answer = LLVMBuildPhi(ctx->builder, ctx->i32, "");
    LLVMAddIncoming(answer, answers, ends, 2);
    return answer;
}

/* test_wait, try_wait: p, [addr], state or parity of the phase {, suspendTimeHint}. Whether that
 * phase is complete. A time is not needed: whoever asks in vain gives way to all that can go on. */
enum pxr_status tr_emit_mbarrier_wait(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef object = object_at(ctx, inst, 1);
    LLVMValueRef phase = NULL;
    if (ptx_inst_has_word(inst, PTX_MOD_PARITY))
        phase = tr_value(ctx, inst, 2, PTX_TYPE_U32);
    else
        phase = tr_resize(ctx,
                          has_bit(ctx, tr_value(ctx, inst, 2, PTX_TYPE_B64), RT_MBARRIER_PHASE_BIT),
                          32, false);
    check_existence(ctx, object);
    tell_races(ctx, object, RT_ACCESS_READ | RT_RACE_STRONG);
    LLVMValueRef answer = ask_twice(ctx, object, phase);
    if (ctx->options->checks_races)
        tr_race_acquire(ctx, place_of_phase(ctx, object, phase), true);
    tr_set(ctx, inst, 0, PTX_TYPE_PRED, is_answer(ctx, answer, RT_MBARRIER_COMPLETE));
    return PXR_OK;
}

enum pxr_status tr_emit_mbarrier_pending_count(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    LLVMValueRef state = tr_value(ctx, inst, 1, PTX_TYPE_B64);
    LLVMValueRef pending = LLVMBuildAnd(ctx->builder, tr_resize(ctx, state, 32, false),
                                        tr_const_int(ctx, 32, RT_MBARRIER_MAX_COUNT), "");
    tr_set(ctx, inst, 0, PTX_TYPE_U32, pending);
    return PXR_OK;
}
