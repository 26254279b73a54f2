/* SPDX-License-Identifier: Apache-2.0
 *
 * The contract between generated code and the process it runs in: what generated code may read,
 * and the functions it may call. Every function here is a *placeholder* of the translation's
 * first step (translator/README.md): `precise` binds it to the definition in this folder, other
 * collapses replace the call.
 *
 * Plain C without dependencies: it is also compiled to bitcode (translator/rt).
 */
#ifndef PTXRUN_KERNEL_ABI_RT_H
#define PTXRUN_KERNEL_ABI_RT_H

#include <stdbool.h>
#include <stdint.h>

#define RT_WARP_SIZE 32

/* One launch. Constant while the grid runs. */
struct rt_launch {
    const uint8_t *params; /* the kernel's parameter block */
    void *const *slots;    /* address of each module-scope variable, by ptx_var.index */
    uint32_t grid[3];      /* in blocks */
    uint32_t block[3];     /* in threads */
    uint32_t dynamic_shared_bytes;
    uint32_t shared_bytes; /* static and dynamic */
    uint64_t grid_id;
    uint64_t grid_workspace; /* %envreg1 (high half) and %envreg2 (low half); 0: not cooperative */
    uint32_t sm_count;       /* what %nsmid says */
    uint32_t local_bytes;    /* module-scope .local variables: below each thread's stack_limit */
};

/* One running block. */
struct rt_block {
    const struct rt_launch *launch;
    uint8_t *shared; /* base of the block's shared memory; address 0 of the space */
    uint32_t ctaid[3];
    uint32_t sm_id;            /* what %smid says: the worker's number in its group */
    struct rt_thread *threads; /* of the block, RT_THREAD_STRIDE bytes apart */
    uint8_t *frame;            /* of fused kernels: what lives across stops; see rt_fused_fn */
};

#define RT_THREAD_STRIDE 64

/* One CUDA thread: the `ctx` that every generated function gets as its first argument. */
struct rt_thread {
    struct rt_block *block;
    uint32_t tid[3];
    uint32_t lane;        /* 0..31 */
    uint32_t warp;        /* within the block */
    int32_t poll_budget;  /* polls left before rt_poll gives way; counted down inline */
    uint8_t *stack_limit; /* lowest address the stack may reach */
    uint8_t *stack_base;  /* one past the highest */
};

/* ---- barriers of the block (PTX ISA "bar, barrier") ----
 * id: 0..15; count: threads taking part, a multiple of 32, or 0 for all of the block (not for
 * rt_bar_arrive). Anything else is a fault. Exited threads count as arrived. */
void rt_bar_sync(struct rt_thread *thread, uint32_t id, uint32_t count);
void rt_bar_arrive(struct rt_thread *thread, uint32_t id, uint32_t count);

enum rt_reduce {
    RT_REDUCE_AND,
    RT_REDUCE_OR,
    RT_REDUCE_XOR,
    RT_REDUCE_POPC,
    RT_REDUCE_ADD,
    RT_REDUCE_MIN,
    RT_REDUCE_MAX,
    RT_REDUCE_MIN_SIGNED,
    RT_REDUCE_MAX_SIGNED,
    RT_REDUCE_MIN_F32, /* NaN only if all values are … */
    RT_REDUCE_MAX_F32,
    RT_REDUCE_MIN_F32_NAN, /* … or if any is */
    RT_REDUCE_MAX_F32_NAN
};

/* op: AND, OR (0 or 1) or POPC (a count) of the predicates of the threads that take part. */
uint32_t rt_bar_red(struct rt_thread *thread, uint32_t id, uint32_t count, uint32_t predicate,
                    uint32_t op);

/* ---- warp operations ----
 * mask: the lanes that must arrive; exited lanes are left out. */
void rt_warp_sync(struct rt_thread *thread, uint32_t mask);

enum rt_shfl { RT_SHFL_UP, RT_SHFL_DOWN, RT_SHFL_BFLY, RT_SHFL_IDX };

/* Low half: the value; bit 32: the predicate (source lane in range). b, c: as in PTX. */
uint64_t rt_shfl(struct rt_thread *thread, uint32_t mode, uint32_t value, uint32_t b, uint32_t c,
                 uint32_t mask);

enum rt_vote { RT_VOTE_ALL, RT_VOTE_ANY, RT_VOTE_UNI, RT_VOTE_BALLOT };

uint32_t rt_vote(struct rt_thread *thread, uint32_t mode, uint32_t predicate, uint32_t mask);

/* all == 0: match.any. Low half: the mask; bit 32: the predicate of match.all. */
uint64_t rt_match(struct rt_thread *thread, uint32_t all, uint64_t value, uint32_t mask);

uint32_t rt_redux(struct rt_thread *thread, uint32_t op, uint32_t value, uint32_t mask);

/* Lanes that reached this place together. site: identifies the instruction within the kernel and
 * grows along its text. */
uint32_t rt_activemask(struct rt_thread *thread, uint32_t site);

/* Low half: the leader's lane; bit 32: whether this lane is the leader. */
uint64_t rt_elect(struct rt_thread *thread, uint32_t mask);

/* Before a volatile access to shared memory: the lanes that come to it together go on together.
 * Programs for machines whose warps ran in lock step order their lanes by nothing else. Waits for
 * no lane that can only come with help of others. site: as for rt_activemask, and no instruction
 * of the kernel has the same. */
void rt_warp_converge(struct rt_thread *thread, uint32_t site);
/* Parts of the site. In a program that waits, outside of the loops that do; behind all numbers of
 * volatile accesses, which come first where both are waited at. */
#define RT_SITE_IN_STEP 0x40000000u
/* Lanes that poll are waited for, since they come here next: long by lanes that have never polled
 * themselves. */
#define RT_SITE_PATIENT 0x80000000u

/* ---- progress ----
 * rt_spin stands where a program may be waiting for another thread (volatile, acquire and relaxed
 * loads, compare-and-swap, exchange). It is part of the generated code (translator/rt): counts
 * poll_budget down, and calls rt_poll once that is used up, which lets the other threads of the
 * block, then other blocks, run. */
void rt_spin(struct rt_thread *thread);
void rt_poll(struct rt_thread *thread);
void rt_nanosleep(struct rt_thread *thread, uint32_t ns);

/* ---- the end of a thread ---- */
__attribute__((noreturn)) void rt_exit(struct rt_thread *thread);

/* Ends the launch with an error: status is an enum pxr_status (PXR_FAULT_…). */
__attribute__((noreturn)) void rt_fault(struct rt_thread *thread, uint32_t status,
                                        uint64_t address);

/* The same for an instruction that is not supported, in a function that may never be called.
 * message: a string in the code, for the log. */
__attribute__((noreturn)) void rt_unsupported(struct rt_thread *thread, const char *message);

/* ---- fused kernels ----
 * A kernel whose threads have been fused into loops is two functions. rt_fused_fn runs `count`
 * blocks one after another, beginning with block->ctaid, which it advances; x changes fastest.
 * block->frame begins with one uint16_t per thread (their number rounded up to whole warps): where
 * the thread is, an *entry*; the rest is the generated code's.
 *
 * Where threads of a group come to different stops, loops cannot go on: rt_block_mix runs them one
 * by one with rt_step_fn, which runs a thread from an entry to its next stop, has called the stop's
 * rt_arrive_… when it returns, and returns the entry to go on from. Entries:
 *   0                           the kernel's beginning
 *   n, 1 ... RT_ENTRY_MAX       behind stop n, when it lets the thread go
 *   n | RT_ENTRY_WHOLE          the same: and if all live threads are let go from there by the same
 *                               barrier, the loops can go on
 *   … | RT_ENTRY_LOOPED         the same, and what the thread keeps is where the loops have put it
 *   … | RT_ENTRY_ARRIVE         to rt_step_fn only, with LOOPED: the thread stands before stop n
 *   RT_ENTRY_EXITED             none */
typedef void (*rt_fused_fn)(struct rt_block *block, uint32_t count);
typedef uint32_t (*rt_step_fn)(struct rt_thread *thread, uint32_t entry);

#define RT_ENTRY_MAX    0x1ffeu
#define RT_ENTRY_LOOPED 0x2000u
#define RT_ENTRY_WHOLE  0x4000u
#define RT_ENTRY_ARRIVE 0x8000u
#define RT_ENTRY_EXITED 0xffffu

#define RT_MIX_EXITED   0x80000000u /* some threads have exited … */
#define RT_MIX_TORN     0x40000000u /* … and not all of their warp */

/* Called by a rt_fused_fn. Threads [0, arrived) stand before the stop that the frame names, or have
 * exited; the others may go on from the entry there. Runs them until all live threads have been let
 * go together from a WHOLE entry n: returns n | RT_MIX_… | (index of the first live thread) << 32;
 * the frame then names n | RT_ENTRY_WHOLE for all live threads. It may be called again at once,
 * with none arrived, by who cannot go on without those that have exited. Or until all have exited:
 * returns 0. */
uint64_t rt_block_mix(struct rt_block *block, rt_step_fn step, uint32_t arrived);

/* What a stop does, for rt_step_fn: as the functions above, without waiting. */
void rt_arrive_bar_sync(struct rt_thread *thread, uint32_t id, uint32_t count);
void rt_arrive_bar_arrive(struct rt_thread *thread, uint32_t id, uint32_t count);
void rt_arrive_bar_red(struct rt_thread *thread, uint32_t id, uint32_t count, uint32_t predicate,
                       uint32_t op);
void rt_arrive_warp_sync(struct rt_thread *thread, uint32_t mask);
void rt_arrive_shfl(struct rt_thread *thread, uint32_t mode, uint32_t value, uint32_t b, uint32_t c,
                    uint32_t mask);
void rt_arrive_vote(struct rt_thread *thread, uint32_t mode, uint32_t predicate, uint32_t mask);
void rt_arrive_match(struct rt_thread *thread, uint32_t all, uint64_t value, uint32_t mask);
void rt_arrive_redux(struct rt_thread *thread, uint32_t op, uint32_t value, uint32_t mask);
void rt_arrive_activemask(struct rt_thread *thread, uint32_t site);
void rt_arrive_elect(struct rt_thread *thread, uint32_t mask);
void rt_arrive_warp_converge(struct rt_thread *thread, uint32_t site);
void rt_arrive_poll(struct rt_thread *thread);
void rt_arrive_nanosleep(struct rt_thread *thread, uint32_t ns);

/* What the operation gave that the thread has been let go from: the value that the waiting function
 * returns, in its low bits. Once, at the entry behind the stop. */
uint64_t rt_result(const struct rt_thread *thread);

/* ---- clocks ---- */
uint64_t rt_clock(void);       /* %clock64: monotone, about 1 GHz */
uint64_t rt_globaltimer(void); /* %globaltimer: ns */

/* ---- what the host side provides (cudart/core/code/device_lib.c) ---- */
int32_t rt_vprintf(struct rt_thread *thread, uint64_t format, uint64_t args);
uint64_t rt_malloc(struct rt_thread *thread, uint64_t size_bytes);
void rt_free(struct rt_thread *thread, uint64_t pointer);
/* Notes a failed assertion; then the thread ends. */
void rt_assertfail(struct rt_thread *thread, uint64_t message, uint64_t file, uint32_t line,
                   uint64_t function, uint64_t char_bytes);
/* Sets what decides about a conditional node of a graph. */
void rt_graph_set_conditional(struct rt_thread *thread, uint64_t handle, uint32_t value);

#endif
