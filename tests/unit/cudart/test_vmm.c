/* SPDX-License-Identifier: Apache-2.0
 *
 * Virtual memory management: reservations, physical allocations, mappings, access, file
 * descriptors.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "driver_fixture.h"
#include "peer_process.h"
#include "quiet_machine.h"

#define GRANULE ((size_t)2 << 20)

static const char store_ptx[] =
    ".version 9.0\n.target sm_75\n.address_size 64\n"
    ".visible .entry store(.param .u64 out)\n"
    "{\n .reg .b64 %rd<2>;\n ld.param.u64 %rd1, [out];\n"
    " st.global.u32 [%rd1], 77; ret;\n}\n"
    ".visible .entry load(.param .u64 in)\n"
    "{\n .reg .b64 %rd<2>; .reg .b32 %r<2>;\n ld.param.u64 %rd1, [in];\n"
    " ld.volatile.global.u32 %r1, [%rd1]; ret;\n}\n";

static CUmemAllocationProp device_prop(void)
{
    return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {.type = 1, .id = 0}};
}

static CUmemGenericAllocationHandle create(size_t bytes)
{
    CUmemAllocationProp prop = device_prop();
    CUmemGenericAllocationHandle handle = 0;
    OK(cuMemCreate(&handle, bytes, &prop, 0));
    return handle;
}

static CUdeviceptr reserve(size_t bytes)
{
    CUdeviceptr base = 0;
    OK(cuMemAddressReserve(&base, bytes, 0, 0, 0));
    return base;
}

static CUresult grant(CUdeviceptr base, size_t bytes, int flags)
{
    CUmemAccessDesc access = {.location = {.type = 1, .id = 0}, .flags = flags};
    return cuMemSetAccess(base, bytes, &access, 1);
}

/* A reservation of that size, mapped and accessible as a whole. */
static CUdeviceptr map_new(size_t bytes, CUmemGenericAllocationHandle *handle)
{
    *handle = create(bytes);
    CUdeviceptr base = reserve(bytes);
    OK(cuMemMap(base, bytes, 0, *handle, 0));
    OK(grant(base, bytes, 3));
    return base;
}

static CUresult run_kernel(const char *name, CUdeviceptr argument)
{
    CUmodule module;
    CUfunction kernel;
    OK(cuModuleLoadData(&module, store_ptx));
    OK(cuModuleGetFunction(&kernel, module, name));
    void *params[] = {&argument};
    OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    return cuCtxSynchronize();
}

static size_t free_bytes(void)
{
    size_t free_now;
    size_t total;
    ignore_other_processes();
    OK(cuMemGetInfo_v2(&free_now, &total));
    return free_now;
}

Test(vmm, the_granularity_is_a_power_of_two, .init = make_context)
{
    CUmemAllocationProp prop = device_prop();
    size_t minimum = 0;
    size_t recommended = 0;
    OK(cuMemGetAllocationGranularity(&minimum, &prop, 0));
    OK(cuMemGetAllocationGranularity(&recommended, &prop, 1));
    cr_expect_eq(minimum, GRANULE);
    cr_expect_eq(recommended % minimum, 0);
}

Test(vmm, reservations_have_the_alignment_and_the_address_asked_for, .init = make_context)
{
    CUdeviceptr base;
    OK(cuMemAddressReserve(&base, 3 * GRANULE, (size_t)1 << 30, 0, 0));
    cr_expect_eq(base % ((size_t)1 << 30), 0);
    OK(cuMemAddressFree(base, 3 * GRANULE));
    CUdeviceptr again;
    OK(cuMemAddressReserve(&again, 3 * GRANULE, 0, base, 0));
    cr_expect_eq(again, base);
    /* The address is taken: another one comes. */
    CUdeviceptr other;
    OK(cuMemAddressReserve(&other, GRANULE, 0, base, 0));
    cr_expect_neq(other, base);
    OK(cuMemAddressFree(other, GRANULE));
    OK(cuMemAddressFree(again, 3 * GRANULE));
    EXPECT(CRT_INVALID_VALUE, cuMemAddressFree(again, 3 * GRANULE));
}

Test(vmm, more_addresses_than_memory_can_be_reserved, .init = make_context)
{
    CUdeviceptr base;
    OK(cuMemAddressReserve(&base, (size_t)1 << 40, 0, 0, 0));
    OK(cuMemAddressFree(base, (size_t)1 << 40));
}

Test(vmm, mapped_memory_is_zeroed_and_works_in_copies_and_kernels, .init = make_context)
{
    CUmemGenericAllocationHandle handle;
    CUdeviceptr base = map_new(2 * GRANULE, &handle);
    unsigned host[4] = {1, 2, 3, 4};
    OK(cuMemcpyDtoH_v2(host, base + GRANULE, sizeof host));
    for (int i = 0; i < 4; i++)
        cr_expect_eq(host[i], 0);
    OK(run_kernel("store", base + GRANULE));
    OK(cuMemcpyDtoH_v2(host, base + GRANULE, sizeof host));
    cr_expect_eq(host[0], 77);
    OK(cuMemsetD32_v2(base, 5, 2 * GRANULE / 4));
    OK(cuMemcpyDtoH_v2(host, base + 2 * GRANULE - sizeof host, sizeof host));
    cr_expect_eq(host[3], 5);
    OK(cuMemUnmap(base, 2 * GRANULE));
    OK(cuMemRelease(handle));
    OK(cuMemAddressFree(base, 2 * GRANULE));
}

Test(vmm, one_allocation_at_two_addresses_is_the_same_memory, .init = make_context)
{
    CUmemGenericAllocationHandle handle;
    CUdeviceptr first = map_new(2 * GRANULE, &handle);
    CUdeviceptr second = reserve(GRANULE);
    OK(cuMemMap(second, GRANULE, GRANULE, handle, 0)); /* its second half */
    OK(grant(second, GRANULE, 3));
    unsigned value = 0;
    OK(run_kernel("store", first + GRANULE + 64));
    OK(cuMemcpyDtoH_v2(&value, second + 64, sizeof value));
    cr_expect_eq(value, 77);
}

Test(vmm, memory_lives_until_the_last_handle_and_mapping_have_gone, .init = make_context)
{
    size_t before = free_bytes();
    CUmemGenericAllocationHandle handle;
    CUmemGenericAllocationHandle again;
    CUdeviceptr base = map_new(4 * GRANULE, &handle);
    cr_expect_eq(free_bytes(), before - 4 * GRANULE);
    OK(cuMemRelease(handle));
    EXPECT(CRT_INVALID_VALUE, cuMemRelease(handle));
    OK(run_kernel("store", base));
    OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(base + GRANULE + 5)));
    cr_expect_eq(again, handle);
    OK(cuMemUnmap(base, 4 * GRANULE));
    cr_expect_eq(free_bytes(), before - 4 * GRANULE);
    OK(cuMemMap(base, 4 * GRANULE, 0, again, 0));
    OK(grant(base, 4 * GRANULE, 1));
    unsigned value = 0;
    OK(cuMemcpyDtoH_v2(&value, base, sizeof value));
    cr_expect_eq(value, 77);
    OK(cuMemRelease(again));
    OK(cuMemUnmap(base, 4 * GRANULE));
    cr_expect_eq(free_bytes(), before);
    OK(cuMemAddressFree(base, 4 * GRANULE));
}

Test(vmm, more_than_the_device_has_is_out_of_memory)
{
    setenv("PTXRUN_DEVICE_MEMORY", "64M", 1);
    make_context();
    CUmemAllocationProp prop = device_prop();
    CUmemGenericAllocationHandle first;
    CUmemGenericAllocationHandle second;
    OK(cuMemCreate(&first, 40 << 20, &prop, 0));
    EXPECT(CRT_OUT_OF_MEMORY, cuMemCreate(&second, 40 << 20, &prop, 0));
    CUdeviceptr pointer;
    EXPECT(CRT_OUT_OF_MEMORY, cuMemAlloc_v2(&pointer, 40 << 20));
    prop.location.type = 2; /* the host's memory is no device's */
    OK(cuMemCreate(&second, 40 << 20, &prop, 0));
    OK(cuMemRelease(first));
    OK(cuMemAlloc_v2(&pointer, 40 << 20));
}

Test(vmm, a_new_mapping_is_inaccessible, .init = make_context)
{
    CUmemGenericAllocationHandle handle = create(GRANULE);
    CUdeviceptr base = reserve(GRANULE);
    OK(cuMemMap(base, GRANULE, 0, handle, 0));
    CUmemLocation location = {.type = 1, .id = 0};
    unsigned long long flags = 9;
    OK(cuMemGetAccess(&flags, &location, base));
    cr_expect_eq(flags, 0);
    unsigned value = 0;
    EXPECT(CRT_INVALID_VALUE, cuMemcpyDtoH_v2(&value, base, sizeof value));
    EXPECT(CRT_INVALID_VALUE, cuMemcpyHtoD_v2(base, &value, sizeof value));
    EXPECT(CRT_INVALID_VALUE, cuMemsetD8_v2(base, 0, 16));
    EXPECT(CRT_ILLEGAL_ADDRESS, run_kernel("load", base));
}

Test(vmm, read_only_memory_can_be_read_and_not_written, .init = make_context)
{
    CUmemGenericAllocationHandle handle;
    CUdeviceptr base = map_new(GRANULE, &handle);
    OK(run_kernel("store", base));
    OK(grant(base, GRANULE, 1));
    CUmemLocation location = {.type = 1, .id = 0};
    unsigned long long flags = 9;
    OK(cuMemGetAccess(&flags, &location, base + 100));
    cr_expect_eq(flags, 1);
    unsigned value = 0;
    OK(cuMemcpyDtoH_v2(&value, base, sizeof value));
    cr_expect_eq(value, 77);
    EXPECT(CRT_INVALID_VALUE, cuMemcpyHtoD_v2(base, &value, sizeof value));
    OK(run_kernel("load", base));
    EXPECT(CRT_ILLEGAL_ADDRESS, run_kernel("store", base));
}

Test(vmm, a_fault_is_reported_relative_to_the_mapping, .init = make_context)
{
    CUmemGenericAllocationHandle handle;
    CUdeviceptr base = map_new(GRANULE, &handle);
    OK(grant(base, GRANULE, 1));
    FILE *captured = tmpfile();
    int before = dup(STDERR_FILENO);
    dup2(fileno(captured), STDERR_FILENO);
    CUresult result = run_kernel("store", base + 40);
    dup2(before, STDERR_FILENO);
    cr_expect_eq(result, CRT_ILLEGAL_ADDRESS);
    char text[2048] = "";
    rewind(captured);
    text[fread(text, 1, sizeof text - 1, captured)] = '\0';
    cr_expect(strstr(text, "40 bytes inside the mapped memory"), "it says: %s", text);
}

Test(vmm, unmapped_addresses_are_unknown_and_may_be_mapped_again, .init = make_context)
{
    CUmemGenericAllocationHandle handle;
    CUdeviceptr base = map_new(GRANULE, &handle);
    unsigned type = 0;
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, base));
    OK(cuMemUnmap(base, GRANULE));
    EXPECT(CRT_INVALID_VALUE, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, base));
    EXPECT(CRT_INVALID_VALUE, cuMemUnmap(base, GRANULE));
    OK(cuMemMap(base, GRANULE, 0, handle, 0));
    unsigned value = 0;
    EXPECT(CRT_INVALID_VALUE, cuMemcpyDtoH_v2(&value, base, sizeof value));
}

Test(vmm, pointer_attributes_describe_the_mapping, .init = make_context)
{
    CUmemGenericAllocationHandle handle;
    CUdeviceptr base = map_new(2 * GRANULE, &handle);
    unsigned type = 0;
    int ordinal = -1;
    CUdeviceptr start = 0;
    size_t size = 0;
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, base + 8));
    OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, base + 8));
    OK(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, base + 8));
    OK(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, base + 8));
    cr_expect_eq(type, CU_MEMORYTYPE_DEVICE);
    cr_expect_eq(ordinal, 0);
    cr_expect_eq(start, base);
    cr_expect_eq(size, 2 * GRANULE);
    EXPECT(CRT_INVALID_VALUE, cuMemFree_v2(base));
}

/* How a vector grows: one reservation, more and more allocations. */
Test(vmm, copies_go_across_the_borders_of_adjacent_mappings, .init = make_context)
{
    CUdeviceptr base = reserve(4 * GRANULE);
    char *host = malloc(3 * GRANULE);
    char *back = malloc(3 * GRANULE);
    for (size_t i = 0; i < 3 * GRANULE; i++)
        host[i] = (char)(i * 7 >> 5);
    for (int i = 0; i < 3; i++)
        OK(cuMemMap(base + i * GRANULE, GRANULE, 0, create(GRANULE), 0));
    OK(grant(base, 3 * GRANULE, 3));
    OK(cuMemcpyHtoD_v2(base, host, 3 * GRANULE));
    OK(cuMemcpyDtoH_v2(back, base, 3 * GRANULE));
    cr_expect_arr_eq(host, back, 3 * GRANULE);
    OK(cuMemsetD8_v2(base + GRANULE - 8, 1, 16));
    EXPECT(CRT_INVALID_VALUE, cuMemcpyDtoH_v2(back, base + GRANULE, 3 * GRANULE));
    OK(grant(base + GRANULE, GRANULE, 0));
    EXPECT(CRT_INVALID_VALUE, cuMemcpyDtoH_v2(back, base, 3 * GRANULE));
    OK(cuMemUnmap(base, 3 * GRANULE));
    free(host);
    free(back);
}

Test(vmm, host_allocations_are_mapped_for_devices_and_the_host, .init = make_context)
{
    CUmemAllocationProp prop = device_prop();
    prop.location = (CUmemLocation){.type = 3, .id = 0}; /* a NUMA node of the host */
    CUmemGenericAllocationHandle handle;
    OK(cuMemCreate(&handle, GRANULE, &prop, 0));
    CUdeviceptr base = reserve(GRANULE);
    OK(cuMemMap(base, GRANULE, 0, handle, 0));
    CUmemAccessDesc access[2] = {{.location = {.type = 1, .id = 0}, .flags = 1},
                                 {.location = {.type = 3, .id = 0}, .flags = 3}};
    OK(cuMemSetAccess(base, GRANULE, access, 2));
    *(unsigned *)(uintptr_t)base = 5;
    unsigned long long flags = 0;
    OK(cuMemGetAccess(&flags, &access[0].location, base));
    cr_expect_eq(flags, 1);
    OK(cuMemGetAccess(&flags, &access[1].location, base));
    cr_expect_eq(flags, 3);
    OK(run_kernel("load", base));
    CUmemAllocationProp told;
    OK(cuMemGetAllocationPropertiesFromHandle(&told, handle));
    cr_expect_eq(told.location.type, 3);
    unsigned type = 0;
    OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, base));
    cr_expect_eq(type, CU_MEMORYTYPE_HOST);
}

Test(vmm, the_properties_of_a_handle_are_those_it_was_made_with, .init = make_context)
{
    CUmemAllocationProp prop = device_prop();
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemGenericAllocationHandle handle;
    OK(cuMemCreate(&handle, GRANULE, &prop, 0));
    CUmemAllocationProp told;
    OK(cuMemGetAllocationPropertiesFromHandle(&told, handle));
    cr_expect_eq(memcmp(&told, &prop, sizeof prop), 0);
    OK(cuMemRelease(handle));
    EXPECT(CRT_INVALID_VALUE, cuMemGetAllocationPropertiesFromHandle(&told, handle));
}

/* As many handles as an allocator makes for some GiB, under the usual limit on open files. */
Test(vmm, thousands_of_allocations_need_no_descriptors)
{
    enum { COUNT = 3000 };
    setenv("PTXRUN_DEVICE_MEMORY", "16G", 1);
    make_context();
    CUdeviceptr base = reserve(COUNT * GRANULE);
    for (int i = 0; i < COUNT; i++) {
        CUmemGenericAllocationHandle handle = create(GRANULE);
        OK(cuMemMap(base + i * GRANULE, GRANULE, 0, handle, 0));
        OK(cuMemRelease(handle));
    }
    OK(grant(base, COUNT * GRANULE, 3));
    OK(run_kernel("store", base + (COUNT - 1) * GRANULE));
    OK(cuMemUnmap(base, COUNT * GRANULE));
    OK(cuMemAddressFree(base, COUNT * GRANULE));
}

static CUmemGenericAllocationHandle create_shareable(int *file)
{
    CUmemAllocationProp prop = device_prop();
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemGenericAllocationHandle handle;
    OK(cuMemCreate(&handle, 2 * GRANULE, &prop, 0));
    OK(cuMemExportToShareableHandle(file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    return handle;
}

Test(vmm, an_imported_descriptor_is_the_same_memory_and_not_counted_again, .init = make_context)
{
    int file = -1;
    CUmemGenericAllocationHandle handle = create_shareable(&file);
    CUmemGenericAllocationHandle imported;
    size_t before = free_bytes();
    OK(cuMemImportFromShareableHandle(&imported, (void *)(intptr_t)file,
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(file);
    cr_expect_eq(free_bytes(), before);
    CUdeviceptr first = reserve(2 * GRANULE);
    CUdeviceptr second = reserve(2 * GRANULE);
    OK(cuMemMap(first, 2 * GRANULE, 0, handle, 0));
    OK(cuMemMap(second, 2 * GRANULE, 0, imported, 0));
    OK(grant(first, 2 * GRANULE, 3));
    OK(grant(second, 2 * GRANULE, 1));
    OK(run_kernel("store", first + GRANULE));
    unsigned value = 0;
    OK(cuMemcpyDtoH_v2(&value, second + GRANULE, sizeof value));
    cr_expect_eq(value, 77);
}

Test(vmm, descriptors_of_anything_else_are_refused, .init = make_context)
{
    CUmemGenericAllocationHandle handle;
    int files[] = {-1, 999, open("/dev/null", O_RDONLY), memfd_create("other", 0),
                   memfd_create("sealable", MFD_ALLOW_SEALING)};
    cr_assert_eq(ftruncate(files[3], (off_t)(GRANULE + 4096)), 0);
    cr_assert_eq(ftruncate(files[4], (off_t)(GRANULE + 4096)), 0);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        EXPECT(CRT_INVALID_VALUE,
               cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)files[i],
                                              CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
}

Test(vmm, a_shared_descriptor_cannot_be_shrunk, .init = make_context)
{
    int file = -1;
    create_shareable(&file);
    cr_expect_neq(ftruncate(file, 0), 0);
}

static void send_descriptor(int socket, int file)
{
    char control[CMSG_SPACE(sizeof file)] = {0};
    struct iovec data = {.iov_base = "", .iov_len = 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(header), &file, sizeof file);
    cr_assert_eq(sendmsg(socket, &message, 0), 1);
}

static int receive_descriptor(int socket)
{
    char control[CMSG_SPACE(sizeof(int))];
    char byte;
    int file = -1;
    struct iovec data = {.iov_base = &byte, .iov_len = 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    if (recvmsg(socket, &message, 0) == 1 && CMSG_FIRSTHDR(&message))
        memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
    return file;
}

static void import_and_increment(int socket)
{
    CUcontext ctx;
    CUmemGenericAllocationHandle handle;
    CUdeviceptr base;
    CUmemAccessDesc access = {.location = {.type = 1, .id = 0}, .flags = 3};
    PEER_OK(cuInit(0));
    PEER_OK(cuDevicePrimaryCtxRetain(&ctx, 0));
    PEER_OK(cuCtxSetCurrent(ctx));
    int file = receive_descriptor(socket);
    PEER_OK(cuMemImportFromShareableHandle(&handle, (void *)(intptr_t)file,
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    PEER_OK(cuMemAddressReserve(&base, 2 * GRANULE, 0, 0, 0));
    PEER_OK(cuMemMap(base, 2 * GRANULE, 0, handle, 0));
    PEER_OK(cuMemSetAccess(base, 2 * GRANULE, &access, 1));
    unsigned value = 0;
    PEER_OK(cuMemcpyDtoH_v2(&value, base + GRANULE, sizeof value));
    PEER_CHECK(value == 77);
    value++;
    PEER_OK(cuMemcpyHtoD_v2(base + GRANULE, &value, sizeof value));
}

Test(vmm, a_descriptor_shares_memory_with_another_process)
{
    struct peer peer = start_peer(import_and_increment);
    make_context();
    int file = -1;
    CUmemGenericAllocationHandle handle = create_shareable(&file);
    CUdeviceptr base = reserve(2 * GRANULE);
    OK(cuMemMap(base, 2 * GRANULE, 0, handle, 0));
    OK(grant(base, 2 * GRANULE, 3));
    OK(run_kernel("store", base + GRANULE));
    send_descriptor(peer.socket, file);
    expect_peer_succeeds(&peer);
    unsigned value = 0;
    OK(cuMemcpyDtoH_v2(&value, base + GRANULE, sizeof value));
    cr_expect_eq(value, 78);
}

static void *map_many_times(void *arg)
{
    for (int i = 0; i < 200; i++) {
        CUmemGenericAllocationHandle handle;
        CUdeviceptr base = map_new(GRANULE, &handle);
        *(volatile int *)(uintptr_t)base = i;
        OK(cuMemUnmap(base, GRANULE));
        OK(cuMemRelease(handle));
        OK(cuMemAddressFree(base, GRANULE));
    }
    return arg;
}

Test(vmm, threads_may_map_at_the_same_time, .init = make_context)
{
    pthread_t threads[4];
    size_t before = free_bytes();
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, map_many_times, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    cr_expect_eq(free_bytes(), before);
}

Test(vmm, unmapping_waits_for_copies_that_were_accepted, .init = make_context)
{
    CUmemGenericAllocationHandle handle;
    CUstream stream;
    OK(cuStreamCreate(&stream, 1));
    for (int i = 0; i < 20; i++) {
        CUdeviceptr base = map_new(8 * GRANULE, &handle);
        OK(cuMemsetD8Async(base, 1, 8 * GRANULE, stream));
        OK(cuMemcpyDtoDAsync_v2(base, base + 4 * GRANULE, 4 * GRANULE, stream));
        OK(cuMemUnmap(base, 8 * GRANULE));
        OK(cuMemRelease(handle));
        OK(cuMemAddressFree(base, 8 * GRANULE));
    }
}

Test(vmm, devices_have_memory_and_access_of_their_own)
{
    setenv("PTXRUN_DEVICES", "2", 1);
    make_context();
    size_t before = free_bytes();
    CUmemAllocationProp prop = device_prop();
    CUmemGenericAllocationHandle handle;
    prop.location.id = 1;
    OK(cuMemCreate(&handle, GRANULE, &prop, 0));
    cr_expect_eq(free_bytes(), before);
    CUdeviceptr base = reserve(GRANULE);
    OK(cuMemMap(base, GRANULE, 0, handle, 0));
    CUmemAccessDesc access = {.location = {.type = 1, .id = 1}, .flags = 3};
    OK(cuMemSetAccess(base, GRANULE, &access, 1));
    unsigned long long flags[2];
    int ordinal = -1;
    OK(cuMemGetAccess(&flags[0], &(CUmemLocation){.type = 1, .id = 0}, base));
    OK(cuMemGetAccess(&flags[1], &(CUmemLocation){.type = 1, .id = 1}, base));
    OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, base));
    cr_expect_eq(flags[0], 0);
    cr_expect_eq(flags[1], 3);
    cr_expect_eq(ordinal, 1);
    CUcontext second;
    OK(cuCtxCreate_v2(&second, 0, 1));
    size_t with = free_bytes();
    OK(cuMemUnmap(base, GRANULE));
    OK(cuMemRelease(handle));
    cr_expect_eq(free_bytes(), with + GRANULE);
}
