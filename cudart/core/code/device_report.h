/* SPDX-License-Identifier: Apache-2.0
 *
 * --check=device: launches that work here and would fail on a device of the capability that is
 * asked about. Without that check nothing happens.
 */
#ifndef PTXRUN_CUDART_CORE_CODE_DEVICE_REPORT_H
#define PTXRUN_CUDART_CORE_CODE_DEVICE_REPORT_H

#include "cudart/core/base/result.h"

struct crt_kernel;
struct crt_launch_config;
struct crt_library;

CRT_API_BEGIN

/* The API function that the calling thread is in has launched the kernel. */
void crt_report_device(struct crt_kernel *kernel, const struct crt_launch_config *config);

CRT_API_END

/* While the image of a library with an outline can be read: whether the device would find code in
 * it. */
void crt_look_for_device_code(struct crt_library *library);

#endif
