/* SPDX-License-Identifier: Apache-2.0
 *
 * Occupancy: consistent with the attributes of the device, with what launches accept, and with each
 * other.
 */
#include <stdlib.h>

#include "cudart/core/base/device.h"
#include "driver_fixture.h"

#define HEAD   ".version 9.0\n.target sm_60\n.address_size 64\n"
#define SHARED 8192

static const char ptx[] = HEAD ".visible .entry plain() { ret; }\n"
                               ".visible .entry bounded() .maxntid 96, 2, 1 { ret; }\n"
                               ".visible .entry shared()\n"
                               "{\n .shared .align 4 .b8 fixed[8192];\n"
                               " st.shared.u32 [fixed], 1; ret;\n}\n";

static CUmodule module;

/* Numbers are those of 7.5, unless the test has named another. */
static void start(void)
{
    setenv("PTXRUN_COMPUTE_CAPABILITY", "7.5", 0);
    make_context();
    OK(cuModuleLoadData(&module, ptx));
}

static CUfunction kernel_of(const char *name)
{
    CUfunction function;
    OK(cuModuleGetFunction(&function, module, name));
    return function;
}

static int attribute_of(int number)
{
    int value = 0;
    OK(cuDeviceGetAttribute(&value, number, 0));
    return value;
}

static int blocks_of(const char *name, int threads, size_t dynamic)
{
    int blocks = -1;
    OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel_of(name), threads, dynamic));
    return blocks;
}

Test(occupancy, threads_and_blocks_of_the_multiprocessor_bound_it, .init = start)
{
    cr_expect_eq(blocks_of("plain", 1024, 0), 1);
    cr_expect_eq(blocks_of("plain", 513, 0), 1);
    cr_expect_eq(blocks_of("plain", 512, 0), 2);
    cr_expect_eq(blocks_of("plain", 65, 0), 10); /* whole warps */
    cr_expect_eq(blocks_of("plain", 1, 0), 16);
}

Test(occupancy, shared_memory_bounds_it, .init = start)
{
    cr_expect_eq(blocks_of("shared", 32, 0), 8);
    cr_expect_eq(blocks_of("shared", 32, SHARED), 4);
    cr_expect_eq(blocks_of("shared", 32, 1), 7); /* in units of 256 bytes */
}

Test(occupancy, a_block_that_cannot_be_launched_never_fits, .init = start)
{
    cr_expect_eq(blocks_of("plain", 1025, 0), 0);
    cr_expect_eq(blocks_of("bounded", 193, 0), 0);
    cr_expect_eq(blocks_of("bounded", 192, 0), 5);
    cr_expect_eq(blocks_of("plain", 32, 49153), 0);
    OK(cuFuncSetAttribute(kernel_of("plain"), 8, 65536));
    cr_expect_eq(blocks_of("plain", 32, 65536), 1);
}

static void expect_consistent(const char *architecture)
{
    setenv("PTXRUN_COMPUTE_CAPABILITY", architecture, 1);
    start();
    for (int threads = 1; threads <= 1024; threads += 61) {
        int blocks = blocks_of("plain", threads, 0);
        int warps = (threads + 31) / 32;
        cr_expect_leq(blocks * warps * 32, attribute_of(39));
        cr_expect_leq(blocks, attribute_of(106));
        cr_expect((blocks + 1) * warps * 32 > attribute_of(39) || blocks == attribute_of(106));
    }
}

#define CONSISTENT(name, option)                                                                   \
    Test(occupancy, agrees_with_the_attributes_of_##name)                                          \
    {                                                                                              \
        expect_consistent(option);                                                                 \
    }

CONSISTENT(sm_60, "6.0")
CONSISTENT(sm_80, "8.0")
CONSISTENT(sm_86, "8.6")
CONSISTENT(sm_90, "9.0")
CONSISTENT(sm_120, "12.0")

#define SM_86_SHARED 102400

Test(occupancy, the_system_keeps_some_shared_memory_of_each_block_from_sm_80_on)
{
    setenv("PTXRUN_COMPUTE_CAPABILITY", "8.6", 1);
    start();
    cr_expect_eq(attribute_of(81), SM_86_SHARED);
    cr_expect_eq(attribute_of(111), 1024);
    cr_expect_eq(blocks_of("shared", 32, 0), SM_86_SHARED / (SHARED + 1024));
}

static size_t shared_of(int threads)
{
    return (size_t)threads * 64;
}

Test(occupancy, the_best_block_size_fills_the_device, .init = start)
{
    int grid = 0;
    int block = 0;
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, kernel_of("plain"), NULL, 0, 0));
    cr_expect_eq(block, 1024);
    cr_expect_eq(grid, attribute_of(16));
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, kernel_of("plain"), NULL, 0, 256));
    cr_expect_eq(block, 256);
    cr_expect_eq(grid, 4 * attribute_of(16));
    OK(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, kernel_of("bounded"), NULL, 0, 0,
                                                 0));
    cr_expect_leq(block, 192);
    OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, kernel_of("plain"), shared_of, 0, 0));
    cr_expect_eq(blocks_of("plain", block, shared_of(block)) * attribute_of(16), grid);
}

Test(occupancy, the_dynamic_memory_that_is_left_lets_so_many_blocks_in, .init = start)
{
    for (int blocks = 1; blocks <= 8; blocks++) {
        size_t bytes = 0;
        OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, kernel_of("shared"), blocks, 32));
        cr_expect_geq(blocks_of("shared", 32, bytes), blocks, "%zu", bytes);
    }
}

Test(occupancy, a_cooperative_launch_is_as_large_as_it_says, .init = start)
{
    int largest = blocks_of("plain", 256, 0) * attribute_of(16);
    CUfunction function = kernel_of("plain");
    OK(cuLaunchCooperativeKernel(function, (unsigned)largest, 1, 1, 256, 1, 1, 0, NULL, NULL));
    EXPECT(
        CRT_COOPERATIVE_LAUNCH_TOO_LARGE,
        cuLaunchCooperativeKernel(function, (unsigned)largest + 1, 1, 1, 256, 1, 1, 0, NULL, NULL));
    OK(cuCtxSynchronize());
}

/* As compilers that have no headers of CUDA do: the device runtime's function is left open. */
Test(occupancy, blocks_meet_in_a_call_of_the_device_runtime, .init = start)
{
    static const char text[] =
        ".version 7.0\n.target sm_75\n.address_size 64\n"
        ".extern .func (.param .b64 r) cudaCGGetIntrinsicHandle (.param .b32 a);\n"
        ".extern .func (.param .b32 r) cudaCGSynchronize (.param .b64 a, .param .b32 b);\n"
        ".visible .entry neighbours (.param .u64 data)\n{\n"
        ".reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
        ".param .b32 scope; .param .b64 handle; .param .b32 flags; .param .b32 result;\n"
        "ld.param.u64 %rd1, [data];\n"
        "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x; mov.u32 %r3, 1; mov.u32 %r8, 0;\n"
        "mul.wide.u32 %rd2, %r1, 8; add.u64 %rd2, %rd1, %rd2;\n"
        "add.u32 %r4, %r1, 1; st.global.u32 [%rd2], %r4;\n"
        "st.param.b32 [scope], %r3; call (handle), cudaCGGetIntrinsicHandle, (scope);\n"
        "ld.param.b64 %rd3, [handle]; st.param.b64 [handle], %rd3; st.param.b32 [flags], %r8;\n"
        "call (result), cudaCGSynchronize, (handle, flags); ld.param.b32 %r7, [result];\n"
        "rem.u32 %r5, %r4, %r2; mul.wide.u32 %rd4, %r5, 8; add.u64 %rd4, %rd1, %rd4;\n"
        "ld.global.u32 %r6, [%rd4]; mad.lo.u32 %r6, %r7, 1000, %r6; st.global.u32 [%rd2+4], %r6;\n"
        "ret;\n}\n";
    enum { BLOCKS = 4 };
    CUmodule loaded;
    CUfunction function;
    CUdeviceptr data;
    unsigned values[2 * BLOCKS];
    OK(cuModuleLoadData(&loaded, text));
    OK(cuModuleGetFunction(&function, loaded, "neighbours"));
    OK(cuMemAlloc_v2(&data, sizeof values));
    void *params[] = {&data};
    for (int round = 0; round < 3; round++) {
        OK(cuMemsetD8_v2(data, 0, sizeof values));
        OK(cuLaunchCooperativeKernel(function, BLOCKS, 1, 1, 64, 1, 1, 0, NULL, params));
        OK(cuMemcpyDtoH_v2(values, data, sizeof values));
        for (unsigned block = 0; block < BLOCKS; block++)
            cr_expect_eq(values[2 * block + 1], (block + 1) % BLOCKS + 1);
    }
    OK(cuLaunchKernel(function, BLOCKS, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
    OK(cuMemcpyDtoH_v2(values, data, sizeof values));
    cr_expect_geq(values[1], 1000); /* not cooperative: refused */
}

Test(occupancy, a_cluster_is_one_block, .init = start)
{
    int value = 0;
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                 .value.clusterDim = {2, 1, 1}};
    CUlaunchConfig config = {.gridDimX = 8,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 256,
                             .blockDimY = 1,
                             .blockDimZ = 1};
    OK(cuOccupancyMaxPotentialClusterSize(&value, kernel_of("plain"), &config));
    cr_expect_eq(value, 1);
    OK(cuOccupancyMaxActiveClusters(&value, kernel_of("plain"), &config));
    cr_expect_eq(value, 4 * attribute_of(16));
    config.attrs = &cluster;
    config.numAttrs = 1;
    EXPECT(CRT_INVALID_CLUSTER_SIZE,
           cuOccupancyMaxActiveClusters(&value, kernel_of("plain"), &config));
}

Test(occupancy, a_kernel_of_sm_90_gets_its_shared_memory)
{
    setenv("PTXRUN_COMPUTE_CAPABILITY", "9.0", 1);
    start();
    CUfunction function = kernel_of("shared");
    const int most = attribute_of(97) - SHARED;
    EXPECT(CRT_INVALID_VALUE, cuFuncSetAttribute(function, 8, most + 1));
    OK(cuFuncSetAttribute(function, 8, most));
    cr_expect_eq(blocks_of("shared", 64, (size_t)most), 1);
    OK(cuLaunchKernel(function, 8, 1, 1, 64, 1, 1, (unsigned)most, NULL, NULL, NULL));
    OK(cuCtxSynchronize());
}
