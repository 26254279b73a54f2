/* SPDX-License-Identifier: Apache-2.0
 *
 * Declarations of variables in every state space, registers included (PTX ISA, "Variables").
 */
#include "ptx/parse.h"

static bool is_space(const struct ptx_token *token, enum ptx_space *space)
{
    static const struct {
        const char *text;
        enum ptx_space space;
    } spaces[] = {
        {".reg", PTX_SPACE_REG},     {".param", PTX_SPACE_PARAM},   {".shared", PTX_SPACE_SHARED},
        {".local", PTX_SPACE_LOCAL}, {".global", PTX_SPACE_GLOBAL}, {".const", PTX_SPACE_CONST},
    };

    if (token->kind != PTX_TOKEN_DOT)
        return false;
    for (size_t i = 0; i < sizeof(spaces) / sizeof(spaces[0]); i++) {
        if (pxr_str_is(token->text, spaces[i].text)) {
            *space = spaces[i].space;
            return true;
        }
    }
    return false;
}

/* align = ".align" number, a power of two */
static bool parse_align(struct ptx_parser *p, uint32_t *align_bytes)
{
    struct ptx_token token = p->tok;
    uint64_t value;

    if (!ptx_parse_const_uint(p, "an alignment", 1U << 30, &value))
        return false;
    if (value == 0 || (value & (value - 1)) != 0)
        return ptx_fail_at(p, &token, "alignment must be a power of two");
    *align_bytes = (uint32_t)value;
    return true;
}

/* attributes = ".attribute" "(" (".managed" | ".unified" "(" number "," number ")"),* ")" */
static bool parse_attributes(struct ptx_parser *p, struct ptx_var *model)
{
    unsigned depth = 1;

    if (!ptx_expect(p, '('))
        return false;
    while (depth > 0) {
        if (p->tok.kind == PTX_TOKEN_END || p->tok.kind == PTX_TOKEN_BAD ||
            ptx_token_is(&p->tok, ';'))
            return ptx_fail_expected(p, "')'");
        model->is_managed |= ptx_token_is_dot(&p->tok, ".managed");
        depth += ptx_token_is(&p->tok, '(');
        depth -= ptx_token_is(&p->tok, ')');
        ptx_advance(p);
    }
    return true;
}

/* ptr = ".ptr" space? (".align" number)? : what a pointer parameter points to */
static bool parse_ptr(struct ptx_parser *p)
{
    enum ptx_space ignored_space;
    uint32_t ignored_align;

    if (is_space(&p->tok, &ignored_space))
        ptx_advance(p);
    return !ptx_accept_dot(p, ".align") || parse_align(p, &ignored_align);
}

/* bank = "[" number "]" : of .const in PTX ISA 1.x and 2.x */
static bool parse_bank(struct ptx_parser *p)
{
    uint64_t ignored;

    return !ptx_accept(p, '[') ||
           (ptx_parse_const_uint(p, "a bank number", 10, &ignored) && ptx_expect(p, ']'));
}

/* .tex, .sampler and .surf declare module-scope objects of opaque type in PTX ISA 1.x */
static bool accept_old_texture(struct ptx_parser *p, struct ptx_var *model)
{
    if (!ptx_accept_dot(p, ".tex") && !ptx_accept_dot(p, ".sampler") && !ptx_accept_dot(p, ".surf"))
        return false;
    model->space = PTX_SPACE_GLOBAL;
    return true;
}

static unsigned vector_len_of(const struct ptx_token *token)
{
    if (token->kind != PTX_TOKEN_DOT || token->text.len != 3 || token->text.ptr[1] != 'v')
        return 0;
    return token->text.ptr[2] == '2'   ? 2
           : token->text.ptr[2] == '4' ? 4
           : token->text.ptr[2] == '8' ? 8
                                       : 0;
}

static bool parse_type(struct ptx_parser *p, struct ptx_var *model)
{
    enum ptx_type type = ptx_type_find((struct pxr_str){p->tok.text.ptr + 1, p->tok.text.len - 1});

    if (type == PTX_TYPE_NONE)
        return ptx_fail_at(p, &p->tok, "unknown type or qualifier '%.*s'",
                           PXR_STR_ARG(p->tok.text));
    if (model->type != PTX_TYPE_NONE)
        return ptx_fail_at(p, &p->tok, "a second type in a declaration");
    model->type = type;
    ptx_advance(p);
    return true;
}

/* qualifier = space bank? | align | attributes | ptr | ".v2" | ".v4" | ".v8" | type */
static bool parse_qualifier(struct ptx_parser *p, struct ptx_var *model)
{
    enum ptx_space space;

    if (is_space(&p->tok, &space)) {
        if (model->space != PTX_SPACE_NONE)
            return ptx_fail_at(p, &p->tok, "a second state space in a declaration");
        model->space = space;
        ptx_advance(p);
        return parse_bank(p);
    }
    if (accept_old_texture(p, model))
        return true;
    if (ptx_accept_dot(p, ".align"))
        return parse_align(p, &model->align_bytes);
    if (ptx_accept_dot(p, ".attribute"))
        return parse_attributes(p, model);
    if (ptx_accept_dot(p, ".ptr"))
        return parse_ptr(p);
    if (vector_len_of(&p->tok)) {
        model->vector_len = vector_len_of(&p->tok);
        ptx_advance(p);
        return true;
    }
    return parse_type(p, model);
}

/* head = qualifier+ : with a state space and a type among them */
bool ptx_parse_var_head(struct ptx_parser *p, struct ptx_var_head *head)
{
    struct ptx_var *model = &head->model;

    *model = (struct ptx_var){.vector_len = 1, .elem_count = 1, .line = p->tok.line};
    while (p->tok.kind == PTX_TOKEN_DOT)
        if (!parse_qualifier(p, model))
            return false;
    if (model->space == PTX_SPACE_NONE)
        return ptx_fail_expected(p, "a state space");
    if (model->type == PTX_TYPE_NONE)
        return ptx_fail_expected(p, "a type");
    if (model->type == PTX_TYPE_PRED && model->space != PTX_SPACE_REG)
        return ptx_fail_expected(p, "a type other than .pred outside of registers");
    return true;
}

/* dimensions = ("[" expression? "]")+ */
static bool parse_dimensions(struct ptx_parser *p, struct ptx_var *var)
{
    while (ptx_accept(p, '[')) {
        struct ptx_token token = p->tok;
        struct ptx_const value = {0};
        uint64_t *dim;

        if (p->dims.count == PTX_MAX_DIMENSIONS)
            return ptx_fail_at(p, &token, "array has too many dimensions");
        if (ptx_token_is(&p->tok, ']') && !var->is_array)
            var->is_unsized = true;
        else if (!ptx_parse_const(p, &value))
            return false;
        else if (value.is_float || (!value.is_unsigned && (int64_t)value.bits < 0) ||
                 value.bits > PTX_MAX_OBJECT_BYTES)
            return ptx_fail_at(p, &token, "array dimension is out of range");
        dim = ptx_push(p, &p->dims, sizeof(*dim));
        if (!dim || !ptx_expect(p, ']'))
            return false;
        *dim = value.bits;
        var->is_array = true;
        if (!var->is_unsized)
            var->elem_count *= value.bits;
        if (var->elem_count > PTX_MAX_OBJECT_BYTES)
            return ptx_fail_at(p, &token, "array is too large");
    }
    return true;
}

/* size and natural alignment; an unsized array gets its size from an initialiser, if at all */
bool ptx_finish_var(struct ptx_parser *p, struct ptx_var *var, const struct ptx_token *name)
{
    uint64_t item_bytes = (uint64_t)ptx_type_bytes(var->type) * var->vector_len;

    if (var->elem_count > PTX_MAX_OBJECT_BYTES / item_bytes)
        return ptx_fail_at(p, name, "'%.*s' is too large", PXR_STR_ARG(name->text));
    var->size_bytes = var->is_unsized ? 0 : item_bytes * var->elem_count;
    if (var->align_bytes == 0)
        var->align_bytes = (uint32_t)item_bytes;
    return true;
}

/* name dimensions? */
bool ptx_parse_var_name(struct ptx_parser *p, struct ptx_var *var, struct ptx_token *name)
{
    *name = p->tok;
    if (name->kind != PTX_TOKEN_NAME)
        return ptx_fail_expected(p, "a name");
    var->line = name->line;
    var->name = pxr_arena_strndup(p->arena, name->text.ptr, name->text.len);
    if (!var->name)
        return ptx_fail_memory(p);
    ptx_advance(p);
    p->dims.count = 0;
    return parse_dimensions(p, var) && ptx_finish_var(p, var, name);
}

bool ptx_add_func_var(struct ptx_parser *p, struct ptx_var *var)
{
    struct ptx_var **slot = ptx_push(p, &p->func_vars, sizeof(*slot));

    if (!slot)
        return false;
    var->index = (uint32_t)(p->func_vars.count - 1);
    *slot = var;
    return true;
}

/* range = name "<" number ">" : declares name0 … name(number - 1) */
static bool define_range(struct ptx_parser *p, const struct ptx_var *model)
{
    struct ptx_token name = p->tok;
    struct ptx_reg_range *range = pxr_arena_alloc(&p->scratch, sizeof(*range));

    if (!range)
        return ptx_fail_memory(p);
    range->model = *model;
    range->model.line = name.line;
    ptx_advance(p);
    ptx_advance(p);
    return ptx_parse_const_uint(p, "a register count", UINT32_MAX, &range->count) &&
           ptx_expect(p, '>') && ptx_finish_var(p, &range->model, &name) &&
           ptx_define(p, p->scope, &name,
                      (struct ptx_symbol_value){PTX_SYMBOL_RANGE, {.range = range}});
}

/* A module-scope variable may be declared again, once with a definition. *var becomes the one
 * object that stands for all its declarations. */
static bool redeclare(struct ptx_parser *p, struct ptx_var *old, struct ptx_var **var,
                      const struct ptx_token *name)
{
    const struct ptx_var *again = *var;

    if (old->space != again->space || old->type != again->type)
        return ptx_fail_at(p, name, "'%s' is declared differently above", again->name);
    if (old->linkage != PTX_LINKAGE_EXTERN && again->linkage != PTX_LINKAGE_EXTERN)
        return ptx_fail_at(p, name, "'%s' is already declared in this scope", again->name);
    if (old->linkage == PTX_LINKAGE_EXTERN && again->linkage != PTX_LINKAGE_EXTERN) {
        uint32_t index = old->index;

        *old = *again;
        old->index = index;
    }
    *var = old;
    return true;
}

static bool add_module_var(struct ptx_parser *p, struct ptx_var **var, const struct ptx_token *name)
{
    const struct ptx_symbol_value *old = ptx_scope_find_here(&p->module_scope, name->text);
    struct ptx_var **slot;

    if (old && old->kind == PTX_SYMBOL_VAR && p->scope == &p->module_scope)
        return redeclare(p, old->var, var, name);
    slot = ptx_push(p, &p->vars, sizeof(struct ptx_var *));
    if (!slot)
        return false;
    (*var)->index = (uint32_t)(p->vars.count - 1);
    *slot = *var;
    return ptx_define(p, p->scope, name, (struct ptx_symbol_value){PTX_SYMBOL_VAR, {.var = *var}});
}

static bool add_local_var(struct ptx_parser *p, struct ptx_var *var, const struct ptx_token *name)
{
    struct ptx_stmt *stmt = ptx_push(p, &p->stmts, sizeof(*stmt));

    if (!stmt)
        return false;
    stmt->kind = PTX_STMT_VAR;
    stmt->line = name->line;
    stmt->var = var;
    return ptx_add_func_var(p, var) &&
           ptx_define(p, p->scope, name, (struct ptx_symbol_value){PTX_SYMBOL_VAR, {.var = var}});
}

/* variable = name dimensions? ("=" initializer)? : the name is known inside its initialiser */
static bool parse_var(struct ptx_parser *p, const struct ptx_var *model)
{
    struct ptx_var *var = ptx_alloc(p, 1, sizeof(*var));
    struct ptx_token name;

    if (!var)
        return false;
    *var = *model;
    if (!ptx_parse_var_name(p, var, &name))
        return false;
    if (!(var->is_module_scope ? add_module_var(p, &var, &name) : add_local_var(p, var, &name)))
        return false;
    if (ptx_accept(p, '='))
        return ptx_parse_initializer(p, var);
    if (var->is_unsized && var->linkage != PTX_LINKAGE_EXTERN && var->space != PTX_SPACE_PARAM &&
        var->space != PTX_SPACE_SHARED)
        return ptx_fail_at(p, &name, "array '%s' needs a size or an initialiser", var->name);
    return true;
}

static bool at_range(const struct ptx_parser *p, const struct ptx_var *model)
{
    const char *cur = p->lexer.cur;

    while (*cur == ' ' || *cur == '\t')
        cur++;
    return model->space == PTX_SPACE_REG && p->tok.kind == PTX_TOKEN_NAME && *cur == '<';
}

static bool add_range_stmt(struct ptx_parser *p, const char *start, int line)
{
    struct ptx_stmt *stmt = ptx_push(p, &p->stmts, sizeof(*stmt));

    if (!stmt)
        return false;
    stmt->kind = PTX_STMT_DIRECTIVE;
    stmt->line = line;
    stmt->text = (struct pxr_str){start, (size_t)(p->tok.text.ptr - start)};
    return true;
}

/* variables = head (variable | range) ("," (variable | range))* ";" */
bool ptx_parse_vars(struct ptx_parser *p, enum ptx_linkage linkage)
{
    struct ptx_var_head head;
    const char *start = p->tok.text.ptr;
    int line = p->tok.line;

    if (!ptx_parse_var_head(p, &head))
        return false;
    head.model.linkage = linkage;
    /* .global and .const variables live as long as the module wherever they are declared */
    head.model.is_module_scope = p->func == NULL || head.model.space == PTX_SPACE_GLOBAL ||
                                 head.model.space == PTX_SPACE_CONST;
    if (head.model.is_module_scope &&
        (head.model.space == PTX_SPACE_REG || head.model.space == PTX_SPACE_PARAM))
        return ptx_fail_expected(p, "a function around .reg and .param declarations");
    do {
        bool is_ok = at_range(p, &head.model)
                         ? define_range(p, &head.model) && add_range_stmt(p, start, line)
                         : parse_var(p, &head.model);

        if (!is_ok)
            return false;
    } while (ptx_accept(p, ','));
    return ptx_expect(p, ';');
}
