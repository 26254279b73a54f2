/* SPDX-License-Identifier: Apache-2.0
 *
 * How wide a nest becomes, how many copies run side by side, and whether vectors are likely to be
 * faster than LLVM's scalar code at all, by the estimate (estimate.c).
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

/* Copies whose loops wait for themselves, at most. */
#define CHAINS 16

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

/* ---- numbers ---- */

/* The constant's value; 0: it is not known. */
static uint32_t constant(LLVMValueRef count)
{
    return LLVMIsAConstantInt(count) == NULL ? 0 : (uint32_t)LLVMConstIntGetZExtValue(count);
}

/* The lanes of a register, if it is full of the longest of what vectors hold: of 32 bits, or where
 * all numbers are shorter, of 8 or 16. */
static uint32_t lanes_of_register(const struct tr_vector_options *options,
                                  struct tr_element_bits bits)
{
    unsigned longest = bits.longest;
    return options->target->vector_bits / (longest > 16 || longest == 0 ? 32
                                           : longest > 8                ? 16
                                                                        : 8);
}

/* Accesses of fewer bits than the shortest register has are put together from several vectors, with
 * more instructions than if one vector had all their lanes. */
#define ACCESS_BITS 128

static uint32_t lanes_of(const struct tr_vector_options *options, struct tr_element_bits bits)
{
    uint32_t lanes = lanes_of_register(options, bits);
    return bits.shortest_access != 0 && lanes * bits.shortest_access < ACCESS_BITS ? 2 * lanes
                                                                                   : lanes;
}

/* Rows of blocks of which nothing is known have at least so many threads, mostly. */
#define LIKELY_ROW 32

/* length: the threads of a row that have work; 0: not known. */
static uint32_t choose_width(uint32_t length, struct tr_element_bits bits,
                             const struct tr_vector_options *options)
{
    uint32_t width = options->width != 0 ? options->width : lanes_of(options, bits);
    if (length == 0)
        return options->width == 0 && width > LIKELY_ROW ? LIKELY_ROW : width;
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

static uint32_t choose_copies(const struct tr_estimate *estimate, struct tr_width width,
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
    while (!is_shared && 2 * copies <= CHAINS && copies < estimate->waiting)
        copies *= 2;
    if (estimate->groups != TR_GROUPS_NONE)
        copies = copies_of_groups(estimate->groups, width.lanes);
    if (estimate->gathers_alone)
        copies = 1; /* each copy's lanes would wait for the others' */
    if (!is_shared && goes_by_lane(estimate))
        copies = 1; /* nothing else takes time, and with more copies it happens less often that all
                       are whole */
    copies = copies > width.registers ? copies / width.registers : 1;
    while (copies > 1 && copies * width.registers * estimate->live > LIVE)
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
    if (is_shared)
        return "they share what they load";
    return estimate->far.bytes != 0 ? "turns of a loop are far apart"
                                    : "results in a loop wait for each other";
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

struct tr_width tr_choose_width(const struct tr_nest *nest, LLVMValueRef working,
                                struct tr_element_bits bits,
                                const struct tr_vector_options *options)
{
    uint32_t lanes = choose_width(length_of(nest, working, options), bits, options);
    const char *reason = lanes == options->width            ? "asked for"
                         : lanes == lanes_of(options, bits) ? "what a vector register holds"
                                                            : "what fits the rows";
    uint32_t registers = lanes / lanes_of_register(options, bits);
    return (struct tr_width){lanes, registers > 0 ? registers : 1, reason};
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
           versions->expected.common_count == 0 && versions->expected.steady_count == 0 &&
           !has_short_loop(&versions->masked);
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
    enum pxr_status status = tr_make_estimate(&versions->masked, shape->width, &apart, err);
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

enum pxr_status tr_choose(const struct tr_nest *nest, LLVMValueRef working, struct tr_width width,
                          struct tr_versions *versions, const struct tr_vector_options *options,
                          struct tr_shape_of_nest *shape, struct pxr_error *err)
{
    const struct tr_iteration *iteration = &versions->fast;
    uint32_t row = constant(nest->x.count);
    uint32_t length = length_of(nest, working, options);
    *shape = (struct tr_shape_of_nest){.width = width.lanes, .width_reason = width.reason};
    struct tr_estimate *estimate = &shape->estimate;
    enum pxr_status status = tr_make_estimate(&versions->fast, shape->width, estimate, err);
    if (status != PXR_OK)
        return status;
    estimate->groups = groups_of(versions);
    estimate->is_guarded = versions->expected.guard_count > 0;
    for (uint32_t i = 0; i < versions->expected.guard_count; i++)
        estimate->is_for_some |= !versions->expected.guards[i].is_of_grid;
    choose_jam(length, iteration->y == TR_NONE ? 1 : constant(nest->y.count),
               limit_copies(iteration, options, choose_copies(estimate, width, options)),
               vectors_of_line(iteration->target, width.lanes), estimate, shape);
    if (iteration->has_groups)
        status = find_least_divisor(versions, options, shape, err);
    uint32_t copies = shape->jam[0] * shape->jam[1];
    shape->is_concise = is_concise(versions, options, copies);
    shape->jam_reason = why_jam(iteration, options, shape);
    shape->is_worthwhile = true;
    shape->reason = "";
    if (row != 0 && row < 4)
        shape->reason = "rows of the block have fewer than 4 threads";
    else if (constant(working) == 1)
        shape->reason = "one thread of each row has work";
    else if (!tr_is_worthwhile(estimate))
        shape->reason = "vectors would gain too little";
    else if (!is_affordable(options, estimate, copies))
        shape->reason = "vectors would take too long to compile";
    shape->is_worthwhile = shape->reason[0] == '\0';
    return status;
}
