/* SPDX-License-Identifier: Apache-2.0
 *
 * Graph, dominators, loops and liveness of real kernels and of hand-written cases, compared with
 * what the words mean: dominance is that without a segment there is no way, a loop is what can
 * reach each other, a value is live where there is a way to a use.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>

#include "translator/collapse/collapse.h"
#include "translator/pipeline.h"

#define DATA_LAYOUT                                                                                \
    "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"

/* Comparing takes time that grows with the cube of this. */
#define MOST_SEGMENTS 120

struct checked {
    struct tr_graph graph;
    struct tr_dominators dominators;
    struct tr_dominators post;
    struct tr_loops loops;
    struct tr_liveness liveness;
    struct tr_set
        *reach; /* by segment: where one can come to from it, itself only around a cycle */
};

static uint32_t checked_functions;

/* ---- ways ---- */

/* Marks what can be reached from `from`, which counts as reached, without entering `without`. */
static void find_reachable(const struct tr_graph *graph, uint32_t from, uint32_t without,
                           bool is_backward, bool *reached)
{
    uint32_t *stack = calloc(graph->segment_count + 1, sizeof *stack);
    uint32_t depth = 0;
    if (from != without && !reached[from]) {
        reached[from] = true;
        stack[depth++] = from;
    }
    while (depth > 0) {
        const struct tr_segment *at = &graph->segments[stack[--depth]];
        uint32_t count = is_backward ? at->pred_count : at->succ_count;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t to = is_backward ? at->preds[i] : at->succs[i];
            if (to != without && !reached[to]) {
                reached[to] = true;
                stack[depth++] = to;
            }
        }
    }
    free(stack);
}

static void find_reach(struct checked *c)
{
    uint32_t count = c->graph.segment_count;
    c->reach = pxr_arena_alloc_array(&c->graph.arena, count, sizeof *c->reach);
    for (uint32_t s = 0; s < count; s++) {
        bool *reached = calloc(count, sizeof *reached);
        for (uint32_t i = 0; i < c->graph.segments[s].succ_count; i++)
            find_reachable(&c->graph, c->graph.segments[s].succs[i], TR_NONE, false, reached);
        c->reach[s] = tr_set_make(&c->graph.arena, count);
        for (uint32_t t = 0; t < count; t++)
            if (reached[t])
                tr_set_add(&c->reach[s], t);
        free(reached);
    }
}

static bool is_cycle_through(const struct checked *c, uint32_t a, uint32_t b)
{
    return tr_set_has(&c->reach[a], b) && tr_set_has(&c->reach[b], a);
}

/* ---- the graph ---- */

static void check_edges(const struct checked *c)
{
    const struct tr_graph *graph = &c->graph;
    for (uint32_t s = 0; s < graph->segment_count; s++) {
        const struct tr_segment *segment = &graph->segments[s];
        bool has_earlier = s == 0;
        for (uint32_t i = 0; i < segment->pred_count; i++) {
            const struct tr_segment *pred = &graph->segments[segment->preds[i]];
            bool leads_here = false;
            for (uint32_t j = 0; j < pred->succ_count; j++)
                leads_here |= pred->succs[j] == s;
            cr_assert(leads_here);
            has_earlier |= segment->preds[i] < s;
        }
        cr_assert(has_earlier, "segment %u is not behind any that leads to it", s);
        for (uint32_t i = 0; i < segment->succ_count; i++) {
            const struct tr_segment *succ = &graph->segments[segment->succs[i]];
            uint32_t count = 0;
            for (uint32_t j = 0; j < succ->pred_count; j++)
                count += succ->preds[j] == s;
            cr_assert_eq(count, 1);
        }
    }
}

static void check_uses(const struct checked *c)
{
    const struct tr_graph *graph = &c->graph;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const struct tr_value *value = &graph->values[v];
        cr_assert_eq(tr_graph_number(graph, value->llvm), v);
        uint32_t uses = 0;
        for (uint32_t u = 0; u < graph->value_count; u++)
            for (uint32_t i = 0; i < graph->values[u].operand_count; i++)
                if (graph->values[u].operands[i] == v) {
                    uses++;
                    break;
                }
        cr_assert_eq(uses, value->use_count);
        for (uint32_t i = 0; i < value->use_count; i++) {
            const struct tr_value *user = &graph->values[value->uses[i]];
            bool is_operand = false;
            for (uint32_t j = 0; j < user->operand_count; j++)
                is_operand |= user->operands[j] == v;
            cr_assert(is_operand);
        }
    }
}

/* ---- dominators ---- */

static void check_dominators(const struct checked *c)
{
    uint32_t count = c->graph.segment_count;
    for (uint32_t a = 0; a < count; a++) {
        bool *reached = calloc(count, sizeof *reached);
        find_reachable(&c->graph, 0, a, false, reached);
        for (uint32_t b = 0; b < count; b++)
            cr_assert_eq(tr_dominates(&c->dominators, a, b), !reached[b], "%u %u", a, b);
        free(reached);
    }
}

/* Nothing follows it; or it is the first of segments that only lead to each other. */
static bool is_end(const struct checked *c, uint32_t segment)
{
    if (c->graph.segments[segment].succ_count == 0)
        return true;
    const struct tr_set *reach = &c->reach[segment];
    for (uint32_t s = tr_set_next(reach, 0); s != TR_NONE; s = tr_set_next(reach, s + 1))
        if (s < segment || !tr_set_has(&c->reach[s], segment))
            return false;
    return true;
}

static void check_post_dominators(const struct checked *c)
{
    uint32_t count = c->graph.segment_count;
    for (uint32_t a = 0; a < count; a++) {
        bool *reached = calloc(count, sizeof *reached);
        for (uint32_t end = 0; end < count; end++)
            if (is_end(c, end))
                find_reachable(&c->graph, end, a, true, reached);
        for (uint32_t b = 0; b < count; b++)
            cr_assert_eq(tr_dominates(&c->post, a, b), !reached[b], "%u %u", a, b);
        free(reached);
    }
}

/* ---- loops ---- */

static void check_outermost(const struct checked *c)
{
    for (uint32_t a = 0; a < c->graph.segment_count; a++) {
        uint32_t loop = c->loops.innermost[a];
        cr_assert_eq(loop == TR_NONE, !tr_set_has(&c->reach[a], a));
        while (loop != TR_NONE && c->loops.loops[loop].parent != TR_NONE)
            loop = c->loops.loops[loop].parent;
        for (uint32_t b = 0; b < c->graph.segment_count && loop != TR_NONE; b++)
            cr_assert_eq(tr_set_has(&c->loops.loops[loop].segments, b), is_cycle_through(c, a, b));
    }
}

/* Without the header of its parent, a loop is what can reach each other inside of the parent. */
static void check_nested(const struct checked *c, uint32_t number)
{
    const struct tr_loop *loop = &c->loops.loops[number];
    const struct tr_loop *parent = &c->loops.loops[loop->parent];
    cr_assert_lt(loop->parent, number);
    cr_assert_eq(loop->depth, parent->depth + 1);
    cr_assert_not(tr_set_has(&loop->segments, parent->header));
    uint32_t count = c->graph.segment_count;
    for (uint32_t a = 0; a < count; a++) {
        bool *forward = calloc(count, sizeof *forward);
        bool *backward = calloc(count, sizeof *backward);
        for (uint32_t s = 0; s < count; s++) /* what may not be entered counts as reached */
            forward[s] = backward[s] = s == parent->header || !tr_set_has(&parent->segments, s);
        if (tr_set_has(&loop->segments, a)) {
            find_reachable(&c->graph, a, TR_NONE, false, forward);
            find_reachable(&c->graph, a, TR_NONE, true, backward);
            for (uint32_t b = 0; b < count; b++)
                if (b != parent->header && tr_set_has(&parent->segments, b))
                    cr_assert_eq(tr_set_has(&loop->segments, b), forward[b] && backward[b]);
        }
        free(forward);
        free(backward);
    }
}

static void check_loops(const struct checked *c)
{
    check_outermost(c);
    for (uint32_t l = 0; l < c->loops.count; l++) {
        const struct tr_loop *loop = &c->loops.loops[l];
        bool is_dominated = true;
        for (uint32_t s = tr_set_next(&loop->segments, 0); s != TR_NONE;
             s = tr_set_next(&loop->segments, s + 1))
            is_dominated &= tr_dominates(&c->dominators, loop->header, s);
        cr_assert_eq(loop->header, tr_set_next(&loop->segments, 0));
        cr_assert_eq(loop->is_irreducible, !is_dominated);
        if (loop->parent != TR_NONE)
            check_nested(c, l);
    }
}

/* ---- liveness ---- */

static bool is_used_in(const struct tr_graph *graph, uint32_t value, uint32_t segment)
{
    const struct tr_value *v = &graph->values[value];
    for (uint32_t i = 0; i < v->use_count; i++)
        if (graph->values[v->uses[i]].segment == segment &&
            graph->values[v->uses[i]].opcode != LLVMPHI)
            return true;
    return false;
}

static bool is_used_on_edge(const struct tr_graph *graph, uint32_t value, uint32_t from,
                            uint32_t to)
{
    const struct tr_value *v = &graph->values[value];
    for (uint32_t i = 0; i < v->use_count; i++) {
        const struct tr_value *phi = &graph->values[v->uses[i]];
        if (phi->opcode != LLVMPHI || phi->segment != to)
            continue;
        for (uint32_t j = 0; j < phi->operand_count; j++)
            if (phi->operands[j] == value && phi->incoming[j] == from)
                return true;
    }
    return false;
}

/* Forward, from the end of the segment, to a use; a way ends where the value is made anew. */
static bool is_needed_after(const struct tr_graph *graph, uint32_t value, uint32_t segment,
                            bool *visited)
{
    const struct tr_segment *at = &graph->segments[segment];
    for (uint32_t i = 0; i < at->succ_count; i++) {
        uint32_t to = at->succs[i];
        if (is_used_on_edge(graph, value, segment, to))
            return true;
        if (visited[to] || graph->values[value].segment == to)
            continue;
        visited[to] = true;
        if (is_used_in(graph, value, to) || is_needed_after(graph, value, to, visited))
            return true;
    }
    return false;
}

static void check_liveness(const struct checked *c)
{
    const struct tr_graph *graph = &c->graph;
    bool *visited = calloc(graph->segment_count, sizeof *visited);
    for (uint32_t v = 0; v < graph->value_count; v++)
        for (uint32_t s = 0; s < graph->segment_count; s++) {
            uint32_t home = graph->values[v].segment;
            /* Ways from where the value is not there yet say nothing. */
            if (home != TR_NONE && !tr_dominates(&c->dominators, home, s)) {
                cr_assert_not(tr_set_has(&c->liveness.live_in[s], v));
                cr_assert_not(tr_set_has(&c->liveness.live_out[s], v));
                continue;
            }
            memset(visited, 0, graph->segment_count * sizeof *visited);
            bool is_out = is_needed_after(graph, v, s, visited);
            bool is_in = home != s && (is_out || is_used_in(graph, v, s));
            cr_assert_eq(tr_set_has(&c->liveness.live_out[s], v), is_out, "value %u at %u", v, s);
            cr_assert_eq(tr_set_has(&c->liveness.live_in[s], v), is_in, "value %u at %u", v, s);
        }
    free(visited);
}

/* ---- what is checked ---- */

static void check_function(LLVMValueRef function, bool (*ends_segment)(LLVMValueRef))
{
    struct checked c;
    cr_assert_eq(tr_graph_build(&c.graph, function, ends_segment, NULL), PXR_OK);
    if (c.graph.segment_count <= MOST_SEGMENTS) {
        cr_assert_eq(tr_dominators_build(&c.graph, false, &c.dominators, NULL), PXR_OK);
        cr_assert_eq(tr_dominators_build(&c.graph, true, &c.post, NULL), PXR_OK);
        cr_assert_eq(tr_loops_build(&c.graph, &c.loops, NULL), PXR_OK);
        cr_assert_eq(tr_liveness_build(&c.graph, &c.liveness, NULL), PXR_OK);
        find_reach(&c);
        check_edges(&c);
        check_uses(&c);
        check_dominators(&c);
        check_post_dominators(&c);
        check_loops(&c);
        check_liveness(&c);
        checked_functions++;
    }
    tr_graph_fini(&c.graph);
}

static void check_module(LLVMModuleRef module)
{
    LLVMValueRef function = LLVMGetFirstFunction(module);
    for (; function != NULL; function = LLVMGetNextFunction(function)) {
        if (LLVMIsDeclaration(function))
            continue;
        check_function(function, NULL);
        check_function(function, tr_is_sync_point);
    }
}

static void check_ir(const char *path)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef buffer = NULL;
    LLVMModuleRef module = NULL;
    char *message = NULL;
    cr_assert_eq(LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message), 0);
    cr_assert_eq(LLVMParseIRInContext2(context, buffer, &module, &message), 0, "%s", message);
    check_module(module);
    LLVMDisposeModule(module);
    LLVMDisposeMemoryBuffer(buffer);
    LLVMContextDispose(context);
}

static void check_kernel(const struct ptx_module *ptx, const struct ptx_func *kernel)
{
    struct pxr_error err = {0};
    struct ptx_kernel_layout layout;
    struct tr_options options = {.triple = "x86_64-unknown-linux-gnu", .data_layout = DATA_LAYOUT};
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = NULL;
    cr_assert_eq(ptx_layout_kernel(ptx, kernel, &layout, &err), PXR_OK, "%s", err.message);
    cr_assert_eq(tr_translate_kernel(ptx, kernel, &layout, &options, context, &module, &err),
                 PXR_OK, "%s", err.message);
    check_module(module);
    ptx_layout_fini(&layout);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

static void check_ptx(const char *path)
{
    struct ptx_module *ptx = NULL;
    struct pxr_error err = {0};
    char *text = calloc(1, 1 << 20);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    cr_assert_lt(fread(text, 1, (1 << 20) - 1, file), (1 << 20) - 1);
    fclose(file);
    cr_assert_eq(ptx_parse(pxr_str_from(text), path, &ptx, &err), PXR_OK, "%s", err.message);
    for (uint32_t i = 0; i < ptx->func_count; i++)
        if (ptx->funcs[i]->is_entry)
            check_kernel(ptx, ptx->funcs[i]);
    ptx_module_destroy(ptx);
    free(text);
}

static void check_folder(const char *folder, const char *extension, void (*check)(const char *path))
{
    DIR *open = opendir(folder);
    cr_assert_not_null(open, "%s", folder);
    for (struct dirent *entry = readdir(open); entry != NULL; entry = readdir(open)) {
        const char *dot = strrchr(entry->d_name, '.');
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (dot != NULL && strcmp(dot, extension) == 0)
            check(path);
    }
    closedir(open);
}

Test(graph, analyses_of_written_cases_mean_what_they_say)
{
    check_folder(PTXRUN_TEST_ANALYSIS, ".ll", check_ir);
    cr_assert_gt(checked_functions, 30, "%u functions", checked_functions);
}

Test(graph, analyses_of_kernels_mean_what_they_say)
{
    check_folder(PTXRUN_TEST_SHAPES, ".ptx", check_ptx);
    cr_assert_gt(checked_functions, 150, "%u functions", checked_functions);
}
