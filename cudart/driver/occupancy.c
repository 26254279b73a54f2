/* SPDX-License-Identifier: Apache-2.0
 *
 * Occupancy.
 */
#include "cudart/core/base/device.h"
#include "cudart/core/code/cluster.h"
#include "cudart/core/code/module.h"
#include "cudart/driver/internal.h"

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function,
                                                              int block_threads,
                                                              size_t shared_bytes, unsigned flags)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!blocks || flags > 1)
        return CRT_INVALID_VALUE;
    if (!crt_kernel_is_valid(function))
        return CRT_INVALID_HANDLE;
    return crt_kernel_blocks_per_sm(function, block_threads, shared_bytes, blocks);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function,
                                                     int block_threads, size_t shared_bytes)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_threads,
                                                                shared_bytes, 0);
}

/* The largest number of resident threads wins; among equals, the largest block. */
CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *min_grid, int *block_threads,
                                                   CUfunction function,
                                                   CUoccupancyB2DSize shared_of,
                                                   size_t shared_bytes, int limit, unsigned flags)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!min_grid || !block_threads || flags > 1)
        return CRT_INVALID_VALUE;
    int largest;
    result = cuFuncGetAttribute(&largest, 0, function);
    if (result != CRT_SUCCESS)
        return result;
    if (limit > 0 && limit < largest)
        largest = limit;
    int best_threads = 0;
    int sm_count = (int)crt_device_sm_count();
    int size = (largest + CRT_WARP_SIZE - 1) / CRT_WARP_SIZE * CRT_WARP_SIZE;
    for (; size > 0; size -= CRT_WARP_SIZE) {
        int threads = size < largest ? size : largest;
        int blocks;
        size_t shared = shared_of ? shared_of(threads) : shared_bytes;
        result = crt_kernel_blocks_per_sm(function, threads, shared, &blocks);
        if (result != CRT_SUCCESS)
            return result;
        if (blocks * threads <= best_threads)
            continue;
        best_threads = blocks * threads;
        *block_threads = threads;
        *min_grid = blocks * sm_count;
    }
    if (best_threads == 0)
        *block_threads = *min_grid = 0;
    return CRT_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *min_grid, int *block_threads, CUfunction function,
                                          CUoccupancyB2DSize shared_of, size_t shared_bytes,
                                          int limit)
{
    return cuOccupancyMaxPotentialBlockSizeWithFlags(min_grid, block_threads, function, shared_of,
                                                     shared_bytes, limit, 0);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, CUfunction function, int blocks,
                                                 int block_threads)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!bytes)
        return CRT_INVALID_VALUE;
    if (!crt_kernel_is_valid(function))
        return CRT_INVALID_HANDLE;
    return crt_kernel_available_shared(function, blocks, block_threads, bytes);
}

static CUresult check_cluster_query(const int *output, CUfunction function,
                                    const CUlaunchConfig *config)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!output || !config || (config->numAttrs && !config->attrs))
        return CRT_INVALID_VALUE;
    return crt_kernel_is_valid(function) ? CRT_SUCCESS : CRT_INVALID_HANDLE;
}

/* What an occupancy query says of the launch. */
static struct crt_launch_config describe(const CUlaunchConfig *config)
{
    struct crt_launch_config launch = {0};
    for (unsigned i = 0; i < config->numAttrs; i++) {
        const CUlaunchAttribute *attribute = &config->attrs[i];
        if (attribute->id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            continue;
        launch.cluster[0] = attribute->value.clusterDim.x;
        launch.cluster[1] = attribute->value.clusterDim.y;
        launch.cluster[2] = attribute->value.clusterDim.z;
    }
    return launch;
}

/* Blocks of the configuration that a multiprocessor has room for. */
static CUresult count_blocks(CUfunction function, const CUlaunchConfig *config, int *blocks)
{
    uint64_t threads = (uint64_t)config->blockDimX * config->blockDimY * config->blockDimZ;
    if (threads == 0 || threads > CRT_MAX_THREADS_PER_BLOCK)
        return CRT_INVALID_VALUE;
    return crt_kernel_blocks_per_sm(function, (int)threads, config->sharedMemBytes, blocks);
}

/* Without regard to the size that the configuration names. */
CUresult cuOccupancyMaxPotentialClusterSize(int *size, CUfunction function,
                                            const CUlaunchConfig *config)
{
    CUresult result = check_cluster_query(size, function, config);
    int blocks = 0;
    if (result == CRT_SUCCESS)
        result = count_blocks(function, config, &blocks);
    if (result == CRT_SUCCESS)
        *size = blocks > 0 ? (int)crt_cluster_max_blocks(function) : 0;
    return result;
}

CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function,
                                      const CUlaunchConfig *config)
{
    struct crt_cluster cluster;
    int blocks = 0;
    CUresult result = check_cluster_query(clusters, function, config);
    if (result != CRT_SUCCESS)
        return result;
    struct crt_launch_config launch = describe(config);
    result = crt_cluster_of(function, &launch, &cluster);
    if (result == CRT_SUCCESS)
        result = count_blocks(function, config, &blocks);
    if (result == CRT_SUCCESS)
        *clusters = blocks * (int)crt_device_sm_count() /
                    (int)(cluster.blocks[0] * cluster.blocks[1] * cluster.blocks[2]);
    return result;
}
