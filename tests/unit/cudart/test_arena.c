/* SPDX-License-Identifier: Apache-2.0
 *
 * The address space of device memory.
 */
#include <criterion/criterion.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cudart/core/memory/device_arena.h"

#ifndef __has_feature
#define __has_feature(feature) 0
#endif

#define TOTAL ((size_t)64 << 20)
#define PAGE  4096u

static void setup(void)
{
    cr_assert_eq(crt_arena_init(TOTAL, 1), CRT_SUCCESS);
}

static uintptr_t take(size_t bytes)
{
    uintptr_t base = 0;
    cr_assert_eq(crt_arena_alloc(bytes, CRT_MEMORY_DEVICE, 0, NULL, &base), CRT_SUCCESS);
    return base;
}

/* The system's policy for a page; -1: it does not say. */
static int policy_of(uintptr_t address)
{
    int policy = -1;
    syscall(SYS_get_mempolicy, &policy, NULL, 0UL, address, (unsigned long)MPOL_F_ADDR);
    return policy;
}

static void ask_for_interleaving(void)
{
    setenv("PTXRUN_NUMA", "interleave", 1);
    setup();
}

Test(arena, pages_are_dealt_out_to_all_memory_nodes_if_asked, .init = ask_for_interleaving)
{
    int policy = policy_of(take(PAGE));
    if (policy < 0)
        cr_skip_test("memory policies are not allowed here");
    cr_expect_eq(policy, MPOL_INTERLEAVE);
}

Test(arena, pages_lie_where_they_are_touched_first, .init = setup)
{
    int policy = policy_of(take(PAGE));
    cr_expect(policy < 0 || policy == MPOL_DEFAULT);
}

Test(arena, memory_is_aligned_zeroed_and_writable, .init = setup)
{
    for (size_t bytes = 1; bytes < 100000; bytes = bytes * 3 + 1) {
        unsigned char *memory = (unsigned char *)take(bytes);
        cr_expect_eq((uintptr_t)memory % 256, 0);
        for (size_t i = 0; i < bytes; i++)
            cr_assert_eq(memory[i], 0);
        memset(memory, 0xa5, bytes);
    }
}

/* More than the reservation in all, so that freed pages come again. */
Test(arena, a_limit_on_file_sizes_is_none_on_memory)
{
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 4096, .rlim_max = 4096});
    setup();
    for (int i = 0; i < 5000; i++) {
        unsigned char *memory = (unsigned char *)take(TOTAL / 2);
        cr_assert_eq(memory[0], 0);
        memory[0] = 1;
        cr_assert_eq(crt_arena_free((uintptr_t)memory, CRT_MEMORY_DEVICE), CRT_SUCCESS);
    }
}

Test(arena, a_size_of_zero_is_refused, .init = setup)
{
    uintptr_t base;
    cr_expect_eq(crt_arena_alloc(0, CRT_MEMORY_DEVICE, 0, NULL, &base), CRT_INVALID_VALUE);
}

Test(arena, more_than_the_device_has_is_out_of_memory, .init = setup)
{
    uintptr_t base;
    cr_expect_eq(crt_arena_alloc(TOTAL + 1, CRT_MEMORY_DEVICE, 0, NULL, &base), CRT_OUT_OF_MEMORY);
    cr_expect_eq(crt_arena_alloc(SIZE_MAX - 5, CRT_MEMORY_DEVICE, 0, NULL, &base),
                 CRT_OUT_OF_MEMORY);
    uintptr_t all = take(TOTAL);
    cr_expect_eq(crt_arena_alloc(1, CRT_MEMORY_DEVICE, 0, NULL, &base), CRT_OUT_OF_MEMORY);
    cr_expect_eq(crt_arena_free(all, CRT_MEMORY_DEVICE), CRT_SUCCESS);
    take(TOTAL);
}

Test(arena, host_memory_does_not_count_as_device_memory, .init = setup)
{
    uintptr_t base;
    size_t used;
    size_t total;
    cr_assert_eq(crt_arena_alloc(1 << 20, CRT_MEMORY_HOST, 0, NULL, &base), CRT_SUCCESS);
    crt_arena_usage(0, &used, &total);
    cr_expect_eq(used, 0);
    cr_expect_eq(total, TOTAL);
}

Test(arena, an_address_is_found_inside_its_allocation_only, .init = setup)
{
    uintptr_t first = take(1000);
    uintptr_t second = take(5000);
    struct crt_allocation found;
    cr_assert(crt_arena_find(first + 999, &found));
    cr_expect_eq(found.base, first);
    cr_expect_not(crt_arena_find(first + 1000, &found));
    cr_assert(crt_arena_find(second, &found));
    cr_expect_eq(found.size_bytes, 5000);
}

Test(arena, a_freed_pointer_is_unknown_and_cannot_be_freed_again, .init = setup)
{
    uintptr_t base = take(100);
    struct crt_allocation found;
    cr_expect_eq(crt_arena_free(base + 1, CRT_MEMORY_DEVICE), CRT_INVALID_VALUE);
    cr_expect_eq(crt_arena_free(base, CRT_MEMORY_HOST), CRT_INVALID_VALUE);
    cr_expect_eq(crt_arena_free(base, CRT_MEMORY_DEVICE), CRT_SUCCESS);
    cr_expect_not(crt_arena_find(base, &found));
    cr_expect_eq(crt_arena_free(base, CRT_MEMORY_DEVICE), CRT_INVALID_VALUE);
}

Test(arena, a_freed_range_is_not_used_again_at_once, .init = setup)
{
    uintptr_t freed = take(PAGE);
    crt_arena_free(freed, CRT_MEMORY_DEVICE);
    for (int i = 0; i < 1000; i++) {
        uintptr_t base = take(PAGE);
        cr_assert_neq(base, freed);
        crt_arena_free(base, CRT_MEMORY_DEVICE);
    }
}

/* Whether a byte can be read, found out by asking the kernel to read it. */
static bool is_accessible(uintptr_t address)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    bool is_readable = write(ends[1], (const void *)address, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return is_readable;
}

/* The same for writing. */
static bool is_writable(uintptr_t address)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(write(ends[1], "", 1), 1);
    bool is_written = read(ends[0], (void *)address, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return is_written;
}

Test(arena, a_little_around_an_allocation_can_be_read_and_nothing_written, .init = setup)
{
    uintptr_t first = take(PAGE);
    uintptr_t second = take(PAGE);
    cr_expect(is_writable(first + PAGE - 1));
    cr_expect_not(is_writable(first + PAGE));
    cr_expect(is_accessible(first + PAGE));
    cr_expect(is_accessible(first + PAGE + 65535));
    cr_expect_not(is_accessible(first + PAGE + 65536));
    cr_expect(is_accessible(second));
    cr_expect(is_accessible(second - 65536));
    cr_expect_not(is_accessible(second - 65537));
    cr_expect_not(is_writable(second - 1));
    crt_arena_free(first, CRT_MEMORY_DEVICE);
    cr_expect_not(is_accessible(first + PAGE));
    cr_expect_not(is_accessible(first - 1));
}

Test(arena, the_page_behind_host_memory_is_inaccessible, .init = setup)
{
    uintptr_t base;
    cr_assert_eq(crt_arena_alloc(PAGE, CRT_MEMORY_HOST, 0, NULL, &base), CRT_SUCCESS);
    cr_expect(is_accessible(base + PAGE - 1));
    cr_expect_not(is_accessible(base + PAGE));
}

/* A sanitizer's own memory does not fit there. */
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
Test(arena, all_of_the_devices_memory_can_be_allocated_in_a_small_address_space)
{
    setrlimit(RLIMIT_AS, &(struct rlimit){.rlim_cur = (size_t)1 << 30, .rlim_max = RLIM_INFINITY});
    cr_assert_eq(crt_arena_init((size_t)256 << 20, 1), CRT_SUCCESS);
    for (int i = 0; i < 4096; i++)
        take((size_t)64 << 10);
}
#endif

Test(arena, a_freed_page_is_inaccessible, .init = setup)
{
    uintptr_t memory = take(PAGE);
    *(volatile char *)memory = 1;
    crt_arena_free(memory, CRT_MEMORY_DEVICE);
    cr_expect_not(is_accessible(memory));
}

Test(arena, the_nearest_allocation_is_the_one_at_the_smaller_distance, .init = setup)
{
    struct crt_allocation near;
    cr_expect_not(crt_arena_nearest(12345, &near));
    uintptr_t first = take(PAGE);
    uintptr_t second = take(PAGE);
    cr_assert(crt_arena_nearest(first + PAGE + 8, &near));
    cr_expect_eq(near.base, first);
    cr_assert(crt_arena_nearest(second - 8, &near));
    cr_expect_eq(near.base, second);
    cr_assert(crt_arena_nearest(8, &near));
    cr_expect_eq(near.base, first);
}

Test(arena, registered_memory_is_found_and_cannot_be_registered_twice, .init = setup)
{
    static char memory[3 * PAGE];
    uintptr_t base = (uintptr_t)memory;
    struct crt_allocation found;
    cr_expect_eq(crt_arena_register(base, sizeof memory, 2, NULL), CRT_SUCCESS);
    cr_expect_eq(crt_arena_register(base + 10, 4, 2, NULL), CRT_HOST_MEMORY_ALREADY_REGISTERED);
    cr_expect_eq(crt_arena_register(base - 10, 20, 2, NULL), CRT_HOST_MEMORY_ALREADY_REGISTERED);
    cr_assert(crt_arena_find(base + 5000, &found));
    cr_expect_eq(found.kind, CRT_MEMORY_REGISTERED);
    cr_expect_eq(crt_arena_unregister(base + 1), CRT_HOST_MEMORY_NOT_REGISTERED);
    cr_expect_eq(crt_arena_unregister(base), CRT_SUCCESS);
    cr_expect_eq(crt_arena_unregister(base), CRT_HOST_MEMORY_NOT_REGISTERED);
}

Test(arena, registration_over_anything_known_is_refused, .init = setup)
{
    static char memory[4 * PAGE];
    uintptr_t base = (uintptr_t)memory;
    cr_assert_eq(crt_arena_register(base + PAGE, PAGE, 0, NULL), CRT_SUCCESS);
    cr_assert_eq(crt_arena_register(base + 3 * PAGE, PAGE, 0, NULL), CRT_SUCCESS);
    cr_expect_eq(crt_arena_register(base, 4 * PAGE, 0, NULL), CRT_HOST_MEMORY_ALREADY_REGISTERED);
    cr_expect_eq(crt_arena_register(base, PAGE + 1, 0, NULL), CRT_HOST_MEMORY_ALREADY_REGISTERED);
    cr_expect_eq(crt_arena_register(base + 2 * PAGE, PAGE + 1, 0, NULL),
                 CRT_HOST_MEMORY_ALREADY_REGISTERED);
    cr_expect_eq(crt_arena_register(base + 2 * PAGE, PAGE, 0, NULL), CRT_SUCCESS);
    cr_expect_eq(crt_arena_register(take(100), 50, 0, NULL), CRT_HOST_MEMORY_ALREADY_REGISTERED);
    cr_expect_eq(crt_arena_register(SIZE_MAX - 5, 10, 0, NULL), CRT_INVALID_VALUE);
    cr_expect_eq(crt_arena_unregister(base + PAGE + 8), CRT_HOST_MEMORY_NOT_REGISTERED);
}

static void place(uintptr_t base, size_t bytes, unsigned access)
{
    struct crt_allocation mapping = {
        .base = base, .size_bytes = bytes, .kind = CRT_MEMORY_MAPPED, .access = access};
    cr_assert_eq(crt_arena_place(&mapping), CRT_SUCCESS);
}

Test(arena, a_range_is_covered_by_one_allocation_or_adjacent_mappings, .init = setup)
{
    static char memory[4 * PAGE];
    uintptr_t base = (uintptr_t)memory;
    uintptr_t plain = take(1000);
    cr_expect(crt_arena_covers(plain, 1000, CRT_ACCESS_ALL));
    cr_expect(crt_arena_covers(plain + 999, 1, CRT_ACCESS_ALL));
    cr_expect_not(crt_arena_covers(plain, 1001, CRT_ACCESS_READ));
    cr_expect_not(crt_arena_covers(plain + 1000, 1, CRT_ACCESS_READ));
    place(base, PAGE, CRT_ACCESS_ALL);
    place(base + PAGE, PAGE, CRT_ACCESS_READ);
    place(base + 3 * PAGE, PAGE, CRT_ACCESS_ALL);
    cr_expect(crt_arena_covers(base + 8, 2 * PAGE - 8, CRT_ACCESS_READ));
    cr_expect_not(crt_arena_covers(base + 8, 2 * PAGE - 8, CRT_ACCESS_ALL));
    cr_expect_not(crt_arena_covers(base + 8, 2 * PAGE, CRT_ACCESS_READ));
    cr_expect_not(crt_arena_covers(base, SIZE_MAX, CRT_ACCESS_READ));
    crt_arena_set_access(base + PAGE, CRT_ACCESS_ALL);
    cr_expect(crt_arena_covers(base + 8, 2 * PAGE - 8, CRT_ACCESS_ALL));
    cr_expect_eq(crt_arena_free(base, CRT_MEMORY_MAPPED), CRT_SUCCESS);
    cr_expect_not(crt_arena_covers(base + 8, 8, CRT_ACCESS_READ));
}

Test(arena, pages_without_an_address_are_zero_and_not_given_out_twice, .init = setup)
{
    struct crt_pages first;
    struct crt_pages second;
    struct crt_allocation found;
    cr_assert_eq(crt_arena_take_pages(5 * PAGE, &first), CRT_SUCCESS);
    cr_assert_eq(crt_arena_take_pages(5 * PAGE, &second), CRT_SUCCESS);
    cr_expect_neq(first.offset, second.offset);
    cr_expect_not(crt_arena_find(first.place, &found));
    int value = 7;
    cr_expect_eq(pwrite(first.file, &value, sizeof value, (off_t)first.offset), sizeof value);
    crt_arena_return_pages(&first);
    cr_expect_eq(pread(first.file, &value, sizeof value, (off_t)first.offset), sizeof value);
    cr_expect_eq(value, 0);
    crt_arena_return_pages(&second);
}

Test(arena, memory_without_an_address_counts_when_it_is_charged, .init = setup)
{
    size_t used;
    size_t total;
    cr_expect_eq(crt_arena_charge(0, TOTAL + 1), CRT_OUT_OF_MEMORY);
    cr_expect_eq(crt_arena_charge(0, TOTAL), CRT_SUCCESS);
    cr_expect_eq(crt_arena_charge(0, 1), CRT_OUT_OF_MEMORY);
    cr_expect_eq(crt_arena_charge(-1, SIZE_MAX), CRT_SUCCESS);
    crt_arena_usage(0, &used, &total);
    cr_expect_eq(used, TOTAL);
    crt_arena_discharge(0, TOTAL);
    crt_arena_usage(0, &used, &total);
    cr_expect_eq(used, 0);
}

/* Every live allocation keeps its contents, whatever is freed around it. */
Test(arena, random_allocations_do_not_overlap, .init = setup)
{
    enum { COUNT = 300 };
    uintptr_t bases[COUNT] = {0};
    size_t sizes[COUNT];
    srand(7);
    for (int step = 0; step < 20000; step++) {
        int i = rand() % COUNT;
        if (bases[i]) {
            unsigned char *memory = (unsigned char *)bases[i];
            cr_assert_eq(memory[0], (unsigned char)i);
            cr_assert_eq(memory[sizes[i] - 1], (unsigned char)i);
            cr_assert_eq(crt_arena_free(bases[i], CRT_MEMORY_DEVICE), CRT_SUCCESS);
            bases[i] = 0;
        } else {
            sizes[i] = (size_t)rand() % 50000 + 1;
            bases[i] = take(sizes[i]);
            memset((void *)bases[i], i, sizes[i]);
        }
    }
    size_t used;
    size_t total;
    for (int i = 0; i < COUNT; i++)
        if (bases[i])
            crt_arena_free(bases[i], CRT_MEMORY_DEVICE);
    crt_arena_usage(0, &used, &total);
    cr_expect_eq(used, 0);
}

/* Beyond the limit of guarded allocations, memory still comes. */
Test(arena, a_hundred_thousand_small_allocations_fit, .init = setup)
{
    enum { COUNT = 15000 };
    for (int i = 0; i < COUNT; i++)
        *(int *)take(64) = i;
    uintptr_t base;
    for (int i = 0; i < 85000; i++)
        cr_assert_eq(crt_arena_alloc(64, CRT_MEMORY_HOST, 0, NULL, &base), CRT_SUCCESS);
}

static size_t mappings(void)
{
    size_t lines = 0;
    FILE *file = fopen("/proc/self/maps", "re");
    for (int c = fgetc(file); c != EOF; c = fgetc(file))
        lines += c == '\n';
    fclose(file);
    return lines;
}

/* More holes than the system allows mappings, on the way: none stays behind, and all memory goes
 * back to the system, whatever the order of the frees. */
Test(arena, memory_freed_in_any_order_leaves_nothing_behind, .init = setup)
{
    enum { COUNT = 150000, STEP = 77773, AGAIN = 15000 };
    static uintptr_t bases[COUNT];
    size_t before = mappings();
    for (int i = 0; i < COUNT; i++) {
        cr_assert_eq(crt_arena_alloc(64, CRT_MEMORY_HOST, 0, NULL, &bases[i]), CRT_SUCCESS);
        if (i % 16 == 0)
            *(int *)bases[i] = i;
    }
    for (int i = 0, at = 0; i < COUNT; i++, at = (at + STEP) % COUNT) {
        if (at % 16 == 0)
            cr_assert_eq(*(int *)bases[at], at);
        cr_assert_eq(crt_arena_free(bases[at], CRT_MEMORY_HOST), CRT_SUCCESS);
    }
    cr_expect_leq(mappings(), before + 8, "%zu mappings, %zu before", mappings(), before);
    struct stat status;
    int file;
    int64_t offset;
    cr_assert(crt_arena_file(bases[0], &file, &offset));
    cr_assert_eq(fstat(file, &status), 0);
    cr_expect_lt(status.st_blocks, 64, "%ld blocks are still in use", (long)status.st_blocks);
    for (int i = 0; i < AGAIN; i++)
        cr_assert_eq(crt_arena_alloc(64, CRT_MEMORY_HOST, 0, NULL, &bases[i]), CRT_SUCCESS);
}
