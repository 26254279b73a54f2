/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a command to its end and measures it.
 */
#ifndef PTXRUN_TOOLS_BENCH_COMMAND_H
#define PTXRUN_TOOLS_BENCH_COMMAND_H

#include <stdbool.h>

struct process_wish {
    char *const *command; /* NULL behind the last word */
    char *const
        *variables;       /* "NAME=VALUE" for its environment; NULL behind the last one, or NULL */
    const char *folder;   /* where it runs; NULL: here */
    const char *out_file; /* its standard output; NULL: nowhere */
    const char *err_file; /* its standard error; NULL: nowhere */
    unsigned limit_s;
};

enum process_end {
    PROCESS_EXITED,
    PROCESS_SIGNALLED,
    PROCESS_TIMED_OUT,
    PROCESS_INTERRUPTED, /* by the person who waits: process_stop_on_interrupt */
    PROCESS_NOT_STARTED
};

struct process_outcome {
    enum process_end end;
    int code; /* exit status or signal */
    double wall_ms;
    double cpu_ms; /* of it and of the processes that it waited for */
};

/* What it started and left running is ended when the limit has passed. */
void process_run(const struct process_wish *wish, struct process_outcome *outcome);

/* "exit status 3", "ended by signal 11 (Segmentation fault)", … */
#define PROCESS_TEXT_BYTES 96
void process_end_text(const struct process_outcome *outcome, char text[PROCESS_TEXT_BYTES]);

/* From now on the first SIGINT or SIGTERM ends the command that runs and no other, once. */
void process_stop_on_interrupt(void);
bool process_is_interrupted(void);

#endif
