/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of `ptxbench table` whose work does not depend on data: arrays, matrices, stencils,
 * arithmetic.
 */
#include "tools/bench/plain/table_regular.h"
#include "tools/bench/table_case.h"

#define SMALL      4096u       /* floats: 16 KB */
#define LARGE      (64u << 20) /* floats: 256 MB */
#define MATRIX     1024u
#define BODIES     8192u
#define PIXELS     1024u
#define OPTIONS    (1u << 20)

#define F32(count) ((size_t)(count) * sizeof(float))
#define F64(count) ((size_t)(count) * sizeof(double))

static uint32_t blocks(uint32_t n, uint32_t block)
{
    return (n + block - 1) / block;
}

/* ---- launches ---- */

static void run_vector_add(struct table_run *run, const struct table_args *args)
{
    table_launch(run, &(struct table_launch){.entry = "vector_add",
                                             .grid = {blocks(args->n[0], 256)},
                                             .block = {256},
                                             .args = {&args->buffer[0], &args->buffer[1],
                                                      &args->buffer[2], &args->n[0]}});
}

static void run_saxpy(struct table_run *run, const struct table_args *args)
{
    float factor = (float)args->scalar[0];
    table_launch(run, &(struct table_launch){
                          .entry = "saxpy",
                          .grid = {blocks(args->n[0], 256)},
                          .block = {256},
                          .args = {&args->buffer[0], &args->buffer[1], &args->n[0], &factor}});
}

static void run_matmul(struct table_run *run, const struct table_args *args, const char *entry,
                       uint32_t side)
{
    uint32_t across = blocks(args->n[0], side);
    table_launch(run, &(struct table_launch){.entry = entry,
                                             .grid = {across, across},
                                             .block = {side, side},
                                             .args = {&args->buffer[0], &args->buffer[1],
                                                      &args->buffer[2], &args->n[0]}});
}

static void run_naive_f32_16(struct table_run *run, const struct table_args *args)
{
    run_matmul(run, args, "matmul_naive_f32", 16);
}

static void run_naive_f32_32(struct table_run *run, const struct table_args *args)
{
    run_matmul(run, args, "matmul_naive_f32", 32);
}

static void run_naive_f64_16(struct table_run *run, const struct table_args *args)
{
    run_matmul(run, args, "matmul_naive_f64", 16);
}

static void run_naive_f64_32(struct table_run *run, const struct table_args *args)
{
    run_matmul(run, args, "matmul_naive_f64", 32);
}

static void run_tiled_f32_16(struct table_run *run, const struct table_args *args)
{
    run_matmul(run, args, "matmul_tiled_f32_16", 16);
}

static void run_tiled_f32_32(struct table_run *run, const struct table_args *args)
{
    run_matmul(run, args, "matmul_tiled_f32_32", 32);
}

static void run_tiled_f64_16(struct table_run *run, const struct table_args *args)
{
    run_matmul(run, args, "matmul_tiled_f64_16", 16);
}

static void run_tiled_f64_32(struct table_run *run, const struct table_args *args)
{
    run_matmul(run, args, "matmul_tiled_f64_32", 32);
}

static void run_line_f32(struct table_run *run, const struct table_args *args)
{
    uint32_t across = blocks(args->n[0], 32);
    table_launch(run, &(struct table_launch){.entry = "matmul_line_f32",
                                             .grid = {across, across},
                                             .block = {32 * 32},
                                             .args = {&args->buffer[0], &args->buffer[1],
                                                      &args->buffer[2], &args->n[0]}});
}

static void run_sums_f32(struct table_run *run, const struct table_args *args)
{
    uint32_t across = args->n[0] / 128;
    table_launch(run, &(struct table_launch){.entry = "matmul_sums_f32",
                                             .grid = {across, across},
                                             .block = {256},
                                             .args = {&args->buffer[0], &args->buffer[1],
                                                      &args->buffer[2], &args->n[0]}});
}

static void run_stencil2d(struct table_run *run, const struct table_args *args)
{
    table_launch(run, &(struct table_launch){
                          .entry = "stencil2d",
                          .grid = {blocks(args->n[0], 16), blocks(args->n[1], 16)},
                          .block = {16, 16},
                          .args = {&args->buffer[0], &args->buffer[1], &args->n[0], &args->n[1]}});
}

static void run_stencil3d(struct table_run *run, const struct table_args *args)
{
    float center = (float)args->scalar[0], side = (float)args->scalar[1];
    table_launch(run, &(struct table_launch){
                          .entry = "stencil3d",
                          .grid = {blocks(args->n[0], 32), blocks(args->n[1], 8), args->n[2]},
                          .block = {32, 8, 1},
                          .args = {&args->buffer[0], &args->buffer[1], &args->n[0], &args->n[1],
                                   &args->n[2], &center, &side}});
}

static void run_blur_clamped(struct table_run *run, const struct table_args *args)
{
    table_launch(run, &(struct table_launch){
                          .entry = "blur_clamped",
                          .grid = {blocks(args->n[0], 32), blocks(args->n[1], 8)},
                          .block = {32, 8},
                          .args = {&args->buffer[0], &args->buffer[1], &args->n[0], &args->n[1]}});
}

static void run_heat_pyramid(struct table_run *run, const struct table_args *args)
{
    float rate = (float)args->scalar[0];
    uint32_t inner = 16 - 2 * args->n[2];
    table_launch(
        run, &(struct table_launch){.entry = "heat_pyramid",
                                    .grid = {blocks(args->n[0], inner), blocks(args->n[1], inner)},
                                    .block = {16, 16},
                                    .args = {&args->buffer[0], &args->buffer[1], &args->n[0],
                                             &args->n[1], &args->n[2], &rate}});
}

static void run_nbody(struct table_run *run, const struct table_args *args)
{
    float softening = (float)args->scalar[0];
    table_launch(run, &(struct table_launch){
                          .entry = "nbody",
                          .grid = {blocks(args->n[0], 256)},
                          .block = {256},
                          .args = {&args->buffer[0], &args->buffer[1], &args->n[0], &softening}});
}

static void run_mandelbrot(struct table_run *run, const struct table_args *args)
{
    float scale = (float)args->scalar[0];
    table_launch(run,
                 &(struct table_launch){
                     .entry = "mandelbrot",
                     .grid = {blocks(args->n[0], 16), blocks(args->n[1], 16)},
                     .block = {16, 16},
                     .args = {&args->buffer[0], &args->n[0], &args->n[1], &args->n[2], &scale}});
}

static void run_black_scholes(struct table_run *run, const struct table_args *args)
{
    float rate = (float)args->scalar[0], volatility = (float)args->scalar[1];
    table_launch(
        run, &(struct table_launch){.entry = "black_scholes",
                                    .grid = {blocks(args->n[0], 128)},
                                    .block = {128},
                                    .args = {&args->buffer[0], &args->buffer[1], &args->buffer[2],
                                             &args->buffer[3], &args->buffer[4], &args->n[0], &rate,
                                             &volatility}});
}

static void run_transpose(struct table_run *run, const struct table_args *args)
{
    table_launch(run, &(struct table_launch){
                          .entry = "transpose",
                          .grid = {blocks(args->n[0], 32), blocks(args->n[1], 32)},
                          .block = {32, 8},
                          .args = {&args->buffer[0], &args->buffer[1], &args->n[0], &args->n[1]}});
}

/* ---- data ---- */

static void fill_black_scholes(const struct table_args *args)
{
    float *price = args->buffer[0], *strike = args->buffer[1], *years = args->buffer[2];
    for (uint32_t i = 0; i < args->n[0]; i++) {
        price[i] = 5.0f + 25.0f * price[i];
        strike[i] = 1.0f + 99.0f * strike[i];
        years[i] = 0.25f + 9.75f * years[i];
    }
}

/* ---- rows ---- */

/* A kernel of matrix products of one type. */
#define MATMUL_ROW(kernel_name, type, bytes, element_name, limit_name, accuracy, run_name,         \
                   is_like)                                                                        \
    {.kernel = kernel_name,                                                                        \
     .size = "n=1024",                                                                             \
     .file = "table_regular",                                                                      \
     .buffers = {{TABLE_IN, element_name, bytes(MATRIX * MATRIX), 0},                              \
                 {TABLE_IN, element_name, bytes(MATRIX * MATRIX), 0},                              \
                 {TABLE_OUT, element_name, bytes(MATRIX * MATRIX), accuracy}},                     \
     .n = {MATRIX},                                                                                \
     .ours = run_name,                                                                             \
     .plain = "plain_matmul_" #type,                                                               \
     .tuned = "tuned_matmul_" #type,                                                               \
     .limit = limit_name,                                                                          \
     .work = 2.0 * MATRIX * MATRIX * MATRIX,                                                       \
     .has_like_blocks = is_like}
/* One with blocks of as many rows as columns. */
#define MATMUL_SQUARE(kind, type, side, bytes, element_name, limit_name, accuracy)                 \
    MATMUL_ROW("matmul_" #kind "_" #type "_" #side "x" #side, type, bytes, element_name,           \
               limit_name, accuracy, run_##kind##_##type##_##side, side == 32)

/* The reciprocal root counts as two. */
#define NBODY(name, file_name)                                                                     \
    {.kernel = name,                                                                               \
     .size = "n=8192",                                                                             \
     .file = file_name,                                                                            \
     .buffers = {{TABLE_IN, BENCH_F32, F32(4 * BODIES), 0},                                        \
                 {TABLE_OUT, BENCH_F32, F32(4 * BODIES), 1e-4}},                                   \
     .n = {BODIES},                                                                                \
     .scalar = {0.01},                                                                             \
     .ours = run_nbody,                                                                            \
     .plain = "plain_nbody",                                                                       \
     .tuned = "tuned_nbody",                                                                       \
     .limit = TABLE_LIMIT_FMA_F32,                                                                 \
     .work = 20.0 * BODIES * BODIES,                                                               \
     .has_like_blocks = true}

static const struct table_row rows[] = {
    {.kernel = "vector_add",
     .size = "16 KB",
     .file = "table_regular",
     .buffers = {{TABLE_IN, BENCH_F32, F32(SMALL), 0},
                 {TABLE_IN, BENCH_F32, F32(SMALL), 0},
                 {TABLE_OUT, BENCH_F32, F32(SMALL), 0}},
     .n = {SMALL},
     .ours = run_vector_add,
     .plain = "plain_vector_add"},
    {.kernel = "vector_add",
     .size = "256 MB",
     .file = "table_regular",
     .buffers = {{TABLE_IN, BENCH_F32, F32(LARGE), 0},
                 {TABLE_IN, BENCH_F32, F32(LARGE), 0},
                 {TABLE_OUT, BENCH_F32, F32(LARGE), 0}},
     .n = {LARGE},
     .ours = run_vector_add,
     .plain = "plain_vector_add",
     .tuned = "tuned_vector_add",
     .limit = TABLE_LIMIT_MEMORY,
     .work = 3.0 * F32(LARGE)},
    {.kernel = "saxpy",
     .size = "16 KB",
     .file = "table_regular",
     .buffers = {{TABLE_IN, BENCH_F32, F32(SMALL), 0}, {TABLE_INOUT, BENCH_F32, F32(SMALL), 1e-6}},
     .n = {SMALL},
     .scalar = {0.5},
     .ours = run_saxpy,
     .plain = "plain_saxpy"},
    {.kernel = "saxpy",
     .size = "256 MB",
     .file = "table_regular",
     .buffers = {{TABLE_IN, BENCH_F32, F32(LARGE), 0}, {TABLE_INOUT, BENCH_F32, F32(LARGE), 1e-6}},
     .n = {LARGE},
     .scalar = {0.5},
     .ours = run_saxpy,
     .plain = "plain_saxpy",
     .limit = TABLE_LIMIT_MEMORY,
     .work = 3.0 * F32(LARGE)},
    MATMUL_SQUARE(naive, f32, 16, F32, BENCH_F32, TABLE_LIMIT_FMA_F32, 1e-5),
    MATMUL_SQUARE(naive, f32, 32, F32, BENCH_F32, TABLE_LIMIT_FMA_F32, 1e-5),
    MATMUL_SQUARE(naive, f64, 16, F64, BENCH_F64, TABLE_LIMIT_FMA_F64, 1e-13),
    MATMUL_SQUARE(naive, f64, 32, F64, BENCH_F64, TABLE_LIMIT_FMA_F64, 1e-13),
    MATMUL_SQUARE(tiled, f32, 16, F32, BENCH_F32, TABLE_LIMIT_FMA_F32, 1e-5),
    MATMUL_SQUARE(tiled, f32, 32, F32, BENCH_F32, TABLE_LIMIT_FMA_F32, 1e-5),
    MATMUL_SQUARE(tiled, f64, 16, F64, BENCH_F64, TABLE_LIMIT_FMA_F64, 1e-13),
    MATMUL_SQUARE(tiled, f64, 32, F64, BENCH_F64, TABLE_LIMIT_FMA_F64, 1e-13),
    MATMUL_ROW("matmul_line_f32", f32, F32, BENCH_F32, TABLE_LIMIT_FMA_F32, 1e-5, run_line_f32,
               false),
    MATMUL_ROW("matmul_sums_f32", f32, F32, BENCH_F32, TABLE_LIMIT_FMA_F32, 1e-5, run_sums_f32,
               false),
    {.kernel = "stencil2d",
     .size = "256x256",
     .file = "table_regular",
     .buffers = {{TABLE_IN, BENCH_F32, F32(256 * 256), 0},
                 {TABLE_OUT, BENCH_F32, F32(256 * 256), 1e-6}},
     .n = {256, 256},
     .ours = run_stencil2d,
     .plain = "plain_stencil2d"},
    {.kernel = "stencil2d",
     .size = "4096x4096",
     .file = "table_regular",
     .buffers = {{TABLE_IN, BENCH_F32, F32(4096 * 4096), 0},
                 {TABLE_OUT, BENCH_F32, F32(4096 * 4096), 1e-6}},
     .n = {4096, 4096},
     .ours = run_stencil2d,
     .plain = "plain_stencil2d",
     .tuned = "tuned_stencil2d",
     .limit = TABLE_LIMIT_MEMORY,
     .work = 2.0 * F32(4096 * 4096)},
    {.kernel = "stencil3d",
     .size = "64x64x64",
     .file = "table_regular",
     .buffers = {{TABLE_IN, BENCH_F32, F32(64 * 64 * 64), 0},
                 {TABLE_OUT, BENCH_F32, F32(64 * 64 * 64), 1e-6}},
     .n = {64, 64, 64},
     .scalar = {0.4, 0.1},
     .ours = run_stencil3d,
     .plain = "plain_stencil3d"},
    {.kernel = "stencil3d",
     .size = "256x256x256",
     .file = "table_regular",
     .buffers = {{TABLE_IN, BENCH_F32, F32(256 * 256 * 256), 0},
                 {TABLE_OUT, BENCH_F32, F32(256 * 256 * 256), 1e-6}},
     .n = {256, 256, 256},
     .scalar = {0.4, 0.1},
     .ours = run_stencil3d,
     .plain = "plain_stencil3d",
     .limit = TABLE_LIMIT_MEMORY,
     .work = 2.0 * F32(256 * 256 * 256)},
    {.kernel = "blur_clamped",
     .size = "2048x2048",
     .file = "table_regular",
     .buffers = {{TABLE_IN, BENCH_F32, F32(2048 * 2048), 0},
                 {TABLE_OUT, BENCH_F32, F32(2048 * 2048), 1e-6}},
     .n = {2048, 2048},
     .ours = run_blur_clamped,
     .plain = "plain_blur_clamped"},
    {.kernel = "heat_pyramid",
     .size = "1024x1024",
     .file = "table_regular",
     .buffers = {{TABLE_IN, BENCH_F32, F32(1024 * 1024), 0},
                 {TABLE_OUT, BENCH_F32, F32(1024 * 1024), 1e-6},
                 {TABLE_SCRATCH, BENCH_F32, F32(1024 * 1024), 0}},
     .n = {1024, 1024, 2},
     .scalar = {0.2},
     .ours = run_heat_pyramid,
     .plain = "plain_heat_pyramid"},
    NBODY("nbody", "table_regular"),
    NBODY("nbody_fast", "table_fast"),
    {.kernel = "mandelbrot",
     .size = "1024x1024",
     .file = "table_regular",
     .buffers = {{TABLE_OUT, BENCH_U32, F32(PIXELS * PIXELS), 0}},
     .n = {PIXELS, PIXELS, 200},
     .scalar = {3.0 / PIXELS},
     .ours = run_mandelbrot,
     .plain = "plain_mandelbrot",
     .tuned = "tuned_mandelbrot"},
    {.kernel = "black_scholes",
     .size = "n=1M",
     .file = "table_regular",
     .buffers = {{TABLE_IN, BENCH_F32, F32(OPTIONS), 0},
                 {TABLE_IN, BENCH_F32, F32(OPTIONS), 0},
                 {TABLE_IN, BENCH_F32, F32(OPTIONS), 0},
                 {TABLE_OUT, BENCH_F32, F32(OPTIONS), 1e-5},
                 {TABLE_OUT, BENCH_F32, F32(OPTIONS), 1e-5}},
     .n = {OPTIONS},
     .scalar = {0.02, 0.3},
     .fill = fill_black_scholes,
     .ours = run_black_scholes,
     .plain = "plain_black_scholes",
     .tuned = "tuned_black_scholes"},
    {.kernel = "transpose",
     .size = "256x256",
     .file = "table_regular",
     .buffers = {{TABLE_IN, BENCH_F32, F32(256 * 256), 0},
                 {TABLE_OUT, BENCH_F32, F32(256 * 256), 0}},
     .n = {256, 256},
     .ours = run_transpose,
     .plain = "plain_transpose"},
    {.kernel = "transpose",
     .size = "4096x4096",
     .file = "table_regular",
     .buffers = {{TABLE_IN, BENCH_F32, F32(4096 * 4096), 0},
                 {TABLE_OUT, BENCH_F32, F32(4096 * 4096), 0}},
     .n = {4096, 4096},
     .ours = run_transpose,
     .plain = "plain_transpose",
     .tuned = "tuned_transpose",
     .limit = TABLE_LIMIT_MEMORY,
     .work = 2.0 * F32(4096 * 4096)},
};

const struct table_rows table_regular = {rows, sizeof rows / sizeof rows[0]};
