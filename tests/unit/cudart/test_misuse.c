/* SPDX-License-Identifier: Apache-2.0
 *
 * Wrong uses of the driver API give CUDA's error codes, never a crash.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver_fixture.h"

Test(misuse, nothing_works_before_cuInit)
{
    int count;
    CUdeviceptr pointer;
    EXPECT(CRT_NOT_INITIALIZED, cuDeviceGetCount(&count));
    EXPECT(CRT_NOT_INITIALIZED, cuMemAlloc_v2(&pointer, 4));
    EXPECT(CRT_INVALID_VALUE, cuInit(1));
}

Test(misuse, work_without_a_context_is_refused)
{
    CUdeviceptr pointer;
    CUstream stream;
    OK(cuInit(0));
    EXPECT(CRT_INVALID_CONTEXT, cuMemAlloc_v2(&pointer, 4));
    EXPECT(CRT_INVALID_CONTEXT, cuStreamCreate(&stream, 0));
    EXPECT(CRT_INVALID_CONTEXT, cuCtxSynchronize());
    EXPECT(CRT_INVALID_DEVICE, cuDeviceGet(&(CUdevice){0}, 1));
}

Test(misuse, a_forked_child_is_told_and_does_not_hang, .init = make_context)
{
    pid_t child = fork();
    if (child == 0) {
        CUdeviceptr pointer;
        int as_wanted = cuMemAlloc_v2(&pointer, 4) == CRT_NOT_INITIALIZED &&
                        cuInit(0) == CRT_NOT_INITIALIZED &&
                        cuCtxSynchronize() == CRT_NOT_INITIALIZED;
        _exit(as_wanted ? 0 : 1);
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

Test(misuse, bad_allocations_and_frees_are_refused, .init = make_context)
{
    CUdeviceptr pointer;
    EXPECT(CRT_INVALID_VALUE, cuMemAlloc_v2(&pointer, 0));
    EXPECT(CRT_INVALID_VALUE, cuMemAlloc_v2(NULL, 4));
    EXPECT(CRT_OUT_OF_MEMORY, cuMemAlloc_v2(&pointer, SIZE_MAX / 2));
    EXPECT(CRT_SUCCESS, cuMemFree_v2(0));
    EXPECT(CRT_INVALID_VALUE, cuMemFree_v2(0x1234));
    OK(cuMemAlloc_v2(&pointer, 64));
    EXPECT(CRT_INVALID_VALUE, cuMemFree_v2(pointer + 4));
    EXPECT(CRT_SUCCESS, cuMemFree_v2(pointer));
    EXPECT(CRT_INVALID_VALUE, cuMemFree_v2(pointer));
}

Test(misuse, copies_outside_their_allocation_are_refused, .init = make_context)
{
    char host[128] = {0};
    CUdeviceptr pointer;
    OK(cuMemAlloc_v2(&pointer, 64));
    EXPECT(CRT_INVALID_VALUE, cuMemcpyHtoD_v2(pointer, host, 65));
    EXPECT(CRT_INVALID_VALUE, cuMemcpyDtoH_v2(host, pointer + 1, 64));
    EXPECT(CRT_INVALID_VALUE, cuMemcpyHtoD_v2(16, host, 4));
    EXPECT(CRT_INVALID_VALUE, cuMemcpyHtoD_v2(pointer, NULL, 4));
    EXPECT(CRT_INVALID_VALUE, cuMemsetD8_v2(pointer, 0, 65));
    EXPECT(CRT_INVALID_VALUE, cuMemsetD32_v2(pointer + 1, 0, 1));
    EXPECT(CRT_SUCCESS, cuMemcpyHtoD_v2(pointer, host, 0));
    EXPECT(CRT_SUCCESS, cuMemcpyHtoD_v2(pointer, host, 64));
}

Test(misuse, destroyed_handles_are_recognised, .init = make_context)
{
    CUstream stream;
    CUevent event;
    OK(cuStreamCreate(&stream, 0));
    OK(cuEventCreate(&event, 0));
    OK(cuStreamDestroy_v2(stream));
    OK(cuEventDestroy_v2(event));
    EXPECT(CRT_INVALID_HANDLE, cuStreamDestroy_v2(stream));
    EXPECT(CRT_INVALID_HANDLE, cuStreamSynchronize(stream));
    EXPECT(CRT_INVALID_HANDLE, cuEventDestroy_v2(event));
    EXPECT(CRT_INVALID_HANDLE, cuEventRecord(event, NULL));
    EXPECT(CRT_INVALID_HANDLE, cuStreamWaitEvent(NULL, event, 0));
    EXPECT(CRT_INVALID_HANDLE, cuStreamDestroy_v2(CU_STREAM_LEGACY));
    EXPECT(CRT_INVALID_HANDLE, cuModuleUnload((CUmodule)(uintptr_t)8));
}

Test(misuse, elapsed_time_needs_two_recorded_timing_events, .init = make_context)
{
    CUevent timed;
    CUevent untimed;
    float ms;
    OK(cuEventCreate(&timed, 0));
    OK(cuEventCreate(&untimed, 2));
    EXPECT(CRT_INVALID_HANDLE, cuEventElapsedTime(&ms, timed, timed));
    OK(cuEventRecord(timed, NULL));
    OK(cuEventRecord(untimed, NULL));
    OK(cuCtxSynchronize());
    EXPECT(CRT_INVALID_HANDLE, cuEventElapsedTime(&ms, timed, untimed));
    EXPECT(CRT_SUCCESS, cuEventElapsedTime(&ms, timed, timed));
    EXPECT(CRT_INVALID_VALUE, cuEventCreate(&timed, 0x100));
    EXPECT(CRT_INVALID_VALUE, cuStreamCreate(&(CUstream){0}, 8));
}

Test(misuse, images_that_are_none_are_refused, .init = make_context)
{
    CUmodule module;
    CUlibrary library;
    EXPECT(CRT_INVALID_VALUE, cuModuleLoadData(&module, NULL));
    cr_expect_neq(cuModuleLoadData(&module, "this is no PTX"), CRT_SUCCESS);
    EXPECT(CRT_FILE_NOT_FOUND, cuModuleLoad(&module, "/no/such/file.ptx"));
    EXPECT(CRT_INVALID_VALUE, cuLibraryLoadData(&library, NULL, NULL, NULL, 0, NULL, NULL, 0));
}

Test(misuse, jit_errors_reach_the_log_buffer, .init = make_context)
{
    char log[400] = "untouched";
    int options[] = {5, 6};
    void *values[] = {log, (void *)sizeof log};
    CUmodule module;
    EXPECT(CRT_INVALID_PTX,
           cuModuleLoadDataEx(&module, ".version 9.0\n.target sm_75\n.address_size 64\nnonsense\n",
                              2, options, values));
    cr_expect(strstr(log, "error"), "the log says: %s", log);
    cr_expect_eq((size_t)values[1], strlen(log));
}

Test(misuse, pointer_attributes_of_host_memory_are_zeros, .init = make_context)
{
    int local = 0;
    CUcontext ctx = (CUcontext)(uintptr_t)1;
    unsigned type = 9;
    CUdeviceptr device = 9;
    void *host = &local;
    unsigned managed = 0x09090909; /* an int, as the static runtime reads it */
    int ordinal = 9;
    int attributes[] = {1, 2, 3, 4, 8, 9};
    void *values[] = {&ctx, &type, &device, &host, &managed, &ordinal};
    OK(cuPointerGetAttributes(6, attributes, values, (uintptr_t)&local));
    cr_expect_null(ctx);
    cr_expect_eq(type, 0);
    cr_expect_eq(device, 0);
    cr_expect_null(host);
    cr_expect_eq(managed, 0);
    EXPECT(CRT_INVALID_VALUE, cuPointerGetAttribute(&type, 2, (uintptr_t)&local));
}

Test(misuse, unknown_export_tables_are_refused_with_null)
{
    const void *table = &table;
    CUuuid id = {{1, 2, 3}};
    EXPECT(CRT_INVALID_VALUE, cuGetExportTable(&table, &id));
    cr_expect_null(table);
}

Test(misuse, a_context_is_no_peer_of_itself, .init = make_context)
{
    int can = 5;
    CUcontext ctx;
    OK(cuDeviceCanAccessPeer(&can, 0, 0));
    cr_expect_eq(can, 0);
    OK(cuCtxGetCurrent(&ctx));
    EXPECT(CRT_INVALID_CONTEXT, cuCtxEnablePeerAccess(ctx, 0));
    EXPECT(CRT_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(ctx));
}
