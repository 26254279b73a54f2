/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ptxrun --stats-file` has written.
 */
#ifndef PTXRUN_TOOLS_BENCH_STATS_FILE_H
#define PTXRUN_TOOLS_BENCH_STATS_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* A kernel of a process. */
struct stats_line {
    uint64_t calls;
    uint64_t total_ns;
    uint64_t shortest_ns; /* of the calls */
    uint64_t compile_ns;
    char collapse[64]; /* "": nothing was compiled */
    const char *name;  /* in the line */
};

/* Cuts the line up. False: it is none of such a file. */
bool stats_line_read(char *line, struct stats_line *read);

typedef void (*stats_take_fn)(void *arg, const struct stats_line *line);

/* Gives all lines to `take` and removes the file. A kernel has several if the program had several
 * processes; no file: no process has launched a kernel. */
void stats_file_take(const char *path, stats_take_fn take, void *arg);

#endif
