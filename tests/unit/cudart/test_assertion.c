/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread whose assertion fails ends, and others wait for what it would have done: the launch ends
 * with the assertion's error.
 */
#include <stdlib.h>

#include "driver_fixture.h"

#define ASSERT_ERROR 710 /* CUDA_ERROR_ASSERT */

#define CALL                                                                                       \
    "{ .param .b64 a; st.param.b64 [a], %rd2; .param .b64 b; st.param.b64 [b], %rd2;\n"            \
    ".param .b32 c; st.param.b32 [c], 7; .param .b64 d; st.param.b64 [d], %rd2;\n"                 \
    ".param .b64 e; st.param.b64 [e], 1; call __assertfail, (a, b, c, d, e); }\n"

/* The last thread has to set a flag, which all others poll. */
static const char ptx[] =
    ".version 9.0\n.target sm_80\n.address_size 64\n"
    ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "
    ".param .b64 e) .noreturn;\n"
    ".global .align 1 .b8 text[4] = {105, 115, 63, 0};\n"
    ".visible .entry waits(.param .u64 flag)\n"
    "{\n.reg .pred %p; .reg .b32 %r<3>; .reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [flag]; mov.u64 %rd2, text; cvta.global.u64 %rd2, %rd2;\n"
    "mov.u32 %r1, %tid.x; setp.ne.u32 %p, %r1, 63; @%p bra wait;\n" CALL
    "wait: ld.acquire.gpu.global.u32 %r2, [%rd1]; setp.eq.u32 %p, %r2, 0; @%p bra wait;\n"
    "ret;\n}\n";

static void run(const char *collapse)
{
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr flag;
    CUcontext ctx;
    void *params[] = {&flag};
    setenv("PTXRUN_COLLAPSE", collapse, 1);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    OK(cuMemAlloc_v2(&flag, 4));
    OK(cuMemsetD32_v2(flag, 0, 1));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&kernel, module, "waits"));
    OK(cuLaunchKernel(kernel, 2, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
    cr_assert_eq(cuCtxSynchronize(), ASSERT_ERROR);
}

Test(assertion, ends_those_that_wait_precise, .timeout = 20)
{
    run("precise");
}

Test(assertion, ends_those_that_wait_in_loops, .timeout = 20)
{
    run("flat");
}

Test(assertion, ends_those_that_wait_in_vectors, .timeout = 20)
{
    run("vector");
}
