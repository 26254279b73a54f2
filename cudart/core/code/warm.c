/* SPDX-License-Identifier: Apache-2.0
 *
 * See warm.h.
 */
#include "cudart/core/code/warm.h"

#include <string.h>

#include "cudart/core/base/memory_limit.h"
#include "cudart/core/base/process.h"
#include "cudart/core/base/report.h"
#include "cudart/core/code/code_cache.h"

void crt_warm_find_place(bool has_target, struct crt_warm_place *place, struct pxr_error *err)
{
    *place = (struct crt_warm_place){.path = crt_code_cache_path(),
                                     .limit_bytes = crt_environment_get()->cache_max_bytes};
    if (has_target)
        crt_code_cache_target(&place->target, &place->maker, err);
}

enum crt_result crt_warm_load(const void *image, size_t image_bytes, const char *name,
                              struct crt_library **library, struct pxr_error *err)
{
    struct pxr_error reported = {0};
    struct pxr_error *outer = crt_report_redirect(&reported);
    pxr_fail(err, PXR_BAD_IMAGE, "%s cannot be loaded", name);
    enum crt_result result = crt_library_load_named(image, image_bytes, false, name, library, NULL);
    crt_report_redirect(outer);
    if (result != CRT_SUCCESS && reported.status != PXR_OK)
        *err = reported;
    return result;
}

struct crt_kernel *crt_warm_kernel_at(const struct crt_library *library, size_t number)
{
    return number < library->kernel_count ? library->kernels[number] : NULL;
}

uint64_t crt_warm_weight(struct crt_kernel *kernel)
{
    struct jit_request request = {0};
    bool is_open = crt_kernel_open(kernel, &request, NULL) == PXR_OK;
    return is_open ? request.kernel->stmt_count + UINT64_C(1) : 1;
}

size_t crt_warm_plan(const struct crt_kernel *kernel,
                     struct jit_variant variants[CRT_WARM_VARIANTS])
{
    const struct tr_facts nothing = {0};
    struct tr_facts expected;
    crt_kernel_expect(kernel, &expected);
    variants[0] = crt_variant_key(&nothing);
    variants[0].is_quick = true;
    variants[1] = crt_variant_key(&expected);
    variants[1].is_quick = false;
    variants[2] = variants[1];
    variants[2].facts.block[1] = variants[2].facts.block[2] = 0;
    variants[3] = variants[1];
    variants[3].facts.has_whole_warps = false;
    variants[4] = variants[1];
    variants[4].facts = nothing;
    return CRT_WARM_VARIANTS;
}

/* That the kernel can be translated is kept as well: programs ask for it before they launch. */
static void keep_check(const struct crt_kernel *kernel)
{
    struct jit_request request = crt_kernel_request(kernel, &(struct jit_variant){0});
    struct crt_cached cached;
    if (!crt_code_cache_find_check(&request, kernel->outline->digest, &cached))
        crt_code_cache_keep_check(&cached);
}

/* What can be said of code that was compiled, or was not. */
static enum crt_warm_outcome outcome_of(enum pxr_status status, bool is_kept, struct pxr_error *err)
{
    if (status == PXR_UNSUPPORTED)
        return CRT_WARM_REFUSED;
    if (status == PXR_OK && !is_kept)
        pxr_fail(err, PXR_IO, "it cannot be kept: the directory cannot be written, or is full");
    return is_kept ? CRT_WARM_MADE : CRT_WARM_FAILED;
}

static enum crt_warm_outcome compile(struct crt_kernel *kernel, struct jit_request *request,
                                     struct crt_cached *cached, struct pxr_error *err)
{
    struct jit_object object = {0};
    enum pxr_status status = crt_kernel_open(kernel, request, err);
    if (status == PXR_OK && !crt_memory_can_grow(CRT_COMPILE_BYTES))
        status = pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory to compile it");
    if (status == PXR_OK)
        status = jit_compile(request, &object, err);
    bool is_kept = crt_code_cache_keep(cached, status == PXR_OK ? &object : NULL);
    jit_object_fini(&object);
    return outcome_of(status, is_kept, err);
}

enum crt_warm_outcome crt_warm_kernel(struct crt_kernel *kernel, const struct jit_variant *variant,
                                      const char *skip, struct pxr_error *err)
{
    struct jit_object object;
    struct crt_cached cached;
    if (!jit_facts_fit(kernel->func, &variant->facts)) {
        pxr_fail(err, PXR_INVALID_ARGUMENT, "no launch of this kernel has such facts");
        return CRT_WARM_FAILED;
    }
    struct jit_request request = crt_kernel_request(kernel, variant);
    request.skip = skip;
    enum crt_warm_outcome outcome = CRT_WARM_PRESENT;
    if (crt_code_cache_find(&request, kernel->outline->digest, &object, &cached)) {
        crt_code_cache_keep(&cached, NULL);
        jit_object_fini(&object);
    } else {
        outcome = compile(kernel, &request, &cached, err);
    }
    if (outcome == CRT_WARM_MADE || outcome == CRT_WARM_PRESENT)
        keep_check(kernel);
    return outcome;
}
