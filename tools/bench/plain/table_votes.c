/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels/table_votes.cu computes, as a CPU programmer writes it.
 */
#include "tools/bench/plain/table_votes.h"

static uint32_t count_above(const float *in, float limit)
{
    uint32_t count = 0;
#pragma omp simd reduction(+ : count)
    for (uint32_t i = 0; i < TABLE_VOTERS; i++)
        count += in[i] > limit;
    return count;
}

typedef uint32_t vote(uint32_t above);

static uint32_t is_any(uint32_t above)
{
    return above > 0;
}

static uint32_t is_all(uint32_t above)
{
    return above == TABLE_VOTERS;
}

static uint32_t how_many(uint32_t above)
{
    return above;
}

static inline __attribute__((always_inline)) void run(const struct table_args *args,
                                                      vote *counts_as)
{
    const float *in = args->buffer[0];
    uint32_t *counts = args->buffer[1], threads = args->n[0], rounds = args->n[1];
    float limit = (float)args->scalar[0];
#pragma omp parallel for num_threads(args->threads)
    for (uint32_t first = 0; first < threads; first += TABLE_VOTERS) {
        uint32_t count = 0;
        for (uint32_t round = 0; round < rounds; round++)
            count += counts_as(count_above(in + (size_t)round * threads + first, limit));
        counts[first / TABLE_VOTERS] = count;
    }
}

void plain_vote_any(const struct table_args *args)
{
    run(args, is_any);
}

void plain_vote_all(const struct table_args *args)
{
    run(args, is_all);
}

void plain_vote_ballot(const struct table_args *args)
{
    run(args, how_many);
}
