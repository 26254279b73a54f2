/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions outside an object that generated code may call.
 */
#ifndef PTXRUN_JIT_SYMBOLS_H
#define PTXRUN_JIT_SYMBOLS_H

#include "jit/jit.h"

/* The address of a function of the whitelist, or NULL. */
void *jit_symbol_address(const char *name);

/* The whitelist as a table that lives as long as the process; NULL when out of memory. */
const struct jit_symbol *jit_symbol_table(size_t *count);

#endif
