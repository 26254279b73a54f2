// SPDX-License-Identifier: Apache-2.0
// Heat flow on a square plate: each step replaces a cell by the mean of its four neighbours. A
// block loads its tile and a halo of one cell into dynamic shared memory. Integers (16.16 fixed
// point) keep the result exact.
#include "check.h"

#include <vector>

const int TILE = 16;
const int HALO_TILE = TILE + 2;

__global__ void step(const int *in, int *out, int size)
{
    extern __shared__ int tile[]; // HALO_TILE x HALO_TILE
    int thread = threadIdx.y * TILE + threadIdx.x;
    int left = blockIdx.x * TILE - 1;
    int top = blockIdx.y * TILE - 1;
    for (int i = thread; i < HALO_TILE * HALO_TILE; i += TILE * TILE) {
        int x = min(max(left + i % HALO_TILE, 0), size - 1);
        int y = min(max(top + i / HALO_TILE, 0), size - 1);
        tile[i] = in[y * size + x];
    }
    __syncthreads();

    int x = blockIdx.x * TILE + threadIdx.x;
    int y = blockIdx.y * TILE + threadIdx.y;
    if (x >= size || y >= size) {
        return;
    }
    int here = (threadIdx.y + 1) * HALO_TILE + threadIdx.x + 1;
    bool is_edge = x == 0 || y == 0 || x == size - 1 || y == size - 1;
    int mean =
        (tile[here - 1] + tile[here + 1] + tile[here - HALO_TILE] + tile[here + HALO_TILE]) / 4;
    out[y * size + x] = is_edge ? tile[here] : mean;
}

static void step_on_host(const std::vector<int> &in, std::vector<int> *out, int size)
{
    for (int y = 1; y < size - 1; y++) {
        for (int x = 1; x < size - 1; x++) {
            int i = y * size + x;
            (*out)[i] = (in[i - 1] + in[i + 1] + in[i - size] + in[i + size]) / 4;
        }
    }
}

int main()
{
    const int size = 120;
    const int steps = 40;
    std::vector<int> plate(size * size, 0);
    for (int x = 0; x < size; x++) {
        plate[x] = 100 << 16; // the upper edge is hot
    }

    int *device[2] = {nullptr, nullptr};
    const size_t bytes = plate.size() * sizeof(int);
    CHECK(cudaMalloc(&device[0], bytes));
    CHECK(cudaMalloc(&device[1], bytes));
    CHECK(cudaMemcpy(device[0], plate.data(), bytes, cudaMemcpyHostToDevice));
    dim3 threads(TILE, TILE);
    dim3 blocks((size + TILE - 1) / TILE, (size + TILE - 1) / TILE);
    for (int i = 0; i < steps; i++) {
        step<<<blocks, threads, HALO_TILE * HALO_TILE * sizeof(int)>>>(device[i % 2],
                                                                       device[(i + 1) % 2], size);
    }
    CHECK(cudaGetLastError());
    std::vector<int> result(plate.size());
    CHECK(cudaMemcpy(result.data(), device[steps % 2], bytes, cudaMemcpyDeviceToHost));

    std::vector<int> next = plate;
    for (int i = 0; i < steps; i++) {
        step_on_host(plate, &next, size);
        plate.swap(next);
    }
    std::printf("%dx%d plate after %d steps; temperature below the middle of the hot edge:\n", size,
                size, steps);
    for (int y = 0; y < 16; y += 3) {
        std::printf("  row %2d: %8.4f\n", y, result[y * size + size / 2] / 65536.0);
    }
    CHECK(cudaFree(device[0]));
    CHECK(cudaFree(device[1]));
    return finish("stencil_halo", result == plate);
}
