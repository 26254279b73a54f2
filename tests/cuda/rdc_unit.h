// SPDX-License-Identifier: Apache-2.0
// What the two units of rdc_two_units share.
#ifndef PTXRUN_TESTS_CUDA_RDC_UNIT_H
#define PTXRUN_TESTS_CUDA_RDC_UNIT_H

extern __device__ int shared_counter;
extern __constant__ int shared_factor;
__device__ int scale(int value);
typedef int (*scale_function)(int);
extern __device__ scale_function chosen_scale;

// In the other unit, on the host: launches a kernel that lives there.
void launch_in_other_unit(int *out);

#endif
