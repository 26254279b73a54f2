/* SPDX-License-Identifier: Apache-2.0
 *
 * --check=api: errors that the API has returned and that the program has not asked for since. That
 * a returned code is looked at cannot be seen; who asks for the last error, or for the name of an
 * error, has looked. Without that check these functions do nothing. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_CHECK_API_ERRORS_H
#define PTXRUN_CUDART_CORE_CHECK_API_ERRORS_H

#include <stdint.h>

#include "cudart/core/base/result.h"

CRT_API_BEGIN

/* The API function that the calling thread is in returns this error. */
void crt_api_error(uint32_t error);

/* It is a launch, which as <<<>>> returns nothing. what: "launch of scale(float*)"; why: a sentence
 * without its dot. The runtime that this is part of may then tell the error as any other. */
void crt_api_launch_error(uint32_t error, const char *what, const char *why);

/* The calling thread asks for its last error; anybody asks what this error is. */
void crt_api_error_asked(void);
void crt_api_error_named(uint32_t error);

CRT_API_END

/* A kernel has ended with this error; a call of the API has returned it. */
void crt_api_fault(uint32_t error);
void crt_api_fault_told(void);

/* The process ends: what nobody has asked for becomes findings. A program that ends with another
 * code than 0 has noticed that something is wrong, though not of launches. */
void crt_api_errors_end(int exit_code);

#endif
