/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations, the pool and its workers, for the files of this folder. Running blocks are in
 * block.h, stacks in fiber.h.
 */
#ifndef PTXRUN_SCHEDULER_WORKER_POOL_H
#define PTXRUN_SCHEDULER_WORKER_POOL_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "scheduler/fiber.h"
#include "scheduler/ranges.h"
#include "scheduler/scheduler.h"
#include "util/guard.h"

/* Initial-exec: reading it in a signal handler must not allocate. */
#define SCH_THREAD_LOCAL      _Thread_local __attribute__((tls_model("initial-exec")))

#define SCH_CACHE_LINE        64
#define SCH_BLOCK_THREADS_MAX 1024

/* ---- operations (op.c) ---- */

enum sch_op_kind { SCH_OP_MARKER, SCH_OP_TASK, SCH_OP_HOST, SCH_OP_GRID };

/* "When the operation that holds this edge has finished, `op` may start." Owns a reference. */
struct sch_edge {
    struct sch_op *op;
    struct sch_edge *next;
};

/* Constant from submission on, except for the atomics and `next`.
 * References: the creator's, one from submission until finished, one per edge that leads to it,
 * one per list or worker that knows it. */
struct sch_op {
    atomic_uint refs;
    atomic_uint state;   /* SCH_STATE_…; a futex. DONE is stored after everything else */
    atomic_uint pending; /* unfinished dependencies, plus one until submitted */
    enum sch_op_kind kind;
    _Atomic(uint64_t) finish_ns;
    _Atomic(struct sch_edge *) successors; /* a stack; closed for good when finished */
    sch_task_fn run;
    sch_done_fn done;
    void *arg;
    struct sch_op *next;   /* in the one queue that holds it; that queue's lock */
    struct sch_past *past; /* past.c; NULL: none is kept */
    void *memory;          /* for free() */
};

/* Code with what follows from it for a grid. */
struct sch_fit {
    struct sch_code code;
    uint32_t stack_class;
    unsigned parked_max;   /* how many waiting blocks of this grid one worker may keep … */
    unsigned parked_share; /* … and how many while other workers may take the rest */
    bool is_free;          /* none of its blocks waits for another one, or for the host … */
    bool has_chunks;       /* … and a claimed chunk of them is run in one go */
};

struct sch_worker;

struct sch_grid_op {
    struct sch_op op;     /* first */
    struct sch_grid grid; /* its code is the first one */
    uint64_t block_count;
    uint32_t thread_count;             /* per block */
    uint32_t cluster_blocks;           /* per cluster */
    struct sch_fit fits[SCH_FITS_MAX]; /* of `grid.code`, and of what the watch has given */
    unsigned fit_count;
    atomic_flag is_changing;             /* the thread that sets it may write fits, fit and rival */
    _Atomic(const struct sch_fit *) fit; /* of blocks that begin now … */
    _Atomic(const struct sch_fit *) rival; /* … or of every other chunk; NULL: of none */
    uint32_t hand_over;                    /* rt_block.hand_over of blocks with provisional code */
    _Atomic(uint64_t) watched_ns; /* with a watch: how long blocks have run provisional code */
    atomic_bool is_cancelled;     /* set once, with or without a fault: start nothing any more */
    atomic_bool is_fault_taken;   /* the thread that sets it may write `fault` */
    struct sch_fault fault;       /* read by the thread that finishes the grid; ordered by
                                     blocks_left */
    _Atomic(uint64_t) end_ns;     /* when it, or only its polls, are to have ended; 0: not known */
    atomic_uint chunk_max;        /* becomes 1 when a block had to wait */
    _Atomic(uint32_t) block_ns;   /* with chunks: the time of a block in the last, 0: not known */
    struct sch_ranges *ranges;    /* of unclaimed blocks; NULL: they are claimed at the cursor */
    uint64_t ordered_end;         /* blocks before it are claimed at the cursor */
    uint64_t slice_end;           /* those behind it wait until all before it have ended; 0: for
                                     nothing */
    _Alignas(SCH_CACHE_LINE) _Atomic(uint64_t) cursor;      /* first block nobody has claimed; with
                                                               ranges: block_count when all are empty */
    _Alignas(SCH_CACHE_LINE) _Atomic(uint64_t) blocks_left; /* neither finished nor cancelled */
    _Atomic(uint64_t) holds; /* one for all blocks that are left, one for each sch_op_hold */
};

struct sch_op_queue {
    struct sch_op *head;
    struct sch_op *tail;
};

void sch_queue_push(struct sch_op_queue *queue, struct sch_op *op);
struct sch_op *sch_queue_pop(struct sch_op_queue *queue);

/* Called when the operation has done its work: tells everybody who waits, and drops the reference
 * held since submission. No lock may be held. */
void sch_op_finish(struct sch_op *op, const struct sch_fault *fault);

/* The same at a known time, and keeps the reference. */
void sch_op_finish_at(struct sch_op *op, const struct sch_fault *fault, uint64_t now_ns);

/* Likewise, for an operation that only the caller knows, and that went well. */
void sch_op_finish_private(struct sch_op *op, uint64_t now_ns);

/* CLOCK_MONOTONIC in ns. */
uint64_t sch_now_ns(void);

/* ---- grids (grid.c) ---- */

/* Whether it is asked what blocks have written to their shared memory: from the beginning of each,
 * so they run one by one. */
static inline bool sch_grid_asks_shared(const struct sch_grid_op *grid)
{
    return grid->grid.launch.written.shadow && grid->grid.launch.shared_bytes > 0;
}

/* Fills the other fields from `grid->grid`. An impossible shape makes a grid that only reports
 * it. */
void sch_grid_init(struct sch_grid_op *grid);

/* Deals the blocks from the cursor on out to ranges, but for the first of them, if their order does
 * not matter. Before workers know the grid. */
void sch_grid_deal(struct sch_grid_op *grid);

/* Claims the worker's next chunk of blocks [*first, *first + result). 0: all are claimed, or those
 * that are left have to wait, and workers will be called. */
uint64_t sch_grid_claim(struct sch_grid_op *grid, struct sch_worker *worker, uint64_t *first);

/* The same for a thread that is no worker, and a chunk that takes no longer than about max_ns. */
uint64_t sch_grid_claim_as_guest(struct sch_grid_op *grid, uint64_t max_ns, uint64_t *first);

/* Whether blocks with provisional code are asked to hand over. */
static inline bool sch_grid_may_hand_over(const struct sch_grid_op *grid)
{
    return grid->cluster_blocks == 1 && !grid->grid.is_cooperative;
}

/* What a block that begins now runs with, unless codes are compared: read once for each, as it may
 * change meanwhile. */
static inline const struct sch_fit *sch_grid_fit(const struct sch_grid_op *grid)
{
    return atomic_load_explicit(&grid->fit, memory_order_acquire);
}

/* The time of a block of the kernel in its last launch with this code, 0: not known. */
static inline uint32_t sch_pace(const struct sch_code *code)
{
    return code->pace ? atomic_load_explicit(code->pace, memory_order_relaxed) : 0;
}

/* Notes that a chunk of so many blocks has taken so long with this code, for the size of the
 * worker's next ones. NULL: no worker. */
void sch_grid_note_chunk(struct sch_grid_op *grid, const struct sch_worker *worker,
                         const struct sch_fit *fit, uint64_t count, uint64_t ran_ns);

/* Notes that so many blocks have taken so long with this code, for its next launch. */
void sch_grid_learn(const struct sch_grid_op *grid, const struct sch_fit *fit, uint64_t count,
                    uint64_t ran_ns);

/* Whether the grid has a watch that is to be told of each chunk with this code. */
bool sch_grid_is_watched(const struct sch_grid_op *grid, const struct sch_fit *fit);

/* Tells the watch that blocks have run for so long with this code, and that so many have ended,
 * which the caller has not retired yet; and how long others have run that have not ended. */
void sch_grid_tell(struct sch_grid_op *grid, const struct sch_fit *fit, uint64_t count,
                   uint64_t ran_ns, uint64_t running_ns);

/* Counts `count` claimed blocks as finished or abandoned; the last one finishes the operation. 0:
 * nothing happens. */
void sch_grid_retire(struct sch_grid_op *grid, uint64_t count);

/* Whether the grid would finish if its last block ended now, and nothing comes behind it. */
bool sch_grid_is_alone(const struct sch_grid_op *grid);

/* Keeps the first fault of a grid, and cancels what has not been started. */
void sch_grid_fail(struct sch_grid_op *grid, const struct sch_fault *fault);

static inline struct sch_grid_op *sch_grid_of(struct sch_op *op)
{
    return (struct sch_grid_op *)(void *)op;
}

/* ---- the pool (worker_pool.c) ---- */

struct sch_block;
struct sch_thread;

/* Claimed blocks that have not been started yet. Owns a reference to the grid. */
struct sch_span {
    struct sch_grid_op *grid;
    uint64_t next;
    uint64_t end;
};

#define SCH_SPANS_MAX 4

/* Blocks that have ended, all of one grid, and of which the grid has not been told: telling it for
 * each chunk would make the workers pass its cache lines around. */
struct sch_batch {
    const struct sch_fit *fit; /* NULL: there are none */
    uint64_t count;
    uint64_t timed_count; /* of them: those known to have … */
    uint64_t timed_ns;    /* … taken so long */
};

/* One OS thread that runs blocks and tasks. Everything here belongs to that thread. */
struct sch_worker {
    _Alignas(SCH_CACHE_LINE) struct sch_context scheduler; /* the worker loop's own stack */
    struct sch_thread *current; /* the CUDA thread that runs; NULL outside of kernels */
    volatile bool has_fault;    /* `fault` says why the running block must end */
    struct sch_fault fault;
    struct sch_fiber_pool fibers;
    struct sch_span spans[2 * SCH_SPANS_MAX]; /* with what blocks of each have handed over */
    unsigned span_count;
    struct sch_batch batch;   /* if there is one: of the grid of the only span */
    uint64_t leave_ns;        /* when other grids are to have their turn */
    struct sch_block *parked; /* ring of waiting blocks: the last one; its next is first */
    unsigned parked_count;
    struct sch_block *free_blocks;
    struct sch_cluster *free_clusters;
    unsigned seen_epoch;      /* the pool's, when this worker last looked for work there */
    bool is_trimmed;          /* nothing has run since unused memory was given back */
    bool must_look;           /* look again although the epoch is the same */
    bool is_busy;             /* has taken work that has not ended */
    unsigned turns;           /* of blocks, so far */
    unsigned compared;        /* chunks of grids whose codes are compared, so far */
    unsigned fruitless_turns; /* turns since a block got further */
    uint64_t slept_ns;        /* when it last slept between turns */
    unsigned index;
    unsigned group;
    unsigned group_index; /* among the workers of its group */
    int cpu;              /* where it was when it last looked for work */
    uint64_t chaos;       /* state of the random generator, 0: no chaos */
    struct sch_op *task;  /* that it runs, or NULL */
    uint64_t chaos_turn;  /* that it was made in */
    uint32_t chaos_odds;  /* of so many places at which a thread may be interrupted one is taken */
    struct pxr_area signal_stack;
    pthread_t thread;
    _Atomic(uint64_t) end_ns; /* of the grid whose block runs, if it has a limit; 0: none */
    /* The grid whose block runs and has a watch, NULL: none, for others to compare only; and since
     * when. */
    _Atomic(const struct sch_grid_op *) watched;
    _Atomic(uint64_t) watched_since_ns;
};

/* Work for a worker: a task, or a span of a grid. */
struct sch_work {
    struct sch_op *task;
    struct sch_span span;
};

/* Constructors call it first: starts the pool if nobody has; false if there can be none. */
bool sch_pool_ready(void);

/* Takes a reference to an operation whose dependencies have finished. */
void sch_pool_enqueue(struct sch_op *op);
void sch_pool_enqueue_all(struct sch_op_queue *ready); /* of several; the queue is empty then */

/* Shares a grid of which the caller will run blocks, too: so many workers should help. */
void sch_pool_share(struct sch_grid_op *grid, uint64_t wanted);

/* Whether several grids have unclaimed blocks. */
bool sch_pool_has_others(void);

/* Holds up to `max` grids that run and have a watch to be told: each has a reference,
 * and cannot end before the caller retires one block of it. Returns how many. */
unsigned sch_pool_hold_watched(struct sch_grid_op *grids[], unsigned max);

/* Calls so many workers to new work. */
void sch_pool_call(uint64_t wanted);

/* A worker that sleeps is of use after some 50 us, and waking it costs the caller 2. */
#define SCH_WORTH_WAKING_NS 20000

/* Workers that sleep, and those that wait for work awake. */
unsigned sch_pool_sleepers(void);

unsigned sch_pool_lookers(void);

/* Says whether this worker has work; for sch_has_idle_cpu. */
void sch_pool_note_busy(struct sch_worker *worker, bool is_busy);

/* How many CPUs workers leave to others, and whether the worker is one that does (see
 * sch_leave_cpus). */
unsigned sch_pool_left_cpus(void);
bool sch_pool_is_aside(const struct sch_worker *worker);

/* False: this worker can start nothing; then *epoch says when that was. */
bool sch_pool_pick(struct sch_worker *worker, struct sch_work *work, unsigned *epoch);

unsigned sch_pool_epoch(void);

struct sch_worker *sch_pool_worker(unsigned index);

/* A thread of the pool's, detached. False: there can be none; errno says why. */
bool sch_start_thread(void *(*run)(void *), void *arg, size_t stack_bytes, const char *name);

/* Whether the worker may wait awake. The last one may not if that would leave no CPU for the
 * program's own thread, which then runs kernels in its place (guest.c). */
bool sch_pool_may_look(const struct sch_worker *worker);

/* Waits, awake, until the epoch differs from `epoch`: true. False after timeout_ns. */
bool sch_pool_look(unsigned epoch, uint64_t timeout_ns);

/* Sleeps until the epoch differs from the one that the worker has seen: true. False after
 * timeout_ns (0: none). */
bool sch_pool_sleep(const struct sch_worker *worker, uint64_t timeout_ns);

/* True in a child of the process that started the pool: no worker exists there, and locks may be
 * held by threads that do not exist. */
bool sch_pool_is_forked(void);

/* Busy waiting pays only if every worker has a CPU of its own, and there are others. */
bool sch_pool_may_spin(void);

/* Whether a thread that is no worker may wait busily: workers that are awake leave a CPU free. */
bool sch_pool_leaves_cpu(void);

/* ---- workers (worker.c) ---- */

extern SCH_THREAD_LOCAL struct sch_worker *sch_this_worker;

void sch_worker_run(struct sch_worker *worker) __attribute__((noreturn));

/* Whether the worker may have one more unfinished block of the grid … */
bool sch_worker_may_start(const struct sch_worker *worker, const struct sch_grid_op *grid);

/* … and whether it may claim more of its blocks. */
bool sch_worker_may_claim(const struct sch_worker *worker, const struct sch_grid_op *grid);

/* ---- guests (guest.c) ---- */

enum sch_guest_size { SCH_GUEST_TINY, SCH_GUEST_ANY };

/* Runs a small grid that is being submitted, and that can start at once, on the calling thread; the
 * pool gets the rest of it. False: it is not small, or something speaks against it. Tiny: over
 * before anybody else could have helped. The caller's reference stays. */
bool sch_guest_run(struct sch_grid_op *grid, enum sch_guest_size size);

/* ---- limits of time (limit.c) ---- */

/* What late workers are sent. */
#define SCH_LIMIT_SIGNAL SIGSEGV

/* Before a grid runs: grids with a limit are looked after from now on. */
void sch_limit_watch(const struct sch_grid *grid);
bool sch_limit_is_watched(void);

/* Around turns of blocks. */
void sch_limit_enter(struct sch_worker *worker, struct sch_grid_op *grid);
void sch_limit_leave(struct sch_worker *worker);

/* A thread polls, in a call with this return address; ends the block if it is late. */
void sch_limit_poll(struct sch_thread *thread, const void *return_address);

/* In between, when the block has failed: tells where it stood if that is because of the limit. */
void sch_limit_tell(const struct sch_worker *worker, const struct sch_block *block);

/* Whether the grid whose block the worker runs has run for too long; and whether the block can be
 * left at this instruction. */
bool sch_limit_has_passed(const struct sch_worker *worker);
bool sch_limit_may_leave_at(const struct sch_worker *worker, uintptr_t pc);

/* ---- faults (fault.c) ---- */

/* Gives the calling worker a stack for signal handlers. Best effort: without memory for it, a stack
 * overflow in a kernel ends the process. */
void sch_fault_init_worker(struct sch_worker *worker);

/* Call it around kernels that the calling thread, which is not a worker, runs: their faults must
 * get to the handler, even if the application has blocked the signals. now_ns: of sch_now_ns;
 * returns the time afterwards. */
uint64_t sch_fault_enter_guest(uint64_t now_ns);
void sch_fault_leave_guest(void);

/* ---- pasts (past.c); nothing where they are not kept ---- */

/* op waits for dep, which has finished: its past is complete. */
void sch_past_depend(struct sch_op *op, struct sch_op *dep);
/* Where pasts are kept. is_nested: not by the program's own threads, so that nobody knows what it
 * comes after. */
void sch_past_submit(struct sch_op *op, bool is_nested);
void sch_past_finish(void);                /* one that was submitted */
void sch_past_free(struct sch_past *past); /* NULL is allowed */

/* ---- chaos: random but repeatable orders of threads and blocks (sch_set_chaos) ---- */

unsigned sch_chaos_seed(void);

/* Another number whenever a seed is set, the same one included. */
uint64_t sch_chaos_turn(void);

/* A random number below n; 0 without chaos. */
static inline uint32_t sch_chaos_below(struct sch_worker *worker, uint32_t n)
{
    if (worker->chaos == 0)
        return 0;
    worker->chaos ^= worker->chaos << 13;
    worker->chaos ^= worker->chaos >> 7;
    worker->chaos ^= worker->chaos << 17;
    return (uint32_t)((worker->chaos >> 32) % n);
}

/* ---- CPUs (topology.c) ---- */

/* The CPUs of each group: its part of those that this process may use. Parts are equal, and their
 * members share a package, a memory node and cores where possible. A set is empty when the CPUs
 * cannot be found out. */
void sch_split_cpus(const struct sch_groups *groups, cpu_set_t sets[SCH_GROUPS_MAX]);

/* What two CPUs share. One that is not known (-1) is far from all. */
enum sch_distance { SCH_SAME_CACHE, SCH_SAME_NODE, SCH_FAR };

enum sch_distance sch_cpu_distance(int a, int b);

/* ---- for tests ---- */
unsigned sch_parse_cpu_max(const char *text);

static inline void sch_cpu_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb" ::: "memory");
#endif
}

#endif
