/* SPDX-License-Identifier: Apache-2.0
 *
 * Every function of the management library that is not implemented: it returns
 * NVML_ERROR_NOT_SUPPORTED, as it does for devices that lack what it is about. The arguments do not
 * matter to the calling convention.
 */
#include "cudart/nvml/nvml_types.h"

#define IMPLEMENTED(name)
#define MISSING(name)                                                                              \
    NVML_API nvmlReturn_t name(void);                                                              \
    nvmlReturn_t name(void)                                                                        \
    {                                                                                              \
        nvmlReturn_t result = crt_nvml_ready();                                                    \
        return result == NVML_SUCCESS ? NVML_ERROR_NOT_SUPPORTED : result;                         \
    }
#include "cudart/nvml/symbols.def"
