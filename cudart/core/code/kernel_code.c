/* SPDX-License-Identifier: Apache-2.0
 *
 * Which code of a kernel runs a launch. The best whose facts hold, and else its quick code; what
 * there is is found without a lock. What there is not is made by the launch, with the kernel's lock
 * held, or by a thread in the background (background.c) while quick code runs.
 */
#include <string.h>

#include "cudart/core/base/report.h"
#include "cudart/core/code/background.h"
#include "cudart/core/code/code_cache.h"
#include "cudart/core/code/make_code.h"
#include "cudart/core/code/trial.h"
#include "util/log.h"

static enum pxr_mode mode_of_process(void)
{
    return (enum pxr_mode)pxr_options_get()->mode;
}

/* ---- code that is there ---- */

const struct crt_variant *crt_kernel_best(const struct crt_kernel *kernel,
                                          const struct tr_facts *facts)
{
    return jit_variants_pick(&kernel->variants, facts);
}

static const struct crt_variant *find_code(const struct crt_kernel *kernel,
                                           const struct tr_facts *facts)
{
    const struct crt_variant *best = crt_kernel_best(kernel, facts);
    return best ? best : atomic_load_explicit(&kernel->quick, memory_order_acquire);
}

int crt_kernel_line(const struct crt_kernel *kernel, uintptr_t pc)
{
    const struct crt_variant *quick = atomic_load_explicit(&kernel->quick, memory_order_acquire);
    unsigned count = atomic_load_explicit(&kernel->variants.count, memory_order_acquire);
    int line = quick ? jit_code_line(quick->code, pc) : 0;
    for (unsigned i = 0; i < count && line == 0; i++)
        line = crt_trial_line(kernel->variants.entries[i].variant, pc);
    return line;
}

/* ---- making it ---- */

/* The facts to make best code for. To be asked only by who adds the next variant. */
static struct tr_facts plan(const struct crt_kernel *kernel, const struct tr_facts *facts)
{
    struct tr_facts planned;
    jit_variants_plan(&kernel->variants, mode_of_process(), facts, &planned);
    return planned;
}

static void add_locked(struct crt_kernel *kernel, struct crt_variant *variant)
{
    jit_variants_add(&kernel->variants, &variant->key.facts, variant);
}

static enum crt_result report(enum pxr_status status, const struct pxr_error *error)
{
    if (status != PXR_OK)
        crt_report_error(error);
    return crt_result_from_status(status);
}

static enum pxr_status compile_quick(struct crt_kernel *kernel, struct crt_variant **made,
                                     struct pxr_error *error)
{
    static const struct tr_facts none;
    struct jit_variant key = crt_variant_key(&none);
    key.is_quick = true;
    return crt_code_make(kernel, &key, CRT_FOR_LAUNCHES, made, error);
}

/* NULL if it fails, which is logged. */
static struct crt_variant *make_best(struct crt_kernel *kernel, const struct tr_facts *planned)
{
    struct pxr_error error = {0};
    struct crt_variant *made;
    if (crt_trial_make(kernel, planned, &made, &error) == PXR_OK)
        return made;
    pxr_log(PXR_LOG_WARNING, "kernel '%s' stays with its quick code: %s", crt_kernel_name(kernel),
            error.message);
    return NULL;
}

/* Best code that an earlier process has left in the cache; NULL: there is none. What it has made
 * for blocks that had begun does for all. */
static struct crt_variant *find_best_locked(struct crt_kernel *kernel,
                                            const struct tr_facts *planned)
{
    struct crt_variant *found = crt_trial_find(kernel, planned);
    if (found)
        return found;
    struct tr_facts inside = *planned;
    inside.begins_inside = true;
    crt_tier_begin(kernel);
    return crt_tier_has_paid(kernel) ? crt_trial_find(kernel, &inside) : NULL;
}

/* Quick code for the kernel's first launch. */
static enum crt_result make_quick_locked(struct crt_kernel *kernel, struct crt_variant **made)
{
    struct pxr_error error = {0};
    *made = kernel->ahead;
    kernel->ahead = NULL;
    if (*made)
        return CRT_SUCCESS;
    enum crt_result result = report(compile_quick(kernel, made, &error), &error);
    if (result == CRT_SUCCESS && (*made)->took_ns)
        crt_background_offer(kernel->library);
    return result;
}

/* Whether a launch that begins in quick code would end in it, however long that is: the blocks of a
 * cooperative grid run from its beginning to its end, and if they wait for each other in a loop, as
 * solvers do, none can go on in other code. */
static bool ends_in_quick(const struct crt_variant *quick, bool is_cooperative)
{
    return is_cooperative && quick->waits_again && crt_tier() == PXR_TIER_AUTO;
}

/* The first code for launches with these facts. Quick code does for all, so it is made once. */
static enum crt_result make_first_locked(struct crt_kernel *kernel, const struct tr_facts *facts,
                                         bool is_cooperative, const struct crt_variant **variant)
{
    enum pxr_tier tier = crt_tier();
    enum crt_result result = CRT_SUCCESS;
    struct tr_facts planned = plan(kernel, facts);
    struct pxr_error error = {0};
    struct crt_variant *made = NULL;
    if (tier == PXR_TIER_BEST)
        result = report(crt_trial_make(kernel, &planned, &made, &error), &error);
    else if (tier == PXR_TIER_AUTO)
        made = find_best_locked(kernel, &planned);
    if (made)
        add_locked(kernel, made);
    else if (tier != PXR_TIER_BEST)
        result = make_quick_locked(kernel, &made);
    if (made && made->key.is_quick) {
        crt_tier_begin(kernel);
        atomic_store_explicit(&kernel->quick, made, memory_order_release);
        bool is_due = crt_tier_is_inherited(kernel) || ends_in_quick(made, is_cooperative);
        struct crt_variant *best = is_due ? make_best(kernel, &planned) : NULL;
        if (best) {
            add_locked(kernel, best);
            crt_tier_spend(kernel, &planned, best->took_ns);
            made = best;
        }
    }
    *variant = made;
    return result;
}

void crt_kernel_make_best(struct crt_kernel *kernel, const struct tr_facts *facts)
{
    struct tr_facts planned = plan(kernel, facts);
    struct crt_variant *made = make_best(kernel, &planned);
    if (!made)
        return;
    pthread_mutex_lock(&kernel->lock);
    add_locked(kernel, made);
    pthread_mutex_unlock(&kernel->lock);
    crt_tier_spend(kernel, &planned, made->took_ns);
    sch_look_out(); /* blocks may run for long before anybody else asks for it */
}

bool crt_kernel_make_ahead(struct crt_kernel *kernel)
{
    struct pxr_error error = {0};
    pthread_mutex_lock(&kernel->lock);
    bool is_missing = !crt_kernel_has_code(kernel) && !kernel->ahead;
    if (is_missing)
        compile_quick(kernel, &kernel->ahead, &error);
    pthread_mutex_unlock(&kernel->lock);
    return is_missing;
}

/* ---- launches ---- */

/* This launch makes the best code, unless somebody else does. */
static void make_due(struct crt_kernel *kernel, const struct tr_facts *facts,
                     const struct crt_variant **variant)
{
    if (!atomic_exchange_explicit(&kernel->rent.is_settled, true, memory_order_acquire))
        crt_kernel_make_best(kernel, facts);
    *variant = find_code(kernel, facts);
}

enum crt_result crt_kernel_code(struct crt_kernel *kernel, const struct jit_launch *launch,
                                bool is_cooperative, struct tr_facts *facts,
                                const struct crt_variant **variant)
{
    jit_variants_facts(mode_of_process(), launch, facts);
    *variant = find_code(kernel, facts);
    if (*variant && (*variant)->key.is_quick &&
        (crt_tier_is_due(kernel) || ends_in_quick(*variant, is_cooperative)))
        make_due(kernel, facts, variant);
    if (*variant) {
        *variant = crt_trial_turn(*variant);
        return CRT_SUCCESS;
    }
    pthread_mutex_lock(&kernel->lock);
    /* Another thread may have compiled it meanwhile. */
    *variant = find_code(kernel, facts);
    enum crt_result result =
        *variant ? CRT_SUCCESS : make_first_locked(kernel, facts, is_cooperative, variant);
    pthread_mutex_unlock(&kernel->lock);
    return result;
}

void crt_kernel_expect(const struct crt_kernel *kernel, struct tr_facts *facts)
{
    const uint32_t *required = kernel->func->required_threads;
    memset(facts, 0, sizeof *facts);
    for (int d = 1; d < 3; d++)
        facts->block[d] = required[0] && required[d] ? required[d] : 1;
    facts->has_whole_warps = required[0] % TR_FACTS_WARP == 0;
}

bool crt_kernel_has_code(const struct crt_kernel *kernel)
{
    return atomic_load(&kernel->variants.count) != 0 || atomic_load(&kernel->quick);
}

static enum crt_result check_locked(struct crt_kernel *kernel)
{
    if (kernel->is_checked || crt_kernel_has_code(kernel))
        return CRT_SUCCESS;
    if (mode_of_process() == PXR_MODE_NORMAL) {
        struct tr_facts expected;
        const struct crt_variant *variant;
        crt_kernel_expect(kernel, &expected);
        return make_first_locked(kernel, &expected, false, &variant);
    }
    struct jit_request request = crt_kernel_request(kernel, &(struct jit_variant){0});
    struct pxr_error error = {0};
    struct crt_cached cached;
    kernel->is_checked = crt_code_cache_find_check(&request, kernel->outline->digest, &cached);
    if (kernel->is_checked)
        return CRT_SUCCESS;
    enum pxr_status status = crt_kernel_open(kernel, &request, &error);
    if (status == PXR_OK)
        status = jit_check(&request, &error);
    if (status != PXR_OK) {
        crt_report_error(&error);
        return crt_result_from_status(status);
    }
    kernel->is_checked = true;
    crt_code_cache_keep_check(&cached);
    return CRT_SUCCESS;
}

enum crt_result crt_kernel_check(struct crt_kernel *kernel)
{
    pthread_mutex_lock(&kernel->lock);
    enum crt_result result = check_locked(kernel);
    pthread_mutex_unlock(&kernel->lock);
    return result;
}

void crt_variants_destroy(struct crt_kernel *kernel)
{
    unsigned count = atomic_load(&kernel->variants.count);
    for (unsigned i = 0; i < count; i++) {
        struct crt_variant *variant = kernel->variants.entries[i].variant;
        crt_trial_destroy(variant->trial);
        crt_variant_free(variant);
    }
    crt_variant_free(atomic_load(&kernel->quick));
    crt_variant_free(kernel->ahead);
}
