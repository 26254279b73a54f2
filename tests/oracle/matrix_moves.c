/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrices between memory and registers. Which lane has which element is in ptx/matrix.def.
 */
#include <string.h>

#include "tests/oracle/dispatch.h"
#include "tests/oracle/matrix.h"

#define ROW_BYTES 16 /* of ldmatrix and stmatrix */

/* ---- wmma.load, wmma.store ---- */

static void finish_nothing(struct oracle_thread *thread, uint32_t lanes)
{
    (void)thread;
    (void)lanes;
}

/* A lane accesses its own elements, one by one. */
struct move {
    struct oracle_thread *thread;
    const struct ptx_inst *inst;
    const struct ptx_fragment *fragment;
    unsigned memory; /* operands */
    unsigned registers;
};

/* "For matrices in row-major format, stride is the distance between rows, in elements; the default
 * is the width of the matrix." */
static uint64_t offset_bits(const struct move *move, struct ptx_cell cell)
{
    const struct ptx_fragment *fragment = move->fragment;
    bool is_row = ptx_inst_mod(move->inst, PTX_GROUP_LAYOUT) == PTX_MOD_ROW;
    uint64_t stride = UINT64_C(1) << strlen(is_row ? fragment->column : fragment->row);
    if (move->inst->operand_count > 2)
        stride = oracle_read(move->thread, move->inst, 2, PTX_TYPE_U32).u32;
    return (is_row ? cell.row * stride + cell.column : cell.column * stride + cell.row) *
           fragment->bits;
}

static enum pxr_status find_element(const struct move *move, unsigned i, enum oracle_access access,
                                    uint8_t **host)
{
    struct ptx_slot place = {move->thread->lane, i};
    const struct ptx_operand *operand = &move->inst->operands[move->memory];
    uint64_t bits = offset_bits(move, ptx_cell_of(move->fragment, place));
    unsigned bytes = move->fragment->bits < 8 ? 1 : move->fragment->bits / 8;
    return oracle_resolve(move->thread, move->inst, ptx_inst_space(move->inst),
                          oracle_address_of(move->thread, operand) + bits / 8, bytes, access, host,
                          NULL);
}

static enum pxr_status load_all(const struct move *move)
{
    const struct ptx_fragment *fragment = move->fragment;
    uint64_t registers[8] = {0};
    for (unsigned i = 0; i < fragment->elements; i++) {
        uint8_t *host = NULL;
        uint64_t element = 0;
        enum pxr_status status = find_element(move, i, ORACLE_LOAD, &host);
        if (status != PXR_OK)
            return status;
        memcpy(&element, host, (fragment->bits + 7) / 8);
        if (fragment->bits < 8) /* neighbours of its byte: so is its number in the register */
            element = element >> (i * fragment->bits % 8) & ((1u << fragment->bits) - 1);
        registers[i / oracle_in_register(fragment)] |=
            element << (i % oracle_in_register(fragment) * fragment->bits);
    }
    for (unsigned i = 0; i < ptx_fragment_registers(fragment); i++)
        oracle_write_elem(move->thread, &move->inst->operands[move->registers], i,
                          oracle_register_type(fragment),
                          (union oracle_value){.u64 = registers[i]});
    return PXR_OK;
}

static enum pxr_status store_all(const struct move *move)
{
    const struct ptx_fragment *fragment = move->fragment;
    for (unsigned i = 0; i < fragment->elements; i++) {
        uint8_t *host = NULL;
        enum pxr_status status = find_element(move, i, ORACLE_STORE, &host);
        if (status != PXR_OK)
            return status;
        uint64_t element =
            oracle_read_elem(move->thread, &move->inst->operands[move->registers],
                             i / oracle_in_register(fragment), oracle_register_type(fragment))
                .u64 >>
            (i % oracle_in_register(fragment) * fragment->bits);
        memcpy(host, &element, fragment->bits / 8);
    }
    return PXR_OK;
}

enum pxr_status oracle_wmma_load(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    struct ptx_matrices matrices;
    ptx_find_matrices(inst, &matrices);
    struct move move = {thread, inst, ptx_moved_fragment(&matrices), 1, 0};
    enum pxr_status status = load_all(&move);
    return status != PXR_OK ? status : oracle_meet_warp(thread, inst, finish_nothing);
}

enum pxr_status oracle_wmma_store(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    struct ptx_matrices matrices;
    ptx_find_matrices(inst, &matrices);
    struct move move = {thread, inst, ptx_moved_fragment(&matrices), 0, 1};
    enum pxr_status status = store_all(&move);
    return status != PXR_OK ? status : oracle_meet_warp(thread, inst, finish_nothing);
}

/* ---- ldmatrix, stmatrix: lane l has the address of row l % 8 of matrix l / 8 ---- */

/* A lane's place for its row; other lanes' addresses are not looked at. */
static enum pxr_status find_row(struct oracle_thread *thread, const struct ptx_inst *inst,
                                unsigned operand, enum oracle_access access)
{
    struct ptx_matrices matrices;
    ptx_find_matrices(inst, &matrices);
    if (thread->lane >= matrices.count << strlen(matrices.d.row))
        return PXR_OK;
    return oracle_resolve(thread, inst, ptx_inst_space(inst),
                          oracle_address_of(thread, &inst->operands[operand]), ROW_BYTES, access,
                          &thread->wait_row, NULL);
}

/* The bytes of a lane's element in memory. */
static uint8_t *find_bytes(const struct oracle_thread *thread, const struct ptx_matrices *matrices,
                           unsigned matrix, unsigned i)
{
    const struct ptx_fragment *fragment = &matrices->d;
    struct ptx_cell cell = ptx_cell_of(fragment, (struct ptx_slot){thread->lane, i});
    unsigned line = (matrix << strlen(fragment->row)) + cell.row;
    return oracle_thread_of(thread->block, thread->warp, line)->wait_row +
           cell.column * fragment->bits / 8;
}

/* PTX ISA, "ldmatrix": 16 elements of 4 or 6 bits from the beginning of a row become bytes. */
static uint8_t short_element(const uint8_t *row, unsigned column, unsigned bits)
{
    unsigned __int128 all;
    memcpy(&all, row, sizeof all);
    return (uint8_t)(all >> column * bits & ((1u << bits) - 1));
}

/* Registers of a lane, from or to memory. */
static void move_registers(const struct oracle_thread *thread, uint32_t *registers, bool is_store)
{
    struct ptx_matrices matrices;
    ptx_find_matrices(thread->wait_inst, &matrices);
    const struct ptx_fragment *fragment = &matrices.d;
    unsigned bytes = fragment->bits / 8;
    for (unsigned matrix = 0; matrix < matrices.count; matrix++)
        for (unsigned i = 0; i < fragment->elements; i++) {
            unsigned number =
                matrix * ptx_fragment_registers(fragment) + i / oracle_in_register(fragment);
            uint8_t *element =
                (uint8_t *)&registers[number] + i % oracle_in_register(fragment) * bytes;
            uint8_t *memory = find_bytes(thread, &matrices, matrix, i);
            if (matrices.memory_bits != 0) {
                unsigned column = ptx_cell_of(fragment, (struct ptx_slot){thread->lane, i}).column;
                *element = short_element(memory - column * bytes, column, matrices.memory_bits);
                continue;
            }
            memcpy(is_store ? memory : element, is_store ? element : memory, bytes);
        }
}

static void finish_ldmatrix(struct oracle_thread *thread, uint32_t lanes)
{
    uint32_t registers[ORACLE_WARP_SIZE][8] = {0};
    for (unsigned lane = 0; lane < ORACLE_WARP_SIZE; lane++)
        if (lanes >> lane & 1)
            move_registers(oracle_thread_of(thread->block, thread->warp, lane), registers[lane],
                           false);
    for (unsigned lane = 0; lane < ORACLE_WARP_SIZE; lane++) {
        struct oracle_thread *other = oracle_thread_of(thread->block, thread->warp, lane);
        const struct ptx_operand *operand = &thread->wait_inst->operands[0];
        for (unsigned i = 0; (lanes >> lane & 1) && i < oracle_elem_count(operand); i++)
            oracle_write_elem(other, &other->wait_inst->operands[0], i, PTX_TYPE_B32,
                              (union oracle_value){.u64 = registers[lane][i]});
    }
}

static void finish_stmatrix(struct oracle_thread *thread, uint32_t lanes)
{
    for (unsigned lane = 0; lane < ORACLE_WARP_SIZE; lane++) {
        struct oracle_thread *other = oracle_thread_of(thread->block, thread->warp, lane);
        const struct ptx_operand *operand = &thread->wait_inst->operands[1];
        uint32_t registers[8] = {0};
        if (!(lanes >> lane & 1))
            continue;
        for (unsigned i = 0; i < oracle_elem_count(operand); i++)
            registers[i] =
                oracle_read_elem(other, &other->wait_inst->operands[1], i, PTX_TYPE_B32).u32;
        move_registers(other, registers, true);
    }
}

enum pxr_status oracle_ldmatrix(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    enum pxr_status status = find_row(thread, inst, 1, ORACLE_LOAD);
    return status != PXR_OK ? status : oracle_meet_warp(thread, inst, finish_ldmatrix);
}

enum pxr_status oracle_stmatrix(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    enum pxr_status status = find_row(thread, inst, 0, ORACLE_STORE);
    return status != PXR_OK ? status : oracle_meet_warp(thread, inst, finish_stmatrix);
}
