/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a case on the oracle.
 */
#include <string.h>

#include "ptx/ptx.h"
#include "tests/oracle/oracle.h"
#include "tests/shapes/backend.h"

#define MAX_PARAM_BYTES 32768
#define MAX_STEPS       UINT64_C(200000000)

static const struct ptx_func *find_kernel(const struct ptx_module *module, const char *name)
{
    if (name[0])
        return ptx_find_entry(module, name);
    for (uint32_t n = 0; n < module->func_count; n++)
        if (module->funcs[n]->is_entry && module->funcs[n]->has_body)
            return module->funcs[n];
    return NULL;
}

/* The parameter block; memory of the buffers becomes the kernel's. */
static enum pxr_status pass_arguments(const struct ptx_case *c, const struct case_memory *memory,
                                      const struct ptx_func *kernel, struct oracle *oracle,
                                      uint8_t *params, struct pxr_error *err)
{
    if (kernel->param_count != c->arg_count || kernel->param_bytes > MAX_PARAM_BYTES)
        return pxr_fail(err, PXR_INVALID_ARGUMENT, "kernel '%s' takes %u arguments, not %zu",
                        kernel->name, kernel->param_count, c->arg_count);
    for (size_t n = 0; n < c->arg_count; n++) {
        const struct case_arg *arg = &c->args[n];
        const struct ptx_var *param = kernel->params[n];
        const void *from = arg->is_buffer ? (const void *)&memory->bytes[n] : arg->initial;
        size_t bytes = arg->is_buffer ? sizeof memory->bytes[n] : arg->bytes;
        if (param->size_bytes != bytes)
            return pxr_fail(err, PXR_INVALID_ARGUMENT, "argument %zu has %zu bytes, not %zu", n,
                            bytes, (size_t)param->size_bytes);
        memcpy(params + param->param_offset_bytes, from, bytes);
        if (arg->is_buffer)
            oracle_allow(oracle, memory->bytes[n], arg->bytes);
    }
    return PXR_OK;
}

static enum pxr_status run_kernel(const struct ptx_case *c, const struct case_memory *memory,
                                  const struct ptx_func *kernel, struct oracle *oracle,
                                  uint32_t seed, struct pxr_error *err)
{
    static uint8_t params[MAX_PARAM_BYTES];
    enum pxr_status status = pass_arguments(c, memory, kernel, oracle, params, err);
    if (status != PXR_OK)
        return status;
    struct oracle_launch launch = {
        .kernel = kernel->name,
        .grid = {c->grid[0], c->grid[1], c->grid[2]},
        .block = {c->block[0], c->block[1], c->block[2]},
        .dynamic_shared_bytes = c->dynamic_shared_bytes,
        .params = params,
        .seed = seed,
        .max_steps = c->max_steps ? c->max_steps : MAX_STEPS,
    };
    return oracle_run(oracle, &launch, err);
}

static enum pxr_status run(const struct backend *self, const struct ptx_case *c,
                           const struct case_memory *memory, uint32_t seed, struct pxr_error *err)
{
    (void)self;
    struct ptx_module *module;
    struct oracle *oracle = NULL;
    struct pxr_str text = {c->text, c->text_len};
    enum pxr_status status = ptx_parse(text, c->path, &module, err);
    if (status != PXR_OK)
        return status;
    const struct ptx_func *kernel = find_kernel(module, c->kernel);
    if (!kernel)
        status = pxr_fail(err, PXR_NOT_FOUND, "there is no kernel '%s'", c->kernel);
    if (status == PXR_OK)
        status = oracle_create(module, &oracle, err);
    if (status == PXR_OK) {
        status = run_kernel(c, memory, kernel, oracle, seed, err);
        oracle_destroy(oracle);
    }
    ptx_module_destroy(module);
    return status;
}

const struct backend backend_oracle = {.name = "oracle", .run = run};
