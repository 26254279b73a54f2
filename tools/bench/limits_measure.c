/* SPDX-License-Identifier: Apache-2.0
 *
 * See limits_measure.h.
 */
#include "tools/bench/limits_measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/bench_data.h"
#include "tools/bench/bench_measure.h"
#include "tools/bench/machine.h"
#include "tools/bench/plain/costs.h"
#include "tools/bench/plain/memory.h"
#include "tools/bench/table_plain.h"

#define COST_ROUNDS  10000u
#define STEPS        200000u
#define READ_BYTES   (64u << 20) /* in all, of each level */
#define MEMORY_BYTES (128u << 20)
#define PAGES_BYTES  (32u << 20)
#define LINE_BYTES   64
#define PAGE_BYTES   4096

/* The library of the compiler that has the JIT's code generator. */
static double run_ns(const char *function, const struct table_args *args, double operations)
{
    double start_us = bench_now_us();
    table_plain_find(function, TABLE_CC)(args);
    return (bench_now_us() - start_us) * 1000 / operations;
}

static double least_ns(const char *function, const struct table_args *args, double operations,
                       unsigned rounds)
{
    double least = INFINITY;
    for (unsigned i = 0; i < rounds; i++)
        least = fmin(least, run_ns(function, args, operations));
    return least;
}

/* ---- operations ---- */

static const char *const functions[TR_FIGURE_COUNT] = {
#define FIGURE(figure_name, values, figure_what) "cost_" #figure_name,
#include "translator/module/figures.def"
#undef FIGURE
};

/* In turn, so that a slow moment meets all. */
void limits_measure_costs(struct limits_costs *costs, unsigned rounds)
{
    struct table_args args = {.n = {COST_ROUNDS}};
    for (int i = 0; i < 3; i++) {
        args.buffer[i] = bench_array(COSTS_BYTES);
        memset(args.buffer[i], 0, COSTS_BYTES);
    }
    double operations = (double)COST_ROUNDS * COSTS_UNROLLED;
    costs->unit_ns = INFINITY;
    for (size_t f = 0; f < TR_FIGURE_COUNT; f++)
        costs->figures[f] = INFINITY;
    for (unsigned round = 0; round < rounds; round++) {
        costs->unit_ns = fmin(costs->unit_ns, run_ns("cost_scalar", &args, operations));
        for (size_t f = 0; f < TR_FIGURE_COUNT; f++)
            costs->figures[f] = fmin(costs->figures[f], run_ns(functions[f], &args, operations));
    }
    for (size_t f = 0; f < TR_FIGURE_COUNT; f++)
        costs->figures[f] /= costs->unit_ns;
    for (int i = 0; i < 3; i++)
        free(args.buffer[i]);
}

/* ---- memory ---- */

/* A ring through all lines, each page's in an order that nobody guesses. */
static void make_ring(char *ring, size_t bytes)
{
    size_t lines = bytes / LINE_BYTES;
    size_t *order = bench_array(lines * sizeof *order);
    uint64_t seed = 1;
    for (size_t i = 0; i < lines; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        size_t other = (seed >> 33) % (i + 1);
        order[i] = order[other];
        order[other] = i;
    }
    for (size_t i = 0; i < lines; i++)
        *(void **)(ring + order[i] * LINE_BYTES) = ring + order[(i + 1) % lines] * LINE_BYTES;
    free(order);
}

/* bytes: of what is read. Half of a cache, so that others have room; of a large one less, as a
 * virtual machine may see what it shares with others. */
static void measure_level(struct limits_level *level, size_t bytes, unsigned rounds)
{
    char *data = bench_array(bytes);
    _Alignas(64) double out[8];
    make_ring(data, bytes);
    struct table_args args = {.buffer = {data, out}, .n = {STEPS}};
    run_ns("memory_latency", &args, STEPS);
    level->latency_ns = least_ns("memory_latency", &args, STEPS, rounds);
    memset(data, 0, bytes);
    args.n[0] = (uint32_t)(READ_BYTES / bytes) + 1;
    args.n[1] = (uint32_t)bytes;
    level->read_gb_s =
        1 / least_ns("memory_read", &args, (double)args.n[0] * (double)bytes, rounds);
    free(data);
}

static void measure_levels(struct limits_memory *memory, unsigned rounds)
{
    static const struct {
        const char *name;
        size_t usual;
    } caches[] = {{"L1", (size_t)32 << 10}, {"L2", (size_t)1 << 20}, {"L3", (size_t)16 << 20}};
    for (int i = 0; i < LIMITS_LEVELS - 1; i++) {
        size_t bytes = machine_cache_bytes(i + 1);
        memory->levels[i] = (struct limits_level){.name = caches[i].name, .bytes = (double)bytes};
        size_t half = (bytes > 0 ? bytes : caches[i].usual) / 2;
        measure_level(&memory->levels[i], half < MEMORY_BYTES / 8 ? half : MEMORY_BYTES / 8,
                      rounds);
    }
    memory->levels[LIMITS_LEVELS - 1] = (struct limits_level){.name = "memory"};
    measure_level(&memory->levels[LIMITS_LEVELS - 1], MEMORY_BYTES, rounds);
}

static void measure_pages(struct limits_memory *memory, unsigned rounds)
{
    float out;
    char *data = bench_array(PAGES_BYTES + 32 * PAGE_BYTES);
    memset(data, 0, PAGES_BYTES + 32 * PAGE_BYTES);
    struct table_args args = {.buffer = {data, &out}, .n = {1, PAGES_BYTES}};
    double lines = 16.0 * PAGES_BYTES / PAGE_BYTES;
    memory->pages_ns = least_ns("memory_pages", &args, lines, rounds);
    memory->pages_ahead_ns = least_ns("memory_pages_ahead", &args, lines, rounds);
    free(data);
}

void limits_measure_memory(struct limits_memory *memory, unsigned rounds)
{
    measure_levels(memory, rounds);
    measure_pages(memory, rounds);
    char *pages = bench_array(8 * PAGE_BYTES);
    memset(pages, 0, 8 * PAGE_BYTES);
    struct table_args args = {.buffer = {NULL, pages}, .n = {STEPS}};
    memory->forward_ns = least_ns("memory_forward", &args, STEPS, rounds);
    memory->forward_parts_ns = least_ns("memory_forward_parts", &args, STEPS, rounds);
    memory->apart_ns = least_ns("memory_apart", &args, STEPS, rounds);
    memory->aliased_ns = least_ns("memory_aliased", &args, STEPS, rounds);
    free(pages);
}
