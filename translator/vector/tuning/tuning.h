/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of plan/tuning.def. Each finds and emits something that others do as well in a plainer
 * way, so each can be left out. Private to translator/vector.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_TUNING_H
#define PTXRUN_TRANSLATOR_VECTOR_TUNING_H

#include "translator/vector/memory/load_store.h"

/* ---- accesses (word_blocks.c, shifted.c) ---- */

/* Lanes access words that are neighbours, but far from those of other lanes (word_blocks.c). */
extern const struct tr_access_step tr_word_blocks;
/* Lanes use the value that the next lane has gathered (shifted.c). */
extern const struct tr_access_step tr_shifted;

#define TR_GROUP_MAX 64

/* Accesses of one segment with one stride that can be done at one place: loads at the first of
 * them, stores at the last. */
struct tr_group {
    uint32_t count;
    uint32_t values[TR_GROUP_MAX]; /* in order of the segment */
    int64_t offsets[TR_GROUP_MAX]; /* in bytes, from the access asked about */
    uint32_t beside_count;         /* accesses of the other kind, in between, to the same rows */
    int64_t beside[TR_GROUP_MAX];
};

/* The group of an access; each of a group finds the same. */
struct tr_group tr_tuning_group(const struct tr_iteration *iteration,
                                const struct tr_memory *memory);

/* ---- hooks (struct tr_tuning_hooks) ---- */

void tr_tuning_prefetch(struct tr_widen *widen, const struct tr_memory *memory, uint32_t copy,
                        LLVMValueRef address);
bool tr_tuning_is_for_rows(const struct tr_widen *widen, LLVMValueRef condition);
LLVMValueRef tr_shorten(const struct tr_nest *nest, const struct tr_iteration *iteration,
                        bool is_jammed);

/* ---- units that each row comes to as a whole, or not at all (whole_rows.c) ---- */

/* Emits, for each row of copies, a branch around the segment's instructions; `emit` emits the last
 * of them. False: out of memory. */
bool tr_tuning_emit_for_rows(struct tr_widen *widen, uint32_t segment, LLVMValueRef condition,
                             bool expected, void (*emit)(struct tr_widen *widen, uint32_t value));

/* ---- rows side by side (rows.c) ---- */

/* Finds the step of a value that is about to be defined; whether there is one. */
bool tr_tuning_find_step(struct tr_widen *widen, uint32_t value);
/* The value that the first row must have so that those of other rows follow from it, if there is
 * such a step, even if the first row has no result that may be used and the others have. */
LLVMValueRef tr_tuning_begin_rows(const struct tr_widen *widen, uint32_t value, LLVMValueRef first);
/* … and the value at a copy of another row, once those of the first row are defined. */
LLVMValueRef tr_tuning_in_row(struct tr_widen *widen, uint32_t value, uint32_t copy);
enum tr_growth { TR_ROWS_DIFFER, TR_ROWS_SHARE, TR_ROWS_GROW };
/* Whether rows share the scalar, or each has at least the value of the row before in this order. */
enum tr_growth tr_tuning_growth(const struct tr_widen *widen, LLVMValueRef operand,
                                bool is_in_signed_order);

#endif
