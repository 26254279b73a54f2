/* SPDX-License-Identifier: Apache-2.0
 *
 * Whose code is looked at for the source of a call.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/base/host_frames.h"

static int count_mappings(const char *library)
{
    char line[4096];
    int count = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    cr_assert_not_null(maps);
    while (fgets(line, sizeof line, maps))
        count += strstr(line, library) != NULL;
    fclose(maps);
    return count;
}

/* Its debugging information, where there is any, takes longer to read than most kernels to run. */
Test(host_frames, files_of_the_c_library_are_not_read)
{
    struct crt_frames frames = {.at = {(char *)qsort + 1}, .count = 1};
    int mappings = count_mappings("/libc.so");
    cr_assert_gt(mappings, 0);
    cr_expect_null(crt_frames_source(&frames).file);
    cr_expect_eq(count_mappings("/libc.so"), mappings);
}
