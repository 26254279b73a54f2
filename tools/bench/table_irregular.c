/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of `ptxbench table` whose work depends on data or goes through warps, atomics and many
 * launches: reductions, histogram, scan, sparse matrices, a graph, a factorisation, a wavefront;
 * and three that compute.
 */
#include "tools/bench/table_case.h"

#include <math.h>

#include "tools/bench/plain/table_irregular.h"

#define BLOCKS(n, block) (((n) + (block) - 1) / (block))
#define WORDS(n)         ((size_t)(n) * 4)

static uint32_t random_below(uint32_t *state, uint32_t end)
{
    return (uint32_t)((uint64_t)bench_random(state) * end >> 32);
}

/* ---- reductions ---- */

#define SMALL (8u << 10)  /* elements: 32 KB */
#define LARGE (64u << 20) /* 256 MB */

/* Sums of sums until there is one. */
static void reduce_block(struct table_run *run, const struct table_args *args)
{
    const void *in = &args->buffer[0];
    uint32_t n = args->n[0];
    for (unsigned to = 2; n > 1; to = 5 - to) {
        uint32_t sums = BLOCKS(n, 512u);
        const void *out = sums == 1 ? &args->buffer[1] : &args->buffer[to];
        table_launch(run, &(struct table_launch){.entry = "reduce_block",
                                                 .grid = {sums},
                                                 .block = {256},
                                                 .args = {in, out, &n}});
        in = out;
        n = sums;
    }
}

static void reduce_shuffle(struct table_run *run, const struct table_args *args)
{
    uint32_t sums = BLOCKS(args->n[0], 256u) < 1024 ? BLOCKS(args->n[0], 256u) : 1024;
    table_launch(run,
                 &(struct table_launch){.entry = "reduce_shuffle",
                                        .grid = {sums},
                                        .block = {256},
                                        .args = {&args->buffer[0], &args->buffer[2], &args->n[0]}});
    table_launch(run, &(struct table_launch){.entry = "reduce_shuffle",
                                             .grid = {1},
                                             .block = {1024},
                                             .args = {&args->buffer[2], &args->buffer[1], &sums}});
}

#define BYTES (16u << 20)

/* As in a picture, a byte is mostly like the one before it. */
static void fill_histogram(const struct table_args *args)
{
    uint8_t *bytes = args->buffer[0];
    uint32_t seed = 1, value = 128;
    for (uint32_t i = 0; i < args->n[0]; i++) {
        uint32_t bits = bench_random(&seed);
        if (bits >> 24 == 0)
            value = bits & 255;
        else if (bits & 1 << 16)
            value = (value + (bits & 3) + 255) & 255;
        bytes[i] = (uint8_t)value;
    }
}

static void histogram(struct table_run *run, const struct table_args *args)
{
    table_launch(run,
                 &(struct table_launch){.entry = "histogram",
                                        .grid = {256},
                                        .block = {TABLE_BINS},
                                        .args = {&args->buffer[0], &args->buffer[1], &args->n[0]}});
}

#define SCANNED (16u << 20)

static void launch_scan(struct table_run *run, void *const *in, void *const *out, void *const *sums,
                        uint32_t n)
{
    table_launch(run, &(struct table_launch){.entry = "scan",
                                             .grid = {BLOCKS(n, 256u)},
                                             .block = {256},
                                             .args = {in, out, sums, &n}});
}

static void launch_scan_add(struct table_run *run, void *const *out, void *const *sums, uint32_t n)
{
    table_launch(run, &(struct table_launch){.entry = "scan_add",
                                             .grid = {BLOCKS(n, 256u)},
                                             .block = {256},
                                             .args = {out, sums, &n}});
}

/* Blocks, blocks of their sums, and those of these; then back. */
static void scan(struct table_run *run, const struct table_args *args)
{
    void *const *buffer = args->buffer;
    uint32_t n = args->n[0], sums = BLOCKS(n, 256u), sums_of_sums = BLOCKS(sums, 256u);
    launch_scan(run, &buffer[0], &buffer[1], &buffer[2], n);
    launch_scan(run, &buffer[2], &buffer[3], &buffer[4], sums);
    launch_scan(run, &buffer[4], &buffer[5], &buffer[6], sums_of_sums);
    launch_scan_add(run, &buffer[3], &buffer[5], sums);
    launch_scan_add(run, &buffer[1], &buffer[3], n);
}

/* ---- sparse and graphs ---- */

#define ROWS       65536u
#define MAX_IN_ROW 56u

/* As from a mesh: 8 to 55 elements in a row, most near the diagonal, one in eight anywhere. */
static void fill_spmv(const struct table_args *args)
{
    uint32_t *row_begin = args->buffer[0], *column = args->buffer[1];
    uint32_t rows = args->n[0], seed = 2, end = 0;
    for (uint32_t row = 0; row < rows; row++) {
        row_begin[row] = end;
        for (uint32_t left = 8 + random_below(&seed, MAX_IN_ROW - 8); left > 0; left--) {
            uint32_t near = (row + random_below(&seed, 2048) + rows - 1024) % rows;
            column[end++] = left % 8 == 0 ? random_below(&seed, rows) : near;
        }
    }
    row_begin[rows] = end;
}

static void launch_spmv(struct table_run *run, const struct table_args *args, const char *entry,
                        uint32_t threads)
{
    table_launch(
        run, &(struct table_launch){.entry = entry,
                                    .grid = {BLOCKS(threads, 128u)},
                                    .block = {128},
                                    .args = {&args->buffer[0], &args->buffer[1], &args->buffer[2],
                                             &args->buffer[3], &args->buffer[4], &args->n[0]}});
}

static void spmv_scalar(struct table_run *run, const struct table_args *args)
{
    launch_spmv(run, args, "spmv_scalar", args->n[0]);
}

static void spmv_vector(struct table_run *run, const struct table_args *args)
{
    launch_spmv(run, args, "spmv_vector", 32 * args->n[0]);
}

#define VERTICES   (256u << 10)
#define MAX_DEGREE 64u

/* Few vertices have many neighbours, and are many vertices' neighbours. */
static void fill_bfs(const struct table_args *args)
{
    uint32_t *edge_begin = args->buffer[0], *neighbour = args->buffer[1], *level = args->buffer[2];
    uint32_t vertices = args->n[0], seed = 3, end = 0;
    for (uint32_t vertex = 0; vertex < vertices; vertex++) {
        edge_begin[vertex] = end;
        uint32_t degree = 1 + random_below(&seed, 1 + random_below(&seed, MAX_DEGREE));
        for (; degree > 0; degree--)
            neighbour[end++] = random_below(&seed, 1 + random_below(&seed, vertices));
        level[vertex] = vertex == 0 ? 0 : TABLE_NOT_FOUND;
    }
    edge_begin[vertices] = end;
}

static void bfs_level(struct table_run *run, const struct table_args *args)
{
    uint32_t *has_found = args->buffer[3], current = 0;
    do {
        *has_found = 0;
        table_launch(run, &(struct table_launch){.entry = "bfs_level",
                                                 .grid = {BLOCKS(args->n[0], 256u)},
                                                 .block = {256},
                                                 .args = {&args->buffer[0], &args->buffer[1],
                                                          &args->buffer[2], &args->buffer[3],
                                                          &args->n[0], &current}});
        table_wait(run);
        current++;
    } while (*has_found);
}

/* ---- dense ---- */

#define PANELS 1024u
#define PANEL  (TABLE_PANEL_ROWS * TABLE_PANEL_COLUMNS)
/* Row i > k: a division, and a multiplication with addition for each column after k. */
#define PANEL_OPERATIONS 119632.0

/* The largest elements are on the diagonal: no row has to be exchanged. */
static void fill_lu_panel(const struct table_args *args)
{
    float *panel = args->buffer[0];
    for (uint32_t p = 0; p < args->n[0]; p++, panel += PANEL)
        for (uint32_t i = 0; i < TABLE_PANEL_COLUMNS; i++)
            panel[i * TABLE_PANEL_COLUMNS + i] += 40.0f;
}

static void lu_panel(struct table_run *run, const struct table_args *args)
{
    table_launch(run,
                 &(struct table_launch){.entry = "lu_panel",
                                        .grid = {args->n[0]},
                                        .block = {TABLE_PANEL_ROWS},
                                        .args = {&args->buffer[0], &args->buffer[1], &args->n[0]}});
}

#define LETTERS 2048u

/* Of four letters; the target is the query with one letter in eight changed. */
static void fill_wavefront(const struct table_args *args)
{
    uint8_t *query = args->buffer[0], *target = args->buffer[1];
    int32_t *scores = args->buffer[2];
    uint32_t letters = args->n[0], seed = 4;
    for (uint32_t i = 0; i < letters; i++) {
        query[i] = "ACGT"[random_below(&seed, 4)];
        target[i] =
            random_below(&seed, 8) == 0 ? (uint8_t)"ACGT"[random_below(&seed, 4)] : query[i];
    }
    for (uint32_t i = 0; i <= letters; i++)
        scores[i] = scores[(size_t)i * (letters + 1)] = TABLE_GAP * (int32_t)i;
}

/* A launch for each diagonal of tiles. */
static void wavefront(struct table_run *run, const struct table_args *args)
{
    uint32_t tiles = args->n[0] / TABLE_TILE;
    for (uint32_t diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
        uint32_t first = diagonal < tiles ? 0 : diagonal - tiles + 1;
        table_launch(run, &(struct table_launch){.entry = "wavefront",
                                                 .grid = {diagonal - 2 * first + 1},
                                                 .block = {TABLE_TILE},
                                                 .args = {&args->buffer[0], &args->buffer[1],
                                                          &args->buffer[2], &args->n[0], &diagonal,
                                                          &first}});
    }
}

/* ---- computing ---- */

#define POINTS     200003u /* no multiple of a block */
#define CENTRES    32u
#define DIMENSIONS 16u

/* Clouds of points, so that no point is as near to two centres. */
static void fill_kmeans(const struct table_args *args)
{
    float *points = args->buffer[0];
    const float *centres = args->buffer[1];
    uint32_t n = args->n[0], seed = 5;
    for (uint32_t i = 0; i < n; i++) {
        const float *centre = centres + random_below(&seed, args->n[1]) * args->n[2];
        for (uint32_t d = 0; d < args->n[2]; d++)
            points[(size_t)d * n + i] = centre[d] + 0.2f * (points[(size_t)d * n + i] - 0.5f);
    }
}

static void kmeans_assign(struct table_run *run, const struct table_args *args)
{
    table_launch(
        run, &(struct table_launch){.entry = "kmeans_assign",
                                    .grid = {BLOCKS(args->n[0], 256u)},
                                    .block = {256},
                                    .args = {&args->buffer[0], &args->buffer[1], &args->buffer[2],
                                             &args->n[0], &args->n[1], &args->n[2]}});
}

#define PIXELS 512u /* in a row, and rows */
#define RADIUS 4u
#define WINDOW ((2 * RADIUS + 1) * (2 * RADIUS + 1))

/* Large shapes with noise; weights of pixels that are sigma = 2 pixels away are e^-0.5. */
static void fill_bilateral(const struct table_args *args)
{
    float *image = args->buffer[0], *closeness = args->buffer[1];
    uint32_t width = args->n[0], height = args->n[1], side = 2 * args->n[2] + 1;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            image[(size_t)y * width + x] = 0.2f * image[(size_t)y * width + x] +
                                           0.4f * (x / 64 % 2 != y / 96 % 2) +
                                           0.4f * (float)x / (float)width;
    for (uint32_t i = 0; i < side * side; i++) {
        float dx = (float)(i % side) - (float)args->n[2],
              dy = (float)(i / side) - (float)args->n[2];
        closeness[i] = expf((dx * dx + dy * dy) / -8.0f);
    }
}

static void bilateral(struct table_run *run, const struct table_args *args)
{
    float sharpness = (float)args->scalar[0];
    table_launch(
        run, &(struct table_launch){.entry = "bilateral",
                                    .grid = {BLOCKS(args->n[0], 16u), BLOCKS(args->n[1], 16u)},
                                    .block = {16, 16},
                                    .args = {&args->buffer[0], &args->buffer[1], &args->buffer[2],
                                             &args->n[0], &args->n[1], &args->n[2], &sharpness}});
}

#define COUNTERS (1u << 20)

static void philox(struct table_run *run, const struct table_args *args)
{
    table_launch(run, &(struct table_launch){.entry = "philox",
                                             .grid = {BLOCKS(args->n[0], 256u)},
                                             .block = {256},
                                             .args = {&args->buffer[0], &args->n[0], &args->n[1]}});
}

/* ---- the rows ---- */

static const struct table_row rows[] = {
    {.kernel = "reduce_block",
     .size = "32 KB",
     .file = "table_irregular",
     .buffers = {{TABLE_IN, BENCH_F32, WORDS(SMALL), 0},
                 {TABLE_OUT, BENCH_F32, 4, 1e-5},
                 {TABLE_SCRATCH, BENCH_F32, WORDS(SMALL / 512), 0},
                 {TABLE_SCRATCH, BENCH_F32, WORDS(SMALL / 512), 0}},
     .n = {SMALL},
     .ours = reduce_block,
     .plain = "plain_reduce"},
    {.kernel = "reduce_block",
     .size = "256 MB",
     .file = "table_irregular",
     .buffers = {{TABLE_IN, BENCH_F32, WORDS(LARGE), 0},
                 {TABLE_OUT, BENCH_F32, 4, 1e-3},
                 {TABLE_SCRATCH, BENCH_F32, WORDS(LARGE / 512), 0},
                 {TABLE_SCRATCH, BENCH_F32, WORDS(LARGE / 512), 0}},
     .n = {LARGE},
     .ours = reduce_block,
     .plain = "plain_reduce",
     .limit = TABLE_LIMIT_MEMORY,
     .work = 4.0 * LARGE},
    {.kernel = "reduce_shuffle",
     .size = "32 KB",
     .file = "table_irregular",
     .buffers = {{TABLE_IN, BENCH_F32, WORDS(SMALL), 0},
                 {TABLE_OUT, BENCH_F32, 4, 1e-5},
                 {TABLE_SCRATCH, BENCH_F32, WORDS(1024), 0}},
     .n = {SMALL},
     .ours = reduce_shuffle,
     .plain = "plain_reduce"},
    {.kernel = "reduce_shuffle",
     .size = "256 MB",
     .file = "table_irregular",
     .buffers = {{TABLE_IN, BENCH_F32, WORDS(LARGE), 0},
                 {TABLE_OUT, BENCH_F32, 4, 1e-3},
                 {TABLE_SCRATCH, BENCH_F32, WORDS(1024), 0}},
     .n = {LARGE},
     .ours = reduce_shuffle,
     .plain = "plain_reduce",
     .limit = TABLE_LIMIT_MEMORY,
     .work = 4.0 * LARGE},
    {.kernel = "histogram",
     .size = "16 MB",
     .file = "table_irregular",
     .buffers = {{TABLE_IN, BENCH_U8, BYTES, 0}, {TABLE_OUT, BENCH_U32, WORDS(TABLE_BINS), 0}},
     .n = {BYTES},
     .fill = fill_histogram,
     .ours = histogram,
     .plain = "plain_histogram",
     .tuned = "tuned_histogram",
     .is_restored = true},
    {.kernel = "scan",
     .size = "64 MB",
     .file = "table_irregular",
     .buffers = {{TABLE_IN, BENCH_U32, WORDS(SCANNED), 0},
                 {TABLE_OUT, BENCH_U32, WORDS(SCANNED), 0},
                 {TABLE_SCRATCH, BENCH_U32, WORDS(SCANNED / 256), 0},
                 {TABLE_SCRATCH, BENCH_U32, WORDS(SCANNED / 256), 0},
                 {TABLE_SCRATCH, BENCH_U32, WORDS(SCANNED / 65536), 0},
                 {TABLE_SCRATCH, BENCH_U32, WORDS(SCANNED / 65536), 0},
                 {TABLE_SCRATCH, BENCH_U32, 4, 0}},
     .n = {SCANNED},
     .ours = scan,
     .plain = "plain_scan",
     .tuned = "tuned_scan",
     .limit = TABLE_LIMIT_MEMORY,
     .work = 8.0 * SCANNED},
    {.kernel = "spmv_scalar",
     .size = "64K rows",
     .file = "table_irregular",
     .buffers = {{TABLE_IN, BENCH_U32, WORDS(ROWS + 1), 0},
                 {TABLE_IN, BENCH_U32, WORDS(ROWS * MAX_IN_ROW), 0},
                 {TABLE_IN, BENCH_F32, WORDS(ROWS * MAX_IN_ROW), 0},
                 {TABLE_IN, BENCH_F32, WORDS(ROWS), 0},
                 {TABLE_OUT, BENCH_F32, WORDS(ROWS), 1e-5}},
     .n = {ROWS},
     .fill = fill_spmv,
     .ours = spmv_scalar,
     .plain = "plain_spmv",
     .tuned = "tuned_spmv"},
    {.kernel = "spmv_vector",
     .size = "64K rows",
     .file = "table_irregular",
     .buffers = {{TABLE_IN, BENCH_U32, WORDS(ROWS + 1), 0},
                 {TABLE_IN, BENCH_U32, WORDS(ROWS * MAX_IN_ROW), 0},
                 {TABLE_IN, BENCH_F32, WORDS(ROWS * MAX_IN_ROW), 0},
                 {TABLE_IN, BENCH_F32, WORDS(ROWS), 0},
                 {TABLE_OUT, BENCH_F32, WORDS(ROWS), 1e-5}},
     .n = {ROWS},
     .fill = fill_spmv,
     .ours = spmv_vector,
     .plain = "plain_spmv",
     .tuned = "tuned_spmv"},
    {.kernel = "lu_panel",
     .size = "1024 of 128x32",
     .file = "table_irregular",
     .buffers = {{TABLE_IN, BENCH_F32, WORDS(PANELS * PANEL), 0},
                 {TABLE_OUT, BENCH_F32, WORDS(PANELS * PANEL), 1e-5}},
     .n = {PANELS},
     .fill = fill_lu_panel,
     .ours = lu_panel,
     .plain = "plain_lu_panel",
     .tuned = "tuned_lu_panel",
     .limit = TABLE_LIMIT_FMA_F32,
     .work = PANELS * PANEL_OPERATIONS},
    {.kernel = "wavefront",
     .size = "2048^2",
     .file = "table_irregular",
     .buffers = {{TABLE_IN, BENCH_U8, LETTERS, 0},
                 {TABLE_IN, BENCH_U8, LETTERS, 0},
                 {TABLE_INOUT, BENCH_U32, WORDS((LETTERS + 1) * (LETTERS + 1)), 0}},
     .n = {LETTERS},
     .fill = fill_wavefront,
     .ours = wavefront,
     .plain = "plain_wavefront",
     .tuned = "tuned_wavefront"},
    {.kernel = "bfs_level",
     .size = "256K vertices",
     .file = "table_irregular",
     .buffers = {{TABLE_IN, BENCH_U32, WORDS(VERTICES + 1), 0},
                 {TABLE_IN, BENCH_U32, WORDS(VERTICES * MAX_DEGREE), 0},
                 {TABLE_INOUT, BENCH_U32, WORDS(VERTICES), 0},
                 {TABLE_SCRATCH, BENCH_U32, 4, 0}},
     .n = {VERTICES},
     .fill = fill_bfs,
     .ours = bfs_level,
     .plain = "plain_bfs",
     .is_restored = true},
    {.kernel = "kmeans_assign",
     .size = "200K x 16, 32",
     .file = "table_irregular",
     .buffers = {{TABLE_IN, BENCH_F32, WORDS(POINTS * DIMENSIONS), 0},
                 {TABLE_IN, BENCH_F32, WORDS(CENTRES * DIMENSIONS), 0},
                 {TABLE_OUT, BENCH_U32, WORDS(POINTS), 0}},
     .n = {POINTS, CENTRES, DIMENSIONS},
     .fill = fill_kmeans,
     .ours = kmeans_assign,
     .plain = "plain_kmeans_assign",
     .tuned = "tuned_kmeans_assign",
     .limit = TABLE_LIMIT_FMA_F32,
     .work = 3.0 * POINTS * CENTRES * DIMENSIONS},
    {.kernel = "bilateral",
     .size = "512^2, radius 4",
     .file = "table_irregular",
     .buffers = {{TABLE_IN, BENCH_F32, WORDS(PIXELS * PIXELS), 0},
                 {TABLE_IN, BENCH_F32, WORDS(WINDOW), 0},
                 {TABLE_OUT, BENCH_F32, WORDS(PIXELS * PIXELS), 1e-5}},
     .n = {PIXELS, PIXELS, RADIUS},
     .scalar = {50.0},
     .fill = fill_bilateral,
     .ours = bilateral,
     .plain = "plain_bilateral",
     .tuned = "tuned_bilateral"},
    {.kernel = "philox",
     .size = "16 MB",
     .file = "table_irregular",
     .buffers = {{TABLE_OUT, BENCH_U32, WORDS(4 * COUNTERS), 0}},
     .n = {COUNTERS, 20090401},
     .ours = philox,
     .plain = "plain_philox",
     .tuned = "tuned_philox"},
};

const struct table_rows table_irregular = {rows, sizeof rows / sizeof rows[0]};
