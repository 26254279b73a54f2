/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a program prints the same in all settings.
 */
#include "tools/bench/outputs.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct output output_read(const char *path)
{
    struct output output = {.text = malloc(OUTPUT_MAX_BYTES + 1)};
    FILE *file = fopen(path, "re");
    if (file) {
        output.size = fread(output.text, 1, OUTPUT_MAX_BYTES, file);
        fclose(file);
    }
    output.text = realloc(output.text, output.size + 1);
    output.text[output.size] = '\0';
    return output;
}

void output_free(struct output *output)
{
    free(output->text);
    *output = (struct output){0};
}

/* ---- lines ---- */

struct line {
    const char *text;
    size_t size;
};

/* The next line from *at on; false at the end. */
static bool next_line(const struct output *output, size_t *at, struct line *line)
{
    if (*at >= output->size)
        return false;
    const char *text = output->text + *at;
    const char *end = memchr(text, '\n', output->size - *at);
    line->text = text;
    line->size = end ? (size_t)(end - text) : output->size - *at;
    *at += line->size + 1;
    return true;
}

static bool is_same(const struct line *a, const struct line *b)
{
    return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

static size_t skip_digits(const struct line *line, size_t at)
{
    while (at < line->size && isdigit((unsigned char)line->text[at]))
        at++;
    return at;
}

/* Runs of digits are the same whatever they are. */
static bool is_same_but_digits(const struct line *a, const struct line *b)
{
    size_t i = 0, j = 0;
    while (i < a->size && j < b->size) {
        size_t digits_a = skip_digits(a, i), digits_b = skip_digits(b, j);
        if ((digits_a > i) != (digits_b > j))
            return false;
        if (digits_a == i && a->text[i++] != b->text[j++])
            return false;
        if (digits_a > i)
            i = digits_a, j = digits_b;
    }
    return i == a->size && j == b->size;
}

/* ---- comparing ---- */

void outputs_init(struct outputs *outputs, struct output first)
{
    *outputs = (struct outputs){.first = first};
    struct line line;
    for (size_t at = 0; next_line(&first, &at, &line);)
        outputs->lines++;
    outputs->is_unsteady = calloc(outputs->lines + 1, sizeof(bool));
}

void outputs_free(struct outputs *outputs)
{
    output_free(&outputs->first);
    free(outputs->is_unsteady);
}

void outputs_learn(struct outputs *outputs, const struct output *again)
{
    struct line line, other;
    size_t at = 0, other_at = 0, number = 0;
    for (; next_line(&outputs->first, &at, &line); number++) {
        if (!next_line(again, &other_at, &other)) {
            outputs->has_other_length = true;
            return;
        }
        if (!outputs->is_unsteady[number] && !is_same(&line, &other)) {
            outputs->is_unsteady[number] = true;
            outputs->unsteady_lines++;
        }
    }
    if (next_line(again, &other_at, &other))
        outputs->has_other_length = true;
}

size_t outputs_difference(const struct outputs *outputs, const struct output *other,
                          bool *is_number)
{
    struct line line, its;
    size_t at = 0, other_at = 0, number = 0;
    *is_number = false;
    for (; next_line(&outputs->first, &at, &line); number++) {
        if (!next_line(other, &other_at, &its))
            return number + 1;
        if (!outputs->is_unsteady[number] && !is_same(&line, &its)) {
            *is_number = is_same_but_digits(&line, &its);
            return number + 1;
        }
    }
    return next_line(other, &other_at, &its) ? number + 1 : 0;
}
