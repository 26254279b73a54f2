/* SPDX-License-Identifier: Apache-2.0
 *
 * Indices of 32 bits that are expected not to wrap from lane to lane.
 *
 * Programs compute places in 32 bits (`3 * i + 1`) and extend them to the bits of an address.
 * Where nothing is known of the launch the index could wrap between two lanes, and nothing behind
 * the extension grows evenly any more: fields of a structure would be gathers, pointers that walk
 * through memory would be vectors. It happens at the largest numbers only, so the fast version asks
 * once for all such indices, before anything is done that must not be done twice, and has none
 * then. The masked version does what is left.
 */
#include "translator/analysis/shape.h"
#include "translator/vector/plan/climbs.h"

/* With larger strides a row of lanes could go around in 32 bits. */
#define MAX_STRIDE (1 << 16)

/* Each costs a comparison. */
#define MAX_STEADY 64

/* How many instructions an index is made of, at most. */
#define MAX_PARTS 24

struct finder {
    const struct tr_iteration *whole;
    const struct tr_iteration *fast;
    const struct tr_expectations *expected;
    struct tr_set deciding; /* values of the fast iteration that lead to an address or a branch */
    uint32_t parts;
    uint32_t ranges;
    uint32_t behind; /* of the whole iteration; TR_NONE: none */
};

bool tr_extends_sign(LLVMValueRef extension)
{
    return LLVMIsASExtInst(extension) != NULL || LLVMGetNNeg(extension);
}

/* ---- what leads to addresses and branches ---- */

static bool passes_on(const struct tr_value *value)
{
    return value->opcode == LLVMPHI ||
           (tr_is_function_of_operands(value) && value->opcode != LLVMLoad);
}

static void add(struct tr_set *set, uint32_t *stack, uint32_t *depth, uint32_t value)
{
    if (value == TR_NONE || tr_set_has(set, value))
        return;
    tr_set_add(set, value);
    stack[(*depth)++] = value;
}

/* False: out of memory. */
static bool find_deciding(struct finder *finder, struct pxr_arena *arena)
{
    const struct tr_graph *graph = &finder->fast->graph;
    uint32_t *stack = pxr_arena_alloc_array(arena, graph->value_count, sizeof *stack);
    uint32_t depth = 0;
    finder->deciding = tr_set_make(arena, graph->value_count);
    if (stack == NULL || finder->deciding.words == NULL)
        return false;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const struct tr_value *value = &graph->values[v];
        if (value->opcode == LLVMBr && value->operand_count > 1)
            add(&finder->deciding, stack, &depth, value->operands[0]);
        else if (value->segment != TR_NONE)
            add(&finder->deciding, stack, &depth, tr_accessed_address(value));
    }
    while (depth > 0) {
        const struct tr_value *value = &graph->values[stack[--depth]];
        if (value->segment == TR_NONE || !passes_on(value))
            continue;
        for (uint32_t i = 0; i < value->operand_count; i++)
            add(&finder->deciding, stack, &depth, value->operands[i]);
    }
    return true;
}

/* ---- what an index is made of ---- */

static bool are_operands_same_in_row(const struct tr_iteration *iteration, LLVMValueRef inst)
{
    for (int i = 0; i < LLVMGetNumOperands(inst); i++)
        if (!tr_is_same_in_row(iteration, LLVMGetOperand(inst, (unsigned)i)))
            return false;
    return true;
}

bool tr_is_made_of_first_lane(const struct tr_iteration *iteration, LLVMValueRef inst)
{
    LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
    switch (opcode) {
    case LLVMAdd:
    case LLVMSub:
    case LLVMMul:
    case LLVMShl:
    case LLVMTrunc:
        return true;
    case LLVMOr:
        if (LLVMGetIsDisjoint(inst))
            return true;
        break;
    default:
        break;
    }
    return tr_is_arithmetic(opcode) && are_operands_same_in_row(iteration, inst);
}

/* Whether the number can be made anew where *behind says, which moves down to what it needs. */
static bool find_parts(struct finder *finder, LLVMValueRef number)
{
    const struct tr_graph *graph = &finder->whole->graph;
    uint32_t value = tr_graph_number(graph, number);
    if (value == TR_NONE || graph->values[value].segment == TR_NONE)
        return true;
    uint32_t behind = finder->behind;
    bool is_made = finder->parts < MAX_PARTS && tr_is_made_of_first_lane(finder->fast, number);
    finder->parts++;
    for (int i = 0; is_made && i < LLVMGetNumOperands(number); i++)
        is_made = find_parts(finder, LLVMGetOperand(number, (unsigned)i));
    if (is_made)
        return true;
    finder->behind = behind == TR_NONE || value > behind ? value : behind;
    return tr_set_has(&finder->expected->repeatable, value);
}

/* ---- of which only the range is known ---- */

/* So many numbers, at most. */
#define MAX_RANGES 16

static bool find_range(struct finder *finder, LLVMValueRef number);

/* The same with as many parts as ever. */
static bool find_whole(struct finder *finder, LLVMValueRef number)
{
    uint32_t behind = finder->behind;
    finder->parts = 0;
    if (find_parts(finder, number))
        return true;
    finder->behind = behind;
    return false;
}

/* What the test of a loop asks for, but for the phi. */
static bool find_tested(struct finder *finder, const struct tr_turns *turns)
{
    LLVMValueRef number = turns->test.tested;
    while (number != turns->climb.phi) {
        unsigned fixed =
            tr_is_fixed_in(finder->fast, turns->climb.loop, LLVMGetOperand(number, 1)) ? 1 : 0;
        if (!find_whole(finder, LLVMGetOperand(number, fixed)))
            return false;
        number = LLVMGetOperand(number, 1 - fixed);
    }
    return find_whole(finder, turns->climb.start) && find_whole(finder, turns->test.limit);
}

static bool find_climb(struct finder *finder, LLVMValueRef phi)
{
    struct tr_climb climb;
    struct tr_turn_test end;
    struct tr_turns turns;
    if (!tr_find_climb(finder->fast, phi, &climb) || !find_range(finder, climb.start))
        return false;
    for (uint32_t i = 0; i < climb.step_count; i++)
        if (!find_range(finder, climb.steps[i]))
            return false;
    if (tr_find_end(finder->fast, &climb, &end))
        return find_range(finder, end.limit);
    return tr_find_turns(finder->fast, climb.loop, &turns) && find_tested(finder, &turns);
}

static bool find_phi(struct finder *finder, uint32_t value, LLVMValueRef phi)
{
    if (tr_is_of_header(finder->fast, value))
        return find_climb(finder, phi);
    for (unsigned i = 0; i < LLVMCountIncoming(phi); i++)
        if (!find_range(finder, LLVMGetIncomingValue(phi, i)))
            return false;
    return true;
}

/* Whether it is known where *behind says how small and how great the number can be. */
static bool find_range(struct finder *finder, LLVMValueRef number)
{
    if (find_whole(finder, number))
        return true;
    uint32_t value = tr_graph_number(&finder->fast->graph, number);
    if (value == TR_NONE || finder->ranges++ == MAX_RANGES)
        return false;
    switch (tr_range_of(number)) {
    case TR_RANGE_SUM:
    case TR_RANGE_DIFFERENCE:
    case TR_RANGE_PRODUCT:
        return find_range(finder, LLVMGetOperand(number, 0)) &&
               find_range(finder, LLVMGetOperand(number, 1));
    case TR_RANGE_MULTIPLE:
    case TR_RANGE_CUT:
    case TR_RANGE_EXTENDED:
        return find_range(finder, LLVMGetOperand(number, 0));
    case TR_RANGE_PHI:
        return find_phi(finder, value, number);
    case TR_RANGE_UNKNOWN:
        break;
    }
    return false;
}

/* ---- the indices ---- */

/* A thread next to a border of the grid's data has no left neighbour, and looks for none: without a
 * sign its place would always wrap. */
static bool is_before_border(LLVMValueRef index)
{
    if (LLVMIsABinaryOperator(index) == NULL || LLVMGetInstructionOpcode(index) != LLVMAdd ||
        LLVMIsAConstantInt(LLVMGetOperand(index, 1)) == NULL)
        return false;
    return LLVMConstIntGetSExtValue(LLVMGetOperand(index, 1)) < 0;
}

static bool is_index(const struct finder *finder, uint32_t number)
{
    const struct tr_iteration *fast = finder->fast;
    const struct tr_value *value = &fast->graph.values[number];
    if ((value->opcode != LLVMSExt && value->opcode != LLVMZExt) || value->operands[0] == TR_NONE ||
        fast->shapes.values[number].kind != TR_VARYING || !tr_set_has(&finder->deciding, number))
        return false;
    LLVMValueRef index = LLVMGetOperand(value->llvm, 0);
    LLVMTypeRef types[2] = {LLVMTypeOf(value->llvm), LLVMTypeOf(index)};
    struct tr_shape shape = fast->shapes.values[value->operands[0]];
    return LLVMGetTypeKind(types[0]) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(types[0]) == 64 && LLVMGetIntTypeWidth(types[1]) == 32 &&
           shape.kind == TR_AFFINE && shape.stride < MAX_STRIDE && shape.stride > -MAX_STRIDE &&
           (tr_extends_sign(value->llvm) || !is_before_border(index));
}

static void add_index(struct finder *finder, uint32_t number, struct tr_expectations *expected)
{
    LLVMValueRef extension = finder->fast->graph.values[number].llvm;
    LLVMValueRef index = LLVMGetOperand(extension, 0);
    finder->ranges = 0;
    finder->behind = TR_NONE;
    bool is_range = !find_whole(finder, index);
    if (is_range && !find_range(finder, index))
        return;
    LLVMValueRef behind =
        finder->behind == TR_NONE ? NULL : finder->whole->graph.values[finder->behind].llvm;
    expected->steady[expected->steady_count++] =
        (struct tr_steady){.extension = extension, .behind = behind, .is_range = is_range};
}

enum pxr_status tr_find_steady(struct tr_iteration *whole, const struct tr_iteration *fast,
                               struct tr_expectations *expected, bool *has_more,
                               struct pxr_error *err)
{
    struct finder finder = {.whole = whole, .fast = fast, .expected = expected};
    uint32_t before = expected->steady_count;
    struct pxr_arena scratch;
    pxr_arena_init(&scratch, 0);
    if (expected->steady == NULL)
        expected->steady =
            pxr_arena_alloc_array(&whole->graph.arena, MAX_STEADY, sizeof *expected->steady);
    bool has_memory = expected->steady != NULL && find_deciding(&finder, &scratch);
    for (uint32_t v = 0; has_memory && v < fast->graph.value_count; v++)
        if (expected->steady_count < MAX_STEADY && is_index(&finder, v))
            add_index(&finder, v, expected);
    *has_more = expected->steady_count > before;
    pxr_arena_fini(&scratch);
    return has_memory ? PXR_OK
                      : pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory looking for indices");
}
