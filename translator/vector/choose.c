/* SPDX-License-Identifier: Apache-2.0
 *
 * How wide a nest becomes, how many copies run side by side, and whether vectors are likely to be
 * faster than LLVM's scalar code at all: an estimate from the shapes in the iteration and the
 * target's figures (module/figures.def).
 */
#include <stdlib.h>

#include "translator/module/budget.h"
#include "translator/module/marks.h"
#include "translator/vector/control.h"
#include "translator/vector/plan/groups.h"
#include "translator/vector/version.h"

/* Loads outside of loops count as an unrolled loop if rows, and threads of a row, share so many. */
#define UNROLLED_LOADS 8

/* More instructions of an iteration, times copies, take too long to compile … */
#define LENGTH_MAX 3000

/* … or, if it has no loops, are more than a processor looks ahead anyway: copies would gain
 * nothing, and the code generator would have to keep the values of all. */
#define STRAIGHT_MAX 1500

/* The same of the processor's instructions, which what is done lane by lane has many of. */
#define EFFORT_MAX 5000

/* What follows is about programs, not about machines: how often loops run, how lanes part, how much
 * an estimate may be wrong. */

/* Iterations that a loop is taken to make if nobody knows. */
#define LOOP_ITERATIONS 16.0
#define MAX_WEIGHT      4096.0

/* Loops take so much longer if each lane leaves them on its own. */
#define DIVERGENT_LOOP 1.5

/* Gathers by few lanes, selected by data, each from memory of its own: scalar code skips the other
 * lanes, and finds neighbours of the last element in its cache. */
#define SPARSE 1.5

/* Of a single thread whose turns are far apart: each takes a line of its own, which is often gone
 * when the next thread comes for its part, as distances are mostly powers of two. */
#define FAR_ACCESS 16.0

/* At most this part of the time of single threads: the estimate is no better than that. */
#define WORTHWHILE 0.85

/* Nests with loops of their own, in which vectors take at most this part of the time, are charged
 * less than their effort, by that factor: what they gain is gained in every turn. */
#define GAINS_MUCH 0.25
#define DISCOUNT   4

/* Above this share of the time, what takes an access for each lane is as fast one copy at a time …
 */
#define BY_LANE_MOST 0.75

/* … and above this one if only some threads of a block go on: with more copies all of them do it as
 * soon as one lane does. */
#define BY_LANE_OF_SOME_MOST 0.5

/* Copies that share nothing: they halve twice what a loop's counter and branch cost; the next half
 * is little. */
#define COPIES 4

/* Copies that share loads, and what may be live of all copies. With 16 registers, too: what is
 * spilled stays in the first cache, what is loaded again may not (docs/measurements.md). */
#define SHARED 16
#define LIVE   24

/* Functions of more instructions have one version of everything, with masks: two take twice the
 * time to compile, and what the one without masks gains is lost where so much code does not fit
 * caches. */
#define LONG_FUNCTION 2000

/* Loops of fewer instructions take longer with masks in every turn. */
#define SHORT_LOOP 100

/* Copies of words in a loop whose turns are far from each other: as many registers of one array; of
 * all arrays; and instructions of all copies, of which a processor that does much else looks ahead
 * less. */
#define TURN_COPIES   16
#define TURN_ACCESSES 96
#define TURN_LENGTH   400

static LLVMTypeRef type_of(const struct tr_iteration *iteration, uint32_t value)
{
    return LLVMTypeOf(iteration->graph.values[value].llvm);
}

/* ---- one instruction ---- */

/* What is left of an index for single threads, about. */
#define FOLDED 0.25

/* A call that tells checks of races what a thread does, or what all lanes do. */
#define RACE_CALL 100

static bool is_access(const struct tr_value *value)
{
    return value->opcode == LLVMLoad || value->opcode == LLVMStore;
}

/* Instructions of a multiplication by the inverse, with corrections. */
#define INVERSE 4

/* Of a quotient by a number of all lanes, whose inverse is made once: as much of a quotient. */
#define BY_ONE_NUMBER 0.25

static double scalar_cost(const struct tr_figures *figures, const struct tr_value *value)
{
    switch (tr_arithmetic_of(value->llvm)) {
    case TR_ARITHMETIC_NONE:
        return 0;
    case TR_ARITHMETIC_ADDRESS:
        return 0.5;
    case TR_ARITHMETIC_DIVIDE:
        return figures->divide;
    case TR_ARITHMETIC_INTEGER_DIVIDE:
        return figures->integer_divide;
    case TR_ARITHMETIC_INVERSE:
        return INVERSE;
    case TR_ARITHMETIC_FUSED: /* without an instruction it is the same for a vector */
        return figures->fused / figures->vector;
    case TR_ARITHMETIC_SIMPLE:
    case TR_ARITHMETIC_CONVERT:
    case TR_ARITHMETIC_CONVERT_UNSIGNED:
        return 1;
    }
    return 1;
}

/* Of one thread. Indices that grow evenly from thread to thread are mostly folded into addresses:
 * one register serves all that are at a distance from each other. What a row has in common is
 * mostly computed before it. */
static double scalar_cost_of(const struct tr_iteration *iteration, uint32_t number)
{
    const struct tr_value *value = &iteration->graph.values[number];
    bool is_folded = iteration->shapes.values[number].kind == TR_AFFINE && !is_access(value);
    if (tr_memory_is_race_check(iteration, value->llvm))
        return RACE_CALL;
    return scalar_cost(&iteration->target->figures, value) * (is_folded ? FOLDED : 1);
}

/* Of a whole register. */
static double figure_of(const struct tr_figures *figures, const struct tr_value *value)
{
    switch (tr_arithmetic_of(value->llvm)) {
    case TR_ARITHMETIC_NONE:
        return 0;
    case TR_ARITHMETIC_ADDRESS:
        return figures->vector / 2;
    case TR_ARITHMETIC_DIVIDE:
        return figures->vector_divide;
    case TR_ARITHMETIC_INTEGER_DIVIDE:
        return figures->vector_integer_divide;
    case TR_ARITHMETIC_INVERSE:
        return INVERSE * figures->vector;
    case TR_ARITHMETIC_CONVERT:
        return figures->convert;
    case TR_ARITHMETIC_CONVERT_UNSIGNED:
        return figures->convert_unsigned;
    case TR_ARITHMETIC_FUSED:
        return figures->fused;
    case TR_ARITHMETIC_SIMPLE:
        return figures->vector;
    }
    return figures->vector;
}

static bool is_effect(uint32_t opcode)
{
    return opcode == LLVMAtomicRMW || opcode == LLVMAtomicCmpXchg || opcode == LLVMFence;
}

static bool is_in_divergent_loop(const struct tr_iteration *iteration, uint32_t segment)
{
    uint32_t loop = iteration->loops.innermost[segment];
    return loop != TR_NONE && tr_is_left_apart(iteration, loop);
}

/* Whether some lanes do not come to the segment's loop. */
static bool is_loop_for_some(const struct tr_iteration *iteration, uint32_t segment)
{
    uint32_t loop = iteration->loops.innermost[segment];
    return tr_is_for_some(iteration, iteration->loops.loops[loop].header);
}

/* Cost of the instruction for one vector. */
static double vector_cost(const struct tr_iteration *iteration, uint32_t width, uint32_t number,
                          struct tr_estimate *estimate, bool *is_gather)
{
    const struct tr_target *target = iteration->target;
    const struct tr_value *value = &iteration->graph.values[number];
    if (is_access(value) && tr_has_vector_form(iteration, number)) {
        double cost = tr_access_cost(iteration, width, number, is_gather);
        bool is_alone = *is_gather && is_in_divergent_loop(iteration, value->segment);
        estimate->gathers_alone |= is_alone;
        estimate->gathers_sparsely |= is_alone && is_loop_for_some(iteration, value->segment);
        return cost;
    }
    if (tr_memory_is_race_check(iteration, value->llvm))
        return RACE_CALL;
    bool is_control = value->opcode == LLVMPHI || LLVMIsATerminatorInst(value->llvm) != NULL;
    if (is_effect(value->opcode) || (!is_control && !tr_has_vector_form(iteration, number)))
        return tr_by_lane(target, width, target->figures.serial);
    if (iteration->shapes.values[number].kind != TR_VARYING || is_control)
        return scalar_cost(&target->figures, value) / 2; /* shared with other copies, or folded into
                                                            an address */
    bool is_by_one = tr_arithmetic_of(value->llvm) == TR_ARITHMETIC_INTEGER_DIVIDE &&
                     tr_is_same_in_row(iteration, LLVMGetOperand(value->llvm, 1));
    double figure = figure_of(&target->figures, value) * (is_by_one ? BY_ONE_NUMBER : 1);
    return tr_of_vector(target, width, figure);
}

/* How often the segment runs, about. */
static double weight_of(const struct tr_iteration *iteration, uint32_t segment, bool is_vector)
{
    if (iteration->is_lost[segment])
        return 0; /* who comes there ends the launch */
    double weight = 1;
    for (uint32_t l = iteration->loops.innermost[segment]; l != TR_NONE;
         l = iteration->loops.loops[l].parent) {
        weight *= iteration->turns[l] != 0 ? iteration->turns[l] : LOOP_ITERATIONS;
        weight *= is_vector && tr_is_left_apart(iteration, l) ? DIVERGENT_LOOP : 1;
    }
    return weight < MAX_WEIGHT ? weight : MAX_WEIGHT;
}

/* How often an instruction of the segment runs for each time that its iteration does, about. */
static double times_of(const struct tr_iteration *iteration, const struct tr_value *value,
                       bool is_vector)
{
    double weight = weight_of(iteration, value->segment, is_vector);
    return tr_is_marked(value->llvm, TR_MARK_LAST) ? weight / LOOP_ITERATIONS : weight;
}

/* ---- the iteration ---- */

static unsigned bits_of(LLVMTypeRef type)
{
    switch (LLVMGetTypeKind(type)) {
    case LLVMDoubleTypeKind:
        return 64;
    case LLVMIntegerTypeKind:
        return LLVMGetIntTypeWidth(type);
    case LLVMVectorTypeKind:
        return LLVMGetVectorSize(type) * bits_of(LLVMGetElementType(type));
    default:
        return 32;
    }
}

/* Instructions for each lane of what is done lane by lane: elements are taken out of vectors and
 * put back, and what some lanes do not do has a branch around it. */
#define LANE_DIVISION 3
#define LANE_ACCESS   4
#define LANE_CALL     5

/* How many instructions of the processor the code generator gets of it, about. */
static uint32_t effort_of(const struct tr_iteration *iteration, uint32_t width, uint32_t number)
{
    const struct tr_value *value = &iteration->graph.values[number];
    bool is_control = value->opcode == LLVMPHI || LLVMIsATerminatorInst(value->llvm) != NULL;
    if (is_effect(value->opcode) || (!is_control && !tr_has_vector_form(iteration, number)))
        return LANE_CALL * width;
    if (is_access(value) && tr_access_is_serial(iteration, number))
        return LANE_ACCESS * width;
    if (iteration->shapes.values[number].kind != TR_VARYING)
        return 1;
    if (tr_is_integer_division(value->llvm))
        return LANE_DIVISION * width;
    unsigned bits = width * bits_of(type_of(iteration, number));
    unsigned most = iteration->target->vector_bits;
    return bits > most ? (bits + most - 1) / most : 1;
}

static void look_at_load(const struct tr_iteration *iteration, uint32_t number,
                         struct tr_estimate *estimate)
{
    const struct tr_value *value = &iteration->graph.values[number];
    bool is_in_loop = iteration->loops.innermost[value->segment] != TR_NONE;
    if (value->opcode != LLVMLoad || iteration->y == TR_NONE)
        return;
    struct tr_shape shape = iteration->shapes.values[number];
    bool depends_on_row = iteration->depends_on_row[number];
    bool is_of_rows = shape.kind == TR_VARYING && !depends_on_row;
    bool is_of_row = shape.kind == TR_AFFINE && shape.stride == 0 && depends_on_row;
    estimate->shares_rows |= is_in_loop && is_of_rows;
    estimate->shares_row |= is_in_loop && is_of_row;
    estimate->flat_rows += !is_in_loop && is_of_rows;
    estimate->flat_row += !is_in_loop && is_of_row;
    if (is_of_rows)
        estimate->is_wide |= bits_of(type_of(iteration, number)) > 32;
}

/* How many vectors of 32 bits the value takes. What is longer than a register of one thread is
 * accessed thread by thread, all of it at once. */
static double parts_of(const struct tr_iteration *iteration, uint32_t number)
{
    unsigned bits = bits_of(type_of(iteration, number));
    bool is_load = iteration->graph.values[number].opcode == LLVMLoad;
    if (iteration->shapes.values[number].kind != TR_VARYING || bits <= 32 || (is_load && bits > 64))
        return 1;
    return bits / 32.0;
}

static void look_at_value(const struct tr_iteration *iteration, uint32_t width, uint32_t number,
                          struct tr_estimate *estimate)
{
    const struct tr_value *value = &iteration->graph.values[number];
    double parts = parts_of(iteration, number);
    bool is_gather = false;
    double cost = parts * vector_cost(iteration, width, number, estimate, &is_gather) *
                  times_of(iteration, value, true);
    estimate->vector += cost;
    bool is_by_lane = is_gather || (is_access(value) && tr_access_is_serial(iteration, number));
    estimate->by_lane += is_by_lane ? cost : 0;
    estimate->scalar +=
        scalar_cost_of(iteration, number) * width * times_of(iteration, value, false);
    estimate->length++;
    estimate->effort += effort_of(iteration, width, number);
    look_at_load(iteration, number, estimate);
}

static uint32_t registers_of(const struct tr_iteration *iteration, uint32_t value)
{
    if (iteration->shapes.values[value].kind != TR_VARYING ||
        bits_of(type_of(iteration, value)) == 1)
        return 0;
    return bits_of(type_of(iteration, value)) > 32 ? 2 : 1;
}

static enum pxr_status count_live(struct tr_iteration *iteration, struct tr_estimate *estimate,
                                  struct pxr_error *err)
{
    struct tr_liveness liveness;
    enum pxr_status status = tr_liveness_build(&iteration->graph, &liveness, err);
    for (uint32_t s = 0; status == PXR_OK && s < iteration->graph.segment_count; s++) {
        uint32_t live = 0;
        uint32_t first = iteration->graph.segments[s].first_value;
        for (uint32_t v = first; v < first + tr_control_phi_count(iteration, s); v++)
            live += registers_of(iteration, v);
        const struct tr_set *in = &liveness.live_in[s];
        for (uint32_t v = tr_set_next(in, 0); v != TR_NONE; v = tr_set_next(in, v + 1))
            live += registers_of(iteration, v);
        estimate->live = live > estimate->live ? live : estimate->live;
    }
    return status;
}

static double scalar_cost_of_far_turns(const struct tr_iteration *iteration, uint32_t width)
{
    double cost = 0;
    for (uint32_t v = 0; v < iteration->graph.value_count; v++)
        if (iteration->graph.values[v].segment != TR_NONE && tr_turns_are_far(iteration, v))
            cost += FAR_ACCESS * width * times_of(iteration, &iteration->graph.values[v], false);
    return cost;
}

static bool is_worthwhile(const struct tr_estimate *estimate)
{
    return estimate->vector <= WORTHWHILE * estimate->scalar;
}

static enum pxr_status make_estimate(struct tr_iteration *iteration, uint32_t width,
                                     struct tr_estimate *estimate, struct pxr_error *err)
{
    *estimate = (struct tr_estimate){0};
    for (uint32_t v = 0; v < iteration->graph.value_count; v++)
        if (iteration->graph.values[v].segment != TR_NONE)
            look_at_value(iteration, width, v, estimate);
    estimate->far = tr_find_far_turns(iteration);
    estimate->is_straight = iteration->loops.count == 0;
    if (estimate->gathers_sparsely)
        estimate->vector *= SPARSE;
    if (estimate->far.bytes != 0 && !is_worthwhile(estimate))
        estimate->scalar += scalar_cost_of_far_turns(iteration, width);
    return count_live(iteration, estimate, err);
}

/* ---- numbers ---- */

/* The constant's value; 0: it is not known. */
static uint32_t constant(LLVMValueRef count)
{
    return LLVMIsAConstantInt(count) == NULL ? 0 : (uint32_t)LLVMConstIntGetZExtValue(count);
}

/* length: the threads of a row that have work; 0: not known. */
static uint32_t choose_width(uint32_t length, const struct tr_vector_options *options)
{
    uint32_t width = options->width != 0 ? options->width : options->target->vector_bits / 32;
    if (length == 0)
        return width;
    while (width > 2 && width / 2 >= length)
        width /= 2; /* the row fills less than half of it */
    while (options->width == 0 && width > 8 && length % width != 0 && length % (width / 2) == 0)
        width /= 2;
    return width;
}

/* The largest power of two that is at most `most` and, if the count is known, divides it. */
static uint32_t fit(uint32_t count, uint32_t most)
{
    uint32_t jam = 1;
    while (jam * 2 <= most && (count == 0 || count % (jam * 2) == 0))
        jam *= 2;
    return jam;
}

/* There is a vector for what is left over, too. */
static uint32_t effort_of_copies(const struct tr_estimate *estimate, uint32_t copies)
{
    return estimate->effort * (1 + copies);
}

static bool is_unrolled(const struct tr_estimate *estimate)
{
    return estimate->flat_rows >= UNROLLED_LOADS && estimate->flat_row >= UNROLLED_LOADS;
}

static bool would_be_long(const struct tr_estimate *estimate,
                          const struct tr_vector_options *options, uint32_t copies)
{
    uint32_t most = estimate->is_straight && !is_unrolled(estimate) ? STRAIGHT_MAX : LENGTH_MAX;
    return copies * estimate->length > most || effort_of_copies(estimate, copies) > EFFORT_MAX ||
           (options->copies_max != 0 && copies > options->copies_max);
}

/* Copies whose sums keep the multipliers busy: as many are begun before the first is done. */
static uint32_t sums_under_way(const struct tr_target *target)
{
    uint32_t sums = COPIES;
    while (2 * sums <= target->figures.chain / target->figures.fused)
        sums *= 2;
    return sums;
}

/* Where each turn of a loop is far from the last, registers full of neighbours are accessed in one:
 * the longer the piece of memory, the more machines look ahead. */
static uint32_t copies_of_turns(const struct tr_estimate *estimate, uint32_t least)
{
    uint32_t copies = TURN_COPIES;
    while (copies > least && (copies * estimate->far.bytes > TURN_COPIES * 4 ||
                              copies * estimate->far.accesses > TURN_ACCESSES ||
                              copies * estimate->far.length > TURN_LENGTH))
        copies /= 2;
    return copies;
}

static bool goes_by_lane(const struct tr_estimate *estimate)
{
    double most = estimate->is_for_some ? BY_LANE_OF_SOME_MOST : BY_LANE_MOST;
    return estimate->by_lane > most * estimate->vector;
}

/* Lanes that ask together whether they are of one group. The more there are, the more often they
 * are not. */
#define LANES_OF_SHORT_ROWS 16
#define LANES_OF_LONG_ROWS  32

static uint32_t copies_of_groups(enum tr_groups_of groups, uint32_t width)
{
    uint32_t lanes = groups == TR_GROUPS_OF_SHORT_ROWS ? LANES_OF_SHORT_ROWS : LANES_OF_LONG_ROWS;
    return width < lanes ? lanes / width : 1;
}

static uint32_t choose_copies(const struct tr_estimate *estimate, uint32_t width,
                              const struct tr_vector_options *options)
{
    if (options->jam != 0)
        return options->jam < TR_MAX_COPIES ? options->jam : TR_MAX_COPIES;
    bool is_shared = estimate->shares_rows || estimate->shares_row;
    uint32_t copies = is_shared ? SHARED : COPIES;
    if (!is_shared && is_unrolled(estimate))
        copies = sums_under_way(options->target) / (estimate->is_wide ? 2 : 1);
    if (!is_shared && estimate->far.bytes != 0)
        copies = copies_of_turns(estimate, copies);
    if (estimate->groups != TR_GROUPS_NONE)
        copies = copies_of_groups(estimate->groups, width);
    if (estimate->gathers_alone)
        copies = 1; /* each copy's lanes would wait for the others' */
    if (!is_shared && goes_by_lane(estimate))
        copies = 1; /* nothing else takes time, and with more copies it happens less often that all
                       are whole */
    while (copies > 1 && copies * estimate->live > LIVE)
        copies /= 2;
    while (copies > 1 && would_be_long(estimate, options, copies))
        copies /= 2;
    return copies;
}

/* Along rows of several blocks nothing is gained by more: the loop goes on for long, and nothing
 * waits for its last iteration. Where the grid has borders on both sides, the fewer threads are
 * side by side, the fewer need masks. */
#define COPIES_OF_BLOCKS 2

static uint32_t limit_copies(const struct tr_iteration *iteration,
                             const struct tr_vector_options *options, uint32_t copies)
{
    uint32_t most = iteration->has_border ? 1 : COPIES_OF_BLOCKS;
    bool is_limited = iteration->is_of_blocks && options->jam == 0 && copies > most;
    return is_limited ? most : copies;
}

/* Vectors of 32-bit elements in a line of the caches. */
static uint32_t vectors_of_line(const struct tr_target *target, uint32_t width)
{
    uint32_t elements = target->ahead.line_bytes / 4;
    return elements > width ? elements / width : 1;
}

/* The copies along a row where both rows and their vectors share what they load: about as many
 * registers of a row as rows, for then the fewest loads serve the most copies. */
static uint32_t side_of_square(const struct tr_estimate *estimate, uint32_t copies, uint32_t rows)
{
    uint32_t registers = estimate->is_wide ? 2 : 1;
    uint32_t along = 1;
    while (4 * along * along * registers <= copies)
        along *= 2;
    uint32_t rows_side_by_side = fit(rows, copies / along);
    return copies / rows_side_by_side;
}

/* rows: 0 if their number is not known, 1 if none are side by side. line: vectors of a line. */
static void choose_jam(uint32_t length, uint32_t rows, uint32_t copies, uint32_t line,
                       const struct tr_estimate *estimate, struct tr_shape_of_nest *shape)
{
    uint32_t vectors = length / shape->width;
    if (length == 0) { /* the number left over is unknown */
        shape->jam[0] = rows == 1 ? copies : 1;
        shape->jam[1] = rows == 1 ? 1 : fit(0, copies < COPIES ? copies : COPIES);
        return;
    }
    uint32_t along = copies;
    if (estimate->shares_rows && !estimate->shares_row)
        along = 1;
    else if (estimate->shares_rows && rows > 1)
        along = side_of_square(estimate, copies, rows);
    /* Guards hold threads back at borders of the grid: narrower rectangles cross a border less
     * often. But those of part of a line would ask for each line several times, and write it in
     * parts. */
    else if (estimate->is_guarded && rows > 1 && !estimate->shares_row && along > line)
        along = line;
    shape->jam[0] = vectors == 0 ? 1 : fit(vectors, along);
    shape->jam[1] = rows <= 1 ? 1 : fit(rows, copies / shape->jam[0]);
}

/* ---- for --explain ---- */

static const char *why_width(const struct tr_vector_options *options, uint32_t width)
{
    if (width == options->width)
        return "asked for";
    return width == options->target->vector_bits / 32 ? "what a vector register holds"
                                                      : "what fits the rows";
}

static const char *why_jam(const struct tr_iteration *iteration,
                           const struct tr_vector_options *options,
                           const struct tr_shape_of_nest *shape)
{
    const struct tr_estimate *estimate = &shape->estimate;
    uint32_t copies = shape->jam[0] * shape->jam[1];
    if (copies == options->jam)
        return "asked for";
    if (copies == 1 && goes_by_lane(estimate))
        return "accesses lane by lane are no faster side by side";
    if (2 * copies * estimate->live > LIVE)
        return "more would not fit into registers";
    if (would_be_long(estimate, options, 2 * copies))
        return "more would take too long to compile";
    if (copies < COPIES && limit_copies(iteration, options, COPIES) == COPIES)
        return "more would not fit the block";
    if (copies <= COPIES)
        return "more would gain little";
    bool is_shared = estimate->shares_rows || estimate->shares_row || is_unrolled(estimate);
    return is_shared ? "they share what they load" : "turns of a loop are far apart";
}

/* The threads of a row that have work; 0: not known. Of rows of blocks that run as one it is known
 * what divides them, which counts as one row if it fills a vector. */
static uint32_t length_of(const struct tr_nest *nest, LLVMValueRef working,
                          const struct tr_vector_options *options)
{
    uint32_t words = options->width != 0 ? options->width : options->target->vector_bits / 32;
    uint32_t length = constant(working) != 0 ? constant(working) : constant(nest->x.count);
    if (length != 0 || nest->x.block_row <= 1)
        return length;
    return nest->x.block_row > words ? nest->x.block_row : words;
}

uint32_t tr_choose_width(const struct tr_nest *nest, LLVMValueRef working,
                         const struct tr_vector_options *options)
{
    return choose_width(length_of(nest, working, options), options);
}

static bool has_short_loop(const struct tr_iteration *iteration)
{
    for (uint32_t l = 0; l < iteration->loops.count; l++)
        if (iteration->units[iteration->loops.loops[l].header].cost < SHORT_LOOP)
            return true;
    return false;
}

/* Where masks are registers, so that accesses cost the same with and without them. */
static bool is_concise(const struct tr_versions *versions, const struct tr_vector_options *options,
                       uint32_t copies)
{
    return copies == 1 && options->target->masks_all && options->function_length >= LONG_FUNCTION &&
           versions->expected.common_count == 0 && !has_short_loop(&versions->masked);
}

/* Where only longer rows would gain, there are no groups. */
#define MOST_DIVISOR 256

/* What two groups cost more than one, of which all lanes are: they have masks. */
#define SECOND_GROUP 1.4

/* Lanes by themselves have masks, too, as rows may end anywhere; what that costs where these are no
 * registers. */
#define BLENDED 1.5

/* From which divisor on going group by group costs less than each lane by itself: of so many
 * vectors width - 1 lie in two groups. 0: from none. */
static enum pxr_status find_least_divisor(struct tr_versions *versions,
                                          const struct tr_vector_options *options,
                                          struct tr_shape_of_nest *shape, struct pxr_error *err)
{
    struct tr_estimate apart;
    enum pxr_status status = make_estimate(&versions->masked, shape->width, &apart, err);
    if (status != PXR_OK)
        return status;
    double masked = versions->fast.target->masks_all ? 1 : BLENDED;
    double gain = masked * apart.vector / shape->estimate.vector - 1;
    uint32_t lanes = shape->width * shape->jam[0];
    double most =
        shape->estimate.groups == TR_GROUPS_OF_SHORT_ROWS ? MOST_DIVISOR : TR_LONG_DIVISOR;
    double least = gain > 0 ? SECOND_GROUP * (lanes - 1) / gain : most;
    shape->least_divisor = least < most ? (uint32_t)least : 0;
    if (options->least_divisor != 0)
        shape->least_divisor = options->least_divisor;
    return PXR_OK;
}

/* Whether the budget allows one more nest. */
static bool is_affordable(const struct tr_vector_options *options,
                          const struct tr_estimate *estimate, uint32_t copies)
{
    bool gains_much = !estimate->is_straight && estimate->vector <= GAINS_MUCH * estimate->scalar;
    uint32_t effort = effort_of_copies(estimate, copies) / (gains_much ? DISCOUNT : 1);
    return options->budget == NULL ||
           tr_budget_spend(options->budget, TR_LIMIT_VECTOR_EFFORT, effort);
}

static enum tr_groups_of groups_of(const struct tr_versions *versions)
{
    if (!versions->fast.has_groups)
        return TR_GROUPS_NONE;
    return tr_groups_are_long(&versions->expected) ? TR_GROUPS_OF_LONG_ROWS
                                                   : TR_GROUPS_OF_SHORT_ROWS;
}

enum pxr_status tr_choose(const struct tr_nest *nest, LLVMValueRef working, uint32_t width,
                          struct tr_versions *versions, const struct tr_vector_options *options,
                          struct tr_shape_of_nest *shape, struct pxr_error *err)
{
    const struct tr_iteration *iteration = &versions->fast;
    uint32_t row = constant(nest->x.count);
    uint32_t length = length_of(nest, working, options);
    *shape = (struct tr_shape_of_nest){.width = width};
    struct tr_estimate *estimate = &shape->estimate;
    enum pxr_status status = make_estimate(&versions->fast, shape->width, estimate, err);
    if (status != PXR_OK)
        return status;
    estimate->groups = groups_of(versions);
    estimate->is_guarded = versions->expected.guard_count > 0;
    for (uint32_t i = 0; i < versions->expected.guard_count; i++)
        estimate->is_for_some |= !versions->expected.guards[i].is_of_grid;
    choose_jam(length, iteration->y == TR_NONE ? 1 : constant(nest->y.count),
               limit_copies(iteration, options, choose_copies(estimate, width, options)),
               vectors_of_line(iteration->target, width), estimate, shape);
    if (iteration->has_groups)
        status = find_least_divisor(versions, options, shape, err);
    uint32_t copies = shape->jam[0] * shape->jam[1];
    shape->is_concise = is_concise(versions, options, copies);
    shape->width_reason = why_width(options, shape->width);
    shape->jam_reason = why_jam(iteration, options, shape);
    shape->is_worthwhile = true;
    shape->reason = "";
    if (row != 0 && row < 4)
        shape->reason = "rows of the block have fewer than 4 threads";
    else if (constant(working) == 1)
        shape->reason = "one thread of each row has work";
    else if (!is_worthwhile(estimate))
        shape->reason = "vectors would gain too little";
    else if (!is_affordable(options, estimate, copies))
        shape->reason = "vectors would take too long to compile";
    shape->is_worthwhile = shape->reason[0] == '\0';
    return status;
}
