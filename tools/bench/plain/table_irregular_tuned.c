/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels/table_irregular.cu computes, with what a CPU programmer does who has a week: vectors
 * by hand (in the compilers' portable notation), blocking for registers, several counters.
 */
#include "tools/bench/plain/table_irregular.h"

#include <stdlib.h>
#include <string.h>
#ifdef __AVX512F__
#include <immintrin.h>
#endif

/* Of all vectors here; compilers split those that the machine has not. */
#define LANES 16

#pragma GCC diagnostic ignored "-Wpsabi" /* no vector is passed between files */

typedef float f32v __attribute__((vector_size(4 * LANES)));
typedef int32_t s32v __attribute__((vector_size(4 * LANES)));
typedef uint32_t u32v __attribute__((vector_size(4 * LANES)));
typedef uint64_t u64v __attribute__((vector_size(4 * LANES)));

static f32v load_f32(const float *from)
{
    f32v value;
    memcpy(&value, from, sizeof value);
    return value;
}

static u32v load_u32(const uint32_t *from)
{
    u32v value;
    memcpy(&value, from, sizeof value);
    return value;
}

static s32v load_s32(const int32_t *from)
{
    s32v value;
    memcpy(&value, from, sizeof value);
    return value;
}

#define SPLAT_F32(value) ((f32v){0} + (value))

/* ---- reductions ---- */

/* Four counters for each bin, so that equal neighbours do not wait for each other. */
static void count_bytes(const uint8_t *in, uint32_t n, uint32_t local[4][TABLE_BINS])
{
    uint32_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t eight;
        memcpy(&eight, in + i, sizeof eight);
        local[0][eight & 255]++;
        local[1][eight >> 8 & 255]++;
        local[2][eight >> 16 & 255]++;
        local[3][eight >> 24 & 255]++;
        local[0][eight >> 32 & 255]++;
        local[1][eight >> 40 & 255]++;
        local[2][eight >> 48 & 255]++;
        local[3][eight >> 56]++;
    }
    for (; i < n; i++)
        local[0][in[i]]++;
}

void tuned_histogram(const struct table_args *args)
{
    const uint8_t *in = args->buffer[0];
    uint32_t *bins = args->buffer[1], n = args->n[0];
    const uint32_t run = 1u << 16;
#pragma omp parallel num_threads(args->threads)
    {
        uint32_t local[4][TABLE_BINS] = {{0}};
#pragma omp for
        for (uint32_t first = 0; first < n; first += run)
            count_bytes(in + first, n - first < run ? n - first : run, local);
#pragma omp critical
        for (uint32_t bin = 0; bin < TABLE_BINS; bin++)
            bins[bin] += local[0][bin] + local[1][bin] + local[2][bin] + local[3][bin];
    }
}

/* The lanes moved up by a power of two, with those of low behind them. */
#define SHIFT_UP_1(low, value)                                                                     \
    __builtin_shufflevector(low, value, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,    \
                            29, 30)
#define SHIFT_UP_2(low, value)                                                                     \
    __builtin_shufflevector(low, value, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27,    \
                            28, 29)
#define SHIFT_UP_4(low, value)                                                                     \
    __builtin_shufflevector(low, value, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25,    \
                            26, 27)
#define SHIFT_UP_8(low, value)                                                                     \
    __builtin_shufflevector(low, value, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,  \
                            23)
#define LAST_LANE(value)                                                                           \
    __builtin_shufflevector(value, value, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15,  \
                            15, 15)

static uint32_t scan_run(const uint32_t *in, uint32_t *out, uint32_t n, uint32_t sum)
{
    const u32v zero = {0};
    u32v before = zero + sum;
    uint32_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        u32v value = load_u32(in + i);
        value += SHIFT_UP_1(zero, value);
        value += SHIFT_UP_2(zero, value);
        value += SHIFT_UP_4(zero, value);
        value += SHIFT_UP_8(zero, value);
        u32v sums = value + before;
        before += LAST_LANE(value);
        memcpy(out + i, &sums, sizeof sums);
    }
    for (sum = before[0]; i < n; i++)
        out[i] = sum += in[i];
    return sum;
}

static uint32_t sum_run(const uint32_t *in, uint32_t n)
{
    uint32_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (uint32_t i = 0; i < n; i++)
        sum += in[i];
    return sum;
}

/* Runs for all threads that fit in the second cache are summed, then scanned: memory is read once.
 */
void tuned_scan(const struct table_args *args)
{
    enum { RUN = 1 << 17, MAX_THREADS = 256 };
    const uint32_t *in = args->buffer[0];
    uint32_t *out = args->buffer[1], n = args->n[0], sums[MAX_THREADS + 1] = {0};
    int threads = args->threads < MAX_THREADS ? args->threads : MAX_THREADS;
    if (threads == 1) {
        scan_run(in, out, n, 0);
        return;
    }
#pragma omp parallel num_threads(threads)
    for (uint32_t first = 0; first < n; first += (uint32_t)threads * RUN) {
#pragma omp for schedule(static)
        for (int t = 0; t < threads; t++) {
            uint64_t start = first + (uint64_t)t * RUN;
            uint64_t left = start < n ? n - start : 0;
            sums[t + 1] = sum_run(in + start, left < RUN ? (uint32_t)left : RUN);
        }
#pragma omp single
        for (int t = 0; t < threads; t++)
            sums[t + 1] += sums[t];
#pragma omp for schedule(static)
        for (int t = 0; t < threads; t++) {
            uint64_t start = first + (uint64_t)t * RUN;
            uint64_t left = start < n ? n - start : 0;
            scan_run(in + start, out + start, left < RUN ? (uint32_t)left : RUN, sums[t]);
        }
#pragma omp single
        sums[0] = sums[threads];
    }
}

/* ---- sparse ---- */

#ifdef __AVX512F__
static float multiply_row(const uint32_t *column, const float *value, const float *x, uint32_t n)
{
    __m512 sum = _mm512_setzero_ps();
    uint32_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        __m512 factors = _mm512_i32gather_ps(_mm512_loadu_si512(column + i), x, 4);
        sum = _mm512_fmadd_ps(_mm512_loadu_ps(value + i), factors, sum);
    }
    __mmask16 rest = (__mmask16)((1u << (n - i)) - 1);
    __m512 factors = _mm512_mask_i32gather_ps(_mm512_setzero_ps(), rest,
                                              _mm512_maskz_loadu_epi32(rest, column + i), x, 4);
    sum = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(rest, value + i), factors, sum);
    return _mm512_reduce_add_ps(sum);
}
#else
static float multiply_row(const uint32_t *column, const float *value, const float *x, uint32_t n)
{
    float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
    for (uint32_t i = 0; i < n; i++)
        sum += value[i] * x[column[i]];
    return sum;
}
#endif

/* A row's last elements in a vector too, where vectors have masks. */
void tuned_spmv(const struct table_args *args)
{
    const uint32_t *row_begin = args->buffer[0], *column = args->buffer[1];
    const float *value = args->buffer[2], *x = args->buffer[3];
    float *y = args->buffer[4];
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t row = 0; row < args->n[0]; row++) {
        uint32_t begin = row_begin[row];
        y[row] = multiply_row(column + begin, value + begin, x, row_begin[row + 1] - begin);
    }
}

/* ---- dense ---- */

/* Four perfect shuffles of 16 rows of 16 turn them. */
static void turn_tile(f32v tile[LANES])
{
    for (int step = 0; step < 4; step++) {
        f32v shuffled[LANES];
        for (int i = 0; i < LANES / 2; i++) {
            f32v a = tile[i], b = tile[i + LANES / 2];
            shuffled[2 * i] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5,
                                                      21, 6, 22, 7, 23);
            shuffled[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12,
                                                          28, 13, 29, 14, 30, 15, 31);
        }
        memcpy(tile, shuffled, sizeof shuffled);
    }
}

enum { PARTS = TABLE_PANEL_ROWS / LANES };

/* All columns after k. */
static void eliminate(f32v columns[TABLE_PANEL_COLUMNS][PARTS], int k)
{
    const float (*scalars)[TABLE_PANEL_ROWS] = (const float (*)[TABLE_PANEL_ROWS])columns;
    f32v factors[PARTS], pivot = SPLAT_F32(scalars[k][k]);
    s32v lane;
    for (int i = 0; i < LANES; i++)
        lane[i] = i;
    for (int p = 0; p < PARTS; p++) {
        s32v is_below = lane + p * LANES > (s32v){0} + k;
        s32v divided = (s32v)(columns[k][p] / pivot) & is_below;
        factors[p] = (f32v)divided;
        columns[k][p] = (f32v)(divided | ((s32v)columns[k][p] & ~is_below));
    }
    for (int j = k + 1; j < TABLE_PANEL_COLUMNS; j++) {
        f32v row = SPLAT_F32(scalars[j][k]);
        for (int p = 0; p < PARTS; p++)
            columns[j][p] -= factors[p] * row;
    }
}

/* In columns, so that a vector holds rows and is always full. */
static void factor_panel(const float *in, float *out)
{
    enum { COLUMNS = TABLE_PANEL_COLUMNS };
    f32v columns[COLUMNS][PARTS], tile[LANES];
    for (int p = 0; p < PARTS; p++)
        for (int j = 0; j < COLUMNS; j += LANES) {
            for (int i = 0; i < LANES; i++)
                tile[i] = load_f32(in + (p * LANES + i) * COLUMNS + j);
            turn_tile(tile);
            for (int i = 0; i < LANES; i++)
                columns[j + i][p] = tile[i];
        }
    for (int k = 0; k < COLUMNS; k++)
        eliminate(columns, k);
    for (int p = 0; p < PARTS; p++)
        for (int j = 0; j < COLUMNS; j += LANES) {
            for (int i = 0; i < LANES; i++)
                tile[i] = columns[j + i][p];
            turn_tile(tile);
            for (int i = 0; i < LANES; i++)
                memcpy(out + (p * LANES + i) * COLUMNS + j, &tile[i], sizeof tile[i]);
        }
}

void tuned_lu_panel(const struct table_args *args)
{
    const size_t panel_len = TABLE_PANEL_ROWS * TABLE_PANEL_COLUMNS;
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t p = 0; p < args->n[0]; p++)
        factor_panel((const float *)args->buffer[0] + p * panel_len,
                     (float *)args->buffer[1] + p * panel_len);
}

static s32v max_s32(s32v a, s32v b)
{
    s32v is_less = a < b;
    return (a & ~is_less) | (b & is_less);
}

/* Letters of target as vectors of integers, once for all rows. */
static void align_row(const int32_t *above, int32_t *row, int32_t letter, const int32_t *target,
                      uint32_t columns)
{
    /* A cell is the maximum of what lies above and of any cell left of it, less the gaps between:
     * a running maximum of cells plus the gaps from the row's first cell. */
    s32v ramp;
    for (int i = 0; i < LANES; i++)
        ramp[i] = (i + 1) * -TABLE_GAP;
    const s32v lowest = (s32v){0} + INT32_MIN / 2;
    s32v before = (s32v){0} + row[0];
    for (uint32_t j = 0; j < columns; j += LANES) {
        s32v is_same = load_s32(target + j) == letter;
        s32v cell = load_s32(above + j) + TABLE_MISMATCH;
        cell += is_same & (TABLE_MATCH - TABLE_MISMATCH);
        cell = max_s32(cell, load_s32(above + j + 1) + TABLE_GAP) + ramp;
        cell = max_s32(cell, SHIFT_UP_1(lowest, cell));
        cell = max_s32(cell, SHIFT_UP_2(lowest, cell));
        cell = max_s32(cell, SHIFT_UP_4(lowest, cell));
        cell = max_s32(cell, SHIFT_UP_8(lowest, cell));
        cell = max_s32(cell, before);
        before = LAST_LANE(cell) + LANES * TABLE_GAP;
        cell -= ramp;
        memcpy(row + j + 1, &cell, sizeof cell);
    }
}

static void align_tile(const struct table_args *args, const int32_t *wide_target,
                       uint32_t first_row, uint32_t first_column, uint32_t rows, uint32_t columns)
{
    const uint8_t *query = args->buffer[0];
    size_t pitch = args->n[0] + 1;
    int32_t *scores = (int32_t *)args->buffer[2] + first_column;
    for (uint32_t i = first_row; i < first_row + rows; i++)
        align_row(scores + i * pitch, scores + (i + 1) * pitch, query[i],
                  wide_target + first_column, columns);
}

void tuned_wavefront(const struct table_args *args)
{
    enum { SIDE = 256 };
    const uint8_t *target = args->buffer[1];
    uint32_t letters = args->n[0], tiles = letters / SIDE;
    int32_t *wide_target = malloc(letters * sizeof *wide_target);
    if (!wide_target)
        return;
    for (uint32_t j = 0; j < letters; j++)
        wide_target[j] = target[j];
    if (args->threads == 1) {
        align_tile(args, wide_target, 0, 0, letters, letters);
        free(wide_target);
        return;
    }
#pragma omp parallel num_threads(args->threads)
    for (uint32_t diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
        uint32_t first = diagonal < tiles ? 0 : diagonal - tiles + 1;
#pragma omp for schedule(static, 1)
        for (uint32_t column = first; column <= diagonal - first; column++)
            align_tile(args, wide_target, (diagonal - column) * SIDE, column * SIDE, SIDE, SIDE);
    }
    free(wide_target);
}

/* ---- computing ---- */

enum { POINT_VECTORS = 2, CENTRES = 8 }; /* POINT_VECTORS * CENTRES sums stay in registers */

static void assign_vectors(const struct table_args *args, uint32_t first)
{
    const float *points = (const float *)args->buffer[0] + first, *centres = args->buffer[1];
    uint32_t n = args->n[0], count = args->n[1], dimensions = args->n[2];
    f32v least[POINT_VECTORS];
    s32v best[POINT_VECTORS] = {{0}};
    for (int v = 0; v < POINT_VECTORS; v++)
        least[v] = SPLAT_F32(3.0e38f);
    for (uint32_t c = 0; c < count; c += CENTRES) {
        f32v distance[CENTRES][POINT_VECTORS] = {{{0}}};
        for (uint32_t d = 0; d < dimensions; d++)
            for (int v = 0; v < POINT_VECTORS; v++) {
                f32v point = load_f32(points + (size_t)d * n + v * LANES);
                for (uint32_t i = 0; i < CENTRES; i++) {
                    f32v difference = point - centres[(c + i) * dimensions + d];
                    distance[i][v] += difference * difference;
                }
            }
        for (uint32_t i = 0; i < CENTRES; i++)
            for (int v = 0; v < POINT_VECTORS; v++) {
                s32v is_less = distance[i][v] < least[v];
                best[v] = (best[v] & ~is_less) | ((int32_t)(c + i) & is_less);
                least[v] = (f32v)(((s32v)least[v] & ~is_less) | ((s32v)distance[i][v] & is_less));
            }
    }
    memcpy((uint32_t *)args->buffer[2] + first, best, sizeof best);
}

/* The last vectors overlap those before. Centres come in a multiple of CENTRES. */
void tuned_kmeans_assign(const struct table_args *args)
{
    const uint32_t step = POINT_VECTORS * LANES, n = args->n[0];
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t first = 0; first < n; first += step)
        assign_vectors(args, n - first < step ? n - step : first);
}

/* e to the x within 2 units of the last place, for x from -87 to 0. */
static f32v exp_f32(f32v x)
{
    f32v scaled = x * 1.44269504f;
    /* Adding and taking away 1.5 * 2^23 rounds to an integer, which then stands in the low bits. */
    const f32v magic = SPLAT_F32(12582912.0f);
    f32v shifted = scaled + magic;
    s32v exponent = (s32v)shifted - (s32v)magic;
    f32v whole = shifted - magic;
    f32v rest = x - whole * 0.693359375f;
    rest -= whole * -2.12194440e-4f;
    f32v sum = rest * 1.9875691500e-4f + 1.3981999507e-3f;
    sum = sum * rest + 8.3334519073e-3f;
    sum = sum * rest + 4.1665795894e-2f;
    sum = sum * rest + 1.6666665459e-1f;
    sum = sum * rest + 5.0000001201e-1f;
    sum = sum * rest * rest + rest + 1.0f;
    return (f32v)((s32v)sum + (exponent << 23));
}

/* The image with its rim repeated, so that no access has to be clamped. */
struct padded {
    float *pixels;
    size_t pitch;
};

static int pad_image(const struct table_args *args, struct padded *padded)
{
    const float *image = args->buffer[0];
    uint32_t width = args->n[0], height = args->n[1], radius = args->n[2];
    padded->pitch = width + 2 * radius + LANES;
    padded->pixels = malloc(padded->pitch * (height + 2 * radius) * sizeof(float));
    if (!padded->pixels)
        return 0;
    for (uint32_t y = 0; y < height + 2 * radius; y++) {
        uint32_t from = y < radius ? 0 : y - radius < height ? y - radius : height - 1;
        float *row = padded->pixels + y * padded->pitch;
        for (uint32_t x = 0; x < radius; x++)
            row[x] = image[(size_t)from * width];
        memcpy(row + radius, image + (size_t)from * width, width * sizeof(float));
        for (size_t x = width + radius; x < padded->pitch; x++)
            row[x] = image[(size_t)from * width + width - 1];
    }
    return 1;
}

static f32v filter_vector(const struct table_args *args, const float *corner, size_t pitch)
{
    const float *closeness = args->buffer[1];
    uint32_t radius = args->n[2];
    float sharpness = (float)-args->scalar[0];
    f32v centre = load_f32(corner + radius * pitch + radius);
    f32v sum = {0}, weights = {0};
    for (uint32_t dy = 0; dy <= 2 * radius; dy++)
        for (uint32_t dx = 0; dx <= 2 * radius; dx++) {
            f32v value = load_f32(corner + dy * pitch + dx), difference = value - centre;
            f32v weight = *closeness++ * exp_f32(difference * difference * sharpness);
            sum += weight * value;
            weights += weight;
        }
    return sum / weights;
}

void tuned_bilateral(const struct table_args *args)
{
    struct padded padded;
    uint32_t width = args->n[0], height = args->n[1];
    if (!pad_image(args, &padded))
        return;
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x += LANES) {
            f32v filtered = filter_vector(args, padded.pixels + y * padded.pitch + x, padded.pitch);
            uint32_t count = width - x < LANES ? width - x : LANES;
            memcpy((float *)args->buffer[2] + (size_t)y * width + x, &filtered,
                   count * sizeof(float));
        }
    free(padded.pixels);
}

/* The numbers of two vectors of 8 counters: a number is the lower half of a lane, so that a lane
 * has room for a product. */
static void philox_vectors(uint32_t *out, uint32_t first, uint32_t seed)
{
    u64v a[2], b[2] = {{0}}, c[2] = {{0}}, d[2] = {{0}};
    uint32_t key0 = seed, key1 = 0;
    for (uint32_t i = 0; i < LANES; i++)
        a[i / 8][i % 8] = first + i;
    for (int round = 0; round < 10; round++) {
        for (int v = 0; v < 2; v++) {
            u64v product0 = (a[v] & 0xffffffffu) * 0xd2511f53u;
            u64v product1 = (c[v] & 0xffffffffu) * 0xcd9e8d57u;
            a[v] = product1 >> 32 ^ b[v] ^ key0;
            b[v] = product1;
            c[v] = product0 >> 32 ^ d[v] ^ key1;
            d[v] = product0;
        }
        key0 += 0x9e3779b9u;
        key1 += 0xbb67ae85u;
    }
    for (int v = 0; v < 2; v++) {
        u64v ab = (a[v] & 0xffffffffu) | b[v] << 32, cd = (c[v] & 0xffffffffu) | d[v] << 32;
        u64v lower = __builtin_shufflevector(ab, cd, 0, 8, 1, 9, 2, 10, 3, 11);
        u64v upper = __builtin_shufflevector(ab, cd, 4, 12, 5, 13, 6, 14, 7, 15);
        memcpy(out + 32 * v, &lower, sizeof lower);
        memcpy(out + 32 * v + 16, &upper, sizeof upper);
    }
}

/* n is a multiple of LANES. */
void tuned_philox(const struct table_args *args)
{
    uint32_t n = args->n[0], seed = args->n[1];
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t first = 0; first < n; first += LANES)
        philox_vectors((uint32_t *)args->buffer[0] + 4 * (size_t)first, first, seed);
}
