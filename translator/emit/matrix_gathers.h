/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of matrices, brought to the lanes that multiply them. Private to translator/emit.
 */
#ifndef PTXRUN_TRANSLATOR_MATRIX_GATHERS_H
#define PTXRUN_TRANSLATOR_MATRIX_GATHERS_H

#include "translator/emit/matrix.h"

#define TR_ELEMENTS_MAX 64 /* of a lane, as numbers; integers of 1 bit are no numbers */
#define TR_GATHERS_MAX  1024
#define TR_SPREADS_MAX  512
#define TR_SPREAD_LANES 4 /* where the next ones need the same again and again */

/* What some neighbouring lanes need; the same for the same key. */
struct tr_gather_key {
    uint16_t sources[RT_WARP_SIZE]; /* by lane: place in `have` * RT_WARP_SIZE + lane; then 0 */
    uint16_t part;
    uint16_t lanes;
};

/* What the lanes of a piece need lies side by side in memory: of all of them, or of four, where the
 * next four need the same, and so on. */
struct tr_spread {
    LLVMTypeRef type; /* of an element */
    unsigned lanes;   /* of a slot */
    unsigned slot_bytes;
    struct tr_gather_key keys[TR_SPREADS_MAX]; /* by slot */
    unsigned count;
    LLVMValueRef memory; /* the first slot */
};

enum tr_factor_role {
    TR_FACTOR_A, /* lanes need the elements of their row of D */
    TR_FACTOR_B, /* of their column */
    TR_FACTOR_C  /* no factor: the same element, which may be elsewhere than D's */
};

struct tr_factor {
    enum tr_factor_role role;
    const struct ptx_fragment *fragment;
    bool has_words; /* not numbers: short integers, and bf16 for the CPU's dot products */
    unsigned step;  /* elements that are taken together: those of a register, of words */
    unsigned parts; /* of `have` that are multiplied */
    /* What lanes have: by element / step, part. Parts of short integers: a few bits of them in
     * halves of words; of a sparse matrix of floats: number, TR_PART_STORED. */
    LLVMValueRef have[TR_ELEMENTS_MAX][4];
    struct tr_gather_key keys[TR_GATHERS_MAX]; /* each is gathered once: a lane has several elements
                                                  of a row or column of D */
    LLVMValueRef gathers[TR_GATHERS_MAX];
    unsigned gather_count;
    const struct tr_spread *spread; /* or NULL; then `have` is not needed */
};

#define TR_PART_STORED 1 /* whether the element is stored */

/* Neighbouring lanes of a warp. */
struct tr_piece {
    unsigned first;
    unsigned lanes;
};

/* What the lanes of the piece need for this element of D and this k: <lanes x T>. */
LLVMValueRef tr_gather(struct tr_ctx *ctx, struct tr_factor *factor,
                       const struct ptx_fragment *result, unsigned element, unsigned k,
                       unsigned part, struct tr_piece piece);

/* Which slots there are, where lanes are computed in pieces of so many; false: too many. */
bool tr_plan_spread(struct tr_ctx *ctx, const struct tr_factor *factor,
                    const struct ptx_matrices *matrices, unsigned piece_lanes,
                    struct tr_spread *spread);
void tr_store_spread(struct tr_ctx *ctx, const struct tr_factor *factor,
                     const struct tr_spread *spread);

#endif
