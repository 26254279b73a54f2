/* SPDX-License-Identifier: Apache-2.0
 *
 * A rough tokeniser for PTX and the few questions answered with it.
 */
#include "ptx/text.h"

#include <ctype.h>
#include <stdint.h>

static size_t skip_comment(struct pxr_str text, size_t at)
{
    const char *ptr = text.ptr + at;
    size_t left = text.len - at;
    if (left >= 2 && ptr[0] == '/' && ptr[1] == '/') {
        const char *end = memchr(ptr, '\n', left);
        return end ? (size_t)(end - text.ptr) : text.len;
    }
    if (left >= 2 && ptr[0] == '/' && ptr[1] == '*') {
        const char *end = memmem(ptr + 2, left - 2, "*/", 2);
        return end ? (size_t)(end - text.ptr) + 2 : text.len;
    }
    return at;
}

static size_t skip_blanks(struct pxr_str text, size_t at)
{
    for (;;) {
        size_t start = at;
        while (at < text.len && isspace((unsigned char)text.ptr[at]))
            at++;
        if (at < text.len)
            at = skip_comment(text, at);
        if (at == start)
            return at;
    }
}

static bool is_word_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%' || c == '.';
}

/* The next word, string or single character; empty at the end. */
static struct pxr_str next_token(struct ptx_text_scan *scan)
{
    struct pxr_str text = scan->text;
    size_t start = skip_blanks(text, scan->position);
    size_t end = start;
    if (start < text.len && is_word_char(text.ptr[start])) {
        while (end < text.len && is_word_char(text.ptr[end]))
            end++;
    } else if (start < text.len && text.ptr[start] == '"') {
        const char *quote = memchr(text.ptr + start + 1, '"', text.len - start - 1);
        end = quote ? (size_t)(quote - text.ptr) + 1 : text.len;
    } else if (start < text.len) {
        end = start + 1;
    }
    scan->position = end;
    return (struct pxr_str){text.ptr + start, end - start};
}

/* Moves behind the bracket that closes the one just read. */
static void skip_group(struct ptx_text_scan *scan, char open, char close)
{
    size_t depth = 1;
    while (depth > 0) {
        struct pxr_str token = next_token(scan);
        if (token.len == 0)
            return;
        if (token.len == 1 && token.ptr[0] == open)
            depth++;
        else if (token.len == 1 && token.ptr[0] == close)
            depth--;
    }
}

/* Reads digits from *text on, at most 4 of them, and moves behind them. */
static unsigned take_number(struct pxr_str *text)
{
    unsigned value = 0;
    for (int digits = 0; digits < 4 && text->len && isdigit((unsigned char)*text->ptr); digits++) {
        value = value * 10 + (unsigned)(*text->ptr - '0');
        text->ptr++;
        text->len--;
    }
    return value;
}

static bool starts_with(struct pxr_str text, const char *prefix)
{
    size_t len = strlen(prefix);
    return text.len >= len && memcmp(text.ptr, prefix, len) == 0;
}

struct ptx_text_header ptx_text_read_header(struct pxr_str text)
{
    struct ptx_text_header header = {0};
    struct ptx_text_scan scan = {.text = text};
    if (!pxr_str_is(next_token(&scan), ".version"))
        return header;
    header.is_ptx = true;
    struct pxr_str version = next_token(&scan);
    header.version_major = take_number(&version);
    if (starts_with(version, ".")) {
        version.ptr++;
        version.len--;
        header.version_minor = take_number(&version);
    }
    if (!pxr_str_is(next_token(&scan), ".target"))
        return header;
    struct pxr_str target = next_token(&scan);
    if (!starts_with(target, "sm_"))
        return header;
    target.ptr += 3;
    target.len -= 3;
    header.target = take_number(&target);
    if (target.len == 1 && (*target.ptr == 'a' || *target.ptr == 'f'))
        header.target_suffix = *target.ptr;
    return header;
}

bool ptx_text_next_function(struct ptx_text_scan *scan, struct ptx_text_function *function)
{
    struct pxr_str token = next_token(scan);
    while (token.len > 0 && !pxr_str_is(token, ".entry") && !pxr_str_is(token, ".func")) {
        if (pxr_str_is(token, "{"))
            skip_group(scan, '{', '}');
        token = next_token(scan);
    }
    if (token.len == 0)
        return false;
    *function = (struct ptx_text_function){.is_entry = pxr_str_is(token, ".entry")};
    token = next_token(scan);
    while (pxr_str_is(token, ".noreturn") || pxr_str_is(token, "(")) {
        if (pxr_str_is(token, "(")) // results come before the name
            skip_group(scan, '(', ')');
        token = next_token(scan);
    }
    function->name = token;
    while (token.len > 0 && !pxr_str_is(token, ";") && !pxr_str_is(token, "{"))
        token = next_token(scan);
    if (pxr_str_is(token, "{")) {
        function->has_body = true;
        skip_group(scan, '{', '}');
    }
    return function->name.len > 0;
}

bool ptx_text_is_device_runtime(struct pxr_str text)
{
    static const char *const NAMES[] = {"cudaGetParameterBufferV2", "__cudaCDP2LaunchDeviceV2"};
    unsigned wanted = 0;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        // Cheap for the ordinary program, which mentions none of them.
        if (!memmem(text.ptr, text.len, NAMES[i], strlen(NAMES[i])))
            return false;
        wanted++;
    }
    struct ptx_text_scan scan = {.text = text};
    struct ptx_text_function function;
    while (wanted > 0 && ptx_text_next_function(&scan, &function)) {
        for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
            if (function.has_body && pxr_str_is(function.name, NAMES[i]))
                wanted--;
        }
    }
    return wanted == 0;
}
