/* SPDX-License-Identifier: Apache-2.0
 *
 * See behind.h: from where the program and the caller would have found it, or from where toolkits
 * are.
 */
#include "cudart/nvrtc/behind.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/log.h"

/* Whether the directory is the one that this library is in. */
static bool is_own(const char *directory)
{
    Dl_info own;
    char *real = realpath(directory, NULL);
    char *own_real =
        dladdr((void *)(uintptr_t)behind_find, &own) ? realpath(own.dli_fname, NULL) : NULL;
    char *slash = own_real ? strrchr(own_real, '/') : NULL;
    if (slash)
        *slash = '\0';
    bool is_same = real && own_real && strcmp(real, own_real) == 0;
    free(real);
    free(own_real);
    return is_same;
}

static void *open_in(const char *directory, const char *name)
{
    char *path = NULL;
    void *library = NULL;
    // Its own names are its own, although ours are the same.
    if (!is_own(directory) && asprintf(&path, "%s/%s", directory, name) >= 0 &&
        access(path, R_OK) == 0)
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    free(path);
    return library;
}

/* Where the loader looks for what this object needs. */
static void *open_as_needed_by(void *object, const char *name)
{
    Dl_serinfo size;
    void *library = NULL;
    if (!object || dlinfo(object, RTLD_DI_SERINFOSIZE, &size) != 0)
        return NULL;
    Dl_serinfo *places = calloc(1, size.dls_size);
    if (places) {
        places->dls_size = size.dls_size;
        places->dls_cnt = size.dls_cnt;
    }
    if (places && dlinfo(object, RTLD_DI_SERINFO, places) == 0) {
        for (unsigned i = 0; i < places->dls_cnt && !library; i++)
            library = open_in(places->dls_serpath[i].dls_name, name);
    }
    free(places);
    return library;
}

static void *open_in_toolkits(const char *name)
{
    static const char *const VARIABLES[] = {"CUDA_HOME", "CUDA_PATH"};
    static const char *const PATTERNS[] = {"/usr/local/cuda/lib64", "/usr/local/cuda-*/lib64",
                                           "/usr/lib/*-linux-gnu"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES && !library; i++) {
        char directory[4096];
        const char *home = getenv(VARIABLES[i]);
        if (!home)
            continue;
        snprintf(directory, sizeof directory, "%s/lib64", home);
        library = open_in(directory, name);
    }
    for (size_t i = 0; i < sizeof PATTERNS / sizeof *PATTERNS && !library; i++) {
        glob_t found;
        if (glob(PATTERNS[i], 0, NULL, &found) == 0) {
            for (size_t j = found.gl_pathc; j > 0 && !library; j--)
                library = open_in(found.gl_pathv[j - 1], name);
            globfree(&found);
        }
    }
    return library;
}

static void *open_any(const char *const *names, const void *caller)
{
    Dl_info info;
    void *program = dlopen(NULL, RTLD_NOW);
    void *object = dladdr(caller, &info) ? dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD) : NULL;
    void *library = NULL;
    for (; *names && !library; names++) {
        library = open_as_needed_by(object, *names);
        if (!library)
            library = open_as_needed_by(program, *names);
        if (!library)
            library = open_in_toolkits(*names);
    }
    if (object)
        dlclose(object);
    if (program)
        dlclose(program);
    return library;
}

void *behind_find(struct behind *behind, const char *function, const void *caller)
{
    pthread_mutex_lock(&behind->lock);
    if (!behind->was_searched) {
        behind->was_searched = true;
        behind->opened = open_any(behind->names, caller);
        if (!behind->opened)
            pxr_log(PXR_LOG_ERROR, "%s", behind->missing);
    }
    pthread_mutex_unlock(&behind->lock);
    return behind->opened ? dlsym(behind->opened, function) : NULL;
}
