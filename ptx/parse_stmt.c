/* SPDX-License-Identifier: Apache-2.0
 *
 * Function bodies: blocks, labels, directives and instructions (PTX ISA, "Statements").
 */
#include "ptx/parse.h"

static struct ptx_stmt *push_stmt(struct ptx_parser *p, enum ptx_stmt_kind kind, int line)
{
    struct ptx_stmt *stmt = ptx_push(p, &p->stmts, sizeof(*stmt));

    if (stmt) {
        stmt->kind = kind;
        stmt->line = line;
    }
    return stmt;
}

/* The directive's text, from `start` to the last token consumed. */
static bool push_directive(struct ptx_parser *p, const struct ptx_token *start)
{
    struct ptx_stmt *stmt = push_stmt(p, PTX_STMT_DIRECTIVE, start->line);

    if (stmt)
        stmt->text = ptx_text_since(p, start->text.ptr);
    return stmt != NULL;
}

/* ---- blocks and labels ---- */

static void resolve(const struct ptx_pending *pending, const struct ptx_symbol_value *value)
{
    if (pending->label) {
        *pending->label = value->label;
        return;
    }
    pending->list->labels = value->targets->labels;
    pending->list->label_count = value->targets->count;
}

static bool is_match(const struct ptx_pending *pending, const struct ptx_symbol_value *value)
{
    return value && value->kind == (pending->label ? PTX_SYMBOL_LABEL : PTX_SYMBOL_TARGETS);
}

/* References made in the scope find its labels now, or wait for the scope around it. */
static void resolve_scope(struct ptx_parser *p)
{
    struct ptx_pending *pending = p->pending.items;
    size_t kept = p->scope->first_pending;

    for (size_t i = kept; i < p->pending.count; i++) {
        const struct ptx_symbol_value *value = ptx_scope_find_here(p->scope, pending[i].name);

        if (is_match(&pending[i], value))
            resolve(&pending[i], value);
        else if (!value || value->kind != PTX_SYMBOL_LOST)
            pending[kept++] = pending[i];
    }
    p->pending.count = kept;
}

static bool begin_block(struct ptx_parser *p)
{
    struct ptx_scope *scope;

    if (p->scope_depth == PTX_MAX_BLOCK_DEPTH)
        return ptx_fail_at(p, &p->tok, "blocks are nested too deeply");
    scope = pxr_arena_alloc(&p->scratch, sizeof(*scope));
    if (!scope)
        return ptx_fail_memory(p);
    scope->parent = p->scope;
    scope->first_pending = p->pending.count;
    p->scope = scope;
    p->scope_depth++;
    if (!push_stmt(p, PTX_STMT_BLOCK_BEGIN, p->tok.line))
        return false;
    ptx_advance(p);
    return true;
}

static bool end_block(struct ptx_parser *p)
{
    resolve_scope(p);
    p->scope = p->scope->parent;
    p->scope_depth--;
    if (!push_stmt(p, PTX_STMT_BLOCK_END, p->tok.line))
        return false;
    ptx_advance(p);
    return true;
}

static bool define_label(struct ptx_parser *p, const struct ptx_token *name)
{
    struct ptx_label *label = ptx_alloc(p, 1, sizeof(*label));
    struct ptx_stmt *stmt;

    if (!label)
        return false;
    label->name = pxr_arena_strndup(p->arena, name->text.ptr, name->text.len);
    if (!label->name)
        return ptx_fail_memory(p);
    label->index = p->func->label_count++;
    label->line = name->line;
    stmt = push_stmt(p, PTX_STMT_LABEL, name->line);
    if (!stmt)
        return false;
    stmt->label = label;
    return ptx_define(p, p->scope, name,
                      (struct ptx_symbol_value){PTX_SYMBOL_LABEL, {.label = label}});
}

/* ---- named directives ---- */

/* Names of a list, one after the other: "L, N<3>" is L, N0, N1, N2. */
struct name_list {
    struct ptx_token name;
    struct pxr_str prefix; /* of a range */
    uint64_t next;
    uint64_t count;
};

/* name ("<" number ">")? ; sets the first name */
static bool begin_name(struct ptx_parser *p, const char *what, struct name_list *list)
{
    list->name = p->tok;
    list->prefix = p->tok.text;
    list->next = 0;
    list->count = 0;
    if (p->tok.kind != PTX_TOKEN_NAME)
        return ptx_fail_expected(p, what);
    if (!ptx_at_range(p)) {
        ptx_advance(p);
        return true;
    }
    ptx_advance(p);
    ptx_advance(p);
    if (!ptx_parse_const_uint(p, "a number of names", PTX_MAX_NAME_RANGE, &list->count))
        return false;
    if (list->count == 0)
        return ptx_fail_at(p, &list->name, "a range has at least one name");
    return ptx_expect(p, '>');
}

/* Whether there is one more name, which becomes list->name. */
static bool next_name(struct ptx_parser *p, struct name_list *list)
{
    if (list->next >= (list->count ? list->count : 1))
        return false;
    return list->count == 0 ? list->next++ == 0
                            : ptx_number_name(p, list->prefix, list->next++, &list->name.text);
}

/* targets = name range? ("," name range?)* */
static bool parse_targets(struct ptx_parser *p)
{
    struct name_list names;

    do {
        if (!begin_name(p, "a label", &names))
            return false;
        while (next_name(p, &names)) {
            struct ptx_pending *pending = ptx_push(p, &p->pending, sizeof(*pending));

            if (!pending)
                return false;
            pending->name = names.name.text;
            pending->line = names.name.line;
            pending->column = names.name.column;
        }
    } while (ptx_accept(p, ','));
    return p->status == PXR_OK;
}

/* branchtargets = ".branchtargets" targets ";" */
static bool parse_branch_targets(struct ptx_parser *p, const struct ptx_token *name)
{
    size_t first = p->pending.count;
    struct ptx_label_list *list = pxr_arena_alloc(&p->scratch, sizeof(*list));

    if (!list)
        return ptx_fail_memory(p);
    if (!parse_targets(p))
        return false;
    list->count = (uint32_t)(p->pending.count - first);
    list->labels = ptx_alloc(p, list->count, sizeof(*list->labels));
    if (!list->labels)
        return false;
    for (uint32_t i = 0; i < list->count; i++)
        ((struct ptx_pending *)p->pending.items)[first + i].label = &list->labels[i];
    return ptx_expect(p, ';') &&
           ptx_define(p, p->scope, name,
                      (struct ptx_symbol_value){PTX_SYMBOL_TARGETS, {.targets = list}});
}

/* calltargets = ".calltargets" name range? ("," name range?)* ";" : all have one signature */
static bool parse_call_targets(struct ptx_parser *p, const struct ptx_token *name)
{
    struct ptx_func *first = NULL;
    struct name_list names;

    do {
        if (!begin_name(p, "the name of a function", &names))
            return false;
        while (next_name(p, &names)) {
            const struct ptx_symbol_value *value = ptx_lookup(p, names.name.text);

            if (!value || value->kind != PTX_SYMBOL_FUNC)
                return ptx_fail_at(p, &names.name, "'%.*s' is not a function declared above",
                                   PXR_STR_ARG(names.name.text));
            if (!first)
                first = value->func;
        }
    } while (ptx_accept(p, ','));
    return ptx_expect(p, ';') &&
           ptx_define(p, p->scope, name,
                      (struct ptx_symbol_value){PTX_SYMBOL_PROTOTYPE, {.func = first}});
}

static bool parse_named_prototype(struct ptx_parser *p, const struct ptx_token *name)
{
    struct ptx_func *func = ptx_alloc(p, 1, sizeof(*func));

    return func && ptx_parse_prototype(p, func) &&
           ptx_define(p, p->scope, name,
                      (struct ptx_symbol_value){PTX_SYMBOL_PROTOTYPE, {.func = func}});
}

/* labelled = name ":" (".branchtargets" … | ".calltargets" … | ".callprototype" …)? */
static bool parse_labelled(struct ptx_parser *p, const struct ptx_token *name)
{
    bool is_ok;

    ptx_advance(p);
    if (ptx_accept_dot(p, ".branchtargets"))
        is_ok = parse_branch_targets(p, name);
    else if (ptx_accept_dot(p, ".calltargets"))
        is_ok = parse_call_targets(p, name);
    else if (ptx_accept_dot(p, ".callprototype"))
        is_ok = parse_named_prototype(p, name);
    else
        return define_label(p, name);
    return is_ok && push_directive(p, name);
}

/* directive = loc | file | section | pragma | variables */
static bool parse_directive(struct ptx_parser *p)
{
    struct ptx_token start = p->tok;
    bool is_ok;

    if (ptx_accept_dot(p, ".loc"))
        is_ok = ptx_parse_loc_directive(p);
    else if (ptx_accept_dot(p, ".file"))
        is_ok = ptx_parse_file_directive(p);
    else if (ptx_accept_dot(p, ".section"))
        is_ok = ptx_parse_section(p);
    else if (ptx_accept_dot(p, ".pragma"))
        is_ok = ptx_parse_pragma(p);
    else if (ptx_at_module_item(p))
        return ptx_fail_expected(p, "'}' at the end of the function");
    else
        return ptx_parse_vars(p, PTX_LINKAGE_INTERNAL, (struct pxr_str){0});
    return is_ok && push_directive(p, &start);
}

/* ---- instructions ---- */

/* guard = "@" "!"? register */
static bool parse_guard(struct ptx_parser *p, struct ptx_inst *inst)
{
    const struct ptx_symbol_value *value;

    inst->guard_negated = ptx_accept(p, '!');
    if (p->tok.kind != PTX_TOKEN_NAME)
        return ptx_fail_expected(p, "a predicate register");
    value = ptx_lookup(p, p->tok.text);
    if (!value || value->kind != PTX_SYMBOL_VAR || value->var->type != PTX_TYPE_PRED)
        return ptx_fail_at(p, &p->tok, "'%.*s' is not a predicate register",
                           PXR_STR_ARG(p->tok.text));
    inst->guard = value->var;
    ptx_advance(p);
    return true;
}

/* The opcode with its suffixes as one token; suffixes after a gap are joined to it. */
static bool take_opcode(struct ptx_parser *p, struct ptx_token *opcode)
{
    if (p->tok.kind != PTX_TOKEN_NAME)
        return ptx_fail_expected(p, "an instruction");
    *opcode = p->tok;
    ptx_lexer_extend_opcode(&p->lexer, opcode);
    ptx_advance(p);
    while (p->tok.kind == PTX_TOKEN_DOT) {
        size_t len = opcode->text.len + p->tok.text.len;
        char *joined = ptx_alloc(p, 1, len + 1);

        if (!joined)
            return false;
        memcpy(joined, opcode->text.ptr, opcode->text.len);
        memcpy(joined + opcode->text.len, p->tok.text.ptr, p->tok.text.len);
        opcode->text = (struct pxr_str){joined, len};
        ptx_advance(p);
        if (len > 512)
            return ptx_fail_at(p, opcode, "opcode is too long");
    }
    return true;
}

/* instruction = guard? opcode (operands | call) */
static bool parse_instruction(struct ptx_parser *p)
{
    struct ptx_inst inst = {0};
    struct ptx_token opcode;
    struct ptx_stmt *stmt;

    if (ptx_accept(p, '@') && !parse_guard(p, &inst))
        return false;
    if (!take_opcode(p, &opcode))
        return false;
    inst.text = opcode.text;
    inst.line = opcode.line;
    inst.column = opcode.column;
    if (!ptx_decode_opcode(p, &opcode, &inst))
        return false;
    if (!(inst.op == PTX_OP_CALL ? ptx_parse_call(p, &inst) : ptx_parse_operands(p, &inst)))
        return false;
    stmt = push_stmt(p, PTX_STMT_INST, inst.line);
    if (!stmt)
        return false;
    stmt->inst = inst;
    return true;
}

/* statement = block | directive | labelled | instruction | ";"+ */
static bool parse_statement(struct ptx_parser *p)
{
    if (p->tok.kind == PTX_TOKEN_DOT)
        return parse_directive(p);
    if (p->tok.kind == PTX_TOKEN_NAME) {
        const char *cur = p->lexer.cur;

        while (*cur == ' ' || *cur == '\t')
            cur++;
        if (cur[0] == ':' && cur[1] != ':') {
            struct ptx_token name = p->tok;

            ptx_advance(p);
            return parse_labelled(p, &name);
        }
        return parse_instruction(p);
    }
    if (ptx_token_is(&p->tok, '{'))
        return begin_block(p);
    if (ptx_token_is(&p->tok, '@'))
        return parse_instruction(p);
    if (ptx_token_is(&p->tok, ';')) {
        const struct ptx_token first = p->tok;

        ptx_take_empty(p);
        return push_directive(p, &first);
    }
    return ptx_fail_expected(p, "a statement");
}

/* Labels of the whole function are known now: an unresolved one does not exist. Each is an error of
 * its own, reported once. */
static bool resolve_function(struct ptx_parser *p)
{
    const struct ptx_pending *pending;

    resolve_scope(p);
    pending = p->pending.items;
    for (size_t i = 0; i < p->pending.count; i++) {
        const struct ptx_token at = {PTX_TOKEN_NAME, pending[i].name, pending[i].line,
                                     pending[i].column};
        const struct ptx_symbol_value lost = {PTX_SYMBOL_LOST, {0}};
        const struct ptx_symbol_value *value;

        value = ptx_scope_find_here(p->scope, at.text);
        if (value && value->kind == PTX_SYMBOL_LOST)
            continue;
        ptx_fail_at(p, &at, "'%.*s' is not declared", PXR_STR_ARG(at.text));
        if (ptx_scope_define(p->scope, &p->scratch, at.text, lost) == PTX_DEFINE_NO_MEMORY)
            return ptx_fail_memory(p);
        if (!ptx_continue(p))
            return false;
    }
    return true;
}

/* body = "{" statement* "}" : blocks nest, their scopes are a list rather than recursion */
bool ptx_parse_body(struct ptx_parser *p)
{
    p->scope_depth = 0;
    p->func->label_count = 0;
    ptx_advance(p);
    for (;;) {
        if (!ptx_token_is(&p->tok, '}')) {
            struct ptx_mark mark = ptx_mark(p);

            if (!parse_statement(p) && !ptx_recover_statement(p, &mark))
                return false;
        } else if (p->scope_depth > 0) {
            if (!end_block(p))
                return false;
        } else {
            struct ptx_token closing = p->tok;

            ptx_advance(p);
            if (!ptx_is_body_going_on(p))
                return resolve_function(p);
            ptx_fail_at(p, &closing, "a '}' too many: statements follow the function");
            if (!ptx_continue(p))
                return false;
        }
    }
}
