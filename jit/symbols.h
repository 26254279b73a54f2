/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions outside an object that generated code may call.
 */
#ifndef PTXRUN_JIT_SYMBOLS_H
#define PTXRUN_JIT_SYMBOLS_H

/* The address of a function of the whitelist, or NULL. */
void *jit_symbol_address(const char *name);

#endif
