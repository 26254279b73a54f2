/* SPDX-License-Identifier: Apache-2.0
 *
 * The C++ ABI's own function reads names. Nearly every CUDA program has brought libstdc++, and a
 * machine that can compile one has it; without it names stay as they are.
 */
#include "util/readable_name.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Itanium C++ ABI, "Demangler API". */
typedef char *(*demangle_fn)(const char *name, char *buffer, size_t *length, int *status);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static demangle_fn demangle; /* written under `once`; NULL: there is none */

static void find_demangle(void)
{
    void *found = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    if (!found) {
        void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
        found = library ? dlsym(library, "__cxa_demangle") : NULL;
    }
    memcpy(&demangle, &found, sizeof demangle);
}

char *pxr_readable_name(const char *name)
{
    int status = 0;
    if (strncmp(name, "_Z", 2) != 0)
        return strdup(name);
    pthread_once(&once, find_demangle);
    char *readable = demangle ? demangle(name, NULL, NULL, &status) : NULL;
    return readable ? readable : strdup(name);
}
