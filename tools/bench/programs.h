/* SPDX-License-Identifier: Apache-2.0
 *
 * For `ptxbench programs`: whole CUDA programs under ptxrun in two settings, kernel by kernel.
 */
#ifndef PTXRUN_TOOLS_BENCH_PROGRAMS_H
#define PTXRUN_TOOLS_BENCH_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define PROGRAMS_MAX_ROUNDS 101

/* The settings. */
enum { PROGRAMS_A, PROGRAMS_B, PROGRAMS_SETTINGS };

/* Words of a line, which they point into. NULL behind the last one. */
struct programs_words {
    char *text;
    char **words;
    size_t count;
};

struct programs_words programs_split(const char *text, size_t size);
void programs_free_words(struct programs_words *words);

/* One line for each program: the executable and its arguments. Empty lines and those that begin
 * with # do not count. Programs run in the manifest's folder. */
struct programs_manifest {
    char *folder;
    struct programs_words *lines;
    size_t count;
};

/* False after a message. The caller calls programs_close_manifest in any case. */
bool programs_read_manifest(const char *path, struct programs_manifest *manifest);
void programs_close_manifest(struct programs_manifest *manifest);

/* What one run in one setting took for a kernel. */
struct programs_sample {
    uint64_t calls; /* 0: the run did not launch it */
    uint64_t total_ns;
    uint64_t shortest_ns; /* of the calls */
    uint64_t compile_ns;
};

struct programs_kernel {
    char *name;
    struct programs_sample samples[PROGRAMS_SETTINGS][PROGRAMS_MAX_ROUNDS];
};

struct programs_result {
    const char *program;
    unsigned rounds;
    struct programs_kernel *kernels;
    size_t count;
    char error[160]; /* "": every run succeeded */
};

struct programs_wish {
    const char *ptxrun;
    const char *settings[PROGRAMS_SETTINGS]; /* options of ptxrun, NAME=VALUE, both */
    unsigned rounds;
    unsigned limit_s; /* for one run */
    bool by_min;      /* a run counts with its shortest call, not with the mean of its calls */
};

/* Runs a program in both settings in turn, as often as the wish says. */
void programs_measure(struct programs_result *result, const struct programs_words *program,
                      const char *folder, const struct programs_wish *wish);
void programs_free_result(struct programs_result *result);

/* A kernel's numbers. The interval holds 95% of the ratios of resampled rounds. */
struct programs_comparison {
    double us[PROGRAMS_SETTINGS];         /* medians of the time of a call */
    double compile_ms[PROGRAMS_SETTINGS]; /* medians */
    double ratio;                         /* B to A */
    double low;
    double high;
    bool is_same_work; /* every run launched it, equally often */
};

struct programs_comparison programs_compare(const struct programs_kernel *kernel, unsigned rounds,
                                            bool by_min);
bool programs_is_beyond_noise(const struct programs_comparison *numbers);

/* Kernels with shorter calls than min_us are left out. Results come one by one, then the means. */
struct programs_report;
struct programs_report *programs_report_open(FILE *file, bool is_markdown, double min_us,
                                             const struct programs_wish *wish);
void programs_report_add(struct programs_report *report, const struct programs_result *result);
void programs_report_close(struct programs_report *report);

/* The command, behind the word `programs`. Exit status: 1: a program failed; 2: usage. */
int programs_main(int argc, char **argv);

#endif
