/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands against the instruction's row: their number, kinds and register sizes (PTX ISA, "Operand
 * Type Checking"). Only mistakes that would make a translation wrong are refused; a register
 * declared .s32 where the instruction says .u32 is none.
 */
#include "ptx/parse.h"

/* A mismatch between an instruction and a row. */
struct misfit {
    const struct ptx_operand *operand;
    const char *wanted; /* NULL: a register of this type */
    enum ptx_type type;
    unsigned count; /* of elements that share its bits */
    bool may_be_wider;
};

static bool misfits(struct misfit *misfit, const struct ptx_operand *operand, const char *wanted)
{
    *misfit = (struct misfit){.operand = operand, .wanted = wanted};
    return false;
}

static bool misfits_size(struct misfit *misfit, const struct ptx_operand *operand,
                         enum ptx_type type, unsigned count, bool may_be_wider)
{
    *misfit = (struct misfit){operand, NULL, type, count, may_be_wider};
    return false;
}

/* ---- kinds ---- */

#define KIND(kind) (1U << PTX_OPERAND_##kind)

#define VALUE      (KIND(REG) | KIND(SREG) | KIND(INT) | KIND(FLOAT) | KIND(SUM))

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
    {'s', VALUE, "a register or a constant"},
    {'S', VALUE | KIND(VECTOR), "a register, a constant or a vector"},
    {'v', VALUE | KIND(VECTOR) | KIND(VAR) | KIND(FUNC),
     "a register, a constant, a vector or a name"},
    {'i', KIND(INT), "an integer constant"},
    {'r', KIND(REG) | KIND(VECTOR), "registers in braces"},
    {'R', KIND(REG) | KIND(VECTOR), "registers in braces"},
    {'p', KIND(REG) | KIND(SREG) | KIND(INT), "a predicate"},
    {'x', KIND(REG) | KIND(SREG) | KIND(INT), "a register, a part such as %r1.b0, or a constant"},
    {'X', KIND(REG) | KIND(SREG) | KIND(INT), "a register, a part such as %r1.b0, or a constant"},
    {'y', KIND(REG), "a part of a register, such as %r1.b0"},
    {'h', KIND(REG), "a register, perhaps with a choice of halves"},
    {'H', KIND(REG), "a register, perhaps with a mask of halves"},
    {'b', KIND(REG), "a register, perhaps with a choice of bytes"},
    {'B', KIND(REG), "a register, perhaps with a mask of bytes"},
    {'m', KIND(ADDRESS), "an address in brackets"},
    {'M', KIND(ADDRESS), "an address and coordinates in brackets"},
    {'Q', KIND(REG) | KIND(SINK) | KIND(VECTOR) | KIND(PAIR),
     "a register, a vector of registers, or a pair of one and a predicate"},
    {'n', KIND(SINK), "'_'"},
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

/* NVIDIA's assembler takes sums of floating-point registers and predicates, too, and crashes on
 * them; sums of a whole vector have no known meaning. */
static bool is_sum_ok(const struct ptx_operand *operand)
{
    const struct ptx_operand *base;

    if (operand->kind != PTX_OPERAND_SUM)
        return true;
    base = operand->elems;
    return !ptx_type_is_float(ptx_operand_type(base)) && ptx_operand_type(base) != PTX_TYPE_PRED &&
           (base->kind != PTX_OPERAND_REG || base->var->vector_len == 1);
}

static bool check_kind(struct misfit *misfit, const struct ptx_operand *operand, char letter)
{
    bool is_element = letter == 'v' && operand->is_indexed; /* the address of name[r] */

    for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
        if (letters[i].letter != letter)
            continue;
        if ((!(letters[i].kinds & (1U << operand->kind)) && !is_element) ||
            (strchr("xXyhHbB", letter) && !is_selector_ok(operand, letter)))
            return misfits(misfit, operand, letters[i].message);
        break;
    }
    if (!is_sum_ok(operand))
        return misfits(misfit, operand, "a sum of a register of whole numbers and a constant");
    if (operand->is_negated && letter != 'X' &&
        (operand->kind != PTX_OPERAND_REG || operand->var->type != PTX_TYPE_PRED))
        return misfits(misfit, operand, "without '!'");
    if (operand->kind == PTX_OPERAND_ADDRESS &&
        (operand->elem_count > 1 && !operand->is_indexed) != (letter == 'M'))
        return misfits(misfit, operand,
                       letter == 'M' ? "an address and coordinates in brackets"
                                     : "one address in brackets");
    if (letter == 'Q' && operand->kind == PTX_OPERAND_PAIR)
        return operand->elems[0].kind != PTX_OPERAND_VECTOR ||
               check_elements(misfit, &operand->elems[0], letter);
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
    return misfits(misfit, operand,
                   ptx_type_table[type].class == PTX_CLASS_BITS
                       ? "a whole number, or a floating-point constant of the same size"
                       : "a whole number");
}

static bool check_scalar(struct misfit *misfit, const struct ptx_operand *operand,
                         enum ptx_type type, bool may_be_wider)
{
    unsigned bits;

    if (operand->kind == PTX_OPERAND_INT || operand->kind == PTX_OPERAND_FLOAT)
        return check_constant(misfit, operand, type);
    if (operand->kind == PTX_OPERAND_SUM && operand->elems->kind == PTX_OPERAND_REG)
        operand = operand->elems;
    if (operand->kind != PTX_OPERAND_REG)
        return true;
    bits = ptx_type_bits(operand->var->type);
    if (operand->component == 0)
        bits *= operand->var->vector_len;
    if (is_size(type, may_be_wider, bits))
        return true;
    return misfits_size(misfit, operand, type, 1, may_be_wider);
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
            return misfits_size(misfit, elem, type, operand->elem_count, false);
    }
    return true;
}

/* The number of elements is not checked. */
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
        return check_vector(misfit, inst, &operand->elems[0], type, false) &&
               check_scalar(misfit, &operand->elems[1], PTX_TYPE_PRED, false);
    if (rule->letter == 'u' || rule->letter == 'v')
        return check_packed(misfit, operand, type);
    if (ptx_rule_is_matrix(rule))
        return check_registers(misfit, operand, type);
    if (rule->letter == 'D' || rule->letter == 'Q' || rule->letter == 'S')
        return check_vector(misfit, inst, operand, type, rule->may_be_wider);
    return check_scalar(misfit, operand, type, rule->may_be_wider);
}

/* How many of the optional operands exist; from the left, they are the first. */
static uint32_t optional_present(const struct ptx_operand_rule *rules, unsigned rule_count,
                                 uint32_t operand_count)
{
    uint32_t required = 0;

    for (unsigned i = 0; i < rule_count; i++)
        required += !rules[i].is_optional;
    return operand_count - required;
}

/* ---- addresses ---- */

/* If the spelling has more than one space, operands differ in theirs. */
static bool has_one_space(const struct ptx_inst *inst)
{
    unsigned count = 0;

    for (unsigned i = 0; i < inst->mod_count; i++)
        count += (ptx_mod_table[inst->mods[i]].groups & PTX_GROUP_BIT(PTX_GROUP_SPACE)) != 0;
    return count == 1;
}

/* PTX ISA, "Addresses as Operands". A number is an address in .local only, as for NVIDIA's
 * assembler: there alone it says where something is. */
static bool check_base(struct misfit *misfit, const struct ptx_inst *inst,
                       const struct ptx_operand *operand)
{
    const struct ptx_operand *base = operand->elems;
    enum ptx_space space = ptx_inst_space(inst);

    if (operand->kind != PTX_OPERAND_ADDRESS)
        return true;
    if (base->kind == PTX_OPERAND_INT && space != PTX_SPACE_LOCAL)
        return misfits(misfit, operand,
                       "an address that begins with a register or a variable: a number is one in "
                       ".local only");
    if (base->kind == PTX_OPERAND_REG &&
        (ptx_type_is_float(base->var->type) || base->var->type == PTX_TYPE_PRED ||
         (base->component == 0 && base->var->vector_len > 1)))
        return misfits(misfit, operand, "an address in a register of whole numbers");
    if (base->kind == PTX_OPERAND_VAR && has_one_space(inst) && base->var->space != space)
        return misfits(misfit, operand, "an address in the instruction's state space");
    return true;
}

/* ---- the whole ---- */

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
        if (!check_kind(misfit, operand, rules[i].letter) || !check_base(misfit, inst, operand) ||
            !check_type(misfit, inst, operand, &rules[i]))
            return false;
    }
    return true;
}

/* Rows can share a spelling and differ in their operands. */
static bool check_other_rows(struct ptx_parser *p, struct ptx_inst *inst, struct misfit *misfit)
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
        p->need = ptx_op_need(inst->op, inst->types, inst->type_count, inst->mods, inst->mod_count);
        return true;
    }
}

/* Targets up to this follow the manual's rules for sm_13; with map_f64_to_f32 also those before. */
#define FIRST_TARGET 13

static bool fits_target(const struct ptx_module *module, const struct ptx_need *need)
{
    if (need->is_arch && module->target_suffix == '\0')
        return false;
    return need->sm <= FIRST_TARGET || need->sm <= module->target;
}

/* PTX ISA, "PTX Module Directives": .version and .target say which instructions there are. */
static bool check_need(struct ptx_parser *p, const struct ptx_inst *inst)
{
    const struct ptx_token at = {PTX_TOKEN_NAME, inst->text, inst->line, inst->column};
    const struct ptx_module *module = p->module;

    if (ptx_op_is_gone(inst->op, module->version, module->target))
        return ptx_fail_at(p, &at,
                           "'%.*s' without '.sync' is not part of PTX ISA 6.4 and later on sm_70 "
                           "and later; the module says %u.%u and sm_%u",
                           PXR_STR_ARG(inst->text), module->version / 10, module->version % 10,
                           module->target);
    if (p->need.ptx <= module->version && fits_target(module, &p->need))
        return true;
    return ptx_fail_at(
        p, &at, "'%.*s' needs PTX ISA %u.%u and sm_%u%s; the module says %u.%u and sm_%u%.1s",
        PXR_STR_ARG(inst->text), p->need.ptx / 10, p->need.ptx % 10, p->need.sm,
        p->need.is_arch ? "a" : "", module->version / 10, module->version % 10, module->target,
        &module->target_suffix);
}

static bool fail_count(struct ptx_parser *p, const struct ptx_inst *inst)
{
    const struct ptx_token at = {PTX_TOKEN_NAME, inst->text, inst->line, inst->column};
    unsigned least = p->rule_count;

    for (unsigned i = 0; i < p->rule_count; i++)
        least -= p->rules[i].is_optional;
    if (least < p->rule_count)
        return ptx_fail_at(p, &at, "'%.*s' cannot have %u operands; it has %u to %u",
                           PXR_STR_ARG(inst->text), inst->operand_count, least, p->rule_count);
    return ptx_fail_at(p, &at, "'%.*s' cannot have %u operands; it has %u", PXR_STR_ARG(inst->text),
                       inst->operand_count, least);
}

static bool fail_operand(struct ptx_parser *p, const struct ptx_inst *inst,
                         const struct misfit *misfit)
{
    const struct ptx_token at = {PTX_TOKEN_NAME, inst->text, inst->line, misfit->operand->column};
    unsigned bits = ptx_type_bits(misfit->type);

    if (misfit->wanted)
        return ptx_fail_at(p, &at, "operand of '%.*s' must be %s", PXR_STR_ARG(inst->text),
                           misfit->wanted);
    if (misfit->type == PTX_TYPE_PRED)
        return ptx_fail_at(p, &at, "operand of '%.*s' must be a predicate register",
                           PXR_STR_ARG(inst->text));
    return ptx_fail_at(p, &at, "operand of '%.*s' must be a register of %u bits%s (.%s%s)",
                       PXR_STR_ARG(inst->text), bits / misfit->count,
                       misfit->may_be_wider ? " or more" : "", ptx_type_table[misfit->type].name,
                       misfit->count > 1 ? ", in several" : "");
}

bool ptx_check_inst(struct ptx_parser *p, struct ptx_inst *inst)
{
    struct misfit misfit = {0};

    if (ptx_rules_take_count(p->rules, p->rule_count, inst->operand_count) &&
        check_operands(&misfit, inst, p->rules, p->rule_count))
        return check_need(p, inst);
    if (check_other_rows(p, inst, &misfit))
        return check_need(p, inst);
    return misfit.operand ? fail_operand(p, inst, &misfit) : fail_count(p, inst);
}
