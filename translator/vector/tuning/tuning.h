/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of plan/tuning.def. Each finds and emits something that others do as well in a plainer
 * way, so each can be left out. Private to translator/vector.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_TUNING_H
#define PTXRUN_TRANSLATOR_VECTOR_TUNING_H

#include "translator/vector/memory/load_store.h"

/* Lanes access words that are neighbours, but far from those of other lanes (word_blocks.c). */
extern const struct tr_access_step tr_word_blocks;
/* Lanes are neighbours but at borders, which is asked each time (ask_neighbours.c). */
extern const struct tr_access_step tr_ask_neighbours;

/* ---- hooks (struct tr_tuning_hooks) ---- */

void tr_tuning_prefetch(struct tr_widen *widen, const struct tr_memory *memory, uint32_t copy,
                        LLVMValueRef address);
void tr_tuning_prefetch_line(struct tr_widen *widen, LLVMValueRef address);
/* Part of it: for loads that blocks begin with, whose rows lie side by side (first_touch.c). */
void tr_tuning_ask_for_run(struct tr_widen *widen, const struct tr_memory *memory, uint32_t copy,
                           LLVMValueRef address);
bool tr_tuning_is_in_run(const struct tr_widen *widen, uint32_t load);
enum pxr_status tr_split_rows(struct tr_nest *nest, uint32_t width, struct pxr_error *err);
LLVMValueRef tr_shorten(const struct tr_nest *nest, const struct tr_iteration *iteration,
                        bool is_jammed);

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
