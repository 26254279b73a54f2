/* SPDX-License-Identifier: Apache-2.0
 *
 * What LeakSanitizer is not to look for.
 */
#ifndef PTXRUN_TESTS_SUPPORT_LEAKS_H
#define PTXRUN_TESTS_SUPPORT_LEAKS_H

/* Whatever the running test loses is forgiven. For LLVM, which loses what it has when it gives up
 * in the middle (fork_tests.c). */
void forgive_leaks(void);

#endif
