/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>

#include "ptx/lexer.h"

static struct ptx_lexer begin(const char *text)
{
    struct ptx_lexer lexer;

    ptx_lexer_init(&lexer, pxr_str_from(text));
    return lexer;
}

static void expect(struct ptx_lexer *lexer, enum ptx_token_kind kind, const char *text)
{
    struct ptx_token token = ptx_lexer_next(lexer);

    cr_assert_eq(token.kind, kind, "%.*s", PXR_STR_ARG(token.text));
    cr_assert(pxr_str_is(token.text, text), "'%.*s' is not '%s'", PXR_STR_ARG(token.text), text);
}

Test(lexer, names_may_begin_with_percent_dollar_and_underscore)
{
    struct ptx_lexer lexer = begin("foo %r12 $L__BB0_1 _ _Z1kPi a$b%c");

    expect(&lexer, PTX_TOKEN_NAME, "foo");
    expect(&lexer, PTX_TOKEN_NAME, "%r12");
    expect(&lexer, PTX_TOKEN_NAME, "$L__BB0_1");
    expect(&lexer, PTX_TOKEN_NAME, "_");
    expect(&lexer, PTX_TOKEN_NAME, "_Z1kPi");
    expect(&lexer, PTX_TOKEN_NAME, "a$b");
    expect(&lexer, PTX_TOKEN_NAME, "%c");
    expect(&lexer, PTX_TOKEN_END, "");
    expect(&lexer, PTX_TOKEN_END, "");
}

Test(lexer, numbers_take_exponents_but_not_operators)
{
    struct ptx_lexer lexer = begin("1.5e-3 0x1e-3 0f3F800000 12U 1-2");

    expect(&lexer, PTX_TOKEN_NUMBER, "1.5e-3");
    expect(&lexer, PTX_TOKEN_NUMBER, "0x1e");
    expect(&lexer, PTX_TOKEN_PUNCT, "-");
    expect(&lexer, PTX_TOKEN_NUMBER, "3");
    expect(&lexer, PTX_TOKEN_NUMBER, "0f3F800000");
    expect(&lexer, PTX_TOKEN_NUMBER, "12U");
    expect(&lexer, PTX_TOKEN_NUMBER, "1");
    expect(&lexer, PTX_TOKEN_PUNCT, "-");
    expect(&lexer, PTX_TOKEN_NUMBER, "2");
}

Test(lexer, a_fraction_is_no_suffix)
{
    struct ptx_lexer lexer = begin(".5 .5e-3 .2d .5.x");

    expect(&lexer, PTX_TOKEN_NUMBER, ".5");
    expect(&lexer, PTX_TOKEN_NUMBER, ".5e-3");
    expect(&lexer, PTX_TOKEN_DOT, ".2d");
    expect(&lexer, PTX_TOKEN_NUMBER, ".5");
    expect(&lexer, PTX_TOKEN_DOT, ".x");
}

Test(lexer, directives_and_suffixes_keep_their_dot)
{
    struct ptx_lexer lexer = begin(".reg .L2::128B .2d label:x");

    expect(&lexer, PTX_TOKEN_DOT, ".reg");
    expect(&lexer, PTX_TOKEN_DOT, ".L2::128B");
    expect(&lexer, PTX_TOKEN_DOT, ".2d");
    expect(&lexer, PTX_TOKEN_NAME, "label");
    expect(&lexer, PTX_TOKEN_PUNCT, ":");
    expect(&lexer, PTX_TOKEN_NAME, "x");
}

Test(lexer, an_opcode_is_one_token_with_its_suffixes)
{
    struct ptx_lexer lexer = begin("ld.global.L1::no_allocate.v4.f32 {");
    struct ptx_token token = ptx_lexer_next(&lexer);

    ptx_lexer_extend_opcode(&lexer, &token);
    cr_assert(pxr_str_is(token.text, "ld.global.L1::no_allocate.v4.f32"));
    expect(&lexer, PTX_TOKEN_PUNCT, "{");
}

Test(lexer, comments_are_space_and_lines_are_counted)
{
    struct ptx_lexer lexer = begin("a // b\n/* c\n d */ e\n@@DWARF x\n\tf");
    struct ptx_token token;

    expect(&lexer, PTX_TOKEN_NAME, "a");
    token = ptx_lexer_next(&lexer);
    cr_assert(pxr_str_is(token.text, "e"));
    cr_assert_eq(token.line, 3);
    cr_assert_eq(token.column, 7);
    token = ptx_lexer_next(&lexer);
    cr_assert(pxr_str_is(token.text, "f"));
    cr_assert_eq(token.line, 5);
    cr_assert_eq(token.column, 2);
}

Test(lexer, strings_lose_their_quotes)
{
    struct ptx_lexer lexer = begin("\"a.cu\" \"\"");

    expect(&lexer, PTX_TOKEN_STRING, "a.cu");
    expect(&lexer, PTX_TOKEN_STRING, "");
}

/* "@@%p1 bra L;" must not become a comment. */
Test(lexer, only_old_debug_directives_are_comments)
{
    struct ptx_lexer lexer = begin("@@DWARF .byte 1\n@@%p1");

    for (int i = 0; i < 2; i++) {
        struct ptx_token token = ptx_lexer_next(&lexer);

        cr_assert(ptx_token_is(&token, '@'));
        cr_assert_eq(token.line, 2);
    }
}

/* NVIDIA's assembler takes neither, and no compiler writes them. */
Test(lexer, form_feeds_and_other_bytes_are_no_space)
{
    static const char *const texts[] = {"\f", "\v", "\x01", "\x7f", "\xc2\xa0", "\xc3\xa9", "`"};
    struct ptx_lexer lexer;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ptx_lexer_init(&lexer, pxr_str_from(texts[i]));
        cr_assert_eq(ptx_lexer_next(&lexer).kind, PTX_TOKEN_BAD, "%zu", i);
    }
}

Test(lexer, what_cannot_be_read_is_a_bad_token)
{
    struct ptx_lexer lexer = begin("\"open\n");

    cr_assert_eq(ptx_lexer_next(&lexer).kind, PTX_TOKEN_BAD);
    lexer = begin("/* open");
    cr_assert_eq(ptx_lexer_next(&lexer).kind, PTX_TOKEN_BAD);
    cr_assert_eq(ptx_lexer_next(&lexer).kind, PTX_TOKEN_END);
    lexer = begin("\x80");
    cr_assert_eq(ptx_lexer_next(&lexer).kind, PTX_TOKEN_BAD);
    lexer = begin("#");
    cr_assert_eq(ptx_lexer_next(&lexer).kind, PTX_TOKEN_BAD);
}
