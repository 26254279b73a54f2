// SPDX-License-Identifier: Apache-2.0
// First unit of a relocatable build: calls a device function of the other unit.
__device__ int twice(int value);

__global__ void call_twice(int *data)
{
    data[threadIdx.x] = twice(data[threadIdx.x]);
}

int main()
{
    call_twice<<<1, 32>>>(nullptr);
    return 0;
}
