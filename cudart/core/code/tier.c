/* SPDX-License-Identifier: Apache-2.0
 *
 * See tier.h.
 */
#include "cudart/core/code/tier.h"

#include "cudart/core/base/stats.h"
#include "cudart/core/code/background.h"
#include "cudart/core/code/module.h"
#include "cudart/core/code/price.h"
#include "scheduler/scheduler.h"

/* What best code should have taken and took, in this process. */
static struct {
    _Atomic(uint64_t) predicted_ns;
    _Atomic(uint64_t) took_ns;
} experience;

/* Such options are about best code, or are not obeyed by quick code. */
static bool asks_about_code(const struct pxr_options *options)
{
    return options->collapse != PXR_COLLAPSE_AUTO || options->width || options->jam ||
           *options->dump || *options->skip || options->debug != PXR_DEBUG_NONE ||
           options->step_limit || options->time_steps || options->verify_steps;
}

enum pxr_tier crt_tier(void)
{
    const struct pxr_options *options = pxr_options_get();
    enum pxr_tier tier = (enum pxr_tier)options->tier;
    return tier == PXR_TIER_AUTO && asks_about_code(options) ? PXR_TIER_BEST : tier;
}

void crt_tier_learn(uint64_t predicted_ns, uint64_t took_ns)
{
    atomic_fetch_add_explicit(&experience.predicted_ns, predicted_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&experience.took_ns, took_ns, memory_order_relaxed);
}

uint64_t crt_tier_price(const struct crt_kernel *kernel)
{
    const struct crt_variant *quick = atomic_load_explicit(&kernel->quick, memory_order_acquire);
    return crt_price_correct(quick->price_ns,
                             atomic_load_explicit(&experience.predicted_ns, memory_order_relaxed),
                             atomic_load_explicit(&experience.took_ns, memory_order_relaxed));
}

uint64_t crt_tier_limit(const struct crt_kernel *kernel)
{
    return crt_tier_price(kernel) / 100 * pxr_options_get()->tier_patience;
}

static bool is_earned(const struct crt_kernel *kernel, uint64_t promised_ns)
{
    uint64_t ran_ns = atomic_load_explicit(&kernel->rent.ran_ns, memory_order_relaxed);
    return !atomic_load_explicit(&kernel->rent.is_settled, memory_order_relaxed) &&
           crt_price_is_earned(crt_tier_limit(kernel), ran_ns, promised_ns);
}

void crt_tier_note(struct crt_kernel *kernel, const struct tr_facts *facts,
                   const struct sch_progress *progress)
{
    atomic_fetch_add_explicit(&kernel->rent.ran_ns, progress->ran_ns, memory_order_relaxed);
    crt_stats_quick(kernel->func->name, progress->ran_ns);
    if (pxr_options_get()->compile_threads == 0)
        return;
    uint64_t promised_ns =
        crt_price_promise(progress->grid_ns, progress->blocks_done, progress->blocks_left);
    if (is_earned(kernel, promised_ns) &&
        !atomic_exchange_explicit(&kernel->rent.is_settled, true, memory_order_relaxed))
        crt_background_make(kernel, facts);
}

bool crt_tier_is_due(const struct crt_kernel *kernel)
{
    return pxr_options_get()->compile_threads == 0 && is_earned(kernel, 0);
}
