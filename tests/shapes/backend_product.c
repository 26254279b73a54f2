/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a case through the public C API, in this process.
 */
#include "ptxrun/ptxrun.h"

#include <stdlib.h>
#include <string.h>

#include "scheduler/worker_pool.h"
#include "tests/shapes/backend.h"

static enum pxr_status convert(enum ptxrun_status status, const struct ptxrun_error *error,
                               struct pxr_error *err)
{
    static const enum pxr_status statuses[] = {
        [PTXRUN_OUT_OF_MEMORY] = PXR_OUT_OF_MEMORY,
        [PTXRUN_INVALID_ARGUMENT] = PXR_INVALID_ARGUMENT,
        [PTXRUN_NOT_FOUND] = PXR_NOT_FOUND,
        [PTXRUN_BAD_INPUT] = PXR_BAD_PTX,
        [PTXRUN_UNSUPPORTED] = PXR_UNSUPPORTED,
        [PTXRUN_OUT_OF_RESOURCES] = PXR_OUT_OF_RESOURCES,
        [PTXRUN_KERNEL_FAULT] = PXR_FAULT_TRAP,
        [PTXRUN_INTERNAL] = PXR_COMPILE_FAILED,
    };
    return status == PTXRUN_OK ? PXR_OK : pxr_fail(err, statuses[status], "%s", error->message);
}

static enum ptxrun_status launch(const struct ptx_case *c, const struct case_memory *memory,
                                 struct ptxrun_module *module, struct ptxrun_error *error)
{
    void *args[CASE_MAX_ARGS];
    struct ptxrun_kernel *kernel = NULL;
    const char *name = c->kernel[0] ? c->kernel : ptxrun_kernel_name(module, 0);
    enum ptxrun_status status = ptxrun_find_kernel(module, name ? name : "", &kernel, error);
    if (status != PTXRUN_OK)
        return status;
    for (size_t n = 0; n < c->arg_count; n++)
        args[n] = c->args[n].is_buffer ? (void *)&memory->bytes[n] : c->args[n].initial;
    struct ptxrun_launch shape = {
        .grid = {c->grid[0], c->grid[1], c->grid[2]},
        .block = {c->block[0], c->block[1], c->block[2]},
        .dynamic_shared_bytes = c->dynamic_shared_bytes,
    };
    return ptxrun_launch(kernel, &shape, args, c->arg_count, error);
}

/* The module of the last case, so that a case is compiled once for all its seeds; NULL: none. */
static struct {
    struct ptxrun_module *module;
    char *text;
    size_t text_len;
} kept;

static void drop(void)
{
    ptxrun_unload(kept.module);
    free(kept.text);
    kept.module = NULL;
    kept.text = NULL;
}

/* Variables of the module begin anew only in another module. */
static bool has_variables(const struct ptx_case *c)
{
    return memmem(c->text, c->text_len, ".global .", strlen(".global .")) != NULL;
}

static enum ptxrun_status load(const struct ptx_case *c, struct ptxrun_error *error)
{
    if (kept.module != NULL && kept.text_len == c->text_len &&
        memcmp(kept.text, c->text, c->text_len) == 0 && !has_variables(c))
        return PTXRUN_OK;
    drop();
    enum ptxrun_status status = ptxrun_load_text(c->text, c->text_len, &kept.module, error);
    kept.text_len = c->text_len;
    kept.text = malloc(c->text_len + 1);
    if (status == PTXRUN_OK && kept.text == NULL)
        status = PTXRUN_OUT_OF_MEMORY;
    if (status == PTXRUN_OK)
        memcpy(kept.text, c->text, c->text_len);
    else
        drop();
    return status;
}

static enum pxr_status run(const struct backend *self, const struct ptx_case *c,
                           const struct case_memory *memory, uint32_t seed, struct pxr_error *err)
{
    (void)self;
    struct ptxrun_error error = {0};
    sch_set_chaos(seed);
    enum ptxrun_status status = load(c, &error);
    if (status == PTXRUN_OK)
        status = launch(c, memory, kept.module, &error);
    if (status != PTXRUN_OK)
        drop();
    return convert(status, &error, err);
}

const struct backend backend_product = {.name = "product", .run = run};
