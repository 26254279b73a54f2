/* SPDX-License-Identifier: Apache-2.0
 *
 * Every symbol of the driver library that is not implemented. Each says so once and returns
 * CUDA_ERROR_NOT_SUPPORTED; the arguments do not matter to the calling convention.
 */
#include "cudart/core/base/result.h"

#define IMPLEMENTED(name)
#define MISSING(name)                                                                              \
    __attribute__((visibility("default"))) enum crt_result name(void);                             \
    enum crt_result name(void)                                                                     \
    {                                                                                              \
        static const char symbol[] = #name;                                                        \
        return crt_not_supported(symbol);                                                          \
    }
#include "cudart/driver/symbols.def"
