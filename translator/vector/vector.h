/* SPDX-License-Identifier: Apache-2.0
 *
 * The vectoriser: loops over threads become loops over vectors of threads. It works on scalar LLVM
 * IR and knows nothing of PTX; all it needs to be told is which loops run over threads, whose turns
 * are independent of each other (tr_mark_threads).
 *
 * Words. A *nest* is a marked loop along x (a row of threads), alone or in a marked loop along y
 * (rows). A *turn* is what its body does for one thread. A *lane* is one thread of a vector of
 * `width` neighbours in a row. The *jam* is how many vectors one iteration of the new loop runs
 * side by side: `copies` of everything that differs between them, jam[0] along the row and jam[1]
 * rows. The *fast version* of a turn has no mask at its beginning and expects guards (`if (i >= n)
 * return`) to let all lanes through; the *masked version*, of one vector at a time, does what is
 * left over.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_H
#define PTXRUN_TRANSLATOR_VECTOR_H

#include <stdbool.h>
#include <stdint.h>

#include <llvm-c/Types.h>

#include "translator/module/target.h"
#include "util/error.h"

/* Defects for tests to seed, one at a time. */
enum tr_vector_seed {
    TR_VECTOR_SEED_NONE,
    TR_VECTOR_SEED_MASK,   /* an access, or a change of a variable, is done for all lanes although
                              some are not active */
    TR_VECTOR_SEED_STRIDE, /* an address is one element off in a lane */
    TR_VECTOR_SEED_FREEZE, /* a condition of lanes that are not active decides: what spares it if it
                              is poison is missing, a freeze or a select instead of an `and` */
    TR_VECTOR_SEED_COUNT
};

/* When stores with TR_MARK_NONTEMPORAL go past the caches: i1 each, or NULL if there are none. The
 * caller adds a fence where control leaves the function. */
struct tr_streaming {
    LLVMValueRef of_rows; /* they write more than caches forget soon: done where rows are short, as
                             the machine does not see what follows them */
    LLVMValueRef of_all;  /* more than caches hold; implies the other */
};

struct tr_vector_options {
    uint32_t width;                 /* lanes of a vector, a power of two, 2 to 64; 0: chosen */
    uint32_t jam;                   /* copies, 1 to 32; 0: chosen */
    const struct tr_target *target; /* never NULL */
    struct tr_streaming streaming;
    uint32_t copies_max; /* no more unless they are asked for; 0: by the function's length */
    bool is_forced;      /* also loops that are likely to be slower as vectors */
    bool is_poisoned;    /* for tests: values of lanes that are not active are poison, as any of
                            them may be */
    enum tr_vector_seed seed;
    uint32_t seed_site;
};

struct tr_vector_report {
    uint32_t nest_count;    /* marked */
    uint32_t widened_count; /* of them */
    uint32_t width;         /* the largest of those widened; 0: none */
    uint32_t jam;
    uint32_t seed_sites;
    char *explanation; /* malloc; lines of text: for each nest what was chosen and why */
};

/* Widens every marked nest of the function that can and should be; others stay loops. Loops are in
 * the form of LLVM's loop-simplify and lcssa. The caller frees report->explanation. Errors:
 * PXR_OUT_OF_MEMORY. */
enum pxr_status tr_vectorise(LLVMValueRef function, const struct tr_vector_options *options,
                             struct tr_vector_report *report, struct pxr_error *err);

/* Behind the passes for vectors: blocks in one go (vector/tuning/straight.c). What it makes wants
 * to be cleaned up. Errors: PXR_OUT_OF_MEMORY. */
enum pxr_status tr_straighten_blocks(LLVMModuleRef module, bool *has_changed,
                                     struct pxr_error *err);

#endif
