/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the table of the process's mappings, which is sorted by address. Not through stdio: a child
 * forked meanwhile has the same file position, and its exit() would seek back to what its copy of
 * the stream has not read yet.
 */
#include "ptx/readable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIRST_TABLE_BYTES (16u << 10)

/* The rest of the file, with a zero behind it; NULL: it cannot be read, or held in memory. */
static char *read_text(int fd)
{
    size_t cap = FIRST_TABLE_BYTES;
    size_t len = 0;
    char *text = malloc(cap);
    while (text) {
        ssize_t got = read(fd, text + len, cap - 1 - len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            break;
        len += (size_t)got;
        text[len] = '\0';
        if (got == 0)
            return text;
        if (len < cap - 1)
            continue;
        cap *= 2;
        char *grown = realloc(text, cap);
        if (!grown)
            break;
        text = grown;
    }
    free(text);
    return NULL;
}

static char *read_maps(void)
{
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    char *text = read_text(fd);
    close(fd);
    return text;
}

void ptx_mappings_forget(struct ptx_mappings *mappings)
{
    free(mappings->text);
    *mappings = (struct ptx_mappings){0};
}

struct mapping {
    uintptr_t begin;
    uintptr_t behind;
    bool is_readable;
};

/* "begin-behind rwxp …". Not by sscanf, which looks for the end of all text for each line. */
static struct mapping mapping_of(const char *line)
{
    char *at;
    struct mapping mapping = {.begin = strtoull(line, &at, 16)};
    mapping.behind = strtoull(at + (*at == '-'), &at, 16);
    mapping.is_readable = strncmp(at, " r", 2) == 0;
    return mapping;
}

size_t ptx_readable_bytes(struct ptx_mappings *mappings, const void *at)
{
    uintptr_t end = (uintptr_t)at;
    if (!mappings->text)
        mappings->text = read_maps();
    for (const char *line = mappings->text; line && *line; line += *line == '\n') {
        struct mapping mapping = mapping_of(line);
        line += strcspn(line, "\n");
        if (mapping.behind <= end)
            continue;
        if (mapping.begin > end || !mapping.is_readable)
            break;
        end = mapping.behind;
    }
    return mappings->text ? end - (uintptr_t)at : SIZE_MAX;
}
