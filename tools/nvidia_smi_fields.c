/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of the fields of --query-gpu, read through the management library.
 */
#include "tools/nvidia_smi_fields.h"

#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#define MIB (1024ull * 1024)

static void write_timestamp(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    (void)device;
    struct timeval now;
    struct tm local;
    gettimeofday(&now, NULL);
    localtime_r(&now.tv_sec, &local);
    size_t len = strftime(value, SMI_VALUE_BYTES, "%Y/%m/%d %H:%M:%S", &local);
    snprintf(value + len, SMI_VALUE_BYTES - len, ".%03d", (int)(now.tv_usec / 1000));
}

static void write_driver_version(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    (void)device;
    nvmlSystemGetDriverVersion(value, SMI_VALUE_BYTES);
}

static void write_count(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    (void)device;
    unsigned count = 0;
    nvmlDeviceGetCount_v2(&count);
    snprintf(value, SMI_VALUE_BYTES, "%u", count);
}

static void write_name(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    nvmlDeviceGetName(device, value, SMI_VALUE_BYTES);
}

static void write_uuid(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    nvmlDeviceGetUUID(device, value, SMI_VALUE_BYTES);
}

static void write_index(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    unsigned index = 0;
    nvmlDeviceGetIndex(device, &index);
    snprintf(value, SMI_VALUE_BYTES, "%u", index);
}

static void write_compute_cap(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    int major = 0;
    int minor = 0;
    nvmlDeviceGetCudaComputeCapability(device, &major, &minor);
    snprintf(value, SMI_VALUE_BYTES, "%d.%d", major, minor);
}

/* ---- PCI ---- */

static nvmlPciInfo_t pci_of(nvmlDevice_t device)
{
    nvmlPciInfo_t info = {0};
    nvmlDeviceGetPciInfo_v3(device, &info);
    return info;
}

static void write_bus_id(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    snprintf(value, SMI_VALUE_BYTES, "%s", pci_of(device).busId);
}

static void write_pci_domain(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    snprintf(value, SMI_VALUE_BYTES, "0x%04X", pci_of(device).domain);
}

static void write_pci_bus(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    snprintf(value, SMI_VALUE_BYTES, "0x%02X", pci_of(device).bus);
}

static void write_pci_device(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    snprintf(value, SMI_VALUE_BYTES, "0x%02X", pci_of(device).device);
}

static void write_pci_device_id(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    snprintf(value, SMI_VALUE_BYTES, "0x%08X", pci_of(device).pciDeviceId);
}

static void write_pci_sub_device_id(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    snprintf(value, SMI_VALUE_BYTES, "0x%08X", pci_of(device).pciSubSystemId);
}

/* ---- modes ---- */

static void write_disabled(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    (void)device;
    strcpy(value, "Disabled");
}

static void write_no(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    (void)device;
    strcpy(value, "No");
}

static void write_pstate(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    int state = 0;
    nvmlDeviceGetPerformanceState(device, &state);
    snprintf(value, SMI_VALUE_BYTES, "P%d", state);
}

static void write_compute_mode(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    (void)device;
    strcpy(value, "Default");
}

/* ---- memory and utilisation ---- */

static nvmlMemory_v2_t memory_of(nvmlDevice_t device)
{
    nvmlMemory_v2_t memory = {.version = NVML_MEMORY_V2};
    nvmlDeviceGetMemoryInfo_v2(device, &memory);
    return memory;
}

static void write_mib(unsigned long long bytes, char value[SMI_VALUE_BYTES])
{
    snprintf(value, SMI_VALUE_BYTES, "%llu", bytes / MIB);
}

static void write_memory_total(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    write_mib(memory_of(device).total, value);
}

static void write_memory_reserved(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    write_mib(memory_of(device).reserved, value);
}

static void write_memory_used(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    write_mib(memory_of(device).used, value);
}

static void write_memory_free(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    write_mib(memory_of(device).free, value);
}

static nvmlUtilization_t utilization_of(nvmlDevice_t device)
{
    nvmlUtilization_t rates = {0};
    nvmlDeviceGetUtilizationRates(device, &rates);
    return rates;
}

static void write_utilization_gpu(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    snprintf(value, SMI_VALUE_BYTES, "%u", utilization_of(device).gpu);
}

static void write_utilization_memory(nvmlDevice_t device, char value[SMI_VALUE_BYTES])
{
    snprintf(value, SMI_VALUE_BYTES, "%u", utilization_of(device).memory);
}

const struct smi_field smi_fields[] = {
#define FIELD(...) {__VA_ARGS__},
#include "tools/nvidia_smi_fields.def"
#undef FIELD
};

const size_t smi_field_count = sizeof smi_fields / sizeof smi_fields[0];

static bool is_name(const char *candidate, const char *name, size_t len)
{
    return candidate && strlen(candidate) == len && memcmp(candidate, name, len) == 0;
}

const struct smi_field *smi_find_field(const char *name, size_t len)
{
    for (size_t i = 0; i < smi_field_count; i++)
        if (is_name(smi_fields[i].name, name, len) || is_name(smi_fields[i].other_name, name, len))
            return &smi_fields[i];
    return NULL;
}

void smi_format_field(const struct smi_field *field, nvmlDevice_t device, bool has_unit,
                      char value[SMI_VALUE_BYTES])
{
    if (!field->write) {
        strcpy(value, "[N/A]");
        return;
    }
    field->write(device, value);
    if (!has_unit || !field->unit)
        return;
    size_t len = strlen(value);
    snprintf(value + len, SMI_VALUE_BYTES - len, " %s", field->unit);
}
