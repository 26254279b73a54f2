/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses: of operands in brackets, between spaces (cvta, isspacep), and of memory on a thread's
 * stack (alloca, stacksave, stackrestore).
 */
#include "tests/oracle/dispatch.h"
#include "tests/oracle/machine.h"

/* PTX ISA, "Arrays as Operands": name[r] is the element that the register numbers. */
static uint64_t index_bytes(struct oracle_thread *thread, const struct ptx_operand *operand)
{
    const struct ptx_var *array = operand->elems[0].var;
    enum ptx_type type = operand->elems[1].var->type;
    unsigned unused = 64 - ptx_type_bits(type);
    uint64_t index = oracle_read_operand(thread, &operand->elems[1], type).u64 << unused;

    index = ptx_type_table[type].class == PTX_CLASS_SIGNED ? (uint64_t)((int64_t)index >> unused)
                                                           : index >> unused;
    return index * ptx_type_bytes(array->type) * array->vector_len;
}

uint64_t oracle_address_of(struct oracle_thread *thread, const struct ptx_operand *operand)
{
    const struct ptx_operand *base = &operand->elems[0];
    enum ptx_type type = PTX_TYPE_B64;
    uint64_t address = oracle_read_operand(thread, base, type).u64 + (uint64_t)operand->offset;

    /* a 32-bit register holds a whole address of its space */
    if (base->kind == PTX_OPERAND_REG && ptx_type_bits(base->var->type) == 32)
        address &= UINT32_MAX;
    if (operand->is_indexed)
        address += index_bytes(thread, operand);
    return address;
}

/* PTX ISA, "Device Function Parameters": the address of a parameter that is taken with mov is one
 * in .local; so is every .param variable here, those of the kernel's list excepted. */
enum ptx_space oracle_space_of(const struct oracle_thread *thread, const struct ptx_inst *inst,
                               const struct ptx_operand *operand)
{
    const struct ptx_operand *base = &operand->elems[0];
    enum ptx_space space = ptx_inst_space(inst);
    bool is_entry = thread->code->func->is_entry;

    if (space != PTX_SPACE_PARAM)
        return space;
    if (base->kind == PTX_OPERAND_VAR)
        return is_entry && base->var->is_input_param ? PTX_SPACE_PARAM : PTX_SPACE_LOCAL;
    if (ptx_inst_mod(inst, PTX_GROUP_SPACE) == PTX_MOD_PARAM_ENTRY)
        return PTX_SPACE_PARAM;
    return is_entry ? PTX_SPACE_PARAM : PTX_SPACE_LOCAL;
}

/* ---- between spaces ---- */

/* PTX ISA, "cvta": a generic address is that within the space plus the window's base. .global and
 * .const addresses are generic ones already. */
static uint64_t window_base(enum ptx_space space)
{
    switch (space) {
    case PTX_SPACE_SHARED:
        return ORACLE_SHARED_WINDOW;
    case PTX_SPACE_LOCAL:
        return ORACLE_LOCAL_WINDOW;
    case PTX_SPACE_PARAM:
        return ORACLE_PARAM_WINDOW;
    default:
        return 0;
    }
}

enum pxr_status oracle_cvta(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    union oracle_value value = oracle_read(thread, inst, 1, type);
    uint64_t base = window_base(ptx_inst_space(inst));

    if (ptx_inst_has(inst, PTX_GROUP_TO))
        value.u64 -= base;
    else
        value.u64 += base;
    oracle_write(thread, inst, 0, type, value);
    return PXR_OK;
}

static bool is_in_const(const struct oracle *oracle, uint64_t address)
{
    for (uint32_t i = 0; i < oracle->range_count; i++)
        if (oracle->ranges[i].is_const &&
            address - oracle->ranges[i].base < oracle->ranges[i].size_bytes)
            return true;
    return false;
}

static bool is_in_window(uint64_t address, uint64_t base)
{
    return address - base < ORACLE_WINDOW_BYTES;
}

/* PTX ISA, "isspacep": .global is true for what lies in no other window, and for the parameters of
 * a kernel, whose window lies within .global. */
static bool is_in_space(const struct oracle *oracle, enum ptx_space space, uint64_t address)
{
    bool is_shared = is_in_window(address, ORACLE_SHARED_WINDOW);
    bool is_local = is_in_window(address, ORACLE_LOCAL_WINDOW);
    bool is_const = is_in_const(oracle, address);

    switch (space) {
    case PTX_SPACE_SHARED:
        return is_shared;
    case PTX_SPACE_LOCAL:
        return is_local;
    case PTX_SPACE_CONST:
        return is_const;
    case PTX_SPACE_PARAM:
        return is_in_window(address, ORACLE_PARAM_WINDOW);
    default:
        return !is_shared && !is_local && !is_const;
    }
}

/* The window of the block is a part of that of its cluster. */
static bool is_in_block(uint64_t address)
{
    return is_in_window(address, ORACLE_SHARED_WINDOW) &&
           (address - ORACLE_SHARED_WINDOW) >> ORACLE_BLOCK_BITS < ORACLE_FIRST_RANK;
}

enum pxr_status oracle_isspacep(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    uint64_t address = oracle_read(thread, inst, 1, PTX_TYPE_B64).u64;
    enum ptx_space space = ptx_inst_space(inst);
    union oracle_value value = {0};

    value.u64 = is_in_space(thread->oracle, space, address);
    if (space == PTX_SPACE_SHARED && !ptx_inst_has_word(inst, PTX_MOD_SHARED_CLUSTER))
        value.u64 = is_in_block(address);
    oracle_write(thread, inst, 0, PTX_TYPE_PRED, value);
    return PXR_OK;
}

/* ---- the stack ---- */

/* PTX ISA, "alloca": memory of the thread's stack, aligned to the third operand, 8 bytes without;
 * it goes when the function returns. */
enum pxr_status oracle_alloca(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    enum ptx_type type = inst->types[0];
    uint64_t size_bytes = oracle_read(thread, inst, 1, type).u64;
    uint64_t align = inst->operand_count > 2 ? oracle_read(thread, inst, 2, type).u64 : 8;
    union oracle_value address = {0};

    if (align == 0 || (align & (align - 1)) != 0)
        return oracle_fail(thread, inst, PXR_FAULT_INSTRUCTION, "alignment is no power of two");
    address.u64 = (thread->local_top + align - 1) & ~(align - 1);
    if (size_bytes > ORACLE_MAX_LOCAL_BYTES || align > ORACLE_MAX_LOCAL_BYTES ||
        !oracle_reserve_local(thread, address.u64 + size_bytes))
        return oracle_fail(thread, inst, PXR_FAULT_STACK, "the thread's stack is used up");
    thread->local_top = (uint32_t)(address.u64 + size_bytes);
    oracle_write(thread, inst, 0, type, address);
    return PXR_OK;
}

enum pxr_status oracle_stacksave(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    union oracle_value top = {.u64 = thread->local_top};

    oracle_write(thread, inst, 0, inst->types[0], top);
    return PXR_OK;
}

enum pxr_status oracle_stackrestore(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    uint64_t top = oracle_read(thread, inst, 0, inst->types[0]).u64;

    if (top > thread->local_top || top < thread->frame_local)
        return oracle_fail(thread, inst, PXR_FAULT_STACK, "0x%llx is no state of this stack",
                           (unsigned long long)top);
    thread->local_top = (uint32_t)top;
    return PXR_OK;
}
