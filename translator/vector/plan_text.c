/* SPDX-License-Identifier: Apache-2.0
 *
 * Nests, iterations and units as text: for people and for tests that compare it.
 */
#include "translator/vector/plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *block_name(LLVMBasicBlockRef block)
{
    return LLVMGetBasicBlockName(block);
}

/* ---- values ---- */

static void print_shape(FILE *out, const struct tr_iteration *iteration, uint32_t value)
{
    struct tr_shape shape = iteration->shapes.values[value];
    if (shape.kind == TR_UNIFORM)
        fputs("uniform", out);
    else if (shape.kind == TR_VARYING)
        fputs("varying", out);
    else if (shape.stride == 0)
        fputs("row", out);
    else
        fprintf(out, "affine %lld%s", (long long)shape.stride, shape.no_wrap ? " no-wrap" : "");
    fputs(iteration->depends_on_row[value] ? ", by row" : "", out);
}

/* Without metadata at the end of the line, whose numbers do not matter. */
static void print_line(FILE *out, LLVMValueRef value)
{
    char *text = LLVMPrintValueToString(value);
    const char *line = text == NULL ? "" : text + strspn(text, " ");
    const char *metadata = strstr(line, ", !");
    fprintf(out, "  %.*s", (int)(metadata == NULL ? strlen(line) : (size_t)(metadata - line)),
            line);
    LLVMDisposeMessage(text);
}

static void print_value(FILE *out, const struct tr_iteration *iteration, uint32_t number)
{
    LLVMValueRef value = iteration->graph.values[number].llvm;
    print_line(out, value);
    if (LLVMGetTypeKind(LLVMTypeOf(value)) != LLVMVoidTypeKind) {
        fputs("  ; ", out);
        print_shape(out, iteration, number);
    }
    fputc('\n', out);
}

/* ---- units ---- */

static void print_segments(FILE *out, const struct tr_iteration *iteration, const char *title,
                           const uint32_t *segments, uint32_t count)
{
    if (count == 0)
        return;
    fprintf(out, "; %s", title);
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, " %s", block_name(iteration->graph.segments[segments[i]].llvm));
}

static void print_unit(FILE *out, const struct tr_iteration *iteration, uint32_t number)
{
    static const char *const kinds[] = {
        [TR_UNIT_ALWAYS] = "always", [TR_UNIT_UNIFORM] = "uniform", [TR_UNIT_MASKED] = "masked"};
    const struct tr_segment *segment = &iteration->graph.segments[number];
    const struct tr_unit *unit = &iteration->units[number];
    uint32_t loop = iteration->loops.innermost[number];
    fprintf(out, "%s: %s", block_name(segment->llvm), kinds[unit->kind]);
    if (unit->anchor != TR_NONE)
        print_segments(out, iteration, "of", &unit->anchor, 1);
    if (loop != TR_NONE && iteration->loops.loops[loop].header == number)
        fprintf(out, "; a loop that lanes leave %s",
                iteration->is_divergent_loop[loop] ? "one by one" : "together");
    print_segments(out, iteration, "then", unit->children, unit->child_count);
    print_segments(out, iteration, "behind", unit->followers, unit->follower_count);
    print_segments(out, iteration, "out to", unit->escapes, unit->escape_count);
    fprintf(out, "; cost %u%s%s%s\n", unit->cost, unit->has_effects ? ", effects" : "",
            unit->is_fault ? ", fault" : "", number == iteration->end ? ", end" : "");
}

/* ---- iterations ---- */

static void print_iteration(FILE *out, const struct tr_iteration *iteration)
{
    for (uint32_t v = 0; v < iteration->graph.value_count; v++)
        if (v == iteration->x || v == iteration->y)
            print_value(out, iteration, v);
    for (uint32_t s = 0; s < iteration->graph.segment_count; s++) {
        const struct tr_segment *segment = &iteration->graph.segments[s];
        print_unit(out, iteration, s);
        for (uint32_t v = 0; v < segment->value_count; v++)
            print_value(out, iteration, segment->first_value + v);
    }
}

static void print_expectations(FILE *out, const struct tr_expectations *expected)
{
    for (uint32_t i = 0; i < expected->guard_count; i++) {
        const struct tr_guard *guard = &expected->guards[i];
        LLVMBasicBlockRef to = LLVMGetSuccessor(guard->branch, guard->expected);
        fprintf(out, "guard: %s goes to %s\n", block_name(LLVMGetInstructionParent(guard->branch)),
                block_name(to));
    }
    for (uint32_t i = 0; i < expected->common_count; i++) {
        char *text = LLVMPrintValueToString(expected->common[i]);
        fprintf(out, "in common:%s\n", text == NULL ? "" : text + 1);
        LLVMDisposeMessage(text);
    }
    for (uint32_t i = 0; i < expected->steady_count; i++) {
        char *text = LLVMPrintValueToString(expected->steady[i].extension);
        fprintf(out, "steady:%s\n", text == NULL ? "" : text + 1);
        LLVMDisposeMessage(text);
    }
}

/* The iteration of the masked version and, if it expects something, that of the fast one. */
static enum pxr_status print_iterations(FILE *out, const struct tr_target *target,
                                        const struct tr_nest *nest, bool is_jammed)
{
    struct tr_iteration whole;
    struct tr_iteration fast;
    struct tr_expectations expected;
    const char *obstacle = NULL;
    fprintf(out, "%s\n", is_jammed ? "iteration with rows" : "iteration");
    enum pxr_status status =
        tr_iteration_build(&whole, target, nest, is_jammed, NULL, &obstacle, NULL);
    if (obstacle != NULL)
        fprintf(out, "not possible: %s\n", obstacle);
    if (status != PXR_OK || obstacle != NULL)
        return status;
    print_iteration(out, &whole);
    status =
        tr_iteration_build_fast(&fast, &whole, nest, is_jammed, true, &expected, &obstacle, NULL);
    if (status == PXR_OK && obstacle == NULL) {
        print_expectations(out, &expected);
        if (expected.guard_count + expected.common_count + expected.steady_count > 0)
            print_iteration(out, &fast);
        tr_iteration_fini(&fast);
    }
    tr_iteration_fini(&whole);
    return status;
}

/* ---- nests ---- */

static void print_loop(FILE *out, char axis, const struct tr_counted *loop)
{
    char *count = LLVMPrintValueToString(loop->count);
    const char *text = count == NULL ? "" : count + strspn(count, " ");
    fprintf(out, " %c from %s to %s, count %.*s;", axis, block_name(loop->header),
            block_name(loop->latch), (int)strcspn(text, "=,\n"), text);
    LLVMDisposeMessage(count);
}

static enum pxr_status print_nest(FILE *out, const struct tr_target *target,
                                  const struct tr_nest *nest)
{
    if (nest->obstacle != NULL) {
        fprintf(out, "nest at %s: not possible: %s\n", block_name(nest->x.header), nest->obstacle);
        return PXR_OK;
    }
    fputs("nest:", out);
    print_loop(out, 'x', &nest->x);
    if (nest->y.header != NULL)
        print_loop(out, 'y', &nest->y);
    fputc('\n', out);
    return print_iterations(out, target, nest, nest->y.header != NULL);
}

char *tr_plan_text(LLVMValueRef function)
{
    char *text = NULL;
    size_t size = 0;
    size_t len = 0;
    struct tr_nest *nests = NULL;
    uint32_t count = 0;
    struct tr_target target = tr_target_find("", 512);
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    enum pxr_status status = tr_find_nests(function, &nests, &count, NULL);
    fprintf(out, "function %s\n", LLVMGetValueName2(function, &len));
    for (uint32_t i = 0; i < count && status == PXR_OK; i++)
        status = print_nest(out, &target, &nests[i]);
    free(nests);
    bool ok = status == PXR_OK && ferror(out) == 0;
    if (fclose(out) != 0 || !ok) {
        free(text);
        return NULL;
    }
    return text;
}
