/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of `ptxbench table` whose kernels multiply matrices by the instructions for them.
 */
#include "tools/bench/plain/table_matrices.h"
#include "tools/bench/table_case.h"

#define SIZE 1024u
#define PART 128u /* of a block: rows and columns */

static void launch(struct table_run *run, const struct table_args *args, const char *entry,
                   struct table_launch shape)
{
    shape.entry = entry;
    for (unsigned i = 0; i < 3; i++)
        shape.args[i] = &args->buffer[i];
    shape.args[3] = &args->n[0];
    table_launch(run, &shape);
}

static void run_mma(struct table_run *run, const struct table_args *args, const char *entry)
{
    uint32_t across = args->n[0] / PART;
    launch(run, args, entry, (struct table_launch){.grid = {across, across}, .block = {128}});
}

static void mma_f16(struct table_run *run, const struct table_args *args)
{
    run_mma(run, args, "mma_f16");
}

static void mma_bf16(struct table_run *run, const struct table_args *args)
{
    run_mma(run, args, "mma_bf16");
}

static void mma_s8(struct table_run *run, const struct table_args *args)
{
    run_mma(run, args, "mma_s8");
}

static void wmma_f16(struct table_run *run, const struct table_args *args)
{
    launch(run, args, "wmma_f16",
           (struct table_launch){.grid = {args->n[0] / 64, args->n[0] / 16}, .block = {32, 4}});
}

/* Random signs and fractions; magnitudes of at least half and less than 1. */
static void set_exponents(const struct table_args *args, uint32_t fractions, uint32_t exponents)
{
    for (unsigned matrix = 0; matrix < 2; matrix++) {
        uint32_t *pairs = args->buffer[matrix];
        for (uint32_t i = 0; i < args->n[0] * args->n[0] / 2; i++)
            pairs[i] = (pairs[i] & fractions) | exponents;
    }
}

static void fill_f16(const struct table_args *args)
{
    set_exponents(args, 0x83ff83ffu, 0x38003800u);
}

static void fill_bf16(const struct table_args *args)
{
    set_exponents(args, 0x807f807fu, 0x3f003f00u);
}

/* The limit is that of floats, which short integers may pass. */
#define ROW(name, type, element_bytes, result, accuracy, filler)                                   \
    {.kernel = #name,                                                                              \
     .size = "n=1024",                                                                             \
     .file = "table_matrices",                                                                     \
     .buffers = {{TABLE_IN, BENCH_U32, (size_t)SIZE * SIZE * element_bytes, 0},                    \
                 {TABLE_IN, BENCH_U32, (size_t)SIZE * SIZE * element_bytes, 0},                    \
                 {TABLE_OUT, result, (size_t)SIZE * SIZE * 4, accuracy}},                          \
     .n = {SIZE},                                                                                  \
     .ours = name,                                                                                 \
     .plain = "plain_matmul_" #type,                                                               \
     .tuned = "tuned_matmul_" #type,                                                               \
     .limit = TABLE_LIMIT_FMA_F32,                                                                 \
     .work = 2.0 * SIZE * SIZE * SIZE,                                                             \
     .fill = filler}

#define FLOATS_ROW(name, type) ROW(name, type, 2, BENCH_F32, 1e-5, fill_##type)

static const struct table_row rows[] = {
    FLOATS_ROW(mma_f16, f16),
    FLOATS_ROW(mma_bf16, bf16),
    FLOATS_ROW(wmma_f16, f16),
    ROW(mma_s8, s8, 1, BENCH_U32, 0, NULL),
};

const struct table_rows table_matrices = {rows, sizeof rows / sizeof rows[0]};
