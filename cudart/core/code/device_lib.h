/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions that kernels call and the host provides: printf, malloc, free, assert.
 * Their prototypes are in kernel_abi/rt.h.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_DEVICE_LIB_H
#define PTXRUN_CUDART_CORE_CODE_DEVICE_LIB_H

#include <stddef.h>

#include "jit/jit.h"

extern const struct jit_symbol crt_device_symbols[];
extern const size_t crt_device_symbol_count;

#endif
