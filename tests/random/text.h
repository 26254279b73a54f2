/* SPDX-License-Identifier: Apache-2.0
 *
 * Text that grows, and the random numbers that everything is drawn from.
 */
#ifndef PTXRUN_TESTS_RANDOM_TEXT_H
#define PTXRUN_TESTS_RANDOM_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialise; text_fini frees. bytes is NUL-terminated once something was added. When memory
 * runs out the process ends: these are programs of tests. */
struct text {
    char *bytes;
    size_t len;
    size_t capacity;
};

void text_add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_bytes(struct text *text, const char *bytes, size_t len);
void text_fini(struct text *text);

/* The whole file, or false. */
bool text_read_file(struct text *text, const char *path);
bool text_write_file(const char *bytes, size_t len, const char *path);

/* The same numbers from the same seed, everywhere. */
struct dice {
    uint64_t state;
};

uint64_t dice_next(struct dice *dice);

/* Below n, which is at least 1. */
uint32_t dice_below(struct dice *dice, uint32_t n);

/* True in `percent` of 100 cases. */
bool dice_chance(struct dice *dice, uint32_t percent);

#endif
