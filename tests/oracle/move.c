/* SPDX-License-Identifier: Apache-2.0
 *
 * mov: registers, constants, addresses of names, and packing and unpacking of vectors.
 */
#include "tests/oracle/dispatch.h"
#include "tests/oracle/machine.h"

/* An unsigned type as wide as one of `count` elements of the whole. */
static enum ptx_type elem_type(enum ptx_type type, unsigned count)
{
    switch (ptx_type_bits(type) / count) {
    case 8:
        return PTX_TYPE_B8;
    case 16:
        return PTX_TYPE_B16;
    case 32:
        return PTX_TYPE_B32;
    case 64:
        return PTX_TYPE_B64;
    default:
        return type;
    }
}

/* PTX ISA, "mov": the first element is the least significant. */
static union oracle_value pack(struct oracle_thread *thread, const struct ptx_operand *source,
                               enum ptx_type type)
{
    unsigned count = oracle_elem_count(source);
    enum ptx_type part = elem_type(type, count);
    union oracle_value whole = {0};

    for (unsigned i = 0; i < count; i++)
        whole.u128 |= oracle_read_elem(thread, source, i, part).u128 << (i * ptx_type_bits(part));
    return whole;
}

static void unpack(struct oracle_thread *thread, const struct ptx_operand *target,
                   enum ptx_type type, union oracle_value whole)
{
    unsigned count = oracle_elem_count(target);
    enum ptx_type part = elem_type(type, count);

    for (unsigned i = 0; i < count; i++) {
        union oracle_value value = {.u128 = whole.u128 >> (i * ptx_type_bits(part))};

        oracle_write_elem(thread, target, i, part, value);
    }
}

/* mov.v2, mov.v4: element by element. */
static void copy_elements(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    unsigned count = ptx_inst_vector_len(inst);
    union oracle_value values[4];

    for (unsigned i = 0; i < count; i++)
        values[i] = oracle_read_elem(thread, &inst->operands[1], i, inst->types[0]);
    for (unsigned i = 0; i < count; i++)
        oracle_write_elem(thread, &inst->operands[0], i, inst->types[0], values[i]);
}

enum pxr_status oracle_mov(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    const struct ptx_operand *target = &inst->operands[0];
    const struct ptx_operand *source = &inst->operands[1];
    enum ptx_type type = inst->types[0];
    union oracle_value value;

    if (ptx_inst_has(inst, PTX_GROUP_VEC)) {
        copy_elements(thread, inst);
        return PXR_OK;
    }
    if (source->kind == PTX_OPERAND_VECTOR)
        value = pack(thread, source, type);
    else
        value = oracle_read_operand(thread, source, type);
    if (target->kind == PTX_OPERAND_VECTOR)
        unpack(thread, target, type, value);
    else
        oracle_write_operand(thread, target, type, value);
    return PXR_OK;
}
