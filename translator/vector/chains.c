/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops whose turns wait for each other: hashes, random numbers, iterations that converge. A
 * processor that looks ahead finds nothing to do beside the chain of a single vector, so such loops
 * want more copies side by side than others.
 */
#include "translator/vector/control.h"
#include "translator/vector/plan/groups.h"
#include "translator/vector/version.h"

/* Times of results, in the unit of figures.def, of which half a cycle is one on most CPUs. */
#define SIMPLE_TIME 2
#define CHAIN_MOST  16 /* where the figure is that of many instructions */
#define DIVIDE_TIME 24

/* A fused operation of f16: it, two conversions, and the choice of what is odd. */
#define FUSED_HALF_CHAINS 4

/* So many times what a chain leaves free is filled with other copies: they do not begin in the very
 * cycle in which there is room. */
#define MARGIN 4

static double time_of_chain(const struct tr_figures *figures)
{
    return figures->chain < CHAIN_MOST ? figures->chain : CHAIN_MOST;
}

/* How long whoever uses the result waits for it. */
static double time_of(const struct tr_figures *figures, const struct tr_value *value)
{
    switch (value->opcode) {
    case LLVMPHI:
    case LLVMBitCast:
        return 0;
    case LLVMMul:
    case LLVMFAdd:
    case LLVMFSub:
    case LLVMFMul:
        return time_of_chain(figures);
    default:
        break;
    }
    switch (tr_arithmetic_of(value->llvm)) {
    case TR_ARITHMETIC_DIVIDE:
    case TR_ARITHMETIC_INTEGER_DIVIDE:
        return DIVIDE_TIME;
    case TR_ARITHMETIC_FUSED_HALF:
        return FUSED_HALF_CHAINS * time_of_chain(figures);
    case TR_ARITHMETIC_FUSED:
    case TR_ARITHMETIC_INVERSE:
    case TR_ARITHMETIC_CONVERT:
    case TR_ARITHMETIC_CONVERT_UNSIGNED:
        return time_of_chain(figures);
    default:
        return SIMPLE_TIME;
    }
}

static bool is_in_loop(const struct tr_iteration *iteration, uint32_t value, uint32_t loop)
{
    uint32_t segment = iteration->graph.values[value].segment;
    return segment != TR_NONE && tr_set_has(&iteration->loops.loops[loop].segments, segment);
}

static bool is_varying(const struct tr_iteration *iteration, uint32_t value)
{
    return iteration->shapes.values[value].kind == TR_VARYING;
}

/* Whether a turn does nothing that waits for memory, and has no loop in it. */
static bool only_computes(const struct tr_iteration *iteration, uint32_t loop)
{
    for (uint32_t l = 0; l < iteration->loops.count; l++)
        if (iteration->loops.loops[l].parent == loop)
            return false;
    for (uint32_t v = 0; v < iteration->graph.value_count; v++) {
        if (!is_in_loop(iteration, v, loop))
            continue;
        const struct tr_value *value = &iteration->graph.values[v];
        bool is_load = value->opcode == LLVMLoad;
        bool is_control = value->opcode == LLVMPHI || LLVMIsATerminatorInst(value->llvm) != NULL;
        if ((is_load && iteration->shapes.values[v].kind != TR_UNIFORM) ||
            (!is_load && tr_is_seen(value->llvm)) ||
            (is_varying(iteration, v) && !is_control && !tr_has_vector_form(iteration, v)))
            return false;
    }
    return true;
}

/* The longest way of a turn from what the last one has left; -1 where none leads to. Values come
 * behind their operands, but for the header's phis. */
static double *find_ways(struct tr_iteration *iteration, uint32_t loop)
{
    struct tr_graph *graph = &iteration->graph;
    const struct tr_figures *figures = &iteration->target->figures;
    uint32_t header = iteration->loops.loops[loop].header;
    double *way = pxr_arena_alloc_array(&graph->arena, graph->value_count, sizeof *way);
    for (uint32_t v = 0; way != NULL && v < graph->value_count; v++) {
        const struct tr_value *value = &graph->values[v];
        way[v] = -1;
        if (!is_in_loop(iteration, v, loop) || !is_varying(iteration, v))
            continue;
        if (value->opcode == LLVMPHI && value->segment == header) {
            way[v] = 0;
            continue;
        }
        for (uint32_t i = 0; i < value->operand_count; i++) {
            uint32_t operand = value->operands[i];
            double to =
                operand < v && way[operand] >= 0 ? way[operand] + time_of(figures, value) : -1;
            way[v] = to > way[v] ? to : way[v];
        }
    }
    return way;
}

double tr_copies_of_chain(struct tr_iteration *iteration, uint32_t loop, double work)
{
    struct tr_graph *graph = &iteration->graph;
    if (tr_is_left_apart(iteration, loop) || work <= 0 || !only_computes(iteration, loop))
        return 0;
    const double *way = find_ways(iteration, loop);
    double longest = 0;
    const struct tr_segment *header = &graph->segments[iteration->loops.loops[loop].header];
    for (uint32_t v = header->first_value;
         way != NULL && v < header->first_value + header->value_count; v++) {
        const struct tr_value *phi = &graph->values[v];
        for (uint32_t i = 0; phi->opcode == LLVMPHI && i < phi->operand_count; i++)
            if (phi->operands[i] != TR_NONE && is_in_loop(iteration, phi->operands[i], loop) &&
                way[phi->operands[i]] > longest)
                longest = way[phi->operands[i]];
    }
    return MARGIN * longest / work;
}
