/* SPDX-License-Identifier: Apache-2.0
 *
 * The arrays of an iteration: at the very beginning or end of memory with inaccessible pages around
 * it.
 */
#ifndef PTXRUN_TESTS_VECTOR_ITERATION_MEMORY_H
#define PTXRUN_TESTS_VECTOR_ITERATION_MEMORY_H

#include "tests/vector/iteration_case.h"

struct iteration_memory {
    uint8_t *region[ITERATION_ARRAYS]; /* between guard pages */
    size_t region_bytes[ITERATION_ARRAYS];
    uint8_t *array[ITERATION_ARRAYS];
    size_t bytes[ITERATION_ARRAYS];
};

/* Room for the largest of the case's runs. */
enum pxr_status iteration_memory_init(struct iteration_memory *memory,
                                      const struct iteration_case *c, struct pxr_error *err);
void iteration_memory_fini(struct iteration_memory *memory);

/* Fills the memory for a run; the same for the same case and size. */
void iteration_memory_fill(struct iteration_memory *memory, const struct iteration_case *c,
                           const struct iteration_size *size, bool is_at_end);

/* All arrays one after another. */
size_t iteration_memory_bytes(const struct iteration_memory *memory);
void iteration_memory_copy(const struct iteration_memory *memory, uint8_t *copy);

/* Whether the arrays are as in the copy and nothing around them was written; words: the first
 * difference. */
bool iteration_memory_check(const struct iteration_memory *memory, const uint8_t *copy, char *words,
                            size_t words_bytes);

#endif
