/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies and fills of memory: shapes, limits, what is done when a call returns, batches.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "driver_fixture.h"

#define BYTES ((size_t)256 << 10)

static void wait_for_gate(void *arg)
{
    atomic_int *gate = arg;
    while (!atomic_load(gate))
        usleep(1000);
}

static void open_gate_later(void *arg)
{
    usleep(20000);
    atomic_store((atomic_int *)arg, 1);
}

Test(copy, pitched_boxes_keep_what_lies_between_the_rows)
{
    make_context();
    CUdeviceptr device;
    size_t pitch;
    unsigned char in[6 * 4 * 3];
    unsigned char out[6 * 4 * 3] = {0};
    for (size_t i = 0; i < sizeof in; i++)
        in[i] = (unsigned char)(i + 1);
    OK(cuMemAllocPitch_v2(&device, &pitch, 6, 4 * 3, 4));
    OK(cuMemsetD8_v2(device, 0xee, pitch * 12));
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = in,
                          .srcPitch = 6,
                          .srcHeight = 4,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = device,
                          .dstPitch = pitch,
                          .dstHeight = 4,
                          .WidthInBytes = 6,
                          .Height = 4,
                          .Depth = 3};
    OK(cuMemcpy3D_v2(&copy));
    CUDA_MEMCPY3D back = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = device,
                          .srcPitch = pitch,
                          .srcHeight = 4,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = out,
                          .dstPitch = 6,
                          .dstHeight = 4,
                          .WidthInBytes = 6,
                          .Height = 4,
                          .Depth = 3};
    OK(cuMemcpy3D_v2(&back));
    cr_expect_arr_eq(out, in, sizeof in);
    unsigned char between = 0;
    OK(cuMemcpyDtoH_v2(&between, device + 6, 1));
    cr_expect_eq(between, 0xee);
}

Test(copy, pitches_and_ranges_are_checked)
{
    make_context();
    CUdeviceptr device;
    char host[64] = {0};
    OK(cuMemAlloc_v2(&device, 64));
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = host,
                          .srcPitch = 16,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = device,
                          .dstPitch = 16,
                          .WidthInBytes = 16,
                          .Height = 4};
    OK(cuMemcpy2D_v2(&copy));
    copy.dstPitch = 15;
    EXPECT(CRT_INVALID_VALUE, cuMemcpy2D_v2(&copy));
    copy.dstPitch = (size_t)1 << 31;
    EXPECT(CRT_INVALID_VALUE, cuMemcpy2D_v2(&copy));
    copy.dstPitch = 16;
    copy.dstY = 1;
    EXPECT(CRT_INVALID_VALUE, cuMemcpy2D_v2(&copy));
    copy.dstY = 0;
    copy.dstMemoryType = 9;
    EXPECT(CRT_INVALID_VALUE, cuMemcpy2D_v2(&copy));
}

/* "The synchronous memset functions are asynchronous … except when the target is pinned host
 * memory or a Unified Memory region". */
Test(copy, a_synchronous_fill_of_memory_the_host_sees_is_done_when_it_returns)
{
    make_context();
    char *pinned;
    CUdeviceptr managed;
    OK(cuMemHostAlloc((void **)&pinned, 8 * BYTES, 0));
    OK(cuMemsetD8_v2((uintptr_t)pinned, 3, 8 * BYTES));
    cr_expect_eq(pinned[8 * BYTES - 1], 3);
    OK(cuMemAllocManaged(&managed, 8 * BYTES, 1));
    OK(cuMemsetD32_v2(managed, 0x01020304, 2 * BYTES));
    cr_expect_eq(((unsigned *)(uintptr_t)managed)[2 * BYTES - 1], 0x01020304);
}

Test(copy, an_asynchronous_copy_to_pinned_memory_returns_before_the_stream_gets_there)
{
    make_context();
    CUstream stream;
    CUdeviceptr device;
    char *pinned;
    atomic_int gate = 0;
    OK(cuStreamCreate(&stream, 1));
    OK(cuMemAlloc_v2(&device, BYTES));
    OK(cuMemsetD8_v2(device, 5, BYTES));
    OK(cuMemHostAlloc((void **)&pinned, BYTES, 0));
    pinned[0] = 0;
    OK(cuCtxSynchronize());
    OK(cuLaunchHostFunc(stream, wait_for_gate, &gate));
    OK(cuMemcpyDtoHAsync_v2(pinned, device, BYTES, stream));
    cr_expect_eq(((volatile char *)pinned)[0], 0);
    EXPECT(CRT_NOT_READY, cuStreamQuery(stream));
    atomic_store(&gate, 1);
    OK(cuStreamSynchronize(stream));
    cr_expect_eq(pinned[BYTES - 1], 5);
}

Test(copy, pageable_sources_have_been_read_when_the_call_returns)
{
    make_context();
    CUstream stream;
    CUdeviceptr device;
    atomic_int gate = 0;
    char *source = malloc(BYTES);
    char *back = malloc(BYTES);
    memset(source, 1, BYTES);
    OK(cuStreamCreate(&stream, 1));
    OK(cuMemAlloc_v2(&device, BYTES));
    OK(cuLaunchHostFunc(stream, wait_for_gate, &gate));
    OK(cuMemcpyHtoDAsync_v2(device, source, BYTES, stream));
    memset(source, 2, BYTES);
    atomic_store(&gate, 1);
    OK(cuMemcpyDtoHAsync_v2(back, device, BYTES, stream));
    cr_expect_eq(back[0], 1); /* a copy to pageable memory is done when the call returns */
    cr_expect_eq(back[BYTES - 1], 1);
    free(source);
    free(back);
}

Test(copy, batches_copy_each_range)
{
    make_context();
    CUstream stream;
    CUdeviceptr device;
    char in[3][100];
    char out[3][100] = {{0}};
    memset(in, 7, sizeof in);
    in[2][99] = 9;
    OK(cuStreamCreate(&stream, 0));
    OK(cuMemAlloc_v2(&device, 300));
    CUdeviceptr host_in[] = {(uintptr_t)in[0], (uintptr_t)in[1], (uintptr_t)in[2]};
    CUdeviceptr host_out[] = {(uintptr_t)out[0], (uintptr_t)out[1], (uintptr_t)out[2]};
    CUdeviceptr places[] = {device, device + 100, device + 200};
    size_t sizes[] = {100, 100, 100};
    size_t firsts[] = {0, 1};
    CUmemcpyAttributes how[] = {{.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL},
                                {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM}};
    OK(cuMemcpyBatchAsync_v2(places, host_in, sizes, 3, how, firsts, 2, stream));
    OK(cuMemcpyBatchAsync_v2(host_out, places, sizes, 3, how, firsts, 2, stream));
    OK(cuStreamSynchronize(stream));
    cr_expect_arr_eq(out, in, sizeof in);
    memset(out, 0, sizeof out);
    OK(cuMemcpyBatchAsync_v2_ptsz(host_out, places, sizes, 3, how, firsts, 2, 0));
    OK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
    cr_expect_arr_eq(out, in, sizeof in);

    size_t failed = 0;
    sizes[2] = 101;
    EXPECT(CRT_INVALID_VALUE,
           cuMemcpyBatchAsync(places, host_in, sizes, 3, how, firsts, 2, &failed, stream));
    cr_expect_eq(failed, 2);
    EXPECT(CRT_INVALID_VALUE,
           cuMemcpyBatchAsync_ptsz(places, host_in, sizes, 0, how, firsts, 2, &failed, 0));
    cr_expect_eq(failed, SIZE_MAX);
}

/* A source to be read in stream order is not read before the stream gets there. */
Test(copy, batches_read_pageable_sources_in_stream_order_if_asked)
{
    make_context();
    CUstream stream;
    CUdeviceptr device;
    static atomic_int source;
    int got = 0;
    OK(cuStreamCreate(&stream, 1));
    OK(cuMemAlloc_v2(&device, sizeof got));
    OK(cuLaunchHostFunc(stream, open_gate_later, &source));
    CUdeviceptr src = (uintptr_t)&source;
    size_t size = sizeof got;
    size_t first = 0;
    CUmemcpyAttributes how = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    OK(cuMemcpyBatchAsync_v2(&device, &src, &size, 1, &how, &first, 1, stream));
    OK(cuMemcpyDtoHAsync_v2(&got, device, sizeof got, stream));
    OK(cuStreamSynchronize(stream));
    cr_expect_eq(got, 1);
}

Test(copy, peer_copies_wait_for_the_work_of_both_contexts)
{
    make_context();
    CUcontext own;
    CUcontext other;
    CUcontext popped;
    CUstream stream;
    CUdeviceptr src;
    CUdeviceptr dst;
    atomic_int gate = 0;
    unsigned got = 0;
    OK(cuCtxGetCurrent(&own));
    OK(cuMemAlloc_v2(&dst, 4));
    OK(cuCtxCreate_v2(&other, 0, 0));
    OK(cuMemAlloc_v2(&src, 4));
    OK(cuStreamCreate(&stream, 1));
    OK(cuLaunchHostFunc(stream, open_gate_later, &gate));
    OK(cuMemsetD32Async(src, 11, 1, stream));
    OK(cuCtxPopCurrent_v2(&popped));
    OK(cuMemcpyPeer(dst, own, src, other, 4));
    OK(cuMemcpyDtoH_v2(&got, dst, 4));
    cr_expect_eq(got, 11);
    OK(cuMemcpyPeerAsync(dst, own, src, other, 4, 0));
    CUDA_MEMCPY3D_PEER box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                              .srcDevice = src,
                              .srcContext = other,
                              .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                              .dstDevice = dst,
                              .dstContext = own,
                              .WidthInBytes = 4,
                              .Height = 1,
                              .Depth = 1};
    OK(cuMemcpy3DPeer(&box));
    OK(cuMemcpy3DPeerAsync(&box, 0));
    OK(cuMemcpy3DPeer_ptds(&box));
    box.srcContext = NULL;
    EXPECT(CRT_INVALID_CONTEXT, cuMemcpy3DPeer(&box));
    OK(cuCtxDestroy_v2(other));
}

Test(copy, large_copies_arrive_whole)
{
    make_context();
    size_t bytes = ((size_t)40 << 20) + 123;
    unsigned char *in = malloc(bytes);
    unsigned char *out = calloc(1, bytes);
    unsigned char *pinned;
    CUdeviceptr device;
    CUstream stream;
    for (size_t i = 0; i < bytes; i++)
        in[i] = (unsigned char)(i * 2654435761u >> 24);
    OK(cuMemAlloc_v2(&device, bytes));
    OK(cuMemcpyHtoD_v2(device, in, bytes));
    OK(cuMemcpyDtoH_v2(out, device, bytes));
    cr_expect(memcmp(in, out, bytes) == 0);
    OK(cuStreamCreate(&stream, 1));
    OK(cuMemHostAlloc((void **)&pinned, bytes, 0));
    OK(cuMemcpyDtoHAsync_v2(pinned, device, bytes, stream));
    OK(cuStreamSynchronize(stream));
    cr_expect(memcmp(in, pinned, bytes) == 0);
    free(in);
    free(out);
}

/* Rows with gaps, and a destination that begins within the source. */
Test(copy, large_planes_and_overlapping_copies_arrive_whole)
{
    make_context();
    size_t width = 5000;
    size_t rows = 3001;
    size_t pitch;
    unsigned char *in = malloc(width * rows);
    unsigned char *out = calloc(1, width * rows);
    CUdeviceptr device;
    for (size_t i = 0; i < width * rows; i++)
        in[i] = (unsigned char)(i * 2654435761u >> 24);
    OK(cuMemAllocPitch_v2(&device, &pitch, width, rows, 4));
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = in,
                          .srcPitch = width,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = device,
                          .dstPitch = pitch,
                          .WidthInBytes = width,
                          .Height = rows};
    OK(cuMemcpy2D_v2(&copy));
    CUDA_MEMCPY2D back = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = device,
                          .srcPitch = pitch,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = out,
                          .dstPitch = width,
                          .WidthInBytes = width,
                          .Height = rows};
    OK(cuMemcpy2D_v2(&back));
    cr_expect(memcmp(in, out, width * rows) == 0);

    size_t bytes = (size_t)12 << 20;
    OK(cuMemcpyHtoD_v2(device, in, bytes));
    OK(cuMemcpyDtoD_v2(device + 100, device, bytes));
    OK(cuMemcpyDtoH_v2(out, device + 100, bytes));
    cr_expect(memcmp(in, out, bytes) == 0);
    free(in);
    free(out);
}

Test(fill, every_width_fills_rows_and_leaves_the_rest)
{
    make_context();
    CUdeviceptr device;
    unsigned char got[64];
    OK(cuMemAlloc_v2(&device, 64));
    OK(cuMemsetD8_v2(device, 0, 64));
    OK(cuMemsetD2D8_v2(device, 16, 0xaa, 3, 2));
    OK(cuMemsetD2D16_v2(device + 32, 16, 0x1122, 2, 1));
    OK(cuMemsetD2D32_v2(device + 48, 16, 0x33445566, 1, 1));
    OK(cuMemcpyDtoH_v2(got, device, 64));
    cr_expect_eq(got[2], 0xaa);
    cr_expect_eq(got[3], 0);
    cr_expect_eq(got[16], 0xaa);
    cr_expect_eq(got[35], 0x11);
    cr_expect_eq(got[36], 0);
    cr_expect_eq(got[48], 0x66);
    cr_expect_eq(got[52], 0);
    EXPECT(CRT_INVALID_VALUE, cuMemsetD2D32_v2(device + 1, 16, 0, 1, 1));
    EXPECT(CRT_INVALID_VALUE, cuMemsetD8_v2(device, 0, 65));
}

/* ---- in pieces ---- */

enum { LONG_BYTES = (3 << 20) + 5 };

static void expect_count_from(CUdeviceptr memory, unsigned first)
{
    const unsigned char *bytes = (const unsigned char *)(uintptr_t)memory;
    for (size_t i = 0; i < LONG_BYTES; i++)
        cr_assert_eq(bytes[i], (unsigned char)((first + i) % 251), "byte %zu is %d", i, bytes[i]);
}

/* Likewise where what is copied overlaps its target: nobody promises it, and it works. */
Test(pieces, long_copies_are_those_of_each_byte)
{
    make_context();
    CUdeviceptr memory;
    unsigned char *host = malloc(LONG_BYTES);
    for (size_t i = 0; i < LONG_BYTES; i++)
        host[i] = (unsigned char)(i % 251);
    OK(cuMemAlloc_v2(&memory, 2 * LONG_BYTES));
    OK(cuMemcpyHtoD_v2(memory + 3, host, LONG_BYTES));
    expect_count_from(memory + 3, 0);
    OK(cuMemcpyDtoD_v2(memory + 10003, memory + 3, LONG_BYTES));
    OK(cuCtxSynchronize());
    expect_count_from(memory + 10003, 0);
    OK(cuMemcpyDtoD_v2(memory + 1, memory + 10003, LONG_BYTES));
    OK(cuCtxSynchronize());
    expect_count_from(memory + 1, 0);
    memset(host, 0, LONG_BYTES);
    OK(cuMemcpyDtoH_v2(host, memory + 1, LONG_BYTES));
    expect_count_from((CUdeviceptr)(uintptr_t)host, 0);
    OK(cuMemFree_v2(memory));
    free(host);
}

Test(pieces, long_fills_are_those_of_each_element)
{
    make_context();
    CUdeviceptr memory;
    const size_t count = LONG_BYTES / 4;
    OK(cuMemAlloc_v2(&memory, LONG_BYTES));
    OK(cuMemsetD32_v2(memory, 0x01020304, count));
    OK(cuMemsetD16_v2(memory + 4, 0x0506, count / 2 * 2));
    OK(cuCtxSynchronize());
    const uint32_t *words = (const uint32_t *)(uintptr_t)memory;
    for (size_t i = 0; i < count; i++)
        cr_assert_eq(words[i], i >= 1 && i < 1 + count / 2 ? 0x05060506 : 0x01020304,
                     "word %zu is %#x", i, words[i]);
    OK(cuMemFree_v2(memory));
}

/* ---- zeros ---- */

enum { ZERO_PAGES = 4096 };

static size_t resident_of(CUdeviceptr memory, size_t pages)
{
    static unsigned char in_memory[ZERO_PAGES];
    size_t count = 0;
    cr_assert_eq(mincore((void *)(uintptr_t)memory, pages * 4096, in_memory), 0);
    for (size_t i = 0; i < pages; i++)
        count += in_memory[i] & 1;
    return count;
}

static size_t resident_pages(CUdeviceptr memory)
{
    return resident_of(memory, ZERO_PAGES);
}

static void expect_zeros(CUdeviceptr memory, size_t first, size_t last)
{
    const unsigned char *bytes = (const unsigned char *)(uintptr_t)memory;
    for (size_t i = first; i < last; i++)
        cr_assert_eq(bytes[i], 0, "byte %zu is %d", i, bytes[i]);
}

/* Older kernels do not, nor do emulators. */
static bool can_populate(void)
{
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool is_there = madvise(memory, 4096, MADV_POPULATE_WRITE) == 0 &&
                    resident_of((CUdeviceptr)(uintptr_t)memory, 1) == 1;
    munmap(memory, 4096);
    return is_there;
}

/* One call of the system for all pages in place of a fault for each. */
Test(pages, small_allocations_have_them_at_once, .init = make_context)
{
    CUdeviceptr small, large;
    if (!can_populate())
        cr_skip_test("no MADV_POPULATE_WRITE");
    OK(cuMemAlloc_v2(&small, 64 * 4096));
    OK(cuMemAlloc_v2(&large, ZERO_PAGES * (size_t)4096));
    cr_expect_eq(resident_of(small, 64), 64);
    cr_expect_eq(resident_pages(large), 0);
    OK(cuMemFree_v2(large));
    OK(cuMemFree_v2(small));
}

/* A program may clear all that it allocates, and use little of it. */
Test(zeros, memory_never_touched_stays_untouched, .init = make_context)
{
    CUdeviceptr memory;
    CUstream stream;
    const size_t bytes = ZERO_PAGES * (size_t)4096;
    OK(cuStreamCreate(&stream, 1));
    OK(cuMemAlloc_v2(&memory, bytes));
    OK(cuMemsetD8_v2(memory, 0, bytes));
    OK(cuMemsetD16_v2(memory, 0, bytes / 2));
    OK(cuMemsetD32Async(memory, 0, bytes / 4, stream));
    OK(cuMemsetD2D8_v2(memory, 4096, 0, 4096, ZERO_PAGES));
    OK(cuMemsetD2D32_v2(memory, bytes / 4, 0, bytes / 16 - 64, 4));
    OK(cuCtxSynchronize());
    cr_expect_eq(resident_pages(memory), 0);
    OK(cuMemFree_v2(memory));
}

Test(zeros, what_was_written_is_cleared_and_nothing_else_touched, .init = make_context)
{
    static const size_t written[] = {0, 1, 2, 700, 2047, 2048, 2049, 4095};
    CUdeviceptr memory;
    const size_t bytes = ZERO_PAGES * (size_t)4096;
    const size_t count = sizeof written / sizeof written[0];
    OK(cuMemAlloc_v2(&memory, bytes));
    for (size_t i = 0; i < count; i++)
        OK(cuMemsetD8_v2(memory + written[i] * 4096, 0xa5, 4096));
    cr_expect_eq(resident_pages(memory), count);
    /* Not from the first byte, and not to the last. */
    OK(cuMemsetD8_v2(memory + 5, 0, bytes - 12));
    OK(cuCtxSynchronize());
    cr_expect_eq(resident_pages(memory), count);
    for (size_t i = 0; i < count; i++) {
        size_t first = written[i] * 4096;
        expect_zeros(memory, first == 0 ? 5 : first,
                     first + 4096 == bytes ? bytes - 7 : first + 4096);
    }
    const unsigned char *all = (const unsigned char *)(uintptr_t)memory;
    cr_expect_eq(all[4], 0xa5);
    cr_expect_eq(all[bytes - 7], 0xa5);
    OK(cuMemFree_v2(memory));
}

/* Fills of one stream, and of the null stream behind it, happen in their order. */
Test(zeros, fills_keep_their_order, .init = make_context)
{
    CUdeviceptr memory;
    CUstream stream;
    const size_t bytes = ZERO_PAGES * (size_t)4096;
    OK(cuStreamCreate(&stream, 0));
    OK(cuMemAlloc_v2(&memory, bytes));
    for (int round = 0; round < 4; round++) {
        OK(cuMemsetD8Async(memory, 0xff, bytes, stream));
        OK(cuMemsetD32Async(memory, 0, bytes / 4, round % 2 ? NULL : stream));
        OK(cuCtxSynchronize());
        expect_zeros(memory, 0, bytes);
    }
    /* Used again, after it was given back. */
    OK(cuMemFree_v2(memory));
    OK(cuMemAlloc_v2(&memory, bytes));
    expect_zeros(memory, 0, 4096);
}
