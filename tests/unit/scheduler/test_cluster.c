/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters: blocks that run together, reach each other's shared memory and wait for each other; by
 * threads that wait, and fused.
 */
#include "kernels.h"

static atomic_int bad;

static void expect_good(void)
{
    int line = atomic_exchange(&bad, 0);
    cr_assert_eq(line, 0, "line %d", line);
}

/* The shared memory of the block so many ranks ahead, around the cluster. */
static volatile uint32_t *shared(const struct rt_thread *thread, uint32_t ahead)
{
    const struct rt_block *block = thread->block;
    int64_t own = block->cluster_rank;
    int64_t other = (own + ahead) % block->launch->cluster_blocks;
    return (volatile uint32_t *)(void *)(block->shared +
                                         (other - own) * (1 << RT_CLUSTER_DISTANCE_LOG2));
}

static uint32_t rounds(struct rt_thread *thread, struct values *v, uint32_t entry, enum mode mode)
{
    uint32_t me = tid(thread);
    uint32_t next = (thread->block->cluster_rank + 1) % thread->block->launch->cluster_blocks;
    BEGIN
    for (v->i = 0; v->i < 6; v->i++) {
        shared(thread, 0)[me] = 1000 * thread->block->cluster_rank + me + v->i;
        rt_cluster_arrive(thread);
        CLUSTER_WAIT(1);
        CHECK(&bad, shared(thread, 1)[me] == 1000 * next + me + v->i);
        BARRIER(2);
        CHECK(&bad, shared(thread, 1)[0] == 1000 * next + v->i);
        rt_cluster_arrive(thread);
        CLUSTER_WAIT(3);
    }
    rt_cluster_leave(thread);
    END;
}

Test(cluster, blocks_see_what_others_have_stored)
{
    static const uint32_t clusters[] = {1, 2, 3, 8, 16};
    static const uint32_t sizes[] = {1, 33, 256};
    for (size_t i = 0; i < sizeof clusters / sizeof *clusters; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
            RUN_ALL(, rounds, NULL,
                    {.grid = {3 * clusters[i]},
                     .block = {sizes[k]},
                     .cluster = {clusters[i]},
                     .shared_bytes = 1024});
    expect_good();
}

/* Where the block is: x, y and z of clusters and in the cluster. */
static void check_place(struct rt_thread *thread)
{
    const struct rt_launch *launch = thread->block->launch;
    uint32_t rank = 0;
    for (int i = 2; i >= 0; i--)
        rank = rank * launch->cluster[i] + thread->block->ctaid[i] % launch->cluster[i];
    CHECK(&bad, rank == thread->block->cluster_rank);
    atomic_uint *seen = data(thread);
    uint32_t number =
        thread->block->ctaid[0] +
        launch->grid[0] * (thread->block->ctaid[1] + launch->grid[1] * thread->block->ctaid[2]);
    atomic_fetch_add(&seen[number], 1);
}

Test(cluster, each_block_runs_once_at_its_place)
{
    static atomic_uint seen[6 * 4 * 6];
    RUN_OK({.entry = check_place, .grid = {6, 4, 6}, .cluster = {3, 2, 2}, .data = seen});
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++)
        cr_assert_eq(seen[i], 5, "block %zu", i);
    expect_good();
}

static uint32_t leave_early(struct rt_thread *thread, struct values *v, uint32_t entry,
                            enum mode mode)
{
    BEGIN
    for (v->i = 0; v->i <= tid(thread) + thread->block->cluster_rank; v->i++) {
        rt_cluster_arrive(thread);
        CLUSTER_WAIT(1);
    }
    if (tid(thread) % 2 == 0)
        rt_cluster_arrive(thread);
    rt_cluster_leave(thread);
    END;
}

Test(cluster, threads_that_have_left_are_not_waited_for)
{
    RUN_ALL(, leave_early, NULL, {.grid = {12}, .block = {40}, .cluster = {4}});
    RUN_ALL(, leave_early, NULL, {.grid = {200}, .block = {1}});
}

/* Some wait at once, others do something in between; places differ. */
static uint32_t wait_apart(struct rt_thread *thread, struct values *v, uint32_t entry,
                           enum mode mode)
{
    uint32_t me = tid(thread);
    BEGIN
    for (v->i = 0; v->i < 5; v->i++) {
        shared(thread, 1)[me] = v->i + me;
        rt_cluster_arrive(thread);
        if (me < 32) {
            SYNC(PLAIN, 0, warp_sync, 0xffffffff);
            CLUSTER_WAIT(1);
        } else {
            CLUSTER_WAIT(2);
        }
        CHECK(&bad, shared(thread, 0)[me] == v->i + me);
        rt_cluster_arrive(thread);
        CLUSTER_WAIT(3);
    }
    rt_cluster_leave(thread);
    END;
}

Test(cluster, threads_of_a_block_may_wait_at_different_places)
{
    RUN_ALL(, wait_apart, NULL, {.grid = {8}, .block = {96}, .cluster = {4}, .shared_bytes = 384});
    expect_good();
}

/* Clusters wait for each other as well: a barrier of the grid in its memory. */
static uint32_t meet_in_grid(struct rt_thread *thread, struct values *v, uint32_t entry,
                             enum mode mode)
{
    atomic_uint *arrived = kernel_data(thread);
    BEGIN
    rt_cluster_arrive(thread);
    CLUSTER_WAIT(1);
    atomic_fetch_add(arrived, 1);
    while (atomic_load(arrived) < thread->block->launch->grid[0] * block_threads(thread))
        POLL(PLAIN);
    rt_cluster_arrive(thread);
    CLUSTER_WAIT(2);
    rt_cluster_leave(thread);
    END;
}

Test(cluster, clusters_of_a_cooperative_grid_wait_for_each_other)
{
    static atomic_uint arrived;
    RUN_ALL(atomic_store(&arrived, 0), meet_in_grid, &arrived,
            {.grid = {40}, .block = {32}, .cluster = {4}, .is_cooperative = true});
}

static uint32_t never_arrive(struct rt_thread *thread, struct values *v, uint32_t entry,
                             enum mode mode)
{
    bool is_late = tid(thread) == 0 && thread->block->cluster_rank == 1;
    BEGIN
    if (is_late)
        SYNC(PLAIN, 0, bar_sync, 1, 64);
    rt_cluster_arrive(thread);
    CLUSTER_WAIT(1);
    rt_cluster_leave(thread);
    END;
}

static enum pxr_status status_of(body_fn body, bool is_fused, struct run run)
{
    struct kernel kernel = {body, 0, NULL};
    run.entry = is_fused ? NULL : run_precise;
    return run_kernel(&kernel, run).status;
}

Test(cluster, one_that_nobody_completes_is_a_deadlock)
{
    for (int is_fused = 0; is_fused < 2; is_fused++) {
        struct run run = {.grid = {4}, .block = {64}, .cluster = {2}, .shared_bytes = 1024};
        cr_assert_eq(status_of(never_arrive, is_fused, run), PXR_FAULT_DEADLOCK);
        cr_assert_eq(status_of(rounds, is_fused, run), PXR_OK);
    }
    expect_good();
}

/* The second block reads the memory of the first, which has ended. */
static uint32_t read_what_is_gone(struct rt_thread *thread, struct values *v, uint32_t entry,
                                  enum mode mode)
{
    BEGIN
    if (thread->block->cluster_rank == 1) {
        rt_cluster_arrive(thread);
        CLUSTER_WAIT(1);
        CHECK(&bad, shared(thread, 1)[0] == 0);
    }
    rt_cluster_leave(thread);
    END;
}

Test(cluster, memory_of_a_block_that_has_ended_is_gone)
{
    for (int is_fused = 0; is_fused < 2; is_fused++) {
        struct run run = {.grid = {2}, .block = {32}, .cluster = {2}, .shared_bytes = 1024};
        cr_assert_eq(status_of(read_what_is_gone, is_fused, run), PXR_FAULT_ADDRESS);
        cr_assert_eq(status_of(rounds, is_fused, run), PXR_OK);
    }
    atomic_store(&bad, 0);
}

static uint32_t arrive_twice(struct rt_thread *thread, struct values *v, uint32_t entry,
                             enum mode mode)
{
    BEGIN
    rt_cluster_arrive(thread);
    if (tid(thread) == 5)
        rt_cluster_arrive(thread);
    CLUSTER_WAIT(1);
    rt_cluster_leave(thread);
    END;
}

Test(cluster, arriving_twice_is_a_fault)
{
    struct run run = {.grid = {2}, .block = {32}, .cluster = {2}};
    cr_assert_eq(status_of(arrive_twice, false, run), PXR_FAULT_INSTRUCTION);
    cr_assert_eq(status_of(arrive_twice, true, run), PXR_FAULT_INSTRUCTION);
}

Test(cluster, what_cannot_be_placed_does_not_run)
{
    static const struct run runs[] = {
        {.grid = {17}, .block = {32}, .cluster = {17}},
        {.grid = {6}, .block = {32}, .cluster = {4}},
        {.grid = {4, 3}, .block = {32}, .cluster = {2, 2}},
        {.grid = {2}, .block = {32}, .cluster = {2}, .shared_bytes = 1 << 20},
    };
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        cr_assert_eq(status_of(rounds, false, runs[i]), PXR_OUT_OF_RESOURCES, "%zu", i);
}
