/* SPDX-License-Identifier: Apache-2.0 */
#include "translator/emit/matrix_run.h"

#include <string.h>

#include "ptx/ops.h"
#include "translator/emit/matrix_residents.h"
#include "translator/emit/registers.h"
#include "translator/emit/run_function.h"
#include "translator/emit/warp_function.h"
#include "translator/module/sregs.h"

/* The last row is for bytes that nobody needs. */
#define RUN_ROWS (RT_WARP_WORDS - 1) /* those of residents are among them */

/* A row is named by a byte. */
_Static_assert(RT_WARP_WORDS <= UINT8_MAX + 1, "rows do not fit into a byte");

enum place_kind {
    PLACE_NONE,
    PLACE_OPERAND, /* the row holds what the register holds */
    PLACE_RESULT   /* the register will get what the row holds */
};

/* Where a register's value is in the words. */
struct place {
    enum place_kind kind : 8;
    uint8_t row;
    uint8_t bits;      /* 0: the result is a part of the register */
    bool is_local;     /* a result: nobody in this run has named the register before */
    uint32_t run;      /* the fields above and `seen` are this run's (tr_run.number) */
    uint32_t seen;     /* how often operations of the run have named it */
    uint32_t mentions; /* how often the function's text does */
};

struct result {
    struct ptx_operand part;
    unsigned bits; /* 0: there is none */
};

/* Operations that one function of the module does. */
struct run_function {
    struct run_function *next;
    LLVMValueRef function;
    unsigned count;
    const struct tr_run_operation *operations;
};

struct tr_run {
    uint32_t number;                              /* counts runs of the function */
    struct place *places;                         /* by ptx_var.index */
    const struct ptx_var *holders[RT_WARP_WORDS]; /* by row: the register whose place it is */
    bool is_free[RT_WARP_WORDS]; /* below next_row: nobody wants what is there; for results only, as
                                    lanes put their operands before anything is computed */
    unsigned next_row;
    struct result results[RT_WARP_WORDS]; /* by row: what registers will get */
    struct tr_run_operation operations[RUN_ROWS];
    unsigned count;
    bool touches_memory;
    LLVMMetadataRef location; /* of the first */
};

/* ---- registers of an instruction ---- */

static struct place *place_of(struct tr_ctx *ctx, const struct ptx_var *var)
{
    struct place *place = &ctx->run->places[var->index];
    if (place->run != ctx->run->number)
        *place = (struct place){.run = ctx->run->number, .mentions = place->mentions};
    return place;
}

static bool is_whole_register(const struct ptx_operand *part)
{
    return part->kind == PTX_OPERAND_REG && part->component == 0 && part->var->vector_len == 1;
}

static void count_mention(const struct ptx_operand *part, void *run)
{
    ((struct tr_run *)run)->places[part->var->index].mentions++;
}

static void count_seen(const struct ptx_operand *part, void *ctx)
{
    place_of(ctx, part->var)->seen++;
}

static struct tr_run *run_of(struct tr_ctx *ctx)
{
    const struct ptx_func *func = ctx->func;
    if (ctx->run != NULL)
        return ctx->run;
    struct tr_run *run = pxr_arena_alloc_array(&ctx->arena, 1, sizeof *run);
    struct place *places = pxr_arena_alloc_array(&ctx->arena, func->var_count, sizeof *places);
    if (run == NULL || places == NULL) {
        tr_fail(ctx, PXR_OUT_OF_MEMORY, func->line, "out of memory");
        return NULL;
    }
    run->places = places;
    run->number = 1;
    ctx->run = run;
    for (uint32_t i = 0; i < func->stmt_count; i++)
        if (func->stmts[i].kind == PTX_STMT_INST)
            tr_for_registers(&func->stmts[i].inst, count_mention, run);
    return run;
}

/* ---- rows ---- */

static void set_place(struct tr_ctx *ctx, const struct ptx_operand *part, enum place_kind kind,
                      unsigned row, unsigned bits)
{
    struct place *place = place_of(ctx, part->var);
    place->kind = kind;
    place->row = (uint8_t)row;
    place->bits = (uint8_t)bits;
    ctx->run->holders[row] = part->var;
}

static void clear_place(struct tr_ctx *ctx, const struct ptx_var *var)
{
    struct place *place = place_of(ctx, var);
    ctx->run->holders[place->row] = NULL;
    place->kind = PLACE_NONE;
}

/* What the register holds, or is to get, is in the words. */
static bool has_place(struct tr_ctx *ctx, const struct ptx_operand *part, unsigned bits)
{
    return is_whole_register(part) && place_of(ctx, part->var)->kind != PLACE_NONE &&
           place_of(ctx, part->var)->bits == bits;
}

static unsigned new_rows(struct tr_run *run, unsigned bits)
{
    unsigned row = run->next_row;
    run->next_row += bits / 32;
    return row;
}

static unsigned rows_for_result(struct tr_run *run, unsigned bits)
{
    unsigned count = bits / 32;
    for (unsigned row = 0; row + count <= run->next_row; row++) {
        if (!run->is_free[row] || !run->is_free[row + count - 1])
            continue;
        memset(&run->is_free[row], false, count * sizeof run->is_free[row]);
        return row;
    }
    return new_rows(run, bits);
}

static void name_rows(struct tr_run *run, unsigned row, unsigned place, unsigned bits)
{
    for (unsigned i = 0; i < bits / 32; i++)
        run->operations[run->count].rows[row + i] = (uint8_t)(place + i);
}

/* The register will not get its result. */
static void drop_result(struct tr_ctx *ctx, const struct ptx_var *var)
{
    ctx->run->results[place_of(ctx, var)->row].bits = 0;
    clear_place(ctx, var);
}

/* Nobody else will name it: it was computed in this run, for operations of this run. */
static bool is_used_up(const struct place *place)
{
    return place->kind == PLACE_RESULT && place->is_local && place->seen == place->mentions;
}

/* ---- whether an instruction may stand in the run ---- */

struct search {
    struct tr_ctx *ctx;
    bool has_result;
    bool has_resident;
};

static void find_result(const struct ptx_operand *part, void *data)
{
    struct search *search = data;
    search->has_result |= place_of(search->ctx, part->var)->kind == PLACE_RESULT;
}

/* A part of a matrix may be a result, if it is as long. */
static bool fits_part(struct tr_ctx *ctx, const struct ptx_operand *part, unsigned bits)
{
    if (part->kind != PTX_OPERAND_REG)
        return true;
    const struct place *place = place_of(ctx, part->var);
    return place->kind != PLACE_RESULT || (is_whole_register(part) && place->bits == bits);
}

static bool fits_matrix(struct tr_ctx *ctx, const struct tr_matrix_operand *matrix)
{
    struct ptx_operand parts[TR_MAX_VECTOR];
    unsigned count = tr_vector_parts(matrix->operand, parts);
    for (unsigned i = 0; i < count; i++)
        if (!fits_part(ctx, &parts[i], matrix->bits))
            return false;
    return true;
}

/* Rows that it needs, at most. Parts that have a place need none, but for the first matrix's, which
 * may be the result's. */
static unsigned most_rows(struct tr_ctx *ctx, const struct tr_matrix_operand *matrices,
                          unsigned count)
{
    unsigned rows = TR_OPERATION_NUMBERS;
    for (unsigned m = 0; m < count; m++) {
        struct ptx_operand parts[TR_MAX_VECTOR];
        unsigned part_count = tr_vector_parts(matrices[m].operand, parts);
        for (unsigned i = 0; i < part_count; i++)
            if (tr_resident_row(ctx, &parts[i]) == 0 &&
                (m == 0 || !has_place(ctx, &parts[i], matrices[m].bits)))
                rows += matrices[m].bits / 32;
    }
    return rows;
}

static bool fits_run(struct tr_ctx *ctx, const struct ptx_inst *inst,
                     const struct tr_matrix_operand *matrices, unsigned count)
{
    const struct tr_run *run = ctx->run;
    unsigned rows = most_rows(ctx, matrices, count);
    if (ctx->options->checks_written)
        return false; /* each lane asks when it puts its operands, about what others store */
    if (run->next_row + rows > tr_first_resident(ctx) || run->count == RUN_ROWS)
        return false;
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        const struct tr_matrix_operand *matrix = NULL;
        struct search search = {.ctx = ctx};
        for (unsigned m = 0; m < count; m++)
            if (matrices[m].operand == &inst->operands[i])
                matrix = &matrices[m];
        if (matrix == NULL)
            tr_for_operand_registers(&inst->operands[i], find_result, &search);
        if (search.has_result || (matrix != NULL && !fits_matrix(ctx, matrix)))
            return false;
    }
    return true;
}

bool tr_stands_in_runs(const struct ptx_inst *inst)
{
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (inst->operands[i].kind == PTX_OPERAND_SREG &&
            !tr_sregs[inst->operands[i].sreg].is_steady)
            return false;
    switch (ptx_op_table[inst->op].family) {
    case PTX_FAMILY_INTEGER:
    case PTX_FAMILY_FLOAT:
    case PTX_FAMILY_COMPARE:
    case PTX_FAMILY_LOGIC:
    case PTX_FAMILY_MOVE:
    case PTX_FAMILY_CONVERT:
    case PTX_FAMILY_VIDEO:
        return true;
    default:
        return false;
    }
}

static bool is_emitter_of_runs(tr_emit_fn emitter)
{
    return emitter == tr_emit_mma || emitter == tr_emit_wmma_load ||
           emitter == tr_emit_wmma_store || emitter == tr_emit_ldmatrix ||
           emitter == tr_emit_stmatrix;
}

bool tr_joins_runs(const struct ptx_inst *inst)
{
    switch (inst->op) {
#define OP(ID, syntax, family, operands, ptx, sm, emitter, fidelity)                               \
    case PTX_OP_##ID:                                                                              \
        return inst->guard == NULL && is_emitter_of_runs(tr_emit_##emitter);
#include "ptx/ops.def"
#undef OP
    default:
        return false;
    }
}

/* What the register holds may become something else. */
static void forget_operand(const struct ptx_operand *part, void *ctx)
{
    if (place_of(ctx, part->var)->kind == PLACE_OPERAND)
        clear_place(ctx, part->var);
}

/* The run has yet to read what is there, under this name or another one. */
static void find_resident(const struct ptx_operand *part, void *data)
{
    struct search *search = data;
    unsigned own = tr_resident_row(search->ctx, part);
    search->has_resident |= own != 0 && search->ctx->run->holders[own] != NULL;
}

bool tr_is_in_run(const struct tr_ctx *ctx)
{
    return ctx->run != NULL && ctx->run->count > 0;
}

void tr_leave_run(struct tr_ctx *ctx, const struct ptx_inst *inst)
{
    struct search search = {.ctx = ctx};
    if (!tr_is_in_run(ctx) || tr_joins_runs(inst))
        return; /* one that joins decides itself */
    tr_for_registers(inst, find_result, &search);
    tr_for_registers(inst, find_resident, &search);
    if (!tr_stands_in_runs(inst) || search.has_result || search.has_resident) {
        tr_end_run(ctx);
        return;
    }
    tr_for_registers(inst, forget_operand, ctx);
}

/* ---- an operation ---- */

void tr_begin_operation(struct tr_ctx *ctx, const struct ptx_inst *inst,
                        const struct tr_matrix_operand *matrices, unsigned count)
{
    struct tr_run *run = run_of(ctx);
    if (run == NULL)
        return;
    if (run->count > 0 && !fits_run(ctx, inst, matrices, count))
        tr_end_run(ctx);
    if (run->count == 0)
        run->location = LLVMGetCurrentDebugLocation2(ctx->builder);
    struct tr_run_operation *operation = &run->operations[run->count];
    *operation = (struct tr_run_operation){0};
    operation->rows[TR_ROW_SPARE] = RT_WARP_WORDS - 1;
    tr_for_registers(inst, count_seen, ctx);
}

void tr_put_number(struct tr_ctx *ctx, unsigned row, LLVMValueRef value)
{
    if (ctx->run == NULL)
        return;
    unsigned bits = LLVMGetIntTypeWidth(LLVMTypeOf(value));
    unsigned place = new_rows(ctx->run, bits);
    name_rows(ctx->run, row, place, bits);
    tr_put_word(ctx, place, value);
}

void tr_put_register(struct tr_ctx *ctx, unsigned row, const struct ptx_operand *part,
                     unsigned bits)
{
    if (ctx->run == NULL)
        return;
    unsigned own = tr_resident_row(ctx, part);
    if (own != 0) {
        name_rows(ctx->run, row, own, bits);
        if (!has_place(ctx, part, bits))
            set_place(ctx, part, PLACE_OPERAND, own, bits);
        return;
    }
    if (has_place(ctx, part, bits)) {
        name_rows(ctx->run, row, place_of(ctx, part->var)->row, bits);
        return;
    }
    tr_put_number(ctx, row, tr_operand_value(ctx, part, bits == 64 ? PTX_TYPE_B64 : PTX_TYPE_B32));
    if (is_whole_register(part))
        set_place(ctx, part, PLACE_OPERAND, ctx->run->operations[ctx->run->count].rows[row], bits);
}

/* Whether the operation may write over what it reads in this row, for this register. */
static bool may_overwrite(struct tr_ctx *ctx, unsigned row, const struct ptx_operand *part)
{
    const struct ptx_var *holder = ctx->run->holders[row];
    if (row >= tr_first_resident(ctx))
        return false;
    if (holder == NULL)
        return ctx->run->results[row].bits == 0; /* a number, which nobody else has */
    const struct place *place = place_of(ctx, holder);
    bool is_same = part->kind == PTX_OPERAND_REG && part->var == holder;
    if (place->kind == PLACE_OPERAND)
        clear_place(ctx, holder);
    else if (is_used_up(place) || (is_same && is_whole_register(part)))
        drop_result(ctx, holder);
    else
        return false;
    return true;
}

static void name_result(struct tr_run *run, unsigned row, unsigned place, unsigned bits)
{
    name_rows(run, row, place, bits);
    for (unsigned i = 0; i < bits / 32; i++)
        run->operations[run->count].written[place + i] = true;
}

/* What is there stays there: nothing is to be taken when the run ends. */
static void take_resident(struct tr_ctx *ctx, unsigned row, const struct ptx_operand *part,
                          unsigned bits)
{
    unsigned own = tr_resident_row(ctx, part);
    name_result(ctx->run, row, own, bits);
    set_place(ctx, part, PLACE_RESULT, own, bits);
    place_of(ctx, part->var)->is_local = false;
    ctx->alignments[part->var->index].region = 0;
    ctx->constants[part->var->index].region = 0;
}

void tr_take_register(struct tr_ctx *ctx, unsigned row, const struct ptx_operand *part,
                      unsigned bits, unsigned over)
{
    struct tr_run *run = ctx->run;
    if (run == NULL)
        return;
    if (tr_resident_row(ctx, part) != 0) {
        take_resident(ctx, row, part, bits);
        return;
    }
    unsigned there = over == TR_NO_ROW ? 0 : run->operations[run->count].rows[over];
    unsigned place =
        over != TR_NO_ROW && may_overwrite(ctx, there, part) ? there : rows_for_result(run, bits);
    name_result(run, row, place, bits);
    if (part->kind != PTX_OPERAND_REG)
        return;
    struct place *old = place_of(ctx, part->var);
    bool is_whole = is_whole_register(part);
    bool is_local = is_whole && (old->seen == 1 || (old->kind == PLACE_RESULT && old->is_local));
    if (is_whole && old->kind == PLACE_RESULT)
        drop_result(ctx, part->var);
    else if (old->kind == PLACE_OPERAND)
        clear_place(ctx, part->var);
    run->results[place] = (struct result){*part, bits};
    set_place(ctx, part, PLACE_RESULT, place, is_whole ? bits : 0);
    place_of(ctx, part->var)->is_local = is_local;
}

/* What somebody may still want: an operand that is named again, a result. */
static unsigned rows_in_use(struct tr_ctx *ctx, unsigned row)
{
    const struct tr_run *run = ctx->run;
    const struct ptx_var *holder = run->holders[row];
    unsigned bits = run->results[row].bits;
    if (bits == 0 && holder != NULL)
        bits = place_of(ctx, holder)->bits;
    return bits / 32;
}

static void free_what_is_used_up(struct tr_ctx *ctx)
{
    struct tr_run *run = ctx->run;
    for (unsigned row = 0; row < run->next_row;) {
        const struct ptx_var *holder = run->holders[row];
        if (holder != NULL && is_used_up(place_of(ctx, holder)))
            drop_result(ctx, holder);
        unsigned count = rows_in_use(ctx, row);
        run->is_free[row] = count == 0;
        row += count == 0 ? 1 : count;
    }
}

void tr_end_operation(struct tr_ctx *ctx, const struct tr_operation *operation)
{
    struct tr_run *run = ctx->run;
    if (run == NULL)
        return;
    run->operations[run->count++].what = *operation;
    run->touches_memory |= operation->touches_memory;
    free_what_is_used_up(ctx);
}

/* ---- the end of the run ---- */

static bool is_function_of(const struct run_function *made, const struct tr_run *run)
{
    bool is_same = made->count == run->count;
    for (unsigned i = 0; i < run->count && is_same; i++)
        is_same = made->operations[i].what.function == run->operations[i].what.function &&
                  memcmp(made->operations[i].rows, run->operations[i].rows,
                         sizeof run->operations[i].rows) == 0;
    return is_same;
}

/* Unrolled loops have the same run again and again. */
static LLVMValueRef function_of_run(struct tr_ctx *ctx)
{
    const struct tr_run *run = ctx->run;
    unsigned number = 0;
    for (struct run_function *made = ctx->run_functions; made != NULL; made = made->next, number++)
        if (is_function_of(made, run))
            return made->function;
    struct run_function *made = pxr_arena_alloc_array(&ctx->arena, 1, sizeof *made);
    struct tr_run_operation *operations =
        pxr_arena_alloc_array(&ctx->arena, run->count, sizeof *operations);
    LLVMValueRef function = tr_build_run(ctx, number, run->operations, run->count);
    if (made == NULL || operations == NULL) {
        tr_fail(ctx, PXR_OUT_OF_MEMORY, ctx->func->line, "out of memory");
        return function;
    }
    memcpy(operations, run->operations, run->count * sizeof *operations);
    *made = (struct run_function){.next = ctx->run_functions,
                                  .function = function,
                                  .count = run->count,
                                  .operations = operations};
    ctx->run_functions = made;
    return function;
}

static void begin_run(struct tr_run *run)
{
    run->number++;
    memset(run->holders, 0, sizeof run->holders);
    memset(run->results, 0, sizeof run->results);
    memset(run->is_free, 0, sizeof run->is_free);
    run->next_row = 0;
    run->count = 0;
    run->touches_memory = false;
}

void tr_end_run(struct tr_ctx *ctx)
{
    struct tr_run *run = ctx->run;
    if (!tr_is_in_run(ctx))
        return;
    LLVMMetadataRef location = LLVMGetCurrentDebugLocation2(ctx->builder);
    LLVMSetCurrentDebugLocation2(ctx->builder, run->location);
    tr_meet_for(ctx, function_of_run(ctx), run->touches_memory);
    for (unsigned row = 0; row < run->next_row; row++) {
        const struct result *result = &run->results[row];
        enum ptx_type type = result->bits == 64 ? PTX_TYPE_B64 : PTX_TYPE_B32;
        if (result->bits != 0)
            tr_set_operand(ctx, &result->part, type, tr_take_word(ctx, row, result->bits));
    }
    LLVMSetCurrentDebugLocation2(ctx->builder, location);
    begin_run(run);
}
