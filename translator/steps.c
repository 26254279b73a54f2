/* SPDX-License-Identifier: Apache-2.0
 *
 * The bodies and conditions of pipeline.def: the work of a step is in its folder, and this file
 * gives it the parts of the compilation that it needs.
 */
#include "translator/analysis/analysis.h"
#include "translator/barriers/early_reads.h"
#include "translator/barriers/exchanges.h"
#include "translator/barriers/join_races.h"
#include "translator/barriers/last_elements.h"
#include "translator/barriers/loop_races.h"
#include "translator/barriers/meeting_checks.h"
#include "translator/barriers/merge_races.h"
#include "translator/barriers/one_reading.h"
#include "translator/barriers/untold_races.h"
#include "translator/collapse/tuning/line_up.h"
#include "translator/collapse/tuning/nontemporal.h"
#include "translator/collapse/tuning/unroll.h"
#include "translator/collapse/tuning/walk.h"
#include "translator/emit/source_lines.h"
#include "translator/facts/fixed_samplers.h"
#include "translator/module/checks.h"
#include "translator/module/keep_lines.h"
#include "translator/module/link_rt.h"
#include "translator/module/written_values.h"
#include "translator/pipeline.h"

/* ---- conditions ---- */

static bool always(const struct tr_compilation *c)
{
    (void)c;
    return true;
}

static bool tells_source_lines(const struct tr_compilation *c)
{
    return c->places != NULL;
}

static bool has_facts(const struct tr_compilation *c)
{
    return c->kernel != NULL;
}

/* With more loops, facts about their counters are not used: the time grows with the square of their
 * number. */
#define MANY_LOOPS 150

static bool has_many_loops(const struct tr_compilation *c)
{
    return has_facts(c) && c->budget->loops > MANY_LOOPS;
}

static bool has_few_loops(const struct tr_compilation *c)
{
    return has_facts(c) && !has_many_loops(c);
}

static bool has_samplers(const struct tr_compilation *c)
{
    return c->has_samplers;
}

static bool has_polls(const struct tr_compilation *c)
{
    return c->collapsing.has_polls;
}

static bool has_calls(const struct tr_compilation *c)
{
    LLVMValueRef first = LLVMGetFirstFunction(c->module);
    for (LLVMValueRef f = first; f != NULL; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && LLVMGetFirstUse(f) != NULL)
            return true;
    return false;
}

static bool may_unroll(const struct tr_compilation *c)
{
    return !c->options.keeps_loops;
}

static bool has_sync_loops(const struct tr_compilation *c)
{
    return may_unroll(c) && c->collapsing.has_sync_loops;
}

static bool is_seeded(const struct tr_compilation *c)
{
    return c->options.seed == TR_SEED_MISSING_SYNC;
}

static bool wants_vectors(const struct tr_compilation *c)
{
    return c->options.is_vector;
}

static bool has_interleaved(const struct tr_compilation *c)
{
    return c->collapsing.has_interleaved;
}

static bool may_vectorise(const struct tr_compilation *c)
{
    return c->may_vectorise;
}

static bool may_pass_caches(const struct tr_compilation *c)
{
    return wants_vectors(c) && c->options.target->cache_bytes > 0;
}

static bool has_private_order(const struct tr_compilation *c)
{
    return may_vectorise(c) && c->has_private_order;
}

static bool has_nontemporal(const struct tr_compilation *c)
{
    return c->streaming.of_all != NULL;
}

/* Instructions of all functions. */
#define LONG_MODULE 12000

static bool is_long(const struct tr_compilation *c)
{
    uint64_t count = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f != NULL; f = LLVMGetNextFunction(f))
        count += tr_instruction_count(f);
    return count > LONG_MODULE;
}

static bool is_of_usual_length(const struct tr_compilation *c)
{
    return !is_long(c);
}

/* ---- the program of one thread ---- */

static enum pxr_status emit(struct tr_compilation *c, struct pxr_error *err)
{
    return tr_emit_module(c->source, &c->emission, &c->module, err);
}

static enum pxr_status link_helpers(struct tr_compilation *c, struct pxr_error *err)
{
    enum pxr_status status = tr_link_rt(c->module, false, err);
    if (status == PXR_OK)
        tr_measure_module(c->emission);
    return status;
}

static enum pxr_status define_undefined(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_define_undefined(c->module);
    return PXR_OK;
}

static bool has_written_marks(const struct tr_compilation *c)
{
    return tr_has_written_marks(c->module);
}

static enum pxr_status follow_written(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_follow_written(c->module, true);
    return PXR_OK;
}

static enum pxr_status drop_written_marks(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_follow_written(c->module, false);
    return PXR_OK;
}

static enum pxr_status call_helpers(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_call_helpers(c->module);
    return PXR_OK;
}

static enum pxr_status ask_low_bits(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_ask_low_bits(c->module);
    return PXR_OK;
}

static enum pxr_status clear_registers(struct tr_compilation *c, struct pxr_error *err)
{
    tr_clear_registers(c->emission);
    return tr_inline_tiny(c->module, err);
}

/* ---- the program of a block ---- */

static enum pxr_status assume_facts(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_assume_facts(c->module, c->kernel, c->options.facts);
    return PXR_OK;
}

static enum pxr_status use_signs(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_use_signs(c->module);
    return PXR_OK;
}

static enum pxr_status divide_once(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_divide_once(c->module);
    return PXR_OK;
}

static enum pxr_status count_even_trips(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_count_even_trips(c->module);
    return PXR_OK;
}

static enum pxr_status fix_samplers(struct tr_compilation *c, struct pxr_error *err)
{
    return tr_fix_samplers(c->module, &c->has_samplers, err);
}

static bool has_meeting_checks(const struct tr_compilation *c)
{
    return tr_has_meeting_checks(c->module);
}

/* A check that stays counts arrivals of a barrier that has to stay, too. */
static bool has_free_barriers(const struct tr_compilation *c)
{
    return has_facts(c) && !has_meeting_checks(c);
}

static enum pxr_status drop_meeting_checks(struct tr_compilation *c, struct pxr_error *err)
{
    return tr_drop_meeting_checks(c->module, c->options.facts, err);
}

static bool has_untold_races(const struct tr_compilation *c)
{
    return tr_has_untold_races(c->module);
}

static enum pxr_status mark_untold_races(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_mark_untold_races(c->module);
    return PXR_OK;
}

static bool has_race_checks(const struct tr_compilation *c)
{
    return tr_has_race_checks(c->module);
}

static enum pxr_status join_races(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_join_races(c->module);
    return PXR_OK;
}

static enum pxr_status tell_races_of_loops(struct tr_compilation *c, struct pxr_error *err)
{
    return tr_tell_races_of_loops(c->module, err);
}

static enum pxr_status optimise_barriers(struct tr_compilation *c, struct pxr_error *err)
{
    return tr_optimise_barriers(c->module, c->kernel, c->options.facts, &c->barriers, err);
}

static enum pxr_status order_exchanges(struct tr_compilation *c, struct pxr_error *err)
{
    enum pxr_status status = tr_read_once(c->module, c->options.facts, err);
    return status != PXR_OK ? status : tr_order_exchanges(c->module, c->options.facts, err);
}

static enum pxr_status keep_early_reads(struct tr_compilation *c, struct pxr_error *err)
{
    enum pxr_status status = tr_share_last_elements(c->module, c->options.facts, err);
    return status != PXR_OK ? status
                            : tr_keep_early_reads(c->module, c->kernel, c->options.facts, err);
}

/* A step of collapse/collapsing.h, which may change the collapse. */
#define COLLAPSING_STEP(name)                                                                      \
    static enum pxr_status name(struct tr_compilation *c, struct pxr_error *err)                   \
    {                                                                                              \
        enum pxr_status status = tr_##name(&c->collapsing, err);                                   \
        c->collapse = c->collapsing.collapse;                                                      \
        return status;                                                                             \
    }
COLLAPSING_STEP(inline_sync_points)
COLLAPSING_STEP(bind_polls)
COLLAPSING_STEP(hide_plain_loops)
COLLAPSING_STEP(show_plain_loops)
COLLAPSING_STEP(make_pointers)
COLLAPSING_STEP(find_obstacles)
COLLAPSING_STEP(choose_collapse)
COLLAPSING_STEP(seed_sync_points)
COLLAPSING_STEP(interleave_arrays)
COLLAPSING_STEP(line_up_warps)
COLLAPSING_STEP(form_regions)
COLLAPSING_STEP(plan_crossings)
COLLAPSING_STEP(choose_walk)
COLLAPSING_STEP(build_blocks)
COLLAPSING_STEP(keep_threads)
#undef COLLAPSING_STEP

static bool has_memory_checks(const struct tr_compilation *c)
{
    return tr_has_memory_checks(c->module);
}

static bool has_number_checks(const struct tr_compilation *c)
{
    return tr_has_number_checks(c->module);
}

static bool has_checks(const struct tr_compilation *c)
{
    return has_memory_checks(c) || has_number_checks(c);
}

static enum pxr_status drop_idle_checks(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_drop_idle_checks(c->module);
    return PXR_OK;
}

static enum pxr_status merge_checks(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_merge_checks(c->module);
    return PXR_OK;
}

static enum pxr_status merge_races(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_merge_races(c->module);
    return PXR_OK;
}

static enum pxr_status ask_private_order(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    c->has_private_order = tr_has_private_order(c->collapsing.function);
    return PXR_OK;
}

static enum pxr_status link_fused(struct tr_compilation *c, struct pxr_error *err)
{
    return tr_link_rt(c->module, false, err);
}

/* The block's data change within a chunk of blocks. */
static enum pxr_status bind_sregs(struct tr_compilation *c, struct pxr_error *err)
{
    return tr_bind_sregs(c->module, pxr_collapse_is_fused(c->collapse), err);
}

static enum pxr_status inline_tiny(struct tr_compilation *c, struct pxr_error *err)
{
    return tr_inline_tiny(c->module, err);
}

static enum pxr_status ask_loops(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    struct tr_size size;
    tr_module_size(c->module, &size);
    c->may_vectorise = tr_budget_allows(c->budget, TR_LIMIT_LOOP_INSTRUCTIONS, size.instructions);
    return PXR_OK;
}

static enum pxr_status keep_lines(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_lines_mark(c->module);
    return PXR_OK;
}

static enum pxr_status restore_lines(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_lines_restore(c->module);
    return PXR_OK;
}

static LLVMValueRef kernel_function(const struct tr_compilation *c)
{
    return LLVMGetNamedFunction(c->module, TR_KERNEL_NAME);
}

static enum pxr_status place_values(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_place_values(kernel_function(c));
    return PXR_OK;
}

static enum pxr_status narrow_values(struct tr_compilation *c, struct pxr_error *err)
{
    return tr_narrow_values(c->module, err);
}

static enum pxr_status mark_nontemporal(struct tr_compilation *c, struct pxr_error *err)
{
    const struct tr_target *target = c->options.target;
    return tr_mark_streams(kernel_function(c), target->cache_bytes, target->cache_share_bytes,
                           &c->streaming, err);
}

/* A set of 1 << enum tr_tuning. */
static uint32_t skipped_tuning(const struct tr_compilation *c)
{
    uint32_t skipped = 0;
    for (uint32_t i = 0; c->observer.may_run != NULL && i < TR_TUNING_COUNT; i++)
        if (!c->observer.may_run(c->observer.data, tr_tuning_steps[i].name))
            skipped |= UINT32_C(1) << i;
    return skipped;
}

static enum pxr_status vectorise(struct tr_compilation *c, struct pxr_error *err)
{
    const struct tr_frame *frame = &c->collapsing.fuse.frame;
    struct tr_vector_options wanted = {.width = c->options.width,
                                       .jam = c->options.jam,
                                       .target = c->options.target,
                                       .budget = c->budget,
                                       .has_local_arrays =
                                           frame->interleaved_count + frame->piece_count > 0,
                                       .skipped = skipped_tuning(c),
                                       .is_forced = c->options.is_forced,
                                       .streaming = c->streaming};
    c->budget->spent = 0;
    enum pxr_status status = tr_vectorise(kernel_function(c), &wanted, &c->vectors, err);
    if (status == PXR_OK && c->vectors.widened_count > 0)
        c->collapse = PXR_COLLAPSE_VECTOR;
    return status;
}

static enum pxr_status end_nontemporal(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_end_streams(kernel_function(c), &c->streaming);
    return PXR_OK;
}

/* ---- what the code generator wants ---- */

static bool has_flushing_sums(const struct tr_compilation *c)
{
    return tr_has_flushing_sums(c->module);
}

static enum pxr_status call_flushing_sums(struct tr_compilation *c, struct pxr_error *err)
{
    return tr_call_flushing_sums(c->module, err);
}

static enum pxr_status link_checks(struct tr_compilation *c, struct pxr_error *err)
{
    return tr_link_checks(c->module, err);
}

static enum pxr_status split_blocks(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_split_blocks(c->module);
    return PXR_OK;
}

static bool lacks_halves(const struct tr_compilation *c)
{
    return c->lacks_halves;
}

static enum pxr_status convert_halves(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_convert_halves(c->module);
    return PXR_OK;
}

static enum pxr_status part_multiply_adds(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_part_multiply_adds(c->module, c->lacks_multiply_adds, c->has_roundings);
    return PXR_OK;
}

static enum pxr_status saturate_vectors(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_saturate_vectors(c->module);
    return PXR_OK;
}

static enum pxr_status widen_shuffles(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_widen_shuffles(c->module);
    return PXR_OK;
}

static bool has_flush_mode(const struct tr_compilation *c)
{
    return tr_has_flush_mode(c->module);
}

static enum pxr_status end_flushes(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_end_flushes(c->module);
    return PXR_OK;
}

static enum pxr_status part_accesses(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_part_accesses(c->module);
    return PXR_OK;
}

static enum pxr_status hide_narrow_steps(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_hide_narrow_steps(c->module);
    return PXR_OK;
}

static enum pxr_status mend_one_lane(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_mend_one_lane_stores(c->module);
    return PXR_OK;
}

static enum pxr_status mend_bit_choices(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_mend_bit_choices(c->module);
    return PXR_OK;
}

static enum pxr_status take_quotients_back(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    /* Of a known block's places LLVM finds out that they are not negative: shifts are short then.
     */
    const struct tr_facts *facts = c->options.facts;
    tr_take_quotients_back(c->module, facts == NULL || facts->block[0] == 0);
    return PXR_OK;
}

static enum pxr_status mend_shifted_masks(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_mend_shifted_masks(c->module);
    return PXR_OK;
}

static enum pxr_status mend_element_numbers(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_mend_element_numbers(c->module);
    return PXR_OK;
}

static bool loses_selects(const struct tr_compilation *c)
{
    return tr_loses_selects(c->module);
}

static enum pxr_status keep_selects(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_keep_selects(c->module);
    return PXR_OK;
}

static enum pxr_status lower_whole(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_lower_whole_accesses(c->module, c->has_whole_loads);
    return PXR_OK;
}

static enum pxr_status tell_source_lines(struct tr_compilation *c, struct pxr_error *err)
{
    (void)err;
    tr_tell_source_lines(c->module, c->places);
    return PXR_OK;
}

/* ---- the table ---- */

enum {
    BIT_PRECISE = 1 << PXR_COLLAPSE_PRECISE,
    BIT_LOOPS = 1 << PXR_COLLAPSE_FLAT | 1 << PXR_COLLAPSE_HIERARCHICAL,
    BIT_VECTOR = 1 << PXR_COLLAPSE_VECTOR,
    BIT_FUSED = 1 << PXR_COLLAPSE_AUTO | BIT_LOOPS | BIT_VECTOR,
    BIT_ANY_COLLAPSE = BIT_PRECISE | BIT_FUSED,
    EFFORT_LINEAR = 1 << TR_EFFORT_LINEAR,
    EFFORT_QUICK = 1 << TR_EFFORT_QUICK,
    EFFORT_FEW = EFFORT_QUICK | 1 << TR_EFFORT_SHORT | EFFORT_LINEAR,
    EFFORT_GOOD = 1 << TR_EFFORT_FULL | 1 << TR_EFFORT_LOOPS | 1 << TR_EFFORT_THREAD,
    EFFORT_USUAL = EFFORT_GOOD | 1 << TR_EFFORT_SHORT,
    EFFORT_PASSES = EFFORT_USUAL | EFFORT_QUICK,
    EFFORT_ANY_EFFORT = EFFORT_PASSES | EFFORT_LINEAR
};

#define CALL(function)      .run = function
#define PASSES(list)        .passes = list
#define KERNEL_PASSES(list) .passes = list, .is_of_kernel = true
#define PROMISES(...)       .promises = {__VA_ARGS__}
#define STEP(ID, name_, stage_, kind_, collapses_, efforts_, condition_, does, promises_,          \
             purpose_)                                                                             \
    [TR_STEP_##ID] = {.name = name_,                                                               \
                      .purpose = purpose_,                                                         \
                      .condition_name = #condition_,                                               \
                      .stage = TR_STAGE_##stage_,                                                  \
                      .kind = TR_STEP_##kind_,                                                     \
                      .collapses = BIT_##collapses_,                                               \
                      .efforts = EFFORT_##efforts_,                                                \
                      .condition = condition_,                                                     \
                      does,                                                                        \
                      promises_},

const struct tr_step tr_steps[TR_STEP_COUNT] = {
#include "translator/pipeline.def"
};
