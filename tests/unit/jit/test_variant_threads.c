/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads pick variants while one of them adds. A program of its own, for the thread sanitizer.
 */
#include "facts_helper.h"
#include "jit/variant.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>

#define THREADS  4
#define LAUNCHES 40 /* few: the sanitizer remembers only the last accesses */
#define ROUNDS   100

struct shared {
    struct jit_variants variants;
    pthread_mutex_t lock;
    unsigned made;
    pthread_barrier_t start;
};

struct thread {
    struct shared *shared;
    uint64_t seed;
    bool is_wrong;
};

/* The variant for a launch, which is the facts it assumes. */
static const struct tr_facts *make_variant(struct shared *shared, const struct tr_facts *launch)
{
    pthread_mutex_lock(&shared->lock);
    struct tr_facts *made = jit_variants_pick(&shared->variants, launch);
    if (!made) {
        made = malloc(sizeof *made);
        jit_variants_plan(&shared->variants, PXR_MODE_AUTO, launch, made);
        shared->made += jit_variants_add(&shared->variants, made, made);
    }
    pthread_mutex_unlock(&shared->lock);
    return made;
}

static void *launch_much(void *argument)
{
    struct thread *thread = argument;
    struct facts_random random = {thread->seed};
    pthread_barrier_wait(&thread->shared->start);
    for (int i = 0; i < LAUNCHES; i++) {
        struct facts_launch launch = {.grid = {1, 1, 1},
                                      .block = {1 + facts_random_below(&random, 9), 1, 1}};
        struct tr_facts facts;
        jit_facts_of(facts_launch_view(&launch), &facts);
        const struct tr_facts *found = jit_variants_pick(&thread->shared->variants, &facts);
        if (!found)
            found = make_variant(thread->shared, &facts);
        thread->is_wrong |= !facts_are_true(found, &launch);
    }
    return NULL;
}

static void run_round(uint64_t seed)
{
    struct shared shared = {.lock = PTHREAD_MUTEX_INITIALIZER};
    pthread_barrier_init(&shared.start, NULL, THREADS);
    struct thread threads[THREADS];
    pthread_t ids[THREADS];
    for (int i = 0; i < THREADS; i++) {
        threads[i] = (struct thread){&shared, seed + (uint64_t)i, false};
        cr_assert_eq(pthread_create(&ids[i], NULL, launch_much, &threads[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(ids[i], NULL);
        cr_assert_eq(threads[i].is_wrong, false);
    }
    cr_assert_geq(shared.made, 5);
    cr_assert_leq(shared.made, JIT_VARIANTS_MAX);
    for (unsigned i = 0; i < shared.made; i++)
        free(shared.variants.entries[i].variant);
    pthread_barrier_destroy(&shared.start);
}

Test(variant_threads, those_that_pick_while_another_adds_find_right_ones)
{
    for (uint64_t round = 0; round < ROUNDS; round++)
        run_round(round * THREADS);
}
