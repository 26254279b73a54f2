/* SPDX-License-Identifier: Apache-2.0
 *
 * The scanner: a table of character classes and one function per kind of token. It never fails;
 * unreadable text becomes a PTX_TOKEN_BAD, and the parser reports it.
 */
#include "ptx/lexer.h"

enum { CLASS_NAME_START = 1, CLASS_DIGIT = 2, CLASS_SUFFIX = 4, CLASS_PUNCT = 8 };

#define NAME_PART (CLASS_NAME_START | CLASS_DIGIT)

/* Names may hold letters, digits, _ and $, and begin with % as well; suffixes of opcodes hold
 * letters, digits, _ and ::. */
static const unsigned char char_class[256] = {
    ['a' ... 'z'] = CLASS_NAME_START | CLASS_SUFFIX,
    ['A' ... 'Z'] = CLASS_NAME_START | CLASS_SUFFIX,
    ['_'] = CLASS_NAME_START | CLASS_SUFFIX,
    ['$'] = CLASS_NAME_START,
    ['%'] = CLASS_NAME_START,
    ['0' ... '9'] = CLASS_DIGIT | CLASS_SUFFIX,
    ['{'] = CLASS_PUNCT,
    ['}'] = CLASS_PUNCT,
    ['['] = CLASS_PUNCT,
    [']'] = CLASS_PUNCT,
    ['('] = CLASS_PUNCT,
    [')'] = CLASS_PUNCT,
    ['<'] = CLASS_PUNCT,
    ['>'] = CLASS_PUNCT,
    [','] = CLASS_PUNCT,
    [';'] = CLASS_PUNCT,
    [':'] = CLASS_PUNCT,
    ['@'] = CLASS_PUNCT,
    ['!'] = CLASS_PUNCT,
    ['|'] = CLASS_PUNCT,
    ['+'] = CLASS_PUNCT,
    ['-'] = CLASS_PUNCT,
    ['*'] = CLASS_PUNCT,
    ['/'] = CLASS_PUNCT,
    ['='] = CLASS_PUNCT,
    ['&'] = CLASS_PUNCT,
    ['^'] = CLASS_PUNCT,
    ['~'] = CLASS_PUNCT,
    ['?'] = CLASS_PUNCT,
    ['.'] = CLASS_PUNCT,
};

static bool is_class(char c, unsigned mask)
{
    return (char_class[(unsigned char)c] & mask) != 0;
}

void ptx_lexer_init(struct ptx_lexer *lexer, struct pxr_str text)
{
    *lexer = (struct ptx_lexer){text.ptr, text.ptr + text.len, text.ptr, 1};
}

static void begin_line(struct ptx_lexer *lexer)
{
    lexer->line++;
    lexer->line_start = lexer->cur;
}

/* Stands behind the closing of the comment, or stays in front of an unterminated one. */
static bool skip_block_comment(struct ptx_lexer *lexer)
{
    const struct ptx_lexer start = *lexer;

    lexer->cur += 2;
    while (lexer->cur < lexer->end) {
        char c = *lexer->cur++;

        if (c == '\n')
            begin_line(lexer);
        if (c == '*' && *lexer->cur == '/') {
            lexer->cur++;
            return true;
        }
    }
    *lexer = start;
    return false;
}

/* Debug directives in the form of PTX ISA 1.x, "@@DWARF …", are comments to us. The text ends with
 * a NUL. */
static bool at_line_comment(const struct ptx_lexer *lexer)
{
    static const char dwarf[] = "@@DWARF";

    return (lexer->cur[0] == '/' && lexer->cur[1] == '/') ||
           (lexer->cur[0] == '@' && strncmp(lexer->cur, dwarf, sizeof(dwarf) - 1) == 0);
}

/* false: an unterminated comment begins here. */
static bool skip_space(struct ptx_lexer *lexer)
{
    for (;;) {
        char c = *lexer->cur;

        if (c == '\n') {
            lexer->cur++;
            begin_line(lexer);
        } else if (c == ' ' || c == '\t' || c == '\r') {
            lexer->cur++;
        } else if (at_line_comment(lexer)) {
            while (lexer->cur < lexer->end && *lexer->cur != '\n')
                lexer->cur++;
        } else if (c == '/' && lexer->cur[1] == '*') {
            if (!skip_block_comment(lexer))
                return false;
        } else {
            return true;
        }
    }
}

/* digit (letter | digit | "_" | "." | exponent sign)*; the sign only where the literal is decimal
 */
static void scan_number(struct ptx_lexer *lexer)
{
    const char *start = lexer->cur;
    bool is_prefixed = start[0] == '0' && is_class(start[1], CLASS_NAME_START);

    while (is_class(*lexer->cur, CLASS_SUFFIX) || (*lexer->cur == '.' && !is_prefixed)) {
        char c = *lexer->cur++;

        if ((c == 'e' || c == 'E') && !is_prefixed && (*lexer->cur == '+' || *lexer->cur == '-'))
            lexer->cur++;
    }
}

/* "." digit+ exponent? with nothing of a suffix behind it: a number, since no suffix is like that
 */
static bool scan_fraction(struct ptx_lexer *lexer)
{
    const char *cur = lexer->cur + 1;

    while (is_class(*cur, CLASS_DIGIT))
        cur++;
    if (cur == lexer->cur + 1)
        return false;
    if (*cur == 'e' || *cur == 'E') {
        cur += cur[1] == '+' || cur[1] == '-' ? 2 : 1;
        while (is_class(*cur, CLASS_DIGIT))
            cur++;
    }
    if (is_class(*cur, CLASS_SUFFIX))
        return false;
    lexer->cur = cur;
    return true;
}

/* (letter | digit | "_" | "::")+ */
static void scan_suffix(struct ptx_lexer *lexer)
{
    for (;;) {
        if (is_class(*lexer->cur, CLASS_SUFFIX))
            lexer->cur++;
        else if (lexer->cur[0] == ':' && lexer->cur[1] == ':' &&
                 is_class(lexer->cur[2], CLASS_SUFFIX))
            lexer->cur += 2;
        else
            return;
    }
}

/* The text without quotes; a string ends on its line. */
static enum ptx_token_kind scan_string(struct ptx_lexer *lexer, struct pxr_str *text)
{
    const char *start = ++lexer->cur;

    while (lexer->cur < lexer->end && *lexer->cur != '"' && *lexer->cur != '\n')
        lexer->cur++;
    *text = (struct pxr_str){start, (size_t)(lexer->cur - start)};
    if (*lexer->cur != '"')
        return PTX_TOKEN_BAD;
    lexer->cur++;
    return PTX_TOKEN_STRING;
}

static enum ptx_token_kind scan_kind(struct ptx_lexer *lexer)
{
    char c = *lexer->cur;

    if (is_class(c, CLASS_NAME_START)) {
        do
            lexer->cur++;
        while (is_class(*lexer->cur, NAME_PART) && *lexer->cur != '%');
        return PTX_TOKEN_NAME;
    }
    if (c == '.' && scan_fraction(lexer))
        return PTX_TOKEN_NUMBER;
    if (c == '.' && is_class(lexer->cur[1], CLASS_SUFFIX)) {
        lexer->cur++;
        scan_suffix(lexer);
        return PTX_TOKEN_DOT;
    }
    if (is_class(c, CLASS_DIGIT)) {
        scan_number(lexer);
        return PTX_TOKEN_NUMBER;
    }
    lexer->cur++;
    return is_class(c, CLASS_PUNCT) ? PTX_TOKEN_PUNCT : PTX_TOKEN_BAD;
}

struct ptx_token ptx_lexer_next(struct ptx_lexer *lexer)
{
    bool is_ok = skip_space(lexer);
    const char *start = lexer->cur;
    struct ptx_token token = {
        PTX_TOKEN_END, {start, 0}, lexer->line, (int)(start - lexer->line_start) + 1};

    if (!is_ok) {
        token.kind = PTX_TOKEN_BAD;
        token.text.len = 2;
        lexer->cur = lexer->end;
    } else if (start >= lexer->end) {
        token.kind = PTX_TOKEN_END;
    } else if (*start == '"') {
        token.kind = scan_string(lexer, &token.text);
    } else {
        token.kind = scan_kind(lexer);
        token.text.len = (size_t)(lexer->cur - start);
    }
    return token;
}

void ptx_lexer_extend_opcode(struct ptx_lexer *lexer, struct ptx_token *token)
{
    while (*lexer->cur == '.' && is_class(lexer->cur[1], CLASS_SUFFIX)) {
        lexer->cur++;
        scan_suffix(lexer);
    }
    token->text.len = (size_t)(lexer->cur - token->text.ptr);
}
