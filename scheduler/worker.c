/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop of one worker. It takes turns between starting something new (a task, a block of a
 * claimed span) and resuming a block that waits, so that blocks that wait for others, for tasks
 * or for other grids always get what they wait for.
 */
#include <sched.h>
#include <time.h>

#include "scheduler/block.h"
#include "util/protection_key.h"

#define IDLE_SPIN_NS   50000
#define TRIM_AFTER_NS  100000000
#define PATIENT_TURNS  8
#define STALLED_TURNS  64
#define YIELDS         256
#define CROWDED_YIELDS 4 /* with fewer CPUs than workers */
#define POLL_SLEEP_NS  50000
#define LOOK_TURNS     64      /* turns of blocks from one look at the fault handler to the next */
#define STAY_NS        1000000 /* with one grid, while others have blocks for this worker, too */
#define BATCH_MAX_NS   5000000 /* before a watch is told */

SCH_THREAD_LOCAL struct sch_worker *sch_this_worker;

struct sch_op *sch_running_task(void)
{
    return sch_this_worker ? sch_this_worker->task : NULL;
}

/* ---- blocks that wait ---- */

static void park(struct sch_worker *worker, struct sch_block *block)
{
    if (worker->parked) {
        block->next = worker->parked->next;
        worker->parked->next = block;
    } else {
        block->next = block;
    }
    worker->parked = block;
    worker->parked_count++;
    /* Waiting blocks wait for others: those must not queue up behind them in a chunk. */
    atomic_store_explicit(&block->grid->chunk_max, 1, memory_order_relaxed);
}

static struct sch_block *unpark(struct sch_worker *worker)
{
    struct sch_block *block = worker->parked->next;
    if (block == worker->parked)
        worker->parked = NULL;
    else
        worker->parked->next = block->next;
    worker->parked_count--;
    return block;
}

static unsigned count_parked(const struct sch_worker *worker, const struct sch_grid_op *grid)
{
    unsigned count = 0;
    const struct sch_block *block = worker->parked;
    for (unsigned i = 0; i < worker->parked_count; i++, block = block->next)
        count += block->grid == grid;
    return count;
}

/* Whether nothing this worker has can go on until something happens elsewhere. */
static bool is_stalled(const struct sch_worker *worker)
{
    return worker->fruitless_turns > worker->parked_count + STALLED_TURNS;
}

bool sch_worker_may_start(const struct sch_worker *worker, const struct sch_grid_op *grid)
{
    /* The worker that wakes first must not collect all blocks that wait for each other, as they
     * stay with it; only if the others do not come for their share. */
    const struct sch_fit *fit = sch_grid_fit(grid);
    unsigned max = is_stalled(worker) ? fit->parked_max : fit->parked_share;
    return worker->parked_count < max || count_parked(worker, grid) < max;
}

bool sch_worker_may_claim(const struct sch_worker *worker, const struct sch_grid_op *grid)
{
    bool waits_for_code = sch_grid_is_watched(grid, sch_grid_fit(grid));
    return !(waits_for_code && sch_pool_is_aside(worker)) && sch_worker_may_start(worker, grid);
}

/* ---- turns ---- */

/* Whether the worker should look what else there is: work that has been added, or grids that have
 * waited for their turn. */
static bool has_stayed(const struct sch_worker *worker, uint64_t now_ns)
{
    return worker->seen_epoch != sch_pool_epoch() ||
           (now_ns > worker->leave_ns && sch_pool_has_others());
}

/* Claims more blocks of a grid of which this worker has just ended some, unless there may be
 * something else to do. True if there are: then they own the caller's reference. */
static bool claim_more(struct sch_worker *worker, struct sch_grid_op *grid, uint64_t now_ns)
{
    if (worker->span_count > 0 || worker->parked_count > 0 || has_stayed(worker, now_ns) ||
        !sch_worker_may_claim(worker, grid))
        return false;
    uint64_t first;
    uint64_t count = sch_grid_claim(grid, worker, &first);
    if (count > 0)
        worker->spans[worker->span_count++] = (struct sch_span){grid, first, first + count};
    return count > 0;
}

/* Tells the grid of the blocks of the batch. */
static void end_batch(struct sch_worker *worker, struct sch_grid_op *grid)
{
    struct sch_batch batch = worker->batch;
    worker->batch = (struct sch_batch){0};
    if (batch.timed_count > 0) {
        sch_grid_learn(grid, batch.fit, batch.timed_count, batch.timed_ns);
        /* Of blocks that failed nobody wants to know how long they took. */
        if (grid->grid.watch && !batch.fit->code.is_provisional && batch.timed_count == batch.count)
            sch_grid_tell(grid, batch.fit, batch.count, batch.timed_ns, 0);
    }
    sch_grid_retire(grid, batch.count);
}

/* Adds blocks that have ended to the batch. ran_ns: how long they took, 0: that is not known. */
static void add_to_batch(struct sch_worker *worker, const struct sch_block *block, uint64_t ran_ns)
{
    worker->batch.fit = block->fit;
    worker->batch.count += block->chunk;
    if (ran_ns == 0)
        return;
    sch_grid_note_chunk(block->grid, worker, block->fit, block->chunk, ran_ns);
    if (!block->fit->is_free)
        return;
    worker->batch.timed_count += block->chunk;
    worker->batch.timed_ns += ran_ns;
}

/* Notes which grid the worker's block belongs to, for those who look after long blocks. NULL: it
 * has ended, or nobody does. */
static void note_watched(struct sch_worker *worker, const struct sch_grid_op *grid,
                         uint64_t since_ns)
{
    atomic_store_explicit(&worker->watched_since_ns, since_ns, memory_order_relaxed);
    atomic_store_explicit(&worker->watched, grid, memory_order_release);
}

static enum sch_block_state run_within_limit(struct sch_worker *worker, struct sch_block *block)
{
    sch_limit_enter(worker, block->grid);
    enum sch_block_state state = sch_block_run(block);
    if (state == SCH_BLOCK_FAILED)
        sch_limit_tell(worker, block);
    sch_limit_leave(worker);
    return state;
}

/* No block of the grid can be run any more, or there is no memory for one: claimed blocks are given
 * up, with a reference. */
static void give_up(struct sch_worker *worker, struct sch_grid_op *grid, uint64_t count)
{
    if (!atomic_load_explicit(&grid->is_cancelled, memory_order_relaxed))
        sch_grid_fail(
            grid, &(struct sch_fault){.status = PXR_OUT_OF_MEMORY, .launch = &grid->grid.launch});
    end_batch(worker, grid);
    sch_grid_retire(grid, count);
    sch_op_release(&grid->op);
}

static void run_block(struct sch_worker *worker, struct sch_block *block);

/* The present code of the grid goes on with what the block has handed over: at once with the block
 * that was in the middle, then with those behind it. */
static void take_over(struct sch_worker *worker, const struct sch_block *from)
{
    struct sch_grid_op *grid = from->grid;
    /* Whoever has asked for them may just be about to say for which code. */
    while (sch_grid_fit(grid) == from->fit)
        sch_cpu_pause();
    uint64_t next = sch_block_index(from);
    uint64_t end = next + from->rt.blocks_left;
    bool has_begun = from->rt.first_thread > 0;
    if (next + has_begun < end) {
        sch_op_retain(&grid->op);
        worker->spans[worker->span_count++] = (struct sch_span){grid, next + has_begun, end};
    }
    if (!has_begun)
        return;
    sch_op_retain(&grid->op);
    struct sch_block *block = sch_block_acquire(worker, grid, sch_grid_fit(grid), next, 1);
    if (!block) {
        give_up(worker, grid, 1);
        return;
    }
    sch_block_go_on(block, from);
    run_block(worker, block);
}

/* Runs the block (of a fused kernel: the blocks) until it ends or waits. The block's reference to
 * its grid is used up. */
static void run_block(struct sch_worker *worker, struct sch_block *block)
{
    struct sch_grid_op *grid = block->grid;
    const struct sch_fit *fit = block->fit;
    worker->is_trimmed = false;
    if (worker->batch.fit != fit)
        end_batch(worker, grid);
    if (++worker->turns % LOOK_TURNS == 0)
        sch_fault_handler_check();
    bool is_watched = sch_grid_is_watched(grid, fit);
    /* The last block of a claim says how many the next one is to have. */
    bool is_timed = fit->has_chunks || is_watched || worker->span_count == 0;
    uint64_t start_ns = is_timed ? sch_now_ns() : 0;
    if (is_watched)
        note_watched(worker, grid, start_ns);
    enum sch_block_state state = run_within_limit(worker, block);
    uint64_t now_ns = is_timed ? sch_now_ns() : 0;
    uint64_t ran_ns = now_ns - start_ns;
    bool is_whole = state == SCH_BLOCK_ENDED && block->rt.first_thread == 0;
    block->chunk -= block->rt.blocks_left;
    if (is_watched) {
        note_watched(worker, NULL, 0);
        sch_grid_tell(grid, fit, state == SCH_BLOCK_WAITING ? 0 : block->chunk, ran_ns, 0);
    }
    if (state == SCH_BLOCK_WAITING) {
        worker->fruitless_turns = block->has_progressed ? 0 : worker->fruitless_turns + 1;
        if (block->has_stayed)
            worker->fruitless_turns += PATIENT_TURNS;
        end_batch(worker, grid);
        park(worker, block);
        return;
    }
    worker->fruitless_turns = 0;
    worker->must_look = true;
    add_to_batch(worker, block, is_whole && block->chunk > 0 ? ran_ns : 0);
    if (block->rt.blocks_left > 0)
        take_over(worker, block);
    sch_block_release(block);
    /* A watch is told how many blocks are left, and not only in the end. */
    if (is_watched || (grid->grid.watch && worker->batch.timed_ns > BATCH_MAX_NS))
        end_batch(worker, grid);
    if (claim_more(worker, grid, now_ns))
        return;
    end_batch(worker, grid);
    sch_op_release(&grid->op);
}

static void follow_chaos(struct sch_worker *worker)
{
    uint64_t turn = sch_chaos_turn();
    if (turn == worker->chaos_turn)
        return;
    unsigned seed = (unsigned)turn;
    worker->chaos_turn = turn;
    worker->chaos_odds = 2u << seed % 4;
    worker->chaos =
        seed == 0 ? 0 : ((uint64_t)seed << 32 | (worker->index + 1)) * 0x9e3779b97f4a7c15u;
}

/* The next block of the span. Under chaos now and then the last one, if all can wait at once. */
static uint64_t take_index(struct sch_worker *worker, const struct sch_fit *fit,
                           struct sch_span *span)
{
    if (span->end - span->next <= fit->parked_max && sch_chaos_below(worker, 2) == 1)
        return --span->end;
    return span->next++;
}

/* As take_index, the blocks of a cluster. */
static uint64_t take_cluster(struct sch_worker *worker, const struct sch_fit *fit,
                             struct sch_span *span)
{
    uint32_t blocks = span->grid->cluster_blocks;
    if (span->end - span->next <= fit->parked_max && sch_chaos_below(worker, 2) == 1)
        return span->end -= blocks;
    span->next += blocks;
    return span->next - blocks;
}

/* How many blocks to start at once, beginning with *first: the whole span if it is to be run in one
 * go, else one, or a cluster. */
static uint32_t take_blocks(struct sch_worker *worker, const struct sch_fit *fit,
                            struct sch_span *span, uint64_t *first)
{
    struct sch_grid_op *grid = span->grid;
    if (grid->cluster_blocks > 1) {
        *first = take_cluster(worker, fit, span);
        return grid->cluster_blocks;
    }
    if (!fit->has_chunks || atomic_load_explicit(&grid->chunk_max, memory_order_relaxed) == 1) {
        *first = take_index(worker, fit, span);
        return 1;
    }
    uint32_t count = (uint32_t)(span->end - span->next);
    if (sch_chaos_below(worker, 2) == 1)
        count = 1 + sch_chaos_below(worker, count);
    *first = span->next;
    span->next += count;
    return count;
}

/* What the worker's next chunk runs with. Of codes that are compared in the order a b b a: where
 * chunks take ever longer, as they do in some grids, neither gains. */
static const struct sch_fit *choose_fit(struct sch_worker *worker, const struct sch_grid_op *grid)
{
    const struct sch_fit *fit = sch_grid_fit(grid);
    const struct sch_fit *rival = atomic_load_explicit(&grid->rival, memory_order_acquire);
    return rival && (++worker->compared & 2) ? rival : fit;
}

/* Starts the blocks of a cluster: all but one are set aside before they have begun. Each gets a
 * reference to the grid; the last one the caller's. NULL: out of memory. */
static struct sch_block *start_cluster(struct sch_worker *worker, struct sch_grid_op *grid,
                                       const struct sch_fit *fit, uint64_t index)
{
    struct sch_block *blocks[RT_CLUSTER_BLOCKS_MAX];
    uint32_t count = grid->cluster_blocks;
    struct sch_cluster *cluster = sch_cluster_acquire(worker, grid);
    if (!cluster)
        return NULL;
    for (uint32_t rank = 0; rank < count; rank++) {
        blocks[rank] = sch_block_acquire(worker, grid, fit, index + rank, 1);
        if (!blocks[rank]) {
            for (uint32_t i = 0; i < rank; i++)
                sch_block_release(blocks[i]);
            sch_cluster_drop(worker, cluster);
            return NULL;
        }
    }
    for (uint32_t rank = 0; rank < count; rank++)
        sch_cluster_join(cluster, blocks[rank], rank);
    sch_cluster_begin(cluster);
    uint32_t first = sch_chaos_below(worker, count);
    for (uint32_t i = 1; i < count; i++) {
        sch_op_retain(&grid->op);
        park(worker, blocks[(first + i) % count]);
    }
    return blocks[first];
}

static void start_block(struct sch_worker *worker, struct sch_span *span)
{
    struct sch_grid_op *grid = span->grid;
    const struct sch_fit *fit = choose_fit(worker, grid);
    follow_chaos(worker);
    uint64_t index;
    uint32_t count = take_blocks(worker, fit, span, &index);
    /* The last block takes over the span's reference. */
    if (span->next == span->end)
        *span = worker->spans[--worker->span_count];
    else
        sch_op_retain(&grid->op);
    bool is_cancelled = atomic_load_explicit(&grid->is_cancelled, memory_order_relaxed);
    struct sch_block *block = NULL;
    if (!is_cancelled)
        block = grid->cluster_blocks > 1 ? start_cluster(worker, grid, fit, index)
                                         : sch_block_acquire(worker, grid, fit, index, count);
    if (!block) {
        give_up(worker, grid, count);
        return;
    }
    if (fit->code.is_provisional && sch_grid_may_hand_over(grid))
        block->rt.hand_over = &grid->hand_over;
    run_block(worker, block);
}

/* Starts new work. False if there is none. */
static bool fresh_turn(struct sch_worker *worker)
{
    for (unsigned i = 0; i < worker->span_count; i++) {
        if (sch_worker_may_start(worker, worker->spans[i].grid)) {
            start_block(worker, &worker->spans[i]);
            return true;
        }
    }
    if (worker->span_count == SCH_SPANS_MAX)
        return false;
    if (!worker->must_look && worker->seen_epoch == sch_pool_epoch() && !is_stalled(worker))
        return false;
    struct sch_work work;
    worker->must_look = true;
    if (!sch_pool_pick(worker, &work, &worker->seen_epoch)) {
        worker->must_look = false;
        return false;
    }
    sch_pool_note_busy(worker, true);
    if (work.task) {
        worker->task = work.task;
        work.task->run(work.task->arg);
        worker->task = NULL;
        sch_op_finish(work.task, NULL);
    } else {
        worker->spans[worker->span_count++] = work.span;
        worker->leave_ns = sch_now_ns() + STAY_NS;
    }
    return true;
}

/* Lets the block that has waited longest poll again. False if none waits. */
static bool parked_turn(struct sch_worker *worker)
{
    if (worker->parked_count == 0)
        return false;
    while (worker->parked_count > 1 && sch_chaos_below(worker, 2) == 1)
        worker->parked = worker->parked->next;
    struct sch_block *first = worker->parked->next;
    if (first->rest_turns > 0) {
        first->rest_turns--;
        worker->parked = first;
    } else {
        run_block(worker, unpark(worker));
    }
    return true;
}

/* A block that waits usually waits for one that runs on another worker just now. Starting more
 * blocks would make more that wait, and all of them slower; but those of a cooperative grid all
 * wait until all have been started. */
static bool wants_fresh(struct sch_worker *worker)
{
    return worker->parked_count == 0 || worker->fruitless_turns >= PATIENT_TURNS ||
           worker->parked->grid->grid.is_cooperative || sch_chaos_below(worker, 2) == 1;
}

/* All blocks poll, perhaps for something that needs this CPU. Perhaps not: a kernel with many
 * volatile loads or compare-and-swaps looks the same, so it gets most of the time. */
static void back_off(struct sch_worker *worker)
{
    if (worker->fruitless_turns <= worker->parked_count)
        return;
    bool is_crowded = !sch_pool_may_spin();
    unsigned patience = worker->parked_count + (is_crowded ? CROWDED_YIELDS : YIELDS);
    uint64_t busy_ns = is_crowded ? POLL_SLEEP_NS : 4 * POLL_SLEEP_NS;
    if (worker->fruitless_turns < patience || sch_now_ns() - worker->slept_ns < busy_ns) {
        sched_yield();
        return;
    }
    nanosleep(&(struct timespec){.tv_nsec = POLL_SLEEP_NS}, NULL);
    worker->slept_ns = sch_now_ns();
}

static void idle(struct sch_worker *worker)
{
    sch_pool_note_busy(worker, false);
    if (sch_pool_may_look(worker) && sch_pool_look(worker->seen_epoch, IDLE_SPIN_NS))
        return;
    if (!worker->is_trimmed && !sch_pool_sleep(worker, TRIM_AFTER_NS)) {
        sch_fiber_trim(&worker->fibers);
        sch_block_trim(worker);
        sch_cluster_trim(worker);
        worker->is_trimmed = true;
    }
    if (worker->is_trimmed)
        sch_pool_sleep(worker, 0);
}

void sch_worker_run(struct sch_worker *worker)
{
    sch_this_worker = worker;
    sch_context_init_thread(&worker->scheduler);
    sch_fault_init_worker(worker);
    pxr_key_hold(true);
    worker->must_look = true;
    for (;;) {
        bool is_fresh = wants_fresh(worker) && fresh_turn(worker);
        bool is_resumed = parked_turn(worker);
        if (!is_fresh && !is_resumed)
            idle(worker);
        else if (!is_fresh)
            back_off(worker);
    }
}
