/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels/table_irregular.cu computes, as a CPU programmer writes it: plain loops with OpenMP,
 * in the order that suits a CPU.
 */
#include "tools/bench/plain/table_irregular.h"

#include <math.h>
#include <string.h>

/* ---- reductions ---- */

/* For reduce_block and reduce_shuffle. */
void plain_reduce(const struct table_args *args)
{
    const float *in = args->buffer[0];
    float *total = args->buffer[1], sum = 0.0f;
    uint32_t n = args->n[0];
#pragma omp parallel for simd reduction(+ : sum) num_threads(args->threads)
    for (uint32_t i = 0; i < n; i++)
        sum += in[i];
    *total = sum;
}

void plain_histogram(const struct table_args *args)
{
    const uint8_t *in = args->buffer[0];
    uint32_t *bins = args->buffer[1], n = args->n[0];
#pragma omp parallel num_threads(args->threads)
    {
        uint32_t local[TABLE_BINS] = {0};
#pragma omp for
        for (uint32_t i = 0; i < n; i++)
            local[in[i]]++;
#pragma omp critical
        for (uint32_t bin = 0; bin < TABLE_BINS; bin++)
            bins[bin] += local[bin];
    }
}

static uint32_t sum_part(const uint32_t *in, uint32_t first, uint32_t last)
{
    uint32_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (uint32_t i = first; i < last; i++)
        sum += in[i];
    return sum;
}

static void scan_part(const uint32_t *in, uint32_t *out, uint32_t first, uint32_t last,
                      uint32_t sum)
{
    for (uint32_t i = first; i < last; i++) {
        sum += in[i];
        out[i] = sum;
    }
}

/* A part for each thread, behind the sum of the parts before it. */
void plain_scan(const struct table_args *args)
{
    enum { MAX_PARTS = 256 };
    const uint32_t *in = args->buffer[0];
    uint32_t *out = args->buffer[1], n = args->n[0], sums[MAX_PARTS + 1] = {0};
    uint32_t parts = args->threads < MAX_PARTS ? (uint32_t)args->threads : MAX_PARTS;
    uint32_t part_len = (n + parts - 1) / parts;
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t part = 0; part < parts - 1; part++)
        sums[part + 1] = sum_part(in, part * part_len, (part + 1) * part_len);
    for (uint32_t part = 1; part < parts; part++)
        sums[part] += sums[part - 1];
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t part = 0; part < parts; part++)
        scan_part(in, out, part * part_len, part + 1 < parts ? (part + 1) * part_len : n,
                  sums[part]);
}

/* ---- sparse and graphs ---- */

/* For spmv_scalar and spmv_vector. */
void plain_spmv(const struct table_args *args)
{
    const uint32_t *row_begin = args->buffer[0], *column = args->buffer[1];
    const float *value = args->buffer[2], *x = args->buffer[3];
    float *y = args->buffer[4];
    uint32_t rows = args->n[0];
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t row = 0; row < rows; row++) {
        float sum = 0.0f;
#pragma omp simd reduction(+ : sum)
        for (uint32_t i = row_begin[row]; i < row_begin[row + 1]; i++)
            sum += value[i] * x[column[i]];
        y[row] = sum;
    }
}

/* Returns how many edges led to a vertex not yet found. */
static uint32_t find_level(const struct table_args *args, uint32_t current)
{
    const uint32_t *edge_begin = args->buffer[0], *neighbour = args->buffer[1];
    uint32_t *level = args->buffer[2], vertices = args->n[0], found = 0;
#pragma omp parallel for schedule(static, 1024) reduction(+ : found) num_threads(args->threads)
    for (uint32_t vertex = 0; vertex < vertices; vertex++) {
        uint32_t own;
#pragma omp atomic read
        own = level[vertex];
        if (own != current)
            continue;
        for (uint32_t i = edge_begin[vertex]; i < edge_begin[vertex + 1]; i++) {
            uint32_t its;
#pragma omp atomic read
            its = level[neighbour[i]];
            if (its != TABLE_NOT_FOUND)
                continue;
#pragma omp atomic write
            level[neighbour[i]] = current + 1;
            found++;
        }
    }
    return found;
}

void plain_bfs(const struct table_args *args)
{
    for (uint32_t current = 0; find_level(args, current) > 0; current++)
        continue;
}

/* ---- dense ---- */

void plain_lu_panel(const struct table_args *args)
{
    const float *in = args->buffer[0];
    float *out = args->buffer[1];
    uint32_t panels = args->n[0];
    enum { ROWS = TABLE_PANEL_ROWS, COLUMNS = TABLE_PANEL_COLUMNS };
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t p = 0; p < panels; p++) {
        float (*panel)[COLUMNS] = (float (*)[COLUMNS])out + (size_t)p * ROWS;
        memcpy(panel, in + (size_t)p * ROWS * COLUMNS, ROWS * COLUMNS * sizeof(float));
        for (uint32_t k = 0; k < COLUMNS; k++)
            for (uint32_t i = k + 1; i < ROWS; i++) {
                float factor = panel[i][k] / panel[k][k];
                panel[i][k] = factor;
#pragma omp simd
                for (uint32_t j = k + 1; j < COLUMNS; j++)
                    panel[i][j] -= factor * panel[k][j];
            }
    }
}

/* Rows and columns first to first + count - 1; the matrix has a row and a column before them. */
static void align_tile(const struct table_args *args, uint32_t first_row, uint32_t first_column,
                       uint32_t rows, uint32_t columns)
{
    const uint8_t *query = args->buffer[0], *target = (const uint8_t *)args->buffer[1];
    size_t pitch = args->n[0] + 1;
    for (uint32_t i = first_row; i < first_row + rows; i++) {
        const int32_t *above = (const int32_t *)args->buffer[2] + i * pitch;
        int32_t *row = (int32_t *)args->buffer[2] + (i + 1) * pitch;
        int32_t left = row[first_column];
        for (uint32_t j = first_column; j < first_column + columns; j++) {
            int32_t best = above[j] + (query[i] == target[j] ? TABLE_MATCH : TABLE_MISMATCH);
            best = above[j + 1] + TABLE_GAP > best ? above[j + 1] + TABLE_GAP : best;
            left = left + TABLE_GAP > best ? left + TABLE_GAP : best;
            row[j + 1] = left;
        }
    }
}

/* One thread goes along rows, several along diagonals of large tiles. */
void plain_wavefront(const struct table_args *args)
{
    enum { SIDE = 128 };
    uint32_t letters = args->n[0], tiles = letters / SIDE;
    if (args->threads == 1) {
        align_tile(args, 0, 0, letters, letters);
        return;
    }
#pragma omp parallel num_threads(args->threads)
    for (uint32_t diagonal = 0; diagonal < 2 * tiles - 1; diagonal++) {
        uint32_t first = diagonal < tiles ? 0 : diagonal - tiles + 1;
#pragma omp for schedule(static, 1)
        for (uint32_t column = first; column <= diagonal - first; column++)
            align_tile(args, (diagonal - column) * SIDE, column * SIDE, SIDE, SIDE);
    }
}

/* ---- computing ---- */

#define POINTS 512 /* at a time: they fit in the first cache */

static void assign_points(const struct table_args *args, uint32_t first, uint32_t count)
{
    const float *points = args->buffer[0], *centres = args->buffer[1];
    uint32_t *nearest = args->buffer[2];
    uint32_t n = args->n[0], centre_count = args->n[1], dimensions = args->n[2];
    float least[POINTS], distance[POINTS];
    for (uint32_t i = 0; i < count; i++)
        least[i] = 3.0e38f;
    for (uint32_t c = 0; c < centre_count; c++) {
        memset(distance, 0, sizeof distance);
        for (uint32_t d = 0; d < dimensions; d++) {
            const float *row = points + (size_t)d * n + first;
            float centre = centres[c * dimensions + d];
#pragma omp simd
            for (uint32_t i = 0; i < count; i++)
                distance[i] += (row[i] - centre) * (row[i] - centre);
        }
#pragma omp simd
        for (uint32_t i = 0; i < count; i++) {
            nearest[first + i] = distance[i] < least[i] ? c : nearest[first + i];
            least[i] = distance[i] < least[i] ? distance[i] : least[i];
        }
    }
}

void plain_kmeans_assign(const struct table_args *args)
{
    uint32_t n = args->n[0];
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t first = 0; first < n; first += POINTS)
        assign_points(args, first, n - first < POINTS ? n - first : POINTS);
}

static int32_t clamp(int32_t value, int32_t last)
{
    return value < 0 ? 0 : value > last ? last : value;
}

static float filter_pixel(const struct table_args *args, int32_t x, int32_t y)
{
    const float *image = args->buffer[0], *closeness = args->buffer[1];
    int32_t width = (int32_t)args->n[0], height = (int32_t)args->n[1];
    int32_t radius = (int32_t)args->n[2];
    float sharpness = (float)args->scalar[0];
    float centre = image[y * width + x], sum = 0.0f, weights = 0.0f;
    for (int32_t dy = -radius; dy <= radius; dy++) {
        const float *row = image + clamp(y + dy, height - 1) * width;
        for (int32_t dx = -radius; dx <= radius; dx++) {
            float value = row[clamp(x + dx, width - 1)], difference = value - centre;
            float weight = *closeness++ * expf(difference * difference * -sharpness);
            sum += weight * value;
            weights += weight;
        }
    }
    return sum / weights;
}

void plain_bilateral(const struct table_args *args)
{
    float *out = args->buffer[2];
    int32_t width = (int32_t)args->n[0], height = (int32_t)args->n[1];
#pragma omp parallel for num_threads(args->threads)
    for (int32_t y = 0; y < height; y++)
        for (int32_t x = 0; x < width; x++)
            out[y * width + x] = filter_pixel(args, x, y);
}

void plain_philox(const struct table_args *args)
{
    uint32_t (*out)[4] = args->buffer[0];
    uint32_t n = args->n[0], seed = args->n[1];
#pragma omp parallel for simd num_threads(args->threads)
    for (size_t i = 0; i < n; i++) {
        uint32_t a = (uint32_t)i, b = 0, c = 0, d = 0, key0 = seed, key1 = 0;
        for (int round = 0; round < 10; round++) {
            uint64_t product0 = (uint64_t)a * 0xd2511f53u, product1 = (uint64_t)c * 0xcd9e8d57u;
            a = (uint32_t)(product1 >> 32) ^ b ^ key0;
            b = (uint32_t)product1;
            c = (uint32_t)(product0 >> 32) ^ d ^ key1;
            d = (uint32_t)product0;
            key0 += 0x9e3779b9u;
            key1 += 0xbb67ae85u;
        }
        out[i][0] = a;
        out[i][1] = b;
        out[i][2] = c;
        out[i][3] = d;
    }
}
