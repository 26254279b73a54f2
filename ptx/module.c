/* SPDX-License-Identifier: Apache-2.0
 *
 * Questions about a finished module and its instructions.
 */
#include "ptx/function_handles.h"

#include <stdlib.h>

void ptx_module_destroy(struct ptx_module *module)
{
    if (!module)
        return;
    pxr_arena_fini(&module->arena);
    free(module);
}

const struct ptx_func *ptx_find_func(const struct ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->func_count; i++)
        if (strcmp(module->funcs[i]->name, name) == 0)
            return module->funcs[i];
    return NULL;
}

const struct ptx_func *ptx_find_entry(const struct ptx_module *module, const char *name)
{
    const struct ptx_func *func = ptx_find_func(module, name);

    return func && func->is_entry && func->has_body ? func : NULL;
}

const struct ptx_var *ptx_find_var(const struct ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->var_count; i++)
        if (strcmp(module->vars[i]->name, name) == 0)
            return module->vars[i];
    return NULL;
}

void ptx_number_handles(struct ptx_func **funcs, size_t count)
{
    uint64_t handle = PTX_FUNC_HANDLE_BASE;

    for (size_t i = 0; i < count; i++) {
        if (!funcs[i]->is_address_taken)
            continue;
        funcs[i]->handle = (int64_t)handle;
        handle += PTX_FUNC_HANDLE_STEP;
    }
}

int64_t ptx_func_handle(const struct ptx_module *module, const struct ptx_func *func)
{
    (void)module; /* handles are numbered when the module is made */
    return func->is_address_taken ? func->handle : -1;
}

enum ptx_mod ptx_inst_mod(const struct ptx_inst *inst, enum ptx_group group)
{
    for (unsigned i = 0; i < inst->mod_count; i++)
        if (ptx_mod_table[inst->mods[i]].groups & PTX_GROUP_BIT(group))
            return inst->mods[i];
    return PTX_MOD_NONE;
}

enum ptx_type ptx_operand_type(const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_REG)
        return operand->var->type;
    if (operand->kind == PTX_OPERAND_SREG)
        return ptx_sreg_table[operand->sreg].type;
    return PTX_TYPE_B64;
}

bool ptx_inst_has_word(const struct ptx_inst *inst, enum ptx_mod mod)
{
    for (unsigned i = 0; i < inst->mod_count; i++)
        if (inst->mods[i] == mod)
            return true;
    return false;
}

enum ptx_space ptx_inst_space(const struct ptx_inst *inst)
{
    switch (ptx_inst_mod(inst, PTX_GROUP_SPACE)) {
    case PTX_MOD_GLOBAL:
        return PTX_SPACE_GLOBAL;
    case PTX_MOD_SHARED:
    case PTX_MOD_SHARED_CTA:
    case PTX_MOD_SHARED_CLUSTER:
        return PTX_SPACE_SHARED;
    case PTX_MOD_LOCAL:
        return PTX_SPACE_LOCAL;
    case PTX_MOD_CONST:
        return PTX_SPACE_CONST;
    case PTX_MOD_PARAM:
    case PTX_MOD_PARAM_ENTRY:
    case PTX_MOD_PARAM_FUNC:
        return PTX_SPACE_PARAM;
    default:
        return PTX_SPACE_NONE;
    }
}

unsigned ptx_inst_vector_len(const struct ptx_inst *inst)
{
    switch (ptx_inst_mod(inst, PTX_GROUP_VEC)) {
    case PTX_MOD_V2:
        return 2;
    case PTX_MOD_V4:
        return 4;
    case PTX_MOD_V8:
        return 8;
    default:
        return 1;
    }
}
