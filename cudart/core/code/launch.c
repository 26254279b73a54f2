/* SPDX-License-Identifier: Apache-2.0
 *
 * Launches: checks against the device's limits, the parameter block, and the grid operation.
 */
#include "cudart/core/code/launch.h"

#include <stdlib.h>
#include <string.h>

#include "cudart/core/base/device.h"
#include "cudart/core/base/host_frames.h"
#include "cudart/core/base/memory_limit.h"
#include "cudart/core/base/process.h"
#include "cudart/core/base/stats.h"
#include "cudart/core/check/findings.h"
#include "cudart/core/code/access_report.h"
#include "cudart/core/code/cluster.h"
#include "cudart/core/code/meeting_calls.h"
#include "cudart/core/code/module.h"
#include "cudart/core/code/price.h"
#include "cudart/core/code/printf.h"
#include "cudart/core/code/record.h"
#include "cudart/core/code/schedules.h"
#include "cudart/core/code/tier.h"
#include "cudart/core/code/trial.h"
#include "cudart/core/memory/device_arena.h"
#include "cudart/core/memory/memory.h"
#include "cudart/core/memory/pool.h"
#include "cudart/core/memory/shadow.h"
#include "cudart/core/memory/written.h"
#include "cudart/core/streams/context.h"
#include "cudart/core/streams/stream.h"
#include "scheduler/scheduler.h"
#include "util/log.h"

/* Keys and end mark of the extra array of cuLaunchKernel. */
#define EXTRA_END            ((void *)0)
#define EXTRA_BUFFER_POINTER ((void *)1)
#define EXTRA_BUFFER_SIZE    ((void *)2)

/* Local memory of all threads that run at a time is not looked at below this. */
#define LOCAL_UNCHECKED_BYTES (UINT64_C(32) << 20)
#define LOCAL_GRANTED_NS      UINT64_C(100000000)

#define KNOWN_ALLOCATIONS     4

#define NS_PER_S              UINT64_C(1000000000)

/* Stack for recursive functions: at least this, or so many times the limit of the context. */
#define RECURSION_BYTES (UINT64_C(256) << 10)
#define FRAME_FACTOR    4

/* Shapes beyond the device. The runtime passes a library kernel's code on to programs, which know
 * it as cudaErrorInvalidConfiguration; for a module's kernel the driver API documents another. */
static enum crt_result bad_shape(const struct crt_kernel *kernel)
{
    return kernel->library->is_private ? CRT_INVALID_VALUE : CRT_INVALID_CONFIGURATION;
}

static enum crt_result check_shape(const struct crt_kernel *kernel,
                                   const struct crt_launch_config *config)
{
    const uint32_t *grid = config->grid;
    const uint32_t *block = config->block;
    if (!grid[0] || !grid[1] || !grid[2] || !block[0] || !block[1] || !block[2])
        return bad_shape(kernel);
    if (grid[0] > CRT_MAX_GRID_X || grid[1] > CRT_MAX_GRID_Y || grid[2] > CRT_MAX_GRID_Z ||
        block[0] > CRT_MAX_BLOCK_X || block[1] > CRT_MAX_BLOCK_Y || block[2] > CRT_MAX_BLOCK_Z)
        return bad_shape(kernel);
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (threads > CRT_MAX_THREADS_PER_BLOCK)
        return bad_shape(kernel);
    if (threads > (uint64_t)crt_kernel_max_threads(kernel))
        return CRT_LAUNCH_OUT_OF_RESOURCES;
    const uint32_t *required = kernel->func->required_threads;
    for (int i = 0; i < 3 && required[0]; i++)
        if (block[i] != (required[i] ? required[i] : 1))
            return CRT_INVALID_VALUE;
    return CRT_SUCCESS;
}

/* Whether so much local memory can become resident. A look at the system costs more than many a
 * launch, so its answer holds for a while. */
static bool has_local_memory(uint64_t bytes)
{
    static _Atomic uint64_t granted_bytes;
    static _Atomic uint64_t granted_until_ns;
    if (bytes < LOCAL_UNCHECKED_BYTES)
        return true;
    uint64_t now_ns = crt_now_ns();
    if (now_ns < atomic_load(&granted_until_ns) && bytes <= atomic_load(&granted_bytes))
        return true;
    if (!crt_memory_can_grow(bytes))
        return false;
    atomic_store(&granted_bytes, bytes);
    atomic_store(&granted_until_ns, now_ns + LOCAL_GRANTED_NS);
    return true;
}

/* A device sets local memory aside for all threads that run at a time, and refuses the launch when
 * it cannot. Here it becomes resident when it is touched: only launches that would end the process
 * are refused. */
static enum crt_result check_local(const struct crt_kernel *kernel,
                                   const struct ptx_kernel_needs *needs,
                                   const struct crt_launch_config *config)
{
    if (needs->local_least_bytes > CRT_MAX_LOCAL_PER_THREAD) {
        pxr_log_once(kernel,
                     "kernel '%s' needs %u bytes of local memory for each thread; devices have %u",
                     crt_kernel_name(kernel), needs->local_least_bytes, CRT_MAX_LOCAL_PER_THREAD);
        return CRT_LAUNCH_OUT_OF_RESOURCES;
    }
    uint64_t threads = (uint64_t)config->block[0] * config->block[1] * config->block[2];
    uint64_t blocks = (uint64_t)config->grid[0] * config->grid[1] * config->grid[2];
    uint64_t workers = sch_worker_count();
    uint64_t bytes = needs->local_least_bytes * threads * (blocks < workers ? blocks : workers);
    return has_local_memory(bytes) ? CRT_SUCCESS : CRT_OUT_OF_MEMORY;
}

enum crt_result crt_launch_check(struct crt_kernel *kernel, const struct crt_launch_config *config)
{
    enum crt_result result = check_shape(kernel, config);
    if (result != CRT_SUCCESS)
        return result;
    const struct ptx_kernel_needs *needs;
    result = crt_kernel_needs(kernel, &needs);
    if (result != CRT_SUCCESS)
        return result;
    result = check_local(kernel, needs, config);
    if (result != CRT_SUCCESS)
        return result;
    if (crt_static_shared(needs) > (uint32_t)crt_architecture_get()->shared_per_block_optin)
        return CRT_LAUNCH_OUT_OF_RESOURCES;
    if (config->dynamic_shared_bytes > crt_kernel_dynamic_limit(kernel))
        return CRT_INVALID_VALUE;
    result = crt_cluster_check(kernel, config);
    if (result != CRT_SUCCESS || !config->is_cooperative)
        return result;
    int threads = (int)(config->block[0] * config->block[1] * config->block[2]);
    int per_sm = 0;
    result = crt_kernel_blocks_per_sm(kernel, threads, config->dynamic_shared_bytes, &per_sm);
    uint64_t blocks = (uint64_t)config->grid[0] * config->grid[1] * config->grid[2];
    if (result == CRT_SUCCESS && blocks > (uint64_t)per_sm * crt_device_sm_count())
        result = CRT_COOPERATIVE_LAUNCH_TOO_LARGE;
    return result;
}

static enum crt_result copy_extra(const struct ptx_func *func, void *const *extra, uint8_t *block)
{
    const void *buffer = NULL;
    size_t size_bytes = 0;
    for (size_t i = 0; extra[i] != EXTRA_END; i += 2) {
        if (extra[i] == EXTRA_BUFFER_POINTER)
            buffer = extra[i + 1];
        else if (extra[i] == EXTRA_BUFFER_SIZE && extra[i + 1])
            size_bytes = *(const size_t *)extra[i + 1];
        else
            return CRT_INVALID_VALUE;
    }
    if (!buffer)
        return func->param_bytes ? CRT_INVALID_VALUE : CRT_SUCCESS;
    memcpy(block, buffer, size_bytes < func->param_bytes ? size_bytes : func->param_bytes);
    return CRT_SUCCESS;
}

enum crt_result crt_launch_copy_params(const struct crt_kernel *kernel, void *const *params,
                                       void *const *extra, uint8_t *block)
{
    const struct ptx_func *func = kernel->func;
    if (!params && extra)
        return copy_extra(func, extra, block);
    if (func->param_count && (!params || extra))
        return CRT_INVALID_VALUE;
    for (uint32_t i = 0; i < func->param_count; i++) {
        const struct ptx_var *param = func->params[i];
        if (!params[i])
            return CRT_INVALID_VALUE;
        memcpy(block + param->param_offset_bytes, params[i], param->size_bytes);
    }
    return CRT_SUCCESS;
}

void crt_launch_destroy(struct crt_launch *launch)
{
    crt_children_destroy(atomic_load_explicit(&launch->children, memory_order_acquire));
    atomic_store_explicit(&launch->children, NULL, memory_order_relaxed);
    if (launch->child.parent)
        atomic_fetch_sub(&launch->ctx->child_launches, 1);
    sch_op_release(launch->previous);
    free(launch->workspace);
    free(launch->calls);
    free(launch->memory);
}

uint64_t *crt_launch_create_workspace(void)
{
    uint64_t *workspace = aligned_alloc(CRT_WORKSPACE_BYTES, CRT_WORKSPACE_BYTES);
    if (workspace)
        memset(workspace, 0, CRT_WORKSPACE_BYTES);
    return workspace;
}

enum crt_result crt_launch_create(struct crt_kernel *kernel, bool is_cooperative,
                                  struct crt_launch **launch)
{
    /* Not calloc, which is slower than malloc for small sizes. */
    size_t param_bytes = kernel->func->param_bytes + (size_t)16;
    size_t room = crt_params_align(kernel->func) - CRT_PARAMS_ALIGN;
    char *memory = malloc(sizeof(struct crt_launch) + param_bytes + room);
    if (!memory)
        return CRT_OUT_OF_MEMORY;
    struct crt_launch *created =
        (void *)(memory + crt_launch_padding(kernel->func, (uintptr_t)memory));
    *created = (struct crt_launch){.kernel = kernel, .number = crt_next_number(), .memory = memory};
    memset(created->params, 0, param_bytes);
    if (is_cooperative) {
        created->workspace = crt_launch_create_workspace();
        if (!created->workspace) {
            free(memory);
            return CRT_OUT_OF_MEMORY;
        }
    }
    *launch = created;
    return CRT_SUCCESS;
}

/* Whether the code has to earn better one. */
static bool pays_rent(const struct crt_variant *variant)
{
    return variant->key.is_quick && crt_tier() == PXR_TIER_AUTO;
}

/* Threads have waited for others that had failed an assertion. */
static bool follows_assertion(const struct crt_launch *launch, const struct sch_fault *fault)
{
    return launch->assertions &&
           (fault->status == PXR_FAULT_TIMEOUT || fault->status == PXR_FAULT_DEADLOCK);
}

void crt_launch_finish(void *arg, const struct sch_fault *fault)
{
    struct crt_launch *launch = arg;
    crt_report_overrun(launch);
    if (fault && !follows_assertion(launch, fault)) {
        enum crt_result result = crt_result_from_status(fault->status);
        uint32_t line = (uint32_t)crt_kernel_line(launch->kernel, fault->pc);
        crt_check_fault(fault->launch, fault, line);
        crt_check_access_fault(fault->launch, fault, line);
        if (crt_context_may_report(launch->ctx, result))
            crt_report_fault(launch, fault);
        crt_context_poison(launch->ctx, result);
    }
    if (crt_assert_report(launch)) {
        struct pxr_error error;
        pxr_fail(&error, PXR_FAULT_ASSERT, "device-side assert in kernel '%s'",
                 crt_kernel_name(launch->kernel));
        if (crt_context_may_report(launch->ctx, CRT_ASSERT))
            crt_context_report_fault(launch->ctx, &error);
        crt_context_poison(launch->ctx, CRT_ASSERT);
    }
    if (crt_stats_are_on()) {
        uint64_t free_ns = launch->previous ? sch_op_finish_ns(launch->previous) : 0;
        uint64_t start_ns = free_ns > launch->submit_ns ? free_ns : launch->submit_ns;
        uint64_t end_ns = sch_finishing_ns();
        crt_stats_kernel(crt_kernel_name(launch->kernel),
                         end_ns > start_ns ? end_ns - start_ns : 0);
    }
    crt_printf_collect(launch);
    if (pays_rent(launch->variant))
        crt_tier_keep(launch->kernel);
    struct crt_child child = launch->child;
    crt_launch_destroy(launch);
    if (child.parent)
        crt_child_end(&child);
}

/* The program's own thread runs no kernel that launches others, which may compile their code. */
static _Atomic(uint32_t) *pace_of(const struct crt_launch *launch, struct jit_code *code)
{
    return launch->kernel->outline->needs.calls_runtime ? NULL : jit_code_pace(code);
}

/* Recursion is bounded by the limit that programs set for it; frames here are larger than there. */
static uint32_t stack_bytes(const struct crt_launch *launch, const struct crt_variant *variant)
{
    uint64_t bytes = variant->stack_bytes;
    if (launch->kernel->outline->needs.has_recursion) {
        uint64_t limit = atomic_load(&launch->ctx->limits[CRT_LIMIT_STACK_SIZE]) * FRAME_FACTOR;
        bytes += limit > RECURSION_BYTES ? limit : RECURSION_BYTES;
    }
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static struct sch_code describe_code(const struct crt_launch *launch,
                                     const struct crt_variant *variant)
{
    struct jit_code *code = variant->code;
    return (struct sch_code){.entry = jit_code_entry(code),
                             .fused = jit_code_fused(code),
                             .stack_bytes = stack_bytes(launch, variant),
                             .frame_bytes = jit_code_frame_bytes(code, launch->block_threads),
                             .may_wait = jit_code_may_wait(code),
                             .flushes = jit_code_flushes(code),
                             .hands_over = jit_code_hands_over(code),
                             .begins_inside = variant->key.facts.begins_inside,
                             .is_provisional = pays_rent(variant),
                             .text = jit_code_text(code),
                             .text_bytes = jit_code_text_bytes(code),
                             .pace = pace_of(launch, code)};
}

/* A grid in which each worker has so few blocks left that they could as well end in quick code:
 * then the best has to go on with them. It takes a little longer for all others. */
#define FEW_BLOCKS 4

/* What quick code would take for the blocks that are left. Where none has ended, as long again. */
static uint64_t left_ns(const struct sch_progress *progress)
{
    if (progress->blocks_done == 0)
        return progress->running_ns;
    return crt_price_promise(progress->grid_ns, progress->blocks_done, progress->blocks_left);
}

/* Whether best code would come too late for blocks that have not begun, and those that have are
 * worth half of its price. Checks want to see blocks from their beginning. */
static bool is_late(const struct crt_launch *launch, const struct sch_progress *progress)
{
    uint64_t few = (uint64_t)FEW_BLOCKS * sch_group_workers((unsigned)launch->ctx->device->index);
    return progress->code->hands_over && progress->blocks_left <= few &&
           left_ns(progress) >= crt_tier_limit(launch->kernel) / 2 && !crt_checks_memory() &&
           !crt_checks_races() && !crt_checks_meetings() && !crt_checks_written();
}

/* While the grid runs quick code. Grids that run keep their code where nothing is to happen in the
 * background. */
static enum sch_verdict watch_quick(const struct crt_launch *launch, const struct crt_variant *best,
                                    const struct sch_progress *progress,
                                    const struct crt_variant **other)
{
    if (!best || pxr_options_get()->compile_threads == 0) {
        struct tr_facts facts = launch->facts;
        facts.begins_inside = is_late(launch, progress);
        crt_tier_note(launch->kernel, &facts, progress);
        return SCH_GO_ON;
    }
    crt_stats_quick(launch->kernel->func->name, progress->ran_ns);
    *other = crt_trial_turn(best);
    return SCH_REPLACE;
}

/* The grid's sch_watch_fn: it may get better code, or code to compare with. */
static enum sch_verdict watch(void *arg, const struct sch_progress *progress, struct sch_code *code)
{
    const struct crt_launch *launch = arg;
    const struct crt_variant *best = crt_kernel_best(launch->kernel, &launch->facts);
    const struct crt_variant *other = NULL;
    enum sch_verdict verdict = SCH_GO_ON;
    if (progress->code->is_provisional)
        verdict = watch_quick(launch, best, progress, &other);
    else if (best && best->trial)
        verdict = crt_trial_note(best, progress, &other);
    if (verdict != SCH_GO_ON)
        *code = describe_code(launch, other);
    return verdict;
}

static sch_watch_fn watch_of(const struct crt_variant *variant)
{
    return pays_rent(variant) || crt_trial_is_open(variant) ? watch : NULL;
}

void crt_launch_renew(struct crt_launch *launch, struct sch_grid *grid)
{
    const struct crt_variant *best =
        grid->watch ? crt_kernel_best(launch->kernel, &launch->facts) : NULL;
    if (!best)
        return;
    launch->variant = crt_trial_turn(best);
    grid->code = describe_code(launch, launch->variant);
    grid->watch = watch_of(launch->variant);
}

void crt_launch_describe(const struct crt_launch *launch, void *const *slots,
                         const struct crt_launch_config *config, struct sch_grid *grid)
{
    uint32_t static_bytes = launch->kernel->outline->needs.shared_static_bytes;
    uint32_t dynamic_bytes = (uint32_t)config->dynamic_shared_bytes;
    struct crt_cluster cluster;
    crt_cluster_of(launch->kernel, config, &cluster); /* has been checked */
    *grid = (struct sch_grid){
        .code = describe_code(launch, launch->variant),
        .launch = {.params = launch->params,
                   .slots = slots,
                   .grid = {config->grid[0], config->grid[1], config->grid[2]},
                   .block = {config->block[0], config->block[1], config->block[2]},
                   .cluster = {cluster.blocks[0], cluster.blocks[1], cluster.blocks[2]},
                   .is_explicit_cluster = cluster.is_explicit,
                   .dynamic_shared_bytes = dynamic_bytes,
                   .shared_bytes = static_bytes + dynamic_bytes,
                   .grid_id = launch->number,
                   .grid_workspace = (uint64_t)(uintptr_t)launch->workspace,
                   .sm_count = crt_device_sm_count(),
                   .local_bytes = launch->kernel->outline->needs.local_static_bytes,
                   .checked = crt_shadow_checked(),
                   .written = crt_grains_checked(crt_written())},
        .shared_align = launch->kernel->outline->needs.shared_align,
        .is_cooperative = config->is_cooperative,
        .is_split = launch->variant->adds_floats,
        .group = (unsigned)launch->ctx->device->index,
        .watch = watch_of(launch->variant),
        .limit_ns = pxr_options_get()->launch_timeout * NS_PER_S,
        .late = crt_report_late,
        .refused = crt_launch_overruns,
        .last = crt_children_go_on,
    };
}

/* Best effort: without them reports say less. */
static struct crt_frames *take_calls(void)
{
    struct crt_frames *calls = crt_checks_races() ? malloc(sizeof *calls) : NULL;
    if (calls)
        crt_frames_take(calls);
    return calls;
}

enum crt_result crt_launch_submit(struct crt_launch *launch, struct crt_module *module,
                                  struct crt_stream *stream, const struct crt_launch_config *config)
{
    struct sch_grid grid;
    crt_launch_describe(launch, module->slots, config, &grid);
    grid.priority = stream->priority;
    bool has_stats = crt_stats_are_on();
    launch->submit_ns = has_stats ? crt_now_ns() : 0;
    struct sch_op *op = sch_op_grid(&grid, crt_launch_finish, launch);
    if (!op)
        return CRT_OUT_OF_MEMORY;
    return crt_stream_submit(stream, op, has_stats ? &launch->previous : NULL);
}

/* Allocations that this thread's launches have named, as long as there is no other and none less.
 * Not those of pools, which come and go without it. */
static CRT_THREAD_LOCAL struct {
    uint64_t generation;
    struct {
        uintptr_t base;
        size_t size_bytes;
    } known[KNOWN_ALLOCATIONS];
    unsigned next;
} named;

static bool look_up_allocation(uintptr_t address, uint64_t generation, uintptr_t *start)
{
    struct crt_allocation allocation;
    if (!crt_memory_find(address, &allocation))
        return false;
    *start = allocation.base;
    if (allocation.flags & CRT_ALLOCATION_POOLED)
        return true;
    if (named.generation != generation) {
        memset(&named, 0, sizeof named);
        named.generation = generation;
    }
    unsigned slot = named.next++ % KNOWN_ALLOCATIONS;
    named.known[slot].base = allocation.base;
    named.known[slot].size_bytes = allocation.size_bytes;
    return true;
}

static bool find_allocation(uintptr_t address, uintptr_t *start)
{
    uint64_t generation = crt_arena_generation();
    for (unsigned i = 0; i < KNOWN_ALLOCATIONS && named.generation == generation; i++) {
        if (address - named.known[i].base < named.known[i].size_bytes) {
            *start = named.known[i].base;
            return true;
        }
    }
    return look_up_allocation(address, generation, start);
}

enum crt_result crt_launch_find_code(struct crt_launch *launch,
                                     const struct crt_launch_config *config)
{
    struct jit_launch described = {
        .kernel = launch->kernel->func,
        .dynamic_shared_bytes = (uint32_t)config->dynamic_shared_bytes,
        .params = launch->params,
        .find_allocation = find_allocation,
    };
    memcpy(described.grid, config->grid, sizeof described.grid);
    memcpy(described.block, config->block, sizeof described.block);
    launch->block_threads = config->block[0] * config->block[1] * config->block[2];
    crt_record_launch(launch->kernel, &described);
    return crt_kernel_code(launch->kernel, &described, config->is_cooperative, &launch->facts,
                           &launch->variant);
}

enum crt_result crt_work_launch(struct crt_kernel *kernel, const struct crt_launch_config *config,
                                void *const *params, void *const *extra, struct crt_work *work)
{
    if (!crt_kernel_is_valid(kernel))
        return CRT_INVALID_HANDLE;
    const struct ptx_func *func = kernel->func;
    size_t pointers = (func->param_count + 2) / 2 * 2 * sizeof(void *); /* keeps 16 bytes aligned */
    void **block = calloc(1, pointers + func->param_bytes);
    if (!block)
        return CRT_OUT_OF_MEMORY;
    uint8_t *values = (uint8_t *)block + pointers;
    enum crt_result result = crt_launch_copy_params(kernel, params, extra, values);
    if (result != CRT_SUCCESS) {
        free(block);
        return result;
    }
    for (uint32_t i = 0; i < func->param_count; i++)
        block[i] = values + func->params[i]->param_offset_bytes;
    *work = (struct crt_work){.kind = CRT_NODE_KERNEL,
                              .launch = {.kernel = kernel, .config = *config, .params = block}};
    return CRT_SUCCESS;
}

enum crt_result crt_launch_kernel(struct crt_kernel *kernel, struct crt_stream *stream,
                                  const struct crt_launch_config *config, void *const *params,
                                  void *const *extra)
{
    if (!crt_kernel_is_valid(kernel))
        return CRT_INVALID_HANDLE;
    enum crt_result result = crt_launch_check(kernel, config);
    if (result != CRT_SUCCESS)
        return result;
    if (stream->captured.capture) {
        struct crt_work work;
        result = crt_work_launch(kernel, config, params, extra, &work);
        work.ctx = stream->ctx;
        return result == CRT_SUCCESS ? crt_capture_add(stream, &work) : result;
    }
    struct crt_module *module;
    result = crt_module_get(kernel->library, stream->ctx, &module);
    if (result != CRT_SUCCESS)
        return result;
    struct crt_launch *launch;
    result = crt_launch_create(kernel, config->is_cooperative, &launch);
    if (result != CRT_SUCCESS)
        return result;
    launch->ctx = stream->ctx;
    launch->calls = take_calls();
    result = crt_launch_copy_params(kernel, params, extra, launch->params);
    if (result == CRT_SUCCESS)
        result = crt_launch_find_code(launch, config);
    if (result == CRT_SUCCESS)
        result = crt_schedules_are_on() ? crt_schedules_launch(launch, module, stream, config)
                                        : crt_launch_submit(launch, module, stream, config);
    if (result != CRT_SUCCESS) {
        crt_launch_destroy(launch);
        return result;
    }
    return crt_environment_get()->launches_block ? crt_stream_synchronize(stream) : CRT_SUCCESS;
}
