/* SPDX-License-Identifier: Apache-2.0
 *
 * The special registers as placeholders of step 1: one function per row of ptx/sregs.def, its name
 * that of the row in lower case. Predicates are 0 or 1 in 32 bits. precise.c defines them for
 * collapse `precise`; other collapses replace the calls.
 */
#ifndef PTXRUN_TRANSLATOR_RT_SREG_H
#define PTXRUN_TRANSLATOR_RT_SREG_H

#include "kernel_abi/rt.h"

#define RT_SREG32(name) uint32_t rt_sreg_##name(const struct rt_thread *thread)
#define RT_SREG64(name) uint64_t rt_sreg_##name(const struct rt_thread *thread)

/* name_x, name_y, name_z, name_w */
#define RT_SREG_TRIPLE(name)                                                                       \
    RT_SREG32(name##_x);                                                                           \
    RT_SREG32(name##_y);                                                                           \
    RT_SREG32(name##_z);                                                                           \
    RT_SREG32(name##_w)

RT_SREG_TRIPLE(tid);
RT_SREG_TRIPLE(ntid);
RT_SREG_TRIPLE(ctaid);
RT_SREG_TRIPLE(nctaid);
RT_SREG_TRIPLE(clusterid);
RT_SREG_TRIPLE(nclusterid);
RT_SREG_TRIPLE(cluster_ctaid);
RT_SREG_TRIPLE(cluster_nctaid);
RT_SREG32(cluster_ctarank);
RT_SREG32(cluster_nctarank);
RT_SREG32(is_explicit_cluster);
RT_SREG32(laneid);
RT_SREG32(warpid);
RT_SREG32(nwarpid);
RT_SREG32(smid);
RT_SREG32(nsmid);
RT_SREG64(gridid);
RT_SREG32(lanemask_eq);
RT_SREG32(lanemask_le);
RT_SREG32(lanemask_lt);
RT_SREG32(lanemask_ge);
RT_SREG32(lanemask_gt);
RT_SREG32(dynamic_smem_size);
RT_SREG32(total_smem_size);
RT_SREG32(aggr_smem_size);
RT_SREG32(reserved_smem_offset_begin);
RT_SREG32(reserved_smem_offset_end);
RT_SREG32(reserved_smem_offset_cap);
RT_SREG32(reserved_smem_offset_0);
RT_SREG32(reserved_smem_offset_1);
RT_SREG32(clock);
RT_SREG32(clock_hi);
RT_SREG64(clock64);
RT_SREG64(globaltimer);
RT_SREG32(globaltimer_lo);
RT_SREG32(globaltimer_hi);
RT_SREG64(current_graph_exec);

/* f(n) for every number of a counted register */
#define RT_EACH_PM(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7)
#define RT_EACH_ENVREG(f)                                                                          \
    f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15) f(16)    \
        f(17) f(18) f(19) f(20) f(21) f(22) f(23) f(24) f(25) f(26) f(27) f(28) f(29) f(30) f(31)

#define RT_DECLARE_PM(n)                                                                           \
    RT_SREG32(pm##n);                                                                              \
    RT_SREG64(pm##n##_64);
#define RT_DECLARE_ENVREG(n) RT_SREG32(envreg##n);
RT_EACH_PM(RT_DECLARE_PM)
RT_EACH_ENVREG(RT_DECLARE_ENVREG)
#undef RT_DECLARE_PM
#undef RT_DECLARE_ENVREG

#endif
