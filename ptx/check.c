/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands against the instruction's row: how many, of which kind, and registers of which size
 * (PTX ISA, "Operand Type Checking"). Only what would make a translation wrong is refused; that
 * a register is declared .s32 where the instruction says .u32 is not.
 */
#include "ptx/parse.h"

/* What is wrong with an instruction as one of a row. */
struct misfit {
    const struct ptx_operand *operand;
    const char *wanted;
};

static bool misfits(struct misfit *misfit, const struct ptx_operand *operand, const char *wanted)
{
    *misfit = (struct misfit){operand, wanted};
    return false;
}

/* ---- kinds ---- */

#define KIND(kind) (1U << PTX_OPERAND_##kind)

/* Kinds of operand that a letter of a rule takes. */
static const struct {
    char letter;
    unsigned kinds;
    const char *message;
} letters[] = {
    {'d', KIND(REG), "a register"},
    {'D', KIND(REG) | KIND(SINK) | KIND(VECTOR), "a register or a vector of registers"},
    {'u', KIND(REG) | KIND(VECTOR), "a register or several in braces"},
    {'q', KIND(REG) | KIND(SINK) | KIND(PAIR), "a register or a pair such as %r1|%p1"},
    {'s', KIND(REG) | KIND(SREG) | KIND(INT) | KIND(FLOAT), "a register or a constant"},
    {'S', KIND(REG) | KIND(SREG) | KIND(INT) | KIND(FLOAT) | KIND(VECTOR),
     "a register, a constant or a vector"},
    {'v', KIND(REG) | KIND(SREG) | KIND(INT) | KIND(FLOAT) | KIND(VECTOR) | KIND(VAR) | KIND(FUNC),
     "a register, a constant, a vector or a name"},
    {'r', KIND(REG) | KIND(VECTOR), "registers in braces"},
    {'p', KIND(REG) | KIND(SREG) | KIND(INT), "a predicate"},
    {'x', KIND(REG) | KIND(SREG) | KIND(INT), "a register, a part such as %r1.b0, or a constant"},
    {'X', KIND(REG) | KIND(SREG) | KIND(INT), "a register, a part such as %r1.b0, or a constant"},
    {'y', KIND(REG), "a part of a register, such as %r1.b0"},
    {'h', KIND(REG), "a register, perhaps with a choice of halves"},
    {'H', KIND(REG), "a register, perhaps with a mask of halves"},
    {'b', KIND(REG), "a register, perhaps with a choice of bytes"},
    {'B', KIND(REG), "a register, perhaps with a mask of bytes"},
    {'m', KIND(ADDRESS), "an address in brackets"},
    {'l', KIND(LABEL), "a label"},
    {'t', KIND(LABELS), "the name of a .branchtargets list"},
};

static bool is_register_or_sink(const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_REG || operand->kind == PTX_OPERAND_SINK;
}

/* Destinations are made of registers only; sources may have constants in a vector. */
static bool check_elements(struct misfit *misfit, const struct ptx_operand *operand, char letter)
{
    bool is_source = letter == 'v' || letter == 'S' || letter == 'r';

    for (uint32_t i = 0; i < operand->elem_count; i++) {
        const struct ptx_operand *elem = &operand->elems[i];

        if (elem->is_negated)
            return misfits(misfit, elem, "without '!'");
        if (is_register_or_sink(elem) && (!is_source || elem->kind == PTX_OPERAND_REG))
            continue;
        if (is_source && (elem->kind == PTX_OPERAND_INT || elem->kind == PTX_OPERAND_FLOAT ||
                          elem->kind == PTX_OPERAND_SREG))
            continue;
        return misfits(misfit, elem, "a register");
    }
    return true;
}

/* PTX ISA, "Video Instructions": a scalar one uses a byte or half of a register; one of two halves
 * or four bytes chooses for each which of the two sources' it is, or which are written. */
static bool is_selector_ok(const struct ptx_operand *operand, char letter)
{
    bool is_mask =
        letter == 'H' || letter == 'B' || letter == 'x' || letter == 'X' || letter == 'y';
    unsigned count = letter == 'h' || letter == 'H' ? 2 : letter == 'b' || letter == 'B' ? 4 : 1;
    unsigned bits = count == 2 ? 16 : 8;

    if (operand->kind != PTX_OPERAND_REG || operand->lane_count == 0)
        return letter != 'y';
    if (count > 1 && operand->lane_bits != bits)
        return false;
    if (!is_mask)
        return operand->lane_count == count;
    for (unsigned i = 0; i < operand->lane_count; i++)
        if (operand->lanes[i] >= 32 / operand->lane_bits ||
            (i > 0 && operand->lanes[i] <= operand->lanes[i - 1]))
            return false;
    return operand->lane_count <= count;
}

static bool check_kind(struct misfit *misfit, const struct ptx_operand *operand, char letter)
{
    for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
        if (letters[i].letter != letter)
            continue;
        if (!(letters[i].kinds & (1U << operand->kind)) ||
            (strchr("xXyhHbB", letter) && !is_selector_ok(operand, letter)))
            return misfits(misfit, operand, letters[i].message);
        break;
    }
    if (operand->is_negated && letter != 'X' &&
        (operand->kind != PTX_OPERAND_REG || operand->var->type != PTX_TYPE_PRED))
        return misfits(misfit, operand, "without '!'");
    if (operand->kind == PTX_OPERAND_VECTOR || operand->kind == PTX_OPERAND_PAIR)
        return check_elements(misfit, operand, letter);
    return true;
}

/* ---- sizes ---- */

static bool is_size(enum ptx_type type, bool may_be_wider, unsigned bits)
{
    unsigned wanted = ptx_type_bits(type);

    return bits == wanted || (may_be_wider && bits > wanted);
}

/* Whole numbers are no floating-point values, and a floating-point literal is bits only where it
 * has the size of the type. */
static bool check_constant(struct misfit *misfit, const struct ptx_operand *operand,
                           enum ptx_type type)
{
    if (operand->kind == PTX_OPERAND_INT)
        return !ptx_type_is_float(type) ||
               misfits(misfit, operand, "a floating-point constant, such as 0f3F800000");
    if (ptx_type_is_float(type) || (ptx_type_table[type].class == PTX_CLASS_BITS &&
                                    ptx_type_bits(type) == (operand->is_single ? 32 : 64)))
        return true;
    return misfits(misfit, operand, "a constant of another type");
}

static bool check_scalar(struct misfit *misfit, const struct ptx_operand *operand,
                         enum ptx_type type, bool may_be_wider)
{
    unsigned bits;

    if (operand->kind == PTX_OPERAND_INT || operand->kind == PTX_OPERAND_FLOAT)
        return check_constant(misfit, operand, type);
    if (operand->kind != PTX_OPERAND_REG)
        return true;
    bits = ptx_type_bits(operand->var->type);
    if (operand->component == 0)
        bits *= operand->var->vector_len;
    if (is_size(type, may_be_wider, bits))
        return true;
    return misfits(misfit, operand,
                   type == PTX_TYPE_PRED ? "a predicate register" : "a register of another size");
}

/* mov packs and unpacks: the elements of a vector together have the size of the type, which is
 * one of plain bits. */
static bool check_packed(struct misfit *misfit, const struct ptx_operand *operand,
                         enum ptx_type type)
{
    if (operand->kind != PTX_OPERAND_VECTOR)
        return check_scalar(misfit, operand, type, false);
    if (ptx_type_table[type].class != PTX_CLASS_BITS)
        return misfits(misfit, operand, "one register or constant");
    for (uint32_t i = 0; i < operand->elem_count; i++) {
        const struct ptx_operand *elem = &operand->elems[i];

        if (elem->kind == PTX_OPERAND_REG &&
            ptx_type_bits(elem->var->type) * operand->elem_count != ptx_type_bits(type))
            return misfits(misfit, elem, "a register of another size");
    }
    return true;
}

/* How many elements there must be is not checked. */
static bool check_registers(struct misfit *misfit, const struct ptx_operand *operand,
                            enum ptx_type type)
{
    if (operand->kind != PTX_OPERAND_VECTOR)
        return check_scalar(misfit, operand, type, false);
    for (uint32_t i = 0; i < operand->elem_count; i++)
        if (!check_scalar(misfit, &operand->elems[i], type, false))
            return false;
    return true;
}

/* A vector has as many elements as the instruction says; a single vector register stands for
 * all of them. */
static bool check_vector(struct misfit *misfit, const struct ptx_inst *inst,
                         const struct ptx_operand *operand, enum ptx_type type, bool may_be_wider)
{
    unsigned len = ptx_inst_vector_len(inst);

    if (operand->kind != PTX_OPERAND_VECTOR) {
        if (len > 1 && operand->kind == PTX_OPERAND_REG && operand->component == 0 &&
            operand->var->vector_len == len &&
            is_size(type, may_be_wider, ptx_type_bits(operand->var->type)))
            return true;
        return len == 1 ? check_scalar(misfit, operand, type, may_be_wider)
                        : misfits(misfit, operand, "a vector");
    }
    if (operand->elem_count != len)
        return misfits(misfit, operand, "a vector of another length");
    for (uint32_t i = 0; i < len; i++)
        if (!check_scalar(misfit, &operand->elems[i], type, may_be_wider))
            return false;
    return true;
}

static bool check_type(struct misfit *misfit, const struct ptx_inst *inst,
                       const struct ptx_operand *operand, const struct ptx_operand_rule *rule)
{
    enum ptx_type type = ptx_rule_type(rule, inst->types);

    if (type == PTX_TYPE_NONE)
        return true;
    if (operand->kind == PTX_OPERAND_PAIR)
        return check_scalar(misfit, &operand->elems[0], type, false) &&
               check_scalar(misfit, &operand->elems[1], PTX_TYPE_PRED, false);
    if (rule->letter == 'u' || rule->letter == 'v')
        return check_packed(misfit, operand, type);
    if (rule->letter == 'r')
        return check_registers(misfit, operand, type);
    if (rule->letter == 'D' || rule->letter == 'S')
        return check_vector(misfit, inst, operand, type, rule->may_be_wider);
    return check_scalar(misfit, operand, type, rule->may_be_wider);
}

/* ---- the whole ---- */

/* How many of the optional operands are there; from the left, they are the first. */
static uint32_t optional_present(const struct ptx_operand_rule *rules, unsigned rule_count,
                                 uint32_t operand_count)
{
    uint32_t required = 0;

    for (unsigned i = 0; i < rule_count; i++)
        required += !rules[i].is_optional;
    return operand_count - required;
}

/* The number of operands fits. */
static bool check_operands(struct misfit *misfit, const struct ptx_inst *inst,
                           const struct ptx_operand_rule *rules, unsigned rule_count)
{
    uint32_t optional;
    uint32_t index = 0;

    if (rule_count > 0 && rules[0].letter == '*')
        return true;
    optional = optional_present(rules, rule_count, inst->operand_count);
    for (unsigned i = 0; i < rule_count; i++) {
        const struct ptx_operand *operand;

        if (rules[i].is_optional && optional == 0)
            continue;
        optional -= rules[i].is_optional;
        operand = &inst->operands[index++];
        if (!check_kind(misfit, operand, rules[i].letter) ||
            !check_type(misfit, inst, operand, &rules[i]))
            return false;
    }
    return true;
}

/* Rows can share a spelling and differ in their operands. */
static bool check_other_rows(struct ptx_inst *inst, struct misfit *misfit)
{
    struct ptx_inst other = *inst;

    for (;;) {
        struct ptx_operand_rule rules[PTX_MAX_RULES];
        struct misfit ignored;
        unsigned rule_count;

        other.op = ptx_op_choose_next(other.op, inst->types, inst->type_count, inst->mods,
                                      inst->mod_count);
        if (other.op == PTX_OP_COUNT)
            return false;
        rule_count = ptx_op_operand_rules(other.op, rules);
        if (!ptx_rules_take_count(rules, rule_count, inst->operand_count) ||
            !check_operands(misfit->operand ? &ignored : misfit, &other, rules, rule_count))
            continue;
        inst->op = other.op;
        return true;
    }
}

bool ptx_check_inst(struct ptx_parser *p, struct ptx_inst *inst)
{
    struct ptx_token at = {PTX_TOKEN_NAME, inst->text, inst->line, inst->column};
    struct misfit misfit = {0};

    if (ptx_rules_take_count(p->rules, p->rule_count, inst->operand_count) &&
        check_operands(&misfit, inst, p->rules, p->rule_count))
        return true;
    if (check_other_rows(inst, &misfit))
        return true;
    if (!misfit.operand)
        return ptx_fail_at(p, &at, "'%.*s' cannot have %u operands", PXR_STR_ARG(inst->text),
                           inst->operand_count);
    at.column = misfit.operand->column;
    return ptx_fail_at(p, &at, "operand of '%.*s' must be %s", PXR_STR_ARG(inst->text),
                       misfit.wanted);
}
