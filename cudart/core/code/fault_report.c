/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports for people about a kernel that ended early.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cudart/core/code/launch.h"
#include "cudart/core/code/module.h"
#include "cudart/core/memory/device_arena.h"
#include "cudart/core/streams/context.h"
#include "scheduler/scheduler.h"
#include "util/guard.h"
#include "util/log.h"
#include "util/options.h"

/* An allocation further away than this has nothing to do with the access. */
#define NEAR_BYTES (UINT64_C(1) << 30)

/* So many blocks of a launch that takes too long are told of. */
#define LATE_BLOCKS_MAX 32

static const char *describe_status(const struct sch_fault *fault)
{
    switch (fault->status) {
    case PXR_FAULT_ADDRESS:
        return "invalid memory access";
    case PXR_FAULT_MISALIGNED:
        return "misaligned memory access";
    case PXR_FAULT_TRAP:
        return "trap instruction";
    case PXR_FAULT_ASSERT:
        return "device-side assert";
    case PXR_FAULT_INSTRUCTION:
        return "illegal instruction";
    case PXR_FAULT_PC:
        return "call through an invalid function pointer";
    case PXR_FAULT_STACK:
        return "stack overflow";
    case PXR_FAULT_DEADLOCK:
        return fault->launch->cluster_blocks > 1
                   ? "deadlock: every thread of the block's cluster waits for another"
                   : "deadlock: every thread of the block waits for another";
    case PXR_FAULT_TIMEOUT:
        return "more time than --launch-timeout allows";
    case PXR_OUT_OF_MEMORY:
        return "no memory for stacks or shared memory";
    default:
        return pxr_status_name(fault->status);
    }
}

static const char *describe_memory(enum crt_memory kind)
{
    switch (kind) {
    case CRT_MEMORY_MANAGED:
        return "managed allocation";
    case CRT_MEMORY_HOST:
        return "page-locked host allocation";
    case CRT_MEMORY_REGISTERED:
        return "registered host memory";
    case CRT_MEMORY_MODULE:
        return "module's variables";
    case CRT_MEMORY_ARRAY:
        return "array";
    case CRT_MEMORY_MAPPED:
        return "mapped memory";
    case CRT_MEMORY_IPC:
        return "memory of another process";
    case CRT_MEMORY_EXTERNAL:
        return "mapped external memory";
    default:
        return "allocation";
    }
}

/* Whether the address is in the shared memory of the block, or of another one of its cluster, or in
 * a guard around it. Only misaligned accesses fault in memory of blocks that are there. */
static bool describe_shared(const struct sch_fault *fault, char *text, size_t cap)
{
    const int64_t cluster_distance = INT64_C(1) << RT_CLUSTER_DISTANCE_LOG2;
    uint32_t shared_bytes = fault->launch->shared_bytes;
    int64_t ahead = (int64_t)(fault->address - fault->shared) + cluster_distance / 2;
    int64_t ranks = fault->launch->cluster_blocks > 1 ? ahead >> RT_CLUSTER_DISTANCE_LOG2 : 0;
    if (llabs(ranks) >= RT_CLUSTER_BLOCKS_MAX)
        return false;
    uint64_t start = fault->shared + (uint64_t)(ranks * cluster_distance);
    uint64_t end = start + shared_bytes;
    const char *relation = "inside";
    uint64_t distance = fault->address - start;
    if (fault->address < start) {
        relation = "before";
        distance = start - fault->address;
    } else if (fault->address >= end) {
        relation = "after";
        distance = fault->address - end;
    } else if (fault->status == PXR_FAULT_ADDRESS) {
        snprintf(text, cap,
                 ", in the shared memory of another block of the cluster, which has ended");
        return ranks != 0;
    }
    if (distance > PXR_AREA_GUARD_BYTES)
        return false;
    snprintf(text, cap, ", %" PRIu64 " bytes %s %s %" PRIu32 " bytes of shared memory", distance,
             relation, ranks == 0 ? "the block's" : "another block's", shared_bytes);
    return true;
}

/* Local memory has addresses of its own on a GPU, so a number would say nothing. */
static bool describe_local(const struct sch_fault *fault, char *text, size_t cap)
{
    if (fault->is_local)
        snprintf(text, cap, ", in local memory");
    return fault->is_local;
}

/* Describes the place of an address relative to the nearest allocation. */
static void describe_address(uint64_t address, char *text, size_t cap)
{
    struct crt_allocation near;
    if (!sch_is_canonical(address)) {
        snprintf(text, cap, ", which is not canonical: no memory has such an address");
        return;
    }
    if (!crt_arena_nearest((uintptr_t)address, &near)) {
        snprintf(text, cap, "; no device memory is allocated");
        return;
    }
    uint64_t end = (uint64_t)near.base + near.size_bytes;
    const char *relation = "inside the";
    uint64_t distance = address - near.base;
    if (address < near.base) {
        relation = "before the nearest";
        distance = near.base - address;
    } else if (address >= end) {
        relation = "after the nearest";
        distance = address - end;
    }
    if (distance > NEAR_BYTES && near.size_bytes < distance) {
        snprintf(text, cap, ", far from any allocation");
        return;
    }
    snprintf(text, cap, ", %" PRIu64 " bytes %s %s at 0x%" PRIxPTR " of %zu bytes", distance,
             relation, describe_memory(near.kind), near.base, near.size_bytes);
}

/* ", PTX line 44 (vector_add.cu:12)". */
static void describe_line(struct crt_kernel *kernel, int line, char *text, size_t cap)
{
    struct ptx_place place;
    text[0] = '\0';
    if (line <= 0)
        return;
    int len = snprintf(text, cap, ", PTX line %d", line);
    if (!crt_kernel_find_place(kernel, line, &place))
        return;
    char place_text[PTX_PLACE_TEXT_BYTES];
    ptx_place_text(&place, place_text);
    snprintf(text + len, cap - (size_t)len, " (%s)", place_text);
}

void crt_report_late(void *arg, const struct sch_fault *fault)
{
    struct crt_launch *launch = arg;
    char line_text[512];
    if (atomic_fetch_add(&launch->late_blocks, 1) >= LATE_BLOCKS_MAX)
        return;
    describe_line(launch->kernel, crt_kernel_line(launch->kernel, fault->pc), line_text,
                  sizeof line_text);
    pxr_log(PXR_LOG_ERROR, "kernel '%s' has run for %u s: block (%u,%u,%u) is still there%s",
            crt_kernel_name(launch->kernel), pxr_options_get()->launch_timeout, fault->ctaid[0],
            fault->ctaid[1], fault->ctaid[2], line_text);
}

/* " (a.out: fat binary 1, …), block (0,0,0)". */
static void describe_block(const struct crt_launch *launch, const struct sch_fault *fault,
                           char *text, size_t cap)
{
    snprintf(text, cap, " (%s%s), block (%u,%u,%u)", launch->kernel->library->name,
             launch->kernel->library->outline->source_suffix, fault->ctaid[0], fault->ctaid[1],
             fault->ctaid[2]);
}

bool crt_launch_overruns(void *arg, const struct sch_fault *fault)
{
    struct crt_launch *launch = arg;
    if (!crt_arena_open_margin((uintptr_t)fault->address))
        return false;
    if (atomic_fetch_add(&launch->overruns, 1) == 0)
        launch->overrun = *fault;
    return true;
}

void crt_report_overrun(struct crt_launch *launch)
{
    char block_text[512];
    char line_text[512];
    char address_text[256];
    const struct sch_fault *overrun = &launch->overrun;
    if (atomic_exchange(&launch->overruns, 0) == 0)
        return;
    describe_block(launch, overrun, block_text, sizeof block_text);
    describe_line(launch->kernel, crt_kernel_line(launch->kernel, overrun->pc), line_text,
                  sizeof line_text);
    describe_address(overrun->address, address_text, sizeof address_text);
    pxr_log(PXR_LOG_WARNING,
            "write outside of an allocation in kernel '%s'%s%s: address 0x%" PRIx64
            "%s. It went on, as GPUs seldom notice; --check=memory tells of all such accesses",
            crt_kernel_name(launch->kernel), block_text, line_text, overrun->address, address_text);
}

void crt_report_fault(const struct crt_launch *launch, const struct sch_fault *fault)
{
    char place[96] = "";
    char block_text[512];
    char line_text[512];
    char address_text[256] = "";
    if (fault->has_thread)
        snprintf(place, sizeof place, ", thread (%u,%u,%u)", fault->tid[0], fault->tid[1],
                 fault->tid[2]);
    else if (fault->together > 1)
        snprintf(place, sizeof place, " to (%u,%u,%u)", fault->ctaid[0] + fault->together - 1,
                 fault->ctaid[1], fault->ctaid[2]);
    int line = crt_kernel_line(launch->kernel, fault->pc);
    describe_line(launch->kernel, line, line_text, sizeof line_text);
    bool has_address = fault->status == PXR_FAULT_ADDRESS || fault->status == PXR_FAULT_MISALIGNED;
    if (fault->is_address_unknown) {
        snprintf(
            address_text, sizeof address_text,
            ": the address is not canonical, which none of memory is, and its value is not known");
    } else if (has_address) {
        int len =
            snprintf(address_text, sizeof address_text, ": address 0x%" PRIx64, fault->address);
        char *relation = address_text + len;
        size_t cap = sizeof address_text - (size_t)len;
        if (!describe_local(fault, relation, cap) && !describe_shared(fault, relation, cap))
            describe_address(fault->address, relation, cap);
    }
    describe_block(launch, fault, block_text, sizeof block_text);
    struct pxr_error error;
    pxr_fail_at(&error, fault->status, line, 0, "%s in kernel '%s'%s%s%s%s", describe_status(fault),
                crt_kernel_name(launch->kernel), block_text, place, line_text, address_text);
    crt_context_report_fault(launch->ctx, &error);
}
