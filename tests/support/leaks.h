/* SPDX-License-Identifier: Apache-2.0
 *
 * What LeakSanitizer is not to look for.
 */
#ifndef PTXRUN_TESTS_SUPPORT_LEAKS_H
#define PTXRUN_TESTS_SUPPORT_LEAKS_H

/* LeakSanitizer's; NULL in programs without it. */
__attribute__((weak)) void __lsan_disable(void);

/* Whatever this thread allocates from here on may be lost. For LLVM, which loses what it has when
 * it gives up in the middle. */
static inline void forgive_leaks(void)
{
    if (__lsan_disable)
        __lsan_disable();
}

#endif
