/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtime API's code: what constructors of a program register, kernels as objects, libraries,
 * ways down to the driver, errors.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime_fixture.h"

#define HEAD ".version 9.0\n.target sm_75\n.address_size 64\n"

static const char program_ptx[] =
    HEAD ".visible .global .align 4 .u32 variable = 5;\n"
         ".visible .const .align 4 .u32 constant[4] = {1, 2, 3, 4};\n"
         ".visible .global .attribute(.managed) .align 4 .u32 managed = 9;\n"
         ".visible .entry _Z3addPjj(.param .u64 out, .param .u32 value)\n"
         "{\n .reg .b64 %rd<2>; .reg .b32 %r<4>; .shared .align 4 .b8 room[64];\n"
         " ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [value]; st.shared.u32 [room], %r1;\n"
         " ld.global.u32 %r2, [variable]; add.u32 %r3, %r1, %r2;\n"
         " st.global.u32 [%rd1], %r3; ret;\n}\n"
         ".visible .entry _Z4failv() { .reg .b64 %rd<2>; mov.u64 %rd1, 16;\n"
         " st.global.u32 [%rd1], 1; ret; }\n";

static const struct cuda_dim3 ONE = {1, 1, 1};

static void add_stub(void)
{
}
static void fail_stub(void)
{
}
static void unknown_stub(void)
{
}
static unsigned host_variable;
static unsigned host_constant[4];
static unsigned *host_managed;
static void **program;

/* As the constructor that nvcc makes does. */
static void register_program(void)
{
    program = __cudaRegisterFatBinary((void *)(uintptr_t)program_ptx);
    __cudaRegisterFunction(program, (const char *)add_stub, NULL, "_Z3addPjj", -1, NULL, NULL, NULL,
                           NULL, NULL);
    __cudaRegisterFunction(program, (const char *)fail_stub, NULL, "_Z4failv", -1, NULL, NULL, NULL,
                           NULL, NULL);
    __cudaRegisterFunction(program, (const char *)unknown_stub, NULL, "_Z7unknownv", -1, NULL, NULL,
                           NULL, NULL, NULL);
    __cudaRegisterVar(program, (char *)&host_variable, NULL, "variable", 0, 4, 0, 0);
    __cudaRegisterVar(program, (char *)host_constant, NULL, "constant", 0, 16, 1, 0);
    __cudaRegisterManagedVar(program, (void **)&host_managed, NULL, "managed", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(program);
}

/* As <<<1, 1>>> and the stub do. */
static cudaError_t launch_add(unsigned *out, unsigned value)
{
    struct cuda_dim3 grid;
    struct cuda_dim3 block;
    size_t shared_bytes;
    cudaStream_t stream;
    cudaKernel_t kernel = NULL;
    void *args[] = {&out, &value};
    if (__cudaPushCallConfiguration(ONE, ONE, 0, NULL) != 0)
        return cudaErrorUnknown;
    return __cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream)
               ?: __cudaGetKernel(&kernel, (const void *)add_stub)
               ?: __cudaLaunchKernel(kernel, grid, block, args, shared_bytes, stream);
}

Test(rt_modules, what_a_program_registers_can_be_launched, .init = register_program)
{
    unsigned *out = NULL;
    unsigned value = 0;
    void *args[] = {&out, &value};
    RT_OK(cudaMalloc((void **)&out, 4));
    RT_OK(launch_add(out, 37));
    RT_OK(cudaMemcpy(&value, out, 4, cudaMemcpyDeviceToHost));
    cr_expect_eq(value, 42);
    value = 1;
    RT_OK(cudaLaunchCooperativeKernel((const void *)add_stub, ONE, ONE, args, 0, NULL));
    RT_OK(cudaMemcpy(&value, out, 4, cudaMemcpyDeviceToHost));
    cr_expect_eq(value, 6);
    struct cudaLaunchConfig config = {.gridDim = ONE, .blockDim = ONE};
    RT_OK(cudaLaunchKernelExC(&config, (const void *)add_stub, args));
    RT_OK(cudaMemcpy(&value, out, 4, cudaMemcpyDeviceToHost));
    cr_expect_eq(value, 11);
    RT_EXPECT(cudaErrorInvalidDeviceFunction,
              cudaLaunchKernel((const void *)unknown_stub, ONE, ONE, args, 0, NULL));
    RT_EXPECT(cudaErrorInvalidDeviceFunction, cudaGetLastError());
    __cudaUnregisterFatBinary(program);
    RT_EXPECT(cudaErrorInvalidDeviceFunction,
              cudaLaunchKernel((const void *)add_stub, ONE, ONE, args, 0, NULL));
}

Test(rt_modules, symbols_are_found_by_their_host_addresses, .init = register_program)
{
    unsigned values[4] = {7, 8, 9, 10};
    unsigned value = 0;
    void *address = NULL;
    size_t bytes = 0;
    RT_OK(cudaGetSymbolAddress(&address, &host_variable));
    RT_OK(cudaGetSymbolSize(&bytes, host_constant));
    cr_expect_eq(bytes, 16);
    RT_OK(cudaMemcpy(&value, address, 4, cudaMemcpyDefault));
    cr_expect_eq(value, 5);
    RT_OK(cudaMemcpyToSymbol(host_constant, values, 8, 8, cudaMemcpyHostToDevice));
    RT_OK(cudaMemcpyFromSymbol(values, host_constant, 16, 0, cudaMemcpyDeviceToHost));
    cr_expect(values[0] == 1 && values[1] == 2 && values[2] == 7 && values[3] == 8);
    RT_OK(cudaMemcpyToSymbolAsync(&host_variable, &values[3], 4, 0, cudaMemcpyHostToDevice, NULL));
    RT_OK(cudaMemcpyFromSymbolAsync(&value, &host_variable, 4, 0, cudaMemcpyDeviceToHost, NULL));
    RT_OK(cudaStreamSynchronize(NULL));
    cr_expect_eq(value, 8);
    RT_EXPECT(cudaErrorInvalidSymbol, cudaGetSymbolSize(&bytes, &value));
}

Test(rt_modules, managed_variables_have_their_pointers_once_a_context_exists,
     .init = register_program)
{
    void *address = NULL;
    cr_expect_eq(__cudaInitModule(program), 1);
    cr_assert_not_null(host_managed);
    cr_expect_eq(*host_managed, 9);
    RT_OK(cudaGetSymbolAddress(&address, &host_managed));
    cr_expect_eq(address, (void *)host_managed);
    RT_OK(cudaFree(NULL));
}

Test(rt_modules, a_kernel_is_an_object, .init = register_program)
{
    struct cudaFuncAttributes attributes;
    cudaKernel_t kernel = NULL;
    cudaFunction_t function = NULL;
    const char *name = NULL;
    const void *add = (const void *)add_stub;
    size_t offset = 0;
    size_t bytes = 0;
    int blocks = 0;
    RT_OK(cudaGetKernel(&kernel, add));
    RT_OK(cudaGetFuncBySymbol(&function, add));
    cr_expect(kernel && function);
    RT_OK(cudaFuncGetName(&name, add));
    cr_expect_str_eq(name, "_Z3addPjj");
    RT_OK(cudaFuncGetParamInfo(add, 1, &offset, &bytes));
    cr_expect(offset == 8 && bytes == 4);
    RT_OK(cudaFuncSetAttribute(add, 8 /* most dynamic shared memory */, 2000));
    RT_OK(cudaFuncGetAttributes(&attributes, add));
    cr_expect_eq(attributes.sharedSizeBytes, 64);
    cr_expect_eq(attributes.maxDynamicSharedSizeBytes, 2000);
    RT_OK(cudaKernelSetAttributeForDevice(kernel, 8, 3000, 0));
    RT_OK(cudaFuncGetAttributes(&attributes, kernel));
    cr_expect_eq(attributes.maxDynamicSharedSizeBytes, 3000);
    RT_EXPECT(cudaErrorInvalidDevice, cudaKernelSetAttributeForDevice(kernel, 8, 3000, 99));
    RT_OK(cudaFuncSetCacheConfig(add, 1));
    RT_OK(cudaFuncSetSharedMemConfig(add, 1));
    RT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0));
    cr_expect_gt(blocks, 0);
    RT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, add, 256, 0, 1));
    cr_expect_gt(blocks, 0);
    RT_OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, add, 1, 32));
    cr_expect_gt(bytes, 0);
    RT_EXPECT(cudaErrorInvalidDeviceFunction, cudaGetKernel(&kernel, &host_variable));
}

Test(rt_modules, libraries_are_loaded_at_run_time)
{
    char path[] = "/tmp/ptxrun_library_XXXXXX";
    int fd = mkstemp(path);
    cudaLibrary_t library = NULL;
    cudaLibrary_t second = NULL;
    cudaKernel_t kernel = NULL;
    cudaKernel_t kernels[2] = {NULL, NULL};
    void *address = NULL;
    unsigned *out = NULL;
    unsigned value = 10;
    unsigned count = 0;
    size_t bytes = 0;
    void *args[] = {&out, &value};
    RT_OK(cudaLibraryLoadData(&library, program_ptx, NULL, NULL, 0, NULL, NULL, 0));
    RT_OK(cudaLibraryGetKernelCount(&count, library));
    cr_expect_eq(count, 2);
    RT_OK(cudaLibraryEnumerateKernels(kernels, 2, library));
    cr_expect(kernels[0] && kernels[1]);
    RT_OK(cudaLibraryGetKernel(&kernel, library, "_Z3addPjj"));
    RT_OK(cudaMalloc((void **)&out, 4));
    RT_OK(cudaLaunchKernel(kernel, ONE, ONE, args, 0, NULL));
    RT_OK(cudaMemcpy(&value, out, 4, cudaMemcpyDeviceToHost));
    cr_expect_eq(value, 15);
    RT_OK(cudaLibraryGetGlobal(&address, &bytes, library, "constant"));
    cr_expect_eq(bytes, 16);
    RT_OK(cudaLibraryGetManaged(&address, &bytes, library, "managed"));
    cr_expect_eq(*(unsigned *)address, 9);
    RT_EXPECT(cudaErrorSymbolNotFound, cudaLibraryGetGlobal(&address, &bytes, library, "none"));
    RT_EXPECT(cudaErrorSymbolNotFound,
              cudaLibraryGetUnifiedFunction(&address, library, "_Z3addPjj"));
    RT_OK(cudaLibraryUnload(library));
    RT_EXPECT(cudaErrorInvalidResourceHandle, cudaLibraryUnload(library));

    cr_assert_eq(write(fd, program_ptx, sizeof program_ptx - 1), (ssize_t)sizeof program_ptx - 1);
    close(fd);
    RT_OK(cudaLibraryLoadFromFile(&second, path, NULL, NULL, 0, NULL, NULL, 0));
    RT_OK(cudaLibraryUnload(second));
    unlink(path);
    RT_EXPECT(cudaErrorFileNotFound,
              cudaLibraryLoadFromFile(&second, path, NULL, NULL, 0, NULL, NULL, 0));
}

Test(rt_modules, driver_functions_are_found_by_name_and_version)
{
    void *function = NULL;
    void *newer = NULL;
    void *per_thread = NULL;
    const void *table = NULL;
    CUuuid unknown = {{0}};
    int status = -1;
    RT_OK(cudaGetDriverEntryPoint("cuCtxCreate", &newer, 0, &status));
    cr_expect_eq(status, 0);
    RT_OK(cudaGetDriverEntryPointByVersion("cuCtxCreate", &function, 3020, 0, &status));
    cr_expect_eq(function, api_address("cuCtxCreate_v2"));
    cr_expect_neq(newer, function);
    RT_OK(cudaGetDriverEntryPointByVersion("cuLaunchKernel", &function, 13000, 0, NULL));
    cr_expect_eq(function, api_address("cuLaunchKernel"));
    RT_OK(cudaGetDriverEntryPointByVersion_ptsz("cuLaunchKernel", &per_thread, 13000, 0, NULL));
    cr_expect_eq(per_thread, api_address("cuLaunchKernel_ptsz"));
    RT_OK(cudaGetDriverEntryPoint_ptsz("cuLaunchKernel", &per_thread, 0, NULL));
    cr_expect_eq(per_thread, api_address("cuLaunchKernel_ptsz"));
    RT_OK(cudaGetDriverEntryPoint("cuLaunchKernel", &per_thread, 2, NULL));
    cr_expect_eq(per_thread, api_address("cuLaunchKernel_ptsz"));
    RT_EXPECT(cudaErrorSymbolNotFound,
              cudaGetDriverEntryPointByVersion("cuCtxCreate", &function, 1000, 0, &status));
    cr_expect_eq(status, 2, "it exists in a later version: %d", status);
    RT_EXPECT(cudaErrorSymbolNotFound, cudaGetDriverEntryPoint("cuNoSuch", &function, 0, &status));
    cr_expect_eq(status, 1);
    cr_expect_neq(cudaGetExportTable(&table, &unknown), cudaSuccess);
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    RT_OK(cuGetProcAddress_v2("cuMemAlloc", &function, 13000, 0, &found));
    cr_expect_eq(found, CU_GET_PROC_ADDRESS_SUCCESS);
    cr_expect_eq(function, api_address("cuMemAlloc_v2"));
}

static unsigned heard;
static void hear(void *data, int level, char *message, size_t len)
{
    (void)data, (void)level, (void)message, (void)len;
    heard++;
}

Test(rt_modules, messages_of_the_driver_can_be_had)
{
    cudaLogsCallbackHandle handle = NULL;
    cudaLogIterator at = 0;
    cudaLibrary_t library;
    char text[2000];
    char path[] = "/tmp/ptxrun_logs_XXXXXX";
    size_t size = sizeof text;
    int fd = mkstemp(path);
    close(fd);
    RT_OK(cudaLogsRegisterCallback(hear, NULL, &handle));
    RT_OK(cudaLogsCurrent(&at, 0));
    RT_EXPECT(cudaErrorInvalidPtx,
              cudaLibraryLoadData(&library, HEAD "nonsense", NULL, NULL, 0, NULL, NULL, 0));
    cr_expect_eq(heard, 1);
    cudaLogIterator from = at;
    RT_OK(cudaLogsDumpToMemory(&from, text, &size, 0));
    cr_expect(strstr(text, "nonsense"), "%s", text);
    RT_OK(cudaLogsDumpToFile(&at, path, 0));
    unlink(path);
    RT_OK(cudaLogsUnregisterCallback(handle));
    RT_EXPECT(cudaErrorInvalidValue, cudaLogsUnregisterCallback(handle));
}

Test(rt_modules, what_needs_no_device_answers_at_once)
{
    struct cudaChannelFormatDesc texel = cudaCreateChannelDesc(8, 8, 0, 0, 1);
    cr_expect(texel.x == 8 && texel.y == 8 && texel.z == 0 && texel.f == 1);
    RT_OK(cudaProfilerStart());
    RT_OK(cudaProfilerStop());
}

/* ---- errors ---- */

Test(rt_errors, not_ready_is_an_answer_and_no_error_to_be_remembered)
{
    CUstreamCaptureStatus status;
    cudaEvent_t event = NULL;
    cudaStream_t stream = NULL;
    unsigned *flag = NULL;
    RT_OK(cudaHostAlloc((void **)&flag, 4, 0));
    *flag = 0;
    RT_OK(cudaStreamCreateWithFlags(&stream, 1));
    RT_OK(cudaEventCreate(&event));
    RT_OK(cuStreamIsCapturing(stream, &status));
    RT_OK(cuStreamWaitValue32_v2(stream, (CUdeviceptr)(uintptr_t)flag, 1, 1 /* equal */));
    RT_OK(cudaEventRecord(event, stream));
    RT_EXPECT(cudaErrorNotReady, cudaStreamQuery(stream));
    RT_EXPECT(cudaErrorNotReady, cudaEventQuery(event));
    RT_EXPECT(cudaSuccess, cudaPeekAtLastError());
    __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
    RT_OK(cudaStreamSynchronize(stream));
}

static void make_sticky(void)
{
    register_program();
    RT_OK(cudaLaunchKernel((const void *)fail_stub, ONE, ONE, NULL, 0, NULL));
    RT_EXPECT(cudaErrorIllegalAddress, cudaDeviceSynchronize());
}

/* What the toolkit's own runtime does above the same driver. */
Test(rt_errors, after_a_fault_calls_that_need_the_context_fail_and_others_work, .init = make_sticky)
{
    struct cudaFuncAttributes attributes;
    struct cudaDeviceProp properties;
    void *memory = NULL;
    cudaStream_t stream = NULL;
    cudaEvent_t event = NULL;
    size_t bytes = 0;
    size_t total = 0;
    int count = 0;
    RT_EXPECT(cudaErrorIllegalAddress, cudaPeekAtLastError());
    RT_EXPECT(cudaErrorIllegalAddress, cudaGetLastError());
    RT_EXPECT(cudaSuccess, cudaGetLastError());
    RT_EXPECT(cudaErrorIllegalAddress, cudaMalloc(&memory, 4));
    RT_EXPECT(cudaErrorIllegalAddress, cudaHostAlloc(&memory, 4, 0));
    RT_EXPECT(cudaErrorIllegalAddress, cudaStreamCreate(&stream));
    RT_EXPECT(cudaErrorIllegalAddress, cudaEventCreate(&event));
    RT_EXPECT(cudaErrorIllegalAddress, cudaStreamQuery(NULL));
    RT_EXPECT(cudaErrorIllegalAddress, cudaMemGetInfo(&bytes, &total));
    RT_EXPECT(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    RT_EXPECT(cudaErrorIllegalAddress, cudaFuncGetAttributes(&attributes, (const void *)add_stub));
    RT_EXPECT(cudaErrorIllegalAddress,
              cudaLaunchKernel((const void *)fail_stub, ONE, ONE, NULL, 0, NULL));
    RT_EXPECT(cudaErrorIllegalAddress, cudaDeviceGetLimit(&bytes, 0));
    (void)cudaGetLastError();
    RT_EXPECT(cudaSuccess, cudaGetDeviceCount(&count));
    RT_EXPECT(cudaSuccess, cudaGetDevice(&count));
    RT_EXPECT(cudaSuccess, cudaSetDevice(0));
    RT_EXPECT(cudaSuccess, cudaGetDeviceProperties(&properties, 0));
    RT_EXPECT(cudaSuccess, cudaDriverGetVersion(&count));
    RT_EXPECT(cudaSuccess, cudaRuntimeGetVersion(&count));
    RT_EXPECT(cudaSuccess, cudaGetLastError());
    RT_EXPECT(cudaErrorIllegalAddress, cudaFree(NULL));
    RT_EXPECT(cudaErrorIllegalAddress, cudaFreeHost(&count));
    RT_EXPECT(cudaErrorIllegalAddress, cudaStreamDestroy((cudaStream_t)&count));
    RT_EXPECT(cudaErrorIllegalAddress, cudaEventDestroy((cudaEvent_t)&count));
}

Test(rt_errors, a_reset_makes_the_device_usable_again, .init = make_sticky)
{
    unsigned *out = NULL;
    unsigned value = 1;
    void *args[] = {&out, &value};
    RT_OK(cudaDeviceReset());
    RT_EXPECT(cudaErrorIllegalAddress, cudaGetLastError());
    RT_OK(cudaMalloc((void **)&out, 4));
    RT_OK(cudaLaunchKernel((const void *)add_stub, ONE, ONE, args, 0, NULL));
    RT_OK(cudaMemcpy(&value, out, 4, cudaMemcpyDeviceToHost));
    cr_expect_eq(value, 6);
    RT_EXPECT(cudaSuccess, cudaGetLastError());
}

/* Every code of both APIs has a name and a sentence; both agree about the numbers. */
Test(rt_errors, every_code_has_a_name_and_a_sentence)
{
    static const int codes[] = {
#define CUDA_ERROR_ROW(name, number, text) number,
#include "cudart/core/base/errors.def"
#undef CUDA_ERROR_ROW
    };
    const char *name;
    const char *text;
    int in_both = 0;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        cr_expect(i == 0 || codes[i] > codes[i - 1], "sorted, none twice: %d", codes[i]);
        cr_expect_eq(strncmp(cudaGetErrorName(codes[i]), "cuda", 4), 0);
        cr_expect_gt(strlen(cudaGetErrorString(codes[i])), 5);
        if (cuGetErrorName((CUresult)codes[i], &name) == CRT_SUCCESS) {
            in_both++;
            cr_expect_eq(strncmp(name, "CUDA_", 5), 0);
            RT_OK(cuGetErrorString((CUresult)codes[i], &text));
            cr_expect_str_not_empty(text);
        }
    }
    cr_expect_gt(in_both, 90);
    cr_expect_str_eq(cudaGetErrorName(4321), "unrecognized error code");
    cr_expect_str_eq(cudaGetErrorString(4321), "unrecognized error code");
    RT_EXPECT(cudaErrorInvalidValue, cuGetErrorName((CUresult)4321, &name));
    cr_expect_null(name);
    RT_EXPECT(cudaErrorInvalidValue, cuGetErrorName((CUresult)9, &name));
    RT_OK(cuGetErrorName(CRT_NOT_READY, &name));
    cr_expect_str_eq(name, "CUDA_ERROR_NOT_READY");
}
