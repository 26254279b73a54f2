/* SPDX-License-Identifier: Apache-2.0
 *
 * A context for tests of the driver API, and the PTX that they run.
 */
#ifndef PTXRUN_TESTS_CUDART_DRIVER_FIXTURE_H
#define PTXRUN_TESTS_CUDART_DRIVER_FIXTURE_H

#include <criterion/criterion.h>

#include "api_calls.h"
#include "cudart/driver/cuda_driver.h"

/* Fails the test when a call does not give the result wanted. */
#define EXPECT(wanted, call)                                                                       \
    do {                                                                                           \
        api_wanted = (int)(wanted);                                                                \
        CUresult got_ = (call);                                                                    \
        api_wanted = 0;                                                                            \
        cr_expect_eq(got_, wanted, "%s gave %d, not %d", #call, (int)got_, (int)(wanted));         \
    } while (0)

#define OK(call)                                                                                   \
    do {                                                                                           \
        CUresult got_ = (call);                                                                    \
        cr_assert_eq(got_, CRT_SUCCESS, "%s gave %d", #call, (int)got_);                           \
    } while (0)

static inline void make_context(void)
{
    CUcontext ctx;
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
}

#endif
