/* SPDX-License-Identifier: Apache-2.0
 *
 * For `ptxbench programs`: which programs, with which arguments.
 */
#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/programs.h"

struct programs_words programs_split(const char *text, size_t size)
{
    struct programs_words words = {.text = strndup(text, size),
                                   .words = calloc(size / 2 + 2, sizeof(char *))};
    char *rest = NULL;
    for (char *word = strtok_r(words.text, " \t\n", &rest); word;
         word = strtok_r(NULL, " \t\n", &rest))
        words.words[words.count++] = word;
    return words;
}

void programs_free_words(struct programs_words *words)
{
    free(words->text);
    free(words->words);
}

static char *folder_of(const char *path)
{
    char *whole = realpath(path, NULL);
    char *folder = whole ? strdup(dirname(whole)) : NULL;
    free(whole);
    return folder;
}

static void add_line(struct programs_manifest *manifest, const char *text, size_t size)
{
    struct programs_words line = programs_split(text, size);
    if (line.count == 0 || line.words[0][0] == '#') {
        programs_free_words(&line);
        return;
    }
    manifest->lines = realloc(manifest->lines, (manifest->count + 1) * sizeof manifest->lines[0]);
    manifest->lines[manifest->count++] = line;
}

bool programs_read_manifest(const char *path, struct programs_manifest *manifest)
{
    *manifest = (struct programs_manifest){.folder = folder_of(path)};
    FILE *file = manifest->folder ? fopen(path, "r") : NULL;
    if (!file) {
        fprintf(stderr, "ptxbench: cannot read %s: %s\n", path, strerror(errno));
        return false;
    }
    char *line = NULL;
    size_t capacity = 0;
    for (ssize_t size; (size = getline(&line, &capacity, file)) >= 0;)
        add_line(manifest, line, (size_t)size);
    free(line);
    fclose(file);
    return true;
}

void programs_close_manifest(struct programs_manifest *manifest)
{
    for (size_t i = 0; i < manifest->count; i++)
        programs_free_words(&manifest->lines[i]);
    free(manifest->lines);
    free(manifest->folder);
}
