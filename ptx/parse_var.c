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
static bool parse_align(struct ptx_parser *p, uint32_t *align_bytes, struct pxr_str *text)
{
    struct ptx_token token = p->tok;
    uint64_t value;

    if (!ptx_parse_const_uint(p, "an alignment", 1U << 30, &value))
        return false;
    if (value == 0 || (value & (value - 1)) != 0)
        return ptx_fail_at(p, &token, "alignment must be a power of two");
    *align_bytes = (uint32_t)value;
    *text = ptx_text_since(p, token.text.ptr);
    return true;
}

/* attributes = ".attribute" "(" (".managed" | ".unified" "(" number "," number ")"),* ")" */
static bool parse_attributes(struct ptx_parser *p, struct ptx_var_head *head)
{
    const char *start = p->tok.text.ptr;
    unsigned depth = 1;

    if (!ptx_expect(p, '('))
        return false;
    while (depth > 0) {
        if (p->tok.kind == PTX_TOKEN_END || p->tok.kind == PTX_TOKEN_BAD ||
            ptx_token_is(&p->tok, ';'))
            return ptx_fail_expected(p, "')'");
        head->model.is_managed |= ptx_token_is_dot(&p->tok, ".managed");
        depth += ptx_token_is(&p->tok, '(');
        depth -= ptx_token_is(&p->tok, ')');
        ptx_advance(p);
    }
    head->written.attribute = ptx_text_since(p, start);
    return true;
}

/* ptr = ".ptr" space? (".align" number)? : the target of a pointer parameter */
static bool parse_ptr(struct ptx_parser *p, struct ptx_var_head *head)
{
    head->model.is_pointer = true;
    if (is_space(&p->tok, &head->model.pointee_space))
        ptx_advance(p);
    return !ptx_accept_dot(p, ".align") ||
           parse_align(p, &head->model.pointee_align_bytes, &head->written.ptr_align);
}

/* space = word bank? ; bank = "[" number "]" : of .const in PTX ISA 1.x and 2.x */
static bool parse_space(struct ptx_parser *p, struct ptx_var_head *head)
{
    const char *start = p->tok.text.ptr;
    uint64_t ignored;

    ptx_advance(p);
    if (ptx_accept(p, '[')) {
        if (!ptx_parse_const_uint(p, "a bank number", 10, &ignored) || !ptx_expect(p, ']'))
            return false;
        head->written.space = ptx_text_since(p, start);
    }
    return true;
}

/* .tex, .sampler and .surf declare module-scope objects of opaque type in PTX ISA 1.x */
static bool at_old_texture(const struct ptx_token *token)
{
    return ptx_token_is_dot(token, ".tex") || ptx_token_is_dot(token, ".sampler") ||
           ptx_token_is_dot(token, ".surf");
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

/* PTX ISA, "Fundamental Types" and "Texture Sampler and Surface Types": the other types are of
 * instructions only, their registers are declared .b16 and so on. */
static bool is_declarable(enum ptx_type type)
{
    switch (type) {
    case PTX_TYPE_B8:
    case PTX_TYPE_B16:
    case PTX_TYPE_B32:
    case PTX_TYPE_B64:
    case PTX_TYPE_B128:
    case PTX_TYPE_U8:
    case PTX_TYPE_U16:
    case PTX_TYPE_U32:
    case PTX_TYPE_U64:
    case PTX_TYPE_S8:
    case PTX_TYPE_S16:
    case PTX_TYPE_S32:
    case PTX_TYPE_S64:
    case PTX_TYPE_F16:
    case PTX_TYPE_F16X2:
    case PTX_TYPE_F32:
    case PTX_TYPE_F64:
    case PTX_TYPE_PRED:
        return true;
    default:
        return ptx_type_table[type].class == PTX_CLASS_OPAQUE;
    }
}

static bool parse_type(struct ptx_parser *p, struct ptx_var *model)
{
    enum ptx_type type = ptx_type_find((struct pxr_str){p->tok.text.ptr + 1, p->tok.text.len - 1});

    if (type == PTX_TYPE_NONE)
        return ptx_fail_at(p, &p->tok, "unknown type or qualifier '%.*s'",
                           PXR_STR_ARG(p->tok.text));
    if (!is_declarable(type))
        return ptx_fail_at(
            p, &p->tok, "a variable cannot have the type '%.*s': it is declared .b%u",
            PXR_STR_ARG(p->tok.text), ptx_type_bits(type) > 8 ? ptx_type_bits(type) : 8);
    model->type = type;
    ptx_advance(p);
    return true;
}

static enum ptx_qualifier qualifier_of(const struct ptx_token *token)
{
    enum ptx_space ignored;

    if (is_space(token, &ignored) || at_old_texture(token))
        return PTX_QUALIFIER_SPACE;
    if (ptx_token_is_dot(token, ".align"))
        return PTX_QUALIFIER_ALIGN;
    if (ptx_token_is_dot(token, ".attribute"))
        return PTX_QUALIFIER_ATTRIBUTE;
    if (ptx_token_is_dot(token, ".ptr"))
        return PTX_QUALIFIER_PTR;
    return vector_len_of(token) ? PTX_QUALIFIER_VECTOR : PTX_QUALIFIER_TYPE;
}

/* qualifier = space | align | attributes | ptr | ".v2" | ".v4" | ".v8" | type */
static bool parse_qualifier(struct ptx_parser *p, enum ptx_qualifier qualifier,
                            struct ptx_var_head *head)
{
    struct ptx_var *model = &head->model;

    switch (qualifier) {
    case PTX_QUALIFIER_SPACE:
        if (is_space(&p->tok, &model->space))
            return parse_space(p, head);
        model->space = PTX_SPACE_GLOBAL;
        head->written.space = p->tok.text;
        ptx_advance(p);
        return true;
    case PTX_QUALIFIER_ALIGN:
        ptx_advance(p);
        return parse_align(p, &model->align_bytes, &head->written.align);
    case PTX_QUALIFIER_ATTRIBUTE:
        ptx_advance(p);
        return parse_attributes(p, head);
    case PTX_QUALIFIER_PTR:
        ptx_advance(p);
        return parse_ptr(p, head);
    case PTX_QUALIFIER_VECTOR:
        model->vector_len = vector_len_of(&p->tok);
        ptx_advance(p);
        return true;
    default:
        return parse_type(p, model);
    }
}

/* PTX ISA, "Vectors": of two or four, and at most 128 bits. */
static bool check_vector(struct ptx_parser *p, const struct ptx_var *model)
{
    if (model->vector_len == 1)
        return true;
    if (model->space == PTX_SPACE_PARAM)
        return ptx_fail_at(p, &p->tok,
                           "there are no vectors in .param space: an array of bytes can "
                           "have the alignment of one");
    if (model->type == PTX_TYPE_PRED)
        return ptx_fail_at(p, &p->tok, "there are no vectors of predicates");
    if (model->vector_len * ptx_type_bits(model->type) > 128)
        return ptx_fail_at(p, &p->tok, "a vector cannot have more than 128 bits");
    return true;
}

/* head = qualifier+ : with a state space and a type among them, each kind at most once */
bool ptx_parse_var_head(struct ptx_parser *p, struct ptx_var_head *head)
{
    struct ptx_var *model = &head->model;
    unsigned seen = 0;
    unsigned place = 0;

    *head = (struct ptx_var_head){{.vector_len = 1, .elem_count = 1, .line = p->tok.line}, {0}};
    while (p->tok.kind == PTX_TOKEN_DOT) {
        enum ptx_qualifier qualifier = qualifier_of(&p->tok);

        if (seen & 1U << qualifier)
            return ptx_fail_at(p, &p->tok, "'%.*s' is one too many in a declaration",
                               PXR_STR_ARG(p->tok.text));
        seen |= 1U << qualifier;
        head->written.order |= (uint32_t)qualifier << place;
        place += 4;
        if (!parse_qualifier(p, qualifier, head))
            return false;
    }
    if (model->space == PTX_SPACE_NONE)
        return ptx_fail_expected(p, "a state space");
    if (model->type == PTX_TYPE_NONE)
        return ptx_fail_expected(p, "a type");
    if (model->type == PTX_TYPE_PRED && model->space != PTX_SPACE_REG)
        return ptx_fail_expected(p, "a type other than .pred outside of registers");
    return check_vector(p, model);
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

/* var as the head says, with its name and its own copy of how it is written */
static struct ptx_var_text *begin_var(struct ptx_parser *p, const struct ptx_var_head *head,
                                      struct ptx_var *var, const struct ptx_token *name)
{
    struct ptx_var_text *written = ptx_alloc(p, 1, sizeof(*written));

    if (!written)
        return NULL;
    *written = head->written;
    *var = head->model;
    var->written = written;
    var->line = name->line;
    var->name = pxr_arena_strndup(p->arena, name->text.ptr, name->text.len);
    if (!var->name) {
        ptx_fail_memory(p);
        return NULL;
    }
    return written;
}

/* name dimensions? */
static struct ptx_var_text *parse_var_name(struct ptx_parser *p, const struct ptx_var_head *head,
                                           struct ptx_var *var, struct ptx_token *name)
{
    struct ptx_var_text *written;
    const char *start;

    *name = p->tok;
    if (name->kind != PTX_TOKEN_NAME) {
        ptx_fail_expected(p, "a name");
        return NULL;
    }
    written = begin_var(p, head, var, name);
    if (!written)
        return NULL;
    ptx_advance(p);
    p->dims.count = 0;
    start = p->tok.text.ptr;
    if (!parse_dimensions(p, var) || !ptx_finish_var(p, var, name))
        return NULL;
    if (var->is_array)
        written->dims = ptx_text_since(p, start);
    return written;
}

bool ptx_parse_var_name(struct ptx_parser *p, const struct ptx_var_head *head, struct ptx_var *var,
                        struct ptx_token *name)
{
    return parse_var_name(p, head, var, name) != NULL;
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

/* ---- declarations ---- */

static struct ptx_stmt *push_declaration(struct ptx_parser *p, enum ptx_stmt_kind kind, int line,
                                         bool is_continued)
{
    struct ptx_stmt *stmt = ptx_push(p, &p->stmts, sizeof(*stmt));

    if (stmt) {
        stmt->kind = kind;
        stmt->line = line;
        stmt->is_continued = is_continued;
    }
    return stmt;
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
    return ptx_add_func_var(p, var) &&
           ptx_define(p, p->scope, name, (struct ptx_symbol_value){PTX_SYMBOL_VAR, {.var = var}});
}

/* The declaration in the module's list. An .extern one may be overwritten by the definition that
 * comes later, see redeclare. */
static bool add_var_item(struct ptx_parser *p, const struct ptx_var *var, bool is_continued)
{
    struct ptx_item *item = ptx_add_item(p, PTX_ITEM_VAR, var->line);
    struct ptx_var *copy;

    if (!item)
        return false;
    item->is_continued = is_continued;
    item->var = var;
    if (var->linkage != PTX_LINKAGE_EXTERN)
        return true;
    copy = ptx_alloc(p, 1, sizeof(*copy));
    if (!copy)
        return false;
    *copy = *var;
    item->var = copy;
    return true;
}

/* variable = name dimensions? ("=" initializer)? : the name is known inside its initialiser */
static bool parse_var(struct ptx_parser *p, const struct ptx_var_head *head, bool is_continued)
{
    struct ptx_var *declared = ptx_alloc(p, 1, sizeof(*declared));
    struct ptx_var *var = declared;
    struct ptx_var_text *written;
    struct ptx_token name;
    struct ptx_stmt *stmt;

    written = declared ? parse_var_name(p, head, declared, &name) : NULL;
    if (!written)
        return false;
    if (!(var->is_module_scope ? add_module_var(p, &var, &name) : add_local_var(p, var, &name)))
        return false;
    if (ptx_accept(p, '=')) {
        const char *start = p->tok.text.ptr;

        if (!ptx_parse_initializer(p, var))
            return false;
        written->init = ptx_text_since(p, start);
    } else if (var->size_bytes == 0 && var->linkage != PTX_LINKAGE_EXTERN &&
               ptx_type_table[var->type].class != PTX_CLASS_OPAQUE) {
        return ptx_fail_at(p, &name, "array '%s' needs a size or an initialiser", var->name);
    }
    if (!p->func)
        return add_var_item(p, var->written == written ? var : declared, is_continued);
    stmt = push_declaration(p, PTX_STMT_VAR, name.line, is_continued);
    if (stmt)
        stmt->var = var;
    return stmt != NULL;
}

/* name0 … name(count - 1), in memory: it may matter that they are there */
static bool expand_range(struct ptx_parser *p, const struct ptx_var_range *range,
                         const struct ptx_token *name)
{
    if (range->count > PTX_MAX_NAME_RANGE)
        return ptx_fail_at(p, name, "'%s' are more than %d variables", range->model.name,
                           PTX_MAX_NAME_RANGE);
    for (uint64_t i = 0; i < range->count; i++) {
        struct ptx_var *var = ptx_alloc(p, 1, sizeof(*var));
        struct ptx_token numbered = *name;

        if (!var || !ptx_number_name(p, name->text, i, &numbered.text))
            return false;
        *var = range->model;
        var->name = numbered.text.ptr;
        if (!(var->is_module_scope ? add_module_var(p, &var, &numbered)
                                   : add_local_var(p, var, &numbered)))
            return false;
    }
    return true;
}

static bool add_range(struct ptx_parser *p, const struct ptx_var_range *range, bool is_continued)
{
    struct ptx_stmt *stmt;
    struct ptx_item *item;

    if (p->func) {
        stmt = push_declaration(p, PTX_STMT_RANGE, range->model.line, is_continued);
        if (stmt)
            stmt->range = range;
        return stmt != NULL;
    }
    item = ptx_add_item(p, PTX_ITEM_RANGE, range->model.line);
    if (item) {
        item->is_continued = is_continued;
        item->range = range;
    }
    return item != NULL;
}

/* range = name "<" number ">" : PTX ISA, "Parameterized Variable Names" */
static bool parse_range(struct ptx_parser *p, const struct ptx_var_head *head, bool is_continued)
{
    struct ptx_token name = p->tok;
    struct ptx_var_range *range = ptx_alloc(p, 1, sizeof(*range));
    struct ptx_var_text *written = range ? begin_var(p, head, &range->model, &name) : NULL;
    const char *start;

    if (!written)
        return false;
    ptx_advance(p);
    start = p->tok.text.ptr;
    ptx_advance(p);
    if (!ptx_parse_const_uint(p, "a number of variables", UINT32_MAX, &range->count) ||
        !ptx_expect(p, '>'))
        return false;
    written->dims = ptx_text_since(p, start);
    if (!ptx_finish_var(p, &range->model, &name) || !add_range(p, range, is_continued))
        return false;
    if (range->model.space != PTX_SPACE_REG)
        return expand_range(p, range, &name);
    return ptx_define(p, p->scope, &name,
                      (struct ptx_symbol_value){PTX_SYMBOL_RANGE, {.range = range}});
}

/* variables = head (variable | range) ("," (variable | range))* ";" */
bool ptx_parse_vars(struct ptx_parser *p, enum ptx_linkage linkage, struct pxr_str linkage_text)
{
    struct ptx_var_head head;
    bool is_continued = false;

    if (!ptx_parse_var_head(p, &head))
        return false;
    head.model.linkage = linkage;
    head.written.linkage = linkage_text;
    /* .global and .const variables live as long as the module wherever they are declared */
    head.model.is_module_scope = p->func == NULL || head.model.space == PTX_SPACE_GLOBAL ||
                                 head.model.space == PTX_SPACE_CONST;
    if (head.model.is_module_scope &&
        (head.model.space == PTX_SPACE_REG || head.model.space == PTX_SPACE_PARAM))
        return ptx_fail_expected(p, "a function around .reg and .param declarations");
    do {
        bool is_ok = ptx_at_range(p) ? parse_range(p, &head, is_continued)
                                     : parse_var(p, &head, is_continued);

        if (!is_ok)
            return false;
        is_continued = true;
    } while (ptx_accept(p, ','));
    return ptx_expect(p, ';');
}
