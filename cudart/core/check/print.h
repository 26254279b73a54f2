/* SPDX-License-Identifier: Apache-2.0
 *
 * What is said while the program runs and when it ends, in the style and at the place that are
 * asked for. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_CHECK_PRINT_H
#define PTXRUN_CUDART_CORE_CHECK_PRINT_H

#include "cudart/core/check/findings.h"

void crt_print_finding(const struct crt_found *found);

/* The last lines, of a program that ends with this code. */
void crt_print_end(const struct crt_found *found, size_t count, int exit_code);

#endif
