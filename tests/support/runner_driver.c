/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine `driver`: a libcuda.so.1 opened by path and used through the CUDA driver API alone,
 * with declarations of our own.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/runner_engine.h"

#define LOG_BYTES            4096
#define JIT_ERROR_LOG_BUFFER 5
#define JIT_ERROR_LOG_BYTES  6

/* name, result of dlsym under symbol, parameters */
#define DRIVER_FUNCTIONS                                                                           \
    FUNCTION(init, "cuInit", unsigned flags)                                                       \
    FUNCTION(error_name, "cuGetErrorName", int result, const char **name)                          \
    FUNCTION(device_get, "cuDeviceGet", int *device, int ordinal)                                  \
    FUNCTION(ctx_create, "cuCtxCreate_v2", void **ctx, unsigned flags, int device)                 \
    FUNCTION(ctx_destroy, "cuCtxDestroy_v2", void *ctx)                                            \
    FUNCTION(ctx_synchronize, "cuCtxSynchronize", void)                                            \
    FUNCTION(module_load, "cuModuleLoadDataEx", void **module, const void *image, unsigned count,  \
             const int *options, void **values)                                                    \
    FUNCTION(module_unload, "cuModuleUnload", void *module)                                        \
    FUNCTION(module_function, "cuModuleGetFunction", void **function, void *module,                \
             const char *name)                                                                     \
    FUNCTION(mem_alloc, "cuMemAlloc_v2", uint64_t *address, size_t bytes)                          \
    FUNCTION(mem_free, "cuMemFree_v2", uint64_t address)                                           \
    FUNCTION(copy_in, "cuMemcpyHtoD_v2", uint64_t to, const void *from, size_t bytes)              \
    FUNCTION(copy_out, "cuMemcpyDtoH_v2", void *to, uint64_t from, size_t bytes)                   \
    FUNCTION(launch, "cuLaunchKernel", void *function, unsigned gx, unsigned gy, unsigned gz,      \
             unsigned bx, unsigned by, unsigned bz, unsigned shared_bytes, void *stream,           \
             void **params, void **extra)

struct driver_runner {
    struct runner base;
    void *library;
    int device;
    void *ctx;
    void *module;
#define FUNCTION(name, symbol, ...) int (*name)(__VA_ARGS__);
    DRIVER_FUNCTIONS
#undef FUNCTION
};

static const struct {
    const char *name;
    enum pxr_status status;
} statuses[] = {
    {"CUDA_ERROR_INVALID_VALUE", PXR_INVALID_ARGUMENT},
    {"CUDA_ERROR_OUT_OF_MEMORY", PXR_OUT_OF_MEMORY},
    {"CUDA_ERROR_NO_DEVICE", PXR_NOT_FOUND},
    {"CUDA_ERROR_NOT_FOUND", PXR_NOT_FOUND},
    {"CUDA_ERROR_INVALID_IMAGE", PXR_BAD_IMAGE},
    {"CUDA_ERROR_INVALID_PTX", PXR_BAD_PTX},
    {"CUDA_ERROR_NO_BINARY_FOR_GPU", PXR_NO_PTX},
    {"CUDA_ERROR_UNSUPPORTED_PTX_VERSION", PXR_UNSUPPORTED},
    {"CUDA_ERROR_NOT_SUPPORTED", PXR_UNSUPPORTED},
    {"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", PXR_OUT_OF_RESOURCES},
    {"CUDA_ERROR_JIT_COMPILER_NOT_FOUND", PXR_NO_COMPILER},
    {"CUDA_ERROR_ILLEGAL_ADDRESS", PXR_FAULT_ADDRESS},
    {"CUDA_ERROR_MISALIGNED_ADDRESS", PXR_FAULT_MISALIGNED},
    {"CUDA_ERROR_LAUNCH_FAILED", PXR_FAULT_TRAP},
    {"CUDA_ERROR_ASSERT", PXR_FAULT_ASSERT},
    {"CUDA_ERROR_ILLEGAL_INSTRUCTION", PXR_FAULT_INSTRUCTION},
    {"CUDA_ERROR_INVALID_PC", PXR_FAULT_PC},
    {"CUDA_ERROR_LAUNCH_TIMEOUT", PXR_FAULT_DEADLOCK},
};

static enum pxr_status driver_status(struct driver_runner *driver, int result, const char *call,
                                     struct pxr_error *err)
{
    if (result == 0)
        return PXR_OK;
    const char *name = NULL;
    if (driver->error_name(result, &name) != 0 || name == NULL)
        name = "unknown result";
    enum pxr_status status = PXR_COMPILE_FAILED;
    for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
        if (strcmp(statuses[i].name, name) == 0)
            status = statuses[i].status;
    return pxr_fail(err, status, "%s: %s (%d)", call, name, result);
}

static enum pxr_status driver_load(struct runner *runner, const char *ptx_text,
                                   struct pxr_error *err)
{
    struct driver_runner *driver = (struct driver_runner *)runner;
    char log[LOG_BYTES] = "";
    int options[] = {JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    int result = driver->module_load(&driver->module, ptx_text, 2, options, values);
    enum pxr_status status = driver_status(driver, result, "cuModuleLoadDataEx", err);
    log[sizeof log - 1] = '\0';
    if (status != PXR_OK) {
        driver->module = NULL;
        if (log[0] != '\0')
            pxr_error_prefix(err, "%.700s", log);
    }
    return status;
}

static void driver_unload(struct runner *runner)
{
    struct driver_runner *driver = (struct driver_runner *)runner;
    if (driver->module != NULL)
        driver->module_unload(driver->module);
    driver->module = NULL;
}

/* An error of a kernel stays in its context, which goes away with its modules. */
static void recover(struct driver_runner *driver)
{
    driver->ctx_destroy(driver->ctx);
    driver->ctx = NULL;
    driver->module = NULL;
    driver->ctx_create(&driver->ctx, 0, driver->device);
    char *text = driver->base.text;
    if (text != NULL && driver_load(&driver->base, text, NULL) != PXR_OK) {
        driver->base.text = NULL;
        free(text);
    }
}

static enum pxr_status run_kernel(struct driver_runner *driver, const struct runner_launch *launch,
                                  uint64_t *addresses, struct pxr_error *err)
{
    void *function = NULL;
    enum pxr_status status =
        driver_status(driver, driver->module_function(&function, driver->module, launch->kernel),
                      "cuModuleGetFunction", err);
    if (status != PXR_OK)
        return status;
    void *params[RUNNER_MAX_BUFFERS];
    for (size_t i = 0; i < launch->buffer_count; i++)
        params[i] = runner_is_value(launch, i) ? launch->buffers[i].bytes : &addresses[i];
    const uint32_t *grid = launch->grid;
    const uint32_t *block = launch->block;
    status =
        driver_status(driver,
                      driver->launch(function, grid[0], grid[1], grid[2], block[0], block[1],
                                     block[2], launch->dynamic_shared_bytes, NULL, params, NULL),
                      "cuLaunchKernel", err);
    if (status != PXR_OK)
        return status;
    status = driver_status(driver, driver->ctx_synchronize(), "cuCtxSynchronize", err);
    if (status != PXR_OK)
        recover(driver);
    return status;
}

static enum pxr_status copy_buffers_in(struct driver_runner *driver,
                                       const struct runner_launch *launch, uint64_t *addresses,
                                       struct pxr_error *err)
{
    for (size_t i = 0; i < launch->buffer_count; i++) {
        const struct runner_buffer *buffer = &launch->buffers[i];
        if (runner_is_value(launch, i))
            continue;
        size_t bytes = buffer->size_bytes ? buffer->size_bytes : 1;
        enum pxr_status status =
            driver_status(driver, driver->mem_alloc(&addresses[i], bytes), "cuMemAlloc", err);
        if (status == PXR_OK && buffer->size_bytes != 0)
            status = driver_status(driver,
                                   driver->copy_in(addresses[i], buffer->bytes, buffer->size_bytes),
                                   "cuMemcpyHtoD", err);
        if (status != PXR_OK)
            return status;
    }
    return PXR_OK;
}

static enum pxr_status driver_launch(struct runner *runner, const struct runner_launch *launch,
                                     struct pxr_error *err)
{
    struct driver_runner *driver = (struct driver_runner *)runner;
    uint64_t addresses[RUNNER_MAX_BUFFERS] = {0};
    if (launch->buffer_count > RUNNER_MAX_BUFFERS)
        return pxr_fail(err, PXR_INVALID_ARGUMENT, "more than %d buffers", RUNNER_MAX_BUFFERS);
    enum pxr_status status = copy_buffers_in(driver, launch, addresses, err);
    if (status == PXR_OK)
        status = run_kernel(driver, launch, addresses, err);
    for (size_t i = 0; i < launch->buffer_count && status == PXR_OK; i++) {
        const struct runner_buffer *buffer = &launch->buffers[i];
        if (buffer->size_bytes != 0 && !runner_is_value(launch, i))
            status = driver_status(
                driver, driver->copy_out(buffer->bytes, addresses[i], buffer->size_bytes),
                "cuMemcpyDtoH", err);
    }
    /* a fault has taken the memory along */
    for (size_t i = 0; i < launch->buffer_count && status < PXR_FAULT_ADDRESS; i++)
        if (addresses[i] != 0)
            driver->mem_free(addresses[i]);
    return status;
}

static void driver_close(struct runner *runner)
{
    struct driver_runner *driver = (struct driver_runner *)runner;
    if (driver->ctx != NULL)
        driver->ctx_destroy(driver->ctx);
    /* The library stays open: a driver's threads may still run in it. */
    free(driver);
}

static const struct runner_engine driver_engine = {
    .load = driver_load,
    .launch = driver_launch,
    .unload = driver_unload,
    .close = driver_close,
};

static enum pxr_status find_functions(struct driver_runner *driver, struct pxr_error *err)
{
    const struct {
        const char *symbol;
        void *slot;
    } functions[] = {
#define FUNCTION(name, symbol, ...) {symbol, &driver->name},
        DRIVER_FUNCTIONS
#undef FUNCTION
    };
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *address = dlsym(driver->library, functions[i].symbol);
        if (address == NULL)
            return pxr_fail(err, PXR_NOT_FOUND, "the driver library has no %s",
                            functions[i].symbol);
        memcpy(functions[i].slot, &address, sizeof address);
    }
    return PXR_OK;
}

static enum pxr_status start_driver(struct driver_runner *driver, struct pxr_error *err)
{
    enum pxr_status status = driver_status(driver, driver->init(0), "cuInit", err);
    if (status == PXR_OK)
        status = driver_status(driver, driver->device_get(&driver->device, 0), "cuDeviceGet", err);
    if (status == PXR_OK)
        status = driver_status(driver, driver->ctx_create(&driver->ctx, 0, driver->device),
                               "cuCtxCreate", err);
    return status;
}

enum pxr_status runner_open_driver(const char *path, struct runner **runner, struct pxr_error *err)
{
    struct driver_runner *driver = calloc(1, sizeof *driver);
    if (driver == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for a runner");
    driver->base.engine = &driver_engine;
    setenv("PTXRUN_CACHE", "off", 0); /* no_cache.c */
    if (path == NULL || path[0] == '\0')
        path = "libcuda.so.1";
    driver->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    enum pxr_status status = PXR_OK;
    if (driver->library == NULL)
        status = pxr_fail(err, PXR_NOT_FOUND, "cannot open the driver: %s", dlerror());
    if (status == PXR_OK)
        status = find_functions(driver, err);
    if (status == PXR_OK)
        status = start_driver(driver, err);
    if (status != PXR_OK) {
        driver_close(&driver->base);
        return status;
    }
    *runner = &driver->base;
    return PXR_OK;
}
