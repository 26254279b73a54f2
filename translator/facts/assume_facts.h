/* SPDX-License-Identifier: Apache-2.0
 *
 * What launches promise, in the program of one thread.
 */
#ifndef PTXRUN_TRANSLATOR_FACTS_ASSUME_FACTS_H
#define PTXRUN_TRANSLATOR_FACTS_ASSUME_FACTS_H

#include <llvm-c/Types.h>

#include "ptx/ptx.h"
#include "translator/module/launch_facts.h"

/* Writes into the program of one thread what is true of launches: that they keep within the limits
 * of launch_facts.h, and these facts. Constants and ranges; passes find out what follows. */
void tr_assume_facts(LLVMModuleRef module, const struct ptx_func *kernel,
                     const struct tr_facts *facts);

#endif
