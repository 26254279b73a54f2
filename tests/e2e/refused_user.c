/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that is refused something and goes on. Usage: refused_user WHAT END
 * WHAT: multicast (a function that does not exist), kernel (one with an instruction that does not
 * exist), nothing. END: ok, status, abort, crash, handled (its own handler of SIGABRT).
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cudart/driver/cuda_driver.h"

CUresult cuMulticastCreate(void *object, const void *properties);
CUresult cuMulticastAddDevice(void *object, int device);

static const char textured_ptx[] =
    ".version 7.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry textured(.param .u64 tex)\n"
    "{\n .reg .b64 %rd<2>;\n .reg .f32 %f<5>;\n .reg .b32 %r<2>;\n ld.param.u64 %rd1, [tex];\n"
    " mov.u32 %r1, 0;\n tex.2dms.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r1, %r1, %r1}];\n "
    "ret;\n}\n";

static void at_exit(void)
{
    fputs("exit handler\n", stderr);
}

static void on_signal(int number)
{
    (void)number;
    _exit(5);
}

static void ask_for(const char *what)
{
    unsigned long long object = 0;
    CUmodule module = NULL;
    CUfunction kernel = NULL;
    if (strcmp(what, "multicast") == 0) {
        cuMulticastCreate(&object, NULL);
        cuMulticastAddDevice(&object, 0);
    } else if (strcmp(what, "kernel") == 0) {
        void *args[] = {&object};
        cuModuleLoadData(&module, textured_ptx);
        if (cuModuleGetFunction(&kernel, module, "textured") == CRT_SUCCESS)
            cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    }
}

int main(int argc, char **argv)
{
    CUcontext ctx;
    int *volatile nowhere = NULL;
    if (argc != 3)
        return 2;
    atexit(at_exit);
    cuInit(0);
    cuDevicePrimaryCtxRetain(&ctx, 0);
    cuCtxSetCurrent(ctx);
    if (strcmp(argv[2], "handled") == 0)
        signal(SIGABRT, on_signal);
    ask_for(argv[1]);
    if (strcmp(argv[2], "abort") == 0 || strcmp(argv[2], "handled") == 0)
        abort();
    if (strcmp(argv[2], "crash") == 0)
        *nowhere = 1;
    return strcmp(argv[2], "status") == 0 ? 3 : 0;
}
