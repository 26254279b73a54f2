/* SPDX-License-Identifier: Apache-2.0
 *
 * The floating-point state of threads that run kernels is the default one: round to nearest, no
 * traps, subnormals kept. Code with sch_code.flushes has subnormal sources and results flushed to
 * zero by the CPU; between two of these calls only blocks of that code run.
 */
#ifndef PTXRUN_SCHEDULER_FLOAT_MODE_H
#define PTXRUN_SCHEDULER_FLOAT_MODE_H

#include "scheduler/scheduler.h"

#if defined(__x86_64__)
#include <xmmintrin.h>

#define SCH_MXCSR_DEFAULT 0x1f80u
#define SCH_MXCSR_FLUSHES 0x8040u /* FTZ, DAZ */

static inline void sch_begin_flushes(const struct sch_code *code)
{
    if (code->flushes)
        _mm_setcsr(SCH_MXCSR_DEFAULT | SCH_MXCSR_FLUSHES);
}

static inline void sch_end_flushes(const struct sch_code *code)
{
    if (code->flushes)
        _mm_setcsr(SCH_MXCSR_DEFAULT);
}
#else
/* No code is made for it elsewhere: AArch64 flushes what rounding would make normal. */
static inline void sch_begin_flushes(const struct sch_code *code)
{
    (void)code;
}

static inline void sch_end_flushes(const struct sch_code *code)
{
    (void)code;
}
#endif

#endif
