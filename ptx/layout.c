/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of a kernel besides its code: the functions it reaches, and the shared and local
 * variables that all of them use.
 */
#include "ptx/list.h"
#include "ptx/ptx.h"
#include "ptx/reserved_shared.h"

/* Shared memory of one block: 32-bit addresses, and far less in every device. */
#define MAX_SHARED_BYTES (UINT64_C(1) << 30)

/* Module-scope variables of one thread. */
#define MAX_LOCAL_BYTES       (UINT64_C(1) << 30)
#define LOCAL_ALIGN_BYTES     16

#define VAR_ALIGN_MAX         4096                /* the smallest page */
#define SWIZZLE_PATTERN_BYTES 1024                /* of the longest pattern */
#define DESCRIPTOR_SPAN_BYTES (UINT32_C(1) << 18) /* descriptors hold 18 bits of an address */

struct layout_state {
    const struct ptx_module *module;
    struct ptx_list reached; /* const struct ptx_func *, the kernel first */
    struct ptx_list shared;  /* const struct ptx_var * */
    struct ptx_list local;   /* of module scope; const struct ptx_var * */
    bool *is_reached;        /* by func->index */
    bool *is_module_used;    /* module variables, by index */
    bool *is_func_used;      /* variables of the function walked, by index */
    const struct ptx_func *walked;
    struct ptx_list edges; /* struct call_edge */
    uint32_t *first_edge;  /* by func->index: place in edges plus 1 */
    uint32_t *open_calls;  /* by func->index */
    bool calls_indirectly;
    bool has_alloca;
    bool is_out_of_memory;
    struct ptx_kernel_layout *layout;
};

static void reach(struct layout_state *state, const struct ptx_func *func)
{
    const struct ptx_func **slot;

    if (!func->has_body || state->is_reached[func->index])
        return;
    slot = ptx_list_push(&state->reached, sizeof(struct ptx_func *));
    if (!slot) {
        state->is_out_of_memory = true;
        return;
    }
    state->is_reached[func->index] = true;
    *slot = func;
}

static void add_var(struct layout_state *state, struct ptx_list *list, const struct ptx_var *var)
{
    const struct ptx_var **slot = ptx_list_push(list, sizeof(struct ptx_var *));

    if (slot)
        *slot = var;
    else
        state->is_out_of_memory = true;
}

static void align_shared(struct ptx_kernel_layout *layout, uint32_t align)
{
    if (align > layout->shared_align)
        layout->shared_align = align;
}

static void use_var(struct layout_state *state, const struct ptx_var *var)
{
    struct ptx_kernel_layout *layout = state->layout;
    bool *is_used = var->is_module_scope ? state->is_module_used : state->is_func_used;

    if (is_used[var->index])
        return;
    is_used[var->index] = true;
    if (var->space == PTX_SPACE_SHARED)
        align_shared(layout, var->align_bytes < VAR_ALIGN_MAX ? var->align_bytes : VAR_ALIGN_MAX);
    if (var->space == PTX_SPACE_LOCAL && var->is_module_scope) {
        add_var(state, &state->local, var);
    } else if (var->space == PTX_SPACE_SHARED && var->is_unsized) {
        layout->uses_dynamic_shared = true;
        if (var->align_bytes > layout->dynamic_shared_align)
            layout->dynamic_shared_align = var->align_bytes;
    } else if (var->space == PTX_SPACE_SHARED) {
        add_var(state, &state->shared, var);
    }
}

static void use_sreg(struct layout_state *state, enum ptx_sreg sreg)
{
    if (sreg < PTX_SREG_RESERVED_SMEM_OFFSET_BEGIN || sreg > PTX_SREG_RESERVED_SMEM_OFFSET_1)
        return;
    align_shared(state->layout, PTX_RESERVED_SHARED_ALIGN);
    state->layout->shared_reserved_bytes = PTX_RESERVED_SHARED_BYTES;
}

static void walk_operands(struct layout_state *state, const struct ptx_operand *operands,
                          uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_operand *operand = &operands[i];

        switch (operand->kind) {
        case PTX_OPERAND_VAR:
            use_var(state, operand->var);
            break;
        case PTX_OPERAND_SREG:
            use_sreg(state, operand->sreg);
            break;
        case PTX_OPERAND_ADDRESS:
        case PTX_OPERAND_VECTOR:
        case PTX_OPERAND_PAIR:
        case PTX_OPERAND_SUM:
            walk_operands(state, operand->elems, operand->elem_count);
            break;
        default:
            break;
        }
    }
}

/* ---- recursion ---- */

/* One direct call; the edges of a callee are a list through `next`. */
struct call_edge {
    uint32_t caller;
    uint32_t next; /* place in the list of edges plus 1; 0: none */
};

static void add_edge(struct layout_state *state, const struct ptx_func *callee)
{
    struct call_edge *edge = ptx_list_push(&state->edges, sizeof(*edge));

    if (!edge) {
        state->is_out_of_memory = true;
        return;
    }
    edge->caller = state->walked->index;
    edge->next = state->first_edge[callee->index];
    state->first_edge[callee->index] = (uint32_t)state->edges.count;
    state->open_calls[edge->caller]++;
}

/* Functions whose calls are all finished are taken away one by one, beginning with those that call
 * nothing; the remaining ones are on a cycle or call one. */
static bool has_cycle(struct layout_state *state, const struct ptx_func **stack)
{
    const struct ptx_func *const *reached = state->reached.items;
    size_t depth = 0;
    size_t finished = 0;

    for (size_t i = 0; i < state->reached.count; i++)
        if (state->open_calls[reached[i]->index] == 0)
            stack[depth++] = reached[i];
    while (depth > 0) {
        uint32_t place = state->first_edge[stack[--depth]->index];

        finished++;
        while (place > 0) {
            const struct call_edge *edge = ptx_list_at(&state->edges, place - 1, sizeof(*edge));

            if (--state->open_calls[edge->caller] == 0)
                stack[depth++] = state->module->funcs[edge->caller];
            place = edge->next;
        }
    }
    return finished < state->reached.count;
}

/* ---- walking ---- */

/* Names that begin so, without a body, are those of CUDA's device runtime. */
static bool is_of_runtime(const char *name)
{
    return strncmp(name, "cuda", 4) == 0 || strncmp(name, "__cuda", 6) == 0;
}

static void walk_call(struct layout_state *state, const struct ptx_call *call)
{
    walk_operands(state, call->rets, call->ret_count);
    walk_operands(state, call->args, call->arg_count);
    if (call->callee.kind != PTX_OPERAND_FUNC) {
        state->calls_indirectly = true;
    } else if (call->callee.func->has_body) {
        reach(state, call->callee.func);
        add_edge(state, call->callee.func);
    } else {
        state->layout->calls_runtime |= is_of_runtime(call->callee.func->name);
    }
}

/* An indirect call may reach every function whose address is taken. */
static void reach_address_taken(struct layout_state *state)
{
    for (uint32_t i = 0; i < state->module->func_count; i++)
        if (state->module->funcs[i]->is_address_taken && !state->module->funcs[i]->is_entry)
            reach(state, state->module->funcs[i]);
}

/* Swizzles go by bits of the address, be it generic or one of shared memory: these must be the
 * same. Likewise programs put either into the descriptors of matrices. */
static uint32_t align_for(const struct ptx_inst *inst)
{
    if (strcmp(ptx_op_name(inst->op), "wgmma") == 0)
        return DESCRIPTOR_SPAN_BYTES;
    return ptx_inst_has_word(inst, PTX_MOD_TENSOR) ? SWIZZLE_PATTERN_BYTES : 1;
}

static bool walk_func(struct layout_state *state, const struct ptx_func *func)
{
    bool called_indirectly = state->calls_indirectly;

    state->walked = func;
    state->is_func_used = calloc(func->var_count + 1, sizeof(bool));
    if (!state->is_func_used)
        return false;
    for (uint32_t i = 0; i < func->stmt_count; i++) {
        const struct ptx_stmt *stmt = &func->stmts[i];

        if (stmt->kind != PTX_STMT_INST)
            continue;
        state->has_alloca |= stmt->inst.op == PTX_OP_ALLOCA;
        align_shared(state->layout, align_for(&stmt->inst));
        if (stmt->inst.call)
            walk_call(state, stmt->inst.call);
        walk_operands(state, stmt->inst.operands, stmt->inst.operand_count);
    }
    free(state->is_func_used);
    if (state->calls_indirectly && !called_indirectly)
        reach_address_taken(state);
    return !state->is_out_of_memory;
}

/* ---- results ---- */

static uint64_t align_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) & ~(align - 1);
}

bool ptx_var_is_per_lane(const struct ptx_var *var)
{
    return var->space == PTX_SPACE_SHARED && !var->is_unsized &&
           (strcmp(var->name, PTX_UNI_ARRAY) == 0 || strcmp(var->name, PTX_STACKS_ARRAY) == 0);
}

static uint64_t size_of(const struct ptx_var *var)
{
    return ptx_var_is_per_lane(var) ? var->size_bytes * PTX_WARP_LANES : var->size_bytes;
}

/* Variables one behind the other, as they were met, from `bytes` on. */
struct placement {
    const struct ptx_var *const *vars;
    const uint32_t *offsets;
    uint64_t bytes;
};

static enum pxr_status place(struct layout_state *state, const struct ptx_list *list,
                             uint64_t max_bytes, struct placement *placement)
{
    const struct ptx_var *const *vars = list->items;
    struct pxr_arena *arena = &state->layout->arena;
    const struct ptx_var **copy = pxr_arena_alloc_array(arena, list->count, sizeof(*copy));
    uint32_t *offsets = pxr_arena_alloc_array(arena, list->count, sizeof(*offsets));
    uint64_t offset = placement->bytes;

    if (!copy || !offsets)
        return PXR_OUT_OF_MEMORY;
    for (size_t i = 0; i < list->count; i++) {
        offset = align_up(offset, vars[i]->align_bytes);
        if (offset > max_bytes || size_of(vars[i]) > max_bytes - offset)
            return PXR_OUT_OF_RESOURCES;
        copy[i] = vars[i];
        offsets[i] = (uint32_t)offset;
        offset += size_of(vars[i]);
    }
    *placement = (struct placement){copy, offsets, offset};
    return PXR_OK;
}

static enum pxr_status fail_placing(enum pxr_status status, const struct ptx_func *kernel,
                                    uint64_t max_bytes, const char *space, struct pxr_error *err)
{
    if (status == PXR_OUT_OF_MEMORY)
        return pxr_fail(err, status, "not enough memory to lay out '%s'", kernel->name);
    return pxr_fail(err, status, "kernel '%s' needs more than %llu bytes of %s memory",
                    kernel->name, (unsigned long long)max_bytes, space);
}

static enum pxr_status place_shared(struct layout_state *state, const struct ptx_func *kernel,
                                    struct pxr_error *err)
{
    struct ptx_kernel_layout *layout = state->layout;
    struct placement placement = {.bytes = layout->shared_reserved_bytes};
    enum pxr_status status = place(state, &state->shared, MAX_SHARED_BYTES, &placement);

    if (status != PXR_OK)
        return fail_placing(status, kernel, MAX_SHARED_BYTES, "shared", err);
    if (layout->uses_dynamic_shared)
        placement.bytes = align_up(placement.bytes, layout->dynamic_shared_align);
    layout->shared_vars = placement.vars;
    layout->shared_offsets = placement.offsets;
    layout->shared_count = (uint32_t)state->shared.count;
    layout->shared_static_bytes = (uint32_t)placement.bytes;
    return PXR_OK;
}

static enum pxr_status place_local(struct layout_state *state, const struct ptx_func *kernel,
                                   struct pxr_error *err)
{
    struct ptx_kernel_layout *layout = state->layout;
    struct placement placement = {0};
    enum pxr_status status = place(state, &state->local, MAX_LOCAL_BYTES, &placement);

    if (status != PXR_OK)
        return fail_placing(status, kernel, MAX_LOCAL_BYTES, "local", err);
    layout->local_vars = placement.vars;
    layout->local_offsets = placement.offsets;
    layout->local_count = (uint32_t)state->local.count;
    layout->local_static_bytes = (uint32_t)align_up(placement.bytes, LOCAL_ALIGN_BYTES);
    return PXR_OK;
}

static uint64_t local_bytes_of(const struct ptx_func *func)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < func->var_count; i++)
        if (func->vars[i]->space == PTX_SPACE_LOCAL)
            bytes = align_up(bytes, func->vars[i]->align_bytes) + func->vars[i]->size_bytes;
    return align_up(bytes, LOCAL_ALIGN_BYTES);
}

static enum pxr_status sum_local(struct layout_state *state, const struct ptx_func *kernel,
                                 struct pxr_error *err)
{
    const struct ptx_func *const *reached = state->reached.items;
    uint64_t bytes = state->layout->local_static_bytes;
    uint64_t most = 0;

    for (size_t i = 0; i < state->reached.count && bytes <= UINT32_MAX; i++) {
        uint64_t own = local_bytes_of(reached[i]);
        most = own > most ? own : most;
        bytes += own;
    }
    if (bytes > UINT32_MAX)
        return pxr_fail(err, PXR_OUT_OF_RESOURCES,
                        "kernel '%s' needs more than 4 GiB of local memory per thread",
                        kernel->name);
    state->layout->local_bytes = (uint32_t)bytes;
    state->layout->local_least_bytes = state->layout->local_static_bytes + (uint32_t)most;
    return PXR_OK;
}

static enum pxr_status store_reached(struct layout_state *state, const struct ptx_func *kernel,
                                     struct pxr_error *err)
{
    struct ptx_kernel_layout *layout = state->layout;
    size_t count = state->reached.count - 1;
    const struct ptx_func **copy = pxr_arena_alloc_array(&layout->arena, count, sizeof(*copy));

    if (!copy)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "not enough memory to lay out '%s'", kernel->name);
    for (size_t i = 0; i < count; i++)
        copy[i] = ((const struct ptx_func *const *)state->reached.items)[i + 1];
    layout->reached = copy;
    layout->reached_count = (uint32_t)count;
    return PXR_OK;
}

static enum pxr_status walk_all(struct layout_state *state, const struct ptx_func *kernel,
                                struct pxr_error *err)
{
    bool is_ok =
        state->is_reached && state->is_module_used && state->first_edge && state->open_calls;

    if (is_ok)
        reach(state, kernel);
    for (size_t i = 0; is_ok && i < state->reached.count; i++)
        is_ok = walk_func(state, ((const struct ptx_func **)state->reached.items)[i]);
    if (!is_ok || state->is_out_of_memory)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "not enough memory to lay out '%s'", kernel->name);
    return PXR_OK;
}

static enum pxr_status lay_out(struct layout_state *state, const struct ptx_func *kernel,
                               struct pxr_error *err)
{
    enum pxr_status status = walk_all(state, kernel, err);
    const struct ptx_func **stack;

    if (status != PXR_OK)
        return status;
    stack = pxr_arena_alloc_array(&state->layout->arena, state->reached.count, sizeof(*stack));
    if (!stack)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "not enough memory to lay out '%s'", kernel->name);
    state->layout->has_recursion =
        state->calls_indirectly || state->has_alloca || has_cycle(state, stack);
    status = store_reached(state, kernel, err);
    if (status == PXR_OK)
        status = place_shared(state, kernel, err);
    if (status == PXR_OK)
        status = place_local(state, kernel, err);
    if (status == PXR_OK)
        status = sum_local(state, kernel, err);
    return status;
}

enum pxr_status ptx_layout_kernel(const struct ptx_module *module, const struct ptx_func *kernel,
                                  struct ptx_kernel_layout *layout, struct pxr_error *err)
{
    struct layout_state state = {.module = module, .layout = layout};
    enum pxr_status status;

    *layout = (struct ptx_kernel_layout){.shared_align = 1, .dynamic_shared_align = 1};
    pxr_arena_init(&layout->arena, 0);
    if (!kernel->has_body) {
        pxr_arena_fini(&layout->arena);
        return pxr_fail(err, PXR_NOT_FOUND, "kernel '%s' has no body", kernel->name);
    }
    state.is_reached = calloc(module->func_count + 1, sizeof(bool));
    state.is_module_used = calloc(module->var_count + 1, sizeof(bool));
    state.first_edge = calloc(module->func_count + 1, sizeof(uint32_t));
    state.open_calls = calloc(module->func_count + 1, sizeof(uint32_t));
    status = lay_out(&state, kernel, err);
    free(state.is_reached);
    free(state.first_edge);
    free(state.open_calls);
    ptx_list_fini(&state.edges);
    free(state.is_module_used);
    ptx_list_fini(&state.reached);
    ptx_list_fini(&state.shared);
    ptx_list_fini(&state.local);
    if (status != PXR_OK)
        ptx_layout_fini(layout);
    return status;
}

void ptx_layout_fini(struct ptx_kernel_layout *layout)
{
    pxr_arena_fini(&layout->arena);
    *layout = (struct ptx_kernel_layout){0};
}
