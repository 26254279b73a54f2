/* SPDX-License-Identifier: Apache-2.0
 *
 * What code is made for: what the vectors of the target CPU can do and what things cost on it. The
 * values are in target.def, a row for each family of CPUs.
 */
#ifndef PTXRUN_TRANSLATOR_TARGET_H
#define PTXRUN_TRANSLATOR_TARGET_H

#include <stdbool.h>
#include <stdint.h>

/* Costs of vectors of threads, and what makes more of them worthwhile. The unit is a simple
 * instruction. */
struct tr_vector_costs {
    /* Of one thread. */
    double division;
    double address;
    /* Of one vector, in its scalar instructions. */
    double float_division; /* in scalar divisions */
    uint32_t slow;         /* a quotient or a root, in sums: for the length of units of control */
    /* Of one lane. */
    uint32_t gather;  /* or scatter: an element of 4 or 8 bytes */
    uint32_t collect; /* a smaller one, or one that lanes of a loop of their own wait for */
    uint32_t serial;  /* of an instruction that is done lane by lane: out of a vector and back */
    uint32_t extract; /* an address out of a vector, and no more */
    /* Of one vector. */
    uint32_t contiguous;
    uint32_t reversed;
    uint32_t checked;     /* contiguous but for an index that may wrap */
    uint32_t few_pieces;  /* shuffles for each field of a structure that takes up to 4 vectors … */
    uint32_t many_pieces; /* … and more */
    /* How far strided accesses are wide ones with shuffles, in elements from lane to lane. */
    uint32_t step;
    uint32_t masked_step;
    /* Vectors side by side. */
    uint32_t registers;  /* that copies may fill; the others are for what copies share and for what
                            an instruction needs on its way */
    uint32_t copies;     /* beyond them nothing is won … */
    uint32_t shared;     /* … but loads that copies share */
    uint32_t sums;       /* that keep the multipliers busy: two times the cycles that one takes */
    double gathers_most; /* with such a share of the time gathers are as fast one copy at a time */
    double divergent_loop; /* loops take so much longer if lanes leave them on their own */
    double sparse;     /* gathers by the few lanes that data have chosen, in memory of their own:
                          scalar code does nothing for the others, and finds in its cache what
                          it has just read next to it */
    double worthwhile; /* at most this part of the time of single threads */
};

/* Costs of computing values again and of keeping them (collapse/again.h). The unit is a quarter of
 * a simple instruction in every thread. */
struct tr_again_costs {
    uint32_t retype; /* changes the type only; not 0, so that chains of them end */
    uint32_t simple; /* integer add, shift, compare, select, address, a thread's own index */
    uint32_t multiply;
    uint32_t floating;
    uint32_t intrinsic;
    uint32_t constant_division; /* a multiplication by the inverse, with corrections */
    uint32_t load;              /* of memory that does not change, at an address that differs */
    uint32_t group_element;     /* stored and loaded once per group */
    uint32_t read;              /* of a thread's element … */
    uint32_t write;
    uint32_t byte;        /* … and as much per byte, as it takes cache */
    uint32_t lost_stride; /* an index that is loaded is any index: accesses with it are no longer
                             seen to be contiguous */
};

/* What will be needed later. Machines fetch in advance what follows within a page. */
struct tr_ahead {
    uint32_t line_bytes;
    int64_t of_row_bytes;  /* how far ahead long rows ask for memory … */
    int64_t of_tile_bytes; /* … and rows of tiles: two blocks or more */
    uint32_t iterations;   /* how far loops do: one takes some 10 to 100 cycles, memory some 300 */
    uint32_t least_iterations; /* in loops of fewer, too much of it would lie behind their end */
    int64_t least_step;        /* bytes; smaller steps are left to the machine */
    uint32_t column_lines; /* of a column: where rows are a power of two apart all its lines are in
                              one set of the cache, which holds 8 to 12 of them */
    uint32_t least_rows;   /* side by side; fewer do too little with what they load */
    uint32_t most_lines;   /* of one vector */
};

struct tr_target {
    const char *family; /* its name in target.def */
    struct tr_vector_costs vectors;
    struct tr_again_costs again;
    struct tr_ahead ahead;
    /* The CPU's own: */
    uint32_t vector_bits; /* of the registers: 128, 256 or 512 */
    bool has_gather;      /* of elements of 4 and 8 bytes */
    bool has_scatter;
    bool masks_words;     /* accesses of 4 and 8 bytes a lane under a mask are one instruction … */
    bool masks_all;       /* … those of any size are: masks are registers */
    uint64_t cache_bytes; /* of the last cache, for what launches only write and the caches had
                             better not keep; 0: nothing is */
    uint64_t cache_share_bytes; /* what of it nobody else is likely to use */
};

/* cpu: LLVM's name, "" for any. The size of the cache is left 0. */
struct tr_target tr_target_find(const char *cpu, uint32_t vector_bits);

#endif
