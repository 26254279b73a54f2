/* SPDX-License-Identifier: Apache-2.0
 *
 * See explain.h. What the words mean is told to users in docs/explain.md.
 */
#include "translator/explain.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- who, and how they run ---- */

/* Of a block; 0: it is not known. */
static uint64_t thread_count(const struct tr_compilation *c)
{
    static const struct tr_facts nothing = {0};
    const struct tr_facts *facts = c->options.facts == NULL ? &nothing : c->options.facts;
    return (uint64_t)facts->block[0] * facts->block[1] * facts->block[2];
}

static void print_threads(FILE *out, const struct tr_compilation *c)
{
    uint64_t count = thread_count(c);
    if (count == 1)
        fputs("the only thread of a block runs", out);
    else if (count > 0)
        fprintf(out, "the %" PRIu64 " threads of a block run", count);
    else
        fputs("the threads of a block run", out);
}

static bool is_of_warps(const struct tr_compilation *c)
{
    return c->collapsing.collapse == PXR_COLLAPSE_HIERARCHICAL;
}

static void print_vectors(FILE *out, const struct tr_compilation *c)
{
    const struct tr_vector_report *vectors = &c->vectors;
    print_threads(out, c);
    fputs(is_of_warps(c) ? " warp by warp" : "", out);
    if (vectors->widened_count == vectors->nest_count)
        fputs(vectors->nest_count == 1 ? " as a loop" : " as loops", out);
    else
        fprintf(out, " as %u loops, %u of them", vectors->nest_count, vectors->widened_count);
    fprintf(out, " over vectors of %s%u threads (%s)", vectors->has_widths ? "up to " : "",
            vectors->width, tr_vector_name(c->options.target));
}

static void print_loops(FILE *out, const struct tr_compilation *c)
{
    print_threads(out, c);
    if (thread_count(c) != 1)
        fputs(is_of_warps(c) ? " warp by warp, one after another" : " one after another", out);
    fputs(thread_count(c) == 1 ? " as it is" : " in loops", out);
    fprintf(out, " (%s)", pxr_collapse_name(c->collapse));
}

static void print_stacks(FILE *out, const struct tr_compilation *c)
{
    fprintf(out, "each thread of a block runs on a stack of its own (%s)",
            pxr_collapse_name(c->collapse));
    if (c->budget->effort >= TR_EFFORT_SHORT)
        fprintf(out, " with %s of the compiler's optimisations",
                c->budget->effort == TR_EFFORT_SHORT ? "few" : "none");
}

/* ---- why ---- */

static void print_too_long(FILE *out, const struct tr_compilation *c, const char *what)
{
    char excess[TR_BUDGET_TEXT_BYTES];
    tr_budget_excess(c->budget, excess);
    fprintf(out, "compiling %s would take too long (%s)", what, excess);
}

static void print_why_vectors(FILE *out, const struct tr_vector_report *vectors)
{
    if (vectors->has_accesses && !vectors->has_far)
        fputs("neighbouring threads access neighbouring elements of memory, or the same one", out);
    else
        fprintf(out, "that is estimated to take %u%% of the time of one thread after another",
                vectors->percent);
}

static void print_why_not_all(FILE *out, const struct tr_vector_report *vectors)
{
    uint32_t others = vectors->nest_count - vectors->widened_count;
    if (others > 0)
        fprintf(out, ", and %u over single threads, because %s", others, vectors->reason);
}

static void print_why_loops(FILE *out, const struct tr_compilation *c, enum pxr_collapse asked)
{
    if (c->budget->effort == TR_EFFORT_LOOPS)
        print_too_long(out, c, "loops over vectors of them");
    else if (c->budget->is_quick)
        fputs("code of the quick tier has no vectors of them", out);
    else if (asked != PXR_COLLAPSE_AUTO && asked != PXR_COLLAPSE_VECTOR)
        fprintf(out, "--collapse=%s asks for no vectors, and %s", pxr_collapse_name(asked),
                c->collapsing.why);
    else if (thread_count(c) == 1)
        fputs("there are no others to make a vector of", out);
    else if (c->vectors.reason[0] != '\0')
        fputs(c->vectors.reason, out);
    else
        fputs("there is no loop that could be one over vectors of them", out);
}

static void print_why_stacks(FILE *out, const struct tr_compilation *c)
{
    if (c->budget->effort >= TR_EFFORT_THREAD)
        print_too_long(out, c, "anything else");
    else
        fputs(c->collapsing.why, out);
    if (c->budget->effort < TR_EFFORT_THREAD && c->collapsing.why_line > 0)
        fprintf(out, " (line %u)", c->collapsing.why_line);
}

/* What was asked for is reason enough, unless it is something else that has come of it. */
static bool is_as_asked(const struct tr_compilation *c, enum pxr_collapse asked)
{
    return asked == c->collapse && c->budget->effort < TR_EFFORT_SHORT;
}

static void print_sentence(FILE *out, const struct tr_compilation *c, enum pxr_collapse asked)
{
    bool is_vector = c->collapse == PXR_COLLAPSE_VECTOR;
    bool is_loops = !is_vector && pxr_collapse_is_fused(c->collapse);
    (is_vector ? print_vectors : is_loops ? print_loops : print_stacks)(out, c);
    fputs(", because ", out);
    if (is_as_asked(c, asked))
        fprintf(out, "--collapse=%s asks for it", pxr_collapse_name(asked));
    else if (is_vector)
        print_why_vectors(out, &c->vectors);
    else if (is_loops)
        print_why_loops(out, c, asked);
    else
        print_why_stacks(out, c);
    if (is_vector)
        print_why_not_all(out, &c->vectors);
    fputs(".\n", out);
    if (c->budget->is_quick)
        fputs("code of the quick tier: compiled fast, with few of the compiler's optimisations\n",
              out);
}

/* ---- the rest ---- */

/* Each line of the text as a detail. */
static void print_details(FILE *out, const char *text)
{
    for (const char *line = text; *line != '\0';) {
        size_t len = strcspn(line, "\n");
        fprintf(out, "\t%.*s\n", (int)len, line);
        line += len + (line[len] == '\n');
    }
}

static void print_barriers(FILE *out, const struct tr_barrier_report *barriers)
{
    uint32_t gone = barriers->removed_count + barriers->merged_count;
    if (gone > 0)
        fprintf(out,
                "%u of %u barriers removed: they order nothing, or nothing that others do not\n",
                gone, barriers->barrier_count);
    if (barriers->text != NULL)
        print_details(out, barriers->text);
}

static void print_matrices(FILE *out, LLVMModuleRef module)
{
    LLVMValueRef dots = LLVMGetNamedFunction(module, TR_BF16_DOTS);
    if (dots != NULL && LLVMGetFirstUse(dots) != NULL)
        fputs(
            "products of matrices of bf16: dot products of the CPU, rounded otherwise and without "
            "subnormals (--matrix=fast)\n",
            out);
}

static void print_flushes(FILE *out, LLVMModuleRef module)
{
    if (tr_has_flush_mode(module))
        fputs("subnormals: flushed by the CPU, as all f32 arithmetic has .ftz\n", out);
}

enum pxr_status tr_explain(const struct tr_compilation *compilation, enum pxr_collapse asked,
                           char **text, struct pxr_error *err)
{
    char spent[TR_BUDGET_TEXT_BYTES];
    size_t len = 0;
    FILE *out = open_memstream(text, &len);
    if (out == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    print_sentence(out, compilation, asked);
    if (pxr_collapse_is_fused(compilation->collapse))
        tr_collapsing_explain(&compilation->collapsing, out);
    if (compilation->vectors.explanation != NULL)
        fputs(compilation->vectors.explanation, out);
    print_matrices(out, compilation->module);
    print_flushes(out, compilation->module);
    print_barriers(out, &compilation->barriers);
    tr_budget_text(compilation->budget, spent);
    print_details(out, spent);
    if (fclose(out) != 0)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    return PXR_OK;
}
