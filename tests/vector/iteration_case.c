/* SPDX-License-Identifier: Apache-2.0
 *
 * See iteration_case.h.
 */
#include "tests/vector/iteration_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const fill_names[ITERATION_FILL_COUNT] = {"bits", "small", "f32",
                                                             "f64",  "f16",   "zero"};
static const char *const limit_names[] = {"all", "half", "row"};
static const char *const expectation_names[] = {"widened", "scalar", "fault"};

void iteration_case_init(struct iteration_case *c)
{
    static const uint32_t row_lengths[] = {1, 7, 16, 33, 96};
    static const uint32_t rows[] = {1, 3, 4};
    *c = (struct iteration_case){.limit_count = 1, .row_length_count = 5, .rows_count = 3};
    memcpy(c->row_lengths, row_lengths, sizeof row_lengths);
    memcpy(c->rows, rows, sizeof rows);
    for (int i = 0; i < ITERATION_ARRAYS; i++)
        c->arrays[i].thread_bytes = 4;
}

void iteration_case_fini(struct iteration_case *c)
{
    free(c->text);
    c->text = NULL;
}

/* ---- reading ---- */

/* Which of the names the text begins with; count: none of them. */
static uint32_t find_name(const char *const *names, uint32_t count, const char *text)
{
    uint32_t n = 0;
    while (n < count && strncmp(text, names[n], strlen(names[n])) != 0)
        n++;
    return n;
}

/* "1,7,16" up to a blank. */
static bool parse_numbers(const char *text, uint32_t *numbers, uint32_t *count)
{
    *count = 0;
    while (*count < ITERATION_SIZES) {
        char *end;
        numbers[(*count)++] = (uint32_t)strtoul(text, &end, 10);
        if (end == text)
            return false;
        if (*end != ',')
            return *end == '\0' || *end == ' ';
        text = end + 1;
    }
    return false;
}

static bool parse_limits(struct iteration_case *c, const char *text)
{
    for (c->limit_count = 0; c->limit_count < ITERATION_SIZES; text++) {
        uint32_t kind = find_name(limit_names, ITERATION_NUMBER, text);
        c->limits[c->limit_count].kind = (enum iteration_limit)kind;
        if (kind == ITERATION_NUMBER)
            c->limits[c->limit_count].number = (uint32_t)strtoul(text, NULL, 10);
        c->limit_count++;
        text += strcspn(text, ", ");
        if (*text != ',')
            return true;
    }
    return false;
}

static bool parse_run(struct iteration_case *c, const char *word)
{
    if (strncmp(word, "nx=", 3) == 0)
        return parse_numbers(word + 3, c->row_lengths, &c->row_length_count);
    if (strncmp(word, "ny=", 3) == 0)
        return parse_numbers(word + 3, c->rows, &c->rows_count);
    return strncmp(word, "n=", 2) == 0 && parse_limits(c, word + 2);
}

/* "c=8+64:small" */
static bool parse_array(struct iteration_case *c, const char *word)
{
    if (word[0] < 'a' || word[0] >= 'a' + ITERATION_ARRAYS || word[1] != '=')
        return false;
    struct iteration_array *array = &c->arrays[word[0] - 'a'];
    char *end;
    *array = (struct iteration_array){.thread_bytes = (uint32_t)strtoul(word + 2, &end, 10)};
    if (*end == '+')
        array->fixed_bytes = (uint32_t)strtoul(end + 1, &end, 10);
    if (*end != ':')
        return *end == '\0';
    array->fill = (enum iteration_fill)find_name(fill_names, ITERATION_FILL_COUNT, end + 1);
    return array->fill < ITERATION_FILL_COUNT;
}

static bool parse_nest(struct iteration_case *c, const char *word)
{
    c->is_row_only = strcmp(word, "x") == 0;
    return c->is_row_only || strcmp(word, "yx") == 0;
}

static bool parse_expectation(struct iteration_case *c, const char *word)
{
    uint32_t which = find_name(expectation_names, 3, word);
    c->expectation = (enum iteration_expectation)which;
    return which < 3;
}

static const struct {
    const char *key;
    bool (*parse)(struct iteration_case *c, const char *word);
} keys[] = {{"; run:", parse_run},
            {"; arrays:", parse_array},
            {"; nest:", parse_nest},
            {"; expect:", parse_expectation}};

static bool parse_line(struct iteration_case *c, char *line)
{
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        size_t len = strlen(keys[k].key);
        if (strncmp(line, keys[k].key, len) != 0)
            continue;
        char *rest = NULL;
        for (char *word = strtok_r(line + len, " ", &rest); word != NULL;
             word = strtok_r(NULL, " ", &rest))
            if (!keys[k].parse(c, word))
                return false;
    }
    return true;
}

enum pxr_status iteration_case_parse(struct iteration_case *c, const char *text,
                                     struct pxr_error *err)
{
    for (const char *at = text; *at == ';';) {
        char line[256];
        size_t len = strcspn(at, "\n");
        snprintf(line, sizeof line, "%.*s", (int)len, at);
        if (!parse_line(c, line))
            return pxr_fail(err, PXR_INVALID_ARGUMENT, "%s: not understood: %.*s", c->name,
                            (int)len, at);
        at += len + (at[len] == '\n');
    }
    return PXR_OK;
}

static char *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    char *text = NULL;
    FILE *copy = open_memstream(&text, bytes);
    char buffer[4096];
    size_t got;
    while (copy != NULL && (got = fread(buffer, 1, sizeof buffer, file)) > 0)
        fwrite(buffer, 1, got, copy);
    fclose(file);
    if (copy != NULL)
        fclose(copy);
    return text;
}

enum pxr_status iteration_case_load(struct iteration_case *c, const char *path,
                                    struct pxr_error *err)
{
    iteration_case_init(c);
    const char *slash = strrchr(path, '/');
    snprintf(c->name, sizeof c->name, "%s", slash ? slash + 1 : path);
    char *dot = strrchr(c->name, '.');
    if (dot != NULL)
        *dot = '\0';
    c->text = read_file(path, &c->text_bytes);
    if (c->text == NULL)
        return pxr_fail(err, PXR_NOT_FOUND, "cannot read %s", path);
    return iteration_case_parse(c, c->text, err);
}

/* ---- writing ---- */

void iteration_case_print(const struct iteration_case *c)
{
    printf("; run: nx=");
    for (uint32_t i = 0; i < c->row_length_count; i++)
        printf("%s%u", i ? "," : "", c->row_lengths[i]);
    printf(" ny=");
    for (uint32_t i = 0; i < c->rows_count; i++)
        printf("%s%u", i ? "," : "", c->rows[i]);
    printf(" n=");
    for (uint32_t i = 0; i < c->limit_count; i++)
        if (c->limits[i].kind == ITERATION_NUMBER)
            printf("%s%u", i ? "," : "", c->limits[i].number);
        else
            printf("%s%s", i ? "," : "", limit_names[c->limits[i].kind]);
    printf("\n; arrays:");
    for (int i = 0; i < ITERATION_ARRAYS; i++)
        printf(" %c=%u+%u:%s", 'a' + i, c->arrays[i].thread_bytes, c->arrays[i].fixed_bytes,
               fill_names[c->arrays[i].fill]);
    printf("\n; nest: %s\n; expect: %s\n", c->is_row_only ? "x" : "yx",
           expectation_names[c->expectation]);
}

/* ---- sizes ---- */

uint32_t iteration_case_size_count(const struct iteration_case *c)
{
    return c->row_length_count * (c->is_row_only ? 1 : c->rows_count) * c->limit_count;
}

struct iteration_size iteration_case_size(const struct iteration_case *c, uint32_t number)
{
    struct iteration_size size = {.nx = c->row_lengths[number % c->row_length_count], .ny = 1};
    number /= c->row_length_count;
    uint32_t limit = number % c->limit_count;
    if (!c->is_row_only)
        size.ny = c->rows[number / c->limit_count];
    switch (c->limits[limit].kind) {
    case ITERATION_ALL:
        size.n = size.nx * size.ny;
        break;
    case ITERATION_HALF:
        size.n = size.nx * size.ny / 2;
        break;
    case ITERATION_ROW:
        size.n = size.nx;
        break;
    case ITERATION_NUMBER:
        size.n = c->limits[limit].number;
        break;
    }
    return size;
}

uint32_t iteration_array_bytes(const struct iteration_array *array,
                               const struct iteration_size *size)
{
    return array->thread_bytes * size->nx * size->ny + array->fixed_bytes;
}
