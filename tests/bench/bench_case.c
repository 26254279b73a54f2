/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of bench_collapse: sizes that take plain C about a millisecond on one core.
 */
#include "tests/bench/bench_case.h"

#define ELEMENTS         1000003u /* no multiple of a block */
#define WIDTH            1030u
#define HEIGHT           1000u
#define SIDE             1024u /* transpose */
#define OPTIONS          100003u
#define MATRIX           256u
#define BODIES           1024u
#define PIXELS           256u
#define ROWS             20011u
#define MAX_IN_ROW       32u
#define WINDOWS          96u /* median: in each direction */
#define OWNERS           4096u
#define WORDS            128u
#define PLACES           64u
#define DEGREE           15u

#define BLOCKS(n, block) (((n) + (block) - 1) / (block))
#define F32(n)           ((size_t)(n) * sizeof(float))

static void shuffle(uint32_t *order, uint32_t n, uint32_t seed)
{
    for (uint32_t i = 0; i < n; i++)
        order[i] = i;
    for (uint32_t i = n - 1; i > 0; i--) {
        uint32_t j = bench_random(&seed) % (i + 1), kept = order[i];
        order[i] = order[j];
        order[j] = kept;
    }
}

static void fill_permute(void *const *in, const uint32_t *size)
{
    shuffle(in[1], size[0], 1);
    shuffle(in[2], size[0], 2);
}

static void fill_black_scholes(void *const *in, const uint32_t *size)
{
    float *price = in[0], *strike = in[1], *years = in[2];
    for (uint32_t i = 0; i < size[0]; i++) {
        price[i] = 5.0f + 25.0f * price[i];
        strike[i] = 1.0f + 99.0f * strike[i];
        years[i] = 0.25f + 9.75f * years[i];
    }
}

static void fill_bits(void *const *in, const uint32_t *size)
{
    uint32_t *bits = in[0], seed = 3;
    for (uint32_t i = 0; i < size[0]; i++)
        bits[i] = bench_random(&seed);
}

static void fill_words(void *const *in, const uint32_t *size)
{
    uint32_t *words = in[0], seed = 6;
    for (uint32_t i = 0; i < size[0] * size[1]; i++)
        words[i] = bench_random(&seed) >> 12;
}

static void fill_bytes(void *const *in, const uint32_t *size)
{
    uint8_t *bytes = in[0];
    uint32_t seed = 4;
    for (uint32_t i = 0; i < size[0]; i++)
        bytes[i] = (uint8_t)(bench_random(&seed) >> 16);
}

/* Rows of 0 to MAX_IN_ROW - 1 elements. */
static void fill_rows(void *const *in, const uint32_t *size)
{
    uint32_t *row_begin = in[0], *column = in[1], seed = 5, end = 0;
    for (uint32_t row = 0; row < size[0]; row++) {
        row_begin[row] = end;
        for (uint32_t left = bench_random(&seed) % MAX_IN_ROW; left > 0; left--)
            column[end++] = bench_random(&seed) % size[0];
    }
    row_begin[size[0]] = end;
}

const struct bench_case bench_cases[] = {
    {.name = "vadd",
     .file = "straight",
     .plain = plain_vadd,
     .grid = {BLOCKS(ELEMENTS, 256), 1, 1},
     .block = {256, 1, 1},
     .in_count = 2,
     .in_bytes = {F32(ELEMENTS), F32(ELEMENTS)},
     .out_count = 1,
     .out_bytes = {F32(ELEMENTS)},
     .size_count = 1,
     .size = {ELEMENTS},
     .element = BENCH_F32},
    {.name = "saxpy",
     .file = "straight",
     .plain = plain_saxpy,
     .grid = {BLOCKS(ELEMENTS, 256), 1, 1},
     .block = {256, 1, 1},
     .in_count = 1,
     .in_bytes = {F32(ELEMENTS)},
     .out_count = 1,
     .out_bytes = {F32(ELEMENTS)},
     .size_count = 1,
     .size = {ELEMENTS},
     .scalar_count = 1,
     .scalar = {0.001f},
     .element = BENCH_F32},
    {.name = "scale2d",
     .file = "straight",
     .plain = plain_scale2d,
     .grid = {BLOCKS(WIDTH, 16), BLOCKS(HEIGHT, 16), 1},
     .block = {16, 16, 1},
     .in_count = 1,
     .in_bytes = {F32(WIDTH * HEIGHT)},
     .out_count = 1,
     .out_bytes = {F32(WIDTH * HEIGHT)},
     .size_count = 2,
     .size = {WIDTH, HEIGHT},
     .scalar_count = 1,
     .scalar = {3.0f},
     .element = BENCH_F32},
    {.name = "stencil",
     .file = "straight",
     .plain = plain_stencil,
     .grid = {BLOCKS(WIDTH, 32), BLOCKS(HEIGHT, 8), 1},
     .block = {32, 8, 1},
     .in_count = 1,
     .in_bytes = {F32(WIDTH * HEIGHT)},
     .out_count = 1,
     .out_bytes = {F32(WIDTH * HEIGHT)},
     .size_count = 2,
     .size = {WIDTH, HEIGHT},
     .element = BENCH_F32,
     .tolerance = 1e-6},
    {.name = "stencil_shared",
     .file = "straight",
     .plain = plain_stencil,
     .grid = {BLOCKS(WIDTH, 16), BLOCKS(HEIGHT, 16), 1},
     .block = {16, 16, 1},
     .in_count = 1,
     .in_bytes = {F32(WIDTH * HEIGHT)},
     .out_count = 1,
     .out_bytes = {F32(WIDTH * HEIGHT)},
     .size_count = 2,
     .size = {WIDTH, HEIGHT},
     .element = BENCH_F32,
     .tolerance = 1e-6},
    {.name = "transpose",
     .file = "straight",
     .plain = plain_transpose,
     .grid = {SIDE / 32, SIDE / 32, 1},
     .block = {32, 8, 1},
     .in_count = 1,
     .in_bytes = {F32(SIDE * SIDE)},
     .out_count = 1,
     .out_bytes = {F32(SIDE * SIDE)},
     .size_count = 1,
     .size = {SIDE},
     .element = BENCH_F32},
    {.name = "permute",
     .file = "straight",
     .plain = plain_permute,
     .fill = fill_permute,
     .grid = {BLOCKS(ELEMENTS, 256), 1, 1},
     .block = {256, 1, 1},
     .in_count = 3,
     .in_bytes = {F32(ELEMENTS), F32(ELEMENTS), F32(ELEMENTS)},
     .out_count = 1,
     .out_bytes = {F32(ELEMENTS)},
     .size_count = 1,
     .size = {ELEMENTS},
     .element = BENCH_F32},
    {.name = "black_scholes",
     .file = "straight",
     .plain = plain_black_scholes,
     .fill = fill_black_scholes,
     .grid = {BLOCKS(OPTIONS, 128), 1, 1},
     .block = {128, 1, 1},
     .in_count = 3,
     .in_bytes = {F32(OPTIONS), F32(OPTIONS), F32(OPTIONS)},
     .out_count = 2,
     .out_bytes = {F32(OPTIONS), F32(OPTIONS)},
     .size_count = 1,
     .size = {OPTIONS},
     .scalar_count = 2,
     .scalar = {0.02f, 0.3f},
     .element = BENCH_F32,
     .tolerance = 1e-5},

    {.name = "saxpy_stride",
     .file = "loops",
     .has_loop = true,
     .plain = plain_saxpy,
     .grid = {64, 1, 1},
     .block = {256, 1, 1},
     .in_count = 1,
     .in_bytes = {F32(ELEMENTS)},
     .out_count = 1,
     .out_bytes = {F32(ELEMENTS)},
     .size_count = 1,
     .size = {ELEMENTS},
     .scalar_count = 1,
     .scalar = {0.001f},
     .element = BENCH_F32},
    {.name = "matmul_naive",
     .file = "loops",
     .has_loop = true,
     .plain = plain_matmul,
     .grid = {MATRIX / 16, MATRIX / 16, 1},
     .block = {16, 16, 1},
     .in_count = 2,
     .in_bytes = {F32(MATRIX * MATRIX), F32(MATRIX * MATRIX)},
     .out_count = 1,
     .out_bytes = {F32(MATRIX * MATRIX)},
     .size_count = 1,
     .size = {MATRIX},
     .element = BENCH_F32,
     .tolerance = 1e-5},
    {.name = "matmul_tiled",
     .file = "loops",
     .has_loop = true,
     .plain = plain_matmul,
     .grid = {MATRIX / 16, MATRIX / 16, 1},
     .block = {16, 16, 1},
     .in_count = 2,
     .in_bytes = {F32(MATRIX * MATRIX), F32(MATRIX * MATRIX)},
     .out_count = 1,
     .out_bytes = {F32(MATRIX * MATRIX)},
     .size_count = 1,
     .size = {MATRIX},
     .element = BENCH_F32,
     .tolerance = 1e-5},
    {.name = "nbody",
     .file = "loops",
     .has_loop = true,
     .plain = plain_nbody,
     .grid = {BODIES / 256, 1, 1},
     .block = {256, 1, 1},
     .in_count = 1,
     .in_bytes = {F32(4 * BODIES)},
     .out_count = 1,
     .out_bytes = {F32(4 * BODIES)},
     .size_count = 1,
     .size = {BODIES},
     .element = BENCH_F32,
     .tolerance = 1e-4},
    {.name = "mandelbrot",
     .file = "loops",
     .has_loop = true,
     .plain = plain_mandelbrot,
     .grid = {PIXELS / 16, PIXELS / 16, 1},
     .block = {16, 16, 1},
     .out_count = 1,
     .out_bytes = {F32(PIXELS * PIXELS)},
     .size_count = 3,
     .size = {PIXELS, PIXELS, 100},
     .element = BENCH_U32},
    {.name = "reduce_shared",
     .file = "loops",
     .has_loop = true,
     .plain = plain_reduce,
     .grid = {BLOCKS(ELEMENTS, 1024), 1, 1},
     .block = {256, 1, 1},
     .in_count = 1,
     .in_bytes = {F32(ELEMENTS)},
     .out_count = 1,
     .out_bytes = {F32(BLOCKS(ELEMENTS, 1024))},
     .size_count = 1,
     .size = {ELEMENTS},
     .element = BENCH_F32,
     .tolerance = 1e-5},
    {.name = "reduce_shuffle",
     .file = "loops",
     .has_loop = true,
     .plain = plain_reduce,
     .grid = {BLOCKS(ELEMENTS, 1024), 1, 1},
     .block = {256, 1, 1},
     .in_count = 1,
     .in_bytes = {F32(ELEMENTS)},
     .out_count = 1,
     .out_bytes = {F32(BLOCKS(ELEMENTS, 1024))},
     .size_count = 1,
     .size = {ELEMENTS},
     .element = BENCH_F32,
     .tolerance = 1e-5},
    {.name = "scan",
     .file = "loops",
     .has_loop = true,
     .plain = plain_scan,
     .fill = fill_bits,
     .grid = {BLOCKS(ELEMENTS, 256), 1, 1},
     .block = {256, 1, 1},
     .in_count = 1,
     .in_bytes = {F32(ELEMENTS)},
     .out_count = 1,
     .out_bytes = {F32(ELEMENTS)},
     .size_count = 1,
     .size = {ELEMENTS},
     .element = BENCH_U32},
    {.name = "histogram",
     .file = "loops",
     .has_loop = true,
     .plain = plain_histogram,
     .fill = fill_bytes,
     .grid = {64, 1, 1},
     .block = {256, 1, 1},
     .in_count = 1,
     .in_bytes = {ELEMENTS},
     .out_count = 1,
     .out_bytes = {F32(256)},
     .size_count = 1,
     .size = {ELEMENTS},
     .element = BENCH_U32},
    {.name = "spmv",
     .file = "loops",
     .has_loop = true,
     .plain = plain_spmv,
     .fill = fill_rows,
     .grid = {BLOCKS(ROWS, 128), 1, 1},
     .block = {128, 1, 1},
     .in_count = 4,
     .in_bytes = {F32(ROWS + 1), F32(ROWS * MAX_IN_ROW), F32(ROWS * MAX_IN_ROW), F32(ROWS)},
     .out_count = 1,
     .out_bytes = {F32(ROWS)},
     .size_count = 1,
     .size = {ROWS},
     .element = BENCH_F32,
     .tolerance = 1e-5},

    {.name = "median",
     .file = "local",
     .has_loop = true,
     .plain = plain_median,
     .grid = {WINDOWS / 32, WINDOWS / 8, 1},
     .block = {32, 8, 1},
     .in_count = 1,
     .in_bytes = {F32((WINDOWS + 4) * (WINDOWS + 4))},
     .out_count = 1,
     .out_bytes = {F32(WINDOWS * WINDOWS)},
     .size_count = 1,
     .size = {WINDOWS},
     .element = BENCH_F32},
    {.name = "endings",
     .file = "local",
     .has_loop = true,
     .plain = plain_endings,
     .fill = fill_words,
     .grid = {OWNERS / 256, 1, 1},
     .block = {256, 1, 1},
     .in_count = 1,
     .in_bytes = {F32(OWNERS * WORDS)},
     .out_count = 1,
     .out_bytes = {F32(OWNERS * 16)},
     .size_count = 2,
     .size = {WORDS, OWNERS},
     .element = BENCH_U32},
    {.name = "polynomial",
     .file = "local",
     .has_loop = true,
     .plain = plain_polynomial,
     .grid = {OWNERS / 256, 1, 1},
     .block = {256, 1, 1},
     .in_count = 1,
     .in_bytes = {F32(OWNERS * 16)},
     .out_count = 1,
     .out_bytes = {F32(OWNERS)},
     .size_count = 3,
     .size = {PLACES, DEGREE, OWNERS},
     .element = BENCH_F32,
     .tolerance = 1e-5},
};

const size_t bench_case_count = sizeof bench_cases / sizeof bench_cases[0];
