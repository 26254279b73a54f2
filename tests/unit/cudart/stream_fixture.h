/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests of order: host functions that write down what ran, and gates that hold them up; kernels
 * that write and wait for words of memory.
 */
#ifndef PTXRUN_TESTS_CUDART_STREAM_FIXTURE_H
#define PTXRUN_TESTS_CUDART_STREAM_FIXTURE_H

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "driver_fixture.h"

/* What ran, in order. Host functions run on one thread. */
static char history[64];
static atomic_int gate; /* host functions that wait_gate() hold on while it is 0 */

static inline void note(void *arg)
{
    strncat(history, arg, sizeof history - strlen(history) - 1);
}

static inline void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

static inline void wait_gate(void *arg)
{
    while (!atomic_load(&gate))
        sleep_ms(1);
    note(arg);
}

static inline CUstream make_stream(unsigned flags)
{
    CUstream stream;
    OK(cuStreamCreate(&stream, flags));
    return stream;
}

static inline CUevent make_event(unsigned flags)
{
    CUevent event;
    OK(cuEventCreate(&event, flags));
    return event;
}

/* Words that host and device see, all 0. */
static inline _Atomic(unsigned) *make_words(size_t count)
{
    void *words;
    OK(cuMemHostAlloc(&words, count * sizeof(unsigned), 0));
    memset(words, 0, count * sizeof(unsigned));
    return words;
}

/* meet: *mine = 1, then wait until *other is not 0. put: *out = value, for all threads of a block.
 * add: *out = *out * 10 + value. */
static const char stream_ptx[] =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry meet(.param .u64 mine, .param .u64 other)\n"
    "{\n .reg .b32 %r<3>; .reg .b64 %rd<3>; .reg .pred %p<2>;\n"
    " ld.param.u64 %rd1, [mine]; ld.param.u64 %rd2, [other]; mov.u32 %r1, 1;\n"
    " st.volatile.global.u32 [%rd1], %r1;\n"
    "again:\n ld.volatile.global.u32 %r2, [%rd2]; setp.eq.u32 %p1, %r2, 0;\n @%p1 bra again;\n"
    " ret;\n}\n"
    ".visible .entry put(.param .u64 out, .param .u32 value)\n"
    "{\n .reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
    " ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [value]; st.global.u32 [%rd1], %r1; ret;\n}\n"
    ".visible .entry add(.param .u64 out, .param .u32 value)\n"
    "{\n .reg .b32 %r<4>; .reg .b64 %rd<2>;\n"
    " ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [value]; ld.global.u32 %r2, [%rd1];\n"
    " mad.lo.u32 %r3, %r2, 10, %r1; st.global.u32 [%rd1], %r3; ret;\n}\n"
    ".visible .entry stop() { trap; }\n";

/* As the runtime loads kernels at their first launch, which may be in a capture. */
static inline CUfunction get_kernel(const char *name)
{
    static CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    if (!library)
        OK(cuLibraryLoadData(&library, stream_ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, name));
    OK(cuKernelGetFunction(&function, kernel));
    return function;
}

static inline CUresult launch_one(CUfunction function, CUstream stream, void **params)
{
    return cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
}

static inline void launch_meet(CUstream stream, _Atomic(unsigned) *mine, _Atomic(unsigned) *other)
{
    OK(launch_one(get_kernel("meet"), stream, (void *[]){&mine, &other}));
}

static inline void launch_put(CUstream stream, const void *out, unsigned value)
{
    OK(launch_one(get_kernel("put"), stream, (void *[]){&out, &value}));
}

/* Appends a decimal digit to *out. */
static inline void launch_add(CUstream stream, const void *out, unsigned value)
{
    OK(launch_one(get_kernel("add"), stream, (void *[]){&out, &value}));
}

#endif
