/* SPDX-License-Identifier: Apache-2.0
 *
 * Of each register all places where it is written count, wherever they stand: most registers are
 * written once, and those of loops by what they were before.
 */
#include "translator/emit/address_variable.h"

#include <string.h>

#include "ptx/ops.h"
#include "translator/emit/emit.h"
#include "translator/emit/registers.h"

/* Instead of a variable. A register that nothing is known of yet is left out where it is read. */
static const struct ptx_var not_yet, number, anything;

typedef const struct ptx_var *made_of;

static bool is_variable(made_of a)
{
    return a != &not_yet && a != &number && a != &anything;
}

/* ---- what is made of two ---- */

static made_of either(made_of a, made_of b)
{
    if (a == &not_yet || a == b)
        return b;
    return b == &not_yet ? a : &anything;
}

static made_of sum(made_of a, made_of b)
{
    if (a == &not_yet || b == &not_yet)
        return &not_yet;
    if (a == &number)
        return b;
    return b == &number ? a : &anything;
}

static made_of difference(made_of a, made_of b)
{
    if (a == &not_yet || b == &not_yet)
        return &not_yet;
    return b == &number ? a : &anything;
}

/* Of anything else than a sum. */
static made_of mixture(made_of a, made_of b)
{
    if (a == &not_yet || b == &not_yet)
        return &not_yet;
    return a == &number && b == &number ? &number : &anything;
}

/* ---- operands ---- */

static made_of of_operand(const struct tr_ctx *ctx, const struct ptx_operand *operand);

static made_of of_parts(const struct tr_ctx *ctx, const struct ptx_operand *vector)
{
    made_of made = &number;
    for (uint32_t i = 0; i < vector->elem_count; i++)
        made = mixture(made, of_operand(ctx, &vector->elems[i]));
    return made;
}

static made_of of_operand(const struct tr_ctx *ctx, const struct ptx_operand *operand)
{
    switch (operand->kind) {
    case PTX_OPERAND_REG:
        return operand->component == 0 ? ctx->addresses.by_register[operand->var->index]
                                       : &anything;
    case PTX_OPERAND_SREG:
    case PTX_OPERAND_INT:
    case PTX_OPERAND_FLOAT:
        return &number;
    case PTX_OPERAND_VAR:
        return operand->var;
    case PTX_OPERAND_SUM:
    case PTX_OPERAND_ADDRESS:
        return of_operand(ctx, &operand->elems[0]);
    case PTX_OPERAND_VECTOR:
        return of_parts(ctx, operand);
    default:
        return &anything;
    }
}

/* What memory holds is taken for a number: to be an address of its own, or a distance. */
static made_of of_sources(const struct tr_ctx *ctx, const struct ptx_inst *inst,
                          const struct ptx_operand_rule *rules)
{
    made_of made = &number;
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        const struct ptx_operand *operand = &inst->operands[i];
        bool is_memory = operand->kind == PTX_OPERAND_ADDRESS && !operand->is_bare;
        if (!is_memory && !ptx_rule_is_written(&rules[i], i) &&
            operand->kind != PTX_OPERAND_LABELS && operand->kind != PTX_OPERAND_SINK)
            made = mixture(made, of_operand(ctx, operand));
    }
    return made;
}

static made_of of_source(const struct tr_ctx *ctx, const struct ptx_inst *inst, unsigned i)
{
    return of_operand(ctx, &inst->operands[i]);
}

static bool keeps_addresses(const struct ptx_inst *inst)
{
    return ptx_type_bytes(inst->types[0]) >= sizeof(uint32_t) &&
           ptx_type_bytes(inst->types[inst->type_count - 1]) >= sizeof(uint32_t);
}

static made_of of_result(const struct tr_ctx *ctx, const struct ptx_inst *inst,
                         const struct ptx_operand_rule *rules)
{
    switch (inst->op) {
    case PTX_OP_MOV:
    case PTX_OP_MOV_BITS:
    case PTX_OP_CVT_INT:
    case PTX_OP_CVTA:
    case PTX_OP_CVTA_TO:
        return keeps_addresses(inst) ? of_source(ctx, inst, 1) : of_sources(ctx, inst, rules);
    case PTX_OP_ADD_INT:
        return sum(of_source(ctx, inst, 1), of_source(ctx, inst, 2));
    case PTX_OP_SUB_INT:
        return difference(of_source(ctx, inst, 1), of_source(ctx, inst, 2));
    case PTX_OP_MAD_INT:
    case PTX_OP_MAD_WIDE:
        return sum(mixture(of_source(ctx, inst, 1), of_source(ctx, inst, 2)),
                   of_source(ctx, inst, 3));
    case PTX_OP_SELP:
        return either(of_source(ctx, inst, 1), of_source(ctx, inst, 2));
    default:
        return of_sources(ctx, inst, rules);
    }
}

/* ---- the function ---- */

struct pass {
    struct tr_ctx *ctx;
    made_of result;
    bool is_more; /* more is known of some register than before */
};

static void write_register(const struct ptx_operand *part, void *data)
{
    struct pass *pass = data;
    made_of *known = &pass->ctx->addresses.by_register[part->var->index];
    made_of now = either(*known, part->component == 0 ? pass->result : &anything);
    pass->is_more |= now != *known;
    *known = now;
}

/* Of several registers each has a part. */
static void write_operand(struct pass *pass, const struct ptx_operand *operand)
{
    made_of whole = pass->result;
    if (operand->kind != PTX_OPERAND_REG)
        pass->result = mixture(whole, &number);
    tr_for_operand_registers(operand, write_register, pass);
    pass->result = whole;
}

static void pass_instruction(struct pass *pass, const struct ptx_inst *inst)
{
    struct ptx_operand_rule rules[PTX_MAX_RULES];
    ptx_op_operand_rules(inst->op, rules);
    pass->result = inst->call != NULL ? &number : of_result(pass->ctx, inst, rules);
    for (uint32_t i = 0; i < inst->operand_count; i++)
        if (ptx_rule_is_written(&rules[i], i) && inst->operands[i].kind != PTX_OPERAND_ADDRESS)
            write_operand(pass, &inst->operands[i]);
    for (uint32_t i = 0; inst->call != NULL && i < inst->call->ret_count; i++)
        tr_for_operand_registers(&inst->call->rets[i], write_register, pass);
}

static bool pass_function(struct tr_ctx *ctx)
{
    struct pass pass = {.ctx = ctx};
    for (uint32_t i = 0; i < ctx->func->stmt_count; i++)
        if (ctx->func->stmts[i].kind == PTX_STMT_INST)
            pass_instruction(&pass, &ctx->func->stmts[i].inst);
    return pass.is_more;
}

/* A register changes three times at most, so this ends. */
static bool find_addresses(struct tr_ctx *ctx)
{
    uint32_t count = ctx->func->var_count;
    ctx->addresses.by_register =
        pxr_arena_alloc_array(&ctx->arena, count + 1, sizeof *ctx->addresses.by_register);
    if (ctx->addresses.by_register == NULL)
        return false;
    for (uint32_t i = 0; i < count; i++)
        ctx->addresses.by_register[i] = &not_yet;
    while (pass_function(ctx))
        continue;
    return true;
}

static bool are_addresses_known(struct tr_ctx *ctx)
{
    if (ctx->addresses.func != ctx->func)
        ctx->addresses.func = find_addresses(ctx) ? ctx->func : NULL;
    return ctx->addresses.func != NULL;
}

const struct ptx_var *tr_variable_of(struct tr_ctx *ctx, const struct ptx_operand *address)
{
    made_of made = are_addresses_known(ctx) ? of_operand(ctx, address) : &anything;
    return is_variable(made) ? made : NULL;
}

/* ---- where an address gets to ---- */

static bool has_part_of(const struct tr_ctx *ctx, const struct ptx_operand *operand, made_of var)
{
    if (operand->kind != PTX_OPERAND_VECTOR && operand->kind != PTX_OPERAND_PAIR)
        return of_operand(ctx, operand) == var;
    for (uint32_t i = 0; i < operand->elem_count; i++)
        if (has_part_of(ctx, &operand->elems[i], var))
            return true;
    return false;
}

static bool is_named(const struct ptx_inst *inst, const char *opcode)
{
    return inst->text.len > strlen(opcode) && strncmp(inst->text.ptr, opcode, strlen(opcode)) == 0;
}

static bool is_memory_operand(const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_ADDRESS && !operand->is_bare;
}

static bool is_vprintf(const struct ptx_call *call)
{
    return call->callee.kind == PTX_OPERAND_FUNC && strcmp(call->callee.func->name, "vprintf") == 0;
}

/* Whether the memory is that of an argument for vprintf. */
static bool is_for_vprintf(const struct tr_ctx *ctx, const struct ptx_operand *memory)
{
    const struct ptx_operand *base = &memory->elems[0];
    for (uint32_t i = 0; i < ctx->func->stmt_count; i++) {
        const struct ptx_stmt *stmt = &ctx->func->stmts[i];
        const struct ptx_call *call = stmt->kind == PTX_STMT_INST ? stmt->inst.call : NULL;
        for (uint32_t k = 0; call != NULL && is_vprintf(call) && k < call->arg_count; k++)
            if (base->kind == PTX_OPERAND_VAR && call->args[k].kind == PTX_OPERAND_VAR &&
                call->args[k].var == base->var)
                return true;
    }
    return false;
}

/* Whether the result is the address, too, for all that is known of its register. */
static bool goes_on(const struct tr_ctx *ctx, const struct ptx_inst *inst, made_of var)
{
    struct ptx_operand_rule rules[PTX_MAX_RULES];
    ptx_op_operand_rules(inst->op, rules);
    return inst->operands[0].kind == PTX_OPERAND_REG && ptx_rule_is_written(&rules[0], 0) &&
           of_result(ctx, inst, rules) == var && of_operand(ctx, &inst->operands[0]) == var;
}

static bool operand_stays(const struct tr_ctx *ctx, const struct ptx_inst *inst, uint32_t i,
                          made_of var)
{
    const struct ptx_operand *operand = &inst->operands[i];
    if (!has_part_of(ctx, operand, var))
        return true;
    if (is_memory_operand(operand))
        return operand->elem_count == 1 && (is_named(inst, "ld.") || is_named(inst, "st."));
    if (is_named(inst, "st."))
        return is_for_vprintf(ctx, &inst->operands[0]);
    return is_named(inst, "setp.") || goes_on(ctx, inst, var);
}

static bool call_stays(const struct tr_ctx *ctx, const struct ptx_call *call, made_of var)
{
    for (uint32_t i = 0; i < call->arg_count; i++)
        if (has_part_of(ctx, &call->args[i], var))
            return false;
    return true;
}

static bool instruction_stays(const struct tr_ctx *ctx, const struct ptx_inst *inst, made_of var)
{
    struct ptx_operand_rule rules[PTX_MAX_RULES];
    ptx_op_operand_rules(inst->op, rules);
    for (uint32_t i = 0; i < inst->operand_count; i++) {
        bool is_result =
            ptx_rule_is_written(&rules[i], i) && !is_memory_operand(&inst->operands[i]);
        if (!is_result && !operand_stays(ctx, inst, i, var))
            return false;
    }
    return inst->call == NULL || call_stays(ctx, inst->call, var);
}

bool tr_variable_stays(struct tr_ctx *ctx, const struct ptx_var *var)
{
    if (!are_addresses_known(ctx))
        return false;
    for (uint32_t i = 0; i < ctx->func->stmt_count; i++)
        if (ctx->func->stmts[i].kind == PTX_STMT_INST &&
            !instruction_stays(ctx, &ctx->func->stmts[i].inst, var))
            return false;
    return true;
}
