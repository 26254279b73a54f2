/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory through the runtime API: allocations, copies of all shapes, fills, managed memory, pools.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime_fixture.h"

#define WIDTH  24 /* in bytes */
#define HEIGHT 4
#define DEPTH  3
#define BYTES  (WIDTH * HEIGHT * DEPTH)
#define PAGE   4096

static void count_up(unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (unsigned char)(i + 1);
}

Test(rt_memory, allocations_of_every_kind_can_be_used_and_freed)
{
    void *device;
    void *managed;
    void *pinned;
    void *other;
    void *mapped;
    unsigned flags;
    size_t free_bytes;
    size_t total_bytes;
    struct cudaPointerAttributes what;
    RT_OK(cudaMalloc(&device, 100));
    RT_OK(cudaMallocManaged(&managed, 100, 1));
    RT_OK(cudaMallocHost(&pinned, 100));
    RT_OK(cudaHostAlloc(&other, 100, 2));
    memset(managed, 1, 100);
    memset(pinned, 1, 100);
    RT_OK(cudaHostGetDevicePointer(&mapped, other, 0));
    RT_OK(cudaHostGetFlags(&flags, other));
    cr_expect_eq(flags & 2, 2);
    RT_OK(cudaPointerGetAttributes(&what, device));
    cr_expect_eq(what.type, cudaMemoryTypeDevice);
    cr_expect_eq(what.device, 0);
    cr_expect_null(what.hostPointer);
    RT_OK(cudaPointerGetAttributes(&what, managed));
    cr_expect_eq(what.type, cudaMemoryTypeManaged);
    RT_OK(cudaPointerGetAttributes(&what, pinned));
    cr_expect_eq(what.type, cudaMemoryTypeHost);
    cr_expect_eq(what.hostPointer, pinned);
    RT_OK(cudaPointerGetAttributes(&what, &flags));
    cr_expect_eq(what.type, cudaMemoryTypeUnregistered);
    RT_OK(cudaMemGetInfo(&free_bytes, &total_bytes));
    cr_expect_lt(free_bytes, total_bytes);
    RT_OK(cudaFree(device));
    RT_OK(cudaFree(managed));
    RT_OK(cudaFree(NULL));
    RT_OK(cudaFreeHost(pinned));
    RT_OK(cudaFreeHost(other));
    RT_EXPECT(cudaErrorInvalidValue, cudaFree(device));
}

Test(rt_memory, registered_memory_can_be_asked_about)
{
    char *memory = malloc(PAGE);
    void *device;
    RT_OK(cudaHostRegister(memory, PAGE, 2));
    RT_OK(cudaHostGetDevicePointer(&device, memory, 0));
    cr_expect_eq(device, (void *)memory);
    RT_OK(cudaHostUnregister(memory));
    RT_EXPECT(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(memory));
    free(memory);
}

/* ---- boxes ---- */

static struct cudaMemcpy3DParms whole_box(enum cudaMemcpyKind kind)
{
    return (struct cudaMemcpy3DParms){.extent = {WIDTH, HEIGHT, DEPTH}, .kind = kind};
}

static struct cudaPitchedPtr host_box(unsigned char *bytes)
{
    return (struct cudaPitchedPtr){bytes, WIDTH, WIDTH, HEIGHT};
}

Test(rt_memory, boxes_go_to_pitched_memory_and_back)
{
    unsigned char in[BYTES];
    unsigned char out[BYTES] = {0};
    struct cudaPitchedPtr device;
    count_up(in, BYTES);
    RT_OK(cudaMalloc3D(&device, (struct cudaExtent){WIDTH, HEIGHT, DEPTH}));
    cr_expect_geq(device.pitch, WIDTH);
    struct cudaMemcpy3DParms to = whole_box(cudaMemcpyHostToDevice);
    to.srcPtr = host_box(in);
    to.dstPtr = device;
    RT_OK(cudaMemcpy3D(&to));
    struct cudaMemcpy3DParms from = whole_box(cudaMemcpyDefault);
    from.srcPtr = device;
    from.dstPtr = host_box(out);
    RT_OK(cudaMemcpy3D(&from));
    cr_expect_arr_eq(out, in, BYTES);

    memset(out, 0, BYTES);
    RT_OK(cudaMemcpy3DAsync_ptsz(&from, NULL));
    RT_OK(cudaStreamSynchronize(CUDA_STREAM_PER_THREAD));
    cr_expect_arr_eq(out, in, BYTES);
    memset(out, 0, BYTES);
    RT_OK(cudaMemcpy3D_ptds(&from));
    cr_expect_arr_eq(out, in, BYTES);

    /* The last two bytes of each row of the last plane. */
    from.srcPos = (struct cudaPos){WIDTH - 2, 0, DEPTH - 1};
    from.extent = (struct cudaExtent){2, HEIGHT, 1};
    RT_OK(cudaMemcpy3DAsync(&from, NULL));
    RT_OK(cudaDeviceSynchronize());
    cr_expect_eq(out[0], in[BYTES - WIDTH * HEIGHT + WIDTH - 2]);
    RT_OK(cudaFree(device.ptr));
}

Test(rt_memory, peer_boxes_are_copied_on_one_device_too)
{
    unsigned char in[BYTES];
    unsigned char out[BYTES] = {0};
    struct cudaPitchedPtr first;
    struct cudaPitchedPtr second;
    struct cudaExtent extent = {WIDTH, HEIGHT, DEPTH};
    count_up(in, BYTES);
    RT_OK(cudaMalloc3D(&first, extent));
    RT_OK(cudaMalloc3D(&second, extent));
    struct cudaMemcpy3DParms to = whole_box(cudaMemcpyHostToDevice);
    to.srcPtr = host_box(in);
    to.dstPtr = first;
    RT_OK(cudaMemcpy3D(&to));
    struct cudaMemcpy3DPeerParms peers = {.srcPtr = first, .dstPtr = second, .extent = extent};
    RT_OK(cudaMemcpy3DPeer(&peers));
    RT_OK(cudaMemcpy3DPeerAsync(&peers, NULL));
    RT_OK(cudaMemcpy3DPeerAsync_ptsz(&peers, NULL));
    RT_OK(cudaMemcpy3DPeer_ptds(&peers));
    struct cudaMemcpy3DParms from = whole_box(cudaMemcpyDeviceToHost);
    from.srcPtr = second;
    from.dstPtr = host_box(out);
    RT_OK(cudaMemcpy3D(&from));
    cr_expect_arr_eq(out, in, BYTES);
    RT_OK(cudaMemcpyPeer(second.ptr, 0, first.ptr, 0, WIDTH));
    RT_OK(cudaMemcpyPeerAsync(second.ptr, 0, first.ptr, 0, WIDTH, NULL));
    RT_EXPECT(cudaErrorInvalidDevice, cudaMemcpyPeer(second.ptr, 99, first.ptr, 0, WIDTH));
}

Test(rt_memory, planes_and_bytes_are_copied_in_every_direction)
{
    unsigned char in[WIDTH * HEIGHT];
    unsigned char out[WIDTH * HEIGHT] = {0};
    unsigned char *device;
    size_t pitch;
    count_up(in, sizeof in);
    RT_OK(cudaMallocPitch((void **)&device, &pitch, WIDTH, HEIGHT));
    RT_OK(cudaMemcpy2D(device, pitch, in, WIDTH, WIDTH, HEIGHT, cudaMemcpyHostToDevice));
    RT_OK(cudaMemcpy2DAsync(out, WIDTH, device, pitch, WIDTH, HEIGHT, cudaMemcpyDefault, NULL));
    RT_OK(cudaDeviceSynchronize());
    cr_expect_arr_eq(out, in, sizeof in);
    memset(out, 0, sizeof out);
    RT_OK(cudaMemcpy2D_ptds(out, WIDTH, device, pitch, WIDTH, HEIGHT, cudaMemcpyDeviceToHost));
    cr_expect_arr_eq(out, in, sizeof in);
    RT_OK(cudaMemcpy2DAsync_ptsz(out, WIDTH, device, pitch, WIDTH, HEIGHT, cudaMemcpyDeviceToHost,
                                 NULL));
    RT_OK(cudaMemcpy(device, in, sizeof in, cudaMemcpyHostToDevice));
    RT_OK(cudaMemcpy(device + pitch, device, WIDTH, cudaMemcpyDeviceToDevice));
    RT_OK(cudaMemcpyAsync(out, device + pitch, WIDTH, cudaMemcpyDeviceToHost, NULL));
    cr_expect_arr_eq(out, in, WIDTH);
    RT_OK(cudaMemcpy_ptds(out, in, WIDTH, cudaMemcpyHostToHost));
    RT_OK(cudaMemcpyAsync_ptsz(out, in, WIDTH, cudaMemcpyDefault, NULL));
    RT_OK(cudaFree(device));
}

Test(rt_memory, fills_reach_what_they_shall_and_no_more)
{
    unsigned char *device;
    unsigned char out[4 * 16];
    struct cudaPitchedPtr box;
    RT_OK(cudaMalloc((void **)&device, sizeof out));
    RT_OK(cudaMemset(device, 0, sizeof out));
    RT_OK(cudaMemset2D(device, 16, 5, 3, 2));
    RT_OK(cudaMemsetAsync(device + 48, 6, 1, NULL));
    RT_OK(cudaMemset2DAsync(device + 50, 4, 7, 1, 2, NULL));
    RT_OK(cudaMemcpy(out, device, sizeof out, cudaMemcpyDeviceToHost));
    cr_expect_eq(out[2], 5);
    cr_expect_eq(out[3], 0);
    cr_expect_eq(out[18], 5);
    cr_expect_eq(out[48], 6);
    cr_expect_eq(out[49], 0);
    cr_expect_eq(out[54], 7);
    RT_OK(cudaMemset_ptds(device, 1, 1));
    RT_OK(cudaMemsetAsync_ptsz(device, 1, 1, NULL));
    RT_OK(cudaMemset2D_ptds(device, 16, 1, 1, 2));
    RT_OK(cudaMemset2DAsync_ptsz(device, 16, 1, 1, 2, NULL));

    struct cudaExtent extent = {4, 2, 2};
    RT_OK(cudaMalloc3D(&box, extent));
    RT_OK(cudaMemset3D(box, 9, extent));
    RT_OK(cudaMemset3DAsync(box, 9, extent, NULL));
    RT_OK(cudaMemset3D_ptds(box, 9, extent));
    RT_OK(cudaMemset3DAsync_ptsz(box, 9, extent, NULL));
    RT_OK(cudaStreamSynchronize(CUDA_STREAM_PER_THREAD));
    RT_OK(cudaMemcpy(out, (char *)box.ptr + 3 * box.pitch, 4, cudaMemcpyDeviceToHost));
    cr_expect_eq(out[3], 9);
}

Test(rt_memory, batches_copy_ranges_and_boxes)
{
    unsigned char in[BYTES];
    unsigned char out[BYTES] = {0};
    unsigned char *device;
    CUstream stream;
    count_up(in, BYTES);
    RT_OK(cudaStreamCreate(&stream));
    RT_OK(cudaMalloc((void **)&device, BYTES));
    void *to[] = {device, device + 10};
    const void *from[] = {in, in + 10};
    size_t sizes[] = {10, BYTES - 10};
    size_t first = 0;
    CUmemcpyAttributes how = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL};
    RT_OK(cudaMemcpyBatchAsync(to, from, sizes, 2, &how, &first, 1, stream));
    RT_OK(cudaMemcpyBatchAsync_ptsz(to, from, sizes, 2, &how, &first, 1, NULL));
    RT_EXPECT(cudaErrorInvalidValue,
              cudaMemcpyBatchAsync(to, from, sizes, 2, &how, &first, 1, NULL));
    CUDA_MEMCPY3D_BATCH_OP box = {.src = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER},
                                  .dst = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER},
                                  .extent = {WIDTH, HEIGHT, DEPTH},
                                  .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    box.src.op.ptr.ptr = (uintptr_t)device;
    box.dst.op.ptr.ptr = (uintptr_t)out;
    RT_OK(cudaMemcpy3DBatchAsync(1, &box, 0, stream));
    RT_OK(cudaStreamSynchronize(stream));
    cr_expect_arr_eq(out, in, BYTES);
    RT_OK(cudaMemcpy3DBatchAsync_ptsz(1, &box, 0, NULL));
}

/* ---- managed memory ---- */

Test(rt_memory, advice_and_prefetches_can_be_asked_for)
{
    CUmemLocation device = {.type = 1, .id = 0};
    char *memory;
    int value = 0;
    int second = 0;
    CUstream stream;
    RT_OK(cudaMallocManaged((void **)&memory, 4 * PAGE, 1));
    RT_OK(cudaStreamCreate(&stream));
    RT_OK(cudaMemAdvise(memory, PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
    RT_OK(cudaMemRangeGetAttribute(&value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory,
                                   PAGE));
    cr_expect_eq(value, 1);
    RT_OK(cudaMemPrefetchAsync(memory, PAGE, device, 0, stream));
    RT_OK(cudaMemPrefetchAsync_ptsz(memory, PAGE, device, 0, NULL));
    void *data[] = {&value, &second};
    size_t sizes[] = {sizeof value, sizeof second};
    int names[] = {CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
                   CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY};
    RT_OK(cudaMemRangeGetAttributes(data, sizes, names, 2, memory, PAGE));
    cr_expect_eq(value, 0);
    cr_expect_eq(second, 1);

    void *ranges[] = {memory, memory + PAGE};
    size_t lengths[] = {PAGE, PAGE};
    size_t first = 0;
    RT_OK(cudaMemPrefetchBatchAsync(ranges, lengths, 2, &device, &first, 1, 0, stream));
    RT_OK(cudaMemPrefetchBatchAsync_ptsz(ranges, lengths, 2, &device, &first, 1, 0, NULL));
    RT_OK(cudaMemDiscardBatchAsync(ranges, lengths, 2, 0, stream));
    RT_OK(cudaMemDiscardBatchAsync_ptsz(ranges, lengths, 2, 0, NULL));
    RT_OK(cudaMemDiscardAndPrefetchBatchAsync(ranges, lengths, 2, &device, &first, 1, 0, stream));
    RT_OK(
        cudaMemDiscardAndPrefetchBatchAsync_ptsz(ranges, lengths, 2, &device, &first, 1, 0, NULL));
    RT_OK(cudaFree(memory));
}

/* ---- pools ---- */

Test(rt_memory, pools_can_be_made_used_and_asked)
{
    CUmemLocation device = {.type = 1, .id = 0};
    CUmemPoolProps like = {.allocType = 1, .location = device};
    CUmemAccessDesc access = {.location = device, .flags = 3};
    cudaMemPool_t pool;
    cudaMemPool_t got;
    cudaMemPool_t first;
    void *memory;
    void *second;
    uint64_t value = UINT64_MAX;
    int flags = 0;
    RT_OK(cudaMemPoolCreate(&pool, &like));
    RT_OK(cudaMemPoolSetAttribute(pool, 4 /* release threshold */, &value));
    RT_OK(cudaMemPoolSetAccess(pool, &access, 1));
    RT_OK(cudaMemPoolGetAccess(&flags, pool, &device));
    cr_expect_eq(flags, 3);
    RT_OK(cudaDeviceGetDefaultMemPool(&first, 0));
    RT_OK(cudaMemGetDefaultMemPool(&got, &device, 1));
    cr_expect_eq(got, first);
    RT_OK(cudaDeviceSetMemPool(0, pool));
    RT_OK(cudaDeviceGetMemPool(&got, 0));
    cr_expect_eq(got, pool);
    RT_OK(cudaMallocAsync(&memory, 1000, NULL));
    RT_OK(cudaMallocFromPoolAsync(&second, 1000, first, NULL));
    RT_OK(cudaMemPoolGetAttribute(pool, 7 /* used */, &value));
    cr_expect_eq(value, 1024);
    RT_OK(cudaFreeAsync(memory, NULL));
    RT_OK(cudaFreeAsync(second, NULL));
    RT_OK(cudaDeviceSynchronize());
    RT_OK(cudaMemPoolTrimTo(pool, 0));
    RT_OK(cudaMemPoolGetAttribute(pool, 5 /* reserved */, &value));
    cr_expect_eq(value, 0);
    RT_OK(cudaMemSetMemPool(&device, 1, first));
    RT_OK(cudaMemGetMemPool(&got, &device, 1));
    cr_expect_eq(got, first);
    RT_OK(cudaMallocAsync_ptsz(&memory, 10, NULL));
    RT_OK(cudaFreeAsync_ptsz(memory, NULL));
    RT_OK(cudaMallocFromPoolAsync_ptsz(&memory, 10, pool, NULL));
    RT_OK(cudaFreeAsync_ptsz(memory, NULL));

    CUmemPoolPtrExportData data;
    int handle;
    RT_EXPECT(cudaErrorInvalidValue, cudaMemPoolExportToShareableHandle(&handle, pool, 1, 0));
    RT_EXPECT(cudaErrorNotSupported, cudaMemPoolImportFromShareableHandle(&got, NULL, 1, 0));
    RT_EXPECT(cudaErrorInvalidValue, cudaMemPoolExportPointer(&data, memory));
    RT_EXPECT(cudaErrorInvalidValue, cudaMemPoolImportPointer(&memory, pool, &data));
    RT_OK(cudaMemPoolDestroy(pool));
}
