/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory and semaphores that something else has made.
 */
#include "cudart/core/memory/external.h"

#include <stdlib.h>

#include "cudart/core/memory/mem_op.h"
#include "cudart/driver/internal.h"

CUresult cuImportExternalMemory(CUexternalMemory *memory,
                                const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *descriptor)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!memory || !descriptor || descriptor->flags & ~(unsigned)CUDA_EXTERNAL_MEMORY_DEDICATED ||
        descriptor->type < CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD ||
        descriptor->type > CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD)
        return CRT_INVALID_VALUE;
    if (descriptor->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD)
        return crt_not_supported("external memory of Windows, Direct3D, NvSci and DMA buffers");
    return crt_external_import(descriptor->handle.fd, descriptor->size, memory);
}

CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr *pointer, CUexternalMemory memory,
                                         const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *descriptor)
{
    CUcontext ctx;
    CUresult result = crt_context_require(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (!crt_external_is_valid(memory))
        return CRT_INVALID_HANDLE;
    if (!pointer || !descriptor || descriptor->flags)
        return CRT_INVALID_VALUE;
    uintptr_t base;
    result = crt_external_map(ctx, memory, descriptor->offset, descriptor->size, &base);
    if (result == CRT_SUCCESS)
        *pointer = base;
    return result;
}

CUresult cuDestroyExternalMemory(CUexternalMemory memory)
{
    CUresult result = check_context();
    return result == CRT_SUCCESS ? crt_external_destroy(memory) : result;
}

CUresult cuImportExternalSemaphore(CUexternalSemaphore *semaphore,
                                   const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *descriptor)
{
    CUcontext ctx;
    CUresult result = crt_context_require(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (!semaphore || !descriptor || descriptor->flags ||
        descriptor->type < CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD ||
        descriptor->type > CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_WIN32)
        return CRT_INVALID_VALUE;
    bool is_timeline = descriptor->type == CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD;
    if (!is_timeline && descriptor->type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD)
        return crt_not_supported("semaphores of Windows, Direct3D and NvSci");
    return crt_semaphore_import(ctx, descriptor->handle.fd, is_timeline, semaphore);
}

CUresult cuDestroyExternalSemaphore(CUexternalSemaphore semaphore)
{
    CUresult result = check_context();
    return result == CRT_SUCCESS ? crt_semaphore_destroy(semaphore) : result;
}

static CUresult describe(const CUexternalSemaphore *semaphores,
                         const CUDA_EXTERNAL_SEMAPHORE_PARAMS *params, unsigned count, bool is_wait,
                         struct crt_mem_op *ops)
{
    for (unsigned i = 0; i < count; i++) {
        if (!crt_semaphore_is_valid(semaphores[i]))
            return CRT_INVALID_HANDLE;
        if (params[i].flags) /* of NvSci only */
            return CRT_INVALID_VALUE;
        ops[i] = crt_semaphore_op(semaphores[i], is_wait, params[i].params.fence.value);
    }
    return CRT_SUCCESS;
}

static CUresult submit(const CUexternalSemaphore *semaphores,
                       const CUDA_EXTERNAL_SEMAPHORE_PARAMS *params, unsigned count,
                       CUstream handle, bool is_wait)
{
    CUstream stream;
    CUresult result = crt_stream_resolve(handle, &stream);
    if (result != CRT_SUCCESS)
        return result;
    if (!semaphores || !params || count == 0)
        return CRT_INVALID_VALUE;
    if (stream->captured.capture)
        return crt_not_supported("external semaphores in graphs");
    struct crt_mem_op *ops = calloc(count, sizeof *ops);
    if (!ops)
        return CRT_OUT_OF_MEMORY;
    result = describe(semaphores, params, count, is_wait, ops);
    if (result == CRT_SUCCESS)
        result = crt_stream_mem_ops(stream, ops, count);
    free(ops);
    return result;
}

CUresult cuSignalExternalSemaphoresAsync(const CUexternalSemaphore *semaphores,
                                         const CUDA_EXTERNAL_SEMAPHORE_PARAMS *params,
                                         unsigned count, CUstream stream)
{
    return submit(semaphores, params, count, stream, false);
}

CUresult cuWaitExternalSemaphoresAsync(const CUexternalSemaphore *semaphores,
                                       const CUDA_EXTERNAL_SEMAPHORE_PARAMS *params, unsigned count,
                                       CUstream stream)
{
    return submit(semaphores, params, count, stream, true);
}

/* ---- the forms in which stream 0 is the calling thread's own ---- */

CUresult cuSignalExternalSemaphoresAsync_ptsz(const CUexternalSemaphore *semaphores,
                                              const CUDA_EXTERNAL_SEMAPHORE_PARAMS *params,
                                              unsigned count, CUstream stream)
{
    return submit(semaphores, params, count, own_stream(stream), false);
}

CUresult cuWaitExternalSemaphoresAsync_ptsz(const CUexternalSemaphore *semaphores,
                                            const CUDA_EXTERNAL_SEMAPHORE_PARAMS *params,
                                            unsigned count, CUstream stream)
{
    return submit(semaphores, params, count, own_stream(stream), true);
}
