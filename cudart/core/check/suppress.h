/* SPDX-License-Identifier: Apache-2.0
 *
 * Suppressions: findings that a file names do not count. An entry is a line "suppress RULE" and,
 * with blanks in front, lines of what else has to be so: kernel PATTERN   the kernel, as
 * crt_filter_is_kernel has it at FILE[:LINE]   the place that reports tell; FILE is a pattern of
 * the path or of its last parts call PATTERN     one of the functions of the host that have led
 * there RULE is a pattern, too. Lines that begin with # are comments. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_CHECK_SUPPRESS_H
#define PTXRUN_CUDART_CORE_CHECK_SUPPRESS_H

#include <stdio.h>

#include "cudart/core/check/findings.h"

/* Reads the file of --suppressions, once; says what is wrong with it. */
void crt_suppressions_load(void);

bool crt_suppressions_have(const struct crt_found *found);

/* An entry for each finding. */
void crt_suppressions_write(FILE *file, const struct crt_found *found, size_t count);

#endif
