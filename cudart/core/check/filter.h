/* SPDX-License-Identifier: Apache-2.0
 *
 * Which findings count: those of the kernels and rules that are asked for.
 */
#ifndef PTXRUN_CUDART_CORE_CHECK_FILTER_H
#define PTXRUN_CUDART_CORE_CHECK_FILTER_H

#include "cudart/core/check/findings.h"

bool crt_filter_lets_pass(const struct crt_found *found);

/* Whether a pattern, with * and ? as file names have them, is that of the finding's kernel: of its
 * symbol, its name as the source has it, or that without parameters. */
bool crt_filter_is_kernel(const char *pattern, const struct crt_found *found);

#endif
