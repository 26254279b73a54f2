/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine that code is made for: the abilities of its vectors and the costs of operations. The
 * values are in target.def, a row for each family of CPUs, and in figures.def.
 */
#ifndef PTXRUN_TRANSLATOR_TARGET_H
#define PTXRUN_TRANSLATOR_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What operations take on a CPU, of figures.def; the unit is there. */
struct tr_figures {
#define FIGURE(name, values, what) double name;
#include "translator/module/figures.def"
#undef FIGURE
};

/* Where a row's figures come from: target.def says what each means. */
enum tr_evidence { TR_MEASURED, TR_LIKE, TR_MODEL };

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
    enum tr_evidence evidence;
    struct tr_figures figures;
    struct tr_again_costs again;
    struct tr_ahead ahead;
    /* The CPU's own abilities: */
    uint32_t vector_bits; /* of the registers: 128, 256 or 512 */
    bool has_gather;      /* of elements of 4 and 8 bytes, better than lane by lane under a mask */
    bool has_scatter;
    bool masks_words;     /* accesses of 4 and 8 bytes a lane under a mask are one instruction … */
    bool masks_all;       /* … those of any size are: masks are registers */
    bool converts_halves; /* between f16 and f32, whole vectors */
    bool has_fused;       /* multiplies and adds with one rounding */
    bool has_roundings;   /* instructions for whole vectors say how they round */
    bool gains_bf16_dots; /* dot products of bf16 are faster than multiplying and adding */
    uint64_t cache_bytes; /* of the last cache: data that launches only write should not fill it; 0:
                             no limit */
    uint64_t cache_share_bytes; /* the part of it that nobody else is likely to use */
};

/* cpu: LLVM's name, "" for any. The size of the cache is left 0. */
struct tr_target tr_target_find(const char *cpu, uint32_t vector_bits);

/* What a vector of so many lanes takes, from the figure of a whole register. */
double tr_by_lane(const struct tr_target *target, uint32_t lanes, double figure);
double tr_of_vector(const struct tr_target *target, uint32_t lanes, double figure);

/* The row of that name; false: there is none. */
bool tr_target_of_family(const char *family, struct tr_target *target);

/* The figures in the order of struct tr_figures, for people. */
#define TR_FIGURE_COUNT (sizeof(struct tr_figures) / sizeof(double))
struct tr_figure {
    const char *name;
    const char *what;
};
extern const struct tr_figure tr_figure_names[TR_FIGURE_COUNT];
double tr_figure(const struct tr_target *target, size_t number);
/* "measured", … */
const char *tr_evidence_name(enum tr_evidence evidence);

/* The vectors' name for people, such as "AVX-512". */
const char *tr_vector_name(const struct tr_target *target);

#endif
