/* SPDX-License-Identifier: Apache-2.0
 *
 * What code in a test's LLJIT may call: the library calls that the product allows, and what the
 * test hands in. Nothing of the process is found by its name, so that a call that the product would
 * refuse is refused here, too.
 */
#ifndef PTXRUN_TESTS_SUPPORT_ORC_H
#define PTXRUN_TESTS_SUPPORT_ORC_H

#include <stddef.h>

#include <llvm-c/LLJIT.h>

struct orc_symbol {
    const char *name;
    void *address;
};

LLVMErrorRef orc_define(LLVMOrcLLJITRef jit, const struct orc_symbol *symbols, size_t count);

#endif
