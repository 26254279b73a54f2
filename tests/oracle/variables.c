/* SPDX-License-Identifier: Apache-2.0
 *
 * Places of variables: memory and initial values of module-scope variables, places of .shared
 * variables, and the address of any variable.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/machine.h"

static uint64_t align_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) / align * align;
}

/* ---- .global and .const ---- */

/* Zeroed memory, aligned at least as a variable of any type must be. */
static bool make_var(struct oracle *oracle, const struct ptx_var *var)
{
    uint64_t align = var->align_bytes > 16 ? var->align_bytes : 16;
    uint8_t *memory = aligned_alloc(align, align_up(var->size_bytes + 1, align));

    if (!memory)
        return false;
    memset(memory, 0, align_up(var->size_bytes + 1, align));
    if (var->init_bytes)
        memcpy(memory, var->init_bytes, var->size_bytes);
    oracle->vars[var->index] = memory;
    return oracle_add_range(oracle, (struct oracle_range){
                                        .base = (uint64_t)(uintptr_t)memory,
                                        .size_bytes = var->size_bytes,
                                        .is_const = var->space == PTX_SPACE_CONST,
                                    });
}

static bool has_memory(const struct ptx_var *var)
{
    return (var->space == PTX_SPACE_GLOBAL || var->space == PTX_SPACE_CONST) &&
           var->linkage != PTX_LINKAGE_EXTERN;
}

/* PTX ISA, "Initializers": a name stands for the variable's address in its space, generic(name)
 * for its generic address. .global and .const have the same address either way here. */
static uint64_t reloc_value(const struct oracle *oracle, const struct ptx_reloc *reloc)
{
    uint64_t value;

    if (reloc->func)
        value = (uint64_t)reloc->func->handle;
    else if (has_memory(reloc->var))
        value = (uint64_t)(uintptr_t)oracle->vars[reloc->var->index];
    else if (reloc->is_generic && reloc->var->space == PTX_SPACE_SHARED)
        value = ORACLE_SHARED_WINDOW + oracle->module_places[reloc->var->index];
    else
        value = oracle->module_places[reloc->var->index];
    return (value + (uint64_t)reloc->addend) >> reloc->shift_bits;
}

static void apply_relocs(struct oracle *oracle, const struct ptx_var *var)
{
    for (uint32_t i = 0; i < var->reloc_count; i++) {
        const struct ptx_reloc *reloc = &var->relocs[i];
        uint64_t value = reloc_value(oracle, reloc);
        size_t size_bytes = reloc->size_bytes < 8 ? reloc->size_bytes : 8;

        memcpy(oracle->vars[var->index] + reloc->offset_bytes, &value, size_bytes);
    }
}

enum pxr_status oracle_init_vars(struct oracle *oracle, struct pxr_error *err)
{
    const struct ptx_module *module = oracle->module;
    uint64_t local_bytes = 0;

    for (uint32_t i = 0; i < module->var_count; i++) {
        const struct ptx_var *var = module->vars[i];

        if (has_memory(var) && !make_var(oracle, var))
            return pxr_fail(err, PXR_OUT_OF_MEMORY, "not enough memory for variable '%s'",
                            var->name);
        if (var->space != PTX_SPACE_LOCAL)
            continue;
        local_bytes = align_up(local_bytes, var->align_bytes);
        oracle->module_places[i] = (uint32_t)local_bytes;
        local_bytes += var->size_bytes;
        if (local_bytes > ORACLE_MAX_LOCAL_BYTES / 2)
            return pxr_fail(err, PXR_OUT_OF_RESOURCES, "'%s' is too large for local memory",
                            var->name);
    }
    oracle->module_local_bytes = (uint32_t)align_up(local_bytes, 16);
    for (uint32_t i = 0; i < module->var_count; i++)
        if (oracle->vars[i])
            apply_relocs(oracle, module->vars[i]);
    return PXR_OK;
}

/* ---- .shared ---- */

static bool place_var(struct oracle *oracle, const struct ptx_func *func, const struct ptx_var *var,
                      uint32_t place)
{
    const struct oracle_code *code;

    if (var->is_module_scope) {
        oracle->module_places[var->index] = place;
        return true;
    }
    code = oracle_code_of(oracle, func);
    if (code)
        code->places[var->index] = place;
    return code != NULL;
}

/* Every unsized array of a function is the one dynamic array behind the static ones. */
static bool place_dynamic(struct oracle *oracle, const struct ptx_func *func, uint32_t place)
{
    for (uint32_t i = 0; i < func->var_count; i++) {
        const struct ptx_var *var = func->vars[i];

        if (var->space == PTX_SPACE_SHARED && var->is_unsized &&
            !place_var(oracle, func, var, place))
            return false;
    }
    return true;
}

static const struct ptx_func *owner_of(const struct ptx_kernel_layout *layout,
                                       const struct ptx_func *kernel, const struct ptx_var *var)
{
    for (uint32_t i = 0; i < layout->reached_count; i++) {
        const struct ptx_func *func = layout->reached[i];

        if (var->index < func->var_count && func->vars[var->index] == var)
            return func;
    }
    return kernel;
}

/* The variables are those that the kernel reaches; their places are the oracle's own choice, last
 * one first, so that code which relies on one variable lying behind another shows. */
static bool place_all(struct oracle *oracle, const struct ptx_kernel_layout *layout)
{
    const struct ptx_module *module = oracle->module;
    uint64_t offset = layout->shared_reserved_bytes;
    bool is_ok = true;

    oracle->shared_reserved_bytes = layout->shared_reserved_bytes;
    for (uint32_t i = layout->shared_count; is_ok && i-- > 0;) {
        const struct ptx_var *var = layout->shared_vars[i];

        offset = align_up(offset, var->align_bytes);
        is_ok = offset + var->size_bytes <= UINT32_MAX &&
                place_var(oracle, owner_of(layout, oracle->kernel, var), var, (uint32_t)offset);
        offset += var->size_bytes;
    }
    if (layout->uses_dynamic_shared)
        offset = align_up(offset, layout->dynamic_shared_align);
    oracle->shared_static_bytes = (uint32_t)offset;
    for (uint32_t i = 0; i < module->var_count; i++)
        if (module->vars[i]->space == PTX_SPACE_SHARED && module->vars[i]->is_unsized)
            oracle->module_places[i] = (uint32_t)offset;
    is_ok = is_ok && place_dynamic(oracle, oracle->kernel, (uint32_t)offset);
    for (uint32_t i = 0; is_ok && i < layout->reached_count; i++)
        is_ok = place_dynamic(oracle, layout->reached[i], (uint32_t)offset);
    return is_ok;
}

enum pxr_status oracle_place_shared(struct oracle *oracle, struct pxr_error *err)
{
    uint64_t dynamic_bytes = oracle->launch->dynamic_shared_bytes;
    struct ptx_kernel_layout layout;
    enum pxr_status status = ptx_layout_kernel(oracle->module, oracle->kernel, &layout, err);
    bool is_ok;

    if (status != PXR_OK)
        return status;
    is_ok = place_all(oracle, &layout);
    ptx_layout_fini(&layout);
    if (!is_ok)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "not enough memory to lay out '%s'",
                        oracle->kernel->name);
    if (oracle->shared_static_bytes + dynamic_bytes > (1U << 30))
        return pxr_fail(err, PXR_OUT_OF_RESOURCES, "kernel '%s' needs too much shared memory",
                        oracle->kernel->name);
    oracle->shared_bytes = oracle->shared_static_bytes + (uint32_t)dynamic_bytes;
    return PXR_OK;
}

/* ---- any variable ---- */

uint64_t oracle_var_address(const struct oracle_thread *thread, const struct ptx_var *var)
{
    const struct oracle *oracle = thread->oracle;

    switch (var->space) {
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST:
        return (uint64_t)(uintptr_t)oracle->vars[var->index];
    case PTX_SPACE_SHARED:
        return var->is_module_scope ? oracle->module_places[var->index]
                                    : thread->code->places[var->index];
    case PTX_SPACE_LOCAL:
        return var->is_module_scope ? oracle->module_places[var->index]
                                    : thread->frame_local + thread->code->places[var->index];
    case PTX_SPACE_PARAM:
        if (thread->code->func->is_entry && var->is_input_param)
            return var->param_offset_bytes;
        return thread->frame_local + thread->code->places[var->index];
    case PTX_SPACE_NONE:
    case PTX_SPACE_REG:
        break;
    }
    return 0;
}
