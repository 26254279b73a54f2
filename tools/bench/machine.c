/* SPDX-License-Identifier: Apache-2.0
 *
 * On what was measured.
 */
#include "tools/bench/machine.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

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

unsigned machine_cpus(void)
{
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) != 0)
        return 1;
    return (unsigned)CPU_COUNT(&usable);
}
