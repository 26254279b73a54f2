/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ptxrun --stats-file` has written.
 */
#include "tools/bench/stats_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool stats_line_read(char *line, struct stats_line *read)
{
    *read = (struct stats_line){0};
    char *name = strrchr(line, '\t');
    // No collapse: two tabs follow each other, and sscanf finds nothing between them.
    if (!name || sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %*u %" SCNu64 "%*1[\t]%63[^\t]",
                        &read->calls, &read->total_ns, &read->shortest_ns, &read->compile_ns,
                        read->collapse) < 4)
        return false;
    read->name = name + 1;
    name[1 + strcspn(name + 1, "\n")] = '\0';
    return true;
}

void stats_file_take(const char *path, stats_take_fn take, void *arg)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t capacity = 0;
    while (file && getline(&line, &capacity, file) >= 0) {
        struct stats_line read;
        if (stats_line_read(line, &read))
            take(arg, &read);
    }
    free(line);
    if (file)
        fclose(file);
    unlink(path);
}
