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
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cudart/core/base/memory_limit.h"
#include "tests/support/emulated.h"

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

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

/* ---- what is left ---- */

/* Rounded to MiB, and without the reserve, which is half of the headroom of the limit. */
static size_t left_mib(size_t limit_mib)
{
    crt_memory_set_root(root);
    return (crt_memory_available() + crt_memory_headroom(limit_mib << 20) / 2) >> 20;
}

Test(memory_limit, devices_do_not_get_all)
{
    put("sys/fs/cgroup/memory.max", "268435456\n");
    crt_memory_set_root(root);
    cr_expect_leq(crt_memory_limit(), (size_t)192 << 20);
    cr_expect_geq(crt_memory_limit(), (size_t)128 << 20);
    cr_expect_geq(crt_memory_headroom((size_t)16 << 30), (size_t)1 << 30);
    cr_expect_eq(crt_memory_headroom((size_t)8 << 20), (size_t)4 << 20);
}

Test(memory_limit, what_a_group_uses_is_not_left)
{
    put("proc/self/cgroup", "0::/a/b\n");
    put("sys/fs/cgroup/a/b/memory.max", "max\n");
    put("sys/fs/cgroup/a/memory.max", "536870912\n");
    put("sys/fs/cgroup/a/memory.current", "104857600\n");
    cr_expect_eq(left_mib(512), 412);
    put("sys/fs/cgroup/a/memory.stat", "anon 1\nactive_file 41943040\ninactive_file 10485760\n");
    cr_expect_eq(left_mib(512), 412 + 20 + 10);
    put("sys/fs/cgroup/a/b/memory.high", "209715200\n");
    put("sys/fs/cgroup/a/b/memory.current", "209715200\n");
    crt_memory_set_root(root);
    cr_expect_eq(crt_memory_available(), 0);
}

Test(memory_limit, the_first_version_counts_what_is_used_below_a_group)
{
    put("proc/self/cgroup", "4:memory:/jobs\n0::/\n");
    put("sys/fs/cgroup/memory/jobs/memory.limit_in_bytes", "536870912\n");
    put("sys/fs/cgroup/memory/jobs/memory.usage_in_bytes", "209715200\n");
    put("sys/fs/cgroup/memory/jobs/memory.stat",
        "inactive_file 1\ntotal_inactive_file 104857600\ntotal_active_file 0\n");
    cr_expect_eq(left_mib(512), 412);
}

Test(memory_limit, a_machine_without_groups_has_what_is_available)
{
    size_t machine_mib = ((size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE)) >> 20;
    put("proc/meminfo",
        "MemTotal: 99999999 kB\nMemFree: 1 kB\nMemAvailable: 10485760 kB\n"
        "SwapFree: 1048576 kB\nCommitLimit: 3145728 kB\nCommitted_AS: 2097152 kB\n");
    cr_expect_leq(left_mib(machine_mib), 11 * 1024 + 1);
    cr_expect_geq(left_mib(machine_mib), 11 * 1024 - 1);
    put("proc/sys/vm/overcommit_memory", "2\n");
    crt_memory_set_root(root);
    cr_expect_lt(crt_memory_available(), (size_t)1024 << 20);
}

Test(memory_limit, the_process_cannot_grow_beyond_its_own_limits)
{
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    cr_skip_test("sanitizers take address space for themselves");
#endif
    if (is_emulated())
        cr_skip_test("an emulator sets no limit");
    cr_expect(crt_memory_can_grow((size_t)1 << 20));
    cr_expect_not(crt_memory_can_grow(SIZE_MAX / 2));
    struct rlimit limit;
    cr_assert_eq(getrlimit(RLIMIT_AS, &limit), 0);
    setrlimit(RLIMIT_AS, &(struct rlimit){(rlim_t)1 << 31, limit.rlim_max});
    cr_expect_not(crt_memory_can_grow((size_t)1 << 31));
    setrlimit(RLIMIT_AS, &limit);
    setrlimit(RLIMIT_DATA, &(struct rlimit){(rlim_t)1 << 30, limit.rlim_max});
    cr_expect_not(crt_memory_can_grow((size_t)1 << 30));
}
