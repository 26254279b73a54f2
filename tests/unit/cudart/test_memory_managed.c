/* SPDX-License-Identifier: Apache-2.0
 *
 * Managed memory: advice, prefetches, what can be asked about ranges. And what is known of any
 * pointer.
 */
#include <stdlib.h>
#include <string.h>

#include "driver_fixture.h"

#define PAGE  4096
#define PAGES 8

static const CUmemLocation on_device = {.type = 1, .id = 0};
static const CUmemLocation on_host = {.type = 2};

static CUdeviceptr make_managed(void)
{
    CUdeviceptr memory = 0;
    OK(cuMemAllocManaged(&memory, PAGES * PAGE, 1));
    return memory;
}

static int ask(CUmem_range_attribute attribute, CUdeviceptr memory, size_t bytes)
{
    int value = -77;
    OK(cuMemRangeGetAttribute(&value, sizeof value, attribute, memory, bytes));
    return value;
}

Test(managed, nothing_is_said_of_new_memory)
{
    make_context();
    CUdeviceptr memory = make_managed();
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, PAGE), 0);
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, memory, PAGE), CU_DEVICE_INVALID);
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory, PAGE), CU_DEVICE_INVALID);
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, memory, PAGE),
                 CU_DEVICE_INVALID);
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, memory, PAGE), 0);
}

Test(managed, an_answer_is_what_holds_for_the_whole_range)
{
    make_context();
    CUdeviceptr memory = make_managed();
    OK(cuMemAdvise_v2(memory + PAGE, 2 * PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, on_host));
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory + PAGE, 2 * PAGE), 1);
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory + PAGE + 10, 1), 1);
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, 2 * PAGE), 0);
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory + PAGE, 3 * PAGE), 0);
    OK(cuMemAdvise(memory + PAGE, PAGE, CU_MEM_ADVISE_UNSET_READ_MOSTLY, 0));
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory + PAGE, PAGE), 0);
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory + 2 * PAGE, PAGE), 1);
}

Test(managed, ranges_are_widened_to_pages)
{
    make_context();
    CUdeviceptr memory = make_managed();
    OK(cuMemAdvise(memory + PAGE - 1, 2, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, 2 * PAGE), 1);
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory + 2 * PAGE, PAGE), 0);
}

Test(managed, preferred_locations_are_remembered)
{
    make_context();
    CUdeviceptr memory = make_managed();
    CUmemLocation node = {.type = 3, .id = 0};
    OK(cuMemAdvise(memory, PAGE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 0));
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, memory, PAGE), 0);
    OK(cuMemAdvise(memory, PAGE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_DEVICE_CPU));
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, memory, PAGE), CU_DEVICE_CPU);
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, memory, 2 * PAGE),
                 CU_DEVICE_INVALID);
    OK(cuMemAdvise_v2(memory, PAGE, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, node));
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, memory, PAGE), 3);
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, memory, PAGE), 0);
    OK(cuMemAdvise(memory, PAGE, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, 0));
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, memory, PAGE), CU_DEVICE_INVALID);
}

Test(managed, who_accesses_is_a_list)
{
    make_context();
    CUdeviceptr memory = make_managed();
    int list[3];
    OK(cuMemAdvise_v2(memory, PAGE, CU_MEM_ADVISE_SET_ACCESSED_BY, on_device));
    OK(cuMemAdvise_v2(memory, PAGE, CU_MEM_ADVISE_SET_ACCESSED_BY, on_host));
    OK(cuMemRangeGetAttribute(list, sizeof list, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory, PAGE));
    cr_expect_eq(list[0], 0);
    cr_expect_eq(list[1], CU_DEVICE_CPU);
    cr_expect_eq(list[2], CU_DEVICE_INVALID);
    OK(cuMemAdvise(memory, PAGE, CU_MEM_ADVISE_UNSET_ACCESSED_BY, 0));
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory, PAGE), CU_DEVICE_CPU);
}

Test(managed, the_last_prefetch_is_remembered)
{
    make_context();
    CUdeviceptr memory = make_managed();
    OK(cuMemPrefetchAsync(memory, PAGE, 0, 0));
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, memory, PAGE), 0);
    OK(cuMemPrefetchAsync_v2(memory, PAGE, on_host, 0, 0));
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, memory, PAGE), CU_DEVICE_CPU);
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, memory, PAGE), 2);
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID, memory, PAGE), 0);
    OK(cuMemPrefetchAsync_ptsz(memory, PAGE, 0, 0));
    OK(cuMemPrefetchAsync_v2_ptsz(memory, PAGE, on_device, 0, 0));
}

Test(managed, batches_prefetch_each_range_to_its_place)
{
    make_context();
    CUstream stream;
    CUdeviceptr memory = make_managed();
    CUdeviceptr ranges[] = {memory, memory + PAGE, memory + 2 * PAGE};
    size_t sizes[] = {PAGE, PAGE, PAGE};
    CUmemLocation places[] = {on_device, on_host};
    size_t firsts[] = {0, 2};
    OK(cuStreamCreate(&stream, 0));
    OK(cuMemPrefetchBatchAsync(ranges, sizes, 3, places, firsts, 2, 0, stream));
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, memory, 2 * PAGE), 0);
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, memory + 2 * PAGE, PAGE),
                 CU_DEVICE_CPU);
    OK(cuMemDiscardBatchAsync(ranges, sizes, 3, 0, stream));
    OK(cuMemDiscardAndPrefetchBatchAsync(ranges, sizes, 3, places, firsts, 1, 0, stream));
    cr_expect_eq(ask(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, memory, 3 * PAGE), 0);
    OK(cuMemPrefetchBatchAsync_ptsz(ranges, sizes, 3, places, firsts, 2, 0, 0));
    OK(cuMemDiscardBatchAsync_ptsz(ranges, sizes, 3, 0, 0));
    OK(cuMemDiscardAndPrefetchBatchAsync_ptsz(ranges, sizes, 3, places, firsts, 2, 0, 0));
    firsts[0] = 1;
    EXPECT(CRT_INVALID_VALUE,
           cuMemPrefetchBatchAsync(ranges, sizes, 3, places, firsts, 2, 0, stream));
    EXPECT(CRT_INVALID_VALUE, cuMemDiscardBatchAsync(ranges, sizes, 3, 0, 0));
}

Test(managed, several_attributes_are_answered_at_once)
{
    make_context();
    CUdeviceptr memory = make_managed();
    int read_mostly;
    int accessors[2];
    void *data[] = {&read_mostly, accessors};
    size_t sizes[] = {sizeof read_mostly, sizeof accessors};
    CUmem_range_attribute names[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                     CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY};
    OK(cuMemAdvise(memory, PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
    OK(cuMemRangeGetAttributes(data, sizes, names, 2, memory, PAGE));
    cr_expect_eq(read_mostly, 1);
    cr_expect_eq(accessors[0], CU_DEVICE_INVALID);
}

Test(managed, pageable_memory_may_be_advised_and_prefetched)
{
    make_context();
    char *memory = malloc(3 * PAGE);
    OK(cuMemAdvise((uintptr_t)memory, 3 * PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
    OK(cuMemPrefetchAsync((uintptr_t)memory, 3 * PAGE, 0, 0));
    int value;
    EXPECT(CRT_INVALID_VALUE,
           cuMemRangeGetAttribute(&value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                  (uintptr_t)memory, PAGE));
    EXPECT(CRT_INVALID_VALUE, cuMemPrefetchAsync(PAGE, PAGE, 0, 0)); /* nothing is mapped there */
    free(memory);
}

Test(managed, advice_ends_with_the_memory)
{
    make_context();
    CUdeviceptr memory = make_managed();
    OK(cuMemAdvise(memory, PAGE, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
    OK(cuMemFree_v2(memory));
    int value;
    EXPECT(CRT_INVALID_VALUE,
           cuMemRangeGetAttribute(&value, sizeof value, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory,
                                  PAGE));
}

/* ---- pointers ---- */

static unsigned long long attribute(CUpointer_attribute name, CUdeviceptr pointer)
{
    unsigned long long value = 0;
    OK(cuPointerGetAttribute(&value, name, pointer));
    return value;
}

Test(pointer, attributes_tell_the_kinds_of_memory_apart)
{
    make_context();
    CUcontext ctx;
    CUdeviceptr device;
    CUdeviceptr managed = make_managed();
    void *pinned;
    OK(cuCtxGetCurrent(&ctx));
    OK(cuMemAlloc_v2(&device, 100));
    OK(cuMemHostAlloc(&pinned, 100, 0));
    CUdeviceptr host = (uintptr_t)pinned;

    cr_expect_eq(attribute(CU_POINTER_ATTRIBUTE_CONTEXT, device), (uintptr_t)ctx);
    cr_expect_eq(attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device), CU_MEMORYTYPE_DEVICE);
    cr_expect_eq(attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, managed), CU_MEMORYTYPE_DEVICE);
    cr_expect_eq(attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, host), CU_MEMORYTYPE_HOST);
    cr_expect_eq(attribute(CU_POINTER_ATTRIBUTE_IS_MANAGED, managed), 1);
    cr_expect_eq(attribute(CU_POINTER_ATTRIBUTE_IS_MANAGED, device), 0);
    cr_expect_eq(attribute(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, device + 50), device);
    cr_expect_eq(attribute(CU_POINTER_ATTRIBUTE_RANGE_SIZE, device + 50), 100);
    cr_expect_eq(attribute(CU_POINTER_ATTRIBUTE_DEVICE_POINTER, host + 3), host + 3);
    cr_expect_eq(attribute(CU_POINTER_ATTRIBUTE_HOST_POINTER, managed), managed);
    cr_expect_eq(attribute(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, device), 0);
    cr_expect_eq(attribute(CU_POINTER_ATTRIBUTE_MAPPED, device), 1);
    cr_expect_eq(attribute(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, device), 3);
    cr_expect_neq(attribute(CU_POINTER_ATTRIBUTE_BUFFER_ID, device),
                  attribute(CU_POINTER_ATTRIBUTE_BUFFER_ID, managed));
    unsigned long long value;
    EXPECT(CRT_INVALID_VALUE,
           cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_HOST_POINTER, device));
    EXPECT(CRT_INVALID_VALUE,
           cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_CONTEXT, (uintptr_t)&value));
}

Test(pointer, synchronous_operations_on_a_region_can_be_made_to_synchronise)
{
    make_context();
    CUdeviceptr device;
    unsigned on = 1;
    unsigned off = 0;
    OK(cuMemAlloc_v2(&device, 100));
    cr_expect_eq(attribute(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, device), 0);
    OK(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, device));
    cr_expect_eq(attribute(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, device), 1);
    OK(cuMemsetD8_v2(device, 1, 100));
    EXPECT(CRT_SUCCESS, cuStreamQuery(CU_STREAM_LEGACY));
    OK(cuPointerSetAttribute(&off, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, device));
    cr_expect_eq(attribute(CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, device), 0);
}

Test(pointer, registered_memory_is_the_hosts_until_it_is_unregistered)
{
    make_context();
    char *memory = malloc(PAGE);
    CUdeviceptr device = 0;
    unsigned flags = 0;
    OK(cuMemHostRegister_v2(memory, PAGE, 2 /* mapped */));
    cr_expect_eq(attribute(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (uintptr_t)memory),
                 CU_MEMORYTYPE_HOST);
    OK(cuMemHostGetDevicePointer_v2(&device, memory + 5, 0));
    cr_expect_eq(device, (uintptr_t)memory + 5);
    OK(cuMemHostGetFlags(&flags, memory));
    cr_expect_eq(flags & 2, 2);
    OK(cuMemHostUnregister(memory));
    EXPECT(CRT_INVALID_VALUE, cuMemHostGetDevicePointer_v2(&device, memory, 0));
    free(memory);
}
