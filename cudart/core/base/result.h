/* SPDX-License-Identifier: Apache-2.0
 *
 * Results of the CUDA objects: the numbers of the driver API, so that the faces pass them on
 * unchanged, and the one table that turns a pxr_status into one of them.
 */
#ifndef PTXRUN_CUDART_CORE_BASE_RESULT_H
#define PTXRUN_CUDART_CORE_BASE_RESULT_H

#include "util/error.h"

/* Functions declared between these two may be called by the libraries beside libptxrun.so:
 * cudart/bridge looks for them. */
#define CRT_API_BEGIN
#define CRT_API_END

enum crt_result {
#define RESULT(ID, number, text) CRT_##ID = number,
#include "cudart/core/base/result.def"
#undef RESULT
};

CRT_API_BEGIN

/* The driver API's answer to a failure below it. */
enum crt_result crt_result_from_status(enum pxr_status status);

/* "CUDA_ERROR_INVALID_VALUE" and its sentence; NULL for a number that is no result. */
const char *crt_result_name(int result);
const char *crt_result_text(int result);

/* Says once per symbol that it is not implemented; returns CRT_NOT_SUPPORTED.
 * symbol: a string literal, whose address is the key. */
enum crt_result crt_not_supported(const char *symbol);

CRT_API_END

#endif
