/* SPDX-License-Identifier: Apache-2.0
 *
 * The library functions that LLVM's code generator calls on its own where a CPU has no instruction:
 * all those it can call, for any CPU, in code from the translator and LLVM's passes.
 */
#ifndef PTXRUN_JIT_LIBRARY_CALLS_H
#define PTXRUN_JIT_LIBRARY_CALLS_H

#include <stddef.h>

struct jit_library_call {
    const char *name;
    void (*function)(void); /* of the type that the name has */
};

extern const struct jit_library_call jit_library_calls[];
extern const size_t jit_library_call_count;

/* The function's address, or NULL if it is not in the table. */
void *jit_library_call_address(const char *name);

/* ---- those with no counterpart in every compiler's support library ---- */

/* Rounded once, to nearest, also from double; subnormals are kept; NaNs become quiet and keep their
 * sign and upper bits. A 16-bit float is passed as _Float16 is, whatever its format. */
float jit_extend_half(_Float16 value);
_Float16 jit_float_to_half(float value);
_Float16 jit_double_to_half(double value);
_Float16 jit_float_to_bfloat(float value);
_Float16 jit_double_to_bfloat(double value);

/* Any value if the half is not in the integer's range. */
__int128 jit_half_to_i128(_Float16 value);
unsigned __int128 jit_half_to_u128(_Float16 value);
_Float16 jit_i128_to_half(__int128 value);
_Float16 jit_u128_to_half(unsigned __int128 value);

#endif
