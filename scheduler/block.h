/* SPDX-License-Identifier: Apache-2.0
 *
 * A running block: its threads, which stop at meeting points (barriers, warp operations) and give
 * way where they poll. Either every thread has a fiber (thread_fibers.c), or the block has one, on
 * which the threads have been fused into loops (carrier.c) or are taken step by step (mixed.c). A
 * block is run by one worker from start to end, so nothing here needs a lock; its atomics are those
 * of its grid.
 */
#ifndef PTXRUN_SCHEDULER_BLOCK_H
#define PTXRUN_SCHEDULER_BLOCK_H

#include "scheduler/cluster.h"
#include "scheduler/worker_pool.h"

#define SCH_BARRIERS    16
#define SCH_WARPS_MAX   (SCH_BLOCK_THREADS_MAX / RT_WARP_SIZE)
#define SCH_POLL_BUDGET 64
#define SCH_LANE(n)     (UINT32_C(1) << (n))

/* One cache line: a barrier visits all threads of the block. */
struct sch_thread {
    _Alignas(SCH_CACHE_LINE) struct rt_thread rt; /* first */
    struct sch_fiber *fiber;                      /* its own, from start to end, else NULL */
    void *sp; /* its saved stack pointer; not fiber->ctx.sp, as this line is needed anyway */
};

_Static_assert(sizeof(struct sch_thread) == SCH_CACHE_LINE, "one cache line per thread");
_Static_assert(sizeof(struct sch_thread) == RT_THREAD_STRIDE, "what generated code counts on");

/* A set of threads that have turns: each time one warp, with all lanes that are in it at that
 * moment. So adding and taking a whole warp costs no more than one thread, and a thread that comes
 * back at once does not keep others from their turn. */
struct sch_thread_set {
    uint32_t warps; /* those with lanes in `lanes` */
    uint32_t lanes[SCH_WARPS_MAX];
    uint32_t turn_warp;  /* the warp whose turn it is … */
    uint32_t turn_lanes; /* … and its lanes that have not had their turn, no longer in `lanes` */
};

/* Lanes that wait for each other at the same kind of operation with the same member mask. */
struct sch_meeting {
    uint32_t kind;
    uint32_t mask;
    uint32_t arrived;
};

/* What a lane has brought to an operation of a part of the warp. */
struct sch_share {
    uint32_t kind;
    uint32_t mask;
    uint32_t value, b, c;
};

struct sch_warp {
    uint32_t live;      /* lanes that exist and have not exited */
    uint32_t runnable;  /* live lanes that may come to a meeting point without help */
    uint32_t waiting;   /* lanes at a meeting point */
    uint32_t gathering; /* those of `waiting` that wait for as many lanes as possible */
    uint32_t polled;    /* lanes that have polled since they came to a meeting point */
    uint32_t gather_tickets;
    uint32_t gather_site; /* of the first of `gathering` … */
    bool has_other_sites; /* … and whether any of them came to another */
    uint32_t certain;     /* lanes that poll, that only an mbarrier lets go on, and that have asked
                             since one changed last */
    uint32_t pollers;     /* lanes known to have polled since the block began */
    uint32_t patience;    /* turns of polling lanes that those at a patient site have waited for */
    uint32_t passed;      /* times that they have released lanes that gather elsewhere */
    uint32_t passed_over; /* times that a group went before one that had come earlier */
    uint32_t meeting_count;
    struct sch_meeting meetings[RT_WARP_SIZE];
    /* The operand of a waiting lane, then its result. A lane waits at one place at a time. One that
     * gathers brings its site (b) and the order in which it came (c). */
    uint64_t value[RT_WARP_SIZE];
    uint64_t result[RT_WARP_SIZE];
    uint32_t b[RT_WARP_SIZE];
    uint32_t c[RT_WARP_SIZE];
    uint32_t brought;                      /* lanes with a share */
    struct sch_share shares[RT_WARP_SIZE]; /* each lane's last one */
    uint8_t *words;                        /* the warp's, of rt_block.words */
};

/* All zero while nobody has arrived. */
struct sch_barrier {
    uint32_t expected;      /* threads; 0: all of the block */
    uint32_t arrivals;      /* warps that have arrived, counted */
    uint32_t arrived_warps; /* the same as a set */
    uint32_t waiting_warps; /* those with lanes in `waiting` */
    uint32_t red_threads;   /* of arrived warps: threads in bar.red … */
    uint32_t red_true;      /* … and those whose predicate is true */
    /* By warp. A warp arrives when all its live lanes are in `lanes`. */
    uint32_t lanes[SCH_WARPS_MAX];
    uint32_t no_wait[SCH_WARPS_MAX]; /* of `lanes`: in bar.arrive */
    uint32_t red[SCH_WARPS_MAX];     /* of `lanes` or `waiting`: in bar.red */
    uint32_t predicate[SCH_WARPS_MAX];
    uint32_t waiting[SCH_WARPS_MAX]; /* lanes of arrived warps */
};

enum sch_block_state {
    SCH_BLOCK_ENDED,   /* all threads have exited */
    SCH_BLOCK_WAITING, /* its threads only poll; to be run again later */
    SCH_BLOCK_FAILED   /* has a fault (reported to its grid), or the grid is cancelled */
};

struct sch_block {
    struct rt_block rt; /* first */
    struct sch_worker *worker;
    struct sch_grid_op *grid;  /* owns a reference while the block runs */
    const struct sch_fit *fit; /* the grid's, when the block began */
    struct sch_thread *threads;
    uint32_t threads_cap;
    uint32_t dims[3]; /* block shape that `threads` is set up for */
    uint32_t thread_count;
    uint32_t warp_count;
    uint32_t unstarted_first; /* threads [first, end) have not been started */
    uint32_t unstarted_end;
    uint32_t live_count;
    uint32_t live_warps;         /* warps with live lanes */
    uint32_t fruitless_polls;    /* turns of polling threads since something else happened */
    bool is_turn_of_all;         /* the turn of warps is not only of those that lanes wait for */
    uint32_t poll_turns;         /* fruitless ones before the block is set aside */
    uint32_t progress;           /* *rt.progress when it was looked at last */
    uintptr_t polled_at;         /* the code that has polled last, 0: none has */
    bool has_progressed;         /* something else happened in this turn of the block */
    bool has_stayed;             /* its threads have polled for so long that others go first */
    uint32_t polls;              /* in this turn of the block, … */
    uint64_t polls_since_ns;     /* … and from when on; 0: not known yet */
    bool gives_way;              /* sch_thread_interrupt: other blocks go first … */
    uint32_t rest_turns;         /* … for so many turns of this one */
    uint32_t barriers_used;      /* set of barriers that need resetting */
    struct sch_thread_set ready; /* can run */
    struct sch_thread_set polling;
    uint32_t let_go;             /* lanes released by the barrier completed last */
    struct sch_cluster *cluster; /* that it is in; without clusters: … */
    struct sch_cluster alone;    /* … one of its own */
    struct sch_cluster_seat seat;
    struct sch_block *next; /* in the worker's ring or free list */
    struct pxr_area shared; /* holds rt.shared, at its end */
    bool has_front_page;    /* in front of it, and … */
    bool has_tail_page;     /* … behind it: for reads alone */
    /* Of fused kernels: */
    struct sch_thread carrier;         /* no CUDA thread: the code on the block's fiber */
    const struct sch_thread *stepping; /* the thread that rt_block_mix runs, NULL in loops */
    uint32_t looped_to; /* the barrier to which loops had brought it; SCH_BARRIERS: to none */
    const struct sch_fiber *limits_of; /* the fiber whose limits the threads have; NULL: their
                                          own */
    enum sch_block_state state;        /* why the carrier has stopped */
    uint32_t chunk;                    /* number of blocks to run, beginning with that of
                                          rt.ctaid */
    uint32_t (*go_on)(void *arg);      /* NULL, or says at a chunk's end how many of the next … */
    void *go_on_arg;                   /* … blocks are a chunk for the same carrier; 0: none */
    bool has_mixed;                    /* rt_block_mix has been called in this chunk … */
    uint32_t mixed_ctaid[3];           /* … last by this block, to which the barriers belong */
    struct pxr_area frame;             /* holds rt.frame, at its end */
    size_t frame_bytes;                /* of rt.frame */
    struct sch_barrier barriers[SCH_BARRIERS];
    struct sch_warp warps[SCH_WARPS_MAX];
};

/* block.c: `count` blocks ready to run with this code of the grid's (one, unless it is fused), or
 * NULL when out of memory. Takes over no reference. */
struct sch_block *sch_block_acquire(struct sch_worker *worker, struct sch_grid_op *grid,
                                    const struct sch_fit *fit, uint64_t index, uint32_t count);
/* Gives it these blocks of its grid. */
void sch_block_place(struct sch_block *block, uint64_t index, uint32_t count);
/* The number of the block that it is at. Not in a grid with clusters. */
uint64_t sch_block_index(const struct sch_block *block);
/* It goes on with the block that the other one has handed over; both are of the same grid. */
void sch_block_go_on(struct sch_block *block, const struct sch_block *from);
/* Returns it to the worker's free list; abandons its unfinished threads. */
void sch_block_release(struct sch_block *block);
/* Frees blocks that a cooperative launch has left behind, and large frames. For a worker with
 * nothing to do. */
void sch_block_trim(struct sch_worker *worker);
/* The bytes of the pages for a block's shared memory. */
size_t sch_shared_page_bytes(const struct sch_grid_op *grid);
/* Where a block's shared memory begins in pages for it. It ends at the guard behind them, as near
 * as alignment allows: an index that is too large by one is the commonest mistake, and a fault on
 * GPUs, too. In front of it there is memory that can be read, and that can be written if it is on
 * the same page. Only where shared memory begins at a multiple of more than a page it is the other
 * way round. */
uint8_t *sch_shared_begin(const struct sch_grid_op *grid, uint8_t *pages);
/* Whether there is a page in front of it, for reads alone. */
bool sch_has_front_page(const struct sch_grid_op *grid);
/* Makes what is in front of shared memory ready. A masked load that begins there, as that of
 * `t > 0 ? s[t - 1] : 0` for a vector of threads, takes a processor hundreds of cycles where there
 * is no page, or one that has never been touched. */
bool sch_shared_open_front(const struct sch_grid_op *grid, uint8_t *pages);
/* Whether the address is on the running thread's stack or in its block's frame. */
bool sch_is_local(const struct sch_thread *running, uint64_t address);
/* Resets the block's barriers to their state before the first thread has started. */
void sch_block_reset_barriers(struct sch_block *block);
/* The same for a warp with these lanes. */
void sch_warp_reset(struct sch_warp *warp, uint32_t live);
/* Notes that no thread has polled yet. */
void sch_block_reset_pollers(struct sch_block *block);

/* thread_fibers.c */
enum sch_block_state sch_precise_run(struct sch_block *block);

/* Suspends the running thread, unless it was released meanwhile, until sch_lanes_ready resumes
 * it. */
void sch_thread_wait(struct sch_thread *thread);
/* The running thread could go on, and takes its turn among the others that can. */
void sch_thread_yield(struct sch_thread *thread);

/* carrier.c */
enum sch_block_state sch_fused_run(struct sch_block *block);

/* Runs the block until it ends or waits. */
static inline enum sch_block_state sch_block_run(struct sch_block *block)
{
    return block->fit->code.fused ? sch_fused_run(block) : sch_precise_run(block);
}

/* Turns a block that has ended into so many other blocks of its grid, ready to run. */
void sch_fused_renew(struct sch_block *block, uint64_t index, uint32_t count);

/* Stops the carrier. Returns only if it waits. */
void sch_carrier_leave(struct sch_block *block, enum sch_block_state state);

/* barrier.c. Call it when a thread of the warp has exited and is no longer in `live`. */
void sch_barrier_exit(struct sch_block *block, uint32_t warp_index);
/* Lanes that can run come to this barrier, as others have that gave its operands. */
void sch_barrier_join(struct sch_block *block, uint32_t id, uint32_t warp_index, uint32_t lanes);
/* When no thread can run: completes counted barriers that only lack exited warps. True if any
 * did. */
bool sch_barrier_release_stuck(struct sch_block *block);

/* warp.c. As sch_barrier_exit. */
void sch_warp_exit(struct sch_block *block, uint32_t warp_index);
/* Releases one group of lanes that gather, if no other lane of the warp can join them any more. */
void sch_warp_gathered(struct sch_block *block, uint32_t warp_index);

/* No thread of the block can go on without help of other blocks of its cluster: a deadlock if that
 * is true of all of them. has_thread: the block's sets say which threads it has. */
enum sch_block_state sch_block_rest(struct sch_block *block, bool has_thread);

static inline struct sch_thread *sch_thread_of(struct rt_thread *thread)
{
    return (struct sch_thread *)(void *)thread;
}

static inline struct sch_block *sch_block_of(const struct sch_thread *thread)
{
    return (struct sch_block *)(void *)thread->rt.block;
}

static inline struct sch_warp *sch_warp_of(const struct sch_thread *thread)
{
    return &sch_block_of(thread)->warps[thread->rt.warp];
}

#endif
