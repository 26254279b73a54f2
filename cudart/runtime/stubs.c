/* SPDX-License-Identifier: Apache-2.0
 *
 * The exported functions that are not implemented, made from the table. All of them return an error
 * code, so the missing parameters make no difference to the caller.
 */
#include "cudart/runtime/runtime.h"

#ifndef CUDART_SYMBOLS
#define CUDART_SYMBOLS "cudart/runtime/symbols.def"
#endif

#define CUDART_IMPLEMENTED(name)
#define CUDART_STUB(name)                                                                          \
    __attribute__((visibility("default"))) cudaError_t name(void);                                 \
    cudaError_t name(void)                                                                         \
    {                                                                                              \
        return crt_unsupported(#name);                                                             \
    }
#include CUDART_SYMBOLS
#undef CUDART_STUB
#undef CUDART_IMPLEMENTED
