/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes of a warp that exchange values through memory and are ordered by nothing.
 */
#ifndef PTXRUN_TRANSLATOR_BARRIERS_EXCHANGES_H
#define PTXRUN_TRANSLATOR_BARRIERS_EXCHANGES_H

#include <llvm-c/Types.h>

#include "translator/module/launch_facts.h"
#include "util/error.h"

/* Lets the lanes of a warp come together where one gets a word that another one has stored, or
 * overwrites it: in shared memory, or where a shuffle has told it. facts may be NULL. Errors:
 * PXR_OUT_OF_MEMORY. */
enum pxr_status tr_order_exchanges(LLVMModuleRef module, const struct tr_facts *facts,
                                   struct pxr_error *err);

#endif
