/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by templates of machine cases. Private to machine_cases.c, machine_memory.c and
 * machine_threads.c.
 */
#ifndef PTXRUN_TESTS_CONFORMANCE_PIECE_H
#define PTXRUN_TESTS_CONFORMANCE_PIECE_H

#include <stdbool.h>
#include <stdio.h>

#include "ptx/forms.h"

/* The output of a template. */
struct piece {
    const struct ptx_form *form;
    unsigned n;      /* which of the form's cases */
    unsigned number; /* makes names unique in the module */
    FILE *decls;
    FILE *body;
    const char *label; /* describes the n-th case, for its name */
    enum ptx_type value_type;
    bool is_fault; /* the launch ends with an error */
    bool is_alone; /* the code behind it in the kernel would not run */
};

/* False when there is no n-th case. */
typedef bool (*template_fn)(struct piece *piece);

struct template
{
    const char *name; /* of the instruction; "cp.async": of spellings that begin so */
    template_fn make;
};

/* Each ends with a name that is NULL. */
extern const struct template memory_templates[];
extern const struct template thread_templates[];

/* %d0 … %d3 to 32 bytes; 32 bytes to the output record at `to`. space: ".shared", or "". */
void piece_put_pattern(FILE *file, const char *space, const char *base);
void piece_put_dump(FILE *file, const char *space, const char *base, unsigned to);

#endif
