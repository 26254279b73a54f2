/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdint.h>

#include "util/arena.h"

Test(arena, memory_is_zeroed_and_aligned)
{
    struct pxr_arena arena;
    pxr_arena_init(&arena, 0);
    for (size_t size = 0; size < 4000; size += 7) {
        unsigned char *bytes = pxr_arena_alloc(&arena, size);
        cr_assert_not_null(bytes);
        cr_assert_eq((uintptr_t)bytes % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++)
            cr_assert_eq(bytes[i], 0);
        memset(bytes, 0xff, size);
    }
    pxr_arena_fini(&arena);
}

Test(arena, limit_is_never_exceeded)
{
    struct pxr_arena arena;
    pxr_arena_init(&arena, 100000);
    size_t total = 0;
    while (pxr_arena_alloc(&arena, 1000))
        total += 1000;
    cr_assert_leq(arena.total_bytes, 100000);
    cr_assert_geq(total, 80000);
    cr_assert_null(pxr_arena_alloc(&arena, SIZE_MAX));
    pxr_arena_fini(&arena);
}

Test(arena, array_size_overflow_fails)
{
    struct pxr_arena arena;
    pxr_arena_init(&arena, 0);
    cr_assert_null(pxr_arena_alloc_array(&arena, SIZE_MAX / 2, 3));
    pxr_arena_fini(&arena);
}

Test(arena, strndup_terminates)
{
    struct pxr_arena arena;
    pxr_arena_init(&arena, 0);
    cr_assert_str_eq(pxr_arena_strndup(&arena, "abcdef", 3), "abc");
    pxr_arena_fini(&arena);
}
