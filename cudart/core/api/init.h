/* SPDX-License-Identifier: Apache-2.0
 *
 * Initialisation: the one place that knows all folders below.
 */
#ifndef PTXRUN_CUDART_CORE_API_INIT_H
#define PTXRUN_CUDART_CORE_API_INIT_H

#include "cudart/core/base/result.h"

CRT_API_BEGIN

/* Initialises at the first call. CRT_NO_DEVICE when all are hidden, CRT_INVALID_VALUE for
 * flags other than 0, CRT_NOT_INITIALIZED in the child of a fork. */
enum crt_result crt_init(unsigned flags);

CRT_API_END

#endif
