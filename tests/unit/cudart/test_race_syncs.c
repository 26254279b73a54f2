/* SPDX-License-Identifier: Apache-2.0
 *
 * What threads learn of each other through a place, while other launches use it, too.
 */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "cudart/core/races/syncs.h"

#define THREADS RT_WARP_SIZE
#define PLACE   ((uintptr_t)0x1000)

static struct race_block *make_block(uint64_t launch, uint32_t index)
{
    struct race_block *block = calloc(1, sizeof *block);
    cr_assert_not_null(block);
    race_block_begin(block, launch, index, THREADS);
    return block;
}

static void free_block(struct race_block *block)
{
    race_block_free(block);
    free(block);
}

/* Whether what the first thread of the other block did in the beginning comes before. */
static bool knows(const struct race_block *block, uint32_t other)
{
    return race_is_before(block, 0, other, 0, 1);
}

Test(race_syncs, another_launch_takes_no_knowledge_away)
{
    struct race_block *writer = make_block(1, 0);
    struct race_block *reader = make_block(1, 1);
    struct race_block *stranger = make_block(2, 0);
    race_sync_release(writer, 0, true, PLACE);
    race_sync_acquire(stranger, 0, true, PLACE);
    race_sync_release(stranger, 0, true, PLACE);
    race_sync_acquire(reader, 0, true, PLACE);
    cr_expect(knows(reader, 0));
    free_block(writer);
    free_block(reader);
    free_block(stranger);
}

Test(race_syncs, another_launch_learns_nothing)
{
    struct race_block *writer = make_block(3, 0);
    struct race_block *stranger = make_block(4, 1);
    race_sync_release(writer, 0, true, PLACE);
    race_sync_acquire(stranger, 0, true, PLACE);
    cr_expect(!knows(stranger, 0));
    free_block(writer);
    free_block(stranger);
}

Test(race_syncs, launches_that_have_ended_make_room)
{
    for (uint64_t launch = 10; launch < 100; launch++) {
        struct race_block *writer = make_block(launch, 0);
        struct race_block *reader = make_block(launch, 1);
        race_sync_acquire(reader, 0, true, PLACE);
        cr_expect(!knows(reader, 0));
        race_sync_release(writer, 0, true, PLACE);
        race_sync_acquire(reader, 0, true, PLACE);
        cr_expect(knows(reader, 0));
        free_block(writer);
        free_block(reader);
    }
}
