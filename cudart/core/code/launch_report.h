/* SPDX-License-Identifier: Apache-2.0
 *
 * --check=api: launches that fail. Without that check nothing happens.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_LAUNCH_REPORT_H
#define PTXRUN_CUDART_CORE_CODE_LAUNCH_REPORT_H

#include "cudart/core/base/result.h"

struct crt_kernel;
struct crt_launch_config;

CRT_API_BEGIN

/* The API function that the calling thread is in returns this error; kernel: any address. */
void crt_report_launch(const struct crt_kernel *kernel, const struct crt_launch_config *config,
                       uint32_t error);

CRT_API_END

#endif
