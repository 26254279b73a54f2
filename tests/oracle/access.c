/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads, stores, prefetches and cp.async (PTX ISA, "Data Movement and Conversion Instructions").
 * Threads run one instruction at a time, so memory is sequentially consistent here: orders, scopes,
 * cache operators and hints mean nothing.
 */
#include <string.h>

#include "tests/oracle/dispatch.h"
#include "tests/oracle/machine.h"

/* A vector is accessed as a whole: its address is a multiple of its size. */
static enum pxr_status resolve_vector(struct oracle_thread *thread, const struct ptx_inst *inst,
                                      unsigned operand, enum oracle_access access, uint8_t **host)
{
    const struct ptx_operand *address = &inst->operands[operand];
    unsigned size_bytes = ptx_type_bytes(inst->types[0]) * ptx_inst_vector_len(inst);

    return oracle_resolve(thread, inst, oracle_space_of(thread, inst, address),
                          oracle_address_of(thread, address), size_bytes, access, host, NULL);
}

enum pxr_status oracle_ld(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    unsigned size_bytes = ptx_type_bytes(type);
    unsigned len = ptx_inst_vector_len(inst);
    union oracle_value values[8] = {0};
    uint8_t *host;
    enum pxr_status status = resolve_vector(thread, inst, 1, ORACLE_LOAD, &host);

    if (status != PXR_OK)
        return status;
    for (unsigned i = 0; i < len; i++)
        memcpy(&values[i], host + i * size_bytes, size_bytes);
    for (unsigned i = 0; i < len; i++)
        oracle_write_elem(thread, &inst->operands[0], i, type, values[i]);
    return PXR_OK;
}

enum pxr_status oracle_st(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    unsigned size_bytes = ptx_type_bytes(type);
    unsigned len = ptx_inst_vector_len(inst);
    uint8_t *host;
    enum pxr_status status = resolve_vector(thread, inst, 0, ORACLE_STORE, &host);

    if (status != PXR_OK)
        return status;
    for (unsigned i = 0; i < len; i++) {
        union oracle_value value = oracle_read_elem(thread, &inst->operands[1], i, type);

        memcpy(host + i * size_bytes, &value, size_bytes);
    }
    return PXR_OK;
}

/* PTX ISA, "prefetch": brings a cache line nearer; an address is not accessed. */
enum pxr_status oracle_prefetch(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    (void)thread;
    (void)inst;
    return PXR_OK;
}

/* ---- cp.async ---- */

/* Bytes to read: operand 3, or all when it is no size. PTX ISA, "cp.async": the rest of cp-size is
 * filled with zeroes; ignore-src fills all of it. */
static uint64_t source_bytes(struct oracle_thread *thread, const struct ptx_inst *inst,
                             uint64_t copy_bytes)
{
    const struct ptx_operand *operand;
    uint32_t count = inst->operand_count;

    if (ptx_inst_has_word(inst, PTX_MOD_L2_CACHE_HINT))
        count--;
    if (count < 4)
        return copy_bytes;
    operand = &inst->operands[3];
    if (operand->kind == PTX_OPERAND_REG && operand->var->type == PTX_TYPE_PRED)
        return oracle_read_operand(thread, operand, PTX_TYPE_PRED).u64 ? 0 : copy_bytes;
    return oracle_read_operand(thread, operand, PTX_TYPE_U32).u32;
}

/* The copy is done at once: nothing says when it happens before it is waited for. */
enum pxr_status oracle_cp_async(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    uint64_t to = oracle_address_of(thread, &inst->operands[0]);
    uint64_t from = oracle_address_of(thread, &inst->operands[1]);
    uint64_t copy_bytes = oracle_read(thread, inst, 2, PTX_TYPE_U32).u64;
    uint64_t read_bytes = source_bytes(thread, inst, copy_bytes);
    uint8_t *source = NULL;
    uint8_t *target;
    enum pxr_status status;

    if ((copy_bytes != 4 && copy_bytes != 8 && copy_bytes != 16) || read_bytes > copy_bytes)
        return oracle_fail(thread, inst, PXR_FAULT_INSTRUCTION, "a size is out of range");
    status = oracle_resolve(thread, inst, PTX_SPACE_SHARED, to, (unsigned)copy_bytes, ORACLE_STORE,
                            &target, NULL);
    if (status == PXR_OK && from % copy_bytes != 0)
        status = oracle_fail(thread, inst, PXR_FAULT_MISALIGNED,
                             "address 0x%llx is not a multiple of %llu", (unsigned long long)from,
                             (unsigned long long)copy_bytes);
    for (uint64_t i = 0; status == PXR_OK && i < read_bytes; i++) {
        status =
            oracle_resolve(thread, inst, PTX_SPACE_GLOBAL, from + i, 1, ORACLE_LOAD, &source, NULL);
        if (status == PXR_OK)
            target[i] = *source;
    }
    if (status == PXR_OK)
        memset(target + read_bytes, 0, copy_bytes - read_bytes);
    return status;
}

/* PTX ISA, "createpolicy": an opaque number that only cache hints take. */
enum pxr_status oracle_createpolicy(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    oracle_write(thread, inst, 0, PTX_TYPE_B64, (union oracle_value){0});
    return PXR_OK;
}
