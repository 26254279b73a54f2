/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory and semaphores that come as file descriptors.
 */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "driver_fixture.h"
#include "peer_process.h"

#define BYTES ((size_t)256 * 1024)

static CUDA_EXTERNAL_MEMORY_HANDLE_DESC memory_of(int file, size_t bytes)
{
    return (CUDA_EXTERNAL_MEMORY_HANDLE_DESC){
        .type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD, .handle.fd = file, .size = bytes};
}

static CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC semaphore_of(int file, int type)
{
    return (CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC){.type = type, .handle.fd = file};
}

static CUDA_EXTERNAL_SEMAPHORE_PARAMS at(uint64_t value)
{
    return (CUDA_EXTERNAL_SEMAPHORE_PARAMS){.params.fence.value = value};
}

/* A file in memory, and where the test itself sees it. */
static int make_file(size_t bytes, void **seen)
{
    int file = memfd_create("external", 0);
    cr_assert_geq(file, 0);
    cr_assert_eq(ftruncate(file, (off_t)bytes), 0);
    *seen = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    cr_assert_neq(*seen, MAP_FAILED);
    return file;
}

static CUexternalMemory import(int file, size_t bytes)
{
    CUexternalMemory memory = NULL;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC descriptor = memory_of(file, bytes);
    OK(cuImportExternalMemory(&memory, &descriptor));
    return memory;
}

static CUexternalSemaphore import_semaphore(int file, int type)
{
    CUexternalSemaphore semaphore = NULL;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC descriptor = semaphore_of(file, type);
    OK(cuImportExternalSemaphore(&semaphore, &descriptor));
    return semaphore;
}

Test(external, mapped_memory_is_the_files, .init = make_context)
{
    unsigned char *seen;
    CUexternalMemory memory = import(make_file(BYTES, (void **)&seen), BYTES);
    /* From the middle of a page on. */
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC part = {.offset = 4096 + 64, .size = 1000};
    CUdeviceptr pointer = 0;
    CUdeviceptr base = 0;
    size_t bytes = 0;
    unsigned char back[4] = {0};
    OK(cuExternalMemoryGetMappedBuffer(&pointer, memory, &part));
    OK(cuMemGetAddressRange_v2(&base, &bytes, pointer + 10));
    cr_expect_eq(base, pointer);
    cr_expect_eq(bytes, 1000);
    OK(cuMemsetD8_v2(pointer, 7, 1000));
    OK(cuCtxSynchronize());
    cr_expect_eq(seen[4096 + 63], 0);
    cr_expect_eq(seen[4096 + 64], 7);
    cr_expect_eq(seen[4096 + 64 + 999], 7);
    cr_expect_eq(seen[4096 + 64 + 1000], 0);
    seen[4096 + 64 + 2] = 9;
    OK(cuMemcpyDtoH_v2(back, pointer, sizeof back));
    cr_expect_arr_eq(back, ((unsigned char[]){7, 7, 9, 7}), sizeof back);
    EXPECT(CRT_INVALID_VALUE, cuMemcpyDtoH_v2(back, pointer + 998, sizeof back));
    OK(cuMemFree_v2(pointer));
    EXPECT(CRT_INVALID_VALUE, cuMemFree_v2(pointer));
    OK(cuDestroyExternalMemory(memory));
}

Test(external, buffers_outlive_what_they_were_mapped_from, .init = make_context)
{
    unsigned char *seen;
    CUexternalMemory memory = import(make_file(BYTES, (void **)&seen), BYTES);
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC whole = {.size = BYTES};
    CUdeviceptr first = 0;
    CUdeviceptr second = 0;
    OK(cuExternalMemoryGetMappedBuffer(&first, memory, &whole));
    OK(cuExternalMemoryGetMappedBuffer(&second, memory, &whole));
    OK(cuDestroyExternalMemory(memory));
    EXPECT(CRT_INVALID_HANDLE, cuDestroyExternalMemory(memory));
    EXPECT(CRT_INVALID_HANDLE, cuExternalMemoryGetMappedBuffer(&first, memory, &whole));
    OK(cuMemsetD8_v2(first, 3, BYTES));
    OK(cuCtxSynchronize());
    OK(cuMemFree_v2(first));
    unsigned char last = 0;
    OK(cuMemcpyDtoH_v2(&last, second + BYTES - 1, 1));
    cr_expect_eq(last, 3);
    OK(cuMemFree_v2(second));
}

Test(external, memory_that_cannot_be_had_is_refused, .init = make_context)
{
    void *seen;
    int file = make_file(BYTES, &seen);
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    CUexternalMemory memory;
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC right = memory_of(file, BYTES);
    CUDA_EXTERNAL_MEMORY_HANDLE_DESC wrong = memory_of(file, BYTES + 1);
    EXPECT(CRT_INVALID_VALUE, cuImportExternalMemory(&memory, &wrong));
    wrong = memory_of(-1, BYTES);
    EXPECT(CRT_INVALID_VALUE, cuImportExternalMemory(&memory, &wrong));
    wrong = memory_of(open("/proc/self/exe", O_RDONLY), 1);
    EXPECT(CRT_INVALID_VALUE, cuImportExternalMemory(&memory, &wrong));
    wrong = memory_of(ends[0], 1);
    EXPECT(CRT_INVALID_VALUE, cuImportExternalMemory(&memory, &wrong)); /* one end only reads */
    wrong = memory_of(eventfd(0, 0), 1);
    EXPECT(CRT_NOT_SUPPORTED, cuImportExternalMemory(&memory, &wrong));
    wrong = right;
    wrong.flags = 2;
    EXPECT(CRT_INVALID_VALUE, cuImportExternalMemory(&memory, &wrong));
    for (wrong = right; wrong.type < 11; wrong.type++)
        if (wrong.type != right.type)
            EXPECT(wrong.type < 10 ? CRT_NOT_SUPPORTED : CRT_INVALID_VALUE,
                   cuImportExternalMemory(&memory, &wrong));
    EXPECT(CRT_INVALID_VALUE, cuImportExternalMemory(NULL, &right));
    EXPECT(CRT_INVALID_VALUE, cuImportExternalMemory(&memory, NULL));
    OK(cuImportExternalMemory(&memory, &right));
    CUdeviceptr pointer;
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC part = {.offset = BYTES - 1, .size = 2};
    EXPECT(CRT_INVALID_VALUE, cuExternalMemoryGetMappedBuffer(&pointer, memory, &part));
    part = (CUDA_EXTERNAL_MEMORY_BUFFER_DESC){.offset = 2, .size = UINT64_MAX};
    EXPECT(CRT_INVALID_VALUE, cuExternalMemoryGetMappedBuffer(&pointer, memory, &part));
    part = (CUDA_EXTERNAL_MEMORY_BUFFER_DESC){.size = 0};
    EXPECT(CRT_INVALID_VALUE, cuExternalMemoryGetMappedBuffer(&pointer, memory, &part));
    OK(cuDestroyExternalMemory(memory));
}

/* Both processes have the file: one fills it on a stream that waits for the other. */
struct shared {
    _Atomic uint64_t reached; /* what the timeline reads and writes */
    uint32_t value;
};

static void answer(int socket)
{
    struct shared *shared;
    int file;
    PEER_CHECK(hear(socket, &file, sizeof file));
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    PEER_CHECK(shared != MAP_FAILED);
    while (shared->reached < 1)
        usleep(100);
    PEER_CHECK(shared->value == 41);
    shared->value = 42;
    shared->reached = 2;
}

Test(external, a_timeline_orders_two_processes)
{
    struct shared *shared;
    int file = make_file(sizeof *shared, (void **)&shared);
    struct peer peer = start_peer(answer); /* inherits the file */
    make_context();
    tell(peer.socket, &file, sizeof file);
    CUexternalMemory memory = import(dup(file), sizeof *shared);
    CUexternalSemaphore timeline =
        import_semaphore(dup(file), CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD);
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC whole = {.size = sizeof *shared};
    CUDA_EXTERNAL_SEMAPHORE_PARAMS one = at(1);
    CUDA_EXTERNAL_SEMAPHORE_PARAMS two = at(2);
    CUdeviceptr pointer = 0;
    CUdeviceptr value;
    CUstream stream;
    uint32_t got = 0;
    OK(cuExternalMemoryGetMappedBuffer(&pointer, memory, &whole));
    value = pointer + offsetof(struct shared, value);
    OK(cuStreamCreate(&stream, 1));
    OK(cuMemsetD32Async(value, 41, 1, stream));
    OK(cuSignalExternalSemaphoresAsync(&timeline, &one, 1, stream));
    OK(cuWaitExternalSemaphoresAsync(&timeline, &two, 1, stream));
    OK(cuMemcpyDtoHAsync_v2(&got, value, sizeof got, stream));
    OK(cuStreamSynchronize(stream));
    cr_expect_eq(got, 42);
    OK(cuDestroyExternalSemaphore(timeline));
    EXPECT(CRT_INVALID_HANDLE, cuDestroyExternalSemaphore(timeline));
    OK(cuMemFree_v2(pointer));
    OK(cuDestroyExternalMemory(memory));
    expect_peer_succeeds(&peer);
}

Test(external, a_binary_semaphore_lets_one_wait_pass_for_each_signal, .init = make_context)
{
    int event = eventfd(0, EFD_SEMAPHORE | EFD_NONBLOCK);
    CUexternalSemaphore semaphore =
        import_semaphore(dup(event), CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD);
    CUDA_EXTERNAL_SEMAPHORE_PARAMS params[2] = {0};
    CUexternalSemaphore twice[2] = {semaphore, semaphore};
    CUstream waits;
    CUstream signals;
    uint64_t count = 1;
    OK(cuStreamCreate(&waits, 1));
    OK(cuStreamCreate(&signals, 1));
    OK(cuWaitExternalSemaphoresAsync_ptsz(twice, params, 2, waits));
    OK(cuSignalExternalSemaphoresAsync_ptsz(&semaphore, params, 1, signals));
    OK(cuStreamSynchronize(signals));
    usleep(5000);
    EXPECT(CRT_NOT_READY, cuStreamQuery(waits));
    cr_assert_eq(write(event, &count, sizeof count), (ssize_t)sizeof count);
    OK(cuStreamSynchronize(waits));
    cr_expect_eq(read(event, &count, sizeof count), -1); /* both were taken */
    OK(cuDestroyExternalSemaphore(semaphore));
    close(event);
}

Test(external, semaphores_that_cannot_be_had_are_refused, .init = make_context)
{
    void *seen;
    int file = make_file(BYTES, &seen);
    int type = CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
    CUexternalSemaphore semaphore;
    CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC wrong = semaphore_of(file, type);
    EXPECT(CRT_NOT_SUPPORTED, cuImportExternalSemaphore(&semaphore, &wrong));
    wrong = semaphore_of(-1, type);
    EXPECT(CRT_INVALID_VALUE, cuImportExternalSemaphore(&semaphore, &wrong));
    wrong = semaphore_of(eventfd(0, 0), CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD);
    EXPECT(CRT_NOT_SUPPORTED, cuImportExternalSemaphore(&semaphore, &wrong));
    for (wrong.type = 2; wrong.type < 12; wrong.type++)
        if (wrong.type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD)
            EXPECT(wrong.type < 11 ? CRT_NOT_SUPPORTED : CRT_INVALID_VALUE,
                   cuImportExternalSemaphore(&semaphore, &wrong));
    semaphore = import_semaphore(eventfd(0, 0), type);
    CUDA_EXTERNAL_SEMAPHORE_PARAMS params = {.flags = 1};
    EXPECT(CRT_INVALID_VALUE, cuWaitExternalSemaphoresAsync(&semaphore, &params, 1, NULL));
    params.flags = 0;
    EXPECT(CRT_INVALID_VALUE, cuWaitExternalSemaphoresAsync(&semaphore, &params, 0, NULL));
    EXPECT(CRT_INVALID_VALUE, cuSignalExternalSemaphoresAsync(&semaphore, NULL, 1, NULL));
    CUstream stream;
    CUgraph graph;
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamBeginCapture_v2(stream, 0));
    EXPECT(CRT_NOT_SUPPORTED, cuSignalExternalSemaphoresAsync(&semaphore, &params, 1, stream));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuDestroyExternalSemaphore(semaphore));
    EXPECT(CRT_INVALID_HANDLE, cuSignalExternalSemaphoresAsync(&semaphore, &params, 1, NULL));
}
