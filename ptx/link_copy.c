/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies functions and initial values from an input of the linker into its result. Pointers to
 * variables and functions go through the input's maps, so that all modules meet in one object.
 */
#include "ptx/link_modules.h"

struct copy_state {
    struct pxr_arena *arena;
    const struct ptx_link_input *input;
    struct ptx_var **vars;     /* of the function, by index */
    struct ptx_label **labels; /* of the function, by index */
    bool is_out_of_memory;
};

static void *allocate(struct copy_state *state, size_t count, size_t size_bytes)
{
    void *memory = pxr_arena_alloc_array(state->arena, count, size_bytes);

    if (!memory)
        state->is_out_of_memory = true;
    return memory;
}

static const char *copy_name(struct copy_state *state, const char *name)
{
    const char *copy = pxr_arena_strndup(state->arena, name, strlen(name));

    if (!copy)
        state->is_out_of_memory = true;
    return copy;
}

/* Text is mostly a part of the module's text; opcodes written with gaps are not. */
static struct pxr_str copy_text(struct copy_state *state, struct pxr_str text)
{
    struct pxr_str whole = state->input->module->text;
    size_t offset = (uintptr_t)text.ptr - (uintptr_t)whole.ptr;
    char *copy;

    if ((uintptr_t)text.ptr >= (uintptr_t)whole.ptr && offset <= whole.len)
        return (struct pxr_str){state->input->text + offset, text.len};
    copy = pxr_arena_strndup(state->arena, text.ptr, text.len);
    if (!copy)
        state->is_out_of_memory = true;
    return (struct pxr_str){copy, copy ? text.len : 0};
}

static const struct ptx_var *map_var(const struct copy_state *state, const struct ptx_var *var)
{
    if (!var)
        return NULL;
    return var->is_module_scope ? state->input->vars[var->index] : state->vars[var->index];
}

static const struct ptx_func *map_func(const struct copy_state *state, const struct ptx_func *func)
{
    return func ? state->input->funcs[func->index] : NULL;
}

static const struct ptx_label *map_label(struct copy_state *state, const struct ptx_label *label)
{
    struct ptx_label **slot = &state->labels[label->index];

    if (!*slot) {
        struct ptx_label *copy = allocate(state, 1, sizeof(*copy));

        if (!copy)
            return NULL;
        *copy = *label;
        copy->name = copy_name(state, label->name);
        copy->line += state->input->first_line;
        *slot = copy;
    }
    return *slot;
}

/* ---- operands ---- */

static const struct ptx_operand *copy_operands(struct copy_state *state,
                                               const struct ptx_operand *operands, uint32_t count);

static const struct ptx_label *const *copy_labels(struct copy_state *state,
                                                  const struct ptx_operand *operand)
{
    const struct ptx_label **labels = allocate(state, operand->label_count, sizeof(*labels));

    for (uint32_t i = 0; labels && i < operand->label_count; i++)
        labels[i] = map_label(state, operand->labels[i]);
    return labels;
}

static struct ptx_operand copy_operand(struct copy_state *state, const struct ptx_operand *operand)
{
    struct ptx_operand copy = *operand;

    copy.text = copy_text(state, operand->text);
    switch (operand->kind) {
    case PTX_OPERAND_REG:
    case PTX_OPERAND_VAR:
        copy.var = map_var(state, operand->var);
        break;
    case PTX_OPERAND_FUNC:
        copy.func = map_func(state, operand->func);
        break;
    case PTX_OPERAND_LABEL:
        copy.label = map_label(state, operand->label);
        break;
    case PTX_OPERAND_LABELS:
        copy.labels = copy_labels(state, operand);
        break;
    case PTX_OPERAND_ADDRESS:
    case PTX_OPERAND_VECTOR:
    case PTX_OPERAND_PAIR:
    case PTX_OPERAND_SUM:
        copy.elems = copy_operands(state, operand->elems, operand->elem_count);
        break;
    case PTX_OPERAND_SREG:
    case PTX_OPERAND_INT:
    case PTX_OPERAND_FLOAT:
    case PTX_OPERAND_SINK:
        break;
    }
    return copy;
}

/* Recursion is as deep as operands nest, which the parser limits. */
static const struct ptx_operand *copy_operands(struct copy_state *state,
                                               const struct ptx_operand *operands, uint32_t count)
{
    struct ptx_operand *copy = allocate(state, count, sizeof(*copy));

    for (uint32_t i = 0; copy && i < count; i++)
        copy[i] = copy_operand(state, &operands[i]);
    return copy;
}

/* ---- functions ---- */

static const struct ptx_var *const *map_vars(struct copy_state *state,
                                             const struct ptx_var *const *vars, uint32_t count)
{
    const struct ptx_var **copy = allocate(state, count, sizeof(*copy));

    for (uint32_t i = 0; copy && i < count; i++)
        copy[i] = map_var(state, vars[i]);
    return copy;
}

static bool is_module_func(const struct copy_state *state, const struct ptx_func *func)
{
    return func->index < state->input->module->func_count &&
           state->input->module->funcs[func->index] == func;
}

/* A prototype is a function of its own, or one of the module that stands for a .calltargets. */
static const struct ptx_func *copy_prototype(struct copy_state *state,
                                             const struct ptx_func *prototype)
{
    struct ptx_func *copy;

    if (!prototype || is_module_func(state, prototype))
        return map_func(state, prototype);
    copy = allocate(state, 1, sizeof(*copy));
    if (!copy)
        return NULL;
    *copy = *prototype;
    copy->name = copy_name(state, prototype->name);
    copy->line += state->input->first_line;
    copy->written = NULL;
    copy->params = map_vars(state, prototype->params, prototype->param_count);
    copy->rets = map_vars(state, prototype->rets, prototype->ret_count);
    return copy;
}

static const struct ptx_call *copy_call(struct copy_state *state, const struct ptx_call *call)
{
    struct ptx_call *copy;

    if (!call)
        return NULL;
    copy = allocate(state, 1, sizeof(*copy));
    if (!copy)
        return NULL;
    *copy = *call;
    copy->rets = copy_operands(state, call->rets, call->ret_count);
    copy->args = copy_operands(state, call->args, call->arg_count);
    copy->callee = copy_operand(state, &call->callee);
    copy->prototype = copy_prototype(state, call->prototype);
    copy->prototype_name = copy_text(state, call->prototype_name);
    return copy;
}

static const struct ptx_var_range *copy_range(struct copy_state *state,
                                              const struct ptx_var_range *range)
{
    struct ptx_var_range *copy = allocate(state, 1, sizeof(*copy));

    if (!copy)
        return NULL;
    *copy = *range;
    copy->model.name = copy_name(state, range->model.name);
    copy->model.line += state->input->first_line;
    copy->model.written = NULL;
    return copy;
}

static void copy_stmt(struct copy_state *state, const struct ptx_stmt *from, struct ptx_stmt *to)
{
    *to = *from;
    to->line += state->input->first_line;
    switch (from->kind) {
    case PTX_STMT_INST:
        to->inst.text = copy_text(state, from->inst.text);
        to->inst.line += state->input->first_line;
        to->inst.guard = map_var(state, from->inst.guard);
        to->inst.operands = copy_operands(state, from->inst.operands, from->inst.operand_count);
        to->inst.call = copy_call(state, from->inst.call);
        break;
    case PTX_STMT_LABEL:
        to->label = map_label(state, from->label);
        break;
    case PTX_STMT_VAR:
        to->var = map_var(state, from->var);
        break;
    case PTX_STMT_RANGE:
        to->range = copy_range(state, from->range);
        break;
    case PTX_STMT_DIRECTIVE:
        to->text = copy_text(state, from->text);
        break;
    case PTX_STMT_BLOCK_BEGIN:
    case PTX_STMT_BLOCK_END:
        break;
    }
}

static void copy_var(struct copy_state *state, const struct ptx_var *from)
{
    struct ptx_var *copy = allocate(state, 1, sizeof(*copy));

    if (!copy)
        return;
    *copy = *from;
    copy->name = copy_name(state, from->name);
    copy->line += state->input->first_line;
    copy->written = NULL;
    state->vars[from->index] = copy;
}

bool ptx_link_copy_func(struct pxr_arena *arena, const struct ptx_link_input *input,
                        const struct ptx_func *from, struct ptx_func *to)
{
    struct copy_state state = {.arena = arena, .input = input};
    struct ptx_stmt *stmts = allocate(&state, from->stmt_count, sizeof(*stmts));

    state.vars = allocate(&state, from->var_count, sizeof(*state.vars));
    state.labels = allocate(&state, from->label_count, sizeof(*state.labels));
    if (state.is_out_of_memory)
        return false;
    for (uint32_t i = 0; i < from->var_count; i++)
        copy_var(&state, from->vars[i]);
    if (state.is_out_of_memory)
        return false;
    for (uint32_t i = 0; i < from->stmt_count; i++)
        copy_stmt(&state, &from->stmts[i], &stmts[i]);
    to->params = map_vars(&state, from->params, from->param_count);
    to->rets = map_vars(&state, from->rets, from->ret_count);
    to->stmts = stmts;
    to->vars = (const struct ptx_var *const *)state.vars;
    return !state.is_out_of_memory;
}

bool ptx_link_copy_init(struct pxr_arena *arena, const struct ptx_link_input *input,
                        const struct ptx_var *from, struct ptx_var *to)
{
    struct ptx_reloc *relocs;
    uint8_t *bytes;

    if (!from->init_bytes)
        return true;
    bytes = pxr_arena_alloc(arena, from->size_bytes);
    relocs = pxr_arena_alloc_array(arena, from->reloc_count, sizeof(*relocs));
    if (!bytes || !relocs)
        return false;
    memcpy(bytes, from->init_bytes, from->size_bytes);
    for (uint32_t i = 0; i < from->reloc_count; i++) {
        relocs[i] = from->relocs[i];
        if (relocs[i].var)
            relocs[i].var = input->vars[relocs[i].var->index];
        if (relocs[i].func)
            relocs[i].func = input->funcs[relocs[i].func->index];
    }
    to->init_bytes = bytes;
    to->relocs = relocs;
    return true;
}
