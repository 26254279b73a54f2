/* SPDX-License-Identifier: Apache-2.0
 *
 * What --explain says of a nest: what was chosen and why, and what of the iteration makes it fast
 * or slow, by lines of the source. It speaks of the fast version; in the masked one everything is
 * masked. Its words are explained to users in docs/explain.md.
 */
#include "translator/vector/explain.h"

#include "translator/module/keep_lines.h"
#include "translator/module/marks.h"
#include "translator/vector/control.h"
#include "translator/vector/plan/groups.h"

/* ---- control ---- */

static LLVMValueRef terminator_of(const struct tr_iteration *iteration, uint32_t number)
{
    const struct tr_segment *segment = &iteration->graph.segments[number];
    return iteration->graph.values[segment->first_value + segment->value_count - 1].llvm;
}

/* Whether one of its ways leaves a loop or begins the loop's next iteration. */
static bool is_about_loop(const struct tr_iteration *iteration, uint32_t number)
{
    const struct tr_segment *segment = &iteration->graph.segments[number];
    uint32_t loop = iteration->loops.innermost[number];
    for (uint32_t i = 0; loop != TR_NONE && i < segment->succ_count; i++)
        if (!tr_set_has(&iteration->loops.loops[loop].segments, segment->succs[i]) ||
            iteration->loops.loops[loop].header == segment->succs[i])
            return true;
    return false;
}

enum way { WAY_FLAT, WAY_FAULT, WAY_MASKED, WAY_SPLIT };

static enum way way_to(const struct tr_iteration *iteration, uint32_t to,
                       const struct tr_shape_of_nest *shape)
{
    const struct tr_unit *unit = &iteration->units[to];
    if (unit->kind != TR_UNIT_MASKED || !tr_control_is_branched_around(iteration, to))
        return WAY_FLAT;
    if (unit->is_fault)
        return WAY_FAULT;
    uint32_t copies = shape->jam[0] * shape->jam[1];
    return tr_control_is_split(iteration, to, copies, shape->is_concise) ? WAY_SPLIT : WAY_MASKED;
}

/* Names the branch by the way that costs most. */
static const char *name_branch(const struct tr_iteration *iteration, uint32_t number,
                               const struct tr_shape_of_nest *shape)
{
    static const char *const names[] = {[WAY_FLAT] =
                                            "all threads do both ways, results are selected",
                                        [WAY_FAULT] = "to an error",
                                        [WAY_MASKED] = "masked, skipped where no thread goes",
                                        [WAY_SPLIT] = "masked, without masks where all threads go"};
    const struct tr_segment *segment = &iteration->graph.segments[number];
    enum way most = WAY_FLAT;
    for (uint32_t i = 0; i < segment->succ_count; i++) {
        enum way way = way_to(iteration, segment->succs[i], shape);
        most = way > most ? way : most;
    }
    return names[most];
}

static void add_branches(const struct tr_about *about, const struct tr_shape_of_nest *shape)
{
    const struct tr_iteration *iteration = about->iteration;
    for (uint32_t s = 0; s < iteration->graph.segment_count; s++)
        if (iteration->shapes.is_divergent[s] && iteration->graph.segments[s].succ_count > 1 &&
            !is_about_loop(iteration, s) && !tr_is_group_branch(iteration, s))
            tr_explain_add(about, TR_SAID_BRANCHES, name_branch(iteration, s, shape),
                           terminator_of(iteration, s));
}

static void add_expectations(const struct tr_about *about, const struct tr_expectations *expected)
{
    for (uint32_t i = 0; i < expected->guard_count; i++)
        tr_explain_add(about, TR_SAID_GUARDS, "into the kernel's work", expected->guards[i].branch);
    for (uint32_t i = 0; i < expected->common_count; i++)
        tr_explain_add(about, TR_SAID_COMMON, "how often a loop runs", expected->common[i]);
    for (uint32_t i = 0; i < expected->steady_count; i++)
        tr_explain_add(about, TR_SAID_STEADY, "indices", expected->steady[i].extension);
    const struct tr_graph *graph = &about->iteration->graph;
    for (uint32_t v = 0; v < graph->value_count; v++)
        if (graph->values[v].segment != TR_NONE &&
            tr_is_marked(graph->values[v].llvm, TR_MARK_GROUP_PLACE))
            tr_explain_add(about, TR_SAID_COMMON, "quotients of places, group by group",
                           graph->values[v].llvm);
}

/* ---- ranges of lines ---- */

static void extend(struct tr_range *range, const struct tr_graph *graph, uint32_t number)
{
    const struct tr_segment *segment = &graph->segments[number];
    for (uint32_t v = 0; v < segment->value_count; v++) {
        uint32_t line = LLVMGetDebugLocLine(graph->values[segment->first_value + v].llvm);
        if (line != 0 && (range->first == 0 || line < range->first))
            range->first = line;
        if (line > range->last)
            range->last = line;
    }
}

static struct tr_range range_of(const struct tr_graph *graph, const struct tr_set *segments)
{
    struct tr_range range = {0};
    for (uint32_t s = 0; s < graph->segment_count; s++)
        if (segments == NULL || tr_set_has(segments, s))
            extend(&range, graph, s);
    if (range.first == 0)
        range.first = range.last = tr_line_near(LLVMGetFirstInstruction(graph->segments[0].llvm));
    return range;
}

static void add_uneven_loops(const struct tr_about *about)
{
    const struct tr_iteration *iteration = about->iteration;
    for (uint32_t l = 0; l < iteration->loops.count; l++)
        if (tr_is_left_apart(iteration, l))
            tr_ranges_add(&about->paragraph->uneven_loops,
                          range_of(&iteration->graph, &iteration->loops.loops[l].segments));
}

/* ---- what was chosen ---- */

static uint32_t count_masks(const struct tr_iteration *iteration)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < iteration->graph.segment_count; s++)
        count += iteration->units[s].kind == TR_UNIT_MASKED;
    for (uint32_t l = 0; l < iteration->loops.count; l++)
        count += tr_is_left_apart(iteration, l);
    return count;
}

static struct tr_span span_of(uint32_t number)
{
    return (struct tr_span){.least = number, .most = number};
}

static uint32_t percent_of(double part, double all)
{
    return all > 0 ? (uint32_t)(100 * part / all + 0.5) : 100;
}

static void say_estimate(const struct tr_about *about, const struct tr_estimate *estimate)
{
    struct tr_paragraph *paragraph = about->paragraph;
    paragraph->has_estimate = true;
    paragraph->percent = span_of(percent_of(estimate->vector, estimate->scalar));
    paragraph->instructions = span_of(estimate->length);
    paragraph->registers = span_of(estimate->live);
    paragraph->masks = span_of(count_masks(about->iteration));
}

/* "2 side by side in each of 4 rows": `along` vectors of a row, and rows. */
static void name_vectors(const struct tr_shape_of_nest *shape, char *name, size_t size)
{
    uint32_t along = shape->jam[0];
    uint32_t rows = shape->jam[1];
    int len = snprintf(name, size, "over vectors of %u threads", shape->width);
    char *rest = name + len;
    size_t room = size - (size_t)len;
    if (along > 1 && rows > 1)
        snprintf(rest, room, ", %u side by side in each of %u rows", along, rows);
    else if (rows > 1)
        snprintf(rest, room, ", %u rows side by side", rows);
    else if (along > 1)
        snprintf(rest, room, ", %u side by side", along);
}

static void say_choice(struct tr_paragraph *paragraph, const struct tr_shape_of_nest *shape,
                       bool is_widened)
{
    if (!is_widened) {
        snprintf(paragraph->choice, sizeof paragraph->choice, "over single threads, because %s",
                 shape->reason);
        return;
    }
    name_vectors(shape, paragraph->choice, sizeof paragraph->choice);
    struct tr_line_list *reasons = &paragraph->lists[TR_SAID_REASONS];
    char reason[sizeof reasons->groups->name];
    snprintf(reason, sizeof reason, "%u threads: %s", shape->width, shape->width_reason);
    tr_list_add(reasons, reason, 0);
    snprintf(reason, sizeof reason, "%u side by side: %s", shape->jam[0] * shape->jam[1],
             shape->jam_reason);
    tr_list_add(reasons, reason, 0);
    snprintf(reason, sizeof reason, "asked for, but %s", shape->reason);
    if (shape->reason[0] != '\0')
        tr_list_add(reasons, reason, 0);
}

/* ---- the sums ---- */

static void sum_up_vectors(struct tr_explanation *explanation, const struct tr_about *about,
                           const struct tr_estimate *estimate)
{
    struct tr_vector_report *report = explanation->report;
    explanation->vector += estimate->vector;
    explanation->scalar += estimate->scalar;
    report->percent = percent_of(explanation->vector, explanation->scalar);
    report->has_accesses |= about->has_accesses;
    report->has_far |= about->has_far;
}

static void sum_up_scalar(struct tr_explanation *explanation, uint32_t length, const char *reason,
                          uint32_t line)
{
    struct tr_vector_report *report = explanation->report;
    if (length <= explanation->longest && report->reason[0] != '\0')
        return;
    explanation->longest = length;
    snprintf(report->reason, sizeof report->reason, "%s (line %u)", reason, line);
}

static enum pxr_status add_paragraph(struct tr_explanation *explanation,
                                     const struct tr_paragraph *paragraph, struct pxr_error *err)
{
    if (!tr_paragraphs_add(&explanation->paragraphs, paragraph))
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    return PXR_OK;
}

/* ---- the face ---- */

enum pxr_status tr_explain_nest(struct tr_explanation *explanation,
                                const struct tr_versions *versions,
                                const struct tr_shape_of_nest *shape, bool is_widened,
                                struct pxr_error *err)
{
    struct tr_paragraph paragraph = {.loops = 1};
    struct tr_about about = {.iteration = &versions->fast,
                             .paragraph = &paragraph,
                             .has_local_arrays = explanation->has_local_arrays};
    struct tr_range range = range_of(&versions->masked.graph, NULL);
    tr_ranges_add(&paragraph.where, range);
    say_choice(&paragraph, shape, is_widened);
    say_estimate(&about, &shape->estimate);
    add_expectations(&about, &versions->expected);
    tr_explain_instructions(&about);
    add_branches(&about, shape);
    add_uneven_loops(&about);
    if (is_widened)
        sum_up_vectors(explanation, &about, &shape->estimate);
    else
        sum_up_scalar(explanation, versions->masked.graph.value_count, shape->reason, range.first);
    return add_paragraph(explanation, &paragraph, err);
}

enum pxr_status tr_explain_obstacle(struct tr_explanation *explanation, const struct tr_nest *nest,
                                    const char *obstacle, struct pxr_error *err)
{
    const struct tr_counted *outer = nest->y.header != NULL ? &nest->y : &nest->x;
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(outer->latch);
    struct tr_edge cuts[2] = {{.terminator = branch}, {.terminator = branch, .successor = 1}};
    struct tr_part part = {.entry = outer->header, .cuts = cuts, .cut_count = 2};
    struct tr_paragraph paragraph = {.loops = 1};
    struct tr_graph graph;
    LLVMValueRef function = LLVMGetBasicBlockParent(outer->header);
    enum pxr_status status = tr_graph_build_part(&graph, function, &part, err);
    if (status == PXR_OK) {
        struct tr_range range = range_of(&graph, NULL);
        tr_ranges_add(&paragraph.where, range);
        snprintf(paragraph.choice, sizeof paragraph.choice, "over single threads, because %s",
                 obstacle);
        sum_up_scalar(explanation, graph.value_count, obstacle, range.first);
        status = add_paragraph(explanation, &paragraph, err);
    }
    tr_graph_fini(&graph);
    return status;
}
