/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens libptxrun-compile.so when the first kernel has to be compiled, so that a process that
 * compiles none never loads LLVM.
 */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jit/provider.h"

#define LIBRARY_NAME "libptxrun-compile.so"

/* Written once under `once`, then constant; who only wants to know whether the library is open
 * reads without. It is never closed: LLVM leaves things behind that point into it. */
static struct {
    pthread_once_t once;
    _Atomic(const struct jit_compiler *) compiler; /* NULL: why is in error */
    struct pxr_error error;
} provider = {.once = PTHREAD_ONCE_INIT};

/* The file that this function is part of: the library, or a program it is linked into. */
static bool own_path(char path[PATH_MAX])
{
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1((void *)(uintptr_t)own_path, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return false;
    if (map->l_name[0] != '\0')
        return snprintf(path, PATH_MAX, "%s", map->l_name) < PATH_MAX;
    ssize_t len = readlink("/proc/self/exe", path, PATH_MAX - 1);
    if (len < 0)
        return false;
    path[len] = '\0';
    return true;
}

/* LIBRARY_NAME in the same folder. */
static enum pxr_status library_path(char path[PATH_MAX], struct pxr_error *err)
{
    if (!own_path(path))
        return pxr_fail(err, PXR_NO_COMPILER, "cannot find out where ptxrun is installed");
    char *slash = strrchr(path, '/');
    size_t dir_len = slash ? (size_t)(slash + 1 - path) : 0;
    if (dir_len + sizeof LIBRARY_NAME > PATH_MAX)
        return pxr_fail(err, PXR_NO_COMPILER, "the path of " LIBRARY_NAME " is too long");
    memcpy(path + dir_len, LIBRARY_NAME, sizeof LIBRARY_NAME);
    return PXR_OK;
}

static void open_provider(void)
{
    char path[PATH_MAX];
    if (library_path(path, &provider.error) != PXR_OK)
        return;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        pxr_fail(&provider.error, PXR_NO_COMPILER, "cannot open the compiler: %s", dlerror());
        return;
    }
    jit_compiler_entry_fn entry =
        (jit_compiler_entry_fn)(uintptr_t)dlsym(library, JIT_COMPILER_ENTRY);
    const struct jit_compiler *compiler = entry ? entry() : NULL;
    if (compiler && compiler->abi == JIT_COMPILER_ABI) {
        atomic_store_explicit(&provider.compiler, compiler, memory_order_release);
        return;
    }
    pxr_fail(&provider.error, PXR_NO_COMPILER, "'%s' belongs to another version of ptxrun", path);
    dlclose(library);
}

enum pxr_status jit_provider_get(const struct jit_compiler **compiler, struct pxr_error *err)
{
    pthread_once(&provider.once, open_provider);
    *compiler = atomic_load_explicit(&provider.compiler, memory_order_acquire);
    return *compiler ? PXR_OK : pxr_fail(err, PXR_NO_COMPILER, "%s", provider.error.message);
}

bool jit_provider_is_open(void)
{
    return atomic_load_explicit(&provider.compiler, memory_order_acquire) != NULL;
}

enum pxr_status jit_compile(const struct jit_request *request, struct jit_object *object,
                            struct pxr_error *err)
{
    memset(object, 0, sizeof *object);
    const struct jit_compiler *compiler;
    enum pxr_status status = jit_provider_get(&compiler, err);
    return status == PXR_OK ? compiler->compile(request, object, err) : status;
}

bool jit_compiler_id(struct jit_build_id *id)
{
    char path[PATH_MAX];
    const struct jit_compiler *open =
        atomic_load_explicit(&provider.compiler, memory_order_acquire);
    return open ? jit_build_id_of_address(open, id)
                : library_path(path, NULL) == PXR_OK && jit_build_id_of_file(path, id);
}

enum pxr_status jit_compiler_target(char **text, struct pxr_error *err)
{
    const struct jit_compiler *compiler;
    enum pxr_status status = jit_provider_get(&compiler, err);
    return status == PXR_OK ? compiler->describe_target(text, err) : status;
}

enum pxr_status jit_check(const struct jit_request *request, struct pxr_error *err)
{
    const struct jit_compiler *compiler;
    enum pxr_status status = jit_provider_get(&compiler, err);
    return status == PXR_OK ? compiler->compile(request, NULL, err) : status;
}

void jit_object_fini(struct jit_object *object)
{
    free(object->bytes);
    free(object->explanation);
    free(object->steps.steps);
    memset(object, 0, sizeof *object);
}
