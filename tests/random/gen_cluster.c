/* SPDX-License-Identifier: Apache-2.0
 *
 * The blocks of a cluster together: they meet, and read, write and add in each other's shared
 * memory, by addresses of the cluster or generic ones; or tell each other by mbarriers that they
 * have. Each cell has one thread of one block that touches it, so nothing depends on an order.
 */
#include <stdio.h>

#include "tests/random/gen.h"

/* A place in another block's shared memory. */
struct far {
    char name[NAME_BYTES];
    const char *space; /* what accesses to it say */
};

/* A rank that is not that of the own block, if there is another. */
static void gen_rank(struct gen *g, char rank[NAME_BYTES])
{
    gen_temp(g, 32, rank);
    gen_line(g, "mov.u32 %s, %%cluster_ctarank;", rank);
    gen_line(g, "add.u32 %s, %s, %u;", rank, rank, 1 + dice_below(&g->dice, g->cluster - 1));
    gen_line(g, "rem.u32 %s, %s, %u;", rank, rank, g->cluster);
}

/* Where `address` of this block is in that of the rank. */
static struct far gen_far(struct gen *g, const char *address, const char *rank, bool may_be_generic)
{
    struct far far = {.space = ".shared::cluster"};
    if (!may_be_generic || dice_chance(&g->dice, 60)) {
        gen_temp(g, 32, far.name);
        gen_line(g, "mapa.shared::cluster.u32 %s, %s, %s;", far.name, address, rank);
        return far;
    }
    far.space = "";
    gen_temp(g, 64, far.name);
    gen_line(g, "cvt.u64.u32 %s, %s;", far.name, address);
    gen_line(g, "cvta.shared.u64 %s, %s;", far.name, far.name);
    gen_line(g, "mapa.u64 %s, %s, %s;", far.name, far.name, rank);
    return far;
}

/* ---- the barrier ---- */

static void gen_arrive(struct gen *g)
{
    static const char *const forms[] = {"", ".release", ".aligned", ".release.aligned"};
    if (dice_chance(&g->dice, 20)) {
        gen_line(g, "fence.acq_rel.cluster;");
        gen_line(g, "barrier.cluster.arrive.relaxed%s;",
                 dice_chance(&g->dice, 50) ? ".aligned" : "");
        return;
    }
    gen_line(g, "barrier.cluster.arrive%s;", forms[dice_below(&g->dice, 4)]);
}

static void gen_wait(struct gen *g)
{
    static const char *const forms[] = {"", ".acquire", ".aligned", ".acquire.aligned"};
    gen_line(g, "barrier.cluster.wait%s;", forms[dice_below(&g->dice, 4)]);
}

/* Lanes arrive one half after the other, and wait in two places. */
static void gen_meet_apart(struct gen *g)
{
    char p[NAME_BYTES];
    char other[NAME_BYTES];
    char join[NAME_BYTES];
    gen_condition(g, WAY_FREE, p);
    gen_new_label(g, other);
    gen_new_label(g, join);
    gen_line(g, "@%s barrier.cluster.arrive;", p);
    gen_line(g, "@!%s barrier.cluster.arrive;", p);
    gen_line(g, "@%s bra %s;", p, other);
    gen_line(g, "barrier.cluster.wait;");
    gen_line(g, "bra %s;", join);
    gen_label(g, other);
    gen_inst(g);
    gen_line(g, "barrier.cluster.wait;");
    gen_label(g, join);
}

static void gen_meet(struct gen *g)
{
    if (dice_chance(&g->dice, 20)) {
        gen_meet_apart(g);
        return;
    }
    gen_arrive(g);
    while (dice_chance(&g->dice, 30))
        gen_inst(g);
    gen_wait(g);
}

/* ---- what they do ---- */

static void gen_read(struct gen *g, const char *rank, unsigned at)
{
    char r[NAME_BYTES];
    char other[NAME_BYTES];
    gen_pool(g, 32, r);
    gen_line(g, "st.shared.u32 [%%self+%u], %s;", at, r);
    gen_meet(g);
    gen_other_cell(g, other);
    struct far far = gen_far(g, other, rank, true);
    gen_pool(g, 32, r);
    gen_line(g, "ld%s.u32 %s, [%s+%u];", far.space, r, far.name, at);
}

static void gen_write(struct gen *g, const char *rank, unsigned at)
{
    char r[NAME_BYTES];
    char old[NAME_BYTES];
    gen_meet(g);
    struct far far = gen_far(g, "%self", rank, true);
    gen_pool(g, 32, r);
    gen_pool(g, 32, old);
    switch (dice_below(&g->dice, 3)) {
    case 0:
        gen_line(g, "st%s.u32 [%s+%u], %s;", far.space, far.name, at, r);
        break;
    case 1:
        gen_line(g, "red%s.add.u32 [%s+%u], %s;", far.space, far.name, at, r);
        break;
    default:
        gen_line(g, "atom%s.exch.b32 %s, [%s+%u], %s;", far.space, old, far.name, at, r);
        break;
    }
    gen_meet(g);
    gen_pool(g, 32, r);
    gen_line(g, "ld.shared.u32 %s, [%%self+%u];", r, at);
}

/* Each block waits at its own mbarrier for what threads of another have stored, or store
 * asynchronously. */
static void gen_tell(struct gen *g, const char *rank, unsigned at)
{
    char first[NAME_BYTES];
    char state[NAME_BYTES];
    char object[NAME_BYTES];
    char place[NAME_BYTES];
    char label[NAME_BYTES];
    char r[NAME_BYTES];
    bool is_async = dice_chance(&g->dice, 50);
    gen_temp(g, 1, first);
    gen_temp(g, 64, state);
    gen_temp(g, 32, place);
    gen_new_label(g, label);
    snprintf(object, sizeof object, "told%s", state + 1);
    gen_line(g, ".shared .align 8 .b64 %s;", object);
    gen_line(g, "setp.eq.u32 %s, %%thread, %u;", first, dice_below(&g->dice, g->threads));
    gen_line(g, "@%s mbarrier.init.shared.b64 [%s], %u;", first, object, is_async ? 1 : g->threads);
    if (is_async)
        gen_line(g, "@%s mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], %u;", first, object,
                 4 * g->threads);
    gen_line(g, "mov.u32 %s, %s;", place, object);
    gen_meet(g);
    struct far cell = gen_far(g, "%self", rank, false);
    struct far told = gen_far(g, place, rank, false);
    gen_pool(g, 32, r);
    if (is_async) {
        gen_line(g, "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%s+%u], %s, [%s];",
                 cell.name, at, r, told.name);
    } else {
        gen_line(g, "st.shared::cluster.u32 [%s+%u], %s;", cell.name, at, r);
        gen_line(g, "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%s];", told.name);
    }
    gen_label(g, label);
    gen_line(g, "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %s, [%s], 0;", first,
             object);
    gen_line(g, "@!%s bra %s;", first, label);
    gen_pool(g, 32, r);
    gen_line(g, "ld.shared.u32 %s, [%%self+%u];", r, at);
}

void gen_cluster(struct gen *g)
{
    char rank[NAME_BYTES];
    unsigned at = dice_below(&g->dice, g->own_bytes / 4) * 4;
    uint32_t roll = dice_below(&g->dice, 10);
    gen_rank(g, rank);
    if (roll < 4)
        gen_read(g, rank, at);
    else if (roll < 7)
        gen_write(g, rank, at);
    else
        gen_tell(g, rank, at);
    gen_meet(g);
}
