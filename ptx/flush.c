/* SPDX-License-Identifier: Apache-2.0
 *
 * See flush.h.
 */
#include "ptx/flush.h"

/* Types of one instruction: bits of enum ptx_type. */
#define TYPE(type)   (UINT64_C(1) << PTX_TYPE_##type)

#define F16_TYPES    (TYPE(F16) | TYPE(F16X2))
#define BF16_TYPES   (TYPE(BF16) | TYPE(BF16X2))
#define SINGLE_TYPES (TYPE(F32) | TYPE(F32X2))

_Static_assert(PTX_TYPE_COUNT <= 64, "a type is a bit");

static uint64_t float_types(const struct ptx_inst *inst)
{
    uint64_t types = 0;
    for (unsigned i = 0; i < inst->type_count; i++)
        if (ptx_type_is_float(inst->types[i]))
            types |= UINT64_C(1) << inst->types[i];
    return types;
}

static bool is_only(uint64_t types, uint64_t wanted)
{
    return (types & ~wanted) == 0;
}

/* Directed rounding is done by hand, in steps that the mode would disturb. */
static bool rounds_to_nearest(const struct ptx_inst *inst)
{
    enum ptx_mod mod = ptx_inst_mod(inst, PTX_GROUP_ROUND);
    return mod == PTX_MOD_NONE || mod == PTX_MOD_RN;
}

/* A subnormal becomes 0, flushed or not. */
static bool rounds_tiny_to_zero(const struct ptx_inst *inst)
{
    enum ptx_mod mod = ptx_inst_mod(inst, PTX_GROUP_ROUND);
    return mod == PTX_MOD_RNI || mod == PTX_MOD_RZI;
}

static bool may_flush_float(const struct ptx_inst *inst, uint64_t types)
{
    switch (inst->op) {
    case PTX_OP_TESTP:
    case PTX_OP_COPYSIGN:
        return true; /* they look at bits */
    case PTX_OP_TANH:
        return is_only(types, F16_TYPES | TYPE(F32)); /* small arguments are passed through */
    case PTX_OP_EX2_F16:
        return true;
    default:
        break;
    }
    if (!rounds_to_nearest(inst))
        return false;
    return is_only(types, F16_TYPES) ||
           (is_only(types, SINGLE_TYPES) && ptx_inst_has(inst, PTX_GROUP_FTZ));
}

/* types: those compared; a result that is a float is 0 or 1. */
static bool may_flush_compare(const struct ptx_inst *inst, uint64_t types)
{
    if (inst->op == PTX_OP_SELP || is_only(types, F16_TYPES))
        return true;
    return is_only(types, F16_TYPES | TYPE(F32)) && ptx_inst_has(inst, PTX_GROUP_FTZ);
}

/* Between f16, bf16 and f32: f16 has no number that is subnormal in f32, and f32 becomes bf16 by
 * arithmetic of integers. */
static bool may_flush_float_conversion(const struct ptx_inst *inst, uint64_t types)
{
    if (is_only(types, TYPE(F32)))
        return ptx_inst_has(inst, PTX_GROUP_FTZ);
    if (is_only(types, F16_TYPES | TYPE(F32)))
        return rounds_to_nearest(inst) || ptx_inst_mod(inst, PTX_GROUP_ROUND) == PTX_MOD_RZ;
    return is_only(types, BF16_TYPES | TYPE(F32)) && inst->types[1] == PTX_TYPE_F32;
}

static bool may_flush_conversion(const struct ptx_inst *inst, uint64_t types)
{
    if (inst->type_count != 2 || is_only(types, F16_TYPES))
        return inst->type_count == 2;
    bool to_float = ptx_type_is_float(inst->types[0]);
    bool from_float = ptx_type_is_float(inst->types[1]);
    if (to_float && from_float)
        return may_flush_float_conversion(inst, types);
    if (!is_only(types, TYPE(F32)))
        return false;
    return to_float ? rounds_to_nearest(inst)
                    : ptx_inst_has(inst, PTX_GROUP_FTZ) || rounds_tiny_to_zero(inst);
}

/* PTX ISA "atom": add.f32 in global memory flushes subnormals, whatever is written. */
static bool may_flush_atomic(const struct ptx_inst *inst, uint64_t types)
{
    return types == TYPE(F32) && ptx_inst_mod(inst, PTX_GROUP_ATOMOP) == PTX_MOD_ADD &&
           ptx_inst_space(inst) == PTX_SPACE_GLOBAL;
}

/* cp.reduce: tensors have their types in maps. */
static bool is_reducing_copy(const struct ptx_inst *inst)
{
    return ptx_op_table[inst->op].family == PTX_FAMILY_MEMORY &&
           ptx_inst_has(inst, PTX_GROUP_ATOMOP);
}

bool ptx_may_flush(const struct ptx_inst *inst)
{
    uint64_t types = float_types(inst);
    if (is_reducing_copy(inst))
        return false;
    if (types == 0)
        return true;
    switch (ptx_op_table[inst->op].family) {
    case PTX_FAMILY_FLOAT:
        return may_flush_float(inst, types);
    case PTX_FAMILY_COMPARE:
        return may_flush_compare(inst, types);
    case PTX_FAMILY_CONVERT:
        return may_flush_conversion(inst, types);
    case PTX_FAMILY_ATOMIC:
        return may_flush_atomic(inst, types);
    case PTX_FAMILY_MOVE:
    case PTX_FAMILY_MEMORY:
        return true;
    default:
        return false;
    }
}

struct survey {
    bool converts_halves;
    bool has_flushes;
};

static bool may_flush_function(struct survey *survey, const struct ptx_func *func)
{
    for (uint32_t i = 0; i < func->stmt_count; i++) {
        const struct ptx_inst *inst = &func->stmts[i].inst;
        if (func->stmts[i].kind != PTX_STMT_INST)
            continue;
        if (!ptx_may_flush(inst))
            return false;
        if (!survey->converts_halves && (float_types(inst) & F16_TYPES) != 0)
            return false;
        survey->has_flushes |= ptx_inst_has(inst, PTX_GROUP_FTZ);
    }
    return true;
}

bool ptx_is_flushed(const struct ptx_func *kernel, const struct ptx_kernel_layout *layout,
                    bool converts_halves)
{
    struct survey survey = {.converts_halves = converts_halves};
    bool may_all = may_flush_function(&survey, kernel);
    for (uint32_t i = 0; i < layout->reached_count && may_all; i++)
        may_all = may_flush_function(&survey, layout->reached[i]);
    return may_all && survey.has_flushes;
}
