/* SPDX-License-Identifier: Apache-2.0
 *
 * The vectoriser's face: each marked nest in turn.
 */
#include <stdio.h>
#include <stdlib.h>

#include "translator/module/budget.h"
#include "translator/vector/explain.h"
#include "translator/vector/group_loop.h"
#include "translator/vector/memory/bit_vectors.h"

struct vectoriser {
    LLVMValueRef function;
    const struct tr_vector_options *options;
    struct tr_tuning_hooks tuning;
    struct tr_vector_report *report;
    struct tr_explanation explanation;
};

static void versions_fini(struct tr_versions *versions)
{
    tr_iteration_fini(&versions->fast);
    tr_iteration_fini(&versions->masked);
}

/* Iterations whose threads have quotients in common go on group by group. */
static enum pxr_status form_groups(struct tr_nest *nest, struct tr_iteration *iteration,
                                   const char **obstacle, struct pxr_error *err)
{
    struct tr_groups groups = tr_find_groups(iteration);
    if (groups.count == 0 || !tr_build_groups(iteration, &groups, &nest->x))
        return PXR_OK;
    const struct tr_target *target = iteration->target;
    tr_iteration_fini(iteration);
    return tr_iteration_build(iteration, target, nest, false, NULL, obstacle, err);
}

/* Fills *obstacle if the iteration cannot be widened. */
static enum pxr_status build_versions(const struct vectoriser *vectoriser, struct tr_nest *nest,
                                      bool is_jammed, bool may_have_groups,
                                      struct tr_versions *versions, const char **obstacle,
                                      struct pxr_error *err)
{
    const struct tr_target *target = vectoriser->options->target;
    bool has_places = vectoriser->tuning.has_common_places;
    *versions = (struct tr_versions){0};
    enum pxr_status status =
        tr_iteration_build(&versions->masked, target, nest, is_jammed, NULL, obstacle, err);
    if (status == PXR_OK && *obstacle == NULL && may_have_groups && !is_jammed)
        status = form_groups(nest, &versions->masked, obstacle, err);
    if (status != PXR_OK || *obstacle != NULL)
        return status;
    return tr_iteration_build_fast(&versions->fast, &versions->masked, nest, is_jammed, has_places,
                                   &versions->expected, obstacle, err);
}

static enum pxr_status plan_accesses(const struct vectoriser *vectoriser,
                                     struct tr_iteration *iteration, uint32_t width,
                                     struct pxr_error *err)
{
    return tr_plan_accesses(iteration, width, vectoriser->tuning.accesses, err);
}

/* Iterations with at most so many instructions, times copies, have no guards, if nothing else is
 * expected that comes behind them: where not all lanes go on, the others are masked, all copies
 * side by side. This is more code, but faster at borders. Nor have concise nests, of which there is
 * one version. */
#define GUARDLESS_MAX 320

static enum pxr_status drop_guards(const struct vectoriser *vectoriser, const struct tr_nest *nest,
                                   bool is_jammed, const struct tr_shape_of_nest *shape,
                                   struct tr_versions *versions, struct pxr_error *err)
{
    const char *obstacle = NULL;
    uint32_t copies = shape->jam[0] * shape->jam[1];
    struct tr_expectations *expected = &versions->expected;
    if (expected->guard_count == 0 || expected->common_count > 0 || expected->has_groups ||
        (!shape->is_concise && shape->estimate.length * copies > GUARDLESS_MAX))
        return PXR_OK;
    expected->guard_count = 0;
    tr_iteration_fini(&versions->fast);
    enum pxr_status status = tr_iteration_build(&versions->fast, versions->masked.target, nest,
                                                is_jammed, expected, &obstacle, err);
    return status == PXR_OK ? plan_accesses(vectoriser, &versions->fast, shape->width, err)
                            : status;
}

/* Whether branches are passed with more vectors than there are registers. */
static bool is_beyond_registers(const struct tr_target *target,
                                const struct tr_shape_of_nest *shape)
{
    uint32_t registers = target->masks_all ? 32 : 16;
    return shape->jam[0] * shape->jam[1] * shape->estimate.live > registers;
}

/* The code generator does not do so by itself for what it keeps on the stack, and an access across
 * two lines of the caches takes twice the time. It costs a register, that of the frame. */
static void align_stack(LLVMValueRef function, uint32_t bytes)
{
    static const char name[] = "alignstack";
    LLVMContextRef llvm = LLVMGetTypeContext(LLVMTypeOf(function));
    unsigned kind = LLVMGetEnumAttributeKindForName(name, sizeof name - 1);
    LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(llvm, kind, bytes));
}

/* Chooses the nest's size. working: as tr_choose has it. */
static enum pxr_status choose(const struct vectoriser *vectoriser, const struct tr_nest *nest,
                              LLVMValueRef working, struct tr_versions *versions,
                              struct tr_shape_of_nest *shape, struct pxr_error *err)
{
    const struct tr_vector_options *options = vectoriser->options;
    struct tr_element_bits bits = {0};
    struct tr_width width = tr_choose_width(nest, working, bits, options);
    enum pxr_status status = plan_accesses(vectoriser, &versions->fast, width.lanes, err);
    if (status == PXR_OK)
        status = tr_find_element_bits(&versions->fast, &bits, err);
    width = tr_choose_width(nest, working, bits, options);
    if (status == PXR_OK)
        status = plan_accesses(vectoriser, &versions->fast, width.lanes, err);
    if (status == PXR_OK)
        status = plan_accesses(vectoriser, &versions->masked, width.lanes, err);
    return status == PXR_OK ? tr_choose(nest, working, width, versions, options, shape, err)
                            : status;
}

/* Builds the versions of a nest that had better have no groups, and chooses again. */
static enum pxr_status choose_without_groups(const struct vectoriser *vectoriser,
                                             struct tr_nest *nest, LLVMValueRef working,
                                             struct tr_versions *versions,
                                             struct tr_shape_of_nest *shape, struct pxr_error *err)
{
    const char *obstacle = NULL; /* there was none */
    tr_drop_groups(&versions->masked);
    versions_fini(versions);
    enum pxr_status status =
        build_versions(vectoriser, nest, false, false, versions, &obstacle, err);
    return status == PXR_OK ? choose(vectoriser, nest, working, versions, shape, err) : status;
}

static enum pxr_status widen(struct vectoriser *vectoriser, struct tr_nest *nest,
                             struct tr_versions *versions, bool is_jammed, struct pxr_error *err)
{
    struct tr_vector_report *report = vectoriser->report;
    struct tr_nest shorter = *nest;
    struct tr_shape_of_nest shape;
    if (vectoriser->tuning.shorten != NULL)
        shorter.x.count = vectoriser->tuning.shorten(nest, &versions->masked, is_jammed);
    if (shorter.x.count != nest->x.count)
        shorter.x.block_row = 0;
    enum pxr_status status = choose(vectoriser, nest, shorter.x.count, versions, &shape, err);
    if (status == PXR_OK && versions->fast.has_groups && shape.least_divisor == 0)
        status = choose_without_groups(vectoriser, nest, shorter.x.count, versions, &shape, err);
    if (status == PXR_OK)
        status = drop_guards(vectoriser, nest, is_jammed, &shape, versions, err);
    if (status != PXR_OK)
        return status;
    bool is_widened = shape.is_worthwhile || vectoriser->options->is_forced;
    status = tr_explain_nest(&vectoriser->explanation, versions, &shape, is_widened, err);
    if (!is_widened)
        tr_drop_groups(&versions->masked);
    if (!is_widened && shorter.x.count != nest->x.count)
        tr_counted_shorten(&nest->x, shorter.x.count);
    if (!is_widened || status != PXR_OK)
        return status;
    status = tr_widen_nest(&shorter, versions, is_jammed, &shape, vectoriser->options,
                           &vectoriser->tuning, &report->seed_sites, err);
    if (status != PXR_OK)
        return status;
    if (is_beyond_registers(vectoriser->options->target, &shape))
        align_stack(vectoriser->function, vectoriser->options->target->vector_bits / 8);
    report->has_widths |= report->width != 0 && report->width != shape.width;
    report->widened_count++;
    if (shape.width > report->width)
        report->width = shape.width;
    if (shape.jam[0] * shape.jam[1] > report->jam)
        report->jam = shape.jam[0] * shape.jam[1];
    return PXR_OK;
}

static enum pxr_status split_rows(const struct vectoriser *vectoriser, struct tr_nest *nest,
                                  struct pxr_error *err)
{
    const struct tr_vector_options *options = vectoriser->options;
    uint32_t width = options->width != 0 ? options->width : options->target->vector_bits / 32;
    return vectoriser->tuning.split_rows == NULL ? PXR_OK
                                                 : vectoriser->tuning.split_rows(nest, width, err);
}

static enum pxr_status vectorise_nest(struct vectoriser *vectoriser, struct tr_nest *nest,
                                      struct pxr_error *err)
{
    const char *obstacle = nest->obstacle;
    struct tr_versions versions = {0};
    enum pxr_status status = PXR_OK;
    bool is_jammed = nest->y.header != NULL;
    if (obstacle == NULL)
        status = build_versions(vectoriser, nest, is_jammed, vectoriser->tuning.has_common_places,
                                &versions, &obstacle, err);
    if (status == PXR_OK && obstacle != NULL && is_jammed && nest->obstacle == NULL) {
        versions_fini(&versions);
        obstacle = NULL;
        is_jammed = false;
        status = build_versions(vectoriser, nest, false, vectoriser->tuning.has_common_places,
                                &versions, &obstacle, err);
    }
    if (status == PXR_OK && obstacle != NULL)
        status = tr_explain_obstacle(&vectoriser->explanation, nest, obstacle, err);
    else if (status == PXR_OK)
        status = widen(vectoriser, nest, &versions, is_jammed, err);
    versions_fini(&versions);
    return status;
}

/* Functions of more instructions, times copies, take too long to compile: their nests get fewer
 * copies, however short they are. */
#define FUNCTION_LENGTH_MAX 8000

static uint32_t copies_max(uint32_t length)
{
    return length >= FUNCTION_LENGTH_MAX ? 1 : FUNCTION_LENGTH_MAX / (length > 0 ? length : 1);
}

static enum pxr_status print_explanation(struct vectoriser *vectoriser, struct pxr_error *err)
{
    size_t bytes = 0;
    FILE *out = open_memstream(&vectoriser->report->explanation, &bytes);
    if (out != NULL)
        tr_paragraphs_print(&vectoriser->explanation.paragraphs, out);
    if (out == NULL || fclose(out) != 0)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "out of memory");
    return PXR_OK;
}

enum pxr_status tr_vectorise(LLVMValueRef function, const struct tr_vector_options *options,
                             struct tr_vector_report *report, struct pxr_error *err)
{
    struct tr_vector_options limited = *options;
    if (limited.function_length == 0)
        limited.function_length = tr_instruction_count(function);
    if (limited.copies_max == 0)
        limited.copies_max = copies_max(limited.function_length);
    struct vectoriser vectoriser = {
        .function = function,
        .options = &limited,
        .tuning = tr_tuning_hooks(options->skipped),
        .report = report,
        .explanation = {.report = report, .has_local_arrays = options->has_local_arrays}};
    struct tr_nest *nests = NULL;
    *report = (struct tr_vector_report){0};
    tr_bits_in_memory(function);
    enum pxr_status status = tr_find_nests(function, &nests, &report->nest_count, err);
    if (status == PXR_OK && tr_make_quotients_whole(function, nests, report->nest_count)) {
        free(nests); /* they name values that may be gone */
        status = tr_find_nests(function, &nests, &report->nest_count, err);
    }
    for (uint32_t i = 0; status == PXR_OK && i < report->nest_count; i++)
        status = split_rows(&vectoriser, &nests[i], err);
    tr_take_back_cuts(function); /* they have no rows in them */
    if (status == PXR_OK)
        tr_flip_parts(function, nests, report->nest_count);
    for (uint32_t i = 0; status == PXR_OK && i < report->nest_count; i++)
        status = vectorise_nest(&vectoriser, &nests[i], err);
    free(nests);
    if (status == PXR_OK)
        status = print_explanation(&vectoriser, err);
    tr_paragraphs_fini(&vectoriser.explanation.paragraphs);
    return status;
}
