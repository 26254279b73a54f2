/* SPDX-License-Identifier: Apache-2.0
 *
 * The parser's services (tokens, memory, names) and the module level of the grammar. Errors are in
 * recover.c; directives, variables, functions, statements and operands in parse_*.c.
 */
#include "ptx/parse.h"

#include <inttypes.h>
#include <stdio.h>

#include "ptx/function_handles.h"
#include "ptx/parse_budget.h"
#include "ptx/short_address.h"

/* Memory may grow with the text: no construct needs more per byte of text than this. What the
 * machine has to spend is another bound. */
#define ARENA_BASE_BYTES ((size_t)4 << 20)
#define ARENA_FACTOR     256

/* ---- services ---- */

void ptx_advance(struct ptx_parser *p)
{
    p->last_end = p->lexer.cur;
    p->tok = ptx_lexer_next(&p->lexer);
}

struct pxr_str ptx_text_since(const struct ptx_parser *p, const char *start)
{
    return (struct pxr_str){start, start < p->last_end ? (size_t)(p->last_end - start) : 0};
}

bool ptx_accept(struct ptx_parser *p, char punct)
{
    if (!ptx_token_is(&p->tok, punct))
        return false;
    ptx_advance(p);
    return true;
}

bool ptx_accept_dot(struct ptx_parser *p, const char *word)
{
    if (!ptx_token_is_dot(&p->tok, word))
        return false;
    ptx_advance(p);
    return true;
}

bool ptx_expect(struct ptx_parser *p, char punct)
{
    const char what[] = {'\'', punct, '\'', '\0'};

    if (ptx_accept(p, punct))
        return true;
    p->is_semicolon_missing = punct == ';' && p->status == PXR_OK;
    return ptx_fail_expected(p, what);
}

struct pxr_str ptx_take_empty(struct ptx_parser *p)
{
    const char *start = p->tok.text.ptr;

    while (ptx_token_is(&p->tok, ';'))
        ptx_advance(p);
    return ptx_text_since(p, start);
}

void *ptx_alloc(struct ptx_parser *p, size_t count, size_t size_bytes)
{
    void *memory = pxr_arena_alloc_array(p->arena, count, size_bytes);

    if (!memory)
        ptx_fail_memory(p);
    return memory;
}

/* Whether the list may have another item: lists double when they are full. */
static bool may_grow(struct ptx_parser *p, const struct ptx_list *list, size_t item_bytes)
{
    size_t bytes = list->capacity * item_bytes;

    if (list->count < list->capacity)
        return true;
    if (bytes > p->budget_bytes - p->list_bytes)
        return false;
    p->list_bytes += bytes;
    return true;
}

void *ptx_push(struct ptx_parser *p, struct ptx_list *list, size_t item_bytes)
{
    void *item = may_grow(p, list, item_bytes) ? ptx_list_push(list, item_bytes) : NULL;

    if (!item)
        ptx_fail_memory(p);
    return item;
}

void *ptx_take(struct ptx_parser *p, struct ptx_list *list, size_t first, size_t item_bytes)
{
    size_t count = list->count - first;
    void *items = ptx_alloc(p, count, item_bytes);

    if (items && count > 0)
        memcpy(items, ptx_list_at(list, first, item_bytes), count * item_bytes);
    list->count = first;
    return items;
}

bool ptx_define(struct ptx_parser *p, struct ptx_scope *scope, const struct ptx_token *name,
                struct ptx_symbol_value value)
{
    switch (ptx_scope_define(scope, &p->scratch, name->text, value)) {
    case PTX_DEFINE_OK:
        return true;
    case PTX_DEFINE_DUPLICATE:
        return ptx_fail_at(p, name, "'%.*s' is already declared in this scope",
                           PXR_STR_ARG(name->text));
    case PTX_DEFINE_NO_MEMORY:
        break;
    }
    return ptx_fail_memory(p);
}

/* %r01 of %r<2>: the number without the zeros that it begins with. */
static char *number_name(struct ptx_parser *p, const struct ptx_var_range *range,
                         struct pxr_str name, size_t *len)
{
    size_t prefix_len = strlen(range->model.name);
    size_t zeros = 0;
    char *text;

    while (prefix_len + zeros + 1 < name.len && name.ptr[prefix_len + zeros] == '0')
        zeros++;
    *len = name.len - zeros;
    text = pxr_arena_strndup(p->arena, name.ptr, name.len);
    if (text)
        memmove(text + prefix_len, name.ptr + prefix_len + zeros, name.len - prefix_len - zeros);
    if (text)
        text[*len] = '\0';
    return text;
}

static struct ptx_var *add_ranged(struct ptx_parser *p, const struct ptx_var_range *range,
                                  const char *name)
{
    struct ptx_var *var = ptx_alloc(p, 1, sizeof(*var));

    if (!var)
        return NULL;
    *var = range->model;
    var->name = name;
    return ptx_add_func_var(p, var) ? var : NULL;
}

static bool define_ranged(struct ptx_parser *p, struct ptx_scope *scope, struct pxr_str name,
                          struct ptx_var *var)
{
    struct ptx_symbol_value value = {PTX_SYMBOL_VAR, {.var = var}};

    return ptx_scope_define(scope, &p->scratch, name, value) == PTX_DEFINE_OK;
}

/* A register of a range: a variable of its own, made when it is first used. Another spelling of
 * its number becomes another name of it. */
static const struct ptx_symbol_value *make_ranged(struct ptx_parser *p, struct ptx_scope *scope,
                                                  const struct ptx_var_range *range,
                                                  struct pxr_str name)
{
    struct pxr_str own = {NULL, 0};
    const struct ptx_symbol_value *known;
    struct ptx_var *var;

    own.ptr = number_name(p, range, name, &own.len);
    known = own.ptr ? ptx_scope_find_here(scope, own) : NULL;
    if (known && own.len < name.len && known->kind == PTX_SYMBOL_VAR)
        var = known->var;
    else
        var = own.ptr ? add_ranged(p, range, own.ptr) : NULL;
    if (!var || (!known && !define_ranged(p, scope, own, var)) ||
        (own.len < name.len && !define_ranged(p, scope, name, var))) {
        ptx_fail_memory(p);
        return NULL;
    }
    return ptx_scope_find_here(scope, name);
}

const struct ptx_symbol_value *ptx_lookup(struct ptx_parser *p, struct pxr_str name)
{
    struct ptx_scope *scope = p->scope;
    const struct ptx_symbol_value *value = ptx_scope_find(&scope, name);

    if (!value)
        return NULL;
    if (value->kind == PTX_SYMBOL_RANGE)
        return make_ranged(p, scope, value->range, name);
    if (value->kind != PTX_SYMBOL_LOST && value->kind != PTX_SYMBOL_LOST_RANGE)
        return value;
    ptx_fail_lost(p);
    return NULL;
}

bool ptx_at_range(const struct ptx_parser *p)
{
    const char *cur = p->lexer.cur;

    while (*cur == ' ' || *cur == '\t')
        cur++;
    return *cur == '<' && p->tok.kind == PTX_TOKEN_NAME;
}

bool ptx_number_name(struct ptx_parser *p, struct pxr_str prefix, uint64_t number,
                     struct pxr_str *name)
{
    size_t size = prefix.len + 24;
    char *text = ptx_alloc(p, 1, size);

    if (!text)
        return false;
    name->len = (size_t)snprintf(text, size, "%.*s%" PRIu64, PXR_STR_ARG(prefix), number);
    name->ptr = text;
    return true;
}

struct ptx_item *ptx_add_item(struct ptx_parser *p, enum ptx_item_kind kind, int line)
{
    struct ptx_item *item = ptx_push(p, &p->items, sizeof(*item));

    if (item) {
        item->kind = kind;
        item->line = line;
    }
    return item;
}

/* ---- module level ---- */

/* linkage = ".extern" | ".visible" | ".weak" | ".common" */
static bool accept_linkage(struct ptx_parser *p, enum ptx_linkage *linkage)
{
    if (ptx_accept_dot(p, ".extern"))
        *linkage = PTX_LINKAGE_EXTERN;
    else if (ptx_accept_dot(p, ".visible"))
        *linkage = PTX_LINKAGE_VISIBLE;
    else if (ptx_accept_dot(p, ".weak"))
        *linkage = PTX_LINKAGE_WEAK;
    else if (ptx_accept_dot(p, ".common"))
        *linkage = PTX_LINKAGE_COMMON;
    else
        return false;
    return true;
}

/* declaration = linkage* (".entry" function | ".func" function | variables) */
static bool parse_declaration(struct ptx_parser *p)
{
    enum ptx_linkage linkage = PTX_LINKAGE_INTERNAL;
    const char *start = p->tok.text.ptr;
    struct pxr_str text = {start, 0};

    while (accept_linkage(p, &linkage))
        text = ptx_text_since(p, start);
    if (ptx_accept_dot(p, ".entry"))
        return ptx_parse_function(p, true, linkage, text);
    if (ptx_accept_dot(p, ".func"))
        return ptx_parse_function(p, false, linkage, text);
    return ptx_parse_vars(p, linkage, text);
}

/* item = directive | declaration | ";"+ */
static bool parse_item(struct ptx_parser *p)
{
    const struct ptx_token start = p->tok;
    struct ptx_item *item;
    bool is_directive;

    if (!ptx_parse_module_directive(p, &is_directive))
        return false;
    if (is_directive)
        return true;
    if (start.kind == PTX_TOKEN_DOT)
        return parse_declaration(p);
    if (!ptx_token_is(&start, ';'))
        return ptx_fail_expected(p, "a directive");
    item = ptx_add_item(p, PTX_ITEM_DIRECTIVE, start.line);
    if (item)
        item->text = ptx_take_empty(p);
    return item != NULL;
}

static bool parse_items(struct ptx_parser *p)
{
    while (p->tok.kind != PTX_TOKEN_END) {
        struct ptx_mark mark = ptx_mark(p);

        if (!parse_item(p) && !ptx_recover_item(p, &mark))
            return false;
    }
    return p->diagnostic_count == 0;
}

/* module = version target item* */
static bool parse_module(struct ptx_parser *p)
{
    struct ptx_module *module = p->module;

    ptx_advance(p);
    if (!ptx_token_is_dot(&p->tok, ".version"))
        return ptx_fail_expected(p, "'.version'");
    if (!parse_items(p))
        return false;
    if (module->target == 0)
        return ptx_fail_expected(p, "'.target' somewhere");
    ptx_number_handles(p->funcs.items, p->funcs.count);
    module->func_count = (uint32_t)p->funcs.count;
    module->var_count = (uint32_t)p->vars.count;
    module->item_count = (uint32_t)p->items.count;
    module->funcs = ptx_take(p, &p->funcs, 0, sizeof(struct ptx_func *));
    module->vars = ptx_take(p, &p->vars, 0, sizeof(struct ptx_var *));
    module->items = ptx_take(p, &p->items, 0, sizeof(struct ptx_item));
    if (p->status != PXR_OK)
        return false;
    module->makes_short_addresses = ptx_makes_short_addresses(module);
    return true;
}

static bool define_sreg(struct ptx_parser *p, struct pxr_str name, struct ptx_symbol_value value)
{
    return ptx_scope_define(&p->sreg_scope, &p->scratch, name, value) != PTX_DEFINE_NO_MEMORY ||
           ptx_fail_memory(p);
}

/* Special registers are names of the outermost scope; "%tid" stands for all of %tid.x … . */
static bool define_sregs(struct ptx_parser *p)
{
    for (unsigned i = PTX_SREG_NONE + 1; i < PTX_SREG_COUNT; i++) {
        struct ptx_symbol_value value = {PTX_SYMBOL_SREG, {.sreg = (enum ptx_sreg)i}};
        struct pxr_str name = pxr_str_from(ptx_sreg_table[i].name);

        if (!define_sreg(p, name, value))
            return false;
        if (name.len < 2 || memcmp(name.ptr + name.len - 2, ".x", 2) != 0)
            continue;
        value.kind = PTX_SYMBOL_SREG_VECTOR;
        if (!define_sreg(p, (struct pxr_str){name.ptr, name.len - 2}, value))
            return false;
    }
    return true;
}

/* ---- entry ---- */

static struct ptx_module *create_module(struct pxr_str text, const char *source_name)
{
    size_t limit = ARENA_BASE_BYTES + text.len * ARENA_FACTOR;
    size_t budget = text.len + ptx_budget();
    struct ptx_module *module = calloc(1, sizeof(*module));
    char *copy;

    if (!module)
        return NULL;
    pxr_arena_init(&module->arena, limit < budget ? limit : budget);
    while (text.len > 0 && text.ptr[text.len - 1] == '\0')
        text.len--;
    copy = pxr_arena_strndup(&module->arena, text.len ? text.ptr : "", text.len);
    module->source_name = pxr_arena_strndup(&module->arena, source_name, strlen(source_name));
    module->text = (struct pxr_str){copy, text.len};
    module->address_bits = 32; /* PTX ISA, ".address_size": the default */
    if (!copy || !module->source_name) {
        ptx_module_destroy(module);
        return NULL;
    }
    return module;
}

static void parser_fini(struct ptx_parser *p)
{
    struct ptx_list *lists[] = {&p->items,    &p->funcs,   &p->vars,  &p->stmts,  &p->func_vars,
                                &p->operands, &p->pending, &p->bytes, &p->relocs, &p->dims};

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        ptx_list_fini(lists[i]);
    pxr_arena_fini(&p->scratch);
}

enum pxr_status ptx_parse(struct pxr_str text, const char *source_name, struct ptx_module **module,
                          struct pxr_error *err)
{
    struct ptx_parser p = {.err = err, .status = PXR_OK};

    *module = NULL;
    if (text.len > INT32_MAX / 2)
        return pxr_fail(err, PXR_BAD_PTX, "%.200s: PTX text of %zu bytes is too long", source_name,
                        text.len);
    p.module = create_module(text, source_name ? source_name : "PTX");
    if (!p.module)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "not enough memory for a PTX module");
    p.arena = &p.module->arena;
    p.budget_bytes = ptx_budget();
    pxr_arena_init(&p.scratch, p.arena->limit_bytes);
    p.module_scope.parent = &p.sreg_scope;
    p.scope = &p.module_scope;
    ptx_lexer_init(&p.lexer, p.module->text);
    if (define_sregs(&p) && parse_module(&p))
        *module = p.module;
    else if (p.status != PXR_OUT_OF_MEMORY)
        p.status = ptx_report(p.module, p.diagnostics, p.diagnostic_count, err);
    if (!*module)
        ptx_module_destroy(p.module);
    parser_fini(&p);
    return p.status;
}
