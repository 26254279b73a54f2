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

const char *const target_older_cudarts[TARGET_OLDER_COUNT] = {"libcudart.so.12",
                                                              "libcudart.so.11.0"};

static void look_below(const char *prefix, bool has_package[TARGET_OLDER_COUNT])
{
    char pattern[PATH_MAX];
    int len = snprintf(pattern, sizeof pattern,
                       "%s/lib/python3*/*-packages/nvidia/*/lib/libcudart.so.*", prefix);
    glob_t found;
    if (len < 0 || (size_t)len >= sizeof pattern)
        return;
    bool is_found = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;
    for (size_t i = 0; is_found && i < found.gl_pathc; i++)
        for (int which = 0; which < TARGET_OLDER_COUNT; which++)
            has_package[which] |=
                strcmp(strrchr(found.gl_pathv[i], '/') + 1, target_older_cudarts[which]) == 0;
    globfree(&found);
}

/* PREFIX/bin/python: as it is written, as environments consist of links. */
static void look_beside(const char *path, bool has_package[TARGET_OLDER_COUNT])
{
    char prefix[PATH_MAX];
    int len = snprintf(prefix, sizeof prefix, "%s", path);
    for (int i = 0; i < 2; i++) {
        char *slash = len > 0 && (size_t)len < sizeof prefix ? strrchr(prefix, '/') : NULL;
        if (!slash)
            return;
        *slash = '\0';
    }
    look_below(prefix, has_package);
}

void target_find_packages(const char *path, bool has_package[TARGET_OLDER_COUNT])
{
    static const char *const variables[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
    char home[PATH_MAX];
    memset(has_package, 0, TARGET_OLDER_COUNT * sizeof has_package[0]);
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *prefix = getenv(variables[i]);
        if (prefix && *prefix)
            look_below(prefix, has_package);
    }
    int len = snprintf(home, sizeof home, "%s/.local", getenv("HOME") ? getenv("HOME") : "");
    if (len > 0 && (size_t)len < sizeof home)
        look_below(home, has_package);
    if (path)
        look_beside(path, has_package);
    look_below("/usr", has_package);
    look_below("/usr/local", has_package);
}
