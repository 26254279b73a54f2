/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading and writing operands: registers, constants, special registers, names.
 */
#include <string.h>

#include "tests/oracle/machine.h"
#include "tests/oracle/thread.h"

/* ---- reading ---- */

/* PTX ISA, "Floating-Point Constants": values are doubles; 0f… gives the bits of a single. */
static uint64_t float_constant(const struct ptx_operand *operand, enum ptx_type type)
{
    union oracle_value value = {0};

    if (ptx_type_bits(type) == 32 && !operand->is_single) {
        double number;

        memcpy(&number, &operand->bits, sizeof(number));
        value.f32 = (float)number;
        return value.u64;
    }
    if (ptx_type_bits(type) == 64 && operand->is_single) {
        value.u64 = operand->bits;
        value.f64 = value.f32;
        return value.u64;
    }
    return operand->bits;
}

/* Slot of a register, or of one component of a vector register. */
static union oracle_value *slot_of(struct oracle_thread *thread, const struct ptx_operand *operand)
{
    uint32_t component = operand->component ? operand->component - 1U : 0;

    return &thread->regs[thread->code->places[operand->var->index] + component];
}

union oracle_value oracle_read_operand(struct oracle_thread *thread,
                                       const struct ptx_operand *operand, enum ptx_type type)
{
    union oracle_value value = {0};
    enum ptx_type own_type;

    switch (operand->kind) {
    case PTX_OPERAND_REG:
        value = *slot_of(thread, operand);
        if (operand->is_negated && type == PTX_TYPE_PRED) // the sign of vmad is its own matter
            value.u64 ^= 1;
        break;
    case PTX_OPERAND_SREG:
        value.u64 = oracle_sreg(thread, operand->sreg);
        break;
    case PTX_OPERAND_INT:
        value.u64 = operand->bits;
        if (type == PTX_TYPE_PRED)
            value.u64 = operand->bits != 0;
        break;
    case PTX_OPERAND_FLOAT:
        value.u64 = float_constant(operand, type);
        break;
    case PTX_OPERAND_VAR:
        value.u64 = oracle_var_address(thread, operand->var) + (uint64_t)operand->offset;
        break;
    case PTX_OPERAND_FUNC:
        value.u64 = (uint64_t)operand->func->handle;
        break;
    case PTX_OPERAND_ADDRESS: /* of name[r]; others are for instructions that access memory */
        value.u64 = operand->is_indexed ? oracle_address_of(thread, operand) : 0;
        break;
    case PTX_OPERAND_SUM: /* wraps in the width of the register */
        own_type = ptx_operand_type(operand->elems);
        value = oracle_read_operand(thread, operand->elems, own_type);
        value.u128 = oracle_low_bits(value.u128 + (unsigned __int128)operand->offset,
                                     ptx_type_bits(own_type));
        break;
    case PTX_OPERAND_PAIR:
        return oracle_read_operand(thread, &operand->elems[0], type);
    case PTX_OPERAND_LABEL:
    case PTX_OPERAND_LABELS:
    case PTX_OPERAND_VECTOR:
    case PTX_OPERAND_SINK:
        break; /* these have no value of their own */
    }
    value.u128 = oracle_low_bits(value.u128, ptx_type_bits(type));
    return value;
}

union oracle_value oracle_read(struct oracle_thread *thread, const struct ptx_inst *inst,
                               unsigned operand, enum ptx_type type)
{
    return oracle_read_operand(thread, &inst->operands[operand], type);
}

/* ---- writing ---- */

void oracle_write_operand(struct oracle_thread *thread, const struct ptx_operand *operand,
                          enum ptx_type type, union oracle_value value)
{
    unsigned bits = ptx_type_bits(type);
    unsigned reg_bits;

    if (operand->kind == PTX_OPERAND_PAIR)
        operand = &operand->elems[0];
    if (operand->kind != PTX_OPERAND_REG)
        return;
    reg_bits = ptx_type_bits(operand->var->type);
    value.u128 = oracle_low_bits(value.u128, bits);
    if (reg_bits > bits && ptx_type_is_signed(type))
        value.s64 = oracle_signed(value, type);
    value.u128 = oracle_low_bits(value.u128, reg_bits);
    *slot_of(thread, operand) = value;
}

void oracle_write(struct oracle_thread *thread, const struct ptx_inst *inst, unsigned operand,
                  enum ptx_type type, union oracle_value value)
{
    oracle_write_operand(thread, &inst->operands[operand], type, value);
}

void oracle_write_second(struct oracle_thread *thread, const struct ptx_inst *inst,
                         unsigned operand, bool value)
{
    const struct ptx_operand *pair = &inst->operands[operand];

    if (pair->kind == PTX_OPERAND_PAIR)
        oracle_write_operand(thread, &pair->elems[1], PTX_TYPE_PRED,
                             (union oracle_value){.u64 = value});
}

/* ---- vectors ---- */

static bool is_whole_vector_register(const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_REG && operand->component == 0 &&
           operand->var->vector_len > 1;
}

unsigned oracle_elem_count(const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OPERAND_VECTOR)
        return operand->elem_count;
    return is_whole_vector_register(operand) ? operand->var->vector_len : 1;
}

/* The i-th element as an operand; *component is where it is made when it is part of a register. */
static const struct ptx_operand *elem_of(const struct ptx_operand *operand, unsigned i,
                                         struct ptx_operand *component)
{
    if (operand->kind == PTX_OPERAND_VECTOR)
        return &operand->elems[i];
    if (!is_whole_vector_register(operand))
        return operand;
    *component = *operand;
    component->component = (uint8_t)(i + 1);
    return component;
}

union oracle_value oracle_read_elem(struct oracle_thread *thread, const struct ptx_operand *operand,
                                    unsigned i, enum ptx_type type)
{
    struct ptx_operand component;

    return oracle_read_operand(thread, elem_of(operand, i, &component), type);
}

void oracle_write_elem(struct oracle_thread *thread, const struct ptx_operand *operand, unsigned i,
                       enum ptx_type type, union oracle_value value)
{
    struct ptx_operand component;

    oracle_write_operand(thread, elem_of(operand, i, &component), type, value);
}
