// SPDX-License-Identifier: Apache-2.0
// Second unit of a relocatable build.
__device__ int twice(int value)
{
    return value * 2;
}

__global__ void other_kernel(int *data)
{
    data[threadIdx.x] = twice(1);
}
