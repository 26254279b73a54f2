/* SPDX-License-Identifier: Apache-2.0
 *
 * What has been written: sets, clears, copies and questions of any place and length, in two ranges,
 * against a table of bytes.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "cudart/core/memory/written_bits.h"

enum { BYTES = 4096, STEPS = 40000, LONGEST = 300 };

/* A range that begins at a multiple of a grain, as device memory does, or anywhere, as shared
 * memory. Nothing is ever at these addresses. */
struct range {
    struct crt_grains grains;
    bool table[BYTES];
};

static struct range ranges[2];

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void make_ranges(void)
{
    memset(ranges, 0, sizeof ranges);
    cr_assert_eq(crt_grains_create(&ranges[0].grains, 0x10000000, BYTES), CRT_SUCCESS);
    cr_assert_eq(crt_grains_create(&ranges[1].grains, 0x20000003, BYTES), CRT_SUCCESS);
}

static uint32_t table_bits(const struct range *range, size_t place, size_t size)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < RT_WRITTEN_MAX; i++)
        bits |= (uint32_t)(i >= size || range->table[place + i]) << i;
    return bits;
}

static void put_table_bits(struct range *range, size_t place, size_t size, uint32_t bits)
{
    for (size_t i = 0; i < size; i++)
        range->table[place + i] = bits >> i & 1;
}

static void check_gap(const struct range *range, size_t place, size_t size)
{
    size_t gap;
    size_t found = crt_bits_find_gap(&range->grains, range->grains.begin + place, size, &gap);
    size_t first = 0;
    while (first < size && range->table[place + first])
        first++;
    size_t end = first;
    while (end < size && !range->table[place + end])
        end++;
    cr_assert_eq(found, first);
    cr_assert_eq(gap, end - first);
}

static void do_step(uint32_t *state)
{
    struct range *range = &ranges[next_random(state) % 2];
    struct range *other = &ranges[next_random(state) % 2];
    size_t size = next_random(state) % LONGEST;
    size_t place = next_random(state) % (BYTES - LONGEST);
    size_t from = next_random(state) % (BYTES - LONGEST);
    size_t few = size % (RT_WRITTEN_MAX + 1);
    uint32_t bits = next_random(state) * 257u;
    uintptr_t base = range->grains.begin + place;
    switch (next_random(state) % 6) {
    case 0:
        crt_bits_set(&range->grains, base, size);
        memset(range->table + place, true, size);
        break;
    case 1:
        crt_bits_clear(&range->grains, base, size);
        memset(range->table + place, false, size);
        break;
    case 2:
        cr_assert_eq(crt_bits_get(&range->grains, base, few), table_bits(range, place, few));
        break;
    case 3:
        crt_bits_put(&range->grains, base, few, bits);
        put_table_bits(range, place, few, bits);
        break;
    case 4:
        crt_bits_copy(&range->grains, base, &other->grains, other->grains.begin + from, size);
        memmove(range->table + place, other->table + from, size);
        break;
    default:
        check_gap(range, place, size);
        break;
    }
}

Test(written, as_a_table_of_bytes)
{
    uint32_t state = 7;
    make_ranges();
    for (int i = 0; i < STEPS; i++)
        do_step(&state);
    for (int i = 0; i < 2; i++)
        for (size_t place = 0; place < BYTES; place++)
            cr_assert_eq(crt_bits_get(&ranges[i].grains, ranges[i].grains.begin + place, 1) & 1,
                         ranges[i].table[place]);
}

Test(written, large_clears_give_memory_back)
{
    struct crt_grains grains;
    const size_t large = (size_t)16 << 20;
    size_t gap;
    cr_assert_eq(crt_grains_create(&grains, 0x10000000, large), CRT_SUCCESS);
    crt_bits_set(&grains, grains.begin, large);
    crt_bits_clear(&grains, grains.begin + 5, large - 10);
    cr_expect_eq(crt_bits_find_gap(&grains, grains.begin, large, &gap), 5);
    cr_expect_eq(gap, large - 10);
    cr_expect_eq(crt_bits_get(&grains, grains.begin + large - 8, 8), 0xfffffff8);
}

Test(written, elsewhere_all_counts_as_written)
{
    struct crt_grains none = {0};
    size_t gap;
    make_ranges();
    const struct crt_grains *grains = &ranges[0].grains;
    uintptr_t end = grains->begin + BYTES;
    cr_expect_eq(crt_bits_get(&none, 0x1000, 8), RT_WRITTEN_ALL);
    cr_expect_eq(crt_bits_get(grains, end - 4, 8), RT_WRITTEN_ALL);
    cr_expect_eq(crt_bits_find_gap(grains, end, 100, &gap), 100);
    cr_expect_eq(gap, 0);
    crt_bits_set(&none, 0x1000, 8);
    crt_bits_copy(grains, grains->begin, &none, 0x1000, 8);
    cr_expect_eq(crt_bits_get(grains, grains->begin, 9), 0xfffffeff);
}
