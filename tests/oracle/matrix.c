/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of matrices. Which lane has which element is in ptx/matrix.def.
 *
 * PTX ISA, "mma": "D = A*B+C"; the order of operations and the precision of what is between are not
 * specified. Here (docs/hardware.md): for each element of D, floats begin with C and add the
 * products in the order of k, each rounded once to f32, or f64 with the instruction's rounding; f16
 * results are rounded once more. Integers are exact, then wrapped, or clamped with .satfinite. NaNs
 * are canonical.
 */
#include <math.h>
#include <string.h>

#include "tests/oracle/dispatch.h"
#include "tests/oracle/matrix.h"
#include "tests/oracle/softfloat.h"

/* ---- elements ---- */

/* The bits of a cell of the matrix that `lane` takes part in. */
static uint64_t read_cell(struct oracle_thread *thread, unsigned operand,
                          const struct ptx_fragment *fragment, struct ptx_cell cell)
{
    struct ptx_slot place = ptx_slot_of(fragment, cell, thread->lane);
    struct oracle_thread *other = oracle_thread_of(thread->block, thread->warp, place.lane);
    unsigned number = place.element / oracle_in_register(fragment);
    uint64_t word = oracle_read_elem(other, &other->wait_inst->operands[operand], number,
                                     oracle_register_type(fragment))
                        .u64;
    return word >> (place.element % oracle_in_register(fragment) * fragment->bits);
}

/* PTX ISA, "Alternate Floating-Point Data Formats" and "mma": the low 13 bits of tf32 are ignored;
 * e2m1 in a byte has two bits below and above it. */
static float number_of(const struct ptx_fragment *fragment, uint64_t bits)
{
    bool is_in_byte = fragment->bits == 8 && ptx_type_bits(fragment->type) == 4;
    const struct oracle_format *format = oracle_format(fragment->type);
    uint64_t mask = (UINT64_C(1) << ptx_type_bits(fragment->type)) - 1;
    bits = (is_in_byte ? bits >> 2 : bits) & mask;
    bits = bits >> format->padding_bits << format->padding_bits;
    uint64_t single = oracle_pack(oracle_format(PTX_TYPE_F32), oracle_unpack(format, bits),
                                  ORACLE_ROUND_NEAREST_EVEN);
    return (union oracle_value){.u64 = single}.f32;
}

static int64_t integer_of(const struct ptx_fragment *fragment, uint64_t bits)
{
    unsigned shift = 64 - fragment->bits;
    return ptx_type_is_signed(fragment->type) ? (int64_t)(bits << shift) >> shift
                                              : (int64_t)(bits << shift >> shift);
}

/* ---- products ---- */

struct product {
    struct oracle_thread *thread; /* whose element it is */
    struct ptx_matrices matrices;
    struct ptx_cell cell; /* of D */
    unsigned metadata;    /* number of the operand */
    unsigned group;       /* of eight columns of D: wgmma; its D is also C */
    bool is_wgmma;
    struct oracle_wgmma wgmma; /* the thread's */
};

/* Bits of a cell of a matrix of wgmma in shared memory; the thread has found that it is there. */
static uint64_t read_shared(const struct product *product, bool is_b, unsigned line, unsigned k)
{
    uint64_t element = 0;
    oracle_shared_element(product->thread, product->thread->wait_inst,
                          &product->wgmma.in_memory[is_b], line, k, &element);
    return element;
}

/* ---- sparse matrices ---- */

/* The two bits of metadata in this column, which the lanes of every four that the sparsity selector
 * names have. */
static unsigned metadata_of(const struct product *product, unsigned column)
{
    const struct ptx_fragment *metadata = &product->matrices.metadata;
    struct oracle_thread *thread = product->thread;
    uint64_t selector = thread->wait_inst->operands[product->metadata + 1].bits;
    unsigned lane = ptx_lane_of_choice(metadata, (unsigned)selector);
    struct ptx_slot place =
        ptx_slot_of(metadata, (struct ptx_cell){product->cell.row, column}, lane);
    struct oracle_thread *other = oracle_thread_of(thread->block, thread->warp, place.lane);
    return oracle_read(other, other->wait_inst, product->metadata, PTX_TYPE_B32).u32 >>
               place.element * 2 &
           3;
}

/* PTX ISA, "Sparse matrix storage": of tf32, one of two is stored, and 4 bits say which; of others,
 * two of four, with 2 bits for each; of numbers of 4 bits, two pairs of four pairs. */
static bool find_stored(const struct product *product, unsigned k, unsigned *column)
{
    unsigned bits = product->matrices.a.bits;
    unsigned together = bits == 4 ? 2 : 1;
    unsigned number = k / together;
    if (bits == 32) {
        *column = k / 2;
        unsigned index = metadata_of(product, k / 2 * 2) | metadata_of(product, k / 2 * 2 + 1) << 2;
        return index == (k % 2 == 0 ? 0x4 : 0xe);
    }
    for (unsigned i = number / 4 * 2; i < number / 4 * 2 + 2; i++) {
        *column = i * together + k % together;
        if (metadata_of(product, i) == number % 4)
            return true;
    }
    return false;
}

/* A's element in the column k; false: it is one of those that are not stored. */
static bool a_of(const struct product *product, unsigned k, uint64_t *element)
{
    unsigned column = k;
    if (product->matrices.metadata.row != NULL && !find_stored(product, k, &column))
        return false;
    if (product->is_wgmma && product->wgmma.has_descriptor)
        *element =
            read_shared(product, false, product->wgmma.first_row + product->cell.row, column);
    else
        *element = read_cell(product->thread, 1, &product->matrices.a,
                             (struct ptx_cell){product->cell.row, column});
    return true;
}

static uint64_t b_of(const struct product *product, unsigned k)
{
    if (product->is_wgmma)
        return read_shared(product, true, product->group * 8 + product->cell.column, k);
    return read_cell(product->thread, 2, &product->matrices.b,
                     (struct ptx_cell){k, product->cell.column});
}

static uint64_t c_of(const struct product *product)
{
    const struct ptx_fragment *c = &product->matrices.c;
    if (!product->is_wgmma)
        return read_cell(product->thread, 3, c, product->cell);
    struct oracle_thread *thread = product->thread;
    unsigned element = ptx_slot_of(c, product->cell, thread->lane).element;
    unsigned number = product->group * ptx_fragment_registers(c) + element / oracle_in_register(c);
    if (!product->wgmma.has_c)
        return 0;
    return oracle_read_elem(thread, &thread->wait_inst->operands[0], number, PTX_TYPE_B32).u32 >>
           element % oracle_in_register(c) * c->bits;
}

/* wmma up to PTX 6.4: "the output is clamped to the largest finite numbers, NaN becomes 0". */
static uint64_t clamp_finite(const struct oracle_format *format, uint64_t bits)
{
    uint64_t sign = bits & oracle_sign_bit(format);
    if (oracle_is_nan(format, bits))
        return 0;
    return (bits ^ sign) == oracle_infinity(format) ? sign | oracle_largest(format) : bits;
}

static uint64_t float_bits(const struct product *product, float sum)
{
    const struct oracle_format *format = oracle_format(product->matrices.d.type);
    uint64_t single = (union oracle_value){.f32 = sum}.u32;
    uint64_t bits = oracle_pack(format, oracle_unpack(oracle_format(PTX_TYPE_F32), single),
                                ORACLE_ROUND_NEAREST_EVEN);
    if (ptx_inst_has(product->thread->wait_inst, PTX_GROUP_SATFINITE))
        return clamp_finite(format, bits);
    return oracle_is_nan(format, bits) ? format->canonical_nan : bits;
}

/* A product that is added to the sum; elements that are not stored are not multiplied. */
static float add_product(const struct product *product, unsigned k, float sum)
{
    const struct ptx_matrices *matrices = &product->matrices;
    uint64_t a;
    if (!a_of(product, k, &a))
        return sum;
    float factor = number_of(&matrices->a, a);
    if (product->is_wgmma)
        factor *= product->wgmma.sign;
    return fmaf(factor, number_of(&matrices->b, b_of(product, k)), sum);
}

/* The operands from `operand` on are scale-data and {byte-id, thread-id}: the lanes of every four
 * that thread-id names have the scales that count, from byte-id on. */
static float scale_of(const struct product *product, unsigned operand,
                      const struct ptx_fragment *fragment, struct ptx_cell cell)
{
    struct oracle_thread *thread = product->thread;
    const struct ptx_operand *ids = &thread->wait_inst->operands[operand + 1];
    unsigned byte = oracle_read_elem(thread, ids, 0, PTX_TYPE_U16).u16;
    unsigned chosen = oracle_read_elem(thread, ids, 1, PTX_TYPE_U16).u16;
    struct ptx_slot place = ptx_slot_of(fragment, cell, ptx_lane_of_choice(fragment, chosen));
    struct oracle_thread *other = oracle_thread_of(thread->block, thread->warp, place.lane);
    uint32_t word = oracle_read(other, other->wait_inst, operand, PTX_TYPE_B32).u32;
    uint8_t bits = (uint8_t)(word >> (byte + place.element) % 4 * 8);
    struct ptx_fragment number = {.type = PTX_TYPE_E4M3, .bits = 8};
    if (fragment->type == PTX_TYPE_UE8M0)
        return bits == 0xff ? NAN : ldexpf(1, bits - 127);
    return number_of(&number, bits & 0x7f);
}

/* Each block of k has a sum that begins with 0; it is multiplied by A's scale, and added together
 * with B's scale as a factor. */
static float scaled_sum(const struct product *product, float sum)
{
    const struct ptx_matrices *matrices = &product->matrices;
    unsigned length = matrices->k / matrices->blocks;
    unsigned operand = matrices->metadata.row != NULL ? 6 : 4;
    for (unsigned block = 0; block < matrices->blocks; block++) {
        float part = 0;
        for (unsigned k = block * length; k < (block + 1) * length; k++)
            part = add_product(product, k, part);
        volatile float scaled = part * scale_of(product, operand, &matrices->scale_a,
                                                (struct ptx_cell){product->cell.row, block});
        sum = fmaf(scaled,
                   scale_of(product, operand + 2, &matrices->scale_b,
                            (struct ptx_cell){block, product->cell.column}),
                   sum);
    }
    return sum;
}

static uint64_t float_sum(const struct product *product)
{
    const struct ptx_matrices *matrices = &product->matrices;
    float sum = number_of(&matrices->c, c_of(product));
    if (matrices->blocks != 0)
        return float_bits(product, scaled_sum(product, sum));
    for (unsigned k = 0; k < matrices->k; k++)
        sum = add_product(product, k, sum);
    return float_bits(product, sum);
}

static uint64_t double_sum(const struct product *product)
{
    enum oracle_round round = oracle_rounding(product->thread->wait_inst);
    const struct oracle_format *format = oracle_format(PTX_TYPE_F64);
    uint64_t sum = c_of(product);
    uint64_t a;
    for (unsigned k = 0; k < product->matrices.k; k++)
        if (a_of(product, k, &a))
            sum = oracle_operate(format, ORACLE_OP_FMA, round, a, b_of(product, k), sum);
    return oracle_is_nan(format, sum) ? UINT64_C(0xfff8000000000000) : sum;
}

static int64_t integer_product(const struct product *product, unsigned k)
{
    const struct ptx_matrices *matrices = &product->matrices;
    uint64_t a;
    uint64_t b = b_of(product, k);
    if (!a_of(product, k, &a))
        return 0;
    if (matrices->a.bits > 1)
        return integer_of(&matrices->a, a) * integer_of(&matrices->b, b);
    bool is_and = ptx_inst_mod(product->thread->wait_inst, PTX_GROUP_ATOMOP) == PTX_MOD_AND;
    return (int64_t)((is_and ? a & b : a ^ b) & 1);
}

static uint64_t integer_sum(const struct product *product)
{
    int64_t sum = integer_of(&product->matrices.c, c_of(product));
    for (unsigned k = 0; k < product->matrices.k; k++)
        sum += integer_product(product, k);
    if (ptx_inst_has(product->thread->wait_inst, PTX_GROUP_SATFINITE)) {
        sum = sum > INT32_MAX ? INT32_MAX : sum;
        sum = sum < INT32_MIN ? INT32_MIN : sum;
    }
    return (uint32_t)sum;
}

static uint64_t element_of_d(const struct product *product)
{
    if (product->matrices.d.type == PTX_TYPE_F64)
        return double_sum(product);
    return ptx_type_is_float(product->matrices.d.type) ? float_sum(product) : integer_sum(product);
}

/* Registers of D, of one lane. */
static void compute_lane(struct product *product, uint64_t *registers)
{
    const struct ptx_fragment *d = &product->matrices.d;
    for (unsigned i = 0; i < d->elements; i++) {
        struct ptx_slot place = {product->thread->lane, i};
        product->cell = ptx_cell_of(d, place);
        registers[i / oracle_in_register(d)] |= element_of_d(product)
                                                << (i % oracle_in_register(d) * d->bits);
    }
}

/* D, or its group of columns. */
static void compute_warp(struct product *product, uint32_t lanes)
{
    uint64_t results[ORACLE_WARP_SIZE][8] = {0};
    struct oracle_thread *thread = product->thread;
    const struct ptx_fragment *d = &product->matrices.d;
    unsigned first = product->group * ptx_fragment_registers(d);
    for (unsigned lane = 0; lane < ORACLE_WARP_SIZE; lane++) {
        product->thread = oracle_thread_of(thread->block, thread->warp, lane);
        if (!(lanes >> lane & 1))
            continue;
        if (product->is_wgmma)
            product->wgmma = oracle_wgmma_operands(product->thread, product->thread->wait_inst);
        compute_lane(product, results[lane]);
    }
    for (unsigned lane = 0; lane < ORACLE_WARP_SIZE; lane++) {
        struct oracle_thread *other = oracle_thread_of(thread->block, thread->warp, lane);
        for (unsigned i = 0; (lanes >> lane & 1) && i < ptx_fragment_registers(d); i++)
            oracle_write_elem(other, &other->wait_inst->operands[0], first + i,
                              oracle_register_type(d),
                              (union oracle_value){.u64 = results[lane][i]});
    }
    product->thread = thread;
}

static void finish_mma(struct oracle_thread *thread, uint32_t lanes)
{
    struct product product = {.thread = thread, .metadata = 4};
    ptx_find_matrices(thread->wait_inst, &product.matrices);
    compute_warp(&product, lanes);
}

enum pxr_status oracle_mma(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return oracle_meet_warp(thread, inst, finish_mma);
}

/* ---- wgmma ---- */

static void finish_wgmma(struct oracle_thread *thread, uint32_t lanes)
{
    struct product product = {.thread = thread, .metadata = 3, .is_wgmma = true};
    ptx_find_matrices(thread->wait_inst, &product.matrices);
    for (; product.group < product.matrices.groups; product.group++)
        compute_warp(&product, lanes);
}

enum pxr_status oracle_wgmma(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    enum pxr_status status = oracle_wgmma_reach(thread, inst);
    return status != PXR_OK ? status : oracle_meet_warp(thread, inst, finish_wgmma);
}
