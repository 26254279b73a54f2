/* SPDX-License-Identifier: Apache-2.0
 *
 * Several devices: how they are told apart, what each has of its own, what they share.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "driver_fixture.h"
#include "quiet_machine.h"

#define DEVICES 3

static void start(const char *devices, const char *visible)
{
    setenv("PTXRUN_DEVICES", devices, 1);
    if (visible)
        setenv("CUDA_VISIBLE_DEVICES", visible, 1);
    else
        unsetenv("CUDA_VISIBLE_DEVICES");
}

static void make_devices(void)
{
    start("3", NULL);
    make_context();
}

static int attribute_of(CUdevice device, int number)
{
    int value = -1;
    OK(cuDeviceGetAttribute(&value, number, device));
    return value;
}

Test(devices, there_are_as_many_as_the_option_says)
{
    int count = 0;
    start("16", NULL);
    OK(cuInit(0));
    OK(cuDeviceGetCount(&count));
    cr_expect_eq(count, 16);
    CUdevice device;
    OK(cuDeviceGet(&device, 15));
    EXPECT(CRT_INVALID_DEVICE, cuDeviceGet(&device, 16));
    EXPECT(CRT_INVALID_DEVICE, cuDeviceGet(&device, -1));
}

Test(devices, each_has_a_uuid_a_bus_id_and_a_luid_of_its_own, .init = make_devices)
{
    CUuuid uuid[DEVICES];
    char bus[DEVICES][32];
    char luid[DEVICES][8];
    for (int i = 0; i < DEVICES; i++) {
        CUuuid same;
        unsigned mask = 0;
        OK(cuDeviceGetUuid_v2(&uuid[i], i));
        OK(cuDeviceGetUuid(&same, i));
        cr_expect_arr_eq(&same, &uuid[i], sizeof same);
        OK(cuDeviceGetPCIBusId(bus[i], sizeof bus[i], i));
        OK(cuDeviceGetLuid(luid[i], &mask, i));
        cr_expect_eq(mask, 1);
        for (int j = 0; j < i; j++) {
            cr_expect_neq(memcmp(&uuid[i], &uuid[j], sizeof uuid[i]), 0);
            cr_expect_neq(strcmp(bus[i], bus[j]), 0);
            cr_expect_neq(memcmp(luid[i], luid[j], sizeof luid[i]), 0);
        }
        CUdevice found = -1;
        OK(cuDeviceGetByPCIBusId(&found, bus[i]));
        cr_expect_eq(found, i);
        cr_expect_eq(attribute_of(i, 33), i + 1);
    }
}

/* Every number up to the highest that CUDA 13.0 has; a younger runtime may ask for more. */
Test(devices, all_attributes_are_known_and_the_same_for_all_devices, .init = make_devices)
{
    const int bus = 33;
    int value;
    for (int number = 1; number <= 160; number++)
        for (int i = 1; i < DEVICES && number != bus; i++)
            cr_expect_eq(attribute_of(i, number), attribute_of(0, number), "%d", number);
    EXPECT(CRT_INVALID_VALUE, cuDeviceGetAttribute(&value, 0, 0));
    EXPECT(CRT_INVALID_VALUE, cuDeviceGetAttribute(&value, -5, 0));
}

Test(devices, old_properties_are_the_attributes, .init = make_devices)
{
    CUdevprop properties;
    OK(cuDeviceGetProperties(&properties, 1));
    cr_expect_eq(properties.maxThreadsPerBlock, attribute_of(1, 1));
    cr_expect_eq(properties.maxGridSize[1], attribute_of(1, 6));
    cr_expect_eq(properties.sharedMemPerBlock, attribute_of(1, 8));
    cr_expect_eq(properties.SIMDWidth, 32);
    cr_expect_eq(properties.clockRate, attribute_of(1, 13));
}

Test(devices, the_memory_is_shared_out)
{
    size_t one = 0;
    size_t other = 0;
    start("2", NULL);
    OK(cuInit(0));
    OK(cuDeviceTotalMem_v2(&one, 0));
    OK(cuDeviceTotalMem_v2(&other, 1));
    cr_expect_eq(one, other);
    cr_expect_leq(one, (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / 2);
}

static void use_device(CUdevice device)
{
    CUcontext ctx;
    OK(cuDevicePrimaryCtxRetain(&ctx, device));
    OK(cuCtxSetCurrent(ctx));
}

static size_t free_bytes(void)
{
    size_t available = 0;
    size_t total = 0;
    ignore_other_processes();
    OK(cuMemGetInfo_v2(&available, &total));
    return available;
}

Test(devices, allocations_count_for_the_device_of_their_context)
{
    const size_t bytes = 8 << 20;
    CUdeviceptr pointer;
    start("2", NULL);
    setenv("PTXRUN_DEVICE_MEMORY", "64M", 1);
    make_context();
    use_device(1);
    size_t before = free_bytes();
    OK(cuMemAlloc_v2(&pointer, bytes));
    cr_expect_eq(free_bytes(), before - bytes);
    use_device(0);
    cr_expect_eq(free_bytes(), before);
    /* One device is full, the other is not. */
    CUdeviceptr large;
    OK(cuMemAlloc_v2(&large, before));
    EXPECT(CRT_OUT_OF_MEMORY, cuMemAlloc_v2(&large, 1));
    use_device(1);
    OK(cuMemAlloc_v2(&large, bytes));
    OK(cuMemFree_v2(pointer));
}

Test(devices, a_pointer_knows_its_device, .init = make_devices)
{
    for (int i = 0; i < DEVICES; i++) {
        CUdeviceptr pointer;
        int ordinal = -1;
        use_device(i);
        OK(cuMemAlloc_v2(&pointer, 64));
        OK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer));
        cr_expect_eq(ordinal, i);
    }
}

Test(devices, a_context_knows_its_device, .init = make_devices)
{
    for (int i = 0; i < DEVICES; i++) {
        CUcontext ctx;
        CUdevice device = -1;
        OK(cuCtxCreate_v2(&ctx, 0, i));
        OK(cuCtxGetDevice(&device));
        cr_expect_eq(device, i);
        OK(cuCtxDestroy_v2(ctx));
        OK(cuDevicePrimaryCtxRetain(&ctx, i));
        OK(cuCtxGetDevice_v2(&device, ctx));
        cr_expect_eq(device, i);
    }
}

/* ---- CUDA_VISIBLE_DEVICES ---- */

/* The numbers of what is seen, by PCI bus, as in "2 0 "; "" when cuInit finds no device. */
static const char *seen(const char *visible)
{
    static char text[128];
    int count = 0;
    start("4", visible);
    text[0] = '\0';
    CUresult result = cuInit(0);
    if (result != CRT_SUCCESS) {
        cr_expect_eq(result, CRT_NO_DEVICE);
        return text;
    }
    OK(cuDeviceGetCount(&count));
    for (int i = 0; i < count; i++)
        sprintf(text + strlen(text), "%d ", attribute_of(i, 33) - 1);
    return text;
}

#define VISIBLE(name, list, wanted)                                                                \
    Test(visible, name)                                                                            \
    {                                                                                              \
        cr_expect_str_eq(seen(list), wanted);                                                      \
    }

VISIBLE(all_without_the_variable, NULL, "0 1 2 3 ")
VISIBLE(none_when_it_is_empty, "", "")
VISIBLE(one_number, "2", "2 ")
VISIBLE(in_the_order_of_the_list, "3,1,0", "3 1 0 ")
VISIBLE(blanks_do_not_matter, " 1 , 2 ", "1 2 ")
VISIBLE(the_list_ends_at_a_number_that_does_not_exist, "1,7,2", "1 ")
VISIBLE(the_list_ends_at_minus_one, "0,-1,2", "0 ")
VISIBLE(none_after_nonsense, "NoDevFiles", "")
VISIBLE(none_when_one_is_named_twice, "1,1", "")
VISIBLE(a_uuid, "GPU-70747872-756e-4350-552d-736d37350003", "2 ")
VISIBLE(uuids_and_numbers, "GPU-70747872-756e-4350-552d-736d37350003,0", "2 0 ")
VISIBLE(not_the_beginning_of_several_uuids, "GPU-70747872", "")

Test(visible, a_hidden_device_keeps_its_share_of_the_memory)
{
    size_t bytes = 0;
    start("4", "1");
    OK(cuInit(0));
    OK(cuDeviceTotalMem_v2(&bytes, 0));
    cr_expect_leq(bytes, (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / 4);
}

/* ---- peers ---- */

Test(peers, devices_reach_each_other_but_are_no_peers_of_themselves, .init = make_devices)
{
    for (int i = 0; i < DEVICES; i++) {
        for (int j = 0; j < DEVICES; j++) {
            int can = -1;
            int value = -1;
            OK(cuDeviceCanAccessPeer(&can, i, j));
            cr_expect_eq(can, i != j);
            for (int attribute = 1; attribute <= 5; attribute++)
                EXPECT(i == j ? CRT_INVALID_DEVICE : CRT_SUCCESS,
                       cuDeviceGetP2PAttribute(&value, attribute, i, j));
        }
    }
}

Test(peers, access_is_enabled_once_in_each_direction, .init = make_devices)
{
    CUcontext first;
    CUcontext second;
    OK(cuCtxGetCurrent(&first));
    OK(cuDevicePrimaryCtxRetain(&second, 1));
    EXPECT(CRT_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(second));
    OK(cuCtxEnablePeerAccess(second, 0));
    EXPECT(CRT_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(second, 0));
    OK(cuCtxSetCurrent(second));
    EXPECT(CRT_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(first));
    OK(cuCtxEnablePeerAccess(first, 0));
    OK(cuCtxDisablePeerAccess(first));
    OK(cuCtxSetCurrent(first));
    OK(cuCtxDisablePeerAccess(second));
    OK(cuCtxEnablePeerAccess(second, 0));
}

Test(peers, a_reset_forgets_whom_access_was_enabled_to, .init = make_devices)
{
    CUcontext second;
    OK(cuDevicePrimaryCtxRetain(&second, 1));
    OK(cuCtxEnablePeerAccess(second, 0));
    OK(cuDevicePrimaryCtxReset_v2(1));
    EXPECT(CRT_INVALID_CONTEXT, cuCtxEnablePeerAccess(second, 0));
    OK(cuDevicePrimaryCtxRetain(&second, 1));
    OK(cuCtxEnablePeerAccess(second, 0));
}

Test(peers, contexts_of_one_device_are_no_peers, .init = make_devices)
{
    CUcontext first;
    CUcontext second;
    OK(cuCtxGetCurrent(&first));
    OK(cuCtxCreate_v2(&second, 0, 0));
    EXPECT(CRT_PEER_ACCESS_UNSUPPORTED, cuCtxEnablePeerAccess(first, 0));
}

Test(peers, copies_between_devices_arrive, .init = make_devices)
{
    CUdeviceptr memory[2];
    CUcontext ctx[2];
    unsigned value = 0;
    for (int i = 0; i < 2; i++) {
        OK(cuDevicePrimaryCtxRetain(&ctx[i], i));
        OK(cuCtxSetCurrent(ctx[i]));
        OK(cuMemAlloc_v2(&memory[i], 64));
        OK(cuMemsetD32_v2(memory[i], 7 + (unsigned)i, 16));
    }
    OK(cuMemcpyPeer(memory[1], ctx[1], memory[0], ctx[0], 64));
    OK(cuMemcpyDtoH_v2(&value, memory[1] + 60, 4));
    cr_expect_eq(value, 7);
}

/* ---- kernels ---- */

static const char kernels[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
                              ".visible .global .align 4 .u32 here = 5;\n"
                              ".visible .entry wait(.param .u64 flag)\n"
                              "{\n .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %p;\n"
                              " ld.param.u64 %rd1, [flag];\n"
                              "again: ld.volatile.global.u32 %r1, [%rd1];\n"
                              " setp.eq.u32 %p, %r1, 0;\n @%p bra again; ret;\n}\n"
                              ".visible .entry set(.param .u64 flag)\n"
                              "{\n .reg .b64 %rd<2>;\n ld.param.u64 %rd1, [flag];\n"
                              " st.volatile.global.u32 [%rd1], 1; ret;\n}\n";

static CUfunction kernel_of(CUmodule module, const char *name)
{
    CUfunction function;
    OK(cuModuleGetFunction(&function, module, name));
    return function;
}

/* A kernel keeps all of one device busy until a kernel of the other device has run. */
Test(devices, kernels_of_different_devices_run_at_once, .timeout = 120)
{
    CUmodule module[2];
    CUdeviceptr flag;
    start("2", NULL);
    setenv("PTXRUN_THREADS", "2", 1);
    OK(cuInit(0));
    for (int i = 0; i < 2; i++) {
        use_device(i);
        OK(cuModuleLoadData(&module[i], kernels));
    }
    OK(cuMemAlloc_v2(&flag, 4));
    OK(cuMemsetD32_v2(flag, 0, 1));
    void *params[] = {&flag};
    use_device(0);
    OK(cuLaunchKernel(kernel_of(module[0], "wait"), 100, 1, 1, 32, 1, 1, 0, NULL, params, NULL));
    use_device(1);
    OK(cuLaunchKernel(kernel_of(module[1], "set"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
    use_device(0);
    OK(cuCtxSynchronize());
}

Test(devices, variables_belong_to_the_device, .init = make_devices)
{
    CUdeviceptr address[2];
    size_t bytes;
    for (int i = 0; i < 2; i++) {
        CUmodule module;
        use_device(i);
        OK(cuModuleLoadData(&module, kernels));
        OK(cuModuleGetGlobal_v2(&address[i], &bytes, module, "here"));
    }
    cr_expect_neq(address[0], address[1]);
}

/* ---- more than numbers ---- */

Test(capability, affinity_to_multiprocessors_does_not_exist, .init = make_devices)
{
    int is_supported = 5;
    CUexecAffinityParam affinity;
    OK(cuDeviceGetExecAffinitySupport(&is_supported, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 1));
    cr_expect_eq(is_supported, 0);
    EXPECT(CRT_UNSUPPORTED_EXEC_AFFINITY,
           cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT));
}

Test(capability, linear_textures_have_the_width_of_the_attribute, .init = make_devices)
{
    const CUarray_format formats[] = {1, 2, 3, 8, 9, 10, 0x10, 0x20};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        size_t width = 0;
        OK(cuDeviceGetTexture1DLinearMaxWidth(&width, formats[i], 4, 0));
        cr_expect_eq(width, (size_t)attribute_of(0, 69));
    }
}

Test(capability, all_atomics_work_on_host_memory_and_peers, .init = make_devices)
{
    const CUatomicOperation operations[] = {0, 5, 9, 10};
    unsigned host[4] = {0};
    unsigned peer[4] = {0};
    OK(cuDeviceGetHostAtomicCapabilities(host, operations, 4, 0));
    OK(cuDeviceGetP2PAtomicCapabilities(peer, operations, 4, 0, 1));
    for (int i = 0; i < 4; i++) {
        cr_expect_neq(host[i], 0);
        cr_expect_eq(host[i], peer[i]);
    }
    cr_expect_eq(attribute_of(0, 86), 1);
}

/* ---- architectures ---- */

static void expect_architecture(const char *option, int major, int minor, int threads_per_sm,
                                int shared_per_sm)
{
    int got_major = 0;
    int got_minor = 0;
    setenv("PTXRUN_COMPUTE_CAPABILITY", option, 1);
    OK(cuInit(0));
    OK(cuDeviceComputeCapability(&got_major, &got_minor, 0));
    cr_expect_eq(got_major * 10 + got_minor, major * 10 + minor, "%s", option);
    cr_expect_eq(attribute_of(0, 75), major);
    cr_expect_eq(attribute_of(0, 76), minor);
    cr_expect_eq(attribute_of(0, 39), threads_per_sm);
    cr_expect_eq(attribute_of(0, 81), shared_per_sm);
    cr_expect_leq(attribute_of(0, 97) + attribute_of(0, 111), shared_per_sm);
    cr_expect_eq(attribute_of(0, 127), major >= 9, "tensor maps");
}

#define ARCHITECTURE(name, option, ...)                                                            \
    Test(architecture, name)                                                                       \
    {                                                                                              \
        expect_architecture(option, __VA_ARGS__);                                                  \
    }

ARCHITECTURE(sm_60, "6.0", 6, 0, 2048, 65536)
ARCHITECTURE(sm_61, "6.1", 6, 1, 2048, 98304)
ARCHITECTURE(sm_70, "7.0", 7, 0, 2048, 98304)
ARCHITECTURE(sm_75, "7.5", 7, 5, 1024, 65536)
ARCHITECTURE(sm_80, "8.0", 8, 0, 2048, 167936)
ARCHITECTURE(sm_86, "8.6", 8, 6, 1536, 102400)
ARCHITECTURE(sm_89, "8.9", 8, 9, 1536, 102400)
ARCHITECTURE(sm_90, "9.0", 9, 0, 2048, 233472)
ARCHITECTURE(sm_100, "10.0", 10, 0, 2048, 233472)
ARCHITECTURE(sm_103, "10.3", 10, 3, 2048, 233472)
ARCHITECTURE(sm_120, "12.0", 12, 0, 1536, 102400)
ARCHITECTURE(sm_121, "12.1", 12, 1, 1536, 102400)
