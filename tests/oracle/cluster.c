/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters: addresses of other blocks' shared memory (mapa, getctarank), and barrier.cluster.
 */
#include "tests/oracle/dispatch.h"
#include "tests/oracle/machine.h"

/* ---- addresses ---- */

static uint32_t rank_of(const struct oracle_thread *thread, uint64_t address)
{
    uint32_t rank = ((uint32_t)address >> ORACLE_BLOCK_BITS) - ORACLE_FIRST_RANK;

    return rank < ORACLE_CLUSTER_BLOCKS ? rank : thread->block->rank;
}

/* What addresses in that block's memory have in their high bits. */
static uint64_t window_of(const struct oracle_thread *thread, uint32_t rank)
{
    if (rank == thread->block->rank)
        return 0;
    return (uint64_t)(ORACLE_FIRST_RANK + rank) << ORACLE_BLOCK_BITS;
}

/* PTX ISA, "getctarank": the rank in the cluster of the block whose shared memory it is. */
enum pxr_status oracle_getctarank(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    uint64_t address = oracle_read(thread, inst, 1, inst->types[0]).u64;

    oracle_write(thread, inst, 0, PTX_TYPE_U32,
                 (union oracle_value){.u32 = rank_of(thread, address)});
    return PXR_OK;
}

/* PTX ISA, "mapa": "the address in the shared memory of the CTA of this rank". That of the own
 * block is the address there. */
enum pxr_status oracle_mapa(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    union oracle_value address = oracle_read(thread, inst, 1, inst->types[0]);
    uint32_t rank = oracle_read(thread, inst, 2, PTX_TYPE_U32).u32;

    if (rank >= thread->block->cluster->block_count)
        return oracle_fail(thread, inst, PXR_FAULT_INSTRUCTION, "no block has the rank %u", rank);
    address.u64 -= window_of(thread, rank_of(thread, address.u64));
    address.u64 += window_of(thread, rank);
    oracle_write(thread, inst, 0, inst->types[0], address);
    return PXR_OK;
}

/* ---- barrier.cluster ---- */

/* "Waits for all non-exited threads of the cluster to perform arrive". */
static void complete_if_all(struct oracle_cluster *cluster)
{
    if (cluster->arrived_threads < cluster->live_threads)
        return;
    cluster->arrived_threads = 0;
    cluster->vain_asks = 0;
    for (uint32_t rank = 0; rank < cluster->block_count; rank++) {
        const struct oracle_block *block = cluster->blocks[rank];

        for (uint32_t i = 0; i < block->thread_count; i++) {
            struct oracle_thread *thread = &block->threads[i];

            thread->has_arrived = false;
            if (thread->state == ORACLE_AT_CLUSTER)
                thread->state = ORACLE_RUNNABLE;
        }
    }
}

enum pxr_status oracle_cluster_arrive(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    if (thread->has_arrived)
        return oracle_fail(thread, inst, PXR_FAULT_INSTRUCTION,
                           "the thread has arrived and not waited");
    thread->has_arrived = true;
    thread->block->cluster->arrived_threads++;
    complete_if_all(thread->block->cluster);
    return PXR_OK;
}

enum pxr_status oracle_cluster_wait(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    if (thread->has_arrived) {
        thread->state = ORACLE_AT_CLUSTER;
        thread->wait_inst = inst;
    }
    return PXR_OK;
}

void oracle_cluster_after_exit(struct oracle_thread *thread)
{
    struct oracle_cluster *cluster = thread->block->cluster;

    cluster->live_threads--;
    if (thread->has_arrived)
        cluster->arrived_threads--;
    thread->has_arrived = false;
    complete_if_all(cluster);
}
