/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids that launch grids: who waits for whom, in which order they run, and calls aside.
 */
#include <malloc.h>

#include "kernels.h"

#define BRANCHES     10
#define DEPTH        4
#define NODES        11111 /* of such a tree */

#define MEMORY_BYTES ((size_t)1 << 20) /* a tenth of what it would take at once */

/* One grid of a tree. */
struct node {
    struct tree *tree;
    struct sch_op *parent;
    unsigned depth;
};

struct tree {
    atomic_uint nodes;
    atomic_uint waiting; /* launched and not begun */
    atomic_uint most_waiting;
    atomic_uint unfinished;
    _Atomic(size_t) most_bytes; /* allocated, at the beginning of a grid */
    unsigned depth;
};

static void run_node(struct rt_thread *thread);

static void end_node(void *arg, const struct sch_fault *fault)
{
    struct node *node = arg;
    struct sch_op *parent = node->parent;
    struct tree *tree = node->tree;
    if (!fault)
        atomic_fetch_sub(&tree->unfinished, 1);
    free(node);
    if (parent)
        sch_op_let_go(parent);
}

static void note_waiting(struct tree *tree)
{
    unsigned waiting = atomic_fetch_add(&tree->waiting, 1) + 1;
    unsigned most = atomic_load(&tree->most_waiting);
    while (waiting > most && !atomic_compare_exchange_weak(&tree->most_waiting, &most, waiting)) {
    }
}

static void note_memory(struct tree *tree)
{
    size_t bytes = mallinfo2().uordblks;
    if (bytes > atomic_load(&tree->most_bytes))
        atomic_store(&tree->most_bytes, bytes);
}

static struct sch_op *create_node(struct tree *tree, struct sch_op *parent, unsigned depth)
{
    struct node *node = malloc(sizeof *node);
    *node = (struct node){tree, parent, depth};
    struct sch_grid grid = make_grid(&(struct run){.entry = run_node});
    grid.launch.params = (const uint8_t *)node;
    if (parent)
        sch_grid_nest(&grid, parent);
    atomic_fetch_add(&tree->unfinished, 1);
    note_waiting(tree);
    return sch_op_grid(&grid, end_node, node);
}

static void run_node(struct rt_thread *thread)
{
    const struct node *node = (const struct node *)(const void *)thread->block->launch->params;
    struct tree *tree = node->tree;
    struct sch_op *self = sch_op_of(thread->block->launch);
    atomic_fetch_sub(&tree->waiting, 1);
    if (atomic_fetch_add(&tree->nodes, 1) % 100 == 0)
        note_memory(tree);
    for (unsigned i = 0; i < BRANCHES && node->depth < tree->depth; i++) {
        struct sch_op *child = create_node(tree, self, node->depth + 1);
        sch_op_hold(self);
        sch_op_submit(child);
        sch_op_release(child);
    }
}

static void run_tree(struct tree *tree, unsigned workers)
{
    cr_assert_eq(sch_start(workers, NULL), PXR_OK);
    struct sch_op *root = create_node(tree, NULL, 0);
    sch_op_submit(root);
    sch_op_wait(root);
    cr_assert_eq(atomic_load(&tree->unfinished), 0);
    sch_op_release(root);
}

Test(nested, a_grid_ends_when_all_that_it_has_launched_has)
{
    for (unsigned seed = 0; seed < 4; seed++) {
        struct tree tree = {.depth = DEPTH};
        sch_set_chaos(seed);
        run_tree(&tree, 3);
        cr_assert_eq(atomic_load(&tree.nodes), NODES);
    }
}

Test(nested, few_grids_of_a_tree_wait_at_a_time)
{
    struct tree tree = {.depth = DEPTH};
    size_t bytes = mallinfo2().uordblks;
    run_tree(&tree, 1);
    cr_assert_eq(atomic_load(&tree.nodes), NODES);
    cr_assert_leq(atomic_load(&tree.most_waiting), DEPTH * BRANCHES);
    cr_assert_leq(atomic_load(&tree.most_bytes), bytes + MEMORY_BYTES);
}

/* ---- what comes last ---- */

struct chain {
    struct sch_op *op;
    atomic_uint done; /* grids of it that have run, those of `last` included */
    unsigned wanted;
    bool is_early; /* something came before what it waits for had ended */
};

static void add_one(struct rt_thread *thread)
{
    atomic_fetch_add(&((struct chain *)data(thread))->done, 1);
}

static void let_go(void *arg, const struct sch_fault *fault)
{
    struct chain *chain = *(struct chain **)arg;
    (void)fault;
    sch_op_let_go(chain->op);
}

static struct chain *the_chain;

static void launch_one(struct chain *chain)
{
    struct sch_grid grid = make_grid(&(struct run){.entry = add_one});
    grid.launch.params = (const uint8_t *)&the_chain;
    sch_grid_nest(&grid, chain->op);
    struct sch_op *op = sch_op_grid(&grid, let_go, &the_chain);
    sch_op_hold(chain->op);
    sch_op_submit(op);
    sch_op_release(op);
}

static bool launch_last(void *arg)
{
    struct chain *chain = arg;
    unsigned done = atomic_load(&chain->done);
    static unsigned calls;
    chain->is_early |= done != 2 + calls++;
    if (done == chain->wanted)
        return false;
    launch_one(chain);
    return true;
}

static void run_first(struct rt_thread *thread)
{
    struct chain *chain = data(thread);
    launch_one(chain);
    atomic_fetch_add(&chain->done, 1);
}

static void fail_first(struct rt_thread *thread)
{
    launch_one(data(thread));
    rt_fault(thread, PXR_FAULT_TRAP, 0);
}

static void run_chain(struct chain *chain, void (*entry)(struct rt_thread *))
{
    cr_assert_eq(sch_start(2, NULL), PXR_OK);
    the_chain = chain;
    struct sch_grid grid = make_grid(&(struct run){.entry = entry});
    grid.launch.params = (const uint8_t *)&the_chain;
    grid.last = launch_last;
    chain->op = sch_op_grid(&grid, NULL, chain);
    sch_op_submit(chain->op);
    sch_op_wait(chain->op);
    sch_op_release(chain->op);
}

Test(nested, what_comes_last_comes_one_after_another)
{
    struct chain chain = {.wanted = 1000};
    run_chain(&chain, run_first);
    cr_assert_eq(atomic_load(&chain.done), 1000);
    cr_assert(!chain.is_early);
}

Test(nested, nothing_comes_behind_a_fault)
{
    struct chain chain = {.wanted = 1000};
    run_chain(&chain, fail_first);
    cr_assert_eq(atomic_load(&chain.done), 1);
}

/* ---- calls aside ---- */

#define DEEP_BYTES (160 * 1024) /* more than a thread's stack has */

static void use_stack(void *arg)
{
    volatile uint8_t room[DEEP_BYTES];
    for (size_t i = 0; i < DEEP_BYTES; i += 1024)
        room[i] = (uint8_t)i;
    atomic_fetch_add((atomic_uint *)arg, room[1024] == 0);
}

static void call_between_barriers(struct rt_thread *thread)
{
    for (int i = 0; i < 3; i++) {
        sch_call_aside(use_stack, data(thread));
        rt_bar_sync(thread, 0, 0);
    }
}

static void call_for_blocks(struct rt_block *block, uint32_t count)
{
    for (; count > 0; count--, advance(block))
        sch_call_aside(use_stack, data(block->threads));
}

Test(nested, calls_aside_have_room_and_come_back)
{
    atomic_uint calls = 0;
    RUN_OK({.entry = call_between_barriers, .grid = {20}, .block = {64}, .data = &calls});
    cr_assert_eq(atomic_exchange(&calls, 0), 5 * 20 * 64 * 3);
    RUN_OK({.fused = call_for_blocks, .grid = {200}, .block = {32}, .data = &calls});
    cr_assert_eq(atomic_load(&calls), 5 * 200);
}
