/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the driver face share.
 */
#ifndef PTXRUN_CUDART_DRIVER_INTERNAL_H
#define PTXRUN_CUDART_DRIVER_INTERNAL_H

#include "cudart/core/base/device.h"
#include "cudart/core/base/process.h"
#include "cudart/core/base/result.h"
#include "cudart/core/streams/context.h"
#include "cudart/core/streams/green.h"
#include "cudart/core/streams/stream.h"
#include "cudart/driver/cuda_driver.h"

struct crt_copy;
struct crt_mem_op;

/* The copy that a descriptor means; CRT_INVALID_VALUE when it makes no sense. */
CUresult describe_copy_3d(const CUDA_MEMCPY3D *copy, struct crt_copy *described);

/* What a memory operation of a stream or graph says; crt_mem_op_check says whether it makes sense.
 */
struct crt_mem_op describe_mem_op(const CUstreamBatchMemOpParams *params);

/* CRT_SUCCESS when the driver is initialised and the ordinal is a device's. */
static inline CUresult check_device(CUdevice device)
{
    CUresult result = crt_check_ready();
    if (result != CRT_SUCCESS)
        return result;
    return crt_device_at(device) ? CRT_SUCCESS : CRT_INVALID_DEVICE;
}

/* As check_device, and CRT_INVALID_VALUE when there is no place for what is asked of the device. */
static inline CUresult check_device_output(CUdevice device, const void *output)
{
    CUresult result = check_device(device);
    if (result != CRT_SUCCESS)
        return result;
    return output ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

/* Whether a program's handle is that of a context, or of a green one. */
static inline bool is_context(CUcontext handle)
{
    return crt_context_is_valid(crt_context_behind(handle));
}

/* CRT_SUCCESS when there is a usable current context, for functions that need no more of it. */
static inline CUresult check_context(void)
{
    CUcontext ctx;
    return crt_context_require(&ctx);
}

/* What a call gives that did its work, or could not: the current context's fatal error comes before
 * its own. CUDA: "this function may also return error codes from previous, asynchronous launches",
 * which also holds for calls that give something back. */
static inline CUresult or_sticky(CUresult result)
{
    CUcontext ctx = crt_context_get_current();
    CUresult sticky = CRT_SUCCESS;
    if (crt_context_is_valid(ctx))
        sticky = crt_context_sticky(ctx);
    return sticky != CRT_SUCCESS ? sticky : result;
}

/* What a stream handle means in the forms in which stream 0 is the calling thread's own. */
static inline CUstream own_stream(CUstream stream)
{
    return stream ? stream : CU_STREAM_PER_THREAD;
}

/* Stores what the caller of a look-up wants to know of a variable: each place may be NULL. */
static inline void store_range(CUdeviceptr *pointer, size_t *bytes, uintptr_t address,
                               size_t size_bytes)
{
    if (pointer)
        *pointer = address;
    if (bytes)
        *bytes = size_bytes;
}

#endif
