/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of LLVM's code generators tests use whose subject is what comes before it. Sanitizers look
 * into ptxrun's own code, not into what is made: they get the one that takes a third of the time.
 * That one cannot take vectors of i1 from a call, which only modules written for a test have.
 */
#ifndef PTXRUN_TESTS_SUPPORT_EMITTING_H
#define PTXRUN_TESTS_SUPPORT_EMITTING_H

#include <stdbool.h>

#include "jit/llvm_target.h"

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

static inline bool emits_plain_code(void)
{
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return true;
#else
    return false;
#endif
}

/* Best code, or for sanitizers plain code, of the same machine. */
static inline LLVMTargetMachineRef emitting_machine(struct jit_target *target)
{
    return emits_plain_code() ? jit_target_quick(target) : target->machine;
}

#endif
