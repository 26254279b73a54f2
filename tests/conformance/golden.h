/* SPDX-License-Identifier: Apache-2.0
 *
 * Results kept in a file, to be compared with those of another backend or another machine. Of every
 * case some samples are kept, spread evenly over all.
 */
#ifndef PTXRUN_TESTS_CONFORMANCE_GOLDEN_H
#define PTXRUN_TESTS_CONFORMANCE_GOLDEN_H

#include "tests/conformance/conformance.h"

#define GOLDEN_NAME_BYTES 256

struct conf_golden_record {
    char name[GOLDEN_NAME_BYTES]; /* of the case and the result */
    uint32_t count;
    uint32_t value_bytes;
    const uint8_t *values;
};

/* For writing, a file of the job's own; for comparing, the whole golden file. */
enum pxr_status conf_golden_open(const struct conf_options *options, unsigned job,
                                 struct conf_golden_file **golden, struct pxr_error *err);
enum pxr_status conf_golden_close(struct conf_golden_file *golden, struct pxr_error *err);

/* Makes the golden file of the jobs' files. */
enum pxr_status conf_golden_merge(const struct conf_options *options, struct pxr_error *err);

/* Which of `samples` samples is the n-th that is kept, and how many are. */
size_t conf_golden_count(const struct conf_options *options, size_t samples);
size_t conf_golden_sample(const struct conf_options *options, size_t samples, size_t n);

/* values: count * value_bytes, the kept samples only. */
void conf_golden_put(struct conf_golden_file *golden, const char *name, const uint8_t *values,
                     size_t count, size_t value_bytes);

/* Of a result that the file does not have: a failure of the row unless the list names it, or the
 * row. */
void conf_golden_note_absent(const struct conf_golden_file *golden, struct conf_row *row,
                             enum ptx_op op, const char *name);

/* Of one that it has: a failure if the list names the row. */
void conf_golden_note_present(const struct conf_golden_file *golden, struct conf_row *row,
                              enum ptx_op op, const char *name);

/* How many results the list names one by one. */
size_t conf_golden_absent_count(const struct conf_golden_file *golden);

/* NULL when the file has no such record. */
const struct conf_golden_record *conf_golden_find(const struct conf_golden_file *golden,
                                                  const char *name);

#endif
