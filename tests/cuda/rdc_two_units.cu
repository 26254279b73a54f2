// SPDX-License-Identifier: Apache-2.0
// Relocatable device code: two units whose PTX has to be linked (functions, variables, constants,
// pointers).
#include "expect.h"
#include "rdc_unit.h"

static __device__ int own_value = 1000;

static __device__ __noinline__ int own_function()
{
    return own_value;
}

__global__ void first_kernel(int *out)
{
    int i = threadIdx.x;
    out[i] = scale(i) + own_function();
    out[32 + i] = chosen_scale(i);
}

int main()
{
    int *out = nullptr;
    int value[64];
    EXPECT_OK(cudaMalloc(&out, sizeof value));
    first_kernel<<<1, 32>>>(out);
    EXPECT_OK(cudaGetLastError());
    EXPECT_OK(cudaMemcpy(value, out, sizeof value, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) {
        EXPECT(value[i] == i * 7 + 1000);
        EXPECT(value[32 + i] == i * 7);
    }
    std::printf("first unit: %d %d\n", value[31], value[63]);

    int counter = 0;
    EXPECT_OK(cudaMemcpyFromSymbol(&counter, shared_counter, sizeof counter));
    std::printf("shared counter: %d\n", counter);
    EXPECT(counter == 100 + 64);
    const int factor = 9;
    EXPECT_OK(cudaMemcpyToSymbol(shared_factor, &factor, sizeof factor));
    first_kernel<<<1, 32>>>(out);
    launch_in_other_unit(out);
    EXPECT_OK(cudaMemcpy(value, out, sizeof value, cudaMemcpyDeviceToHost));
    EXPECT(value[0] == 2000);
    EXPECT(value[31] == 31 * 9 + 1000);
    std::printf("second unit: %d, new factor: %d\n", value[0], value[31]);
    EXPECT_OK(cudaFree(out));
    return verdict("rdc_two_units");
}
