/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints all results of the analyses for a function: for people and for tests that compare it.
 */
#include "translator/analysis/analysis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Core.h>

#define SCOPES 2

static const char *const scope_names[SCOPES] = {[TR_SCOPE_WARP] = "warp",
                                                [TR_SCOPE_BLOCK] = "block"};

struct printer {
    FILE *out;
    struct tr_graph graph;
    struct tr_dominators dominators;
    struct tr_dominators post;
    struct tr_loops loops;
    struct tr_liveness liveness;
    struct tr_shapes shapes[SCOPES];
};

/* ---- numbers and names ---- */

static void print_number(struct printer *printer, uint32_t number)
{
    if (number == TR_NONE)
        fputs(" -", printer->out);
    else
        fprintf(printer->out, " %u", number);
}

static void print_numbers(struct printer *printer, const char *title, const uint32_t *numbers,
                          uint32_t count)
{
    fprintf(printer->out, "%s", title);
    for (uint32_t i = 0; i < count; i++)
        print_number(printer, numbers[i]);
    if (count == 0)
        fputs(" -", printer->out);
}

/* Prints a value as operands show it. LLVM prints it only as part of a line: `%a = …` or `ptr
 * %a`. */
static void print_name(struct printer *printer, uint32_t number)
{
    LLVMValueRef value = printer->graph.values[number].llvm;
    char *line = LLVMPrintValueToString(value);
    const char *name = line == NULL ? NULL : strchr(line, '%');
    if (name == NULL)
        fprintf(printer->out, " #%u", number);
    else
        fprintf(printer->out, " %.*s", (int)strcspn(name, " ,"), name);
    LLVMDisposeMessage(line);
}

static void print_set(struct printer *printer, const char *title, const struct tr_set *set)
{
    fprintf(printer->out, "%s", title);
    for (uint32_t v = tr_set_next(set, 0); v != TR_NONE; v = tr_set_next(set, v + 1))
        print_name(printer, v);
    if (tr_set_next(set, 0) == TR_NONE)
        fputs(" -", printer->out);
    fputc('\n', printer->out);
}

/* ---- segments ---- */

static void print_shape(struct printer *printer, struct tr_shape shape)
{
    if (shape.kind == TR_UNIFORM)
        fputs(" uniform", printer->out);
    else if (shape.kind == TR_VARYING)
        fputs(" varying", printer->out);
    else if (shape.stride == 0)
        fputs(" row", printer->out);
    else
        fprintf(printer->out, " affine %lld%s", (long long)shape.stride,
                shape.no_wrap ? " no-wrap" : "");
}

static void print_value(struct printer *printer, uint32_t number)
{
    const struct tr_value *value = &printer->graph.values[number];
    char *line = LLVMPrintValueToString(value->llvm);
    fprintf(printer->out, "  %s", line == NULL ? "" : line);
    LLVMDisposeMessage(line);
    if (LLVMGetTypeKind(LLVMTypeOf(value->llvm)) != LLVMVoidTypeKind) {
        fputs("  ;", printer->out);
        for (int i = 0; i < SCOPES; i++) {
            fprintf(printer->out, "%s %s", i == 0 ? "" : ",", scope_names[i]);
            print_shape(printer, printer->shapes[i].values[number]);
        }
    }
    fputc('\n', printer->out);
}

static void print_divergence(struct printer *printer, uint32_t number)
{
    for (int i = 0; i < SCOPES; i++) {
        const struct tr_shapes *shapes = &printer->shapes[i];
        if (!shapes->is_uniform_segment[number])
            fprintf(printer->out, "  not all of a %s come here\n", scope_names[i]);
        if (shapes->is_divergent[number])
            fprintf(printer->out, "  threads of a %s part at its end\n", scope_names[i]);
    }
}

static void print_segment(struct printer *printer, uint32_t number)
{
    const struct tr_segment *segment = &printer->graph.segments[number];
    const char *name = LLVMGetBasicBlockName(segment->llvm);
    bool is_rest =
        printer->graph.values[segment->first_value].llvm != LLVMGetFirstInstruction(segment->llvm);
    fprintf(printer->out, "segment %u: %s%s%s%s\n", number, is_rest ? "rest of " : "", name,
            segment->is_sync_point ? ", ends with a synchronisation point" : "",
            printer->shapes[TR_SCOPE_BLOCK].is_last[number] ? ", no synchronisation point follows"
                                                            : "");
    print_numbers(printer, "  from", segment->preds, segment->pred_count);
    print_numbers(printer, ", to", segment->succs, segment->succ_count);
    print_numbers(printer, "; dominator", &printer->dominators.idom[number], 1);
    print_numbers(printer, ", post-dominator", &printer->post.idom[number], 1);
    print_numbers(printer, "; loop", &printer->loops.innermost[number], 1);
    fputc('\n', printer->out);
    print_divergence(printer, number);
    print_set(printer, "  live in:", &printer->liveness.live_in[number]);
    for (uint32_t v = 0; v < segment->value_count; v++)
        print_value(printer, segment->first_value + v);
    print_set(printer, "  live out:", &printer->liveness.live_out[number]);
}

/* ---- loops ---- */

static void print_loop(struct printer *printer, uint32_t number)
{
    const struct tr_loop *loop = &printer->loops.loops[number];
    fprintf(printer->out, "loop %u: header %u, depth %u%s, segments", number, loop->header,
            loop->depth, loop->is_irreducible ? ", irreducible" : "");
    for (uint32_t s = tr_set_next(&loop->segments, 0); s != TR_NONE;
         s = tr_set_next(&loop->segments, s + 1))
        print_number(printer, s);
    fputc('\n', printer->out);
    for (int i = 0; i < SCOPES; i++) {
        if (tr_set_next(&printer->shapes[i].varies_at[number], 0) == TR_NONE)
            continue;
        fprintf(printer->out, "  outside varying in a %s:", scope_names[i]);
        print_set(printer, "", &printer->shapes[i].varies_at[number]);
    }
}

/* ---- all of it ---- */

static enum pxr_status analyse(struct printer *printer, LLVMValueRef function,
                               bool (*ends_segment)(LLVMValueRef inst),
                               const struct tr_shape_facts *facts)
{
    struct tr_graph *graph = &printer->graph;
    enum pxr_status status = tr_graph_build(graph, function, ends_segment, NULL);
    if (status == PXR_OK)
        status = tr_dominators_build(graph, false, &printer->dominators, NULL);
    if (status == PXR_OK)
        status = tr_dominators_build(graph, true, &printer->post, NULL);
    if (status == PXR_OK)
        status = tr_loops_build(graph, &printer->loops, NULL);
    if (status == PXR_OK)
        status = tr_liveness_build(graph, &printer->liveness, NULL);
    for (int i = 0; i < SCOPES && status == PXR_OK; i++)
        status = tr_shapes_build(graph, &printer->loops, (enum tr_scope)i, facts,
                                 &printer->shapes[i], NULL);
    return status;
}

static void print_everything(struct printer *printer)
{
    size_t len = 0;
    fprintf(printer->out, "function %s\n", LLVMGetValueName2(printer->graph.function, &len));
    for (uint32_t s = 0; s < printer->graph.segment_count; s++)
        print_segment(printer, s);
    for (uint32_t l = 0; l < printer->loops.count; l++)
        print_loop(printer, l);
}

char *tr_analysis_text(LLVMValueRef function, bool (*ends_segment)(LLVMValueRef inst),
                       const struct tr_shape_facts *facts)
{
    char *text = NULL;
    size_t size = 0;
    struct printer printer = {.out = open_memstream(&text, &size)};
    if (printer.out == NULL)
        return NULL;
    bool ok = analyse(&printer, function, ends_segment, facts) == PXR_OK;
    if (ok)
        print_everything(&printer);
    tr_graph_fini(&printer.graph);
    ok = ok && ferror(printer.out) == 0;
    if (fclose(printer.out) != 0 || !ok) {
        free(text);
        return NULL;
    }
    return text;
}
