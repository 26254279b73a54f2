/* SPDX-License-Identifier: Apache-2.0
 *
 * Shared by templates of machine cases. Private to machine_cases.c, machine_async.c,
 * machine_cluster.c, machine_matrices.c, machine_memory.c, machine_tensors.c, machine_textures.c
 * and machine_threads.c.
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
    bool is_fault;      /* the launch ends with an error */
    bool is_alone;      /* the code behind it in the kernel would not run */
    bool is_in_cluster; /* in a kernel of its own, all of whose blocks are one cluster */
};

/* False when there is no n-th case. */
typedef bool (*template_fn)(struct piece *piece);

struct template
{
    const char *name; /* of the instruction; "cp.async": of spellings that begin so */
    template_fn make;
};

/* Each ends with a name that is NULL. Names of the first may begin as others of the next do. */
extern const struct template cluster_templates[];
extern const struct template tensor_templates[];
extern const struct template async_templates[];
extern const struct template memory_templates[];
extern const struct template thread_templates[];
extern const struct template matrix_templates[];
extern const struct template texture_templates[];

/* The rank of the next block of the cluster in a new register %rank. */
void piece_put_next_rank(struct piece *piece);

/* All threads of the cluster meet. */
void piece_put_cluster_meeting(FILE *file);

/* %d0 … %d3 to 32 bytes; 32 bytes to the output record at `to`. space: ".shared", or "". */
void piece_put_pattern(FILE *file, const char *space, const char *base);
void piece_put_dump(FILE *file, const char *space, const char *base, unsigned to);

#endif
