/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that programs name in calls of the API.
 */
#ifndef PTXRUN_CUDART_CORE_BASE_READ_FILE_H
#define PTXRUN_CUDART_CORE_BASE_READ_FILE_H

#include <stddef.h>

/* The file's bytes, NUL-terminated; the caller frees them. NULL when it cannot be read. */
char *crt_read_file(const char *path, size_t *size_bytes);

#endif
