/* SPDX-License-Identifier: Apache-2.0
 *
 * Library directories and the variables of the dynamic loader. All values are absolute, so they
 * hold in any directory and are inherited by whatever the program starts.
 */
#include "tools/launch_env.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Relative to the directory of the executable: installed, then a build tree. */
static const char *const LIBRARY_DIRS[] = {PTXRUN_LIBDIR_FROM_BINDIR, "../lib/ptxrun"};

/* Absolute path of <directory>/<name> if it exists, else NULL. */
static char *existing_path(const char *directory, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", directory, name) < 0)
        return NULL;
    char *real = realpath(path, NULL);
    free(path);
    return real;
}

static bool holds_driver(const char *directory)
{
    char *path = NULL;
    bool is_there = asprintf(&path, "%s/libcuda.so.1", directory) >= 0 && access(path, R_OK) == 0;
    free(path);
    return is_there;
}

enum pxr_status launch_dirs_find(struct launch_dirs *dirs, struct pxr_error *err)
{
    *dirs = (struct launch_dirs){0};
    char own[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", own, sizeof own - 1);
    if (len <= 0)
        return pxr_fail(err, PXR_NOT_FOUND,
                        "cannot find out where ptxrun is installed: /proc/self/exe: %s",
                        strerror(errno));
    own[len] = 0;
    *strrchr(own, '/') = 0;
    for (size_t i = 0; !dirs->driver && i < sizeof LIBRARY_DIRS / sizeof *LIBRARY_DIRS; i++) {
        char *candidate = existing_path(own, LIBRARY_DIRS[i]);
        if (candidate && holds_driver(candidate))
            dirs->driver = candidate;
        else
            free(candidate);
    }
    if (!dirs->driver)
        return pxr_fail(err, PXR_NOT_FOUND,
                        "libcuda.so.1 is neither in %s/%s nor in %s/%s; the installation is "
                        "incomplete",
                        own, LIBRARY_DIRS[0], own, LIBRARY_DIRS[1]);
    if (strpbrk(dirs->driver, ":;"))
        return pxr_fail(
            err, PXR_INVALID_ARGUMENT,
            "'%s' cannot be put into LD_LIBRARY_PATH: install ptxrun where the path has "
            "no ':' and no ';'",
            dirs->driver);
    dirs->cudart = existing_path(dirs->driver, "cudart");
    dirs->older[0] = existing_path(dirs->driver, "cudart/older/12");
    dirs->older[1] = existing_path(dirs->driver, "cudart/older/11.0");
    dirs->tools = existing_path(dirs->driver, "bin");
    return PXR_OK;
}

void launch_dirs_fini(struct launch_dirs *dirs)
{
    free(dirs->driver);
    free(dirs->cudart);
    for (int i = 0; i < LAUNCH_OLDER_COUNT; i++)
        free(dirs->older[i]);
    free(dirs->tools);
    *dirs = (struct launch_dirs){0};
}

static bool is_item(const char *at, size_t len, const char *wanted)
{
    return wanted && strlen(wanted) == len && memcmp(at, wanted, len) == 0;
}

char *launch_library_path(const char *first, const char *old, const char *last)
{
    size_t size = strlen(first) + (old ? strlen(old) : 0) + (last ? strlen(last) : 0) + 3;
    char *path = malloc(size);
    if (!path)
        return NULL;
    char *end = stpcpy(path, first);
    // An empty item means the current directory, so an empty variable must not become one.
    for (const char *at = old && *old ? old : NULL; at;) {
        size_t len = strcspn(at, ":");
        if (!is_item(at, len, first) && !is_item(at, len, last)) {
            *end++ = ':';
            end = mempcpy(end, at, len);
        }
        at = at[len] ? at + len + 1 : NULL;
    }
    *end = 0;
    if (last) {
        *end++ = ':';
        strcpy(end, last);
    }
    return path;
}

char *launch_preload(const char *library, const char *old)
{
    char *value = NULL;
    if (asprintf(&value, "%s%s%s", library, old && *old ? ":" : "", old ? old : "") < 0)
        return NULL;
    return value;
}

char *launch_tunables(const char *old)
{
    static const char NAME[] = "glibc.rtld.optional_static_tls";
    char *value = NULL;
    if (old && strstr(old, NAME))
        return strdup(old);
    if (asprintf(&value, "%s%s%s=4096", old ? old : "", old && *old ? ":" : "", NAME) < 0)
        return NULL;
    return value;
}

void launch_print_export(const char *name, const char *value)
{
    printf("export %s='", name);
    for (; *value; value++) {
        if (*value == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*value);
    }
    puts("'");
}
