/* SPDX-License-Identifier: Apache-2.0
 *
 * The order in which the statements of a function are translated, so that runs of instructions on
 * matrices are long (matrix_run.h). Arithmetic that needs what the instructions of a run compute
 * ends it; so it is set aside, and with it what needs its own results, until the other instructions
 * have joined. Private to translator/emit.
 *
 * All other statements stay where they are: only between two of them the order changes.
 */
#ifndef PTXRUN_TRANSLATOR_MATRIX_ORDER_H
#define PTXRUN_TRANSLATOR_MATRIX_ORDER_H

#include "translator/emit/emit.h"

/* A statement that no run goes over. */
bool tr_ends_runs(const struct ptx_stmt *stmt);

/* By time: places in the function's statements. NULL: as written, also after a failure. */
const uint32_t *tr_matrix_order(struct tr_ctx *ctx);

#endif
