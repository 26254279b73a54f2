/* SPDX-License-Identifier: Apache-2.0
 *
 * Limits on memory. A control group's limits hold for all groups below it, so every directory from
 * the process's own up to the root of the hierarchy is asked. Inside a container the path may name
 * a directory that only the host sees; then the mounted directory is the container's own group.
 */
#include "cudart/core/base/memory_limit.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* For code, heap, stacks and the compiler: a fixed number, and a part of all. */
#define HEADROOM_BYTES ((size_t)96 << 20)
#define HEADROOM_PART  16
/* This part of it must remain when devices get more. */
#define RESERVE_PART 2

/* A value of /proc/sys/vm/overcommit_memory. */
#define NEVER_OVERCOMMIT 2

/* What version 1 of control groups says where there is no limit: all that fits into a long, in
 * whole pages of any size. */
#define NO_LIMIT_BYTES ((size_t)INT64_MAX - ((size_t)1 << 20))

/* Columns of /proc/self/statm. */
enum { STATM_SIZE = 0, STATM_DATA = 5, STATM_COLUMNS = 7 };

/* A prefix for /proc and /sys; not empty in tests only. */
static const char *system_root = "";

/* limit_of_system under that prefix; 0: not yet known. */
static _Atomic size_t known_limit;

void crt_memory_set_root(const char *root)
{
    system_root = root;
    known_limit = 0;
}

/* The number in a file; SIZE_MAX when there is none, as in "max". */
static size_t read_number(const char *path)
{
    char line[64];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return SIZE_MAX;
    ssize_t len = read(fd, line, sizeof line - 1);
    close(fd);
    line[len > 0 ? len : 0] = '\0';
    if (!isdigit((unsigned char)line[0]))
        return SIZE_MAX;
    errno = 0;
    unsigned long long number = strtoull(line, NULL, 10);
    return errno ? SIZE_MAX : (size_t)number;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* A version of control groups: files of a group's directory. */
struct version {
    const char *limits[2];
    const char *usage;
    const char *reclaimable[2]; /* words of memory.stat */
};

static const struct version version_1 = {
    .limits = {"memory.limit_in_bytes"},
    .usage = "memory.usage_in_bytes",
    .reclaimable = {"total_inactive_file ", "total_active_file "}};
static const struct version version_2 = {.limits = {"memory.max", "memory.high"},
                                         .usage = "memory.current",
                                         .reclaimable = {"inactive_file ", "active_file "}};

static size_t read_in(const char *directory, const char *file)
{
    char path[PATH_MAX];
    int used = snprintf(path, sizeof path, "%s/%s", directory, file);
    return used > 0 && (size_t)used < sizeof path ? read_number(path) : SIZE_MAX;
}

/* The numbers behind two words at the beginning of lines; 0 for one that is not there. */
static void read_values(const char *path, const char *const words[2], size_t values[2])
{
    char line[128];
    FILE *file = fopen(path, "re");
    values[0] = values[1] = 0;
    while (file && (!values[0] || !values[1]) && fgets(line, sizeof line, file))
        for (int i = 0; i < 2; i++)
            if (strncmp(line, words[i], strlen(words[i])) == 0)
                values[i] = strtoull(line + strlen(words[i]), NULL, 10);
    if (file)
        fclose(file);
}

/* Memory that the system takes back before it ends a process of the group: copies of files, of
 * those in use only half, as the program itself is among them. */
static size_t reclaimable_in(const char *directory, const struct version *version)
{
    char path[PATH_MAX];
    size_t values[2];
    snprintf(path, sizeof path, "%s/memory.stat", directory);
    read_values(path, version->reclaimable, values);
    return values[0] + values[1] / 2;
}

/* A group's limit, or the rest of it. */
static size_t limit_in(const char *directory, const struct version *version, bool wants_left)
{
    size_t limit = SIZE_MAX;
    for (int i = 0; i < 2 && version->limits[i]; i++)
        limit = smaller(limit, read_in(directory, version->limits[i]));
    if (limit >= NO_LIMIT_BYTES)
        return SIZE_MAX;
    size_t usage = wants_left ? read_in(directory, version->usage) : 0;
    if (usage == 0 || usage == SIZE_MAX)
        return limit;
    usage -= smaller(usage, reclaimable_in(directory, version));
    return limit - smaller(limit, usage);
}

/* The smallest over the directory mount/group and all above it. */
static size_t limit_up_from(const char *mount, const char *group, const struct version *version,
                            bool wants_left)
{
    size_t limit = SIZE_MAX;
    char directory[PATH_MAX];
    size_t len = strcspn(group, "\n");
    for (;;) {
        while (len > 0 && group[len - 1] == '/')
            len--;
        int used = snprintf(directory, sizeof directory, "%s%.*s", mount, (int)len, group);
        if (used > 0 && (size_t)used < sizeof directory)
            limit = smaller(limit, limit_in(directory, version, wants_left));
        if (len == 0)
            return limit;
        while (len > 0 && group[len - 1] != '/')
            len--;
    }
}

/* Whether a comma-separated list of len bytes has the word "memory". */
static bool has_memory(const char *list, size_t len)
{
    static const char word[] = "memory";
    size_t word_len = sizeof word - 1;
    for (size_t i = 0; i + word_len <= len; i++) {
        bool begins = i == 0 || list[i - 1] == ',';
        bool ends = i + word_len == len || list[i + word_len] == ',';
        if (begins && ends && memcmp(list + i, word, word_len) == 0)
            return true;
    }
    return false;
}

/* A line of /proc/self/cgroup: "0::/path" is version 2, "5:cpu,memory:/path" version 1. */
static size_t limit_of_line(const char *root, const char *line, bool wants_left)
{
    char mount[PATH_MAX];
    const char *controllers = strchr(line, ':');
    const char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return SIZE_MAX;
    size_t len = (size_t)(group - controllers) - 1;
    if (len == 0) {
        snprintf(mount, sizeof mount, "%s/sys/fs/cgroup", root);
        size_t limit = limit_up_from(mount, group + 1, &version_2, wants_left);
        snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/unified", root);
        return smaller(limit, limit_up_from(mount, group + 1, &version_2, wants_left));
    }
    if (!has_memory(controllers + 1, len))
        return SIZE_MAX;
    snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/memory", root);
    return limit_up_from(mount, group + 1, &version_1, wants_left);
}

static size_t limit_of_groups(const char *root, bool wants_left)
{
    size_t limit = SIZE_MAX;
    char line[PATH_MAX];
    snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    FILE *file = fopen(line, "re");
    if (!file)
        return smaller(limit_of_line(root, "0::/", wants_left),
                       limit_of_line(root, "1:memory:/", wants_left));
    while (fgets(line, sizeof line, file))
        limit = smaller(limit, limit_of_line(root, line, wants_left));
    fclose(file);
    return limit;
}

size_t crt_memory_limit_of_groups(const char *root)
{
    return limit_of_groups(root, false);
}

/* The soft limit; SIZE_MAX when there is none. */
static size_t limit_of_process(int resource)
{
    struct rlimit limit;
    return getrlimit((__rlimit_resource_t)resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY
               ? limit.rlim_cur
               : SIZE_MAX;
}

size_t crt_memory_headroom(size_t limit_bytes)
{
    return smaller(HEADROOM_BYTES + limit_bytes / HEADROOM_PART, limit_bytes / 2);
}

/* The memory that the system has left altogether. Memory promised to nobody counts only where the
 * system keeps its promises. */
static size_t left_in_system(const char *root)
{
    static const char *const free_words[2] = {"MemAvailable:", "SwapFree:"};
    static const char *const promise_words[2] = {"CommitLimit:", "Committed_AS:"};
    char path[PATH_MAX];
    size_t values[2];
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    read_values(path, free_words, values);
    if (!values[0])
        return SIZE_MAX; /* a very old system, or none at all */
    size_t available = (values[0] + values[1]) << 10;
    char policy[PATH_MAX];
    snprintf(policy, sizeof policy, "%s/proc/sys/vm/overcommit_memory", root);
    if (read_number(policy) != NEVER_OVERCOMMIT)
        return available;
    read_values(path, promise_words, values);
    size_t limit = values[0] << 10;
    size_t promised = values[1] << 10;
    return smaller(available, limit - smaller(limit, promised));
}

/* The limit of the machine, or of the control groups. */
static size_t limit_of_system(void)
{
    size_t bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    return smaller(bytes, crt_memory_limit_of_groups(system_root));
}

/* The same as it was first: a reserve need not be more exact, and groups are many files to read. */
static size_t known_limit_of_system(void)
{
    size_t bytes = atomic_load_explicit(&known_limit, memory_order_relaxed);
    if (!bytes) {
        bytes = limit_of_system();
        atomic_store_explicit(&known_limit, bytes, memory_order_relaxed);
    }
    return bytes;
}

size_t crt_memory_limit(void)
{
    size_t bytes = known_limit_of_system();
    bytes -= crt_memory_headroom(bytes);
    /* Under ulimit -v, half of the address space is left for the program and the compiler. */
    bytes = smaller(bytes, limit_of_process(RLIMIT_AS) / 2);
    /* A memory file is not data, but it may be forbidden, too. */
    if (!crt_memory_file_may_have(bytes))
        bytes = smaller(bytes, limit_of_process(RLIMIT_DATA) / 2);
    return bytes;
}

size_t crt_memory_available(void)
{
    size_t bytes = smaller(left_in_system(system_root), limit_of_groups(system_root, true));
    size_t reserve = crt_memory_headroom(known_limit_of_system()) / RESERVE_PART;
    return bytes == SIZE_MAX ? bytes : bytes - smaller(bytes, reserve);
}

/* The rest of a limit of which so many pages are used, by a column of /proc/self/statm. */
static size_t left_of(int resource, int column)
{
    size_t limit = limit_of_process(resource);
    if (limit == SIZE_MAX)
        return limit;
    long pages[STATM_COLUMNS] = {0};
    FILE *file = fopen("/proc/self/statm", "re");
    for (int i = 0; file && i < STATM_COLUMNS; i++)
        if (fscanf(file, "%ld", &pages[i]) != 1)
            pages[i] = 0;
    if (file)
        fclose(file);
    size_t used = (size_t)pages[column] * (size_t)sysconf(_SC_PAGESIZE);
    return limit - smaller(limit, used);
}

bool crt_memory_can_grow(size_t bytes)
{
    return left_of(RLIMIT_AS, STATM_SIZE) >= bytes && left_of(RLIMIT_DATA, STATM_DATA) >= bytes &&
           crt_memory_available() >= bytes;
}

bool crt_memory_file_may_have(size_t bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes);
}
