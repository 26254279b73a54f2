/* SPDX-License-Identifier: Apache-2.0
 *
 * Keeps lines of memory accesses across optimisation: a report of a fault needs the PTX line even
 * of an access that was moved out of a loop, whose line LLVM drops (a debugger would jump about).
 */
#ifndef PTXRUN_TRANSLATOR_MODULE_KEEP_LINES_H
#define PTXRUN_TRANSLATOR_MODULE_KEEP_LINES_H

#include <stdint.h>

#include <llvm-c/Types.h>

/* Before the passes: marks every load, store and atomic operation with its location. */
void tr_lines_mark(LLVMModuleRef module);

/* After them: gives those without a location the one of the mark, and removes the marks. */
void tr_lines_restore(LLVMModuleRef module);

/* For people: the instruction's line. If it has none, that of the nearest instruction before it in
 * its block which has one, or else behind it; or else the function's first. 0: none is known. */
uint32_t tr_line_near(LLVMValueRef inst);

#endif
