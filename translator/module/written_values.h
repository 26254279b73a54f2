/* SPDX-License-Identifier: Apache-2.0
 *
 * Which bytes of a value have been written, where values only go from memory to memory: there
 * nothing is wrong with bytes that nobody has written, but the copy has not been written, either.
 * Any other use of a value asks for all of it (docs/check.md).
 *
 * The emitter marks values that were read, and what is stored; when registers have become values,
 * tr_follow_written looks what becomes of the first, and takes the marks out again.
 */
#ifndef PTXRUN_TRANSLATOR_MODULE_WRITTEN_VALUES_H
#define PTXRUN_TRANSLATOR_MODULE_WRITTEN_VALUES_H

#include <stdbool.h>

#include <llvm-c/Types.h>

/* The value as it was read from memory; written: the result of a call of rt_written, or of
 * tr_mark_own. Integers of
 * whole bytes and vectors of them, RT_WRITTEN_MAX bytes at most. */
LLVMValueRef tr_mark_read(LLVMBuilderRef builder, LLVMValueRef value, LLVMValueRef written);

/* Which bytes of a read have been written (an i32), for arrays of the thread's own; other operands
 * as rt_check_own's. */
LLVMValueRef tr_mark_own(LLVMBuilderRef builder, LLVMValueRef written, LLVMValueRef thread,
                         LLVMValueRef place, LLVMValueRef accesses);

/* Which bytes of a value that is to be stored have been written, an i32; and that value, for the
 * store. */
LLVMValueRef tr_written_of(LLVMBuilderRef builder, LLVMValueRef value);
LLVMValueRef tr_mark_stored(LLVMBuilderRef builder, LLVMValueRef value);

/* Whether the module has such marks; takes them out. has_values: registers are values. */
bool tr_has_written_marks(LLVMModuleRef module);
void tr_follow_written(LLVMModuleRef module, bool has_values);

#endif
