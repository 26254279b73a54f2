/* SPDX-License-Identifier: Apache-2.0
 *
 * Heads of kernels, functions and prototypes (PTX ISA, "Kernel and Function Directives").
 */
#include "ptx/parse.h"

/* PTX ISA "Kernel Function Parameters": at most 32764 bytes (from PTX 8.1 on, 4352 before). */
#define MAX_PARAM_BYTES 32764

/* parameter = head name dimensions? | "_" in a prototype */
static bool parse_param(struct ptx_parser *p, bool is_entry, bool is_input, struct ptx_list *params)
{
    struct ptx_var_head head;
    struct ptx_token name;
    struct ptx_var **slot = ptx_push(p, params, sizeof(*slot));
    struct ptx_var *var = ptx_alloc(p, 1, sizeof(*var));

    if (!slot || !var || !ptx_parse_var_head(p, &head))
        return false;
    *slot = var;
    if (head.model.space != PTX_SPACE_PARAM && head.model.space != PTX_SPACE_REG)
        return ptx_fail_expected(p, "a parameter in .param or .reg space");
    head.model.is_input_param = is_input;
    if (!ptx_parse_var_name(p, &head, var, &name) || !ptx_add_func_var(p, var))
        return false;
    if (var->size_bytes == 0 && (is_entry || !is_input))
        return ptx_fail_at(
            p, &name, "array '%s' needs a size: only parameters of functions have none", var->name);
    if (pxr_str_is(name.text, "_"))
        return true;
    return ptx_define(p, p->scope, &name, (struct ptx_symbol_value){PTX_SYMBOL_VAR, {.var = var}});
}

/* parameters = "(" (parameter ("," parameter)*)? ")" */
static bool parse_params(struct ptx_parser *p, bool is_entry, bool is_input,
                         const struct ptx_var *const **params, uint32_t *count)
{
    struct ptx_list list = {0};
    bool is_ok = true;

    if (!ptx_expect(p, '('))
        return false;
    if (!ptx_token_is(&p->tok, ')')) {
        do
            is_ok = parse_param(p, is_entry, is_input, &list);
        while (is_ok && ptx_accept(p, ','));
    }
    is_ok = is_ok && ptx_expect(p, ')');
    if (is_ok) {
        *count = (uint32_t)list.count;
        *params = ptx_take(p, &list, 0, sizeof(struct ptx_var *));
        is_ok = *params != NULL;
    }
    ptx_list_fini(&list);
    return is_ok;
}

/* Positions in a kernel's parameter block: in order, each at its alignment. */
static bool place_entry_params(struct ptx_parser *p, struct ptx_func *func,
                               const struct ptx_token *name)
{
    uint64_t offset = 0;

    for (uint32_t i = 0; i < func->param_count; i++) {
        struct ptx_var *var = (struct ptx_var *)func->params[i];

        offset = (offset + var->align_bytes - 1) & ~((uint64_t)var->align_bytes - 1);
        if (offset + var->size_bytes > MAX_PARAM_BYTES)
            return ptx_fail_at(p, name, "the parameters of '%s' take more than %d bytes",
                               func->name, MAX_PARAM_BYTES);
        var->param_offset_bytes = (uint32_t)offset;
        offset += var->size_bytes;
    }
    func->param_bytes = (uint32_t)offset;
    return true;
}

/* number, from `least` on */
static bool parse_number(struct ptx_parser *p, uint32_t least, uint32_t *number)
{
    const struct ptx_token token = p->tok;
    uint64_t value;

    if (!ptx_parse_const_uint(p, "a number", UINT32_MAX, &value))
        return false;
    if (value < least)
        return ptx_fail_at(p, &token, "the number must be at least %u", least);
    *number = (uint32_t)value;
    return true;
}

/* triple = number ("," number ("," number)?)? ; the others are 1 */
static bool parse_triple(struct ptx_parser *p, uint32_t least, uint32_t *triple)
{
    for (int i = 0; i < 3; i++) {
        triple[i] = 1;
        if ((i == 0 || ptx_accept(p, ',')) && !parse_number(p, least, &triple[i]))
            return false;
    }
    return true;
}

/* attribute = "(" anything ")" */
static bool skip_parentheses(struct ptx_parser *p)
{
    unsigned depth = 0;

    do {
        if (p->tok.kind == PTX_TOKEN_END || p->tok.kind == PTX_TOKEN_BAD)
            return ptx_fail_expected(p, "')'");
        depth += ptx_token_is(&p->tok, '(');
        if (depth == 0)
            return ptx_fail_expected(p, "'('");
        depth -= ptx_token_is(&p->tok, ')');
        ptx_advance(p);
    } while (depth > 0);
    return true;
}

/* A directive that is a fact by itself. */
static bool accept_fact(struct ptx_parser *p, struct ptx_func *func)
{
    if (!func->is_entry && ptx_accept_dot(p, ".noreturn")) {
        func->is_noreturn = true;
    } else if (ptx_accept_dot(p, ".explicitcluster")) {
        func->needs_cluster = true;
        func->is_explicit_cluster = true;
    } else if (ptx_accept_dot(p, ".blocksareclusters")) {
        func->has_block_clusters = true;
    } else {
        return false;
    }
    return true;
}

/* tuning = performance-tuning, cluster and attribute directives between head and body */
static bool parse_tuning(struct ptx_parser *p, struct ptx_func *func)
{
    if (accept_fact(p, func))
        return true;
    if (ptx_accept_dot(p, ".maxntid"))
        return parse_triple(p, 1, func->max_threads);
    if (ptx_accept_dot(p, ".reqntid"))
        return parse_triple(p, 1, func->required_threads);
    if (ptx_accept_dot(p, ".minnctapersm"))
        return parse_number(p, 1, &func->min_blocks_per_sm);
    if (ptx_accept_dot(p, ".maxnctapersm"))
        return parse_number(p, 1, &func->max_blocks_per_sm);
    if (ptx_accept_dot(p, ".maxnreg"))
        return parse_number(p, 1, &func->max_registers);
    if (ptx_accept_dot(p, ".maxclusterrank"))
        return parse_number(p, 0, &func->max_cluster_blocks);
    if (ptx_accept_dot(p, ".reqnctapercluster")) {
        func->needs_cluster = true;
        return parse_triple(p, 0, func->cluster_blocks);
    }
    if (ptx_accept_dot(p, ".abi_preserve")) {
        func->has_abi_preserve = true;
        return parse_number(p, 0, &func->abi_preserve);
    }
    if (ptx_accept_dot(p, ".abi_preserve_control")) {
        func->has_abi_preserve_control = true;
        return parse_number(p, 0, &func->abi_preserve_control);
    }
    if (ptx_accept_dot(p, ".attribute"))
        return skip_parentheses(p);
    if (ptx_accept_dot(p, ".pragma"))
        return ptx_parse_pragma(p);
    return ptx_fail_expected(p, "a directive of a function, '{' or ';'");
}

/* tunings = tuning* ; *text: all of them as written */
static bool parse_tunings(struct ptx_parser *p, struct ptx_func *func, struct pxr_str *text)
{
    const char *start = p->tok.text.ptr;

    while (p->tok.kind == PTX_TOKEN_DOT && !ptx_at_module_item(p))
        if (!parse_tuning(p, func))
            return false;
    *text = ptx_text_since(p, start);
    return true;
}

/* Directives that contradict the rest of the head. */
static bool check_tunings(struct ptx_parser *p, const struct ptx_func *func,
                          const struct ptx_token *name)
{
    if (func->is_noreturn && func->ret_count > 0)
        return ptx_fail_at(p, name, "'%s' has results and cannot be .noreturn", func->name);
    if (func->max_threads[0] > 0 && func->required_threads[0] > 0)
        return ptx_fail_at(p, name, "'%s' cannot have both .maxntid and .reqntid", func->name);
    return true;
}

/* ---- prototypes ---- */

/* prototype = results? "_" parameters? tuning* ";" */
bool ptx_parse_prototype(struct ptx_parser *p, struct ptx_func *func)
{
    struct ptx_scope scope = {.parent = p->scope};
    struct pxr_str ignored;
    bool is_ok = true;

    p->scope = &scope;
    func->line = p->tok.line;
    if (ptx_token_is(&p->tok, '('))
        is_ok = parse_params(p, func->is_entry, false, &func->rets, &func->ret_count);
    if (is_ok && p->tok.kind != PTX_TOKEN_NAME)
        is_ok = ptx_fail_expected(p, "'_'");
    if (is_ok) {
        func->name = pxr_arena_strndup(p->arena, p->tok.text.ptr, p->tok.text.len);
        is_ok = func->name != NULL || ptx_fail_memory(p);
        ptx_advance(p);
    }
    if (is_ok && ptx_token_is(&p->tok, '('))
        is_ok = parse_params(p, func->is_entry, true, &func->params, &func->param_count);
    is_ok = is_ok && parse_tunings(p, func, &ignored);
    p->scope = scope.parent;
    return is_ok && ptx_expect(p, ';');
}

/* ---- functions ---- */

static bool same_lists(const struct ptx_var *const *a, uint32_t a_count,
                       const struct ptx_var *const *b, uint32_t b_count)
{
    if (a_count != b_count)
        return false;
    for (uint32_t i = 0; i < a_count; i++)
        if (a[i]->size_bytes != b[i]->size_bytes || a[i]->space != b[i]->space)
            return false;
    return true;
}

/* A function may be declared several times and defined once; all share one object. */
static bool merge_declaration(struct ptx_parser *p, struct ptx_func *old,
                              const struct ptx_func *func, const struct ptx_token *name)
{
    struct ptx_func before = *old;

    if (old->is_entry != func->is_entry ||
        !same_lists(old->params, old->param_count, func->params, func->param_count) ||
        !same_lists(old->rets, old->ret_count, func->rets, func->ret_count))
        return ptx_fail_at(p, name, "'%s' is declared differently above", func->name);
    if (old->has_body && func->has_body)
        return ptx_fail_at(p, name, "'%s' already has a body", func->name);
    if (!func->has_body)
        return true;
    *old = *func;
    old->index = before.index;
    old->is_address_taken |= before.is_address_taken;
    if (old->linkage == PTX_LINKAGE_INTERNAL && before.linkage != PTX_LINKAGE_EXTERN)
        old->linkage = before.linkage;
    return true;
}

/* The declaration in the module's list. The function that it declares may be overwritten by a
 * definition or alias that comes later, so the list has a copy; a definition stays as it is. */
static bool add_item(struct ptx_parser *p, const struct ptx_func *func)
{
    struct ptx_item *item = ptx_add_item(p, PTX_ITEM_FUNC, func->line);
    struct ptx_func *copy;

    if (!item)
        return false;
    item->func = func;
    if (func->has_body)
        return true;
    copy = ptx_alloc(p, 1, sizeof(*copy));
    if (!copy)
        return false;
    *copy = *func;
    item->func = copy;
    return true;
}

/* The object that stands for the name; the body comes later so that it can name itself. */
static bool declare_function(struct ptx_parser *p, struct ptx_func **func,
                             const struct ptx_token *name)
{
    const struct ptx_symbol_value *old = ptx_scope_find_here(&p->module_scope, name->text);
    struct ptx_func **slot;

    if (old && old->kind == PTX_SYMBOL_FUNC) {
        if (!merge_declaration(p, old->func, *func, name))
            return false;
        *func = old->func;
        return true;
    }
    slot = ptx_push(p, &p->funcs, sizeof(struct ptx_func *));
    if (!slot)
        return false;
    *slot = *func;
    (*func)->index = (uint32_t)(p->funcs.count - 1);
    return ptx_define(p, &p->module_scope, name,
                      (struct ptx_symbol_value){PTX_SYMBOL_FUNC, {.func = *func}});
}

/* head = tunings results? name parameters? tunings */
static bool parse_head(struct ptx_parser *p, struct ptx_func *func, struct ptx_func_text *written,
                       struct ptx_token *name)
{
    if (!parse_tunings(p, func, &written->before)) /* .func .attribute(…) name */
        return false;
    written->has_ret_list = ptx_token_is(&p->tok, '(') && !func->is_entry;
    if (written->has_ret_list &&
        !parse_params(p, func->is_entry, false, &func->rets, &func->ret_count))
        return false;
    *name = p->tok;
    if (name->kind != PTX_TOKEN_NAME)
        return ptx_fail_expected(p, "a function name");
    func->line = name->line;
    func->name = pxr_arena_strndup(p->arena, name->text.ptr, name->text.len);
    if (!func->name)
        return ptx_fail_memory(p);
    ptx_advance(p);
    written->has_param_list = ptx_token_is(&p->tok, '(');
    if (written->has_param_list &&
        !parse_params(p, func->is_entry, true, &func->params, &func->param_count))
        return false;
    return parse_tunings(p, func, &written->tuning) && check_tunings(p, func, name) &&
           (!func->is_entry || place_entry_params(p, func, name));
}

/* A declaration has no statements, but its parameters are variables all the same. */
static bool finish_function(struct ptx_parser *p, struct ptx_func *func)
{
    func->stmt_count = (uint32_t)p->stmts.count;
    func->stmts = ptx_take(p, &p->stmts, 0, sizeof(struct ptx_stmt));
    func->var_count = (uint32_t)p->func_vars.count;
    func->vars = ptx_take(p, &p->func_vars, 0, sizeof(struct ptx_var *));
    return func->stmts && func->vars;
}

/* function = head (";" | body) */
static bool parse_function_in_scope(struct ptx_parser *p, struct ptx_func *func,
                                    struct ptx_func_text *written)
{
    struct ptx_func *declared = func;
    struct ptx_token name;

    if (!parse_head(p, func, written, &name))
        return false;
    func->has_body = ptx_token_is(&p->tok, '{');
    if (!declare_function(p, &func, &name))
        return false;
    if (!declared->has_body) {
        written->has_semicolon = ptx_accept(p, ';');
        return (func->has_body || finish_function(p, func)) && add_item(p, declared);
    }
    p->func = func;
    return ptx_parse_body(p) && finish_function(p, func) && add_item(p, func);
}

bool ptx_parse_function(struct ptx_parser *p, bool is_entry, enum ptx_linkage linkage,
                        struct pxr_str linkage_text)
{
    struct ptx_func *func = ptx_alloc(p, 1, sizeof(*func));
    struct ptx_func_text *written = ptx_alloc(p, 1, sizeof(*written));
    struct ptx_scope scope = {.parent = &p->module_scope};
    bool is_ok;

    if (!func || !written)
        return false;
    func->is_entry = is_entry;
    func->linkage = linkage;
    func->written = written;
    written->linkage = linkage_text;
    p->stmts.count = 0;
    p->func_vars.count = 0;
    p->pending.count = 0;
    p->operands.count = 0;
    p->scope = &scope;
    is_ok = parse_function_in_scope(p, func, written);
    p->scope = &p->module_scope;
    if (is_ok)
        p->func = NULL; /* else ptx_recover_item asks whether it was in a body */
    return is_ok;
}
