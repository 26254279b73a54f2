/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ptxrun --explain` has said, kernel by kernel: a line that begins with the kernel's name and
 * the lines below it, which are indented.
 */
#include "tools/bench/explanations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX "ptxrun: "

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Whether the line, behind the prefix, begins what is said of the kernel. */
static bool is_of_kernel(const char *line, const char *kernel)
{
    static const char before[] = "kernel '";
    return begins_with(line, before) && begins_with(line + strlen(before), kernel) &&
           begins_with(line + strlen(before) + strlen(kernel), "':");
}

char *explanation_of(const char *text, const char *kernel)
{
    char *found = NULL;
    size_t size;
    FILE *stream = open_memstream(&found, &size);
    bool is_inside = false;
    for (const char *line = text; line && *line;) {
        size_t length = strcspn(line, "\n");
        bool is_ours = begins_with(line, PREFIX);
        const char *said = is_ours ? line + strlen(PREFIX) : line;
        if (is_ours && !begins_with(said, "  "))
            is_inside = is_of_kernel(said, kernel);
        if (is_ours && is_inside)
            fprintf(stream, "%.*s\n", (int)(length - strlen(PREFIX)), said);
        line += length + (line[length] == '\n');
    }
    fclose(stream);
    return found;
}

bool explanation_has_warps(const char *explanation)
{
    return strstr(explanation, "warp by warp") != NULL;
}
