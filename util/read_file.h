/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole files, such as those that programs name in calls of the API.
 */
#ifndef PTXRUN_UTIL_READ_FILE_H
#define PTXRUN_UTIL_READ_FILE_H

#include <stddef.h>
#include <stdio.h>

/* What is left of the file, NUL-terminated; the caller frees it. NULL when it cannot be read, has
 * 4 GiB or more, or memory is short. Any thread may call them. */
char *pxr_read_stream(FILE *file, size_t *size_bytes);
char *pxr_read_file(const char *path, size_t *size_bytes);

#endif
