// SPDX-License-Identifier: Apache-2.0
// Launches that work where there is more than a T4 has, each with a twin that works on a T4, too:
//   device_defects CASE wrong|right
// The line that is wrong ends in the case's name and the rule that --check=device:sm_75 finds broken
// (tests/e2e/check_defects.sh), with --compute-capability=9.0. Without arguments: the names of all cases.
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>

#define CASE(name) static __attribute__((noinline)) void name(bool is_wrong)

static int *out;

__global__ void fill(int *to)
{
    extern __shared__ int dynamic[];
    dynamic[threadIdx.x] = threadIdx.x;
    to[threadIdx.x] = dynamic[threadIdx.x];
}

__global__ void fill_twice(int *to)
{
    extern __shared__ int dynamic[];
    __shared__ int fixed[10 << 10];
    fixed[threadIdx.x] = dynamic[threadIdx.x] = threadIdx.x;
    to[threadIdx.x] = dynamic[threadIdx.x] + fixed[threadIdx.x];
}

__global__ void fill_48(int *to)
{
    __shared__ int fixed[12 << 10];
    fixed[threadIdx.x] = threadIdx.x;
    to[threadIdx.x] = fixed[threadIdx.x];
}

__global__ void fill_49(int *to)
{
    __shared__ int fixed[(12 << 10) + 1];
    fixed[threadIdx.x] = threadIdx.x;
    to[threadIdx.x] = fixed[threadIdx.x];
}

CASE(dynamic_shared)
{
    int bytes = (is_wrong ? 65 : 64) << 10;
    cudaFuncSetAttribute(fill, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    fill<<<1, 32, bytes>>>(out); // dynamic_shared device-shared
    cudaDeviceSynchronize();
}

CASE(both_shared)
{
    int bytes = (is_wrong ? 25 : 24) << 10;
    cudaFuncSetAttribute(fill_twice, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    fill_twice<<<1, 32, bytes>>>(out); // both_shared device-shared
    cudaDeviceSynchronize();
}

CASE(static_shared)
{
    if (is_wrong)
        fill_49<<<1, 32>>>(out); // static_shared device-shared
    else
        fill_48<<<1, 32>>>(out);
    cudaDeviceSynchronize();
}

// ---- registers ----

// All of COUNT numbers are needed until the last has been read.
template <int COUNT> static __device__ int sum_both_ways(const int *from)
{
    int values[COUNT];
    int sum = 0;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        values[i] = from[i * blockDim.x + threadIdx.x];
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        sum = sum * 3 + values[COUNT - 1 - i];
    return sum;
}

__global__ void sum_many(const int *from, int *to)
{
    to[threadIdx.x] = sum_both_ways<100>(from);
}

__global__ void __launch_bounds__(1024) sum_many_bounded(const int *from, int *to)
{
    to[threadIdx.x] = sum_both_ways<100>(from);
}

CASE(registers)
{
    sum_many<<<1, is_wrong ? 1024 : 512>>>(out, out); // registers device-registers
    cudaDeviceSynchronize();
}

CASE(registers_without_bounds)
{
    if (is_wrong)
        sum_many<<<1, 1024>>>(out, out); // registers_without_bounds device-registers
    else
        sum_many_bounded<<<1, 1024>>>(out, out);
    cudaDeviceSynchronize();
}

// ---- cooperative launches, clusters ----

__global__ void meet(int *to)
{
    to[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x;
    cooperative_groups::this_grid().sync();
}

CASE(cooperative)
{
    void *args[] = {&out};
    cudaLaunchCooperativeKernel((void *)meet, is_wrong ? 60 : 40, 1024, args, 0, 0); // cooperative device-cooperative
    cudaDeviceSynchronize();
}

CASE(cluster)
{
    void *args[] = {&out};
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(4);
    config.blockDim = dim3(32);
    config.dynamicSmemBytes = 128;
    config.attrs = &attribute;
    config.numAttrs = is_wrong;
    cudaLaunchKernelExC(&config, (void *)fill, args); // cluster device-cluster
    cudaDeviceSynchronize();
}

// ---- code ----

static const char ptx[] = ".version 7.8\n.target sm_%s\n.address_size 64\n"
                          ".visible .entry nothing(.param .u64 to) { ret; }\n";

CASE(code)
{
    char text[sizeof ptx + 8];
    CUmodule module;
    CUfunction kernel;
    void *args[] = {&out};
    snprintf(text, sizeof text, ptx, is_wrong ? "80" : "70");
    cuModuleLoadData(&module, text);
    cuModuleGetFunction(&kernel, module, "nothing");
    cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, args, NULL); // code device-code
    cudaDeviceSynchronize();
    cuModuleUnload(module);
}

static const char constants[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .const .b8 table[%d];\n"
                                ".visible .entry nothing(.param .u64 to) { ret; }\n";

CASE(constant_memory)
{
    char text[sizeof constants + 16];
    CUmodule module;
    CUfunction kernel;
    void *args[] = {&out};
    snprintf(text, sizeof text, constants, is_wrong ? 65537 : 65536);
    cuModuleLoadData(&module, text);
    cuModuleGetFunction(&kernel, module, "nothing");
    cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, 0, args, NULL); // constant_memory device-constants
    cudaDeviceSynchronize();
    cuModuleUnload(module);
}

// ---- memory ----

__global__ void add_one(int *to, const int *from)
{
    to[threadIdx.x] = from[threadIdx.x] + 1; // host_pointer host-memory
}

CASE(host_pointer)
{
    int *from = (int *)calloc(32, sizeof *from);
    if (!is_wrong)
        cudaHostRegister(from, 32 * sizeof *from, cudaHostRegisterDefault);
    add_one<<<1, 32>>>(out, from);
    cudaDeviceSynchronize();
    if (!is_wrong)
        cudaHostUnregister(from);
    free(from);
}

__global__ void add_two(int *to, const int *from)
{
    to[threadIdx.x] = from[threadIdx.x] + 2; // behind_allocation out-of-bounds
}

CASE(behind_allocation)
{
    int *from;
    cudaMalloc(&from, (is_wrong ? 31 : 32) * sizeof *from);
    add_two<<<1, 32>>>(out, from);
    cudaDeviceSynchronize();
    cudaFree(from);
}

#define CASES(X)                                                                                                       \
    X(dynamic_shared) X(both_shared) X(static_shared) X(registers) X(registers_without_bounds) X(cooperative)          \
    X(cluster) X(code) X(constant_memory) X(host_pointer) X(behind_allocation)

int main(int argc, char **argv)
{
    if (argc != 3) {
#define NAME(function) puts(#function);
        CASES(NAME)
        return 0;
    }
    bool is_wrong = strcmp(argv[2], "wrong") == 0;
    cudaMalloc(&out, 1 << 20);
    cudaMemset(out, 0, 1 << 20);
#define CALL(function)                                                                                                 \
    if (strcmp(argv[1], #function) == 0)                                                                               \
        function(is_wrong);
    CASES(CALL)
    cudaError_t result = cudaDeviceSynchronize();
    if (result != cudaSuccess)
        fprintf(stderr, "%s\n", cudaGetErrorString(result));
    cudaFree(out);
    return result != cudaSuccess;
}
