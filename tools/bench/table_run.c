/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the launches of a row: picks or compiles a variant for each, as the product does, and
 * submits them in order.
 */
#include "tools/bench/table_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jit/variant.h"
#include "tools/bench/bench_engine.h"

#define MAX_KERNELS  8
#define MAX_PENDING  512 /* launches */
#define PARAMS_BYTES 256

struct kernel {
    const struct ptx_func *func;
    struct jit_variants variants;
    struct bench_code codes[JIT_VARIANTS_MAX];
    unsigned code_count;
};

/* A launch that may not have finished. */
struct pending {
    const struct bench_code *code;
    struct sch_fault fault;
    uint8_t params[PARAMS_BYTES];
};

struct table_run {
    const struct table_row *row;
    const struct table_args *args;
    struct table_code_wish wish;
    uint32_t block_limit; /* 0: none */
    struct ptx_module *module;
    struct kernel kernels[MAX_KERNELS];
    unsigned kernel_count;
    struct pending pending[MAX_PENDING];
    unsigned pending_count;
    struct sch_op *last;  /* of the pending ones; holds a reference */
    struct pxr_error err; /* the first; nothing is launched any more */
};

/* jit_find_allocation_fn has no argument: the run that launches. */
static const struct table_run *open_run;

static bool find_buffer(uintptr_t address, uintptr_t *start)
{
    for (unsigned i = 0; i < TABLE_MAX_BUFFERS; i++) {
        *start = (uintptr_t)open_run->args->buffer[i];
        if (address >= *start && address - *start < open_run->row->buffers[i].bytes)
            return true;
    }
    return false;
}

/* ---- code ---- */

static struct kernel *find_kernel(struct table_run *run, const char *name)
{
    for (unsigned i = 0; i < run->kernel_count; i++)
        if (strcmp(run->kernels[i].func->name, name) == 0)
            return &run->kernels[i];
    const struct ptx_func *func = ptx_find_entry(run->module, name);
    if (!func || run->kernel_count == MAX_KERNELS) {
        pxr_fail(&run->err, PXR_NOT_FOUND, "no kernel '%s', or too many kernels", name);
        return NULL;
    }
    struct kernel *kernel = &run->kernels[run->kernel_count++];
    kernel->func = func;
    return kernel;
}

static const struct bench_code *compile(struct table_run *run, struct kernel *kernel,
                                        const struct tr_facts *facts)
{
    struct tr_facts planned;
    jit_variants_plan(&kernel->variants, run->wish.mode, facts, &planned);
    struct bench_wish wish = {.collapse = run->wish.collapse,
                              .facts = &planned,
                              .dump_dir = run->wish.dump_dir,
                              .is_quick = run->wish.is_quick};
    struct bench_code *code = &kernel->codes[kernel->code_count++];
    if (bench_code_init(code, run->module, kernel->func, &wish, &run->err) != PXR_OK)
        return NULL;
    jit_variants_add(&kernel->variants, &planned, code);
    return code;
}

static const struct bench_code *find_code(struct table_run *run, struct kernel *kernel,
                                          const struct bench_launch *launch)
{
    struct tr_facts facts;
    struct jit_launch known = {.kernel = kernel->func,
                               .dynamic_shared_bytes = launch->dynamic_shared_bytes,
                               .params = launch->params,
                               .find_allocation = find_buffer};
    memcpy(known.grid, launch->grid, sizeof known.grid);
    memcpy(known.block, launch->block, sizeof known.block);
    jit_variants_facts(run->wish.mode, &known, &facts);
    const struct bench_code *code = jit_variants_pick(&kernel->variants, &facts);
    return code ? code : compile(run, kernel, &facts);
}

/* ---- launches ---- */

void table_wait(struct table_run *run)
{
    if (run->last)
        sch_op_wait(run->last);
    sch_op_release(run->last);
    run->last = NULL;
    for (unsigned i = 0; i < run->pending_count && run->err.status == PXR_OK; i++) {
        const struct pending *pending = &run->pending[i];
        if (pending->fault.status != PXR_OK)
            bench_fault_text(pending->code, &pending->fault, &run->err);
    }
    run->pending_count = 0;
}

static bool copy_params(struct table_run *run, const struct ptx_func *func,
                        const struct table_launch *launch, uint8_t *params)
{
    if (func->param_bytes > PARAMS_BYTES || func->param_count > TABLE_MAX_ARGS) {
        pxr_fail(&run->err, PXR_INVALID_ARGUMENT, "'%s' has too many parameters", func->name);
        return false;
    }
    for (uint32_t i = 0; i < func->param_count; i++) {
        const struct ptx_var *param = func->params[i];
        if (!launch->args[i]) {
            pxr_fail(&run->err, PXR_INVALID_ARGUMENT, "'%s' has %u parameters, not %u", func->name,
                     func->param_count, i);
            return false;
        }
        memcpy(params + param->param_offset_bytes, launch->args[i], param->size_bytes);
    }
    return true;
}

/* Rows of blocks before part of a row. */
static void limit_grid(uint32_t grid[3], uint32_t blocks)
{
    for (int i = 0; i < 3 && blocks > 0; i++) {
        grid[i] = grid[i] < blocks ? grid[i] : blocks;
        blocks /= grid[i];
        blocks = blocks > 0 ? blocks : 1;
    }
}

void table_launch(struct table_run *run, const struct table_launch *launch)
{
    if (run->pending_count == MAX_PENDING)
        table_wait(run);
    struct kernel *kernel = run->err.status == PXR_OK ? find_kernel(run, launch->entry) : NULL;
    struct pending *pending = &run->pending[run->pending_count];
    if (!kernel || !copy_params(run, kernel->func, launch, pending->params))
        return;
    struct bench_launch shape = {.dynamic_shared_bytes = launch->dynamic_shared_bytes,
                                 .params = pending->params};
    for (int i = 0; i < 3; i++) {
        shape.grid[i] = launch->grid[i] ? launch->grid[i] : 1;
        shape.block[i] = launch->block[i] ? launch->block[i] : 1;
    }
    limit_grid(shape.grid, run->block_limit);
    pending->code = find_code(run, kernel, &shape);
    if (!pending->code)
        return;
    pending->fault.status = PXR_OK;
    struct sch_op *op = bench_submit(pending->code, &shape, run->last, &pending->fault);
    if (!op) {
        pxr_fail(&run->err, PXR_OUT_OF_MEMORY, "no memory for a launch");
        return;
    }
    sch_op_release(run->last);
    run->last = op;
    run->pending_count++;
}

/* ---- a run ---- */

enum pxr_status table_run_open(struct table_run **made, const struct table_row *row,
                               const struct table_args *args, const struct table_code_wish *wish,
                               struct pxr_error *err)
{
    struct table_run *run = calloc(1, sizeof *run);
    if (!run)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for a run");
    run->row = row;
    run->args = args;
    run->wish = *wish;
    enum pxr_status status = bench_module_open(row->file, &run->module, err);
    if (status != PXR_OK) {
        free(run);
        return status;
    }
    *made = run;
    return PXR_OK;
}

void table_run_close(struct table_run *run)
{
    for (unsigned i = 0; i < run->kernel_count; i++)
        for (unsigned j = 0; j < run->kernels[i].code_count; j++)
            bench_code_fini(&run->kernels[i].codes[j]);
    ptx_module_destroy(run->module);
    free(run);
}

enum pxr_status table_run_once(struct table_run *run, struct pxr_error *err)
{
    open_run = run;
    run->row->ours(run, run->args);
    table_wait(run);
    if (run->err.status != PXR_OK)
        return pxr_fail(err, run->err.status, "%s", run->err.message);
    return PXR_OK;
}

void table_run_notes(const struct table_run *run, struct table_code_notes *notes)
{
    memset(notes, 0, sizeof *notes);
    unsigned seen = 0; // bits
    for (unsigned i = 0; i < run->kernel_count; i++)
        for (unsigned j = 0; j < run->kernels[i].code_count; j++) {
            const struct bench_code *code = &run->kernels[i].codes[j];
            notes->compile_ms += code->translate_ms + code->optimise_ms + code->codegen_ms;
            notes->width = code->width > notes->width ? code->width : notes->width;
            notes->jam = code->jam > notes->jam ? code->jam : notes->jam;
            seen |= 1u << code->collapse;
        }
    for (unsigned i = 0; seen >> i; i++) {
        if (!(seen >> i & 1))
            continue;
        if (notes->collapse[0])
            strcat(notes->collapse, "+");
        strcat(notes->collapse, pxr_collapse_name((enum pxr_collapse)i));
    }
}

void table_run_limit_blocks(struct table_run *run, uint32_t blocks)
{
    run->block_limit = blocks;
}

void table_run_explanation(const struct table_run *run, char text[TABLE_EXPLANATION_BYTES])
{
    size_t length = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < run->kernel_count; i++)
        for (unsigned j = 0; j < run->kernels[i].code_count; j++) {
            const struct bench_code *code = &run->kernels[i].codes[j];
            if (length < TABLE_EXPLANATION_BYTES)
                length += (size_t)snprintf(text + length, TABLE_EXPLANATION_BYTES - length,
                                           "kernel '%s': %s\n", code->name,
                                           code->explanation ? code->explanation : "");
        }
}
