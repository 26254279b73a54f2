/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels: attributes.
 */
#include <stdlib.h>
#include <string.h>

#include "cudart/core/base/device.h"
#include "cudart/core/base/report.h"
#include "cudart/core/code/module.h"

#define PLAUSIBLE_REGISTERS 32
#define CLUSTER_POLICY_LAST 2 /* CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING */

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

struct crt_kernel *crt_kernel_create(struct crt_library *library,
                                     const struct ptx_outline_kernel *outline)
{
    struct crt_kernel *kernel = crt_object_create(CRT_KIND_KERNEL, sizeof *kernel);
    if (!kernel)
        return NULL;
    pthread_mutex_init(&kernel->lock, NULL);
    pthread_mutex_init(&kernel->source_lock, NULL);
    kernel->library = library;
    kernel->outline = outline;
    kernel->func = &outline->head;
    kernel->max_dynamic_shared = -1;
    kernel->carveout = -1;
    return kernel;
}

void crt_kernel_destroy(struct crt_kernel *kernel)
{
    crt_variants_destroy(kernel);
    free(kernel->old_launch);
    if (kernel->source)
        ptx_layout_fini(&kernel->layout);
    pthread_mutex_destroy(&kernel->source_lock);
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

uint32_t crt_static_shared(const struct ptx_kernel_needs *needs)
{
    return needs->shared_static_bytes - needs->shared_reserved_bytes;
}

size_t crt_kernel_dynamic_limit(const struct crt_kernel *kernel)
{
    if (kernel->max_dynamic_shared >= 0)
        return (size_t)kernel->max_dynamic_shared;
    uint32_t static_bytes = crt_static_shared(&kernel->outline->needs);
    return static_bytes < CRT_SHARED_PER_BLOCK ? CRT_SHARED_PER_BLOCK - static_bytes : 0;
}

int crt_kernel_max_threads(const struct crt_kernel *kernel)
{
    return max_threads(kernel->func);
}

int crt_library_const_bytes(const struct crt_library *library)
{
    const struct ptx_outline *outline = library->outline;
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < outline->var_count; i++)
        if (outline->vars[i]->space == PTX_SPACE_CONST)
            bytes += outline->vars[i]->size_bytes;
    return bytes < INT32_MAX ? (int)bytes : INT32_MAX;
}

/* What the kernel has been compiled with cannot be changed. */
static int required_cluster(const struct crt_kernel *kernel, int axis)
{
    const uint32_t *own = kernel->func->cluster_blocks;
    return own[0] != 0 ? (int)own[axis] : kernel->required_cluster[axis];
}

void crt_kernel_required_cluster(const struct crt_kernel *kernel, uint32_t cluster[3])
{
    for (int i = 0; i < 3; i++)
        cluster[i] = (uint32_t)required_cluster(kernel, i);
}

enum crt_result crt_kernel_get_attribute(struct crt_kernel *kernel, int attribute, int *value)
{
    const struct ptx_kernel_needs *needs;
    enum crt_result result = crt_kernel_needs(kernel, &needs);
    if (result != CRT_SUCCESS)
        return result;
    switch (attribute) {
    case ATTRIBUTE_MAX_THREADS:
        *value = max_threads(kernel->func);
        break;
    case ATTRIBUTE_SHARED_BYTES:
        *value = (int)crt_static_shared(needs);
        break;
    case ATTRIBUTE_CONST_BYTES:
        *value = crt_library_const_bytes(kernel->library);
        break;
    case ATTRIBUTE_LOCAL_BYTES:
        *value = (int)needs->local_bytes;
        break;
    case ATTRIBUTE_REGISTERS:
        *value = PLAUSIBLE_REGISTERS;
        break;
    case ATTRIBUTE_PTX_VERSION:
        *value = (int)kernel->library->outline->target;
        break;
    case ATTRIBUTE_BINARY_VERSION:
        *value = crt_architecture_get()->capability;
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
    case ATTRIBUTE_CLUSTER_WIDTH:
    case ATTRIBUTE_CLUSTER_HEIGHT:
    case ATTRIBUTE_CLUSTER_DEPTH:
        *value = required_cluster(kernel, attribute - ATTRIBUTE_CLUSTER_WIDTH);
        break;
    case ATTRIBUTE_CACHE_MODE_CA:
        *value = 0;
        break;
    default:
        return CRT_INVALID_VALUE;
    }
    return CRT_SUCCESS;
}

static enum crt_result set_dynamic_shared(struct crt_kernel *kernel, int value)
{
    const struct ptx_kernel_needs *needs;
    enum crt_result result = crt_kernel_needs(kernel, &needs);
    if (result != CRT_SUCCESS)
        return result;
    int64_t limit =
        (int64_t)crt_architecture_get()->shared_per_block_optin - crt_static_shared(needs);
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
    case ATTRIBUTE_CLUSTER_WIDTH:
    case ATTRIBUTE_CLUSTER_HEIGHT:
    case ATTRIBUTE_CLUSTER_DEPTH:
        if (kernel->func->cluster_blocks[0] != 0)
            return CRT_NOT_PERMITTED;
        if (value < 0)
            return CRT_INVALID_VALUE;
        kernel->required_cluster[attribute - ATTRIBUTE_CLUSTER_WIDTH] = value;
        return CRT_SUCCESS;
    case ATTRIBUTE_NON_PORTABLE_CLUSTER:
        kernel->non_portable_cluster = value != 0;
        return CRT_SUCCESS;
    case ATTRIBUTE_CLUSTER_POLICY:
        if (value < 0 || value > CLUSTER_POLICY_LAST)
            return CRT_INVALID_VALUE;
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
