/* SPDX-License-Identifier: Apache-2.0
 *
 * Declarations of placeholders in a module, as their rows say.
 */
#ifndef PTXRUN_TRANSLATOR_MODULE_DECLARE_H
#define PTXRUN_TRANSLATOR_MODULE_DECLARE_H

#include <llvm-c/Types.h>

#include "kernel_abi/placeholders.h"

/* The module's declaration of the placeholder, made if there is none. Its calls are convergent. */
LLVMValueRef tr_declare_placeholder(LLVMModuleRef module, enum rt_placeholder placeholder);

#endif
