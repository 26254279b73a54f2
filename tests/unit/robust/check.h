/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks for programs without a test framework: the first that fails ends the process.
 */
#ifndef PTXRUN_TESTS_ROBUST_CHECK_H
#define PTXRUN_TESTS_ROBUST_CHECK_H

#include <stdio.h>
#include <unistd.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                         \
            fflush(stdout);                                                                        \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

#define EXPECT(wanted, call)                                                                       \
    do {                                                                                           \
        int got_ = (int)(call);                                                                    \
        if (got_ != (int)(wanted)) {                                                               \
            printf("%s:%d: %s gave %d, not %d\n", __FILE__, __LINE__, #call, got_, (int)(wanted)); \
            fflush(stdout);                                                                        \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

#define OK(call) EXPECT(CRT_SUCCESS, call)

#endif
