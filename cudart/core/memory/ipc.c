/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory and events of other processes. An exporter's device memory is one file; a process that
 * opens a handle maps the allocation's part of it.
 */
#include "cudart/core/memory/ipc.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "cudart/core/base/device.h"
#include "cudart/core/memory/device_arena.h"
#include "cudart/core/memory/file_mapping.h"
#include "cudart/core/streams/context.h"
#include "cudart/core/streams/event.h"
#include "cudart/core/streams/ipc_event.h"
#include "scheduler/scheduler.h"
#include "util/pages.h"

#define HANDLE_MAGIC UINT32_C(0x70744950)

/* Memory of another process that a context has opened. */
struct import {
    struct crt_ipc_token token;
    uint64_t id; /* the exporter's */
    struct crt_context *ctx;
    uintptr_t base;
    uint64_t own_id; /* of the arena: tells whether the context has given it back meanwhile */
    unsigned uses;
    struct import *next;
};

/* Guarded by lock. */
static struct {
    pthread_mutex_t lock;
    struct import *imports;
} ipc = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Memory that cuMemAlloc has made, whole pages of the arena's file. */
static bool is_exportable(const struct crt_allocation *allocation)
{
    return allocation->kind == CRT_MEMORY_DEVICE && allocation->flags == 0 &&
           allocation->span_bytes > 0;
}

static void answer_memory(const struct crt_ipc_request *request, struct crt_ipc_answer *answer,
                          int *file)
{
    struct crt_allocation found;
    int64_t offset;
    if (!crt_arena_find((uintptr_t)request->address, &found) || found.id != request->id ||
        !is_exportable(&found) || !crt_arena_file(found.base, file, &offset))
        return;
    *answer = (struct crt_ipc_answer){.result = CRT_SUCCESS,
                                      .device = found.device,
                                      .offset = (uint64_t)offset,
                                      .size_bytes = found.size_bytes};
}

/* Runs on the listening thread. The answer says CRT_INVALID_HANDLE unless it is changed. */
static void answer_request(const struct crt_ipc_request *request, struct crt_ipc_answer *answer,
                           int *file)
{
    if (request->what == CRT_IPC_MEMORY) {
        answer_memory(request, answer, file);
    } else if (request->what == CRT_IPC_EVENTS) {
        *file = crt_ipc_event_file();
        answer->result = *file >= 0 ? CRT_SUCCESS : CRT_INVALID_HANDLE;
    }
}

static enum crt_result make_handle(enum crt_ipc_what what, uint64_t address, uint64_t id,
                                   struct crt_ipc_handle *handle)
{
    *handle = (struct crt_ipc_handle){
        .magic = HANDLE_MAGIC, .what = (uint32_t)what, .address = address, .id = id};
    return crt_ipc_listen(answer_request, &handle->token);
}

/* Whether a handle is one for this kind of thing, of another process. */
static enum crt_result check_handle(const struct crt_ipc_handle *handle, enum crt_ipc_what what)
{
    if (handle->magic != HANDLE_MAGIC || handle->what != (uint32_t)what)
        return CRT_INVALID_HANDLE;
    return crt_ipc_is_own(&handle->token) ? CRT_INVALID_CONTEXT : CRT_SUCCESS;
}

enum crt_result crt_ipc_export_memory(uintptr_t address, struct crt_ipc_handle *handle)
{
    struct crt_allocation found;
    int file;
    int64_t offset;
    if (!crt_arena_find(address, &found) || !is_exportable(&found))
        return CRT_INVALID_VALUE;
    if (!crt_arena_file(found.base, &file, &offset))
        return crt_not_supported("sharing memory with other processes under a limit on file sizes");
    return make_handle(CRT_IPC_MEMORY, found.base, found.id, handle);
}

/* Maps the exporter's answer. */
static enum crt_result map_import(struct import *import, const struct crt_ipc_answer *answer,
                                  int file)
{
    if (answer->offset % pxr_page_bytes())
        return CRT_MAP_FAILED;
    struct crt_file_part part = {file, answer->offset, answer->size_bytes};
    bool is_seen = crt_device_at(answer->device) != NULL;
    struct crt_allocation known;
    enum crt_result result =
        crt_file_map(&part, CRT_MEMORY_IPC, import->ctx,
                     is_seen ? answer->device : import->ctx->device->index, &known);
    if (result != CRT_SUCCESS)
        return result;
    import->base = known.base;
    import->own_id = known.id;
    return CRT_SUCCESS;
}

/* With the lock held. */
static bool is_live_locked(const struct import *import)
{
    struct crt_allocation found;
    return crt_arena_find(import->base, &found) && found.id == import->own_id;
}

/* With the lock held: the memory behind a handle that ctx has opened before, or NULL. Memory given
 * back with a context is forgotten. */
static struct import *find_import_locked(const struct crt_context *ctx,
                                         const struct crt_ipc_handle *handle)
{
    struct import *import;
    struct import *next;
    struct import *found = NULL;
    LL_FOREACH_SAFE(ipc.imports, import, next)
    {
        if (!is_live_locked(import)) {
            LL_DELETE(ipc.imports, import);
            free(import);
        } else if (import->ctx == ctx && import->id == handle->id &&
                   memcmp(&import->token, &handle->token, sizeof import->token) == 0) {
            found = import;
        }
    }
    return found;
}

static enum crt_result open_locked(struct crt_context *ctx, const struct crt_ipc_handle *handle,
                                   uintptr_t *base)
{
    struct import *import = find_import_locked(ctx, handle);
    if (import) {
        import->uses++;
        *base = import->base;
        return CRT_SUCCESS;
    }
    struct crt_ipc_request request = {
        .what = CRT_IPC_MEMORY, .address = handle->address, .id = handle->id};
    struct crt_ipc_answer answer;
    int file = -1;
    enum crt_result result = crt_ipc_ask(&handle->token, &request, &answer, &file);
    if (result != CRT_SUCCESS)
        return result;
    result = CRT_OUT_OF_MEMORY;
    import = malloc(sizeof *import);
    if (import) {
        *import = (struct import){.token = handle->token, .id = handle->id, .ctx = ctx, .uses = 1};
        result = map_import(import, &answer, file);
    }
    close(file);
    if (result != CRT_SUCCESS) {
        free(import);
        return result;
    }
    LL_PREPEND(ipc.imports, import);
    *base = import->base;
    return CRT_SUCCESS;
}

enum crt_result crt_ipc_open_memory(struct crt_context *ctx, const struct crt_ipc_handle *handle,
                                    uintptr_t *base)
{
    enum crt_result result = check_handle(handle, CRT_IPC_MEMORY);
    if (result != CRT_SUCCESS)
        return result;
    pthread_mutex_lock(&ipc.lock);
    result = open_locked(ctx, handle, base);
    pthread_mutex_unlock(&ipc.lock);
    return result;
}

static enum crt_result close_locked(uintptr_t base)
{
    struct import *import;
    LL_FOREACH(ipc.imports, import)
    if (import->base == base && is_live_locked(import))
        break;
    if (!import)
        return CRT_INVALID_VALUE;
    if (--import->uses)
        return CRT_SUCCESS;
    LL_DELETE(ipc.imports, import);
    free(import);
    return crt_arena_free(base, CRT_MEMORY_IPC);
}

enum crt_result crt_ipc_close_memory(uintptr_t base)
{
    struct crt_allocation found;
    if (!crt_arena_find(base, &found) || found.kind != CRT_MEMORY_IPC || found.base != base)
        return CRT_INVALID_VALUE;
    enum crt_result finished = crt_context_wait(found.ctx);
    if (finished == CRT_NOT_PERMITTED || finished == CRT_STREAM_CAPTURE_UNSUPPORTED)
        return finished;
    pthread_mutex_lock(&ipc.lock);
    enum crt_result result = close_locked(base);
    pthread_mutex_unlock(&ipc.lock);
    return result == CRT_SUCCESS ? finished : result;
}

enum crt_result crt_ipc_export_event(struct crt_event *event, struct crt_ipc_handle *handle)
{
    if (!crt_event_is_valid(event) || !(event->flags & CRT_EVENT_INTERPROCESS) || !event->shared)
        return CRT_INVALID_HANDLE;
    return make_handle(CRT_IPC_EVENTS, 0, crt_ipc_event_number(event->shared), handle);
}

enum crt_result crt_ipc_open_event(struct crt_context *ctx, const struct crt_ipc_handle *handle,
                                   struct crt_event **event)
{
    struct crt_ipc_event *shared;
    enum crt_result result = check_handle(handle, CRT_IPC_EVENTS);
    if (result == CRT_SUCCESS)
        result = crt_ipc_event_open(&handle->token, handle->id, &shared);
    if (result != CRT_SUCCESS)
        return result;
    result = crt_event_create(ctx, CRT_EVENT_DISABLE_TIMING, event);
    if (result == CRT_SUCCESS)
        (*event)->shared = shared;
    else
        crt_ipc_event_release(shared);
    return result;
}
