/* SPDX-License-Identifier: Apache-2.0
 *
 * The middle of a compilation: what is known of launches is put into the code of one thread,
 * barriers that order nothing go, and the threads are collapsed.
 */
#include <llvm-c/Core.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/compile.h"
#include "translator/barriers/barriers.h"

/* .reqntid (PTX ISA "Performance-Tuning Directives"): launches with another shape are refused, so
 * it is a fact of all of them. */
static void add_required_shape(struct tr_facts *facts, const struct ptx_func *kernel)
{
    for (int d = 0; kernel && kernel->required_threads[0] && d < 3; d++)
        facts->block[d] = kernel->required_threads[d] ? kernel->required_threads[d] : 1;
}

static void dump_barriers(const struct jit_unit *unit, const struct tr_barrier_report *report,
                          const char *before)
{
    if (!before || report->removed_count + report->merged_count + report->forwarded_count == 0)
        return;
    jit_dump_write(&unit->dump, "barriers-before.ll", before, strlen(before));
    jit_unit_dump(unit, "barriers", "barriers.ll");
}

static enum pxr_status optimise_barriers(struct jit_unit *unit, const struct tr_facts *facts,
                                         struct tr_barrier_report *report, struct pxr_error *err)
{
    char *before = NULL;
    if (jit_dump_wants(&unit->dump, "barriers"))
        before = LLVMPrintModuleToString(unit->module);
    enum pxr_status status = tr_optimise_barriers(unit->module, unit->kernel, facts, report, err);
    if (status == PXR_OK)
        dump_barriers(unit, report, before);
    LLVMDisposeMessage(before);
    return status;
}

/* Lines of all; malloc, NULL when out of memory. */
static char *join_explanations(const char *collapse, const char *barriers,
                               const struct tr_budget *budget)
{
    char spent[TR_BUDGET_TEXT_BYTES];
    char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    if (!out)
        return NULL;
    fputs(collapse ? collapse : "", out);
    tr_budget_text(budget, spent);
    fputs(spent, out);
    if (barriers) {
        fputs("barriers:\n", out);
        for (const char *line = barriers; *line;) {
            size_t line_len = strcspn(line, "\n");
            fprintf(out, "  %.*s\n", (int)line_len, line);
            line += line_len + (line[line_len] == '\n');
        }
    }
    fclose(out);
    return text;
}

static enum pxr_status collapse(struct jit_unit *unit, const struct tr_collapse_options *options,
                                const struct tr_barrier_report *report, struct jit_seed *seed,
                                struct jit_object *object, struct pxr_error *err)
{
    struct tr_collapsed collapsed = {0};
    enum pxr_status status = tr_collapse(unit->module, options, &collapsed, err);
    if (status == PXR_OK) {
        object->collapse = collapsed.collapse;
        object->width = collapsed.width;
        object->jam = collapsed.jam;
        object->frame_fixed_bytes = collapsed.frame_fixed_bytes;
        object->frame_warp_bytes = collapsed.frame_warp_bytes;
        object->frame_thread_bytes = collapsed.frame_thread_bytes;
        object->may_wait = collapsed.may_wait;
        object->explanation = join_explanations(collapsed.explanation, report->text, &unit->budget);
        if (seed)
            seed->sites = collapsed.seed_sites;
    }
    free(collapsed.explanation);
    return status;
}

/* With the effort that is left. */
static enum pxr_status collapse_once(struct jit_unit *unit, const struct jit_variant *wanted,
                                     struct jit_seed *seed, struct jit_object *object,
                                     struct pxr_error *err)
{
    struct tr_facts facts = wanted->facts;
    add_required_shape(&facts, unit->kernel);
    enum tr_effort effort = unit->budget.effort;
    bool is_vector = wanted->collapse == PXR_COLLAPSE_VECTOR;
    enum pxr_collapse asked = effort < TR_EFFORT_THREAD ? wanted->collapse : PXR_COLLAPSE_PRECISE;
    struct tr_collapse_options options = {
        .collapse = asked,
        .budget = &unit->budget,
        .facts = &facts,
        .is_vector =
            effort < TR_EFFORT_LOOPS && (is_vector || wanted->collapse == PXR_COLLAPSE_AUTO),
        .is_forced = is_vector,
        .width = wanted->width,
        .jam = wanted->jam,
        .vector_bits = unit->target->vector_bits,
        .cache_bytes = unit->target->cache_bytes,
        .cache_share_bytes = unit->target->cache_share_bytes,
    };
    if (seed) {
        options.seed = seed->kind;
        options.seed_site = seed->site;
        options.keeps_loops = seed->keeps_loops;
    }
    struct tr_barrier_report report = {0};
    enum pxr_status status = PXR_OK;
    if (unit->kernel && effort < TR_EFFORT_SHORT)
        status = tr_assume_facts(unit->module, unit->kernel, &facts, &unit->budget, err);
    /* `precise` keeps every barrier: it is what the others are compared with. */
    if (status == PXR_OK && unit->kernel && asked != PXR_COLLAPSE_PRECISE)
        status = optimise_barriers(unit, &facts, &report, err);
    if (status == PXR_OK)
        status = collapse(unit, &options, &report, seed, object, err);
    tr_barrier_report_fini(&report);
    return status;
}

/* ---- what it may cost ---- */

/* Whether what is left of a compilation may take as long as a module of this size makes it. */
static bool allows_thread(struct tr_budget *budget, const struct tr_size *size)
{
    return tr_budget_allows(budget, TR_LIMIT_THREAD_INSTRUCTIONS, size->instructions) &&
           tr_budget_allows(budget, TR_LIMIT_THREAD_BLOCKS, size->blocks) &&
           tr_budget_allows(budget, TR_LIMIT_THREAD_SQUARE, size->square);
}

static bool allows_loops(struct tr_budget *budget, const struct tr_size *size)
{
    return tr_budget_allows(budget, TR_LIMIT_FUSED_INSTRUCTIONS, size->instructions) &&
           tr_budget_allows(budget, TR_LIMIT_FUSED_SQUARE, size->square);
}

static bool allows_vectors(struct tr_budget *budget, const struct tr_size *size)
{
    return tr_budget_allows(budget, TR_LIMIT_VECTOR_INSTRUCTIONS, size->instructions) &&
           tr_budget_allows(budget, TR_LIMIT_VECTOR_SQUARE, size->square);
}

/* Of what has been made. If not, other code has to be made with less effort; but for the code of
 * one thread, of which all efforts begin alike. */
static bool is_allowed(struct jit_unit *unit, enum pxr_collapse made)
{
    struct tr_size size;
    tr_module_size(unit->module, &size);
    if (made == PXR_COLLAPSE_VECTOR)
        return allows_vectors(&unit->budget, &size);
    if (pxr_collapse_is_fused(made))
        return allows_loops(&unit->budget, &size);
    allows_thread(&unit->budget, &size);
    return true;
}

/* Shorter kernels can be anything and are never too long. */
#define SHORT_KERNEL 100

enum pxr_status jit_unit_collapse(struct jit_unit *unit, const struct jit_variant *wanted,
                                  struct jit_seed *seed, struct jit_object *object,
                                  struct pxr_error *err)
{
    struct tr_size size;
    tr_module_size(unit->module, &size);
    allows_thread(&unit->budget, &size);
    bool may_fall = unit->budget.effort < TR_EFFORT_THREAD && size.instructions > SHORT_KERNEL &&
                    wanted->collapse != PXR_COLLAPSE_PRECISE;
    LLVMModuleRef spare = may_fall ? LLVMCloneModule(unit->module) : NULL;
    enum pxr_status status = collapse_once(unit, wanted, seed, object, err);
    while (status == PXR_OK && !is_allowed(unit, object->collapse) && spare) {
        LLVMDisposeModule(unit->module);
        unit->module = LLVMCloneModule(spare);
        free(object->explanation);
        object->explanation = NULL;
        status = collapse_once(unit, wanted, seed, object, err);
    }
    if (spare)
        LLVMDisposeModule(spare);
    if (status == PXR_OK)
        jit_unit_dump(unit, "collapse", "collapse.ll");
    return status;
}
