// SPDX-License-Identifier: Apache-2.0
// Copies of tensors as programs for Hopper make them: maps that the driver encodes, handed over as
// kernel parameters; boxes that come to shared memory, swizzled or beyond the tensor's edges, and
// go back, stored or added.
#include <cuda.h>

#include <cuda/barrier>
#include <cuda/ptx>

#include <cooperative_groups.h>

#include <cstdint>
#include <cstdio>
#include <vector>

#include "expect.h"

namespace ptx = cuda::ptx;
namespace cde = cuda::device::experimental;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int THREADS = 128;

// A matrix whose last tiles are not whole.
constexpr int COLUMNS = 100;
constexpr int ROWS = 70;
constexpr int TILE_COLUMNS = 32; // 128 bytes: as the swizzle
constexpr int TILE_ROWS = 16;

// A volume, and boxes that overlap by a border on each side.
constexpr int NX = 40;
constexpr int NY = 18;
constexpr int NZ = 11;
constexpr int INNER = 6;
constexpr int BOX = INNER + 2;

constexpr int BINS = 64;

constexpr int CLUSTER = 4;
constexpr int SPREADER = 2;

#pragma nv_diag_suppress static_var_with_dynamic_init

// The barrier of a block, made by its first thread.
__device__ void make_barrier(block_barrier &barrier)
{
    if (threadIdx.x == 0) {
        init(&barrier, blockDim.x);
        cde::fence_proxy_async_shared_cta();
    }
    __syncthreads();
}

__device__ void wait_for(block_barrier &barrier, bool expects, int bytes)
{
    block_barrier::arrival_token token;
    if (expects)
        token = cuda::device::barrier_arrive_tx(barrier, 1, bytes);
    else
        token = barrier.arrive();
    barrier.wait(std::move(token));
}

// Where a number of a tile lies that came with 128-byte swizzle.
__device__ int swizzled(int row, int column)
{
    return row * TILE_COLUMNS + ((column / 4 ^ row % 8) * 4 + column % 4);
}

// Each number and its neighbour to the right in the tile, added; edges count as zero.
__global__ void add_neighbours(const __grid_constant__ CUtensorMap from,
                               const __grid_constant__ CUtensorMap to)
{
    __shared__ alignas(1024) float tile[TILE_ROWS * TILE_COLUMNS];
    __shared__ alignas(1024) float result[TILE_ROWS * TILE_COLUMNS];
    __shared__ block_barrier barrier;
    bool is_first = threadIdx.x == 0;
    int x = blockIdx.x * TILE_COLUMNS;
    int y = blockIdx.y * TILE_ROWS;
    make_barrier(barrier);
    if (is_first)
        cde::cp_async_bulk_tensor_2d_global_to_shared(tile, &from, x, y, barrier);
    wait_for(barrier, is_first, sizeof tile);
    for (int i = threadIdx.x; i < TILE_ROWS * TILE_COLUMNS; i += THREADS) {
        int row = i / TILE_COLUMNS;
        int column = i % TILE_COLUMNS;
        float next = column + 1 < TILE_COLUMNS ? tile[swizzled(row, column + 1)] : 0;
        result[swizzled(row, column)] = tile[swizzled(row, column)] + next;
    }
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
    if (is_first) {
        cde::cp_async_bulk_tensor_2d_shared_to_global(&to, x, y, result);
        cde::cp_async_bulk_commit_group();
        cde::cp_async_bulk_wait_group_read<0>();
    }
}

// The sum of a point and its six neighbours, zero outside of the volume.
__global__ void sum_neighbours(const __grid_constant__ CUtensorMap from, int *out)
{
    __shared__ alignas(128) int box[BOX][BOX][BOX];
    __shared__ block_barrier barrier;
    bool is_first = threadIdx.x == 0;
    int x0 = blockIdx.x * INNER;
    int y0 = blockIdx.y * INNER;
    int z0 = blockIdx.z * INNER;
    make_barrier(barrier);
    if (is_first)
        cde::cp_async_bulk_tensor_3d_global_to_shared(box, &from, x0 - 1, y0 - 1, z0 - 1, barrier);
    wait_for(barrier, is_first, sizeof box);
    for (int i = threadIdx.x; i < INNER * INNER * INNER; i += THREADS) {
        int x = i % INNER;
        int y = i / INNER % INNER;
        int z = i / (INNER * INNER);
        if (x0 + x >= NX || y0 + y >= NY || z0 + z >= NZ)
            continue;
        out[((z0 + z) * NY + y0 + y) * NX + x0 + x] =
            box[z + 1][y + 1][x + 1] + box[z][y + 1][x + 1] + box[z + 2][y + 1][x + 1] +
            box[z + 1][y][x + 1] + box[z + 1][y + 2][x + 1] + box[z + 1][y + 1][x] +
            box[z + 1][y + 1][x + 2];
    }
}

// One block of a cluster gets a tile for others of it, which each wait for it at their own barrier.
// The first block gets nothing.
__global__ void __cluster_dims__(CLUSTER, 1, 1)
    spread(const __grid_constant__ CUtensorMap from, float *out)
{
    __shared__ alignas(1024) float tile[TILE_ROWS * TILE_COLUMNS];
    __shared__ block_barrier barrier;
    auto cluster = cooperative_groups::this_cluster();
    unsigned rank = cluster.block_rank();
    bool is_first = threadIdx.x == 0;
    for (int i = threadIdx.x; i < TILE_ROWS * TILE_COLUMNS; i += THREADS)
        tile[i] = -1;
    cde::fence_proxy_async_shared_cta();
    make_barrier(barrier);
    cluster.sync();
    if (rank == SPREADER && is_first) {
        int y = blockIdx.x / CLUSTER * TILE_ROWS;
        void *phases = cuda::device::barrier_native_handle(barrier);
        // The toolkit's function wants sm_90a; the instruction does not.
        asm volatile(
            "cp.async.bulk.tensor.2d.shared::cluster.global.tile"
            ".mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;"
            :
            : "r"(static_cast<uint32_t>(__cvta_generic_to_shared(tile))), "l"(&from), "r"(0),
              "r"(y), "r"(static_cast<uint32_t>(__cvta_generic_to_shared(phases))),
              "h"(static_cast<uint16_t>((1 << CLUSTER) - 2))
            : "memory");
    }
    if (rank != 0)
        wait_for(barrier, is_first, sizeof tile);
    cluster.sync();
    for (int i = threadIdx.x; i < TILE_ROWS * TILE_COLUMNS; i += THREADS)
        out[blockIdx.x * TILE_ROWS * TILE_COLUMNS + i] =
            tile[rank == 0 ? i : swizzled(i / TILE_COLUMNS, i % TILE_COLUMNS)];
}

// Each block's counts, added to those of all.
__global__ void count(const __grid_constant__ CUtensorMap bins, const int *values, int per_block)
{
    __shared__ alignas(128) int counts[BINS];
    for (int i = threadIdx.x; i < BINS; i += THREADS)
        counts[i] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < per_block; i += THREADS)
        atomicAdd(&counts[values[blockIdx.x * per_block + i] % BINS], 1);
    cde::fence_proxy_async_shared_cta();
    __syncthreads();
    if (threadIdx.x == 0) {
        const int32_t at[] = {0};
        ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &bins,
                                         at, counts);
        ptx::cp_async_bulk_commit_group();
        ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
    }
}

// A map that the program has made up itself.
__global__ void use_nonsense(const __grid_constant__ CUtensorMap map)
{
    __shared__ alignas(128) int box[BINS];
    __shared__ block_barrier barrier;
    make_barrier(barrier);
    if (threadIdx.x == 0)
        cde::cp_async_bulk_tensor_1d_global_to_shared(box, &map, 0, barrier);
    wait_for(barrier, threadIdx.x == 0, sizeof box);
}

using encode_fn = CUresult (*)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *,
                               const cuuint64_t *, const cuuint64_t *, const cuuint32_t *,
                               const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                               CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static encode_fn encode;

// The driver's function, as programs find it that are not linked with the driver.
static void find_encode()
{
    cudaDriverEntryPointQueryResult found;
    void *function = nullptr;
    EXPECT_OK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                               cudaEnableDefault, &found));
    EXPECT(found == cudaDriverEntryPointSuccess);
    encode = reinterpret_cast<encode_fn>(function);
}

static CUresult make_map(CUtensorMap *map, CUtensorMapDataType type, void *address,
                         const std::vector<cuuint64_t> &sizes, const std::vector<cuuint32_t> &box,
                         CUtensorMapSwizzle swizzle)
{
    std::vector<cuuint64_t> strides;
    std::vector<cuuint32_t> steps(sizes.size(), 1);
    cuuint64_t stride = sizeof(int);
    for (cuuint64_t size : sizes)
        strides.push_back(stride *= size);
    return encode(map, type, static_cast<cuuint32_t>(sizes.size()), address, sizes.data(),
                  strides.data(), box.data(), steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                  CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

template <class T> static T *device_array(const std::vector<T> &values)
{
    T *array = nullptr;
    EXPECT_OK(cudaMalloc(&array, values.size() * sizeof(T)));
    EXPECT_OK(cudaMemcpy(array, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice));
    return array;
}

template <class T> static std::vector<T> fetch(const T *array, int count)
{
    std::vector<T> values(count);
    EXPECT_OK(cudaDeviceSynchronize());
    EXPECT_OK(cudaMemcpy(values.data(), array, count * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
}

static int value_of(int i)
{
    return i * 7 % 1000;
}

static void report(const char *name, int wrong)
{
    std::printf("%s: %d wrong\n", name, wrong);
    EXPECT(wrong == 0);
}

static void check_matrix()
{
    std::vector<float> values(ROWS * COLUMNS);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = static_cast<float>(value_of(i));
    float *in = device_array(values);
    float *out = device_array(std::vector<float>(ROWS * COLUMNS, -1));
    CUtensorMap from, to;
    for (auto [map, array] : {std::pair(&from, in), std::pair(&to, out)})
        EXPECT(make_map(map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, array, {COLUMNS, ROWS},
                        {TILE_COLUMNS, TILE_ROWS}, CU_TENSOR_MAP_SWIZZLE_128B) == CUDA_SUCCESS);
    dim3 grid((COLUMNS + TILE_COLUMNS - 1) / TILE_COLUMNS, (ROWS + TILE_ROWS - 1) / TILE_ROWS);
    add_neighbours<<<grid, THREADS>>>(from, to);
    std::vector<float> got = fetch(out, ROWS * COLUMNS);
    int wrong = 0;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        int column = i % COLUMNS;
        bool is_edge = column % TILE_COLUMNS == TILE_COLUMNS - 1 || column == COLUMNS - 1;
        wrong += got[i] != values[i] + (is_edge ? 0 : values[i + 1]);
    }
    report("matrix", wrong);
}

static void check_clusters()
{
    constexpr int CLUSTERS = 3;
    constexpr int TILE = TILE_ROWS * TILE_COLUMNS;
    std::vector<float> values(ROWS * COLUMNS);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        values[i] = static_cast<float>(value_of(i));
    float *in = device_array(values);
    float *out = device_array(std::vector<float>(CLUSTERS * CLUSTER * TILE));
    CUtensorMap from;
    EXPECT(make_map(&from, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, in, {COLUMNS, ROWS},
                    {TILE_COLUMNS, TILE_ROWS}, CU_TENSOR_MAP_SWIZZLE_128B) == CUDA_SUCCESS);
    spread<<<CLUSTERS * CLUSTER, THREADS>>>(from, out);
    std::vector<float> got = fetch(out, CLUSTERS * CLUSTER * TILE);
    int wrong = 0;
    for (int i = 0; i < CLUSTERS * CLUSTER * TILE; i++) {
        int block = i / TILE;
        int row = block / CLUSTER * TILE_ROWS + i % TILE / TILE_COLUMNS;
        float want = values[row * COLUMNS + i % TILE_COLUMNS];
        wrong += got[i] != (block % CLUSTER == 0 ? -1 : want);
    }
    report("clusters", wrong);
}

static void check_volume()
{
    std::vector<int> values(NX * NY * NZ);
    for (int i = 0; i < NX * NY * NZ; i++)
        values[i] = value_of(i);
    int *in = device_array(values);
    int *out = device_array(std::vector<int>(values.size(), -1));
    CUtensorMap from;
    EXPECT(make_map(&from, CU_TENSOR_MAP_DATA_TYPE_INT32, in, {NX, NY, NZ}, {BOX, BOX, BOX},
                    CU_TENSOR_MAP_SWIZZLE_NONE) == CUDA_SUCCESS);
    dim3 grid((NX + INNER - 1) / INNER, (NY + INNER - 1) / INNER, (NZ + INNER - 1) / INNER);
    sum_neighbours<<<grid, THREADS>>>(from, out);
    std::vector<int> got = fetch(out, NX * NY * NZ);
    auto at = [&](int x, int y, int z) {
        bool is_inside = x >= 0 && x < NX && y >= 0 && y < NY && z >= 0 && z < NZ;
        return is_inside ? values[(z * NY + y) * NX + x] : 0;
    };
    int wrong = 0;
    for (int z = 0; z < NZ; z++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++)
                wrong += got[(z * NY + y) * NX + x] !=
                         at(x, y, z) + at(x - 1, y, z) + at(x + 1, y, z) + at(x, y - 1, z) +
                             at(x, y + 1, z) + at(x, y, z - 1) + at(x, y, z + 1);
    report("volume", wrong);
}

static void check_counts()
{
    constexpr int BLOCKS = 8;
    constexpr int PER_BLOCK = 1000;
    std::vector<int> values(BLOCKS * PER_BLOCK);
    std::vector<int> want(BINS, 5);
    for (int i = 0; i < BLOCKS * PER_BLOCK; i++)
        want[(values[i] = value_of(i)) % BINS]++;
    int *in = device_array(values);
    int *bins = device_array(std::vector<int>(BINS, 5));
    CUtensorMap map;
    EXPECT(make_map(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, bins, {BINS}, {BINS},
                    CU_TENSOR_MAP_SWIZZLE_NONE) == CUDA_SUCCESS);
    // The same through a graph, whose launches are kept side by side.
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    EXPECT_OK(cudaStreamCreate(&stream));
    EXPECT_OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    count<<<BLOCKS / 2, THREADS, 0, stream>>>(map, in, PER_BLOCK);
    count<<<BLOCKS / 2, THREADS, 0, stream>>>(map, in + BLOCKS / 2 * PER_BLOCK, PER_BLOCK);
    EXPECT_OK(cudaStreamEndCapture(stream, &graph));
    EXPECT_OK(cudaGraphInstantiate(&exec, graph, 0));
    EXPECT_OK(cudaGraphLaunch(exec, stream));
    std::vector<int> got = fetch(bins, BINS);
    int wrong = 0;
    for (int i = 0; i < BINS; i++)
        wrong += got[i] != want[i];
    report("counts", wrong);
}

static void check_errors()
{
    CUtensorMap map;
    int *array = device_array(std::vector<int>(BINS));
    EXPECT(make_map(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, array + 1, {BINS}, {BINS},
                    CU_TENSOR_MAP_SWIZZLE_NONE) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(make_map(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, array, {BINS}, {BINS},
                    CU_TENSOR_MAP_SWIZZLE_128B) == CUDA_ERROR_INVALID_VALUE);
    for (cuuint64_t &word : map.opaque)
        word = 0x0101010101010101;
    use_nonsense<<<1, 32>>>(map);
    EXPECT_CODE(cudaErrorIllegalInstruction, cudaDeviceSynchronize());
}

int main()
{
    find_encode();
    if (encode != nullptr) {
        check_matrix();
        check_clusters();
        check_volume();
        check_counts();
        check_errors();
    }
    return verdict("tensor_copies");
}
