/* SPDX-License-Identifier: Apache-2.0
 *
 * Every other driver function, as a weak definition that returns CUDA_ERROR_NOT_SUPPORTED.
 */
#define NOT_SUPPORTED 801

#define REST(name)                                                                                 \
    int name(void);                                                                                \
    __attribute__((weak)) int name(void)                                                           \
    {                                                                                              \
        return NOT_SUPPORTED;                                                                      \
    }
#define IMPLEMENTED(name) REST(name)
#define MISSING(name)     REST(name)
#include "cudart/driver/symbols.def"
