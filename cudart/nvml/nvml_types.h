/* SPDX-License-Identifier: Apache-2.0
 *
 * Types, numbers and functions of the NVIDIA Management Library's interface that are implemented
 * here, as its documentation describes them.
 */
#ifndef PTXRUN_CUDART_NVML_NVML_TYPES_H
#define PTXRUN_CUDART_NVML_NVML_TYPES_H

#include <stddef.h>

typedef enum {
    NVML_SUCCESS = 0,
    NVML_ERROR_UNINITIALIZED = 1,
    NVML_ERROR_INVALID_ARGUMENT = 2,
    NVML_ERROR_NOT_SUPPORTED = 3,
    NVML_ERROR_NOT_FOUND = 6,
    NVML_ERROR_INSUFFICIENT_SIZE = 7,
    NVML_ERROR_DRIVER_NOT_LOADED = 9,
    NVML_ERROR_ARGUMENT_VERSION_MISMATCH = 25,
    NVML_ERROR_UNKNOWN = 999
} nvmlReturn_t;

typedef const struct crt_device *nvmlDevice_t;

typedef struct {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
} nvmlMemory_t;

typedef struct {
    unsigned version; /* NVML_MEMORY_V2 */
    unsigned long long total;
    unsigned long long reserved;
    unsigned long long free;
    unsigned long long used;
} nvmlMemory_v2_t;

typedef struct {
    unsigned gpu; /* percent */
    unsigned memory;
} nvmlUtilization_t;

typedef struct {
    char busIdLegacy[16];
    unsigned domain;
    unsigned bus;
    unsigned device;
    unsigned pciDeviceId;
    unsigned pciSubSystemId;
    char busId[32];
} nvmlPciInfo_t;

/* A struct's version: its size, and its number above. */
#define NVML_MEMORY_V2 ((unsigned)sizeof(nvmlMemory_v2_t) | 2u << 24)

_Static_assert(sizeof(nvmlMemory_v2_t) == 40, "");
_Static_assert(offsetof(nvmlPciInfo_t, busId) == 36 && sizeof(nvmlPciInfo_t) == 68, "");

#define NVML_API __attribute__((visibility("default")))

NVML_API nvmlReturn_t nvmlInit(void);
NVML_API nvmlReturn_t nvmlInit_v2(void);
NVML_API nvmlReturn_t nvmlInitWithFlags(unsigned flags);
NVML_API nvmlReturn_t nvmlShutdown(void);
NVML_API const char *nvmlErrorString(nvmlReturn_t result);
NVML_API nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned length);
NVML_API nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned length);
NVML_API nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *version);
NVML_API nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *version);
NVML_API nvmlReturn_t nvmlSystemGetProcessName(unsigned pid, char *name, unsigned length);
NVML_API nvmlReturn_t nvmlUnitGetCount(unsigned *count);

NVML_API nvmlReturn_t nvmlDeviceGetCount(unsigned *count);
NVML_API nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count);
NVML_API nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t *device);
NVML_API nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device);
NVML_API nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device);
NVML_API nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char *id, nvmlDevice_t *device);
NVML_API nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *id, nvmlDevice_t *device);
NVML_API nvmlReturn_t nvmlDeviceGetHandleBySerial(const char *serial, nvmlDevice_t *device);
NVML_API nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned *index);
NVML_API nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned *number);
NVML_API nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned length);
NVML_API nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned length);
NVML_API nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t *info);
NVML_API nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *info);
NVML_API nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *info);
NVML_API nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, int *brand);
NVML_API nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, unsigned *architecture);
NVML_API nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major,
                                                         int *minor);
NVML_API nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned *cores);
NVML_API nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned *bits);
NVML_API nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, int clock, unsigned *mhz);
NVML_API nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, int clock, unsigned *mhz);
NVML_API nvmlReturn_t nvmlDeviceGetMultiGpuBoard(nvmlDevice_t device, unsigned *is_multi);
NVML_API nvmlReturn_t nvmlDeviceOnSameBoard(nvmlDevice_t device, nvmlDevice_t other, int *is_same);
NVML_API nvmlReturn_t nvmlDeviceGetTopologyCommonAncestor(nvmlDevice_t device, nvmlDevice_t other,
                                                          int *level);
NVML_API nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device, nvmlDevice_t other,
                                             int capability, int *status);

NVML_API nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory);
NVML_API nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory);
NVML_API nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates);
NVML_API nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, int *mode);
NVML_API nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, int *mode);
NVML_API nvmlReturn_t nvmlDeviceGetDisplayMode(nvmlDevice_t device, int *mode);
NVML_API nvmlReturn_t nvmlDeviceGetDisplayActive(nvmlDevice_t device, int *is_active);
NVML_API nvmlReturn_t nvmlDeviceGetPerformanceState(nvmlDevice_t device, int *state);

/* Lists of processes: none is known. infos: whatever the version's elements are. */
NVML_API nvmlReturn_t nvmlDeviceGetComputeRunningProcesses(nvmlDevice_t device, unsigned *count,
                                                           void *infos);
NVML_API nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v2(nvmlDevice_t device, unsigned *count,
                                                              void *infos);
NVML_API nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned *count,
                                                              void *infos);
NVML_API nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses(nvmlDevice_t device, unsigned *count,
                                                            void *infos);
NVML_API nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v2(nvmlDevice_t device, unsigned *count,
                                                               void *infos);
NVML_API nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned *count,
                                                               void *infos);
NVML_API nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses(nvmlDevice_t device, unsigned *count,
                                                              void *infos);
NVML_API nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v2(nvmlDevice_t device,
                                                                 unsigned *count, void *infos);
NVML_API nvmlReturn_t nvmlDeviceGetMPSComputeRunningProcesses_v3(nvmlDevice_t device,
                                                                 unsigned *count, void *infos);

/* ---- inside of the library ---- */

/* Whether nvmlInit has been called oftener than nvmlShutdown. */
nvmlReturn_t crt_nvml_ready(void);

/* As crt_nvml_ready, and NVML_ERROR_INVALID_ARGUMENT for what is no device or no place. */
nvmlReturn_t crt_nvml_check(nvmlDevice_t device, const void *output);

/* Copies a string into a buffer; NVML_ERROR_INSUFFICIENT_SIZE when it does not fit. */
nvmlReturn_t crt_nvml_copy(const char *text, char *buffer, unsigned length);

#endif
