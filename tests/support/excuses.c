/* SPDX-License-Identifier: Apache-2.0
 *
 * See excuses.h.
 */
#include "tests/support/excuses.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 512
#define PATH_BYTES 1024
#define NO_REASON  "?"

/* ---- reading ---- */

static bool overlaps(const struct excuses *excuses, const struct excuse *new)
{
    for (size_t n = 0; n < excuses->count; n++) {
        const struct excuse *known = &excuses->list[n];
        if (known->first <= new->last && new->first <= known->last &&
            strcmp(known->key, new->key) == 0)
            return true;
    }
    return false;
}

static bool add(struct excuses *excuses, const struct excuse *new)
{
    struct excuse *grown = realloc(excuses->list, (excuses->count + 1) * sizeof *grown);
    if (grown == NULL)
        return false;
    excuses->list = grown;
    grown[excuses->count++] = *new;
    return true;
}

/* A digit has to come first: strtoul would take more. */
static bool read_number(const char **at, uint32_t *number)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    *number = (uint32_t)strtoul(*at, &end, 10);
    *at = end;
    return true;
}

/* "3-7,9"; the other members of *excuse are set. */
static bool add_ordinals(struct excuses *excuses, struct excuse *excuse, const char *at)
{
    do {
        if (!read_number(&at, &excuse->first))
            return false;
        excuse->last = excuse->first;
        if (*at == '-' && (at++, !read_number(&at, &excuse->last)))
            return false;
        if (excuse->last < excuse->first || overlaps(excuses, excuse) || !add(excuses, excuse))
            return false;
    } while (*at++ == ',');
    return at[-1] == '\0';
}

static bool add_line(struct excuses *excuses, char *line)
{
    struct excuse excuse = {.first = 0};
    char *why = strstr(line, ": ");
    if (why == NULL)
        return false;
    *why = '\0';
    why += 2;
    char *ordinals = strrchr(line, ' ');
    if (ordinals == NULL || strcmp(why, NO_REASON) == 0 || strlen(why) >= sizeof excuse.why)
        return false;
    *ordinals++ = '\0';
    if (strlen(line) >= sizeof excuse.key)
        return false;
    strcpy(excuse.key, line);
    strcpy(excuse.why, why);
    return add_ordinals(excuses, &excuse, ordinals);
}

void excuses_fini(struct excuses *excuses)
{
    free(excuses->list);
    *excuses = (struct excuses){0};
}

enum pxr_status excuses_load(struct excuses *excuses, const char *path, struct pxr_error *err)
{
    char line[LINE_BYTES];
    enum pxr_status status = PXR_OK;
    *excuses = (struct excuses){0};
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return pxr_fail(err, PXR_NOT_FOUND, "cannot open '%s': %s", path, strerror(errno));
    for (int number = 1; status == PXR_OK && fgets(line, sizeof line, file) != NULL; number++) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '#' && line[0] != '\0' && !add_line(excuses, line))
            status = pxr_fail(err, PXR_BAD_IMAGE,
                              "%s:%d: no excuse of the form KEY ORDINALS: WHY, or a second one",
                              path, number);
    }
    fclose(file);
    if (status != PXR_OK)
        excuses_fini(excuses);
    return status;
}

/* ---- asking ---- */

const char *excuses_find(const struct excuses *excuses, const char *key, uint32_t ordinal)
{
    for (size_t n = 0; n < excuses->count; n++) {
        const struct excuse *excuse = &excuses->list[n];
        if (excuse->first <= ordinal && ordinal <= excuse->last && strcmp(excuse->key, key) == 0)
            return excuse->why;
    }
    return NULL;
}

uint32_t excuses_limit(const struct excuses *excuses, const char *key)
{
    uint32_t limit = 0;
    for (size_t n = 0; n < excuses->count; n++) {
        const struct excuse *excuse = &excuses->list[n];
        if (excuse->last >= limit && strcmp(excuse->key, key) == 0)
            limit = excuse->last + 1;
    }
    return limit;
}

bool excuses_are_for(const struct excuses *excuses, const char *path,
                     bool (*is_kind)(const char *kind))
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(path, '.');
    int folder_len = slash == NULL ? 0 : (int)(slash + 1 - path);
    bool are_good = true;
    for (size_t n = 0; n < excuses->count; n++) {
        char beside[PATH_BYTES];
        const char *key = excuses->list[n].key;
        int name_len = (int)strcspn(key, " ");
        snprintf(beside, sizeof beside, "%.*s%.*s%s", folder_len, path, name_len, key,
                 dot == NULL ? "" : dot);
        if (key[name_len] == ' ' && is_kind(key + name_len + 1) && access(beside, R_OK) == 0)
            continue;
        printf("excused for nothing: there is no case or kind '%s'\n", key);
        are_good = false;
    }
    return are_good;
}

/* ---- printing ---- */

static const char *reason(const struct excuses *excuses, const char *key, uint32_t ordinal)
{
    const char *why = excuses_find(excuses, key, ordinal);
    return why == NULL ? NO_REASON : why;
}

/* All places with this reason in one line. */
static void print_line(const struct excuses *excuses, const char *key, const uint32_t *ordinals,
                       size_t count, const char *why)
{
    const char *between = " ";
    printf("%s", key);
    for (size_t n = 0; n < count; n++) {
        size_t last = n;
        if (strcmp(reason(excuses, key, ordinals[n]), why) != 0)
            continue;
        while (last + 1 < count && ordinals[last + 1] == ordinals[last] + 1 &&
               strcmp(reason(excuses, key, ordinals[last + 1]), why) == 0)
            last++;
        printf("%s%u", between, ordinals[n]);
        if (last > n)
            printf("-%u", ordinals[last]);
        between = ",";
        n = last;
    }
    printf(": %s\n", why);
}

void excuses_print(const struct excuses *excuses, const char *key, const uint32_t *ordinals,
                   size_t count)
{
    for (size_t n = 0; n < count; n++) {
        const char *why = reason(excuses, key, ordinals[n]);
        size_t before = 0;
        while (strcmp(reason(excuses, key, ordinals[before]), why) != 0)
            before++;
        if (before == n)
            print_line(excuses, key, ordinals, count, why);
    }
}
