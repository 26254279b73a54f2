/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ptxbench compare` has measured of a program.
 */
#ifndef PTXRUN_TOOLS_BENCH_COMPARISON_H
#define PTXRUN_TOOLS_BENCH_COMPARISON_H

#include <stdint.h>
#include <stdio.h>

#include "tools/bench/command.h"
#include "tools/bench/outputs.h"
#include "tools/bench/samples.h"
#include "tools/bench/settings.h"

/* Whether there was compiled code from an earlier run of the same setting. */
enum comparison_heat { COMPARISON_COLD, COMPARISON_WARM, COMPARISON_HEATS };

enum comparison_measure {
    COMPARISON_WALL,    /* of the process, start to exit */
    COMPARISON_CPU,     /* of all its threads */
    COMPARISON_KERNELS, /* sum of all launches */
    COMPARISON_COMPILE, /* sum of all kernels */
    COMPARISON_MEASURES
};

/* Runs in one setting and heat; times in ms. */
struct comparison_runs {
    struct samples measures[COMPARISON_MEASURES];
    char problem[PROCESS_TEXT_BYTES]; /* why there are no more; "": there is no problem */
};

/* A kernel in one setting and heat. */
struct comparison_times {
    struct samples run_ms; /* of all launches of a run together */
    struct samples compile_ms;
    uint64_t calls;    /* of the last run */
    char collapse[64]; /* as --stats-file has it; of the last run that compiled it */
};

struct comparison_kernel {
    char *name;
    char *readable;
    char *explanation;              /* what --explain said; "" if nothing */
    struct comparison_times *times; /* by comparison_index */
};

struct comparison_wish {
    const char *ptxrun;
    char *const *program; /* and its arguments; NULL behind the last one */
    unsigned rounds;
    unsigned limit_s;  /* for one run; 0: some times as long as the first, which has five minutes */
    unsigned budget_s; /* for all: none begins after it */
    bool by_min;       /* minima count instead of medians, for a busy machine */
};

struct comparison {
    const struct comparison_wish *wish;
    const struct settings_axes *axes;
    const struct settings *settings;
    struct comparison_runs *runs;      /* by comparison_index */
    struct comparison_kernel *kernels; /* those that take longest come first */
    unsigned kernel_count;
    struct outputs outputs;
    char **differences; /* of each setting, in words; NULL: it prints the same */
    struct process_outcome first;
    unsigned limit_s; /* for a run */
    unsigned rounds;  /* completed */
    char stopped[96]; /* why there are no more; "": all were run */
    bool has_failed;  /* a run failed or its output differed */
};

/* Where runs[] and times[] have a setting. */
unsigned comparison_index(unsigned setting, enum comparison_heat heat);
const char *comparison_heat_name(enum comparison_heat heat);
/* "wall", "cpu", "kernels", "compile" */
const char *comparison_measure_name(enum comparison_measure measure);

/* Runs the program. False, after a message: it does not run at all. The wish, axes and settings
 * outlive the comparison; the caller calls comparison_free in any case. */
bool comparison_measure(struct comparison *comparison, const struct comparison_wish *wish,
                        const struct settings_axes *axes, const struct settings *settings);
void comparison_free(struct comparison *comparison);

struct samples_summary comparison_summary(const struct comparison *comparison, unsigned setting,
                                          enum comparison_heat heat,
                                          enum comparison_measure measure);

/* Of the launches of a run together, and of compiling it. */
struct samples_summary comparison_run_summary(const struct comparison *comparison,
                                              const struct comparison_kernel *kernel,
                                              unsigned setting, enum comparison_heat heat);
struct samples_summary comparison_compile_summary(const struct comparison *comparison,
                                                  const struct comparison_kernel *kernel,
                                                  unsigned setting, enum comparison_heat heat);

/* "5 rounds; medians", for people. */
#define COMPARISON_ROUNDS_BYTES 48
void comparison_rounds_text(const struct comparison *comparison,
                            char text[COMPARISON_ROUNDS_BYTES]);

/* Whether all settings print the same and end in the same way, in words. */
void comparison_print_verdict(const struct comparison *comparison, FILE *file);

void comparison_print_text(const struct comparison *comparison, FILE *file);
void comparison_write_json(const struct comparison *comparison, FILE *file);
void comparison_write_csv(const struct comparison *comparison, FILE *file);
void comparison_write_html(const struct comparison *comparison, FILE *file);

#endif
