/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that wait for the host: launching one returns, however short it was before.
 */
#include "driver_fixture.h"

#include <stdio.h>

/* %s: how the flag is read into %r1. */
static const char wait_ptx[] =
    ".version 8.5\n.target sm_75\n.address_size 64\n"
    ".visible .entry wait(.param .u64 flag)\n"
    "{\n .reg .b64 %%rd<2>; .reg .b32 %%r<2>; .reg .pred %%p;\n"
    " ld.param.u64 %%rd1, [flag]; cvta.to.global.u64 %%rd1, %%rd1;\n"
    "again:\n %s\n setp.eq.u32 %%p, %%r1, 0; @%%p bra again;\n ret;\n}\n";

static const char *const reads[] = {
    "ld.volatile.global.u32 %r1, [%rd1];",
    "ld.relaxed.sys.global.u32 %r1, [%rd1];",
    "ld.acquire.gpu.global.u32 %r1, [%rd1];",
    "ld.mmio.relaxed.sys.global.u32 %r1, [%rd1];",
    "ld.global.cv.u32 %r1, [%rd1];",
    "membar.gl; ld.global.u32 %r1, [%rd1];",
    "fence.acq_rel.sys; ld.global.u32 %r1, [%rd1];",
    "atom.global.or.b32 %r1, [%rd1], 0;",
    "atom.global.cas.b32 %r1, [%rd1], 5, 6;",
};

static CUfunction load(const char *read)
{
    char text[1024];
    CUmodule module;
    CUfunction kernel;
    snprintf(text, sizeof text, wait_ptx, read);
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&kernel, module, "wait"));
    return kernel;
}

Test(waiting, the_launch_of_a_kernel_that_waits_for_the_host_returns, .init = make_context,
     .timeout = 120)
{
    CUstream stream;
    volatile unsigned *flag;
    OK(cuStreamCreate(&stream, 1 /* non-blocking */));
    OK(cuMemHostAlloc((void **)&flag, sizeof *flag, 0));
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        CUfunction kernel = load(reads[i]);
        void *args[] = {(void *)&flag};
        /* Now it is known to be short. */
        *flag = 1;
        for (int n = 0; n < 20; n++)
            OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
        OK(cuStreamSynchronize(stream));
        *flag = 0;
        OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL));
        EXPECT(CRT_NOT_READY, cuStreamQuery(stream));
        *flag = 1;
        OK(cuStreamSynchronize(stream));
    }
}
