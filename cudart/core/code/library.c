/* SPDX-License-Identifier: Apache-2.0
 *
 * Libraries: images, opened when first needed and parsed when something of them is compiled.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/base/device.h"
#include "cudart/core/base/leak.h"
#include "cudart/core/base/process.h"
#include "cudart/core/base/report.h"
#include "cudart/core/code/background.h"
#include "cudart/core/code/device_report.h"
#include "cudart/core/code/module.h"
#include "cudart/core/code/record.h"
#include "cudart/core/code/summary.h"
#include "cudart/core/memory/device_arena.h"
#include "ptx/image.h"
#include "scheduler/scheduler.h"
#include "util/log.h"
#include "util/read_file.h"
#include "util/vendor.h"

bool crt_library_is_valid(const struct crt_library *library)
{
    return crt_object_is(library, CRT_KIND_LIBRARY);
}

static enum crt_result make_kernels(struct crt_library *library)
{
    const struct ptx_outline *outline = library->outline;
    library->kernels = calloc((size_t)outline->kernel_count + 1, sizeof library->kernels[0]);
    library->managed = calloc((size_t)outline->var_count + 1, sizeof library->managed[0]);
    if (!library->kernels || !library->managed)
        return CRT_OUT_OF_MEMORY;
    for (uint32_t i = 0; i < outline->kernel_count; i++) {
        struct crt_kernel *kernel = crt_kernel_create(library, &outline->kernels[i]);
        if (!kernel)
            return CRT_OUT_OF_MEMORY;
        library->kernels[library->kernel_count++] = kernel;
    }
    return CRT_SUCCESS;
}

/* The image of a source that is needed no more, or still is and goes. */
static enum pxr_status settle_source(struct crt_library *library)
{
    if (!library->ptx)
        return library->is_preserved ? PXR_OK : ptx_source_own(library->source, &library->error);
    ptx_source_close(library->source);
    library->source = NULL;
    return PXR_OK;
}

static enum crt_result open_locked(struct crt_library *library)
{
    if (crt_environment_get()->jit_is_disabled) {
        pxr_fail(&library->error, PXR_NO_PTX,
                 "%s: CUDA_DISABLE_PTX_JIT is set, but only PTX can be run", library->name);
        return CRT_JIT_COMPILATION_DISABLED;
    }
    enum pxr_status status =
        ptx_source_open(library->image, library->image_bytes, crt_architecture_get()->capability,
                        library->name, &library->source, &library->error);
    if (status == PXR_OK)
        crt_record_library(library);
    if (status == PXR_OK)
        status = crt_summary_find(library->source, library->name, &library->outline, &library->ptx,
                                  &library->error);
    if (status == PXR_OK)
        crt_look_for_device_code(library);
    if (status == PXR_OK)
        status = settle_source(library);
    if (status != PXR_OK)
        return crt_result_from_status(status);
    return make_kernels(library);
}

static void open_once_locked(struct crt_library *library)
{
    if (!library->is_opened)
        library->open_result = open_locked(library);
    library->is_opened = true;
}

enum crt_result crt_library_open(struct crt_library *library)
{
    pthread_mutex_lock(&library->lock);
    open_once_locked(library);
    enum crt_result result = library->open_result;
    /* Images without PTX are normal, and harmless until a kernel of theirs is wanted. */
    if (result != CRT_SUCCESS && library->error.status != PXR_NO_PTX && !library->is_reported)
        crt_report_error(&library->error);
    library->is_reported = true;
    pthread_mutex_unlock(&library->lock);
    return result;
}

bool crt_library_is_parsed(struct crt_library *library)
{
    pthread_mutex_lock(&library->lock);
    if (!crt_library_is_closed(library))
        open_once_locked(library);
    bool is_parsed = library->ptx != NULL;
    pthread_mutex_unlock(&library->lock);
    return is_parsed;
}

enum pxr_status crt_library_open_ptx(struct crt_library *library, struct pxr_error *err)
{
    pthread_mutex_lock(&library->lock);
    enum pxr_status status = PXR_OK;
    if (crt_library_is_closed(library))
        status = pxr_fail(err, PXR_BAD_IMAGE, "%s has been unloaded", library->name);
    else if (!library->ptx)
        status = ptx_source_parse(library->source, &library->ptx, err);
    if (status == PXR_OK)
        settle_source(library);
    pthread_mutex_unlock(&library->lock);
    return status;
}

void crt_library_hold(struct crt_library *library)
{
    atomic_fetch_add_explicit(&library->holds, 1, memory_order_relaxed);
}

bool crt_library_is_closed(const struct crt_library *library)
{
    return atomic_load_explicit(&library->is_closed, memory_order_relaxed);
}

void crt_library_let_go(struct crt_library *library)
{
    if (atomic_fetch_sub_explicit(&library->holds, 1, memory_order_acq_rel) != 1)
        return;
    for (uint32_t i = 0; i < library->kernel_count; i++)
        crt_kernel_destroy(library->kernels[i]);
    free(library->kernels);
    free(library->managed);
    ptx_module_destroy(library->ptx);
    ptx_source_close(library->source);
    ptx_outline_destroy(library->outline);
    pthread_mutex_destroy(&library->lock);
    crt_object_destroy(CRT_KIND_LIBRARY, library);
}

/* Ends all that a program can see of it, and reads its image no more. */
static void destroy_library(struct crt_library *library)
{
    pthread_mutex_lock(&library->lock);
    atomic_store_explicit(&library->is_closed, true, memory_order_relaxed);
    pthread_mutex_unlock(&library->lock);
    crt_module_destroy_library(library);
    for (uint32_t i = 0; library->managed && i < library->outline->var_count; i++)
        if (library->managed[i])
            crt_arena_free(library->managed[i], CRT_MEMORY_MANAGED);
    for (uint32_t i = 0; i < library->kernel_count; i++)
        crt_object_retire(CRT_KIND_KERNEL, library->kernels[i]);
    crt_object_retire(CRT_KIND_LIBRARY, library);
    crt_library_let_go(library);
}

void crt_vendor_note(const void *address)
{
    Dl_info info;
    const char *vendor = dladdr(address, &info) ? pxr_vendor_library(info.dli_fname) : NULL;
    if (!vendor)
        return;
    const char *slash = strrchr(info.dli_fname, '/');
    pxr_log_once(vendor,
                 "the program uses %s (%s), a closed library made for GPUs that ptxrun does not "
                 "serve yet: its calls may fail",
                 vendor, slash ? slash + 1 : info.dli_fname);
}

/* Names it for messages: a number, and the file that holds the image if it is part of one, or
 * path. */
static void name_library(struct crt_library *library, const char *path)
{
    unsigned long long number = crt_next_number();
    Dl_info info;
    const char *file = path ? path : dladdr(library->image, &info) ? info.dli_fname : "";
    const char *slash = strrchr(file, '/');
    crt_vendor_note(library->image);
    if (path)
        snprintf(library->name, sizeof library->name, "%s", slash ? slash + 1 : file);
    else if (*file)
        snprintf(library->name, sizeof library->name, "%s: image %llu", slash ? slash + 1 : file,
                 number);
    else
        snprintf(library->name, sizeof library->name, "image %llu", number);
}

enum crt_result crt_library_load_named(const void *image, size_t image_bytes, bool is_preserved,
                                       const char *path, struct crt_library **library,
                                       struct pxr_error *err)
{
    if (!image)
        return CRT_INVALID_VALUE;
    struct crt_library *created = crt_object_create(CRT_KIND_LIBRARY, sizeof *created);
    if (!created)
        return CRT_OUT_OF_MEMORY;
    pthread_mutex_init(&created->lock, NULL);
    atomic_init(&created->holds, 1);
    created->image = image;
    created->image_bytes = image_bytes;
    created->is_preserved = is_preserved;
    name_library(created, path);

    enum crt_result result = CRT_SUCCESS;
    if (!is_preserved || crt_environment_get()->loads_eagerly)
        result = crt_library_open(created);
    /* The runtime loads every image it finds; one without PTX fails when it is used. */
    bool may_fail_later = is_preserved && created->error.status == PXR_NO_PTX;
    if (result != CRT_SUCCESS && !may_fail_later) {
        if (err)
            *err = created->error;
        if (created->error.status == PXR_NO_PTX)
            crt_report_error(&created->error);
        destroy_library(created);
        return result;
    }
    *library = created;
    return CRT_SUCCESS;
}

enum crt_result crt_library_load(const void *image, size_t image_bytes, bool is_preserved,
                                 struct crt_library **library, struct pxr_error *err)
{
    enum crt_result result =
        crt_library_load_named(image, image_bytes, is_preserved, NULL, library, err);
    if (result == CRT_SUCCESS)
        crt_background_offer(*library);
    return result;
}

enum crt_result crt_library_load_file(const char *path, struct crt_library **library,
                                      struct pxr_error *err)
{
    if (!path)
        return CRT_INVALID_VALUE;
    size_t size_bytes;
    char *bytes = pxr_read_file(path, &size_bytes);
    if (!bytes) {
        pxr_fail(err, PXR_IO, "cannot read the module file '%s'", path);
        return CRT_FILE_NOT_FOUND;
    }
    enum crt_result result = crt_library_load_named(bytes, size_bytes, false, path, library, err);
    if (result == CRT_SUCCESS) {
        (*library)->image = NULL;
        crt_background_offer(*library);
    }
    free(bytes);
    return result;
}

enum crt_result crt_library_unload(struct crt_library *library)
{
    if (!crt_library_is_valid(library))
        return CRT_INVALID_HANDLE;
    if (crt_is_exiting()) {
        crt_leak_forget(library);
        return CRT_SUCCESS;
    }
    if (sch_on_pool_thread())
        return CRT_NOT_PERMITTED;
    enum crt_result result = crt_module_wait_idle(library);
    if (result == CRT_SUCCESS)
        destroy_library(library);
    return result;
}

/* An image that cannot be run is reported together with the kernel that a program asked for. */
static void explain_failure(struct crt_library *library, const char *name)
{
    struct ptx_image_summary summary;
    struct pxr_error error = library->error;
    if (library->error.status != PXR_NO_PTX)
        return;
    if (library->image && !crt_environment_get()->jit_is_disabled &&
        ptx_image_query(library->image, library->image_bytes, library->name, &summary, NULL) ==
            PXR_OK)
        ptx_image_explain_no_ptx(&summary, library->name, name, &error);
    crt_report_error(&error);
}

enum crt_result crt_library_get_kernel(struct crt_library *library, const char *name,
                                       struct crt_kernel **kernel)
{
    if (!crt_library_is_valid(library))
        return CRT_INVALID_HANDLE;
    if (!name)
        return CRT_INVALID_VALUE;
    enum crt_result result = crt_library_open(library);
    if (result != CRT_SUCCESS) {
        explain_failure(library, name);
        return result;
    }
    const struct ptx_outline_kernel *found = ptx_outline_find_kernel(library->outline, name);
    for (uint32_t i = 0; found && i < library->kernel_count; i++) {
        if (library->kernels[i]->outline == found) {
            *kernel = library->kernels[i];
            return CRT_SUCCESS;
        }
    }
    return CRT_NOT_FOUND;
}

enum crt_result crt_library_get_managed(struct crt_library *library, const char *name,
                                        uintptr_t *address, size_t *size_bytes)
{
    if (!crt_library_is_valid(library))
        return CRT_INVALID_HANDLE;
    if (!name)
        return CRT_INVALID_VALUE;
    enum crt_result result = crt_library_open(library);
    if (result != CRT_SUCCESS)
        return result;
    const struct ptx_var *var = ptx_outline_find_var(library->outline, name);
    if (!var || !var->is_managed)
        return CRT_NOT_FOUND;
    pthread_mutex_lock(&library->lock);
    uintptr_t *slot = &library->managed[var->index];
    if (!*slot) {
        result = crt_arena_alloc(var->size_bytes ? var->size_bytes : 1, CRT_MEMORY_MANAGED, 1, NULL,
                                 slot);
        if (result == CRT_SUCCESS && var->init_bytes)
            memcpy((void *)*slot, var->init_bytes, var->size_bytes);
    }
    *address = *slot;
    *size_bytes = var->size_bytes;
    pthread_mutex_unlock(&library->lock);
    return result;
}
