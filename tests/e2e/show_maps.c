/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded into a program: prints at exit which files are mapped.
 */
#include <stdio.h>
#include <string.h>

__attribute__((destructor)) static void show_maps(void)
{
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (strstr(line, "r-xp") && strchr(line, '/'))
            fputs(strchr(line, '/'), stderr);
    if (maps)
        fclose(maps);
}
