/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine that threads run on, for the files of the oracle's core: launch, blocks, memory,
 * calls. Bodies of arithmetic need only thread.h.
 */
#ifndef PTXRUN_TESTS_ORACLE_MACHINE_H
#define PTXRUN_TESTS_ORACLE_MACHINE_H

#include "tests/oracle/oracle.h"
#include "tests/oracle/thread.h"

#define ORACLE_BARRIERS        16
#define ORACLE_MAX_WARPS       32         /* of a block */
#define ORACLE_MAX_DEPTH       4096       /* calls within calls */
#define ORACLE_MAX_LOCAL_BYTES (4U << 20) /* of one thread */

/* Generic addresses. Global ones are host addresses; the other spaces have windows that no host
 * address lies in. The low 32 bits are the address within the space. */
#define ORACLE_SHARED_WINDOW UINT64_C(0x5a00000000000000)
#define ORACLE_LOCAL_WINDOW  UINT64_C(0x5b00000000000000)
#define ORACLE_PARAM_WINDOW  UINT64_C(0x5c00000000000000)
#define ORACLE_WINDOW_BYTES  (UINT64_C(1) << 32)

/* Addresses in shared memory: from here on those of the blocks of the cluster, by rank, so many
 * bits each; below, the thread's own block. */
#define ORACLE_FIRST_RANK     0x40
#define ORACLE_BLOCK_BITS     24
#define ORACLE_CLUSTER_BLOCKS 16

/* Global memory that may be touched. */
struct oracle_range {
    uint64_t base;
    uint64_t size_bytes;
    bool is_const;   /* a .const variable: not to be written */
    bool is_heap;    /* made by malloc in a kernel */
    bool is_allowed; /* by oracle_allow */
};

/* A barrier counts warps: a warp arrives when all its lanes that still run have. */
struct oracle_barrier {
    uint32_t expected_warps; /* 0: nobody has arrived */
    bool is_for_all;         /* no count was given: warps that have exited are not waited for */
    uint32_t arrived_warps;
    uint32_t arrived_mask;            /* bit per warp */
    uint32_t true_count;              /* of the predicates of bar.red */
    uint32_t red_count;               /* threads that brought one */
    uint32_t lanes[ORACLE_MAX_WARPS]; /* that have arrived, of warps that have not yet */
};

/* Blocks that run together. */
struct oracle_cluster {
    struct oracle_block *blocks[ORACLE_CLUSTER_BLOCKS]; /* by rank */
    uint32_t block_count;
    uint32_t live_threads;
    uint32_t arrived_threads; /* of them, at barrier.cluster */
    uint32_t vain_asks;       /* for phases of mbarriers since one has changed or was complete */
};

struct oracle_block {
    struct oracle *oracle;
    struct oracle_cluster *cluster;
    uint32_t rank;
    uint32_t ctaid[3];
    uint32_t thread_count;
    uint32_t warp_count;
    uint32_t live_count;
    struct oracle_thread *threads;
    uint8_t *shared;
    uint64_t warp_steps[ORACLE_MAX_WARPS];
    struct oracle_barrier barriers[ORACLE_BARRIERS];
};

struct oracle_frame {
    const struct oracle_code *code;
    const struct ptx_call *call; /* the call that this frame waits for */
    uint32_t pc;
    uint32_t slot_base;
    uint32_t local_base;
    uint32_t local_top;
};

struct oracle {
    const struct ptx_module *module;
    struct oracle_code **codes;           /* by func->index; NULL until it runs */
    const struct ptx_func **handle_funcs; /* by (handle - PTX_FUNC_HANDLE_BASE) / step */
    uint32_t handle_count;
    uint8_t **vars;          /* memory of .global and .const variables, by var->index */
    uint32_t *module_places; /* addresses of module-scope .shared and .local variables, likewise */
    struct oracle_range *ranges;
    uint32_t range_count;
    uint32_t range_capacity;
    uint32_t last_range;
    bool is_out_of_memory;
    char *log;
    size_t log_bytes;
    size_t log_capacity;
    uint64_t steps;

    /* one launch (run.c) */
    const struct oracle_launch *launch;
    const struct ptx_func *kernel;
    uint32_t cluster[3]; /* blocks */
    uint64_t random;
    uint32_t shared_reserved_bytes; /* the first ones */
    uint32_t shared_static_bytes;
    uint32_t shared_bytes;
    uint32_t module_local_bytes; /* module-scope .local variables: the bottom of every stack */
    uint64_t grid_id;
    struct pxr_error *err;
};

/* ---- oracle.c ---- */
/* Pseudo-random, from the launch's seed. */
uint64_t oracle_random(struct oracle *oracle);
/* Bytes of memory and registers that nothing has written: depend on the seed. */
void oracle_fill_pattern(const struct oracle *oracle, void *memory, size_t size_bytes);
/* Makes room for one more item in a growing array. */
bool oracle_grow(void *array, uint32_t *capacity, uint32_t needed, size_t item_bytes);

/* ---- code.c ---- */
/* The function ready to run, or NULL when memory is exhausted. */
const struct oracle_code *oracle_code_of(struct oracle *oracle, const struct ptx_func *func);
void oracle_code_destroy(struct oracle_code *code);

/* ---- special.c ---- */
uint64_t oracle_sreg(struct oracle_thread *thread, enum ptx_sreg sreg);

/* ---- variables.c ---- */
enum pxr_status oracle_init_vars(struct oracle *oracle, struct pxr_error *err);
/* Places of .shared variables for the kernel of the launch. */
enum pxr_status oracle_place_shared(struct oracle *oracle, struct pxr_error *err);
/* The address of a variable within its own space. */
uint64_t oracle_var_address(const struct oracle_thread *thread, const struct ptx_var *var);

/* ---- memory.c ---- */
enum oracle_access { ORACLE_LOAD, ORACLE_STORE };

bool oracle_add_range(struct oracle *oracle, struct oracle_range range);
/* Takes memory that kernel code allocated away; false when base is not such. */
bool oracle_remove_heap_range(struct oracle *oracle, uint64_t base);
/* Host memory behind an address of that space (NONE: generic), or a fault. *shared says whether
 * it lies in shared memory; may be NULL. */
enum pxr_status oracle_resolve(struct oracle_thread *thread, const struct ptx_inst *inst,
                               enum ptx_space space, uint64_t address, unsigned size_bytes,
                               enum oracle_access access, uint8_t **host, bool *is_shared);
/* Makes local memory below `top` exist; false when it is exhausted. */
bool oracle_reserve_local(struct oracle_thread *thread, uint64_t top);

/* ---- address.c ---- */
/* Address in the brackets of an operand, within the space it is meant for. */
uint64_t oracle_address_of(struct oracle_thread *thread, const struct ptx_operand *operand);
/* The space that an access means: .param of a function lies in local memory. */
enum ptx_space oracle_space_of(const struct oracle_thread *thread, const struct ptx_inst *inst,
                               const struct ptx_operand *operand);

/* ---- call.c ---- */
enum pxr_status oracle_enter_kernel(struct oracle_thread *thread);
enum pxr_status oracle_return(struct oracle_thread *thread);

/* ---- external.c ---- */
/* A function without a body that the system provides: vprintf, malloc, free, __assertfail. */
enum pxr_status oracle_call_external(struct oracle_thread *thread, const struct ptx_inst *inst,
                                     const struct ptx_func *func);

/* ---- control.c ---- */
/* Runs a thread until it has done so many steps, waits or ends. */
enum pxr_status oracle_run_thread(struct oracle_thread *thread, uint64_t max_steps);
enum pxr_status oracle_end_thread(struct oracle_thread *thread);

/* ---- mbarrier.c ---- */
/* So many transactions of the mbarrier object at this operand have completed. */
enum pxr_status oracle_complete_tx(struct oracle_thread *thread, const struct ptx_inst *inst,
                                   unsigned operand, enum ptx_space space, uint32_t bytes);

/* ---- atomic.c ---- */
/* What an atomic operation writes where `old` is; c is the third operand of cas. */
union oracle_value oracle_combine(enum ptx_mod op, enum ptx_type type, union oracle_value old,
                                  union oracle_value b, union oracle_value c, bool is_shared);

/* ---- barrier.c, warp.c: what may now go on, after a thread has ended ---- */
void oracle_barriers_after_exit(struct oracle_thread *thread);
enum pxr_status oracle_warp_after_exit(struct oracle_thread *thread);
/* Lets lanes that wait for company go on if their warp cannot or has long enough. Sets *progress
 * when it did. */
enum pxr_status oracle_release_groups(struct oracle_block *block, bool *progress);

/* ---- cluster.c: likewise ---- */
void oracle_cluster_after_exit(struct oracle_thread *thread);

/* The thread waits until all lanes of the mask that have not exited have come. */
enum pxr_status oracle_meet_lanes(struct oracle_thread *thread, const struct ptx_inst *inst,
                                  uint32_t mask, oracle_finish finish);

/* Lanes of a warp that have not exited. */
uint32_t oracle_live_lanes(const struct oracle_block *block, uint32_t warp);

/* The thread of another lane of the same warp. */
static inline struct oracle_thread *oracle_thread_of(const struct oracle_block *block,
                                                     uint32_t warp, uint32_t lane)
{
    return &block->threads[warp * ORACLE_WARP_SIZE + lane];
}

#endif
