/* SPDX-License-Identifier: Apache-2.0
 *
 * See tier.h.
 */
#include "cudart/core/code/tier.h"

#include "cudart/core/base/stats.h"
#include "cudart/core/code/background.h"
#include "cudart/core/code/code_cache.h"
#include "cudart/core/code/module.h"
#include "cudart/core/code/price.h"
#include "cudart/core/code/profile.h"
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

bool crt_tier_chooses_code(void)
{
    const struct pxr_options *options = pxr_options_get();
    return options->tier != PXR_TIER_QUICK && !asks_about_code(options);
}

void crt_tier_learn(uint64_t predicted_ns, uint64_t took_ns)
{
    atomic_fetch_add_explicit(&experience.predicted_ns, predicted_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&experience.took_ns, took_ns, memory_order_relaxed);
}

uint64_t crt_tier_price(const struct crt_kernel *kernel, const struct crt_variant *quick)
{
    uint64_t paid_ns = atomic_load_explicit(&kernel->rent.paid_ns, memory_order_relaxed);
    if (paid_ns)
        return paid_ns;
    return crt_price_correct(quick->price_ns,
                             atomic_load_explicit(&experience.predicted_ns, memory_order_relaxed),
                             atomic_load_explicit(&experience.took_ns, memory_order_relaxed));
}

uint64_t crt_tier_limit(const struct crt_kernel *kernel)
{
    const struct crt_variant *quick = atomic_load_explicit(&kernel->quick, memory_order_acquire);
    return crt_tier_price(kernel, quick) / 100 * pxr_options_get()->tier_patience;
}

uint64_t crt_tier_ran(const struct crt_kernel *kernel)
{
    return atomic_load_explicit(&kernel->rent.ran_ns, memory_order_relaxed) +
           atomic_load_explicit(&kernel->rent.running_ns, memory_order_relaxed);
}

double crt_tier_urgency(const struct crt_kernel *kernel)
{
    const struct crt_variant *quick = atomic_load_explicit(&kernel->quick, memory_order_acquire);
    return (double)crt_tier_ran(kernel) / ((double)crt_tier_price(kernel, quick) + 1);
}

static bool is_earned(const struct crt_kernel *kernel, uint64_t promised_ns)
{
    return !atomic_load_explicit(&kernel->rent.is_settled, memory_order_relaxed) &&
           crt_price_is_earned(crt_tier_limit(kernel), crt_tier_ran(kernel), promised_ns);
}

/* ---- over processes ---- */

/* Quick time is kept in so large parts of the price. What is left over costs a process less than to
 * store it. */
#define KEPT_SHARE 64

void crt_tier_begin(struct crt_kernel *kernel)
{
    struct crt_profile profile;
    struct cache *cache = crt_code_cache();
    bool has_begun = kernel->rent.has_begun;
    kernel->rent.has_begun = true;
    if (has_begun || !cache || !crt_profile_get(cache, kernel->outline->digest, &profile))
        return;
    atomic_store_explicit(&kernel->rent.paid_ns, profile.price_ns, memory_order_relaxed);
    atomic_store_explicit(&kernel->rent.inherited_ns, profile.quick_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&kernel->rent.kept_ns, profile.quick_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&kernel->rent.ran_ns, profile.quick_ns, memory_order_relaxed);
}

bool crt_tier_is_inherited(const struct crt_kernel *kernel)
{
    return crt_tier() == PXR_TIER_AUTO &&
           atomic_load_explicit(&kernel->rent.inherited_ns, memory_order_relaxed) > 0 &&
           is_earned(kernel, 0);
}

bool crt_tier_has_paid(const struct crt_kernel *kernel)
{
    return crt_tier() == PXR_TIER_AUTO &&
           atomic_load_explicit(&kernel->rent.paid_ns, memory_order_relaxed) > 0;
}

/* In ever larger parts. */
void crt_tier_keep(struct crt_kernel *kernel)
{
    struct crt_rent *rent = &kernel->rent;
    struct cache *cache = crt_code_cache();
    uint64_t kept_ns = atomic_load_explicit(&rent->kept_ns, memory_order_relaxed);
    uint64_t ran_ns = atomic_load_explicit(&rent->ran_ns, memory_order_relaxed);
    uint64_t inherited_ns = atomic_load_explicit(&rent->inherited_ns, memory_order_relaxed);
    uint64_t own_ns = kept_ns > inherited_ns ? kept_ns - inherited_ns : 0;
    const struct crt_variant *quick = atomic_load_explicit(&kernel->quick, memory_order_acquire);
    uint64_t least_ns = crt_tier_price(kernel, quick) / KEPT_SHARE + own_ns / 2;
    if (!cache || ran_ns < kept_ns || ran_ns - kept_ns < least_ns)
        return;
    const struct crt_profile more = {.processes = 1, .quick_ns = ran_ns - kept_ns};
    if (atomic_compare_exchange_strong(&rent->kept_ns, &kept_ns, ran_ns) &&
        !crt_profile_add(cache, kernel->outline->digest, &more))
        atomic_fetch_sub_explicit(&rent->kept_ns, more.quick_ns, memory_order_relaxed);
}

void crt_tier_spend(struct crt_kernel *kernel, const struct tr_facts *facts, uint64_t took_ns)
{
    struct crt_rent *rent = &kernel->rent;
    struct cache *cache = crt_code_cache();
    if (cache && took_ns) {
        const struct crt_profile more = {.processes = 1,
                                         .price_ns = took_ns,
                                         .variant_count = 1,
                                         .variants = {{.facts = *facts, .asked = 1}}};
        crt_profile_add(cache, kernel->outline->digest, &more);
    }
    if (took_ns)
        atomic_store_explicit(&rent->paid_ns, took_ns, memory_order_relaxed);
    /* Launches for which it does not hold begin to earn theirs. */
    atomic_store_explicit(&rent->inherited_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&rent->kept_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&rent->ran_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&rent->running_ns, 0, memory_order_relaxed);
    atomic_store_explicit(&rent->is_settled, false, memory_order_release);
}

void crt_tier_note(struct crt_kernel *kernel, const struct tr_facts *facts,
                   const struct sch_progress *progress)
{
    atomic_fetch_add_explicit(&kernel->rent.ran_ns, progress->ran_ns, memory_order_relaxed);
    atomic_store_explicit(&kernel->rent.running_ns, progress->running_ns, memory_order_relaxed);
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
