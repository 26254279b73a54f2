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

/* What a file of a cache says there; NULL: what it says here. A machine that tells nothing has one
 * cache there. */
static const char *text_of(const char *path, bool exists)
{
    const char *name = strrchr(path, '/');
    if (strncmp(path, "/sys/devices/system/cpu/", 24) != 0 || !strstr(path, "/cache/"))
        return NULL;
    if (strcmp(name, "/size") == 0)
        return "5120K\n";
    if (exists || !strstr(path, "/index0/"))
        return NULL;
    return strcmp(name, "/level") == 0             ? "3\n"
           : strcmp(name, "/shared_cpu_list") == 0 ? "0-1023\n"
                                                   : NULL;
}

FILE *fopen(const char *path, const char *mode);

__attribute__((visibility("default"))) FILE *fopen(const char *path, const char *mode)
{
    FILE *(*real)(const char *, const char *) =
        (FILE * (*)(const char *, const char *))(uintptr_t)dlsym(RTLD_NEXT, "fopen");
    FILE *file = real(path, mode);
    const char *text = text_of(path, file != NULL);
    if (!text)
        return file;
    if (file)
        fclose(file);
    return fmemopen((void *)(uintptr_t)text, strlen(text), "r");
}
