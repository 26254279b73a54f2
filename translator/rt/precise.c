/* SPDX-License-Identifier: Apache-2.0
 *
 * Special registers of a thread that runs alone on a stack of its own. Everything read here is
 * constant while the thread runs (collapse_precise.c relies on it); clocks are calls.
 */
#include "ptx/reserved_shared.h"
#include "translator/rt/sreg.h"

#define DEFINE32(name, expression)                                                                 \
    RT_SREG32(name)                                                                                \
    {                                                                                              \
        (void)thread;                                                                              \
        return (uint32_t)(expression);                                                             \
    }
#define DEFINE64(name, expression)                                                                 \
    RT_SREG64(name)                                                                                \
    {                                                                                              \
        (void)thread;                                                                              \
        return (uint64_t)(expression);                                                             \
    }
/* The expression names the axis. */
#define DEFINE_AXIS(name, number, expression)                                                      \
    RT_SREG32(name)                                                                                \
    {                                                                                              \
        const int axis = number;                                                                   \
        (void)thread;                                                                              \
        return (uint32_t)(expression);                                                             \
    }
#define DEFINE_TRIPLE_OF(name, expression)                                                         \
    DEFINE_AXIS(name##_x, 0, expression)                                                           \
    DEFINE_AXIS(name##_y, 1, expression)                                                           \
    DEFINE_AXIS(name##_z, 2, expression)                                                           \
    DEFINE32(name##_w, 0)
#define DEFINE_TRIPLE(name, array) DEFINE_TRIPLE_OF(name, (array)[axis])

#define BLOCK                      (thread->block)
#define LAUNCH                     (thread->block->launch)

DEFINE_TRIPLE(tid, thread->tid)
DEFINE_TRIPLE(ntid, LAUNCH->block)
DEFINE_TRIPLE(ctaid, BLOCK->ctaid)
DEFINE_TRIPLE(nctaid, LAUNCH->grid)

DEFINE_TRIPLE_OF(clusterid, BLOCK->ctaid[axis] / LAUNCH->cluster[axis])
DEFINE_TRIPLE_OF(nclusterid, LAUNCH->grid[axis] / LAUNCH->cluster[axis])
DEFINE_TRIPLE_OF(cluster_ctaid, BLOCK->ctaid[axis] % LAUNCH->cluster[axis])
DEFINE_TRIPLE(cluster_nctaid, LAUNCH->cluster)
DEFINE32(cluster_ctarank, BLOCK->cluster_rank)
DEFINE32(cluster_nctarank, LAUNCH->cluster_blocks)
DEFINE32(is_explicit_cluster, LAUNCH->is_explicit_cluster)

#define MAX_WARPS_PER_SM 32 /* of compute capability 7.5 */

DEFINE32(laneid, thread->lane)
DEFINE32(warpid, thread->warp)
DEFINE32(nwarpid, MAX_WARPS_PER_SM)
DEFINE32(smid, BLOCK->sm_id)
DEFINE32(nsmid, LAUNCH->sm_count)
DEFINE32(first_thread, BLOCK->first_thread)
DEFINE64(gridid, LAUNCH->grid_id)

DEFINE32(lanemask_eq, UINT32_C(1) << thread->lane)
DEFINE32(lanemask_le, (UINT64_C(2) << thread->lane) - 1)
DEFINE32(lanemask_lt, (UINT32_C(1) << thread->lane) - 1)
DEFINE32(lanemask_ge, -(UINT32_C(1) << thread->lane))
DEFINE32(lanemask_gt, -(UINT64_C(2) << thread->lane))

DEFINE32(dynamic_smem_size, LAUNCH->dynamic_shared_bytes)
DEFINE32(total_smem_size, LAUNCH->shared_bytes)
DEFINE32(aggr_smem_size, LAUNCH->shared_bytes)
DEFINE32(reserved_smem_offset_begin, 0)
DEFINE32(reserved_smem_offset_end, PTX_RESERVED_SHARED_BYTES)
DEFINE32(reserved_smem_offset_cap, PTX_RESERVED_SHARED_BYTES)
DEFINE32(reserved_smem_offset_0, PTX_RESERVED_SHARED_ITEM(0))
DEFINE32(reserved_smem_offset_1, PTX_RESERVED_SHARED_ITEM(1))

DEFINE32(clock, rt_clock())
DEFINE32(clock_hi, rt_clock() >> 32)
DEFINE64(clock64, rt_clock())
DEFINE64(globaltimer, rt_globaltimer())
DEFINE32(globaltimer_lo, rt_globaltimer())
DEFINE32(globaltimer_hi, rt_globaltimer() >> 32)

DEFINE64(current_graph_exec, LAUNCH->graph_exec)

#define DEFINE_PM(n) DEFINE32(pm##n, 0) DEFINE64(pm##n##_64, 0)
RT_EACH_PM(DEFINE_PM)

/* A cooperative launch finds its workspace in %envreg1 and %envreg2; the others are 0. */
static inline uint32_t envreg(const struct rt_thread *thread, unsigned n)
{
    if (n == 1)
        return (uint32_t)(LAUNCH->grid_workspace >> 32);
    return n == 2 ? (uint32_t)LAUNCH->grid_workspace : 0;
}

#define DEFINE_ENVREG(n) DEFINE32(envreg##n, envreg(thread, n))
RT_EACH_ENVREG(DEFINE_ENVREG)

void rt_spin(struct rt_thread *thread)
{
    if (__builtin_expect(--thread->poll_budget < 0, 0))
        rt_poll(thread);
}
