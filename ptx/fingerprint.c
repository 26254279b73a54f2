/* SPDX-License-Identifier: Apache-2.0
 *
 * See fingerprint.h. Numbers are written seven bits to a byte, texts behind their length, lists
 * behind their count: where one part ends is never open.
 */
#include "ptx/fingerprint.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES 4096

struct printer {
    ptx_fingerprint_fn put;
    void *argument;
    const struct ptx_module *module;
    uint32_t *places; /* by func->index: place among the functions reached plus 1; 0: not reached */
    size_t used;
    uint8_t buffer[BUFFER_BYTES];
};

static void flush(struct printer *p)
{
    p->put(p->argument, p->buffer, p->used);
    p->used = 0;
}

static void put_byte(struct printer *p, uint8_t byte)
{
    if (p->used == BUFFER_BYTES)
        flush(p);
    p->buffer[p->used++] = byte;
}

static void put_number(struct printer *p, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        put_byte(p, (uint8_t)(number | 0x80));
    put_byte(p, (uint8_t)number);
}

static void put_bytes(struct printer *p, const char *bytes, size_t count)
{
    put_number(p, count);
    for (size_t i = 0; i < count; i++)
        put_byte(p, (uint8_t)bytes[i]);
}

static void put_text(struct printer *p, const char *text)
{
    put_bytes(p, text ? text : "", text ? strlen(text) : 0);
}

static void put_str(struct printer *p, struct pxr_str text)
{
    put_bytes(p, text.ptr, text.len);
}

/* ---- variables ---- */

static void put_var(struct printer *p, const struct ptx_var *var)
{
    put_text(p, var->name);
    put_number(p, var->space);
    put_number(p, var->type);
    put_number(p, var->vector_len);
    put_number(p, var->elem_count);
    put_number(p, var->is_array);
    put_number(p, var->is_unsized);
    put_number(p, var->is_managed);
    put_number(p, var->is_module_scope);
    put_number(p, var->is_input_param);
    put_number(p, var->is_pointer);
    put_number(p, var->pointee_space);
    put_number(p, var->pointee_align_bytes);
    put_number(p, var->linkage);
    put_number(p, var->align_bytes);
    put_number(p, var->size_bytes);
    put_number(p, var->index);
    put_number(p, var->param_offset_bytes);
}

static void put_vars(struct printer *p, const struct ptx_var *const *vars, uint32_t count)
{
    put_number(p, count);
    for (uint32_t i = 0; i < count; i++)
        put_var(p, vars[i]);
}

/* Variables of the function and of the module are told apart by where they are declared. */
static void put_var_reference(struct printer *p, const struct ptx_var *var)
{
    put_number(p, var->is_module_scope);
    put_number(p, var->index);
}

/* ---- instructions ---- */

static void put_func_reference(struct printer *p, const struct ptx_func *func)
{
    put_text(p, func->name);
    put_number(p, p->places[func->index]);
    put_number(p, func->has_body);
    put_number(p, (uint64_t)ptx_func_handle(p->module, func));
}

static void put_operand(struct printer *p, const struct ptx_operand *operand);

static void put_operands(struct printer *p, const struct ptx_operand *operands, uint32_t count)
{
    put_number(p, count);
    for (uint32_t i = 0; i < count; i++)
        put_operand(p, &operands[i]);
}

static void put_labels(struct printer *p, const struct ptx_operand *operand)
{
    put_number(p, operand->label_count);
    for (uint32_t i = 0; i < operand->label_count; i++)
        put_number(p, operand->labels[i]->index);
}

static void put_operand_value(struct printer *p, const struct ptx_operand *operand)
{
    switch (operand->kind) {
    case PTX_OPERAND_REG:
    case PTX_OPERAND_VAR:
        put_var_reference(p, operand->var);
        break;
    case PTX_OPERAND_SREG:
        put_number(p, operand->sreg);
        break;
    case PTX_OPERAND_INT:
    case PTX_OPERAND_FLOAT:
        put_number(p, operand->bits);
        break;
    case PTX_OPERAND_FUNC:
        put_func_reference(p, operand->func);
        break;
    case PTX_OPERAND_LABEL:
        put_number(p, operand->label->index);
        break;
    case PTX_OPERAND_LABELS:
        put_labels(p, operand);
        break;
    case PTX_OPERAND_ADDRESS:
    case PTX_OPERAND_VECTOR:
    case PTX_OPERAND_PAIR:
    case PTX_OPERAND_SUM:
        put_operands(p, operand->elems, operand->elem_count);
        break;
    case PTX_OPERAND_SINK:
        break;
    }
}

static void put_operand(struct printer *p, const struct ptx_operand *operand)
{
    put_number(p, operand->kind);
    put_number(p, operand->is_negated | operand->is_single << 1 | operand->is_bare << 2 |
                      operand->is_indexed << 3 | operand->is_unified << 4);
    put_number(p, operand->component);
    put_number(p, operand->lane_bits);
    put_number(p, operand->lane_count);
    for (int i = 0; i < 4; i++)
        put_number(p, operand->lanes[i]);
    put_number(p, (uint64_t)operand->offset);
    put_operand_value(p, operand);
}

static void put_signature(struct printer *p, const struct ptx_func *func)
{
    put_vars(p, func->params, func->param_count);
    put_vars(p, func->rets, func->ret_count);
    put_number(p, func->is_noreturn);
}

static void put_call(struct printer *p, const struct ptx_call *call)
{
    put_operands(p, call->rets, call->ret_count);
    put_operands(p, call->args, call->arg_count);
    put_operand(p, &call->callee);
    put_number(p, call->prototype != NULL);
    if (call->prototype)
        put_signature(p, call->prototype);
    else if (call->callee.kind == PTX_OPERAND_FUNC)
        put_signature(p, call->callee.func);
}

/* The text of the opcode decides operation, types and modifiers. */
static void put_inst(struct printer *p, const struct ptx_inst *inst)
{
    put_str(p, inst->text);
    put_number(p, (uint64_t)inst->column);
    put_number(p, inst->guard != NULL);
    if (inst->guard)
        put_var_reference(p, inst->guard);
    put_number(p, inst->guard_negated);
    put_operands(p, inst->operands, inst->operand_count);
    if (inst->call)
        put_call(p, inst->call);
}

static void put_stmt(struct printer *p, const struct ptx_stmt *stmt)
{
    put_number(p, stmt->kind);
    put_number(p, (uint64_t)stmt->line);
    switch (stmt->kind) {
    case PTX_STMT_INST:
        put_inst(p, &stmt->inst);
        break;
    case PTX_STMT_LABEL:
        put_number(p, stmt->label->index);
        put_text(p, stmt->label->name);
        break;
    case PTX_STMT_VAR:
        put_var_reference(p, stmt->var);
        break;
    case PTX_STMT_DIRECTIVE:
        put_str(p, stmt->text);
        break;
    case PTX_STMT_RANGE: /* its variables are the function's */
    case PTX_STMT_BLOCK_BEGIN:
    case PTX_STMT_BLOCK_END:
        break;
    }
}

/* ---- functions ---- */

static void put_bounds(struct printer *p, const uint32_t bounds[3])
{
    for (int d = 0; d < 3; d++)
        put_number(p, bounds[d]);
}

static void put_func_head(struct printer *p, const struct ptx_func *func)
{
    put_text(p, func->name);
    put_number(p, func->is_entry);
    put_number(p, func->linkage);
    put_number(p, func->param_bytes);
    put_bounds(p, func->max_threads);
    put_bounds(p, func->required_threads);
    put_number(p, func->min_blocks_per_sm);
    put_number(p, func->max_blocks_per_sm);
    put_number(p, func->max_registers);
    put_number(p, func->needs_cluster);
    put_number(p, func->is_explicit_cluster);
    put_number(p, func->has_block_clusters);
    put_bounds(p, func->cluster_blocks);
    put_number(p, func->max_cluster_blocks);
    put_number(p, (uint64_t)func->line);
    put_signature(p, func);
}

static void put_func(struct printer *p, const struct ptx_func *func)
{
    put_func_head(p, func);
    put_vars(p, func->vars, func->var_count);
    put_number(p, func->label_count);
    put_number(p, func->stmt_count);
    for (uint32_t i = 0; i < func->stmt_count; i++)
        put_stmt(p, &func->stmts[i]);
}

/* Calls through registers go to any function whose address is taken anywhere. */
static void put_handles(struct printer *p)
{
    for (uint32_t i = 0; i < p->module->func_count; i++)
        if (ptx_func_handle(p->module, p->module->funcs[i]) >= 0)
            put_func_reference(p, p->module->funcs[i]);
}

static void put_module(struct printer *p)
{
    const struct ptx_module *module = p->module;
    put_number(p, module->version);
    put_number(p, module->target);
    put_number(p, (uint8_t)module->target_suffix);
    put_number(p, module->is_debug);
    put_number(p, module->maps_f64_to_f32);
    put_number(p, module->texmode);
    put_number(p, module->address_bits);
    put_number(p, module->makes_short_addresses);
    put_vars(p, module->vars, module->var_count);
}

enum pxr_status ptx_fingerprint(const struct ptx_module *module, const struct ptx_func *kernel,
                                const struct ptx_kernel_layout *layout, ptx_fingerprint_fn put,
                                void *argument, struct pxr_error *err)
{
    struct printer *p = malloc(sizeof *p);
    uint32_t *places = calloc((size_t)module->func_count + 1, sizeof *places);
    if (!p || !places) {
        free(p);
        free(places);
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for the fingerprint of a kernel");
    }
    p->put = put;
    p->argument = argument;
    p->module = module;
    p->places = places;
    p->used = 0;
    places[kernel->index] = 1;
    for (uint32_t i = 0; i < layout->reached_count; i++)
        places[layout->reached[i]->index] = i + 2;
    put_module(p);
    put_func(p, kernel);
    put_number(p, layout->reached_count);
    for (uint32_t i = 0; i < layout->reached_count; i++)
        put_func(p, layout->reached[i]);
    put_number(p, layout->has_recursion);
    if (layout->has_recursion)
        put_handles(p);
    flush(p);
    free(places);
    free(p);
    return PXR_OK;
}
