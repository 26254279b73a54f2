/* SPDX-License-Identifier: Apache-2.0
 *
 * Devices of the management library: all that the machine has, whatever CUDA_VISIBLE_DEVICES lets
 * programs see; finding them, and what they are.
 */
#include "cudart/core/base/device.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cudart/nvml/nvml_types.h"

/* CUdevice_attribute */
#define ATTRIBUTE_CLOCK_RATE        13
#define ATTRIBUTE_MEMORY_CLOCK_RATE 36
#define ATTRIBUTE_MEMORY_BUS_WIDTH  37

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count)
{
    nvmlReturn_t result = crt_nvml_ready();
    if (result != NVML_SUCCESS)
        return result;
    if (!count)
        return NVML_ERROR_INVALID_ARGUMENT;
    *count = (unsigned)crt_machine_device_count();
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCount(unsigned *count)
{
    return nvmlDeviceGetCount_v2(count);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device)
{
    nvmlReturn_t result = crt_nvml_ready();
    if (result != NVML_SUCCESS)
        return result;
    if (!device || index >= CRT_DEVICES_MAX || !crt_machine_device_at((int)index))
        return NVML_ERROR_INVALID_ARGUMENT;
    *device = crt_machine_device_at((int)index);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t *device)
{
    return nvmlDeviceGetHandleByIndex_v2(index, device);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
    nvmlReturn_t result = crt_nvml_ready();
    if (result != NVML_SUCCESS)
        return result;
    if (!uuid || !device)
        return NVML_ERROR_INVALID_ARGUMENT;
    for (int i = 0; i < crt_machine_device_count(); i++) {
        char text[CRT_UUID_TEXT_BYTES];
        crt_device_uuid_text(crt_machine_device_at(i), text);
        if (strcasecmp(text, uuid) == 0) {
            *device = crt_machine_device_at(i);
            return NVML_SUCCESS;
        }
    }
    return NVML_ERROR_NOT_FOUND;
}

/* Accepts domain:bus:device.function with any number of leading zeros, and without the domain. */
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *id, nvmlDevice_t *device)
{
    nvmlReturn_t result = crt_nvml_ready();
    if (result != NVML_SUCCESS)
        return result;
    unsigned domain = CRT_PCI_DOMAIN;
    unsigned bus;
    unsigned slot;
    if (!id || !device)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3) {
        domain = CRT_PCI_DOMAIN;
        if (sscanf(id, "%x:%x", &bus, &slot) != 2)
            return NVML_ERROR_INVALID_ARGUMENT;
    }
    for (int i = 0; i < crt_machine_device_count(); i++) {
        const struct crt_device *candidate = crt_machine_device_at(i);
        if (domain != CRT_PCI_DOMAIN || slot != CRT_PCI_DEVICE ||
            bus != (unsigned)candidate->pci_bus)
            continue;
        *device = candidate;
        return NVML_SUCCESS;
    }
    return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char *id, nvmlDevice_t *device)
{
    return nvmlDeviceGetHandleByPciBusId_v2(id, device);
}

/* No device has a serial number. */
nvmlReturn_t nvmlDeviceGetHandleBySerial(const char *serial, nvmlDevice_t *device)
{
    nvmlReturn_t result = crt_nvml_ready();
    if (result != NVML_SUCCESS)
        return result;
    return serial && device ? NVML_ERROR_NOT_FOUND : NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned *index)
{
    nvmlReturn_t result = crt_nvml_check(device, index);
    if (result == NVML_SUCCESS)
        *index = (unsigned)device->number;
    return result;
}

nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned *number)
{
    return nvmlDeviceGetIndex(device, number);
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned length)
{
    nvmlReturn_t result = crt_nvml_check(device, name);
    return result == NVML_SUCCESS ? crt_nvml_copy(crt_device_name(), name, length) : result;
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned length)
{
    nvmlReturn_t result = crt_nvml_check(device, uuid);
    if (result != NVML_SUCCESS)
        return result;
    char text[CRT_UUID_TEXT_BYTES];
    crt_device_uuid_text(device, text);
    return crt_nvml_copy(text, uuid, length);
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *info)
{
    nvmlReturn_t result = crt_nvml_check(device, info);
    if (result != NVML_SUCCESS)
        return result;
    unsigned bus = (unsigned)device->pci_bus & 0xff;
    *info = (nvmlPciInfo_t){.domain = CRT_PCI_DOMAIN, .bus = bus, .device = CRT_PCI_DEVICE};
    snprintf(info->busIdLegacy, sizeof info->busIdLegacy, "%04X:%02X:%02X.0", CRT_PCI_DOMAIN, bus,
             CRT_PCI_DEVICE);
    snprintf(info->busId, sizeof info->busId, "%08X:%02X:%02X.0", CRT_PCI_DOMAIN, bus,
             CRT_PCI_DEVICE);
    return NVML_SUCCESS;
}

/* The older forms end before busId. */
nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *info)
{
    nvmlPciInfo_t full;
    nvmlReturn_t result =
        info ? nvmlDeviceGetPciInfo_v3(device, &full) : crt_nvml_check(device, info);
    if (result == NVML_SUCCESS)
        memcpy(info, &full, offsetof(nvmlPciInfo_t, busId));
    return result;
}

nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t *info)
{
    return nvmlDeviceGetPciInfo_v2(device, info);
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor)
{
    nvmlReturn_t result = crt_nvml_check(device, major);
    if (result != NVML_SUCCESS)
        return result;
    if (!minor)
        return NVML_ERROR_INVALID_ARGUMENT;
    *major = crt_architecture_get()->capability / 10;
    *minor = crt_architecture_get()->capability % 10;
    return NVML_SUCCESS;
}

/* Numbers of nvmlDeviceArchitecture_t, by the first compute capability that has each. */
nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, unsigned *architecture)
{
    static const struct {
        int capability;
        unsigned number;
    } table[] = {{100, 10}, {90, 9}, {89, 8}, {80, 7}, {75, 6}, {70, 5}, {0, 4}};
    nvmlReturn_t result = crt_nvml_check(device, architecture);
    if (result != NVML_SUCCESS)
        return result;
    size_t i = 0;
    while (crt_architecture_get()->capability < table[i].capability)
        i++;
    *architecture = table[i].number;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned *cores)
{
    nvmlReturn_t result = crt_nvml_check(device, cores);
    if (result == NVML_SUCCESS)
        *cores = crt_device_sm_count() * 2 * CRT_WARP_SIZE;
    return result;
}

nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned *bits)
{
    int value = 0;
    nvmlReturn_t result = crt_nvml_check(device, bits);
    if (result != NVML_SUCCESS)
        return result;
    crt_device_attribute(device, ATTRIBUTE_MEMORY_BUS_WIDTH, &value);
    *bits = (unsigned)value;
    return NVML_SUCCESS;
}

/* The rates that CUDA tells, which has one for all but the memory. */
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, int clock, unsigned *mhz)
{
    const int memory = 2;
    const int clocks = 4;
    int khz = 0;
    nvmlReturn_t result = crt_nvml_check(device, mhz);
    if (result != NVML_SUCCESS)
        return result;
    if (clock < 0 || clock >= clocks)
        return NVML_ERROR_INVALID_ARGUMENT;
    crt_device_attribute(
        device, clock == memory ? ATTRIBUTE_MEMORY_CLOCK_RATE : ATTRIBUTE_CLOCK_RATE, &khz);
    *mhz = (unsigned)khz / 1000;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, int clock, unsigned *mhz)
{
    return nvmlDeviceGetMaxClockInfo(device, clock, mhz);
}

/* One pair of devices; NVML_ERROR_INVALID_ARGUMENT as crt_nvml_check. */
static nvmlReturn_t check_pair(nvmlDevice_t device, nvmlDevice_t other, const void *output)
{
    nvmlReturn_t result = crt_nvml_check(device, output);
    return result == NVML_SUCCESS ? crt_nvml_check(other, output) : result;
}

nvmlReturn_t nvmlDeviceOnSameBoard(nvmlDevice_t device, nvmlDevice_t other, int *is_same)
{
    nvmlReturn_t result = check_pair(device, other, is_same);
    if (result == NVML_SUCCESS)
        *is_same = device == other;
    return result;
}

/* Devices are shares of one machine: "node", the level within which memory is near. */
nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device, nvmlDevice_t other,
                                                 int *level)
{
    const int internal = 0;
    const int node = 40;
    nvmlReturn_t result = check_pair(device, other, level);
    if (result == NVML_SUCCESS)
        *level = device == other ? internal : node;
    return result;
}

/* Reading, writing and atomics work; there is no NVLink. */
nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device, nvmlDevice_t other, int capability,
                                    int *status)
{
    const int nvlink = 2;
    const int capabilities = 5;
    const int is_ok = 0;
    const int not_supported = 5;
    nvmlReturn_t result = check_pair(device, other, status);
    if (result != NVML_SUCCESS)
        return result;
    if (capability < 0 || capability >= capabilities || device == other)
        return NVML_ERROR_INVALID_ARGUMENT;
    *status = capability == nvlink ? not_supported : is_ok;
    return NVML_SUCCESS;
}
