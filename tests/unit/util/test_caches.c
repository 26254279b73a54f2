/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of CPUs, and the size of the last caches against what each CPU's own files say.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "util/caches.h"

static bool read_list(const char *text, cpu_set_t *cpus)
{
    char path[] = "/tmp/test_caches.XXXXXX";
    int file = mkstemp(path);
    cr_assert_geq(file, 0);
    cr_assert_geq(dprintf(file, "%s", text), 0);
    close(file);
    bool is_read = pxr_read_cpu_list(path, cpus);
    unlink(path);
    return is_read;
}

static void expect_list(const char *text, const char *members)
{
    cpu_set_t cpus;
    cr_assert(read_list(text, &cpus), "%s", text);
    for (int cpu = 0; members[cpu]; cpu++)
        cr_expect_eq(CPU_ISSET(cpu, &cpus) != 0, members[cpu] == 'x', "%d of %s", cpu, text);
}

Test(caches, lists_have_numbers_and_ranges)
{
    expect_list("0\n", "x..");
    expect_list("1-3,6\n", ".xxx..x.");
    expect_list("0-1,4-5,7", "xx..xx.x.");
}

Test(caches, a_list_may_be_empty_or_missing)
{
    cpu_set_t cpus;
    cr_expect_not(read_list("\n", &cpus));
    cr_expect_not(pxr_read_cpu_list("/nowhere/list", &cpus));
    cr_expect_eq(CPU_COUNT(&cpus), 0);
}

/* Of one CPU it is the size of its last cache, as the file with the highest index says it. */
Test(caches, one_cpu_has_the_cache_that_its_files_name)
{
    cpu_set_t one;
    unsigned long kib = 0;
    int cpu = sched_getcpu();
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    cr_assert_eq(sched_setaffinity(0, sizeof one, &one), 0);
    for (int index = 0; index < 8; index++) {
        char path[128];
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/size", cpu, index);
        FILE *file = fopen(path, "re");
        if (file == NULL)
            break;
        cr_assert_eq(fscanf(file, "%luK", &kib), 1);
        fclose(file);
    }
    cr_expect_eq(pxr_last_cache_bytes(), (uint64_t)kib << 10);
}
