/* SPDX-License-Identifier: Apache-2.0
 *
 * Samplers for textures whose shape is known.
 */
#ifndef PTXRUN_TRANSLATOR_FACTS_FIXED_SAMPLERS_H
#define PTXRUN_TRANSLATOR_FACTS_FIXED_SAMPLERS_H

#include <stdbool.h>

#include <llvm-c/Types.h>

#include "util/error.h"

/* Fetches from handles whose upper bits are constant become calls of a helper for that shape, which
 * is linked in, to be inlined. *has_any: whether there were such. */
enum pxr_status tr_fix_samplers(LLVMModuleRef module, bool *has_any, struct pxr_error *err);

#endif
