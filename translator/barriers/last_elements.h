/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements that several threads of a block change in place, each as if it was alone.
 */
#ifndef PTXRUN_TRANSLATOR_BARRIERS_LAST_ELEMENTS_H
#define PTXRUN_TRANSLATOR_BARRIERS_LAST_ELEMENTS_H

#include <llvm-c/Types.h>

#include "translator/module/launch_facts.h"
#include "util/error.h"

/* Adds a barrier between the load and the store of an element that threads without one of their own
 * have in common with another. facts may be NULL. Errors: PXR_OUT_OF_MEMORY. */
enum pxr_status tr_share_last_elements(LLVMModuleRef module, const struct tr_facts *facts,
                                       struct pxr_error *err);

#endif
