/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a case through a libcuda.so.1: ours or a GPU's.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ptx/ptx.h"
#include "tests/shapes/backend.h"
#include "tests/support/runner.h"

#define PATH_VARIABLE "PTXRUN_TEST_LIBCUDA"

/* Name of the first kernel, copied. */
static bool find_name(const struct ptx_case *c, char name[CASE_NAME_BYTES], struct pxr_error *err)
{
    struct ptx_module *module;
    struct pxr_str text = {c->text, c->text_len};
    name[0] = '\0';
    if (ptx_parse(text, c->path, &module, err) != PXR_OK)
        return false;
    for (uint32_t n = 0; n < module->func_count && !name[0]; n++)
        if (module->funcs[n]->is_entry && module->funcs[n]->has_body)
            snprintf(name, CASE_NAME_BYTES, "%s", module->funcs[n]->name);
    ptx_module_destroy(module);
    return true;
}

/* Opened at the first run and kept: a context costs more than most kernels. */
static struct runner *get_runner(struct pxr_error *err)
{
    static struct runner *runner;
    if (!runner)
        runner_open_driver(getenv(PATH_VARIABLE), &runner, err);
    return runner;
}

static enum pxr_status run(const struct ptx_case *c, const struct case_memory *memory,
                           uint32_t seed, struct pxr_error *err)
{
    char name[CASE_NAME_BYTES];
    struct runner_buffer buffers[CASE_MAX_ARGS];
    struct runner *runner = get_runner(err);
    (void)seed;
    if (!runner)
        return PXR_NOT_FOUND;
    if (!find_name(c, name, err))
        return PXR_BAD_PTX;
    struct runner_launch launch = {
        .kernel = c->kernel[0] ? c->kernel : name,
        .grid = {c->grid[0], c->grid[1], c->grid[2]},
        .block = {c->block[0], c->block[1], c->block[2]},
        .dynamic_shared_bytes = c->dynamic_shared_bytes,
        .buffers = buffers,
        .buffer_count = c->arg_count,
    };
    for (size_t n = 0; n < c->arg_count; n++) {
        const struct case_arg *arg = &c->args[n];
        buffers[n].bytes = arg->is_buffer ? memory->bytes[n] : arg->initial;
        buffers[n].size_bytes = arg->bytes;
        launch.values |= (uint64_t)!arg->is_buffer << n;
    }
    return runner_run(runner, c->text, &launch, err);
}

const struct backend backend_driver = {"driver", run};
