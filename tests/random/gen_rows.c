/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of meetings: many barriers and warp operations one behind the other, with short code between
 * them and all registers alive across. Some are under conditions that all threads of the block
 * share.
 */
#include "tests/random/gen.h"

static void gen_row_meeting(struct gen *g, const struct gen_scope *scope)
{
    bool is_of_warp = g->config->has_warp_ops && dice_chance(&g->dice, 60);
    uint32_t roll = dice_below(&g->dice, 10);
    if (is_of_warp && roll < 8)
        gen_warp_op(g, scope);
    else if (is_of_warp)
        gen_warp_exchange(g, scope);
    else if (roll < 6)
        gen_block_exchange(g);
    else if (roll < 8)
        gen_barrier_red(g);
    else
        gen_barrier(g);
}

static void gen_under_condition(struct gen *g, const struct gen_scope *scope)
{
    char condition[NAME_BYTES];
    char join[NAME_BYTES];
    gen_condition(g, WAY_UNIFORM, condition);
    gen_new_label(g, join);
    gen_line(g, "@%s bra.uni %s;", condition, join);
    gen_row_meeting(g, scope);
    gen_label(g, join);
}

void gen_rows(struct gen *g, const struct gen_scope *scope)
{
    unsigned conditions = 0;
    for (unsigned n = 0; n < g->config->row; n++) {
        gen_open(g);
        if (conditions < g->config->row_conditions && dice_chance(&g->dice, 20)) {
            conditions++;
            gen_under_condition(g, scope);
        } else {
            gen_row_meeting(g, scope);
        }
        gen_close(g);
        if (dice_chance(&g->dice, 60)) {
            gen_open(g);
            gen_short(g);
            gen_close(g);
        }
    }
}
