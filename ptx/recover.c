/* SPDX-License-Identifier: Apache-2.0
 *
 * Errors of the parser, and how it goes on behind one, so that a text's errors are told together.
 *
 * What follows from an error must not be told as another one. So the statement or directive that
 * has the error is left out as a whole, and the names in it that are not known become lost: from
 * then on nothing is said about them.
 */
#include <stdio.h>

#include "ptx/parse.h"

/* ---- telling ---- */

bool ptx_fail_at(struct ptx_parser *p, const struct ptx_token *token, const char *format, ...)
{
    char message[400];
    const char *kept;
    va_list args;

    if (p->status != PXR_OK)
        return false;
    va_start(args, format);
    vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    kept = pxr_arena_strndup(&p->scratch, message, strlen(message));
    if (!kept)
        return ptx_fail_memory(p);
    p->status = PXR_BAD_PTX;
    p->diagnostics[p->diagnostic_count++] =
        (struct ptx_diagnostic){token->line, token->column, kept};
    return false;
}

bool ptx_fail_lost(struct ptx_parser *p)
{
    if (p->status == PXR_OK)
        p->status = PXR_BAD_PTX;
    return false;
}

bool ptx_fail_memory(struct ptx_parser *p)
{
    if (p->status != PXR_OUT_OF_MEMORY)
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

/* ---- going on ---- */

static bool is_one_of(const struct ptx_token *token, const char *const *words, size_t count)
{
    if (token->kind != PTX_TOKEN_DOT)
        return false;
    for (size_t i = 0; i < count; i++)
        if (pxr_str_is(token->text, words[i]))
            return true;
    return false;
}

bool ptx_at_module_item(const struct ptx_parser *p)
{
    static const char *const words[] = {".version", ".target",  ".address_size", ".entry",
                                        ".func",    ".visible", ".extern",       ".weak",
                                        ".common",  ".alias"};

    return is_one_of(&p->tok, words, sizeof(words) / sizeof(words[0]));
}

bool ptx_is_body_going_on(const struct ptx_parser *p)
{
    static const char *const words[] = {".reg", ".loc"};

    return p->tok.kind == PTX_TOKEN_NAME || ptx_token_is(&p->tok, '@') ||
           ptx_token_is(&p->tok, '{') || ptx_token_is(&p->tok, '}') ||
           is_one_of(&p->tok, words, sizeof(words) / sizeof(words[0]));
}

/* Whether the token cannot begin anything on the module level: the rest of a function, most
 * likely. */
static bool is_misplaced(const struct ptx_parser *p)
{
    static const char *const words[] = {".reg", ".param"};

    return p->tok.kind != PTX_TOKEN_DOT ||
           is_one_of(&p->tok, words, sizeof(words) / sizeof(words[0]));
}

struct ptx_mark ptx_mark(const struct ptx_parser *p)
{
    return (struct ptx_mark){p->lexer, p->tok, p->last_end, p->pending.count};
}

/* The parser stands again where the statement with the error begins. */
static void go_back(struct ptx_parser *p, const struct ptx_mark *mark)
{
    p->lexer = mark->lexer;
    p->tok = mark->tok;
    p->last_end = mark->last_end;
    if (p->pending.count > mark->pending_count)
        p->pending.count = mark->pending_count;
    p->operands.count = 0;
    p->expression_depth = 0;
}

/* %r7, where no %r<…> is declared: then %r8 is not either. */
static bool is_of_unknown_range(const struct ptx_parser *p, struct pxr_str name,
                                struct pxr_str *prefix)
{
    *prefix = name;
    while (prefix->len > 0 && prefix->ptr[prefix->len - 1] >= '0' &&
           prefix->ptr[prefix->len - 1] <= '9')
        prefix->len--;
    if (prefix->len < 2 || prefix->len == name.len || name.ptr[0] != '%')
        return false;
    for (const struct ptx_scope *scope = p->scope; scope; scope = scope->parent)
        if (ptx_scope_has_range(scope, *prefix))
            return false;
    return true;
}

/* Leaves out the current token; its name becomes lost if nothing is known of it. */
static bool lose_token(struct ptx_parser *p, bool is_declared_here)
{
    struct pxr_str name = p->tok.text;
    bool is_name = p->tok.kind == PTX_TOKEN_NAME && is_declared_here;
    struct ptx_symbol_value lost = {PTX_SYMBOL_LOST, {0}};
    struct ptx_scope *scope = p->scope;
    struct pxr_str prefix;

    ptx_advance(p);
    if (!is_name)
        return true;
    if (ptx_token_is(&p->tok, '<')) {
        lost.kind = PTX_SYMBOL_LOST_RANGE;
    } else if (ptx_scope_find(&scope, name)) {
        return true;
    } else if (is_of_unknown_range(p, name, &prefix)) {
        lost.kind = PTX_SYMBOL_LOST_RANGE;
        name = prefix;
    }
    return ptx_scope_define(p->scope, &p->scratch, name, lost) != PTX_DEFINE_NO_MEMORY ||
           ptx_fail_memory(p);
}

/* Where parsing resumes. */
struct goal {
    const char *reached;   /* the parser had come so far: items of the module count behind it */
    const char *end;       /* NULL, or where a ";" is missing */
    bool holds_statements; /* there may be ";" inside the braces */
    bool is_misplaced;     /* it is nothing of the module level: on to what is */
};

/* Only if the semicolon is missing at the end of a line. */
static struct goal find_goal(struct ptx_parser *p, bool holds_statements)
{
    struct goal goal = {p->tok.text.ptr, NULL, holds_statements, false};

    if (p->is_semicolon_missing && memchr(p->last_end, '\n', (size_t)(goal.reached - p->last_end)))
        goal.end = goal.reached;
    p->is_semicolon_missing = false;
    return goal;
}

/* At a closing brace behind which the statement goes on. */
static bool is_inside_operands(const struct ptx_parser *p)
{
    struct ptx_lexer ahead = p->lexer;
    struct ptx_token next = ptx_lexer_next(&ahead);

    return next.kind == PTX_TOKEN_PUNCT && strchr(",;])|", next.text.ptr[0]);
}

/* Leaves out tokens up to a ";", or to the brace that closes those opened in the text. */
static bool skip(struct ptx_parser *p, struct goal goal)
{
    unsigned depth = 0;

    while (p->tok.kind != PTX_TOKEN_END && p->tok.text.ptr != goal.end) {
        bool is_semicolon = ptx_token_is(&p->tok, ';');
        bool is_closing = ptx_token_is(&p->tok, '}');

        if (is_closing && depth == 0 && p->func && !is_inside_operands(p))
            return true;
        goal.holds_statements &= !ptx_token_is(&p->tok, '=') || depth > 0;
        depth += ptx_token_is(&p->tok, '{');
        depth -= is_closing && depth > 0;
        if (!lose_token(p, p->func || depth == 0))
            return false;
        if (is_semicolon && (depth == 0 || !goal.holds_statements) && !goal.is_misplaced)
            return true;
        if (is_closing && depth == 0 && goal.holds_statements && !goal.is_misplaced)
            return true;
        if (p->tok.text.ptr >= goal.reached && ptx_at_module_item(p))
            return true;
    }
    return true;
}

static bool can_recover(const struct ptx_parser *p)
{
    return p->status == PXR_BAD_PTX && p->diagnostic_count < PTX_MAX_DIAGNOSTICS;
}

static bool is_body_cut(const struct ptx_parser *p)
{
    return p->tok.kind == PTX_TOKEN_END || ptx_at_module_item(p);
}

bool ptx_continue(struct ptx_parser *p)
{
    if (!can_recover(p))
        return false;
    p->status = PXR_OK;
    return true;
}

bool ptx_recover_statement(struct ptx_parser *p, const struct ptx_mark *mark)
{
    struct goal goal = find_goal(p, ptx_token_is(&mark->tok, '{'));

    if (is_body_cut(p) || !ptx_continue(p))
        return false;
    go_back(p, mark);
    return skip(p, goal) && (!is_body_cut(p) || ptx_fail_lost(p));
}

bool ptx_recover_item(struct ptx_parser *p, const struct ptx_mark *mark)
{
    struct goal goal = find_goal(p, true);
    bool is_at_next = p->func && is_body_cut(p);

    if (!ptx_continue(p))
        return false;
    p->func = NULL;
    p->scope = &p->module_scope;
    if (is_at_next)
        return true;
    go_back(p, mark);
    goal.is_misplaced = is_misplaced(p);
    return skip(p, goal);
}
