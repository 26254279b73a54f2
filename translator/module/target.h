/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine that code is made for: the abilities of its vectors and the costs of operations. The
 * values are in target.def, a row for each family of CPUs.
 */
#ifndef PTXRUN_TRANSLATOR_TARGET_H
#define PTXRUN_TRANSLATOR_TARGET_H

#include <stdbool.h>
#include <stdint.h>

/* Costs of vectors of threads, and of vectors side by side. The unit is a simple instruction. */
struct tr_vector_costs {
    /* Of one thread. */
    double division;
    double address;
    /* Of one vector, in its scalar instructions. */
    double float_division; /* in scalar divisions */
    uint32_t slow;         /* a quotient or a root, counted in sums: for the length of units of
                              control */
    /* Of one lane. */
    uint32_t gather;  /* or scatter: an element of 4 or 8 bytes */
    uint32_t collect; /* a smaller one, or one in a loop that each lane leaves on its own */
    uint32_t serial;  /* an instruction done lane by lane: out of a vector and back */
    uint32_t extract; /* taking an address out of a vector */
    /* Of one vector. */
    uint32_t contiguous;
    uint32_t reversed;
    uint32_t checked;     /* contiguous but for an index that may wrap */
    uint32_t few_pieces;  /* shuffles for each field of a structure that takes up to 4 vectors … */
    uint32_t many_pieces; /* … and more */
    /* Strided accesses become wide ones with shuffles up to so many elements from lane to lane. */
    uint32_t step;
    uint32_t masked_step;
    /* Vectors side by side. */
    uint32_t registers;  /* registers that copies may fill; the others are for shared values and
                            intermediate ones */
    uint32_t copies;     /* more gain nothing … */
    uint32_t shared;     /* … unless copies share loads */
    uint32_t sums;       /* enough to keep the multipliers busy: twice the cycles that one takes */
    double gathers_most; /* above this share of the time, gathers are as fast one copy at a time */
    double divergent_loop; /* loops take so much longer if each lane leaves them on its own */
    double sparse;         /* gathers by few lanes, selected by data, each from memory of its own:
                              scalar code skips the other lanes, and finds neighbours of the
                              last element in its cache */
    double worthwhile;     /* at most this part of the time of single threads */
};

/* Costs of computing values again and of saving them (collapse/again.h). The unit is a quarter of a
 * simple instruction in every thread. */
struct tr_again_costs {
    uint32_t retype; /* a mere change of type; not 0, so that chains of them end */
    uint32_t simple; /* integer add, shift, compare, select, address, a thread's own index */
    uint32_t multiply;
    uint32_t floating;
    uint32_t intrinsic;
    uint32_t constant_division; /* a multiplication by the inverse, with corrections */
    uint32_t load;              /* from memory that does not change, at an address that differs */
    uint32_t group_element;     /* stored and loaded once per group */
    uint32_t read;              /* of a thread's element … */
    uint32_t write;
    uint32_t byte;        /* … plus this per byte, for the cache it takes */
    uint32_t lost_stride; /* an index that is loaded could be any index: accesses with it no longer
                             count as contiguous */
};

/* Prefetching. Machines fetch in advance what follows within a page. */
struct tr_ahead {
    uint32_t line_bytes;
    int64_t of_row_bytes;  /* distance for long rows … */
    int64_t of_tile_bytes; /* … and for rows of tiles: two blocks or more */
    uint32_t iterations;   /* distance in loops: an iteration takes some 10 to 100 cycles, memory
                              some 300 */
    uint32_t least_iterations; /* in shorter loops, too many prefetches would lie behind their
                                  end */
    int64_t least_step;        /* bytes; the machine handles smaller steps */
    uint32_t column_lines; /* of a column: if rows are a power of two apart all its lines are in one
                              set of the cache, which holds 8 to 12 of them */
    uint32_t least_rows;   /* side by side; fewer do too little with the data they load */
    uint32_t most_lines;   /* of one vector */
};

struct tr_target {
    const char *family; /* its name in target.def */
    struct tr_vector_costs vectors;
    struct tr_again_costs again;
    struct tr_ahead ahead;
    /* The CPU's own abilities: */
    uint32_t vector_bits; /* of the registers: 128, 256 or 512 */
    bool has_gather;      /* of elements of 4 and 8 bytes */
    bool has_scatter;
    bool masks_words;     /* accesses of 4 and 8 bytes a lane under a mask are one instruction … */
    bool masks_all;       /* … those of any size are: masks are registers */
    bool converts_halves; /* between f16 and f32, whole vectors */
    bool has_fused;       /* multiplies and adds with one rounding */
    uint64_t cache_bytes; /* of the last cache: data that launches only write should not fill it; 0:
                             no limit */
    uint64_t cache_share_bytes; /* the part of it that nobody else is likely to use */
};

/* cpu: LLVM's name, "" for any. The size of the cache is left 0. */
struct tr_target tr_target_find(const char *cpu, uint32_t vector_bits);

/* The vectors' name for people, such as "AVX-512". */
const char *tr_vector_name(const struct tr_target *target);

#endif
