/* SPDX-License-Identifier: Apache-2.0
 *
 * See read_file.h. The size is not asked for first: pipes have none.
 */
#include "util/read_file.h"

#include <stdlib.h>

#define ROOM_MIN_BYTES   4096
#define ROOM_FIRST_BYTES 65536
#define LIMIT_BYTES      ((size_t)1 << 32)

char *pxr_read_stream(FILE *file, size_t *size_bytes)
{
    char *bytes = NULL;
    size_t room = 0;
    *size_bytes = 0;
    while (!feof(file) && !ferror(file) && *size_bytes < LIMIT_BYTES) {
        if (room - *size_bytes < ROOM_MIN_BYTES) {
            room = room * 2 + ROOM_FIRST_BYTES;
            char *longer = realloc(bytes, room);
            if (!longer)
                break;
            bytes = longer;
        }
        *size_bytes += fread(bytes + *size_bytes, 1, room - *size_bytes - 1, file);
    }
    if (!feof(file) || ferror(file) || !bytes) {
        free(bytes);
        return NULL;
    }
    bytes[*size_bytes] = '\0';
    return bytes;
}

char *pxr_read_file(const char *path, size_t *size_bytes)
{
    FILE *file = fopen(path, "rbe");
    if (!file)
        return NULL;
    char *bytes = pxr_read_stream(file, size_bytes);
    fclose(file);
    return bytes;
}
