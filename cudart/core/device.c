/* SPDX-License-Identifier: Apache-2.0
 *
 * The device's description: constants of its architecture and facts of the machine.
 */
#include "cudart/core/device.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cudart/core/arena.h"
#include "scheduler/scheduler.h"
#include "util/log.h"
#include "util/options.h"

static const uint8_t device_uuid[CRT_UUID_BYTES] = {0x70, 0x74, 0x78, 0x72, 0x75, 0x6e, 0x43, 0x50,
                                                    0x55, 0x2d, 0x73, 0x6d, 0x37, 0x35, 0x00, 0x01};

/* Written once by crt_device_init. */
static struct {
    unsigned sm_count;
    size_t memory_bytes;
} device;

const char *crt_device_name(void)
{
    return "ptxrun CPU";
}

const uint8_t *crt_device_uuid(void)
{
    return device_uuid;
}

size_t crt_device_memory_bytes(void)
{
    return device.memory_bytes;
}

unsigned crt_device_sm_count(void)
{
    return device.sm_count;
}

static int multiprocessor_count(void)
{
    return (int)device.sm_count;
}

static int l2_bytes(void)
{
    long bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return bytes > 0 && bytes < INT_MAX ? (int)bytes : 4 << 20;
}

enum crt_result crt_device_attribute(int number, int *value)
{
    switch (number) {
#define ATTRIBUTE(id, attribute_value)                                                             \
    case id:                                                                                       \
        *value = (attribute_value);                                                                \
        return CRT_SUCCESS;
#include "cudart/core/attributes.def"
#undef ATTRIBUTE
    default:
        /* A runtime that is younger than the table may ask for more; it then reads "no". */
        *value = 0;
        return number > 0 ? CRT_SUCCESS : CRT_INVALID_VALUE;
    }
}

static size_t read_limit(const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    char line[64] = "";
    if (!fgets(line, sizeof line, file))
        line[0] = '\0';
    fclose(file);
    return isdigit((unsigned char)line[0]) ? (size_t)strtoull(line, NULL, 10) : 0;
}

/* What this process may use: the machine's memory, or the limit of its control group or of its
 * address space. */
static size_t usable_memory(void)
{
    size_t bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    static const char *const limits[] = {"/sys/fs/cgroup/memory.max",
                                         "/sys/fs/cgroup/memory/memory.limit_in_bytes"};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        size_t limit = read_limit(limits[i]);
        if (limit && limit < bytes)
            bytes = limit;
    }
    /* Under ulimit -v, half of the address space is left for the program and the compiler. */
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY &&
        space.rlim_cur / 2 < bytes)
        bytes = space.rlim_cur / 2;
    return bytes;
}

/* Programs size grids by this number. It does not follow --threads, so that results of programs
 * whose sums depend on the grid are the same with any number of workers. */
static unsigned choose_sm_count(void)
{
    unsigned cpus = sch_usable_cpus();
    return cpus > CRT_MULTIPROCESSORS_MIN ? cpus : CRT_MULTIPROCESSORS_MIN;
}

enum crt_result crt_device_init(const struct pxr_options *options)
{
    device.sm_count = choose_sm_count();
    device.memory_bytes =
        (options->device_memory ? options->device_memory : usable_memory()) & ~(size_t)0xfffff;
    if (device.memory_bytes == 0)
        device.memory_bytes = (size_t)1 << 20;
    enum crt_result result = crt_arena_init(device.memory_bytes);
    if (result != CRT_SUCCESS)
        pxr_log(PXR_LOG_ERROR,
                "cannot reserve %zu MiB of address space for device memory; a limit (ulimit -v) "
                "may be too low, or --device-memory too large",
                device.memory_bytes >> 20);
    return result;
}

/* The list ends at its first entry that names no device; the device is number 0, or any prefix
 * of "GPU-<uuid>". So only the first entry matters. */
bool crt_device_is_listed(const char *list)
{
    while (isspace((unsigned char)*list))
        list++;
    size_t len = strcspn(list, ", \t");
    if (len == 1 && list[0] == '0')
        return true;
    char full[64];
    const uint8_t *u = device_uuid;
    snprintf(full, sizeof full,
             "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1],
             u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14],
             u[15]);
    return len > 4 && len <= strlen(full) && strncasecmp(list, full, len) == 0;
}
