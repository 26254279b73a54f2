/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/barriers/lane_values.h"

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "translator/module/sregs.h"
#include "translator/module/walk.h"

/* Longer chains of operations are not followed. */
#define DEPTH_MAX 24
/* Nor are more phis. */
#define MERGES_MAX 16

struct way {
    unsigned merges;     /* phis that have been followed */
    uint32_t turn_depth; /* the least depth of their loops */
    uint32_t turn;
};

/* A phi for which stands a number while it is looked how much it grows in a turn. */
struct growing {
    LLVMValueRef phi; /* NULL: none */
    uint64_t number;
};

struct evaluation {
    const struct tr_effects *effects;
    const struct tr_lane_ids *ids;
    const struct tr_set *told; /* tr_evaluate_group; or NULL */
    struct way *way;           /* tr_evaluate_way; or NULL */
    bool by_turns;             /* tr_evaluate_in_turn */
    struct growing growing;
};

static bool evaluate(const struct evaluation *e, LLVMValueRef value, unsigned depth,
                     struct tr_lane_values *result);

struct tr_lane_ids tr_lane_ids_of(const uint32_t block[3], uint32_t first)
{
    struct tr_lane_ids ids = {0};
    uint32_t columns = block[0] != 0 ? block[0] : UINT32_MAX;
    uint32_t rows = block[0] != 0 && block[1] != 0 ? block[1] : UINT32_MAX;
    for (uint32_t lane = 0; lane < RT_WARP_SIZE; lane++) {
        uint32_t thread = first / RT_WARP_SIZE * RT_WARP_SIZE + lane;
        ids.tid[lane][0] = thread % columns;
        ids.tid[lane][1] = thread / columns % rows;
        ids.tid[lane][2] = thread / columns / rows;
    }
    return ids;
}

/* A pointer counts as an integer of 64 bits; 0: neither. */
static unsigned bits_of(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind)
        return 64;
    bool is_integer = LLVMGetTypeKind(type) == LLVMIntegerTypeKind;
    return is_integer && LLVMGetIntTypeWidth(type) <= 64 ? LLVMGetIntTypeWidth(type) : 0;
}

static uint64_t cut(uint64_t number, unsigned bits)
{
    return bits == 64 ? number : number & ((UINT64_C(1) << bits) - 1);
}

static int64_t extend(uint64_t number, unsigned bits)
{
    unsigned unused = 64 - bits;
    return (int64_t)(number << unused) >> unused;
}

static void fill(struct tr_lane_values *result, uint64_t number, bool is_exact)
{
    result->is_exact = is_exact;
    for (uint32_t lane = 0; lane < RT_WARP_SIZE; lane++)
        result->of[lane] = number;
}

/* A number at random, always the same for this n. */
static uint64_t scramble(uint64_t n)
{
    n = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
    n = (n ^ n >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    n = (n ^ n >> 27) * UINT64_C(0x94d049bb133111eb);
    return n ^ n >> 31;
}

/* What all threads have in common, whatever it is. */
static bool is_common(const struct evaluation *e, LLVMValueRef value, struct tr_lane_values *result)
{
    uint32_t number = tr_graph_number(e->effects->graph, value);
    if (number == TR_NONE || bits_of(value) == 0)
        return false;
    bool is_argument = e->effects->graph->values[number].segment == TR_NONE;
    if (!is_argument && e->effects->shapes->values[number].kind != TR_UNIFORM)
        return false;
    fill(result, cut(scramble(number), bits_of(value)), false);
    return true;
}

/* What the lanes of a group have in common. */
static bool is_of_group(const struct evaluation *e, LLVMValueRef value,
                        struct tr_lane_values *result)
{
    uint32_t number = tr_graph_number(e->effects->graph, value);
    if (number == TR_NONE || bits_of(value) == 0)
        return false;
    bool is_told = tr_set_has(e->told, number);
    fill(result, is_told ? 0 : cut(scramble(number), bits_of(value)), is_told);
    return true;
}

static bool is_block_number(enum ptx_sreg sreg)
{
    return sreg == PTX_SREG_CTAID_X || sreg == PTX_SREG_CTAID_Y || sreg == PTX_SREG_CTAID_Z;
}

static bool evaluate_sreg(const struct evaluation *e, LLVMValueRef call,
                          struct tr_lane_values *result)
{
    enum ptx_sreg sreg = tr_sreg_of(call);
    if (e->told != NULL && is_block_number(sreg)) {
        fill(result, 0, true);
        return true;
    }
    if (sreg != PTX_SREG_TID_X && sreg != PTX_SREG_TID_Y && sreg != PTX_SREG_TID_Z &&
        sreg != PTX_SREG_LANEID)
        return false;
    result->is_exact = true;
    for (uint32_t lane = 0; lane < RT_WARP_SIZE; lane++)
        result->of[lane] = sreg == PTX_SREG_TID_X   ? e->ids->tid[lane][0]
                           : sreg == PTX_SREG_TID_Y ? e->ids->tid[lane][1]
                           : sreg == PTX_SREG_TID_Z ? e->ids->tid[lane][2]
                                                    : lane;
    return true;
}

static bool combine(LLVMOpcode opcode, unsigned bits, uint64_t a, uint64_t b, uint64_t *result)
{
    bool is_shift = opcode == LLVMShl || opcode == LLVMLShr || opcode == LLVMAShr;
    bool divides = opcode == LLVMUDiv || opcode == LLVMURem;
    if ((is_shift && b >= bits) || (divides && b == 0))
        return false;
    switch (opcode) {
    case LLVMAdd:
        *result = a + b;
        return true;
    case LLVMSub:
        *result = a - b;
        return true;
    case LLVMMul:
        *result = a * b;
        return true;
    case LLVMAnd:
        *result = a & b;
        return true;
    case LLVMOr:
        *result = a | b;
        return true;
    case LLVMXor:
        *result = a ^ b;
        return true;
    case LLVMShl:
        *result = a << b;
        return true;
    case LLVMLShr:
        *result = a >> b;
        return true;
    case LLVMAShr:
        *result = (uint64_t)(extend(a, bits) >> b);
        return true;
    case LLVMUDiv:
        *result = a / b;
        return true;
    case LLVMURem:
        *result = a % b;
        return true;
    default:
        return false;
    }
}

/* Of sums and products of numbers at random, two are the same everywhere or, but for chance,
 * nowhere, as polynomials are. What others do with them depends on the numbers: `%tid & (n - 1)` is
 * the same for some lanes whatever n is. */
static bool keeps_identity(LLVMOpcode opcode)
{
    return opcode == LLVMAdd || opcode == LLVMSub || opcode == LLVMMul || opcode == LLVMShl;
}

static bool is_zero(const struct tr_lane_values *values)
{
    bool is_zero = values->is_exact;
    for (uint32_t lane = 0; lane < RT_WARP_SIZE; lane++)
        is_zero &= values->of[lane] == 0;
    return is_zero;
}

static bool is_same_in_all(const struct tr_lane_values *values)
{
    for (uint32_t lane = 1; lane < RT_WARP_SIZE; lane++)
        if (values->of[lane] != values->of[0])
            return false;
    return true;
}

/* Whether the product of what lanes have and what a way gives would be 0 in all of them: a way that
 * no kernel takes to where lanes have their places, as one around a loop that makes the factor. */
static bool vanishes(const struct evaluation *e, const struct tr_lane_values *a,
                     const struct tr_lane_values *b)
{
    return e->way != NULL &&
           ((is_zero(a) && !is_same_in_all(b)) || (is_zero(b) && !is_same_in_all(a)));
}

static bool evaluate_binary(const struct evaluation *e, LLVMValueRef inst, unsigned depth,
                            struct tr_lane_values *result)
{
    struct tr_lane_values a, b;
    unsigned bits = bits_of(inst);
    if (!evaluate(e, LLVMGetOperand(inst, 0), depth, &a) ||
        !evaluate(e, LLVMGetOperand(inst, 1), depth, &b))
        return false;
    if (LLVMGetInstructionOpcode(inst) == LLVMMul && vanishes(e, &a, &b))
        return false;
    result->is_exact = (a.is_exact && b.is_exact) ||
                       (LLVMGetInstructionOpcode(inst) == LLVMMul && (is_zero(&a) || is_zero(&b)));
    if (!result->is_exact && !keeps_identity(LLVMGetInstructionOpcode(inst)))
        return false;
    for (uint32_t lane = 0; lane < RT_WARP_SIZE; lane++) {
        if (!combine(LLVMGetInstructionOpcode(inst), bits, a.of[lane], b.of[lane],
                     &result->of[lane]))
            return false;
        result->of[lane] = cut(result->of[lane], bits);
    }
    return true;
}

/* What LLVM makes of remainders by powers of two that may be 0 (`%tid % (2 * i)` in reductions),
 * and of other choices. */
static bool choose(LLVMValueRef call, unsigned bits, uint64_t a, uint64_t b, uint64_t *result)
{
    bool is_less = extend(a, bits) < extend(b, bits);
    if (tr_calls_intrinsic(call, "llvm.usub.sat"))
        *result = a > b ? a - b : 0;
    else if (tr_calls_intrinsic(call, "llvm.umin"))
        *result = a < b ? a : b;
    else if (tr_calls_intrinsic(call, "llvm.umax"))
        *result = a > b ? a : b;
    else if (tr_calls_intrinsic(call, "llvm.smin"))
        *result = is_less ? a : b;
    else if (tr_calls_intrinsic(call, "llvm.smax"))
        *result = is_less ? b : a;
    else
        return false;
    return true;
}

static bool evaluate_choice(const struct evaluation *e, LLVMValueRef call, unsigned depth,
                            struct tr_lane_values *result)
{
    struct tr_lane_values a, b;
    if (LLVMGetNumArgOperands(call) != 2 || bits_of(LLVMGetOperand(call, 0)) != bits_of(call) ||
        !evaluate(e, LLVMGetOperand(call, 0), depth, &a) || !a.is_exact ||
        !evaluate(e, LLVMGetOperand(call, 1), depth, &b) || !b.is_exact)
        return false;
    result->is_exact = true;
    for (uint32_t lane = 0; lane < RT_WARP_SIZE; lane++)
        if (!choose(call, bits_of(call), a.of[lane], b.of[lane], &result->of[lane]))
            return false;
    return true;
}

static bool evaluate_cast(const struct evaluation *e, LLVMValueRef inst, unsigned depth,
                          struct tr_lane_values *result)
{
    LLVMValueRef from = LLVMGetOperand(inst, 0);
    bool is_signed = LLVMGetInstructionOpcode(inst) == LLVMSExt;
    if (bits_of(from) == 0 || !evaluate(e, from, depth, result))
        return false;
    for (uint32_t lane = 0; lane < RT_WARP_SIZE; lane++) {
        uint64_t number = result->of[lane];
        result->of[lane] =
            cut(is_signed ? (uint64_t)extend(number, bits_of(from)) : number, bits_of(inst));
    }
    return true;
}

/* Indices of bytes or of other scalars, one of them. */
static bool evaluate_gep(const struct evaluation *e, LLVMValueRef gep, unsigned depth,
                         struct tr_lane_values *result)
{
    struct tr_lane_values index;
    LLVMModuleRef module = LLVMGetGlobalParent(e->effects->graph->function);
    uint64_t size =
        LLVMABISizeOfType(LLVMGetModuleDataLayout(module), LLVMGetGEPSourceElementType(gep));
    LLVMValueRef offset = LLVMGetOperand(gep, 1);
    if (LLVMGetNumIndices(gep) != 1 || bits_of(offset) == 0 ||
        !evaluate(e, LLVMGetOperand(gep, 0), depth, result) || !evaluate(e, offset, depth, &index))
        return false;
    result->is_exact = result->is_exact && index.is_exact;
    for (uint32_t lane = 0; lane < RT_WARP_SIZE; lane++)
        result->of[lane] += size * (uint64_t)extend(index.of[lane], bits_of(offset));
    return true;
}

/* Of the loop that begins there; TR_NONE: none does. */
static uint32_t depth_of_turn(const struct tr_effects *effects, uint32_t segment)
{
    uint32_t number = effects->loops->innermost[segment];
    const struct tr_loop *loop = number == TR_NONE ? NULL : &effects->loops->loops[number];
    return loop == NULL || loop->header != segment ? TR_NONE : loop->depth;
}

/* What it has been given at the end of the turn before. */
static bool evaluate_turn(const struct evaluation *e, const struct tr_value *phi, unsigned depth,
                          struct tr_lane_values *result)
{
    bool is_known = false;
    e->way->turn--;
    for (unsigned i = 0; i < LLVMCountIncoming(phi->llvm) && !is_known; i++)
        is_known = phi->incoming[i] >= phi->segment && /* in reverse postorder */
                   evaluate(e, LLVMGetIncomingValue(phi->llvm, i), depth, result);
    e->way->turn++;
    return is_known;
}

/* A loop's counters have grown by what they grow in a turn times the number of turns so far, which
 * is a number at random. Numbers of that kind differ by more than this, but for chance. */
#define GROWTH_MAX 65536

static bool evaluate_growth(const struct evaluation *e, const struct tr_value *phi, unsigned depth,
                            int64_t *growth)
{
    struct tr_lane_values next;
    struct evaluation in_turn = *e;
    unsigned bits = bits_of(phi->llvm), turns = 0;
    uint32_t number = tr_graph_number(e->effects->graph, phi->llvm);
    in_turn.growing = (struct growing){phi->llvm, cut(scramble(~(uint64_t)number), bits)};
    for (unsigned i = 0; i < LLVMCountIncoming(phi->llvm); i++) {
        if (phi->incoming[i] < phi->segment) /* in reverse postorder */
            continue;
        if (turns++ != 0 || !evaluate(&in_turn, LLVMGetIncomingValue(phi->llvm, i), depth, &next))
            return false;
        *growth = extend(cut(next.of[0] - in_turn.growing.number, bits), bits);
        for (uint32_t lane = 1; lane < RT_WARP_SIZE; lane++)
            if (next.of[lane] != next.of[0])
                return false;
    }
    return turns == 1 && *growth > -GROWTH_MAX && *growth < GROWTH_MAX;
}

static bool evaluate_counter(const struct evaluation *e, const struct tr_value *phi, unsigned depth,
                             struct tr_lane_values *result)
{
    int64_t growth;
    unsigned first = 0, bits = bits_of(phi->llvm);
    if (phi->llvm == e->growing.phi) {
        fill(result, e->growing.number, false);
        return true;
    }
    while (first < LLVMCountIncoming(phi->llvm) && phi->incoming[first] >= phi->segment)
        first++;
    if (LLVMCountIncoming(phi->llvm) != 2 || first == 2 ||
        depth_of_turn(e->effects, phi->segment) == TR_NONE ||
        !evaluate_growth(e, phi, depth, &growth) ||
        !evaluate(e, LLVMGetIncomingValue(phi->llvm, first), depth, result))
        return false;
    uint64_t turns = scramble(UINT64_MAX / 2 + phi->segment);
    result->is_exact = result->is_exact && growth == 0;
    for (uint32_t lane = 0; lane < RT_WARP_SIZE; lane++)
        result->of[lane] = cut(result->of[lane] + turns * (uint64_t)growth, bits);
    return true;
}

/* What it is on the first way that gives something known, and which is none of a loop's. */
static bool evaluate_phi(const struct evaluation *e, LLVMValueRef phi, unsigned depth,
                         struct tr_lane_values *result)
{
    uint32_t number = tr_graph_number(e->effects->graph, phi);
    if (e->by_turns && number != TR_NONE)
        return evaluate_counter(e, &e->effects->graph->values[number], depth, result);
    if (e->way == NULL || number == TR_NONE || ++e->way->merges > MERGES_MAX)
        return false;
    const struct tr_value *value = &e->effects->graph->values[number];
    uint32_t turn_depth = depth_of_turn(e->effects, value->segment);
    if (turn_depth < e->way->turn_depth)
        e->way->turn_depth = turn_depth;
    if (turn_depth != TR_NONE && e->way->turn > 0)
        return evaluate_turn(e, value, depth, result);
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
        if (value->incoming[i] < value->segment &&
            evaluate(e, LLVMGetIncomingValue(phi, i), depth, result))
            return true;
    return false;
}

static bool evaluate_instruction(const struct evaluation *e, LLVMValueRef inst, unsigned depth,
                                 struct tr_lane_values *result)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMCall:
        return evaluate_sreg(e, inst, result) || evaluate_choice(e, inst, depth, result);
    case LLVMGetElementPtr:
        return evaluate_gep(e, inst, depth, result);
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMPtrToInt:
    case LLVMIntToPtr:
        return evaluate_cast(e, inst, depth, result);
    case LLVMPHI:
        return evaluate_phi(e, inst, depth, result);
    case LLVMFreeze:
        return evaluate(e, LLVMGetOperand(inst, 0), depth, result);
    default:
        return LLVMIsABinaryOperator(inst) != NULL && evaluate_binary(e, inst, depth, result);
    }
}

/* By its operands, if that is possible: so that what two sums have in common is the same. */
static bool evaluate(const struct evaluation *e, LLVMValueRef value, unsigned depth,
                     struct tr_lane_values *result)
{
    if (LLVMIsAConstantInt(value) != NULL && bits_of(value) != 0) {
        fill(result, LLVMConstIntGetZExtValue(value), true);
        return true;
    }
    bool is_followed =
        depth < DEPTH_MAX && LLVMIsAInstruction(value) != NULL && bits_of(value) != 0;
    return (is_followed && evaluate_instruction(e, value, depth + 1, result)) ||
           (e->told == NULL ? is_common(e, value, result) : is_of_group(e, value, result));
}

bool tr_evaluate_lanes(const struct tr_effects *effects, const struct tr_lane_ids *ids,
                       LLVMValueRef value, struct tr_lane_values *result)
{
    struct evaluation e = {.effects = effects, .ids = ids};
    return evaluate(&e, value, 0, result);
}

bool tr_evaluate_group(const struct tr_effects *effects, const struct tr_lane_ids *ids,
                       const struct tr_set *told, LLVMValueRef value, struct tr_lane_values *result)
{
    struct evaluation e = {.effects = effects, .ids = ids, .told = told};
    return evaluate(&e, value, 0, result);
}

bool tr_evaluate_way(const struct tr_effects *effects, const struct tr_lane_ids *ids,
                     LLVMValueRef value, uint32_t turn, struct tr_lane_values *result,
                     uint32_t *turn_depth)
{
    struct way way = {0, TR_NONE, turn};
    struct evaluation e = {.effects = effects, .ids = ids, .way = &way};
    bool is_known = evaluate(&e, value, 0, result);
    *turn_depth = way.turn_depth;
    return is_known;
}

bool tr_evaluate_in_turn(const struct tr_effects *effects, const struct tr_lane_ids *ids,
                         LLVMValueRef value, struct tr_lane_values *result)
{
    struct evaluation e = {.effects = effects, .ids = ids, .by_turns = true};
    return evaluate(&e, value, 0, result);
}
