/* SPDX-License-Identifier: Apache-2.0
 *
 * Several devices through the runtime API.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* This order: it brings the tests' macros. */
#include "driver_fixture.h"

#include "quiet_machine.h"
#include "runtime_fixture.h"

static void start(void)
{
    setenv("PTXRUN_DEVICES", "3", 1);
}

static int current(void)
{
    int device = -1;
    RT_OK(cudaGetDevice(&device));
    return device;
}

static int device_of(const void *pointer)
{
    struct cudaPointerAttributes attributes;
    RT_OK(cudaPointerGetAttributes(&attributes, pointer));
    return attributes.device;
}

static size_t free_bytes(void)
{
    size_t available = 0;
    size_t total = 0;
    ignore_other_processes();
    RT_OK(cudaMemGetInfo(&available, &total));
    return available;
}

Test(rt_devices, the_first_is_current_at_first, .init = start)
{
    int count = 0;
    RT_OK(cudaGetDeviceCount(&count));
    cr_expect_eq(count, 3);
    cr_expect_eq(current(), 0);
}

Test(rt_devices, allocations_belong_to_the_device_that_is_set, .init = start)
{
    for (int i = 2; i >= 0; i--) {
        void *memory;
        RT_OK(cudaSetDevice(i));
        cr_expect_eq(current(), i);
        size_t before = free_bytes();
        RT_OK(cudaMalloc(&memory, 1 << 20));
        cr_expect_eq(device_of(memory), i);
        cr_expect_eq(before - free_bytes(), 1 << 20);
    }
}

static void *set_other_device(void *arg)
{
    (void)arg;
    cr_expect_eq(current(), 0);
    RT_OK(cudaSetDevice(2));
    cr_expect_eq(current(), 2);
    return NULL;
}

Test(rt_devices, each_thread_has_its_own, .init = start)
{
    pthread_t thread;
    RT_OK(cudaSetDevice(1));
    pthread_create(&thread, NULL, set_other_device, NULL);
    pthread_join(thread, NULL);
    cr_expect_eq(current(), 1);
}

static void *use_a_device(void *arg)
{
    const int device = (int)(intptr_t)arg % 3;
    RT_OK(cudaSetDevice(device));
    for (int i = 0; i < 50; i++) {
        void *memory;
        unsigned char value = 0;
        RT_OK(cudaMalloc(&memory, 4096));
        RT_OK(cudaMemset(memory, device + 1, 4096));
        RT_OK(cudaMemcpy(&value, memory, 1, cudaMemcpyDeviceToHost));
        cr_expect_eq(value, device + 1);
        cr_expect_eq(device_of(memory), device);
        RT_OK(cudaFree(memory));
    }
    RT_OK(cudaDeviceSynchronize());
    return NULL;
}

Test(rt_devices, threads_use_several_at_once, .init = start)
{
    pthread_t threads[6];
    for (intptr_t i = 0; i < 6; i++)
        pthread_create(&threads[i], NULL, use_a_device, (void *)i);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
}

Test(rt_devices, copies_between_them_arrive, .init = start)
{
    void *memory[3];
    int values[4] = {1, 2, 3, 4};
    int got[4] = {0};
    for (int i = 0; i < 3; i++) {
        RT_OK(cudaSetDevice(i));
        RT_OK(cudaMalloc(&memory[i], sizeof values));
    }
    RT_OK(cudaMemcpy(memory[0], values, sizeof values, cudaMemcpyHostToDevice));
    RT_OK(cudaMemcpyPeer(memory[1], 1, memory[0], 0, sizeof values));
    RT_OK(cudaMemcpyPeerAsync(memory[2], 2, memory[1], 1, sizeof values, NULL));
    RT_OK(cudaMemcpy(got, memory[2], sizeof got, cudaMemcpyDefault));
    cr_expect_arr_eq(got, values, sizeof got);
}

Test(rt_devices, peers_are_enabled_once, .init = start)
{
    int can = 0;
    int value = 0;
    RT_OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    cr_expect_eq(can, 1);
    RT_OK(cudaDeviceGetP2PAttribute(&value, 2, 0, 1));
    cr_expect_eq(value, 1);
    RT_OK(cudaDeviceEnablePeerAccess(1, 0));
    RT_EXPECT(cudaErrorPeerAccessAlreadyEnabled, cudaDeviceEnablePeerAccess(1, 0));
    RT_OK(cudaDeviceDisablePeerAccess(1));
    RT_EXPECT(cudaErrorPeerAccessNotEnabled, cudaDeviceDisablePeerAccess(1));
    RT_OK(cudaSetDevice(1));
    RT_OK(cudaDeviceEnablePeerAccess(0, 0));
    RT_OK(cudaDeviceReset());
    RT_OK(cudaDeviceEnablePeerAccess(0, 0));
}

Test(rt_devices, a_reset_ends_one_device_and_it_can_be_used_again, .init = start)
{
    void *kept;
    void *lost;
    cudaStream_t stream;
    RT_OK(cudaMalloc(&kept, 64));
    RT_OK(cudaSetDevice(1));
    RT_OK(cudaMalloc(&lost, 64));
    RT_OK(cudaStreamCreate(&stream));
    RT_OK(cudaDeviceReset());
    cr_expect_eq(current(), 1);
    RT_EXPECT(cudaErrorInvalidValue, cudaFree(lost));
    RT_OK(cudaMalloc(&lost, 64));
    cr_expect_eq(device_of(lost), 1);
    RT_OK(cudaSetDevice(0));
    RT_OK(cudaMemset(kept, 1, 64));
}

static void *reset_device(void *arg)
{
    RT_OK(cudaSetDevice((int)(intptr_t)arg));
    RT_OK(cudaDeviceReset());
    return NULL;
}

Test(rt_devices, a_reset_by_another_thread_is_survived, .init = start)
{
    void *memory;
    pthread_t thread;
    RT_OK(cudaSetDevice(1));
    RT_OK(cudaMalloc(&memory, 64));
    pthread_create(&thread, NULL, reset_device, (void *)1);
    pthread_join(thread, NULL);
    RT_OK(cudaMalloc(&memory, 64));
    cr_expect_eq(device_of(memory), 1);
}

Test(rt_devices, the_first_of_the_valid_ones_is_the_default, .init = start)
{
    void *memory;
    RT_OK(cudaSetValidDevices((int[]){2, 1}, 2));
    RT_OK(cudaMalloc(&memory, 64));
    cr_expect_eq(device_of(memory), 2);
    RT_OK(cudaSetDevice(1));
    cr_expect_eq(current(), 1);
}

static void *expect_valid_default(void *arg)
{
    (void)arg;
    cr_expect_eq(current(), 1);
    return NULL;
}

Test(rt_devices, no_valid_ones_means_all, .init = start)
{
    pthread_t thread;
    RT_OK(cudaSetValidDevices((int[]){1}, 1));
    pthread_create(&thread, NULL, expect_valid_default, NULL);
    pthread_join(thread, NULL);
    RT_OK(cudaSetValidDevices(NULL, 0));
    cr_expect_eq(current(), 0);
}

Test(rt_devices, init_makes_the_context_but_not_current, .init = start)
{
    unsigned flags = 0;
    int is_active = 0;
    RT_OK(cudaInitDevice(2, 4, 1));
    cr_expect_eq(current(), 0);
    RT_OK((cudaError_t)cuDevicePrimaryCtxGetState(2, &flags, &is_active));
    cr_expect_eq(is_active, 1);
    cr_expect_eq(flags, 4);
    RT_OK(cudaSetDevice(2));
    RT_OK(cudaGetDeviceFlags(&flags));
    cr_expect_eq(flags, 4);
    RT_OK(cudaSetDeviceFlags(1));
    RT_OK(cudaGetDeviceFlags(&flags));
    cr_expect_eq(flags, 1);
}

Test(rt_devices, properties_are_those_of_the_driver, .init = start)
{
    for (int i = 0; i < 3; i++) {
        struct cudaDeviceProp properties;
        int value = 0;
        size_t bytes = 0;
        char name[256];
        char bus[32];
        int found = -1;
        RT_OK(cudaGetDeviceProperties(&properties, i));
        RT_OK((cudaError_t)cuDeviceGetName(name, sizeof name, i));
        cr_expect_str_eq(properties.name, name);
        RT_OK((cudaError_t)cuDeviceTotalMem_v2(&bytes, i));
        cr_expect_eq(properties.totalGlobalMem, bytes);
        cr_expect_eq(properties.pciBusID, i + 1);
        cr_expect_eq(properties.major * 10 + properties.minor, 80);
        RT_OK(cudaDeviceGetAttribute(&value, 39, i));
        cr_expect_eq(properties.maxThreadsPerMultiProcessor, value);
        RT_OK(cudaDeviceGetPCIBusId(bus, sizeof bus, i));
        RT_OK(cudaDeviceGetByPCIBusId(&found, bus));
        cr_expect_eq(found, i);
        RT_OK(cudaChooseDevice(&found, &properties));
        cr_expect(found >= 0 && found < 3);
    }
}

Test(rt_devices, limits_and_settings_reach_the_driver, .init = start)
{
    size_t limit = 0;
    int value = 9;
    int least = 9;
    int greatest = 9;
    RT_OK(cudaDeviceSetLimit(0, 4096));
    RT_OK(cudaDeviceGetLimit(&limit, 0));
    cr_expect_eq(limit, 4096);
    RT_OK(cudaSetDevice(1));
    RT_OK(cudaDeviceGetLimit(&limit, 0));
    cr_expect_eq(limit, 1024);
    RT_OK(cudaDeviceSetCacheConfig(1));
    RT_OK(cudaDeviceGetCacheConfig(&value));
    cr_expect_eq(value, 1);
    RT_OK(cudaDeviceSetSharedMemConfig(1));
    RT_OK(cudaDeviceGetSharedMemConfig(&value));
    cr_expect_eq(value, 1);
    RT_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    cr_expect_lt(greatest, least);
    RT_OK(cudaCtxResetPersistingL2Cache());
}

Test(rt_devices, textures_and_atomics_are_described, .init = start)
{
    const struct cudaChannelFormatDesc format = {.x = 32, .f = 2};
    const int add = 0;
    size_t width = 0;
    unsigned host = 0;
    unsigned peer = 0;
    RT_OK(cudaDeviceGetTexture1DLinearMaxWidth(&width, &format, 1));
    cr_expect_geq(width, 1 << 27);
    RT_OK(cudaDeviceGetHostAtomicCapabilities(&host, &add, 1, 0));
    RT_OK(cudaDeviceGetP2PAtomicCapabilities(&peer, &add, 1, 0, 1));
    cr_expect_neq(host, 0);
    cr_expect_eq(host, peer);
}

static const char ptx[] = ".version 9.0\n.target sm_75\n.address_size 64\n"
                          ".visible .entry nothing() { ret; }\n";

Test(rt_devices, a_cluster_is_one_block, .init = start)
{
    cudaLibrary_t library;
    cudaKernel_t kernel;
    int size = 0;
    int clusters = 0;
    int blocks = 0;
    int multiprocessors = 0;
    const struct cudaLaunchConfig config = {.gridDim = {4, 1, 1}, .blockDim = {128, 1, 1}};
    RT_OK(cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    RT_OK(cudaLibraryGetKernel(&kernel, library, "nothing"));
    RT_OK(cudaOccupancyMaxPotentialClusterSize(&size, kernel, &config));
    cr_expect_eq(size, 1);
    RT_OK(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config));
    RT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 128, 0));
    RT_OK(cudaDeviceGetAttribute(&multiprocessors, 16, 0));
    cr_expect_eq(clusters, blocks * multiprocessors);
}

Test(rt_devices, versions_are_told, .init = start)
{
    int driver = 0;
    int runtime = 0;
    RT_OK(cudaDriverGetVersion(&driver));
    RT_OK(cudaRuntimeGetVersion(&runtime));
    cr_expect_geq(driver, runtime);
}

Test(rt_devices, a_context_of_the_program_decides_the_device, .init = start)
{
    CUcontext ctx;
    void *memory;
    RT_OK((cudaError_t)cuInit(0));
    RT_OK((cudaError_t)cuCtxCreate_v2(&ctx, 0, 2));
    cr_expect_eq(current(), 2);
    RT_OK(cudaMalloc(&memory, 64));
    cr_expect_eq(device_of(memory), 2);
    RT_OK(cudaSetDevice(1));
    cr_expect_eq(current(), 1);
    RT_OK((cudaError_t)cuCtxSetCurrent(ctx));
    cr_expect_eq(current(), 2);
    RT_OK(cudaFree(memory));
}
