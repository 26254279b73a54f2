// SPDX-License-Identifier: Apache-2.0
// Second unit of rdc_two_units: device functions and variables that the first one uses. Both units
// have a static function and a static variable of the same name, which must stay apart.
#include "rdc_unit.h"

__device__ int shared_counter = 100;
__constant__ int shared_factor = 7;
static __device__ int own_value = 2000;

static __device__ __noinline__ int own_function()
{
    return own_value;
}

__device__ int scale(int value)
{
    atomicAdd(&shared_counter, 1);
    return value * shared_factor;
}

__device__ scale_function chosen_scale = scale;

__global__ void other_kernel(int *out)
{
    *out = own_function();
}

void launch_in_other_unit(int *out)
{
    other_kernel<<<1, 1>>>(out);
}
