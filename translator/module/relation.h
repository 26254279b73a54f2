/* SPDX-License-Identifier: Apache-2.0
 *
 * Relations between integers.
 */
#ifndef PTXRUN_TRANSLATOR_MODULE_RELATION_H
#define PTXRUN_TRANSLATOR_MODULE_RELATION_H

#include <llvm-c/Core.h>

/* The one that holds between a and b if the given one does not. */
LLVMIntPredicate tr_relation_inverse(LLVMIntPredicate relation);

/* The one that holds between b and a if the given one holds between a and b. */
LLVMIntPredicate tr_relation_swapped(LLVMIntPredicate relation);

#endif
