/* SPDX-License-Identifier: Apache-2.0
 *
 * The registers that an instruction names, also those in braces and in addresses, of calls, and its
 * guard. Private to translator/emit.
 */
#ifndef PTXRUN_TRANSLATOR_EMIT_REGISTERS_H
#define PTXRUN_TRANSLATOR_EMIT_REGISTERS_H

#include "ptx/ptx.h"

/* part: an operand, or one in it, of kind PTX_OPERAND_REG. */
typedef void (*tr_register_fn)(const struct ptx_operand *part, void *data);

void tr_for_operand_registers(const struct ptx_operand *operand, tr_register_fn fn, void *data);

void tr_for_registers(const struct ptx_inst *inst, tr_register_fn fn, void *data);

#endif
