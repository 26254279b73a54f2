/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of the source in place of lines of PTX, for debuggers.
 */
#ifndef PTXRUN_TRANSLATOR_EMIT_SOURCE_LINES_H
#define PTXRUN_TRANSLATOR_EMIT_SOURCE_LINES_H

#include <llvm-c/Types.h>

#include "ptx/ptx.h"

/* Locations, which are lines of ptx's text, become what .loc says there. The line of PTX stays as
 * the location's discriminator, which debuggers do not look at (DWARF 5, section 6.2.2) and
 * jit/lines.h reads. To be run last: nothing knows PTX lines behind it. */
void tr_tell_source_lines(LLVMModuleRef module, const struct ptx_module *ptx);

#endif
