/* SPDX-License-Identifier: Apache-2.0
 *
 * The promises of the printer, checked on one text.
 */
#include "print_check.h"

#include <stdlib.h>

#include "ptx/lexer.h"

char *print_module(const struct ptx_module *module, enum ptx_print_style style, size_t *len)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, len);

    if (!out || ptx_print(module, style, out, NULL) != PXR_OK)
        abort();
    fclose(out);
    return text;
}

/* The number at the end of a register's name may begin with zeros, which the module does not keep:
 * %r01 is printed as %r1. */
static bool is_name_of(struct pxr_str got, struct pxr_str want)
{
    size_t prefix_len = want.len;
    size_t zeros = 0;

    while (prefix_len > 0 && want.ptr[prefix_len - 1] >= '0' && want.ptr[prefix_len - 1] <= '9')
        prefix_len--;
    while (prefix_len + zeros + 1 < want.len && want.ptr[prefix_len + zeros] == '0')
        zeros++;
    return got.len == want.len - zeros && memcmp(got.ptr, want.ptr, prefix_len) == 0 &&
           memcmp(got.ptr + prefix_len, want.ptr + prefix_len + zeros, got.len - prefix_len) == 0;
}

/* Both end with a NUL. */
static enum print_check compare_tokens(struct pxr_str want, struct pxr_str got, const char *name,
                                       struct pxr_error *why)
{
    struct ptx_lexer want_lexer;
    struct ptx_lexer got_lexer;

    ptx_lexer_init(&want_lexer, want);
    ptx_lexer_init(&got_lexer, got);
    for (;;) {
        struct ptx_token a = ptx_lexer_next(&want_lexer);
        struct ptx_token b = ptx_lexer_next(&got_lexer);

        if (a.kind != b.kind || !(pxr_str_equal(a.text, b.text) ||
                                  (a.kind == PTX_TOKEN_NAME && is_name_of(b.text, a.text)))) {
            pxr_fail_at(why, PXR_INVALID_ARGUMENT, a.line, a.column,
                        "%s:%d:%d: '%.*s' is printed as '%.*s'", name, a.line, a.column,
                        PXR_STR_ARG(a.text), PXR_STR_ARG(b.text));
            return PRINT_CHECK_BROKEN;
        }
        if (a.kind == PTX_TOKEN_END)
            return PRINT_CHECK_OK;
    }
}

static enum print_check check_written(const struct ptx_module *module, const char *name,
                                      struct pxr_error *why)
{
    size_t len;
    char *text = print_module(module, PTX_PRINT_AS_WRITTEN, &len);
    enum print_check result = compare_tokens(module->text, (struct pxr_str){text, len}, name, why);

    free(text);
    return result;
}

static enum print_check check_normal(const struct ptx_module *module, const char *name,
                                     struct pxr_error *why)
{
    struct ptx_module *again;
    size_t len;
    size_t len_again;
    char *text = print_module(module, PTX_PRINT_NORMAL, &len);
    char *text_again;
    enum print_check result = PRINT_CHECK_BROKEN;

    if (ptx_parse((struct pxr_str){text, len}, name, &again, why) == PXR_OK) {
        text_again = print_module(again, PTX_PRINT_NORMAL, &len_again);
        result = compare_tokens((struct pxr_str){text, len},
                                (struct pxr_str){text_again, len_again}, name, why);
        free(text_again);
        ptx_module_destroy(again);
    }
    free(text);
    return result;
}

enum print_check print_check(struct pxr_str text, const char *name, struct pxr_error *why)
{
    struct ptx_module *module;
    enum print_check result;

    if (ptx_parse(text, name, &module, why) != PXR_OK)
        return PRINT_CHECK_NO_PTX;
    result = check_written(module, name, why);
    if (result == PRINT_CHECK_OK)
        result = check_normal(module, name, why);
    ptx_module_destroy(module);
    return result;
}
