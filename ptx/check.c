/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands against the instruction's row: how many, of which kind, and registers of which size
 * (PTX ISA, "Operand Type Checking"). Only what would make a translation wrong is refused; that
 * a register is declared .s32 where the instruction says .u32 is not.
 */
#include "ptx/parse.h"

static bool fail_operand(struct ptx_parser *p, const struct ptx_inst *inst,
                         const struct ptx_operand *operand, const char *message)
{
    const struct ptx_token at = {PTX_TOKEN_NAME, inst->text, inst->line, operand->column};

    return ptx_fail_at(p, &at, "operand of '%.*s' must be %s", PXR_STR_ARG(inst->text), message);
}

/* ---- kinds ---- */

#define KIND(kind) (1U << PTX_OPERAND_##kind)

/* Kinds of operand that a letter of a shape takes. */
static const struct {
    char letter;
    unsigned kinds;
    const char *message;
} letters[] = {
    {'d', KIND(REG), "a register"},
    {'e', KIND(REG) | KIND(SINK) | KIND(VECTOR), "a register or a vector of registers"},
    {'q', KIND(REG) | KIND(SINK) | KIND(PAIR), "a register or a pair such as %r1|%p1"},
    {'s', KIND(REG) | KIND(SREG) | KIND(INT) | KIND(FLOAT), "a register or a constant"},
    {'v', KIND(REG) | KIND(SREG) | KIND(INT) | KIND(FLOAT) | KIND(VECTOR) | KIND(VAR) | KIND(FUNC),
     "a register, a constant, a vector or a name"},
    {'p', KIND(REG) | KIND(SREG) | KIND(INT), "a predicate"},
    {'m', KIND(ADDRESS), "an address in brackets"},
    {'l', KIND(LABEL), "a label"},
    {'t', KIND(LABELS), "the name of a .branchtargets list"},
};

static bool is_register_or_sink(const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_REG || operand->kind == PTX_OPERAND_SINK;
}

/* Destinations are made of registers only; sources may have constants in a vector. */
static bool check_elements(struct ptx_parser *p, const struct ptx_inst *inst,
                           const struct ptx_operand *operand, char letter)
{
    for (uint32_t i = 0; i < operand->elem_count; i++) {
        const struct ptx_operand *elem = &operand->elems[i];

        if (elem->is_negated)
            return fail_operand(p, inst, elem, "without '!'");
        if (is_register_or_sink(elem) && (letter != 'v' || elem->kind == PTX_OPERAND_REG))
            continue;
        if (letter == 'v' && (elem->kind == PTX_OPERAND_INT || elem->kind == PTX_OPERAND_FLOAT ||
                              elem->kind == PTX_OPERAND_SREG))
            continue;
        return fail_operand(p, inst, elem, "a register");
    }
    return true;
}

static bool check_kind(struct ptx_parser *p, const struct ptx_inst *inst,
                       const struct ptx_operand *operand, char letter)
{
    for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
        if (letters[i].letter != letter)
            continue;
        if (!(letters[i].kinds & (1U << operand->kind)))
            return fail_operand(p, inst, operand, letters[i].message);
        break;
    }
    if (operand->is_negated &&
        (operand->kind != PTX_OPERAND_REG || operand->var->type != PTX_TYPE_PRED))
        return fail_operand(p, inst, operand, "without '!'");
    if (operand->kind == PTX_OPERAND_VECTOR || operand->kind == PTX_OPERAND_PAIR)
        return check_elements(p, inst, operand, letter);
    return true;
}

/* ---- sizes ---- */

/* What the size of a register must be, one letter per operand:
 *   0 1  the first or second type of the instruction
 *   > ]  at least that: ld, st and cvt take wider registers
 *   w    the first type, or twice that with .wide
 *   i    32 bits        P  a predicate        x  not checked
 * Rows that are not listed have the first type throughout. */
static const struct {
    enum ptx_op op;
    const char *sizes;
} size_rules[] = {
    {PTX_OP_MUL_INT, "w00"},
    {PTX_OP_MAD_INT, "w00w"},
    {PTX_OP_POPC, "i0"},
    {PTX_OP_CLZ, "i0"},
    {PTX_OP_BFIND, "i0"},
    {PTX_OP_BFE, "00ii"},
    {PTX_OP_BFI, "000ii"},
    {PTX_OP_TESTP, "P0"},
    {PTX_OP_SETP, "P00P"},
    {PTX_OP_SET, "011P"},
    {PTX_OP_SELP, "000P"},
    {PTX_OP_SLCT, "0001"},
    {PTX_OP_LOP3_BOOL, "00000P"},
    {PTX_OP_SHL, "00i"},
    {PTX_OP_SHR, "00i"},
    {PTX_OP_CVT, ">]]"},
    {PTX_OP_ISSPACEP, "Px"},
    {PTX_OP_LD, ">xx"},
    {PTX_OP_LDU, ">x"},
    {PTX_OP_ST, "x>x"},
    {PTX_OP_ATOM, "0x0xx"},
    {PTX_OP_RED_ATOM, "x0x"},
    {PTX_OP_BAR_RED_POPC, "iiiP"},
    {PTX_OP_BAR_RED, "PiiP"},
    {PTX_OP_BARRIER_RED, "PiiP"},
    {PTX_OP_BARRIER_RED_POPC, "iiiP"},
    {PTX_OP_VOTE, "PPi"},
    {PTX_OP_VOTE_BALLOT, "iPi"},
    {PTX_OP_MATCH, "i0i"},
    {PTX_OP_MOV, "mm"},
    {PTX_OP_BAR_WARP_SYNC, "i"},
    {PTX_OP_ELECT, "ii"},
};

static const char *sizes_of(enum ptx_op op)
{
    for (size_t i = 0; i < sizeof(size_rules) / sizeof(size_rules[0]); i++)
        if (size_rules[i].op == op)
            return size_rules[i].sizes;
    return NULL;
}

static bool is_size(const struct ptx_inst *inst, char rule, unsigned bits)
{
    unsigned first = ptx_type_bits(inst->types[0]);
    unsigned second = ptx_type_bits(inst->types[1]);

    switch (rule) {
    case '0':
        return bits == first;
    case '1':
        return bits == second;
    case '>':
        return bits >= first && bits > 1;
    case ']':
        return bits >= second && bits > 1;
    case 'w':
        return bits == (ptx_inst_mod(inst, PTX_GROUP_HALF) == PTX_MOD_WIDE ? 2 * first : first);
    case 'i':
        return bits == 32;
    case 'P':
        return bits == 1;
    default:
        return true;
    }
}

/* The type an operand of this rule has. */
static enum ptx_type type_of(const struct ptx_inst *inst, char rule)
{
    switch (rule) {
    case 'x':
        return PTX_TYPE_NONE;
    case 'i':
        return PTX_TYPE_U32;
    case 'P':
        return PTX_TYPE_PRED;
    case '1':
    case ']':
        return inst->types[1];
    default:
        return inst->types[0];
    }
}

/* Whole numbers are no floating-point values, and a floating-point literal is bits only where it
 * has the size of the type. */
static bool check_constant(struct ptx_parser *p, const struct ptx_inst *inst,
                           const struct ptx_operand *operand, char rule)
{
    enum ptx_type type = type_of(inst, rule);

    if (type == PTX_TYPE_NONE)
        return true;
    if (operand->kind == PTX_OPERAND_INT)
        return !ptx_type_is_float(type) ||
               fail_operand(p, inst, operand, "a floating-point constant, such as 0f3F800000");
    if (ptx_type_is_float(type) || (ptx_type_table[type].class == PTX_CLASS_BITS &&
                                    ptx_type_bits(type) == (operand->is_single ? 32 : 64)))
        return true;
    return fail_operand(p, inst, operand, "a constant of another type");
}

static bool check_scalar(struct ptx_parser *p, const struct ptx_inst *inst,
                         const struct ptx_operand *operand, char rule)
{
    unsigned bits;

    if (operand->kind == PTX_OPERAND_INT || operand->kind == PTX_OPERAND_FLOAT)
        return check_constant(p, inst, operand, rule);
    if (operand->kind != PTX_OPERAND_REG)
        return true;
    bits = ptx_type_bits(operand->var->type);
    if (operand->component == 0)
        bits *= operand->var->vector_len;
    if (is_size(inst, rule, bits))
        return true;
    return fail_operand(p, inst, operand,
                        rule == 'P' ? "a predicate register" : "a register of another size");
}

/* mov packs and unpacks: the elements of a vector together have the size of the type. */
static bool check_mov(struct ptx_parser *p, const struct ptx_inst *inst,
                      const struct ptx_operand *operand)
{
    unsigned bits = ptx_type_bits(inst->types[0]);

    if (operand->kind != PTX_OPERAND_VECTOR)
        return check_scalar(p, inst, operand, '0');
    for (uint32_t i = 0; i < operand->elem_count; i++) {
        const struct ptx_operand *elem = &operand->elems[i];

        if (elem->kind == PTX_OPERAND_REG &&
            ptx_type_bits(elem->var->type) * operand->elem_count != bits)
            return fail_operand(p, inst, elem, "a register of another size");
    }
    return true;
}

/* A vector has as many elements as the instruction says; a single vector register stands for
 * all of them. */
static bool check_vector(struct ptx_parser *p, const struct ptx_inst *inst,
                         const struct ptx_operand *operand, char rule)
{
    unsigned len = ptx_inst_vector_len(inst);

    if (operand->kind != PTX_OPERAND_VECTOR) {
        if (len > 1 && operand->kind == PTX_OPERAND_REG && operand->component == 0 &&
            operand->var->vector_len == len &&
            is_size(inst, rule, ptx_type_bits(operand->var->type)))
            return true;
        return len == 1 ? check_scalar(p, inst, operand, rule)
                        : fail_operand(p, inst, operand, "a vector");
    }
    if (operand->elem_count != len)
        return fail_operand(p, inst, operand, "a vector of another length");
    for (uint32_t i = 0; i < len; i++)
        if (!check_scalar(p, inst, &operand->elems[i], rule))
            return false;
    return true;
}

static bool check_size(struct ptx_parser *p, const struct ptx_inst *inst,
                       const struct ptx_operand *operand, char letter, char rule)
{
    if (rule == 'm')
        return check_mov(p, inst, operand);
    if (operand->kind == PTX_OPERAND_PAIR)
        return check_scalar(p, inst, &operand->elems[0], rule) &&
               check_scalar(p, inst, &operand->elems[1], 'P');
    if (letter == 'e' || letter == 'v')
        return rule == 'x' || check_vector(p, inst, operand, rule);
    return check_scalar(p, inst, operand, rule);
}

/* ---- the whole ---- */

/* Another row of the name may be the one with so many operands. */
static bool choose_by_count(struct ptx_parser *p, struct ptx_inst *inst)
{
    const struct ptx_token at = {PTX_TOKEN_NAME, inst->text, inst->line, inst->column};
    struct pxr_str name = pxr_str_from(ptx_op_table[inst->op].name);
    enum ptx_op op;

    if (ptx_op_takes_count(inst->op, inst->operand_count))
        return true;
    op = ptx_op_choose(name, inst->types, inst->type_count, inst->mods, inst->mod_count,
                       inst->operand_count);
    if (op == PTX_OP_COUNT)
        return ptx_fail_at(p, &at, "'%.*s' cannot have %u operands", PXR_STR_ARG(inst->text),
                           inst->operand_count);
    inst->op = op;
    return true;
}

/* Which of the optional letters are there: as many as operands are left over, from the left. */
static uint32_t optional_present(const struct ptx_inst *inst)
{
    uint32_t required = 0;

    for (const char *letter = ptx_op_table[inst->op].shape; *letter; letter++)
        required += *letter != '?' && letter[1] != '?';
    return inst->operand_count - required;
}

static bool has_cache_policy(const struct ptx_inst *inst)
{
    for (unsigned i = 0; i < inst->mod_count; i++)
        if (inst->mods[i] == PTX_MOD_L2_CACHE_HINT)
            return true;
    return false;
}

/* PTX ISA, "cvt": two sources make a packed pair. */
static uint32_t cvt_operand_count(const struct ptx_inst *inst)
{
    bool is_pair = inst->types[0] == PTX_TYPE_F16X2 || inst->types[0] == PTX_TYPE_BF16X2;

    return is_pair && inst->types[1] == PTX_TYPE_F32 ? 3 : 2;
}

/* How many operands the modifiers ask for, where the row leaves it open. */
static uint32_t wanted_count(const struct ptx_inst *inst)
{
    uint32_t policy = has_cache_policy(inst);

    switch (inst->op) {
    case PTX_OP_SETP:
    case PTX_OP_SET:
        return 3 + ptx_inst_has(inst, PTX_GROUP_BOOL);
    case PTX_OP_CVT:
        return cvt_operand_count(inst);
    case PTX_OP_LD:
    case PTX_OP_ST:
    case PTX_OP_RED_ATOM:
        return 2 + policy;
    case PTX_OP_ATOM:
        return 3 + (ptx_inst_mod(inst, PTX_GROUP_ATOMOP) == PTX_MOD_CAS) + policy;
    default:
        return inst->operand_count;
    }
}

/* PTX ISA, "cvt": a conversion that can lose value says how it rounds. */
static bool needs_rounding(const struct ptx_inst *inst)
{
    bool to_float = ptx_type_is_float(inst->types[0]);
    bool from_float = ptx_type_is_float(inst->types[1]);
    bool is_narrowing = ptx_type_bits(inst->types[0]) < ptx_type_bits(inst->types[1]) ||
                        inst->types[0] == PTX_TYPE_TF32 || cvt_operand_count(inst) == 3;

    return to_float != from_float || (to_float && is_narrowing);
}

/* PTX ISA, "Comparisons": which operators a type has. */
static bool has_comparison(enum ptx_type type, enum ptx_mod cmp)
{
    switch (cmp) {
    case PTX_MOD_EQ:
    case PTX_MOD_NE:
        return true;
    case PTX_MOD_LT:
    case PTX_MOD_LE:
    case PTX_MOD_GT:
    case PTX_MOD_GE:
        return ptx_type_table[type].class != PTX_CLASS_BITS;
    case PTX_MOD_LO:
    case PTX_MOD_LS:
    case PTX_MOD_HI:
    case PTX_MOD_HS:
        return ptx_type_table[type].class == PTX_CLASS_UNSIGNED;
    default:
        return ptx_type_is_float(type);
    }
}

static bool is_comparison_ok(const struct ptx_inst *inst)
{
    enum ptx_mod cmp = ptx_inst_mod(inst, PTX_GROUP_CMP);

    if (inst->op == PTX_OP_SETP)
        return has_comparison(inst->types[0], cmp);
    return inst->op != PTX_OP_SET || has_comparison(inst->types[1], cmp);
}

static bool check_modifiers(struct ptx_parser *p, const struct ptx_inst *inst)
{
    const struct ptx_token at = {PTX_TOKEN_NAME, inst->text, inst->line, inst->column};

    if (inst->operand_count != wanted_count(inst))
        return ptx_fail_at(p, &at, "'%.*s' cannot have %u operands", PXR_STR_ARG(inst->text),
                           inst->operand_count);
    if (!is_comparison_ok(inst))
        return ptx_fail_at(p, &at, "'%.*s' compares in a way its type does not have",
                           PXR_STR_ARG(inst->text));
    if (inst->op == PTX_OP_CVT && !ptx_inst_has(inst, PTX_GROUP_ROUND) && needs_rounding(inst))
        return ptx_fail_at(p, &at, "'%.*s' needs a rounding modifier", PXR_STR_ARG(inst->text));
    return true;
}

bool ptx_check_inst(struct ptx_parser *p, struct ptx_inst *inst)
{
    const char *sizes;
    uint32_t optional;
    uint32_t index = 0;
    uint32_t position = 0;

    if (!choose_by_count(p, inst))
        return false;
    if (ptx_op_table[inst->op].shape[0] == '*')
        return true;
    if (!check_modifiers(p, inst))
        return false;
    sizes =
        ptx_op_table[inst->op].fidelity == PTX_FIDELITY_UNSUPPORTED ? "xxxxxx" : sizes_of(inst->op);
    if (!sizes)
        sizes = inst->type_count ? "000000" : "xxxxxx";
    optional = optional_present(inst);
    for (const char *letter = ptx_op_table[inst->op].shape; *letter; letter++) {
        const struct ptx_operand *operand;

        if (*letter == '?')
            continue;
        position++;
        if (letter[1] == '?') {
            if (optional == 0)
                continue;
            optional--;
        }
        operand = &inst->operands[index++];
        if (!check_kind(p, inst, operand, *letter) ||
            !check_size(p, inst, operand, *letter, *letter == 'p' ? 'P' : sizes[position - 1]))
            return false;
    }
    return true;
}
