/* SPDX-License-Identifier: Apache-2.0
 *
 * The heap of the device's malloc.
 */
#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "cudart/core/code/device_heap.h"

#define LIMIT  ((size_t)64 << 20)
#define BLOCKS 400

static struct crt_context *const owners[2] = {(struct crt_context *)8, (struct crt_context *)16};

static size_t size_of(unsigned i)
{
    static const size_t large[] = {262144, 262145, 1 << 20};
    return i % 100 == 99 ? large[i / 100 % 3] : 1 + (size_t)i * i % 5000;
}

/* Each block keeps what has been written to all of it while others come and go. */
Test(heap, blocks_are_aligned_and_do_not_overlap)
{
    unsigned char *blocks[BLOCKS];
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 0; i < BLOCKS; i++) {
            if (round > 0 && i % 3 == round)
                continue;
            blocks[i] = crt_heap_take(owners[i % 2], NULL, size_of(i), LIMIT);
            cr_assert_not_null(blocks[i]);
            cr_assert_eq((uintptr_t)blocks[i] % 16, 0);
            memset(blocks[i], (int)i, size_of(i));
        }
        for (unsigned i = 0; i < BLOCKS; i++)
            for (size_t k = 0; k < size_of(i); k++)
                cr_assert_eq(blocks[i][k], (unsigned char)i);
        for (unsigned i = 0; i < BLOCKS; i++)
            if (i % 3 != round + 1)
                cr_assert(crt_heap_give(blocks[i]));
    }
    crt_heap_free_owned(owners[0]);
    crt_heap_free_owned(owners[1]);
}

Test(heap, the_limit_holds_for_all_blocks_together)
{
    void *first = crt_heap_take(owners[0], NULL, 1000, 2000);
    cr_assert_not_null(first);
    cr_assert_null(crt_heap_take(owners[1], NULL, 1000, 2000));
    cr_assert_null(crt_heap_take(owners[1], NULL, SIZE_MAX, SIZE_MAX));
    cr_assert_null(crt_heap_take(owners[1], NULL, SIZE_MAX - 20, SIZE_MAX));
    cr_assert(crt_heap_give(first));
    cr_assert_not_null(crt_heap_take(owners[1], NULL, 1000, 2000));
}

Test(heap, only_the_beginning_of_a_block_can_be_freed_once)
{
    char *block = crt_heap_take(owners[0], NULL, 100, LIMIT);
    cr_assert(!crt_heap_give(block + 16));
    cr_assert(crt_heap_give(block));
    cr_assert(!crt_heap_give(block));
}

Test(heap, what_a_context_has_left_goes_with_it)
{
    char *kept = crt_heap_take(owners[0], NULL, 100, LIMIT);
    char *left = crt_heap_take(owners[1], NULL, 100, LIMIT);
    crt_heap_free_owned(owners[1]);
    cr_assert(!crt_heap_give(left));
    cr_assert(crt_heap_give(kept));
}
