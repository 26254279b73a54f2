/* SPDX-License-Identifier: Apache-2.0
 *
 * All 2^32 inputs, or an even part of them, of forms with one source of 32 bits, judged by the
 * oracle. sweep.sh says how it is used.
 *
 *   sweep.c          the list of forms, the jobs that share the chunks of each
 *   sweep_form.c     one form in one job: its kernel, its chunks, its judge
 *   sweep_summary.c  the summary file
 */
#ifndef PTXRUN_TESTS_CONFORMANCE_SWEEP_H
#define PTXRUN_TESTS_CONFORMANCE_SWEEP_H

#include "tests/conformance/conformance.h"

#define SWEEP_CHUNK_BITS 20
#define SWEEP_CHUNK      (1u << SWEEP_CHUNK_BITS)
#define SWEEP_ALL        (UINT64_C(1) << 32)

/* The results of one form. */
struct sweep_result {
    uint64_t inputs; /* judged */
    uint64_t failures;
    uint64_t unspecified; /* not the oracle's result, and the manual allows it */
    double error;         /* the largest of an approximate form, in the unit of its bound … */
    double bound;         /* … and the bound there */
    uint32_t first;       /* lowest input that fails */
    uint64_t want;
    uint64_t got;
};

/* The summary's line of a form. */
struct sweep_line {
    char form[CONF_NAME_BYTES];
    struct sweep_result result;
    uint64_t fingerprint; /* of the translation and of the oracle's answers */
};

/* ---- one form in one job ---- */

struct sweep_form; /* compiled, with its oracle */

/* Whether the case is of the kind that is swept. */
bool sweep_takes(const struct conf_case *made);

/* fingerprint: see struct sweep_line. made must outlive the form. */
enum pxr_status sweep_form_open(const struct conf_case *made, struct sweep_form **form,
                                uint64_t *fingerprint, struct pxr_error *err);
void sweep_form_close(struct sweep_form *form);

/* Inputs first, first + stride, … (modulo 2^32); count is at most SWEEP_CHUNK. Adds to result. */
enum pxr_status sweep_form_run(struct sweep_form *form, uint32_t first, uint32_t stride,
                               uint32_t count, struct sweep_result *result, struct pxr_error *err);

/* Adds what another job found. */
void sweep_result_add(struct sweep_result *sum, const struct sweep_result *part);

/* ---- the summary ---- */

struct sweep_summary {
    struct sweep_line *lines;
    size_t count;
};

/* A file that does not exist is an empty summary. */
enum pxr_status sweep_summary_read(struct sweep_summary *summary, const char *path,
                                   struct pxr_error *err);
enum pxr_status sweep_summary_write(const struct sweep_summary *summary, const char *path,
                                    struct pxr_error *err);
void sweep_summary_free(struct sweep_summary *summary);

/* NULL: there is none. */
struct sweep_line *sweep_summary_find(const struct sweep_summary *summary, const char *form);

/* Puts the line in its place, unless the form's line is of the same fingerprint and has more
 * inputs. False when out of memory. */
bool sweep_summary_put(struct sweep_summary *summary, const struct sweep_line *line);

/* ---- the parts called by main ---- */

/* One job's part: takes chunks until the form is done. */
void conf_sweep_chunks(struct conf_run *run, const struct conf_case *made);

/* Sweeps the forms that the options ask for, and writes a line for each into the summary; forms
 * that are in it with the same fingerprint are not judged again. After SIGTERM or SIGINT the
 * progress of the current form is noted, and another run continues there. Returns 0, 1 when there
 * were differences, 2 when it cannot run. */
int conf_sweep(const struct conf_options *options, struct conf_shared *shared,
               int (*run_jobs)(const struct conf_options *, struct conf_shared *));

#endif
