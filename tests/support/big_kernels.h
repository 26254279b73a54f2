/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels as large as one likes: what a compiler's time may explode on, one family for each thing.
 * Every kernel is `big` with one parameter, an array of 32-bit words that its threads read and
 * write, and ends for blocks of any size.
 */
#ifndef PTXRUN_TESTS_SUPPORT_BIG_KERNELS_H
#define PTXRUN_TESTS_SUPPORT_BIG_KERNELS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define BIG_SIZES 5

struct big_family {
    const char *name;
    const char *what; /* there are so many of */
    void (*write)(FILE *out, uint32_t count);
    uint32_t sizes[BIG_SIZES]; /* worth a look, rising; 0: none */
};

extern const struct big_family big_families[];
extern const size_t big_family_count;

/* NULL when there is none of that name. */
const struct big_family *big_family_find(const char *name);

/* The module's text; the caller frees it. NULL when out of memory. */
char *big_kernel_text(const struct big_family *family, uint32_t count);

/* How many words of its array a kernel uses, in blocks of up to 1024 threads. Word i of the first
 * 1024 is what thread i begins with and its result. No two threads race. */
#define BIG_WORDS (99 * 1024)

#endif
