/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of all spaces: which addresses exist, and the host memory behind them. Every access is
 * checked for alignment and bounds.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/machine.h"

/* ---- global memory ---- */

bool oracle_add_range(struct oracle *oracle, struct oracle_range range)
{
    if (!oracle_grow(&oracle->ranges, &oracle->range_capacity, oracle->range_count + 1,
                     sizeof(range)))
        return false;
    oracle->ranges[oracle->range_count++] = range;
    return true;
}

bool oracle_remove_heap_range(struct oracle *oracle, uint64_t base)
{
    for (uint32_t i = 0; i < oracle->range_count; i++) {
        if (oracle->ranges[i].base != base || !oracle->ranges[i].is_heap)
            continue;
        oracle->ranges[i] = oracle->ranges[--oracle->range_count];
        oracle->last_range = 0;
        return true;
    }
    return false;
}

static bool range_has(const struct oracle_range *range, uint64_t address, uint64_t size_bytes)
{
    uint64_t offset = address - range->base; /* huge when address is below */

    return size_bytes <= range->size_bytes && offset <= range->size_bytes - size_bytes;
}

static const struct oracle_range *find_range(struct oracle *oracle, uint64_t address,
                                             uint64_t size_bytes)
{
    if (oracle->last_range < oracle->range_count &&
        range_has(&oracle->ranges[oracle->last_range], address, size_bytes))
        return &oracle->ranges[oracle->last_range];
    for (uint32_t i = 0; i < oracle->range_count; i++) {
        if (range_has(&oracle->ranges[i], address, size_bytes)) {
            oracle->last_range = i;
            return &oracle->ranges[i];
        }
    }
    return NULL;
}

/* ---- local memory ---- */

bool oracle_reserve_local(struct oracle_thread *thread, uint64_t top)
{
    uint32_t old_capacity = thread->local_capacity;

    if (top > ORACLE_MAX_LOCAL_BYTES)
        return false;
    if (!oracle_grow(&thread->local, &thread->local_capacity, (uint32_t)top, 1))
        return false;
    oracle_fill_pattern(thread->oracle, thread->local + old_capacity,
                        thread->local_capacity - old_capacity);
    return true;
}

/* ---- all spaces ---- */

/* The space of a generic address (PTX ISA, "Generic Addressing"). */
static enum ptx_space window_of(uint64_t *address)
{
    static const struct {
        uint64_t base;
        enum ptx_space space;
    } windows[] = {
        {ORACLE_SHARED_WINDOW, PTX_SPACE_SHARED},
        {ORACLE_LOCAL_WINDOW, PTX_SPACE_LOCAL},
        {ORACLE_PARAM_WINDOW, PTX_SPACE_PARAM},
    };

    for (unsigned i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
        if (*address - windows[i].base < ORACLE_WINDOW_BYTES) {
            *address -= windows[i].base;
            return windows[i].space;
        }
    }
    return PTX_SPACE_GLOBAL;
}

/* The block whose shared memory it is, and the place in there; NULL: there is none, or it has
 * ended. */
static const struct oracle_block *find_block(const struct oracle_thread *thread, uint64_t *address)
{
    const struct oracle_cluster *cluster = thread->block->cluster;
    uint64_t rank = (*address >> ORACLE_BLOCK_BITS) - ORACLE_FIRST_RANK;

    if (rank >= ORACLE_CLUSTER_BLOCKS)
        return thread->block;
    *address &= (1U << ORACLE_BLOCK_BITS) - 1;
    if (rank >= cluster->block_count || cluster->blocks[rank]->live_count == 0)
        return NULL;
    return cluster->blocks[rank];
}

/* Host memory, or NULL when the address is out of bounds. */
static uint8_t *find_host(struct oracle_thread *thread, enum ptx_space space, uint64_t address,
                          uint64_t size_bytes, enum oracle_access access, bool is_generic)
{
    struct oracle *oracle = thread->oracle;
    struct oracle_range range = {0};
    const struct oracle_range *found;
    const struct oracle_block *block;
    uint8_t *host = NULL;

    switch (space) {
    case PTX_SPACE_SHARED:
        block = find_block(thread, &address);
        if (!block)
            return NULL;
        range.size_bytes = oracle->shared_bytes;
        host = block->shared;
        break;
    case PTX_SPACE_LOCAL:
        range.size_bytes = thread->local_top;
        host = thread->local;
        break;
    case PTX_SPACE_PARAM:
        range.size_bytes = access == ORACLE_LOAD ? oracle->kernel->param_bytes : 0;
        host = (uint8_t *)oracle->launch->params;
        break;
    default:
        found = find_range(oracle, address, size_bytes);
        if (!found || (found->is_const && access == ORACLE_STORE) ||
            (!is_generic && found->is_const != (space == PTX_SPACE_CONST)))
            return NULL;
        return (uint8_t *)(uintptr_t)address;
    }
    return range_has(&range, address, size_bytes) ? host + address : NULL;
}

enum pxr_status oracle_resolve(struct oracle_thread *thread, const struct ptx_inst *inst,
                               enum ptx_space space, uint64_t address, unsigned size_bytes,
                               enum oracle_access access, uint8_t **host, bool *is_shared)
{
    bool is_generic = space == PTX_SPACE_NONE;
    uint64_t within = address;

    if (is_generic)
        space = window_of(&within);
    if (size_bytes > 0 && within % size_bytes != 0)
        return oracle_fail(thread, inst, PXR_FAULT_MISALIGNED,
                           "address 0x%llx is not a multiple of %u", (unsigned long long)address,
                           size_bytes);
    *host = find_host(thread, space, within, size_bytes, access, is_generic);
    if (is_shared)
        *is_shared = space == PTX_SPACE_SHARED;
    if (!*host)
        return oracle_fail(thread, inst, PXR_FAULT_ADDRESS, "%u bytes at 0x%llx may not be %s",
                           size_bytes, (unsigned long long)address,
                           access == ORACLE_LOAD ? "read" : "written");
    return PXR_OK;
}
