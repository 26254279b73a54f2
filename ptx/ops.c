/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of types, modifiers and instructions, generated from the .def files, and the choice of
 * an instruction's row. Lookups are linear: the parser keeps what it has decoded, so each distinct
 * spelling of an opcode is looked up once per module.
 */
#include "ptx/ops.h"

#include "ptx/ptx.h"

#define T(type)  (UINT64_C(1) << PTX_TYPE_##type)
#define T_NONE   UINT64_C(0)
#define T_I32    (T(U32) | T(S32))
#define T_I32_64 (T_I32 | T(U64) | T(S64))
#define T_INT    (T_I32_64 | T(U16) | T(S16))
#define T_SINT   (T(S16) | T(S32) | T(S64))
#define T_F32_64 (T(F32) | T(F64))
#define T_HALF   (T(F16) | T(F16X2) | T(BF16) | T(BF16X2))
#define T_BITS   (T(B16) | T(B32) | T(B64))
#define T_LOGIC  (T(PRED) | T_BITS)
#define T_CMP    (T_BITS | T_INT | T_F32_64 | T_HALF)
#define T_SET    (T_I32 | T(U16) | T(S16) | T(F32) | T_HALF)
#define T_ALL    (T_BITS | T_INT | T_F32_64)
#define T_CVT    (T_INT | T(U8) | T(S8) | T_F32_64 | T_HALF | T(TF32))
#define T_MEM    (T_ALL | T(B8) | T(U8) | T(S8) | T(B128) | T_HALF)
#define T_ATOM   (T(B16) | T(B32) | T(B64) | T(B128) | T_I32_64 | T_F32_64 | T_HALF)
#define G(group) PTX_GROUP_BIT(PTX_GROUP_##group)

const struct ptx_type_info ptx_type_table[PTX_TYPE_COUNT] = {
    [PTX_TYPE_NONE] = {"", 0, PTX_CLASS_BITS},
#define TYPE(ID, text, bits, CLASS) [PTX_TYPE_##ID] = {text, bits, PTX_CLASS_##CLASS},
#include "ptx/types.def"
#undef TYPE
};

const struct ptx_mod_info ptx_mod_table[PTX_MOD_COUNT] = {
    [PTX_MOD_NONE] = {"", 0},
#define MOD(ID, text, groups) [PTX_MOD_##ID] = {text, groups},
#include "ptx/mods.def"
#undef MOD
    [PTX_MOD_OTHER] = {"", G(ANY_MOD)},
};

const struct ptx_sreg_info ptx_sreg_table[PTX_SREG_COUNT] = {
    [PTX_SREG_NONE] = {"", PTX_TYPE_NONE},
#define SREG(ID, text, type) [PTX_SREG_##ID] = {text, PTX_TYPE_##type},
#include "ptx/sregs.def"
#undef SREG
};

const struct ptx_op_info ptx_op_table[PTX_OP_COUNT] = {
#define OP(ID, name, family, t0, t1, required, optional, shape, ptx, sm, emitter, fidelity)        \
    [PTX_OP_##ID] = {name, PTX_FAMILY_##family,    t0, t1, required, optional, shape, ptx,         \
                     sm,   PTX_FIDELITY_##fidelity},
#include "ptx/ops.def"
#undef OP
};

const char *const ptx_family_names[PTX_FAMILY_COUNT] = {
    [PTX_FAMILY_INTEGER] = "integer", [PTX_FAMILY_FLOAT] = "float",
    [PTX_FAMILY_COMPARE] = "compare", [PTX_FAMILY_LOGIC] = "logic",
    [PTX_FAMILY_MOVE] = "move",       [PTX_FAMILY_CONVERT] = "convert",
    [PTX_FAMILY_ADDRESS] = "address", [PTX_FAMILY_MEMORY] = "memory",
    [PTX_FAMILY_ATOMIC] = "atomic",   [PTX_FAMILY_CONTROL] = "control",
    [PTX_FAMILY_BARRIER] = "barrier", [PTX_FAMILY_WARP] = "warp",
    [PTX_FAMILY_TEXTURE] = "texture", [PTX_FAMILY_MATRIX] = "matrix",
    [PTX_FAMILY_VIDEO] = "video",
};

enum ptx_type ptx_type_find(struct pxr_str name)
{
    for (unsigned i = PTX_TYPE_NONE + 1; i < PTX_TYPE_COUNT; i++)
        if (pxr_str_is(name, ptx_type_table[i].name))
            return (enum ptx_type)i;
    return PTX_TYPE_NONE;
}

enum ptx_mod ptx_mod_find(struct pxr_str name)
{
    for (unsigned i = PTX_MOD_NONE + 1; i < PTX_MOD_OTHER; i++)
        if (pxr_str_is(name, ptx_mod_table[i].name))
            return (enum ptx_mod)i;
    return PTX_MOD_NONE;
}

bool ptx_op_exists(struct pxr_str name)
{
    for (unsigned i = 0; i < PTX_OP_COUNT; i++)
        if (pxr_str_is(name, ptx_op_table[i].name))
            return true;
    return false;
}

static bool row_takes_types(const struct ptx_op_info *row, const enum ptx_type *types,
                            unsigned type_count)
{
    const uint64_t sets[2] = {row->types0, row->types1};

    for (unsigned i = 0; i < 2; i++) {
        if (sets[i] == 0 && i < type_count)
            return false;
        if (sets[i] != 0 && (i >= type_count || !(sets[i] & (UINT64_C(1) << types[i]))))
            return false;
    }
    return type_count <= 2;
}

static bool row_takes_mods(const struct ptx_op_info *row, const enum ptx_mod *mods,
                           unsigned mod_count)
{
    uint64_t present = 0;
    bool any = (row->optional & G(ANY_MOD)) != 0;

    for (unsigned i = 0; i < mod_count; i++) {
        uint64_t groups = ptx_mod_table[mods[i]].groups;

        if (!any && !(groups & (row->required | row->optional)))
            return false;
        present |= groups;
    }
    return (row->required & ~present) == 0;
}

bool ptx_op_takes_count(enum ptx_op op, uint32_t operand_count)
{
    uint32_t required = 0;
    uint32_t optional = 0;

    for (const char *letter = ptx_op_table[op].shape; *letter; letter++) {
        if (*letter == '*')
            return true;
        if (*letter == '?')
            optional++;
        else
            required++;
    }
    /* each optional letter has been counted as required first */
    return operand_count <= required && operand_count >= required - optional;
}

enum ptx_op ptx_op_choose(struct pxr_str name, const enum ptx_type *types, unsigned type_count,
                          const enum ptx_mod *mods, unsigned mod_count, uint32_t operand_count)
{
    for (unsigned i = 0; i < PTX_OP_COUNT; i++) {
        const struct ptx_op_info *row = &ptx_op_table[i];

        if (!pxr_str_is(name, row->name) || !row_takes_mods(row, mods, mod_count))
            continue;
        if (!(row->optional & G(ANY_MOD)) && !row_takes_types(row, types, type_count))
            continue;
        if (operand_count == PTX_ANY_OPERAND_COUNT ||
            ptx_op_takes_count((enum ptx_op)i, operand_count))
            return (enum ptx_op)i;
    }
    return PTX_OP_COUNT;
}
