/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory and semaphores that come as file descriptors, through the runtime API.
 */
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime_fixture.h"

#define BYTES 8192

Test(rt_external, a_stream_waits_for_an_event_and_fills_a_file)
{
    int file = memfd_create("external", 0);
    int event = eventfd(0, 0);
    cr_assert_eq(ftruncate(file, BYTES), 0);
    const unsigned char *seen = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, file, 0);
    cr_assert_neq(seen, MAP_FAILED);
    cudaExternalMemoryHandleDesc whole = {.type = 1, .handle.fd = file, .size = BYTES};
    cudaExternalSemaphoreHandleDesc binary = {.type = 1, .handle.fd = dup(event)};
    cudaExternalMemoryBufferDesc half = {.offset = BYTES / 2, .size = BYTES / 2};
    cudaExternalSemaphoreParams params = {0};
    cudaExternalMemory_t memory;
    cudaExternalSemaphore_t semaphore;
    cudaStream_t stream;
    void *pointer = NULL;
    uint64_t count = 1;
    RT_OK(cudaImportExternalMemory(&memory, &whole));
    RT_OK(cudaImportExternalSemaphore(&semaphore, &binary));
    RT_OK(cudaExternalMemoryGetMappedBuffer(&pointer, memory, &half));
    RT_OK(cudaStreamCreate(&stream));
    RT_OK(cudaWaitExternalSemaphoresAsync(&semaphore, &params, 1, stream));
    RT_OK(cudaMemsetAsync(pointer, 5, BYTES / 2, stream));
    RT_OK(cudaSignalExternalSemaphoresAsync_ptsz(&semaphore, &params, 1, stream));
    RT_OK(cudaWaitExternalSemaphoresAsync_ptsz(&semaphore, &params, 1, stream));
    RT_OK(cudaSignalExternalSemaphoresAsync(&semaphore, &params, 1, stream));
    cr_expect_eq(seen[BYTES / 2], 0);
    cr_assert_eq(write(event, &count, sizeof count), (ssize_t)sizeof count);
    RT_OK(cudaStreamSynchronize(stream));
    cr_assert_eq(read(event, &count, sizeof count), (ssize_t)sizeof count);
    cr_expect_eq(count, 1);
    cr_expect_eq(seen[BYTES / 2 - 1], 0);
    cr_expect_eq(seen[BYTES / 2], 5);
    cr_expect_eq(seen[BYTES - 1], 5);
    RT_OK(cudaFree(pointer));
    RT_OK(cudaDestroyExternalSemaphore(semaphore));
    RT_OK(cudaDestroyExternalMemory(memory));
}
