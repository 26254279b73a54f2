/* SPDX-License-Identifier: Apache-2.0
 *
 * The public C API (include/ptxrun/ptxrun.h): a thin face over libraries, kernels and launches.
 * Each ptxrun_module has a context of its own, so that a fault in one kernel touches no other
 * module; sentences that the CUDA faces would log are returned to the caller.
 */
#include "ptxrun/ptxrun.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/api/init.h"
#include "cudart/core/base/device.h"
#include "cudart/core/base/report.h"
#include "cudart/core/code/launch.h"
#include "cudart/core/code/module.h"
#include "cudart/core/streams/context.h"
#include "ptx/file.h"
#include "ptx/image.h"
#include "ptx/ops.h"

/* CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES */
#define ATTRIBUTE_MAX_DYNAMIC_SHARED 8

#define API                          __attribute__((visibility("default")))

struct ptxrun_kernel {
    struct crt_kernel *core;
    struct ptxrun_module *module;
    struct ptxrun_kernel *next;
};

struct ptxrun_module {
    struct crt_library *library;
    struct crt_context *ctx;
    pthread_mutex_t lock; /* guards kernels, and is held during a launch: a context has room for
                             one fault */
    struct ptxrun_kernel *kernels; /* those that were asked for */
};

static const enum ptxrun_status public_status[PXR_STATUS_COUNT] = {
    [PXR_OK] = PTXRUN_OK,
    [PXR_OUT_OF_MEMORY] = PTXRUN_OUT_OF_MEMORY,
    [PXR_INVALID_ARGUMENT] = PTXRUN_INVALID_ARGUMENT,
    [PXR_NOT_FOUND] = PTXRUN_NOT_FOUND,
    [PXR_IO] = PTXRUN_NOT_FOUND,
    [PXR_BAD_IMAGE] = PTXRUN_BAD_INPUT,
    [PXR_BAD_PTX] = PTXRUN_BAD_INPUT,
    [PXR_NEWER_PTX] = PTXRUN_BAD_INPUT,
    [PXR_NO_PTX] = PTXRUN_UNSUPPORTED,
    [PXR_UNSUPPORTED] = PTXRUN_UNSUPPORTED,
    [PXR_OUT_OF_RESOURCES] = PTXRUN_OUT_OF_RESOURCES,
    [PXR_COMPILE_FAILED] = PTXRUN_INTERNAL,
    [PXR_NO_COMPILER] = PTXRUN_INTERNAL,
    [PXR_FAULT_ADDRESS] = PTXRUN_KERNEL_FAULT,
    [PXR_FAULT_MISALIGNED] = PTXRUN_KERNEL_FAULT,
    [PXR_FAULT_TRAP] = PTXRUN_KERNEL_FAULT,
    [PXR_FAULT_ASSERT] = PTXRUN_KERNEL_FAULT,
    [PXR_FAULT_INSTRUCTION] = PTXRUN_KERNEL_FAULT,
    [PXR_FAULT_PC] = PTXRUN_KERNEL_FAULT,
    [PXR_FAULT_STACK] = PTXRUN_KERNEL_FAULT,
    [PXR_FAULT_DEADLOCK] = PTXRUN_KERNEL_FAULT,
};

/* Copies to the public struct; err may be NULL. */
static enum ptxrun_status publish(const struct pxr_error *error, struct ptxrun_error *err)
{
    enum ptxrun_status status = public_status[error->status];
    if (err) {
        err->status = status;
        err->ptx_line = error->line;
        memcpy(err->message, error->message, sizeof err->message);
        err->message[sizeof err->message - 1] = '\0';
    }
    return status;
}

static enum ptxrun_status refuse(struct ptxrun_error *err, enum pxr_status status,
                                 const char *message)
{
    struct pxr_error error;
    pxr_fail(&error, status, "%s", message);
    return publish(&error, err);
}

/* Returns the result of a core call, with the sentence if it reported one. */
static enum ptxrun_status publish_result(enum crt_result result, struct pxr_error *error,
                                         struct ptxrun_error *err)
{
    if (result == CRT_SUCCESS)
        return PTXRUN_OK;
    if (error->status == PXR_OK) {
        enum pxr_status status = result == CRT_OUT_OF_MEMORY             ? PXR_OUT_OF_MEMORY
                                 : result == CRT_NOT_FOUND               ? PXR_NOT_FOUND
                                 : result == CRT_LAUNCH_OUT_OF_RESOURCES ? PXR_OUT_OF_RESOURCES
                                                                         : PXR_INVALID_ARGUMENT;
        pxr_fail(error, status, "%s", crt_result_text((int)result));
    }
    return publish(error, err);
}

API const char *ptxrun_version(void)
{
    return PTXRUN_VERSION;
}

/* A context that is nobody's current one. */
static enum crt_result create_context(struct crt_context **ctx)
{
    enum crt_result result = crt_init(0);
    if (result == CRT_SUCCESS)
        result = crt_context_create(crt_device_at(0), 0, ctx);
    struct crt_context *popped;
    if (result == CRT_SUCCESS)
        crt_context_pop(&popped);
    return result;
}

static enum crt_result create_module(const void *image, size_t image_bytes,
                                     struct ptxrun_module **module)
{
    struct ptxrun_module *created = calloc(1, sizeof *created);
    if (!created)
        return CRT_OUT_OF_MEMORY;
    enum crt_result result = create_context(&created->ctx);
    if (result == CRT_SUCCESS) {
        result = crt_library_load(image, image_bytes, false, &created->library, NULL);
        if (result == CRT_SUCCESS) {
            pthread_mutex_init(&created->lock, NULL);
            *module = created;
            return CRT_SUCCESS;
        }
        crt_context_destroy(created->ctx);
    }
    free(created);
    return result;
}

static enum ptxrun_status load_image(const void *image, size_t image_bytes,
                                     struct ptxrun_module **module, struct ptxrun_error *err)
{
    struct pxr_error error = {0};
    struct pxr_error *outer = crt_report_redirect(&error);
    enum crt_result result = create_module(image, image_bytes, module);
    crt_report_redirect(outer);
    return publish_result(result, &error, err);
}

API enum ptxrun_status ptxrun_load_text(const char *ptx, size_t len, struct ptxrun_module **module,
                                        struct ptxrun_error *err)
{
    if (!ptx || !module)
        return refuse(err, PXR_INVALID_ARGUMENT, "the PTX text and the module must not be NULL");
    *module = NULL;
    return load_image(ptx, len, module, err);
}

/* The first container with PTX, or the first of all for its message. */
static const struct ptx_file_container *choose_container(const struct ptx_file *file)
{
    for (uint32_t i = 0; i < file->container_count; i++)
        if (ptx_fatbin_choose_ptx(&file->containers[i].fatbin, crt_architecture_get()->capability))
            return &file->containers[i];
    return file->container_count ? &file->containers[0] : NULL;
}

API enum ptxrun_status ptxrun_load_file(const char *path, struct ptxrun_module **module,
                                        struct ptxrun_error *err)
{
    if (!path || !module)
        return refuse(err, PXR_INVALID_ARGUMENT, "the path and the module must not be NULL");
    *module = NULL;
    struct ptx_file *file;
    struct pxr_error error = {0};
    if (ptx_file_open(path, &file, &error) != PXR_OK)
        return publish(&error, err);
    const struct ptx_file_container *container = choose_container(file);
    enum ptxrun_status status;
    if (container) {
        bool is_bare = file->kind == PTX_FILE_TEXT || file->kind == PTX_FILE_CUBIN;
        struct ptx_span image = is_bare ? file->bytes : container->fatbin.bytes;
        status = load_image(image.ptr, image.len, module, err);
    } else {
        pxr_fail(&error, PXR_NO_PTX, "%s: no device code in this file", path);
        status = publish(&error, err);
    }
    ptx_file_close(file);
    return status;
}

API void ptxrun_unload(struct ptxrun_module *module)
{
    if (!module)
        return;
    while (module->kernels) {
        struct ptxrun_kernel *next = module->kernels->next;
        free(module->kernels);
        module->kernels = next;
    }
    crt_library_unload(module->library);
    crt_context_destroy(module->ctx);
    pthread_mutex_destroy(&module->lock);
    free(module);
}

/* The module's handle for a kernel, made at the first call. */
static struct ptxrun_kernel *wrap_kernel(struct ptxrun_module *module, struct crt_kernel *core)
{
    pthread_mutex_lock(&module->lock);
    struct ptxrun_kernel *kernel = module->kernels;
    while (kernel && kernel->core != core)
        kernel = kernel->next;
    if (!kernel)
        kernel = calloc(1, sizeof *kernel);
    if (kernel && !kernel->core) {
        *kernel = (struct ptxrun_kernel){core, module, module->kernels};
        module->kernels = kernel;
    }
    pthread_mutex_unlock(&module->lock);
    return kernel;
}

API enum ptxrun_status ptxrun_find_kernel(struct ptxrun_module *module, const char *name,
                                          struct ptxrun_kernel **kernel, struct ptxrun_error *err)
{
    if (!module || !name || !kernel)
        return refuse(err, PXR_INVALID_ARGUMENT, "module, name and kernel must not be NULL");
    *kernel = NULL;
    struct pxr_error error = {0};
    struct pxr_error *outer = crt_report_redirect(&error);
    struct crt_kernel *core = NULL;
    enum crt_result result = crt_library_get_kernel(module->library, name, &core);
    if (result == CRT_NOT_FOUND)
        pxr_fail(&error, PXR_NOT_FOUND, "there is no kernel '%s' in this module", name);
    if (result == CRT_SUCCESS)
        result = crt_kernel_check(core);
    crt_report_redirect(outer);
    if (result == CRT_SUCCESS) {
        *kernel = wrap_kernel(module, core);
        if (!*kernel)
            result = CRT_OUT_OF_MEMORY;
    }
    return publish_result(result, &error, err);
}

API const char *ptxrun_kernel_name(const struct ptxrun_module *module, size_t n)
{
    if (!module || n >= module->library->kernel_count)
        return NULL;
    return crt_kernel_name(module->library->kernels[n]);
}

API size_t ptxrun_param_count(const struct ptxrun_kernel *kernel)
{
    return kernel ? kernel->core->func->param_count : 0;
}

API size_t ptxrun_param_bytes(const struct ptxrun_kernel *kernel, size_t n)
{
    size_t offset;
    size_t size_bytes;
    if (!kernel || crt_kernel_param(kernel->core, n, &offset, &size_bytes) != CRT_SUCCESS)
        return 0;
    return size_bytes;
}

API const char *ptxrun_param_type(const struct ptxrun_kernel *kernel, size_t n)
{
    if (!kernel || n >= kernel->core->func->param_count)
        return NULL;
    const struct ptx_var *param = kernel->core->func->params[n];
    return param->is_array ? "bytes" : ptx_type_table[param->type].name;
}

API enum ptxrun_status ptxrun_find_variable(struct ptxrun_module *module, const char *name,
                                            void **address, size_t *size_bytes,
                                            struct ptxrun_error *err)
{
    if (!module || !name || !address || !size_bytes)
        return refuse(err, PXR_INVALID_ARGUMENT, "no argument but err may be NULL");
    struct crt_module *instance;
    uintptr_t base = 0;
    struct pxr_error error = {0};
    enum crt_result result = crt_module_get(module->library, module->ctx, &instance);
    if (result == CRT_SUCCESS)
        result = crt_module_get_global(instance, name, &base, size_bytes);
    if (result == CRT_NOT_FOUND)
        pxr_fail(&error, PXR_NOT_FOUND, "there is no variable '%s' in this module", name);
    *address = (void *)base;
    return publish_result(result, &error, err);
}

/* The errors that ptxrun.h promises for bad launches; the CUDA codes of the core are coarser. */
static enum pxr_status check_launch(const struct ptxrun_kernel *kernel,
                                    const struct ptxrun_launch *launch, struct pxr_error *error)
{
    const char *name = crt_kernel_name(kernel->core);
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1];
    for (int i = 0; i < 3; i++)
        if (launch->grid[i] == 0 || launch->block[i] == 0)
            return pxr_fail(error, PXR_INVALID_ARGUMENT,
                            "kernel '%s': every dimension of grid and block is at least 1", name);
    uint64_t limit = (uint64_t)crt_kernel_max_threads(kernel->core);
    if (threads > limit || threads * launch->block[2] > limit)
        return pxr_fail(error, PXR_OUT_OF_RESOURCES,
                        "kernel '%s': a block can have at most %u threads", name, (unsigned)limit);
    // Nobody opts in to more than 48 KiB here: what the device has is allowed.
    if (launch->dynamic_shared_bytes > crt_kernel_dynamic_limit(kernel->core) &&
        launch->dynamic_shared_bytes <= INT32_MAX)
        crt_kernel_set_attribute(kernel->core, ATTRIBUTE_MAX_DYNAMIC_SHARED,
                                 (int)launch->dynamic_shared_bytes);
    size_t shared_limit = crt_kernel_dynamic_limit(kernel->core);
    if (launch->dynamic_shared_bytes > shared_limit)
        return pxr_fail(error, PXR_OUT_OF_RESOURCES,
                        "kernel '%s': a block can have at most %zu bytes of dynamic shared memory",
                        name, shared_limit);
    return PXR_OK;
}

/* Launches and waits. module->lock is held. */
static enum crt_result run_launch(struct ptxrun_kernel *kernel,
                                  const struct crt_launch_config *config, void *const *args,
                                  struct pxr_error *error)
{
    struct crt_context *ctx = kernel->module->ctx;
    struct pxr_error *outer = crt_report_redirect(error);
    crt_context_catch_fault(ctx, error);
    enum crt_result result = crt_launch_kernel(kernel->core, &ctx->null_stream, config, args, NULL);
    if (result == CRT_SUCCESS)
        result = crt_stream_synchronize(&ctx->null_stream);
    crt_context_catch_fault(ctx, NULL);
    crt_report_redirect(outer);
    return result;
}

static enum pxr_status check_args(const struct ptxrun_kernel *kernel, void *const *args,
                                  size_t arg_count, struct pxr_error *error)
{
    const char *name = crt_kernel_name(kernel->core);
    uint32_t wanted = kernel->core->func->param_count;
    if (arg_count != wanted)
        return pxr_fail(error, PXR_INVALID_ARGUMENT, "kernel '%s' takes %u arguments, not %zu",
                        name, wanted, arg_count);
    if (arg_count && !args)
        return pxr_fail(error, PXR_INVALID_ARGUMENT,
                        "kernel '%s' takes %u arguments, and args is NULL", name, wanted);
    for (size_t i = 0; i < arg_count; i++)
        if (!args[i])
            return pxr_fail(error, PXR_INVALID_ARGUMENT,
                            "args[%zu] of kernel '%s' is NULL; it must point to the argument", i,
                            name);
    return PXR_OK;
}

API enum ptxrun_status ptxrun_launch(struct ptxrun_kernel *kernel,
                                     const struct ptxrun_launch *launch, void *const *args,
                                     size_t arg_count, struct ptxrun_error *err)
{
    if (!kernel || !launch)
        return refuse(err, PXR_INVALID_ARGUMENT, "kernel and launch must not be NULL");
    struct pxr_error error = {0};
    if (check_args(kernel, args, arg_count, &error) != PXR_OK ||
        check_launch(kernel, launch, &error) != PXR_OK)
        return publish(&error, err);
    struct crt_launch_config config = {.dynamic_shared_bytes = launch->dynamic_shared_bytes};
    memcpy(config.grid, launch->grid, sizeof config.grid);
    memcpy(config.block, launch->block, sizeof config.block);
    pthread_mutex_lock(&kernel->module->lock);
    enum crt_result result = run_launch(kernel, &config, args, &error);
    pthread_mutex_unlock(&kernel->module->lock);
    return publish_result(result, &error, err);
}
