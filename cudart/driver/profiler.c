/* SPDX-License-Identifier: Apache-2.0
 *
 * The switch of an external profiler: there is none, so that it changes nothing.
 * cuProfilerInitialize returns CUDA_ERROR_NOT_SUPPORTED in CUDA 13 as well.
 */
#include "cudart/driver/internal.h"

CUresult cuProfilerStart(void)
{
    return check_context();
}

CUresult cuProfilerStop(void)
{
    return check_context();
}
