/* SPDX-License-Identifier: Apache-2.0
 *
 * What a warp reads once: see one_reading.c.
 */
#ifndef PTXRUN_TRANSLATOR_BARRIERS_ONE_READING_H
#define PTXRUN_TRANSLATOR_BARRIERS_ONE_READING_H

#include <llvm-c/Types.h>

#include "translator/module/launch_facts.h"
#include "util/error.h"

/* Lets all lanes of a warp have what one of them has read, where they leave a loop by it together.
 * facts may be NULL. Errors: PXR_OUT_OF_MEMORY. */
enum pxr_status tr_read_once(LLVMModuleRef module, const struct tr_facts *facts,
                             struct pxr_error *err);

#endif
