/* SPDX-License-Identifier: Apache-2.0
 *
 * No memory: an error for who asked, and everything works when there is some again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stream_fixture.h"

#include <criterion/redirect.h>

#include "cudart/core/base/memory_limit.h"
#include "cudart/core/memory/device_arena.h"
#include "cudart/nvml/nvml_types.h"
#include "tests/support/emulated.h"

/* More than what may be promised without a look at the system. */
#define LARGE_BYTES ((size_t)300 << 20)

/* All that a control group has that has nothing. */
#define GROUP_BYTES 65536

/* Stores to one element of an array and loads another, after a barrier. */
#define LOCAL_BODY(bytes)                                                                          \
    "{\n .local .align 4 .b8 room[" bytes "];\n .reg .b64 %rd<6>; .reg .b32 %r<4>;\n"              \
    " ld.param.u64 %rd1, [out];\n mov.u64 %rd2, room;\n mov.u32 %r1, %tid.x;\n"                    \
    " mul.wide.u32 %rd3, %r1, 4;\n add.u64 %rd3, %rd2, %rd3;\n st.local.u32 [%rd3], %r1;\n"        \
    " bar.sync 0;\n and.b64 %rd4, %rd1, 4092;\n add.u64 %rd4, %rd2, %rd4;\n"                       \
    " ld.local.u32 %r2, [%rd4];\n st.global.u32 [%rd1], %r2;\n ret;\n}\n"

static const char kernels_ptx[] =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry store(.param .u64 out)\n"
    "{\n .reg .b64 %rd<2>;\n ld.param.u64 %rd1, [out];\n st.global.u32 [%rd1], 7; ret;\n}\n"
    ".visible .entry later() { ret; }\n"
    ".visible .entry local_large(.param .u64 out)\n" LOCAL_BODY(
        "1073741824") ".visible .entry local_much(.param .u64 out)\n" LOCAL_BODY("400000");

/* Each thread prints a number, and then allocates 64 KiB and keeps it. */
static const char device_ptx[] =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 args);\n"
    ".extern .func (.param .b64 result) malloc(.param .b64 size);\n"
    ".global .align 1 .b8 text[8] = {37, 48, 57, 100, 10, 0, 0, 0};\n" /* "%09d\n" */
    ".visible .entry print()\n"
    "{\n .reg .b32 %r<3>; .reg .b64 %rd<4>; .local .align 8 .b8 buffer[8];\n"
    " mov.u32 %r1, %tid.x; st.local.u32 [buffer], %r1;\n"
    " mov.u64 %rd1, text; cvta.global.u64 %rd2, %rd1;\n"
    " mov.u64 %rd1, buffer; cvta.local.u64 %rd3, %rd1;\n"
    " { .param .b64 p0; .param .b64 p1; .param .b32 r;\n"
    "  st.param.b64 [p0], %rd2; st.param.b64 [p1], %rd3;\n"
    "  call.uni (r), vprintf, (p0, p1); ld.param.b32 %r2, [r]; }\n"
    " ret;\n}\n"
    ".visible .entry keep(.param .u64 failures)\n"
    "{\n .reg .pred %p1; .reg .b32 %r<2>; .reg .b64 %rd<3>;\n ld.param.u64 %rd1, [failures];\n"
    " { .param .b64 size; .param .b64 p;\n  st.param.b64 [size], 65536;\n"
    "  call.uni (p), malloc, (size); ld.param.b64 %rd2, [p]; }\n"
    " setp.ne.u64 %p1, %rd2, 0;\n @%p1 ret;\n red.global.add.u32 [%rd1], 1;\n ret;\n}\n";

static const char variable_ptx[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
                                   ".visible .global .align 4 .b8 much[419430400];\n"
                                   ".visible .entry none() { ret; }\n";

static char no_memory[] = "/tmp/ptxrun-lack-XXXXXX";
static CUmodule module;
static _Atomic(unsigned) *word;

static CUfunction kernel_of(const char *name)
{
    CUfunction kernel;
    OK(cuModuleGetFunction(&kernel, module, name));
    return kernel;
}

static CUresult launch(const char *name, unsigned threads)
{
    void *out = (void *)word;
    return cuLaunchKernel(kernel_of(name), 1, 1, 1, threads, 1, 1, 0, NULL, (void *[]){&out}, NULL);
}

/* A root of /proc and /sys in which a control group has nothing left. */
static void make_root(void)
{
    char path[128];
    cr_assert(mkdtemp(no_memory));
    for (const char *const *part = (const char *const[]){"sys", "sys/fs", "sys/fs/cgroup", NULL};
         *part; part++) {
        snprintf(path, sizeof path, "%s/%s", no_memory, *part);
        mkdir(path, 0755);
    }
    snprintf(path, sizeof path, "%s/sys/fs/cgroup/memory.max", no_memory);
    FILE *file = fopen(path, "w");
    cr_assert(file);
    fprintf(file, "%d\n", GROUP_BYTES);
    fclose(file);
}

static void remove_root(void)
{
    static const char *const parts[] = {"sys/fs/cgroup/memory.max", "sys/fs/cgroup", "sys/fs",
                                        "sys", "."};
    char path[128];
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", no_memory, parts[i]);
        if (strcmp(parts[i], ".") != 0)
            remove(path);
    }
    rmdir(no_memory);
}

static void setup(void)
{
    setenv("PTXRUN_COMPUTE_CAPABILITY", "8.0", 1);
    setenv("PTXRUN_MODE", "normal", 1); /* nothing is compiled again for another launch */
    make_context();
    make_root();
    word = make_words(1);
    OK(cuModuleLoadData(&module, kernels_ptx));
}

/* The memory is there again, and the context as good as before. */
static void expect_all_works(void)
{
    CUdeviceptr memory;
    crt_memory_set_root("");
    *word = 0;
    OK(cuCtxSynchronize());
    OK(launch("store", 1));
    OK(cuCtxSynchronize());
    cr_expect_eq(*word, 7);
    OK(cuMemAlloc_v2(&memory, LARGE_BYTES));
    OK(cuMemsetD8_v2(memory, 1, 4096));
    OK(cuMemFree_v2(memory));
}

/* For new mappings and the heap nothing is left. */
static struct rlimit space;

/* Sanitizers take address space for themselves, and end the process when there is none. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NEEDS_LIMIT() cr_skip_test("address space cannot be limited under a sanitizer")
#else
#define NEEDS_LIMIT()
#endif

static void take_space_away(void)
{
    if (is_emulated())
        cr_skip_test("an emulator sets no limit");
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    cr_assert(file && fscanf(file, "%ld", &pages) == 1);
    fclose(file);
    getrlimit(RLIMIT_AS, &space);
    setrlimit(RLIMIT_AS,
              &(struct rlimit){(rlim_t)pages * 4096 + ((rlim_t)32 << 10), space.rlim_max});
}

static void give_space_back(void)
{
    setrlimit(RLIMIT_AS, &space);
}

TestSuite(lack, .init = setup, .fini = remove_root);

Test(lack, every_kind_of_allocation_gives_error_2)
{
    CUdeviceptr memory;
    void *host;
    size_t pitch;
    CUarray array;
    CUmemGenericAllocationHandle physical;
    CUmemAllocationProp prop = {.type = 1, .location = {1, 0}};
    CUDA_ARRAY_DESCRIPTOR descriptor = {
        .Width = 16384, .Height = 8192, .Format = 0x20, .NumChannels = 4};
    crt_memory_set_root(no_memory);
    EXPECT(CRT_OUT_OF_MEMORY, cuMemAlloc_v2(&memory, LARGE_BYTES));
    EXPECT(CRT_OUT_OF_MEMORY, cuMemAllocManaged(&memory, LARGE_BYTES, 1));
    EXPECT(CRT_OUT_OF_MEMORY, cuMemHostAlloc(&host, LARGE_BYTES, 0));
    EXPECT(CRT_OUT_OF_MEMORY, cuMemAllocHost_v2(&host, LARGE_BYTES));
    EXPECT(CRT_OUT_OF_MEMORY, cuMemAllocAsync(&memory, LARGE_BYTES, NULL));
    EXPECT(CRT_OUT_OF_MEMORY, cuMemAllocPitch_v2(&memory, &pitch, LARGE_BYTES / 64, 64, 4));
    EXPECT(CRT_OUT_OF_MEMORY, cuArrayCreate_v2(&array, &descriptor));
    EXPECT(CRT_OUT_OF_MEMORY, cuMemCreate(&physical, (size_t)320 << 20, &prop, 0));
    expect_all_works();
}

Test(lack, nothing_is_said_to_be_free_where_nothing_is)
{
    size_t free_bytes;
    size_t total_bytes;
    size_t device_bytes;
    nvmlMemory_t memory;
    nvmlDevice_t device;
    cr_assert_eq(nvmlInit_v2(), NVML_SUCCESS);
    cr_assert_eq(nvmlDeviceGetHandleByIndex_v2(0, &device), NVML_SUCCESS);
    OK(cuMemGetInfo_v2(&free_bytes, &total_bytes));
    OK(cuDeviceTotalMem_v2(&device_bytes, 0));
    cr_expect_eq(total_bytes, device_bytes);
    cr_expect_gt(free_bytes, 0);
    cr_expect_leq(free_bytes, total_bytes);
    crt_memory_set_root(no_memory);
    OK(cuMemGetInfo_v2(&free_bytes, &total_bytes));
    cr_expect_leq(free_bytes, GROUP_BYTES);
    cr_expect_eq(total_bytes, device_bytes);
    cr_assert_eq(nvmlDeviceGetMemoryInfo(device, &memory), NVML_SUCCESS);
    cr_expect_eq(memory.total, device_bytes);
    cr_expect_leq(memory.free, GROUP_BYTES);
    cr_expect_eq(memory.used, memory.total - memory.free);
    expect_all_works();
}

/* Memory that is allocated but not yet touched is not free, though the system has it. */
Test(lack, promised_memory_is_not_promised_again)
{
    CUdeviceptr memory;
    size_t before;
    size_t after;
    size_t total;
    OK(cuMemGetInfo_v2(&before, &total));
    size_t half = (before / 2) & ~(size_t)0xfffff;
    OK(cuMemAlloc_v2(&memory, half));
    OK(cuMemGetInfo_v2(&after, &total));
    cr_expect_leq(after, before - half + ((size_t)256 << 20));
    EXPECT(CRT_OUT_OF_MEMORY, cuMemAlloc_v2(&memory, half + ((size_t)1 << 30)));
    expect_all_works();
}

Test(lack, variables_of_a_module)
{
    CUmodule other;
    CUfunction none;
    CUdeviceptr much;
    crt_memory_set_root(no_memory);
    CUresult result = cuModuleLoadData(&other, variable_ptx);
    if (result == CRT_SUCCESS)
        result = cuModuleGetGlobal_v2(&much, NULL, other, "much");
    cr_expect_eq(result, CRT_OUT_OF_MEMORY, "%d", (int)result);
    expect_all_works();
    OK(cuModuleLoadData(&other, variable_ptx));
    OK(cuModuleGetGlobal_v2(&much, NULL, other, "much"));
    OK(cuModuleGetFunction(&none, other, "none"));
}

Test(lack, a_kernel_that_would_have_to_be_compiled)
{
    crt_memory_set_root(no_memory);
    EXPECT(CRT_OUT_OF_MEMORY, launch("later", 1));
    expect_all_works();
    OK(launch("later", 1));
    OK(cuCtxSynchronize());
}

Test(lack, more_local_memory_than_devices_have_is_refused)
{
    EXPECT(CRT_LAUNCH_OUT_OF_RESOURCES, launch("local_large", 1));
    EXPECT(CRT_LAUNCH_OUT_OF_RESOURCES, launch("local_large", 1024));
    expect_all_works();
}

Test(lack, local_memory_that_is_not_there_is_refused)
{
    crt_memory_set_root(no_memory);
    EXPECT(CRT_OUT_OF_MEMORY, launch("local_much", 1024));
    expect_all_works();
    OK(launch("local_much", 1024));
    OK(cuCtxSynchronize());
}

/* Found out only when the kernel runs: told once, at the next wait. */
Test(lack, stacks_and_frames_of_a_launch)
{
    NEEDS_LIMIT();
    OK(launch("store", 1));
    OK(launch("local_much", 32));
    OK(cuCtxSynchronize());
    take_space_away();
    CUresult launched = launch("local_much", 1024);
    CUresult waited = cuCtxSynchronize();
    give_space_back();
    cr_expect(launched == CRT_OUT_OF_MEMORY || waited == CRT_OUT_OF_MEMORY, "%d and %d",
              (int)launched, (int)waited);
    expect_all_works();
    OK(launch("local_much", 1024));
    OK(cuCtxSynchronize());
}

/* More than any block has had. */
#define SHARED_BYTES (160 << 10)

Test(lack, shared_memory_of_a_launch)
{
    NEEDS_LIMIT();
    CUfunction kernel = kernel_of("store");
    void *out = (void *)word;
    OK(launch("store", 1));
    OK(cuCtxSynchronize());
    OK(cuFuncSetAttribute(kernel, 8, SHARED_BYTES));
    take_space_away();
    CUresult launched =
        cuLaunchKernel(kernel, 4, 1, 1, 1, 1, 1, SHARED_BYTES, NULL, (void *[]){&out}, NULL);
    CUresult waited = cuCtxSynchronize();
    give_space_back();
    cr_expect(launched == CRT_OUT_OF_MEMORY || waited == CRT_OUT_OF_MEMORY, "%d and %d",
              (int)launched, (int)waited);
    expect_all_works();
}

enum { PRINTING_BLOCKS = 400, PRINTING_THREADS = 1024 };

/* What does not fit is lost; so is nothing else. */
Test(lack, text_that_kernels_print)
{
    NEEDS_LIMIT();
    cr_redirect_stdout();
    CUmodule other;
    CUfunction print;
    OK(cuModuleLoadData(&other, device_ptx));
    OK(cuModuleGetFunction(&print, other, "print"));
    OK(cuLaunchKernel(print, 2, 1, 1, PRINTING_THREADS, 1, 1, 0, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
    take_space_away();
    CUresult launched =
        cuLaunchKernel(print, PRINTING_BLOCKS, 1, 1, PRINTING_THREADS, 1, 1, 0, NULL, NULL, NULL);
    CUresult waited = cuCtxSynchronize();
    give_space_back();
    EXPECT(CRT_SUCCESS, launched);
    /* A worker that has not had such a block may have no stack for it. */
    cr_expect(waited == CRT_SUCCESS || waited == CRT_OUT_OF_MEMORY, "%d", (int)waited);
    expect_all_works();
}

/* malloc of kernels answers 0. */
Test(lack, the_heap_of_kernels)
{
    NEEDS_LIMIT();
    CUmodule other;
    CUfunction keep;
    void *out = (void *)word;
    OK(cuCtxSetLimit(2, (size_t)256 << 20));
    OK(cuModuleLoadData(&other, device_ptx));
    OK(cuModuleGetFunction(&keep, other, "keep"));
    OK(cuLaunchKernel(keep, 1, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&out}, NULL));
    OK(cuCtxSynchronize());
    cr_expect_eq(*word, 0);
    take_space_away();
    CUresult launched = cuLaunchKernel(keep, 1, 1, 1, 1024, 1, 1, 0, NULL, (void *[]){&out}, NULL);
    CUresult waited = cuCtxSynchronize();
    give_space_back();
    EXPECT(CRT_SUCCESS, launched);
    cr_expect(waited == CRT_OUT_OF_MEMORY || *word > 0, "%d", (int)waited);
    expect_all_works();
}

enum { NODES = 60000 };

Test(lack, instances_of_a_graph)
{
    NEEDS_LIMIT();
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node = NULL;
    OK(cuGraphCreate(&graph, 0));
    for (int i = 0; i < NODES; i++)
        OK(cuGraphAddEmptyNode(&node, graph, &node, node != NULL));
    take_space_away();
    CUresult result = cuGraphInstantiateWithFlags(&exec, graph, 0);
    give_space_back();
    EXPECT(CRT_OUT_OF_MEMORY, result);
    OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cuGraphLaunch(exec, NULL));
    expect_all_works();
}

Test(lack, objects)
{
    NEEDS_LIMIT();
    static CUstream streams[20000];
    CUresult result = CRT_SUCCESS;
    int count = 0;
    take_space_away();
    while (count < 20000 && result == CRT_SUCCESS)
        result = cuStreamCreate(&streams[count++], 0);
    give_space_back();
    EXPECT(CRT_OUT_OF_MEMORY, result);
    for (int i = 0; i < count - 1; i++)
        OK(cuStreamDestroy_v2(streams[i]));
    expect_all_works();
}
