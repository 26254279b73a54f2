/* SPDX-License-Identifier: Apache-2.0
 *
 * What the C of `ptxbench table` is called with.
 */
#ifndef PTXRUN_TOOLS_BENCH_PLAIN_PLAIN_H
#define PTXRUN_TOOLS_BENCH_PLAIN_PLAIN_H

#include <stddef.h>
#include <stdint.h>

#define TABLE_MAX_BUFFERS 10
#define TABLE_MAX_NUMBERS 4
#define TABLE_MAX_SCALARS 4

/* What launches and C get of a row. */
struct table_args {
    void *buffer[TABLE_MAX_BUFFERS]; /* 256-byte aligned */
    uint32_t n[TABLE_MAX_NUMBERS];
    double scalar[TABLE_MAX_SCALARS];
    int threads; /* for C: num_threads(args->threads) */
};

typedef void table_plain(const struct table_args *args);
typedef table_plain *table_plain_fn;

#endif
