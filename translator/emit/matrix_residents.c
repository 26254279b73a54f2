/* SPDX-License-Identifier: Apache-2.0
 *
 * What an operation computes takes the place of what it is added to, if nobody reads that again: so
 * the sums of a product have one row from its beginning to its end, under all the names that they
 * have meanwhile. Registers with one row are a web.
 */
#include "translator/emit/matrix_residents.h"

#include "ptx/ops.h"
#include "translator/emit/live_registers.h"
#include "translator/emit/matrix_order.h"
#include "translator/emit/matrix_run.h"
#include "translator/emit/registers.h"
#include "translator/emit/warp_function.h"

/* The other rows are for what runs need besides. */
#define RESIDENTS_MAX 128

/* Of mma and wmma.mma. */
#define OPERAND_D 0
#define OPERAND_C 3

/* What is known of a register; of a web: of some of its registers. */
struct traits {
    uint32_t stretch;  /* the last one that named it */
    bool is_read;      /* by an operation */
    bool is_exposed;   /* one reads what an earlier stretch has left there */
    bool is_result;    /* one writes it */
    bool is_in_a_loop; /* one of these is in a loop */
    bool is_sum;       /* C or D of a product */
};

/* What may become a resident. */
struct candidate {
    const struct ptx_var *var;
    uint32_t web;    /* another of the web; its own number: the web's traits are here */
    bool is_broken;  /* the web: two of its registers are live at once */
    bool is_initial; /* the web: read before it is written */
    uint8_t row;     /* the web's */
};

struct search {
    struct tr_ctx *ctx;
    const uint32_t *order;
    struct traits *traits; /* by ptx_var.index */
    uint32_t *numbers;     /* by ptx_var.index: of a candidate, or TR_NONE */
    struct candidate *candidates;
    uint32_t count;
    struct tr_live live;

    /* of the statement */
    uint32_t stretch; /* counts stretches of statements that runs go over */
    bool is_in_a_loop;
    bool is_matrix;
    bool is_written;
    bool is_sum;
};

static const struct ptx_stmt *stmt_at(const struct search *search, uint32_t i)
{
    return &search->ctx->func->stmts[search->order != NULL ? search->order[i] : i];
}

static bool is_product(const struct ptx_inst *inst)
{
    struct ptx_operand_rule rules[PTX_MAX_RULES];
    if (!tr_joins_runs(inst) || inst->operand_count <= OPERAND_C)
        return false;
    ptx_op_operand_rules(inst->op, rules);
    return ptx_rule_is_matrix(&rules[OPERAND_D]) && ptx_rule_is_matrix(&rules[OPERAND_C]);
}

/* ---- registers ---- */

static bool is_word(const struct ptx_operand *part)
{
    return part->kind == PTX_OPERAND_REG && part->component == 0 && part->var->vector_len == 1 &&
           part->var->space == PTX_SPACE_REG && ptx_type_bits(part->var->type) == 32;
}

static void note(const struct ptx_operand *part, void *data)
{
    struct search *search = data;
    struct traits *traits = &search->traits[part->var->index];
    bool is_first = traits->stretch != search->stretch;
    traits->stretch = search->stretch;
    if (!search->is_matrix || !is_word(part))
        return;
    traits->is_read |= !search->is_written;
    traits->is_exposed |= !search->is_written && is_first;
    traits->is_result |= search->is_written;
    traits->is_in_a_loop |= search->is_in_a_loop;
    traits->is_sum |= search->is_sum;
}

/* What is read before what is written, as both may be the same register. */
static void note_operands(struct search *search, const struct ptx_inst *inst)
{
    struct ptx_operand_rule rules[PTX_MAX_RULES];
    ptx_op_operand_rules(inst->op, rules);
    for (unsigned written = 0; written < 2; written++)
        for (uint32_t i = 0; i < inst->operand_count; i++) {
            search->is_written = written != 0;
            search->is_matrix = tr_joins_runs(inst) && ptx_rule_is_matrix(&rules[i]);
            search->is_sum = is_product(inst) && (i == OPERAND_C || i == OPERAND_D);
            if (ptx_rule_is_written(&rules[i], i) == search->is_written)
                tr_for_operand_registers(&inst->operands[i], note, search);
        }
}

/* By place in the order: how many more branches back lead over it than over the one before. */
static int32_t *find_loops(const struct search *search)
{
    struct tr_ctx *ctx = search->ctx;
    uint32_t count = ctx->func->stmt_count;
    int32_t *more = pxr_arena_alloc_array(&ctx->arena, count + 1, sizeof *more);
    for (uint32_t i = 0; more != NULL && i < count; i++) { /* labels and branches stay in place */
        const struct ptx_stmt *stmt = stmt_at(search, i);
        if (stmt->kind != PTX_STMT_INST || stmt->inst.op != PTX_OP_BRA ||
            stmt->inst.operands[0].kind != PTX_OPERAND_LABEL)
            continue;
        uint32_t label = ctx->label_stmts[stmt->inst.operands[0].label->index];
        if (label > i)
            continue;
        more[label]++;
        more[i + 1]--;
    }
    return more;
}

static bool find_traits(struct search *search)
{
    struct tr_ctx *ctx = search->ctx;
    const int32_t *more = find_loops(search);
    int32_t loops = 0;
    search->traits =
        pxr_arena_alloc_array(&ctx->arena, ctx->func->var_count, sizeof *search->traits);
    search->stretch = 1;
    if (more == NULL || search->traits == NULL)
        return false;
    for (uint32_t i = 0; i < ctx->func->stmt_count; i++) {
        const struct ptx_stmt *stmt = stmt_at(search, i);
        loops += more[i];
        search->is_in_a_loop = loops > 0;
        search->stretch += tr_ends_runs(stmt);
        if (stmt->kind == PTX_STMT_INST)
            note_operands(search, &stmt->inst);
    }
    return true;
}

static bool find_candidates(struct search *search)
{
    const struct ptx_func *func = search->ctx->func;
    struct pxr_arena *arena = &search->ctx->arena;
    search->numbers = pxr_arena_alloc_array(arena, func->var_count, sizeof *search->numbers);
    search->candidates = pxr_arena_alloc_array(arena, func->var_count, sizeof *search->candidates);
    if (search->numbers == NULL || search->candidates == NULL)
        return false;
    for (uint32_t i = 0; i < func->var_count; i++) {
        const struct traits *traits = &search->traits[i];
        bool is_wanted = traits->is_result && traits->is_read;
        search->numbers[i] = TR_NONE;
        if (!is_wanted || !(traits->is_sum || traits->is_exposed))
            continue;
        search->numbers[i] = search->count;
        search->candidates[search->count] =
            (struct candidate){.var = func->vars[i], .web = search->count};
        search->count++;
    }
    return true;
}

/* ---- webs ---- */

static struct candidate *web_of(const struct search *search, uint32_t number)
{
    uint32_t web = number;
    while (search->candidates[web].web != web)
        web = search->candidates[web].web;
    while (search->candidates[number].web != web) {
        uint32_t next = search->candidates[number].web;
        search->candidates[number].web = web;
        number = next;
    }
    return &search->candidates[web];
}

static uint32_t number_of(const struct search *search, const struct ptx_operand *part)
{
    return is_word(part) ? search->numbers[part->var->index] : TR_NONE;
}

static void join(struct search *search, uint32_t a, uint32_t b)
{
    struct candidate *first = web_of(search, a);
    struct candidate *second = web_of(search, b);
    struct traits *traits = &search->traits[first->var->index];
    const struct traits *more = &search->traits[second->var->index];
    if (first == second)
        return;
    traits->is_exposed |= more->is_exposed;
    traits->is_in_a_loop |= more->is_in_a_loop;
    second->web = first->web;
}

/* D takes the place of a C that nobody reads again. */
static void join_sums(const struct tr_live *live, const struct ptx_inst *inst, void *data)
{
    struct search *search = data;
    struct ptx_operand c[TR_MAX_VECTOR];
    struct ptx_operand d[TR_MAX_VECTOR];
    if (!is_product(inst))
        return;
    unsigned count = tr_vector_parts(&inst->operands[OPERAND_C], c);
    if (tr_vector_parts(&inst->operands[OPERAND_D], d) != count)
        return;
    for (unsigned i = 0; i < count; i++) {
        uint32_t before = number_of(search, &c[i]);
        uint32_t after = number_of(search, &d[i]);
        if (before != TR_NONE && after != TR_NONE && !tr_set_has(&live->now, before))
            join(search, before, after);
    }
}

static void break_web(const struct ptx_operand *part, void *data)
{
    struct search *search = data;
    uint32_t written = search->numbers[part->var->index];
    if (written == TR_NONE)
        return;
    struct candidate *web = web_of(search, written);
    const struct tr_set *now = &search->live.now;
    for (uint32_t i = tr_set_next(now, 0); i != TR_NONE; i = tr_set_next(now, i + 1))
        web->is_broken |= i != written && web_of(search, i) == web;
}

static void break_webs(const struct tr_live *live, const struct ptx_inst *inst, void *data)
{
    struct ptx_operand_rule rules[PTX_MAX_RULES];
    (void)live;
    ptx_op_operand_rules(inst->op, rules);
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (ptx_rule_is_written(&rules[i], i))
            tr_for_operand_registers(&inst->operands[i], break_web, data);
}

static bool find_webs(struct search *search)
{
    search->live = (struct tr_live){.ctx = search->ctx,
                                    .order = search->order,
                                    .numbers = search->numbers,
                                    .count = search->count};
    if (!tr_find_live(&search->live))
        return false;
    tr_walk_live(&search->live, join_sums, search);
    tr_walk_live(&search->live, break_webs, search);
    const struct tr_set *now = &search->live.now;
    for (uint32_t i = tr_set_next(now, 0); i != TR_NONE; i = tr_set_next(now, i + 1))
        web_of(search, i)->is_initial = true;
    return true;
}

/* ---- rows ---- */

/* Functions that it calls have residents, and runs, in the same words; checks follow what lanes put
 * and take. */
static bool may_have_residents(const struct tr_ctx *ctx)
{
    const struct ptx_func *func = ctx->func;
    bool has_matrices = false;
    if (!func->is_entry || ctx->options->checks_written || ctx->options->checks_numbers)
        return false;
    for (uint32_t i = 0; i < func->stmt_count; i++) {
        const struct ptx_stmt *stmt = &func->stmts[i];
        if (stmt->kind == PTX_STMT_INST && stmt->inst.op == PTX_OP_CALL)
            return false;
        has_matrices |= stmt->kind == PTX_STMT_INST && tr_joins_runs(&stmt->inst);
    }
    return has_matrices;
}

static void choose_row(struct search *search, struct candidate *web)
{
    struct tr_ctx *ctx = search->ctx;
    const struct traits *traits = &search->traits[web->var->index];
    bool is_wanted = traits->is_exposed && traits->is_in_a_loop && !web->is_broken;
    if (web->row != 0 || !is_wanted || RT_WARP_WORDS - 1 - ctx->first_resident == RESIDENTS_MAX)
        return;
    web->row = (uint8_t)--ctx->first_resident;
    if (web->is_initial)
        LLVMBuildStore(ctx->entry_builder, tr_const_int(ctx, 32, 0),
                       tr_word_in_entry(ctx, web->row));
}

static void give_rows(struct search *search)
{
    struct tr_ctx *ctx = search->ctx;
    for (uint32_t i = 0; i < search->count; i++) {
        uint32_t var = search->candidates[i].var->index;
        struct candidate *web = web_of(search, i);
        choose_row(search, web);
        ctx->residents[var] = web->row;
        if (web->row != 0)
            ctx->vars[var] = tr_word_in_entry(ctx, web->row);
    }
}

void tr_make_residents(struct tr_ctx *ctx, const uint32_t *order)
{
    struct search search = {.ctx = ctx, .order = order};
    ctx->residents = NULL;
    ctx->first_resident = RT_WARP_WORDS - 1;
    if (!may_have_residents(ctx))
        return;
    if (!find_traits(&search) || !find_candidates(&search) || search.count == 0 ||
        !find_webs(&search))
        return; /* registers live elsewhere */
    ctx->residents =
        pxr_arena_alloc_array(&ctx->arena, ctx->func->var_count, sizeof *ctx->residents);
    if (ctx->residents != NULL)
        give_rows(&search);
}

unsigned tr_first_resident(const struct tr_ctx *ctx)
{
    return ctx->first_resident;
}

unsigned tr_resident_row(const struct tr_ctx *ctx, const struct ptx_operand *part)
{
    bool is_register = part->kind == PTX_OPERAND_REG && ctx->residents != NULL;
    return is_register ? ctx->residents[part->var->index] : 0;
}
