/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory and events that several processes share.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "cudart/core/streams/event.h"
#include "cudart/core/streams/stream.h"
#include "driver_fixture.h"
#include "peer_process.h"

#define BYTES 100000

/* Driver start in a peer. */
static void start_driver(void)
{
    CUcontext ctx;
    PEER_OK(cuInit(0));
    PEER_OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    PEER_OK(cuCtxSetCurrent(ctx));
}

static CUdeviceptr allocate(size_t bytes)
{
    CUdeviceptr pointer;
    OK(cuMemAlloc_v2(&pointer, bytes));
    return pointer;
}

/* A handle for `bytes` bytes of that value. */
static CUipcMemHandle share(CUdeviceptr *pointer, size_t bytes, unsigned char value)
{
    CUipcMemHandle handle;
    *pointer = allocate(bytes);
    OK(cuMemsetD8_v2(*pointer, value, bytes));
    OK(cuCtxSynchronize());
    OK(cuIpcGetMemHandle(&handle, *pointer));
    return handle;
}

static unsigned char byte_at(CUdeviceptr pointer)
{
    unsigned char value = 0;
    OK(cuMemcpyDtoH_v2(&value, pointer, 1));
    return value;
}

static CUresult open_memory(const CUipcMemHandle *handle, CUdeviceptr *pointer)
{
    return cuIpcOpenMemHandle_v2(pointer, *handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
}

static void read_and_write(int socket)
{
    CUipcMemHandle handle;
    CUdeviceptr pointer;
    unsigned char value = 0;
    start_driver();
    PEER_CHECK(hear(socket, &handle, sizeof handle));
    PEER_OK(open_memory(&handle, &pointer));
    PEER_OK(cuMemcpyDtoH_v2(&value, pointer + BYTES - 1, 1));
    PEER_CHECK(value == 0x5a);
    PEER_OK(cuMemsetD8_v2(pointer, 0x11, BYTES));
    PEER_OK(cuCtxSynchronize());
    PEER_CHECK(cuMemsetD8_v2(pointer, 0, BYTES + 1) == CRT_INVALID_VALUE);
    PEER_CHECK(cuMemFree_v2(pointer) == CRT_INVALID_VALUE);
    PEER_OK(cuIpcCloseMemHandle(pointer));
    PEER_CHECK(cuMemcpyDtoH_v2(&value, pointer, 1) == CRT_INVALID_VALUE);
    PEER_CHECK(cuIpcCloseMemHandle(pointer) == CRT_INVALID_VALUE);
}

Test(ipc, memory_of_another_process_is_read_and_written)
{
    struct peer peer = start_peer(read_and_write);
    make_context();
    CUdeviceptr before;
    share(&before, BYTES, 1); /* so that it is not the first in the file */
    CUdeviceptr pointer;
    CUipcMemHandle handle = share(&pointer, BYTES, 0x5a);
    tell(peer.socket, &handle, sizeof handle);
    expect_peer_succeeds(&peer);
    cr_expect_eq(byte_at(pointer), 0x11);
    cr_expect_eq(byte_at(pointer + BYTES - 1), 0x11);
    cr_expect_eq(byte_at(before), 1);
}

static void open_twice(int socket)
{
    CUipcMemHandle handle;
    CUdeviceptr first;
    CUdeviceptr second;
    unsigned type = 0;
    start_driver();
    PEER_CHECK(hear(socket, &handle, sizeof handle));
    PEER_OK(open_memory(&handle, &first));
    PEER_OK(cuIpcOpenMemHandle(&second, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    PEER_CHECK(first == second);
    PEER_OK(cuIpcCloseMemHandle(first));
    PEER_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, first));
    PEER_CHECK(type == CU_MEMORYTYPE_DEVICE);
    PEER_OK(cuIpcCloseMemHandle(first));
    PEER_CHECK(cuIpcCloseMemHandle(first) == CRT_INVALID_VALUE);
    PEER_OK(open_memory(&handle, &first));
    /* A reset gives it back, too. */
    CUcontext ctx;
    PEER_OK(cuDevicePrimaryCtxReset_v2(0));
    PEER_OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    PEER_CHECK(cuIpcCloseMemHandle(first) == CRT_INVALID_VALUE);
    PEER_OK(open_memory(&handle, &second));
    PEER_OK(cuIpcCloseMemHandle(second));
}

Test(ipc, opening_again_counts)
{
    struct peer peer = start_peer(open_twice);
    make_context();
    CUdeviceptr pointer;
    CUipcMemHandle handle = share(&pointer, BYTES, 1);
    tell(peer.socket, &handle, sizeof handle);
    expect_peer_succeeds(&peer);
}

Test(ipc, the_exporter_cannot_open_its_own_memory, .init = make_context)
{
    CUdeviceptr pointer;
    CUipcMemHandle handle = share(&pointer, BYTES, 1);
    EXPECT(CRT_INVALID_CONTEXT, open_memory(&handle, &pointer));
}

static void open_inner(int socket)
{
    CUipcMemHandle handles[2];
    CUdeviceptr first;
    CUdeviceptr second;
    unsigned char value = 0;
    start_driver();
    PEER_CHECK(hear(socket, handles, sizeof handles));
    PEER_OK(open_memory(&handles[0], &first));
    PEER_OK(open_memory(&handles[1], &second));
    PEER_CHECK(first == second);
    PEER_OK(cuMemcpyDtoH_v2(&value, first, 1));
    PEER_CHECK(value == 3);
}

Test(ipc, a_handle_of_a_part_is_one_of_the_whole_allocation)
{
    struct peer peer = start_peer(open_inner);
    make_context();
    CUdeviceptr pointer;
    CUipcMemHandle handles[2] = {share(&pointer, BYTES, 3)};
    OK(cuIpcGetMemHandle(&handles[1], pointer + 5000));
    tell(peer.socket, handles, sizeof handles);
    expect_peer_succeeds(&peer);
}

Test(ipc, only_memory_of_cuMemAlloc_has_handles, .init = make_context)
{
    CUipcMemHandle handle;
    CUdeviceptr managed;
    CUdeviceptr pooled;
    void *host;
    OK(cuMemAllocManaged(&managed, BYTES, 1));
    OK(cuMemAllocHost_v2(&host, BYTES));
    OK(cuMemAllocAsync(&pooled, BYTES, NULL));
    EXPECT(CRT_INVALID_VALUE, cuIpcGetMemHandle(&handle, managed));
    EXPECT(CRT_INVALID_VALUE, cuIpcGetMemHandle(&handle, (uintptr_t)host));
    EXPECT(CRT_INVALID_VALUE, cuIpcGetMemHandle(&handle, pooled));
    EXPECT(CRT_INVALID_VALUE, cuIpcGetMemHandle(&handle, (uintptr_t)&handle));
}

static void export_and_end(int socket)
{
    CUdeviceptr pointer;
    CUipcMemHandle handle;
    start_driver();
    PEER_OK(cuMemAlloc_v2(&pointer, BYTES));
    PEER_OK(cuMemsetD8_v2(pointer, 0x77, BYTES));
    PEER_OK(cuCtxSynchronize());
    PEER_OK(cuIpcGetMemHandle(&handle, pointer));
    tell(socket, &handle, sizeof handle);
    PEER_CHECK(wait_signal(socket));
}

Test(ipc, open_memory_stays_when_the_exporter_ends)
{
    struct peer peer = start_peer(export_and_end);
    make_context();
    CUipcMemHandle handle;
    CUdeviceptr pointer;
    cr_assert(hear(peer.socket, &handle, sizeof handle));
    OK(open_memory(&handle, &pointer));
    signal_peer(peer.socket);
    expect_peer_succeeds(&peer);
    cr_expect_eq(byte_at(pointer + BYTES - 1), 0x77);
    OK(cuIpcCloseMemHandle(pointer));
    EXPECT(CRT_INVALID_HANDLE, open_memory(&handle, &pointer));
}

/* A child that the exporter has forked has the exporter's files, but nobody to answer. */
static void export_fork_and_end(int socket)
{
    CUdeviceptr pointer;
    CUipcMemHandle handle;
    start_driver();
    PEER_OK(cuMemAlloc_v2(&pointer, BYTES));
    PEER_OK(cuIpcGetMemHandle(&handle, pointer));
    if (fork() == 0) {
        tell(socket, &handle, sizeof handle);
        wait_signal(socket);
        _exit(0);
    }
}

Test(ipc, a_child_of_an_ended_exporter_keeps_nobody_waiting)
{
    struct peer peer = start_peer(export_fork_and_end);
    make_context();
    CUipcMemHandle handle;
    CUdeviceptr pointer;
    int status;
    cr_assert(hear(peer.socket, &handle, sizeof handle));
    waitpid(peer.pid, &status, 0);
    time_t start = time(NULL);
    EXPECT(CRT_INVALID_HANDLE, open_memory(&handle, &pointer));
    cr_expect_lt(time(NULL) - start, 5);
    signal_peer(peer.socket);
}

static void open_freed(int socket)
{
    CUipcMemHandle handle;
    CUdeviceptr pointer;
    start_driver();
    PEER_CHECK(hear(socket, &handle, sizeof handle));
    PEER_CHECK(open_memory(&handle, &pointer) == CRT_INVALID_HANDLE);
}

Test(ipc, freed_memory_cannot_be_opened)
{
    struct peer peer = start_peer(open_freed);
    make_context();
    CUdeviceptr pointer;
    CUipcMemHandle handle = share(&pointer, BYTES, 1);
    OK(cuMemFree_v2(pointer));
    tell(peer.socket, &handle, sizeof handle);
    expect_peer_succeeds(&peer);
}

/* Both at once: each answers while it asks. */
static void exchange(int socket)
{
    CUipcMemHandle own;
    CUipcMemHandle other;
    CUdeviceptr pointer;
    CUdeviceptr opened;
    start_driver();
    PEER_OK(cuMemAlloc_v2(&pointer, BYTES));
    PEER_OK(cuIpcGetMemHandle(&own, pointer));
    tell(socket, &own, sizeof own);
    PEER_CHECK(hear(socket, &other, sizeof other));
    for (int i = 0; i < 200; i++) {
        PEER_OK(open_memory(&other, &opened));
        PEER_OK(cuIpcCloseMemHandle(opened));
    }
    signal_peer(socket);
    PEER_CHECK(wait_signal(socket));
}

Test(ipc, two_processes_open_each_others_memory)
{
    struct peer peer = start_peer(exchange);
    make_context();
    CUipcMemHandle other;
    CUdeviceptr pointer;
    CUdeviceptr opened;
    CUipcMemHandle own = share(&pointer, BYTES, 1);
    tell(peer.socket, &own, sizeof own);
    cr_assert(hear(peer.socket, &other, sizeof other));
    for (int i = 0; i < 200; i++) {
        OK(open_memory(&other, &opened));
        OK(cuIpcCloseMemHandle(opened));
    }
    signal_peer(peer.socket);
    cr_assert(wait_signal(peer.socket));
    expect_peer_succeeds(&peer);
}

#define SHARED_EVENT (CRT_EVENT_INTERPROCESS | CRT_EVENT_DISABLE_TIMING)

/* A host function that waits until the test lets it go on. */
struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool is_open;
};

static struct gate gate = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void pass_gate(void *arg)
{
    (void)arg;
    pthread_mutex_lock(&gate.lock);
    while (!gate.is_open)
        pthread_cond_wait(&gate.changed, &gate.lock);
    pthread_mutex_unlock(&gate.lock);
}

static void open_gate(void)
{
    pthread_mutex_lock(&gate.lock);
    gate.is_open = true;
    pthread_cond_broadcast(&gate.changed);
    pthread_mutex_unlock(&gate.lock);
}

/* Work that waits at the gate, and an event behind it. */
static CUipcEventHandle record_behind_gate(CUevent *event, CUstream *stream)
{
    CUipcEventHandle handle;
    OK(cuEventCreate(event, SHARED_EVENT));
    OK(cuStreamCreate(stream, CRT_STREAM_NON_BLOCKING));
    OK(cuLaunchHostFunc(*stream, pass_gate, NULL));
    OK(cuEventRecord(*event, *stream));
    OK(cuIpcGetEventHandle(&handle, *event));
    return handle;
}

static void wait_for_event(int socket)
{
    CUipcEventHandle handle;
    CUevent event;
    CUstream stream;
    start_driver();
    PEER_CHECK(hear(socket, &handle, sizeof handle));
    PEER_OK(cuIpcOpenEventHandle(&event, handle));
    PEER_OK(cuStreamCreate(&stream, CRT_STREAM_NON_BLOCKING));
    PEER_CHECK(cuEventQuery(event) == CRT_NOT_READY);
    PEER_OK(cuStreamWaitEvent(stream, event, 0));
    PEER_CHECK(cuStreamQuery(stream) == CRT_NOT_READY);
    signal_peer(socket); /* opens the gate */
    PEER_OK(cuStreamSynchronize(stream));
    PEER_OK(cuEventQuery(event));
    PEER_OK(cuEventSynchronize(event));
    float ms;
    PEER_CHECK(cuEventElapsedTime(&ms, event, event) == CRT_INVALID_HANDLE);
    CUipcEventHandle again;
    PEER_CHECK(cuIpcGetEventHandle(&again, event) == CRT_INVALID_HANDLE);
    PEER_OK(cuEventDestroy_v2(event));
}

Test(ipc, a_stream_waits_for_another_processs_event)
{
    struct peer peer = start_peer(wait_for_event);
    make_context();
    CUevent event;
    CUstream stream;
    CUipcEventHandle handle = record_behind_gate(&event, &stream);
    EXPECT(CRT_NOT_READY, cuEventQuery(event));
    tell(peer.socket, &handle, sizeof handle);
    cr_assert(wait_signal(peer.socket));
    open_gate();
    expect_peer_succeeds(&peer);
    OK(cuEventSynchronize(event));
}

static void record_event(int socket)
{
    CUipcEventHandle handle;
    CUevent event;
    CUstream stream;
    start_driver();
    PEER_CHECK(hear(socket, &handle, sizeof handle));
    PEER_OK(cuIpcOpenEventHandle(&event, handle));
    PEER_OK(cuStreamCreate(&stream, CRT_STREAM_NON_BLOCKING));
    PEER_OK(cuLaunchHostFunc(stream, pass_gate, NULL));
    PEER_OK(cuEventRecord(event, stream));
    signal_peer(socket);
    if (!wait_signal(socket))
        return;
    open_gate();
    PEER_OK(cuStreamSynchronize(stream));
}

Test(ipc, the_exporter_waits_for_records_of_the_importer)
{
    struct peer peer = start_peer(record_event);
    make_context();
    CUevent event;
    CUipcEventHandle handle;
    OK(cuEventCreate(&event, SHARED_EVENT));
    OK(cuIpcGetEventHandle(&handle, event));
    OK(cuEventQuery(event)); /* not recorded: complete */
    OK(cuEventSynchronize(event));
    tell(peer.socket, &handle, sizeof handle);
    cr_assert(wait_signal(peer.socket));
    EXPECT(CRT_NOT_READY, cuEventQuery(event));
    signal_peer(peer.socket);
    OK(cuEventSynchronize(event));
    OK(cuEventQuery(event));
    expect_peer_succeeds(&peer);
}

Test(ipc, the_end_of_who_has_recorded_ends_the_wait)
{
    struct peer peer = start_peer(record_event);
    make_context();
    CUevent event;
    CUipcEventHandle handle;
    OK(cuEventCreate(&event, SHARED_EVENT));
    OK(cuIpcGetEventHandle(&handle, event));
    tell(peer.socket, &handle, sizeof handle);
    cr_assert(wait_signal(peer.socket));
    EXPECT(CRT_NOT_READY, cuEventQuery(event));
    kill(peer.pid, SIGKILL); /* and nobody has waited for it yet */
    OK(cuEventSynchronize(event));
    OK(cuEventQuery(event));
}

Test(ipc, an_interprocess_event_works_within_its_process, .init = make_context)
{
    CUevent event;
    CUstream stream;
    CUstream waiting;
    record_behind_gate(&event, &stream);
    OK(cuStreamCreate(&waiting, CRT_STREAM_NON_BLOCKING));
    OK(cuStreamWaitEvent(waiting, event, 0));
    EXPECT(CRT_NOT_READY, cuStreamQuery(waiting));
    open_gate();
    OK(cuStreamSynchronize(waiting));
    OK(cuEventQuery(event));
    OK(cuEventDestroy_v2(event));
}

Test(ipc, events_have_handles_only_if_made_for_it, .init = make_context)
{
    CUevent event;
    CUevent shared;
    CUipcEventHandle handle;
    EXPECT(CRT_INVALID_VALUE, cuEventCreate(&event, CRT_EVENT_INTERPROCESS));
    OK(cuEventCreate(&event, CRT_EVENT_DISABLE_TIMING));
    EXPECT(CRT_INVALID_HANDLE, cuIpcGetEventHandle(&handle, event));
    OK(cuEventCreate(&shared, SHARED_EVENT));
    OK(cuIpcGetEventHandle(&handle, shared));
    EXPECT(CRT_INVALID_CONTEXT, cuIpcOpenEventHandle(&event, handle));
}

Test(ipc, thousands_of_interprocess_events_can_come_and_go, .init = make_context)
{
    CUevent events[100];
    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < 100; i++)
            OK(cuEventCreate(&events[i], SHARED_EVENT));
        OK(cuEventRecord(events[0], NULL));
        for (int i = 0; i < 100; i++)
            OK(cuEventDestroy_v2(events[i]));
    }
}

Test(ipc, a_limit_on_file_sizes_refuses_and_does_not_kill)
{
    CUipcMemHandle handle;
    CUdeviceptr pointer;
    CUevent event;
    CUmemAllocationProp prop = {.type = 1, .location = {.type = 1}};
    CUmemGenericAllocationHandle physical;
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 4096, .rlim_max = 4096});
    make_context();
    OK(cuMemAlloc_v2(&pointer, BYTES));
    EXPECT(CRT_NOT_SUPPORTED, cuIpcGetMemHandle(&handle, pointer));
    EXPECT(CRT_NOT_SUPPORTED, cuEventCreate(&event, SHARED_EVENT));
    EXPECT(CRT_NOT_SUPPORTED, cuMemCreate(&physical, (size_t)2 << 20, &prop, 0));
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    EXPECT(CRT_OUT_OF_MEMORY, cuMemCreate(&physical, (size_t)2 << 20, &prop, 0));
}
