/* SPDX-License-Identifier: Apache-2.0
 *
 * Formatting of device printf (CUDA C++ Programming Guide, "Formatted Output"): flags, width,
 * precision, sizes h, l, ll and the types diouxXpcsfFeEgGaA. An argument lies at the next multiple
 * of its size; narrower integers have been promoted to int, float to double.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/code/printf.h"

#define SPEC_CAP 64

struct buffer {
    char *text;
    size_t len;
    size_t cap;
    bool has_failed;
};

/* Position in the argument block. */
struct arguments {
    const uint8_t *next;
    int count;
};

static bool reserve(struct buffer *buffer, size_t more)
{
    if (buffer->len + more <= buffer->cap)
        return !buffer->has_failed;
    size_t cap = (buffer->len + more) * 2;
    char *larger = realloc(buffer->text, cap);
    if (!larger) {
        buffer->has_failed = true;
        return false;
    }
    buffer->text = larger;
    buffer->cap = cap;
    return true;
}

static void append(struct buffer *buffer, const char *text, size_t len)
{
    if (!reserve(buffer, len))
        return;
    memcpy(buffer->text + buffer->len, text, len);
    buffer->len += len;
}

static const void *take(struct arguments *arguments, size_t size_bytes)
{
    uintptr_t at = ((uintptr_t)arguments->next + size_bytes - 1) & ~(uintptr_t)(size_bytes - 1);
    arguments->next = (const uint8_t *)at + size_bytes;
    arguments->count++;
    return (const void *)at;
}

static int take_int(struct arguments *arguments)
{
    return *(const int *)take(arguments, sizeof(int));
}

static long long take_long(struct arguments *arguments)
{
    return *(const long long *)take(arguments, sizeof(long long));
}

/* One conversion: % flags width . precision size type. */
struct spec {
    char text[SPEC_CAP]; /* as the host's printf takes it, with widths and precisions filled in */
    int len;
    int longs;    /* 1 for l, 2 for ll */
    bool is_half; /* h or hh */
    char type;
};

static void spec_put(struct spec *spec, char c)
{
    if (spec->len < SPEC_CAP - 8)
        spec->text[spec->len++] = c;
}

static void spec_put_int(struct spec *spec, int value)
{
    char digits[16];
    int len = snprintf(digits, sizeof digits, "%d", value);
    for (int i = 0; i < len; i++)
        spec_put(spec, digits[i]);
}

/* Digits or a star; returns the position after them. */
static const char *read_number(const char *at, struct spec *spec, struct arguments *arguments)
{
    if (*at == '*') {
        spec_put_int(spec, take_int(arguments));
        return at + 1;
    }
    while (*at >= '0' && *at <= '9')
        spec_put(spec, *at++);
    return at;
}

/* Reads the conversion that starts after a percent sign. */
static const char *read_spec(const char *at, struct spec *spec, struct arguments *arguments)
{
    *spec = (struct spec){.len = 0};
    spec_put(spec, '%');
    while (*at && strchr("-+ #0", *at))
        spec_put(spec, *at++);
    at = read_number(at, spec, arguments);
    if (*at == '.') {
        spec_put(spec, *at++);
        at = read_number(at, spec, arguments);
    }
    for (; *at && strchr("hlLqjzt", *at); at++) {
        if (*at == 'h')
            spec->is_half = true;
        else if (*at == 'l')
            spec->longs++;
        else
            spec->longs = 2;
    }
    spec->type = *at;
    return *at ? at + 1 : at;
}

static void print_integer(struct buffer *out, struct spec *spec, struct arguments *arguments)
{
    if (spec->longs) {
        spec_put(spec, 'l');
        spec_put(spec, 'l');
    } else if (spec->is_half) {
        spec_put(spec, 'h');
    }
    spec_put(spec, spec->type);
    spec->text[spec->len] = '\0';
    long long value = spec->longs ? take_long(arguments) : take_int(arguments);
    if (!reserve(out, 1024))
        return;
    size_t room = out->cap - out->len;
    int len = spec->longs ? snprintf(out->text + out->len, room, spec->text, value)
                          : snprintf(out->text + out->len, room, spec->text, (int)value);
    out->len += len < 0 ? 0 : (size_t)len < room ? (size_t)len : room - 1;
}

static void print_float(struct buffer *out, struct spec *spec, struct arguments *arguments)
{
    spec_put(spec, spec->type);
    spec->text[spec->len] = '\0';
    double value = *(const double *)take(arguments, sizeof value);
    if (!reserve(out, 2048))
        return;
    size_t room = out->cap - out->len;
    int len = snprintf(out->text + out->len, room, spec->text, value);
    out->len += len < 0 ? 0 : (size_t)len < room ? (size_t)len : room - 1;
}

static void print_string(struct buffer *out, struct spec *spec, struct arguments *arguments)
{
    spec_put(spec, 's');
    spec->text[spec->len] = '\0';
    const char *value = (const char *)(uintptr_t)take_long(arguments);
    if (!value)
        value = "(null)";
    int len = snprintf(NULL, 0, spec->text, value);
    if (len < 0 || !reserve(out, (size_t)len + 1))
        return;
    snprintf(out->text + out->len, (size_t)len + 1, spec->text, value);
    out->len += (size_t)len;
}

static void print_pointer(struct buffer *out, struct spec *spec, struct arguments *arguments)
{
    spec_put(spec, 'p');
    spec->text[spec->len] = '\0';
    void *value = (void *)(uintptr_t)take_long(arguments);
    if (!reserve(out, 1024))
        return;
    size_t room = out->cap - out->len;
    int len = snprintf(out->text + out->len, room, spec->text, value);
    out->len += len < 0 ? 0 : (size_t)len < room ? (size_t)len : room - 1;
}

static void print_spec(struct buffer *out, struct spec *spec, struct arguments *arguments)
{
    switch (spec->type) {
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
        print_integer(out, spec, arguments);
        break;
    case 'c':
        spec->longs = 0;
        spec->is_half = false;
        print_integer(out, spec, arguments);
        break;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        print_float(out, spec, arguments);
        break;
    case 's':
        print_string(out, spec, arguments);
        break;
    case 'p':
        print_pointer(out, spec, arguments);
        break;
    case '%':
        append(out, "%", 1);
        break;
    default: /* not a conversion: printed as it stands */
        append(out, spec->text, (size_t)spec->len);
        if (spec->type)
            append(out, &spec->type, 1);
        break;
    }
}

int crt_format(const char *format, const uint8_t *args, char **text, size_t *len)
{
    struct buffer out = {0};
    struct arguments arguments = {.next = args};
    reserve(&out, strlen(format) + 64);
    while (*format) {
        size_t plain = strcspn(format, "%");
        append(&out, format, plain);
        format += plain;
        if (!*format)
            break;
        struct spec spec;
        format = read_spec(format + 1, &spec, &arguments);
        print_spec(&out, &spec, &arguments);
    }
    if (out.has_failed) {
        free(out.text);
        out.text = NULL;
    }
    *text = out.text;
    *len = out.len;
    return arguments.count;
}
