/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels: attributes, occupancy, and code compiled at the first launch.
 */
#include <stdlib.h>
#include <string.h>

#include "cudart/core/device.h"
#include "cudart/core/device_lib.h"
#include "cudart/core/module.h"
#include "cudart/core/process.h"
#include "cudart/core/report.h"
#include "cudart/core/stats.h"
#include "util/log.h"

#define PLAUSIBLE_REGISTERS 32

/* Room on a thread's stack beyond the kernel's own frames: helpers such as vprintf run on it. */
#define STACK_RESERVE_BYTES (24u << 10)

/* Numbers of CUfunction_attribute. */
enum {
    ATTRIBUTE_MAX_THREADS,
    ATTRIBUTE_SHARED_BYTES,
    ATTRIBUTE_CONST_BYTES,
    ATTRIBUTE_LOCAL_BYTES,
    ATTRIBUTE_REGISTERS,
    ATTRIBUTE_PTX_VERSION,
    ATTRIBUTE_BINARY_VERSION,
    ATTRIBUTE_CACHE_MODE_CA,
    ATTRIBUTE_MAX_DYNAMIC_SHARED,
    ATTRIBUTE_CARVEOUT,
    ATTRIBUTE_CLUSTER_MUST_BE_SET,
    ATTRIBUTE_CLUSTER_WIDTH,
    ATTRIBUTE_CLUSTER_HEIGHT,
    ATTRIBUTE_CLUSTER_DEPTH,
    ATTRIBUTE_NON_PORTABLE_CLUSTER,
    ATTRIBUTE_CLUSTER_POLICY
};

struct crt_kernel *crt_kernel_create(struct crt_library *library, const struct ptx_func *func)
{
    struct crt_kernel *kernel = crt_object_create(CRT_KIND_KERNEL, sizeof *kernel);
    if (!kernel)
        return NULL;
    pthread_mutex_init(&kernel->lock, NULL);
    kernel->library = library;
    kernel->func = func;
    kernel->max_dynamic_shared = -1;
    kernel->carveout = -1;
    return kernel;
}

void crt_kernel_destroy(struct crt_kernel *kernel)
{
    struct crt_variant *variant = kernel->variants;
    while (variant) {
        struct crt_variant *next = variant->next;
        jit_unload(variant->code);
        free(variant);
        variant = next;
    }
    if (kernel->has_layout)
        ptx_layout_fini(&kernel->layout);
    pthread_mutex_destroy(&kernel->lock);
    crt_object_destroy(CRT_KIND_KERNEL, kernel);
}

bool crt_kernel_is_valid(const struct crt_kernel *kernel)
{
    return crt_object_is(kernel, CRT_KIND_KERNEL);
}

const char *crt_kernel_name(const struct crt_kernel *kernel)
{
    return kernel->func->name;
}

static enum crt_result layout_locked(struct crt_kernel *kernel)
{
    if (kernel->has_layout)
        return CRT_SUCCESS;
    struct pxr_error error = {0};
    enum pxr_status status =
        ptx_layout_kernel(kernel->library->ptx, kernel->func, &kernel->layout, &error);
    if (status != PXR_OK) {
        crt_report_error(&error);
        return crt_result_from_status(status);
    }
    kernel->has_layout = true;
    return CRT_SUCCESS;
}

enum crt_result crt_kernel_layout(struct crt_kernel *kernel,
                                  const struct ptx_kernel_layout **layout)
{
    pthread_mutex_lock(&kernel->lock);
    enum crt_result result = layout_locked(kernel);
    pthread_mutex_unlock(&kernel->lock);
    *layout = &kernel->layout;
    return result;
}

static struct jit_variant choose_variant(const uint32_t block[3])
{
    const struct pxr_options *options = pxr_options_get();
    struct jit_variant key = {.collapse = (enum pxr_collapse)options->collapse};
    if (options->mode == PXR_MODE_JIT)
        memcpy(key.block, block, sizeof key.block);
    return key;
}

static bool is_same_variant(const struct jit_variant *a, const struct jit_variant *b)
{
    return a->collapse == b->collapse && memcmp(a->block, b->block, sizeof a->block) == 0;
}

static uint32_t stack_bytes(const struct crt_kernel *kernel, const struct jit_object *object)
{
    uint64_t bytes = STACK_RESERVE_BYTES + (uint64_t)kernel->layout.local_bytes;
    bytes += object->frame_bytes;
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static enum pxr_status compile(struct crt_kernel *kernel, struct crt_variant *variant,
                               struct pxr_error *error)
{
    const struct pxr_options *options = pxr_options_get();
    struct jit_request request = {
        .module = kernel->library->ptx,
        .kernel = kernel->func,
        .layout = &kernel->layout,
        .variant = variant->key,
        .dump = options->dump,
        .dump_dir = options->dump_dir,
    };
    struct jit_object object = {0};
    uint64_t start_ns = crt_now_ns();
    enum pxr_status status = jit_compile(&request, &object, error);
    if (status != PXR_OK)
        return status;
    status = jit_load(&object, kernel->func->name, crt_device_symbols, crt_device_symbol_count,
                      &variant->code, error);
    variant->stack_bytes = stack_bytes(kernel, &object);
    jit_object_fini(&object);
    uint64_t elapsed_ns = crt_now_ns() - start_ns;
    crt_stats_compile(kernel->func->name, elapsed_ns);
    pxr_log(PXR_LOG_INFO, "compiled kernel '%s' of %s in %.1f ms", kernel->func->name,
            kernel->library->name, (double)elapsed_ns / 1e6);
    return status;
}

static enum crt_result code_locked(struct crt_kernel *kernel, const uint32_t block[3],
                                   const struct crt_variant **variant)
{
    struct jit_variant key = choose_variant(block);
    for (struct crt_variant *known = kernel->variants; known; known = known->next) {
        if (is_same_variant(&known->key, &key)) {
            *variant = known;
            return CRT_SUCCESS;
        }
    }
    enum crt_result result = layout_locked(kernel);
    if (result != CRT_SUCCESS)
        return result;
    struct crt_variant *made = calloc(1, sizeof *made);
    if (!made)
        return CRT_OUT_OF_MEMORY;
    made->key = key;
    struct pxr_error error = {0};
    enum pxr_status status = compile(kernel, made, &error);
    if (status != PXR_OK) {
        crt_report_error(&error);
        free(made);
        return crt_result_from_status(status);
    }
    made->next = kernel->variants;
    kernel->variants = made;
    *variant = made;
    return CRT_SUCCESS;
}

enum crt_result crt_kernel_code(struct crt_kernel *kernel, const uint32_t block[3],
                                const struct crt_variant **variant)
{
    pthread_mutex_lock(&kernel->lock);
    enum crt_result result = code_locked(kernel, block, variant);
    pthread_mutex_unlock(&kernel->lock);
    return result;
}

/* .maxntid and .reqntid bound the number of threads; without them the device does. */
static int max_threads(const struct ptx_func *func)
{
    const uint32_t *bound = func->required_threads[0] ? func->required_threads : func->max_threads;
    if (bound[0] == 0)
        return CRT_MAX_THREADS_PER_BLOCK;
    uint64_t threads = bound[0];
    threads *= bound[1] ? bound[1] : 1;
    threads *= bound[2] ? bound[2] : 1;
    return threads < CRT_MAX_THREADS_PER_BLOCK ? (int)threads : CRT_MAX_THREADS_PER_BLOCK;
}

size_t crt_kernel_dynamic_limit(const struct crt_kernel *kernel)
{
    if (kernel->max_dynamic_shared >= 0)
        return (size_t)kernel->max_dynamic_shared;
    uint32_t static_bytes = kernel->layout.shared_static_bytes;
    return static_bytes < CRT_SHARED_PER_BLOCK ? CRT_SHARED_PER_BLOCK - static_bytes : 0;
}

int crt_kernel_max_threads(const struct crt_kernel *kernel)
{
    return max_threads(kernel->func);
}

static int const_bytes(const struct crt_kernel *kernel)
{
    const struct ptx_module *ptx = kernel->library->ptx;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < ptx->var_count; i++)
        if (ptx->vars[i]->space == PTX_SPACE_CONST)
            bytes += ptx->vars[i]->size_bytes;
    return bytes < INT32_MAX ? (int)bytes : INT32_MAX;
}

enum crt_result crt_kernel_get_attribute(struct crt_kernel *kernel, int attribute, int *value)
{
    const struct ptx_kernel_layout *layout;
    enum crt_result result = crt_kernel_layout(kernel, &layout);
    if (result != CRT_SUCCESS)
        return result;
    switch (attribute) {
    case ATTRIBUTE_MAX_THREADS:
        *value = max_threads(kernel->func);
        break;
    case ATTRIBUTE_SHARED_BYTES:
        *value = (int)layout->shared_static_bytes;
        break;
    case ATTRIBUTE_CONST_BYTES:
        *value = const_bytes(kernel);
        break;
    case ATTRIBUTE_LOCAL_BYTES:
        *value = (int)layout->local_bytes;
        break;
    case ATTRIBUTE_REGISTERS:
        *value = PLAUSIBLE_REGISTERS;
        break;
    case ATTRIBUTE_PTX_VERSION:
        *value = (int)kernel->library->ptx->target;
        break;
    case ATTRIBUTE_BINARY_VERSION:
        *value = CRT_CAPABILITY;
        break;
    case ATTRIBUTE_MAX_DYNAMIC_SHARED:
        *value = (int)crt_kernel_dynamic_limit(kernel);
        break;
    case ATTRIBUTE_CARVEOUT:
        *value = kernel->carveout;
        break;
    case ATTRIBUTE_CLUSTER_MUST_BE_SET:
        *value = kernel->func->needs_cluster;
        break;
    case ATTRIBUTE_NON_PORTABLE_CLUSTER:
        *value = kernel->non_portable_cluster;
        break;
    case ATTRIBUTE_CLUSTER_POLICY:
        *value = kernel->cluster_policy;
        break;
    case ATTRIBUTE_CACHE_MODE_CA:
    case ATTRIBUTE_CLUSTER_WIDTH:
    case ATTRIBUTE_CLUSTER_HEIGHT:
    case ATTRIBUTE_CLUSTER_DEPTH:
        *value = 0;
        break;
    default:
        return CRT_INVALID_VALUE;
    }
    return CRT_SUCCESS;
}

static enum crt_result set_dynamic_shared(struct crt_kernel *kernel, int value)
{
    const struct ptx_kernel_layout *layout;
    enum crt_result result = crt_kernel_layout(kernel, &layout);
    if (result != CRT_SUCCESS)
        return result;
    int64_t limit = (int64_t)CRT_SHARED_PER_BLOCK_OPTIN - layout->shared_static_bytes;
    if (value < 0 || value > limit)
        return CRT_INVALID_VALUE;
    kernel->max_dynamic_shared = value;
    return CRT_SUCCESS;
}

enum crt_result crt_kernel_set_attribute(struct crt_kernel *kernel, int attribute, int value)
{
    switch (attribute) {
    case ATTRIBUTE_MAX_DYNAMIC_SHARED:
        return set_dynamic_shared(kernel, value);
    case ATTRIBUTE_CARVEOUT:
        if (value < -1 || value > 100)
            return CRT_INVALID_VALUE;
        kernel->carveout = value;
        return CRT_SUCCESS;
    case ATTRIBUTE_NON_PORTABLE_CLUSTER:
        kernel->non_portable_cluster = value;
        return CRT_SUCCESS;
    case ATTRIBUTE_CLUSTER_POLICY:
        kernel->cluster_policy = value;
        return CRT_SUCCESS;
    default:
        return CRT_INVALID_VALUE;
    }
}

enum crt_result crt_kernel_param(const struct crt_kernel *kernel, size_t index, size_t *offset,
                                 size_t *size_bytes)
{
    if (index >= kernel->func->param_count)
        return CRT_INVALID_VALUE;
    const struct ptx_var *param = kernel->func->params[index];
    *offset = param->param_offset_bytes;
    if (size_bytes)
        *size_bytes = param->size_bytes;
    return CRT_SUCCESS;
}

enum crt_result crt_kernel_blocks_per_sm(struct crt_kernel *kernel, int block_threads,
                                         size_t dynamic_shared_bytes, int *blocks)
{
    const struct ptx_kernel_layout *layout;
    enum crt_result result = crt_kernel_layout(kernel, &layout);
    if (result != CRT_SUCCESS)
        return result;
    *blocks = 0;
    if (block_threads <= 0)
        return CRT_INVALID_VALUE;
    if (block_threads > max_threads(kernel->func) ||
        dynamic_shared_bytes > crt_kernel_dynamic_limit(kernel))
        return CRT_SUCCESS;
    int whole_warps = (block_threads + CRT_WARP_SIZE - 1) / CRT_WARP_SIZE * CRT_WARP_SIZE;
    int limit = CRT_THREADS_PER_SM / whole_warps;
    size_t shared = layout->shared_static_bytes + dynamic_shared_bytes;
    if (shared > CRT_SHARED_PER_BLOCK_OPTIN)
        return CRT_SUCCESS;
    if (shared && CRT_SHARED_PER_SM / shared < (size_t)limit)
        limit = (int)(CRT_SHARED_PER_SM / shared);
    *blocks = limit < CRT_BLOCKS_PER_SM ? limit : CRT_BLOCKS_PER_SM;
    return CRT_SUCCESS;
}

enum crt_result crt_kernel_available_shared(struct crt_kernel *kernel, int blocks,
                                            int block_threads, size_t *bytes)
{
    const struct ptx_kernel_layout *layout;
    enum crt_result result = crt_kernel_layout(kernel, &layout);
    if (result != CRT_SUCCESS)
        return result;
    if (blocks <= 0 || block_threads <= 0)
        return CRT_INVALID_VALUE;
    size_t per_block = CRT_SHARED_PER_SM / (size_t)blocks;
    size_t room =
        per_block > layout->shared_static_bytes ? per_block - layout->shared_static_bytes : 0;
    size_t limit = crt_kernel_dynamic_limit(kernel);
    *bytes = room < limit ? room : limit;
    return CRT_SUCCESS;
}
