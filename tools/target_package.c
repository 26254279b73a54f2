/* SPDX-License-Identifier: Apache-2.0
 *
 * The folders in which packages of Python put NVIDIA's libraries.
 */
#include "tools/target_package.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const target_older_cudarts[2] = {"libcudart.so.12", "libcudart.so.11.0"};

static bool is_below(const char *prefix, const char *library)
{
    char pattern[PATH_MAX];
    int len = snprintf(pattern, sizeof pattern, "%s/lib/python3*/*-packages/nvidia/*/lib/%s",
                       prefix, library);
    glob_t found;
    if (len < 0 || (size_t)len >= sizeof pattern)
        return false;
    bool is_found = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;
    globfree(&found);
    return is_found;
}

/* PREFIX/bin/python: as it is written, as environments consist of links. */
static bool is_beside(const char *path, const char *library)
{
    char prefix[PATH_MAX];
    int len = snprintf(prefix, sizeof prefix, "%s", path);
    for (int i = 0; i < 2; i++) {
        char *slash = len > 0 && (size_t)len < sizeof prefix ? strrchr(prefix, '/') : NULL;
        if (!slash)
            return false;
        *slash = '\0';
    }
    return is_below(prefix, library);
}

bool target_has_package(const char *path, const char *library)
{
    static const char *const variables[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
    char home[PATH_MAX];
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *prefix = getenv(variables[i]);
        if (prefix && *prefix && is_below(prefix, library))
            return true;
    }
    int len = snprintf(home, sizeof home, "%s/.local", getenv("HOME") ? getenv("HOME") : "");
    if (len > 0 && (size_t)len < sizeof home && is_below(home, library))
        return true;
    return (path && is_beside(path, library)) || is_below("/usr", library) ||
           is_below("/usr/local", library);
}
