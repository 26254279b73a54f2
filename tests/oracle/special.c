/* SPDX-License-Identifier: Apache-2.0
 *
 * Special registers (PTX ISA, "Special Registers"). Those whose value the manual leaves to the
 * machine (clocks, %smid, %warpid's order) are plausible; no test may depend on them.
 */
#include <time.h>

#include "tests/oracle/machine.h"

#define SM_COUNT 4

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static uint32_t warp_count(const struct oracle_thread *thread)
{
    return thread->block->warp_count;
}

static uint64_t position(const struct oracle_thread *thread, enum ptx_sreg sreg, bool *is_known)
{
    const struct oracle_launch *launch = thread->oracle->launch;
    const uint32_t *ctaid = thread->block->ctaid;
    const uint32_t *cluster = thread->oracle->cluster;

    *is_known = true;
    switch (sreg) {
    case PTX_SREG_TID_X:
    case PTX_SREG_TID_Y:
    case PTX_SREG_TID_Z:
        return thread->tid[sreg - PTX_SREG_TID_X];
    case PTX_SREG_NTID_X:
    case PTX_SREG_NTID_Y:
    case PTX_SREG_NTID_Z:
        return launch->block[sreg - PTX_SREG_NTID_X];
    case PTX_SREG_CTAID_X:
    case PTX_SREG_CTAID_Y:
    case PTX_SREG_CTAID_Z:
        return ctaid[sreg - PTX_SREG_CTAID_X];
    case PTX_SREG_NCTAID_X:
    case PTX_SREG_NCTAID_Y:
    case PTX_SREG_NCTAID_Z:
        return launch->grid[sreg - PTX_SREG_NCTAID_X];
    case PTX_SREG_CLUSTERID_X:
    case PTX_SREG_CLUSTERID_Y:
    case PTX_SREG_CLUSTERID_Z:
        return ctaid[sreg - PTX_SREG_CLUSTERID_X] / cluster[sreg - PTX_SREG_CLUSTERID_X];
    case PTX_SREG_NCLUSTERID_X:
    case PTX_SREG_NCLUSTERID_Y:
    case PTX_SREG_NCLUSTERID_Z:
        return launch->grid[sreg - PTX_SREG_NCLUSTERID_X] / cluster[sreg - PTX_SREG_NCLUSTERID_X];
    case PTX_SREG_CLUSTER_CTAID_X:
    case PTX_SREG_CLUSTER_CTAID_Y:
    case PTX_SREG_CLUSTER_CTAID_Z:
        return ctaid[sreg - PTX_SREG_CLUSTER_CTAID_X] % cluster[sreg - PTX_SREG_CLUSTER_CTAID_X];
    case PTX_SREG_CLUSTER_NCTAID_X:
    case PTX_SREG_CLUSTER_NCTAID_Y:
    case PTX_SREG_CLUSTER_NCTAID_Z:
        return cluster[sreg - PTX_SREG_CLUSTER_NCTAID_X];
    case PTX_SREG_CLUSTER_CTARANK:
        return thread->block->rank;
    case PTX_SREG_CLUSTER_NCTARANK:
        return thread->block->cluster->block_count;
    case PTX_SREG_IS_EXPLICIT_CLUSTER:
        return thread->oracle->kernel->needs_cluster;
    default:
        *is_known = false;
        return 0;
    }
}

static uint64_t in_warp(const struct oracle_thread *thread, enum ptx_sreg sreg, bool *is_known)
{
    uint32_t bit = UINT32_C(1) << thread->lane;

    *is_known = true;
    switch (sreg) {
    case PTX_SREG_LANEID:
        return thread->lane;
    case PTX_SREG_WARPID:
        return thread->warp;
    case PTX_SREG_NWARPID:
        return warp_count(thread);
    case PTX_SREG_LANEMASK_EQ:
        return bit;
    case PTX_SREG_LANEMASK_LT:
        return bit - 1;
    case PTX_SREG_LANEMASK_LE:
        return bit | (bit - 1);
    case PTX_SREG_LANEMASK_GT:
        return ~(bit | (bit - 1));
    case PTX_SREG_LANEMASK_GE:
        return ~(bit - 1);
    case PTX_SREG_WARP_SZ:
        return ORACLE_WARP_SIZE;
    default:
        *is_known = false;
        return 0;
    }
}

uint64_t oracle_sreg(struct oracle_thread *thread, enum ptx_sreg sreg)
{
    const struct oracle *oracle = thread->oracle;
    bool is_known;
    uint64_t value = position(thread, sreg, &is_known);

    if (!is_known)
        value = in_warp(thread, sreg, &is_known);
    if (is_known)
        return value;
    switch (sreg) {
    case PTX_SREG_SMID:
        return thread->block->ctaid[0] % SM_COUNT;
    case PTX_SREG_NSMID:
        return SM_COUNT;
    case PTX_SREG_GRIDID:
        return oracle->grid_id;
    case PTX_SREG_DYNAMIC_SMEM_SIZE:
        return oracle->launch->dynamic_shared_bytes;
    case PTX_SREG_TOTAL_SMEM_SIZE:
        return oracle->shared_bytes - oracle->shared_reserved_bytes;
    case PTX_SREG_AGGR_SMEM_SIZE:
        return oracle->shared_bytes;
    case PTX_SREG_RESERVED_SMEM_OFFSET_END:
    case PTX_SREG_RESERVED_SMEM_OFFSET_CAP:
        return oracle->shared_reserved_bytes;
    case PTX_SREG_RESERVED_SMEM_OFFSET_1:
        return oracle->shared_reserved_bytes / 2;
    case PTX_SREG_CLOCK:
    case PTX_SREG_CLOCK64:
        return oracle->steps + thread->steps;
    case PTX_SREG_CLOCK_HI:
        return (oracle->steps + thread->steps) >> 32;
    case PTX_SREG_GLOBALTIMER:
    case PTX_SREG_GLOBALTIMER_LO:
        return now_ns();
    case PTX_SREG_GLOBALTIMER_HI:
        return now_ns() >> 32;
    default:
        return 0; /* %pm, %envreg, … */
    }
}
