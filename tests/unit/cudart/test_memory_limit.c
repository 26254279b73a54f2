/* SPDX-License-Identifier: Apache-2.0
 *
 * Limits of control groups, read from a directory that is made up.
 */
#include <criterion/criterion.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cudart/core/memory_limit.h"

static char root[] = "/tmp/ptxrun-limit-XXXXXX";

static void make_root(void)
{
    cr_assert(mkdtemp(root));
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

static void remove_root(void)
{
    nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* Writes root/path, with the directories it needs. */
static void put(const char *path, const char *text)
{
    char name[512];
    snprintf(name, sizeof name, "%s/%s", root, path);
    for (char *slash = strchr(name + sizeof root, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(name, 0755);
        *slash = '/';
    }
    FILE *file = fopen(name, "w");
    cr_assert(file, "%s", name);
    fputs(text, file);
    fclose(file);
}

TestSuite(memory_limit, .init = make_root, .fini = remove_root);

Test(memory_limit, without_control_groups_there_is_none)
{
    cr_expect_eq(crt_memory_limit_of_groups(root), SIZE_MAX);
}

Test(memory_limit, max_means_none)
{
    put("proc/self/cgroup", "0::/a\n");
    put("sys/fs/cgroup/a/memory.max", "max\n");
    put("sys/fs/cgroup/a/memory.high", "max\n");
    cr_expect_eq(crt_memory_limit_of_groups(root), SIZE_MAX);
}

Test(memory_limit, the_own_group_has_a_limit)
{
    put("proc/self/cgroup", "0::/user.slice/job\n");
    put("sys/fs/cgroup/user.slice/job/memory.max", "1073741824\n");
    put("sys/fs/cgroup/user.slice/other/memory.max", "5\n");
    cr_expect_eq(crt_memory_limit_of_groups(root), 1073741824);
}

Test(memory_limit, a_parents_limit_holds_below_it)
{
    put("proc/self/cgroup", "0::/a/b/c\n");
    put("sys/fs/cgroup/a/b/c/memory.max", "3000000\n");
    put("sys/fs/cgroup/a/b/memory.max", "max\n");
    put("sys/fs/cgroup/a/memory.max", "2000000\n");
    cr_expect_eq(crt_memory_limit_of_groups(root), 2000000);
}

Test(memory_limit, the_softer_limit_counts_when_it_is_smaller)
{
    put("proc/self/cgroup", "0::/a\n");
    put("sys/fs/cgroup/a/memory.max", "3000000\n");
    put("sys/fs/cgroup/a/memory.high", "1000000\n");
    cr_expect_eq(crt_memory_limit_of_groups(root), 1000000);
}

/* In a container, the path may name what only the host sees; the root is the container's group. */
Test(memory_limit, a_container_finds_its_limit_at_the_root)
{
    put("proc/self/cgroup", "0::/docker/0123456789abcdef\n");
    put("sys/fs/cgroup/memory.max", "4000000\n");
    cr_expect_eq(crt_memory_limit_of_groups(root), 4000000);
}

Test(memory_limit, the_first_version_is_read_where_its_memory_controller_is)
{
    put("proc/self/cgroup", "12:cpu,cpuacct:/x\n7:memory:/jobs/one\n3:xmemory,memoryx:/x\n");
    put("sys/fs/cgroup/memory/jobs/one/memory.limit_in_bytes", "9223372036854771712\n");
    put("sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "6000000\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("sys/fs/cgroup/memory/x/memory.limit_in_bytes", "1\n");
    cr_expect_eq(crt_memory_limit_of_groups(root), 6000000);
}

Test(memory_limit, both_versions_at_once_give_the_smaller_limit)
{
    put("proc/self/cgroup", "5:name=systemd,memory:/m\n0::/u\n");
    put("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "7000000\n");
    put("sys/fs/cgroup/unified/u/memory.max", "5000000\n");
    cr_expect_eq(crt_memory_limit_of_groups(root), 5000000);
}

Test(memory_limit, without_proc_the_roots_are_asked)
{
    put("sys/fs/cgroup/memory.max", "8000000\n");
    cr_expect_eq(crt_memory_limit_of_groups(root), 8000000);
}

Test(memory_limit, nonsense_is_no_limit)
{
    put("proc/self/cgroup", "\n:\n::\n0::\n1:memory\n0::relative\n:memory:/\n");
    put("sys/fs/cgroup/memory.max", "many\n");
    put("sys/fs/cgroup/memory.high", "-5\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "99999999999999999999999999\n");
    cr_expect_eq(crt_memory_limit_of_groups(root), SIZE_MAX);
}

Test(memory_limit, this_process_may_use_something)
{
    cr_expect_gt(crt_memory_limit(), (size_t)1 << 20);
}
