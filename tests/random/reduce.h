/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes a case small that tells oracle and product apart, by leaving things out while it does.
 */
#ifndef PTXRUN_TESTS_RANDOM_REDUCE_H
#define PTXRUN_TESTS_RANDOM_REDUCE_H

#include "tests/random/text.h"

/* The check of a case file: by a process of its own, which may crash or hang; or by a function. */
struct reducer {
    int (*judge)(const char *bytes); /* NULL: a process */
    const char *program; /* of this program; called as `program --backend NAME --check FILE` */
    const char *backend;
    const char *candidate; /* file that candidates are written to */
    unsigned max_checks;
    unsigned checks; /* done so far */
    int wanted;      /* the result of the original's check */
};

/* Replaces *text by the smallest text found whose check says the same. */
void reduce_text(struct reducer *reducer, struct text *text);

/* The exit status of the check, 256 and more when the process crashed or took too long; or the
 * function's result. */
int reducer_check(struct reducer *reducer, const char *bytes, size_t len);

#endif
