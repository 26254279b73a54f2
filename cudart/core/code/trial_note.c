/* SPDX-License-Identifier: Apache-2.0
 *
 * What grids tell a trial: how long the codes take that are compared, and what may be spent for it.
 */
#include "cudart/core/base/process.h"
#include "cudart/core/code/background.h"
#include "cudart/core/code/trial_state.h"

/* ---- what may be spent ---- */

static uint64_t allowed_ns(const struct crt_trial *trial)
{
    uint64_t ran_ns = atomic_load_explicit(&trial->ran_ns, memory_order_relaxed);
    return (uint64_t)((double)ran_ns / 100 * pxr_options_get()->choose_share);
}

/* Whether trying may take so much more. */
static bool may_spend(const struct crt_trial *trial, uint64_t more_ns)
{
    uint64_t spent_ns = atomic_load_explicit(&trial->spent_ns, memory_order_relaxed);
    return spent_ns + more_ns <= allowed_ns(trial);
}

void crt_trial_spend(struct crt_trial *trial, uint64_t ns)
{
    atomic_fetch_add_explicit(&trial->spent_ns, ns, memory_order_relaxed);
}

/* Nobody makes anything for the trial, and this thread has it made from now on. */
static bool become_busy(struct crt_trial *trial)
{
    return !atomic_exchange_explicit(&trial->is_busy, true, memory_order_acquire);
}

/* ---- comparing ---- */

/* What a thread was told of last, for pairs. */
static CRT_THREAD_LOCAL struct {
    const struct crt_trial *trial;
    const struct crt_variant *rival;
    bool is_of_rival;
    double block_ns; /* 0: it is in a pair already */
} last;

/* Two times of one thread that make a pair; false: this is the first of them. */
static bool make_pair(const struct crt_trial *trial, const struct crt_variant *rival,
                      bool is_of_rival, double block_ns, double pair[2])
{
    bool fits = last.trial == trial && last.rival == rival && last.block_ns > 0 &&
                last.is_of_rival != is_of_rival;
    pair[is_of_rival] = block_ns;
    pair[!is_of_rival] = last.block_ns;
    last.trial = trial;
    last.rival = rival;
    last.is_of_rival = is_of_rival;
    last.block_ns = fits ? 0 : block_ns;
    return fits;
}

/* What slower code has cost; less than nothing if it was faster. */
static uint64_t cost_of(const struct crt_comparison *comparison)
{
    return comparison->more_ns > 0 ? (uint64_t)comparison->more_ns : 0;
}

/* The lock is held, and it is decided. The background keeps it. */
static void settle(struct crt_trial *trial, bool is_taken)
{
    crt_choice_add(&trial->choice, &trial->form, crt_comparison_ratio(&trial->comparison),
                   is_taken);
    if (is_taken)
        atomic_store_explicit(&trial->present, crt_trial_rival(trial), memory_order_release);
    trial->is_decided = true;
    crt_trial_spend(trial, cost_of(&trial->comparison));
    atomic_store_explicit(&trial->rival, NULL, memory_order_release);
    crt_background_try(trial->kernel->library, trial);
}

/* Where blocks take long, comparing may cost more than compiling did, and there may be no time for
 * that. What compiling has cost is spent in any case. */
static bool is_too_dear(const struct crt_trial *trial)
{
    uint64_t cost_ns = cost_of(&trial->comparison);
    return cost_ns > trial->first->cost_ns && !may_spend(trial, cost_ns);
}

static void judge(struct crt_trial *trial)
{
    enum crt_outcome outcome = crt_comparison_outcome(&trial->comparison);
    if (outcome != CRT_OUTCOME_OPEN)
        settle(trial, outcome == CRT_OUTCOME_RIVAL);
    else if (is_too_dear(trial))
        settle(trial, crt_comparison_is_for_rival(&trial->comparison));
}

/* A thread that comes while another one adds a pair loses its own. */
static void add_pair(struct crt_trial *trial, const struct crt_variant *rival, uint64_t ran_ns,
                     const double pair[2])
{
    if (atomic_flag_test_and_set_explicit(&trial->lock, memory_order_acquire))
        return;
    if (crt_trial_rival(trial) == rival) {
        crt_comparison_add(&trial->comparison, pair[0], pair[1], (double)ran_ns);
        judge(trial);
    }
    atomic_flag_clear_explicit(&trial->lock, memory_order_release);
}

static void compare(struct crt_trial *trial, const struct crt_variant *rival, bool is_of_rival,
                    const struct sch_progress *progress)
{
    double pair[2];
    atomic_fetch_add_explicit(&trial->turns, 1, memory_order_relaxed);
    if (progress->ran_blocks > 0 && progress->ran_ns > 0 &&
        make_pair(trial, rival, is_of_rival,
                  (double)progress->ran_ns / (double)progress->ran_blocks, pair))
        add_pair(trial, rival, progress->ran_ns, pair);
}

/* ---- what grids tell ---- */

static bool is_code_of(const struct sch_code *code, const struct crt_variant *variant)
{
    return code->fused == jit_code_fused(variant->code);
}

enum sch_verdict crt_trial_note(const struct crt_variant *variant,
                                const struct sch_progress *progress,
                                const struct crt_variant **other)
{
    struct crt_trial *trial = variant->trial;
    struct crt_variant *rival = crt_trial_rival(trial);
    bool is_of_rival = rival && is_code_of(progress->code, rival);
    atomic_fetch_add_explicit(&trial->ran_ns, progress->ran_ns, memory_order_relaxed);
    if (rival && (is_of_rival || is_code_of(progress->code, crt_trial_present(trial))))
        compare(trial, rival, is_of_rival, progress);
    else if (!rival && crt_trial_is_open(variant) && may_spend(trial, trial->first->cost_ns) &&
             become_busy(trial))
        crt_background_try(trial->kernel->library, trial);
    rival = crt_trial_rival(trial);
    *other = rival && !is_of_rival ? rival : crt_trial_present(trial);
    if (rival)
        return SCH_COMPARE;
    return is_code_of(progress->code, *other) ? SCH_GO_ON : SCH_REPLACE;
}
