/* SPDX-License-Identifier: Apache-2.0
 *
 * Device memory and events of other processes. Handles are 64 bytes that a program carries from one
 * process to another as it likes; ipc_socket.h gets at the files that they name.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_IPC_H
#define PTXRUN_CUDART_CORE_MEMORY_IPC_H

#include "cudart/core/base/ipc_socket.h"
#include "cudart/core/base/result.h"

struct crt_context;
struct crt_event;

/* The contents of a handle; zeros up to its 64 bytes. */
struct crt_ipc_handle {
    uint32_t magic;
    uint32_t what; /* enum crt_ipc_what */
    struct crt_ipc_token token;
    uint64_t address; /* of memory */
    uint64_t id;      /* of an allocation, or an event's slot */
    uint8_t unused[24];
};
_Static_assert(sizeof(struct crt_ipc_handle) == 64, "the size that programs know");

CRT_API_BEGIN

/* Exports the allocation, made by cuMemAlloc, that contains the address. */
enum crt_result crt_ipc_export_memory(uintptr_t address, struct crt_ipc_handle *handle);

/* The start of the allocation as ctx sees it; opening it again counts. CRT_INVALID_CONTEXT in the
 * process that has exported it. */
enum crt_result crt_ipc_open_memory(struct crt_context *ctx, const struct crt_ipc_handle *handle,
                                    uintptr_t *base);

/* Waits for the context's work and forgets the memory when it was opened once. */
enum crt_result crt_ipc_close_memory(uintptr_t base);

/* CRT_INVALID_HANDLE if it is no interprocess event of this process. */
enum crt_result crt_ipc_export_event(struct crt_event *event, struct crt_ipc_handle *handle);
enum crt_result crt_ipc_open_event(struct crt_context *ctx, const struct crt_ipc_handle *handle,
                                   struct crt_event **event);

CRT_API_END

#endif
