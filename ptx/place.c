/* SPDX-License-Identifier: Apache-2.0
 *
 * See place.h. The parser has checked the directives and keeps them as text: only who asks for a
 * place reads them.
 */
#include "ptx/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static struct pxr_str skip_spaces(struct pxr_str text)
{
    while (text.len > 0 && is_space(*text.ptr)) {
        text.ptr++;
        text.len--;
    }
    return text;
}

/* Takes the directive's name off the text, which begins with a dot. */
static bool take_name(struct pxr_str *text, const char *name)
{
    size_t len = strlen(name);
    if (text->len <= len || memcmp(text->ptr, name, len) != 0 || !is_space(text->ptr[len]))
        return false;
    *text = (struct pxr_str){.ptr = text->ptr + len, .len = text->len - len};
    return true;
}

static bool take_number(struct pxr_str *text, uint32_t *number)
{
    struct pxr_str rest = skip_spaces(*text);
    uint64_t value = 0;
    size_t len = 0;
    for (; len < rest.len && rest.ptr[len] >= '0' && rest.ptr[len] <= '9'; len++) {
        value = value * 10 + (uint64_t)(rest.ptr[len] - '0');
        if (value > UINT32_MAX)
            return false;
    }
    *text = (struct pxr_str){.ptr = rest.ptr + len, .len = rest.len - len};
    *number = (uint32_t)value;
    return len > 0;
}

/* A string in quotes, without them. */
static bool take_string(struct pxr_str *text, struct pxr_str *string)
{
    struct pxr_str rest = skip_spaces(*text);
    if (rest.len == 0 || *rest.ptr != '"')
        return false;
    const char *end = memchr(rest.ptr + 1, '"', rest.len - 1);
    if (!end)
        return false;
    *string = (struct pxr_str){.ptr = rest.ptr + 1, .len = (size_t)(end - rest.ptr - 1)};
    *text = (struct pxr_str){.ptr = end + 1, .len = rest.len - (size_t)(end + 1 - rest.ptr)};
    return true;
}

/* ---- .file ---- */

/* .file number "name", or .file number "folder" "name". */
static bool read_file(struct pxr_str text, uint32_t wanted, struct ptx_place *place)
{
    uint32_t number;
    struct pxr_str first;
    if (!take_name(&text, ".file") || !take_number(&text, &number) || number != wanted ||
        !take_string(&text, &first))
        return false;
    place->folder = (struct pxr_str){0};
    place->file = first;
    struct pxr_str second;
    if (take_string(&text, &second)) {
        place->folder = first;
        place->file = second;
    }
    return true;
}

static bool find_file(const struct ptx_module *module, uint32_t number, struct ptx_place *place)
{
    for (uint32_t i = 0; i < module->item_count; i++) {
        const struct ptx_item *item = &module->items[i];
        if (item->kind == PTX_ITEM_DIRECTIVE && read_file(item->text, number, place))
            return true;
    }
    return false;
}

/* ---- .loc ---- */

/* The function with the body in which the line is: the last one that begins before it. */
static const struct ptx_func *find_function(const struct ptx_module *module, int line)
{
    const struct ptx_func *found = NULL;
    for (uint32_t i = 0; i < module->func_count; i++) {
        const struct ptx_func *func = module->funcs[i];
        if (func->has_body && func->line <= line && (!found || func->line > found->line))
            found = func;
    }
    return found;
}

/* How many statements begin at or before the line. */
static uint32_t count_before(const struct ptx_func *func, int line)
{
    uint32_t first = 0;
    uint32_t end = func->stmt_count;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (func->stmts[middle].line <= line)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Line 0 says that the code has no place. */
static bool read_loc(struct pxr_str text, uint32_t *file, struct ptx_place *place)
{
    return take_name(&text, ".loc") && take_number(&text, file) &&
           take_number(&text, &place->line) && take_number(&text, &place->column);
}

/* … , function_name LABEL, inlined_at file line column */
static bool read_inlined_at(struct pxr_str text, uint32_t *file, struct ptx_place *place)
{
    static const char word[] = "inlined_at";
    const char *at = memmem(text.ptr, text.len, word, sizeof word - 1);
    if (!at)
        return false;
    at += sizeof word - 1;
    text = (struct pxr_str){.ptr = at, .len = text.len - (size_t)(at - text.ptr)};
    return take_number(&text, file) && take_number(&text, &place->line) &&
           take_number(&text, &place->column);
}

/* The last .loc before statement *at, which becomes its own; false: none. */
static bool find_loc(const struct ptx_func *func, uint32_t *at, uint32_t *file,
                     struct ptx_place *place)
{
    while (*at > 0) {
        const struct ptx_stmt *stmt = &func->stmts[--*at];
        if (stmt->kind == PTX_STMT_DIRECTIVE && read_loc(stmt->text, file, place))
            return true;
    }
    return false;
}

/* The same of one for this place, which the code before may tell: where the caller is inlined, too.
 */
static bool find_loc_of(const struct ptx_func *func, uint32_t *at, uint32_t file, uint32_t line)
{
    struct ptx_place place;
    uint32_t other;
    while (find_loc(func, at, &other, &place))
        if (other == file && place.line == line)
            return true;
    return false;
}

static bool find(const struct ptx_module *module, int line, unsigned depth, struct ptx_place *place)
{
    const struct ptx_func *func = find_function(module, line);
    uint32_t at = func ? count_before(func, line) : 0;
    uint32_t file;
    *place = (struct ptx_place){0};
    if (!find_loc(func, &at, &file, place))
        return false;
    for (unsigned step = 0; step < depth; step++)
        if ((step > 0 && !find_loc_of(func, &at, file, place->line)) ||
            !read_inlined_at(func->stmts[at].text, &file, place))
            return false;
    return place->line > 0 && find_file(module, file, place);
}

bool ptx_find_place(const struct ptx_module *module, int line, struct ptx_place *place)
{
    return find(module, line, 0, place);
}

bool ptx_find_caller(const struct ptx_module *module, int line, unsigned depth,
                     struct ptx_place *place)
{
    return find(module, line, depth, place);
}

void ptx_place_text(const struct ptx_place *place, char text[PTX_PLACE_TEXT_BYTES])
{
    snprintf(text, PTX_PLACE_TEXT_BYTES, "%.*s%s%.*s:%" PRIu32, PXR_STR_ARG(place->folder),
             place->folder.len > 0 ? "/" : "", PXR_STR_ARG(place->file), place->line);
}
