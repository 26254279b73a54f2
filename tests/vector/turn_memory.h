/* SPDX-License-Identifier: Apache-2.0
 *
 * The arrays a turn works on: at the very beginning or end of memory with pages around it that
 * nobody may touch.
 */
#ifndef PTXRUN_TESTS_VECTOR_TURN_MEMORY_H
#define PTXRUN_TESTS_VECTOR_TURN_MEMORY_H

#include "tests/vector/turn_case.h"

struct turn_memory {
    uint8_t *region[TURN_ARRAYS]; /* between guard pages */
    size_t region_bytes[TURN_ARRAYS];
    uint8_t *array[TURN_ARRAYS];
    size_t bytes[TURN_ARRAYS];
};

/* Room for the largest of the case's runs. */
enum pxr_status turn_memory_init(struct turn_memory *memory, const struct turn_case *c,
                                 struct pxr_error *err);
void turn_memory_fini(struct turn_memory *memory);

/* What a run begins with; the same for the same case and size. */
void turn_memory_fill(struct turn_memory *memory, const struct turn_case *c,
                      const struct turn_size *size, bool is_at_end);

/* All arrays one after another. */
size_t turn_memory_bytes(const struct turn_memory *memory);
void turn_memory_copy(const struct turn_memory *memory, uint8_t *copy);

/* Whether the arrays are as in the copy and nothing around them was written; words: the first
 * difference. */
bool turn_memory_check(const struct turn_memory *memory, const uint8_t *copy, char *words,
                       size_t words_bytes);

#endif
