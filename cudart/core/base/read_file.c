/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a whole file.
 */
#include "cudart/core/base/read_file.h"

#include <stdio.h>
#include <stdlib.h>

#define FILE_LIMIT_BYTES ((size_t)1 << 32)

char *crt_read_file(const char *path, size_t *size_bytes)
{
    FILE *file = fopen(path, "rbe");
    if (!file)
        return NULL;
    char *bytes = NULL;
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (size >= 0 && (size_t)size < FILE_LIMIT_BYTES && fseek(file, 0, SEEK_SET) == 0)
        bytes = malloc((size_t)size + 1);
    if (bytes) {
        *size_bytes = fread(bytes, 1, (size_t)size, file);
        bytes[*size_bytes] = '\0';
    }
    fclose(file);
    return bytes;
}
