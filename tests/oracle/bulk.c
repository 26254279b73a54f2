/* SPDX-License-Identifier: Apache-2.0
 *
 * Asynchronous copies, stores and reductions (PTX ISA, "cp.async.bulk", "cp.reduce.async.bulk",
 * "st.async", "red.async", "st.bulk"). They are done at once: nothing says when they happen before
 * they are waited for.
 */
#include <string.h>

#include "tests/oracle/dispatch.h"
#include "tests/oracle/machine.h"

#define GRAIN 16 /* "addresses and size must be multiples of 16" */

/* One copy: 16 bytes after 16 bytes, of which `mask` says which are written. */
struct copy {
    enum ptx_space to_space;
    enum ptx_space from_space;
    uint64_t to;
    uint64_t from;
    uint32_t size_bytes;
};

static struct copy describe(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    bool is_group = ptx_inst_has_word(inst, PTX_MOD_BULK_GROUP);
    struct copy copy = {
        .to_space = is_group ? PTX_SPACE_GLOBAL : PTX_SPACE_SHARED,
        .from_space = PTX_SPACE_SHARED,
        .to = oracle_address_of(thread, &inst->operands[0]),
        .from = oracle_address_of(thread, &inst->operands[1]),
        .size_bytes = oracle_read(thread, inst, 2, PTX_TYPE_U32).u32,
    };

    if (!is_group && ptx_inst_has_word(inst, PTX_MOD_GLOBAL))
        copy.from_space = PTX_SPACE_GLOBAL;
    return copy;
}

static enum pxr_status check_size(struct oracle_thread *thread, const struct ptx_inst *inst,
                                  const struct copy *copy)
{
    if ((copy->to | copy->from) % GRAIN != 0)
        return oracle_fail(thread, inst, PXR_FAULT_MISALIGNED,
                           "0x%llx or 0x%llx is not a multiple of 16", (unsigned long long)copy->to,
                           (unsigned long long)copy->from);
    if (copy->size_bytes % GRAIN != 0)
        return oracle_fail(thread, inst, PXR_FAULT_INSTRUCTION, "%u bytes", copy->size_bytes);
    return PXR_OK;
}

/* The memory of 16 bytes of both. */
static enum pxr_status resolve(struct oracle_thread *thread, const struct ptx_inst *inst,
                               const struct copy *copy, uint32_t offset, uint8_t **to,
                               uint8_t **from)
{
    enum pxr_status status = oracle_resolve(thread, inst, copy->to_space, copy->to + offset, GRAIN,
                                            ORACLE_STORE, to, NULL);

    if (status == PXR_OK)
        status = oracle_resolve(thread, inst, copy->from_space, copy->from + offset, GRAIN,
                                ORACLE_LOAD, from, NULL);
    return status;
}

static enum pxr_status complete(struct oracle_thread *thread, const struct ptx_inst *inst,
                                uint32_t size_bytes)
{
    if (!ptx_inst_has_word(inst, PTX_MOD_MBARRIER_COMPLETE_TX_BYTES))
        return PXR_OK;
    return oracle_complete_tx(thread, inst, 3, PTX_SPACE_SHARED, size_bytes);
}

/* "cp_mask: bit i says whether byte i of each 16 is copied". */
static uint32_t byte_mask(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    if (!ptx_inst_has_word(inst, PTX_MOD_CP_MASK))
        return 0xffff;
    return oracle_read(thread, inst, inst->operand_count - 1, PTX_TYPE_B16).u16;
}

static enum pxr_status copy_bytes(struct oracle_thread *thread, const struct ptx_inst *inst,
                                  const struct copy *copy)
{
    uint32_t mask = byte_mask(thread, inst);
    enum pxr_status status = PXR_OK;

    for (uint32_t i = 0; i < copy->size_bytes && status == PXR_OK; i += GRAIN) {
        uint8_t *to;
        uint8_t *from;

        status = resolve(thread, inst, copy, i, &to, &from);
        for (uint32_t k = 0; k < GRAIN && status == PXR_OK; k++)
            if (mask >> k & 1)
                to[k] = from[k];
    }
    return status == PXR_OK ? complete(thread, inst, copy->size_bytes) : status;
}

/* ".multicast::cluster": "to the same CTA-relative offset" of each block in the mask, with a signal
 * to the mbarrier "at the same CTA-relative offset": for each as if a thread of it copied. */
static enum pxr_status copy_to_blocks(struct oracle_thread *thread, const struct ptx_inst *inst,
                                      struct copy copy)
{
    uint32_t mask = oracle_read(thread, inst, 4, PTX_TYPE_B16).u16;
    struct oracle_block *own = thread->block;
    const struct oracle_cluster *cluster = own->cluster;
    enum pxr_status status = PXR_OK;

    if (mask >> cluster->block_count != 0)
        return oracle_fail(thread, inst, PXR_FAULT_INSTRUCTION, "blocks 0x%x of %u", mask,
                           cluster->block_count);
    copy.to &= (1U << ORACLE_BLOCK_BITS) - 1;
    for (uint32_t rank = 0; rank < cluster->block_count && status == PXR_OK; rank++) {
        if (!(mask >> rank & 1))
            continue;
        thread->block = cluster->blocks[rank];
        status = copy_bytes(thread, inst, &copy);
    }
    thread->block = own;
    return status;
}

enum pxr_status oracle_cp_bulk(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    struct copy copy = describe(thread, inst);
    enum pxr_status status = check_size(thread, inst, &copy);

    if (status != PXR_OK)
        return status;
    return ptx_inst_has_word(inst, PTX_MOD_MULTICAST_CLUSTER) ? copy_to_blocks(thread, inst, copy)
                                                              : copy_bytes(thread, inst, &copy);
}

/* "add.f32 flushes subnormal inputs and results", which it does in global memory only. */
enum pxr_status oracle_cp_reduce(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    struct copy copy = describe(thread, inst);
    enum ptx_mod op = ptx_inst_mod(inst, PTX_GROUP_ATOMOP);
    enum ptx_type type = inst->types[0];
    uint32_t step = ptx_type_bytes(type);
    enum pxr_status status = check_size(thread, inst, &copy);

    for (uint32_t i = 0; i < copy.size_bytes && status == PXR_OK; i += GRAIN) {
        uint8_t *to;
        uint8_t *from;

        status = resolve(thread, inst, &copy, i, &to, &from);
        for (uint32_t k = 0; k < GRAIN && status == PXR_OK; k += step) {
            union oracle_value old = {0};
            union oracle_value value = {0};

            memcpy(&old, to + k, step);
            memcpy(&value, from + k, step);
            old = oracle_combine(op, type, old, value, (union oracle_value){0}, false);
            memcpy(to + k, &old, step);
        }
    }
    return status == PXR_OK ? complete(thread, inst, copy.size_bytes) : status;
}

/* ---- st.async, red.async ---- */

/* What has been done completes on the mbarrier, if there is one. */
static enum pxr_status complete_element(struct oracle_thread *thread, const struct ptx_inst *inst,
                                        enum pxr_status status)
{
    if (status != PXR_OK || inst->operand_count < 3)
        return status;
    return oracle_complete_tx(thread, inst, 2, ptx_inst_space(inst),
                              ptx_type_bytes(inst->types[0]) * ptx_inst_vector_len(inst));
}

enum pxr_status oracle_st_async(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return complete_element(thread, inst, oracle_st(thread, inst));
}

enum pxr_status oracle_red_async(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return complete_element(thread, inst, oracle_red(thread, inst));
}

/* ---- st.bulk ---- */

/* "Initialises a region of shared memory; size must be a multiple of 8." */
enum pxr_status oracle_st_bulk(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    uint64_t address = oracle_address_of(thread, &inst->operands[0]);
    uint64_t size_bytes = oracle_read(thread, inst, 1, PTX_TYPE_U64).u64;
    enum pxr_status status = PXR_OK;

    if (address % 8 != 0)
        return oracle_fail(thread, inst, PXR_FAULT_MISALIGNED, "0x%llx is not a multiple of 8",
                           (unsigned long long)address);
    if (size_bytes % 8 != 0)
        return oracle_fail(thread, inst, PXR_FAULT_INSTRUCTION, "%llu bytes",
                           (unsigned long long)size_bytes);
    for (uint64_t i = 0; i < size_bytes && status == PXR_OK; i += 8) {
        uint8_t *host;

        status = oracle_resolve(thread, inst, ptx_inst_space(inst), address + i, 8, ORACLE_STORE,
                                &host, NULL);
        if (status == PXR_OK)
            memset(host, 0, 8);
    }
    return status;
}
