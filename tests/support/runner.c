/* SPDX-License-Identifier: Apache-2.0
 *
 * The common part of all runners: which text is loaded, and the way to the engine.
 */
#include <stdlib.h>
#include <string.h>

#include "ptx/ptx.h"
#include "tests/support/runner_engine.h"

#define BUFFER_ALIGN 256

void *runner_alloc(size_t size_bytes)
{
    size_t rounded = (size_bytes + BUFFER_ALIGN) & ~(size_t)(BUFFER_ALIGN - 1);
    if (rounded < size_bytes)
        return NULL;
    void *bytes = aligned_alloc(BUFFER_ALIGN, rounded);
    if (bytes != NULL)
        memset(bytes, 0, rounded);
    return bytes;
}

enum pxr_status runner_make_params(const struct ptx_func *kernel,
                                   const struct runner_launch *launch, uint8_t **params,
                                   struct pxr_error *err)
{
    if (kernel->param_count != launch->buffer_count || launch->buffer_count > RUNNER_MAX_BUFFERS)
        return pxr_fail(err, PXR_INVALID_ARGUMENT, "kernel '%s' does not take %zu parameters",
                        launch->kernel, launch->buffer_count);
    uint8_t *made = runner_alloc(kernel->param_bytes);
    if (made == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for parameters");
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const struct ptx_var *param = kernel->params[i];
        const struct runner_buffer *buffer = &launch->buffers[i];
        uint64_t address = (uint64_t)(uintptr_t)buffer->bytes;
        const void *source = runner_is_value(launch, i) ? buffer->bytes : &address;
        size_t size_bytes = runner_is_value(launch, i) ? buffer->size_bytes : sizeof address;
        if (param->size_bytes != size_bytes) {
            free(made);
            return pxr_fail(err, PXR_INVALID_ARGUMENT, "parameter '%s' has not %zu bytes",
                            param->name, size_bytes);
        }
        memcpy(made + param->param_offset_bytes, source, size_bytes);
    }
    *params = made;
    return PXR_OK;
}

void runner_unload(struct runner *runner)
{
    runner->engine->unload(runner);
    free(runner->text);
    runner->text = NULL;
}

void runner_close(struct runner *runner)
{
    if (runner == NULL)
        return;
    runner_unload(runner);
    runner->engine->close(runner);
}

enum pxr_status runner_load(struct runner *runner, const char *ptx_text, struct pxr_error *err)
{
    if (runner->text != NULL && strcmp(runner->text, ptx_text) == 0)
        return PXR_OK;
    runner_unload(runner);
    char *text = strdup(ptx_text);
    if (text == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for a PTX text");
    enum pxr_status status = runner->engine->load(runner, text, err);
    if (status == PXR_OK)
        runner->text = text;
    else
        free(text);
    return status;
}

enum pxr_status runner_launch(struct runner *runner, const struct runner_launch *launch,
                              struct pxr_error *err)
{
    if (runner->text == NULL)
        return pxr_fail(err, PXR_INVALID_ARGUMENT, "no module is loaded");
    return runner->engine->launch(runner, launch, err);
}

enum pxr_status runner_run(struct runner *runner, const char *ptx_text,
                           const struct runner_launch *launch, struct pxr_error *err)
{
    enum pxr_status status = runner_load(runner, ptx_text, err);
    return status == PXR_OK ? runner_launch(runner, launch, err) : status;
}
