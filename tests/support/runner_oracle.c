/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine `oracle`: the interpreter of tests/oracle on the caller's buffers.
 */
#include <stdlib.h>

#include "ptx/ptx.h"
#include "tests/oracle/oracle.h"
#include "tests/support/runner_engine.h"

#define MAX_STEPS (UINT64_C(1) << 32)

struct oracle_runner {
    struct runner base;
    uint64_t seed;
    struct ptx_module *ptx;
    struct oracle *oracle;
};

static void oracle_runner_unload(struct runner *runner)
{
    struct oracle_runner *self = (struct oracle_runner *)runner;
    if (self->oracle != NULL)
        oracle_destroy(self->oracle);
    self->oracle = NULL;
    ptx_module_destroy(self->ptx);
    self->ptx = NULL;
}

static enum pxr_status oracle_runner_load(struct runner *runner, const char *ptx_text,
                                          struct pxr_error *err)
{
    struct oracle_runner *self = (struct oracle_runner *)runner;
    enum pxr_status status = ptx_parse(pxr_str_from(ptx_text), "test.ptx", &self->ptx, err);
    if (status == PXR_OK)
        status = oracle_create(self->ptx, &self->oracle, err);
    if (status != PXR_OK)
        oracle_runner_unload(runner);
    return status;
}

static enum pxr_status oracle_runner_launch(struct runner *runner,
                                            const struct runner_launch *launch,
                                            struct pxr_error *err)
{
    struct oracle_runner *self = (struct oracle_runner *)runner;
    const struct ptx_func *kernel = ptx_find_entry(self->ptx, launch->kernel);
    if (kernel == NULL)
        return pxr_fail(err, PXR_NOT_FOUND, "no kernel '%s'", launch->kernel);
    uint8_t *params = NULL;
    enum pxr_status status = runner_make_params(kernel, launch, &params, err);
    if (status != PXR_OK)
        return status;
    oracle_forbid_all(self->oracle); /* the last launch's buffers */
    for (size_t i = 0; i < launch->buffer_count; i++)
        if (!runner_is_value(launch, i))
            oracle_allow(self->oracle, launch->buffers[i].bytes, launch->buffers[i].size_bytes);
    struct oracle_launch request = {
        .kernel = launch->kernel,
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .block = {launch->block[0], launch->block[1], launch->block[2]},
        .dynamic_shared_bytes = launch->dynamic_shared_bytes,
        .params = params,
        .seed = self->seed,
        .max_steps = MAX_STEPS,
    };
    status = oracle_run(self->oracle, &request, err);
    free(params);
    return status;
}

static void oracle_runner_close(struct runner *runner)
{
    free(runner);
}

static const struct runner_engine oracle_engine = {
    .load = oracle_runner_load,
    .launch = oracle_runner_launch,
    .unload = oracle_runner_unload,
    .close = oracle_runner_close,
};

enum pxr_status runner_open_oracle(uint64_t seed, struct runner **runner, struct pxr_error *err)
{
    struct oracle_runner *self = calloc(1, sizeof *self);
    if (self == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for a runner");
    self->base.engine = &oracle_engine;
    self->seed = seed;
    *runner = &self->base;
    return PXR_OK;
}
