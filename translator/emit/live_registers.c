/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/emit/live_registers.h"

#include <string.h>

#include "ptx/ops.h"
#include "translator/emit/registers.h"

#define WORDS_MAX ((uint64_t)1 << 20) /* of the sets of all labels */

/* ---- one instruction ---- */

static void make_live(const struct ptx_operand *part, void *data)
{
    struct tr_live *live = data;
    uint32_t number = live->numbers[part->var->index];
    if (number != TR_NONE)
        tr_set_add(&live->now, number);
}

static void make_dead(const struct ptx_operand *part, void *data)
{
    struct tr_live *live = data;
    uint32_t number = live->numbers[part->var->index];
    if (number != TR_NONE)
        tr_set_remove(&live->now, number);
}

/* From behind the instruction to before it. What it may write if its guard holds stays. */
static void pass_operands(struct tr_live *live, const struct ptx_inst *inst)
{
    struct ptx_operand_rule rules[PTX_MAX_RULES];
    ptx_op_operand_rules(inst->op, rules);
    for (uint32_t i = 0; i < inst->operand_count && inst->guard == NULL; i++)
        if (ptx_rule_is_written(&rules[i], i))
            tr_for_operand_registers(&inst->operands[i], make_dead, live);
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (!ptx_rule_is_written(&rules[i], i) || inst->operands[i].kind == PTX_OPERAND_ADDRESS)
            tr_for_operand_registers(&inst->operands[i], make_live, live);
}

static void add_target(struct tr_live *live, const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_LABEL)
        tr_set_merge(&live->now, &live->at_label[operand->label->index]);
    for (uint32_t i = 0; operand->kind == PTX_OPERAND_LABELS && i < operand->label_count; i++)
        tr_set_merge(&live->now, &live->at_label[operand->labels[i]->index]);
}

/* Where the thread may go on other than at the next statement. */
static void pass_branch(struct tr_live *live, const struct ptx_inst *inst)
{
    bool is_branch = inst->op == PTX_OP_BRA || inst->op == PTX_OP_BRX_IDX;
    bool is_end = inst->op == PTX_OP_RET || inst->op == PTX_OP_EXIT || inst->op == PTX_OP_TRAP;
    if (inst->guard == NULL && (is_branch || is_end))
        memset(live->now.words, 0, live->now.word_count * sizeof *live->now.words);
    for (uint32_t i = 0; i < inst->operand_count && is_branch; i++)
        add_target(live, &inst->operands[i]);
}

/* ---- the function ---- */

/* fn may be NULL. Returns whether more is live at some label than was known. */
static bool walk(struct tr_live *live, tr_live_fn fn, void *data)
{
    const struct ptx_func *func = live->ctx->func;
    bool is_more = false;
    memset(live->now.words, 0, live->now.word_count * sizeof *live->now.words);
    for (uint32_t i = func->stmt_count; i-- > 0;) {
        const struct ptx_stmt *stmt = &func->stmts[live->order != NULL ? live->order[i] : i];
        if (stmt->kind == PTX_STMT_LABEL)
            is_more |= tr_set_merge(&live->at_label[stmt->label->index], &live->now);
        if (stmt->kind != PTX_STMT_INST)
            continue;
        pass_branch(live, &stmt->inst);
        if (fn != NULL)
            fn(live, &stmt->inst, data);
        pass_operands(live, &stmt->inst);
    }
    return is_more;
}

bool tr_find_live(struct tr_live *live)
{
    struct pxr_arena *arena = &live->ctx->arena;
    uint32_t labels = live->ctx->func->label_count;
    uint64_t words = ((uint64_t)labels + 1) * (live->count / 64 + 1);
    live->now = tr_set_make(arena, live->count);
    live->at_label = pxr_arena_alloc_array(arena, labels + 1, sizeof *live->at_label);
    if (words > WORDS_MAX || live->now.words == NULL || live->at_label == NULL)
        return false;
    for (uint32_t i = 0; i < labels; i++) {
        live->at_label[i] = tr_set_make(arena, live->count);
        if (live->at_label[i].words == NULL)
            return false;
    }
    while (walk(live, NULL, NULL))
        continue;
    return true;
}

void tr_walk_live(struct tr_live *live, tr_live_fn fn, void *data)
{
    walk(live, fn, data);
}
