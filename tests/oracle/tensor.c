/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies of tensors (PTX ISA, "Tensors", "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor") and
 * "tensormap.replace": element by element, each with its coordinates. What a tensor map looks like
 * is ours to choose (kernel_abi/tensor_map.h); what it means is worked out here anew.
 */
#include <string.h>

#include "kernel_abi/tensor_map.h"
#include "tests/oracle/dispatch.h"
#include "tests/oracle/machine.h"
#include "tests/oracle/softfloat.h"

#define SHARED_ALIGN 128
#define MAP_ALIGN    64
#define LINE         128 /* bytes of shared memory: eight cells of 16 */

/* A copy. One cell is what has coordinates of its own: an element, sixteen packed ones, or a slice
 * of an interleaved layout. */
struct box {
    struct oracle_thread *thread;
    const struct ptx_inst *inst;
    struct rt_tensor_map map;
    int64_t start[5];
    uint32_t offsets[3];
    bool is_load;
    bool is_reduction;
    uint32_t cell_elements;
    uint32_t cell_global; /* bytes */
    uint32_t cell_shared;
    uint64_t shared;
    uint32_t done; /* bytes of shared memory */
    enum pxr_status status;
};

static bool has(const struct ptx_inst *inst, enum ptx_mod word)
{
    return ptx_inst_has_word(inst, word);
}

static bool is_wide(const struct ptx_inst *inst)
{
    return has(inst, PTX_MOD_IM2COL_W) || has(inst, PTX_MOD_IM2COL_W_128);
}

static bool is_im2col(const struct ptx_inst *inst)
{
    return has(inst, PTX_MOD_IM2COL) || has(inst, PTX_MOD_IM2COL_NO_OFFS) || is_wide(inst);
}

static bool has_four_rows(const struct ptx_inst *inst)
{
    return has(inst, PTX_MOD_TILE_GATHER4) || has(inst, PTX_MOD_TILE_SCATTER4);
}

static uint32_t rank_of(const struct ptx_inst *inst)
{
    return has(inst, PTX_MOD_1D)   ? 1
           : has(inst, PTX_MOD_2D) ? 2
           : has(inst, PTX_MOD_3D) ? 3
           : has(inst, PTX_MOD_4D) ? 4
                                   : 5;
}

/* ---- types ---- */

/* The driver's types by size; of integers and floats. */
static uint32_t type_bits(uint32_t type)
{
    static const uint8_t bits[] = {8, 16, 32, 32, 64, 64, 16, 32, 32, 64, 16, 32, 32, 4, 4, 6};

    return bits[type];
}

static enum ptx_type value_type(uint32_t type)
{
    static const enum ptx_type types[] = {
        PTX_TYPE_NONE, PTX_TYPE_NONE, PTX_TYPE_U32,  PTX_TYPE_S32,  PTX_TYPE_U64,  PTX_TYPE_S64,
        PTX_TYPE_F16,  PTX_TYPE_F32,  PTX_TYPE_F32,  PTX_TYPE_F64,  PTX_TYPE_BF16, PTX_TYPE_F32,
        PTX_TYPE_F32,  PTX_TYPE_NONE, PTX_TYPE_NONE, PTX_TYPE_NONE,
    };

    return types[type];
}

/* "Sub-byte types": .b4x16 has no padding, .b4x16_p64 and .b6x16_p32 fill 16 bytes. */
static void set_cell(struct box *box)
{
    uint32_t slice = box->map.interleave == RT_TENSOR_INTERLEAVE_16B ? 16 : 32;

    box->cell_elements = 1;
    box->cell_global = box->cell_shared = type_bits(box->map.type) / 8;
    if (box->map.interleave != RT_TENSOR_INTERLEAVE_NONE) {
        box->cell_global = box->cell_shared = slice;
    } else if (box->map.type == RT_TENSOR_B4X16) {
        box->cell_elements = 2;
        box->cell_global = box->cell_shared = 1;
    } else if (type_bits(box->map.type) < 8) {
        box->cell_elements = 16;
        box->cell_global = 2 * type_bits(box->map.type);
        box->cell_shared = 16;
    }
}

/* ---- swizzles ---- */

/* Which 16-byte cell of its 128-byte line a cell goes to: the tables of "Swizzling Modes". */
static uint32_t swizzled_cell(const struct rt_tensor_map *map, uint32_t line, uint32_t cell)
{
    switch (map->swizzle) {
    case RT_TENSOR_SWIZZLE_32B:
    case RT_TENSOR_SWIZZLE_96B: /* 1 0 3 2 5 4 7 6 in every other line */
        return line % 2 == 1 ? cell ^ 1 : cell;
    case RT_TENSOR_SWIZZLE_64B: /* lines 0 … 3: cells of each four exchanged */
        return cell / 4 * 4 + (cell % 4 ^ line % 4);
    case RT_TENSOR_SWIZZLE_128B:
        if (map->atomicity == RT_TENSOR_ATOMICITY_16B)
            return cell ^ line % 8;
        if (map->atomicity == RT_TENSOR_ATOMICITY_64B) /* 4 5 6 7 0 1 2 3 in every other line */
            return line % 2 == 1 ? (cell + 4) % 8 : cell;
        return ((cell / 2) ^ line % 4) * 2 + cell % 2; /* pairs of cells */
    default:
        return cell;
    }
}

/* Where a byte of the box, counted without swizzle, lies in shared memory. */
static uint64_t shared_address(const struct box *box, uint32_t offset)
{
    uint64_t address = box->shared + offset;
    uint32_t line = (uint32_t)(address / LINE);
    uint32_t byte = (uint32_t)(address % 16);

    if (box->map.atomicity == RT_TENSOR_ATOMICITY_32B_FLIP_8B && line % 2 == 1)
        byte = (byte + 8) % 16;
    return address / LINE * LINE +
           16 * swizzled_cell(&box->map, line, (uint32_t)(address % LINE / 16)) + byte;
}

static uint8_t *shared_byte(struct box *box, uint32_t offset, enum oracle_access access)
{
    uint8_t *host = NULL;

    if (box->status == PXR_OK)
        box->status = oracle_resolve(box->thread, box->inst, PTX_SPACE_SHARED,
                                     shared_address(box, offset), 1, access, &host, NULL);
    return host;
}

/* ---- cells ---- */

/* "float32_ftz": subnormals are flushed; "tf32": rounded to nearest even. */
static uint64_t converted(uint32_t type, uint64_t bits)
{
    const struct oracle_format *tf32 = oracle_format(PTX_TYPE_TF32);
    uint64_t exponent = bits >> 23 & 0xff;

    if (type == RT_TENSOR_F32_FTZ || type == RT_TENSOR_TF32_FTZ)
        bits = exponent == 0 ? bits & 0x80000000 : bits;
    if (type != RT_TENSOR_TF32 && type != RT_TENSOR_TF32_FTZ)
        return bits;
    if (exponent == 0xff && (bits & 0x7fffff) != 0)
        return 0x7fffffff;
    return oracle_pack(tf32, oracle_unpack(oracle_format(PTX_TYPE_F32), bits),
                       ORACLE_ROUND_NEAREST_EVEN);
}

static void load_cell(struct box *box, const uint8_t *global)
{
    uint8_t bytes[32];

    for (uint32_t i = 0; i < box->cell_global; i++)
        bytes[i] = global != NULL                         ? global[i]
                   : box->map.fill == RT_TENSOR_FILL_ZERO ? 0
                   : (box->done + i) % 2 == 0             ? 0xf7
                                                          : 0x7f;
    for (uint32_t i = 0; global != NULL && type_bits(box->map.type) == 32 && i < box->cell_global;
         i += 4) {
        uint32_t word;

        memcpy(&word, bytes + i, 4);
        word = (uint32_t)converted(box->map.type, word);
        memcpy(bytes + i, &word, 4);
    }
    for (uint32_t i = 0; i < box->cell_global; i++) {
        uint8_t *to = shared_byte(box, box->done + i, ORACLE_STORE);

        if (to != NULL)
            *to = bytes[i];
    }
}

static void read_shared(struct box *box, uint8_t bytes[32])
{
    memset(bytes, 0, 32);
    for (uint32_t i = 0; i < box->cell_shared; i++) {
        const uint8_t *from = shared_byte(box, box->done + i, ORACLE_LOAD);

        if (from != NULL)
            bytes[i] = *from;
    }
}

/* ".b6p2x16: discarding the 2 bits of padding and packing the 6 bits contiguously" */
static void pack(uint8_t bytes[32])
{
    uint8_t packed[32] = {0};

    for (uint32_t bit = 0; bit < 96; bit++)
        if (bytes[bit / 6] >> bit % 6 & 1)
            packed[bit / 8] |= (uint8_t)(1 << bit % 8);
    memcpy(bytes, packed, 32);
}

static void reduce_cell(struct box *box, const uint8_t *bytes, uint8_t *global)
{
    enum ptx_type type = value_type(box->map.type);
    uint32_t size = type_bits(box->map.type) / 8;

    for (uint32_t i = 0; i < box->cell_global; i += size) {
        union oracle_value old = {0};
        union oracle_value value = {0};

        memcpy(&old, global + i, size);
        memcpy(&value, bytes + i, size);
        old = oracle_combine(ptx_inst_mod(box->inst, PTX_GROUP_ATOMOP), type, old, value,
                             (union oracle_value){0}, false);
        memcpy(global + i, &old, size);
    }
}

/* The cell at these coordinates, or NULL outside of the tensor. */
static uint8_t *global_cell(struct box *box, const int64_t at[5])
{
    const struct rt_tensor_map *map = &box->map;
    uint64_t address = map->address;
    uint8_t *host = NULL;

    for (uint32_t i = 0; i < map->rank; i++) {
        int64_t size = (int64_t)map->last[i] + 1;
        uint64_t stride = i == 0 ? box->cell_global : map->strides[i - 1];

        if (i == 0)
            size /= box->cell_elements;
        if (at[i] < 0 || at[i] >= size)
            return NULL;
        address += (uint64_t)at[i] * stride;
    }
    for (uint32_t i = 0; i < box->cell_global && box->status == PXR_OK; i++) {
        uint8_t *byte = NULL;

        box->status = oracle_resolve(box->thread, box->inst, PTX_SPACE_GLOBAL, address + i, 1,
                                     box->is_load ? ORACLE_LOAD : ORACLE_STORE, &byte, NULL);
        if (i == 0)
            host = byte;
    }
    return box->status == PXR_OK ? host : NULL;
}

static void do_cell(struct box *box, const int64_t at[5])
{
    uint8_t *global = global_cell(box, at);
    uint8_t bytes[32];

    if (box->status != PXR_OK)
        return;
    if (box->is_load) {
        load_cell(box, global);
    } else if (global != NULL) {
        read_shared(box, bytes);
        if (box->map.type == RT_TENSOR_B6X16)
            pack(bytes);
        if (box->is_reduction && box->status == PXR_OK)
            reduce_cell(box, bytes, global);
        else if (box->status == PXR_OK)
            memcpy(global, bytes, box->cell_global);
    }
    box->done += box->cell_shared;
}

/* ---- tiles ---- */

/* "The traversal stride in dimension 0 can be used for the interleave layout"; "ceil(boxDim /
 * elementStride) elements along a dimension". */
static void do_tile(struct box *box, const int64_t start[5])
{
    int64_t count[5] = {1, 1, 1, 1, 1};
    int64_t step[5] = {1, 1, 1, 1, 1};

    for (uint32_t i = 0; i < box->map.rank; i++) {
        if (i > 0 || box->map.interleave != RT_TENSOR_INTERLEAVE_NONE)
            step[i] = box->map.steps[i];
        count[i] = (box->map.box[i] / (i == 0 ? box->cell_elements : 1) + step[i] - 1) / step[i];
    }
    for (int64_t n = 0; n < count[0] * count[1] * count[2] * count[3] * count[4]; n++) {
        int64_t rest = n;
        int64_t at[5];

        for (uint32_t i = 0; i < 5; i++) {
            at[i] = start[i] + rest % count[i] * step[i];
            rest /= count[i];
        }
        do_cell(box, at);
    }
}

/* "Four request coordinates will form four Bounding Boxes." */
static void do_four_rows(struct box *box)
{
    for (uint32_t i = 0; i < 4; i++) {
        int64_t start[5] = {box->start[0], box->start[1 + i]};

        do_tile(box, start);
    }
}

/* ---- im2col ---- */

/* A pixel: its channels, or, interleaved, one slice of them. */
static void do_pixel(struct box *box, const int64_t pixel[5], const uint32_t offsets[3])
{
    bool is_interleaved = box->map.interleave != RT_TENSOR_INTERLEAVE_NONE;
    uint32_t first = is_interleaved ? 0 : 1;
    uint32_t cells = is_interleaved ? 1 : box->map.channels / box->cell_elements;
    int64_t at[5];

    memcpy(at, pixel, sizeof at);
    for (uint32_t i = 0; i + 2 < box->map.rank; i++)
        at[first + i] += offsets[i];
    for (uint32_t i = 0; i < cells; i++) {
        do_cell(box, at);
        at[0]++;
    }
}

/* The n-th pixel behind the first: W, then H, then D go round in the bounding box, then comes the
 * next image. */
static void find_pixel(const struct box *box, const int64_t start[5], uint32_t n, uint32_t shift,
                       int64_t pixel[5])
{
    const struct rt_tensor_map *map = &box->map;
    uint32_t first = map->interleave != RT_TENSOR_INTERLEAVE_NONE ? 0 : 1;
    uint32_t turning = is_wide(box->inst) ? 1 : map->rank - 2;

    memcpy(pixel, start, 5 * sizeof *pixel);
    while (n-- > 0) {
        uint32_t i = 0;

        while (i < turning) {
            int64_t upper = (int64_t)map->last[first + i] + map->upper[i] + shift;

            if (pixel[first + i] + map->steps[first + i] <= upper) {
                pixel[first + i] += map->steps[first + i];
                break;
            }
            pixel[first + i] = (int64_t)map->lower[i] + shift;
            i++;
        }
        if (i == turning)
            pixel[map->rank - 1]++;
    }
}

static void do_im2col(struct box *box)
{
    uint32_t channel_bytes = box->map.channels * type_bits(box->map.type) / 8;
    bool is_interleaved = box->map.interleave != RT_TENSOR_INTERLEAVE_NONE;
    uint32_t slices =
        is_interleaved ? (channel_bytes + box->cell_shared - 1) / box->cell_shared : 1;

    for (uint32_t slice = 0; slice < slices; slice++)
        for (uint32_t n = 0; n < box->map.pixels; n++) {
            int64_t pixel[5];

            find_pixel(box, box->start, n, 0, pixel);
            if (is_interleaved)
                pixel[box->map.rank - 2] += slice;
            do_pixel(box, pixel, box->offsets);
        }
}

/* "W += wOffset", as the corners; "the halo elements are loaded after every 32 elements", or behind
 * the last. */
static void do_wide(struct box *box)
{
    static const uint32_t none[3];
    bool is_fixed = has(box->inst, PTX_MOD_IM2COL_W_128);
    uint32_t pixels = is_fixed ? 128 : box->map.pixels;
    uint32_t every = is_fixed ? 32 : pixels;
    uint32_t halo = box->offsets[0];
    int64_t start[5];

    memcpy(start, box->start, sizeof start);
    start[1] += box->offsets[1];
    for (uint32_t n = 0; n < pixels; n++) {
        int64_t pixel[5];

        find_pixel(box, start, n, box->offsets[1], pixel);
        do_pixel(box, pixel, none);
        for (uint32_t i = 1; (n + 1) % every == 0 && i <= halo; i++) {
            pixel[1] += box->map.steps[1];
            do_pixel(box, pixel, none);
        }
    }
}

/* ---- what must hold ---- */

static bool has_types_of(enum ptx_mod op, uint32_t type)
{
    bool is_whole = type >= RT_TENSOR_U32 && type <= RT_TENSOR_S64;

    switch (op) {
    case PTX_MOD_ADD:
        return value_type(type) != PTX_TYPE_NONE;
    case PTX_MOD_MIN:
    case PTX_MOD_MAX:
        return is_whole || type == RT_TENSOR_F16 || type == RT_TENSOR_BF16;
    case PTX_MOD_INC:
    case PTX_MOD_DEC:
        return type == RT_TENSOR_U32;
    default:
        return is_whole;
    }
}

static bool has_mode(const struct box *box)
{
    uint32_t mode = has(box->inst, PTX_MOD_IM2COL_W)       ? RT_TENSOR_IM2COL_W
                    : has(box->inst, PTX_MOD_IM2COL_W_128) ? RT_TENSOR_IM2COL_W128
                    : is_im2col(box->inst)                 ? RT_TENSOR_IM2COL
                                                           : RT_TENSOR_TILE;

    return box->map.mode == mode && box->map.rank == rank_of(box->inst);
}

/* Only `is_load` has the flip and .b4x16_p64; only stores have 64-byte atomicity of 6-bit types. */
static bool has_direction(const struct box *box)
{
    const struct rt_tensor_map *map = &box->map;

    if (box->is_load)
        return map->type != RT_TENSOR_B6X16 || map->atomicity != RT_TENSOR_ATOMICITY_64B;
    return map->type != RT_TENSOR_B4X16_P64 && map->atomicity != RT_TENSOR_ATOMICITY_32B_FLIP_8B;
}

static bool is_allowed(const struct box *box)
{
    const struct rt_tensor_map *map = &box->map;

    if (!rt_tensor_map_is_valid(map) || !has_mode(box) || !has_direction(box))
        return false;
    if (has_four_rows(box->inst) &&
        (map->box[1] != 1 || map->interleave != RT_TENSOR_INTERLEAVE_NONE))
        return false;
    return !box->is_reduction || has_types_of(ptx_inst_mod(box->inst, PTX_GROUP_ATOMOP), map->type);
}

/* ---- instructions ---- */

static void read_elements(struct oracle_thread *thread, const struct ptx_operand *operand,
                          int64_t values[5], enum ptx_type type)
{
    unsigned count = oracle_elem_count(operand);

    for (unsigned i = 0; i < count && i < 5; i++)
        values[i] = oracle_signed(oracle_read_elem(thread, operand, i, type), type);
}

static enum pxr_status read_map(struct box *box, uint64_t address)
{
    if (address % MAP_ALIGN != 0)
        return oracle_fail(box->thread, box->inst, PXR_FAULT_MISALIGNED, "a map at 0x%llx",
                           (unsigned long long)address);
    for (uint32_t i = 0; i < sizeof box->map; i += MAP_ALIGN) {
        uint8_t *host;
        enum pxr_status status = oracle_resolve(box->thread, box->inst, PTX_SPACE_NONE, address + i,
                                                MAP_ALIGN, ORACLE_LOAD, &host, NULL);

        if (status != PXR_OK)
            return status;
        memcpy((uint8_t *)&box->map + i, host, MAP_ALIGN);
    }
    return PXR_OK;
}

/* place: the operand with the map and the coordinates; offsets: that of im2col, if any. */
static enum pxr_status begin(struct box *box, const struct ptx_operand *place,
                             const struct ptx_operand *offsets)
{
    enum pxr_status status = read_map(box, oracle_address_of(box->thread, place));
    int64_t values[5] = {0};

    if (status != PXR_OK)
        return status;
    if (!is_allowed(box))
        return oracle_fail(box->thread, box->inst, PXR_FAULT_INSTRUCTION,
                           "not a map for this instruction");
    set_cell(box);
    read_elements(box->thread, &place->elems[1], box->start, PTX_TYPE_S32);
    while (box->start[0] % (int64_t)box->cell_elements != 0)
        box->start[0]--;
    box->start[0] /= (int64_t)box->cell_elements;
    if (offsets != NULL)
        read_elements(box->thread, offsets, values, PTX_TYPE_U16);
    for (unsigned i = 0; i < 3; i++)
        box->offsets[i] = (uint32_t)values[i];
    return PXR_OK;
}

static enum pxr_status run(struct box *box)
{
    if (box->shared % SHARED_ALIGN != 0)
        return oracle_fail(box->thread, box->inst, PXR_FAULT_MISALIGNED, "0x%llx",
                           (unsigned long long)box->shared);
    if (is_wide(box->inst))
        do_wide(box);
    else if (is_im2col(box->inst))
        do_im2col(box);
    else if (has_four_rows(box->inst))
        do_four_rows(box);
    else
        do_tile(box, box->start);
    return box->status;
}

enum pxr_status oracle_tensor_load(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    bool has_offsets = is_im2col(inst);
    struct box box = {.thread = thread, .inst = inst, .is_load = true};
    enum pxr_status status =
        begin(&box, &inst->operands[1], has_offsets ? &inst->operands[3] : NULL);
    uint32_t blocks = 1;

    box.shared = oracle_address_of(thread, &inst->operands[0]);
    if (has(inst, PTX_MOD_MULTICAST_CLUSTER))
        blocks = oracle_read(thread, inst, has_offsets ? 4 : 3, PTX_TYPE_B16).u16;
    if (status == PXR_OK && blocks > 1)
        status = oracle_fail(thread, inst, PXR_FAULT_INSTRUCTION, "blocks 0x%x of one", blocks);
    if (status == PXR_OK && blocks == 1)
        status = run(&box);
    if (status != PXR_OK)
        return status;
    return oracle_complete_tx(thread, inst, 2, PTX_SPACE_SHARED, box.done);
}

enum pxr_status oracle_tensor_store(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    struct box box = {.thread = thread, .inst = inst};
    enum pxr_status status;

    box.is_reduction = ptx_inst_has(inst, PTX_GROUP_ATOMOP);
    status = begin(&box, &inst->operands[0], NULL);
    box.shared = oracle_address_of(thread, &inst->operands[1]);
    return status == PXR_OK ? run(&box) : status;
}

enum pxr_status oracle_tensor_reduce(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return oracle_tensor_store(thread, inst);
}

enum pxr_status oracle_tensor_prefetch(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    struct box box = {.thread = thread, .inst = inst, .is_load = true};

    return begin(&box, &inst->operands[0], is_im2col(inst) ? &inst->operands[1] : NULL);
}

/* ---- tensormap ---- */

/* The map as the program sees it; align: at most its size. */
static enum pxr_status find_map(struct oracle_thread *thread, const struct ptx_inst *inst,
                                unsigned operand, unsigned align, enum ptx_space space,
                                enum oracle_access access, uint8_t **host)
{
    uint64_t address = oracle_address_of(thread, &inst->operands[operand]);

    return oracle_resolve(thread, inst, space, address, align, access, host, NULL);
}

static uint8_t narrow(uint64_t value)
{
    return value > 255 ? 255 : (uint8_t)value;
}

static void replace(struct rt_tensor_map *map, const struct ptx_inst *inst, uint64_t ordinal,
                    uint64_t value)
{
    uint32_t low = (uint32_t)value;

    if (has(inst, PTX_MOD_GLOBAL_ADDRESS))
        map->address = value;
    else if (has(inst, PTX_MOD_RANK)) /* "one less than the desired tensor rank" */
        map->rank = narrow((uint64_t)low + 1);
    else if (has(inst, PTX_MOD_BOX_DIM))
        map->box[ordinal] = low;
    else if (has(inst, PTX_MOD_GLOBAL_DIM))
        map->last[ordinal] = low - 1;
    else if (has(inst, PTX_MOD_GLOBAL_STRIDE))
        map->strides[ordinal] = value;
    else if (has(inst, PTX_MOD_ELEMENT_STRIDE))
        map->steps[ordinal] = narrow(low);
    else if (has(inst, PTX_MOD_ELEMTYPE))
        map->type = narrow(low);
    else if (has(inst, PTX_MOD_INTERLEAVE_LAYOUT))
        map->interleave = narrow(low);
    else if (has(inst, PTX_MOD_SWIZZLE_MODE))
        map->swizzle = narrow(low);
    else if (has(inst, PTX_MOD_SWIZZLE_ATOMICITY))
        map->atomicity = narrow(low);
    else
        map->fill = narrow(low);
}

enum pxr_status oracle_tensormap_replace(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    bool is_long = inst->types[1] == PTX_TYPE_B64;
    unsigned last = inst->operand_count - 1;
    uint64_t value = oracle_read(thread, inst, last, is_long ? PTX_TYPE_B64 : PTX_TYPE_B32).u64;
    uint64_t ordinal = last == 2 ? inst->operands[1].bits : 0;
    struct rt_tensor_map map;
    uint8_t *host;
    enum pxr_status status =
        find_map(thread, inst, 0, MAP_ALIGN, ptx_inst_space(inst), ORACLE_STORE, &host);

    if (status != PXR_OK)
        return status;
    memcpy(&map, host, sizeof map);
    if (map.mark != RT_TENSOR_MAP_MARK)
        return oracle_fail(thread, inst, PXR_FAULT_INSTRUCTION, "no map");
    replace(&map, inst, ordinal, value);
    memcpy(host, &map, sizeof map);
    return PXR_OK;
}

static void finish_nothing(struct oracle_thread *thread, uint32_t lanes)
{
    (void)thread;
    (void)lanes;
}

/* "All threads in the warp must execute the same instruction." */
enum pxr_status oracle_tensormap_copy(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    uint8_t *to;
    uint8_t *from;
    enum pxr_status status =
        find_map(thread, inst, 0, RT_TENSOR_MAP_BYTES, PTX_SPACE_GLOBAL, ORACLE_STORE, &to);

    if (status == PXR_OK)
        status =
            find_map(thread, inst, 1, RT_TENSOR_MAP_BYTES, PTX_SPACE_SHARED, ORACLE_LOAD, &from);
    if (status != PXR_OK)
        return status;
    memcpy(to, from, RT_TENSOR_MAP_BYTES);
    return oracle_meet_lanes(thread, inst, UINT32_MAX, finish_nothing);
}
