/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads the table of the process's mappings, which is sorted by address.
 */
#include "ptx/readable.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

size_t ptx_readable_bytes(const void *at)
{
    uintptr_t end = (uintptr_t)at;
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps)
        return SIZE_MAX;
    char *line = NULL;
    size_t cap = 0;
    while (getline(&line, &cap, maps) > 0) {
        uintptr_t begin;
        uintptr_t behind;
        char readable;
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %c", &begin, &behind, &readable) != 3 ||
            behind <= end)
            continue;
        if (begin > end || readable != 'r')
            break;
        end = behind;
    }
    free(line);
    fclose(maps);
    return end - (uintptr_t)at;
}
