/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory and events of another process through the runtime API.
 */
#include "peer_process.h"
#include "runtime_fixture.h"

#define BYTES 50000

/* What the exporter sends: the importer doubles each byte when the event has been reached, and
 * records its own. */
struct shared {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t filled;
    cudaIpcEventHandle_t doubled;
};

static void double_bytes(int socket)
{
    struct shared shared;
    static unsigned char bytes[BYTES];
    void *pointer = NULL;
    cudaEvent_t filled;
    cudaEvent_t doubled;
    cudaStream_t stream;
    PEER_CHECK(hear(socket, &shared, sizeof shared));
    PEER_OK(cudaIpcOpenMemHandle(&pointer, shared.memory, 1));
    PEER_OK(cudaIpcOpenEventHandle(&filled, shared.filled));
    PEER_OK(cudaIpcOpenEventHandle(&doubled, shared.doubled));
    PEER_OK(cudaStreamCreate(&stream));
    PEER_OK(cudaStreamWaitEvent(stream, filled, 0));
    PEER_OK(cudaMemcpyAsync(bytes, pointer, BYTES, cudaMemcpyDeviceToHost, stream));
    PEER_OK(cudaStreamSynchronize(stream));
    for (int i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)(2 * bytes[i]);
    PEER_OK(cudaMemcpyAsync(pointer, bytes, BYTES, cudaMemcpyHostToDevice, stream));
    PEER_OK(cudaEventRecord(doubled, stream));
    signal_peer(socket);
    PEER_CHECK(wait_signal(socket));
    PEER_OK(cudaStreamSynchronize(stream));
    PEER_OK(cudaEventDestroy(filled));
    PEER_OK(cudaEventDestroy(doubled));
    PEER_OK(cudaIpcCloseMemHandle(pointer));
}

Test(rt_ipc, two_processes_take_turns_at_one_piece_of_memory)
{
    struct peer peer = start_peer(double_bytes);
    struct shared shared;
    static unsigned char bytes[BYTES];
    void *pointer = NULL;
    cudaEvent_t filled;
    cudaEvent_t doubled;
    unsigned flags = 2 | 4; /* without timing, interprocess */
    RT_OK(cudaMalloc(&pointer, BYTES));
    RT_OK(cudaEventCreateWithFlags(&filled, flags));
    RT_OK(cudaEventCreateWithFlags(&doubled, flags));
    RT_OK(cudaMemsetAsync(pointer, 21, BYTES, NULL));
    RT_OK(cudaEventRecord(filled, NULL));
    RT_OK(cudaIpcGetMemHandle(&shared.memory, pointer));
    RT_OK(cudaIpcGetEventHandle(&shared.filled, filled));
    RT_OK(cudaIpcGetEventHandle(&shared.doubled, doubled));
    tell(peer.socket, &shared, sizeof shared);
    cr_assert(wait_signal(peer.socket)); /* it has recorded */
    RT_OK(cudaStreamWaitEvent(NULL, doubled, 0));
    RT_OK(cudaMemcpyAsync(bytes, pointer, BYTES, cudaMemcpyDeviceToHost, NULL));
    RT_OK(cudaDeviceSynchronize());
    for (int i = 0; i < BYTES; i++)
        cr_assert_eq(bytes[i], 42, "byte %d: %d", i, bytes[i]);
    signal_peer(peer.socket);
    expect_peer_succeeds(&peer);
    RT_OK(cudaFree(pointer));
}
