/* SPDX-License-Identifier: Apache-2.0
 *
 * A launch is run as ever, and what it has left in memory is kept. Then it is run again with each
 * seed, from what stood there before, in an order that the seed decides (sch_set_chaos): which
 * block and thread begins, and who goes on at accesses that others see. One worker runs it all, so
 * a seed gives the same order whenever it is tried.
 */
#include "cudart/core/code/schedules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/base/leak.h"
#include "cudart/core/check/findings.h"
#include "cudart/core/code/finding_place.h"
#include "cudart/core/code/module.h"
#include "cudart/core/code/printf.h"
#include "cudart/core/memory/describe.h"
#include "cudart/core/memory/snapshot.h"
#include "cudart/core/streams/context.h"
#include "scheduler/scheduler.h"
#include "util/log.h"
#include "util/options.h"

/* What is small. */
#define MEMORY_MAX   ((size_t)256 << 20)
#define THREADS_MAX  UINT64_C(65536)
#define ACCESSES_MAX UINT64_C(20000000)

/* Some orders make threads wait for longer; more than this is for ever. */
#define PATIENCE         50
#define ACCESSES_AT_EASE 100000

#define LINES_TOLD       16 /* of one schedule */

bool crt_schedules_are_on(void)
{
    return pxr_options_get()->schedules > 0 && crt_checks_races();
}

/* ---- accesses of the run in progress; there is one at a time ---- */

atomic_bool crt_schedules_count_accesses;

static struct {
    _Atomic uint64_t count;
    _Atomic uint64_t limit;
} accesses;

void crt_schedules_count(struct rt_thread *thread, uint64_t lanes, const void *pc)
{
    uint64_t more = (uint64_t)__builtin_popcountll(lanes);
    uint64_t count = atomic_fetch_add_explicit(&accesses.count, more, memory_order_relaxed);
    if (count >= atomic_load_explicit(&accesses.limit, memory_order_relaxed))
        sch_thread_fault(thread, PXR_FAULT_TIMEOUT, 0, pc);
    sch_thread_interrupt(thread);
}

static void count_accesses(uint64_t limit)
{
    atomic_store(&accesses.count, 0);
    atomic_store(&accesses.limit, limit);
    atomic_store(&crt_schedules_count_accesses, limit > 0);
}

/* ---- an exploration ---- */

struct exploration {
    struct crt_launch *model; /* never submitted */
    struct crt_module *module;
    struct crt_stream *stream;
    const struct crt_launch_config *config;
    struct crt_snapshot *before;
    struct crt_snapshot *usual; /* behind the launch itself */
    uint64_t usual_run;
    uint64_t usual_accesses;
    struct crt_launch *again; /* that is running or has just run … */
    unsigned seed;            /* … with this seed … */
    struct sch_fault fault;   /* … and has ended so */
    bool has_fault;
    struct crt_last_write told[LINES_TOLD];
    unsigned told_count;
};

static struct crt_launch *copy_launch(const struct crt_launch *launch)
{
    struct crt_launch *copy;
    if (crt_launch_create(launch->kernel, launch->workspace != NULL, &copy) != CRT_SUCCESS)
        return NULL;
    copy->ctx = launch->ctx;
    copy->variant = launch->variant;
    copy->facts = launch->facts;
    copy->block_threads = launch->block_threads;
    memcpy(copy->params, launch->params, launch->kernel->func->param_bytes);
    return copy;
}

/* Why a launch is not explored, or NULL. */
static const char *find_obstacle(const struct crt_launch *launch,
                                 const struct crt_launch_config *config)
{
    uint64_t threads = launch->block_threads;
    for (int d = 0; d < 3; d++)
        threads *= config->grid[d];
    if (threads > THREADS_MAX)
        return "it has more than 65536 threads";
    if (launch->kernel->outline->needs.calls_runtime)
        return "it launches others";
    if (sch_on_pool_thread())
        return "a function that a stream calls launches it";
    return NULL;
}

static bool wait_for_all(struct crt_context *ctx)
{
    struct sch_op *op = crt_stream_join_all(ctx, NULL);
    if (!op)
        return false;
    sch_op_submit(op);
    sch_op_wait(op);
    sch_op_release(op);
    return crt_context_sticky(ctx) == CRT_SUCCESS;
}

/* ---- findings ---- */

/* As if a thread of the run were there. */
struct place {
    struct rt_launch rt;
    struct rt_block block;
    struct rt_thread thread;
};

static void make_place(struct place *place, const struct exploration *exploration, uint32_t block,
                       uint32_t thread)
{
    const uint32_t *grid = exploration->config->grid;
    const uint32_t *size = exploration->config->block;
    *place = (struct place){
        .rt = {.params = exploration->again->params},
        .block = {.ctaid = {block % grid[0], block / grid[0] % grid[1], block / grid[0] / grid[1]}},
        .thread = {
            .tid = {thread % size[0], thread / size[0] % size[1], thread / size[0] / size[1]}}};
    place->block.launch = &place->rt;
    place->thread.block = &place->block;
}

/* How to see it again. */
static void add_seed(const struct exploration *exploration, char where[CRT_WHERE_BYTES])
{
    size_t len = strlen(where);
    snprintf(where + len, CRT_WHERE_BYTES - len, " (--schedules=1 --first-schedule=%u)",
             exploration->seed);
}

static void add_finding(const struct place *place, uint32_t line, enum crt_finding_kind kind,
                        const char *what, const char *where, const char *frames)
{
    struct crt_placed_finding placed;
    crt_name_place(&placed, &place->thread, line);
    placed.finding.kind = kind;
    if (crt_finding_again(&placed.finding))
        return;
    crt_find_place(&placed, &place->thread);
    placed.finding.access = what;
    placed.finding.where = where;
    placed.finding.frames = frames;
    placed.finding.space = "global";
    crt_finding_add(&placed.finding);
}

static void value_text(enum ptx_type type, uint32_t value, char text[32])
{
    float number;
    memcpy(&number, &value, sizeof number);
    if (type == PTX_TYPE_F32)
        snprintf(text, 32, "%.9g", (double)number);
    else if (type == PTX_TYPE_S32 || type == PTX_TYPE_U32 || type == PTX_TYPE_B32)
        snprintf(text, 32, "%" PRId32, (int32_t)value);
    else
        snprintf(text, 32, "0x%08" PRIx32, value);
}

/* Atomic operations on floating-point numbers round in the order in which they come. */
static bool rounds(const struct ptx_inst *inst)
{
    return inst && ptx_op_table[inst->op].family == PTX_FAMILY_ATOMIC && inst->type_count > 0 &&
           ptx_type_is_float(inst->types[0]);
}

static bool is_told(struct exploration *exploration, const struct crt_last_write *write)
{
    for (unsigned i = 0; i < exploration->told_count; i++)
        if (exploration->told[i].line == write->line)
            return true;
    if (exploration->told_count == LINES_TOLD)
        return true;
    exploration->told[exploration->told_count++] = *write;
    return false;
}

/* A crt_difference_fn. */
static void tell_difference(void *arg, uint64_t address, uint32_t was, uint32_t is)
{
    struct exploration *exploration = arg;
    struct crt_last_write write = {0};
    if (!crt_race_last_write(address, exploration->again->number, &write))
        crt_race_last_write(address, exploration->usual_run, &write);
    if (is_told(exploration, &write))
        return;
    struct crt_kernel *kernel = exploration->again->kernel;
    const struct ptx_inst *inst = crt_kernel_inst(kernel, (int)write.line);
    enum ptx_type type = inst && inst->type_count > 0 ? inst->types[0] : PTX_TYPE_NONE;
    struct place place;
    make_place(&place, exploration, write.block, write.thread);
    char before[32];
    char after[32];
    char where[CRT_WHERE_BYTES];
    value_text(type, was, before);
    value_text(type, is, after);
    struct crt_allocation near = crt_find_near(address);
    crt_describe_near(address, CRT_SNAPSHOT_WORD_BYTES, &near, where);
    struct crt_frames calls = {0};
    crt_leak_frames((const void *)near.base, &calls);
    char *frames = crt_describe_calls(&calls, "allocated", where);
    size_t len = strlen(where);
    snprintf(where + len, sizeof where - len, "; %s in the usual order, %s in schedule %u", before,
             after, exploration->seed);
    add_seed(exploration, where);
    add_finding(&place, write.line,
                rounds(inst) ? CRT_FINDING_SCHEDULE_ROUNDING : CRT_FINDING_SCHEDULE_RESULT,
                "value in global memory", where, frames);
    free(frames);
}

static void tell_fault(struct exploration *exploration)
{
    const struct sch_fault *fault = &exploration->fault;
    const uint32_t *size = exploration->config->block;
    bool is_endless = fault->status == PXR_FAULT_TIMEOUT || fault->status == PXR_FAULT_DEADLOCK;
    struct place place;
    make_place(&place, exploration, 0,
               (fault->tid[2] * size[1] + fault->tid[1]) * size[0] + fault->tid[0]);
    memcpy(place.block.ctaid, fault->ctaid, sizeof place.block.ctaid);
    char where[CRT_WHERE_BYTES];
    if (fault->status == PXR_FAULT_TIMEOUT)
        snprintf(
            where, sizeof where,
            "the launch does not end in schedule %u: its threads have accessed memory %u times "
            "as often as in the usual order",
            exploration->seed, PATIENCE);
    else if (is_endless)
        snprintf(where, sizeof where, "every thread of the block waits for another in schedule %u",
                 exploration->seed);
    else
        snprintf(where, sizeof where, "in schedule %u: %s", exploration->seed,
                 crt_result_text(crt_result_from_status(fault->status)));
    add_seed(exploration, where);
    uint32_t line = (uint32_t)crt_kernel_line(exploration->again->kernel, fault->pc);
    add_finding(&place, line,
                is_endless ? CRT_FINDING_SCHEDULE_DEADLOCK : CRT_FINDING_SCHEDULE_FAULT,
                is_endless ? "wait" : "kernel", where, NULL);
}

/* ---- runs ---- */

/* A sch_done_fn. What the run has printed is nobody's. */
static void finish_again(void *arg, const struct sch_fault *fault)
{
    struct exploration *exploration = arg;
    exploration->has_fault = fault != NULL;
    if (fault)
        exploration->fault = *fault;
}

static bool run_again(struct exploration *exploration)
{
    struct sch_grid grid;
    crt_launch_describe(exploration->again, exploration->module->slots, exploration->config, &grid);
    grid.watch = NULL;
    struct sch_op *op = sch_op_grid(&grid, finish_again, exploration);
    if (!op)
        return false;
    sch_set_chaos(exploration->seed);
    sch_op_submit(op);
    sch_op_wait(op);
    sch_set_chaos(0);
    if (exploration->has_fault)
        tell_fault(exploration);
    else
        crt_snapshot_compare(exploration->usual, tell_difference, exploration);
    sch_op_release(op);
    return true;
}

/* False: nothing more can be tried. */
static bool try_seed(struct exploration *exploration, unsigned seed)
{
    if (!crt_snapshot_is_valid(exploration->before))
        return false;
    crt_snapshot_restore(exploration->before);
    exploration->seed = seed;
    exploration->told_count = 0;
    exploration->again = copy_launch(exploration->model);
    if (!exploration->again)
        return false;
    count_accesses(PATIENCE * exploration->usual_accesses + ACCESSES_AT_EASE);
    bool has_run = run_again(exploration);
    crt_printf_drop(exploration->again);
    crt_launch_destroy(exploration->again);
    return has_run;
}

static void try_all(struct exploration *exploration)
{
    unsigned first = pxr_options_get()->first_schedule;
    unsigned count = pxr_options_get()->schedules;
    for (unsigned i = 0; i < count && try_seed(exploration, first + i); i++)
        continue;
    count_accesses(0);
    if (crt_snapshot_is_valid(exploration->usual))
        crt_snapshot_restore(exploration->usual);
}

/* The launch itself. */
static enum crt_result run_usual(struct exploration *exploration, struct crt_launch *launch)
{
    exploration->usual_run = launch->number;
    count_accesses(UINT64_MAX);
    enum crt_result result =
        crt_launch_submit(launch, exploration->module, exploration->stream, exploration->config);
    bool has_ended = result == CRT_SUCCESS && wait_for_all(exploration->stream->ctx);
    uint64_t count = atomic_load(&accesses.count);
    count_accesses(0);
    if (has_ended && count <= ACCESSES_MAX &&
        !atomic_load(&exploration->stream->ctx->has_allocated))
        exploration->usual = crt_snapshot_take(MEMORY_MAX);
    exploration->usual_accesses = count;
    return result;
}

/* Keeps what the launch begins with. Why that cannot be, or NULL. */
static const char *prepare(struct exploration *exploration, const struct crt_launch *launch)
{
    if (!wait_for_all(exploration->stream->ctx))
        return "what came before it has failed";
    exploration->model = copy_launch(launch);
    exploration->before = exploration->model ? crt_snapshot_take(MEMORY_MAX) : NULL;
    return exploration->before ? NULL : "there is more than 256 MiB of memory";
}

enum crt_result crt_schedules_launch(struct crt_launch *launch, struct crt_module *module,
                                     struct crt_stream *stream,
                                     const struct crt_launch_config *config)
{
    struct crt_kernel *kernel = launch->kernel;
    struct exploration exploration = {.module = module, .stream = stream, .config = config};
    const char *obstacle = find_obstacle(launch, config);
    if (!obstacle)
        obstacle = prepare(&exploration, launch);
    enum crt_result result;
    if (obstacle) {
        pxr_log_once(kernel, "--schedules: kernel '%s' runs once: %s", crt_kernel_name(kernel),
                     obstacle);
        result = crt_launch_submit(launch, module, stream, config);
    } else {
        result = run_usual(&exploration, launch);
    }
    if (exploration.usual)
        try_all(&exploration);
    crt_snapshot_free(exploration.usual);
    crt_snapshot_free(exploration.before);
    if (exploration.model)
        crt_launch_destroy(exploration.model);
    return result;
}
