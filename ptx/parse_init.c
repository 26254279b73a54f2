/* SPDX-License-Identifier: Apache-2.0
 *
 * Initialisers of variables: constants, nested lists, and addresses of variables and functions
 * (PTX ISA, "Initializers"). Values are collected sparsely first, so that an array that is mostly
 * zero costs what its text costs until it is known to be worth its bytes.
 */
#include "ptx/parse.h"

/* All initialised data of a module that is not zero. */
#define MAX_INIT_BYTES ((uint64_t)256 << 20)

struct init_value {
    uint64_t offset_bytes;
    uint64_t bits;
};

struct init_state {
    struct ptx_var *var;
    uint64_t item_bytes; /* of one scalar */
    bool has_nonzero;
};

/* ---- one value ---- */

static bool put_bits(struct ptx_parser *p, struct init_state *state, uint64_t index, uint64_t bits)
{
    unsigned unused = state->item_bytes < 8 ? 64 - 8 * (unsigned)state->item_bytes : 0;
    struct init_value *value;

    if (bits << unused == 0)
        return true;
    value = ptx_push(p, &p->bytes, sizeof(*value));
    if (!value)
        return false;
    *value = (struct init_value){index * state->item_bytes, bits};
    state->has_nonzero = true;
    return true;
}

/* PTX ISA, "Initializers": the kind of the value is that of the variable, floating point in its
 * width; variables of bits take either. */
static bool convert_const(struct ptx_parser *p, const struct ptx_token *token,
                          const struct ptx_var *var, const struct ptx_const *value, uint64_t *bits)
{
    unsigned width = ptx_type_bits(var->type);
    double number;
    float single;
    uint32_t low;

    if (!value->is_float && !ptx_type_is_float(var->type)) {
        *bits = value->bits;
        return true;
    }
    if (!value->is_float || (width != 32 && width != 64) ||
        (ptx_type_table[var->type].class != PTX_CLASS_BITS && !ptx_type_is_float(var->type)))
        return ptx_fail_at(p, token, "a variable of type .%s cannot have this initial value",
                           ptx_type_table[var->type].name);
    ptx_const_to_double(value, &number);
    if (width == 64) {
        memcpy(bits, &number, sizeof(*bits));
        return true;
    }
    single = (float)number;
    memcpy(&low, &single, sizeof(low));
    *bits = value->is_single ? value->bits : low; /* keeps the payload of a NaN literal */
    return true;
}

/* symbol = name | "generic" "(" name ")" */
static bool parse_symbol(struct ptx_parser *p, struct ptx_reloc *reloc)
{
    const struct ptx_symbol_value *value;
    struct ptx_token name;

    if (pxr_str_is(p->tok.text, "generic") && *p->lexer.cur == '(') {
        reloc->is_generic = true;
        ptx_advance(p);
        ptx_advance(p);
    }
    name = p->tok;
    if (name.kind != PTX_TOKEN_NAME)
        return ptx_fail_expected(p, "the name of a variable or function");
    value = ptx_lookup(p, name.text);
    if (value && value->kind == PTX_SYMBOL_VAR && value->var->is_module_scope) {
        if (value->var->space != PTX_SPACE_GLOBAL && value->var->space != PTX_SPACE_CONST)
            return ptx_fail_at(p, &name, "'%.*s' has no address before the program runs",
                               PXR_STR_ARG(name.text));
        reloc->var = value->var;
    } else if (value && value->kind == PTX_SYMBOL_FUNC) {
        value->func->is_address_taken = true;
        reloc->func = value->func;
    } else {
        return ptx_fail_at(p, &name, "'%.*s' is not a variable or function declared above",
                           PXR_STR_ARG(name.text));
    }
    ptx_advance(p);
    return !reloc->is_generic || ptx_expect(p, ')');
}

/* address = symbol (("+" | "-") expression)? */
static bool parse_address(struct ptx_parser *p, struct init_state *state, uint64_t index,
                          unsigned shift_bits)
{
    struct ptx_reloc *reloc = ptx_push(p, &p->relocs, sizeof(*reloc));
    struct ptx_const addend = {0};

    if (!reloc)
        return false;
    reloc->offset_bytes = (size_t)(index * state->item_bytes);
    reloc->size_bytes = (unsigned)state->item_bytes;
    reloc->shift_bits = shift_bits;
    if (!parse_symbol(p, reloc))
        return false;
    if ((ptx_token_is(&p->tok, '+') || ptx_token_is(&p->tok, '-')) && !ptx_parse_const(p, &addend))
        return false;
    if (addend.is_float)
        return ptx_fail_expected(p, "a whole number behind the symbol");
    reloc->addend = (int64_t)addend.bits;
    state->has_nonzero = true;
    return true;
}

static struct ptx_reloc *last_reloc(const struct ptx_parser *p)
{
    return ptx_list_at(&p->relocs, p->relocs.count - 1, sizeof(struct ptx_reloc));
}

/* masked = mask "(" (address | expression) ")" : mask is 0xFF shifted left by whole bytes */
static bool parse_masked(struct ptx_parser *p, const struct ptx_token *token,
                         struct init_state *state, uint64_t index, uint64_t mask)
{
    unsigned shift_bits = mask ? (unsigned)__builtin_ctzll(mask) : 0;

    if (mask >> shift_bits != 0xff || shift_bits % 8 != 0)
        return ptx_fail_at(p, token, "a mask must be 0xFF shifted by whole bytes");
    if (ptx_at_const(p)) {
        struct ptx_const value;

        if (!ptx_parse_const(p, &value))
            return false;
        if (value.is_float)
            return ptx_fail_at(p, token, "a mask is for whole numbers and addresses");
        return put_bits(p, state, index, value.bits >> shift_bits & 0xff) && ptx_expect(p, ')');
    }
    if (!parse_address(p, state, index, shift_bits))
        return false;
    last_reloc(p)->size_bytes = 1; /* the item's other bytes are zero */
    return ptx_expect(p, ')');
}

/* scalar = masked | expression | address */
static bool parse_scalar(struct ptx_parser *p, struct init_state *state, uint64_t index)
{
    struct ptx_token token = p->tok;
    struct ptx_const value;
    uint64_t bits;

    if (!state->var->is_unsized && index >= state->var->elem_count * state->var->vector_len)
        return ptx_fail_at(p, &token, "too many initial values for '%s'", state->var->name);
    if (!ptx_at_const(p))
        return parse_address(p, state, index, 0);
    if (!ptx_parse_const(p, &value))
        return false;
    if (!value.is_float && ptx_accept(p, '('))
        return parse_masked(p, &token, state, index, value.bits);
    return convert_const(p, &token, state->var, &value, &bits) && put_bits(p, state, index, bits);
}

/* ---- lists ---- */

/* Scalars in one item at this nesting level of the variable's dimensions and vector. */
static uint64_t scalars_below(const struct ptx_parser *p, const struct ptx_var *var, size_t level)
{
    uint64_t count = level <= p->dims.count ? var->vector_len : 1;

    for (size_t i = level; i < p->dims.count; i++)
        count *= *(uint64_t *)ptx_list_at(&p->dims, i, sizeof(uint64_t));
    return count ? count : 1;
}

/* value = scalar | "{" (value ("," value)*)? "}" ; *index is the next scalar's place */
static bool parse_value(struct ptx_parser *p, struct init_state *state, size_t level,
                        uint64_t *index)
{
    uint64_t item = scalars_below(p, state->var, level + 1);

    if (!ptx_token_is(&p->tok, '{')) {
        bool is_ok = parse_scalar(p, state, *index);

        *index += 1;
        return is_ok;
    }
    if (level > p->dims.count + 1)
        return ptx_fail_at(p, &p->tok, "initialiser is nested more deeply than the variable");
    ptx_advance(p);
    if (ptx_accept(p, '}'))
        return true;
    do {
        bool is_list = ptx_token_is(&p->tok, '{');
        uint64_t start = *index;

        if (!parse_value(p, state, level + 1, index))
            return false;
        if (is_list)
            *index = start + item; /* missing items of the inner list are zero */
    } while (ptx_accept(p, ','));
    return ptx_expect(p, '}');
}

/* Objects of opaque type have properties, such as addr_mode_0 = clamp_to_edge, unused here. */
static bool skip_properties(struct ptx_parser *p)
{
    unsigned depth = 0;

    while (depth > 0 || !(ptx_token_is(&p->tok, ';') || ptx_token_is(&p->tok, ','))) {
        if (p->tok.kind == PTX_TOKEN_END || p->tok.kind == PTX_TOKEN_BAD)
            return ptx_fail_expected(p, "';'");
        if (depth == 0 && ptx_token_is(&p->tok, '}'))
            return ptx_fail_expected(p, "';'");
        depth += ptx_token_is(&p->tok, '{');
        depth -= ptx_token_is(&p->tok, '}');
        ptx_advance(p);
    }
    return true;
}

static bool store_values(struct ptx_parser *p, struct init_state *state,
                         const struct ptx_token *token)
{
    struct ptx_var *var = state->var;
    const struct init_value *values = p->bytes.items;
    uint8_t *bytes;

    if (!state->has_nonzero)
        return true;
    if (var->size_bytes > MAX_INIT_BYTES - p->init_bytes)
        return ptx_fail_at(p, token, "'%s' and other initialised data are too large", var->name);
    p->init_bytes += var->size_bytes;
    if (p->arena->limit_bytes)
        p->arena->limit_bytes += var->size_bytes;
    bytes = ptx_alloc(p, 1, var->size_bytes);
    if (!bytes)
        return false;
    for (size_t i = 0; i < p->bytes.count; i++) {
        size_t width = state->item_bytes < 8 ? (size_t)state->item_bytes : 8;

        memcpy(bytes + values[i].offset_bytes, &values[i].bits, width);
    }
    var->init_bytes = bytes;
    var->reloc_count = (uint32_t)p->relocs.count;
    var->relocs = ptx_take(p, &p->relocs, 0, sizeof(struct ptx_reloc));
    return var->relocs != NULL;
}

/* initializer = value, behind the "=" */
bool ptx_parse_initializer(struct ptx_parser *p, struct ptx_var *var)
{
    struct init_state state = {var, ptx_type_bytes(var->type), false};
    struct ptx_token token = p->tok;
    uint64_t index = 0;

    if (ptx_type_table[var->type].class == PTX_CLASS_OPAQUE)
        return skip_properties(p);
    if (var->space != PTX_SPACE_GLOBAL && var->space != PTX_SPACE_CONST)
        return ptx_fail_at(p, &token, "only .global and .const variables have initial values");
    p->bytes.count = 0;
    p->relocs.count = 0;
    if (!parse_value(p, &state, 0, &index))
        return false;
    if (var->is_unsized) {
        uint64_t item = scalars_below(p, var, 1);

        var->is_unsized = false;
        var->elem_count = (index + item - 1) / item * (item / var->vector_len);
        if (!ptx_finish_var(p, var, &token))
            return false;
    }
    return store_values(p, &state, &token);
}
