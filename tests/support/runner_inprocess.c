/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine `inprocess`: parser, translator, compiler, loader and scheduler of this build, linked
 * into the test. Kernels are compiled at their first launch; hooks may change the translation.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "jit/compile.h"
#include "jit/variant.h"
#include "scheduler/worker_pool.h"
#include "tests/support/emitted.h"
#include "tests/support/handing_over.h"
#include "tests/support/runner_engine.h"
#include "translator/pipeline.h"

#define STACK_RESERVE_BYTES (64u << 10)
#define RECURSION_BYTES     (256u << 10)
#define SM_COUNT            4

struct compiled {
    struct ptx_kernel_layout layout;
    struct jit_code *code;  /* NULL: not compiled */
    struct jit_code *quick; /* that it takes over from; NULL: from none */
    struct tr_facts facts;  /* what the code assumes */
    struct runner_made made;
    uint32_t stack_bytes;
};

struct inprocess_runner {
    struct runner base;
    struct runner_build build;
    struct ptx_module *ptx;
    struct compiled *kernels; /* by ptx_func.index */
    void **slots;             /* by ptx_var.index */
    uint64_t launches;
    struct runner_made made; /* of the last launch; points into its struct compiled */
};

/* ---- module variables ---- */

static void apply_relocs(const struct inprocess_runner *inprocess, const struct ptx_var *var)
{
    for (uint32_t i = 0; i < var->reloc_count; i++) {
        const struct ptx_reloc *reloc = &var->relocs[i];
        uint64_t value = (uint64_t)reloc->addend;
        if (reloc->var != NULL)
            value += (uint64_t)(uintptr_t)inprocess->slots[reloc->var->index];
        else
            value += (uint64_t)reloc->func->handle;
        value >>= reloc->shift_bits;
        uint8_t *bytes = inprocess->slots[var->index];
        memcpy(bytes + reloc->offset_bytes, &value, reloc->size_bytes);
    }
}

static enum pxr_status make_variables(struct inprocess_runner *inprocess, struct pxr_error *err)
{
    const struct ptx_module *ptx = inprocess->ptx;
    inprocess->slots = calloc(ptx->var_count + 1, sizeof *inprocess->slots);
    inprocess->kernels = calloc(ptx->func_count + 1, sizeof *inprocess->kernels);
    if (inprocess->slots == NULL || inprocess->kernels == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for a module");
    for (uint32_t i = 0; i < ptx->var_count; i++) {
        const struct ptx_var *var = ptx->vars[i];
        inprocess->slots[i] = runner_alloc(var->size_bytes);
        if (inprocess->slots[i] == NULL)
            return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for variable '%s'", var->name);
        if (var->init_bytes != NULL)
            memcpy(inprocess->slots[i], var->init_bytes, var->size_bytes);
    }
    for (uint32_t i = 0; i < ptx->var_count; i++)
        apply_relocs(inprocess, ptx->vars[i]);
    return PXR_OK;
}

static void drop_code(struct compiled *compiled)
{
    if (compiled->code != NULL)
        jit_unload(compiled->code);
    if (compiled->quick != NULL)
        jit_unload(compiled->quick);
    ptx_layout_fini(&compiled->layout);
    free(compiled->made.explanation);
    *compiled = (struct compiled){0};
}

static void inprocess_unload(struct runner *runner)
{
    struct inprocess_runner *inprocess = (struct inprocess_runner *)runner;
    const struct ptx_module *ptx = inprocess->ptx;
    if (ptx == NULL)
        return;
    for (uint32_t i = 0; inprocess->kernels != NULL && i < ptx->func_count; i++) {
        if (inprocess->kernels[i].code != NULL)
            drop_code(&inprocess->kernels[i]);
    }
    for (uint32_t i = 0; inprocess->slots != NULL && i < ptx->var_count; i++)
        free(inprocess->slots[i]);
    free(inprocess->kernels);
    free(inprocess->slots);
    inprocess->kernels = NULL;
    inprocess->slots = NULL;
    ptx_module_destroy(inprocess->ptx);
    inprocess->ptx = NULL;
}

static enum pxr_status inprocess_load(struct runner *runner, const char *ptx_text,
                                      struct pxr_error *err)
{
    struct inprocess_runner *inprocess = (struct inprocess_runner *)runner;
    enum pxr_status status = ptx_parse(pxr_str_from(ptx_text), "test.ptx", &inprocess->ptx, err);
    if (status == PXR_OK)
        status = make_variables(inprocess, err);
    if (status != PXR_OK)
        inprocess_unload(runner);
    return status;
}

/* ---- what kernels may call ---- */

/* Returns the number of arguments, as CUDA's does; nobody reads the text. */
static int32_t count_arguments(struct rt_thread *thread, uint64_t format, uint64_t args)
{
    const char *at = (const char *)(uintptr_t)format;
    int32_t count = 0;
    (void)thread;
    (void)args;
    while ((at = strchr(at, '%')) != NULL) {
        count += at[1] != '%';
        at += at[1] == '\0' ? 1 : 2;
    }
    return count;
}

static uint64_t allocate(struct rt_thread *thread, uint64_t size_bytes)
{
    (void)thread;
    return (uint64_t)(uintptr_t)malloc(size_bytes);
}

static void release(struct rt_thread *thread, uint64_t pointer)
{
    (void)thread;
    free((void *)(uintptr_t)pointer);
}

__attribute__((noreturn)) static void fail_assertion(struct rt_thread *thread, uint64_t message,
                                                     uint64_t file, uint32_t line,
                                                     uint64_t function, uint64_t char_bytes)
{
    (void)file, (void)line, (void)function, (void)char_bytes;
    rt_fault(thread, PXR_FAULT_ASSERT, message);
}

static const struct jit_symbol device_symbols[] = {
    {"rt_vprintf", (void *)(uintptr_t)count_arguments},
    {"rt_malloc", (void *)(uintptr_t)allocate},
    {"rt_free", (void *)(uintptr_t)release},
    {"rt_assertfail", (void *)(uintptr_t)fail_assertion},
};

/* ---- compiling ---- */

/* One compilation of so many has its steps verified (translator/pipeline.h); none of a kernel so
 * long that this would take longer than the rest: those are made of what shorter ones are made of.
 */
#define VERIFIED_SHARE      8
#define VERIFIED_STATEMENTS 5000
static _Atomic(uint32_t) compiled_count;

struct compile_work {
    const struct inprocess_runner *inprocess;
    const struct ptx_func *kernel;
    const struct compiled *compiled;
    bool is_quick; /* the code that is taken over from */
    struct jit_seed seed;
    struct jit_object object;
};

static enum pxr_status translate(struct jit_unit *unit, struct compile_work *work,
                                 struct pxr_error *err)
{
    const struct runner_build *build = &work->inprocess->build;
    bool is_rewritten = build->hooks.rewrite != NULL; /* whatever it says of .ftz */
    struct tr_options options = {
        .check_alignment = true,
        .flushes = !is_rewritten && jit_unit_flushes(unit, work->kernel, &work->compiled->layout),
        .begins_inside = !work->is_quick && work->compiled->facts.begins_inside,
        .vector_bits = unit->target->cpu.vector_bits,
        .triple = unit->target->triple,
        .data_layout = unit->target->data_layout,
        .rewrite = build->hooks.rewrite,
        .rewrite_data = build->hooks.data,
        .budget = &unit->budget};
    struct tr_source source = {.ptx = work->inprocess->ptx,
                               .kernel = work->kernel,
                               .layout = &work->compiled->layout,
                               .options = &options,
                               .context = unit->context};
    enum pxr_status status = jit_unit_translate(unit, &source, err);
    if (status != PXR_OK)
        return status;
    /* Without facts, and where a defect is seeded, every barrier stays. */
    if (!build->has_facts || build->hooks.seed != TR_SEED_NONE)
        unit->kernel = NULL;
    if (build->hooks.mutate != NULL)
        build->hooks.mutate(build->hooks.data, unit->module);
    if (work->is_quick)
        handing_over_ask(unit->module, &handing_over_countdown);
    struct jit_variant variant = {.collapse = build->collapse,
                                  .width = build->width,
                                  .jam = build->jam,
                                  .is_quick = work->is_quick || build->effort == TR_EFFORT_QUICK,
                                  .facts = work->compiled->facts};
    /* Loops of few turns are unrolled where facts are known, and stay where they are not: both are
     * to be right. Behind the last turn a sync point often orders nothing, which hides defects. */
    work->seed =
        (struct jit_seed){.kind = build->hooks.seed,
                          .site = build->hooks.seed_site,
                          .keeps_loops = !build->has_facts || build->hooks.seed != TR_SEED_NONE};
    return jit_unit_collapse(unit, &variant, &work->seed, &work->object, err);
}

static enum pxr_status compile(void *argument, struct pxr_error *err)
{
    struct compile_work *work = argument;
    struct jit_unit unit;
    enum pxr_status status = jit_unit_init(&unit, err);
    if (status != PXR_OK)
        return status;
    unit.watch.verifies = work->kernel->stmt_count <= VERIFIED_STATEMENTS &&
                          atomic_fetch_add(&compiled_count, 1) % VERIFIED_SHARE == 0;
    tr_budget_begin(&unit.budget, work->is_quick ? TR_EFFORT_QUICK : work->inprocess->build.effort);
    unit.budget.divisor = work->inprocess->build.budget_divisor;
    status = translate(&unit, work, err);
    if (status == PXR_OK)
        status = emitted_get(&unit, &work->object, err);
    jit_unit_fini(&unit);
    return status;
}

/* *work: afterwards what has been made, to be finished by the caller. */
static enum pxr_status compile_code(struct compile_work *work, struct jit_code **code,
                                    struct pxr_error *err)
{
    enum pxr_status status = jit_run_work(compile, work, NULL, err);
    if (status != PXR_OK)
        return status;
    return jit_load(
        &work->object,
        &(struct jit_loading){.kernel = work->kernel->name,
                              .extra = device_symbols,
                              .extra_count = sizeof device_symbols / sizeof *device_symbols},
        code, err);
}

/* The code that is taken over from. */
static enum pxr_status compile_quick(const struct compile_work *best, struct compiled *compiled,
                                     struct pxr_error *err)
{
    struct compile_work work = *best;
    work.object = (struct jit_object){0};
    work.is_quick = true;
    enum pxr_status status = compile_code(&work, &compiled->quick, err);
    uint32_t more_bytes = work.object.frame_bytes;
    if (more_bytes > compiled->made.frame_bytes)
        compiled->stack_bytes += more_bytes - compiled->made.frame_bytes;
    jit_object_fini(&work.object);
    return status;
}

static enum pxr_status compile_kernel(struct inprocess_runner *inprocess,
                                      const struct ptx_func *kernel, struct compiled *compiled,
                                      struct pxr_error *err)
{
    enum pxr_status status = ptx_layout_kernel(inprocess->ptx, kernel, &compiled->layout, err);
    if (status != PXR_OK)
        return status;
    struct compile_work work = {.inprocess = inprocess, .kernel = kernel, .compiled = compiled};
    status = compile_code(&work, &compiled->code, err);
    compiled->stack_bytes = STACK_RESERVE_BYTES + compiled->layout.local_bytes +
                            work.object.frame_bytes +
                            (compiled->layout.has_recursion ? RECURSION_BYTES : 0);
    compiled->made = (struct runner_made){.collapse = work.object.collapse,
                                          .width = work.object.width,
                                          .jam = work.object.jam,
                                          .seed_sites = work.seed.sites,
                                          .frame_bytes = work.object.frame_bytes,
                                          .explanation = work.object.explanation};
    work.object.explanation = NULL;
    if (status == PXR_OK && inprocess->build.hands_over)
        status = compile_quick(&work, compiled, err);
    jit_object_fini(&work.object);
    if (status != PXR_OK)
        drop_code(compiled);
    return status;
}

/* The launch whose buffers are the allocations there are. */
static _Thread_local const struct runner_launch *current_launch;

static bool find_allocation(uintptr_t address, uintptr_t *start)
{
    for (size_t i = 0; i < current_launch->buffer_count; i++) {
        const struct runner_buffer *buffer = &current_launch->buffers[i];
        *start = (uintptr_t)buffer->bytes;
        if (!runner_is_value(current_launch, i) && address - *start < buffer->size_bytes)
            return true;
    }
    return false;
}

/* What code for this launch assumes, as the product's first variant does. */
static void plan_facts(const struct inprocess_runner *inprocess, const struct ptx_func *kernel,
                       const struct runner_launch *launch, const uint8_t *params,
                       struct tr_facts *planned)
{
    static const struct jit_variants none;
    enum pxr_mode mode = inprocess->build.has_facts ? PXR_MODE_JIT : PXR_MODE_NORMAL;
    struct tr_facts facts;
    struct jit_launch known = {
        .kernel = kernel,
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .block = {launch->block[0], launch->block[1], launch->block[2]},
        .dynamic_shared_bytes = launch->dynamic_shared_bytes,
        .params = params,
        .find_allocation = find_allocation,
    };
    current_launch = launch;
    jit_variants_facts(mode, &known, &facts);
    current_launch = NULL;
    facts.begins_inside = inprocess->build.hands_over;
    jit_variants_plan(&none, mode, &facts, planned);
}

/* Code for this launch: what there is, if it assumes what the launch is. */
static enum pxr_status find_code(struct inprocess_runner *inprocess, const struct ptx_func *kernel,
                                 const struct runner_launch *launch, const uint8_t *params,
                                 struct compiled **compiled, struct pxr_error *err)
{
    struct compiled *known = &inprocess->kernels[kernel->index];
    struct tr_facts facts;
    *compiled = known;
    plan_facts(inprocess, kernel, launch, params, &facts);
    if (known->code != NULL && jit_facts_equal(&known->facts, &facts))
        return PXR_OK;
    if (known->code != NULL)
        drop_code(known);
    known->facts = facts;
    return compile_kernel(inprocess, kernel, known, err);
}

/* ---- running ---- */

static void note_fault(void *argument, const struct sch_fault *fault)
{
    struct handing_over *launch = argument;
    if (fault != NULL)
        launch->fault = *fault;
}

static struct sch_code describe(const struct compiled *compiled, const struct jit_code *code,
                                uint32_t threads)
{
    return (struct sch_code){.entry = jit_code_entry(code),
                             .fused = jit_code_fused(code),
                             .stack_bytes = compiled->stack_bytes,
                             .frame_bytes = jit_code_frame_bytes(code, threads),
                             .may_wait = jit_code_may_wait(code),
                             .flushes = jit_code_flushes(code),
                             .is_provisional = code == compiled->quick,
                             .begins_inside = compiled->quick != NULL && code != compiled->quick};
}

/* The quick code asks when so many threads of the grid have begun: other ones at each launch.
 * Blocks of clusters are never handed over. */
static void let_quick_begin(const struct inprocess_runner *inprocess,
                            const struct compiled *compiled, struct sch_grid *grid,
                            uint32_t threads)
{
    const uint32_t *blocks = grid->launch.grid;
    if (grid->launch.is_explicit_cluster)
        return;
    uint64_t all = (uint64_t)threads * blocks[0] * blocks[1] * blocks[2];
    uint64_t most = all < INT32_MAX ? all : INT32_MAX;
    grid->code = describe(compiled, compiled->quick, threads);
    grid->watch = handing_over_watch;
    atomic_store(&handing_over_countdown,
                 (int32_t)(1 + inprocess->launches * UINT64_C(0x9e3779b9) % most));
}

static enum pxr_status run_grid(struct inprocess_runner *inprocess, struct compiled *compiled,
                                const struct runner_launch *launch, const void *params,
                                struct pxr_error *err)
{
    uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
    uint32_t shared_bytes = compiled->layout.shared_static_bytes + launch->dynamic_shared_bytes;
    struct sch_grid grid = {
        .code = describe(compiled, compiled->code, threads),
        .launch = {.params = params,
                   .slots = inprocess->slots,
                   .dynamic_shared_bytes = launch->dynamic_shared_bytes,
                   .shared_bytes = shared_bytes,
                   .grid_id = ++inprocess->launches,
                   .sm_count = SM_COUNT,
                   .local_bytes = compiled->layout.local_static_bytes},
        .shared_align = compiled->layout.shared_align,
    };
    memcpy(grid.launch.grid, launch->grid, sizeof grid.launch.grid);
    memcpy(grid.launch.block, launch->block, sizeof grid.launch.block);
    const struct ptx_func *kernel = ptx_find_entry(inprocess->ptx, launch->kernel);
    memcpy(grid.launch.cluster, kernel->cluster_blocks, sizeof grid.launch.cluster);
    grid.launch.is_explicit_cluster = kernel->needs_cluster;
    struct handing_over state = {.fault.status = PXR_OK, .other = grid.code};
    const struct sch_fault *fault = &state.fault;
    if (compiled->quick != NULL)
        let_quick_begin(inprocess, compiled, &grid, threads);
    struct sch_op *op = sch_op_grid(&grid, note_fault, &state);
    if (op == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for a launch");
    sch_op_submit(op);
    sch_op_wait(op);
    sch_op_release(op);
    if (fault->status == PXR_OK)
        return PXR_OK;
    int line = jit_code_line(compiled->code, fault->pc);
    if (line == 0 && compiled->quick != NULL)
        line = jit_code_line(compiled->quick, fault->pc);
    return pxr_fail_at(err, fault->status, line, 0, "kernel '%s', PTX line %d: %s at address %#llx",
                       launch->kernel, line, pxr_status_name(fault->status),
                       (unsigned long long)fault->address);
}

static enum pxr_status inprocess_launch(struct runner *runner, const struct runner_launch *launch,
                                        struct pxr_error *err)
{
    struct inprocess_runner *inprocess = (struct inprocess_runner *)runner;
    const struct ptx_func *kernel = ptx_find_entry(inprocess->ptx, launch->kernel);
    if (kernel == NULL)
        return pxr_fail(err, PXR_NOT_FOUND, "no kernel '%s'", launch->kernel);
    uint8_t *params = NULL;
    struct compiled *compiled;
    enum pxr_status status = runner_make_params(kernel, launch, &params, err);
    if (status == PXR_OK)
        status = find_code(inprocess, kernel, launch, params, &compiled, err);
    if (status == PXR_OK) {
        inprocess->made = compiled->made;
        status = run_grid(inprocess, compiled, launch, params, err);
    }
    free(params);
    return status;
}

static void inprocess_close(struct runner *runner)
{
    free(runner);
}

static const struct runner_engine inprocess_engine = {
    .load = inprocess_load,
    .launch = inprocess_launch,
    .unload = inprocess_unload,
    .close = inprocess_close,
};

/* For runs of everything with less effort. */
static enum tr_effort effort_for(const struct runner_build *build)
{
    static const char *const names[] = {[TR_EFFORT_LOOPS] = "loops",
                                        [TR_EFFORT_QUICK] = "quick",
                                        [TR_EFFORT_THREAD] = "thread",
                                        [TR_EFFORT_SHORT] = "short",
                                        [TR_EFFORT_LINEAR] = "linear"};
    const char *wanted = getenv("PTXRUN_TEST_EFFORT");
    for (size_t i = TR_EFFORT_LOOPS; wanted != NULL && i < sizeof names / sizeof *names; i++)
        if (strcmp(wanted, names[i]) == 0)
            return (enum tr_effort)i;
    return build->effort;
}

enum pxr_status runner_open_inprocess(const struct runner_build *build, struct runner **runner,
                                      struct pxr_error *err)
{
    enum pxr_status status = sch_start(build != NULL ? build->workers : 0, err);
    if (status != PXR_OK)
        return status;
    struct inprocess_runner *inprocess = calloc(1, sizeof *inprocess);
    if (inprocess == NULL)
        return pxr_fail(err, PXR_OUT_OF_MEMORY, "no memory for a runner");
    inprocess->base.engine = &inprocess_engine;
    inprocess->build.collapse = PXR_COLLAPSE_PRECISE;
    if (build != NULL)
        inprocess->build = *build;
    inprocess->build.effort = effort_for(&inprocess->build);
    *runner = &inprocess->base;
    return PXR_OK;
}

void runner_set_hooks(struct runner *runner, const struct runner_hooks *hooks)
{
    struct inprocess_runner *inprocess = (struct inprocess_runner *)runner;
    runner_unload(runner);
    inprocess->build.hooks = *hooks;
}

struct runner_made runner_last_made(const struct runner *runner)
{
    return ((const struct inprocess_runner *)runner)->made;
}

void runner_set_chaos(unsigned seed)
{
    sch_set_chaos(seed);
}
