/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and sentences of result codes.
 */
#include "cudart/driver/internal.h"

CUresult cuGetErrorName(CUresult error, const char **name)
{
    if (!name)
        return CRT_INVALID_VALUE;
    *name = crt_result_name((int)error);
    return *name ? CRT_SUCCESS : CRT_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text)
{
    if (!text)
        return CRT_INVALID_VALUE;
    *text = crt_result_text((int)error);
    return *text ? CRT_SUCCESS : CRT_INVALID_VALUE;
}
