/* SPDX-License-Identifier: Apache-2.0
 *
 * rt/written.c: marks of pieces and of lanes, in device memory and in shared memory, against a
 * table of bytes. What the inline code leaves to the host is done here byte by byte.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "translator/rt/written.h"

enum { BYTES = 2048, STEPS = 20000, LANES = 64 };

static uint8_t shadow[BYTES / RT_SHADOW_GRAIN + RT_SHADOW_SLACK];
static bool table[BYTES];
static const uint64_t begin = 0x10000000;
static bool is_reported;

static void set_byte(uint64_t place)
{
    if (place < BYTES)
        shadow[place / RT_SHADOW_GRAIN] |= (uint8_t)(1u << place % RT_SHADOW_GRAIN);
}

void rt_mark_slow(struct rt_thread *thread, const char *address, uint64_t bytes, uint32_t written)
{
    (void)thread;
    for (uint64_t i = 0; i < bytes; i++)
        if (written == RT_WRITTEN_ALL || (written >> i & 1))
            set_byte((uint64_t)address + i - begin);
}

uint32_t rt_written_slow(struct rt_thread *thread, const char *address, uint64_t bytes)
{
    (void)thread;
    uint32_t written = RT_WRITTEN_ALL;
    for (uint64_t i = 0; i < bytes; i++) {
        uint64_t place = (uint64_t)address + i - begin;
        bool is_set = shadow[place / RT_SHADOW_GRAIN] >> place % RT_SHADOW_GRAIN & 1;
        written &= ~((uint32_t)!is_set << i);
    }
    return written;
}

void rt_own_failed(struct rt_thread *thread, uint32_t written, uint64_t place, const char *accesses)
{
    (void)thread;
    (void)written;
    (void)place;
    (void)accesses;
    is_reported = true;
}

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void check_table(void)
{
    for (uint64_t place = 0; place < BYTES; place++)
        cr_assert_eq(shadow[place / RT_SHADOW_GRAIN] >> place % RT_SHADOW_GRAIN & 1, table[place],
                     "byte %d", (int)place);
}

static void mark_lanes(uint32_t *state, uint64_t size_bytes)
{
    uint64_t bytes = UINT64_C(1) << next_random(state) % 5;
    uint64_t place = next_random(state) % (BYTES - LANES * bytes);
    uint64_t lanes = (uint64_t)next_random(state) << 40 | (uint64_t)next_random(state) << 20 |
                     next_random(state);
    if (next_random(state) % 8 == 0)
        lanes = UINT64_MAX << next_random(state) % 64;
    rt_mark_runs(NULL, (const char *)(begin + place), bytes, begin, size_bytes,
                 (const char *)shadow, lanes);
    for (uint64_t i = 0; i < LANES; i++)
        if (lanes >> i & 1)
            memset(table + place + i * bytes, true, bytes);
}

static void mark_piece(uint32_t *state, uint64_t size_bytes)
{
    uint64_t bytes = next_random(state) % 80;
    uint64_t place = next_random(state) % (BYTES - 80);
    rt_mark_written(NULL, (const char *)(begin + place), bytes, begin, size_bytes,
                    (const char *)shadow, RT_WRITTEN_ALL);
    memset(table + place, true, bytes);
}

static void ask(uint32_t *state, uint64_t size_bytes)
{
    uint64_t bytes = 1 + next_random(state) % 16;
    uint64_t place = next_random(state) % (BYTES - 16);
    uint32_t wanted = RT_WRITTEN_ALL;
    for (uint64_t i = 0; i < bytes; i++)
        wanted &= ~((uint32_t)!table[place + i] << i);
    cr_assert_eq(rt_ask_written(NULL, (const char *)(begin + place), bytes, begin, size_bytes,
                                (const char *)shadow, NULL),
                 wanted);
}

static void compare(uint64_t size_bytes, uint32_t seed)
{
    for (int i = 0; i < STEPS; i++) {
        if (i % 50 == 0) {
            check_table();
            memset(shadow, 0, sizeof shadow);
            memset(table, 0, sizeof table);
        }
        switch (next_random(&seed) % 3) {
        case 0:
            mark_lanes(&seed, size_bytes);
            break;
        case 1:
            mark_piece(&seed, size_bytes);
            break;
        default:
            ask(&seed, size_bytes);
            break;
        }
    }
}

Test(written, device_memory)
{
    compare(BYTES, 1);
}

Test(written, shared_memory)
{
    compare(RT_SHARED_WRAP, 2);
}

Test(written, own_arrays_are_told_if_a_byte_is_missing)
{
    rt_own_checked(NULL, RT_WRITTEN_ALL, 0, NULL);
    cr_expect(!is_reported);
    rt_own_checked(NULL, 0xfffffffb, 0, NULL);
    cr_expect(is_reported);
}
