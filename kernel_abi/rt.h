/* SPDX-License-Identifier: Apache-2.0
 *
 * The contract between generated code and the process it runs in: the data that generated code may
 * read, and, from the table placeholders.def, the functions it may call.
 *
 * Plain C without dependencies: it is also compiled to bitcode (translator/rt).
 */
#ifndef PTXRUN_KERNEL_ABI_RT_H
#define PTXRUN_KERNEL_ABI_RT_H

#include <stdbool.h>
#include <stdint.h>

#define RT_WARP_SIZE 32

/* Memory of which a shadow says what a kernel may access: a byte for each RT_SHADOW_GRAIN bytes,
 * RT_SHADOW_ALL, or how many of them may be accessed, from the first on. The shadow can be read
 * for RT_SHADOW_SLACK bytes more. */
struct rt_checked {
    uint64_t begin;
    uint64_t size_bytes; /* a multiple of RT_SHADOW_GRAIN */
    const uint8_t *shadow;
};

#define RT_SHADOW_GRAIN 8
#define RT_SHADOW_ALL   0xff
#define RT_SHADOW_SLACK 64

/* What an access that is checked does. Of VALUE and ATOMIC_VALUE the bytes must have been written:
 * their shadow has a bit for each byte that somebody has written, the first one's lowest. */
enum rt_access {
    RT_ACCESS_READ,
    RT_ACCESS_WRITE,
    RT_ACCESS_ATOMIC,
    RT_ACCESS_VALUE,
    RT_ACCESS_ATOMIC_VALUE
};

/* Of bytes that a thread reads or writes, at most RT_WRITTEN_MAX, those that somebody has written:
 * a bit for each, the first one's lowest; all others are 1. */
#define RT_WRITTEN_MAX 32
#define RT_WRITTEN_ALL UINT32_MAX

/* What else checks of races are told of it: strong (PTX ISA "Strong operations"), but only towards
 * threads of the block; a write of one value, which is known; strong towards the host, too; of a
 * kernel whose blocks never come to know what others do; a copy that goes on until the thread waits
 * for it. */
#define RT_ACCESS_MASK 0x0fu
#define RT_RACE_STRONG 0x10u
#define RT_RACE_BLOCK  0x20u
#define RT_RACE_VALUE  0x40u
#define RT_RACE_SYSTEM 0x80u
#define RT_RACE_UNTOLD 0x100u
#define RT_RACE_COPY   0x200u

/* In place of a number of groups of copies: those that have begun become a group. */
#define RT_RACE_COMMIT UINT32_MAX

/* Accesses that are checked together: what stands in the code for each check. */
struct rt_checked_access {
    uint32_t offset; /* from the address that is checked */
    uint32_t bytes;  /* 0: all that are checked */
    uint32_t what;   /* enum rt_access */
    uint32_t line;   /* of the PTX */
};

struct rt_accesses {
    uint32_t count;
    struct rt_checked_access each[];
};

/* A variable that accesses are to stay in: what stands in the code for each check of them. */
enum rt_variable_space {
    RT_VARIABLE_GLOBAL, /* or constant, or a parameter of the kernel */
    RT_VARIABLE_SHARED,
    RT_VARIABLE_DYNAMIC, /* shared memory of the size that the launch says */
    RT_VARIABLE_LOCAL    /* the address that is checked is the place in it */
};

struct rt_variable {
    uint32_t space; /* enum rt_variable_space */
    char name[];    /* as the PTX has it */
};

/* What has been written of shared memory can be looked up for any place modulo this, which no block
 * has more of. */
#define RT_SHARED_WRAP ((uint64_t)256 << 10)

/* One launch. Constant while the grid runs. */
struct rt_launch {
    const uint8_t *params; /* the kernel's parameter block */
    void *const *slots;    /* address of each module-scope variable, by ptx_var.index */
    uint32_t grid[3];      /* in blocks */
    uint32_t block[3];     /* in threads */
    uint32_t cluster[3]; /* in blocks; a launch without clusters makes each block one of its own */
    uint32_t cluster_blocks;      /* their product */
    uint32_t is_explicit_cluster; /* the kernel or the launch has named them */
    uint32_t dynamic_shared_bytes;
    uint32_t shared_bytes; /* static and dynamic */
    uint64_t grid_id;
    uint64_t grid_workspace; /* %envreg1 (high half) and %envreg2 (low half); 0: not cooperative */
    uint32_t sm_count;       /* what %nsmid says */
    uint64_t graph_exec;     /* what %current_graph_exec says */
    uint32_t local_bytes;    /* module-scope .local variables: below each thread's stack_limit */
    struct rt_checked checked; /* for code with checks of memory */
    struct rt_checked written; /* for code that asks what has been written */
};

/* What other code, which is to go on with a chunk of blocks, wants of the code that runs them. */
enum rt_hand_over {
    RT_HAND_OVER_NOTHING,
    RT_HAND_OVER_BLOCKS, /* those that have not begun */
    RT_HAND_OVER_THREADS /* and the threads that have not begun of the one that has */
};

/* One running block. */
struct rt_block {
    const struct rt_launch *launch;
    uint8_t *shared; /* base of the block's shared memory; address 0 of the space */
    uint32_t ctaid[3];
    uint32_t sm_id;            /* what %smid says: the worker's number in its group */
    struct rt_thread *threads; /* of the block, RT_THREAD_STRIDE bytes apart */
    uint8_t *frame;    /* of fused kernels: values that live across sync points; see rt_fused_fn */
    uint32_t together; /* so many blocks from this one on, along x, run as one; at least 1 */
    uint8_t *words;    /* RT_WARP_BYTES for each warp, see rt_warp_fn; on a cache line */
    /* Counts what may let a thread of the cluster go on: changes of mbarriers, answers that a phase
     * is complete. Its blocks, which one worker runs, share it. */
    uint32_t *progress;
    uint32_t cluster_rank; /* within its cluster */
    /* If the launch asks what has been written: the same for shared memory. */
    uint8_t *shared_written;
    /* What is to be handed over, enum rt_hand_over. Others write it while the block runs; code of
     * the quick tier asks now and then, and returns when it has written the next two. */
    const volatile uint32_t *hand_over;
    uint32_t first_thread; /* of the block that runs: those before it have run in other code */
    uint32_t blocks_left;  /* so many blocks are handed over, from ctaid on; 0: all have run */
};

/* Blocks of a cluster: their number, and how far apart their shared memories are, by rank. */
#define RT_CLUSTER_BLOCKS_MAX    16
#define RT_CLUSTER_DISTANCE_LOG2 20

#define RT_THREAD_STRIDE         64

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

/* ---- operations of a warp on many words ----
 * A warp has RT_WARP_WORDS rows of a 32-bit word for each lane; 64-bit words take two rows, their
 * low halves one and their high halves the next. Lanes put their operands into them, meet, and find
 * results there. The operation, a function of the generated code, reads and writes the rows of all
 * lanes at once; live: those that take part. */

#define RT_WARP_WORDS  256
#define RT_WARP_BYTES  ((uint32_t)(RT_WARP_WORDS * RT_WARP_SIZE * sizeof(uint32_t)))
#define RT_WORDS_ALIGN 64

typedef void (*rt_warp_fn)(uint8_t *words, uint32_t live);

/* ---- which of several operations ---- */

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

enum rt_shfl { RT_SHFL_UP, RT_SHFL_DOWN, RT_SHFL_BFLY, RT_SHFL_IDX };

enum rt_vote { RT_VOTE_ALL, RT_VOTE_ANY, RT_VOTE_UNI, RT_VOTE_BALLOT };

/* Parts of the site of rt_warp_converge. This one: in a program that waits, outside of the loops
 * that do. Its numbers are behind those of volatile accesses, which go first where lanes wait at
 * both. */
#define RT_SITE_IN_STEP 0x40000000u
/* Where lanes exchange values through shared memory, not volatile. */
#define RT_SITE_EXCHANGE 0x10000000u
/* Also waits for lanes that poll, since they come here next: lanes that have never polled
 * themselves wait long. */
#define RT_SITE_PATIENT 0x80000000u

/* ---- what it may call ---- */

#define VOID          void
#define THREAD        struct rt_thread *thread
#define U32(name)     uint32_t name
#define U64(name)     uint64_t name
#define POINTER(name) const char *name
#define MODE(name)    uint32_t name
#define MASK(name)    uint32_t name
#define SITE(name)    uint32_t name
#define CODE(name)    rt_warp_fn name

#define RT_GIVES_VOID void
#define RT_GIVES_S32  int32_t
#define RT_GIVES_U32  uint32_t
#define RT_GIVES_U64  uint64_t
#define RT_GIVES_PAIR uint64_t
#define RT_GIVES_QUAD unsigned __int128

#define RT_DOES_NONE
#define RT_DOES_ORDER
#define RT_DOES_ANY
#define RT_DOES_END   __attribute__((noreturn))
#define RT_DOES_FAULT __attribute__((noreturn))

/* The arrive form of a sync point, for rt_step_fn: as rt_NAME, without waiting. */
#define RT_ARRIVE(name, takes) void rt_arrive_##name takes;
#define RT_ARRIVE_NONE(name, takes)
#define RT_ARRIVE_BARRIER     RT_ARRIVE
#define RT_ARRIVE_BARRIER_RED RT_ARRIVE
#define RT_ARRIVE_WARP        RT_ARRIVE
#define RT_ARRIVE_LINE_UP     RT_ARRIVE
#define RT_ARRIVE_CLUSTER     RT_ARRIVE
#define RT_ARRIVE_OTHER       RT_ARRIVE

#define PLACEHOLDER(ID, name, home, gives, takes, sync, waits, does, ...)                          \
    RT_DOES_##does RT_GIVES_##gives rt_##name takes;                                               \
    RT_ARRIVE_##sync(name, takes)
#include "kernel_abi/placeholders.def"
#undef PLACEHOLDER

#undef VOID
#undef THREAD
#undef U32
#undef U64
#undef POINTER
#undef MODE
#undef MASK
#undef SITE
#undef CODE

/* ---- fused kernels ----
 * A kernel whose threads have been fused into loops is two functions. rt_fused_fn runs `count`
 * blocks one after another, beginning with block->ctaid, which it advances; x changes fastest.
 * block->frame begins with one uint16_t per thread (their number rounded up to whole warps): where
 * the thread is, an *entry*; the rest is the generated code's. It may return before it has run all:
 * see rt_block.hand_over.
 *
 * Where threads of a group come to different sync points, loops cannot go on: rt_block_mix runs
 * them one by one with rt_step_fn, which runs a thread from an entry to its next sync point, has
 * called the sync point's rt_arrive_… when it returns, and returns the entry to go on from.
 * Entries:
 *   0                        the kernel's beginning
 *   n, 1 ... RT_ENTRY_MAX    behind sync point n, when it lets the thread go
 *   n | RT_ENTRY_WHOLE       the same: and if all live threads are let go from there by the same
 *                            barrier, the loops can go on
 *   ... | RT_ENTRY_LOOPED    the same, and what the thread keeps is where the loops have put it
 *   ... | RT_ENTRY_ARRIVE    to rt_step_fn only, with LOOPED: the thread stands before sync point n
 *   RT_ENTRY_EXITED          none */
typedef void (*rt_fused_fn)(struct rt_block *block, uint32_t count);
typedef uint32_t (*rt_step_fn)(struct rt_thread *thread, uint32_t entry);

#define RT_ENTRY_MAX    0x1ffeu
#define RT_ENTRY_LOOPED 0x2000u
#define RT_ENTRY_WHOLE  0x4000u
#define RT_ENTRY_ARRIVE 0x8000u
#define RT_ENTRY_EXITED 0xffffu

#define RT_MIX_EXITED   0x80000000u /* some threads have exited … */
#define RT_MIX_TORN     0x40000000u /* … and not all of their warp */

/* As rt_arrive_bar_sync, for a thread that loops have brought there. All other threads that they
 * have brought to the same sync point give the same operands. */
void rt_arrive_looped_bar_sync(struct rt_thread *thread, uint32_t id, uint32_t count);

/* Called by a rt_fused_fn. Threads [0, arrived) stand before the sync point that the frame names,
 * or have exited; the others may go on from the entry there. Runs them until all live threads have
 * been released together from a WHOLE entry n: returns n | RT_MIX_… | (index of the first live
 * thread) << 32; the frame then names n | RT_ENTRY_WHOLE for all live threads, and LOOPED for those
 * that keep what they do where the loops have put it. If all exit it returns 0. A caller that
 * cannot go on without those that have exited may call it again at once, with none arrived. */
uint64_t rt_block_mix(struct rt_block *block, rt_step_fn step, uint32_t arrived);

/* Called by a rt_fused_fn when all live threads of the block have come to rt_cluster_wait: returns
 * when they can go on. */
void rt_block_cluster_wait(struct rt_block *block);

/* The result of the operation that released the thread: the value that the waiting function
 * returns, in its low bits. Once, at the entry behind the sync point. */
uint64_t rt_result(const struct rt_thread *thread);

#endif
