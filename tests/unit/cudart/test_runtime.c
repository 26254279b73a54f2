/* SPDX-License-Identifier: Apache-2.0
 *
 * libcudart.so.13 above a fake driver.
 */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <pthread.h>

#include "cudart/runtime/runtime.h"
#include "fake_driver.h"

/* Not declared in exports.h: it is a stub. */
cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(void);

static int wrapper;
static void stub(void)
{
}
static void stub_of_missing_kernel(void)
{
}
static int host_variable;
static void *managed_pointer;

static const struct cuda_dim3 ONE = {1, 1, 1};

static void **register_all(void)
{
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, (const char *)stub, NULL, "known_kernel", -1, NULL, NULL, NULL,
                           NULL, NULL);
    __cudaRegisterFunction(handle, (const char *)stub_of_missing_kernel, NULL, "no_such_kernel", -1,
                           NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(handle, (char *)&host_variable, NULL, "variable", 0, sizeof host_variable, 0,
                      0);
    __cudaRegisterFatBinaryEnd(handle);
    return handle;
}

Test(runtime_errors, names_are_those_of_cuda)
{
    cr_assert_str_eq(cudaGetErrorName(0), "cudaSuccess");
    cr_assert_str_eq(cudaGetErrorName(700), "cudaErrorIllegalAddress");
    cr_assert_str_eq(cudaGetErrorName(209), "cudaErrorNoKernelImageForDevice");
    cr_assert_str_eq(cudaGetErrorString(700), "an illegal memory access was encountered");
    cr_assert_str_eq(cudaGetErrorName(12345), "unrecognized error code");
    cr_assert_str_eq(cudaGetErrorString(-1), "unrecognized error code");
}

static void *last_error_of_thread(void *argument)
{
    (void)argument;
    return (void *)(intptr_t)cudaPeekAtLastError();
}

Test(runtime_errors, last_error_belongs_to_the_thread_and_is_cleared_by_get)
{
    cr_assert_eq(cudaSetDevice(99), cudaErrorInvalidDevice);
    cr_assert_eq(cudaPeekAtLastError(), cudaErrorInvalidDevice);
    pthread_t thread;
    void *other = NULL;
    pthread_create(&thread, NULL, last_error_of_thread, NULL);
    pthread_join(thread, &other);
    cr_assert_null(other);
    cr_assert_eq(cudaGetLastError(), cudaErrorInvalidDevice);
    cr_assert_eq(cudaGetLastError(), cudaSuccess);
}

Test(runtime_errors, failures_of_the_driver_reach_the_caller)
{
    fake.init_result = CRT_NO_DEVICE;
    int count = 5;
    cr_assert_eq(cudaGetDeviceCount(&count), cudaErrorNoDevice);
    cr_assert_eq(count, 0);
    void *memory = NULL;
    cr_assert_eq(cudaMalloc(&memory, 16), cudaErrorNoDevice);
}

Test(runtime_errors, too_small_a_driver_version_is_refused)
{
    fake.version = 12090;
    cr_assert_eq(cudaDeviceSynchronize(), cudaErrorInsufficientDriver);
}

Test(runtime_stubs, a_missing_function_says_so_and_is_not_supported, .init = cr_redirect_stderr)
{
    cr_assert_eq(cudaDeviceFlushGPUDirectRDMAWrites(), cudaErrorNotSupported);
    cr_assert_eq(cudaDeviceFlushGPUDirectRDMAWrites(), cudaErrorNotSupported);
    cr_assert_eq(cudaGetLastError(), cudaErrorNotSupported);
    fflush(stderr);
    cr_assert_stderr_eq_str(
        "ptxrun: warning: cudaDeviceFlushGPUDirectRDMAWrites is not implemented; it returns "
        "cudaErrorNotSupported\n");
}

Test(runtime_devices, properties_come_from_the_attributes_of_the_driver)
{
    struct cudaDeviceProp properties;
    cr_assert_eq(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
    cr_assert_str_eq(properties.name, "fake device");
    cr_assert_eq(properties.uuid[0], 10);
    cr_assert_eq(properties.totalGlobalMem, (size_t)1 << 33);
    cr_assert_eq(properties.warpSize, 10);
    cr_assert_eq(properties.sharedMemPerBlock, 8);
    cr_assert_eq(properties.major, 75);
    cr_assert_eq(properties.minor, 76);
    cr_assert_eq(properties.maxThreadsDim[2], 1024);
    cr_assert_eq(properties.cooperativeLaunch, 95);
    cr_assert_eq(properties.hostNumaMultinodeIpcSupported, 143);
    cr_assert_eq(properties.reserved[0], 0);
    cr_assert_eq(cudaGetDeviceProperties(&properties, 1), cudaErrorInvalidDevice);
}

static void *synchronize_in_thread(void *argument)
{
    (void)argument;
    return (void *)(intptr_t)cudaDeviceSynchronize();
}

Test(runtime_devices, the_primary_context_is_retained_once_for_all_threads)
{
    pthread_t threads[8];
    for (int i = 0; i < 8; i++)
        pthread_create(&threads[i], NULL, synchronize_in_thread, NULL);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    cr_assert_eq(fake.retained, 1);
}

Test(runtime_devices, after_a_reset_the_context_is_retained_anew)
{
    cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
    cr_assert_eq(cudaDeviceReset(), cudaSuccess);
    cr_assert_eq(fake.resets, 1);
    cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
    cr_assert_eq(fake.retained, 2);
}

Test(runtime_launch, configurations_nest)
{
    struct cuda_dim3 grid;
    struct cuda_dim3 block;
    size_t shared_bytes = 0;
    cudaStream_t stream = NULL;
    cr_assert_eq(__cudaPushCallConfiguration((struct cuda_dim3){1, 2, 3}, ONE, 4, NULL), 0);
    cr_assert_eq(__cudaPushCallConfiguration((struct cuda_dim3){5, 6, 7}, ONE, 8, NULL), 0);
    cr_assert_eq(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream), cudaSuccess);
    cr_assert_eq(grid.y, 6);
    cr_assert_eq(shared_bytes, 8);
    cr_assert_eq(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream), cudaSuccess);
    cr_assert_eq(grid.z, 3);
    cr_assert_eq(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream),
                 cudaErrorMissingConfiguration);
}

Test(runtime_launch, a_fat_binary_is_loaded_at_the_first_launch_and_only_once)
{
    register_all();
    cr_assert_eq(fake.loaded, 0);
    void *args[1] = {NULL};
    struct cuda_dim3 grid = {7, 1, 1};
    cr_assert_eq(cudaLaunchKernel(stub, grid, (struct cuda_dim3){32, 2, 1}, args, 48, NULL),
                 cudaSuccess);
    cr_assert_eq(cudaLaunchKernel(stub, grid, ONE, args, 48, NULL), cudaSuccess);
    cr_assert_eq(fake.launches, 2);
    cr_assert_eq(fake.loaded, 1);
    cr_assert_eq(fake.kernels_looked_up, 1);
    cr_assert_eq(fake.grid[0], 7);
    cr_assert_eq(fake.shared_bytes, 48);
    cr_assert_eq(fake.params, args);
}

Test(runtime_launch, a_kernel_handle_works_in_place_of_the_stub)
{
    register_all();
    cudaKernel_t from_compiler = NULL;
    cudaKernel_t from_program = NULL;
    cr_assert_eq(__cudaGetKernel(&from_compiler, stub), cudaSuccess);
    cr_assert_eq(__cudaLaunchKernel(from_compiler, ONE, ONE, NULL, 0, NULL), cudaSuccess);
    cr_assert_eq(cudaGetKernel(&from_program, stub), cudaSuccess);
    cr_assert_eq((void *)from_program, (void *)fake.launched);
    cr_assert_eq(cudaLaunchKernel(from_program, ONE, ONE, NULL, 0, NULL), cudaSuccess);
    cr_assert_eq(fake.launches, 2);
}

Test(runtime_launch, unknown_kernels_are_refused)
{
    register_all();
    static const long not_a_stub[2] = {1, 2};
    cr_assert_eq(cudaLaunchKernel(NULL, ONE, ONE, NULL, 0, NULL), cudaErrorInvalidDeviceFunction);
    cr_assert_eq(cudaLaunchKernel(not_a_stub, ONE, ONE, NULL, 0, NULL),
                 cudaErrorInvalidDeviceFunction);
    cr_assert_eq(cudaLaunchKernel(stub_of_missing_kernel, ONE, ONE, NULL, 0, NULL),
                 cudaErrorInvalidDeviceFunction);
    cr_assert_eq(fake.launches, 0);
}

Test(runtime_launch, a_load_failure_is_the_error_of_the_launch)
{
    register_all();
    fake.load_result = CRT_NO_BINARY_FOR_GPU;
    cudaKernel_t kernel = NULL;
    cr_assert_eq(__cudaGetKernel(&kernel, stub), cudaSuccess);
    cr_assert_eq(__cudaLaunchKernel(kernel, ONE, ONE, NULL, 0, NULL),
                 cudaErrorNoKernelImageForDevice);
    cr_assert_eq(cudaGetLastError(), cudaErrorNoKernelImageForDevice);
}

Test(runtime_launch, impossible_shapes_are_invalid_configurations)
{
    register_all();
    const struct cuda_dim3 bad[] = {{0, 1, 1}, {1025, 1, 1}, {32, 33, 1}, {1, 1, 1025}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cr_assert_eq(cudaLaunchKernel(stub, ONE, bad[i], NULL, 0, NULL),
                     cudaErrorInvalidConfiguration, "shape %zu", i);
    }
    cr_assert_eq(cudaLaunchKernel(stub, bad[0], ONE, NULL, 0, NULL), cudaErrorInvalidConfiguration);
    cr_assert_eq(fake.launches, 0);
}

Test(runtime_launch, per_thread_forms_use_the_threads_own_stream)
{
    register_all();
    cr_assert_eq(cudaLaunchKernel_ptsz(stub, ONE, ONE, NULL, 0, NULL), cudaSuccess);
    cr_assert_eq(fake.stream, CUDA_STREAM_PER_THREAD);
    fake.stream = NULL;
    int value = 0;
    cr_assert_eq(cudaMemcpy_ptds(fake.variable, &value, sizeof value, cudaMemcpyHostToDevice),
                 cudaSuccess);
    cr_assert_eq(fake.stream, CUDA_STREAM_PER_THREAD);
}

Test(runtime_variables, copies_stay_inside_the_variable)
{
    register_all();
    char value[FAKE_VARIABLE_BYTES] = {0};
    cr_assert_eq(cudaMemcpyToSymbol(&host_variable, value, 16, 8, cudaMemcpyHostToDevice),
                 cudaSuccess);
    cr_assert_eq(fake.copy_to, (CUdeviceptr)(uintptr_t)(fake.variable + 8));
    cr_assert_eq(cudaMemcpyToSymbol(&host_variable, value, 16, FAKE_VARIABLE_BYTES - 15,
                                    cudaMemcpyHostToDevice),
                 cudaErrorInvalidValue);
    cr_assert_eq(cudaMemcpyToSymbol(&host_variable, value, SIZE_MAX, 8, cudaMemcpyHostToDevice),
                 cudaErrorInvalidValue);
    cr_assert_eq(cudaMemcpyToSymbol(value, value, 1, 0, cudaMemcpyHostToDevice),
                 cudaErrorInvalidSymbol);
    size_t size = 0;
    cr_assert_eq(cudaGetSymbolSize(&size, &host_variable), cudaSuccess);
    cr_assert_eq(size, FAKE_VARIABLE_BYTES);
}

Test(runtime_variables, managed_variables_are_in_place_before_the_first_context_is_used)
{
    void **handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterManagedVar(handle, &managed_pointer, NULL, "managed", 0, 64, 0, 0);
    cr_assert_eq(cudaDeviceSynchronize(), cudaSuccess);
    cr_assert_eq(managed_pointer, (void *)fake.managed);
    void *address = NULL;
    cr_assert_eq(cudaGetSymbolAddress(&address, &managed_pointer), cudaSuccess);
    cr_assert_eq(address, (void *)fake.managed);
    cr_assert_eq(cudaGetSymbolAddress(&address, fake.managed), cudaSuccess);
}

Test(runtime_registry, an_unloaded_fat_binary_takes_its_kernels_and_variables_with_it)
{
    void **handle = register_all();
    cr_assert_eq(cudaLaunchKernel(stub, ONE, ONE, NULL, 0, NULL), cudaSuccess);
    __cudaUnregisterFatBinary(handle);
    cr_assert_eq(fake.unloaded, 1);
    void *address = NULL;
    cr_assert_eq(cudaGetSymbolAddress(&address, &host_variable), cudaErrorInvalidSymbol);
    register_all();
    cr_assert_eq(cudaLaunchKernel(stub, ONE, ONE, NULL, 0, NULL), cudaSuccess);
    cr_assert_eq(fake.loaded, 2);
}

Test(runtime_memory, a_bad_direction_and_no_bytes_never_reach_the_driver)
{
    char value[4] = {0};
    fake.copy_result = CRT_UNKNOWN;
    cr_assert_eq(cudaMemcpy(value, value, 0, cudaMemcpyHostToDevice), cudaSuccess);
    cr_assert_eq(cudaMemcpy(value, value, 4, (enum cudaMemcpyKind)7),
                 cudaErrorInvalidMemcpyDirection);
    cr_assert_eq(cudaMemcpy(value, value, 4, cudaMemcpyHostToDevice), cudaErrorUnknown);
}
