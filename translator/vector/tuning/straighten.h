/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks in one go, so that shared memory is never written (straight.c).
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_STRAIGHTEN_H
#define PTXRUN_TRANSLATOR_VECTOR_STRAIGHTEN_H

#include <stdbool.h>

#include <llvm-c/Types.h>

#include "util/error.h"

/* Runs behind the passes for vectors; its code needs cleaning up. Errors: PXR_OUT_OF_MEMORY. */
enum pxr_status tr_straighten_blocks(LLVMModuleRef module, bool *has_changed,
                                     struct pxr_error *err);

#endif
