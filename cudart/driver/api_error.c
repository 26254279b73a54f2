/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and sentences of result codes.
 */
#include "cudart/driver/internal.h"

/* The number of a bad launch shape has a name in the runtime API only. */
static bool is_driver_code(CUresult error)
{
    return error != CRT_INVALID_CONFIGURATION;
}

CUresult cuGetErrorName(CUresult error, const char **name)
{
    if (!name)
        return CRT_INVALID_VALUE;
    *name = is_driver_code(error) ? crt_result_name((int)error) : NULL;
    return *name ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    if (!text)
        return CRT_INVALID_VALUE;
    *text = is_driver_code(error) ? crt_result_text((int)error) : NULL;
    return *text ? CRT_SUCCESS : CRT_INVALID_VALUE;
}
