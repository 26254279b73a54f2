/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests that write their IR as text.
 */
#ifndef PTXRUN_TESTS_VECTOR_PARSE_IR_H
#define PTXRUN_TESTS_VECTOR_PARSE_IR_H

#include <criterion/criterion.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <string.h>

/* The test fails if it is not IR. */
static inline LLVMModuleRef parse_ir(LLVMContextRef context, const char *text)
{
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "text");
    LLVMModuleRef module = NULL;
    char *message = NULL;
    cr_assert_not(LLVMParseIRInContext2(context, buffer, &module, &message), "%s", message);
    LLVMDisposeMemoryBuffer(buffer);
    return module;
}

#endif
