/* SPDX-License-Identifier: Apache-2.0
 *
 * The function of the module that does a run's operations (matrix_run.h), one after the other.
 * Private to translator/emit.
 */
#ifndef PTXRUN_TRANSLATOR_RUN_FUNCTION_H
#define PTXRUN_TRANSLATOR_RUN_FUNCTION_H

#include "translator/emit/matrix_run.h"
#include "translator/emit/warp_function.h"

struct tr_run_operation {
    struct tr_operation what;
    uint8_t rows[TR_OPERATION_ROWS]; /* where the words have each row of the operation */
    bool written[RT_WARP_WORDS];     /* by row of the words: the operation leaves a result there */
};

LLVMValueRef tr_build_run(struct tr_ctx *ctx, unsigned number,
                          const struct tr_run_operation *operations, unsigned count);

#endif
