/* SPDX-License-Identifier: Apache-2.0
 *
 * A driver library for unit tests of the runtime: it remembers what it is asked and does nothing.
 */
#ifndef PTXRUN_TESTS_UNIT_CUDART_FAKE_DRIVER_H
#define PTXRUN_TESTS_UNIT_CUDART_FAKE_DRIVER_H

#include <stdatomic.h>

#include "cudart/driver/cuda_driver.h"

#define FAKE_VARIABLE_BYTES 64

struct fake_driver {
    CUresult init_result;
    CUresult load_result;
    CUresult copy_result;
    int version;
    int device_count;
    atomic_int retained;
    atomic_int released;
    atomic_int resets;
    int loaded;
    int unloaded;
    int kernels_looked_up;
    int launches;
    CUfunction launched;
    CUstream stream;
    unsigned grid[3];
    unsigned block[3];
    unsigned shared_bytes;
    void **params;
    CUdeviceptr copy_to;
    size_t copied_bytes;
    char variable[FAKE_VARIABLE_BYTES];
    char managed[FAKE_VARIABLE_BYTES];
};

extern struct fake_driver fake;

#endif
