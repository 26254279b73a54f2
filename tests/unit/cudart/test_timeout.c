/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels that never end, and --launch-timeout: error 702, where their blocks stand, and a device
 * that works again after a reset.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver_fixture.h"

#define HEAD    ".version 9.0\n.target sm_75\n.address_size 64\n"
#define THREADS 64

/* Line 5 of each never ends; the last kernel does. */
static const char endless_ptx[] =
    HEAD ".visible .entry spin(.param .u64 flag) { .reg .pred %p; .reg .b32 %r; .reg .b64 %rd;\n"
         "L: bra L;\n}\n";

static const char polling_ptx[] =
    HEAD ".visible .entry spin(.param .u64 flag) { .reg .pred %p; .reg .b32 %r; .reg .b64 %rd; "
         "ld.param.u64 %rd, [flag]; L:\n"
         "ld.volatile.global.u32 %r, [%rd];\n"
         "setp.eq.u32 %p, %r, 0; @%p bra L;\nret;\n}\n";

static const char computing_ptx[] =
    HEAD ".visible .entry spin(.param .u64 flag) { .reg .pred %p; .reg .b32 %r; .reg .b64 %rd; "
         "ld.param.u64 %rd, [flag]; ld.global.u32 %r, [%rd];\n"
         "L: mad.lo.u32 %r, %r, 48271, 12; setp.ne.u32 %p, %r, 1; @%p bra L;\n"
         "st.global.u32 [%rd], %r; ret;\n}\n";

static const char good_ptx[] = HEAD ".visible .entry put(.param .u64 out) { .reg .b64 %rd;\n"
                                    "ld.param.u64 %rd, [out]; st.global.u32 [%rd], 7; ret;\n}\n";

static CUfunction load(const char *text, const char *name)
{
    CUmodule module;
    CUfunction function;
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&function, module, name));
    return function;
}

static CUdeviceptr zero_word(void)
{
    CUdeviceptr word;
    OK(cuMemAlloc_v2(&word, sizeof(unsigned)));
    OK(cuMemsetD32_v2(word, 0, 1));
    return word;
}

static void launch(CUfunction function, CUdeviceptr word, unsigned blocks)
{
    void *params[] = {&word};
    OK(cuLaunchKernel(function, blocks, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
}

/* With one block there is nobody else to look at; with many, most have not begun or are set
 * aside. */
static void expect_timeout(const char *text, const char *collapse, unsigned blocks)
{
    setenv("PTXRUN_COLLAPSE", collapse, 1);
    setenv("PTXRUN_LAUNCH_TIMEOUT", "1", 1);
    setenv("PTXRUN_THREADS", "2", 1);
    make_context();
    launch(load(text, "spin"), zero_word(), blocks);
    EXPECT(CRT_LAUNCH_TIMEOUT, cuCtxSynchronize());
    OK(cuDevicePrimaryCtxReset_v2(0));
    make_context();
    CUdeviceptr word = zero_word();
    unsigned got = 0;
    launch(load(good_ptx, "put"), word, 100);
    OK(cuMemcpyDtoH_v2(&got, word, sizeof got));
    cr_expect_eq(got, 7);
}

Test(timeout, a_loop_without_end)
{
    expect_timeout(endless_ptx, "precise", 1);
}

Test(timeout, a_loop_without_end_in_a_loop_over_threads)
{
    expect_timeout(computing_ptx, "flat", 5);
}

Test(timeout, a_loop_without_end_in_vectors)
{
    expect_timeout(computing_ptx, "vector", 2);
}

Test(timeout, threads_that_poll)
{
    expect_timeout(polling_ptx, "precise", 1);
}

Test(timeout, blocks_that_poll)
{
    expect_timeout(polling_ptx, "auto", 40);
}

#ifndef PTXRUN_TESTS_CUDART_PLAIN_TESTS_H
#include <criterion/redirect.h>

Test(timeout, a_report_says_where_blocks_stand, .init = cr_redirect_stderr)
{
    expect_timeout(polling_ptx, "auto", 3);
    char text[4000] = "";
    FILE *errors = cr_get_redirected_stderr();
    fflush(stderr);
    close(STDERR_FILENO);
    cr_assert(fread(text, 1, sizeof text - 1, errors) > 0);
    for (int block = 0; block < 3; block++) {
        char expected[100];
        snprintf(expected, sizeof expected, "block (%d,0,0) is still there, PTX line ", block);
        const char *found = strstr(text, expected);
        cr_assert(found != NULL, "%s", text);
        char line = found[strlen(expected)];
        cr_expect(line == '5' || line == '6', "%s", text);
    }
    cr_expect(strstr(text, "more time than --launch-timeout allows in kernel 'spin'"), "%s", text);
}
#endif

/* Time that a grid waits for others is not its own. */
Test(timeout, what_ends_in_time_is_not_ended)
{
    setenv("PTXRUN_LAUNCH_TIMEOUT", "1", 1);
    setenv("PTXRUN_TIER", "best", 1);
    make_context();
    CUdeviceptr word = zero_word();
    unsigned got = 0;
    CUfunction function = load(good_ptx, "put");
    launch(function, word, 1);
    OK(cuCtxSynchronize());
    usleep(1100000);
    for (int i = 0; i < 1000; i++)
        launch(function, word, 10);
    OK(cuMemcpyDtoH_v2(&got, word, sizeof got));
    cr_expect_eq(got, 7);
}
