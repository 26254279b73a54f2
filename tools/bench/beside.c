/* SPDX-License-Identifier: Apache-2.0
 *
 * The ptxrun that belongs to this ptxbench.
 */
#include "tools/bench/beside.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

const char *ptxrun_beside(void)
{
    static const char name[] = "ptxrun";
    static char path[PATH_MAX + sizeof name];
    ssize_t size = readlink("/proc/self/exe", path, PATH_MAX);
    char *slash = size > 0 ? memrchr(path, '/', (size_t)size) : NULL;
    if (!slash)
        return name;
    memcpy(slash + 1, name, sizeof name);
    return access(path, X_OK) == 0 ? path : name;
}
