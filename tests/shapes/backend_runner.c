/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a case through tests/support/runner.h: on a libcuda.so.1, ours or a GPU's, or on this
 * build with a collapse and a mode.
 */
#include <stdio.h>
#include <stdlib.h>

#include "ptx/ptx.h"
#include "tests/shapes/backend.h"

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

enum pxr_status backend_run_case(struct runner *runner, const struct ptx_case *c,
                                 const struct case_memory *memory, struct pxr_error *err)
{
    char name[CASE_NAME_BYTES];
    struct runner_buffer buffers[CASE_MAX_ARGS];
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

/* Opened at the first run and kept: a context costs more than most kernels. */
static enum pxr_status run_driver(const struct backend *self, const struct ptx_case *c,
                                  const struct case_memory *memory, uint32_t seed,
                                  struct pxr_error *err)
{
    static struct runner *runner;
    (void)self;
    (void)seed;
    if (!runner && runner_open_driver(getenv(PATH_VARIABLE), &runner, err) != PXR_OK)
        return PXR_NOT_FOUND;
    return backend_run_case(runner, c, memory, err);
}

/* One for each build, so that a case is compiled once for all its seeds. */
static struct runner *runners[BACKEND_BUILD_COUNT];

struct runner_made backend_made(const struct backend *build)
{
    const struct runner *runner = runners[build - backend_builds];
    return runner ? runner_last_made(runner)
                  : (struct runner_made){.collapse = PXR_COLLAPSE_PRECISE};
}

static enum pxr_status run_build(const struct backend *self, const struct ptx_case *c,
                                 const struct case_memory *memory, uint32_t seed,
                                 struct pxr_error *err)
{
    struct runner **runner = &runners[self - backend_builds];
    const struct pxr_options *options = pxr_options_get();
    struct runner_build build = {.collapse = self->collapse,
                                 .width = options->width,
                                 .jam = options->jam,
                                 .has_facts = self->has_facts,
                                 .hands_over = self->hands_over,
                                 .workers = options->threads};
    if (!*runner) {
        enum pxr_status status = runner_open_inprocess(&build, runner, err);
        if (status != PXR_OK)
            return status;
    }
    runner_set_chaos(seed);
    return backend_run_case(*runner, c, memory, err);
}

const struct backend backend_driver = {.name = "driver", .run = run_driver};

#define BUILD(text, id)                                                                            \
    {.name = text "-normal", .run = run_build, .collapse = PXR_COLLAPSE_##id},                     \
    {                                                                                              \
        .name = text "-jit", .run = run_build, .collapse = PXR_COLLAPSE_##id, .has_facts = true    \
    }

const struct backend backend_builds[BACKEND_BUILD_COUNT] = {
    BUILD("precise", PRECISE),
    BUILD("flat", FLAT),
    BUILD("hierarchical", HIERARCHICAL),
    BUILD("vector", VECTOR),
    BUILD("auto", AUTO),
    {.name = "taken-over",
     .run = run_build,
     .collapse = PXR_COLLAPSE_AUTO,
     .has_facts = true,
     .hands_over = true},
};
