/* SPDX-License-Identifier: Apache-2.0
 *
 * The variable that an address was made of, as the text of the function has it: a name, to which
 * only numbers were added. Compilers keep to it: in C++ no pointer leads from one variable to
 * another. Private to translator/emit.
 */
#ifndef PTXRUN_TRANSLATOR_EMIT_ADDRESS_VARIABLE_H
#define PTXRUN_TRANSLATOR_EMIT_ADDRESS_VARIABLE_H

#include <stdbool.h>

#include "ptx/ptx.h"

struct tr_ctx;

/* NULL: none, or it may be one of several, or something else was done with the address than to add
 * to it. address: an operand in brackets of the function being made. */
const struct ptx_var *tr_variable_of(struct tr_ctx *ctx, const struct ptx_operand *address);

/* Whether all accesses to the variable, which is the function's own, are by loads and stores of
 * which tr_variable_of says so: its address gets nowhere else. vprintf, which only reads what it is
 * given, may have it. */
bool tr_variable_stays(struct tr_ctx *ctx, const struct ptx_var *var);

#endif
