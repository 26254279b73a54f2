/* SPDX-License-Identifier: Apache-2.0
 *
 * Splits the CPUs of this process into equal parts whose members are neighbours: sorted by package,
 * then by core, as the kernel's topology files describe them.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "scheduler/internal.h"

struct cpu {
    int package;
    int core;
    int number;
};

/* A number in one of a CPU's topology files; 0 where there is none. */
static int read_topology(int cpu, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, name);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    int value = 0;
    if (fscanf(file, "%d", &value) != 1)
        value = 0;
    fclose(file);
    return value;
}

static int compare_cpus(const void *left, const void *right)
{
    const struct cpu *a = left;
    const struct cpu *b = right;
    if (a->package != b->package)
        return a->package < b->package ? -1 : 1;
    if (a->core != b->core)
        return a->core < b->core ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* With more parts than CPUs, parts share them. */
void sch_stay_on_part(unsigned part, unsigned part_count)
{
    cpu_set_t usable;
    struct cpu cpus[CPU_SETSIZE];
    if (sched_getaffinity(0, sizeof usable, &usable) != 0)
        return;
    unsigned count = 0;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &usable))
            cpus[count++] = (struct cpu){.package = read_topology(i, "physical_package_id"),
                                         .core = read_topology(i, "core_id"),
                                         .number = i};
    if (count == 0)
        return;
    qsort(cpus, count, sizeof cpus[0], compare_cpus);
    cpu_set_t chosen;
    CPU_ZERO(&chosen);
    unsigned first = part * count / part_count;
    unsigned end = (part + 1) * count / part_count;
    for (unsigned i = first; i < end || i == first; i++)
        CPU_SET(cpus[i].number, &chosen);
    sched_setaffinity(0, sizeof chosen, &chosen);
}
