/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread that nothing orders with others in a loop does all of the loop's accesses at one point
 * of their order: what is told of them behind the loop is the same as what was told in each
 * iteration. An access is told so if all iterations come to it, which may leave the loop before it
 * in the last one, and its address moves by one step. One that does not move, and is done in the
 * first iteration whatever happens, is told in front of the loop: threads may wait there for ever.
 */
#include "translator/barriers/loop_races.h"

#include <string.h>

#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>

#include "kernel_abi/rt.h"
#include "translator/analysis/address.h"
#include "translator/analysis/calls.h"
#include "translator/module/declare.h"
#include "translator/module/walk.h"

/* Operands of rt_race_access. */
enum { THREAD, ADDRESS, BYTES, VALUE, WHAT, LINE, OPERANDS };

/* Blocks that a loop leads to, and functions with more segments are left alone. */
#define EXITS_MAX    8
#define SEGMENTS_MAX 4096

/* Bytes of an element that an index is of. */
#define SCALE_MAX 4096

/* Unrolled loops add step by step. */
#define ADDENDS_MAX 64

/* How a value moves from one iteration to the next. If it is made of an index of fewer bits than an
 * address, which may wrap, then only as long as that does not. */
struct move {
    struct tr_move by;
    LLVMValueRef index; /* the extended one; NULL: there is none */
    uint64_t scale;     /* so many times it is part of the value */
};

struct function {
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMTypeRef i64;
    struct tr_graph graph;
    struct tr_dominators dominators;
    struct tr_loops loops;
    struct move *moves; /* by value, of one loop */
    bool has_changed;
};

struct loop {
    struct function *f;
    const struct tr_loop *of;
    uint32_t number;
    uint32_t before; /* the only way in */
    uint32_t latch;  /* the only way back */
    uint32_t exit_count;
    uint32_t exits[EXITS_MAX];
    LLVMValueRef turns; /* how many iterations have ended; NULL: not counted yet */
    LLVMValueRef next;  /* … and this one */
};

static bool is_inside(const struct loop *loop, uint32_t segment)
{
    return segment != TR_NONE && tr_set_has(&loop->of->segments, segment);
}

static const struct tr_segment *segment_of(const struct loop *loop, uint32_t segment)
{
    return &loop->f->graph.segments[segment];
}

static LLVMValueRef terminator_of(const struct loop *loop, uint32_t segment)
{
    return LLVMGetBasicBlockTerminator(segment_of(loop, segment)->llvm);
}

/* ---- loops in which nothing orders threads ---- */

static bool is_access(LLVMValueRef inst)
{
    return tr_placeholder_of(inst) == RT_CALL_RACE_ACCESS;
}

/* The host may learn of one, or this thread of the host. */
static bool is_told_to_host(uint64_t what)
{
    const uint64_t both = RT_RACE_STRONG | RT_RACE_SYSTEM;
    return (what & both) == both;
}

/* Others stay before and behind where a copy begins. */
static bool access_orders(LLVMValueRef access)
{
    LLVMValueRef operand = LLVMGetOperand(access, WHAT);
    if (LLVMIsAConstantInt(operand) == NULL)
        return true;
    uint64_t what = LLVMConstIntGetZExtValue(operand);
    return is_told_to_host(what) || (what & RT_RACE_COPY) != 0;
}

bool tr_orders_races(LLVMValueRef inst)
{
    if (LLVMIsAFenceInst(inst) != NULL)
        return true;
    if (LLVMIsACallInst(inst) == NULL || tr_placeholder_of(inst) == RT_CALL_RACE_LOOP)
        return false;
    if (tr_placeholder_of(inst) == RT_CALL_RACE_COPIES)
        return true;
    return is_access(inst) ? access_orders(inst) : tr_effect_of_call(inst) != RT_EFFECT_NONE;
}

static bool is_free_of_order(const struct loop *loop)
{
    const struct tr_set *in = &loop->of->segments;
    for (uint32_t s = tr_set_next(in, 0); s != TR_NONE; s = tr_set_next(in, s + 1)) {
        const struct tr_segment *segment = segment_of(loop, s);
        for (uint32_t k = 0; k < segment->value_count; k++)
            if (tr_orders_races(loop->f->graph.values[segment->first_value + k].llvm))
                return false;
    }
    return true;
}

/* ---- the form of loops ---- */

static bool find_ways_in(struct loop *loop)
{
    const struct tr_segment *header = segment_of(loop, loop->of->header);
    if (loop->of->is_irreducible || header->pred_count != 2)
        return false;
    bool is_first_inside = is_inside(loop, header->preds[0]);
    loop->latch = header->preds[is_first_inside ? 0 : 1];
    loop->before = header->preds[is_first_inside ? 1 : 0];
    return is_inside(loop, loop->latch) && !is_inside(loop, loop->before) &&
           segment_of(loop, loop->before)->succ_count == 1;
}

/* False: there are too many, or somebody else comes there, too. */
static bool add_exit(struct loop *loop, uint32_t exit)
{
    for (uint32_t i = 0; i < loop->exit_count; i++)
        if (loop->exits[i] == exit)
            return true;
    const struct tr_segment *segment = segment_of(loop, exit);
    for (uint32_t i = 0; i < segment->pred_count; i++)
        if (!is_inside(loop, segment->preds[i]))
            return false;
    if (loop->exit_count == EXITS_MAX)
        return false;
    loop->exits[loop->exit_count++] = exit;
    return true;
}

static bool find_exits(struct loop *loop)
{
    const struct tr_set *in = &loop->of->segments;
    for (uint32_t s = tr_set_next(in, 0); s != TR_NONE; s = tr_set_next(in, s + 1)) {
        const struct tr_segment *segment = segment_of(loop, s);
        for (uint32_t i = 0; i < segment->succ_count; i++)
            if (!is_inside(loop, segment->succs[i]) && !add_exit(loop, segment->succs[i]))
                return false;
    }
    return true;
}

/* ---- how addresses move ---- */

static struct tr_move_context context_of(struct function *f)
{
    return (struct tr_move_context){.arena = &f->graph.arena,
                                    .layout = LLVMGetModuleDataLayout(f->module)};
}

static const struct move unknown = {.by.by = NULL};

static uint32_t number_inside(const struct loop *loop, LLVMValueRef value)
{
    uint32_t number = tr_graph_number(&loop->f->graph, value);
    bool is_in = number != TR_NONE && is_inside(loop, loop->f->graph.values[number].segment);
    return is_in ? number : TR_NONE;
}

static struct move move_of(const struct loop *loop, LLVMValueRef value)
{
    struct tr_move_context context = context_of(loop->f);
    uint32_t number = number_inside(loop, value);
    return number == TR_NONE ? (struct move){.by = tr_move_by(&context, value, 0)}
                             : loop->f->moves[number];
}

/* One addend of a value, which the loop does not change, and the rest; NULL: it is no such sum. */
static struct tr_number *take_addend(const struct loop *loop, LLVMValueRef value,
                                     LLVMValueRef *rest)
{
    struct tr_move_context context = context_of(loop->f);
    LLVMValueRef inst = LLVMIsAInstruction(value);
    LLVMOpcode opcode = inst == NULL ? 0 : LLVMGetInstructionOpcode(inst);
    bool is_gep = opcode == LLVMGetElementPtr && LLVMGetNumOperands(inst) == 2;
    if (opcode != LLVMAdd && !is_gep)
        return NULL;
    if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetOperand(inst, 1))) != LLVMIntegerTypeKind)
        return NULL;
    bool is_last = number_inside(loop, LLVMGetOperand(inst, 1)) == TR_NONE;
    if (!is_last && (is_gep || number_inside(loop, LLVMGetOperand(inst, 0)) != TR_NONE))
        return NULL;
    struct tr_number *addend = tr_number_of(&context, LLVMGetOperand(inst, is_last ? 1 : 0));
    *rest = LLVMGetOperand(inst, is_last ? 0 : 1);
    if (!is_gep || addend == NULL)
        return addend;
    uint64_t size = LLVMABISizeOfType(context.layout, LLVMGetGEPSourceElementType(inst));
    return addend->bits != 64 ? NULL
                              : tr_number_combined(&context, TR_NUMBER_PRODUCT, 64, addend,
                                                   tr_number_constant(&context, 64, size));
}

/* What the loop adds to its variable in each iteration; NULL: something else happens to it. */
static struct tr_number *addend_of(const struct loop *loop, LLVMValueRef phi, LLVMValueRef next)
{
    struct tr_move_context context = context_of(loop->f);
    struct tr_number *sum = take_addend(loop, next, &next);
    for (unsigned i = 1; sum != NULL && next != phi; i++) {
        struct tr_number *addend = i < ADDENDS_MAX ? take_addend(loop, next, &next) : NULL;
        sum = addend == NULL ? NULL
                             : tr_number_combined(&context, TR_NUMBER_SUM, sum->bits, sum, addend);
    }
    return sum;
}

/* A counter from 0 that its flags keep from wrapping. */
static bool is_counter(LLVMValueRef phi, LLVMValueRef start, LLVMValueRef next,
                       const struct tr_number *by)
{
    return LLVMIsAConstantInt(start) != NULL && LLVMIsNull(start) && tr_is_constant_number(by) &&
           tr_constant_of(by) > 0 && LLVMGetInstructionOpcode(next) == LLVMAdd &&
           LLVMGetOperand(next, 0) == phi && LLVMGetNSW(next) && LLVMGetNUW(next);
}

static struct move move_of_phi(const struct loop *loop, LLVMValueRef phi)
{
    struct tr_move_context context = context_of(loop->f);
    LLVMBasicBlockRef latch = segment_of(loop, loop->latch)->llvm;
    unsigned back = LLVMGetIncomingBlock(phi, 0) == latch ? 0 : 1;
    LLVMValueRef next = LLVMGetIncomingValue(phi, back);
    struct tr_number *by = addend_of(loop, phi, next);
    if (by != NULL && is_counter(phi, LLVMGetIncomingValue(phi, 1 - back), next, by))
        return (struct move){.by = tr_move_by(&context, phi, tr_constant_of(by))};
    return (struct move){.by.by = by};
}

/* An index that may wrap. */
static struct move move_of_index(const struct loop *loop, LLVMValueRef inst, struct move from)
{
    struct tr_move_context context = context_of(loop->f);
    if (from.by.by == NULL || from.index != NULL || LLVMGetIntTypeWidth(LLVMTypeOf(inst)) != 64)
        return unknown;
    return (struct move){.by.by =
                             tr_number_combined(&context, TR_NUMBER_SEXT, 64, from.by.by, NULL),
                         .index = inst,
                         .scale = 1};
}

/* How often the result has the operand in it; 0: nobody knows. */
static uint64_t scale_by(const struct loop *loop, LLVMValueRef inst, unsigned operand)
{
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(loop->f->module);
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    bool is_scaled = opcode == LLVMMul || opcode == LLVMShl;
    LLVMValueRef other = is_scaled ? LLVMGetOperand(inst, 1 - operand) : NULL;
    uint64_t factor = 1;
    if (opcode == LLVMGetElementPtr)
        return operand == 0 ? 1 : LLVMABISizeOfType(layout, LLVMGetGEPSourceElementType(inst));
    if (is_scaled && LLVMIsAConstantInt(other) == NULL)
        return 0;
    if (is_scaled)
        factor = LLVMConstIntGetZExtValue(other);
    if (opcode == LLVMShl)
        return operand == 0 && factor < 16 ? UINT64_C(1) << factor : 0;
    return opcode == LLVMSub && operand == 1 ? 0 : factor;
}

static struct move move_of_inst(const struct loop *loop, LLVMValueRef inst)
{
    struct tr_move_context context = context_of(loop->f);
    struct move operands[2] = {unknown, unknown};
    int count = LLVMGetNumOperands(inst);
    if (LLVMIsACallInst(inst) != NULL || count > 2)
        return unknown;
    for (int i = 0; i < count; i++)
        operands[i] = move_of(loop, LLVMGetOperand(inst, (unsigned)i));
    const struct tr_move moves[2] = {operands[0].by, operands[1].by};
    struct move move = {.by = tr_move_of_inst(&context, inst, moves)};
    bool is_extended = LLVMIsASExtInst(inst) != NULL || LLVMIsAZExtInst(inst) != NULL;
    if (is_extended && move.by.by == NULL)
        return move_of_index(loop, inst, operands[0]);
    unsigned wrapping = operands[0].index != NULL ? 0 : 1;
    if (operands[wrapping].index == NULL || move.by.by == NULL)
        return move;
    move.index = operands[wrapping].index;
    move.scale = operands[wrapping].scale * scale_by(loop, inst, wrapping);
    bool is_known = move.by.by->bits == 64 && move.scale != 0 && move.scale <= SCALE_MAX &&
                    (count == 1 || tr_is_no_move(&operands[1 - wrapping].by));
    return is_known ? move : unknown;
}

/* Of each value, from those that it is made of. */
static void find_moves(const struct loop *loop)
{
    const struct tr_set *in = &loop->of->segments;
    for (uint32_t s = tr_set_next(in, 0); s != TR_NONE; s = tr_set_next(in, s + 1)) {
        const struct tr_segment *segment = segment_of(loop, s);
        for (uint32_t k = 0; k < segment->value_count; k++) {
            uint32_t number = segment->first_value + k;
            LLVMValueRef inst = loop->f->graph.values[number].llvm;
            struct move *move = &loop->f->moves[number];
            if (LLVMIsAPHINode(inst) == NULL)
                *move = move_of_inst(loop, inst);
            else
                *move = s == loop->of->header ? move_of_phi(loop, inst) : unknown;
        }
    }
}

/* Whether the number is made of values from outside of the loop. */
static bool is_known_before(const struct loop *loop, const struct tr_number *number)
{
    return number == NULL ||
           (number->kind == TR_NUMBER_VALUE
                ? number_inside(loop, number->value) == TR_NONE
                : is_known_before(loop, number->a) && is_known_before(loop, number->b));
}

static LLVMValueRef make_number(const struct loop *loop, const struct tr_number *number)
{
    LLVMBuilderRef b = loop->f->builder;
    LLVMContextRef llvm = LLVMGetModuleContext(loop->f->module);
    LLVMTypeRef type = LLVMIntTypeInContext(llvm, number->bits);
    LLVMValueRef first = number->a == NULL ? NULL : make_number(loop, number->a);
    LLVMValueRef second = number->b == NULL ? NULL : make_number(loop, number->b);
    switch (number->kind) {
    case TR_NUMBER_CONSTANT:
        return LLVMConstInt(type, number->constant, false);
    case TR_NUMBER_VALUE:
        return number->value;
    case TR_NUMBER_SUM:
        return LLVMBuildAdd(b, first, second, "");
    case TR_NUMBER_DIFFERENCE:
        return LLVMBuildSub(b, first, second, "");
    case TR_NUMBER_PRODUCT:
        return LLVMBuildMul(b, first, second, "");
    case TR_NUMBER_SHIFTED:
        return LLVMBuildShl(b, first, second, "");
    case TR_NUMBER_ZEXT:
        return LLVMBuildZExt(b, first, type, "");
    case TR_NUMBER_SEXT:
        return LLVMBuildSExt(b, first, type, "");
    default:
        return LLVMBuildTrunc(b, first, type, "");
    }
}

/* ---- what is told ---- */

static void at(const struct loop *loop, LLVMValueRef inst)
{
    LLVMPositionBuilderBefore(loop->f->builder, inst);
    LLVMSetCurrentDebugLocation2(loop->f->builder, LLVMInstructionGetDebugLoc(inst));
}

static void count_turns(struct loop *loop)
{
    LLVMBuilderRef b = loop->f->builder;
    LLVMBasicBlockRef header = segment_of(loop, loop->of->header)->llvm;
    if (loop->turns != NULL)
        return;
    at(loop, LLVMGetFirstInstruction(header));
    loop->turns = LLVMBuildPhi(b, loop->f->i64, "turns");
    at(loop, tr_first_behind_phis(header));
    loop->next = LLVMBuildNUWAdd(b, loop->turns, LLVMConstInt(loop->f->i64, 1, false), "");
    LLVMValueRef values[] = {LLVMConstNull(loop->f->i64), loop->next};
    LLVMBasicBlockRef from[] = {segment_of(loop, loop->before)->llvm,
                                segment_of(loop, loop->latch)->llvm};
    LLVMAddIncoming(loop->turns, values, from, 2);
}

/* What the value was in the last iteration that has ended. */
static LLVMValueRef last_value(const struct loop *loop, LLVMValueRef value)
{
    if (number_inside(loop, value) == TR_NONE)
        return value;
    at(loop, LLVMGetFirstInstruction(segment_of(loop, loop->of->header)->llvm));
    LLVMValueRef last = LLVMBuildPhi(loop->f->builder, loop->f->i64, "last");
    LLVMValueRef values[] = {LLVMConstNull(loop->f->i64), value};
    LLVMBasicBlockRef from[] = {segment_of(loop, loop->before)->llvm,
                                segment_of(loop, loop->latch)->llvm};
    LLVMAddIncoming(last, values, from, 2);
    return last;
}

/* At the loop's end: one value where control has come by the access, another where it has not. */
static LLVMValueRef at_exit(const struct loop *loop, uint32_t exit, uint32_t place,
                            LLVMValueRef behind, LLVMValueRef before)
{
    const struct tr_segment *segment = segment_of(loop, exit);
    if (behind == before)
        return behind;
    at(loop, LLVMGetFirstInstruction(segment->llvm));
    LLVMValueRef phi = LLVMBuildPhi(loop->f->builder, loop->f->i64, "");
    for (uint32_t i = 0; i < segment->pred_count; i++) {
        LLVMBasicBlockRef from = segment_of(loop, segment->preds[i])->llvm;
        bool is_behind = tr_dominates(&loop->f->dominators, place, segment->preds[i]);
        LLVMValueRef end = LLVMGetBasicBlockTerminator(from);
        for (unsigned way = 0; way < LLVMGetNumSuccessors(end); way++)
            if (LLVMGetSuccessor(end, way) == segment->llvm)
                LLVMAddIncoming(phi, is_behind ? &behind : &before, &from, 1);
    }
    return phi;
}

static bool is_behind_at_all_exits(const struct loop *loop, uint32_t place)
{
    for (uint32_t i = 0; i < loop->exit_count; i++) {
        const struct tr_segment *exit = segment_of(loop, loop->exits[i]);
        for (uint32_t k = 0; k < exit->pred_count; k++)
            if (!tr_dominates(&loop->f->dominators, place, exit->preds[k]))
                return false;
    }
    return true;
}

/* What a value has been where control has come by the access last, by exits. */
struct last {
    LLVMValueRef behind;
    LLVMValueRef before;
};

static struct last last_of(const struct loop *loop, LLVMValueRef value, uint32_t place)
{
    bool is_needed = !is_behind_at_all_exits(loop, place);
    return (struct last){.behind = value, .before = is_needed ? last_value(loop, value) : value};
}

/* The lowest address with an index that can be, if the index and the address are these. */
static LLVMValueRef floor_of(const struct loop *loop, const struct move *move, LLVMValueRef address,
                             LLVMValueRef index)
{
    LLVMBuilderRef b = loop->f->builder;
    LLVMTypeRef i64 = loop->f->i64;
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(move->index, 0)));
    bool is_signed = LLVMIsASExtInst(move->index) != NULL;
    uint64_t lowest = is_signed ? -(UINT64_C(1) << (bits - 1)) : 0;
    index = LLVMBuildSub(b, index, LLVMConstInt(i64, lowest, true), "");
    index = LLVMBuildMul(b, index, LLVMConstInt(i64, move->scale, false), "");
    return LLVMBuildSub(b, address, index, "");
}

static uint64_t period_of(const struct move *move)
{
    if (move->index == NULL)
        return 0;
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(move->index, 0)));
    return move->scale << bits;
}

static void tell_at_exit(const struct loop *loop, LLVMValueRef access, uint32_t place,
                         const struct move *move, uint32_t exit, const struct last *addresses,
                         const struct last *indices)
{
    LLVMBuilderRef b = loop->f->builder;
    LLVMTypeRef i64 = loop->f->i64;
    LLVMValueRef function = tr_declare_placeholder(loop->f->module, RT_CALL_RACE_LOOP);
    LLVMValueRef turns = at_exit(loop, exit, place, loop->next, loop->turns);
    LLVMValueRef address = at_exit(loop, exit, place, addresses->behind, addresses->before);
    LLVMValueRef index = NULL;
    if (move->index != NULL)
        index = at_exit(loop, exit, place, indices->behind, indices->before);
    at(loop, tr_first_behind_phis(segment_of(loop, exit)->llvm));
    LLVMValueRef floor = index == NULL ? LLVMConstNull(i64) : floor_of(loop, move, address, index);
    LLVMValueRef operands[] = {LLVMGetOperand(access, THREAD),
                               address,
                               LLVMGetOperand(access, BYTES),
                               make_number(loop, move->by.by),
                               turns,
                               floor,
                               LLVMConstInt(i64, period_of(move), false),
                               LLVMGetOperand(access, WHAT),
                               LLVMGetOperand(access, LINE),
                               LLVMConstNull(LLVMTypeOf(LLVMGetOperand(access, LINE)))};
    LLVMBuildCall2(b, LLVMGlobalGetValueType(function), function, operands,
                   sizeof operands / sizeof *operands, "");
}

static void tell_behind(struct loop *loop, LLVMValueRef access, uint32_t place,
                        const struct move *move)
{
    count_turns(loop);
    const struct last addresses = last_of(loop, LLVMGetOperand(access, ADDRESS), place);
    struct last indices = {NULL, NULL};
    if (move->index != NULL)
        indices = last_of(loop, move->index, place);
    for (uint32_t i = 0; i < loop->exit_count; i++)
        tell_at_exit(loop, access, place, move, loop->exits[i], &addresses, &indices);
    LLVMInstructionEraseFromParent(access);
}

/* The same call in front of the loop. */
static void tell_before(const struct loop *loop, LLVMValueRef access)
{
    LLVMValueRef end = terminator_of(loop, loop->before);
    LLVMInstructionRemoveFromParent(access);
    at(loop, end);
    LLVMInsertIntoBuilder(loop->f->builder, access);
}

static bool is_the_same(const struct loop *loop, LLVMValueRef access)
{
    for (unsigned i = 0; i < OPERANDS; i++)
        if (i != ADDRESS && number_inside(loop, LLVMGetOperand(access, i)) != TR_NONE)
            return false;
    return true;
}

static bool has_known_value(LLVMValueRef access)
{
    return LLVMConstIntGetZExtValue(LLVMGetOperand(access, WHAT)) & RT_RACE_VALUE;
}

/* Whether the loop writes there, too, other values each time: that has to be told each time, and is
 * told faster behind the read. */
static bool is_beside_write(const struct loop *loop, LLVMValueRef access)
{
    LLVMUseRef use = LLVMGetFirstUse(LLVMGetOperand(access, ADDRESS));
    for (; use != NULL; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        if (is_access(user) && number_inside(loop, user) != TR_NONE && !is_the_same(loop, user))
            return true;
    }
    return false;
}

/* Whether it could be told once. */
static bool tell_once(struct loop *loop, LLVMValueRef access, uint32_t place)
{
    const struct move move = move_of(loop, LLVMGetOperand(access, ADDRESS));
    bool stays = number_inside(loop, LLVMGetOperand(access, ADDRESS)) == TR_NONE;
    if (!is_the_same(loop, access) || !tr_dominates(&loop->f->dominators, place, loop->latch))
        return false;
    if (stays && is_behind_at_all_exits(loop, place)) {
        tell_before(loop, access);
        return true;
    }
    if (is_beside_write(loop, access) || move.by.by == NULL || !is_known_before(loop, move.by.by) ||
        has_known_value(access) || LLVMIsAConstantInt(LLVMGetOperand(access, BYTES)) == NULL)
        return false;
    tell_behind(loop, access, place, &move);
    return true;
}

/* Accesses of the loop, and not of one inside. */
static bool has_accesses(const struct loop *loop)
{
    const struct tr_set *in = &loop->of->segments;
    for (uint32_t s = tr_set_next(in, 0); s != TR_NONE; s = tr_set_next(in, s + 1)) {
        const struct tr_segment *segment = segment_of(loop, s);
        for (uint32_t k = 0; k < segment->value_count; k++)
            if (loop->f->loops.innermost[s] == loop->number &&
                is_access(loop->f->graph.values[segment->first_value + k].llvm))
                return true;
    }
    return false;
}

static void do_loop(struct function *f, uint32_t number)
{
    struct loop loop = {.f = f, .of = &f->loops.loops[number], .number = number};
    if (!has_accesses(&loop) || !find_ways_in(&loop) || !find_exits(&loop) ||
        !is_free_of_order(&loop))
        return;
    find_moves(&loop);
    const struct tr_set *in = &loop.of->segments;
    for (uint32_t s = tr_set_next(in, 0); s != TR_NONE; s = tr_set_next(in, s + 1)) {
        const struct tr_segment *segment = segment_of(&loop, s);
        if (f->loops.innermost[s] != number)
            continue;
        for (uint32_t k = 0; k < segment->value_count; k++) {
            LLVMValueRef inst = f->graph.values[segment->first_value + k].llvm;
            if (is_access(inst))
                f->has_changed |= tell_once(&loop, inst, s);
        }
    }
}

/* ---- functions ---- */

static enum pxr_status do_graph(struct function *f, struct pxr_error *err)
{
    enum pxr_status status = tr_dominators_build(&f->graph, false, &f->dominators, err);
    if (status == PXR_OK)
        status = tr_loops_build(&f->graph, &f->loops, err);
    if (status != PXR_OK)
        return status;
    f->moves = pxr_arena_alloc_array(&f->graph.arena, f->graph.value_count, sizeof *f->moves);
    if (f->moves == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory looking for checks in loops");
    for (uint32_t i = 0; i < f->loops.count && f->graph.segment_count <= SEGMENTS_MAX; i++)
        do_loop(f, i);
    return PXR_OK;
}

/* What is told in front of a loop, or behind it, may be in another one: once more then. */
static enum pxr_status do_function(LLVMModuleRef module, LLVMValueRef function,
                                   struct pxr_error *err)
{
    LLVMContextRef llvm = LLVMGetModuleContext(module);
    struct function f = {.module = module, .i64 = LLVMInt64TypeInContext(llvm)};
    enum pxr_status status;
    f.builder = LLVMCreateBuilderInContext(llvm);
    do {
        f.has_changed = false;
        status = tr_graph_build(&f.graph, function, NULL, err);
        if (status == PXR_OK) {
            status = do_graph(&f, err);
            tr_graph_fini(&f.graph);
        }
    } while (status == PXR_OK && f.has_changed);
    LLVMDisposeBuilder(f.builder);
    return status;
}

bool tr_has_race_checks(LLVMModuleRef module)
{
    const struct rt_placeholder_info *access = &rt_placeholders[RT_CALL_RACE_ACCESS];
    LLVMValueRef function = LLVMGetNamedFunctionWithLength(module, access->name, access->name_len);
    return function != NULL && LLVMGetFirstUse(function) != NULL;
}

enum pxr_status tr_tell_races_of_loops(LLVMModuleRef module, struct pxr_error *err)
{
    enum pxr_status status = PXR_OK;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL && status == PXR_OK;
         f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            status = do_function(module, f, err);
    return status;
}
