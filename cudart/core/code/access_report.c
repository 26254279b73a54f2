/* SPDX-License-Identifier: Apache-2.0
 *
 * What becomes of an access that the inline check did not let pass (translator/rt/check.c): most
 * are right after all, as that knows neither the last bytes of an allocation nor memory outside of
 * the devices'. Others are findings; then they are done as without checks.
 */
#include "cudart/core/code/access_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/base/leak.h"
#include "cudart/core/check/findings.h"
#include "cudart/core/code/child_launch.h"
#include "cudart/core/code/device_heap.h"
#include "cudart/core/code/finding_place.h"
#include "cudart/core/code/launch.h"
#include "cudart/core/code/module.h"
#include "cudart/core/code/written_calls.h"
#include "cudart/core/memory/describe.h"
#include "cudart/core/memory/device_arena.h"
#include "cudart/core/memory/memory.h"
#include "cudart/core/memory/shadow.h"
#include "scheduler/scheduler.h"
#include "util/guard.h"
#include "util/readable_name.h"

struct access {
    const struct rt_thread *thread;
    uint64_t address; /* of a local variable: the place in it */
    uint64_t bytes;
    enum rt_access what;
    bool is_fault; /* bytes and what are not known */
    uint32_t line;
    const struct rt_variable *variable; /* that it was to stay in; NULL: none */
    uint64_t begin;                     /* of the variable */
    uint64_t size_bytes;
};

/* ---- what it may access ---- */

static bool is_within(const struct access *access, const void *begin, uint64_t size_bytes)
{
    uint64_t place = access->address - (uint64_t)(uintptr_t)begin;
    return place < size_bytes && access->bytes <= size_bytes - place;
}

/* Of any block of the cluster: shared memories lie at equal distances, by rank. */
static bool is_in_cluster(const struct access *access)
{
    const struct rt_block *block = access->thread->block;
    const uint8_t *first =
        block->shared - ((uint64_t)block->cluster_rank << RT_CLUSTER_DISTANCE_LOG2);
    for (uint32_t rank = 0; rank < block->launch->cluster_blocks; rank++)
        if (is_within(access, first + ((uint64_t)rank << RT_CLUSTER_DISTANCE_LOG2),
                      block->launch->shared_bytes))
            return true;
    return false;
}

static bool is_in_variable(const struct access *access)
{
    return access->variable &&
           is_within(access, (const void *)(uintptr_t)access->begin, access->size_bytes);
}

static bool is_local(const struct access *access)
{
    return access->variable && access->variable->space == RT_VARIABLE_LOCAL;
}

/* Memory of its kind lies around it. */
static bool has_neighbours(const struct access *access)
{
    return access->variable->space == RT_VARIABLE_LOCAL ||
           access->variable->space == RT_VARIABLE_SHARED;
}

/* Whatever variable it was to stay in. */
static bool is_memory(const struct access *access)
{
    const struct rt_launch *launch = access->thread->block->launch;
    const struct crt_launch *owner = crt_launch_of(launch);
    unsigned needed = access->what == RT_ACCESS_READ ? CRT_ACCESS_READ : CRT_ACCESS_ALL;
    return crt_shadow_covers(access->address, access->bytes) || is_in_cluster(access) ||
           is_within(access, launch->params, owner->kernel->func->param_bytes) ||
           is_within(access, (const void *)(uintptr_t)launch->grid_workspace,
                     launch->grid_workspace ? CRT_WORKSPACE_BYTES : 0) ||
           sch_is_private(access->thread, access->address, access->bytes) ||
           crt_child_buffers_cover(access->thread, access->address, access->bytes) ||
           crt_heap_covers(access->address, access->bytes) ||
           (!crt_arena_file(access->address, &(int){0}, &(int64_t){0}) &&
            crt_arena_covers(access->address, access->bytes, needed));
}

static bool is_allowed(const struct access *access)
{
    return access->bytes == 0 || is_in_variable(access) || (!access->variable && is_memory(access));
}

/* ---- what is wrong with it ---- */

static const char *name_of(enum rt_access what)
{
    static const char *const names[] = {[RT_ACCESS_READ] = "read",
                                        [RT_ACCESS_WRITE] = "write",
                                        [RT_ACCESS_ATOMIC] = "atomic operation on"};
    return names[what];
}

static void describe_access(const struct access *access, char *text, size_t cap)
{
    if (access->is_fault) {
        snprintf(text, cap, "access");
        return;
    }
    snprintf(text, cap, "%s%s %" PRIu64 " byte%s", name_of(access->what),
             access->what == RT_ACCESS_ATOMIC ? "" : " of", access->bytes,
             access->bytes == 1 ? "" : "s");
}

/* In the block's shared memory, or in a guard around it. */
static bool find_in_shared(const struct access *access, char *where, size_t cap)
{
    const struct rt_block *block = access->thread->block;
    uint64_t begin = (uint64_t)(uintptr_t)block->shared;
    uint64_t end = begin + block->launch->shared_bytes;
    if (access->address + PXR_AREA_GUARD_BYTES < begin ||
        access->address > end + PXR_AREA_GUARD_BYTES)
        return false;
    bool is_before = access->address < begin;
    bool is_across = !is_before && access->address < end;
    uint64_t distance = is_before ? begin - access->address : access->address - end;
    if (is_across)
        snprintf(where, cap,
                 "address 0x%" PRIx64 " of shared memory: it ends behind the %" PRIu32
                 " bytes that the block has",
                 access->address - begin, block->launch->shared_bytes);
    else
        snprintf(where, cap,
                 "address 0x%" PRIx64 " of shared memory: %" PRIu64 " bytes %s the %" PRIu32
                 " bytes that the block has",
                 access->address - begin, distance, is_before ? "before" : "behind",
                 block->launch->shared_bytes);
    return true;
}

/* nvcc's name for all arrays that a function has of its own, one behind the other. */
#define OWN_ARRAYS "__local_depot"

/* Without the names of functions around it. */
static const char *last_name(const char *name)
{
    for (const char *part = name; (part = strstr(part, "::"));)
        name = part += 2;
    return name;
}

/* The address was made of a variable. */
static void describe_own_variable(const struct access *access, char where[CRT_WHERE_BYTES])
{
    static const char *const kinds[] = {[RT_VARIABLE_GLOBAL] = "variable",
                                        [RT_VARIABLE_SHARED] = "shared variable",
                                        [RT_VARIABLE_DYNAMIC] = "dynamic shared variable",
                                        [RT_VARIABLE_LOCAL] = "local variable"};
    int64_t place = (int64_t)(access->address - access->begin);
    const char *name = access->variable->name;
    if (strncmp(name, OWN_ARRAYS, strlen(OWN_ARRAYS)) == 0) {
        snprintf(where, CRT_WHERE_BYTES,
                 "%" PRId64
                 " bytes from the beginning of the function's arrays, which have %" PRIu64
                 " together",
                 place, access->size_bytes);
        return;
    }
    char *readable = pxr_readable_name(name);
    snprintf(where, CRT_WHERE_BYTES,
             "%" PRId64 " bytes from the beginning of %s '%s', which has %" PRIu64, place,
             kinds[access->variable->space], last_name(readable ? readable : name),
             access->size_bytes);
    free(readable);
}

/* Behind a variable, or before the first of them. */
static void describe_variable(const struct access *access, char *where, size_t cap)
{
    uintptr_t base;
    const struct crt_launch *launch = crt_launch_of(access->thread->block->launch);
    const struct ptx_var *var =
        crt_module_nearest(launch->kernel->library, launch->ctx, (uintptr_t)access->address, &base);
    if (var)
        snprintf(where, cap,
                 "address 0x%" PRIx64 ": %" PRIu64 " bytes from the beginning of variable '%s', "
                 "which has %" PRIu64,
                 access->address, access->address - base, var->name, (uint64_t)var->size_bytes);
    else
        snprintf(where, cap, "address 0x%" PRIx64 ": among variables of modules", access->address);
}

/* Memory of the process that was neither allocated nor registered: not a guard of ours. */
static bool is_host_memory(const struct access *access)
{
    return crt_memory_is_mapped((const void *)(uintptr_t)access->address, access->bytes);
}

static enum crt_finding_kind classify(const struct access *access, char where[CRT_WHERE_BYTES],
                                      struct crt_allocation *near, struct crt_frames *freed)
{
    const size_t cap = CRT_WHERE_BYTES;
    if (access->variable && (has_neighbours(access) || is_memory(access))) {
        describe_own_variable(access, where);
        return CRT_FINDING_VARIABLE_OUT_OF_BOUNDS;
    }
    if (find_in_shared(access, where, cap))
        return CRT_FINDING_SHARED_OUT_OF_BOUNDS;
    bool is_heap = crt_heap_owns(access->address);
    bool is_device = is_heap || crt_arena_is_guard(access->address) ||
                     crt_arena_file(access->address, &(int){0}, &(int64_t){0});
    if (is_device && crt_describe_freed(access->address, where, freed))
        return CRT_FINDING_USE_AFTER_FREE;
    if (is_heap) {
        snprintf(where, cap, "address 0x%" PRIx64 " of the kernels' heap, in no block of malloc's",
                 access->address);
        return CRT_FINDING_OUT_OF_BOUNDS;
    }
    if (!is_device && is_host_memory(access)) {
        snprintf(where, cap, "address 0x%" PRIx64 " is the program's own", access->address);
        return CRT_FINDING_HOST_MEMORY;
    }
    *near = crt_find_near(access->address);
    if (near->base && near->kind == CRT_MEMORY_MODULE)
        describe_variable(access, where, cap);
    else
        crt_describe_near(access->address, access->bytes, near, where);
    return CRT_FINDING_OUT_OF_BOUNDS;
}

/* ---- the finding ---- */

static bool is_shared(const struct access *access, enum crt_finding_kind kind)
{
    return kind == CRT_FINDING_SHARED_OUT_OF_BOUNDS ||
           (access->variable && (access->variable->space == RT_VARIABLE_SHARED ||
                                 access->variable->space == RT_VARIABLE_DYNAMIC));
}

static void add_finding(const struct access *access)
{
    char what[64];
    char where[CRT_WHERE_BYTES];
    static const char *const verbs[] = {
        [RT_ACCESS_READ] = "read", [RT_ACCESS_WRITE] = "write", [RT_ACCESS_ATOMIC] = "atomic"};
    struct crt_allocation near = {0};
    struct crt_frames calls = {0};
    struct crt_placed_finding placed;
    struct crt_finding *finding = &placed.finding;
    describe_access(access, what, sizeof what);
    crt_name_place(&placed, access->thread, access->line);
    finding->kind = classify(access, where, &near, &calls);
    finding->access = what;
    finding->where = where;
    finding->verb = access->is_fault ? "access" : verbs[access->what];
    finding->address = access->address;
    finding->bytes = access->bytes;
    if (crt_finding_again(finding))
        return;
    bool was_freed = calls.count > 0;
    if (near.base)
        crt_leak_frames((const void *)near.base, &calls);
    char *frames = crt_describe_calls(&calls, was_freed ? "freed" : "allocated", where);
    finding->frames = frames;
    finding->block_base = near.base;
    finding->block_bytes = near.base ? near.size_bytes : 0;
    finding->space = is_local(access) ? "local" : "global";
    if (is_shared(access, finding->kind)) {
        finding->space = "shared";
        finding->address = (uint32_t)(access->address - (uintptr_t)access->thread->block->shared);
    }
    crt_find_place(&placed, access->thread);
    crt_finding_add(finding);
    free(frames);
}

void rt_check_failed(struct rt_thread *thread, const char *address, uint64_t bytes,
                     const char *accesses, uint64_t begin, uint64_t size_bytes,
                     const char *variable)
{
    const struct rt_accesses *checked = (const struct rt_accesses *)accesses;
    for (uint32_t i = 0; i < checked->count; i++) {
        const struct rt_checked_access *each = &checked->each[i];
        if (each->what == RT_ACCESS_VALUE || each->what == RT_ACCESS_ATOMIC_VALUE) {
            crt_check_written(thread, (uint64_t)(uintptr_t)address, bytes, each);
            continue;
        }
        struct access access = {.thread = thread,
                                .address = (uint64_t)(uintptr_t)address + each->offset,
                                .bytes = each->bytes ? each->bytes : bytes,
                                .what = (enum rt_access)each->what,
                                .line = each->line,
                                .variable = (const struct rt_variable *)variable,
                                .begin = begin,
                                .size_bytes = size_bytes};
        if (!is_allowed(&access))
            add_finding(&access);
    }
}

void crt_check_access_fault(const struct rt_launch *launch, const struct sch_fault *fault,
                            uint32_t line)
{
    size_t count;
    crt_findings(&count);
    if (!crt_checks_memory() || count > 0 || fault->status != PXR_FAULT_ADDRESS ||
        fault->is_address_unknown || fault->is_local)
        return;
    struct rt_block block = {.launch = launch, .shared = (uint8_t *)fault->shared};
    struct rt_thread thread = {.block = &block};
    for (int d = 0; d < 3; d++) {
        block.ctaid[d] = fault->ctaid[d];
        thread.tid[d] = fault->tid[d];
    }
    add_finding(&(struct access){
        .thread = &thread, .address = fault->address, .is_fault = true, .line = line});
}
