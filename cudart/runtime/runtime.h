/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside of libcudart.so.13: what its files need from each other.
 *
 * Every exported function has one shape:
 *     return crt_done(crt_enter() ?: cuSomething(…));
 * crt_enter makes a context current, `?:` stops at the first error, crt_done keeps the error for
 * cudaGetLastError.
 */
#ifndef PTXRUN_CUDART_RUNTIME_RUNTIME_H
#define PTXRUN_CUDART_RUNTIME_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>

#include "cudart/runtime/cuda_runtime_types.h"
#include "cudart/runtime/exports.h"

/* ---- api_error.c: one last error per host thread ---- */

/* Remembers an error; returns it. */
cudaError_t crt_done(cudaError_t error);

/* Logs once that the function does nothing; remembers and returns cudaErrorNotSupported.
 * name: a string literal, whose address is the key. */
cudaError_t crt_unsupported(const char *name);

/* ---- state.c: initialisation, devices, primary contexts ---- */

#define CRT_DEVICES_MAX 16

/* Initialises the driver at the first call of the process; later only its result. */
cudaError_t crt_initialize(void);

/* Also makes a context current in this thread: the program's own if there is one, else the primary
 * context of the thread's device, with managed variables in place. */
cudaError_t crt_enter(void);

int crt_visible_devices(void);          /* after crt_initialize */
void crt_set_first_device(int ordinal); /* of threads that do not choose one */
int crt_current_device(void);           /* after crt_initialize; never fails */
bool crt_is_device(int ordinal);        /* after crt_initialize */
CUdevice crt_device(int ordinal);       /* ordinal must be valid */

/* The primary context of a device, retained for the process. ordinal must be valid. */
cudaError_t crt_retain_primary(int ordinal, CUcontext *context);

/* Retains and makes current the primary context of a device; the thread keeps the device. */
cudaError_t crt_use_device(int ordinal);

/* Destroys what the primary context of the thread's device holds. */
cudaError_t crt_reset_device(void);

/* Cached answer of cuDeviceGetAttribute for launch checks; 0 if the driver does not say. */
struct crt_launch_limits {
    unsigned threads;
    unsigned block[3];
    unsigned grid[3];
};
const struct crt_launch_limits *crt_launch_limits_get(void);

/* ---- check.c: for --check=api; otherwise nothing happens ---- */

/* The calling thread gets this error; asks for its last one; asks what an error is. */
void crt_tell_error(cudaError_t error);
void crt_tell_asked(void);
void crt_tell_named(cudaError_t error);

/* A launch that the driver does not get to see. */
void crt_tell_refused(CUkernel kernel, struct cuda_dim3 grid, struct cuda_dim3 block,
                      size_t shared_bytes, cudaError_t error);

/* ---- registry.c: fat binaries, kernels and variables by their host addresses ---- */

struct crt_function;
struct crt_variable;

/* The kernel behind a host stub, or behind a cudaKernel_t given in its place. Loads the fat binary
 * when needed. NULL or an unknown stub: cudaErrorInvalidDeviceFunction. */
cudaError_t crt_kernel_of(const void *stub, CUkernel *kernel);

/* Device name of a kernel; lives as long as its fat binary is registered. */
cudaError_t crt_kernel_name_of(const void *stub, const char **name);

/* Address and size of the device variable behind a host address. */
cudaError_t crt_variable_of(const void *symbol, CUdeviceptr *address, size_t *size_bytes);

/* The library that it is in, which is loaded when needed, and its name there. */
cudaError_t crt_variable_source(const void *symbol, CUlibrary *library, const char **name);

/* Loads every fat binary with managed variables and fills their host pointers. */
cudaError_t crt_place_managed(void);

/* ---- copies ---- */

/* The copy of the driver that a box means. */
cudaError_t crt_describe_3d(const struct cudaMemcpy3DParms *box, CUDA_MEMCPY3D *result);

/* The elements of an array in memory: texels, or blocks of them. */
struct crt_array_elements {
    size_t bytes;   /* of an element */
    size_t columns; /* elements of a row */
    unsigned side; /* texels of an element along each axis: 4 where they are compressed in blocks */
};
cudaError_t crt_array_elements(cudaArray_t array, struct crt_array_elements *elements);

/* ---- array.c ---- */

/* Format and number of channels of a description; cudaErrorInvalidChannelDescriptor if there is no
 * such format. And back. */
cudaError_t crt_channel_format(const struct cudaChannelFormatDesc *channels,
                               CUDA_ARRAY3D_DESCRIPTOR *descriptor);
struct cudaChannelFormatDesc crt_format_channels(const CUDA_ARRAY3D_DESCRIPTOR *descriptor);

/* ---- graphs ---- */

/* Parameters of a kernel node as the driver takes them. NULL is cudaErrorInvalidValue. */
cudaError_t crt_kernel_node(const struct cudaKernelNodeParams *params,
                            CUDA_KERNEL_NODE_PARAMS *result);

#endif
