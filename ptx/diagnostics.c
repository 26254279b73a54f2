/* SPDX-License-Identifier: Apache-2.0
 *
 * Formats an error with the source line it is about.
 */
#include "ptx/diagnostics.h"

#include <stdio.h>

#define EXCERPT_BYTES 120

static struct pxr_str line_at(struct pxr_str text, int line)
{
    const char *cur = text.ptr;
    const char *end = text.ptr + text.len;
    const char *stop;

    for (int i = 1; i < line && cur < end; i++) {
        const char *newline = memchr(cur, '\n', (size_t)(end - cur));

        cur = newline ? newline + 1 : end;
    }
    stop = memchr(cur, '\n', (size_t)(end - cur));
    return (struct pxr_str){cur, (size_t)((stop ? stop : end) - cur)};
}

/* The part of the line around the column, with one character per column so that the caret fits. */
static void format_excerpt(struct pxr_str line, int column, char *excerpt, char *caret)
{
    size_t at = (size_t)(column - 1) < line.len ? (size_t)(column - 1) : line.len;
    size_t first = at > EXCERPT_BYTES - 20 ? at - (EXCERPT_BYTES - 20) : 0;
    size_t len = line.len - first < EXCERPT_BYTES ? line.len - first : EXCERPT_BYTES;

    for (size_t i = 0; i < len; i++) {
        char c = line.ptr[first + i];

        excerpt[i] = c >= ' ' && c <= '~' ? c : c == '\t' || c == '\r' ? ' ' : '?';
    }
    excerpt[len] = '\0';
    memset(caret, ' ', at - first);
    caret[at - first] = '^';
    caret[at - first + 1] = '\0';
}

enum pxr_status ptx_diagnose(const struct ptx_module *module, int line, int column,
                             struct pxr_error *err, const char *format, va_list args)
{
    char message[512];
    char excerpt[EXCERPT_BYTES + 1];
    char caret[EXCERPT_BYTES + 2];

    if (!err)
        return PXR_BAD_PTX;
    vsnprintf(message, sizeof(message), format, args);
    format_excerpt(line_at(module->text, line), column, excerpt, caret);
    return pxr_fail_at(err, PXR_BAD_PTX, line, column, "%.200s:%d:%d: error: %s\n  %s\n  %s",
                       module->source_name, line, column, message, excerpt, caret);
}
