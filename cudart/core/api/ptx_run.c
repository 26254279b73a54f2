/* SPDX-License-Identifier: Apache-2.0
 *
 * ptx_run: the one-call interface of the gpuocelot shim, on top of the public API.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptxrun/ptxrun.h"
#include "util/log.h"

/* Modules by text, so that a program that calls ptx_run in a loop compiles once. Oldest last;
 * guarded by lock. A module that is in use by a running call has users > 0. */
struct cached_module {
    struct cached_module *next;
    char *text;
    struct ptxrun_module *module;
    struct ptxrun_kernel *kernel;
    unsigned users;
};

#define CACHE_MODULES 256

static struct {
    pthread_mutex_t lock;
    struct cached_module *head;
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void destroy_cached(struct cached_module *cached)
{
    ptxrun_unload(cached->module);
    free(cached->text);
    free(cached);
}

static struct cached_module *load(const char *ptx, struct ptxrun_error *err)
{
    struct cached_module *cached = calloc(1, sizeof *cached);
    char *text = strdup(ptx);
    if (!cached || !text) {
        free(cached);
        free(text);
        *err = (struct ptxrun_error){PTXRUN_OUT_OF_MEMORY, 0, "out of memory"};
        return NULL;
    }
    cached->text = text;
    if (ptxrun_load_text(ptx, strlen(ptx), &cached->module, err) == PTXRUN_OK) {
        const char *name = ptxrun_kernel_name(cached->module, 0);
        if (!name)
            *err = (struct ptxrun_error){PTXRUN_NOT_FOUND, 0, "there is no kernel in this text"};
        else if (ptxrun_find_kernel(cached->module, name, &cached->kernel, err) == PTXRUN_OK)
            return cached;
    }
    destroy_cached(cached);
    return NULL;
}

/* Takes the entry with this text out of the list, or returns NULL. The lock is held. */
static struct cached_module *take_cached(const char *ptx)
{
    for (struct cached_module **link = &cache.head; *link; link = &(*link)->next) {
        struct cached_module *found = *link;
        if (strcmp(found->text, ptx) == 0) {
            *link = found->next;
            return found;
        }
    }
    return NULL;
}

/* Removes the entry least recently used if there are too many. The lock is held. */
static struct cached_module *take_surplus(void)
{
    unsigned count = 0;
    struct cached_module **oldest_idle = NULL;
    for (struct cached_module **link = &cache.head; *link; link = &(*link)->next) {
        count++;
        if ((*link)->users == 0)
            oldest_idle = link;
    }
    if (count <= CACHE_MODULES || !oldest_idle)
        return NULL;
    struct cached_module *surplus = *oldest_idle;
    *oldest_idle = surplus->next;
    return surplus;
}

static struct cached_module *acquire(const char *ptx, struct ptxrun_error *err)
{
    pthread_mutex_lock(&cache.lock);
    struct cached_module *cached = take_cached(ptx);
    if (!cached)
        cached = load(ptx, err);
    struct cached_module *surplus = NULL;
    if (cached) {
        cached->users++;
        cached->next = cache.head;
        cache.head = cached;
        surplus = take_surplus();
    }
    pthread_mutex_unlock(&cache.lock);
    if (surplus)
        destroy_cached(surplus);
    return cached;
}

static void release(struct cached_module *cached)
{
    pthread_mutex_lock(&cache.lock);
    cached->users--;
    pthread_mutex_unlock(&cache.lock);
}

static enum ptxrun_status run(struct cached_module *cached, int nargs, void *const *args,
                              const struct ptxrun_launch *launch, struct ptxrun_error *err)
{
    /* args[i] is the value itself: the launch wants a pointer to it. */
    void **pointers = calloc((size_t)nargs + 1, sizeof *pointers);
    if (!pointers) {
        *err = (struct ptxrun_error){PTXRUN_OUT_OF_MEMORY, 0, "out of memory"};
        return err->status;
    }
    enum ptxrun_status status = PTXRUN_OK;
    for (int i = 0; i < nargs && status == PTXRUN_OK; i++) {
        pointers[i] = (void *)(uintptr_t)&args[i];
        if (ptxrun_param_bytes(cached->kernel, (size_t)i) > sizeof args[i]) {
            status = err->status = PTXRUN_INVALID_ARGUMENT;
            snprintf(err->message, sizeof err->message,
                     "parameter %d is larger than a pointer: use ptxrun_launch", i);
        }
    }
    if (status == PTXRUN_OK)
        status = ptxrun_launch(cached->kernel, launch, pointers, (size_t)nargs, err);
    free(pointers);
    return status;
}

__attribute__((visibility("default"))) int ptx_run(const char *ptx, int nargs, void *const *args,
                                                   int lx, int ly, int lz, int gx, int gy, int gz)
{
    struct ptxrun_error err = {0};
    struct ptxrun_launch launch = {
        .grid = {(uint32_t)gx, (uint32_t)gy, (uint32_t)gz},
        .block = {(uint32_t)lx, (uint32_t)ly, (uint32_t)lz},
    };
    if (!ptx || nargs < 0 || (nargs && !args) || lx < 1 || ly < 1 || lz < 1 || gx < 1 || gy < 1 ||
        gz < 1) {
        pxr_log(PXR_LOG_ERROR, "ptx_run: invalid argument");
        return PTXRUN_INVALID_ARGUMENT;
    }
    struct cached_module *cached = acquire(ptx, &err);
    if (cached) {
        run(cached, nargs, args, &launch, &err);
        release(cached);
    }
    if (err.status != PTXRUN_OK)
        pxr_log(PXR_LOG_ERROR, "ptx_run: %s", err.message);
    return (int)err.status;
}
