/* SPDX-License-Identifier: Apache-2.0
 *
 * How many blocks of a kernel fit on a multiprocessor of the architecture that the devices report:
 * by threads, blocks and shared memory. Registers never are the limit.
 */
#include "cudart/core/base/device.h"
#include "cudart/core/code/module.h"

/* The part of a multiprocessor's shared memory that a block with so much of it takes. */
static size_t shared_cost(const struct crt_architecture *architecture, size_t bytes)
{
    size_t unit = (size_t)architecture->shared_unit;
    return (bytes + unit - 1) / unit * unit + (size_t)architecture->shared_reserved;
}

int crt_blocks_per_sm(const struct crt_architecture *architecture, uint32_t block_threads,
                      size_t shared_bytes)
{
    uint32_t whole_warps = (block_threads + CRT_WARP_SIZE - 1) / CRT_WARP_SIZE * CRT_WARP_SIZE;
    int limit = architecture->threads_per_sm / (int)whole_warps;
    if (shared_bytes > (size_t)architecture->shared_per_block_optin)
        return 0;
    size_t cost = shared_cost(architecture, shared_bytes);
    if (cost && (size_t)architecture->shared_per_sm / cost < (size_t)limit)
        limit = (int)((size_t)architecture->shared_per_sm / cost);
    return limit < architecture->blocks_per_sm ? limit : architecture->blocks_per_sm;
}

enum crt_result crt_kernel_blocks_per_sm(struct crt_kernel *kernel, int block_threads,
                                         size_t dynamic_shared_bytes, int *blocks)
{
    const struct ptx_kernel_needs *needs;
    enum crt_result result = crt_kernel_needs(kernel, &needs);
    if (result != CRT_SUCCESS)
        return result;
    *blocks = 0;
    if (block_threads <= 0)
        return CRT_INVALID_VALUE;
    if (block_threads > crt_kernel_max_threads(kernel) ||
        dynamic_shared_bytes > crt_kernel_dynamic_limit(kernel))
        return CRT_SUCCESS;
    *blocks = crt_blocks_per_sm(crt_architecture_get(), (uint32_t)block_threads,
                                crt_static_shared(needs) + dynamic_shared_bytes);
    return CRT_SUCCESS;
}

enum crt_result crt_kernel_available_shared(struct crt_kernel *kernel, int blocks,
                                            int block_threads, size_t *bytes)
{
    const struct crt_architecture *architecture = crt_architecture_get();
    const struct ptx_kernel_needs *needs;
    enum crt_result result = crt_kernel_needs(kernel, &needs);
    if (result != CRT_SUCCESS)
        return result;
    if (blocks <= 0 || block_threads <= 0 || block_threads > crt_kernel_max_threads(kernel))
        return CRT_INVALID_VALUE;
    size_t per_block = (size_t)architecture->shared_per_sm / (size_t)blocks;
    per_block -= per_block % (size_t)architecture->shared_unit;
    size_t kept = crt_static_shared(needs) + (size_t)architecture->shared_reserved;
    size_t room = per_block > kept ? per_block - kept : 0;
    size_t limit = crt_kernel_dynamic_limit(kernel);
    *bytes = room < limit ? room : limit;
    return CRT_SUCCESS;
}
