/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that installs handlers of its own for the signals that kernels' faults raise. It is
 * linked to no CUDA library, as programs are that have the runtime in them.
 */
#ifndef PTXRUN_TESTS_ROBUST_HANDLER_PROGRAM_H
#define PTXRUN_TESTS_ROBUST_HANDLER_PROGRAM_H

#include "cudart/driver/cuda_driver.h"

/* The functions of the driver API that it calls. */
struct driver_functions {
    CUresult (*init)(unsigned flags);
    CUresult (*retain)(CUcontext *ctx, CUdevice device);
    CUresult (*reset)(CUdevice device);
    CUresult (*set_current)(CUcontext ctx);
    CUresult (*load)(CUmodule *module, const void *image);
    CUresult (*get_function)(CUfunction *function, CUmodule module, const char *name);
    CUresult (*host_alloc)(void **pointer, size_t bytes, unsigned flags);
    CUresult (*launch)(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                       CUstream stream, void **params, void **extra);
    CUresult (*synchronize)(void);
};

/* mode: "default" and "ignore" end the process with SIGSEGV, as they should; "all" returns 0. */
int handler_program(const struct driver_functions *driver, const char *mode);

#endif
