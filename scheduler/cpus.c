/* SPDX-License-Identifier: Apache-2.0
 *
 * The number of CPUs this process may use: the affinity mask, limited by the CPU quota of the
 * cgroup (version 2 and version 1). Containers see all CPUs in the mask but get a quota.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scheduler/worker_pool.h"

#define CGROUP_ROOT   "/sys/fs/cgroup"
#define MAX_CPUS      4096
#define TEXT_BYTES    4096
#define CGROUP_LEVELS 32
#define PATH_BYTES    8192

/* Reads a small file as text. Returns false if it cannot be read. */
static bool read_text(const char *path, char *text, size_t text_bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, text_bytes - 1);
    close(fd);
    if (got < 0)
        return false;
    text[got] = '\0';
    return true;
}

/* CPUs in the affinity mask. The kernel's mask may be larger than cpu_set_t. */
static unsigned affinity_cpus(void)
{
    for (size_t cpus = CPU_SETSIZE; cpus <= 64 * CPU_SETSIZE; cpus *= 4) {
        cpu_set_t *set = CPU_ALLOC(cpus);
        if (!set)
            break;
        size_t set_bytes = CPU_ALLOC_SIZE(cpus);
        int rc = sched_getaffinity(0, set_bytes, set);
        int count = rc == 0 ? CPU_COUNT_S(set_bytes, set) : 0;
        bool is_too_small = rc != 0 && errno == EINVAL;
        CPU_FREE(set);
        if (count > 0)
            return (unsigned)count;
        if (!is_too_small)
            break;
    }
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (unsigned)online : 1;
}

static unsigned quota_cpus(long long quota, long long period)
{
    if (quota <= 0 || period <= 0)
        return MAX_CPUS;
    long long cpus = quota / period + (quota % period != 0);
    return cpus < 1 ? 1 : cpus > MAX_CPUS ? MAX_CPUS : (unsigned)cpus;
}

/* "QUOTA PERIOD" or "max PERIOD", in microseconds. */
unsigned sch_parse_cpu_max(const char *text)
{
    long long quota = 0;
    long long period = 0;
    if (sscanf(text, "%lld %lld", &quota, &period) != 2)
        return MAX_CPUS;
    return quota_cpus(quota, period);
}

static unsigned limit_v2(const char *directory)
{
    char path[PATH_BYTES];
    char text[TEXT_BYTES];
    int len = snprintf(path, sizeof path, "%s/cpu.max", directory);
    if (len < 0 || (size_t)len >= sizeof path || !read_text(path, text, sizeof text))
        return MAX_CPUS;
    return sch_parse_cpu_max(text);
}

static unsigned limit_v1(const char *directory)
{
    char path[PATH_BYTES];
    char quota[TEXT_BYTES];
    char period[TEXT_BYTES];
    int len = snprintf(path, sizeof path, "%s/cpu.cfs_quota_us", directory);
    if (len < 0 || (size_t)len >= sizeof path || !read_text(path, quota, sizeof quota))
        return MAX_CPUS;
    len = snprintf(path, sizeof path, "%s/cpu.cfs_period_us", directory);
    if (len < 0 || (size_t)len >= sizeof path || !read_text(path, period, sizeof period))
        return MAX_CPUS;
    return quota_cpus(atoll(quota), atoll(period));
}

/* The smallest limit of the group and the groups around it, up to the mount point. */
static unsigned limit_upwards(const char *root, const char *group, unsigned (*limit)(const char *))
{
    char directory[PATH_BYTES];
    int len = snprintf(directory, sizeof directory, "%s%s", root, group);
    if (len < 0 || (size_t)len >= sizeof directory)
        return limit(root);
    unsigned cpus = MAX_CPUS;
    for (int level = 0; level < CGROUP_LEVELS; level++) {
        unsigned here = limit(directory);
        cpus = here < cpus ? here : cpus;
        char *slash = strrchr(directory, '/');
        if (!slash || (size_t)(slash - directory) < strlen(root))
            break;
        *slash = '\0';
    }
    return cpus;
}

static bool names_cpu_controller(const char *controllers)
{
    size_t len = strcspn(controllers, ":");
    for (const char *at = controllers; at < controllers + len; at += strcspn(at, ",:") + 1) {
        if (strcspn(at, ",:") == 3 && memcmp(at, "cpu", 3) == 0)
            return true;
    }
    return false;
}

/* Lines of /proc/self/cgroup are "ID:CONTROLLERS:GROUP"; version 2 has id 0 and no controllers. */
static unsigned cgroup_cpus(void)
{
    char text[TEXT_BYTES];
    if (!read_text("/proc/self/cgroup", text, sizeof text))
        return MAX_CPUS;
    unsigned cpus = MAX_CPUS;
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        unsigned here = MAX_CPUS;
        if (group == controllers + 1)
            here = limit_upwards(CGROUP_ROOT, group + 1, limit_v2);
        else if (names_cpu_controller(controllers + 1))
            here = limit_upwards(CGROUP_ROOT "/cpu", group + 1, limit_v1);
        cpus = here < cpus ? here : cpus;
    }
    return cpus;
}

/* The control groups of a process hardly change, and are many files to read. */
static unsigned known_cgroup_cpus(void)
{
    static atomic_uint known;
    unsigned cpus = atomic_load_explicit(&known, memory_order_relaxed);
    if (cpus == 0) {
        cpus = cgroup_cpus();
        atomic_store_explicit(&known, cpus, memory_order_relaxed);
    }
    return cpus;
}

unsigned sch_usable_cpus(void)
{
    unsigned cpus = affinity_cpus();
    unsigned quota = known_cgroup_cpus();
    cpus = quota < cpus ? quota : cpus;
    return cpus > 0 ? cpus : 1;
}
