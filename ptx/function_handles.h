/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbering of function handles, for the parser and the linker. Internal to ptx/.
 */
#ifndef PTXRUN_PTX_FUNCTION_HANDLES_H
#define PTXRUN_PTX_FUNCTION_HANDLES_H

#include "ptx/ptx.h"

/* Gives the functions whose address is taken their handles, in order. */
void ptx_number_handles(struct ptx_func **funcs, size_t count);

#endif
