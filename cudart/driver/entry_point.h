/* SPDX-License-Identifier: Apache-2.0
 *
 * The look-up behind cuGetProcAddress.
 */
#ifndef PTXRUN_CUDART_DRIVER_ENTRY_POINT_H
#define PTXRUN_CUDART_DRIVER_ENTRY_POINT_H

#include "cudart/driver/cuda_driver.h"

/* The newest form of the function that is not newer than version; NULL with the reason why not. */
CUdriverProcAddressQueryResult entry_point_find(const char *name, int version, cuuint64_t flags,
                                                void **function);

#endif
