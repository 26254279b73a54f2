/* SPDX-License-Identifier: Apache-2.0
 *
 * The devices' description: facts of the machine, and which of them the program sees.
 */
#include "cudart/core/base/device.h"

#include <ctype.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cudart/core/base/memory_limit.h"
#include "ptx/parse_budget.h"
#include "scheduler/scheduler.h"
#include "util/log.h"
#include "util/options.h"

static const uint8_t uuid_base[CRT_UUID_BYTES] = {0x70, 0x74, 0x78, 0x72, 0x75, 0x6e, 0x43, 0x50,
                                                  0x55, 0x2d, 0x73, 0x6d, 0x37, 0x35, 0x00, 0x00};

/* Written once by describe_machine; the part about visible devices by crt_device_init. */
static struct {
    pthread_once_t once;
    unsigned sm_count;
    int count;
    struct crt_device devices[CRT_DEVICES_MAX];
    int seen_count;
    struct crt_device *seen[CRT_DEVICES_MAX];
} machine = {.once = PTHREAD_ONCE_INIT};

/* Programs size grids by this number. It does not follow --threads, so that results of programs
 * whose sums depend on the grid are the same with any number of workers. */
static unsigned choose_sm_count(unsigned devices)
{
    unsigned cpus = sch_usable_cpus() / devices;
    return cpus > CRT_MULTIPROCESSORS_MIN ? cpus : CRT_MULTIPROCESSORS_MIN;
}

static void describe_machine(void)
{
    const struct pxr_options *options = pxr_options_get();
    machine.count = (int)options->devices;
    machine.sm_count = choose_sm_count(options->devices);
    size_t limit_bytes = crt_memory_limit();
    ptx_budget_set_memory(limit_bytes);
    size_t memory_bytes =
        options->device_memory ? options->device_memory : limit_bytes / options->devices;
    memory_bytes &= ~(size_t)0xfffff;
    if (memory_bytes == 0)
        memory_bytes = (size_t)1 << 20;
    for (int i = 0; i < machine.count; i++) {
        struct crt_device *device = &machine.devices[i];
        *device = (struct crt_device){
            .index = -1, .number = i, .memory_bytes = memory_bytes, .pci_bus = i + 1};
        memcpy(device->uuid, uuid_base, sizeof device->uuid);
        device->uuid[CRT_UUID_BYTES - 1] = (uint8_t)(i + 1);
    }
}

int crt_machine_device_count(void)
{
    pthread_once(&machine.once, describe_machine);
    return machine.count;
}

const struct crt_device *crt_machine_device_at(int number)
{
    return number >= 0 && number < crt_machine_device_count() ? &machine.devices[number] : NULL;
}

int crt_device_count(void)
{
    return machine.seen_count;
}

struct crt_device *crt_device_at(int index)
{
    return index >= 0 && index < machine.seen_count ? machine.seen[index] : NULL;
}

const char *crt_device_name(void)
{
    return "ptxrun CPU";
}

void crt_device_uuid_text(const struct crt_device *device, char text[CRT_UUID_TEXT_BYTES])
{
    char *end = stpcpy(text, "GPU");
    for (int i = 0; i < CRT_UUID_BYTES; i++) {
        bool is_group = i == 0 || i == 4 || i == 6 || i == 8 || i == 10;
        end += snprintf(end, 4, "%s%02x", is_group ? "-" : "", device->uuid[i]);
    }
}

void crt_device_bus_id(const struct crt_device *device, char text[CRT_BUS_ID_BYTES])
{
    snprintf(text, CRT_BUS_ID_BYTES, "%04x:%02x:%02x.0", CRT_PCI_DOMAIN,
             (unsigned)device->pci_bus & 0xff, CRT_PCI_DEVICE);
}

unsigned crt_device_sm_count(void)
{
    return machine.sm_count;
}

static int multiprocessor_count(void)
{
    return (int)machine.sm_count;
}

static int l2_bytes(void)
{
    long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return bytes > 0 && bytes < INT_MAX ? (int)bytes : 4 << 20;
}

enum crt_result crt_device_attribute(const struct crt_device *device, int number, int *value)
{
    const struct crt_architecture *architecture = crt_architecture_get();
    switch (number) {
#define ATTRIBUTE(id, attribute_value)                                                             \
    case id:                                                                                       \
        *value = (attribute_value);                                                                \
        return CRT_SUCCESS;
#include "cudart/core/base/attributes.def"
#undef ATTRIBUTE
    default:
        /* A runtime that is younger than the table may ask for more; it then reads "no". */
        *value = 0;
        return number > 0 ? CRT_SUCCESS : CRT_INVALID_VALUE;
    }
}

/* The device that one entry of CUDA_VISIBLE_DEVICES names: its number, or "GPU-" and the beginning
 * of a UUID that only one device has. */
static struct crt_device *find_entry(const char *entry, size_t len)
{
    char *end;
    unsigned long number = strtoul(entry, &end, 10);
    if (isdigit((unsigned char)*entry) && end == entry + len)
        return number < (unsigned long)machine.count ? &machine.devices[number] : NULL;
    struct crt_device *found = NULL;
    for (int i = 0; i < machine.count && len > strlen("GPU-"); i++) {
        char text[CRT_UUID_TEXT_BYTES];
        crt_device_uuid_text(&machine.devices[i], text);
        if (strncasecmp(entry, text, len) != 0)
            continue;
        if (found)
            return NULL;
        found = &machine.devices[i];
    }
    return found;
}

/* The list ends at its first entry that names no device. A device that is named twice leaves
 * none. */
static void choose_seen(const char *list)
{
    for (const char *at = list;;) {
        at += strspn(at, " \t");
        size_t len = strcspn(at, ", \t");
        struct crt_device *device = len ? find_entry(at, len) : NULL;
        if (!device)
            return;
        if (device->index >= 0) {
            machine.seen_count = 0;
            return;
        }
        device->index = machine.seen_count;
        machine.seen[machine.seen_count++] = device;
        at += len;
        at += strspn(at, " \t");
        if (*at++ != ',')
            return;
    }
}

enum crt_result crt_device_init(const char *visible)
{
    pthread_once(&machine.once, describe_machine);
    if (visible)
        choose_seen(visible);
    for (int i = 0; i < machine.count && !visible; i++) {
        machine.devices[i].index = i;
        machine.seen[machine.seen_count++] = &machine.devices[i];
    }
    if (machine.seen_count == 0)
        return CRT_NO_DEVICE;
    return CRT_SUCCESS;
}
