/* SPDX-License-Identifier: Apache-2.0
 *
 * What --explain says of the loops over threads: collected while they are widened (explain.c), as
 * text at the end (paragraphs.c). Private to translator/vector.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_EXPLAIN_H
#define PTXRUN_TRANSLATOR_VECTOR_EXPLAIN_H

#include "translator/vector/paragraphs.h"
#include "translator/vector/vector.h"
#include "translator/vector/version.h"

struct tr_explanation {
    struct tr_paragraphs paragraphs;
    struct tr_vector_report *report; /* its sums */
    bool has_local_arrays;           /* in the block's frame */
    double vector;                   /* of the loops over vectors: time in simple instructions … */
    double scalar;                   /* … and what single threads would take */
    uint32_t longest;                /* instructions of the loop that report->reason is of */
};

/* A nest that is spoken of. */
struct tr_about {
    const struct tr_iteration *iteration;
    struct tr_paragraph *paragraph;
    bool has_local_arrays;
    bool has_accesses;
    bool has_far; /* accesses to other than neighbouring elements, or one for all threads */
};

/* The instruction's line, under this name. */
void tr_explain_add(const struct tr_about *about, enum tr_said said, const char *name,
                    LLVMValueRef inst);

/* What accesses to memory are like, and what is done lane by lane (explain_instructions.c). */
void tr_explain_instructions(struct tr_about *about);

/* What was chosen, and what of the iteration makes it fast or slow. Before the nest is replaced.
 * Fails with PXR_OUT_OF_MEMORY. */
enum pxr_status tr_explain_nest(struct tr_explanation *explanation,
                                const struct tr_versions *versions,
                                const struct tr_shape_of_nest *shape, bool is_widened,
                                struct pxr_error *err);
/* Of a nest that cannot be widened. Fails with PXR_OUT_OF_MEMORY. */
enum pxr_status tr_explain_obstacle(struct tr_explanation *explanation, const struct tr_nest *nest,
                                    const char *obstacle, struct pxr_error *err);

#endif
