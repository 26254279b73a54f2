/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters of launches: their size, from the launch, the kernel's text or its attributes.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_CLUSTER_H
#define PTXRUN_CUDART_CORE_CODE_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "cudart/core/base/result.h"
#include "cudart/core/streams/work.h"
#include "kernel_abi/rt.h"

#define CRT_CAPABILITY_OF_CLUSTERS 90

struct crt_kernel;

struct crt_cluster {
    uint32_t blocks[3];
    bool is_explicit;
};

CRT_API_BEGIN

/* The most blocks that a cluster of the kernel may have now; 1 where there are no clusters. */
uint32_t crt_cluster_max_blocks(const struct crt_kernel *kernel);

/* The cluster of a launch, whatever its grid. CRT_INVALID_CLUSTER_SIZE: there can be no such. */
enum crt_result crt_cluster_of(const struct crt_kernel *kernel,
                               const struct crt_launch_config *config, struct crt_cluster *cluster);

/* Whether the grid consists of such clusters, likewise. */
enum crt_result crt_cluster_check(const struct crt_kernel *kernel,
                                  const struct crt_launch_config *config);

/* .blocksareclusters: grids of the kernel are given in clusters; makes blocks of them. False: too
 * many. */
bool crt_cluster_scale_grid(const struct crt_kernel *kernel, uint32_t grid[3]);

CRT_API_END

#endif
