/* SPDX-License-Identifier: Apache-2.0
 *
 * A module with every operation that the translator or LLVM's passes can leave in a kernel, on
 * every type and in vectors of many widths: what may become a call of a library.
 */
#ifndef PTXRUN_TESTS_UNIT_JIT_CALL_FORMS_H
#define PTXRUN_TESTS_UNIT_JIT_CALL_FORMS_H

#include <stdio.h>

/* Writes text; vector_bits is what the code generator may use. */
void call_forms_write(FILE *text, unsigned vector_bits);

#endif
