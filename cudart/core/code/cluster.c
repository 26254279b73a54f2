/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters of launches: who says how large they are, and which sizes there can be. How they are
 * spread over multiprocessors is nobody's choice: one worker runs all blocks of a cluster.
 */
#include "cudart/core/code/cluster.h"

#include "cudart/core/base/device.h"
#include "cudart/core/code/module.h"

#define PORTABLE_BLOCKS 8 /* every device that has clusters can place so many */

/* A kernel whose text asks for clusters has been made for devices that have them. */
static bool has_clusters(const struct crt_kernel *kernel)
{
    return crt_architecture_get()->capability >= CRT_CAPABILITY_OF_CLUSTERS ||
           kernel->func->needs_cluster;
}

uint32_t crt_cluster_max_blocks(const struct crt_kernel *kernel)
{
    if (!has_clusters(kernel))
        return 1;
    uint32_t max = kernel->non_portable_cluster ? RT_CLUSTER_BLOCKS_MAX : PORTABLE_BLOCKS;
    uint32_t own = kernel->func->max_cluster_blocks;
    return own != 0 && own < max ? own : max;
}

static bool is_given(const uint32_t cluster[3])
{
    return cluster[0] != 0 || cluster[1] != 0 || cluster[2] != 0;
}

enum crt_result crt_cluster_of(const struct crt_kernel *kernel,
                               const struct crt_launch_config *config, struct crt_cluster *cluster)
{
    uint32_t required[3];
    crt_kernel_required_cluster(kernel, required);
    bool has_own = is_given(required);
    *cluster = (struct crt_cluster){.blocks = {1, 1, 1},
                                    .is_explicit = has_own || is_given(config->cluster)};
    if (!cluster->is_explicit)
        return kernel->func->needs_cluster ? CRT_INVALID_CLUSTER_SIZE : CRT_SUCCESS;
    uint32_t max = crt_cluster_max_blocks(kernel);
    uint64_t blocks = 1;
    for (int i = 0; i < 3; i++) {
        uint32_t given = is_given(config->cluster) ? config->cluster[i] : required[i];
        if (has_own && given != required[i])
            return CRT_INVALID_CLUSTER_SIZE;
        cluster->blocks[i] = given;
        blocks *= given;
        if (blocks == 0 || blocks > max)
            return CRT_INVALID_CLUSTER_SIZE;
    }
    return CRT_SUCCESS;
}

enum crt_result crt_cluster_check(const struct crt_kernel *kernel,
                                  const struct crt_launch_config *config)
{
    struct crt_cluster cluster;
    enum crt_result result = crt_cluster_of(kernel, config, &cluster);
    for (int i = 0; i < 3 && result == CRT_SUCCESS; i++)
        if (config->grid[i] % cluster.blocks[i] != 0)
            result = CRT_INVALID_CLUSTER_SIZE;
    return result;
}

bool crt_cluster_scale_grid(const struct crt_kernel *kernel, uint32_t grid[3])
{
    const uint32_t *own = kernel->func->cluster_blocks;
    for (int i = 0; i < 3 && kernel->func->has_block_clusters && own[0] != 0; i++)
        if (__builtin_mul_overflow(grid[i], own[i], &grid[i]))
            return false;
    return true;
}
