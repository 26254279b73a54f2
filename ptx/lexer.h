/* SPDX-License-Identifier: Apache-2.0
 *
 * PTX text to tokens, one at a time (PTX ISA, "Syntax"). Internal to ptx/.
 */
#ifndef PTXRUN_PTX_LEXER_H
#define PTXRUN_PTX_LEXER_H

#include <stdbool.h>

#include "util/str.h"

enum ptx_token_kind {
    PTX_TOKEN_END,
    PTX_TOKEN_NAME,   /* identifier: foo, $L1, %r2, _ */
    PTX_TOKEN_DOT,    /* dot and word: .reg, .L2::128B, .2d */
    PTX_TOKEN_NUMBER, /* any literal that begins with a digit, or .5; not yet validated */
    PTX_TOKEN_STRING, /* text without the quotes */
    PTX_TOKEN_PUNCT,  /* a single character */
    PTX_TOKEN_BAD     /* a character PTX does not have, or an unterminated string or comment */
};

struct ptx_token {
    enum ptx_token_kind kind;
    struct pxr_str text;
    int line;   /* 1-based */
    int column; /* 1-based */
};

struct ptx_lexer {
    const char *cur; /* the text ends with a NUL */
    const char *end;
    const char *line_start;
    int line;
};

/* text.ptr[text.len] must be NUL. */
void ptx_lexer_init(struct ptx_lexer *lexer, struct pxr_str text);
struct ptx_token ptx_lexer_next(struct ptx_lexer *lexer);

/* Lengthens a NAME that begins an instruction by the suffixes that follow without a gap:
 * "ld" becomes "ld.global.L2::128B.f32". The lexer must be just behind the token. */
void ptx_lexer_extend_opcode(struct ptx_lexer *lexer, struct ptx_token *token);

static inline bool ptx_token_is(const struct ptx_token *token, char punct)
{
    return token->kind == PTX_TOKEN_PUNCT && token->text.ptr[0] == punct;
}

static inline bool ptx_token_is_dot(const struct ptx_token *token, const char *word)
{
    return token->kind == PTX_TOKEN_DOT && pxr_str_is(token->text, word);
}

#endif
