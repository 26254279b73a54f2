/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the table stage by stage, and the second stage again with less effort if its code would take
 * too long.
 */
#include "translator/pipeline.h"

#include <stdlib.h>
#include <string.h>

#include <llvm-c/Core.h>

#include "translator/explain.h"

/* ---- one step ---- */

static bool belongs(const struct tr_compilation *c, const struct tr_step *step)
{
    return (step->collapses >> c->collapse & 1) && (step->efforts >> c->budget->effort & 1) &&
           step->condition(c);
}

static bool may_run(const struct tr_compilation *c, const struct tr_step *step)
{
    const struct tr_observer *observer = &c->observer;
    return step->kind == TR_STEP_REQUIRED || observer->may_run == NULL ||
           observer->may_run(observer->data, step->name);
}

static enum pxr_status run_passes(const struct tr_compilation *c, const struct tr_step *step,
                                  struct pxr_error *err)
{
    /* The machine's preferences come last. */
    LLVMTargetMachineRef machine = step->stage == TR_STAGE_CODE ? c->machine : NULL;
    tr_spread_flush_mode(c->module);
    if (step->is_of_kernel) {
        LLVMValueRef kernel = LLVMGetNamedFunction(c->module, TR_KERNEL_NAME);
        return tr_run_function_passes(kernel, step->passes, machine, err);
    }
    return tr_run_passes(c->module, step->passes, machine, err);
}

static enum pxr_status run_step(struct tr_compilation *c, const struct tr_step *step,
                                struct pxr_error *err)
{
    const struct tr_observer *observer = &c->observer;
    if (observer->before != NULL)
        observer->before(observer->data, step, c->module);
    enum pxr_status status = step->run != NULL ? step->run(c, err) : run_passes(c, step, err);
    if (status != PXR_OK)
        return status;
    if (observer->after != NULL)
        observer->after(observer->data, step, c->module);
    c->marks = (c->marks | step->promises.makes) & ~step->promises.ends;
    return observer->verifies ? tr_verify_step(c->module, step, c->marks, err) : PXR_OK;
}

static enum pxr_status run_stage(struct tr_compilation *c, enum tr_stage stage,
                                 struct pxr_error *err)
{
    enum pxr_status status = PXR_OK;
    for (const struct tr_step *step = tr_steps; step < tr_steps + TR_STEP_COUNT; step++)
        if (status == PXR_OK && step->stage == stage && belongs(c, step) && may_run(c, step))
            status = run_step(c, step, err);
    return status;
}

/* ---- the program of one thread ---- */

enum pxr_status tr_make_thread(struct tr_compilation *c, const struct tr_source *source,
                               struct pxr_error *err)
{
    c->source = source;
    c->kernel = source->kernel;
    c->collapse = PXR_COLLAPSE_AUTO;
    enum pxr_status status = run_stage(c, TR_STAGE_THREAD, err);
    tr_end_emission(c->emission);
    c->emission = NULL;
    if (status != PXR_OK && c->module != NULL) {
        LLVMDisposeModule(c->module);
        c->module = NULL;
    }
    return status;
}

enum pxr_status tr_translate_kernel(const struct ptx_module *ptx, const struct ptx_func *kernel,
                                    const struct ptx_kernel_layout *layout,
                                    const struct tr_options *options, LLVMContextRef context,
                                    LLVMModuleRef *module, struct pxr_error *err)
{
    struct tr_budget own = {0};
    struct tr_options with_budget = *options;
    if (with_budget.budget == NULL)
        with_budget.budget = &own;
    struct tr_source source = {.ptx = ptx,
                               .kernel = kernel,
                               .layout = layout,
                               .options = &with_budget,
                               .context = context};
    struct tr_compilation c = {.budget = with_budget.budget};
    enum pxr_status status = tr_make_thread(&c, &source, err);
    *module = c.module;
    return status;
}

/* ---- what it may cost ---- */

/* Of long blocks it is LLVM's good code generation that takes long; the quick tier splits them. */
static bool allows_pairs(struct tr_budget *budget, enum tr_limit limit, const struct tr_size *size)
{
    return budget->effort == TR_EFFORT_QUICK || tr_budget_allows(budget, limit, size->square);
}

/* Whether the rest of a compilation may take as long as a module of this size makes it. */
static bool allows_thread(struct tr_budget *budget, const struct tr_size *size)
{
    return tr_budget_allows(budget, TR_LIMIT_THREAD_INSTRUCTIONS, size->instructions) &&
           tr_budget_allows(budget, TR_LIMIT_THREAD_BLOCKS, size->blocks) &&
           allows_pairs(budget, TR_LIMIT_THREAD_SQUARE, size) &&
           tr_budget_allows(budget, TR_LIMIT_VECTOR_BLOCKS, size->blocks) &&
           tr_budget_allows(budget, TR_LIMIT_TARGETS, size->targets);
}

static bool allows_loops(struct tr_budget *budget, const struct tr_size *size)
{
    return tr_budget_allows(budget, TR_LIMIT_FUSED_INSTRUCTIONS, size->instructions) &&
           allows_pairs(budget, TR_LIMIT_FUSED_SQUARE, size);
}

/* Vectors gain less where a warp's own operations are most of the work. */
static bool allows_vectors(const struct tr_compilation *c, const struct tr_size *size)
{
    bool is_by_warp = c->collapsing.kernel.scope == TR_SCOPE_WARP;
    enum tr_limit pairs = is_by_warp ? TR_LIMIT_LANES_SQUARE : TR_LIMIT_VECTOR_SQUARE;
    return tr_budget_allows(c->budget, TR_LIMIT_VECTOR_INSTRUCTIONS, size->instructions) &&
           tr_budget_allows(c->budget, pairs, size->square);
}

/* Whether the budget allows the code made so far. If not, other code is made with less effort; not
 * so the code of one thread, which is the same for all efforts at first. */
static bool is_allowed(const struct tr_compilation *c)
{
    struct tr_size size;
    tr_module_size(c->module, &size);
    if (c->collapse == PXR_COLLAPSE_VECTOR)
        return allows_vectors(c, &size);
    if (pxr_collapse_is_fused(c->collapse))
        return allows_loops(c->budget, &size);
    allows_thread(c->budget, &size);
    return true;
}

/* ---- the program of a block ---- */

static void forget_block(struct tr_compilation *c)
{
    tr_collapsing_fini(&c->collapsing);
    tr_barrier_report_fini(&c->barriers);
    free(c->vectors.explanation);
    c->collapsing = (struct tr_collapsing){0};
    c->barriers = (struct tr_barrier_report){0};
    c->vectors = (struct tr_vector_report){0};
    c->streaming = (struct tr_streaming){0};
    c->has_private_order = false;
    c->may_vectorise = false;
    c->has_samplers = false;
    c->marks = 0;
}

void tr_compilation_fini(struct tr_compilation *c)
{
    forget_block(c);
}

/* Compiles with the effort that is left. */
static enum pxr_status make_once(struct tr_compilation *c, const struct tr_facts *facts,
                                 const struct tr_collapse_options *asked, struct pxr_error *err)
{
    enum tr_effort effort = c->budget->effort;
    bool is_vector = asked->collapse == PXR_COLLAPSE_VECTOR;
    forget_block(c);
    c->options = *asked;
    c->options.facts = facts;
    c->options.budget = c->budget;
    if (effort >= TR_EFFORT_THREAD)
        c->options.collapse = PXR_COLLAPSE_PRECISE;
    c->options.is_forced = is_vector;
    c->options.is_vector =
        effort < TR_EFFORT_LOOPS && (is_vector || asked->collapse == PXR_COLLAPSE_AUTO);
    tr_collapsing_init(&c->collapsing, c->module, &c->options);
    c->collapse = c->options.collapse;
    return run_stage(c, TR_STAGE_BLOCK, err);
}

/* Shorter kernels are never too long, whatever becomes of them; loops of the quick tier are a few
 * times as long as the kernel. */
#define SHORT_KERNEL       100
#define SHORT_QUICK_KERNEL 2000

static uint64_t shortest(const struct tr_budget *budget)
{
    return budget->effort == TR_EFFORT_QUICK ? SHORT_QUICK_KERNEL : SHORT_KERNEL;
}

static enum pxr_status make_allowed(struct tr_compilation *c, const struct tr_facts *facts,
                                    const struct tr_collapse_options *options,
                                    struct pxr_error *err)
{
    struct tr_size size;
    tr_module_size(c->module, &size);
    allows_thread(c->budget, &size);
    bool may_fall = c->budget->effort < TR_EFFORT_THREAD &&
                    size.instructions > shortest(c->budget) &&
                    options->collapse != PXR_COLLAPSE_PRECISE;
    LLVMModuleRef spare = may_fall ? LLVMCloneModule(c->module) : NULL;
    enum pxr_status status = make_once(c, facts, options, err);
    while (status == PXR_OK && !is_allowed(c) && spare != NULL) {
        LLVMDisposeModule(c->module);
        c->module = LLVMCloneModule(spare);
        status = make_once(c, facts, options, err);
    }
    if (spare != NULL)
        LLVMDisposeModule(spare);
    return status;
}

static bool calls_any(LLVMModuleRef module,
                      bool (*is_meant)(const struct rt_placeholder_info *info))
{
    for (unsigned i = RT_CALL_NONE + 1; i < RT_PLACEHOLDER_COUNT; i++)
        if (is_meant(&rt_placeholders[i]) &&
            LLVMGetNamedFunction(module, rt_placeholders[i].name) != NULL)
            return true;
    return false;
}

static bool waits_for_block(const struct rt_placeholder_info *info)
{
    return info->sync != RT_SYNC_NONE && info->sync != RT_SYNC_WARP;
}

static bool waits_for_anybody(const struct rt_placeholder_info *info)
{
    return info->waits == RT_WAITS_ANYBODY;
}

/* Of threads with stacks of their own. */
static void report_threads(LLVMModuleRef module, struct tr_collapsed *result)
{
    result->may_wait = calls_any(module, waits_for_anybody);
    /* None waits for one that has not begun. */
    result->hands_over = !calls_any(module, waits_for_block);
}

enum pxr_status tr_make_block(struct tr_compilation *c, const struct tr_facts *facts,
                              const struct tr_collapse_options *options,
                              struct tr_collapsed *result, struct pxr_error *err)
{
    *result = (struct tr_collapsed){0};
    enum pxr_status status = make_allowed(c, facts, options, err);
    if (status == PXR_OK) {
        if (pxr_collapse_is_fused(c->collapse))
            tr_collapsing_report(&c->collapsing, result);
        else
            report_threads(c->module, result);
        result->waits_again = c->collapsing.waits_again;
        result->collapse = c->collapse;
        if (c->collapse == PXR_COLLAPSE_VECTOR) {
            result->width = c->vectors.width;
            result->jam = c->vectors.jam;
        }
        status = tr_explain(c, options->collapse, &result->explanation, err);
    }
    forget_block(c);
    return status;
}

/* ---- what the code generator gets ---- */

enum pxr_status tr_make_code(struct tr_compilation *c, enum pxr_collapse collapse,
                             struct pxr_error *err)
{
    /* Code that nobody collapsed is the code of a thread. */
    c->collapse = collapse == PXR_COLLAPSE_AUTO ? PXR_COLLAPSE_PRECISE : collapse;
    c->marks = UINT32_MAX & ~TR_MARKS(LINE);
    return run_stage(c, TR_STAGE_CODE, err);
}
