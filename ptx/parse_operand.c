/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands of instructions and calls (PTX ISA, "Instruction Operands").
 *
 * Unfinished operands stand on the stack p->operands; a list that is complete is moved to the
 * module's arena. An unknown plain name is taken for a label: its place in the text is kept in
 * bits (start) and offset (length) until the operand has its final address, see add_pending.
 */
#include "ptx/parse.h"

static struct ptx_operand *top(struct ptx_parser *p)
{
    return ptx_list_at(&p->operands, p->operands.count - 1, sizeof(struct ptx_operand));
}

static struct ptx_operand *push(struct ptx_parser *p, enum ptx_operand_kind kind, int column)
{
    struct ptx_operand *operand = ptx_push(p, &p->operands, sizeof(*operand));

    if (operand) {
        operand->kind = kind;
        operand->column = column;
    }
    return operand;
}

/* Replaces the operands from `first` on by one that has them as elements. */
static bool fold(struct ptx_parser *p, size_t first, enum ptx_operand_kind kind, int column)
{
    uint32_t count = (uint32_t)(p->operands.count - first);
    struct ptx_operand *elems = ptx_take(p, &p->operands, first, sizeof(*elems));
    struct ptx_operand *operand = elems ? push(p, kind, column) : NULL;

    if (!operand)
        return false;
    operand->elems = elems;
    operand->elem_count = count;
    return true;
}

/* ---- constants and names ---- */

static bool parse_constant(struct ptx_parser *p)
{
    int column = p->tok.column;
    struct ptx_const value;
    struct ptx_operand *operand;

    if (!ptx_parse_const(p, &value))
        return false;
    operand = push(p, value.is_float ? PTX_OPERAND_FLOAT : PTX_OPERAND_INT, column);
    if (!operand)
        return false;
    operand->bits = value.bits;
    operand->is_single = value.is_single;
    return true;
}

/* component = ".x" | ".y" | ".z" | ".w" | ".r" | ".g" | ".b" | ".a" */
static unsigned component_of(const struct ptx_token *token)
{
    static const char names[] = "xyzwrgba";
    const char *found;

    if (token->kind != PTX_TOKEN_DOT || token->text.len != 2)
        return 0;
    found = strchr(names, token->text.ptr[1]);
    return found && *found ? (unsigned)(found - names) % 4 + 1 : 0;
}

/* selector = ".b0" … ".b3210" | ".h0" … : the part of a register that a video instruction uses.
 * Those are parsed and not translated, so the selector is not kept. */
static bool is_selector(const struct ptx_token *token)
{
    struct pxr_str text = token->text;

    if (text.len < 3 || (text.ptr[1] != 'b' && text.ptr[1] != 'h'))
        return false;
    for (size_t i = 2; i < text.len; i++)
        if (text.ptr[i] < '0' || text.ptr[i] > '7')
            return false;
    return true;
}

static bool parse_register(struct ptx_parser *p, const struct ptx_token *name,
                           const struct ptx_var *var, char letter)
{
    struct ptx_operand *operand = push(p, PTX_OPERAND_REG, name->column);
    unsigned component = component_of(&p->tok);

    if (!operand)
        return false;
    operand->var = var;
    if (p->tok.kind != PTX_TOKEN_DOT)
        return true;
    if (letter == '*' && is_selector(&p->tok)) {
        ptx_advance(p);
        return true;
    }
    if (component == 0 || var->vector_len == 1 || component > var->vector_len)
        return ptx_fail_at(p, &p->tok, "register '%s' has no component '%.*s'", var->name,
                           PXR_STR_ARG(p->tok.text));
    operand->component = (uint8_t)component;
    ptx_advance(p);
    return true;
}

/* offset = (("+" | "-") product)* */
static bool parse_offset(struct ptx_parser *p, int64_t *offset)
{
    while (ptx_token_is(&p->tok, '+') || ptx_token_is(&p->tok, '-')) {
        bool is_minus = ptx_token_is(&p->tok, '-');
        struct ptx_token token;
        struct ptx_const value;

        ptx_advance(p);
        token = p->tok;
        if (!ptx_parse_const_product(p, &value))
            return false;
        if (value.is_float)
            return ptx_fail_at(p, &token, "an offset must be a whole number");
        *offset = (int64_t)((uint64_t)*offset + (is_minus ? 0 - value.bits : value.bits));
    }
    return true;
}

/* element = variable "[" expression "]" : the address of an array's element */
static bool parse_element(struct ptx_parser *p, const struct ptx_var *var, int64_t *offset)
{
    struct ptx_token token;
    struct ptx_const value;

    if (!ptx_accept(p, '['))
        return true;
    token = p->tok;
    if (!ptx_parse_const(p, &value) || !ptx_expect(p, ']'))
        return false;
    if (value.is_float)
        return ptx_fail_at(p, &token, "an array index must be a whole number");
    *offset =
        (int64_t)((uint64_t)*offset + value.bits * ptx_type_bytes(var->type) * var->vector_len);
    return true;
}

/* variable = name element? offset ; in the place of an address: [name + offset] */
static bool parse_variable(struct ptx_parser *p, const struct ptx_token *name,
                           const struct ptx_var *var, char letter)
{
    struct ptx_operand *operand = push(p, PTX_OPERAND_VAR, name->column);
    int64_t offset = 0;

    if (!operand)
        return false;
    operand->var = var;
    if (!parse_element(p, var, &offset) || !parse_offset(p, &offset))
        return false;
    if (letter != 'm') {
        top(p)->offset = offset;
        return true;
    }
    if (!fold(p, p->operands.count - 1, PTX_OPERAND_ADDRESS, name->column))
        return false;
    top(p)->offset = offset;
    return true;
}

/* Special registers such as %tid.x: the component belongs to the name. */
static const struct ptx_symbol_value *lookup_special(struct ptx_parser *p,
                                                     const struct ptx_token *name)
{
    const struct ptx_symbol_value *value;
    char whole[40];
    size_t len = name->text.len + p->tok.text.len;

    if (p->tok.kind != PTX_TOKEN_DOT || len > sizeof(whole))
        return NULL;
    memcpy(whole, name->text.ptr, name->text.len);
    memcpy(whole + name->text.len, p->tok.text.ptr, p->tok.text.len);
    value = ptx_scope_find_here(&p->sreg_scope, (struct pxr_str){whole, len});
    if (value)
        ptx_advance(p);
    return value;
}

static bool push_pending(struct ptx_parser *p, const struct ptx_token *name,
                         enum ptx_operand_kind kind)
{
    struct ptx_operand *operand = push(p, kind, name->column);

    if (!operand)
        return false;
    operand->bits = (uint64_t)(name->text.ptr - p->module->text.ptr);
    operand->offset = (int64_t)name->text.len;
    return true;
}

static bool push_symbol(struct ptx_parser *p, const struct ptx_token *name,
                        const struct ptx_symbol_value *value, char letter)
{
    struct ptx_operand *operand;

    switch (value->kind) {
    case PTX_SYMBOL_VAR:
        return value->var->space == PTX_SPACE_REG ? parse_register(p, name, value->var, letter)
                                                  : parse_variable(p, name, value->var, letter);
    case PTX_SYMBOL_FUNC:
        value->func->is_address_taken = true;
        operand = push(p, PTX_OPERAND_FUNC, name->column);
        if (operand)
            operand->func = value->func;
        return operand != NULL;
    case PTX_SYMBOL_SREG:
        operand = push(p, PTX_OPERAND_SREG, name->column);
        if (operand)
            operand->sreg = value->sreg;
        return operand != NULL;
    case PTX_SYMBOL_LABEL:
    case PTX_SYMBOL_TARGETS:
    case PTX_SYMBOL_RANGE:
    case PTX_SYMBOL_PROTOTYPE:
        break;
    }
    return push_pending(p, name, PTX_OPERAND_LABEL);
}

/* named = register component? | special register | variable | function | label */
static bool parse_named(struct ptx_parser *p, char letter)
{
    struct ptx_token name = p->tok;
    const struct ptx_symbol_value *value;

    ptx_advance(p);
    if (letter == 'l' || letter == 't')
        return push_pending(p, &name, letter == 'l' ? PTX_OPERAND_LABEL : PTX_OPERAND_LABELS);
    if (pxr_str_is(name.text, "_"))
        return push(p, PTX_OPERAND_SINK, name.column) != NULL;
    value = ptx_lookup(p, name.text);
    if (!value && p->status == PXR_OK)
        value = lookup_special(p, &name);
    if (p->status != PXR_OK)
        return false;
    if (value)
        return push_symbol(p, &name, value, letter);
    if (name.text.ptr[0] == '%' || letter != '*')
        return ptx_fail_at(p, &name, "'%.*s' is not declared", PXR_STR_ARG(name.text));
    return push_pending(p, &name, PTX_OPERAND_LABEL);
}

/* ---- composite operands ---- */

/* vector = "{" operand ("," operand)* "}" */
static bool parse_vector(struct ptx_parser *p, unsigned depth)
{
    size_t first = p->operands.count;
    int column = p->tok.column;

    ptx_advance(p);
    do {
        if (!ptx_parse_operand(p, 's', depth + 1))
            return false;
    } while (ptx_accept(p, ','));
    return ptx_expect(p, '}') && fold(p, first, PTX_OPERAND_VECTOR, column);
}

/* address = "[" operand offset ("," operand)* "]" */
static bool parse_address(struct ptx_parser *p, unsigned depth)
{
    size_t first = p->operands.count;
    int column = p->tok.column;
    int64_t offset = 0;
    struct ptx_operand *base;

    ptx_advance(p);
    if (!ptx_parse_operand(p, 's', depth + 1))
        return false;
    base = top(p);
    if (base->kind == PTX_OPERAND_VAR) {
        offset = base->offset;
        base->offset = 0;
    } else if (base->kind != PTX_OPERAND_REG && base->kind != PTX_OPERAND_INT) {
        return ptx_fail_at(p, &p->tok, "an address begins with a register, variable or number");
    }
    if (!parse_offset(p, &offset))
        return false;
    while (ptx_accept(p, ','))
        if (!ptx_parse_operand(p, 's', depth + 1))
            return false;
    if (!ptx_expect(p, ']') || !fold(p, first, PTX_OPERAND_ADDRESS, column))
        return false;
    top(p)->offset = offset;
    ptx_accept_dot(p, ".unified"); /* of ld, written behind the address */
    return true;
}

/* A video instruction negates a register with "-"; elsewhere "-" begins a constant. */
static bool at_negated_register(const struct ptx_parser *p, char letter)
{
    const char *cur = p->lexer.cur;

    if (letter != '*' || !ptx_token_is(&p->tok, '-'))
        return false;
    while (*cur == ' ' || *cur == '\t')
        cur++;
    return *cur != '\0' && !strchr("0123456789(+-~!.", *cur);
}

/* single = ("!" | "-")? named | "!"? constant | vector | address */
static bool parse_single(struct ptx_parser *p, char letter, unsigned depth)
{
    bool is_negated;

    if (depth > PTX_MAX_OPERAND_DEPTH)
        return ptx_fail_at(p, &p->tok, "operand is nested too deeply");
    if (ptx_token_is(&p->tok, '{'))
        return parse_vector(p, depth);
    if (ptx_token_is(&p->tok, '['))
        return parse_address(p, depth);
    is_negated = ptx_accept(p, at_negated_register(p, letter) ? '-' : '!');
    if (ptx_at_const(p)) {
        if (!parse_constant(p))
            return false;
        if (is_negated)
            top(p)->bits = top(p)->bits == 0;
        return true;
    }
    if (p->tok.kind != PTX_TOKEN_NAME)
        return ptx_fail_expected(p, "an operand");
    if (!parse_named(p, letter))
        return false;
    top(p)->is_negated = is_negated;
    return true;
}

/* operand = single ("|" single)? */
bool ptx_parse_operand(struct ptx_parser *p, char letter, unsigned depth)
{
    size_t first = p->operands.count;
    int column = p->tok.column;

    if (!parse_single(p, letter, depth))
        return false;
    if (!ptx_accept(p, '|'))
        return true;
    return parse_single(p, letter, depth + 1) && fold(p, first, PTX_OPERAND_PAIR, column);
}

/* ---- label references ---- */

static bool add_pending(struct ptx_parser *p, struct ptx_operand *operand, int line)
{
    struct ptx_pending *pending;

    if (operand->kind != PTX_OPERAND_LABEL && operand->kind != PTX_OPERAND_LABELS)
        return true;
    pending = ptx_push(p, &p->pending, sizeof(*pending));
    if (!pending)
        return false;
    pending->name = (struct pxr_str){p->module->text.ptr + operand->bits, (size_t)operand->offset};
    pending->line = line;
    pending->column = operand->column;
    operand->bits = 0;
    operand->offset = 0;
    if (operand->kind == PTX_OPERAND_LABEL)
        pending->label = &operand->label;
    else
        pending->list = operand;
    return true;
}

/* Moves the operands from `first` on to where they stay. Labels are operands of their own, never
 * elements: elements are parsed with a letter that does not take unknown names. */
static struct ptx_operand *finish(struct ptx_parser *p, size_t first, int line, uint32_t *count)
{
    struct ptx_operand *operands;

    *count = (uint32_t)(p->operands.count - first);
    operands = ptx_take(p, &p->operands, first, sizeof(*operands));
    for (uint32_t i = 0; operands && i < *count; i++)
        if (!add_pending(p, &operands[i], line))
            return NULL;
    return operands;
}

/* ---- lists ---- */

/* The i-th letter of a shape without its question marks; its last letter for any further. */
static char letter_at(const char *shape, size_t i)
{
    char letter = '*';

    for (; *shape; shape++) {
        if (*shape == '?')
            continue;
        letter = *shape;
        if (letter == '*' || i-- == 0)
            break;
    }
    return letter;
}

/* operands = (operand ("," operand)*)? ";" */
bool ptx_parse_operands(struct ptx_parser *p, struct ptx_inst *inst)
{
    const char *shape = ptx_op_table[inst->op].shape;

    p->operands.count = 0;
    if (!ptx_token_is(&p->tok, ';')) {
        do {
            if (!ptx_parse_operand(p, letter_at(shape, p->operands.count), 0))
                return false;
        } while (ptx_accept(p, ','));
    }
    inst->operands = finish(p, 0, inst->line, &inst->operand_count);
    return inst->operands && ptx_check_inst(p, inst) && ptx_expect(p, ';');
}

/* arguments = "(" (operand ("," operand)*)? ")" */
static bool parse_arguments(struct ptx_parser *p, int line, const struct ptx_operand **operands,
                            uint32_t *count)
{
    p->operands.count = 0;
    if (!ptx_expect(p, '('))
        return false;
    if (!ptx_token_is(&p->tok, ')')) {
        do {
            if (!ptx_parse_operand(p, 's', 0))
                return false;
        } while (ptx_accept(p, ','));
    }
    *operands = finish(p, 0, line, count);
    return *operands && ptx_expect(p, ')');
}

static bool parse_callee(struct ptx_parser *p, struct ptx_call *call)
{
    const struct ptx_symbol_value *value =
        p->tok.kind == PTX_TOKEN_NAME ? ptx_lookup(p, p->tok.text) : NULL;

    call->callee.column = p->tok.column;
    if (p->tok.kind != PTX_TOKEN_NAME)
        return ptx_fail_expected(p, "a function to call");
    if (value && value->kind == PTX_SYMBOL_FUNC) {
        call->callee.kind = PTX_OPERAND_FUNC;
        call->callee.func = value->func;
    } else if (value && value->kind == PTX_SYMBOL_VAR && value->var->space == PTX_SPACE_REG) {
        call->callee.kind = PTX_OPERAND_REG;
        call->callee.var = value->var;
    } else {
        return ptx_fail_at(p, &p->tok, "'%.*s' is not a function or a register",
                           PXR_STR_ARG(p->tok.text));
    }
    ptx_advance(p);
    return true;
}

/* prototype = name of a .callprototype, or of a .calltargets list, above */
static bool parse_call_prototype(struct ptx_parser *p, struct ptx_call *call)
{
    const struct ptx_symbol_value *value =
        p->tok.kind == PTX_TOKEN_NAME ? ptx_lookup(p, p->tok.text) : NULL;

    if (!value || (value->kind != PTX_SYMBOL_PROTOTYPE && value->kind != PTX_SYMBOL_FUNC))
        return ptx_fail_expected(p, "the name of a .callprototype or .calltargets above");
    call->prototype = value->func;
    ptx_advance(p);
    return true;
}

static bool check_call(struct ptx_parser *p, const struct ptx_inst *inst,
                       const struct ptx_call *call)
{
    const struct ptx_token at = {PTX_TOKEN_NAME, inst->text, inst->line, inst->column};
    const struct ptx_func *callee =
        call->callee.kind == PTX_OPERAND_FUNC ? call->callee.func : call->prototype;

    if (!callee)
        return ptx_fail_at(p, &at, "an indirect call needs a .callprototype or .calltargets");
    if (callee->param_count != call->arg_count || callee->ret_count != call->ret_count)
        return ptx_fail_at(p, &at, "'%s' has %u results and %u parameters, the call %u and %u",
                           callee->name, callee->ret_count, callee->param_count, call->ret_count,
                           call->arg_count);
    return true;
}

/* call = ("(" results ")" ",")? callee ("," arguments)? ("," prototype)? ";" */
bool ptx_parse_call(struct ptx_parser *p, struct ptx_inst *inst)
{
    struct ptx_call *call = ptx_alloc(p, 1, sizeof(*call));

    if (!call)
        return false;
    if (ptx_token_is(&p->tok, '(') &&
        !(parse_arguments(p, inst->line, &call->rets, &call->ret_count) && ptx_expect(p, ',')))
        return false;
    if (!parse_callee(p, call))
        return false;
    if (ptx_accept(p, ',')) {
        if (ptx_token_is(&p->tok, '(')) {
            if (!parse_arguments(p, inst->line, &call->args, &call->arg_count))
                return false;
            if (ptx_accept(p, ',') && !parse_call_prototype(p, call))
                return false;
        } else if (!parse_call_prototype(p, call)) {
            return false;
        }
    }
    inst->call = call;
    return check_call(p, inst, call) && ptx_expect(p, ';');
}
