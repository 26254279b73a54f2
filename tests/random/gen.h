/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the generator: its state, and one function per kind of statement.
 *
 * Registers of the program. Pools, whose values are what the program computes: %h (16 bits), %r
 * (32), %l (64), %p (predicates). Temporaries, each assigned in one place: %th %tr %tl %tp. Fixed:
 *   %self   32 bits  address of this thread's cell in shared memory
 *   %own    64 bits  address of this thread's cell in global memory
 *   %tab %atoms  64 bits  addresses of the words that all may read, of the cells for atomics
 *   %lane %mask0     lane, and the lanes of the warp that have not exited
 *   %u      32 bits  pool of values that are the same in all threads of the block
 *   %acc    32 bits  takes up what other registers lose
 */
#ifndef PTXRUN_TESTS_RANDOM_GEN_H
#define PTXRUN_TESTS_RANDOM_GEN_H

#include "ptx/ops.h"
#include "tests/random/generator.h"

#define TABLE_WORDS  64 /* of the input and of the constant table */
#define ATOMIC_SLOTS 12 /* cells of 8 bytes for atomics, in global and in shared memory */
#define NAME_BYTES   24

/* The threads that are known to be at a place together. */
enum gen_level {
    GEN_BLOCK, /* all of the block that have not exited: barriers are allowed */
    GEN_WARP,  /* those of the warp in the mask register: warp operations are allowed */
    GEN_FREE   /* nothing known */
};

struct gen_scope {
    enum gen_level level;
    char mask[NAME_BYTES];   /* register, GEN_BLOCK and GEN_WARP */
    bool is_full;            /* the mask is known to be all 32 lanes */
    bool is_top;             /* outermost statements of the kernel: threads may exit here */
    char escape[NAME_BYTES]; /* GEN_FREE: label behind a loop around this place, or "" */
    unsigned depth;
    unsigned turns; /* of the loops around this place, multiplied */
};

/* Counts of temporaries and labels of the function being written. */
struct gen_counts {
    unsigned h, r, l, p, label;
};

struct gen {
    struct dice dice;
    const struct generator_config *config;
    const struct gen_forms *forms;
    struct text *out; /* body being written */
    struct gen_counts counts;
    unsigned indent;
    unsigned function; /* number of the function being written; callees have smaller ones */
    bool in_function;
    bool has_left; /* threads may have exited: code that counts all must not go on */
    struct generator_pools pools;
    unsigned own_bytes; /* of a thread's cell in shared, global and local memory */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t threads; /* of a block */
    uint32_t cluster; /* blocks of a cluster; 0: there are none */
};

/* ---- gen.c ---- */
__attribute__((format(printf, 2, 3))) void gen_line(struct gen *g, const char *format, ...);
void gen_label(struct gen *g, const char *label);
void gen_new_label(struct gen *g, char name[NAME_BYTES]);

/* A fresh temporary of 1 (predicate), 16, 32 or 64 bits. */
void gen_temp(struct gen *g, unsigned bits, char name[NAME_BYTES]);

/* A register of the pool, to read or to write. */
void gen_pool(struct gen *g, unsigned bits, char name[NAME_BYTES]);

/* A register of the pool, now and then a constant or a special register that is the same for
 * both engines. */
void gen_source(struct gen *g, enum ptx_type type, char name[NAME_BYTES]);
void gen_constant(struct gen *g, enum ptx_type type, char name[NAME_BYTES]);

/* Declarations of everything above, once the body is written; the beginning of every body. */
void gen_declare(const struct gen *g, struct text *text);
void gen_frame(struct gen *g);
void gen_fill_pools(struct gen *g, const char *salt);

/* Marks a construct for the reducer: it may be removed as one. */
void gen_open(struct gen *g);
void gen_close(struct gen *g);

/* About `count` statements. */
void gen_statements(struct gen *g, const struct gen_scope *scope, unsigned count);

/* ---- gen_inst.c ---- */
void gen_inst(struct gen *g);
void gen_pack(struct gen *g);
void gen_carry_chain(struct gen *g);
void gen_half_chain(struct gen *g);
void gen_mix(struct gen *g);

/* ---- gen.c ---- */
/* One short instruction. */
void gen_short(struct gen *g);

/* ---- gen_stencil.c ---- */
/* The whole case. */
void gen_stencil(struct gen *g, struct text *text);

/* ---- gen_pixels.c ---- */
/* All pools from short elements around %self, of a matrix with rows of `pitch`; the same place in
 * `elements` of each plane that is written. */
void gen_pixel_loads(struct gen *g, uint32_t pitch, uint32_t bytes);
void gen_pixel_statement(struct gen *g);
void gen_pixel_stores(struct gen *g, uint32_t elements, uint32_t bytes);

/* ---- gen_strides.c ---- */
/* The whole case. */
void gen_strides(struct gen *g, struct text *text);

/* ---- fields of structures (gen_fields.c) ---- */

/* Loads fields of the element that %tab has at the index, into registers of the pool. */
void gen_fields_load(struct gen *g, const char *index);
/* Stores such registers in fields, of so many words, of what %out has there. guard: empty, or a
 * predicate and a space. */
void gen_fields_store(struct gen *g, const char *index, uint32_t words, const char *guard);

/* ---- gen_memory.c ---- */
void gen_memory(struct gen *g);
void gen_atomic(struct gen *g);
void gen_own_atomic(struct gen *g);
void gen_fence(struct gen *g);

/* ---- gen_warp.c ---- */
void gen_warp_op(struct gen *g, const struct gen_scope *scope);
void gen_warp_exchange(struct gen *g, const struct gen_scope *scope);
void gen_exit(struct gen *g, const struct gen_scope *scope);

/* ---- gen_barrier.c ---- */
/* The address of another thread's cell, in a new register. */
void gen_other_cell(struct gen *g, char other[NAME_BYTES]);
void gen_block_exchange(struct gen *g);
void gen_barrier_red(struct gen *g);
void gen_barrier(struct gen *g);
void gen_split_barrier(struct gen *g);
void gen_barrier_arms(struct gen *g, const struct gen_scope *scope);
void gen_barrier_loops(struct gen *g, const struct gen_scope *scope);

/* ---- gen_mbarrier.c ---- */
void gen_mbarrier(struct gen *g);

/* ---- gen_cluster.c ---- */
void gen_cluster(struct gen *g);

/* ---- gen_leavers.c ---- */
void gen_leavers(struct gen *g, const struct gen_scope *scope);

/* ---- gen_rows.c ---- */
void gen_rows(struct gen *g, const struct gen_scope *scope);

/* ---- gen_flow.c ---- */
/* How conditions come out: the same for the block, the same for each warp, for some lanes of a mask
 * that is kept up to date, or for any lanes. */
enum gen_way { WAY_UNIFORM, WAY_WARP, WAY_MASKED, WAY_FREE };

/* A condition in a fresh predicate. */
void gen_condition(struct gen *g, enum gen_way way, char name[NAME_BYTES]);

/* A place inside of the scope's where nothing is known about the threads. */
struct gen_scope gen_scope_free(const struct gen_scope *scope);

/* How often a loop may iterate here, at least 1. */
unsigned gen_turns_left(struct gen *g, const struct gen_scope *scope);
void gen_escape(struct gen *g, const struct gen_scope *scope);
void gen_flow(struct gen *g, const struct gen_scope *scope);

/* ---- gen_matrix.c ---- */
void gen_matrix(struct gen *g);

/* ---- gen_call.c ---- */
void gen_call(struct gen *g, const struct gen_scope *scope);
void gen_functions(struct gen *g, struct text *text);

/* ---- gen_forms.c ---- */
/* One spelling of an instruction, with the types of its operands. */
struct gen_form {
    const char *text;
    enum ptx_op op;
    bool may_flush; /* ptx/flush.h */
    unsigned operand_count;
    struct {
        char letter; /* as in ops.def */
        enum ptx_type type;
    } operands[6];
};

/* Every spelling the generator uses, by row of the table. */
const struct gen_forms *gen_forms_get(void);
const struct gen_form *gen_forms_draw(const struct gen_forms *forms, struct dice *dice,
                                      const struct generator_config *config);

#endif
