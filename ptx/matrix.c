/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx/matrix.h"

#include <stdio.h>
#include <string.h>

enum kind { KIND_MMA, KIND_SPARSE, KIND_METADATA, KIND_WMMA, KIND_MOVE, KIND_SCALE };
enum matrix { MATRIX_A, MATRIX_B, MATRIX_C, MATRIX_D };

#define PTX_MOD_ANY   PTX_MOD_NONE
#define METADATA_BITS 2
#define LANE_BITS     5
#define SHAPE_BYTES   16

struct row {
    enum kind kind;
    const char *shape;
    enum matrix matrix;
    enum ptx_mod order;
    const char *types;
    unsigned elements;
    const char *row;
    const char *column;
};

static const struct row rows[] = {
#define FRAGMENT(kind, shape, matrix, order, types, elements, row, column)                         \
    {KIND_##kind, shape, MATRIX_##matrix, PTX_MOD_##order, types, elements, row, column},
#include "ptx/matrix.def"
#undef FRAGMENT
};

/* ---- words of the instruction ---- */

static bool has_mod(const struct ptx_inst *inst, enum ptx_mod mod)
{
    for (unsigned i = 0; i < inst->mod_count; i++)
        if (inst->mods[i] == mod)
            return true;
    return false;
}

/* The n-th of .row and .col. */
static enum ptx_mod order_of(const struct ptx_inst *inst, unsigned n)
{
    for (unsigned i = 0; i < inst->mod_count; i++) {
        bool is_order = inst->mods[i] == PTX_MOD_ROW || inst->mods[i] == PTX_MOD_COL;
        if (is_order && n-- == 0)
            return inst->mods[i];
    }
    return PTX_MOD_NONE;
}

static const char *shape_of(const struct ptx_inst *inst, struct ptx_matrices *matrices)
{
    for (unsigned i = 0; i < inst->mod_count; i++) {
        const char *name = ptx_mod_table[inst->mods[i]].name;
        if (name != NULL &&
            sscanf(name, "m%un%uk%u", &matrices->m, &matrices->n, &matrices->k) >= 2)
            return name;
    }
    return NULL;
}

static unsigned count_of(const struct ptx_inst *inst)
{
    unsigned count = has_mod(inst, PTX_MOD_X2) ? 2 : 1;
    return has_mod(inst, PTX_MOD_X4) ? 4 : count;
}

/* Elements of 6 bits, and of 4 bits among them, take a byte. */
static unsigned bits_of(const struct ptx_inst *inst, enum ptx_type type)
{
    bool is_mixed = has_mod(inst, PTX_MOD_KIND_F8F6F4) || has_mod(inst, PTX_MOD_KIND_MXF8F6F4);
    unsigned bits = ptx_type_bits(type);
    return bits < 8 && bits > 1 && is_mixed ? 8 : bits;
}

static char letter_of(enum ptx_type type, unsigned bits)
{
    switch (bits) {
    case 64:
        return 'd';
    case 32:
        return 'w';
    case 16:
        return type == PTX_TYPE_F16 ? 'h' : 'b';
    default:
        return (char)('0' + bits);
    }
}

/* ---- finding ---- */

struct search {
    const struct ptx_inst *inst;
    enum kind kind;
    const char *shape;
};

static bool find(const struct search *search, enum matrix matrix, enum ptx_type type,
                 struct ptx_fragment *fragment)
{
    bool is_transposed = has_mod(search->inst, PTX_MOD_TRANS);
    enum ptx_mod order = is_transposed ? PTX_MOD_TRANS : order_of(search->inst, matrix);
    unsigned bits = bits_of(search->inst, type);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct row *row = &rows[i];
        if (row->kind != search->kind || row->matrix != matrix ||
            (row->order != PTX_MOD_ANY && row->order != order) ||
            strcmp(row->shape, search->shape) != 0 ||
            strchr(row->types, letter_of(type, bits)) == NULL)
            continue;
        *fragment = (struct ptx_fragment){type, bits, row->elements, row->row, row->column};
        return true;
    }
    return false;
}

/* The types of D, A, B and C; wmma leaves those of A and B out where they are f16, and wgmma that
 * of C, which is D. */
static void find_types(const struct ptx_inst *inst, enum ptx_type types[4])
{
    bool is_short = inst->type_count == 2;
    types[0] = inst->types[0];
    types[1] = is_short ? PTX_TYPE_F16 : inst->types[1];
    types[2] = is_short ? PTX_TYPE_F16 : inst->types[2];
    types[3] = is_short ? inst->types[1] : inst->types[inst->type_count == 3 ? 0 : 3];
}

/* PTX ISA, "mma": "for .kind::mxf4 … defaults to 2X, for .kind::mxf8f6f4 … to 1X". */
static unsigned blocks_of(const struct ptx_inst *inst)
{
    if (!has_mod(inst, PTX_MOD_BLOCK_SCALE))
        return 0;
    if (has_mod(inst, PTX_MOD_SCALE_VEC_4X))
        return 4;
    return has_mod(inst, PTX_MOD_KIND_MXF8F6F4) ? 1 : 2;
}

static bool find_metadata(const struct search *search, enum ptx_type type,
                          struct ptx_fragment *fragment)
{
    struct search metadata = *search;
    metadata.kind = KIND_METADATA;
    if (search->kind != KIND_SPARSE)
        return true;
    if (!find(&metadata, MATRIX_A, type, fragment))
        return false;
    fragment->type = PTX_TYPE_NONE;
    fragment->bits = METADATA_BITS;
    return true;
}

static bool find_scales(const struct search *search, struct ptx_matrices *matrices)
{
    struct search scales = *search;
    scales.kind = KIND_SCALE;
    matrices->blocks = blocks_of(search->inst);
    return matrices->blocks == 0 ||
           (find(&scales, MATRIX_A, search->inst->types[4], &matrices->scale_a) &&
            find(&scales, MATRIX_B, search->inst->types[4], &matrices->scale_b));
}

static bool find_all(const struct search *search, struct ptx_matrices *matrices)
{
    enum ptx_type types[4];
    find_types(search->inst, types);
    return find(search, MATRIX_C, types[0], &matrices->d) &&
           find(search, MATRIX_A, types[1], &matrices->a) &&
           find(search, MATRIX_B, types[2], &matrices->b) &&
           find(search, MATRIX_C, types[3], &matrices->c) &&
           find_metadata(search, types[1], &matrices->metadata) && find_scales(search, matrices);
}

static bool find_moved(const struct search *search, struct ptx_matrices *matrices)
{
    const struct ptx_inst *inst = search->inst;
    enum ptx_type type = inst->types[0];
    if (has_mod(inst, PTX_MOD_STORE))
        return find(search, MATRIX_C, type, &matrices->d);
    if (has_mod(inst, PTX_MOD_A))
        return find(search, MATRIX_A, type, &matrices->a);
    if (has_mod(inst, PTX_MOD_B))
        return find(search, MATRIX_B, type, &matrices->b);
    return find(search, MATRIX_C, type, &matrices->c);
}

/* ldmatrix. What a row has behind its 16 elements is not looked at. */
static unsigned memory_bits_of(enum ptx_type type)
{
    if (type == PTX_TYPE_B6X16_P32)
        return 6;
    return type == PTX_TYPE_B4X16_P64 ? 4 : 0;
}

static bool find_rows(const struct search *search, struct ptx_matrices *matrices)
{
    enum ptx_type type = search->inst->types[0];
    matrices->memory_bits = memory_bits_of(search->inst->types[1]);
    return find(search, MATRIX_D, type == PTX_TYPE_B8X16 ? PTX_TYPE_B8 : type, &matrices->d);
}

static enum kind kind_of(const struct ptx_inst *inst)
{
    const char *name = ptx_op_name(inst->op);
    if (strcmp(name, "wmma") == 0)
        return KIND_WMMA;
    if (strcmp(name, "mma") != 0 && strcmp(name, "wgmma") != 0)
        return KIND_MOVE;
    bool is_sparse = has_mod(inst, PTX_MOD_SP) || has_mod(inst, PTX_MOD_SP_ORDERED_METADATA);
    return is_sparse ? KIND_SPARSE : KIND_MMA;
}

/* A warp of a warpgroup has 16 of 64 rows; m16n8k…: its rows, and eight columns. */
#define GROUP_ROWS   64
#define WARP_ROWS    16
#define PART_COLUMNS 8

static void divide_among_warps(struct search *search, struct ptx_matrices *matrices,
                               char shape[SHAPE_BYTES])
{
    if (matrices->m != GROUP_ROWS)
        return;
    matrices->groups = matrices->n / PART_COLUMNS;
    matrices->m = WARP_ROWS;
    matrices->n = PART_COLUMNS;
    snprintf(shape, SHAPE_BYTES, "m16n8k%u", matrices->k);
    search->shape = shape;
}

bool ptx_find_matrices(const struct ptx_inst *inst, struct ptx_matrices *matrices)
{
    char shape[SHAPE_BYTES];
    *matrices = (struct ptx_matrices){.groups = 1, .count = count_of(inst)};
    struct search search = {.inst = inst, .kind = kind_of(inst)};
    search.shape = shape_of(inst, matrices);
    if (search.shape == NULL)
        return false;
    divide_among_warps(&search, matrices, shape);
    if (search.kind == KIND_MOVE)
        return find_rows(&search, matrices);
    if (search.kind == KIND_WMMA && !has_mod(inst, PTX_MOD_MMA))
        return find_moved(&search, matrices);
    return find_all(&search, matrices);
}

const struct ptx_fragment *ptx_moved_fragment(const struct ptx_matrices *matrices)
{
    const struct ptx_fragment *all[] = {&matrices->a, &matrices->b, &matrices->c, &matrices->d};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (all[i]->row != NULL)
            return all[i];
    return NULL;
}

/* ---- places ---- */

static bool is_of_lane(char bit)
{
    return bit >= '0' && bit <= '9';
}

static unsigned coordinate(const char *bits, struct ptx_slot place)
{
    unsigned value = 0;
    for (unsigned i = 0; bits[i] != '\0'; i++) {
        unsigned bit =
            is_of_lane(bits[i]) ? place.lane >> (bits[i] - '0') : place.element >> (bits[i] - 'a');
        value |= (bit & 1) << i;
    }
    return value;
}

struct ptx_cell ptx_cell_of(const struct ptx_fragment *fragment, struct ptx_slot place)
{
    return (struct ptx_cell){coordinate(fragment->row, place), coordinate(fragment->column, place)};
}

static void place_bits(const char *bits, unsigned value, struct ptx_slot *place)
{
    for (unsigned i = 0; bits[i] != '\0'; i++) {
        unsigned *number = is_of_lane(bits[i]) ? &place->lane : &place->element;
        unsigned bit = 1u << (bits[i] - (is_of_lane(bits[i]) ? '0' : 'a'));
        *number = (*number & ~bit) | ((value >> i & 1) != 0 ? bit : 0);
    }
}

struct ptx_slot ptx_slot_of(const struct ptx_fragment *fragment, struct ptx_cell cell,
                            unsigned lane)
{
    struct ptx_slot place = {.lane = lane};
    place_bits(fragment->row, cell.row, &place);
    place_bits(fragment->column, cell.column, &place);
    return place;
}

/* Whether a row or a column depends on this bit of the lane. */
static bool uses_lane_bit(const struct ptx_fragment *fragment, unsigned bit)
{
    int character = '0' + (int)bit;
    return strchr(fragment->row, character) != NULL || strchr(fragment->column, character) != NULL;
}

unsigned ptx_lane_of_choice(const struct ptx_fragment *fragment, unsigned choice)
{
    unsigned lane = 0;
    for (unsigned bit = 0; bit < LANE_BITS; bit++) {
        if (uses_lane_bit(fragment, bit))
            continue;
        lane |= (choice & 1) << bit;
        choice >>= 1;
    }
    return lane;
}

unsigned ptx_choice_count(const struct ptx_fragment *fragment)
{
    unsigned count = 1;
    for (unsigned bit = 0; bit < LANE_BITS; bit++)
        if (!uses_lane_bit(fragment, bit))
            count *= 2;
    return count;
}

unsigned ptx_fragment_register_bits(const struct ptx_fragment *fragment)
{
    return fragment->bits == 64 ? 64 : 32;
}

unsigned ptx_fragment_registers(const struct ptx_fragment *fragment)
{
    return fragment->elements * fragment->bits / ptx_fragment_register_bits(fragment);
}
