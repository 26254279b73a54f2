/* SPDX-License-Identifier: Apache-2.0
 *
 * The special registers as placeholders of step 1: one function per row of ptx/sregs.def, its name
 * that of the row in lower case. Predicates are 0 or 1 in 32 bits. precise.c defines them for
 * collapse `precise`; other collapses replace the calls.
 */
#ifndef PTXRUN_TRANSLATOR_RT_SREG_H
#define PTXRUN_TRANSLATOR_RT_SREG_H

#include "kernel_abi/rt.h"

#define RT_SREG32(name)                 uint32_t rt_sreg_##name(const struct rt_thread *thread)
#define RT_SREG64(name)                 uint64_t rt_sreg_##name(const struct rt_thread *thread)

#define RT_SREG_U32                     RT_SREG32
#define RT_SREG_U64                     RT_SREG64
#define RT_SREG_PRED                    RT_SREG32
#define SREG(ID, name, text, type, ...) RT_SREG_##type(name);
#include "ptx/sregs.def"
#undef SREG

/* f(n) for every number of a counted register */
#define RT_EACH_PM(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7)
#define RT_EACH_ENVREG(f)                                                                          \
    f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15) f(16)    \
        f(17) f(18) f(19) f(20) f(21) f(22) f(23) f(24) f(25) f(26) f(27) f(28) f(29) f(30) f(31)

#endif
