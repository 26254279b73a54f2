/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/base/error_names.h"

const char *crt_error_name(uint32_t error)
{
    switch (error) {
#define CUDA_ERROR_ROW(name, number, text)                                                         \
    case number:                                                                                   \
        return #name;
#include "cudart/core/base/errors.def"
#undef CUDA_ERROR_ROW
    default:
        return "unrecognized error code";
    }
}

const char *crt_error_text(uint32_t error)
{
    switch (error) {
#define CUDA_ERROR_ROW(name, number, text)                                                         \
    case number:                                                                                   \
        return text;
#include "cudart/core/base/errors.def"
#undef CUDA_ERROR_ROW
    default:
        return "unrecognized error code";
    }
}
