/* SPDX-License-Identifier: Apache-2.0
 *
 * What a row of `ptxbench table` is: data, a series of launches, and the same in C. Rows are in
 * table_regular.c and table_irregular.c, their C in plain/table_*.c.
 */
#ifndef PTXRUN_TOOLS_BENCH_TABLE_CASE_H
#define PTXRUN_TOOLS_BENCH_TABLE_CASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tools/bench/bench_data.h"
#include "tools/bench/plain/plain.h"

#define TABLE_MAX_ARGS 16

enum table_role {
    TABLE_NONE,   /* after the last buffer */
    TABLE_IN,     /* nobody writes it */
    TABLE_OUT,    /* zero before the first run; compared */
    TABLE_INOUT,  /* filled before the first run; compared */
    TABLE_SCRATCH /* zero before the first run; not compared */
};

struct table_buffer {
    enum table_role role;
    enum bench_element element;
    size_t bytes;
    double tolerance; /* of floats, relative to the buffer's largest element; 0: same bits */
};

/* ---- launches ---- */

/* A series of launches, in order, as in one CUDA stream. */
struct table_run;

/* kernel<<<grid, block, dynamic_shared_bytes>>>(*args[0], *args[1], …). Sizes of 0 mean 1. */
struct table_launch {
    const char *entry; /* the kernel's name in the row's PTX file */
    uint32_t grid[3];
    uint32_t block[3];
    uint32_t dynamic_shared_bytes;
    const void *args[TABLE_MAX_ARGS]; /* where each argument is, in the order of the parameters;
                                         copied by table_launch */
};

/* Does not wait. After an error, which the run keeps, launches do nothing. */
void table_launch(struct table_run *run, const struct table_launch *launch);

/* As cudaDeviceSynchronize, for hosts that look at a result between launches. Buffers are host
 * memory. The end of a series waits by itself. */
void table_wait(struct table_run *run);

/* ---- rows ---- */

enum table_compiler {
    TABLE_CC,  /* the project's */
    TABLE_GCC, /* gcc, if that is another one and there is one */
    TABLE_COMPILERS
};

/* What a row could not be faster than. */
enum table_limit {
    TABLE_LIMIT_NONE,
    TABLE_LIMIT_FMA_F32, /* work: operations; a multiplication with addition is two */
    TABLE_LIMIT_FMA_F64,
    TABLE_LIMIT_MEMORY, /* work: bytes that must be read and written. Only for large arrays. */
    TABLE_LIMIT_COUNT
};

struct table_row {
    const char *kernel; /* with everything that makes it a variant: "matmul_tiled_f32_16x16" */
    const char *size;   /* as people read it: "256x256", "256 MB" */
    const char *file;   /* of PTX, in kernels/, without suffix */
    struct table_buffer buffers[TABLE_MAX_BUFFERS];
    uint32_t n[TABLE_MAX_NUMBERS];
    double scalar[TABLE_MAX_SCALARS];
    /* IN and INOUT buffers hold random data before: floats in [0, 1), or random bits. NULL: that is
     * good enough. */
    void (*fill)(const struct table_args *args);
    void (*ours)(struct table_run *run, const struct table_args *args);
    const char *plain; /* functions of plain/; the faster compiler's counts */
    const char *tuned; /* or NULL */
    enum table_limit limit;
    double work;
    /* Before every run OUT, INOUT and SCRATCH buffers get their first contents back, untimed: for
     * runs that need zeros, or cannot be repeated on their own result. */
    bool is_restored;
    /* A single launch of blocks that all do the same: the page shows what fewer of them take. */
    bool has_like_blocks;
    bool is_extra; /* for the page alone: no part of the table and of its means */
};

struct table_rows {
    const struct table_row *rows;
    size_t count;
};

extern const struct table_rows table_regular;   /* table_regular.c */
extern const struct table_rows table_irregular; /* table_irregular.c */
extern const struct table_rows table_images;    /* table_images.c */
extern const struct table_rows table_matrices;  /* table_matrices.c */
extern const struct table_rows table_votes;     /* table_votes.c */

#endif
