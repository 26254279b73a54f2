/* SPDX-License-Identifier: Apache-2.0
 *
 * The management library: what it says agrees with what the driver library says.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cudart/nvml/nvml_types.h"
#include "driver_fixture.h"

#define NVML(wanted, call)                                                                         \
    do {                                                                                           \
        nvmlReturn_t got_ = (call);                                                                \
        cr_expect_eq(got_, wanted, "%s gave %d, not %d", #call, (int)got_, (int)(wanted));         \
    } while (0)

static void start(void)
{
    setenv("PTXRUN_DEVICES", "3", 1);
    NVML(NVML_SUCCESS, nvmlInit_v2());
}

static nvmlDevice_t device_at(unsigned index)
{
    nvmlDevice_t device = NULL;
    NVML(NVML_SUCCESS, nvmlDeviceGetHandleByIndex_v2(index, &device));
    return device;
}

Test(nvml, nothing_works_before_it_is_started_and_after_it_is_shut_down)
{
    unsigned count = 0;
    NVML(NVML_ERROR_UNINITIALIZED, nvmlDeviceGetCount_v2(&count));
    NVML(NVML_ERROR_UNINITIALIZED, nvmlShutdown());
    NVML(NVML_SUCCESS, nvmlInit());
    NVML(NVML_SUCCESS, nvmlInitWithFlags(1));
    NVML(NVML_SUCCESS, nvmlShutdown());
    NVML(NVML_SUCCESS, nvmlDeviceGetCount(&count));
    cr_expect_eq(count, 1);
    NVML(NVML_SUCCESS, nvmlShutdown());
    NVML(NVML_ERROR_UNINITIALIZED, nvmlDeviceGetCount_v2(&count));
}

Test(nvml, shows_all_devices_whatever_the_program_sees, .init = start)
{
    unsigned count = 0;
    setenv("CUDA_VISIBLE_DEVICES", "1", 1);
    OK(cuInit(0));
    NVML(NVML_SUCCESS, nvmlDeviceGetCount_v2(&count));
    cr_expect_eq(count, 3);
    for (unsigned i = 0; i < count; i++) {
        unsigned index = 99;
        NVML(NVML_SUCCESS, nvmlDeviceGetIndex(device_at(i), &index));
        cr_expect_eq(index, i);
        NVML(NVML_SUCCESS, nvmlDeviceGetMinorNumber(device_at(i), &index));
        cr_expect_eq(index, i);
    }
}

Test(nvml, devices_are_found_by_uuid_and_by_bus_id, .init = start)
{
    for (unsigned i = 0; i < 3; i++) {
        char uuid[96];
        nvmlPciInfo_t pci;
        nvmlDevice_t found = NULL;
        NVML(NVML_SUCCESS, nvmlDeviceGetUUID(device_at(i), uuid, sizeof uuid));
        NVML(NVML_SUCCESS, nvmlDeviceGetHandleByUUID(uuid, &found));
        cr_expect_eq(found, device_at(i));
        NVML(NVML_SUCCESS, nvmlDeviceGetPciInfo_v3(device_at(i), &pci));
        NVML(NVML_SUCCESS, nvmlDeviceGetHandleByPciBusId_v2(pci.busId, &found));
        cr_expect_eq(found, device_at(i));
        NVML(NVML_SUCCESS, nvmlDeviceGetHandleByPciBusId(pci.busIdLegacy, &found));
        cr_expect_eq(found, device_at(i));
    }
}

/* "0000:01:00.0" of CUDA is "00000000:01:00.0" here. */
Test(nvml, names_what_cuda_names, .init = start)
{
    OK(cuInit(0));
    for (int i = 0; i < 3; i++) {
        char cuda[96];
        char nvml[96];
        nvmlPciInfo_t pci;
        int capability[4];
        OK(cuDeviceGetName(cuda, sizeof cuda, i));
        NVML(NVML_SUCCESS, nvmlDeviceGetName(device_at((unsigned)i), nvml, sizeof nvml));
        cr_expect_str_eq(cuda, nvml);
        OK(cuDeviceGetPCIBusId(cuda, sizeof cuda, i));
        NVML(NVML_SUCCESS, nvmlDeviceGetPciInfo_v2(device_at((unsigned)i), &pci));
        NVML(NVML_SUCCESS, nvmlDeviceGetPciInfo(device_at((unsigned)i), &pci));
        cr_expect_str_eq(pci.busIdLegacy, cuda);
        OK(cuDeviceComputeCapability(&capability[0], &capability[1], i));
        NVML(NVML_SUCCESS, nvmlDeviceGetCudaComputeCapability(device_at((unsigned)i),
                                                              &capability[2], &capability[3]));
        cr_expect_arr_eq(capability, capability + 2, 2 * sizeof capability[0]);
    }
}

/* Programs ask here since CUDA 13 has no rates among a device's properties. */
Test(nvml, clock_rates_are_cudas, .init = start)
{
    static const int attributes[] = {13, 13, 36, 13}; /* graphics, multiprocessors, memory, video */
    OK(cuInit(0));
    for (int clock = 0; clock < 4; clock++) {
        int khz = 0;
        unsigned mhz[2] = {0};
        OK(cuDeviceGetAttribute(&khz, attributes[clock], 0));
        NVML(NVML_SUCCESS, nvmlDeviceGetClockInfo(device_at(0), clock, &mhz[0]));
        NVML(NVML_SUCCESS, nvmlDeviceGetMaxClockInfo(device_at(0), clock, &mhz[1]));
        cr_expect_gt(mhz[0], 0);
        cr_expect_eq(mhz[0], (unsigned)khz / 1000);
        cr_expect_eq(mhz[1], mhz[0]);
    }
    unsigned mhz = 0;
    NVML(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetClockInfo(device_at(0), 4, &mhz));
    NVML(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetMaxClockInfo(device_at(0), 0, NULL));
}

Test(nvml, the_uuid_is_cudas, .init = start)
{
    CUuuid id;
    char uuid[96];
    char wanted[96] = "GPU";
    OK(cuInit(0));
    OK(cuDeviceGetUuid_v2(&id, 2));
    for (int i = 0; i < 16; i++)
        sprintf(wanted + strlen(wanted), "%s%02x",
                i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                (unsigned)(unsigned char)id.bytes[i]);
    NVML(NVML_SUCCESS, nvmlDeviceGetUUID(device_at(2), uuid, sizeof uuid));
    cr_expect_str_eq(uuid, wanted);
}

Test(nvml, memory_in_use_is_this_process_own, .init = start)
{
    CUdeviceptr pointer;
    nvmlMemory_t memory;
    nvmlMemory_v2_t second = {.version = NVML_MEMORY_V2};
    NVML(NVML_SUCCESS, nvmlDeviceGetMemoryInfo(device_at(0), &memory));
    cr_expect_eq(memory.used, 0);
    cr_expect_eq(memory.free, memory.total);
    make_context();
    OK(cuMemAlloc_v2(&pointer, 16 << 20));
    NVML(NVML_SUCCESS, nvmlDeviceGetMemoryInfo_v2(device_at(0), &second));
    cr_expect_eq(second.used, 16 << 20);
    cr_expect_eq(second.total, second.used + second.free);
    NVML(NVML_SUCCESS, nvmlDeviceGetMemoryInfo(device_at(1), &memory));
    cr_expect_eq(memory.used, 0);
    second.version = 1;
    NVML(NVML_ERROR_ARGUMENT_VERSION_MISMATCH, nvmlDeviceGetMemoryInfo_v2(device_at(0), &second));
}

Test(nvml, states_have_plausible_values, .init = start)
{
    nvmlUtilization_t rates = {99, 99};
    int value = 99;
    unsigned number = 99;
    nvmlDevice_t device = device_at(0);
    NVML(NVML_SUCCESS, nvmlDeviceGetUtilizationRates(device, &rates));
    cr_expect_leq(rates.gpu, 100);
    NVML(NVML_SUCCESS, nvmlDeviceGetComputeMode(device, &value));
    NVML(NVML_SUCCESS, nvmlDeviceGetPersistenceMode(device, &value));
    NVML(NVML_SUCCESS, nvmlDeviceGetDisplayMode(device, &value));
    NVML(NVML_SUCCESS, nvmlDeviceGetDisplayActive(device, &value));
    NVML(NVML_SUCCESS, nvmlDeviceGetPerformanceState(device, &value));
    NVML(NVML_SUCCESS, nvmlDeviceGetBrand(device, &value));
    cr_expect_eq(value, 0);
    NVML(NVML_SUCCESS, nvmlDeviceGetArchitecture(device, &number));
    cr_expect_eq(number, 7); /* Ampere */
    NVML(NVML_SUCCESS, nvmlDeviceGetNumGpuCores(device, &number));
    cr_expect_geq(number, 64);
    NVML(NVML_SUCCESS, nvmlDeviceGetMemoryBusWidth(device, &number));
    cr_expect_geq(number, 64);
    NVML(NVML_SUCCESS, nvmlDeviceGetMultiGpuBoard(device, &number));
    cr_expect_eq(number, 0);
    NVML(NVML_SUCCESS, nvmlUnitGetCount(&number));
    cr_expect_eq(number, 0);
}

Test(nvml, no_processes_are_listed, .init = start)
{
    static nvmlReturn_t (*const lists[])(nvmlDevice_t, unsigned *, void *) = {
        nvmlDeviceGetComputeRunningProcesses,       nvmlDeviceGetComputeRunningProcesses_v2,
        nvmlDeviceGetComputeRunningProcesses_v3,    nvmlDeviceGetGraphicsRunningProcesses,
        nvmlDeviceGetGraphicsRunningProcesses_v2,   nvmlDeviceGetGraphicsRunningProcesses_v3,
        nvmlDeviceGetMPSComputeRunningProcesses,    nvmlDeviceGetMPSComputeRunningProcesses_v2,
        nvmlDeviceGetMPSComputeRunningProcesses_v3,
    };
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        unsigned count = 4;
        NVML(NVML_SUCCESS, lists[i](device_at(0), &count, NULL));
        cr_expect_eq(count, 0);
    }
}

Test(nvml, devices_are_near_each_other, .init = start)
{
    int value = 99;
    NVML(NVML_SUCCESS, nvmlDeviceGetTopologyCommonAncestor(device_at(0), device_at(1), &value));
    cr_expect_eq(value, 40);
    NVML(NVML_SUCCESS, nvmlDeviceGetP2PStatus(device_at(0), device_at(1), 0, &value));
    cr_expect_eq(value, 0);
    NVML(NVML_SUCCESS, nvmlDeviceGetP2PStatus(device_at(0), device_at(1), 2, &value));
    cr_expect_neq(value, 0);
    NVML(NVML_SUCCESS, nvmlDeviceOnSameBoard(device_at(0), device_at(1), &value));
    cr_expect_eq(value, 0);
}

Test(nvml, versions_are_told, .init = start)
{
    char driver[80];
    char nvml[80];
    char name[256];
    int cuda[2] = {0};
    int version = 0;
    NVML(NVML_SUCCESS, nvmlSystemGetDriverVersion(driver, sizeof driver));
    cr_expect(isdigit((unsigned char)driver[0]));
    NVML(NVML_SUCCESS, nvmlSystemGetNVMLVersion(nvml, sizeof nvml));
    cr_expect_not_null(strstr(nvml, driver));
    NVML(NVML_SUCCESS, nvmlSystemGetCudaDriverVersion(&cuda[0]));
    NVML(NVML_SUCCESS, nvmlSystemGetCudaDriverVersion_v2(&cuda[1]));
    OK(cuDriverGetVersion(&version));
    cr_expect_eq(cuda[0], version);
    cr_expect_eq(cuda[1], version);
    NVML(NVML_SUCCESS, nvmlSystemGetProcessName((unsigned)getpid(), name, sizeof name));
    cr_expect_neq(name[0], '\0');
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, int sensor, unsigned *value);
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned *value);
nvmlReturn_t nvmlDeviceGetFanSpeed(nvmlDevice_t device, unsigned *value);
nvmlReturn_t nvmlDeviceGetSerial(nvmlDevice_t device, char *serial, unsigned length);

Test(nvml, what_a_cpu_does_not_have_is_not_supported, .init = start)
{
    unsigned value;
    char text[64];
    NVML(NVML_ERROR_NOT_SUPPORTED, nvmlDeviceGetTemperature(device_at(0), 0, &value));
    NVML(NVML_ERROR_NOT_SUPPORTED, nvmlDeviceGetPowerUsage(device_at(0), &value));
    NVML(NVML_ERROR_NOT_SUPPORTED, nvmlDeviceGetFanSpeed(device_at(0), &value));
    NVML(NVML_ERROR_NOT_SUPPORTED, nvmlDeviceGetSerial(device_at(0), text, sizeof text));
}

Test(nvml, bad_arguments_are_refused, .init = start)
{
    nvmlDevice_t device = device_at(0);
    char text[64];
    int level;
    unsigned number;
    NVML(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetHandleByIndex(3, &device));
    NVML(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetHandleByIndex_v2(0, NULL));
    NVML(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetHandleByIndex_v2(~0u, &device));
    NVML(NVML_ERROR_NOT_FOUND, nvmlDeviceGetHandleByUUID("GPU-0", &device));
    NVML(NVML_ERROR_NOT_FOUND, nvmlDeviceGetHandleByPciBusId_v2("0000:99:00.0", &device));
    NVML(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetHandleByPciBusId_v2("nonsense", &device));
    NVML(NVML_ERROR_NOT_FOUND, nvmlDeviceGetHandleBySerial("1", &device));
    NVML(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetName(NULL, text, sizeof text));
    NVML(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetName(device, NULL, 0));
    NVML(NVML_ERROR_INSUFFICIENT_SIZE, nvmlDeviceGetName(device, text, 3));
    NVML(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetIndex((nvmlDevice_t)text, &number));
    NVML(NVML_ERROR_INVALID_ARGUMENT, nvmlDeviceGetP2PStatus(device, device, 0, &level));
}

Test(nvml, every_error_has_a_sentence)
{
    for (int i = 0; i < 30; i++)
        cr_expect_neq(strcmp(nvmlErrorString((nvmlReturn_t)i), "Unknown Error"), 0, "%d", i);
    cr_expect_str_eq(nvmlErrorString(NVML_ERROR_UNKNOWN), "Unknown Error");
}
