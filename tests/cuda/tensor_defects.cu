// SPDX-License-Identifier: Apache-2.0
// Copies of boxes of tensors that go where they may not, or that others do not wait for, each with a twin that is
// right:
//   tensor_defects CASE wrong|right
// The line that is wrong ends in the case's name and the rule that --check=memory,race finds broken
// (tests/e2e/check_defects.sh).
#include <cuda.h>

#include <cuda/barrier>
#include <cuda/ptx>

#include <cstdint>
#include <cstdio>
#include <cstring>

namespace cde = cuda::device::experimental;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

#define THREADS 64
#define COLUMNS 32
#define ROWS    16
#define BYTES   (COLUMNS * ROWS * 4)

#pragma nv_diag_suppress static_var_with_dynamic_init

__device__ void make_barrier(block_barrier &barrier)
{
    if (threadIdx.x == 0) {
        init(&barrier, blockDim.x);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
}

__device__ void wait_for(block_barrier &barrier)
{
    block_barrier::arrival_token token;
    if (threadIdx.x == 0)
        token = cuda::device::barrier_arrive_tx(barrier, 1, BYTES);
    else
        token = barrier.arrive();
    barrier.wait(std::move(token));
}

// The box has a row more than the array that it is for.
template <int rows>
__device__ void load_box(const CUtensorMap *map, float *out)
{
    __shared__ alignas(128) float above[COLUMNS];
    __shared__ alignas(128) float tile[rows][COLUMNS];
    __shared__ alignas(128) float below[COLUMNS];
    __shared__ block_barrier barrier;
    if (threadIdx.x < COLUMNS)
        above[threadIdx.x] = below[threadIdx.x] = 1;
    make_barrier(barrier);
    if (threadIdx.x == 0)
        cde::cp_async_bulk_tensor_2d_global_to_shared(tile, map, 0, 0, barrier); // box_too_large variable-out-of-bounds
    wait_for(barrier);
    if (threadIdx.x < COLUMNS)
        out[threadIdx.x] = tile[3][threadIdx.x] + above[threadIdx.x] + below[threadIdx.x];
}

__global__ void box_too_large(const __grid_constant__ CUtensorMap map, float *out, bool right)
{
    if (right)
        load_box<ROWS>(&map, out);
    else
        load_box<ROWS - 1>(&map, out);
}

// More is stored than the array has.
template <int rows>
__device__ void store_box(const CUtensorMap *map)
{
    __shared__ alignas(128) float above[COLUMNS];
    __shared__ alignas(128) float tile[rows][COLUMNS];
    __shared__ alignas(128) float below[COLUMNS];
    if (threadIdx.x < COLUMNS)
        above[threadIdx.x] = below[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x < COLUMNS) {
        for (int row = 0; row < rows; row++)
            tile[row][threadIdx.x] = row + above[COLUMNS - 1 - threadIdx.x] + below[threadIdx.x ^ 1];
    }
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        cde::cp_async_bulk_tensor_2d_shared_to_global(map, 0, 0, tile); // store_too_large variable-out-of-bounds
        cde::cp_async_bulk_commit_group();
        cde::cp_async_bulk_wait_group_read<0>();
    }
}

__global__ void store_too_large(const __grid_constant__ CUtensorMap map, float *, bool right)
{
    if (right)
        store_box<ROWS>(&map);
    else
        store_box<ROWS - 1>(&map);
}

// The tensor's memory has been freed.
__global__ void tensor_freed(const __grid_constant__ CUtensorMap map, float *out, bool)
{
    __shared__ alignas(128) float tile[ROWS][COLUMNS];
    __shared__ block_barrier barrier;
    make_barrier(barrier);
    if (threadIdx.x == 0)
        cde::cp_async_bulk_tensor_2d_global_to_shared(tile, &map, 0, 0, barrier); // tensor_freed use-after-free
    wait_for(barrier);
    if (threadIdx.x < COLUMNS)
        out[threadIdx.x] = tile[3][threadIdx.x];
}

// The map says that the tensor has more rows than were allocated.
__global__ void tensor_too_large(const __grid_constant__ CUtensorMap map, float *out, bool)
{
    __shared__ alignas(128) float tile[ROWS][COLUMNS];
    __shared__ block_barrier barrier;
    make_barrier(barrier);
    if (threadIdx.x == 0)
        cde::cp_async_bulk_tensor_2d_global_to_shared(tile, &map, 0, 0, barrier); // tensor_too_large out-of-bounds
    wait_for(barrier);
    if (threadIdx.x < COLUMNS)
        out[threadIdx.x] = tile[3][threadIdx.x];
}

// Threads read what comes without waiting for it.
__global__ void not_waited_for(const __grid_constant__ CUtensorMap map, float *out, bool right)
{
    __shared__ alignas(128) float tile[ROWS][COLUMNS];
    __shared__ block_barrier barrier;
    make_barrier(barrier);
    if (threadIdx.x == 0)
        cde::cp_async_bulk_tensor_2d_global_to_shared(tile, &map, 0, 0, barrier); // not_waited_for shared-race
    if (right)
        wait_for(barrier);
    if (threadIdx.x < COLUMNS)
        out[threadIdx.x] = tile[3][threadIdx.x]; // not_waited_for shared-race
    if (!right)
        wait_for(barrier);
}

// The next box overwrites what some still read.
__global__ void next_too_early(const __grid_constant__ CUtensorMap map, float *out, bool right)
{
    __shared__ alignas(128) float tile[ROWS][COLUMNS];
    __shared__ block_barrier barrier;
    float sum = 0;
    make_barrier(barrier);
    for (int i = 0; i < 3; i++) {
        if (threadIdx.x == 0)
            cde::cp_async_bulk_tensor_2d_global_to_shared(tile, &map, 0, i, barrier); // next_too_early shared-race
        wait_for(barrier);
        sum += tile[3][threadIdx.x % COLUMNS]; // next_too_early shared-race
        if (right)
            __syncthreads();
    }
    out[threadIdx.x] = sum;
}

using encode_fn = CUresult (*)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                               const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                               CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

// The driver's function, as programs find it that are not linked with the driver.
static CUtensorMap encode(float *memory, int rows)
{
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    CUtensorMap map;
    cuuint64_t sizes[] = {COLUMNS, (cuuint64_t)rows}, strides[] = {COLUMNS * sizeof(float)};
    cuuint32_t box[] = {COLUMNS, ROWS}, steps[] = {1, 1};
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found);
    ((encode_fn)function)(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, memory, sizes, strides, box, steps,
                          CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                          CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return map;
}

#define CASE(name)                                                                                                     \
    if (strcmp(wanted, #name) == 0)                                                                                    \
        name<<<1, THREADS>>>(map, out, right);

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: tensor_defects CASE wrong|right\n");
        return 2;
    }
    const char *wanted = argv[1];
    bool right = strcmp(argv[2], "right") == 0;
    bool is_too_large = strcmp(wanted, "tensor_too_large") == 0 && !right;
    float *memory, *out;
    cudaMalloc(&memory, 3 * BYTES);
    cudaMemset(memory, 0, 3 * BYTES);
    cudaMalloc(&out, THREADS * sizeof *out);
    if (is_too_large) {
        cudaFree(memory);
        cudaMalloc(&memory, BYTES / 2);
        cudaMemset(memory, 0, BYTES / 2);
    }
    CUtensorMap map = encode(memory, ROWS);
    if (strcmp(wanted, "tensor_freed") == 0 && !right)
        cudaFree(memory);
    CASE(box_too_large)
    CASE(store_too_large)
    CASE(tensor_freed)
    CASE(tensor_too_large)
    CASE(not_waited_for)
    CASE(next_too_early)
    cudaDeviceSynchronize(); // accesses that fault, too, end with 0
    return 0;
}
