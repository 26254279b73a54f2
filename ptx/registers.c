/* SPDX-License-Identifier: Apache-2.0
 *
 * See registers.h.
 */
#include "ptx/registers.h"

#include <stdlib.h>
#include <string.h>

/* Of all sets of a function together. */
#define WORDS_MAX ((size_t)8 << 20)

struct block {
    uint32_t first; /* statement */
    uint32_t end;
    uint64_t *live; /* at its beginning */
};

struct looking {
    const struct ptx_func *func;
    struct block *blocks;
    uint32_t block_count;
    uint32_t *block_of_label; /* block_count: of another function's */
    uint64_t *sets;           /* of all blocks, and `live` */
    size_t set_words;
    uint64_t *live;
    uint32_t registers; /* of what is in `live` */
    uint32_t most;
};

/* ---- registers that an instruction reads and writes ---- */

/* Predicates have a file of their own. */
static uint32_t registers_of(const struct ptx_var *var)
{
    if (var->space != PTX_SPACE_REG || ptx_type_table[var->type].class == PTX_CLASS_PREDICATE)
        return 0;
    return (ptx_type_bits(var->type) + 31) / 32 * var->vector_len;
}

static void set_alive(struct looking *l, const struct ptx_var *var, bool is_alive)
{
    uint64_t bit = UINT64_C(1) << var->index % 64;
    uint64_t *word = &l->live[var->index / 64];
    if (var->space != PTX_SPACE_REG || ((*word & bit) != 0) == is_alive)
        return;
    *word ^= bit;
    l->registers += is_alive ? registers_of(var) : -registers_of(var);
}

static void mark(struct looking *l, const struct ptx_operand *operand, bool is_alive)
{
    switch (operand->kind) {
    case PTX_OPERAND_REG:
        if (is_alive || operand->component == 0)
            set_alive(l, operand->var, is_alive);
        break;
    case PTX_OPERAND_ADDRESS:
    case PTX_OPERAND_VECTOR:
    case PTX_OPERAND_PAIR:
    case PTX_OPERAND_SUM:
        for (uint32_t i = 0; i < operand->elem_count; i++)
            mark(l, &operand->elems[i], is_alive);
        break;
    default:
        break;
    }
}

static void mark_operands(struct looking *l, const struct ptx_inst *inst, bool written)
{
    struct ptx_operand_rule rules[PTX_MAX_RULES];
    unsigned count = ptx_op_operand_rules(inst->op, rules);
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if ((i < count && ptx_rule_is_written(&rules[i], i)) == written)
            mark(l, &inst->operands[i], !written);
    const struct ptx_call *call = inst->call;
    for (uint32_t i = 0; call && written && i < call->ret_count; i++)
        mark(l, &call->rets[i], false);
    for (uint32_t i = 0; call && !written && i < call->arg_count; i++)
        mark(l, &call->args[i], true);
}

/* From behind the instruction to before it. What it may write if its guard holds stays. */
static void pass(struct looking *l, const struct ptx_inst *inst)
{
    if (inst->guard == NULL)
        mark_operands(l, inst, true);
    else
        set_alive(l, inst->guard, true);
    mark_operands(l, inst, false);
    if (l->registers > l->most)
        l->most = l->registers;
}

/* ---- blocks ---- */

static const struct ptx_inst *inst_of(const struct looking *l, uint32_t stmt)
{
    const struct ptx_stmt *s = &l->func->stmts[stmt];
    return s->kind == PTX_STMT_INST ? &s->inst : NULL;
}

static bool is_branch(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_BRA || inst->op == PTX_OP_BRX_IDX;
}

static bool ends_thread(const struct ptx_inst *inst)
{
    return inst->op == PTX_OP_RET || inst->op == PTX_OP_EXIT || inst->op == PTX_OP_TRAP;
}

static bool ends_block(const struct looking *l, uint32_t stmt)
{
    const struct ptx_inst *inst = inst_of(l, stmt);
    bool is_before_label =
        stmt + 1 == l->func->stmt_count || l->func->stmts[stmt + 1].kind == PTX_STMT_LABEL;
    return is_before_label || (inst && (is_branch(inst) || ends_thread(inst)));
}

static void find_blocks(struct looking *l)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < l->func->stmt_count; i++) {
        const struct ptx_stmt *stmt = &l->func->stmts[i];
        if (stmt->kind == PTX_STMT_LABEL)
            l->block_of_label[stmt->label->index] = l->block_count;
        if (!ends_block(l, i))
            continue;
        l->blocks[l->block_count++] = (struct block){.first = first, .end = i + 1};
        first = i + 1;
    }
}

static void add_live(struct looking *l, uint32_t block)
{
    for (size_t i = 0; block < l->block_count && i < l->set_words; i++)
        l->live[i] |= l->blocks[block].live[i];
}

static void add_targets(struct looking *l, const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_LABEL)
        add_live(l, l->block_of_label[operand->label->index]);
    for (uint32_t i = 0; operand->kind == PTX_OPERAND_LABELS && i < operand->label_count; i++)
        add_live(l, l->block_of_label[operand->labels[i]->index]);
}

/* What is alive behind the block. */
static void begin_behind(struct looking *l, uint32_t number)
{
    const struct ptx_inst *last = inst_of(l, l->blocks[number].end - 1);
    memset(l->live, 0, l->set_words * sizeof *l->live);
    if (!last || last->guard || !(is_branch(last) || ends_thread(last)))
        add_live(l, number + 1);
    for (uint32_t i = 0; last && is_branch(last) && i < last->operand_count; i++)
        add_targets(l, &last->operands[i]);
    l->registers = 0;
    for (uint32_t i = 0; i < l->func->var_count; i++)
        if (l->live[i / 64] >> i % 64 & 1)
            l->registers += registers_of(l->func->vars[i]);
}

/* Whether more is alive at its beginning than was known. */
static bool look_at_block(struct looking *l, uint32_t number)
{
    struct block *block = &l->blocks[number];
    begin_behind(l, number);
    for (uint32_t i = block->end; i-- > block->first;)
        if (inst_of(l, i))
            pass(l, inst_of(l, i));
    bool is_more = memcmp(block->live, l->live, l->set_words * sizeof *l->live) != 0;
    memcpy(block->live, l->live, l->set_words * sizeof *l->live);
    return is_more;
}

static void look(struct looking *l)
{
    for (bool is_more = true; is_more;) {
        is_more = false;
        for (uint32_t i = l->block_count; i-- > 0;)
            is_more |= look_at_block(l, i);
    }
}

/* ---- functions ---- */

static bool make_sets(struct looking *l)
{
    size_t words = l->set_words * ((size_t)l->block_count + 1);
    l->sets = words <= WORDS_MAX ? calloc(words, sizeof *l->sets) : NULL;
    for (uint32_t i = 0; l->sets && i < l->block_count; i++)
        l->blocks[i].live = l->sets + i * l->set_words;
    l->live = l->sets ? l->sets + l->block_count * l->set_words : NULL;
    return l->sets != NULL;
}

static uint32_t estimate(const struct ptx_func *func)
{
    struct looking l = {.func = func, .set_words = func->var_count / 64 + (size_t)1};
    l.blocks = calloc((size_t)func->stmt_count + 1, sizeof *l.blocks);
    l.block_of_label = calloc((size_t)func->label_count + 1, sizeof *l.block_of_label);
    if (l.blocks && l.block_of_label) {
        find_blocks(&l);
        if (make_sets(&l))
            look(&l);
    }
    free(l.sets);
    free(l.blocks);
    free(l.block_of_label);
    return l.most;
}

uint32_t ptx_estimate_registers(const struct ptx_func *kernel,
                                const struct ptx_kernel_layout *layout)
{
    uint32_t most = estimate(kernel);
    for (uint32_t i = 0; i < layout->reached_count; i++) {
        uint32_t registers = estimate(layout->reached[i]);
        most = registers > most ? registers : most;
    }
    return most;
}
