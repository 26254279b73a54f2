/* SPDX-License-Identifier: Apache-2.0 */
#include "jit/observe.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/log.h"
#include "util/options.h"

/* Optional steps that the process has run, for --step-limit. */
static _Atomic(uint64_t) steps_run;

static uint64_t thread_cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Two compilations at once have their steps numbered as they come: to find one, have one worker. */
static bool is_below_limit(const struct jit_watch *watch, const char *name)
{
    if (watch->step_limit == 0)
        return true;
    uint64_t number = atomic_fetch_add(&steps_run, 1) + 1;
    if (number <= watch->step_limit)
        pxr_log(PXR_LOG_INFO, "step %" PRIu64 ": %s of kernel '%s'", number, name,
                watch->dump.kernel);
    return number <= watch->step_limit;
}

static bool may_run(void *data, const char *name)
{
    const struct jit_watch *watch = data;
    if (watch->skip && watch->skip[0] && pxr_list_contains(watch->skip, name))
        return false;
    return is_below_limit(watch, name);
}

/* ---- times ---- */

static uint64_t instruction_count(LLVMModuleRef module)
{
    struct tr_size size = {0};
    if (module)
        tr_module_size(module, &size);
    return size.instructions;
}

/* The row of this step; NULL: there is no memory for it. */
static struct jit_step_time *find_time(struct jit_step_times *times, const struct tr_step *step)
{
    for (uint32_t i = 0; i < times->count; i++)
        if (times->steps[i].name == step->name)
            return &times->steps[i];
    struct jit_step_time *steps = realloc(times->steps, (times->count + 1) * sizeof *times->steps);
    if (!steps)
        return NULL;
    times->steps = steps;
    steps[times->count] = (struct jit_step_time){.name = step->name};
    return &steps[times->count++];
}

static void before(void *data, const struct tr_step *step, LLVMModuleRef module)
{
    struct jit_watch *watch = data;
    if (step == &tr_steps[TR_STEP_BARRIERS] && jit_dump_wants(&watch->dump, "barriers"))
        jit_dump_module(&watch->dump, module, "barriers-before.ll");
    if (!watch->times)
        return;
    watch->before = instruction_count(module);
    watch->start_ns = thread_cpu_ns();
}

static void add_time(struct jit_watch *watch, const struct tr_step *step, LLVMModuleRef module)
{
    uint64_t ns = thread_cpu_ns() - watch->start_ns;
    struct jit_step_time *time = find_time(watch->times, step);
    if (!time)
        return;
    time->count++;
    time->ns += ns;
    time->before += watch->before;
    time->after += instruction_count(module);
}

/* ---- dumps ---- */

/* <kernel>.12.vectorise.ll, so that files sort as steps ran. */
static void dump(struct jit_watch *watch, const struct tr_step *step, LLVMModuleRef module)
{
    char kind[64];
    char suffix[80];
    uint32_t number = watch->number++;
    snprintf(kind, sizeof kind, "after:%s", step->name);
    if (!module ||
        (!jit_dump_wants(&watch->dump, kind) && !jit_dump_wants(&watch->dump, "after:all")))
        return;
    snprintf(suffix, sizeof suffix, "%02" PRIu32 ".%s.ll", number, step->name);
    jit_dump_module(&watch->dump, module, suffix);
}

static void after(void *data, const struct tr_step *step, LLVMModuleRef module)
{
    struct jit_watch *watch = data;
    if (watch->times)
        add_time(watch, step, module);
    if (step == &tr_steps[TR_STEP_BARRIERS] && jit_dump_wants(&watch->dump, "barriers"))
        jit_dump_module(&watch->dump, module, "barriers.ll");
    dump(watch, step, module);
}

struct tr_observer jit_observer(struct jit_watch *watch)
{
    return (struct tr_observer){.data = watch,
                                .may_run = may_run,
                                .before = before,
                                .after = after,
                                .verifies = watch->verifies};
}
