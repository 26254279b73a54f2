/* SPDX-License-Identifier: Apache-2.0
 *
 * The child of a fork: every entry point of the driver fails, and nothing hangs, whatever the
 * other threads of the parent were doing.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "driver_fixture.h"
#include "peer_process.h"

/* A leak checker takes for leaks what the threads held that a child does not have. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if __has_feature(address_sanitizer)
#define CHECKS_LEAKS 1
#else
#define CHECKS_LEAKS 0
#endif

/* As many arguments as any function has. */
#define ZEROS 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0

static const char print_ptx[] =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".global .align 1 .b8 text[7] = {112, 114, 105, 110, 116, 10, 0};\n"
    ".visible .entry print()\n"
    "{\n .reg .b64 %rd<3>; .reg .b32 %r<2>;\n mov.u64 %rd1, text; cvta.global.u64 %rd1, %rd1;\n"
    " mov.u64 %rd2, 0;\n"
    " { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd1; st.param.b64 [a], "
    "%rd2;\n"
    "   call.uni (r), vprintf, (f, a); ld.param.b32 %r1, [r]; }\n ret;\n}\n";

/* Exit status of a child that does this; -1 when it hangs or crashes. */
static int status_of_child(void (*run)(void))
{
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        run();
        if (CHECKS_LEAKS)
            _exit(0);
        exit(0); /* with all handlers */
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define CHILD_EXPECT(wanted, call)                                                                 \
    do {                                                                                           \
        CUresult got_ = (call);                                                                    \
        if (got_ != (wanted)) {                                                                    \
            fprintf(stderr, "child: %s gave %d\n", #call, (int)got_);                              \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static CUstream stream;
static CUdeviceptr memory;

static void use_everything(void)
{
    CUdeviceptr pointer;
    CUcontext ctx;
    size_t bytes;
    int count;
    CHILD_EXPECT(CRT_NOT_INITIALIZED, cuInit(0));
    CHILD_EXPECT(CRT_NOT_INITIALIZED, cuDeviceGetCount(&count));
    CHILD_EXPECT(CRT_NOT_INITIALIZED, cuCtxGetCurrent(&ctx));
    CHILD_EXPECT(CRT_NOT_INITIALIZED, cuDevicePrimaryCtxRetain(&ctx, 0));
    CHILD_EXPECT(CRT_NOT_INITIALIZED, cuMemAlloc_v2(&pointer, 100));
    CHILD_EXPECT(CRT_NOT_INITIALIZED, cuMemFree_v2(memory));
    CHILD_EXPECT(CRT_NOT_INITIALIZED, cuMemGetInfo_v2(&bytes, &bytes));
    CHILD_EXPECT(CRT_NOT_INITIALIZED, cuMemsetD8_v2(memory, 0, 1));
    CHILD_EXPECT(CRT_NOT_INITIALIZED, cuMemcpyHtoD_v2(memory, &bytes, 1));
    CHILD_EXPECT(CRT_NOT_INITIALIZED, cuStreamSynchronize(stream));
    CHILD_EXPECT(CRT_NOT_INITIALIZED, cuStreamDestroy_v2(stream));
    CHILD_EXPECT(CRT_NOT_INITIALIZED, cuCtxSynchronize());
    CHILD_EXPECT(CRT_NOT_INITIALIZED, cuMemAddressFree(memory, 100));
}

Test(fork, calls_in_the_child_fail, .init = make_context)
{
    OK(cuStreamCreate(&stream, 0));
    OK(cuMemAlloc_v2(&memory, 1000));
    cr_expect_eq(status_of_child(use_everything), 0);
    OK(cuMemFree_v2(memory));
}

static atomic_bool is_over;

/* Takes every lock there is, again and again. */
static void *hammer(void *arg)
{
    while (!atomic_load(&is_over)) {
        CUdeviceptr pointer;
        CUstream own;
        CUevent event;
        CUmodule module;
        CUgraph graph;
        CUfunction kernel;
        OK(cuMemAlloc_v2(&pointer, 5000));
        OK(cuStreamCreate(&own, 0));
        OK(cuEventCreate(&event, 0));
        OK(cuMemsetD8Async(pointer, 1, 5000, own));
        OK(cuEventRecord(event, own));
        OK(cuModuleLoadData(&module, print_ptx));
        OK(cuModuleGetFunction(&kernel, module, "print"));
        OK(cuStreamSynchronize(own));
        OK(cuGraphCreate(&graph, 0));
        OK(cuGraphDestroy(graph));
        OK(cuModuleUnload(module));
        OK(cuEventDestroy_v2(event));
        OK(cuStreamDestroy_v2(own));
        OK(cuMemFree_v2(pointer));
        CUuuid id = {{0}};
        const void *table;
        cuGetExportTable(&table, &id);
    }
    return arg;
}

static void *hammer_with_context(void *arg)
{
    CUcontext ctx;
    OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    OK(cuCtxSetCurrent(ctx));
    return hammer(arg);
}

Test(fork, the_child_never_hangs_while_other_threads_are_at_work, .init = make_context)
{
    pthread_t threads[4];
    OK(cuStreamCreate(&stream, 0));
    OK(cuMemAlloc_v2(&memory, 1000));
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, hammer_with_context, NULL);
    for (int i = 0; i < 100; i++)
        cr_assert_eq(status_of_child(use_everything), 0, "child %d", i);
    atomic_store(&is_over, true);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

/* What needs no driver: these may work in the child. */
static bool works_anywhere(const char *name)
{
    static const char *const names[] = {
        "cuDriverGetVersion",   "cuGetErrorName",
        "cuGetErrorString",     "cuGetExportTable",
        "cuGetProcAddress",     "cuGetProcAddress_v2",
        "cuProfilerInitialize", "cuProfilerStart",
        "cuProfilerStop",       "cuThreadExchangeStreamCaptureMode"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

typedef CUresult (*any_fn)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                           uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

static const char *const every_function[] = {
#define IMPLEMENTED(name) #name,
#define MISSING(name)     #name,
#include "cudart/driver/symbols.def"
#undef IMPLEMENTED
#undef MISSING
};

/* A few functions look at their arguments first; others do not exist. */
static bool is_refusal(CUresult result)
{
    return result == CRT_NOT_INITIALIZED || result == CRT_INVALID_VALUE ||
           result == CRT_INVALID_CONTEXT || result == CRT_NOT_SUPPORTED;
}

/* In the library itself, where the functions' types do not matter. */
static void *libcuda;

__attribute__((no_sanitize("function"))) static void call_everything(void)
{
    int wrong = 0;
    for (size_t i = 0; i < sizeof every_function / sizeof every_function[0]; i++) {
        const char *name = every_function[i];
        any_fn function = (any_fn)(uintptr_t)dlsym(libcuda, name);
        if (!function || works_anywhere(name))
            continue;
        CUresult result = function(ZEROS);
        if (!is_refusal(result)) {
            fprintf(stderr, "child: %s gave %d\n", name, (int)result);
            wrong++;
        }
    }
    if (wrong)
        _exit(1);
}

Test(fork, every_function_of_the_driver_refuses_in_the_child)
{
    setenv("PTXRUN_LOG", "error", 1); /* each missing function would say so */
    libcuda = dlopen(PTXRUN_LIBCUDA, RTLD_NOW | RTLD_LOCAL);
    cr_assert(libcuda, "%s", dlerror());
    CUresult (*init)(unsigned) = (CUresult (*)(unsigned))(uintptr_t)dlsym(libcuda, "cuInit");
    OK(init(0));
    cr_expect_eq(status_of_child(call_everything), 0);
}

static void do_nothing(void)
{
}

static int printed_lines(void (*run)(void))
{
    char text[4096];
    FILE *file = tmpfile();
    fflush(stdout);
    int before = dup(STDOUT_FILENO);
    dup2(fileno(file), STDOUT_FILENO);
    CUmodule module;
    CUfunction kernel;
    void *none[1] = {NULL};
    OK(cuModuleLoadData(&module, print_ptx));
    OK(cuModuleGetFunction(&kernel, module, "print"));
    OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, none, NULL));
    while (cuStreamQuery(NULL) == CRT_NOT_READY)
        usleep(1000);
    int status = status_of_child(run);
    OK(cuCtxSynchronize());
    fflush(stdout);
    dup2(before, STDOUT_FILENO);
    rewind(file);
    size_t len = fread(text, 1, sizeof text - 1, file);
    text[len] = '\0';
    fclose(file);
    cr_assert_eq(status, 0);
    int lines = 0;
    for (const char *at = text; (at = strstr(at, "print\n")); at++)
        lines++;
    return lines;
}

Test(fork, what_kernels_printed_is_not_printed_again_by_the_child, .init = make_context)
{
    cr_expect_eq(printed_lines(do_nothing), 1);
}

static void start_anew(void)
{
    CUcontext ctx;
    CHILD_EXPECT(CRT_SUCCESS, cuInit(0));
    CHILD_EXPECT(CRT_SUCCESS, cuDevicePrimaryCtxRetain(&ctx, 0));
    CHILD_EXPECT(CRT_SUCCESS, cuCtxSetCurrent(ctx));
    CHILD_EXPECT(CRT_SUCCESS, cuMemAlloc_v2(&memory, 100));
}

Test(fork, a_child_made_before_the_first_call_has_a_driver_of_its_own)
{
    cr_expect_eq(status_of_child(start_anew), 0);
    make_context();
}
