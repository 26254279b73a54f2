/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of the runtime API above the real driver: no call before it is needed, as a runtime
 * starts everything itself.
 */
#ifndef PTXRUN_TESTS_CUDART_RUNTIME_FIXTURE_H
#define PTXRUN_TESTS_CUDART_RUNTIME_FIXTURE_H

#ifndef Test /* driver_fixture.h has chosen already */
#include <criterion/criterion.h>
#endif

#include "api_calls.h"
#include "cudart/runtime/runtime.h"

/* Fails the test when a runtime call does not give the error wanted. */
#define RT_EXPECT(wanted, call)                                                                    \
    do {                                                                                           \
        api_wanted = (int)(wanted);                                                                \
        cudaError_t got_ = (call);                                                                 \
        api_wanted = 0;                                                                            \
        cr_expect_eq(got_, wanted, "%s gave %d, not %d", #call, (int)got_, (int)(wanted));         \
    } while (0)

#define RT_OK(call)                                                                                \
    do {                                                                                           \
        cudaError_t got_ = (call);                                                                 \
        cr_assert_eq(got_, 0, "%s gave %d", #call, (int)got_);                                     \
    } while (0)

#endif
