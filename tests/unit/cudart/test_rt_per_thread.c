/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtime's forms in which stream 0 is the calling thread's own. While the thread's stream
 * captures, each call with stream 0 makes a node of its graph; in the null stream it would be an
 * error.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "runtime_fixture.h"

#define BYTES 4096

static const char program_ptx[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
                                  ".visible .global .align 4 .b8 variable[64];\n"
                                  ".visible .entry empty() { ret; }\n";

static const struct cuda_dim3 ONE = {1, 1, 1};

static void stub(void)
{
}
static char host_variable[64];

struct things {
    char *a;
    char *b;
    char *managed;
    char *host;
    cudaKernel_t kernel;
    cudaEvent_t event;
    cudaStream_t stream;
    cudaMemPool_t pool;
    struct cudaLaunchConfig config;
    struct cudaMemcpy3DParms box;
    struct cudaMemcpy3DPeerParms peer;
    struct cudaPitchedPtr pitched;
    struct cudaExtent extent;
};

static void make_things(struct things *t)
{
    void **program = __cudaRegisterFatBinary((void *)(uintptr_t)program_ptx);
    __cudaRegisterFunction(program, (const char *)stub, NULL, "empty", -1, NULL, NULL, NULL, NULL,
                           NULL);
    __cudaRegisterVar(program, host_variable, NULL, "variable", 0, 64, 0, 0);
    __cudaRegisterFatBinaryEnd(program);
    *t = (struct things){0};
    RT_OK(cudaMalloc((void **)&t->a, BYTES));
    RT_OK(cudaMalloc((void **)&t->b, BYTES));
    RT_OK(cudaMallocManaged((void **)&t->managed, BYTES, 1));
    RT_OK(cudaMallocHost((void **)&t->host, BYTES));
    RT_OK(cudaMemset(t->a, 1, BYTES));
    RT_OK(cudaEventCreateWithFlags(&t->event, 0));
    RT_OK(cudaStreamCreateWithFlags(&t->stream, 1));
    RT_OK(cudaDeviceGetDefaultMemPool(&t->pool, 0));
    RT_OK(__cudaGetKernel(&t->kernel, (const void *)stub));
    /* Loaded beforehand: loading is no operation of a stream. */
    RT_OK(cudaLaunchKernel((const void *)stub, ONE, ONE, NULL, 0, NULL));
    RT_OK(cudaDeviceSynchronize());
    t->config = (struct cudaLaunchConfig){.gridDim = ONE, .blockDim = ONE};
    t->extent = (struct cudaExtent){16, 2, 2};
    t->pitched = (struct cudaPitchedPtr){t->b, 64, 64, 2};
    t->box.srcPtr = (struct cudaPitchedPtr){t->a, 64, 64, 2};
    t->box.dstPtr = t->pitched;
    t->box.extent = t->extent;
    t->box.kind = cudaMemcpyDeviceToDevice;
    t->peer.srcPtr = t->box.srcPtr;
    t->peer.dstPtr = t->pitched;
    t->peer.extent = t->extent;
}

static void host_function(void *arg)
{
    (void)arg;
}

static void callback(cudaStream_t stream, CUresult result, void *arg)
{
    (void)stream;
    (void)result;
    (void)arg;
}

/* ROW(call, nodes): how many nodes the call makes. */
#define ROWS                                                                                       \
    ROW(cudaLaunchKernel_ptsz((const void *)stub, ONE, ONE, NULL, 0, NULL), 1)                     \
    ROW(__cudaLaunchKernel_ptsz(t->kernel, ONE, ONE, NULL, 0, NULL), 1)                            \
    ROW(cudaLaunchCooperativeKernel_ptsz((const void *)stub, ONE, ONE, NULL, 0, NULL), 1)          \
    ROW(cudaLaunchKernelExC_ptsz(&t->config, (const void *)stub, NULL), 1)                         \
    ROW(cudaLaunchHostFunc_ptsz(NULL, host_function, NULL), 1)                                     \
    ROW(cudaMemcpyAsync_ptsz(t->b, t->a, 64, cudaMemcpyDeviceToDevice, NULL), 1)                   \
    ROW(cudaMemcpy2DAsync_ptsz(t->b, 64, t->a, 64, 16, 2, cudaMemcpyDeviceToDevice, NULL), 1)      \
    ROW(cudaMemcpy3DAsync_ptsz(&t->box, NULL), 1)                                                  \
    ROW(cudaMemcpy3DPeerAsync_ptsz(&t->peer, NULL), 1)                                             \
    ROW(cudaMemcpyToSymbolAsync_ptsz(host_variable, t->a, 8, 8, cudaMemcpyDeviceToDevice, NULL),   \
        1)                                                                                         \
    ROW(cudaMemcpyFromSymbolAsync_ptsz(t->b, host_variable, 8, 8, cudaMemcpyDeviceToDevice, NULL), \
        1)                                                                                         \
    ROW(cudaMemsetAsync_ptsz(t->b, 1, 64, NULL), 1)                                                \
    ROW(cudaMemset2DAsync_ptsz(t->b, 64, 1, 16, 2, NULL), 1)                                       \
    ROW(cudaMemset3DAsync_ptsz(t->pitched, 1, (struct cudaExtent){16, 2, 1}, NULL), 1)             \
    ROW(cudaStreamIsCapturing_ptsz(NULL, &status), 0)

Test(rt_per_thread, calls_go_into_the_stream_of_the_thread)
{
    struct things things;
    struct things *t = &things;
    CUstreamCaptureStatus status;
    make_things(t);
#define ROW(call, nodes)                                                                           \
    {                                                                                              \
        CUgraph graph = NULL;                                                                      \
        size_t count = 99;                                                                         \
        RT_OK(cudaStreamBeginCapture_ptsz(NULL, 2 /* relaxed */));                                 \
        RT_EXPECT(cudaSuccess, call);                                                              \
        RT_EXPECT(cudaSuccess, cudaStreamEndCapture_ptsz(NULL, &graph));                           \
        cr_assert_not_null(graph, "%s", #call);                                                    \
        RT_OK(cuGraphGetNodes(graph, NULL, &count));                                               \
        cr_expect_eq(count, (size_t)(nodes), "%s made %zu nodes", #call, count);                   \
        RT_OK(cuGraphDestroy(graph));                                                              \
    }
    ROWS
#undef ROW
}

Test(rt_per_thread, what_cannot_be_captured_runs_in_the_stream_of_the_thread)
{
    struct things things;
    struct things *t = &things;
    char *first = NULL;
    char *second = NULL;
    make_things(t);
    RT_OK(cudaMallocAsync_ptsz((void **)&first, 64, NULL));
    RT_OK(cudaMallocFromPoolAsync_ptsz((void **)&second, 64, t->pool, NULL));
    RT_OK(cudaMemsetAsync_ptsz(first, 3, 64, NULL));
    RT_OK(cudaMemcpyAsync_ptsz(second, first, 64, cudaMemcpyDefault, NULL));
    RT_OK(cudaMemcpyAsync_ptsz(t->host, second, 64, cudaMemcpyDefault, NULL));
    RT_OK(cudaFreeAsync_ptsz(first, NULL));
    RT_OK(cudaFreeAsync_ptsz(second, NULL));
    RT_OK(cudaStreamAddCallback_ptsz(NULL, callback, NULL, 0));
    RT_OK(cudaStreamAttachMemAsync_ptsz(NULL, t->managed, 0, 4));
    RT_OK(cudaStreamAttachMemAsync(t->stream, t->managed, 0, 4));
    RT_OK(cudaMemPrefetchAsync_ptsz(t->managed, BYTES, (CUmemLocation){1, 0}, 0, NULL));
    RT_OK(cudaEventRecord_ptsz(t->event, NULL));
    RT_OK(cudaEventRecordWithFlags_ptsz(t->event, NULL, 0));
    RT_OK(cudaStreamWaitEvent_ptsz(NULL, t->event, 0));
    RT_OK(cudaStreamSynchronize_ptsz(NULL));
    RT_OK(cudaStreamQuery_ptsz(NULL));
    cr_expect(t->host[0] == 3 && t->host[63] == 3);
}

Test(rt_per_thread, questions_are_about_the_stream_of_the_thread)
{
    struct things things;
    unsigned long long id = 0;
    unsigned long long own_id = 1;
    unsigned flags = 99;
    int priority = 99;
    int device = 99;
    make_things(&things);
    RT_OK(cudaStreamGetId_ptsz(NULL, &id));
    RT_OK(cudaStreamGetId(CUDA_STREAM_PER_THREAD, &own_id));
    cr_expect_eq(id, own_id);
    RT_OK(cudaStreamGetId(NULL, &own_id));
    cr_expect_neq(id, own_id);
    RT_OK(cudaStreamGetFlags_ptsz(NULL, &flags));
    cr_expect_neq(flags, 99);
    RT_OK(cudaStreamGetPriority_ptsz(NULL, &priority));
    cr_expect_eq(priority, 0);
    RT_OK(cudaStreamGetDevice_ptsz(NULL, &device));
    cr_expect_eq(device, 0);
}

static int byte_at(const char *address)
{
    char value = 0;
    RT_OK(cudaMemcpy_ptds(&value, address, 1, cudaMemcpyDeviceToHost));
    return value;
}

Test(rt_per_thread, copies_and_fills_that_wait_have_finished)
{
    struct things things;
    struct things *t = &things;
    char values[16] = {0};
    make_things(t);
    RT_OK(cudaMemset_ptds(t->a, 2, BYTES));
    RT_OK(cudaMemcpy2D_ptds(t->b, 64, t->a, 64, 16, 2, cudaMemcpyDeviceToDevice));
    cr_expect_eq(byte_at(t->b + 64 + 15), 2);
    RT_OK(cudaMemset_ptds(t->a, 3, BYTES));
    RT_OK(cudaMemcpy3D_ptds(&t->box));
    cr_expect_eq(byte_at(t->b + 3 * 64 + 15), 3);
    RT_OK(cudaMemset_ptds(t->a, 4, BYTES));
    RT_OK(cudaMemcpy3DPeer_ptds(&t->peer));
    cr_expect_eq(byte_at(t->b + 3 * 64 + 15), 4);
    RT_OK(cudaMemset2D_ptds(t->b, 64, 5, 16, 2));
    cr_expect_eq(byte_at(t->b + 64 + 15), 5);
    RT_OK(cudaMemset3D_ptds(t->pitched, 6, t->extent));
    cr_expect_eq(byte_at(t->b + 3 * 64 + 15), 6);
    RT_OK(cudaMemcpyToSymbol_ptds(host_variable, "abcd", 4, 8, cudaMemcpyHostToDevice));
    RT_OK(cudaMemcpyFromSymbol_ptds(values, host_variable, 16, 0, cudaMemcpyDeviceToHost));
    cr_expect_arr_eq(values + 8, "abcd", 4);
}
