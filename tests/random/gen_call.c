/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions and calls. All functions have one signature, so that any can be called through a
 * pointer; a function calls those before it, and itself with one level less.
 */
#include <stdio.h>
#include <string.h>

#include "tests/random/gen.h"

#define MAX_LEVELS 3

#define PARAMETERS                                                                                 \
    ".param .b32 a, .param .b64 b, .param .b32 mask, .param .b32 u, .param .b32 levels,\n"         \
    "    .param .b64 cells, .param .b64 table, .param .b64 atoms"

/* Functions with an even number may be called anywhere; the others where the block is together. */
static bool is_free_function(unsigned function)
{
    return function % 2 == 0;
}

/* A function that may be called here, or -1. */
static int choose_callee(struct gen *g, const struct gen_scope *scope)
{
    bool takes_block = scope->level == GEN_BLOCK && g->config->has_barriers;
    if (g->function == 0 || scope->turns > 4 || (g->in_function && scope->turns > 1))
        return -1;
    unsigned callee = dice_below(&g->dice, g->function);
    if (!is_free_function(callee) && !takes_block)
        callee--;
    return (int)callee;
}

static void gen_arguments(struct gen *g, const struct gen_scope *scope, const char *levels)
{
    char r[NAME_BYTES];
    char l[NAME_BYTES];
    gen_source(g, PTX_TYPE_B32, r);
    gen_source(g, PTX_TYPE_B64, l);
    gen_line(g, ".param .b32 a_a, a_mask, a_u, a_levels;");
    gen_line(g, ".param .b64 a_b, a_cells, a_table, a_atoms, a_result;");
    gen_line(g, "st.param.b32 [a_a], %s;", r);
    gen_line(g, "st.param.b64 [a_b], %s;", l);
    gen_line(g, "st.param.b32 [a_mask], %s;", scope->level == GEN_FREE ? "%gid" : scope->mask);
    gen_line(g, "st.param.b32 [a_u], %%u%u;", dice_below(&g->dice, g->pools.u));
    gen_line(g, "st.param.b32 [a_levels], %s;", levels);
    gen_line(g, "st.param.b64 [a_cells], %%cells;");
    gen_line(g, "st.param.b64 [a_table], %%tab;");
    gen_line(g, "st.param.b64 [a_atoms], %%atoms;");
}

static void gen_call_of(struct gen *g, const struct gen_scope *scope, const char *callee,
                        const char *prototype, const char *levels)
{
    char l[NAME_BYTES];
    gen_line(g, "{");
    g->indent++;
    gen_arguments(g, scope, levels);
    gen_line(g,
             "call%s (a_result), %s, (a_a, a_b, a_mask, a_u, a_levels, a_cells, a_table, "
             "a_atoms)%s%s;",
             scope->level == GEN_BLOCK ? ".uni" : "", callee, prototype[0] ? ", " : "", prototype);
    gen_pool(g, 64, l);
    gen_line(g, "ld.param.b64 %s, [a_result];", l);
    g->indent--;
    gen_line(g, "}");
}

/* A pointer that is one of two functions, lane by lane where that is allowed. */
static void gen_indirect(struct gen *g, const struct gen_scope *scope, unsigned callee,
                         const char *levels)
{
    unsigned other = is_free_function(callee) && callee >= 2 ? callee - 2 : callee;
    char p[NAME_BYTES];
    char first[NAME_BYTES];
    char second[NAME_BYTES];
    char prototype[NAME_BYTES];
    gen_pool(g, 1, p);
    gen_temp(g, 64, first);
    gen_temp(g, 64, second);
    gen_new_label(g, prototype);
    gen_line(g, "mov.u64 %s, f%u;", first, callee);
    gen_line(g, "mov.u64 %s, f%u;", second, other);
    gen_line(g, "selp.b64 %s, %s, %s, %s;", first, first, second, p);
    gen_line(g,
             "%s: .callprototype (.param .b64 _) _ (.param .b32 _, .param .b64 _, .param .b32 _, "
             ".param .b32 _, .param .b32 _, .param .b64 _, .param .b64 _, .param .b64 _);",
             prototype);
    gen_call_of(g, scope, first, prototype, levels);
}

void gen_call(struct gen *g, const struct gen_scope *scope)
{
    int callee = choose_callee(g, scope);
    char levels[NAME_BYTES];
    char name[NAME_BYTES];
    if (callee < 0) {
        gen_mix(g);
        return;
    }
    if (is_free_function((unsigned)callee)) {
        char source[NAME_BYTES];
        gen_pool(g, 32, source);
        gen_temp(g, 32, levels);
        gen_line(g, "and.b32 %s, %s, 1;", levels, source);
    } else {
        snprintf(levels, sizeof levels, "%u", dice_below(&g->dice, MAX_LEVELS));
    }
    snprintf(name, sizeof name, "f%u", (unsigned)callee);
    if (g->config->has_pointers && dice_chance(&g->dice, 40))
        gen_indirect(g, scope, (unsigned)callee, levels);
    else
        gen_call_of(g, scope, name, "", levels);
}

/* ---- bodies ---- */

static void gen_recursion(struct gen *g, const struct gen_scope *scope, unsigned function)
{
    char is_last[NAME_BYTES];
    char levels[NAME_BYTES];
    char name[NAME_BYTES];
    char done[NAME_BYTES];
    gen_open(g);
    gen_temp(g, 1, is_last);
    gen_temp(g, 32, levels);
    gen_new_label(g, done);
    snprintf(name, sizeof name, "f%u", function);
    gen_line(g, "ld.param.b32 %s, [levels];", levels);
    gen_line(g, "setp.eq.u32 %s, %s, 0;", is_last, levels);
    gen_line(g, "@%s bra %s;", is_last, done);
    gen_line(g, "sub.u32 %s, %s, 1;", levels, levels);
    gen_call_of(g, scope, name, "", levels);
    gen_label(g, done);
    gen_close(g);
}

static void gen_function_body(struct gen *g, unsigned function)
{
    struct gen_scope scope = {
        .level = is_free_function(function) || !g->config->has_barriers ? GEN_FREE : GEN_BLOCK,
        .mask = "%mask0",
        .depth = g->config->max_depth > 2 ? g->config->max_depth - 2 : 0,
        .turns = 1,
    };
    char result[NAME_BYTES];
    gen_line(g, "ld.param.b64 %%cells, [cells];");
    gen_line(g, "ld.param.b64 %%tab, [table];");
    gen_line(g, "ld.param.b64 %%atoms, [atoms];");
    gen_frame(g);
    gen_fill_pools(g, "%thread");
    gen_line(g, "ld.param.b32 %%r0, [a];");
    gen_line(g, "ld.param.b64 %%l0, [b];");
    gen_line(g, "ld.param.b32 %%mask0, [mask];");
    for (unsigned n = 0; n < g->pools.u; n++) {
        gen_line(g, "ld.param.b32 %%u%u, [u];", n);
        gen_line(g, "add.u32 %%u%u, %%u%u, %u;", n, n, dice_below(&g->dice, 5));
    }
    gen_statements(g, &scope, 2 + dice_below(&g->dice, 5));
    if (g->config->has_recursion && dice_chance(&g->dice, 60))
        gen_recursion(g, &scope, function);
    gen_statements(g, &scope, 1 + dice_below(&g->dice, 3));
    gen_pool(g, 64, result);
    gen_line(g, "mad.wide.u32 %s, %%acc, 3, %s;", result, result);
    gen_line(g, "st.param.b64 [result], %s;", result);
    gen_line(g, "ret;");
}

void gen_functions(struct gen *g, struct text *text)
{
    for (unsigned n = 0; n < g->config->functions; n++) {
        struct text body = {0};
        g->counts = (struct gen_counts){0};
        g->in_function = true;
        g->function = n;
        g->out = &body;
        gen_function_body(g, n);
        text_add(text, ".func (.param .b64 result) f%u(" PARAMETERS ")\n{\n", n);
        gen_declare(g, text);
        text_add_bytes(text, body.bytes, body.len);
        text_add(text, "}\n\n");
        text_fini(&body);
    }
}
