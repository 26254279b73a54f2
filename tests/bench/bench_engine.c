/* SPDX-License-Identifier: Apache-2.0
 *
 * The compile library, the loader and the scheduler without the CUDA API around them, so that
 * variants of a kernel can be mixed in one process.
 */
#include "tests/bench/bench_engine.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jit/facts.h"
#include "scheduler/scheduler.h"

#define STACK_RESERVE_BYTES (24u << 10)
#define SM_COUNT            4

/* Written once by bench_engine_open. */
static const struct jit_compiler *compiler;

double bench_now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

enum pxr_status bench_engine_open(unsigned workers, struct pxr_error *err)
{
    void *library = dlopen(PTXRUN_COMPILE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    jit_compiler_entry_fn entry =
        library ? (jit_compiler_entry_fn)(uintptr_t)dlsym(library, JIT_COMPILER_ENTRY) : NULL;
    compiler = entry ? entry() : NULL;
    if (!compiler || compiler->abi != JIT_COMPILER_ABI)
        return pxr_fail(err, PXR_NO_COMPILER, "cannot open " PTXRUN_COMPILE_LIBRARY);
    return sch_start(workers, err);
}

/* ---- compiling ---- */

static enum pxr_status parse_file(const char *name, struct ptx_module **module,
                                  struct pxr_error *err)
{
    char path[512];
    snprintf(path, sizeof path, PTXRUN_BENCH_KERNELS "/%s.ptx", name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return pxr_fail(err, PXR_IO, "cannot open %s", path);
    static char text[1 << 20];
    size_t len = fread(text, 1, sizeof text, file);
    fclose(file);
    return ptx_parse((struct pxr_str){text, len}, path, module, err);
}

static enum pxr_status make_params(struct bench_code *code, const struct ptx_func *func,
                                   const struct bench_case *kernel, const struct bench_args *args,
                                   struct pxr_error *err)
{
    unsigned count =
        kernel->in_count + kernel->out_count + kernel->size_count + kernel->scalar_count;
    code->params = calloc(1, func->param_bytes + 8);
    if (!code->params || func->param_count != count)
        return pxr_fail(err, PXR_INVALID_ARGUMENT, "kernel '%s' has %u parameters, not %u",
                        func->name, func->param_count, count);
    const struct ptx_var *const *param = func->params;
    for (unsigned i = 0; i < kernel->in_count; i++)
        memcpy(code->params + (*param++)->param_offset_bytes, &args->in[i], sizeof(void *));
    for (unsigned i = 0; i < kernel->out_count; i++)
        memcpy(code->params + (*param++)->param_offset_bytes, &args->out[i], sizeof(void *));
    for (unsigned i = 0; i < kernel->size_count; i++)
        memcpy(code->params + (*param++)->param_offset_bytes, &args->size[i], 4);
    for (unsigned i = 0; i < kernel->scalar_count; i++)
        memcpy(code->params + (*param++)->param_offset_bytes, &args->scalar[i], 4);
    return PXR_OK;
}

static void note_object(struct bench_code *code, struct jit_object *object)
{
    code->collapse = object->collapse;
    code->translate_ms = (double)object->translate_ns * 1e-6;
    code->optimise_ms = (double)object->optimise_ns * 1e-6;
    code->codegen_ms = (double)object->codegen_ns * 1e-6;
    code->object_bytes = object->size_bytes;
    code->stack_bytes =
        STACK_RESERVE_BYTES + (uint32_t)code->layout.local_bytes + object->frame_bytes;
    code->explanation = object->explanation;
    object->explanation = NULL;
}

/* Every pointer that a kernel here gets is the beginning of an array. */
static bool find_array(uintptr_t address, uintptr_t *start)
{
    *start = address;
    return address % BENCH_ALIGN_BYTES == 0;
}

static void find_facts(const struct bench_code *code, const struct ptx_func *func,
                       const struct bench_case *kernel, struct tr_facts *facts)
{
    struct jit_launch launch = {
        .kernel = func, .params = code->params, .find_allocation = find_array};
    memcpy(launch.grid, kernel->grid, sizeof kernel->grid);
    memcpy(launch.block, kernel->block, sizeof kernel->block);
    jit_facts_of(&launch, facts);
}

static enum pxr_status compile(struct bench_code *code, const struct ptx_func *func,
                               const struct bench_case *kernel, const struct bench_wish *wish,
                               struct pxr_error *err)
{
    struct jit_request request = {.module = code->module,
                                  .kernel = func,
                                  .layout = &code->layout,
                                  .variant = {.collapse = wish->collapse},
                                  .dump = wish->dump_dir ? "ptx,ir,opt,asm" : NULL,
                                  .dump_dir = wish->dump_dir};
    if (wish->is_jit)
        find_facts(code, func, kernel, &request.variant.facts);
    struct jit_object object = {0};
    double start_us = bench_now_us();
    enum pxr_status status = compiler->compile(&request, &object, err);
    code->wall_ms = (bench_now_us() - start_us) * 1e-3;
    if (status == PXR_OK) {
        note_object(code, &object);
        status = jit_load(&object, func->name, NULL, 0, &code->loaded, err);
    }
    jit_object_fini(&object);
    return status;
}

enum pxr_status bench_code_init(struct bench_code *code, const struct bench_case *kernel,
                                const struct bench_args *args, const struct bench_wish *wish,
                                struct pxr_error *err)
{
    memset(code, 0, sizeof *code);
    enum pxr_status status = parse_file(kernel->file, &code->module, err);
    if (status != PXR_OK)
        return status;
    const struct ptx_func *func = ptx_find_entry(code->module, kernel->name);
    if (!func)
        return pxr_fail(err, PXR_NOT_FOUND, "no kernel '%s'", kernel->name);
    status = ptx_layout_kernel(code->module, func, &code->layout, err);
    if (status == PXR_OK)
        status = make_params(code, func, kernel, args, err);
    if (status == PXR_OK)
        status = compile(code, func, kernel, wish, err);
    return status;
}

void bench_code_fini(struct bench_code *code)
{
    if (code->loaded)
        jit_unload(code->loaded);
    if (code->module) {
        ptx_layout_fini(&code->layout);
        ptx_module_destroy(code->module);
    }
    free(code->params);
    free(code->explanation);
    memset(code, 0, sizeof *code);
}

/* ---- running ---- */

static void note_fault(void *arg, const struct sch_fault *fault)
{
    struct sch_fault *noted = arg;
    if (fault)
        *noted = *fault;
}

enum pxr_status bench_launch(const struct bench_code *code, const struct bench_case *kernel,
                             struct pxr_error *err)
{
    uint32_t threads = kernel->block[0] * kernel->block[1] * kernel->block[2];
    static uint64_t launches;
    static void *no_slots[1];
    struct sch_grid grid = {.entry = jit_code_entry(code->loaded),
                            .fused = jit_code_fused(code->loaded),
                            .launch = {.params = code->params,
                                       .slots = no_slots,
                                       .shared_bytes = code->layout.shared_static_bytes,
                                       .grid_id = ++launches,
                                       .sm_count = SM_COUNT,
                                       .local_bytes = code->layout.local_static_bytes},
                            .stack_bytes = code->stack_bytes,
                            .frame_bytes = jit_code_frame_bytes(code->loaded, threads),
                            .may_wait = jit_code_may_wait(code->loaded)};
    memcpy(grid.launch.grid, kernel->grid, sizeof kernel->grid);
    memcpy(grid.launch.block, kernel->block, sizeof kernel->block);
    struct sch_fault fault = {.status = PXR_OK};
    struct sch_op *op = sch_op_grid(&grid, note_fault, &fault);
    if (!op)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for a launch");
    sch_op_submit(op);
    sch_op_wait(op);
    sch_op_release(op);
    if (fault.status == PXR_OK)
        return PXR_OK;
    return pxr_fail(err, fault.status, "kernel '%s', PTX line %d: %s at %#llx", kernel->name,
                    jit_code_line(code->loaded, fault.pc), pxr_status_name(fault.status),
                    (unsigned long long)fault.address);
}
