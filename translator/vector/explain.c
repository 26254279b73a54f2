/* SPDX-License-Identifier: Apache-2.0
 *
 * What --explain says of a nest: the choice and its reasons, and what makes the iteration fast or
 * slow, by lines of the source. It speaks of the fast version; in the masked one everything is
 * masked.
 */
#include <string.h>

#include "translator/analysis/shape.h"
#include "translator/vector/control.h"
#include "translator/vector/emit/form.h"
#include "translator/vector/memory/load_store.h"
#include "translator/vector/version.h"

/* Nobody would read more. */
#define MAX_LINES  10
#define MAX_GROUPS 8

/* ---- lists of lines, by what is said of them ---- */

struct group {
    char name[64];
    uint32_t lines[MAX_LINES]; /* in order */
    uint32_t line_count;
    bool has_more;
    bool has_unknown; /* some of its instructions have lost their line in LLVM */
};

struct list {
    struct group groups[MAX_GROUPS];
    uint32_t count;
};

static void add_line(struct group *group, uint32_t line)
{
    uint32_t place = group->line_count;
    while (place > 0 && group->lines[place - 1] >= line)
        place--;
    if (place < group->line_count && group->lines[place] == line)
        return;
    group->has_more |= group->line_count == MAX_LINES;
    if (place == MAX_LINES)
        return;
    group->line_count += group->line_count < MAX_LINES;
    uint32_t behind = group->line_count - 1 - place;
    memmove(&group->lines[place + 1], &group->lines[place], behind * sizeof *group->lines);
    group->lines[place] = line;
}

/* If there is no room for another group the last one takes it in. */
static struct group *find_group(struct list *list, const char *name)
{
    uint32_t i = 0;
    while (i < list->count && strcmp(list->groups[i].name, name) != 0)
        i++;
    if (i < list->count)
        return &list->groups[i];
    if (i == MAX_GROUPS) {
        snprintf(list->groups[i - 1].name, sizeof list->groups[0].name, "others");
        return &list->groups[i - 1];
    }
    struct group *group = &list->groups[list->count++];
    snprintf(group->name, sizeof group->name, "%s", name);
    return group;
}

static void add(struct list *list, const char *name, LLVMValueRef inst)
{
    struct group *group = find_group(list, name);
    uint32_t line = LLVMGetDebugLocLine(inst);
    if (line == 0)
        group->has_unknown = true;
    else
        add_line(group, line);
}

static void print_group(FILE *out, const struct group *group)
{
    fprintf(out, "%s (line", group->name);
    for (uint32_t i = 0; i < group->line_count; i++)
        fprintf(out, "%s %u", i > 0 ? "," : "", group->lines[i]);
    fputs(group->has_more ? ", ..." : "", out);
    if (group->has_unknown)
        fputs(group->line_count > 0 ? ", unknown" : " unknown", out);
    fputc(')', out);
}

static void print_list(FILE *out, const char *title, const struct list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        fputs(i > 0 ? "; " : title, out);
        print_group(out, &list->groups[i]);
    }
    fputs(list->count > 0 ? "\n" : "", out);
}

/* ---- accesses to memory, and what is done lane by lane ---- */

struct iteration_lists {
    struct list loads;
    struct list stores;
    struct list combined; /* atomic operations, mostly */
    struct list serial;
};

static const char *name_of_wide(const struct tr_memory *memory)
{
    if (memory->stride < 0)
        return "reversed";
    return tr_plan_is_nontemporal(memory) ? "contiguous, past the caches if it is much"
                                          : "contiguous";
}

static void name_access(const struct tr_access_plan *plan, char *name, size_t size)
{
    const struct tr_memory *memory = &plan->memory;
    const char *general = memory->stored == NULL ? "gather" : "scatter";
    switch (plan->forms[TR_LANES_ALL]) {
    case TR_ACCESS_UNIFORM:
        snprintf(name, size, "uniform");
        break;
    case TR_ACCESS_WIDE:
        if (memory->kind == TR_MEMORY_STRIDED)
            snprintf(name, size, "stride %lld", (long long)memory->stride / memory->bytes);
        else
            snprintf(name, size, "%s", name_of_wide(memory));
        break;
    case TR_ACCESS_CHECKED:
        snprintf(name, size, "contiguous unless the index wraps");
        break;
    case TR_ACCESS_TUNED:
        snprintf(name, size, "%s, %s", general, plan->steps[TR_LANES_ALL]->name);
        break;
    default:
        snprintf(name, size, "%s", general);
        break;
    }
}

static void add_access(struct iteration_lists *lists, const struct tr_iteration *iteration,
                       uint32_t value)
{
    char name[sizeof lists->loads.groups[0].name];
    const struct tr_access_plan *plan = iteration->accesses[value];
    LLVMValueRef inst = plan->memory.inst;
    bool is_load = plan->memory.stored == NULL;
    if (plan->forms[TR_LANES_ALL] == TR_ACCESS_SERIAL) {
        add(&lists->serial, is_load ? "volatile load" : "volatile store", inst);
        return;
    }
    name_access(plan, name, sizeof name);
    add(is_load ? &lists->loads : &lists->stores, name, inst);
}

static const char *name_of_serial(LLVMValueRef inst)
{
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMCall:
        return "call";
    case LLVMLoad:
    case LLVMStore:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg:
        return "atomic operation";
    default:
        return "instruction without a vector form";
    }
}

/* *sequence: the value alone, or all of an atomic operation on the block's memory. */
static void add_instruction(struct iteration_lists *lists, const struct tr_iteration *iteration,
                            uint32_t value)
{
    LLVMValueRef inst = iteration->graph.values[value].llvm;
    struct tr_sequence sequence = {.count = 1, .values = {value}};
    if (tr_plan_ends_exchange(iteration, value))
        return; /* its load has told about it */
    bool is_exchange = tr_plan_find_exchange(iteration, value, &sequence);
    if (!is_exchange && tr_has_vector_form(iteration, value)) {
        if (LLVMIsALoadInst(inst) != NULL || LLVMIsAStoreInst(inst) != NULL)
            add_access(lists, iteration, value);
    } else if (tr_memory_can_combine(iteration, &sequence)) {
        add(&lists->combined, "done once for many lanes", inst);
    } else {
        add(&lists->serial, is_exchange ? "atomic operation" : name_of_serial(inst), inst);
    }
}

static void add_segment(struct iteration_lists *lists, const struct tr_iteration *iteration,
                        uint32_t number)
{
    const struct tr_segment *segment = &iteration->graph.segments[number];
    uint32_t last = segment->first_value + segment->value_count - 1;
    for (uint32_t v = segment->first_value + tr_control_phi_count(iteration, number); v < last; v++)
        add_instruction(lists, iteration, v);
}

static void print_instructions(FILE *out, const struct tr_iteration *iteration)
{
    struct iteration_lists lists = {0};
    for (uint32_t s = 0; s < iteration->graph.segment_count; s++)
        if (!iteration->is_lost[s])
            add_segment(&lists, iteration, s);
    print_list(out, "    loads: ", &lists.loads);
    print_list(out, "    stores: ", &lists.stores);
    print_list(out, "    combined: ", &lists.combined);
    print_list(out, "    one lane after the other: ", &lists.serial);
}

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

static enum way way_to(const struct tr_iteration *iteration, uint32_t to, uint32_t copies)
{
    const struct tr_unit *unit = &iteration->units[to];
    if (unit->kind != TR_UNIT_MASKED || !tr_control_is_branched_around(iteration, to))
        return WAY_FLAT;
    if (unit->is_fault)
        return WAY_FAULT;
    return tr_control_is_split(iteration, to, copies) ? WAY_SPLIT : WAY_MASKED;
}

/* Names the branch by the way that costs most. */
static const char *name_branch(const struct tr_iteration *iteration, uint32_t number,
                               uint32_t copies)
{
    static const char *const names[] = {
        [WAY_FLAT] = "flattened",
        [WAY_FAULT] = "to a fault",
        [WAY_MASKED] = "masked behind a branch",
        [WAY_SPLIT] = "masked behind a branch, without masks if all lanes come"};
    const struct tr_segment *segment = &iteration->graph.segments[number];
    enum way most = WAY_FLAT;
    for (uint32_t i = 0; i < segment->succ_count; i++) {
        enum way way = way_to(iteration, segment->succs[i], copies);
        most = way > most ? way : most;
    }
    return names[most];
}

static void print_branches(FILE *out, const struct tr_iteration *iteration, uint32_t copies)
{
    struct list list = {0};
    for (uint32_t s = 0; s < iteration->graph.segment_count; s++)
        if (iteration->shapes.is_divergent[s] && iteration->graph.segments[s].succ_count > 1 &&
            !is_about_loop(iteration, s))
            add(&list, name_branch(iteration, s, copies), terminator_of(iteration, s));
    print_list(out, "    divergent branches: ", &list);
}

static void print_guards(FILE *out, const struct tr_versions *versions)
{
    struct list list = {0};
    for (uint32_t i = 0; i < versions->guard_count; i++)
        add(&list, "all lanes are expected to pass", versions->guards[i].branch);
    print_list(out, "    guards: ", &list);
}

/* ---- ranges of lines ---- */

struct range {
    uint32_t first; /* 0: none is known */
    uint32_t last;
};

static void extend(struct range *range, const struct tr_graph *graph, uint32_t number)
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

static void print_range(FILE *out, struct range range)
{
    if (range.first == 0)
        fputs("no lines", out);
    else if (range.first == range.last)
        fprintf(out, "line %u", range.first);
    else
        fprintf(out, "lines %u-%u", range.first, range.last);
}

static void print_graph_range(FILE *out, const struct tr_graph *graph)
{
    struct range range = {0};
    for (uint32_t s = 0; s < graph->segment_count; s++)
        extend(&range, graph, s);
    fputs("  ", out);
    print_range(out, range);
    fputs(": ", out);
}

static void print_loops(FILE *out, const struct tr_iteration *iteration)
{
    uint32_t count = 0;
    for (uint32_t l = 0; l < iteration->loops.count && count < MAX_LINES; l++) {
        struct range range = {0};
        if (!iteration->is_divergent_loop[l])
            continue;
        const struct tr_set *segments = &iteration->loops.loops[l].segments;
        for (uint32_t s = tr_set_next(segments, 0); s != TR_NONE; s = tr_set_next(segments, s + 1))
            extend(&range, &iteration->graph, s);
        fputs(count++ > 0 ? "; " : "    loops that lanes leave one by one: ", out);
        print_range(out, range);
    }
    fputs(count > 0 ? "\n" : "", out);
}

/* ---- all of it ---- */

static uint32_t count_masks(const struct tr_iteration *iteration)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < iteration->graph.segment_count; s++)
        count += iteration->units[s].kind == TR_UNIT_MASKED;
    for (uint32_t l = 0; l < iteration->loops.count; l++)
        count += iteration->is_divergent_loop[l];
    return count;
}

static void print_choice(FILE *out, const struct tr_shape_of_nest *shape, bool is_widened)
{
    if (!is_widened) {
        fprintf(out, "scalar: %s\n", shape->reason);
        return;
    }
    fprintf(out, "vectors of %u threads (%s), %u x %u side by side, row x rows (%s)%s%s\n",
            shape->width, shape->width_reason, shape->jam[0], shape->jam[1], shape->jam_reason,
            shape->reason[0] != '\0' ? "; forced: " : "", shape->reason);
}

void tr_explain_nest(FILE *out, const struct tr_versions *versions,
                     const struct tr_shape_of_nest *shape, bool is_widened)
{
    const struct tr_iteration *iteration = &versions->fast;
    const struct tr_estimate *estimate = &shape->estimate;
    print_graph_range(out, &versions->masked.graph);
    print_choice(out, shape, is_widened);
    fprintf(out,
            "    estimate: %.0f%% of the time of single threads; of each copy: "
            "instructions: %u, vector registers live at branches: %u, masks: %u\n",
            estimate->scalar > 0 ? 100 * estimate->vector / estimate->scalar : 100,
            estimate->length, estimate->live, count_masks(iteration));
    print_guards(out, versions);
    print_instructions(out, iteration);
    print_branches(out, iteration, shape->jam[0] * shape->jam[1]);
    print_loops(out, iteration);
}

enum pxr_status tr_explain_obstacle(FILE *out, const struct tr_nest *nest, const char *obstacle,
                                    struct pxr_error *err)
{
    const struct tr_counted *outer = nest->y.header != NULL ? &nest->y : &nest->x;
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(outer->latch);
    struct tr_edge cuts[2] = {{.terminator = branch}, {.terminator = branch, .successor = 1}};
    struct tr_part part = {.entry = outer->header, .cuts = cuts, .cut_count = 2};
    struct tr_graph graph;
    LLVMValueRef function = LLVMGetBasicBlockParent(outer->header);
    enum pxr_status status = tr_graph_build_part(&graph, function, &part, err);
    if (status == PXR_OK)
        print_graph_range(out, &graph);
    tr_graph_fini(&graph);
    if (status == PXR_OK)
        fprintf(out, "scalar: %s\n", obstacle);
    return status;
}
