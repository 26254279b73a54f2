/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs grids on all cores, and other work in order with them.
 *
 * Work is a graph of operations (`struct sch_op`). An operation starts when all operations it
 * depends on have finished; streams, events and the null stream are made of such dependencies by
 * the caller. Grids are run by every worker, in chunks of blocks handed out in index order (so a
 * block never waits for one that has not been started before it).
 *
 * Thread-safe unless stated otherwise.
 */
#ifndef PTXRUN_SCHEDULER_SCHEDULER_H
#define PTXRUN_SCHEDULER_SCHEDULER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kernel_abi/rt.h"
#include "util/error.h"

/* Why a grid ended early. */
struct sch_fault {
    enum pxr_status status; /* PXR_FAULT_… or PXR_OUT_OF_MEMORY (stacks, shared memory) */
    uint64_t address;       /* touched address, 0 if none */
    uintptr_t pc;           /* of the faulting instruction or of the call to rt_fault */
    uint32_t ctaid[3];
    uint32_t together; /* it is one of so many blocks, along x; 0 or 1: that one */
    uint32_t tid[3];
    bool has_thread;         /* tid is exact */
    bool is_address_unknown; /* PXR_FAULT_ADDRESS: one that no memory can have */
    bool is_local;           /* in local memory: the address, or a distance in a variable there */
    uintptr_t shared;        /* where the block's shared memory was */
    const struct rt_launch *launch;
};

/* Whether the bytes are the thread's or its block's own, where no pointer of another kind leads:
 * stacks, and what a fused kernel keeps in its frame. For the running thread. */
bool sch_is_private(const struct rt_thread *thread, uint64_t address, uint64_t bytes);

/* The block of the running thread's cluster in whose shared memory they lie, or NULL. */
const struct rt_block *sch_find_block(const struct rt_thread *thread, uint64_t address,
                                      uint64_t bytes);

/* Whether they lie in such memory: in which, and what has been written of that, if the launch asks.
 * For the running thread. */
bool sch_find_shared(const struct rt_thread *thread, uint64_t address, uint64_t bytes,
                     struct rt_checked *memory);

/* The running thread's grid will fail: threads of it that still poll in so many nanoseconds,
 * perhaps for what never comes, end it with PXR_FAULT_TIMEOUT. Nothing changes if it has a limit.
 */
void sch_grid_end_polls(const struct rt_thread *thread, uint64_t ns);

/* rt_fault with the place in the code that is to blame (of a call: the return address). */
void sch_thread_fault(struct rt_thread *thread, enum pxr_status status, uint64_t address,
                      const void *return_address) __attribute__((noreturn));

/* Whether memory can have the address: on x86 the upper 17 bits are all the same. */
bool sch_is_canonical(uint64_t address);

/* Number of CPUs this process may use: affinity mask and cgroup quota. At least 1. */
unsigned sch_usable_cpus(void);

/* Starts the pool with this many workers (0: sch_usable_cpus()) at the first call; later calls
 * do nothing. Workers block asynchronous signals, have an alternate signal stack and the default
 * floating-point state. Fails with PXR_OUT_OF_MEMORY or PXR_IO. */
enum pxr_status sch_start(unsigned workers, struct pxr_error *err);
unsigned sch_worker_count(void);

/* Groups of workers; a grid is run by those of one group. The CPUs are split into part_count equal
 * parts, neighbours together; group i gets part[i]. part: constant during the call. */
struct sch_groups {
    unsigned count;
    unsigned part_count; /* at most SCH_GROUPS_MAX */
    const unsigned *part;
};

#define SCH_GROUPS_MAX 16

/* As sch_start, with groups of workers, which stay on their CPUs when there are several parts.
 * workers: of all parts together; every group gets at least one. */
enum pxr_status sch_start_groups(unsigned workers, const struct sch_groups *groups,
                                 struct pxr_error *err);
unsigned sch_group_workers(unsigned group);

/* Makes the order of threads and blocks random, and for one worker the same with each call that has
 * the same seed; 0 ends that. Workers see it when they start their next block. Frames of fused
 * kernels begin with random contents then. */
void sch_set_chaos(unsigned seed);

/* A place where others may go on before the running thread does: they do in some of them, if the
 * order is random and each thread has a stack. */
void sch_thread_interrupt(struct rt_thread *thread);

/* Whether a CPU has nothing to do for kernels, and is left to nobody. Also true before there are
 * workers; false where there is one CPU only. */
bool sch_has_idle_cpu(void);

struct sch_op;

/* Runs when the operation has finished, on the thread that finished it, before anything that
 * depends on it starts. fault: NULL, or why the grid ended early. Must not wait for operations. */
typedef void (*sch_done_fn)(void *arg, const struct sch_fault *fault);

typedef void (*sch_task_fn)(void *arg);

/* Code of a kernel, and what it wants of whoever runs it. */
struct sch_code {
    void (*entry)(struct rt_thread *thread); /* for one thread; or NULL, and … */
    rt_fused_fn fused;                       /* … for blocks */
    uint32_t stack_bytes; /* per thread, of fused kernels per block; a minimum applies */
    uint64_t frame_bytes; /* per block, of fused kernels: rt_block.frame */
    bool may_wait;        /* a block may wait for another one, or for the host */
    bool flushes;         /* it wants a CPU that flushes subnormals */
    bool hands_over;      /* it leaves what has not begun to other code (rt_block.hand_over) … */
    bool begins_inside;   /* … and such code can begin with any thread (rt_block.first_thread) */
    bool is_provisional;  /* with a watch: other code is to replace it soon */
    uintptr_t text;       /* generated code, which holds no lock: where a grid with a limit … */
    size_t text_bytes;    /* … can be left at any instruction */
    /* The time of a block in the kernel's last launch, in ns, 0: not known. NULL: the launching
     * thread never runs the grid. Outlives the grid. */
    _Atomic(uint32_t) *pace;
};

/* What a grid has done. */
struct sch_progress {
    const struct sch_code *code; /* that has run */
    uint64_t ran_ns;             /* the time of the thread that tells … */
    uint64_t ran_blocks;         /* … and of so many blocks */
    uint64_t grid_ns;     /* the time of all threads with provisional code, since the grid began */
    uint64_t running_ns;  /* how long blocks that have not ended have run: all of them together if a
                             thread looks after them, else 0 */
    uint64_t blocks_done; /* of the grid, in all */
    uint64_t blocks_left;
};

/* What becomes of a grid's code. Blocks that have begun end as they began, unless their code hands
 * over. */
enum sch_verdict {
    SCH_GO_ON,
    SCH_REPLACE, /* other code is for all blocks that begin from now on; provisional code hands over
                    the blocks of its chunk that it has not begun, and if the other code begins
                    inside, what it has not begun of a block */
    SCH_COMPARE, /* chunks begin with other code and with what the grid has in turn, until there is
                    another verdict; where chunks may not run in one go: as SCH_GO_ON */
};

/* Is told of each chunk that has run with provisional code, and of such chunks that run for long
 * while a thread waits for operations; of other code now and then, and while codes are compared of
 * each chunk or two. *code is the other code, which may be what the grid has already; of more than
 * SCH_FITS_MAX different ones the rest is not taken. Called with the argument of the grid's done
 * function, before that, on several threads at once; must neither wait nor take long. */
typedef enum sch_verdict (*sch_watch_fn)(void *arg, const struct sch_progress *progress,
                                         struct sch_code *code);

#define SCH_FITS_MAX 6

/* Tells the watches of grids that run provisional code how long the blocks have run that have not
 * ended. Threads that wait for operations call it now and then; others may when there is other code
 * for some grid. */
void sch_look_out(void);

/* The same, but not more often than every few milliseconds: for threads that ask again and again
 * whether an operation has ended. */
void sch_look_out_now_and_then(void);

/* Is told where a block stands whose grid is to end because it takes too long, on the worker that
 * runs it, before the grid's done function. */
typedef void (*sch_late_fn)(void *arg, const struct sch_fault *fault);

/* Asked about an access to memory that exists and may not be accessed so, in the handler of its
 * signal: whether it can be made again. No lock of what kernels call may be taken. */
typedef bool (*sch_refused_fn)(void *arg, const struct sch_fault *fault);

/* Asked when all blocks of a grid have ended without a fault and nobody holds it (sch_op_hold),
 * with the argument of its done function: whether it has been held again, for what comes last of
 * it. Must not wait. */
typedef bool (*sch_last_fn)(void *arg);

/* A kernel launch. Copied by sch_op_grid, except for the objects that `launch` points at (params,
 * slots), which the caller keeps alive until `done`. */
struct sch_grid {
    struct sch_code code;
    struct rt_launch launch;
    uint32_t shared_align; /* of a block's shared memory; 128 if that is more */
    bool is_cooperative;   /* every block must be able to wait for every other */
    bool is_split;         /* what the first slice of its blocks (of one index in the slowest
                              direction) has done comes before all others begin */
    unsigned group;        /* of workers that run it */
    int priority;          /* lower numbers get free workers first */
    sch_watch_fn watch;    /* NULL: all blocks run with `code` */
    uint64_t limit_ns;     /* it ends with PXR_FAULT_TIMEOUT when it has run for longer; 0: never */
    sch_late_fn late;      /* may be NULL */
    sch_refused_fn refused; /* may be NULL */
    sch_last_fn last;       /* may be NULL */
    bool goes_first;        /* before those of its priority that wait: see sch_grid_nest */
};

/* Constructors return NULL when out of memory; the caller holds one reference.
 *   grid    a kernel launch
 *   task    a function run by one worker (copies, memsets)
 *   host    a function run on the host-function thread, one at a time
 *   marker  nothing; finishes when its dependencies have (events, joins) */
struct sch_op *sch_op_grid(const struct sch_grid *grid, sch_done_fn done, void *arg);
struct sch_op *sch_op_task(sch_task_fn run, sch_done_fn done, void *arg);
struct sch_op *sch_op_host(sch_task_fn run, sch_done_fn done, void *arg);
struct sch_op *sch_op_marker(sch_done_fn done, void *arg);

/* Before sch_op_submit(op), by op's creator only. dep may be finished, or NULL (ignored).
 * Fails with PXR_OUT_OF_MEMORY. */
enum pxr_status sch_op_depend(struct sch_op *op, struct sch_op *dep);
void sch_op_submit(struct sch_op *op);

/* Whether an operation that has not been submitted would start at once: all its dependencies have
 * finished. */
bool sch_op_is_free(const struct sch_op *op);

/* As sch_op_submit, if the operation is a grid of a few microseconds that the calling thread can
 * run now; usually it is done then. Nobody else has op yet, and nobody waits for it. False: it is
 * not small, and has not been submitted. */
bool sch_op_try(struct sch_op *op);

struct sch_op *sch_op_retain(struct sch_op *op); /* returns op; NULL is allowed */
void sch_op_release(struct sch_op *op);          /* NULL is allowed */

bool sch_op_is_done(const struct sch_op *op);
void sch_op_wait(struct sch_op *op); /* never from a worker or a done function */
/* CLOCK_MONOTONIC ns at which it finished, 0 while it has not. */
uint64_t sch_op_finish_ns(const struct sch_op *op);

/* For a done function: the same of the operation that it is called for. What the function itself
 * takes belongs to no operation. */
uint64_t sch_finishing_ns(void);

/* ---- what an operation comes after (past.c) ----
 *
 * Of two operations one may happen to have finished before the other one begins. Whether that must
 * be so is known from the pasts of operations: all that they depend on, directly or not, and what
 * the host had waited for when it submitted them. Pasts are kept only if somebody asks for it. */

struct sch_past;

/* Names an operation. Chain 0 is none: in order with everything. */
struct sch_moment {
    uint32_t chain;
    uint32_t number;
};

void sch_keep_pasts(void); /* before there are operations */
bool sch_pasts_are_kept(void);

/* Of an operation that runs. None if a kernel or a done function has submitted it. */
struct sch_moment sch_op_moment(struct sch_op *op);

/* Whether the other operation is in the past of this one, which runs, or may be. */
bool sch_op_follows(struct sch_op *op, struct sch_moment moment);

/* The operation waits for more than it depends on: nobody knows what. */
void sch_op_follow_all(struct sch_op *op);

/* The host has seen the operation finished. sch_op_wait says so itself. NULL is ignored. */
void sch_host_learn(const struct sch_op *op);

/* ---- what the program's own threads do beside them ----
 *
 * All of them count as one, which does one thing after another. */

/* Names what the host does now: before whatever it submits later. */
struct sch_moment sch_host_moment(void);

/* Whether the host has seen finished what that names; and everything there is. */
bool sch_host_follows(struct sch_moment moment);
bool sch_host_follows_all(void);

/* The host has learnt of it in a way of its own. */
void sch_host_learn_moment(struct sch_moment moment);

/* Is told of accesses to memory that is locked (util/protection_key.h) by threads that do not hold
 * the key, which workers and the host-function thread do: in a handler of a signal, with the
 * context of the access. True: it may be tried again. And, before an operation is submitted, that
 * it is, by the host. */
struct sch_host_watch {
    bool (*access)(uintptr_t address, bool is_write, const void *pc);
    void (*submit)(void);
};

/* Once, where pasts are kept, before there are operations. */
void sch_watch_host(const struct sch_host_watch *watch);

/* The task that the calling worker runs, or NULL. */
struct sch_op *sch_running_task(void);

/* ---- operations launched by kernels (nested.c) ---- */

/* The operation of the grid that a running block belongs to: valid while the block runs, and while
 * somebody holds it. */
struct sch_op *sch_op_of(const struct rt_launch *launch);

/* Between the two a grid does not finish, though all its blocks may have ended. To hold it: from a
 * running block of it, while it is held, or in its sch_last_fn. Letting go may finish it. */
void sch_op_hold(struct sch_op *grid);
void sch_op_let_go(struct sch_op *grid);

/* The priority, the group and the time limit of a grid that `parent` launches. It goes before the
 * grids that wait, so that of a tree of launches the last ones run first and few wait at a time. */
void sch_grid_nest(struct sch_grid *grid, const struct sch_op *parent);

/* Calls work(arg) for a kernel on a larger stack than its threads have; on the worker that runs the
 * kernel, as part of a call from generated code. Nothing there may touch memory that the kernel has
 * named. False: there is no memory for the stack, and nothing was called. */
bool sch_call_aside(void (*work)(void *arg), void *arg);

/* True on a worker or on the host-function thread: such threads must not wait. */
bool sch_on_pool_thread(void);

/* So many CPUs are wanted for a while by threads that make better code (0: no more of them). As
 * many workers leave grids with a watch to the others, but one of each group goes on. Nobody leaves
 * where there are more CPUs than workers. */
void sch_leave_cpus(unsigned count);

/* Installs the handler for faults inside kernels, chaining to the previous one; called by sch_start
 * and again before a grid runs if the application has replaced it since. */
void sch_fault_handler_check(void);

/* Calls touch(arg); false: it touched memory that does not exist, and was left at that point. For
 * single accesses to memory that the program may take away at any time: touch takes no lock and
 * does not allocate, unless its thread is given up then. Not inside of itself; the thread must not
 * block SIGSEGV and SIGBUS. */
bool sch_try(void (*touch)(void *arg), void *arg);

#endif
