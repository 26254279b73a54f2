/* SPDX-License-Identifier: Apache-2.0
 *
 * The parser's services (tokens, errors, memory, names) and the module level of the grammar.
 * Variables, functions, statements and operands are in parse_*.c.
 */
#include "ptx/parse.h"

#include "ptx/diagnostics.h"
#include "ptx/module.h"

/* Memory may grow with the text: no construct needs more per byte of text than this. */
#define ARENA_BASE_BYTES ((size_t)4 << 20)
#define ARENA_FACTOR     256

/* ---- services ---- */

bool ptx_fail_at(struct ptx_parser *p, const struct ptx_token *token, const char *format, ...)
{
    va_list args;

    if (p->status != PXR_OK)
        return false;
    va_start(args, format);
    p->status = ptx_diagnose(p->module, token->line, token->column, p->err, format, args);
    va_end(args);
    return false;
}

bool ptx_fail_memory(struct ptx_parser *p)
{
    if (p->status == PXR_OK)
        p->status = pxr_fail_at(p->err, PXR_OUT_OF_MEMORY, p->tok.line, p->tok.column,
                                "%.200s:%d: not enough memory to parse the module",
                                p->module->source_name, p->tok.line);
    return false;
}

bool ptx_fail_expected(struct ptx_parser *p, const char *what)
{
    if (p->tok.kind == PTX_TOKEN_END)
        return ptx_fail_at(p, &p->tok, "expected %s, found the end of the text", what);
    if (p->tok.kind == PTX_TOKEN_BAD && p->tok.text.len == 1)
        return ptx_fail_at(p, &p->tok, "expected %s, found a character PTX does not have", what);
    if (p->tok.kind == PTX_TOKEN_BAD)
        return ptx_fail_at(p, &p->tok, "expected %s, found an unterminated string or comment",
                           what);
    return ptx_fail_at(p, &p->tok, "expected %s, found '%.*s'", what, PXR_STR_ARG(p->tok.text));
}

void ptx_advance(struct ptx_parser *p)
{
    p->tok = ptx_lexer_next(&p->lexer);
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

    return ptx_accept(p, punct) || ptx_fail_expected(p, what);
}

void *ptx_alloc(struct ptx_parser *p, size_t count, size_t size_bytes)
{
    void *memory = pxr_arena_alloc_array(p->arena, count, size_bytes);

    if (!memory)
        ptx_fail_memory(p);
    return memory;
}

void *ptx_push(struct ptx_parser *p, struct ptx_list *list, size_t item_bytes)
{
    void *item = ptx_list_push(list, item_bytes);

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

/* A register of a range: a variable of its own, named when it is first used. */
static const struct ptx_symbol_value *make_ranged(struct ptx_parser *p, struct ptx_scope *scope,
                                                  const struct ptx_reg_range *range,
                                                  struct pxr_str name)
{
    struct ptx_var *var = ptx_alloc(p, 1, sizeof(*var));

    if (!var)
        return NULL;
    *var = range->model;
    var->name = pxr_arena_strndup(p->arena, name.ptr, name.len);
    if (!var->name || !ptx_add_func_var(p, var) ||
        ptx_scope_define(scope, &p->scratch, name,
                         (struct ptx_symbol_value){PTX_SYMBOL_VAR, {.var = var}}) !=
            PTX_DEFINE_OK) {
        ptx_fail_memory(p);
        return NULL;
    }
    return ptx_scope_find_here(scope, name);
}

const struct ptx_symbol_value *ptx_lookup(struct ptx_parser *p, struct pxr_str name)
{
    for (struct ptx_scope *scope = p->scope; scope; scope = scope->parent) {
        const struct ptx_symbol_value *value = ptx_scope_find_here(scope, name);
        const struct ptx_reg_range *range;
        uint64_t number;

        if (value)
            return value;
        range = ptx_scope_find_range(scope, name, &number);
        if (range)
            return make_ranged(p, scope, range, name);
    }
    return NULL;
}

/* ---- module level ---- */

/* version = ".version" major "." minor */
static bool parse_version(struct ptx_parser *p)
{
    struct pxr_str text = p->tok.text;
    unsigned parts[2] = {0, 0};
    unsigned part = 0;

    if (p->tok.kind != PTX_TOKEN_NUMBER)
        return ptx_fail_expected(p, "a version number");
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '.' && part == 0)
            part++;
        else if (text.ptr[i] >= '0' && text.ptr[i] <= '9' && parts[part] < 1000)
            parts[part] = parts[part] * 10 + (unsigned)(text.ptr[i] - '0');
        else
            return ptx_fail_expected(p, "a version number");
    }
    if (part != 1 || parts[1] > 9)
        return ptx_fail_expected(p, "a version number");
    p->module->version = parts[0] * 10 + parts[1];
    ptx_advance(p);
    return true;
}

/* "sm_75", "sm_90a", "compute_80": the number; 0 for anything else */
static unsigned target_number(struct pxr_str text)
{
    unsigned number = 0;
    size_t i = 0;

    if (text.len > 3 && memcmp(text.ptr, "sm_", 3) == 0)
        i = 3;
    else if (text.len > 8 && memcmp(text.ptr, "compute_", 8) == 0)
        i = 8;
    else
        return 0;
    for (; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9' && number < 10000; i++)
        number = number * 10 + (unsigned)(text.ptr[i] - '0');
    return number;
}

/* target = ".target" name ("," name)* ; names: sm_…, debug, texmode_…, map_f64_to_f32 */
static bool parse_target(struct ptx_parser *p)
{
    do {
        unsigned number = target_number(p->tok.text);

        if (p->tok.kind != PTX_TOKEN_NAME)
            return ptx_fail_expected(p, "a target such as sm_75");
        if (number)
            p->module->target = number;
        else if (pxr_str_is(p->tok.text, "debug"))
            p->module->is_debug = true;
        ptx_advance(p);
    } while (ptx_accept(p, ','));
    return true;
}

/* address_size = ".address_size" ("32" | "64") */
static bool parse_address_size(struct ptx_parser *p)
{
    struct ptx_token token = p->tok;
    uint64_t bits;

    if (!ptx_parse_const_uint(p, "an address size", 64, &bits))
        return false;
    if (bits != 32 && bits != 64)
        return ptx_fail_at(p, &token, "address size must be 32 or 64");
    p->module->address_bits = (unsigned)bits;
    return true;
}

/* file = ".file" number string ("," number "," number)? */
bool ptx_parse_file_directive(struct ptx_parser *p)
{
    uint64_t ignored;

    if (!ptx_parse_const_uint(p, "a file number", UINT32_MAX, &ignored))
        return false;
    if (p->tok.kind != PTX_TOKEN_STRING)
        return ptx_fail_expected(p, "a file name in quotes");
    ptx_advance(p);
    while (ptx_accept(p, ','))
        if (!ptx_parse_const_uint(p, "a number", UINT64_MAX, &ignored))
            return false;
    return true;
}

static bool parse_position(struct ptx_parser *p)
{
    uint64_t ignored;

    return ptx_parse_const_uint(p, "a file number", UINT32_MAX, &ignored) &&
           ptx_parse_const_uint(p, "a line number", UINT32_MAX, &ignored) &&
           ptx_parse_const_uint(p, "a column number", UINT32_MAX, &ignored);
}

/* loc = ".loc" position ("," "function_name" label ("+" number)? "," "inlined_at" position)? */
bool ptx_parse_loc_directive(struct ptx_parser *p)
{
    uint64_t ignored;

    if (!parse_position(p))
        return false;
    while (ptx_accept(p, ',')) {
        if (pxr_str_is(p->tok.text, "inlined_at")) {
            ptx_advance(p);
            if (!parse_position(p))
                return false;
        } else if (pxr_str_is(p->tok.text, "function_name")) {
            ptx_advance(p);
            if (p->tok.kind != PTX_TOKEN_NAME)
                return ptx_fail_expected(p, "a label");
            ptx_advance(p);
            if (ptx_accept(p, '+') && !ptx_parse_const_uint(p, "an offset", UINT64_MAX, &ignored))
                return false;
        } else {
            return ptx_fail_expected(p, "function_name or inlined_at");
        }
    }
    return true;
}

/* section = ".section" name "{" … "}": DWARF data, of no use to execution */
bool ptx_parse_section(struct ptx_parser *p)
{
    unsigned depth = 1;

    if (p->tok.kind != PTX_TOKEN_DOT && p->tok.kind != PTX_TOKEN_NAME)
        return ptx_fail_expected(p, "a section name");
    ptx_advance(p);
    ptx_accept(p, ',');
    if (!ptx_expect(p, '{'))
        return false;
    while (depth > 0) {
        if (p->tok.kind == PTX_TOKEN_END || p->tok.kind == PTX_TOKEN_BAD)
            return ptx_fail_expected(p, "'}'");
        depth += ptx_token_is(&p->tok, '{');
        depth -= ptx_token_is(&p->tok, '}');
        ptx_advance(p);
    }
    return true;
}

bool ptx_skip_to_semicolon(struct ptx_parser *p)
{
    while (!ptx_token_is(&p->tok, ';')) {
        if (p->tok.kind == PTX_TOKEN_END || p->tok.kind == PTX_TOKEN_BAD)
            return ptx_fail_expected(p, "';'");
        ptx_advance(p);
    }
    ptx_advance(p);
    return true;
}

/* The alias shares the body and everything that belongs to it. */
static void alias_function(struct ptx_func *alias, const struct ptx_func *target)
{
    struct ptx_func old = *alias;

    *alias = *target;
    alias->name = old.name;
    alias->linkage = old.linkage;
    alias->index = old.index;
    alias->is_address_taken = old.is_address_taken;
    alias->line = old.line;
}

/* alias = ".alias" name "," name ";" : the first is another name of the second */
static bool parse_alias(struct ptx_parser *p)
{
    struct ptx_token alias = p->tok;
    const struct ptx_symbol_value *from;
    const struct ptx_symbol_value *to;

    if (p->tok.kind != PTX_TOKEN_NAME)
        return ptx_fail_expected(p, "a function name");
    ptx_advance(p);
    if (!ptx_expect(p, ','))
        return false;
    from = ptx_scope_find_here(&p->module_scope, alias.text);
    to = ptx_scope_find_here(&p->module_scope, p->tok.text);
    if (!to || to->kind != PTX_SYMBOL_FUNC || !to->func->has_body)
        return ptx_fail_expected(p, "the name of a function defined above");
    if (!from || from->kind != PTX_SYMBOL_FUNC || from->func->has_body)
        return ptx_fail_at(p, &alias, "alias '%.*s' needs a declaration without a body",
                           PXR_STR_ARG(alias.text));
    alias_function(from->func, to->func);
    ptx_advance(p);
    return ptx_expect(p, ';');
}

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

/* declaration = (linkage | ".noreturn")* (".entry" function | ".func" function | variables) */
static bool parse_declaration(struct ptx_parser *p)
{
    enum ptx_linkage linkage = PTX_LINKAGE_INTERNAL;
    bool is_noreturn = false;

    while (accept_linkage(p, &linkage) || ptx_token_is_dot(&p->tok, ".noreturn"))
        is_noreturn |= ptx_accept_dot(p, ".noreturn");
    if (ptx_accept_dot(p, ".entry"))
        return ptx_parse_function(p, true, linkage, is_noreturn);
    if (ptx_accept_dot(p, ".func"))
        return ptx_parse_function(p, false, linkage, is_noreturn);
    return ptx_parse_vars(p, linkage);
}

/* item = version | target | address_size | file | loc | section | pragma | alias | declaration */
static bool parse_item(struct ptx_parser *p)
{
    if (ptx_accept_dot(p, ".version"))
        return parse_version(p);
    if (ptx_accept_dot(p, ".target"))
        return parse_target(p);
    if (ptx_accept_dot(p, ".address_size"))
        return parse_address_size(p);
    if (ptx_accept_dot(p, ".file"))
        return ptx_parse_file_directive(p);
    if (ptx_accept_dot(p, ".loc"))
        return ptx_parse_loc_directive(p);
    if (ptx_accept_dot(p, ".section"))
        return ptx_parse_section(p);
    if (ptx_accept_dot(p, ".pragma"))
        return ptx_skip_to_semicolon(p);
    if (ptx_accept_dot(p, ".alias"))
        return parse_alias(p);
    if (p->tok.kind == PTX_TOKEN_DOT)
        return parse_declaration(p);
    if (ptx_accept(p, ';'))
        return true;
    return ptx_fail_expected(p, "a directive");
}

/* module = version target item* */
static bool parse_module(struct ptx_parser *p)
{
    ptx_advance(p);
    if (!ptx_token_is_dot(&p->tok, ".version"))
        return ptx_fail_expected(p, "'.version'");
    while (p->tok.kind != PTX_TOKEN_END)
        if (!parse_item(p))
            return false;
    if (p->module->target == 0)
        return ptx_fail_expected(p, "'.target' somewhere");
    ptx_number_handles(p->funcs.items, p->funcs.count);
    p->module->func_count = (uint32_t)p->funcs.count;
    p->module->var_count = (uint32_t)p->vars.count;
    p->module->funcs = ptx_take(p, &p->funcs, 0, sizeof(struct ptx_func *));
    p->module->vars = ptx_take(p, &p->vars, 0, sizeof(struct ptx_var *));
    return p->status == PXR_OK;
}

/* Special registers are names of the outermost scope. */
static bool define_sregs(struct ptx_parser *p)
{
    for (unsigned i = PTX_SREG_NONE + 1; i < PTX_SREG_COUNT; i++) {
        struct ptx_symbol_value value = {PTX_SYMBOL_SREG, {.sreg = (enum ptx_sreg)i}};

        if (ptx_scope_define(&p->sreg_scope, &p->scratch, pxr_str_from(ptx_sreg_table[i].name),
                             value) == PTX_DEFINE_NO_MEMORY)
            return ptx_fail_memory(p);
    }
    return true;
}

/* ---- entry ---- */

static struct ptx_module *create_module(struct pxr_str text, const char *source_name)
{
    size_t limit = ARENA_BASE_BYTES + text.len * ARENA_FACTOR;
    struct ptx_module *module = calloc(1, sizeof(*module));
    char *copy;

    if (!module)
        return NULL;
    pxr_arena_init(&module->arena, limit);
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
    struct ptx_list *lists[] = {&p->funcs,   &p->vars,  &p->stmts,  &p->func_vars, &p->operands,
                                &p->pending, &p->bytes, &p->relocs, &p->dims};

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
    pxr_arena_init(&p.scratch, p.arena->limit_bytes);
    p.module_scope.parent = &p.sreg_scope;
    p.scope = &p.module_scope;
    ptx_lexer_init(&p.lexer, p.module->text);
    if (define_sregs(&p) && parse_module(&p))
        *module = p.module;
    else
        ptx_module_destroy(p.module);
    parser_fini(&p);
    return p.status;
}
