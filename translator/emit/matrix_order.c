/* SPDX-License-Identifier: Apache-2.0
 *
 * Between statements that stay, each statement has a level: how many runs are over before it. A
 * result of an instruction on matrices is there for arithmetic one level later, everything else at
 * once. Ordered by level, and in a level as written, no statement comes before one that it needs or
 * whose registers it changes.
 */
#include "translator/emit/matrix_order.h"

#include <string.h>

#include "ptx/ops.h"
#include "translator/emit/matrix_run.h"
#include "translator/emit/registers.h"

/* What the statements of a stretch have done with a register so far. */
struct usage {
    uint32_t stretch; /* the fields below are this one's */
    uint32_t read;    /* the highest level of those that read it */
    uint32_t written; /* likewise */
    bool is_result;   /* by an instruction that is in the run of that level */
};

struct ordering {
    struct usage *usages; /* by ptx_var.index; the last is the carry's */
    uint32_t carry;
    uint32_t stretch; /* counts them */
    uint32_t *levels; /* by statement of the stretch */
    uint32_t *starts; /* by level */
    uint32_t *order;
};

/* How an instruction uses a register. */
struct use {
    struct ordering *ordering;
    bool is_written;
    bool is_matrix; /* part of a matrix: it may be a result of the same run */
    uint32_t level; /* of the instruction */
};

static struct usage *usage_of(const struct use *use, uint32_t index)
{
    struct usage *usage = &use->ordering->usages[index];
    if (usage->stretch != use->ordering->stretch)
        *usage = (struct usage){.stretch = use->ordering->stretch};
    return usage;
}

static void raise_to(uint32_t *level, uint32_t at_least)
{
    if (*level < at_least)
        *level = at_least;
}

static void raise_level(struct use *use, uint32_t index)
{
    const struct usage *usage = usage_of(use, index);
    raise_to(&use->level, usage->written + (usage->is_result && !use->is_matrix));
    if (use->is_written)
        raise_to(&use->level, usage->read);
}

static void note_level(struct use *use, uint32_t index)
{
    struct usage *usage = usage_of(use, index);
    if (!use->is_written) {
        raise_to(&usage->read, use->level);
        return;
    }
    usage->written = use->level;
    usage->is_result = use->is_matrix;
}

typedef void (*use_fn)(struct use *use, uint32_t index);

struct visit {
    struct use *use;
    use_fn fn;
};

static void visit_register(const struct ptx_operand *part, void *data)
{
    const struct visit *visit = data;
    visit->fn(visit->use, part->var->index);
}

static bool uses_carry(const struct ptx_inst *inst)
{
    const char *name = ptx_op_name(inst->op);
    return ptx_inst_has(inst, PTX_GROUP_CC) || strcmp(name, "addc") == 0 ||
           strcmp(name, "subc") == 0 || strcmp(name, "madc") == 0;
}

static void for_uses(struct use *use, const struct ptx_inst *inst, use_fn fn)
{
    struct ptx_operand_rule rules[PTX_MAX_RULES];
    struct visit visit = {use, fn};
    bool is_operation = tr_joins_runs(inst);
    ptx_op_operand_rules(inst->op, rules);
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        use->is_written = ptx_rule_is_written(&rules[i], i);
        use->is_matrix = is_operation && ptx_rule_is_matrix(&rules[i]);
        tr_for_operand_registers(&inst->operands[i], visit_register, &visit);
    }
    use->is_matrix = false;
    use->is_written = false;
    if (inst->guard != NULL)
        fn(use, inst->guard->index);
    use->is_written = true;
    if (uses_carry(inst))
        fn(use, use->ordering->carry);
}

static uint32_t level_of(struct ordering *ordering, const struct ptx_stmt *stmt)
{
    struct use use = {.ordering = ordering};
    if (stmt->kind != PTX_STMT_INST)
        return 0;
    for_uses(&use, &stmt->inst, raise_level);
    for_uses(&use, &stmt->inst, note_level);
    return use.level;
}

/* ---- stretches ---- */

bool tr_ends_runs(const struct ptx_stmt *stmt)
{
    switch (stmt->kind) {
    case PTX_STMT_INST:
        return !tr_joins_runs(&stmt->inst) && !tr_stands_in_runs(&stmt->inst);
    case PTX_STMT_VAR:
        return stmt->var->space != PTX_SPACE_REG;
    case PTX_STMT_LABEL:
        return true;
    default:
        return false;
    }
}

static bool joins_runs(const struct ptx_stmt *stmt)
{
    return stmt->kind == PTX_STMT_INST && tr_joins_runs(&stmt->inst);
}

/* Statements first to first + count - 1. */
static void order_stretch(struct ordering *ordering, const struct ptx_stmt *stmts, uint32_t first,
                          uint32_t count)
{
    uint32_t *levels = ordering->levels;
    uint32_t *starts = ordering->starts;
    uint32_t highest = 0;
    ordering->stretch++;
    for (uint32_t i = 0; i < count; i++) {
        levels[i] = level_of(ordering, &stmts[first + i]);
        raise_to(&highest, levels[i]);
    }
    memset(starts, 0, (highest + 2) * sizeof *starts);
    for (uint32_t i = 0; i < count; i++)
        starts[levels[i] + 1]++;
    for (uint32_t level = 1; level <= highest; level++)
        starts[level] += starts[level - 1];
    for (uint32_t i = 0; i < count; i++)
        ordering->order[first + starts[levels[i]]++] = first + i;
}

static uint32_t stretch_length(const struct ptx_func *func, uint32_t first, bool *has_matrices)
{
    uint32_t end = first;
    *has_matrices = false;
    for (; end < func->stmt_count && !tr_ends_runs(&func->stmts[end]); end++)
        *has_matrices |= joins_runs(&func->stmts[end]);
    return end - first;
}

static void order_function(struct ordering *ordering, const struct ptx_func *func)
{
    bool has_matrices = false;
    uint32_t count = 0;
    for (uint32_t first = 0; first < func->stmt_count; first += count + 1) {
        count = stretch_length(func, first, &has_matrices);
        if (has_matrices)
            order_stretch(ordering, func->stmts, first, count);
    }
}

const uint32_t *tr_matrix_order(struct tr_ctx *ctx)
{
    const struct ptx_func *func = ctx->func;
    bool has_matrices = false;
    for (uint32_t i = 0; i < func->stmt_count && !has_matrices; i++)
        has_matrices = joins_runs(&func->stmts[i]);
    if (!has_matrices)
        return NULL;
    struct pxr_arena *arena = &ctx->arena;
    uint32_t count = func->stmt_count;
    struct ordering ordering = {.carry = func->var_count};
    ordering.usages = pxr_arena_alloc_array(arena, func->var_count + 1, sizeof *ordering.usages);
    ordering.levels = pxr_arena_alloc_array(arena, count, sizeof *ordering.levels);
    ordering.starts = pxr_arena_alloc_array(arena, count + 2, sizeof *ordering.starts);
    ordering.order = pxr_arena_alloc_array(arena, count, sizeof *ordering.order);
    if (ordering.usages == NULL || ordering.levels == NULL || ordering.starts == NULL ||
        ordering.order == NULL) {
        tr_fail(ctx, PXR_OUT_OF_MEMORY, func->line, "out of memory");
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        ordering.order[i] = i;
    order_function(&ordering, func);
    return ordering.order;
}
