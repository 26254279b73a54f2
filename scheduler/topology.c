/* SPDX-License-Identifier: Apache-2.0
 *
 * How near CPUs are to each other, as the kernel's topology files describe them: splits those of
 * this process into equal parts whose members are neighbours (sorted by package, memory node and
 * core), and says what two of them share.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scheduler/worker_pool.h"
#include "util/caches.h"

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

/* ---- what CPUs share ---- */

/* By CPU: the first one with the same last cache, and with the same memory node; -1: not known. */
static short cache_of[CPU_SETSIZE];
static short node_of[CPU_SETSIZE];
static pthread_once_t places_once = PTHREAD_ONCE_INIT;

/* Notes the first CPU of a file's list for each of them. False: there is no such file. */
static bool read_sharers(const char *path, short first_of[CPU_SETSIZE])
{
    cpu_set_t cpus;
    int first = -1;
    if (!pxr_read_cpu_list(path, &cpus))
        return false;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &cpus))
            continue;
        first = first < 0 ? cpu : first;
        first_of[cpu] = (short)first;
    }
    return true;
}

static bool read_cache(int cpu, int level)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list", cpu,
             level);
    return read_sharers(path, cache_of);
}

/* One file for each cache and node, since a file says what all its CPUs share. */
static void find_places(void)
{
    memset(cache_of, -1, sizeof cache_of);
    memset(node_of, -1, sizeof node_of);
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    for (int cpu = 0; cpu < cpus && cpu < CPU_SETSIZE; cpu++)
        if (cache_of[cpu] < 0 && !read_cache(cpu, 3))
            read_cache(cpu, 2);
    for (int node = 0; node < NODES_MAX; node++) {
        char path[PATH_BYTES];
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node);
        read_sharers(path, node_of);
    }
}

/* ---- parts ---- */

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
    pthread_once(&places_once, find_places);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &usable))
            cpus[count++] = (struct cpu){{[PACKAGE] = read_topology(i, "physical_package_id"),
                                          [NODE] = node_of[i],
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

/* ---- distances ---- */

static bool share_one(const short first_of[CPU_SETSIZE], int a, int b)
{
    return first_of[a] >= 0 && first_of[a] == first_of[b];
}

enum sch_distance sch_cpu_distance(int a, int b)
{
    if (a < 0 || b < 0 || a >= CPU_SETSIZE || b >= CPU_SETSIZE)
        return SCH_FAR;
    pthread_once(&places_once, find_places);
    return share_one(cache_of, a, b)  ? SCH_SAME_CACHE
           : share_one(node_of, a, b) ? SCH_SAME_NODE
                                      : SCH_FAR;
}
