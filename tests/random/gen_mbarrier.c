/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads of the block that meet at an mbarrier: all of them arrive, and copies may complete on it;
 * all wait for the phase, or one does, and read what others have written. Now and then one thread
 * destroys the mbarrier before the others are done with it.
 */
#include <stdio.h>

#include "tests/random/gen.h"

struct meeting {
    char object[NAME_BYTES]; /* a variable of shared memory */
    char state[NAME_BYTES];
    char copies[NAME_BYTES]; /* predicate: of the thread that issues a bulk copy … */
    bool has_copy;
    unsigned at; /* … to 16 bytes of its cell, or where each thread stores */
    unsigned phase;
};

/* The predicate of one thread of the block. */
static void gen_is_one(struct gen *g, char p[NAME_BYTES])
{
    gen_temp(g, 1, p);
    gen_line(g, "setp.eq.u32 %s, %%thread, %u;", p, dice_below(&g->dice, g->threads));
}

static void gen_begin(struct gen *g, struct meeting *meeting)
{
    char p[NAME_BYTES];
    meeting->has_copy = dice_chance(&g->dice, 40);
    meeting->at = dice_below(&g->dice, g->own_bytes / 16) * 16;
    gen_temp(g, 64, meeting->state);
    snprintf(meeting->object, sizeof meeting->object, "mbarrier%s", meeting->state + 1);
    gen_line(g, ".shared .align 8 .b64 %s;", meeting->object);
    gen_is_one(g, p);
    gen_line(g, "@%s mbarrier.init.shared.b64 [%s], %u;", p, meeting->object, g->threads);
    if (meeting->has_copy)
        gen_is_one(g, meeting->copies);
    gen_barrier(g);
}

/* The copier's arrival expects the bytes of its copy, which may come before or behind it. */
static void gen_copy(struct gen *g, const struct meeting *meeting)
{
    char to[NAME_BYTES];
    char arrive[96];
    bool is_first = dice_chance(&g->dice, 50);
    gen_temp(g, 32, to);
    snprintf(arrive, sizeof arrive, "@%s mbarrier.arrive.expect_tx.shared.b64 %s, [%s], 16;",
             meeting->copies, meeting->state, meeting->object);
    gen_line(g, "add.u32 %s, %%self, %u;", to, meeting->at);
    if (is_first)
        gen_line(g, "%s", arrive);
    gen_line(g,
             "@%s cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], "
             "[%%own+%u], 16, [%s];",
             meeting->copies, to, meeting->at, meeting->object);
    if (!is_first)
        gen_line(g, "%s", arrive);
    gen_line(g, "@!%s mbarrier.arrive.shared.b64 %s, [%s];", meeting->copies, meeting->state,
             meeting->object);
}

static void gen_arrival(struct gen *g, const struct meeting *meeting)
{
    char r[NAME_BYTES];
    if (meeting->has_copy) {
        gen_copy(g, meeting);
        return;
    }
    gen_pool(g, 32, r);
    gen_line(g, "st.shared.u32 [%%self+%u], %s;", meeting->at, r);
    if (dice_chance(&g->dice, 20))
        gen_line(g, "cp.async.mbarrier.arrive.shared.b64 [%s];", meeting->object);
    if (dice_chance(&g->dice, 20))
        gen_line(g, "cp.async.mbarrier.arrive.noinc.shared.b64 [%s];", meeting->object);
    else
        gen_line(g, "mbarrier.arrive.shared.b64 %s, [%s];", meeting->state, meeting->object);
}

/* By one thread while others may not have arrived: they, and those who wait, go on as before. */
static void gen_destroy(struct gen *g, const struct meeting *meeting)
{
    char p[NAME_BYTES];
    gen_is_one(g, p);
    gen_line(g, "@%s mbarrier.inval.shared.b64 [%s];", p, meeting->object);
}

/* Until the phase is complete. */
static void gen_wait(struct gen *g, const struct meeting *meeting)
{
    char p[NAME_BYTES];
    char label[NAME_BYTES];
    gen_temp(g, 1, p);
    gen_new_label(g, label);
    gen_label(g, label);
    gen_line(g, "mbarrier.%s.parity.shared.b64 %s, [%s], %u;",
             dice_chance(&g->dice, 50) ? "test_wait" : "try_wait", p, meeting->object,
             meeting->phase % 2);
    gen_line(g, "@!%s bra %s;", p, label);
}

/* One thread waits, the others go on to the barrier behind. */
static void gen_lone_wait(struct gen *g, const struct meeting *meeting)
{
    char p[NAME_BYTES];
    char join[NAME_BYTES];
    gen_is_one(g, p);
    gen_new_label(g, join);
    gen_line(g, "@!%s bra %s;", p, join);
    gen_wait(g, meeting);
    gen_label(g, join);
    gen_barrier(g);
}

/* What another thread has stored or copied. */
static void gen_look(struct gen *g, const struct meeting *meeting)
{
    char r[NAME_BYTES];
    char other[NAME_BYTES];
    gen_other_cell(g, other);
    gen_pool(g, 32, r);
    gen_line(g, "ld.shared.u32 %s, [%s+%u];", r, other, meeting->at);
}

void gen_mbarrier(struct gen *g)
{
    struct meeting meeting = {0};
    unsigned phases = 1 + dice_below(&g->dice, 3);
    gen_begin(g, &meeting);
    for (; meeting.phase < phases; meeting.phase++) {
        if (dice_chance(&g->dice, 15))
            gen_destroy(g, &meeting);
        gen_arrival(g, &meeting);
        if (dice_chance(&g->dice, 25))
            gen_lone_wait(g, &meeting);
        else
            gen_wait(g, &meeting);
        gen_look(g, &meeting);
        gen_barrier(g);
    }
    gen_line(g, "mad.lo.u32 %%acc, %%acc, 33, %u;", phases);
}
