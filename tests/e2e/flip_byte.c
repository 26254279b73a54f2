/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a copy of a file in which one byte is another.
 * Usage: flip_byte FILE COPY AT [MASK]; AT counts from 0, the bits of MASK are changed, default:
 * all.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/read_file.h"

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    size_t len = 0;
    size_t at = strtoul(argv[3], NULL, 0);
    char *bytes = pxr_read_file(argv[1], &len);
    if (!bytes || at >= len)
        return 1;
    bytes[at] = (char)(bytes[at] ^ (argc > 4 ? strtol(argv[4], NULL, 0) : 0xff));
    FILE *copy = fopen(argv[2], "wb");
    bool is_written = copy && fwrite(bytes, 1, len, copy) == len;
    if (copy && fclose(copy) != 0)
        is_written = false;
    free(bytes);
    return is_written ? 0 : 1;
}
