/* SPDX-License-Identifier: Apache-2.0
 *
 * Code of kernels: which variant runs a launch, and compiling it at the first need.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/base/memory_limit.h"
#include "cudart/core/base/process.h"
#include "cudart/core/base/report.h"
#include "cudart/core/base/stats.h"
#include "cudart/core/base/step_times.h"
#include "cudart/core/code/code_cache.h"
#include "cudart/core/code/device_lib.h"
#include "cudart/core/code/module.h"
#include "util/log.h"
#include "util/readable_name.h"

/* Room on a thread's stack beyond the kernel's own frames: helpers such as vprintf run on it. */
#define STACK_RESERVE_BYTES (24u << 10)

#define FACTS_TEXT_BYTES    4096

/* Behind a longer name of a kernel what is said of it begins a line. */
#define NAME_COLUMNS 80

/* The module is filled in when it turns out to be needed (crt_kernel_open_locked). */
struct jit_request crt_kernel_request(const struct crt_kernel *kernel,
                                      const struct jit_variant *key)
{
    const struct pxr_options *options = pxr_options_get();
    return (struct jit_request){
        .kernel = kernel->func, /* for its name */
        .variant = *key,
        .is_debugged = options->debug != PXR_DEBUG_NONE,
        .dump = options->dump,
        .dump_dir = options->dump_dir,
        .skip = options->skip,
        .step_limit = options->step_limit,
        .times_steps = options->time_steps,
        .verifies_steps = options->verify_steps,
        .is_talkative = options->log >= PXR_LOG_INFO,
    };
}

struct jit_variant crt_variant_key(const struct tr_facts *facts)
{
    const struct pxr_options *options = pxr_options_get();
    return (struct jit_variant){.collapse = (enum pxr_collapse)options->collapse,
                                .width = options->width,
                                .jam = options->jam,
                                .is_quick = options->tier == PXR_TIER_QUICK,
                                .facts = *facts};
}

static uint32_t stack_bytes(const struct crt_kernel *kernel, const struct jit_object *object)
{
    uint64_t bytes = STACK_RESERVE_BYTES + (uint64_t)kernel->outline->needs.local_bytes;
    bytes += object->frame_bytes;
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static const char *how_made(bool is_cached)
{
    return is_cached ? "loaded from the cache" : "compiled";
}

/* The lines behind the first; those that begin with a tab are details. */
static void print_lines(FILE *out, const char *text, bool has_details)
{
    const char *line = strchrnul(text, '\n');
    for (line += *line == '\n'; *line; line += *line == '\n') {
        size_t len = strcspn(line, "\n");
        bool is_detail = *line == '\t';
        if (!is_detail || has_details)
            fprintf(out, "ptxrun:   %.*s\n", (int)len - is_detail, line + is_detail);
        line += len;
    }
}

static void print_explanation(FILE *out, const struct crt_kernel *kernel,
                              const struct crt_variant *variant, const struct jit_object *object,
                              bool is_cached, uint64_t elapsed_ns)
{
    bool is_full = pxr_options_get()->explain == PXR_EXPLAIN_FULL;
    const char *text = object->explanation ? object->explanation : "";
    char *name = pxr_readable_name(kernel->func->name);
    char *facts = malloc(FACTS_TEXT_BYTES);
    const char *shown = name ? name : kernel->func->name;
    fprintf(out, "ptxrun: kernel '%s':%s%.*s\n", shown,
            strlen(shown) > NAME_COLUMNS ? "\nptxrun:   " : " ", (int)strcspn(text, "\n"), text);
    fprintf(out, "ptxrun:   %s in %.1f ms, from the PTX of %s\n", how_made(is_cached),
            (double)elapsed_ns / 1e6, kernel->library->name);
    if (facts && is_full) {
        jit_facts_text(&variant->key.facts, facts, FACTS_TEXT_BYTES);
        fprintf(out, "ptxrun:   for launches with: %s\n", facts);
    }
    print_lines(out, text, is_full);
    free(facts);
    free(name);
}

/* Lines of --explain, written at once so that those of several threads do not mix. */
static void explain(const struct crt_kernel *kernel, const struct crt_variant *variant,
                    const struct jit_object *object, bool is_cached, uint64_t elapsed_ns)
{
    char *text = NULL;
    size_t text_bytes = 0;
    FILE *out = open_memstream(&text, &text_bytes);
    if (!out)
        return;
    print_explanation(out, kernel, variant, object, is_cached, elapsed_ns);
    if (fclose(out) == 0)
        fwrite(text, 1, text_bytes, stderr);
    free(text);
}

static struct jit_loading loading_of(const struct crt_kernel *kernel)
{
    return (struct jit_loading){.kernel = kernel->func->name,
                                .owner = kernel->library,
                                .extra = crt_device_symbols,
                                .extra_count = crt_device_symbol_count};
}

static enum pxr_status load(const struct crt_kernel *kernel, const struct jit_object *object,
                            struct crt_variant *variant, struct pxr_error *error)
{
    struct jit_loading loading = loading_of(kernel);
    variant->stack_bytes = stack_bytes(kernel, object);
    return jit_load(object, &loading, &variant->code, error);
}

/* Says what has become of the kernel. elapsed_ns: with loading. */
static void report(const struct crt_kernel *kernel, const struct crt_variant *variant,
                   const struct jit_object *object, bool is_cached, uint64_t elapsed_ns)
{
    crt_stats_compile(kernel->func->name, &variant->key, object, is_cached ? 0 : elapsed_ns);
    crt_step_times_add(kernel->func->name, &object->steps);
    pxr_log(PXR_LOG_INFO, "%s kernel '%s' of %s in %.1f ms", how_made(is_cached),
            kernel->func->name, kernel->library->name, (double)elapsed_ns / 1e6);
    if (pxr_options_get()->explain)
        explain(kernel, variant, object, is_cached, elapsed_ns);
}

static enum pxr_status compile(struct crt_kernel *kernel, struct jit_request *request,
                               struct crt_variant *variant, struct jit_object *object,
                               struct pxr_error *error)
{
    if (!crt_memory_can_grow(CRT_COMPILE_BYTES))
        return pxr_fail(error, PXR_OUT_OF_MEMORY, "no memory to compile kernel '%s'",
                        kernel->func->name);
    struct jit_loading loading = loading_of(kernel);
    enum pxr_status status = crt_kernel_open_locked(kernel, request, error);
    if (status == PXR_OK)
        status = jit_make(request, &loading, object, &variant->code, error);
    if (status == PXR_OK)
        variant->stack_bytes = stack_bytes(kernel, object);
    return status;
}

/* The code of a variant, out of the cache or compiled. After a miss *object is what to keep in the
 * cache; the caller ends it in any case. */
static enum pxr_status make_code(struct crt_kernel *kernel, struct crt_variant *variant,
                                 struct jit_object *object, struct crt_cached *cached,
                                 struct pxr_error *error)
{
    struct jit_request request = crt_kernel_request(kernel, &variant->key);
    uint64_t start_ns = crt_now_ns();
    bool is_cached = crt_code_cache_find(&request, kernel->outline->digest, object, cached);
    /* What cannot be loaded is compiled as if it were not there. */
    if (is_cached && load(kernel, object, variant, NULL) != PXR_OK) {
        jit_object_fini(object);
        is_cached = false;
    }
    enum pxr_status status = is_cached ? PXR_OK : compile(kernel, &request, variant, object, error);
    if (cached->is_wanted)
        crt_stats_cache(is_cached);
    if (status == PXR_OK)
        report(kernel, variant, object, is_cached, crt_now_ns() - start_ns);
    cached->is_wanted = cached->is_wanted && !is_cached && status == PXR_OK;
    return status;
}

static enum crt_result compile_locked(struct crt_kernel *kernel, const struct tr_facts *facts,
                                      const struct crt_variant **variant)
{
    const struct pxr_options *options = pxr_options_get();
    struct crt_variant *made = calloc(1, sizeof *made);
    if (!made)
        return CRT_OUT_OF_MEMORY;
    struct tr_facts planned;
    jit_variants_plan(&kernel->variants, (enum pxr_mode)options->mode, facts, &planned);
    made->key = crt_variant_key(&planned);
    struct pxr_error error = {0};
    struct jit_object object = {0};
    struct crt_cached cached;
    enum pxr_status status = make_code(kernel, made, &object, &cached, &error);
    if (status == PXR_OK) {
        jit_variants_add(&kernel->variants, &made->key.facts, made);
        *variant = made;
    } else {
        crt_report_error(&error);
        free(made);
    }
    crt_code_cache_keep(&cached, &object);
    jit_object_fini(&object);
    return crt_result_from_status(status);
}

enum crt_result crt_kernel_code(struct crt_kernel *kernel, const struct jit_launch *launch,
                                const struct crt_variant **variant)
{
    struct tr_facts facts;
    jit_variants_facts((enum pxr_mode)pxr_options_get()->mode, launch, &facts);
    *variant = jit_variants_pick(&kernel->variants, &facts);
    if (*variant)
        return CRT_SUCCESS;
    pthread_mutex_lock(&kernel->lock);
    /* Another thread may have compiled it meanwhile. */
    enum crt_result result = CRT_SUCCESS;
    *variant = jit_variants_pick(&kernel->variants, &facts);
    if (!*variant)
        result = compile_locked(kernel, &facts, variant);
    pthread_mutex_unlock(&kernel->lock);
    return result;
}

void crt_kernel_expect(const struct crt_kernel *kernel, struct tr_facts *facts)
{
    const uint32_t *required = kernel->func->required_threads;
    memset(facts, 0, sizeof *facts);
    for (int d = 1; d < 3; d++)
        facts->block[d] = required[0] && required[d] ? required[d] : 1;
}

static enum crt_result check_locked(struct crt_kernel *kernel)
{
    if (kernel->is_checked || atomic_load(&kernel->variants.count) != 0)
        return CRT_SUCCESS;
    if (pxr_options_get()->mode == PXR_MODE_NORMAL) {
        struct tr_facts expected;
        const struct crt_variant *variant;
        crt_kernel_expect(kernel, &expected);
        return compile_locked(kernel, &expected, &variant);
    }
    struct jit_request request = crt_kernel_request(kernel, &(struct jit_variant){0});
    struct pxr_error error = {0};
    struct crt_cached cached;
    kernel->is_checked = crt_code_cache_find_check(&request, kernel->outline->digest, &cached);
    if (kernel->is_checked)
        return CRT_SUCCESS;
    enum pxr_status status = crt_kernel_open_locked(kernel, &request, &error);
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
        jit_unload(variant->code);
        free(variant);
    }
}
