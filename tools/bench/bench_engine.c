/* SPDX-License-Identifier: Apache-2.0
 *
 * The compile library, the loader and the scheduler without the CUDA API around them, so that
 * variants of a kernel can be mixed in one process.
 */
#include "tools/bench/bench_engine.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/bench/bench_measure.h"

#define STACK_RESERVE_BYTES (24u << 10)
#define SM_COUNT            4

/* Written once by bench_engine_open. */
static const struct jit_compiler *compiler;

static enum pxr_status open_compiler(struct pxr_error *err)
{
    void *library = dlopen(PTXRUN_COMPILE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    jit_compiler_entry_fn entry =
        library ? (jit_compiler_entry_fn)(uintptr_t)dlsym(library, JIT_COMPILER_ENTRY) : NULL;
    compiler = entry ? entry() : NULL;
    if (!compiler || compiler->abi != JIT_COMPILER_ABI)
        return pxr_fail(err, PXR_NO_COMPILER, "cannot open " PTXRUN_COMPILE_LIBRARY);
    return PXR_OK;
}

enum pxr_status bench_engine_open(unsigned workers, struct pxr_error *err)
{
    enum pxr_status status = open_compiler(err);
    return status == PXR_OK ? sch_start(workers, err) : status;
}

enum pxr_status bench_empty_open(struct ptx_module **module, struct bench_code *code,
                                 struct pxr_error *err)
{
    static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .entry empty() { ret; }\n";
    static const struct tr_facts facts;
    const struct bench_wish wish = {.facts = &facts};
    enum pxr_status status =
        ptx_parse((struct pxr_str){text, sizeof text - 1}, "empty", module, err);
    if (status == PXR_OK)
        status = bench_code_init(code, *module, ptx_find_entry(*module, "empty"), &wish, err);
    return status;
}

enum pxr_status bench_engine_check(struct pxr_error *err)
{
    struct ptx_module *module = NULL;
    struct bench_code code = {0};
    enum pxr_status status = open_compiler(err);
    if (status == PXR_OK)
        status = bench_empty_open(&module, &code, err);
    bench_code_fini(&code);
    ptx_module_destroy(module);
    return status;
}

enum pxr_status bench_engine_describe(char **text, struct pxr_error *err)
{
    return compiler->describe_target(text, err);
}

/* ---- compiling ---- */

enum pxr_status bench_module_open(const char *file, struct ptx_module **module,
                                  struct pxr_error *err)
{
    char path[512];
    snprintf(path, sizeof path, PTXRUN_BENCH_KERNELS "/%s.ptx", file);
    FILE *stream = fopen(path, "rb");
    if (!stream)
        return pxr_fail(err, PXR_IO, "cannot open %s", path);
    static char text[1 << 20];
    size_t len = fread(text, 1, sizeof text, stream);
    fclose(stream);
    return ptx_parse((struct pxr_str){text, len}, path, module, err);
}

static void note_object(struct bench_code *code, struct jit_object *object)
{
    code->collapse = object->collapse;
    code->width = object->width;
    code->jam = object->jam;
    code->translate_ms = (double)object->translate_ns * 1e-6;
    code->optimise_ms = (double)object->optimise_ns * 1e-6;
    code->codegen_ms = (double)object->codegen_ns * 1e-6;
    code->object_bytes = object->size_bytes;
    code->stack_bytes =
        STACK_RESERVE_BYTES + (uint32_t)code->layout.local_bytes + object->frame_bytes;
    code->explanation = object->explanation;
    object->explanation = NULL;
}

static enum pxr_status compile(struct bench_code *code, const struct ptx_module *module,
                               const struct ptx_func *func, const struct bench_wish *wish,
                               struct pxr_error *err)
{
    struct jit_request request = {
        .module = module,
        .kernel = func,
        .layout = &code->layout,
        .variant = {.collapse = wish->collapse,
                    .width = pxr_options_get()->width,
                    .jam = pxr_options_get()->jam,
                    .is_quick = wish->is_quick || pxr_options_get()->tier == PXR_TIER_QUICK,
                    .facts = *wish->facts},
        .skip = pxr_options_get()->skip,
        .dump = wish->dump_dir ? "ptx,ir,collapse,opt,asm" : NULL,
        .dump_dir = wish->dump_dir};
    struct jit_object object = {0};
    double start_us = bench_now_us();
    enum pxr_status status = compiler->compile(&request, &object, err);
    code->wall_ms = (bench_now_us() - start_us) * 1e-3;
    if (status == PXR_OK) {
        note_object(code, &object);
        status = jit_load(&object, &(struct jit_loading){.kernel = func->name}, &code->loaded, err);
    }
    jit_object_fini(&object);
    return status;
}

enum pxr_status bench_code_init(struct bench_code *code, const struct ptx_module *module,
                                const struct ptx_func *func, const struct bench_wish *wish,
                                struct pxr_error *err)
{
    memset(code, 0, sizeof *code);
    code->name = func->name;
    enum pxr_status status = ptx_layout_kernel(module, func, &code->layout, err);
    code->has_layout = status == PXR_OK;
    return status == PXR_OK ? compile(code, module, func, wish, err) : status;
}

void bench_code_fini(struct bench_code *code)
{
    if (code->loaded)
        jit_unload(code->loaded);
    if (code->has_layout)
        ptx_layout_fini(&code->layout);
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

struct sch_op *bench_submit(const struct bench_code *code, const struct bench_launch *launch,
                            struct sch_op *after, struct sch_fault *fault)
{
    uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    static uint64_t launches;
    static void *no_slots[1];
    struct sch_grid grid = {.code = {.entry = jit_code_entry(code->loaded),
                                     .fused = jit_code_fused(code->loaded),
                                     .stack_bytes = code->stack_bytes,
                                     .frame_bytes = jit_code_frame_bytes(code->loaded, threads),
                                     .may_wait = jit_code_may_wait(code->loaded),
                                     .flushes = jit_code_flushes(code->loaded),
                                     .pace = jit_code_pace(code->loaded)},
                            .launch = {.params = launch->params,
                                       .slots = no_slots,
                                       .dynamic_shared_bytes = launch->dynamic_shared_bytes,
                                       .shared_bytes = (uint32_t)code->layout.shared_static_bytes +
                                                       launch->dynamic_shared_bytes,
                                       .grid_id = ++launches,
                                       .sm_count = SM_COUNT,
                                       .local_bytes = code->layout.local_static_bytes}};
    memcpy(grid.launch.grid, launch->grid, sizeof launch->grid);
    memcpy(grid.launch.block, launch->block, sizeof launch->block);
    struct sch_op *op = sch_op_grid(&grid, note_fault, fault);
    if (op && sch_op_depend(op, after) != PXR_OK) {
        sch_op_release(op);
        return NULL;
    }
    if (op && !sch_op_try(op))
        sch_op_submit(op);
    return op;
}

enum pxr_status bench_fault_text(const struct bench_code *code, const struct sch_fault *fault,
                                 struct pxr_error *err)
{
    return pxr_fail(err, fault->status, "kernel '%s', PTX line %d: %s at %#llx", code->name,
                    jit_code_line(code->loaded, fault->pc), pxr_status_name(fault->status),
                    (unsigned long long)fault->address);
}

enum pxr_status bench_run(const struct bench_code *code, const struct bench_launch *launch,
                          struct pxr_error *err)
{
    struct sch_fault fault = {.status = PXR_OK};
    struct sch_op *op = bench_submit(code, launch, NULL, &fault);
    if (!op)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for a launch");
    sch_op_wait(op);
    sch_op_release(op);
    return fault.status == PXR_OK ? PXR_OK : bench_fault_text(code, &fault, err);
}
