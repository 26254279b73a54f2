/* SPDX-License-Identifier: Apache-2.0
 *
 * The vectoriser: loops over threads become loops over vectors of threads. It works on scalar LLVM
 * IR and knows nothing of PTX; all it needs to be told is which loops run over threads, whose
 * iterations are independent of each other (tr_mark_threads).
 *
 * Words (docs/glossary.md has the others). A *nest* is a marked loop along x (a row of threads),
 * alone or in a marked loop along y (rows). An *iteration* is what its body does for one thread. A
 * *lane* is one thread of a vector of `width` neighbours in a row. The *jam* is the number of
 * vectors that one iteration of the new loop runs side by side: `copies` of everything that differs
 * between them, jam[0] along the row and jam[1] rows. The *fast version* of an iteration has no
 * mask at its beginning and expects guards (`if (i >= n) return`) to let all lanes through; the
 * *masked version*, of one vector at a time, does what is left over.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_H
#define PTXRUN_TRANSLATOR_VECTOR_H

#include <stddef.h>

#include "translator/vector/plan/vector_options.h"
#include "util/error.h"

struct tr_vector_report {
    uint32_t nest_count;    /* marked */
    uint32_t widened_count; /* of them */
    uint32_t width;         /* the largest of those widened; 0: none */
    uint32_t jam;
    uint32_t seed_sites;
    /* Why, in short: */
    bool has_widths;   /* several */
    bool has_accesses; /* widened nests load and store … */
    bool has_far;      /* … not only neighbouring elements, or one for all threads */
    uint32_t percent;  /* of the time of single threads that widened nests are estimated to take */
    char reason[128];  /* why the longest of the others was not widened; "": there are none */
    char *explanation; /* malloc; what was chosen, and what of the nests makes them fast or slow.
                          Lines of text; those that begin with a tab are details */
};

/* The rows of plan/tuning.def. */
struct tr_tuning_step {
    const char *name;
    const char *purpose;
};
extern const struct tr_tuning_step tr_tuning_steps[TR_TUNING_COUNT];

/* The step of tuning with this name (len bytes), or TR_TUNING_COUNT. */
enum tr_tuning tr_find_tuning(const char *name, size_t len);

/* Widens every marked nest of the function that can and should be; others stay loops. Loops are in
 * the form of LLVM's loop-simplify and lcssa. The caller frees report->explanation. Errors:
 * PXR_OUT_OF_MEMORY. */
enum pxr_status tr_vectorise(LLVMValueRef function, const struct tr_vector_options *options,
                             struct tr_vector_report *report, struct pxr_error *err);

#endif
