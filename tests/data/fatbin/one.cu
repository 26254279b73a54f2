// SPDX-License-Identifier: Apache-2.0
// One translation unit: two kernels, a constant and a global variable.
__constant__ int bias = 3;
__device__ int total;

__global__ void scale(int *data, int factor)
{
    data[threadIdx.x] = data[threadIdx.x] * factor + bias;
}

__global__ void accumulate(const int *data)
{
    atomicAdd(&total, data[threadIdx.x]);
}

#ifndef FIXTURE_NO_MAIN
int main()
{
    scale<<<1, 32>>>(nullptr, 2);
    accumulate<<<1, 32>>>(nullptr);
    return 0;
}
#endif
