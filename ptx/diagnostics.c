/* SPDX-License-Identifier: Apache-2.0
 *
 * Tells errors: the first with the source line it is about, the others in a line each.
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

/* By position; errors at one place keep the order in which they were found. */
static void sort(struct ptx_diagnostic *list, unsigned count)
{
    for (unsigned i = 1; i < count; i++) {
        struct ptx_diagnostic item = list[i];
        unsigned place = i;

        for (; place > 0 &&
               (list[place - 1].line > item.line ||
                (list[place - 1].line == item.line && list[place - 1].column > item.column));
             place--)
            list[place] = list[place - 1];
        list[place] = item;
    }
}

/* The room that is kept for "… and 19 more errors". */
#define LAST_LINE_BYTES 40

/* Adds the further errors to the message, as many as fit. */
static void append_rest(const struct ptx_module *module, const struct ptx_diagnostic *list,
                        unsigned count, struct pxr_error *err)
{
    size_t used = strlen(err->message);
    char line[512];

    for (unsigned i = 0; i < count; i++) {
        size_t len;

        snprintf(line, sizeof(line), "\n%.200s:%d:%d: error: %s", module->source_name, list[i].line,
                 list[i].column, list[i].message);
        len = strlen(line);
        if (used + len + LAST_LINE_BYTES > sizeof(err->message)) {
            snprintf(err->message + used, sizeof(err->message) - used, "\n... and %u more errors",
                     count - i);
            return;
        }
        memcpy(err->message + used, line, len + 1);
        used += len;
    }
}

/* Not after a wrong .version, when everything counts as old enough. */
static bool is_newer(const struct ptx_module *module)
{
    return module->version > PTX_NEWEST_VERSION && module->version != UINT16_MAX;
}

/* Describes what a text of a later version adds to its first error; else nothing. */
static void describe_version(const struct ptx_module *module, char *text, size_t size_bytes)
{
    text[0] = '\0';
    if (is_newer(module))
        snprintf(text, size_bytes, " (the text is of PTX ISA %u.%u; known is %u.%u)",
                 module->version / 10, module->version % 10, PTX_NEWEST_VERSION / 10,
                 PTX_NEWEST_VERSION % 10);
}

enum pxr_status ptx_report(const struct ptx_module *module, struct ptx_diagnostic *list,
                           unsigned count, struct pxr_error *err)
{
    char excerpt[EXCERPT_BYTES + 1];
    char caret[EXCERPT_BYTES + 2];
    char version[80];
    enum pxr_status status = is_newer(module) ? PXR_NEWER_PTX : PXR_BAD_PTX;

    if (!err)
        return status;
    sort(list, count);
    format_excerpt(line_at(module->text, list->line), list->column, excerpt, caret);
    describe_version(module, version, sizeof(version));
    pxr_fail_at(err, status, list->line, list->column, "%.200s:%d:%d: error: %s%s\n  %s\n  %s",
                module->source_name, list->line, list->column, list->message, version, excerpt,
                caret);
    append_rest(module, list + 1, count - 1, err);
    return status;
}
