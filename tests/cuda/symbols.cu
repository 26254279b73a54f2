// SPDX-License-Identifier: Apache-2.0
// Device variables seen from the host: initial values, copies with offsets, addresses and sizes,
// constants, managed variables that the host reads and writes directly.
#include "expect.h"

__device__ int numbers[8] = {1, 2, 3, 4};
__constant__ float factors[4] = {0.5f, 1.5f, 2.5f, 3.5f};
__device__ double untouched;
__device__ int *pointer_to_numbers = &numbers[2];
__managed__ int managed_sum = 5;
__managed__ int managed_table[4] = {10, 20, 30, 40};

__global__ void use(float *out)
{
    for (int i = 0; i < 4; i++) {
        out[i] = factors[i] * numbers[i];
        managed_sum += managed_table[i];
    }
    out[4] = (float)*pointer_to_numbers;
    out[5] = (float)untouched;
    numbers[7] = 77;
}

int main()
{
    EXPECT(managed_sum == 5); // before any other CUDA call
    managed_table[3] = 45;

    const int changed[2] = {30, 40};
    EXPECT_OK(cudaMemcpyToSymbol(numbers, changed, sizeof changed, 2 * sizeof(int)));
    const float last_factor = 10.0f;
    EXPECT_OK(cudaMemcpyToSymbol(factors, &last_factor, sizeof last_factor, 3 * sizeof(float)));
    float *out = nullptr;
    EXPECT_OK(cudaMalloc(&out, 6 * sizeof(float)));
    use<<<1, 1>>>(out);
    EXPECT_OK(cudaDeviceSynchronize());

    float value[6];
    EXPECT_OK(cudaMemcpy(value, out, sizeof value, cudaMemcpyDeviceToHost));
    std::printf("products %g %g %g %g, through the pointer %g, untouched %g\n", value[0], value[1],
                value[2], value[3], value[4], value[5]);
    EXPECT(value[0] == 0.5f && value[1] == 3.0f && value[2] == 75.0f && value[3] == 400.0f);
    EXPECT(value[4] == 30.0f && value[5] == 0.0f);
    std::printf("managed sum %d\n", managed_sum);
    EXPECT(managed_sum == 5 + 10 + 20 + 30 + 45);

    int last = 0;
    EXPECT_OK(cudaMemcpyFromSymbol(&last, numbers, sizeof last, 7 * sizeof(int)));
    EXPECT(last == 77);
    size_t size = 0;
    void *address = nullptr;
    EXPECT_OK(cudaGetSymbolSize(&size, numbers));
    EXPECT_OK(cudaGetSymbolAddress(&address, numbers));
    std::printf("numbers has %zu bytes\n", size);
    EXPECT(size == sizeof numbers);
    EXPECT_OK(
        cudaMemcpy(&last, (char *)address + 3 * sizeof(int), sizeof last, cudaMemcpyDeviceToHost));
    EXPECT(last == 40);

    EXPECT_CODE(cudaErrorInvalidValue,
                cudaMemcpyToSymbol(numbers, value, sizeof(int) * 4, sizeof(int) * 5));
    int not_a_symbol = 0;
    EXPECT_CODE(cudaErrorInvalidSymbol,
                cudaGetSymbolAddress(&address, (const void *)&not_a_symbol));
    EXPECT_OK(cudaFree(out));
    return verdict("symbols");
}
