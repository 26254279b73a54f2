/* SPDX-License-Identifier: Apache-2.0
 *
 * Limits on memory. A control group's limits hold for all groups below it, so every directory from
 * the process's own up to the root of the hierarchy is asked. Inside a container the path may
 * name a directory that only the host sees; then what is mounted is the container's own group.
 */
#include "cudart/core/memory_limit.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The number in a file; SIZE_MAX when there is none, as in "max". */
static size_t read_number(const char *path)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return SIZE_MAX;
    char line[64] = "";
    if (!fgets(line, sizeof line, file))
        line[0] = '\0';
    fclose(file);
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

/* The smallest of the two files' numbers over the directory mount/group and all above it. */
static size_t limit_up_from(const char *mount, const char *group, const char *const files[2])
{
    size_t limit = SIZE_MAX;
    char path[PATH_MAX];
    size_t len = strcspn(group, "\n");
    for (;;) {
        while (len > 0 && group[len - 1] == '/')
            len--;
        for (int i = 0; i < 2 && files[i]; i++) {
            int used = snprintf(path, sizeof path, "%s%.*s/%s", mount, (int)len, group, files[i]);
            if (used > 0 && (size_t)used < sizeof path)
                limit = smaller(limit, read_number(path));
        }
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
static size_t limit_of_line(const char *root, const char *line)
{
    static const char *const files_v2[2] = {"memory.max", "memory.high"};
    static const char *const files_v1[2] = {"memory.limit_in_bytes", NULL};
    char mount[PATH_MAX];
    const char *controllers = strchr(line, ':');
    const char *group = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!group)
        return SIZE_MAX;
    size_t len = (size_t)(group - controllers) - 1;
    if (len == 0) {
        snprintf(mount, sizeof mount, "%s/sys/fs/cgroup", root);
        size_t limit = limit_up_from(mount, group + 1, files_v2);
        snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/unified", root);
        return smaller(limit, limit_up_from(mount, group + 1, files_v2));
    }
    if (!has_memory(controllers + 1, len))
        return SIZE_MAX;
    snprintf(mount, sizeof mount, "%s/sys/fs/cgroup/memory", root);
    return limit_up_from(mount, group + 1, files_v1);
}

size_t crt_memory_limit_of_groups(const char *root)
{
    size_t limit = SIZE_MAX;
    char line[PATH_MAX];
    snprintf(line, sizeof line, "%s/proc/self/cgroup", root);
    FILE *file = fopen(line, "re");
    if (!file)
        return smaller(limit_of_line(root, "0::/"), limit_of_line(root, "1:memory:/"));
    while (fgets(line, sizeof line, file))
        limit = smaller(limit, limit_of_line(root, line));
    fclose(file);
    return limit;
}

size_t crt_memory_limit(void)
{
    size_t bytes = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    bytes = smaller(bytes, crt_memory_limit_of_groups(""));
    /* Under ulimit -v, half of the address space is left for the program and the compiler. */
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
        bytes = smaller(bytes, space.rlim_cur / 2);
    return bytes;
}

bool crt_memory_file_may_have(size_t bytes)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
           (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= bytes);
}
