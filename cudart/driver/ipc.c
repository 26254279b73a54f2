/* SPDX-License-Identifier: Apache-2.0
 *
 * Sharing device memory and events between processes.
 */
#include "cudart/core/memory/ipc.h"

#include <string.h>

#include "cudart/driver/internal.h"

_Static_assert(sizeof(CUipcMemHandle) == sizeof(struct crt_ipc_handle) &&
                   sizeof(CUipcEventHandle) == sizeof(struct crt_ipc_handle),
               "handles are copied as they are");

CUresult cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr pointer)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!handle)
        return CRT_INVALID_VALUE;
    struct crt_ipc_handle made;
    result = crt_ipc_export_memory((uintptr_t)pointer, &made);
    if (result == CRT_SUCCESS)
        memcpy(handle, &made, sizeof *handle);
    return result;
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *pointer, CUipcMemHandle handle, unsigned flags)
{
    CUcontext ctx;
    CUresult result = crt_context_require(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (!pointer || flags != CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
        return CRT_INVALID_VALUE;
    struct crt_ipc_handle given;
    memcpy(&given, &handle, sizeof given);
    uintptr_t base;
    result = crt_ipc_open_memory(ctx, &given, &base);
    if (result == CRT_SUCCESS)
        *pointer = base;
    return result;
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *pointer, CUipcMemHandle handle, unsigned flags)
{
    return cuIpcOpenMemHandle_v2(pointer, handle, flags);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr pointer)
{
    CUresult result = check_context();
    return result == CRT_SUCCESS ? crt_ipc_close_memory((uintptr_t)pointer) : result;
}

CUresult cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event)
{
    CUresult result = check_context();
    if (result != CRT_SUCCESS)
        return result;
    if (!handle)
        return CRT_INVALID_VALUE;
    struct crt_ipc_handle made;
    result = crt_ipc_export_event(event, &made);
    if (result == CRT_SUCCESS)
        memcpy(handle, &made, sizeof *handle);
    return result;
}

CUresult cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle handle)
{
    CUcontext ctx;
    CUresult result = crt_context_require(&ctx);
    if (result != CRT_SUCCESS)
        return result;
    if (!event)
        return CRT_INVALID_VALUE;
    struct crt_ipc_handle given;
    memcpy(&given, &handle, sizeof given);
    return crt_ipc_open_event(ctx, &given, event);
}
