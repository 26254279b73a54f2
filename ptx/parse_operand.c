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
    const char *start = p->tok.text.ptr;
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
    operand->text = ptx_text_since(p, start);
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

/* selector = ".b0" … ".b3210" | ".h0" … ".h32": the parts of a register that a video instruction
 * uses (PTX ISA, "Video Instructions"). */
static bool take_selector(struct ptx_operand *operand, const struct ptx_token *token)
{
    struct pxr_str text = token->text;
    bool is_half = text.len >= 2 && text.ptr[1] == 'h';
    size_t most = is_half ? 2 : 4;

    if (text.len < 3 || text.len - 2 > most || (text.ptr[1] != 'b' && !is_half))
        return false;
    for (size_t i = 2; i < text.len; i++) {
        char digit = text.ptr[i];

        if (digit < '0' || digit > (is_half ? '3' : '7'))
            return false;
        operand->lanes[text.len - 1 - i] = (uint8_t)(digit - '0');
    }
    operand->lane_bits = is_half ? 16 : 8;
    operand->lane_count = (uint8_t)(text.len - 2);
    return true;
}

/* Letters of the operands of video instructions, and any. */
static bool takes_selector(char letter)
{
    return letter != '\0' && strchr("xXyhHbB*", letter);
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
    operand->text = (struct pxr_str){p->tok.text.ptr + 1, p->tok.text.len - 1};
    if (takes_selector(letter) && take_selector(operand, &p->tok)) {
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

/* offset = ("+" expression)? : as NVIDIA's assembler, nothing is subtracted from a name */
static bool parse_offset(struct ptx_parser *p, int64_t *offset)
{
    struct ptx_token token;
    struct ptx_const value;

    if (ptx_token_is(&p->tok, '-'))
        return ptx_fail_at(p, &p->tok,
                           "nothing can be subtracted here; a negative number can be "
                           "added, as in %%r1+-4");
    if (!ptx_accept(p, '+'))
        return true;
    token = p->tok;
    if (!ptx_parse_const(p, &value))
        return false;
    if (value.is_float)
        return ptx_fail_at(p, &token, "an offset must be a whole number");
    *offset = (int64_t)((uint64_t)*offset + value.bits);
    return true;
}

static uint64_t element_bytes(const struct ptx_var *var)
{
    return (uint64_t)ptx_type_bytes(var->type) * var->vector_len;
}

/* index = register offset : PTX ISA, "Arrays as Operands" */
static bool parse_register_index(struct ptx_parser *p, const struct ptx_var *var, int64_t *offset)
{
    struct ptx_token name = p->tok;
    const struct ptx_symbol_value *value = ptx_lookup(p, name.text);
    int64_t count = 0;

    if (!value || value->kind != PTX_SYMBOL_VAR || value->var->space != PTX_SPACE_REG ||
        ptx_type_is_float(value->var->type) || value->var->type == PTX_TYPE_PRED)
        return ptx_fail_at(p, &name, "'%.*s' cannot be an array index", PXR_STR_ARG(name.text));
    ptx_advance(p);
    if (!parse_register(p, &name, value->var, 's'))
        return false;
    if (ptx_type_bits(value->var->type) > 64 ||
        (value->var->vector_len > 1 && top(p)->component == 0))
        return ptx_fail_at(p, &name, "'%.*s' cannot be an array index", PXR_STR_ARG(name.text));
    if (!parse_offset(p, &count))
        return false;
    *offset = (int64_t)((uint64_t)*offset + (uint64_t)count * element_bytes(var));
    return true;
}

/* element = variable "[" (expression | index) "]" : an array's element. A register that is the
 * index becomes an operand behind the variable. */
static bool parse_element(struct ptx_parser *p, const struct ptx_var *var, int64_t *offset,
                          bool *is_indexed)
{
    struct ptx_token token;
    struct ptx_const value;

    if (!ptx_accept(p, '['))
        return true;
    token = p->tok;
    *is_indexed = token.kind == PTX_TOKEN_NAME && !ptx_at_const(p);
    if (*is_indexed)
        return parse_register_index(p, var, offset) && ptx_expect(p, ']');
    if (!ptx_parse_const(p, &value) || !ptx_expect(p, ']'))
        return false;
    if (value.is_float)
        return ptx_fail_at(p, &token, "an array index must be a whole number");
    *offset = (int64_t)((uint64_t)*offset + value.bits * element_bytes(var));
    return true;
}

/* variable = name element? offset ; in the place of an address: [name + offset] */
static bool parse_variable(struct ptx_parser *p, const struct ptx_token *name,
                           const struct ptx_var *var, char letter)
{
    const char *start = p->tok.text.ptr;
    size_t first = p->operands.count;
    struct ptx_operand *operand = push(p, PTX_OPERAND_VAR, name->column);
    bool is_indexed = false;
    int64_t offset = 0;

    if (!operand)
        return false;
    operand->var = var;
    if (!parse_element(p, var, &offset, &is_indexed) || !parse_offset(p, &offset))
        return false;
    if ((letter == 'm' || is_indexed) && !fold(p, first, PTX_OPERAND_ADDRESS, name->column))
        return false;
    operand = top(p);
    operand->is_bare = operand->kind == PTX_OPERAND_ADDRESS;
    operand->is_indexed = is_indexed;
    operand->offset = offset;
    operand->text = ptx_text_since(p, start);
    return true;
}

static bool push_sreg(struct ptx_parser *p, int column, enum ptx_sreg sreg)
{
    struct ptx_operand *operand = push(p, PTX_OPERAND_SREG, column);

    if (operand)
        operand->sreg = sreg;
    return operand != NULL;
}

/* special = name ("." component)? : %tid.x … %tid.z, also as .r .g .b; the fourth part of the
 * vector is 0 (PTX ISA, "Special Registers: %tid"). The whole is a vector of these. */
static bool parse_special(struct ptx_parser *p, const struct ptx_token *name, enum ptx_sreg first)
{
    size_t bottom = p->operands.count;
    unsigned component = component_of(&p->tok);

    if (p->tok.kind == PTX_TOKEN_DOT && component == 0)
        return ptx_fail_at(p, &p->tok, "'%.*s' has no component '%.*s'", PXR_STR_ARG(name->text),
                           PXR_STR_ARG(p->tok.text));
    if (component > 0)
        ptx_advance(p);
    for (unsigned i = 0; i < 3; i++)
        if ((component == 0 || component == i + 1) && !push_sreg(p, name->column, first + i))
            return false;
    if ((component == 0 || component == 4) && !push(p, PTX_OPERAND_INT, name->column))
        return false;
    if (component == 0 && !fold(p, bottom, PTX_OPERAND_VECTOR, name->column))
        return false;
    top(p)->text = ptx_text_since(p, name->text.ptr);
    return true;
}

static bool push_pending(struct ptx_parser *p, const struct ptx_token *name,
                         enum ptx_operand_kind kind)
{
    struct ptx_operand *operand = push(p, kind, name->column);

    if (!operand)
        return false;
    operand->bits = (uint64_t)(name->text.ptr - p->module->text.ptr);
    operand->offset = (int64_t)name->text.len;
    operand->text = kind == PTX_OPERAND_LABELS ? name->text : (struct pxr_str){0};
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
        return push_sreg(p, name->column, value->sreg);
    case PTX_SYMBOL_SREG_VECTOR:
        return parse_special(p, name, value->sreg);
    case PTX_SYMBOL_LABEL:
    case PTX_SYMBOL_TARGETS:
    case PTX_SYMBOL_RANGE:
    case PTX_SYMBOL_PROTOTYPE:
    case PTX_SYMBOL_LOST:
    case PTX_SYMBOL_LOST_RANGE:
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
    struct pxr_str text = {0};
    const char *start;
    struct ptx_operand *base;

    ptx_advance(p);
    if (!ptx_parse_operand(p, 's', depth + 1))
        return false;
    base = top(p);
    if (base->kind == PTX_OPERAND_VAR) {
        offset = base->offset;
        text = base->text;
        base->offset = 0;
        base->text = (struct pxr_str){0};
    } else if (base->kind != PTX_OPERAND_REG && base->kind != PTX_OPERAND_INT) {
        return ptx_fail_at(p, &p->tok, "an address begins with a register, variable or number");
    }
    start = text.len > 0 ? text.ptr : p->tok.text.ptr;
    if (!parse_offset(p, &offset))
        return false;
    text = ptx_text_since(p, start);
    while (ptx_accept(p, ','))
        if (!ptx_parse_operand(p, 's', depth + 1))
            return false;
    if (!ptx_expect(p, ']') || !fold(p, first, PTX_OPERAND_ADDRESS, column))
        return false;
    top(p)->offset = offset;
    top(p)->text = text;
    top(p)->is_unified = ptx_accept_dot(p, ".unified"); /* of ld, written behind the address */
    return true;
}

/* A video instruction negates a register with "-"; elsewhere "-" begins a constant. */
static bool at_negated_register(const struct ptx_parser *p, char letter)
{
    const char *cur = p->lexer.cur;

    if ((letter != 'X' && letter != '*') || !ptx_token_is(&p->tok, '-'))
        return false;
    while (*cur == ' ' || *cur == '\t')
        cur++;
    return *cur != '\0' && !strchr("0123456789(+-~!.", *cur);
}

/* single = ("!" | "-")? named | "!"? constant | vector | address */
static bool parse_single(struct ptx_parser *p, char letter, unsigned depth)
{
    const char *start = p->tok.text.ptr;
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
        if (is_negated) {
            top(p)->bits = top(p)->bits == 0;
            top(p)->text = ptx_text_since(p, start);
        }
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

/* The letter of the i-th operand, or of the last for any further. That some before it may have
 * been left out makes no difference to how it is parsed. */
static char letter_at(const struct ptx_parser *p, size_t i)
{
    if (p->rule_count == 0)
        return '*';
    return p->rules[i < p->rule_count ? i : p->rule_count - 1].letter;
}

/* addend = "+" expression: added to the register that has just been parsed */
static bool parse_addend(struct ptx_parser *p, int column)
{
    const char *start = p->tok.text.ptr;
    int64_t offset = 0;

    if (!parse_offset(p, &offset) || !fold(p, p->operands.count - 1, PTX_OPERAND_SUM, column))
        return false;
    top(p)->offset = offset;
    top(p)->text = ptx_text_since(p, start);
    return true;
}

/* The address of a variable as a value, name+8: where an instruction takes a register. */
static bool split_address(struct ptx_parser *p, char letter)
{
    struct ptx_operand *operand = top(p);
    int64_t offset = operand->offset;
    struct pxr_str text = operand->text;

    if (operand->kind != PTX_OPERAND_VAR || !strchr("sS", letter) || text.len == 0 ||
        text.ptr[0] != '+' || operand->var->space == PTX_SPACE_PARAM)
        return true;
    operand->offset = 0;
    operand->text = (struct pxr_str){0};
    if (!fold(p, p->operands.count - 1, PTX_OPERAND_SUM, operand->column))
        return false;
    top(p)->offset = offset;
    top(p)->text = text;
    return true;
}

/* A register that has just been parsed from one name, not "!p", "v.x" or "%tid.x". */
static bool is_plain_register(struct ptx_parser *p, const struct ptx_token *name)
{
    enum ptx_operand_kind kind = top(p)->kind;

    return (kind == PTX_OPERAND_REG || kind == PTX_OPERAND_SREG) &&
           ptx_text_since(p, name->text.ptr).len == name->text.len;
}

/* value = register addend | operand */
static bool parse_value(struct ptx_parser *p, char letter)
{
    struct ptx_token first = p->tok;

    if (!ptx_parse_operand(p, letter, 0))
        return false;
    if (is_plain_register(p, &first) && (ptx_token_is(&p->tok, '+') || ptx_token_is(&p->tok, '-')))
        return parse_addend(p, first.column);
    return split_address(p, letter);
}

/* operands = (value ("," value)*)? ";" : PTX ISA does not tell of sums, its assembler takes them */
bool ptx_parse_operands(struct ptx_parser *p, struct ptx_inst *inst)
{
    p->operands.count = 0;
    if (!ptx_token_is(&p->tok, ';')) {
        do {
            if (!parse_value(p, letter_at(p, p->operands.count)))
                return false;
        } while (ptx_accept(p, ','));
        if (!ptx_token_is(&p->tok, ';'))
            return ptx_expect(p, ';');
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
    call->prototype_name = p->tok.text;
    ptx_advance(p);
    return true;
}

/* PTX ISA, ".func": a last parameter without a size may be left out of the call. */
static bool omits_last(const struct ptx_func *callee, const struct ptx_call *call)
{
    return callee->param_count == call->arg_count + 1 &&
           callee->params[call->arg_count]->is_unsized;
}

static bool check_call(struct ptx_parser *p, const struct ptx_inst *inst,
                       const struct ptx_call *call)
{
    const struct ptx_token at = {PTX_TOKEN_NAME, inst->text, inst->line, inst->column};
    const struct ptx_func *callee =
        call->callee.kind == PTX_OPERAND_FUNC ? call->callee.func : call->prototype;

    if (!callee)
        return ptx_fail_at(p, &at, "an indirect call needs a .callprototype or .calltargets");
    if ((callee->param_count != call->arg_count && !omits_last(callee, call)) ||
        callee->ret_count != call->ret_count)
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
    call->has_ret_list = ptx_token_is(&p->tok, '(');
    if (call->has_ret_list &&
        !(parse_arguments(p, inst->line, &call->rets, &call->ret_count) && ptx_expect(p, ',')))
        return false;
    if (!parse_callee(p, call))
        return false;
    if (ptx_accept(p, ',')) {
        call->has_arg_list = ptx_token_is(&p->tok, '(');
        if (call->has_arg_list) {
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
