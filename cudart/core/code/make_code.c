/* SPDX-License-Identifier: Apache-2.0
 *
 * See make_code.h.
 */
#include "cudart/core/code/make_code.h"

#include <stdlib.h>
#include <string.h>

#include "cudart/core/base/memory_limit.h"
#include "cudart/core/base/process.h"
#include "cudart/core/base/stats.h"
#include "cudart/core/base/step_times.h"
#include "cudart/core/check/findings.h"
#include "cudart/core/code/code_cache.h"
#include "cudart/core/code/device_lib.h"
#include "cudart/core/code/price.h"
#include "scheduler/scheduler.h"
#include "util/log.h"

/* Room on a thread's stack beyond the kernel's own frames: helpers such as vprintf run on it. */
#define STACK_RESERVE_BYTES (24u << 10)

struct jit_variant crt_variant_key(const struct tr_facts *facts)
{
    const struct pxr_options *options = pxr_options_get();
    return (struct jit_variant){.collapse = (enum pxr_collapse)options->collapse,
                                .width = options->width,
                                .jam = options->jam,
                                .is_quick = options->tier == PXR_TIER_QUICK,
                                .has_fast_matrices = options->matrix == PXR_MATRIX_FAST,
                                .facts = *facts};
}

/* The module is filled in when it turns out to be needed (crt_kernel_open). */
struct jit_request crt_kernel_request(const struct crt_kernel *kernel,
                                      const struct jit_variant *key)
{
    const struct pxr_options *options = pxr_options_get();
    return (struct jit_request){
        .kernel = kernel->func, /* for its name */
        .variant = *key,
        .checks_memory = crt_checks_memory(),
        .checks_races = crt_checks_races(),
        .checks_meetings = crt_checks_meetings(),
        .checks_written = crt_checks_written(),
        .checks_numbers = crt_checks_numbers(),
        .is_debugged = options->debug != PXR_DEBUG_NONE,
        .tells_source_lines =
            options->debug == PXR_DEBUG_GDB || options->profile == PXR_PROFILE_PERF,
        .dump = options->dump,
        .dump_dir = options->dump_dir,
        .skip = key->without ? key->without : options->skip,
        .step_limit = options->step_limit,
        .times_steps = options->time_steps,
        .verifies_steps = options->verify_steps,
        .is_talkative = options->log >= PXR_LOG_INFO,
        .guard = sch_try,
    };
}

void crt_variant_free(struct crt_variant *variant)
{
    if (!variant)
        return;
    jit_unload(variant->code);
    free(variant);
}

/* ---- one attempt ---- */

/* Code that is being made. */
struct making {
    struct crt_kernel *kernel;
    enum crt_purpose purpose;
    struct jit_request request;
    struct jit_object object;
    struct crt_cached cached;
    struct crt_variant *variant;
    uint64_t start_ns;
};

static bool begin(struct making *making, struct crt_kernel *kernel, const struct jit_variant *key,
                  enum crt_purpose purpose)
{
    *making = (struct making){.kernel = kernel,
                              .purpose = purpose,
                              .request = crt_kernel_request(kernel, key),
                              .variant = calloc(1, sizeof *making->variant),
                              .start_ns = crt_now_ns()};
    if (making->variant)
        making->variant->key = *key;
    return making->variant != NULL;
}

/* jit_loading.keep: the object is on its way to the linker. */
static void keep(void *cached, const struct jit_object *object)
{
    crt_code_cache_keep(cached, object);
}

static struct jit_loading loading_of(struct making *making)
{
    return (struct jit_loading){.kernel = making->kernel->func->name,
                                .owner = making->kernel->library,
                                .extra = crt_device_symbols,
                                .extra_count = crt_device_symbol_count,
                                .keep = keep,
                                .keep_argument = &making->cached};
}

/* What cannot be loaded is as if it were not there. */
static bool load(struct making *making)
{
    struct jit_loading loading = loading_of(making);
    if (jit_load(&making->object, &loading, &making->variant->code, NULL) == PXR_OK)
        return true;
    jit_object_fini(&making->object);
    return false;
}

static enum pxr_status compile(struct making *making, struct pxr_error *error)
{
    if (!crt_memory_can_grow(CRT_COMPILE_BYTES))
        return pxr_fail(error, PXR_OUT_OF_MEMORY, "no memory to compile kernel '%s'",
                        making->kernel->func->name);
    struct jit_loading loading = loading_of(making);
    enum pxr_status status = crt_kernel_open(making->kernel, &making->request, error);
    if (status != PXR_OK)
        return status;
    return jit_make(&making->request, &loading, &making->object, &making->variant->code, error);
}

static uint32_t stack_bytes(const struct crt_kernel *kernel, const struct jit_object *object)
{
    uint64_t bytes = STACK_RESERVE_BYTES + (uint64_t)kernel->outline->needs.local_bytes;
    bytes += object->frame_bytes;
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static void report(const struct making *making, const struct crt_made *made)
{
    const struct crt_kernel *kernel = making->kernel;
    const struct jit_object *object = &making->object;
    bool is_for_launches = making->purpose == CRT_FOR_LAUNCHES;
    if (is_for_launches)
        crt_stats_compile(kernel->func->name, &making->variant->key, object,
                          made->is_cached ? 0 : made->elapsed_ns);
    crt_step_times_add(kernel->func->name, &object->steps);
    pxr_log(PXR_LOG_INFO, "%s kernel '%s' of %s in %.1f ms",
            made->is_cached ? "loaded from the cache" : "compiled", kernel->func->name,
            kernel->library->name, (double)made->elapsed_ns / 1e6);
    if (is_for_launches && pxr_options_get()->explain)
        crt_explain(kernel, making->variant, object, made);
}

static uint64_t hash_code(const struct jit_object *object)
{
    struct cache_hash hash;
    uint64_t number;
    cache_hash_init(&hash, "object");
    cache_hash_bytes(&hash, object->bytes, object->size_bytes);
    struct cache_key key = cache_hash_key(&hash);
    memcpy(&number, key.bytes, sizeof number);
    return number;
}

static void describe(struct crt_variant *variant, const struct jit_object *object)
{
    variant->cost_ns = object->translate_ns + object->optimise_ns + object->codegen_ns;
    if (variant->key.is_quick)
        variant->price_ns = crt_price_predict(object->instructions, object->size_bytes,
                                              object->is_warm ? variant->cost_ns : 0);
    variant->form = (struct crt_form){.collapse = object->collapse,
                                      .width = object->width,
                                      .jam = object->jam,
                                      .begins_inside = variant->key.facts.begins_inside};
    variant->adds_floats = object->has_float_atomics;
    variant->waits_again = object->waits_again;
    variant->code_hash = variant->key.is_quick ? 0 : hash_code(object);
}

/* The quick code whose kernel the code is of; NULL: there is none. */
static const struct crt_variant *quick_of(const struct making *making)
{
    return making->variant->key.is_quick
               ? making->variant
               : atomic_load_explicit(&making->kernel->quick, memory_order_acquire);
}

/* The code is loaded. */
static void finish(struct making *making, bool is_cached)
{
    struct crt_variant *variant = making->variant;
    const struct jit_object *object = &making->object;
    const struct crt_variant *quick = quick_of(making);
    struct crt_made made = {.is_cached = is_cached, .elapsed_ns = crt_now_ns() - making->start_ns};
    describe(variant, object);
    made.price_ns = quick ? crt_tier_price(making->kernel, quick) : 0;
    variant->stack_bytes = stack_bytes(making->kernel, object);
    if (!is_cached)
        made.cpu_ns = variant->cost_ns;
    variant->took_ns = made.cpu_ns;
    if (!is_cached && !variant->key.is_quick && quick)
        crt_tier_learn(quick->price_ns, made.cpu_ns);
    if (crt_tier() == PXR_TIER_AUTO && making->purpose == CRT_FOR_LAUNCHES)
        crt_stats_tier(making->kernel->func->name, variant->key.is_quick, made.price_ns,
                       made.cpu_ns);
    report(making, &made);
}

static enum pxr_status end(struct making *making, enum pxr_status status,
                           struct crt_variant **variant)
{
    crt_code_cache_keep(&making->cached, NULL); /* nothing more */
    jit_object_fini(&making->object);
    if (status == PXR_OK)
        *variant = making->variant;
    else
        crt_variant_free(making->variant);
    return status;
}

enum pxr_status crt_code_make(struct crt_kernel *kernel, const struct jit_variant *key,
                              enum crt_purpose purpose, struct crt_variant **variant,
                              struct pxr_error *error)
{
    struct making making;
    *variant = NULL;
    if (!begin(&making, kernel, key, purpose))
        return pxr_fail(error, PXR_OUT_OF_MEMORY, "no memory to compile kernel '%s'",
                        kernel->func->name);
    bool is_cached = crt_code_cache_find(&making.request, kernel->outline->digest, &making.object,
                                         &making.cached) &&
                     load(&making);
    if (making.cached.is_wanted)
        crt_stats_cache(is_cached);
    enum pxr_status status = is_cached ? PXR_OK : compile(&making, error);
    if (status == PXR_OK)
        finish(&making, is_cached);
    return end(&making, status, variant);
}

struct crt_variant *crt_code_find(struct crt_kernel *kernel, const struct jit_variant *key)
{
    struct making making;
    struct crt_variant *variant = NULL;
    if (!begin(&making, kernel, key, CRT_FOR_LAUNCHES))
        return NULL;
    bool is_found = crt_code_cache_look(&making.request, kernel->outline->digest, &making.object,
                                        &making.cached) &&
                    load(&making);
    if (is_found) {
        crt_stats_cache(true);
        finish(&making, true);
    }
    end(&making, is_found ? PXR_OK : PXR_NOT_FOUND, &variant);
    return variant;
}
