/* SPDX-License-Identifier: Apache-2.0
 *
 * Splits the CPUs of this process into equal parts whose members are neighbours: sorted by package,
 * memory node and core, as the kernel's topology files describe them.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "scheduler/worker_pool.h"

#define NODES_MAX  64
#define PATH_BYTES 128

/* In the order of comparison. */
enum { PACKAGE, NODE, CORE, NUMBER, KEYS };

struct cpu {
    int keys[KEYS];
};

/* A number in one of a CPU's topology files; 0 where there is none. */
static int read_topology(int cpu, const char *name)
{
    char path[PATH_BYTES];
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

static int find_node(int cpu)
{
    for (int node = 0; node < NODES_MAX; node++) {
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/node%d", cpu, node);
        if (access(path, F_OK) == 0)
            return node;
    }
    return 0;
}

static int compare_cpus(const void *left, const void *right)
{
    const struct cpu *a = left;
    const struct cpu *b = right;
    for (int i = 0; i < KEYS; i++)
        if (a->keys[i] != b->keys[i])
            return a->keys[i] < b->keys[i] ? -1 : 1;
    return 0;
}

/* Lists the CPUs of this process in order; returns their number. */
static unsigned list_cpus(struct cpu cpus[CPU_SETSIZE])
{
    cpu_set_t usable;
    unsigned count = 0;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0)
        return 0;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &usable))
            cpus[count++] = (struct cpu){{[PACKAGE] = read_topology(i, "physical_package_id"),
                                          [NODE] = find_node(i),
                                          [CORE] = read_topology(i, "core_id"),
                                          [NUMBER] = i}};
    qsort(cpus, count, sizeof cpus[0], compare_cpus);
    return count;
}

/* With more parts than CPUs, parts share them. */
void sch_split_cpus(const struct sch_groups *groups, cpu_set_t sets[SCH_GROUPS_MAX])
{
    struct cpu cpus[CPU_SETSIZE];
    unsigned count = list_cpus(cpus);
    for (unsigned group = 0; group < groups->count; group++) {
        CPU_ZERO(&sets[group]);
        unsigned first = groups->part[group] * count / groups->part_count;
        unsigned end = (groups->part[group] + 1) * count / groups->part_count;
        for (unsigned i = first; i < count && (i < end || i == first); i++)
            CPU_SET(cpus[i].keys[NUMBER], &sets[group]);
    }
}
