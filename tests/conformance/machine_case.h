/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases that need memory or other threads: pieces of a kernel in which every thread has a record of
 * input bytes and a record of output bytes.
 *
 * Registers a piece may read (all .b64 unless said otherwise): %in, %out (the thread's records),
 * %d0…%d3 (the first 32 bytes of the input), %shared, %local, %const (its 32 bytes in these spaces,
 * addresses within the space), .b32 %lane, %sample, .pred %is_even (of the lane).
 */
#ifndef PTXRUN_TESTS_CONFORMANCE_MACHINE_CASE_H
#define PTXRUN_TESTS_CONFORMANCE_MACHINE_CASE_H

#include <stdbool.h>
#include <stdio.h>

#include "ptx/forms.h"

#define MACHINE_IN_BYTES   64 /* a record: 32 bytes, operand b at 32, operand c at 48 */
#define MACHINE_OUT_BYTES  96
#define MACHINE_THREADS    64
#define MACHINE_BLOCKS     4
#define MACHINE_SAMPLES    (MACHINE_THREADS * MACHINE_BLOCKS)
#define MACHINE_NAME_BYTES 192

struct machine_case {
    enum ptx_op op;
    char name[MACHINE_NAME_BYTES];
    enum ptx_type value_type; /* of what the records hold; NONE: any bytes */
    unsigned ptx;
    unsigned sm;
    bool needs_arch;    /* sm_100a rather than sm_100 */
    bool is_alone;      /* in its kernel */
    bool is_in_cluster; /* that kernel's blocks are a cluster */
    bool is_fault;      /* ends the launch with an error */
    char *decls;        /* at module scope; malloc */
    char *body;
};

void machine_case_free(struct machine_case *made);

/* Whether the dotted word is part of the spelling. */
bool machine_has_word(const struct ptx_form *form, const char *word);

/* Fills *made with the n-th case of the form; false when there are no more. number is different
 * for every case of a module. *is_known: false if the row is not one of those known here. */
bool machine_case_make(const struct ptx_form *form, unsigned n, unsigned number,
                       struct machine_case *made, bool *is_known);

#endif
