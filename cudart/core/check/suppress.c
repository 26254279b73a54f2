/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/check/suppress.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/check/filter.h"
#include "cudart/core/check/reports.h"
#include "util/log.h"
#include "util/options.h"

/* Texts that are NULL fit everything. */
struct entry {
    char *rule;
    char *kernel;
    char *file;
    uint32_t line; /* 0: all */
    char *call;
};

/* Written under `once`. */
static struct {
    pthread_once_t once;
    struct entry *entries;
    size_t count;
} suppressions = {.once = PTHREAD_ONCE_INIT};

/* ---- reading ---- */

static char *trim(char *text)
{
    text += strspn(text, " \t");
    size_t len = strlen(text);
    while (len > 0 && strchr(" \t\r\n", text[len - 1]))
        text[--len] = '\0';
    return text;
}

/* What stands behind a word; NULL: the line begins with another one, or has nothing else. */
static char *behind(char *text, const char *word)
{
    size_t len = strlen(word);
    if (strncmp(text, word, len) != 0 || (text[len] != ' ' && text[len] != '\t'))
        return NULL;
    return trim(text + len);
}

static bool begin_entry(const char *rule)
{
    struct entry *entries =
        realloc(suppressions.entries, (suppressions.count + 1) * sizeof *entries);
    char *kept = strdup(rule);
    if (entries)
        suppressions.entries = entries;
    if (!entries || !kept) {
        free(kept);
        return false;
    }
    entries[suppressions.count++] = (struct entry){.rule = kept};
    return true;
}

/* "FILE:LINE", "FILE" */
static void set_place(struct entry *entry, char *text)
{
    char *colon = strrchr(text, ':');
    bool is_line = colon && colon[1] && colon[1 + strspn(colon + 1, "0123456789")] == '\0';
    if (is_line) {
        entry->line = (uint32_t)strtoul(colon + 1, NULL, 10);
        *colon = '\0';
    }
    free(entry->file);
    entry->file = strdup(text);
}

static void set_text(char **field, const char *text)
{
    free(*field);
    *field = strdup(text);
}

/* What is wrong with the line; NULL: nothing. */
static const char *read_line(char *text)
{
    bool is_detail = *text == ' ' || *text == '\t';
    char *line = trim(text);
    char *value;
    if (!*line || *line == '#')
        return NULL;
    if (!is_detail) {
        value = behind(line, "suppress");
        return value && begin_entry(value) ? NULL : "an entry begins with 'suppress RULE'";
    }
    if (suppressions.count == 0)
        return "it belongs to no entry";
    struct entry *entry = &suppressions.entries[suppressions.count - 1];
    if ((value = behind(line, "kernel")))
        set_text(&entry->kernel, value);
    else if ((value = behind(line, "call")))
        set_text(&entry->call, value);
    else if ((value = behind(line, "at")))
        set_place(entry, value);
    else
        return "it is none of 'kernel PATTERN', 'at FILE:LINE' and 'call PATTERN'";
    return NULL;
}

/* A line that says nothing ends the reading: half an entry would hide too much. */
static void read_file(void)
{
    const char *name = pxr_options_get()->suppressions;
    char *text = NULL;
    size_t cap = 0;
    unsigned number = 0;
    const char *wrong = NULL;
    FILE *file = fopen(name, "re");
    if (!file) {
        pxr_log(PXR_LOG_ERROR, "check: the suppressions '%s' cannot be read: %s", name,
                strerror(errno));
        return;
    }
    while (!wrong && getline(&text, &cap, file) > 0) {
        number++;
        wrong = read_line(text);
    }
    if (wrong) {
        pxr_log(PXR_LOG_ERROR, "check: line %u of the suppressions '%s': %s; none is used", number,
                name, wrong);
        suppressions.count = 0;
    }
    free(text);
    fclose(file);
}

static void load(void)
{
    if (*pxr_options_get()->suppressions)
        read_file();
}

void crt_suppressions_load(void)
{
    pthread_once(&suppressions.once, load);
}

/* ---- what fits ---- */

/* The pattern of a path, or of what stands behind one of its slashes. */
static bool is_path(const char *pattern, const char *path)
{
    for (const char *at = path; at; at = strchr(at, '/')) {
        at += at != path || *at == '/';
        if (fnmatch(pattern, at, 0) == 0)
            return true;
    }
    return fnmatch(pattern, path, 0) == 0;
}

/* The function of a line of calls: what stands before its place. */
static size_t function_length(const char *line)
{
    size_t len = strcspn(line, "\n");
    const char *offset = memmem(line, len, " [0x", 4);
    const char *source = memmem(line, len, " in ", 4);
    if (offset)
        len = (size_t)(offset - line);
    return source && source < line + len ? (size_t)(source - line) : len;
}

static bool is_called(const char *pattern, const char *frames)
{
    bool is_found = false;
    for (const char *at = frames; at && *at && !is_found;) {
        char *name = strndup(at, function_length(at));
        is_found = name && fnmatch(pattern, name, 0) == 0;
        free(name);
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    return is_found;
}

static bool fits(const struct entry *entry, const struct crt_found *found)
{
    const struct crt_finding *finding = &found->first;
    if (fnmatch(entry->rule, crt_finding_table[finding->kind].rule, 0) != 0)
        return false;
    if (entry->kernel && !crt_filter_is_kernel(entry->kernel, found))
        return false;
    if (entry->file && !is_path(entry->file, crt_report_file(finding)))
        return false;
    if (entry->line && entry->line != crt_report_line(finding))
        return false;
    return !entry->call || is_called(entry->call, finding->call);
}

bool crt_suppressions_have(const struct crt_found *found)
{
    crt_suppressions_load();
    for (size_t i = 0; i < suppressions.count; i++)
        if (fits(&suppressions.entries[i], found))
            return true;
    return false;
}

/* ---- writing ---- */

/* A function of the program's own, or else of CUDA. */
static void write_call(FILE *file, const char *frames)
{
    const char *best = frames;
    for (const char *at = frames; *at;) {
        bool is_api = strncmp(at, "cu", 2) == 0;
        if (*at != '?')
            best = at;
        if (*at != '?' && !is_api)
            break;
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    fprintf(file, "    call %.*s\n", (int)function_length(best), best);
}

static void write_entry(FILE *file, const struct crt_found *found)
{
    const struct crt_finding *finding = &found->first;
    fprintf(file, "# %s %s\nsuppress %s\n", finding->access, crt_finding_table[finding->kind].title,
            crt_finding_table[finding->kind].rule);
    if (finding->kernel)
        fprintf(file, "    kernel %s\n", finding->kernel);
    if (finding->file || finding->kernel)
        fprintf(file, "    at %s:%" PRIu32 "\n", crt_report_file(finding),
                crt_report_line(finding));
    else if (finding->call && *finding->call)
        write_call(file, finding->call);
}

void crt_suppressions_write(FILE *file, const struct crt_found *found, size_t count)
{
    for (size_t i = 0; i < count; i++)
        write_entry(file, &found[i]);
}
