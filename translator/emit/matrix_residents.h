/* SPDX-License-Identifier: Apache-2.0
 *
 * Residents, registers that live in the words of the warp: what a run of instructions on matrices
 * computes stays there for the next run that needs it, as the sums of a product do from one turn of
 * a loop to the next. Lanes do not take it out and put it back; other instructions read and write
 * it there. Private to translator/emit.
 */
#ifndef PTXRUN_TRANSLATOR_MATRIX_RESIDENTS_H
#define PTXRUN_TRANSLATOR_MATRIX_RESIDENTS_H

#include "translator/emit/emit.h"

/* Before the function's statements are emitted, in this order (matrix_order.h): finds its
 * residents. */
void tr_make_residents(struct tr_ctx *ctx, const uint32_t *order);

/* Rows below are for runs; the residents' are behind them. */
unsigned tr_first_resident(const struct tr_ctx *ctx);

/* The register's row; 0: it lives elsewhere. */
unsigned tr_resident_row(const struct tr_ctx *ctx, const struct ptx_operand *part);

#endif
