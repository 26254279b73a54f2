/* SPDX-License-Identifier: Apache-2.0
 *
 * Types, modifiers and instructions of PTX as enums and tables, made from types.def, mods.def
 * and ops.def. Everything that knows an instruction by name gets it from here.
 */
#ifndef PTXRUN_PTX_OPS_H
#define PTXRUN_PTX_OPS_H

#include <stdbool.h>
#include <stdint.h>

#include "util/str.h"

enum __attribute__((packed)) ptx_type {
    PTX_TYPE_NONE,
#define TYPE(ID, text, bits, CLASS) PTX_TYPE_##ID,
#include "ptx/types.def"
#undef TYPE
    PTX_TYPE_COUNT
};

enum ptx_type_class {
    PTX_CLASS_BITS,
    PTX_CLASS_UNSIGNED,
    PTX_CLASS_SIGNED,
    PTX_CLASS_FLOAT,
    PTX_CLASS_PREDICATE,
    PTX_CLASS_OPAQUE
};

struct ptx_type_info {
    const char *name; /* without the dot */
    unsigned bits;
    enum ptx_type_class class;
};

extern const struct ptx_type_info ptx_type_table[PTX_TYPE_COUNT];

static inline unsigned ptx_type_bits(enum ptx_type type)
{
    return ptx_type_table[type].bits;
}

/* Bytes the type takes in memory; a predicate takes one. */
static inline unsigned ptx_type_bytes(enum ptx_type type)
{
    return (ptx_type_table[type].bits + 7) / 8;
}

static inline bool ptx_type_is_float(enum ptx_type type)
{
    return ptx_type_table[type].class == PTX_CLASS_FLOAT;
}

static inline bool ptx_type_is_signed(enum ptx_type type)
{
    return ptx_type_table[type].class == PTX_CLASS_SIGNED;
}

/* Groups of modifiers: the independent dimensions of an instruction's spelling. */
enum ptx_group {
    PTX_GROUP_ROUND,
    PTX_GROUP_FTZ,
    PTX_GROUP_NOFTZ,
    PTX_GROUP_SAT,
    PTX_GROUP_RELU,
    PTX_GROUP_APPROX,
    PTX_GROUP_NAN,
    PTX_GROUP_XORSIGN,
    PTX_GROUP_HALF,
    PTX_GROUP_CC,
    PTX_GROUP_SHIFTAMT,
    PTX_GROUP_WRAP,
    PTX_GROUP_DIRECTION,
    PTX_GROUP_PRMT,
    PTX_GROUP_CMP,
    PTX_GROUP_BOOL,
    PTX_GROUP_ATOMOP,
    PTX_GROUP_VIDEOOP,
    PTX_GROUP_SCALE,
    PTX_GROUP_PO,
    PTX_GROUP_TESTP,
    PTX_GROUP_SPACE,
    PTX_GROUP_TO,
    PTX_GROUP_VEC,
    PTX_GROUP_SEM,
    PTX_GROUP_SCOPE,
    PTX_GROUP_BARSCOPE,
    PTX_GROUP_CACHE,
    PTX_GROUP_NC,
    PTX_GROUP_UNI,
    PTX_GROUP_SYNC,
    PTX_GROUP_BARMODE,
    PTX_GROUP_WARP,
    PTX_GROUP_ALIGNED,
    PTX_GROUP_SHFLMODE,
    PTX_GROUP_VOTEMODE,
    PTX_GROUP_ASYNC,
    PTX_GROUP_SURFMODE,
    PTX_GROUP_SATFINITE,
    PTX_GROUP_OOB,
    PTX_GROUP_LAYOUT,  /* of matrices: the only modifiers whose order matters */
    PTX_GROUP_ANY_MOD, /* in a row: modifiers that mods.def does not list are taken too */
    PTX_GROUP_COUNT
};

#define PTX_GROUP_BIT(group) (UINT64_C(1) << (group))

enum __attribute__((packed)) ptx_mod {
    PTX_MOD_NONE,
#define MOD(ID, text, groups) PTX_MOD_##ID,
#include "ptx/mods.def"
#undef MOD
    PTX_MOD_OTHER, /* not in mods.def; only in rows with G(ANY_MOD) */
    PTX_MOD_COUNT
};

struct ptx_mod_info {
    const char *name; /* without the dot */
    uint64_t groups;  /* PTX_GROUP_BIT of each */
};

extern const struct ptx_mod_info ptx_mod_table[PTX_MOD_COUNT];

enum ptx_family {
    PTX_FAMILY_INTEGER,
    PTX_FAMILY_FLOAT,
    PTX_FAMILY_COMPARE,
    PTX_FAMILY_LOGIC,
    PTX_FAMILY_MOVE,
    PTX_FAMILY_CONVERT,
    PTX_FAMILY_ADDRESS,
    PTX_FAMILY_MEMORY,
    PTX_FAMILY_ATOMIC,
    PTX_FAMILY_CONTROL,
    PTX_FAMILY_BARRIER,
    PTX_FAMILY_WARP,
    PTX_FAMILY_TEXTURE,
    PTX_FAMILY_MATRIX,
    PTX_FAMILY_VIDEO,
    PTX_FAMILY_COUNT
};

extern const char *const ptx_family_names[PTX_FAMILY_COUNT];

enum ptx_fidelity {
    PTX_FIDELITY_EXACT,      /* bit for bit what the manual defines */
    PTX_FIDELITY_ULP,        /* within the manual's bound in units in the last place */
    PTX_FIDELITY_APPROX,     /* within the manual's absolute or relative bound */
    PTX_FIDELITY_UNSUPPORTED /* parsed, refused by name when a kernel uses it */
};

enum ptx_op {
#define OP(ID, syntax, family, operands, ptx, sm, emitter, fidelity) PTX_OP_##ID,
#include "ptx/ops.def"
#undef OP
    PTX_OP_COUNT
};

/* A row of ops.def, which explains the columns. Several rows share a name. */
struct ptx_op_info {
    const char *syntax;
    enum ptx_family family;
    const char *operands;
    unsigned min_ptx;
    unsigned min_sm;
    bool needs_arch; /* only targets such as sm_90a and sm_100f */
    enum ptx_fidelity fidelity;
};

extern const struct ptx_op_info ptx_op_table[PTX_OP_COUNT];

/* PTX_TYPE_NONE or PTX_MOD_NONE when there is no such name. */
enum ptx_type ptx_type_find(struct pxr_str name);
enum ptx_mod ptx_mod_find(struct pxr_str name);

/* "mad" */
const char *ptx_op_name(enum ptx_op op);

/* Whether any row has this name. */
bool ptx_op_exists(struct pxr_str name);

#define PTX_ANY_OPERAND_COUNT UINT32_MAX

/* The first row of that name which takes all the types and modifiers, and as many operands
 * unless operand_count is PTX_ANY_OPERAND_COUNT; PTX_OP_COUNT if none. */
enum ptx_op ptx_op_choose(struct pxr_str name, const enum ptx_type *types, unsigned type_count,
                          const enum ptx_mod *mods, unsigned mod_count, uint32_t operand_count);

/* The next row behind `op` and of its name that takes all the types and modifiers. */
enum ptx_op ptx_op_choose_next(enum ptx_op op, const enum ptx_type *types, unsigned type_count,
                               const enum ptx_mod *mods, unsigned mod_count);

/* An instruction's demands on a module's .version and .target. */
struct ptx_need {
    unsigned ptx; /* major * 10 + minor */
    unsigned sm;
    bool is_arch; /* only targets such as sm_90a and sm_100f */
};

/* The demands of an instruction of this row with these types and modifiers. */
struct ptx_need ptx_op_need(enum ptx_op op, const enum ptx_type *types, unsigned type_count,
                            const enum ptx_mod *mods, unsigned mod_count);

/* PTX ISA, "shfl" and "vote": without .sync they are gone from version 6.4 on where threads of a
 * warp need not go together; older texts, and those for older targets, keep them. */
bool ptx_op_is_gone(enum ptx_op op, unsigned version, unsigned target);

/* ---- operands ---- */

#define PTX_MAX_RULES 12

/* The rule for an operand of a row. */
struct ptx_operand_rule {
    char letter;        /* see ops.def */
    char type_code;     /* '0' … '4': that type of the instruction; 'w': its first, doubled;
                           't': the type below; '\0': not checked */
    enum ptx_type type; /* 't' */
    bool is_optional;   /* of several, the first ones are those written */
    bool may_be_wider;  /* the register */
};

/* Returns how many there are. */
unsigned ptx_op_operand_rules(enum ptx_op op, struct ptx_operand_rule rules[PTX_MAX_RULES]);

/* Whether the instruction writes the operand, which is its index-th. Of instructions on matrices
 * the first one is, where it is registers: what they store stands behind an address. */
bool ptx_rule_is_written(const struct ptx_operand_rule *rule, unsigned index);

/* Whether the operand is a lane's part of a matrix. */
bool ptx_rule_is_matrix(const struct ptx_operand_rule *rule);

/* The type of the operand in an instruction with these types; PTX_TYPE_NONE: not checked. */
enum ptx_type ptx_rule_type(const struct ptx_operand_rule *rule, const enum ptx_type *types);

/* Whether so many operands fit the rules. */
bool ptx_rules_take_count(const struct ptx_operand_rule *rules, unsigned rule_count,
                          uint32_t operand_count);

#endif
