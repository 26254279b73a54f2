/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes the promises of launches into the program of one thread.
 */
#ifndef PTXRUN_TRANSLATOR_FACTS_ASSUME_FACTS_H
#define PTXRUN_TRANSLATOR_FACTS_ASSUME_FACTS_H

#include <llvm-c/Types.h>

#include "ptx/ptx.h"
#include "translator/module/launch_facts.h"

/* Writes into the program of one thread that launches keep within the limits of launch_facts.h, and
 * these facts, as constants and ranges; passes find the consequences. */
void tr_assume_facts(LLVMModuleRef module, const struct ptx_func *kernel,
                     const struct tr_facts *facts);

#endif
