/* SPDX-License-Identifier: Apache-2.0
 *
 * Names and sentences of the runtime API's errors (errors.def), for programs and for their kernels.
 * It needs nothing of this folder: the runtimes, which are libraries of their own, have it too.
 */
#ifndef PTXRUN_CUDART_CORE_BASE_ERROR_NAMES_H
#define PTXRUN_CUDART_CORE_BASE_ERROR_NAMES_H

#include <stdint.h>

/* For any number. */
const char *crt_error_name(uint32_t error);
const char *crt_error_text(uint32_t error);

#endif
