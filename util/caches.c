/* SPDX-License-Identifier: Apache-2.0
 *
 * Asks the system's files about caches: the C library asks the processor, and takes what all dies
 * of a package have for one cache, in a virtual machine that has only one of them, too (384 MiB
 * instead of 32 with glibc 2.36 on an EPYC).
 */
#include "util/caches.h"

#include <stdio.h>
#include <unistd.h>

#define PATH_BYTES 128
#define INDEX_MAX  8

bool pxr_read_cpu_list(const char *path, cpu_set_t *cpus)
{
    FILE *file = fopen(path, "re");
    CPU_ZERO(cpus);
    if (file == NULL)
        return false;
    int from;
    while (fscanf(file, "%d", &from) == 1) {
        int to = from;
        int next = fgetc(file);
        if (next == '-' && fscanf(file, "%d", &to) == 1)
            next = fgetc(file);
        for (int cpu = from < 0 ? 0 : from; cpu <= to && cpu < CPU_SETSIZE; cpu++)
            CPU_SET(cpu, cpus);
        if (next != ',')
            break;
    }
    fclose(file);
    return CPU_COUNT(cpus) > 0;
}

static void name_file(int cpu, int index, const char *name, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index, name);
}

/* A number with a unit; 0: there is no such file. */
static uint64_t read_number(int cpu, int index, const char *name)
{
    char path[PATH_BYTES];
    name_file(cpu, index, name, path);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    unsigned long number = 0;
    char unit = '\0';
    if (fscanf(file, "%lu%c", &number, &unit) < 1)
        number = 0;
    fclose(file);
    return (uint64_t)number << (unit == 'K' ? 10 : unit == 'M' ? 20 : 0);
}

/* The index of the cache with the highest level; -1: none is known. */
static int last_index(int cpu)
{
    int last = -1;
    uint64_t highest = 0;
    for (int i = 0; i < INDEX_MAX; i++) {
        uint64_t level = read_number(cpu, i, "level");
        if (level == 0)
            break;
        if (level > highest) {
            highest = level;
            last = i;
        }
    }
    return last;
}

uint64_t pxr_last_cache_bytes(void)
{
    cpu_set_t left; /* CPUs whose caches have not been counted */
    uint64_t bytes = 0;
    if (sched_getaffinity(getpid(), sizeof left, &left) != 0)
        return 0;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        int index = CPU_ISSET(cpu, &left) ? last_index(cpu) : -1;
        if (index < 0)
            continue;
        char path[PATH_BYTES];
        cpu_set_t sharers;
        name_file(cpu, index, "shared_cpu_list", path);
        if (!pxr_read_cpu_list(path, &sharers))
            return 0;
        bytes += read_number(cpu, index, "size");
        for (int other = cpu; other < CPU_SETSIZE; other++)
            if (CPU_ISSET(other, &sharers))
                CPU_CLR(other, &left);
    }
    return bytes;
}
