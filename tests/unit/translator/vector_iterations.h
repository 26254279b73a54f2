/* SPDX-License-Identifier: Apache-2.0
 *
 * The iterations of vector_cases.h as nests of loops in LLVM IR, and as widened functions.
 */
#ifndef PTXRUN_TESTS_VECTOR_ITERATIONS_H
#define PTXRUN_TESTS_VECTOR_ITERATIONS_H

#include <stdio.h>

#include "translator/vector/emit/widen.h"
#include "vector_cases.h"

#define LENGTH     192 /* threads of a row */
#define ROWS       4
#define THREADS    (LENGTH * ROWS)
#define SLOTS      3
#define CELL_BYTES 16

struct iteration_text {
    const struct vector_case *test;
    const struct vector_type *type;
    const struct vector_type *result;
    bool is_masked;
};

/* Functions that iterations call: in<type>(slot, thread) reads a cell of `input`, out<type>(thread,
 * value) writes one of `output`. */
void put_cell_functions(FILE *text, const uint8_t *input, uint8_t *output);
/* The function scalar<number>. */
void put_iteration(FILE *text, const struct iteration_text *iteration, uint32_t number);

struct form {
    uint32_t width;
    uint32_t jam[2];
};

struct widened {
    struct tr_iteration iteration;
    struct tr_target target;
    struct tr_tuning_hooks tuning;
    struct tr_vector_options options;
    uint32_t seed_sites;
    struct tr_widen widen;
};

/* Adds vector<number>, for the rectangle of threads whose first one is given by x and y, its first
 * parameters. Control is done in the simplest way: bodies are not jumped over, so that they also
 * run with no lane active. */
void begin_widened(struct widened *widened, LLVMModuleRef module, uint32_t number,
                   const struct form *form);
void end_widened(struct widened *widened);

#endif
