/* SPDX-License-Identifier: Apache-2.0
 *
 * The graph of operations: order, callbacks, waiting, lifetimes.
 */
#include <pthread.h>
#include <unistd.h>

#include "support.h"

static void start(void)
{
    cr_assert_eq(sch_start(3, NULL), PXR_OK);
}

static void count(void *arg)
{
    atomic_fetch_add((atomic_uint *)arg, 1);
}

static void count_done(void *arg, const struct sch_fault *fault)
{
    if (!fault)
        atomic_fetch_add((atomic_uint *)arg, 1);
}

static void submit_and_wait(struct sch_op *op)
{
    cr_assert_not_null(op);
    sch_op_submit(op);
    sch_op_wait(op);
    cr_assert(sch_op_is_done(op));
}

Test(op, every_kind_runs_and_calls_done)
{
    start();
    atomic_uint runs = 0;
    struct sch_op *ops[] = {
        sch_op_task(count, count_done, &runs),
        sch_op_host(count, count_done, &runs),
        sch_op_marker(count_done, &runs),
    };
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(sch_op_finish_ns(ops[i]), 0);
        submit_and_wait(ops[i]);
        cr_assert_gt(sch_op_finish_ns(ops[i]), 0);
        sch_op_release(ops[i]);
    }
    cr_assert_eq(atomic_load(&runs), 5);
}

static void record_thread(void *arg)
{
    *(bool *)arg = sch_on_pool_thread();
}

Test(op, tasks_and_host_functions_know_that_they_are_on_the_pool)
{
    start();
    bool in_task = false;
    bool in_host = false;
    struct sch_op *task = sch_op_task(record_thread, NULL, &in_task);
    struct sch_op *host = sch_op_host(record_thread, NULL, &in_host);
    submit_and_wait(task);
    submit_and_wait(host);
    cr_assert(in_task && in_host);
    cr_assert(!sch_on_pool_thread());
    sch_op_release(task);
    sch_op_release(host);
}

/* Plain memory: only the order of the operations keeps the chain right (and races away). */
struct chain {
    uint32_t at;
    bool is_wrong;
};

struct link {
    struct chain *chain;
    uint32_t index;
};

static void step(void *arg)
{
    struct link *link = arg;
    link->chain->is_wrong |= link->chain->at != link->index;
    link->chain->at++;
}

static void step_done(void *arg, const struct sch_fault *fault)
{
    if (!fault)
        step(arg);
}

#define CHAIN 3000

Test(op, a_chain_runs_in_order)
{
    start();
    static struct link links[CHAIN];
    struct chain chain = {0};
    struct sch_op *last = NULL;
    for (uint32_t i = 0; i < CHAIN; i++) {
        links[i] = (struct link){&chain, i};
        struct sch_op *op = i % 3 == 0   ? sch_op_task(step, NULL, &links[i])
                            : i % 3 == 1 ? sch_op_host(step, NULL, &links[i])
                                         : sch_op_marker(step_done, &links[i]);
        cr_assert_eq(sch_op_depend(op, last), PXR_OK);
        sch_op_submit(op);
        sch_op_release(last);
        last = op;
    }
    sch_op_wait(last);
    sch_op_release(last);
    cr_assert_eq(chain.at, CHAIN);
    cr_assert(!chain.is_wrong);
}

#define MARKERS 200000

Test(op, a_long_chain_of_markers_does_not_recurse)
{
    start();
    static struct sch_op *ops[MARKERS];
    atomic_uint runs = 0;
    for (int i = 0; i < MARKERS; i++) {
        ops[i] = sch_op_marker(count_done, &runs);
        cr_assert_eq(sch_op_depend(ops[i], i > 0 ? ops[i - 1] : NULL), PXR_OK);
        if (i > 0)
            sch_op_submit(ops[i]);
    }
    sch_op_submit(ops[0]);
    sch_op_wait(ops[MARKERS - 1]);
    cr_assert_eq(atomic_load(&runs), MARKERS);
    for (int i = 0; i < MARKERS; i++)
        sch_op_release(ops[i]);
}

Test(op, without_submission_is_freed_with_its_last_reference)
{
    start();
    struct sch_op *dep = sch_op_marker(NULL, NULL);
    struct sch_op *op = sch_op_marker(NULL, NULL);
    cr_assert_eq(sch_op_depend(op, dep), PXR_OK);
    sch_op_release(op);
    submit_and_wait(dep);
    sch_op_release(dep);
}

static void submit_another(void *arg, const struct sch_fault *fault)
{
    (void)fault;
    struct sch_op *op = sch_op_task(count, NULL, arg);
    sch_op_submit(op);
    sch_op_release(op);
}

Test(op, done_may_submit)
{
    start();
    atomic_uint runs = 0;
    for (int i = 0; i < 100; i++) {
        struct sch_op *op = sch_op_task(count, submit_another, &runs);
        submit_and_wait(op);
        sch_op_release(op);
    }
    while (atomic_load(&runs) < 200)
        usleep(100);
}

static void add_threads(struct rt_thread *thread)
{
    atomic_uint *sum = data(thread);
    atomic_fetch_add(sum, 1);
}

/* A random graph: each node depends on up to four earlier ones, of any of the host threads. */
#define NODES        1500
#define HOST_THREADS 8

struct node {
    struct sch_op *op;
    struct node *deps[4];
    atomic_uint has_run;
    atomic_uint has_finished;
    atomic_uint threads;
    atomic_uint too_early;
};

static struct node nodes[HOST_THREADS][NODES];
static atomic_uint created[HOST_THREADS];

static void node_run(void *arg)
{
    struct node *node = arg;
    for (int i = 0; i < 4; i++) {
        if (node->deps[i] && !atomic_load(&node->deps[i]->has_finished))
            atomic_store(&node->too_early, 1);
    }
    atomic_fetch_add(&node->has_run, 1);
}

static void node_done(void *arg, const struct sch_fault *fault)
{
    struct node *node = arg;
    if (sch_op_is_done(node->op) || fault)
        atomic_store(&node->too_early, 1);
    if (atomic_load(&node->has_run) == 0)
        node_run(node);
    atomic_fetch_add(&node->has_finished, 1);
}

static struct sch_op *node_op(struct node *node, unsigned kind)
{
    static atomic_uint *threads[HOST_THREADS * NODES];
    if (kind == 0)
        return sch_op_host(node_run, node_done, node);
    if (kind == 1)
        return sch_op_marker(node_done, node);
    if (kind > 2)
        return sch_op_task(node_run, node_done, node);
    void **parameter = (void **)(void *)&threads[node - &nodes[0][0]];
    *parameter = &node->threads;
    struct sch_grid grid = {
        .code.entry = add_threads,
        .launch = {.params = (const uint8_t *)parameter, .grid = {7, 1, 1}, .block = {5, 1, 1}},
    };
    return sch_op_grid(&grid, node_done, node);
}

static void *build_graph(void *arg)
{
    unsigned me = (unsigned)(uintptr_t)arg;
    unsigned seed = me * 7919 + 1;
    for (unsigned n = 0; n < NODES; n++) {
        struct node *node = &nodes[me][n];
        node->op = node_op(node, (unsigned)rand_r(&seed) % 6);
        cr_assert_not_null(node->op);
        for (int d = 0; d < 4; d++) {
            unsigned other = (unsigned)rand_r(&seed) % HOST_THREADS;
            unsigned known = atomic_load(&created[other]);
            if (known == 0)
                continue;
            node->deps[d] =
                &nodes[other][known - 1 - (unsigned)rand_r(&seed) % (known < 20 ? known : 20)];
            cr_assert_eq(sch_op_depend(node->op, node->deps[d]->op), PXR_OK);
        }
        atomic_store(&created[me], n + 1);
        sch_op_submit(node->op);
        if (rand_r(&seed) % 64 == 0)
            sch_op_wait(node->op);
    }
    return NULL;
}

Test(op, random_graphs_of_eight_host_threads_keep_all_dependencies)
{
    start();
    pthread_t threads[HOST_THREADS];
    for (unsigned i = 0; i < HOST_THREADS; i++)
        pthread_create(&threads[i], NULL, build_graph, (void *)(uintptr_t)i);
    for (unsigned i = 0; i < HOST_THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < HOST_THREADS; i++) {
        for (unsigned n = 0; n < NODES; n++) {
            struct node *node = &nodes[i][n];
            sch_op_wait(node->op);
            cr_assert_eq(atomic_load(&node->has_run), 1);
            cr_assert_eq(atomic_load(&node->has_finished), 1);
            cr_assert_eq(atomic_load(&node->too_early), 0);
            unsigned ran = atomic_load(&node->threads);
            cr_assert(ran == 0 || ran == 35);
        }
    }
    for (unsigned i = 0; i < HOST_THREADS; i++) {
        for (unsigned n = 0; n < NODES; n++)
            sch_op_release(nodes[i][n].op);
    }
}

struct late {
    struct sch_op *op;
    bool was_done;
};

static void *wait_for(void *arg)
{
    struct late *late = arg;
    sch_op_wait(late->op);
    late->was_done = sch_op_is_done(late->op);
    return NULL;
}

static void sleep_a_little(void *arg)
{
    (void)arg;
    usleep(20000);
}

Test(op, many_threads_may_wait_for_one)
{
    start();
    struct late late[HOST_THREADS];
    pthread_t threads[HOST_THREADS];
    struct sch_op *op = sch_op_task(sleep_a_little, NULL, NULL);
    for (int i = 0; i < HOST_THREADS; i++) {
        late[i] = (struct late){op, false};
        pthread_create(&threads[i], NULL, wait_for, &late[i]);
    }
    sch_op_submit(op);
    for (int i = 0; i < HOST_THREADS; i++) {
        pthread_join(threads[i], NULL);
        cr_assert(late[i].was_done);
    }
    sch_op_release(op);
}
