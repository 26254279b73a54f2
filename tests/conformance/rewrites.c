/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults that an instruction with another spelling or other operands stands for.
 */
#include <string.h>

#include "tests/conformance/faults.h"

/* ---- modifiers ---- */

static void update_groups(struct ptx_inst *inst)
{
    inst->groups = 0;
    for (unsigned i = 0; i < inst->mod_count; i++)
        inst->groups |= ptx_mod_table[inst->mods[i]].groups;
}

static bool drop_named(struct ptx_inst *inst, const char *name)
{
    for (unsigned i = 0; i < inst->mod_count; i++) {
        if (strcmp(ptx_mod_table[inst->mods[i]].name, name) != 0)
            continue;
        for (unsigned k = i; k + 1 < inst->mod_count; k++)
            inst->mods[k] = inst->mods[k + 1];
        inst->mod_count--;
        update_groups(inst);
        return true;
    }
    return false;
}

/* Each modifier of the list becomes the one behind it; the last, the first. */
static bool next_of(struct ptx_inst *inst, const char *list)
{
    for (unsigned i = 0; i < inst->mod_count; i++) {
        const char *name = ptx_mod_table[inst->mods[i]].name;
        size_t len = strlen(name);
        for (const char *at = list; *at != '\0'; at += strcspn(at, " "), at += *at == ' ') {
            if (strcspn(at, " ") != len || strncmp(at, name, len) != 0)
                continue;
            const char *next = at[len] == ' ' ? at + len + 1 : list;
            struct pxr_str word = {next, strcspn(next, " ")};
            enum ptx_mod mod = ptx_mod_find(word);
            if (mod == PTX_MOD_NONE)
                return false;
            inst->mods[i] = mod;
            update_groups(inst);
            return true;
        }
    }
    return false;
}

#define DROP(name, word)                                                                           \
    static bool name(struct ptx_inst *inst, struct fault_operands *room)                           \
    {                                                                                              \
        (void)room;                                                                                \
        return drop_named(inst, word);                                                             \
    }

#define NEXT(name, list)                                                                           \
    static bool name(struct ptx_inst *inst, struct fault_operands *room)                           \
    {                                                                                              \
        (void)room;                                                                                \
        return next_of(inst, list);                                                                \
    }

DROP(drop_ftz, "ftz")
DROP(drop_sat, "sat")
DROP(drop_satfinite, "satfinite")
DROP(drop_cc, "cc")
DROP(drop_relu, "relu")
DROP(drop_nan, "NaN")
DROP(drop_xorsign, "xorsign")
DROP(drop_shiftamt, "shiftamt")
DROP(drop_oob, "oob")
DROP(drop_noinc, "noinc")
DROP(drop_no_complete, "noComplete")
DROP(drop_mask, "cp_mask")
DROP(drop_multicast, "multicast::cluster")
NEXT(next_rounding, "rn rz rm rp")
NEXT(opposite_rounding, "rm rp")
NEXT(next_integer_rounding, "rni rzi rmi rpi")
NEXT(next_compare, "eq ne")
NEXT(strict_compare, "lt le")
NEXT(strict_compare_up, "gt ge")
NEXT(reverse_compare, "le ge")
NEXT(reverse_strict_compare, "lt gt")
NEXT(ordered_equal, "equ eq")
NEXT(ordered_unequal, "neu ne")
NEXT(ordered_less, "ltu lt")
NEXT(ordered_less_equal, "leu le")
NEXT(ordered_greater, "gtu gt")
NEXT(ordered_greater_equal, "geu gt")
NEXT(number_compare, "num nan")
NEXT(unsigned_compare, "lo ls hi hs")
NEXT(next_bool, "and or xor")
NEXT(other_half, "hi lo")
NEXT(other_wrap, "clamp wrap")
NEXT(next_permute, "f4e b4e rc8 ecl ecr rc16")
NEXT(next_test, "finite infinite number notanumber normal subnormal")
NEXT(other_extreme, "min max")
NEXT(other_count, "inc dec")
NEXT(add_is_exchange, "add exch")

/* Of a funnel shift: .r of tld4 is a channel. */
static bool other_direction(struct ptx_inst *inst, struct fault_operands *room)
{
    (void)room;
    return strcmp(ptx_op_name(inst->op), "shf") == 0 && next_of(inst, "l r");
}

static bool next_shuffle(struct ptx_inst *inst, struct fault_operands *room)
{
    (void)room;
    return strcmp(ptx_op_name(inst->op), "shfl") == 0 && next_of(inst, "up down bfly idx");
}

static bool next_vote(struct ptx_inst *inst, struct fault_operands *room)
{
    (void)room;
    return strcmp(ptx_op_name(inst->op), "vote") == 0 && next_of(inst, "all any uni");
}

static bool other_arrival(struct ptx_inst *inst, struct fault_operands *room)
{
    (void)room;
    return strcmp(ptx_op_name(inst->op), "mbarrier") == 0 && next_of(inst, "arrive arrive_drop");
}

static bool other_transactions(struct ptx_inst *inst, struct fault_operands *room)
{
    (void)room;
    return inst->op == PTX_OP_MBARRIER_TX && next_of(inst, "expect_tx complete_tx");
}

static bool popc_is_or(struct ptx_inst *inst, struct fault_operands *room)
{
    (void)room;
    return strcmp(ptx_op_name(inst->op), "popc") != 0 && drop_named(inst, "popc") &&
           (inst->mods[inst->mod_count++] = PTX_MOD_OR, update_groups(inst), true);
}

/* ---- types ---- */

static bool is_named(const struct ptx_inst *inst, const char *const *names)
{
    for (; *names != NULL; names++)
        if (strcmp(*names, ptx_op_name(inst->op)) == 0)
            return true;
    return false;
}

static bool has_mod(const struct ptx_inst *inst, const char *name)
{
    for (unsigned i = 0; i < inst->mod_count; i++)
        if (strcmp(ptx_mod_table[inst->mods[i]].name, name) == 0)
            return true;
    return false;
}

/* Two's complement: the low half of a sum or product does not depend on the sign. */
static bool is_sign_free(const struct ptx_inst *inst)
{
    static const char *const sums[] = {"add", "sub", "addc", "subc", "neg", NULL};
    static const char *const products[] = {"mul", "mad", "madc", "mul24", "mad24", NULL};
    static const char *const others[] = {"setp", "set", "selp", "slct", "mov", NULL};
    static const char *const atomics[] = {"atom", "red", "redux", NULL};
    return (is_named(inst, sums) && !has_mod(inst, "sat")) ||
           (is_named(inst, products) && has_mod(inst, "lo")) ||
           (is_named(inst, others) && !has_mod(inst, "lt") && !has_mod(inst, "le") &&
            !has_mod(inst, "gt") && !has_mod(inst, "ge")) ||
           (is_named(inst, atomics) && has_mod(inst, "add"));
}

/* Whether the sign shows: a value is extended, compared, shifted, multiplied or converted. */
static bool shows_sign(const struct ptx_inst *inst, unsigned which)
{
    static const char *const memory[] = {"ld", "ldu", NULL};
    static const char *const none[] = {"set", "vmad", "st", NULL}; /* of set: the result's type */
    if (is_named(inst, none) && which == 0)
        return false;
    switch (ptx_op_table[inst->op].family) {
    case PTX_FAMILY_CONTROL:
    case PTX_FAMILY_BARRIER:
    case PTX_FAMILY_ADDRESS:
        return false;
    case PTX_FAMILY_MEMORY:
        return is_named(inst, memory) && inst->operand_count > 0 &&
               inst->operands[0].kind == PTX_OPERAND_REG &&
               ptx_type_bits(inst->operands[0].var->type) > ptx_type_bits(inst->types[which]);
    default:
        return true;
    }
}

static bool flip_sign(struct ptx_inst *inst, unsigned which)
{
    if (which >= inst->type_count || is_sign_free(inst) || !shows_sign(inst, which))
        return false;
    const char *name = ptx_type_table[inst->types[which]].name;
    if (name[0] != 's' && name[0] != 'u')
        return false;
    char other[16];
    size_t len = strlen(name);
    memcpy(other, name, len + 1);
    other[0] = name[0] == 's' ? 'u' : 's';
    enum ptx_type type = ptx_type_find((struct pxr_str){other, len});
    if (type == PTX_TYPE_NONE)
        return false;
    inst->types[which] = type;
    return true;
}

static bool flip_sign_of_first(struct ptx_inst *inst, struct fault_operands *room)
{
    (void)room;
    return flip_sign(inst, 0);
}

static bool flip_sign_of_second(struct ptx_inst *inst, struct fault_operands *room)
{
    (void)room;
    return flip_sign(inst, 1);
}

static bool add_ftz(struct ptx_inst *inst, struct fault_operands *room)
{
    (void)room;
    if (ptx_inst_has(inst, PTX_GROUP_FTZ) || inst->mod_count == PTX_MAX_MODS)
        return false;
    static const char *const names[] = {"add", "sub", "mul", "fma", "div", "rcp", "sqrt",
                                        "min", "max", "abs", "neg", "ex2", "lg2", NULL};
    if (!is_named(inst, names) || inst->type_count != 1 || inst->types[0] != PTX_TYPE_F32)
        return false;
    inst->mods[inst->mod_count++] = PTX_MOD_FTZ;
    update_groups(inst);
    return true;
}

/* ---- operands ---- */

static bool copy_operands(struct ptx_inst *inst, struct fault_operands *room)
{
    if (inst->operand_count > FAULT_MAX_OPERANDS)
        return false;
    memcpy(room->operands, inst->operands, inst->operand_count * sizeof room->operands[0]);
    inst->operands = room->operands;
    return true;
}

static bool is_plain(const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_REG || operand->kind == PTX_OPERAND_INT ||
           operand->kind == PTX_OPERAND_FLOAT;
}

/* Only registers of one class change places, so that the fault shows in results, not in a refusal.
 */
static bool alike(const struct ptx_operand *a, const struct ptx_operand *b)
{
    if (!is_plain(a) || !is_plain(b))
        return false;
    if (a->kind == PTX_OPERAND_REG && b->kind == PTX_OPERAND_REG)
        return a->var != b->var && ptx_type_bits(a->var->type) == ptx_type_bits(b->var->type);
    return a->kind != b->kind && (a->kind == PTX_OPERAND_REG ? ptx_type_bits(a->var->type) >= 32 &&
                                                                   b->kind != PTX_OPERAND_REG
                                                             : ptx_type_bits(b->var->type) >= 32);
}

static bool swap(struct ptx_inst *inst, struct fault_operands *room, unsigned a, unsigned b)
{
    if (b >= inst->operand_count || !alike(&inst->operands[a], &inst->operands[b]) ||
        !copy_operands(inst, room))
        return false;
    struct ptx_operand kept = room->operands[a];
    room->operands[a] = room->operands[b];
    room->operands[b] = kept;
    return true;
}

/* a op b = b op a: an exchange shows nothing. */
static bool is_commutative(const struct ptx_inst *inst)
{
    static const char *const names[] = {"add",   "addc", "mul", "mul24", "mad",
                                        "mad24", "madc", "fma", "and",   "or",
                                        "xor",   "min",  "max", "sad",   "vmad"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], ptx_op_name(inst->op)) == 0)
            return true;
    for (unsigned i = 0; i < inst->mod_count; i++)
        if (inst->mods[i] == PTX_MOD_EQ || inst->mods[i] == PTX_MOD_NE)
            return true;
    return false;
}

static bool swap_first_sources(struct ptx_inst *inst, struct fault_operands *room)
{
    return !is_commutative(inst) && swap(inst, room, 1, 2);
}

static bool swap_last_sources(struct ptx_inst *inst, struct fault_operands *room)
{
    static const char *const names[] = {"min", "max", NULL};
    return inst->operand_count >= 4 && !is_named(inst, names) && swap(inst, room, 2, 3);
}

static bool swap_fourth_source(struct ptx_inst *inst, struct fault_operands *room)
{
    return inst->operand_count >= 5 && swap(inst, room, 3, 4);
}

static bool repeat_source(struct ptx_inst *inst, struct fault_operands *room)
{
    enum ptx_family family = ptx_op_table[inst->op].family;
    if (family == PTX_FAMILY_MEMORY || family == PTX_FAMILY_ATOMIC || inst->operand_count < 3 ||
        !alike(&inst->operands[1], &inst->operands[2]) || !copy_operands(inst, room))
        return false;
    room->operands[2] = room->operands[1];
    return true;
}

static bool constant_off_by_one(struct ptx_inst *inst, struct fault_operands *room)
{
    enum ptx_family family = ptx_op_table[inst->op].family;
    if (family == PTX_FAMILY_BARRIER || family == PTX_FAMILY_MEMORY || family == PTX_FAMILY_ATOMIC)
        return false; /* names of barriers, sizes */
    for (unsigned i = 1; i < inst->operand_count; i++) {
        if (inst->operands[i].kind != PTX_OPERAND_INT || !copy_operands(inst, room))
            continue;
        room->operands[i].bits += 1;
        return true;
    }
    return false;
}

static bool forget_not(struct ptx_inst *inst, struct fault_operands *room)
{
    for (unsigned i = 0; i < inst->operand_count; i++) {
        if (!inst->operands[i].is_negated || !copy_operands(inst, room))
            continue;
        room->operands[i].is_negated = false;
        return true;
    }
    return false;
}

static bool forget_second(struct ptx_inst *inst, struct fault_operands *room)
{
    if (inst->operand_count == 0 || inst->operands[0].kind != PTX_OPERAND_PAIR ||
        !copy_operands(inst, room))
        return false;
    room->operands[0] = inst->operands[0].elems[0];
    return true;
}

static bool swap_elements(struct ptx_inst *inst, struct fault_operands *room)
{
    for (unsigned i = 0; i < inst->operand_count; i++) {
        const struct ptx_operand *vector = &inst->operands[i];
        if (vector->kind != PTX_OPERAND_VECTOR || vector->elem_count < 2 ||
            vector->elem_count > 16 || !copy_operands(inst, room))
            continue;
        memcpy(room->elems, vector->elems, vector->elem_count * sizeof room->elems[0]);
        struct ptx_operand first = room->elems[0];
        room->elems[0] = room->elems[1];
        room->elems[1] = first;
        room->operands[i].elems = room->elems;
        return true;
    }
    return false;
}

/* Of a tensor: [map, {c1, c0, …}]. */
static bool swap_coordinates(struct ptx_inst *inst, struct fault_operands *room)
{
    for (unsigned i = 0; i < inst->operand_count; i++) {
        const struct ptx_operand *place = &inst->operands[i];
        if (place->kind != PTX_OPERAND_ADDRESS || place->elem_count != 2 || place->is_indexed ||
            place->elems[1].elem_count < 2 || !copy_operands(inst, room))
            continue;
        const struct ptx_operand *coordinates = &place->elems[1];
        struct ptx_operand *elems = room->elems;
        elems[0] = place->elems[0];
        elems[1] = *coordinates;
        memcpy(elems + 2, coordinates->elems, coordinates->elem_count * sizeof *elems);
        elems[2] = coordinates->elems[1];
        elems[3] = coordinates->elems[0];
        elems[1].elems = elems + 2;
        room->operands[i].elems = elems;
        return true;
    }
    return false;
}

static bool next_address(struct ptx_inst *inst, struct fault_operands *room)
{
    for (unsigned i = 0; i < inst->operand_count; i++) {
        if (inst->operands[i].kind != PTX_OPERAND_ADDRESS || inst->type_count == 0 ||
            !copy_operands(inst, room))
            continue;
        unsigned bytes = ptx_type_bytes(inst->types[0]) * ptx_inst_vector_len(inst);
        room->operands[i].offset += bytes < 16 ? bytes : 16;
        return bytes < 32;
    }
    return false;
}

static bool is_copy(const struct ptx_inst *inst)
{
    return strcmp(ptx_op_name(inst->op), "cp") == 0 && inst->operand_count > 2 &&
           inst->operands[0].kind == PTX_OPERAND_ADDRESS &&
           inst->operands[1].kind == PTX_OPERAND_ADDRESS;
}

static bool next_source(struct ptx_inst *inst, struct fault_operands *room)
{
    if (!is_copy(inst) || !copy_operands(inst, room))
        return false;
    room->operands[1].offset += 16;
    return true;
}

/* ---- the whole instruction ---- */

static bool forget_copy(struct ptx_inst *inst, struct fault_operands *room)
{
    (void)room;
    if (!is_copy(inst))
        return false;
    inst->op = PTX_OP_PMEVENT;
    return true;
}

static bool forget_barrier(struct ptx_inst *inst, struct fault_operands *room)
{
    (void)room;
    if (ptx_op_table[inst->op].family != PTX_FAMILY_BARRIER || inst->operand_count == 0 ||
        inst->operands[0].kind == PTX_OPERAND_REG)
        return false;
    inst->op = PTX_OP_PMEVENT;
    return true;
}

static bool forget_store(struct ptx_inst *inst, struct fault_operands *room)
{
    (void)room;
    const char *name = ptx_op_name(inst->op);
    if (strcmp(name, "st") != 0 && strcmp(name, "red") != 0)
        return false;
    inst->op = PTX_OP_PMEVENT;
    return true;
}

const struct conf_fault conf_rewrites[] = {
#define FAULT(name) {#name, name, NULL}
    FAULT(drop_ftz),
    FAULT(drop_sat),
    FAULT(drop_satfinite),
    FAULT(drop_cc),
    FAULT(drop_relu),
    FAULT(drop_nan),
    FAULT(drop_xorsign),
    FAULT(drop_shiftamt),
    FAULT(drop_oob),
    FAULT(drop_noinc),
    FAULT(drop_no_complete),
    FAULT(drop_mask),
    FAULT(drop_multicast),
    FAULT(other_arrival),
    FAULT(other_transactions),
    FAULT(add_ftz),
    FAULT(next_rounding),
    FAULT(opposite_rounding),
    FAULT(next_integer_rounding),
    FAULT(next_compare),
    FAULT(strict_compare),
    FAULT(strict_compare_up),
    FAULT(reverse_compare),
    FAULT(reverse_strict_compare),
    FAULT(ordered_equal),
    FAULT(ordered_unequal),
    FAULT(ordered_less),
    FAULT(ordered_less_equal),
    FAULT(ordered_greater),
    FAULT(ordered_greater_equal),
    FAULT(number_compare),
    FAULT(unsigned_compare),
    FAULT(next_bool),
    FAULT(popc_is_or),
    FAULT(other_half),
    FAULT(other_wrap),
    FAULT(other_direction),
    FAULT(next_permute),
    FAULT(next_test),
    FAULT(next_shuffle),
    FAULT(next_vote),
    FAULT(other_extreme),
    FAULT(other_count),
    FAULT(add_is_exchange),
    FAULT(flip_sign_of_first),
    FAULT(flip_sign_of_second),
    FAULT(swap_first_sources),
    FAULT(swap_last_sources),
    FAULT(swap_fourth_source),
    FAULT(repeat_source),
    FAULT(constant_off_by_one),
    FAULT(forget_not),
    FAULT(forget_second),
    FAULT(swap_elements),
    FAULT(swap_coordinates),
    FAULT(next_address),
    FAULT(forget_barrier),
    FAULT(forget_store),
    FAULT(next_source),
    FAULT(forget_copy),
#undef FAULT
    {NULL, NULL, NULL},
};
