/* SPDX-License-Identifier: Apache-2.0
 *
 * The management library itself: start and end, versions, error strings.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "cudart/core/base/device.h"
#include "cudart/core/base/process.h"
#include "cudart/nvml/nvml_types.h"

/* The oldest driver that CUDA 13.0 runs on, and NVML's number in front. */
#define DRIVER_VERSION "580.00.00"
#define NVML_VERSION   "13." DRIVER_VERSION

/* Calls of nvmlInit that no nvmlShutdown has answered. */
static atomic_int users;

nvmlReturn_t crt_nvml_ready(void)
{
    return atomic_load(&users) > 0 ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

nvmlReturn_t crt_nvml_check(nvmlDevice_t device, const void *output)
{
    nvmlReturn_t result = crt_nvml_ready();
    if (result != NVML_SUCCESS)
        return result;
    for (int i = 0; i < crt_machine_device_count(); i++)
        if (crt_machine_device_at(i) == device)
            return output ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
    return NVML_ERROR_INVALID_ARGUMENT;
}

nvmlReturn_t crt_nvml_copy(const char *text, char *buffer, unsigned length)
{
    if (!buffer)
        return NVML_ERROR_INVALID_ARGUMENT;
    if (strlen(text) >= length)
        return NVML_ERROR_INSUFFICIENT_SIZE;
    strcpy(buffer, text);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlInitWithFlags(unsigned flags)
{
    (void)flags; /* they allow for machines without devices or with broken ones */
    atomic_fetch_add(&users, 1);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlInit_v2(void)
{
    return nvmlInitWithFlags(0);
}

nvmlReturn_t nvmlInit(void)
{
    return nvmlInitWithFlags(0);
}

nvmlReturn_t nvmlShutdown(void)
{
    int count = atomic_load(&users);
    do {
        if (count == 0)
            return NVML_ERROR_UNINITIALIZED;
    } while (!atomic_compare_exchange_weak(&users, &count, count - 1));
    return NVML_SUCCESS;
}

const char *nvmlErrorString(nvmlReturn_t result)
{
    static const char *const texts[] = {
        [0] = "Success",
        [1] = "Uninitialized",
        [2] = "Invalid Argument",
        [3] = "Not Supported",
        [4] = "Insufficient Permissions",
        [5] = "Already Initialized",
        [6] = "Not Found",
        [7] = "Insufficient Size",
        [8] = "Insufficient External Power",
        [9] = "Driver Not Loaded",
        [10] = "Timeout",
        [11] = "Interrupt Request Issue",
        [12] = "NVML Shared Library Not Found",
        [13] = "Function Not Found",
        [14] = "Corrupted infoROM",
        [15] = "GPU is lost",
        [16] = "GPU requires reset",
        [17] = "Blocked by the operating system",
        [18] = "Driver/library version mismatch",
        [19] = "In use by another client",
        [20] = "Insufficient Memory",
        [21] = "No data",
        [22] = "Not available with ECC enabled",
        [23] = "Insufficient resources",
        [24] = "Frequency not supported",
        [25] = "Argument version mismatch",
        [26] = "Deprecated",
        [27] = "Not ready",
        [28] = "GPU not found",
        [29] = "Invalid state",
    };
    size_t number = (size_t)result;
    return number < sizeof texts / sizeof texts[0] ? texts[number] : "Unknown Error";
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned length)
{
    nvmlReturn_t result = crt_nvml_ready();
    return result == NVML_SUCCESS ? crt_nvml_copy(DRIVER_VERSION, version, length) : result;
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned length)
{
    return crt_nvml_copy(NVML_VERSION, version, length); /* needs no nvmlInit */
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version)
{
    if (!version)
        return NVML_ERROR_INVALID_ARGUMENT;
    *version = CRT_DRIVER_VERSION;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version)
{
    return nvmlSystemGetCudaDriverVersion_v2(version);
}

/* The name by which a process was started. */
nvmlReturn_t nvmlSystemGetProcessName(unsigned pid, char *name, unsigned length)
{
    nvmlReturn_t result = crt_nvml_ready();
    if (result != NVML_SUCCESS)
        return result;
    if (!name || length == 0)
        return NVML_ERROR_INVALID_ARGUMENT;
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/cmdline", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return NVML_ERROR_NOT_FOUND;
    char text[1024] = "";
    size_t got = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[got] = '\0';
    return crt_nvml_copy(text, name, length);
}

nvmlReturn_t nvmlUnitGetCount(unsigned *count)
{
    nvmlReturn_t result = crt_nvml_ready();
    if (result != NVML_SUCCESS)
        return result;
    if (!count)
        return NVML_ERROR_INVALID_ARGUMENT;
    *count = 0;
    return NVML_SUCCESS;
}
