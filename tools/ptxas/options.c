/* SPDX-License-Identifier: Apache-2.0
 *
 * See options.h.
 */
#include "tools/ptxas/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { FLAG, BOOLEAN, NUMBER, LEVEL, REGS, CACHE, TEXT, LIST };

static const struct {
    const char *long_name;
    const char *short_name;
    enum kind kind;
} TABLE[PTXAS_OPTION_COUNT] = {
#define OPTION(name, long_name, short_name, kind) {long_name, short_name, kind},
#include "tools/ptxas/options.def"
#undef OPTION
};

/* Option files may name option files. */
enum { MAX_DEPTH = 16, MAX_FILE_BYTES = 1 << 20 };

struct reader {
    struct ptxas_options *options;
    unsigned depth;
    struct pxr_error *err;
};

static enum pxr_status read_words(struct reader *reader, const char *const *words);

static bool append(struct ptxas_words *words, const char *word)
{
    const char **grown = reallocarray(words->at, words->count + 1, sizeof *words->at);
    if (!grown)
        return false;
    words->at = grown;
    words->at[words->count++] = word;
    return true;
}

static enum pxr_status fail_memory(struct reader *reader)
{
    return pxr_fail(reader->err, PXR_OUT_OF_MEMORY, "Out of memory");
}

static bool is_number(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

static enum pxr_status check_value(struct reader *reader, enum ptxas_option id, const char *value)
{
    const char *name = TABLE[id].long_name;
    switch (TABLE[id].kind) {
    case BOOLEAN:
        if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0)
            return pxr_fail(reader->err, PXR_INVALID_ARGUMENT, "'%s': expected true or false",
                            value);
        return PXR_OK;
    case REGS:
        if (!is_number(value) && strcmp(value, "archmax") != 0 && strcmp(value, "archmin") != 0)
            return pxr_fail(reader->err, PXR_INVALID_ARGUMENT, "Invalid value '%s' for option '%s'",
                            value, name);
        return PXR_OK;
    case LEVEL:
    case NUMBER:
        if (*value && !is_number(value))
            return pxr_fail(reader->err, PXR_INVALID_ARGUMENT, "'%s': expected a number", value);
        if (id == PTXAS_MACHINE && strcmp(value, "64") != 0)
            return pxr_fail(reader->err, PXR_INVALID_ARGUMENT,
                            "Value '%s' is not defined for option '%s'", value, name);
        return PXR_OK;
    default:
        return PXR_OK;
    }
}

/* Splits a text at white space, in place; "quoted words" are one. */
static bool split(char *text, struct ptxas_words *words)
{
    for (char *at = text; *(at += strspn(at, " \t\r\n"));) {
        char quote = *at == '"' || *at == '\'' ? *at++ : '\0';
        char ends[] = {quote, '\0'};
        if (!append(words, at))
            return false;
        at += strcspn(at, quote ? ends : " \t\r\n");
        if (*at)
            *at++ = '\0';
    }
    return append(words, NULL);
}

/* NULL when it cannot be read. */
static char *read_text(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = file ? calloc(1, MAX_FILE_BYTES + 1) : NULL;
    if (text && fread(text, 1, MAX_FILE_BYTES, file) == 0 && ferror(file)) {
        free(text);
        text = NULL;
    }
    if (file)
        fclose(file);
    return text;
}

static enum pxr_status read_options_file(struct reader *reader, const char *path)
{
    char *text = reader->depth < MAX_DEPTH ? read_text(path) : NULL;
    if (!text)
        return pxr_fail(reader->err, PXR_NOT_FOUND, "Could not open options file '%s'", path);
    struct ptxas_words words = {0};
    enum pxr_status status = PXR_OK;
    if (!append(&reader->options->owned, text)) {
        free(text);
        status = fail_memory(reader);
    } else if (!split(text, &words)) {
        status = fail_memory(reader);
    }
    reader->depth++;
    if (status == PXR_OK)
        status = read_words(reader, words.at);
    reader->depth--;
    free(words.at);
    return status;
}

static enum pxr_status take_value(struct reader *reader, enum ptxas_option id, const char *value)
{
    struct ptxas_options *options = reader->options;
    enum pxr_status status = check_value(reader, id, value);
    if (status != PXR_OK)
        return status;
    if (id == PTXAS_OPTIONS_FILE)
        return read_options_file(reader, value);
    struct ptxas_words *list = id == PTXAS_ENTRY          ? &options->entries
                               : id == PTXAS_INPUT_STRING ? &options->strings
                                                          : NULL;
    if (list)
        return append(list, value) ? PXR_OK : fail_memory(reader);
    const char *old = options->values[id];
    if (old && strcmp(old, value) != 0)
        fprintf(stderr,
                "ptxas warning : incompatible redefinition for option '%s', the last value of this "
                "option was used\n",
                TABLE[id].long_name);
    options->values[id] = value;
    return PXR_OK;
}

/* Levels are joined to their short names: -O3, -m64. */
static const char *joined_level(const char *name, enum ptxas_option id)
{
    size_t len = strlen(TABLE[id].short_name);
    bool is_joined = TABLE[id].kind == LEVEL && strncmp(name, TABLE[id].short_name, len) == 0 &&
                     name[len] != '=' && strcspn(name, "-=") == strlen(name);
    return is_joined ? name + len : NULL;
}

/* The option that an argument names; *value: what is written in the same argument, or NULL. */
static enum ptxas_option find(const char *word, const char **value)
{
    bool is_long = strncmp(word, "--", 2) == 0;
    const char *name = word + (is_long ? 2 : 1);
    size_t len = strcspn(name, "=");
    *value = name[len] ? name + len + 1 : NULL;
    for (int id = 0; id < PTXAS_OPTION_COUNT; id++) {
        const char *wanted = is_long ? TABLE[id].long_name : TABLE[id].short_name;
        if (strlen(wanted) == len && memcmp(name, wanted, len) == 0)
            return (enum ptxas_option)id;
    }
    for (int id = 0; id < PTXAS_OPTION_COUNT && !is_long; id++) {
        const char *level = joined_level(name, (enum ptxas_option)id);
        if (level) {
            *value = level;
            return (enum ptxas_option)id;
        }
    }
    return PTXAS_OPTION_COUNT;
}

/* Whether the value stands in the next argument. */
static bool takes_next(enum ptxas_option id, const char *word)
{
    switch (TABLE[id].kind) {
    case FLAG:
        return false;
    case LEVEL:
        return id != PTXAS_OPT_LEVEL || strncmp(word, "--", 2) == 0;
    default:
        return true;
    }
}

static enum pxr_status read_option(struct reader *reader, const char *const **at)
{
    const char *word = *(*at)++;
    const char *value;
    enum ptxas_option id = find(word, &value);
    if (id == PTXAS_OPTION_COUNT)
        return pxr_fail(reader->err, PXR_INVALID_ARGUMENT, "Unknown option '%.*s'",
                        (int)strcspn(word + 1, "="), word + 1);
    if (TABLE[id].kind == FLAG && value)
        return pxr_fail(reader->err, PXR_INVALID_ARGUMENT, "no argument expected after '%.*s'",
                        (int)(value - word - 1), word);
    if (!value && takes_next(id, word)) {
        value = **at;
        if (!value)
            return pxr_fail(reader->err, PXR_INVALID_ARGUMENT, "argument expected after '%s'",
                            word);
        ++*at;
    }
    return take_value(reader, id, value ? value : "");
}

static enum pxr_status read_words(struct reader *reader, const char *const *words)
{
    enum pxr_status status = PXR_OK;
    while (*words && status == PXR_OK) {
        if ((*words)[0] == '-' && (*words)[1])
            status = read_option(reader, &words);
        else if (!append(&reader->options->inputs, *words++))
            status = fail_memory(reader);
    }
    return status;
}

enum pxr_status ptxas_options_read(char **arguments, struct ptxas_options *options,
                                   struct pxr_error *err)
{
    *options = (struct ptxas_options){0};
    struct reader reader = {.options = options, .err = err};
    return read_words(&reader, (const char *const *)arguments);
}

void ptxas_options_fini(struct ptxas_options *options)
{
    for (size_t i = 0; i < options->owned.count; i++)
        free((void *)options->owned.at[i]);
    free(options->owned.at);
    free(options->inputs.at);
    free(options->strings.at);
    free(options->entries.at);
}

void ptxas_options_print(void)
{
    static const char *const VALUES[] = {[FLAG] = "",
                                         [BOOLEAN] = " <true|false>",
                                         [NUMBER] = " <N>",
                                         [LEVEL] = " <N>",
                                         [REGS] = " <archmax/archmin/N>",
                                         [CACHE] = " <modifier>",
                                         [TEXT] = " <...>",
                                         [LIST] = " <...>,..."};
    for (int id = 0; id < PTXAS_OPTION_COUNT; id++) {
        char left[80];
        snprintf(left, sizeof left, "--%s%s", TABLE[id].long_name, VALUES[TABLE[id].kind]);
        printf("%-52s(-%s)\n", left, TABLE[id].short_name);
    }
}
