/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by the parts of the program `conformance`: options, results per row of the op table, and
 * one pass over all cases.
 */
#ifndef PTXRUN_TESTS_CONFORMANCE_CONFORMANCE_H
#define PTXRUN_TESTS_CONFORMANCE_CONFORMANCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ptx/ops.h"
#include "tests/conformance/case.h"
#include "tests/conformance/kernel_text.h"
#include "tests/support/runner.h"

#define CONF_FAILURE_BYTES 480

/* The results of one row. Each job has its own. */
struct conf_row {
    uint64_t forms; /* spellings of the row */
    uint64_t samples;
    uint64_t failures;  /* samples that differ */
    uint64_t refused;   /* forms that could not be run or judged */
    uint64_t absent;    /* results that the golden file lacks, as its list says */
    double max_error;   /* of an approximate row, as the bound counts it */
    double max_allowed; /* the bound there */
    char max_inputs[CONF_FAILURE_BYTES];
    char first[CONF_FAILURE_BYTES]; /* the first failure in words */
};

enum conf_golden { CONF_GOLDEN_NONE, CONF_GOLDEN_WRITE, CONF_GOLDEN_COMPARE };

struct conf_options {
    const char *row;            /* name of a row or instruction, or what names begin with and '*';
                                   NULL: all */
    const char *without;        /* likewise: which not; NULL: all */
    uint64_t families;          /* bit per enum ptx_family */
    const char *driver;         /* path; NULL: in process */
    enum pxr_collapse collapse; /* in process */
    size_t cases;               /* random samples of a plain case */
    size_t known; /* samples that are constants in the kernel, and no others; 0: they are loaded */
    unsigned jam_share; /* one kernel in so many has vectors side by side as chosen, others one */
    unsigned share;     /* one kernel in so many is run */
    unsigned jobs;
    enum conf_golden golden;
    const char *golden_dir;
    size_t golden_samples; /* kept of every case */
    size_t golden_cases; /* random samples of a plain case in the file, where the oracle judges all
                            samples too; 0: as many as are run, and it does not */
    unsigned base_ptx;   /* lowest version and target of modules */
    unsigned base_sm;
    unsigned min_sm;        /* no forms that need only an earlier target */
    unsigned max_sm;        /* no forms that need a later target */
    const char *sweep_path; /* of the summary; NULL: no sweep */
    uint64_t sweep_stride;
    const struct conf_case *sweep_case; /* the case for the jobs to sweep */
    unsigned fault_share;               /* 0: no faults are seeded */
    unsigned turns;                     /* of their rows: see tests/support/turn.h */
    const char *excuses_path;           /* of faults that no case can show; NULL: none */
    bool is_list;                       /* prints the lines that would excuse what is missed */
    bool all_forms;                     /* of memory rows too */
    bool is_verbose;
};

/* In memory that all jobs share. */
struct conf_shared {
    _Atomic uint64_t next_batch;
    _Atomic uint64_t listed_absent; /* results that the golden file is said to lack */
    struct conf_row rows[];         /* job * PTX_OP_COUNT + op */
};

/* A fault in the translation of the instructions under test; see faults.h. */
struct conf_seeded {
    const struct conf_fault *fault;
    unsigned site; /* which of the places where a fault of LLVM's code fits */
    enum ptx_op op;
    int lines[CONF_BATCH][2]; /* of the instructions under test */
    unsigned line_count;
    uint64_t serial;  /* goes into the text, so that no runner has the kernel already */
    unsigned applied; /* how often the fault found its place */
};

/* One job's pass. */
struct conf_run {
    const struct conf_options *options;
    struct conf_shared *shared;
    struct conf_row *rows; /* this job's, by op */
    struct runner *runner;
    struct runner *narrow; /* for kernels without vectors side by side; NULL: runner for all */
    struct runner *oracle; /* for cases that need a whole machine */
    struct conf_golden_file *golden;
    struct conf_seeded *seeded; /* NULL: none */
    bool is_first;              /* of the jobs: counts what every job sees */
    uint64_t batch;             /* batches seen so far */
    uint64_t claimed;           /* the next one to run */
};

/* Whether the batch seen now is this job's to run. */
bool conf_claim(struct conf_run *run);

/* For the batch that was claimed last. */
struct runner *conf_runner(const struct conf_run *run);

/* Whether the row is asked for and has an emitter. */
bool conf_wants(const struct conf_options *options, enum ptx_op op);

/* Whether forms that need that target are asked for. */
bool conf_has_target(const struct conf_options *options, unsigned min_sm);

/* Notes a failure; the first of a row is kept in words. */
void conf_note(struct conf_row *row, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* All cases of one row (scalar.c; machine.c for rows that need memory or other threads). */
void conf_run_scalar_row(struct conf_run *run, enum ptx_op op);
void conf_run_machine_row(struct conf_run *run, enum ptx_op op);

/* All cases of a row, without running them. */
void conf_each_scalar_case(enum ptx_op op, conf_case_fn fn, void *data);

/* Whether the cases can be in one batch. */
bool conf_same_inputs(const struct conf_case *a, const struct conf_case *b);

struct machine_case;
/* malloc; the text of a kernel of these cases. seeded may be NULL. */
char *conf_machine_text(const struct machine_case *cases, unsigned count,
                        struct conf_seeded *seeded);
void conf_run_machine_batch(struct conf_run *run, const struct machine_case *cases, unsigned count);

/* Runs cases of the same kinds of inputs; the caller has counted the forms (scalar.c). */
void conf_run_batch(struct conf_run *run, const struct conf_case *cases, unsigned count);

/* Seeds every fault into every row it fits and expects that some case shows it (faults.c).
 * Returns how many were not caught. share: one in so many pairs of fault and row is run. */
unsigned conf_run_faults(struct conf_run *run, unsigned share);

/* Whether the row is of those that conf_run_scalar_row does. */
bool conf_is_scalar(enum ptx_op op);

/* The row's name in the op table: "ADD_INT". */
const char *conf_row_name(enum ptx_op op);

#endif
