/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the comments of a case file.
 */
#include "tests/shapes/case.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/shapes/formula.h"

#define MAX_FILE_BYTES   (16U << 20)
#define MAX_BUFFER_BYTES (16U << 20)
#define BUFFER_ALIGN     256

struct reader {
    struct ptx_case *c;
    struct pxr_error *err;
    int line;
};

static bool fail(struct reader *r, const char *message)
{
    pxr_fail_at(r->err, PXR_INVALID_ARGUMENT, r->line, 0, "%s:%d: %s", r->c->path, r->line,
                message);
    return false;
}

/* ---- contents ---- */

static void put_element(const struct case_arg *arg, uint8_t *to, size_t index, int64_t value)
{
    uint64_t bits = (uint64_t)value;
    if (arg->is_float && arg->elem_bytes == 4) {
        float number = (float)value;
        memcpy(&bits, &number, sizeof number);
    } else if (arg->is_float) {
        double number = (double)value;
        memcpy(&bits, &number, sizeof number);
    }
    memcpy(to + index * arg->elem_bytes, &bits, arg->elem_bytes);
}

/* "{ item, item*count, … }": the items, repeated from the beginning when they are too few. */
static bool read_list(struct reader *r, const struct case_arg *arg, const char *text, uint8_t *to)
{
    size_t count = arg->bytes / arg->elem_bytes;
    size_t filled = 0;
    for (const char *at = text + 1; *at != '}';) {
        char *end;
        while (isspace((unsigned char)*at) || *at == ',')
            at++;
        if (*at == '}')
            break;
        int64_t value = *at == '-' ? strtoll(at, &end, 0) : (int64_t)strtoull(at, &end, 0);
        size_t repeat = 1;
        if (end == at)
            return fail(r, "a number was expected in the list");
        if (*end == '*')
            repeat = strtoul(end + 1, &end, 0);
        for (; repeat && filled < count; repeat--)
            put_element(arg, to, filled++, value);
        if (repeat)
            return fail(r, "the list has more elements than the buffer");
        at = end;
    }
    if (!filled)
        return fail(r, "the list is empty");
    for (size_t n = filled; n < count; n++)
        memcpy(to + n * arg->elem_bytes, to + (n - filled) * arg->elem_bytes, arg->elem_bytes);
    return true;
}

static uint8_t *read_content(struct reader *r, const struct case_arg *arg, const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    uint8_t *to = pxr_arena_alloc(&r->c->arena, arg->bytes);
    if (!to) {
        fail(r, "out of memory");
        return NULL;
    }
    if (*text == '{')
        return read_list(r, arg, text, to) ? to : NULL;
    for (size_t n = 0; n < arg->bytes / arg->elem_bytes; n++) {
        int64_t value;
        if (!formula_eval(text, (int64_t)n, &value)) {
            fail(r, "not a formula");
            return NULL;
        }
        put_element(arg, to, n, value);
    }
    return to;
}

/* ---- lines ---- */

/* "u32 x 96 = content" */
static bool read_argument(struct reader *r, const char *text, bool is_buffer)
{
    static const struct {
        const char *name;
        unsigned bytes;
        bool is_float;
    } types[] = {{"u8", 1, false},  {"u16", 2, false}, {"u32", 4, false},
                 {"u64", 8, false}, {"f32", 4, true},  {"f64", 8, true}};
    char name[8] = "";
    unsigned long count = 1;
    const char *content = strchr(text, '=');
    if (!content || sscanf(text, " %7s x %lu", name, &count) < 1)
        return fail(r, "'TYPE x COUNT = CONTENT' was expected");
    if (r->c->arg_count == CASE_MAX_ARGS)
        return fail(r, "too many arguments");
    struct case_arg arg = {.is_buffer = is_buffer, .line = r->line};
    for (size_t n = 0; n < sizeof types / sizeof *types; n++) {
        if (strcmp(name, types[n].name) == 0) {
            arg.elem_bytes = types[n].bytes;
            arg.is_float = types[n].is_float;
        }
    }
    if (!arg.elem_bytes || count == 0 || count > MAX_BUFFER_BYTES / 8)
        return fail(r, "the type or the count is not possible");
    arg.bytes = count * arg.elem_bytes;
    arg.initial = read_content(r, &arg, content + 1);
    r->c->args[r->c->arg_count] = arg;
    r->c->arg_count += arg.initial != NULL;
    return arg.initial != NULL;
}

static bool read_expect(struct reader *r, const char *text)
{
    struct case_arg *arg = r->c->arg_count ? &r->c->args[r->c->arg_count - 1] : NULL;
    if (!arg || !arg->is_buffer || arg->expected)
        return fail(r, "'expect' follows the buffer it is about");
    while (isspace((unsigned char)*text))
        text++;
    arg->expected = strncmp(text, "same", 4) == 0 ? arg->initial : read_content(r, arg, text);
    return arg->expected != NULL;
}

/* Up to three numbers after a keyword; returns where they end. */
static const char *read_dimensions(const char *text, uint32_t dims[3])
{
    for (int n = 0; n < 3; n++) {
        char *end;
        unsigned long value = strtoul(text, &end, 10);
        if (end == text)
            break;
        dims[n] = (uint32_t)value;
        text = end;
    }
    return text;
}

static bool read_launch(struct reader *r, const char *text)
{
    struct ptx_case *c = r->c;
    for (;;) {
        while (isspace((unsigned char)*text))
            text++;
        if (strncmp(text, "grid", 4) == 0) {
            text = read_dimensions(text + 4, c->grid);
        } else if (strncmp(text, "block", 5) == 0) {
            text = read_dimensions(text + 5, c->block);
        } else if (strncmp(text, "shared", 6) == 0) {
            uint32_t sizes[3] = {0};
            text = read_dimensions(text + 6, sizes);
            c->dynamic_shared_bytes = sizes[0];
        } else if (*text == '\0') {
            return true;
        } else {
            return fail(r, "'grid', 'block' or 'shared' was expected");
        }
    }
}

static bool read_line(struct reader *r, const char *text)
{
    static const char *const keywords[] = {
        "launch:", "buffer:", "value:", "expect:", "kernel:", "lock-step", "fault"};
    size_t which = 0;
    size_t count = sizeof keywords / sizeof *keywords;
    while (which < count && strncmp(text, keywords[which], strlen(keywords[which])) != 0)
        which++;
    if (which == count)
        return true;
    text += strlen(keywords[which]);
    switch (which) {
    case 0:
        return read_launch(r, text);
    case 1:
    case 2:
        return read_argument(r, text, which == 1);
    case 3:
        return read_expect(r, text);
    case 4:
        return sscanf(text, " %127s", r->c->kernel) == 1 || fail(r, "a name was expected");
    case 5:
        r->c->needs_lock_step = true;
        return true;
    default:
        r->c->expects_fault = true;
        return true;
    }
}

/* One comment, or several where a list goes on to the next lines; *text moves behind it. NULL: not
 * a comment. */
static char *next_comment(struct reader *r, const char **text)
{
    size_t capacity = strcspn(*text, "\n") + 1;
    bool is_comment = strncmp(*text, "//", 2) == 0;
    if (is_comment && memchr(*text, '{', capacity) && strchr(*text, '}'))
        capacity = (size_t)(strchr(*text, '}') - *text) + 2;
    char *comment = is_comment ? pxr_arena_alloc(&r->c->arena, capacity) : NULL;
    size_t len = 0;
    do {
        const char *line = *text;
        size_t line_len = strcspn(line, "\n");
        bool starts = line_len >= 2 && strncmp(line, "//", 2) == 0;
        size_t skip = starts ? 2 : 0;
        if (comment && len + line_len - skip < capacity) {
            memcpy(comment + len, line + skip, line_len - skip);
            len += line_len - skip;
        }
        *text += line_len + (line[line_len] == '\n');
        r->line++;
    } while (comment && strchr(comment, '{') && !strchr(comment, '}') && **text);
    while (comment && isspace((unsigned char)*comment))
        comment++;
    return comment;
}

static bool read_comments(struct reader *r)
{
    const char *at = r->c->text;
    while (*at) {
        char *comment = next_comment(r, &at);
        if (comment && !read_line(r, comment))
            return false;
    }
    return true;
}

/* ---- files ---- */

enum pxr_status case_parse(const char *path, const char *text, struct ptx_case *c,
                           struct pxr_error *err)
{
    *c = (struct ptx_case){.path = path, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    pxr_arena_init(&c->arena, 0);
    c->text_len = strlen(text);
    c->text = pxr_arena_strndup(&c->arena, text, c->text_len);
    if (!c->text)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "%s: out of memory", path);
    struct reader r = {c, err, 0};
    return read_comments(&r) ? PXR_OK : PXR_INVALID_ARGUMENT;
}

enum pxr_status case_load(const char *path, struct ptx_case *c, struct pxr_error *err)
{
    *c = (struct ptx_case){.path = path};
    FILE *file = fopen(path, "rb");
    char *text = file ? malloc(MAX_FILE_BYTES) : NULL;
    if (!text) {
        if (file)
            fclose(file);
        return pxr_fail(err, PXR_IO, "%s: cannot be read", path);
    }
    size_t len = fread(text, 1, MAX_FILE_BYTES - 1, file);
    fclose(file);
    text[len] = '\0';
    enum pxr_status status = case_parse(path, text, c, err);
    free(text);
    return status;
}

void case_fini(struct ptx_case *c)
{
    pxr_arena_fini(&c->arena);
}

/* ---- memory of a run ---- */

bool case_memory_init(const struct ptx_case *c, struct case_memory *memory)
{
    *memory = (struct case_memory){0};
    for (size_t n = 0; n < c->arg_count; n++) {
        const struct case_arg *arg = &c->args[n];
        if (!arg->is_buffer)
            continue;
        size_t rounded = (arg->bytes + BUFFER_ALIGN - 1) / BUFFER_ALIGN * BUFFER_ALIGN;
        memory->bytes[n] = aligned_alloc(BUFFER_ALIGN, rounded);
        if (!memory->bytes[n]) {
            case_memory_fini(memory);
            return false;
        }
        memcpy(memory->bytes[n], arg->initial, arg->bytes);
    }
    return true;
}

void case_memory_fini(struct case_memory *memory)
{
    for (size_t n = 0; n < CASE_MAX_ARGS; n++)
        free(memory->bytes[n]);
    *memory = (struct case_memory){0};
}

bool case_memory_check(const struct ptx_case *c, const struct case_memory *memory,
                       struct pxr_error *err)
{
    for (size_t n = 0; n < c->arg_count; n++) {
        const struct case_arg *arg = &c->args[n];
        if (!arg->expected)
            continue;
        for (size_t at = 0; at < arg->bytes; at += arg->elem_bytes) {
            uint64_t want = 0;
            uint64_t got = 0;
            memcpy(&want, arg->expected + at, arg->elem_bytes);
            memcpy(&got, memory->bytes[n] + at, arg->elem_bytes);
            if (want != got) {
                pxr_fail(err, PXR_INVALID_ARGUMENT,
                         "argument %zu, element %zu: want 0x%" PRIx64 " (%" PRId64
                         "), got 0x%" PRIx64 " (%" PRId64 ")",
                         n, at / arg->elem_bytes, want, (int64_t)want, got, (int64_t)got);
                return false;
            }
        }
    }
    return true;
}
