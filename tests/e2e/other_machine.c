/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded, it makes the machine another one of the same CPU, with more cache and more cores.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

long sysconf(int name);

__attribute__((visibility("default"))) long sysconf(int name)
{
    long (*real)(int) = (long (*)(int))(uintptr_t)dlsym(RTLD_NEXT, "sysconf");
    long value = real(name);
    return name == _SC_NPROCESSORS_ONLN ? value + 1 : value;
}

FILE *fopen(const char *path, const char *mode);

__attribute__((visibility("default"))) FILE *fopen(const char *path, const char *mode)
{
    static char size[] = "5120K\n";
    FILE *(*real)(const char *, const char *) =
        (FILE * (*)(const char *, const char *))(uintptr_t)dlsym(RTLD_NEXT, "fopen");
    bool is_cache = strncmp(path, "/sys/devices/system/cpu/", 24) == 0 && strstr(path, "/cache/");
    if (is_cache && strcmp(path + strlen(path) - strlen("/size"), "/size") == 0)
        return fmemopen(size, sizeof size - 1, "r");
    return real(path, mode);
}
