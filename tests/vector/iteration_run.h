/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiles an iteration's nest as it is and widened, runs both on the same memory, and compares the
 * results there.
 */
#ifndef PTXRUN_TESTS_VECTOR_ITERATION_RUN_H
#define PTXRUN_TESTS_VECTOR_ITERATION_RUN_H

#include <llvm-c/LLJIT.h>

#include "tests/vector/iteration_memory.h"
#include "tests/vector/iteration_nest.h"

/* How the nest is widened. */
struct iteration_config {
    uint32_t width; /* 0: chosen */
    uint32_t jam;
    uint32_t vector_bits; /* 0: the host's */
    uint32_t skipped;     /* steps of tuning: 1 << enum tr_tuning */
    bool is_size_known;   /* the row's length and the number of rows are constants … */
    uint32_t known_size;  /* … those of this size */
    bool is_optimised;    /* LLVM's passes run on the result */
    bool is_poisoned;     /* lanes that are not active have poison, and nothing must use it */
    bool is_concise;      /* as in a long function */
    enum tr_vector_seed seed;
    uint32_t seed_site;
    bool is_code_kept; /* outcome->code is wanted */
};

/* The outcome of one configuration. */
struct iteration_outcome {
    bool is_right;
    bool is_widened;
    bool was_run;
    bool is_astray;      /* touched memory outside of the arrays */
    uint32_t width, jam; /* of the report */
    uint32_t seed_sites;
    uint64_t code; /* if it is right: a number made of the code, tidied up */
    char message[1600];
};

/* An iteration that is being tested. One at a time in a process. */
struct iteration_run {
    const struct iteration_case *c;
    struct iteration_host host;
    LLVMOrcLLJITRef jit;
    struct iteration_memory memory;
    uint8_t **expected; /* by size: the memory after the unchanged nest */
    bool *is_fault;     /* by size: it ends in a fault */
    uint32_t *calls;    /* by size: of functions that are not pure */
    uint32_t compiled;
};

/* Runs the nest as it is. */
enum pxr_status iteration_run_init(struct iteration_run *run, const struct iteration_case *c,
                                   struct pxr_error *err);
void iteration_run_fini(struct iteration_run *run);

/* Widens, runs and compares, until something differs. */
void iteration_run_config(struct iteration_run *run, const struct iteration_config *config,
                          struct iteration_outcome *outcome);

/* Prints the widened module, or the one to widen. */
enum pxr_status iteration_print(const struct iteration_case *c,
                                const struct iteration_config *config, bool is_prepared_only,
                                struct pxr_error *err);

/* Whether the widened module is the same in both configurations. */
bool iteration_becomes_same(const struct iteration_case *c, const struct iteration_config *a,
                            const struct iteration_config *b);

#endif
