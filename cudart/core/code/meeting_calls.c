/* SPDX-License-Identifier: Apache-2.0
 *
 * What code with checks of barriers calls (kernel_abi/placeholders.def): where threads go, told to
 * core/meetings, and what that finds wrong, made findings.
 */
#include "cudart/core/code/meeting_calls.h"

#include <inttypes.h>
#include <stdio.h>

#include "cudart/core/code/finding_place.h"
#include "cudart/core/code/launch.h"
#include "cudart/core/code/module.h"
#include "cudart/core/code/running_block.h"
#include "kernel_abi/lanes.h"

/* ---- findings ---- */

static const enum crt_finding_kind kinds[] = {
    [MEET_BARRIER_EXITED] = CRT_FINDING_BARRIER_EXITED,
    [MEET_BARRIER_COUNT] = CRT_FINDING_BARRIER_COUNT,
    [MEET_DIVERGENT] = CRT_FINDING_DIVERGENT,
    [MEET_NO_CALLER] = CRT_FINDING_MASK_WITHOUT_CALLER,
    [MEET_MASK_EXITED] = CRT_FINDING_MASK_EXITED,
    [MEET_NO_SOURCE] = CRT_FINDING_SHUFFLE_INACTIVE,
    [MEET_STUCK_BARRIER] = CRT_FINDING_DEADLOCK,
    [MEET_STUCK_LANES] = CRT_FINDING_DEADLOCK,
};

static bool is_of_barrier(const struct meet_found *found, bool is_lanes)
{
    return found->defect == MEET_BARRIER_EXITED || found->defect == MEET_BARRIER_COUNT ||
           found->defect == MEET_STUCK_BARRIER || (found->defect == MEET_DIVERGENT && !is_lanes);
}

static void describe(const struct meet_found *found, const struct rt_thread *thread, char *where,
                     size_t cap)
{
    const uint32_t *block = thread->block->launch->block;
    uint32_t threads = block[0] * block[1] * block[2];
    char other[PTX_PLACE_TEXT_BYTES + 16] = "";
    if (found->other_line != 0)
        crt_place_text(thread, found->other_line, other, sizeof other);
    switch (found->defect) {
    case MEET_BARRIER_EXITED:
        snprintf(where, cap, "%" PRIu32 " of the block's %" PRIu32 " threads have ended",
                 found->number, threads);
        break;
    case MEET_BARRIER_COUNT:
        if (found->number == 0)
            snprintf(where, cap, "at %s all threads of the block are waited for", other);
        else
            snprintf(where, cap, "at %s %" PRIu32 " threads are waited for", other, found->number);
        break;
    case MEET_DIVERGENT:
        snprintf(where, cap, "other lanes of the warp have come to it at %s", other);
        break;
    case MEET_NO_CALLER:
        snprintf(where, cap, "lane %" PRIu32 " is not in the mask 0x%08" PRIx32, thread->lane,
                 found->number);
        break;
    case MEET_MASK_EXITED:
        snprintf(where, cap, "of the mask 0x%08" PRIx32 " lanes 0x%08" PRIx32 " have ended",
                 found->id, found->number);
        break;
    case MEET_NO_SOURCE:
        snprintf(where, cap,
                 "lane %" PRIu32
                 " is read, which is not in the block or not in the mask 0x%08" PRIx32,
                 found->number, found->id);
        break;
    case MEET_STUCK_BARRIER:
        snprintf(where, cap, "%" PRIu32 " of the block's %" PRIu32 " threads have come",
                 found->number, threads);
        break;
    case MEET_STUCK_LANES:
        snprintf(where, cap, "of the mask 0x%08" PRIx32 " lanes 0x%08" PRIx32 " have come",
                 found->id, found->number);
        break;
    }
}

struct listening {
    const struct rt_block *block;
    bool is_lanes;
};

static void add_finding(void *arg, const struct meet_found *found)
{
    const struct listening *listening = arg;
    const uint32_t *size = listening->block->launch->block;
    struct rt_thread thread = {.block = (struct rt_block *)listening->block,
                               .tid = {found->thread % size[0], found->thread / size[0] % size[1],
                                       found->thread / size[0] / size[1]},
                               .lane = found->thread % RT_WARP_SIZE};
    char what[64];
    char where[PTX_PLACE_TEXT_BYTES + 128];
    struct crt_placed_finding placed;
    crt_name_place(&placed, &thread, found->line);
    placed.finding.kind = kinds[found->defect];
    if (crt_finding_again(&placed.finding))
        return;
    if (is_of_barrier(found, listening->is_lanes))
        snprintf(what, sizeof what, "barrier %" PRIu32, found->id);
    else if (found->defect == MEET_NO_SOURCE)
        snprintf(what, sizeof what, "shuffle");
    else
        snprintf(what, sizeof what, "operation of lanes 0x%08" PRIx32, found->id);
    describe(found, &thread, where, sizeof where);
    crt_find_place(&placed, &thread);
    placed.finding.access = what;
    placed.finding.where = where;
    crt_finding_add(&placed.finding);
}

/* ---- calls ---- */

void rt_meet_barrier(struct rt_thread *thread, uint32_t id, uint32_t count, uint32_t is_aligned,
                     uint32_t line)
{
    struct crt_running_block *running = crt_running_of(thread);
    struct listening listening = {.block = thread->block};
    struct meet_listener listener = {add_finding, &listening};
    if (running && id < MEET_BARRIERS) /* others are faults */
        meet_barrier(&running->meetings, crt_thread_number(thread), id, count, is_aligned != 0,
                     line, &listener);
}

void rt_meet_lanes(struct rt_thread *thread, uint32_t mask, uint32_t kind, uint32_t is_aligned,
                   uint32_t line)
{
    struct crt_running_block *running = crt_running_of(thread);
    struct listening listening = {.block = thread->block, .is_lanes = true};
    struct meet_listener listener = {add_finding, &listening};
    if (running)
        meet_lanes(&running->meetings, crt_thread_number(thread), mask, kind, is_aligned != 0, line,
                   &listener);
}

void rt_meet_source(struct rt_thread *thread, uint32_t mode, uint32_t b, uint32_t c, uint32_t mask,
                    uint32_t line)
{
    struct crt_running_block *running = crt_running_of(thread);
    struct listening listening = {.block = thread->block, .is_lanes = true};
    struct meet_listener listener = {add_finding, &listening};
    bool is_in_range;
    uint32_t source = rt_shfl_source(mode, thread->lane, b, c, &is_in_range);
    if (running && is_in_range && (mask >> thread->lane & 1) != 0)
        meet_source(&running->meetings, crt_thread_number(thread), mask, source, line, &listener);
}

void rt_meet_end(struct rt_thread *thread)
{
    struct crt_running_block *running = crt_running_of(thread);
    struct listening listening = {.block = thread->block, .is_lanes = true};
    struct meet_listener listener = {add_finding, &listening};
    if (running)
        meet_end(&running->meetings, crt_thread_number(thread), &listener);
}

/* ---- faults ---- */

/* At the place that the fault tells. */
static void add_fault(const struct rt_thread *thread, uint32_t line, enum crt_finding_kind kind,
                      const char *what, const char *where)
{
    struct crt_placed_finding placed;
    crt_name_place(&placed, thread, line);
    placed.finding.kind = kind;
    if (crt_finding_again(&placed.finding))
        return;
    crt_find_place(&placed, thread);
    placed.finding.access = what;
    placed.finding.where = where;
    crt_finding_add(&placed.finding);
}

void crt_check_fault(const struct rt_launch *launch, const struct sch_fault *fault, uint32_t line)
{
    struct rt_block block = {.launch = launch};
    struct rt_thread thread = {.block = &block};
    for (int d = 0; d < 3; d++) {
        block.ctaid[d] = fault->ctaid[d];
        thread.tid[d] = fault->tid[d];
    }
    if (!crt_checks_meetings())
        return;
    struct crt_kernel *kernel = crt_launch_of(launch)->kernel;
    if (fault->status == PXR_FAULT_INSTRUCTION &&
        crt_kernel_line_has(kernel, (int)line, PTX_FAMILY_BARRIER))
        add_fault(&thread, line, CRT_FINDING_BARRIER_MISUSE, "barrier or mbarrier",
                  "its object, number or count is none that PTX defines");
    if (fault->status != PXR_FAULT_DEADLOCK)
        return;
    struct crt_running_block *running =
        crt_stopped_block(launch->grid_id, crt_block_number(launch, fault->ctaid));
    struct listening listening = {.block = &block};
    struct meet_listener listener = {add_finding, &listening};
    if (!running || !meet_stuck(&running->meetings, &listener))
        add_fault(&thread, line, CRT_FINDING_DEADLOCK, "wait",
                  "every thread of the block waits for another");
}
