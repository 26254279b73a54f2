/* SPDX-License-Identifier: Apache-2.0
 *
 * What tiers cost: bench_tiers [ROUNDS]. How long a process takes to end, from its call of exit,
 * with and without a compilation in flight; and a kernel of one long grid, in best code from the
 * start and in quick code first, from its launch to its end. Each in a process of its own, in turn.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cudart/driver/cuda_driver.h"
#include "tests/support/big_kernels.h"

#define ROUNDS_MAX 100
#define BIG_SIZE   3000 /* takes about a second to compile */
#define BLOCKS     20000
#define THREADS    128
#define WORK       10000

static const char work_ptx[] =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry work(.param .u64 out, .param .u32 rounds)\n"
    "{\n .reg .pred %p; .reg .b32 %r<9>; .reg .b64 %rd<4>;\n"
    " ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [rounds];\n"
    " mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;\n"
    " mad.lo.s32 %r5, %r3, %r4, %r2; mov.u32 %r6, %r5;\n"
    "L: mad.lo.u32 %r6, %r6, 1664525, 1013904223; sub.u32 %r1, %r1, 1;\n"
    " setp.ne.u32 %p, %r1, 0; @%p bra L;\n"
    " mul.wide.u32 %rd2, %r5, 4; add.u64 %rd3, %rd1, %rd2; st.global.u32 [%rd3], %r6; ret;\n}\n";

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void check(CUresult result, const char *what)
{
    if (result == CRT_SUCCESS)
        return;
    fprintf(stderr, "bench_tiers: %s gave %d\n", what, (int)result);
    exit(1);
}

#define CHECK(call) check((call), #call)

static CUfunction load(const char *text, const char *name)
{
    CUcontext ctx;
    CUmodule module;
    CUfunction function;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&ctx, 0));
    CHECK(cuCtxSetCurrent(ctx));
    CHECK(cuModuleLoadData(&module, text));
    CHECK(cuModuleGetFunction(&function, module, name));
    return function;
}

/* ---- what a process does; the result is a time, or when it was over ---- */

static uint64_t launch_big(void)
{
    CUdeviceptr out;
    char *text = big_kernel_text(big_family_find("arithmetic"), BIG_SIZE);
    CUfunction function = load(text, "big");
    void *params[] = {&out};
    CHECK(cuMemAlloc_v2(&out, BIG_WORDS * sizeof(unsigned)));
    CHECK(cuMemsetD32_v2(out, 3, BIG_WORDS));
    CHECK(cuLaunchKernel(function, 8, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    CHECK(cuCtxSynchronize());
    usleep(20000); /* the compiler has begun */
    return now_ns();
}

static uint64_t launch_long(void)
{
    CUdeviceptr out;
    unsigned rounds = WORK;
    CUfunction function = load(work_ptx, "work");
    void *params[] = {&out, &rounds};
    CHECK(cuMemAlloc_v2(&out, (size_t)BLOCKS * THREADS * sizeof(unsigned)));
    uint64_t start_ns = now_ns();
    CHECK(cuLaunchKernel(function, BLOCKS, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    CHECK(cuCtxSynchronize());
    return now_ns() - start_ns;
}

struct setting {
    const char *name;
    const char *tier;
    const char *patience;
    uint64_t (*run)(void);
    bool is_exit;
};

static const struct setting settings[] = {
    {"exit, nothing is compiled", "auto", "4000000000", launch_big, true},
    {"exit, a compilation in flight", "auto", "0", launch_big, true},
    {"a long grid, best", "best", "100", launch_long, false},
    {"a long grid, auto", "auto", "100", launch_long, false},
};

#define SETTINGS (sizeof settings / sizeof settings[0])

static uint64_t measure(const struct setting *setting)
{
    int ends[2];
    uint64_t result = 0;
    if (pipe(ends) != 0)
        exit(1);
    pid_t child = fork();
    if (child == 0) {
        setenv("PTXRUN_TIER", setting->tier, 1);
        setenv("PTXRUN_TIER_PATIENCE", setting->patience, 1);
        setenv("PTXRUN_CACHE", "off", 1);
        result = setting->run();
        exit(write(ends[1], &result, sizeof result) != sizeof result);
    }
    close(ends[1]);
    bool is_read = read(ends[0], &result, sizeof result) == sizeof result;
    waitpid(child, NULL, 0);
    close(ends[0]);
    if (!is_read)
        exit(1);
    return setting->is_exit ? now_ns() - result : result;
}

static int by_value(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
    static uint64_t times[SETTINGS][ROUNDS_MAX];
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 11;
    rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
    for (unsigned r = 0; r < rounds; r++)
        for (size_t s = 0; s < SETTINGS; s++)
            times[s][r] = measure(&settings[s]);
    printf("%-32s %10s %10s %10s\n", "ms", "median", "min", "max");
    for (size_t s = 0; s < SETTINGS; s++) {
        qsort(times[s], rounds, sizeof times[s][0], by_value);
        printf("%-32s %10.2f %10.2f %10.2f\n", settings[s].name, (double)times[s][rounds / 2] / 1e6,
               (double)times[s][0] / 1e6, (double)times[s][rounds - 1] / 1e6);
    }
    return 0;
}
