/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a program prints the same in all settings. Lines that differ from run to run in one and
 * the same setting, such as times, do not count.
 */
#ifndef PTXRUN_TOOLS_BENCH_OUTPUTS_H
#define PTXRUN_TOOLS_BENCH_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

/* What a run printed, up to so much, and a zero behind it. */
#define OUTPUT_MAX_BYTES (16u << 20)
struct output {
    char *text;
    size_t size;
};

/* No file: no output. */
struct output output_read(const char *path);
void output_free(struct output *output);

/* The first run's, and which of its lines are not the same in another run of the same setting. */
struct outputs {
    struct output first;
    bool *is_unsteady; /* for each line */
    size_t lines;
    size_t unsteady_lines;
    bool has_other_length; /* runs of one setting do not even print as many lines */
};

/* Takes the output. */
void outputs_init(struct outputs *outputs, struct output first);
void outputs_free(struct outputs *outputs);

/* Another run of the first one's setting. */
void outputs_learn(struct outputs *outputs, const struct output *again);

/* The number, from 1, of the first steady line that differs, or that one of the two lacks; 0: there
 * is none. *is_number: but for digits the line is the same. */
size_t outputs_difference(const struct outputs *outputs, const struct output *other,
                          bool *is_number);

#endif
