/* SPDX-License-Identifier: Apache-2.0
 *
 * See orc.h.
 */
#include "tests/support/orc.h"

#include <llvm-c/Orc.h>
#include <stdint.h>
#include <stdlib.h>

#include "jit/library_calls.h"

static LLVMOrcCSymbolMapPair pair_of(LLVMOrcLLJITRef jit, const char *name, uintptr_t address)
{
    return (LLVMOrcCSymbolMapPair){
        .Name = LLVMOrcLLJITMangleAndIntern(jit, name),
        .Sym = {.Address = address,
                .Flags = {.GenericFlags = LLVMJITSymbolGenericFlagsExported |
                                          LLVMJITSymbolGenericFlagsCallable}}};
}

LLVMErrorRef orc_define(LLVMOrcLLJITRef jit, const struct orc_symbol *symbols, size_t count)
{
    LLVMOrcCSymbolMapPair *pairs = calloc(count + jit_library_call_count, sizeof *pairs);
    size_t at = 0;
    for (size_t i = 0; i < jit_library_call_count; i++)
        pairs[at++] =
            pair_of(jit, jit_library_calls[i].name, (uintptr_t)jit_library_calls[i].function);
    for (size_t i = 0; i < count; i++)
        pairs[at++] = pair_of(jit, symbols[i].name, (uintptr_t)symbols[i].address);
    LLVMOrcJITDylibRef library = LLVMOrcLLJITGetMainJITDylib(jit);
    LLVMErrorRef error = LLVMOrcJITDylibDefine(library, LLVMOrcAbsoluteSymbols(pairs, at));
    free(pairs);
    return error;
}
