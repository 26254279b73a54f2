/* SPDX-License-Identifier: Apache-2.0
 *
 * What a call costs when there are very many objects: none may cost more because of the others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cudart/driver/cuda_driver.h"

enum { ALLOCATIONS = 200000, OBJECTS = 100000, LAUNCHES = 1000, BYTES = 4096 };

static const char kernel_ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                                 ".visible .entry empty() { ret; }\n";

static CUdeviceptr memory[ALLOCATIONS];
static void *objects[OBJECTS];
static CUfunction kernel;

static void check(CUresult result)
{
    if (result == CRT_SUCCESS)
        return;
    fprintf(stderr, "error %d\n", (int)result);
    exit(1);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void report(const char *what, int calls, double start)
{
    double seconds = now() - start;
    printf("%-44s %7d calls %8.3f s %9.2f us each\n", what, calls, seconds, seconds / calls * 1e6);
    fflush(stdout);
}

static void allocate_device(CUdeviceptr *pointer)
{
    check(cuMemAlloc_v2(pointer, BYTES));
}

static void allocate_managed(CUdeviceptr *pointer)
{
    check(cuMemAllocManaged(pointer, BYTES, 1));
}

static void allocate_host(CUdeviceptr *pointer)
{
    check(cuMemHostAlloc((void **)pointer, BYTES, 0));
}

static void allocate_pooled(CUdeviceptr *pointer)
{
    check(cuMemAllocAsync(pointer, BYTES, NULL));
}

static void free_device(CUdeviceptr pointer)
{
    check(cuMemFree_v2(pointer));
}

static void free_host(CUdeviceptr pointer)
{
    check(cuMemFreeHost((void *)(uintptr_t)pointer));
}

static void free_pooled(CUdeviceptr pointer)
{
    check(cuMemFreeAsync(pointer, NULL));
}

static const struct {
    const char *name;
    void (*allocate)(CUdeviceptr *pointer);
    void (*give_back)(CUdeviceptr pointer);
} kinds[] = {
    {"cuMemAlloc", allocate_device, free_device},
    {"cuMemAllocManaged", allocate_managed, free_device},
    {"cuMemHostAlloc", allocate_host, free_host},
    {"cuMemAllocAsync", allocate_pooled, free_pooled},
};

/* The order in which memory is given back: a step that meets every element once. */
static const struct {
    const char *name;
    int first;
    int step;
} orders[] = {
    {"first to last", 0, 1},
    {"last to first", ALLOCATIONS - 1, ALLOCATIONS - 1},
    {"mixed", 0, 77773},
};

static void measure_memory(unsigned kind, unsigned order)
{
    char what[64];
    snprintf(what, sizeof what, "%s", kinds[kind].name);
    double start = now();
    for (int i = 0; i < ALLOCATIONS; i++)
        kinds[kind].allocate(&memory[i]);
    report(what, ALLOCATIONS, start);
    snprintf(what, sizeof what, "%s, freed %s", kinds[kind].name, orders[order].name);
    start = now();
    for (long i = 0, at = orders[order].first; i < ALLOCATIONS; i++) {
        kinds[kind].give_back(memory[at]);
        at = (at + orders[order].step) % ALLOCATIONS;
    }
    check(cuCtxSynchronize());
    report(what, ALLOCATIONS, start);
}

static void launch(CUstream stream)
{
    check(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
}

static void measure_null_stream(const char *what)
{
    launch(NULL);
    double start = now();
    for (int i = 0; i < LAUNCHES; i++)
        launch(NULL);
    report(what, LAUNCHES, start);
    check(cuCtxSynchronize());
}

static void measure_streams(void)
{
    double start = now();
    for (int i = 0; i < OBJECTS; i++)
        check(cuStreamCreate((CUstream *)&objects[i], 0));
    report("cuStreamCreate", OBJECTS, start);
    measure_null_stream("launch in the null stream, others unused");
    for (int i = 0; i < OBJECTS; i++)
        launch(objects[i]);
    measure_null_stream("launch in the null stream, others used");
    start = now();
    for (int i = 0; i < LAUNCHES; i++) {
        launch(objects[i]);
        launch(NULL);
    }
    report("launch in another and in the null stream", LAUNCHES, start);
    start = now();
    for (int i = 0; i < LAUNCHES; i++)
        check(cuCtxSynchronize());
    report("cuCtxSynchronize", LAUNCHES, start);
    start = now();
    for (int i = 0; i < OBJECTS; i++)
        check(cuStreamDestroy_v2(objects[i]));
    report("cuStreamDestroy", OBJECTS, start);
}

static void measure_events(void)
{
    double start = now();
    for (int i = 0; i < OBJECTS; i++)
        check(cuEventCreate((CUevent *)&objects[i], 0));
    report("cuEventCreate", OBJECTS, start);
    start = now();
    for (int i = 0; i < OBJECTS; i++)
        check(cuEventRecord(objects[i], NULL));
    report("cuEventRecord", OBJECTS, start);
    start = now();
    for (int i = 0; i < OBJECTS; i++)
        check(cuEventDestroy_v2(objects[i]));
    report("cuEventDestroy", OBJECTS, start);
}

int main(void)
{
    CUcontext ctx;
    CUmodule module;
    check(cuInit(0));
    check(cuDevicePrimaryCtxRetain(&ctx, 0));
    check(cuCtxSetCurrent(ctx));
    check(cuModuleLoadData(&module, kernel_ptx));
    check(cuModuleGetFunction(&kernel, module, "empty"));
    measure_streams();
    measure_events();
    for (unsigned kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++)
        for (unsigned order = 0; order < sizeof orders / sizeof orders[0]; order++)
            measure_memory(kind, order);
    return 0;
}
