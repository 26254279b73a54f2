/* SPDX-License-Identifier: Apache-2.0
 *
 * On what was measured.
 */
#include "tools/bench/machine.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define WORD_BYTES 32

const char *machine_cpu(void)
{
    static char name[256];
    FILE *file = name[0] ? NULL : fopen("/proc/cpuinfo", "re");
    char line[256];
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (colon && strncmp(line, "model name", 10) == 0) {
            snprintf(name, sizeof name, "%s", colon + 1 + strspn(colon + 1, " "));
            name[strcspn(name, "\n")] = '\0';
            break;
        }
    }
    if (file)
        fclose(file);
    return name[0] ? name : "unknown CPU";
}

/* A word of a file about the cache with this number. */
static bool read_cache(int number, const char *name, char word[WORD_BYTES])
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", number, name);
    FILE *file = fopen(path, "re");
    bool is_read = file && fscanf(file, "%31s", word) == 1;
    if (file)
        fclose(file);
    return is_read;
}

const char *machine_caches(void)
{
    static char text[256];
    char level[WORD_BYTES], type[WORD_BYTES], size[WORD_BYTES];
    size_t length = 0;
    if (text[0])
        return text;
    for (int i = 0; read_cache(i, "level", level) && read_cache(i, "type", type) &&
                    read_cache(i, "size", size) && length < sizeof text;
         i++)
        if (strcmp(type, "Instruction") != 0)
            length += (size_t)snprintf(text + length, sizeof text - length, "%sL%s %s",
                                       length > 0 ? ", " : "", level, size);
    if (!text[0])
        snprintf(text, sizeof text, "unknown");
    return text;
}

size_t machine_cache_bytes(int level)
{
    char name[8];
    unsigned long kib = 0;
    snprintf(name, sizeof name, "L%d ", level);
    const char *at = strstr(machine_caches(), name);
    return at && sscanf(at + strlen(name), "%luK", &kib) == 1 ? (size_t)kib << 10 : 0;
}

unsigned machine_cpus(void)
{
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0)
        return 1;
    return (unsigned)CPU_COUNT(&usable);
}
