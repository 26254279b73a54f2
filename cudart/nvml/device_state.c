/* SPDX-License-Identifier: Apache-2.0
 *
 * What the management library says about the present state of a device. Only this process is known:
 * its memory, and no utilisation. What a CPU has no counterpart of (fans, power, temperature)
 * is in symbols.def as missing.
 */
#include "cudart/core/base/device.h"
#include "cudart/core/memory/memory.h"
#include "cudart/nvml/nvml_types.h"

static void read_memory(nvmlDevice_t device, unsigned long long *used, unsigned long long *total)
{
    size_t free_bytes;
    size_t total_bytes;
    crt_memory_info(device, &free_bytes, &total_bytes);
    *used = total_bytes - free_bytes;
    *total = total_bytes;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory)
{
    nvmlReturn_t result = crt_nvml_check(device, memory);
    if (result != NVML_SUCCESS)
        return result;
    read_memory(device, &memory->used, &memory->total);
    memory->free = memory->total - memory->used;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory)
{
    nvmlReturn_t result = crt_nvml_check(device, memory);
    if (result != NVML_SUCCESS)
        return result;
    if (memory->version != NVML_MEMORY_V2)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    read_memory(device, &memory->used, &memory->total);
    memory->reserved = 0;
    memory->free = memory->total - memory->used;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates)
{
    nvmlReturn_t result = crt_nvml_check(device, rates);
    if (result == NVML_SUCCESS)
        *rates = (nvmlUtilization_t){0};
    return result;
}

/* ---- settings that are never on ---- */

static nvmlReturn_t store_zero(nvmlDevice_t device, int *value)
{
    nvmlReturn_t result = crt_nvml_check(device, value);
    if (result == NVML_SUCCESS)
        *value = 0;
    return result;
}

#define ZERO(function)                                                                             \
    nvmlReturn_t function(nvmlDevice_t device, int *value)                                         \
    {                                                                                              \
        return store_zero(device, value);                                                          \
    }

ZERO(nvmlDeviceGetBrand)            /* unknown */
ZERO(nvmlDeviceGetComputeMode)      /* default: any number of contexts */
ZERO(nvmlDeviceGetPersistenceMode)  /* disabled */
ZERO(nvmlDeviceGetDisplayMode)      /* disabled */
ZERO(nvmlDeviceGetDisplayActive)    /* disabled */
ZERO(nvmlDeviceGetPerformanceState) /* P0, the highest */

nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, unsigned *is_multi)
{
    return store_zero(device, (int *)is_multi);
}

/* ---- processes ---- */

#define NO_PROCESSES(function)                                                                     \
    nvmlReturn_t function(nvmlDevice_t device, unsigned *count, void *infos)                       \
    {                                                                                              \
        (void)infos;                                                                               \
        return store_zero(device, (int *)count);                                                   \
    }

NO_PROCESSES(nvmlDeviceGetComputeRunningProcesses)
NO_PROCESSES(nvmlDeviceGetComputeRunningProcesses_v2)
NO_PROCESSES(nvmlDeviceGetComputeRunningProcesses_v3)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v2)
NO_PROCESSES(nvmlDeviceGetGraphicsRunningProcesses_v3)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v2)
NO_PROCESSES(nvmlDeviceGetMPSComputeRunningProcesses_v3)
