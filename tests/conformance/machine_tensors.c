/* SPDX-License-Identifier: Apache-2.0
 *
 * Templates for copies of tensors and tensor maps. A block has four groups of 16 threads, each with
 * a map, a tensor in global memory and a box in shared memory of its own; the first thread of a
 * group copies. Afterwards all threads make a number of what tensor and box hold.
 */
#include <stddef.h>
#include <string.h>

#include "kernel_abi/tensor_map.h"
#include "tests/conformance/machine_case.h"
#include "tests/conformance/piece.h"

#define GROUPS          16 /* of all blocks */
#define GROUP_THREADS   16
#define BLOCK_GROUPS    4
#define TENSOR_BYTES    4096
#define BOX_BYTES       2048 /* of a group */
#define BOX_BYTES_W128  9216
#define ROW_BYTES       128 /* from row to row of a tensor */
#define ROW_DATA_BYTES  112 /* that belong to it */
#define PIXELS          11
#define HALO            2
#define MAP_WORDS       16
#define PLAIN_ROW_BYTES 48

static bool has_word(const struct piece *piece, const char *word)
{
    return machine_has_word(piece->form, word);
}

enum mistake {
    NO_MISTAKE,
    OTHER_RANK,
    NO_MARK,
    MAP_MISALIGNED,
    BOX_MISALIGNED,
    EMPTY_BOX,
    OTHER_BLOCKS,
    ONE_WAY /* the direction that the layout does not have */
};

struct tensor_case {
    const char *label;
    uint8_t type;
    uint8_t swizzle;
    uint8_t atomicity;
    uint8_t interleave;
    uint8_t fill;
    uint8_t step;
    enum mistake mistake;
};

#define S(kind) RT_TENSOR_SWIZZLE_##kind
#define A(kind) RT_TENSOR_ATOMICITY_##kind
static const struct tensor_case cases[] = {
    {"f32", RT_TENSOR_F32, 0, 0, 0, 0, 1, NO_MISTAKE},
    {"u32", RT_TENSOR_U32, S(128B), 0, 0, 0, 1, NO_MISTAKE},
    {"f16 128B", RT_TENSOR_F16, S(128B), 0, 0, 1, 2, NO_MISTAKE},
    {"u8 32B", RT_TENSOR_U8, S(32B), 0, 0, 0, 2, NO_MISTAKE},
    {"bf16 64B", RT_TENSOR_BF16, S(64B), 0, 0, 1, 1, NO_MISTAKE},
    {"f64 128B, 32B", RT_TENSOR_F64, S(128B), A(32B), 0, 1, 1, NO_MISTAKE},
    {"u64 128B, 64B", RT_TENSOR_U64, S(128B), A(64B), 0, 0, 3, NO_MISTAKE},
    {"s64 64B", RT_TENSOR_S64, S(64B), 0, 0, 0, 1, NO_MISTAKE},
    {"s32 96B", RT_TENSOR_S32, S(96B), 0, 0, 0, 1, NO_MISTAKE},
    {"u16 128B, flip", RT_TENSOR_U16, S(128B), A(32B_FLIP_8B), 0, 0, 1, NO_MISTAKE},
    {"f32.ftz", RT_TENSOR_F32_FTZ, 0, 0, 0, 1, 1, NO_MISTAKE},
    {"tf32", RT_TENSOR_TF32, S(64B), 0, 0, 0, 1, NO_MISTAKE},
    {"tf32.ftz", RT_TENSOR_TF32_FTZ, S(32B), 0, 0, 1, 1, NO_MISTAKE},
    {"b4x16", RT_TENSOR_B4X16, 0, 0, 0, 0, 1, NO_MISTAKE},
    {"b4x16_p64", RT_TENSOR_B4X16_P64, S(128B), 0, 0, 0, 1, NO_MISTAKE},
    {"6 bits", RT_TENSOR_B6X16, S(128B), A(32B), 0, 0, 1, NO_MISTAKE},
    {"slices of 16", RT_TENSOR_U32, S(64B), 0, 1, 0, 2, NO_MISTAKE},
    {"slices of 32", RT_TENSOR_F16, S(32B), 0, 2, 1, 1, NO_MISTAKE},
    {"other rank", RT_TENSOR_U32, S(64B), 0, 0, 0, 1, OTHER_RANK},
    {"no map", RT_TENSOR_U32, S(64B), 0, 0, 0, 1, NO_MARK},
    {"map misaligned", RT_TENSOR_U32, S(64B), 0, 0, 0, 1, MAP_MISALIGNED},
    {"box misaligned", RT_TENSOR_U32, S(64B), 0, 0, 0, 1, BOX_MISALIGNED},
    {"empty box", RT_TENSOR_U32, S(64B), 0, 0, 0, 1, EMPTY_BOX},
    {"other blocks", RT_TENSOR_U32, S(64B), 0, 0, 0, 1, OTHER_BLOCKS},
    {"6 bits, 64B", RT_TENSOR_B6X16, S(128B), A(64B), 0, 0, 1, ONE_WAY},
    {"flip", RT_TENSOR_U32, S(128B), A(32B_FLIP_8B), 0, 0, 1, ONE_WAY},
};
#undef S
#undef A

/* What the form says. */
struct shape {
    uint32_t rank;
    uint32_t mode;
    bool has_four_rows;
    bool is_load; /* also of prefetches */
    bool is_copy; /* and not a prefetch */
    bool is_reduction;
    uint32_t box_bytes;
};

static struct shape shape_of(const struct piece *piece)
{
    static const char *const ranks[] = {"1d", "2d", "3d", "4d", "5d"};
    struct shape shape = {.mode = RT_TENSOR_TILE};
    for (uint32_t i = 0; i < 5; i++)
        if (has_word(piece, ranks[i]))
            shape.rank = i + 1;
    if (has_word(piece, "im2col") || has_word(piece, "im2col_no_offs"))
        shape.mode = RT_TENSOR_IM2COL;
    if (has_word(piece, "im2col::w"))
        shape.mode = RT_TENSOR_IM2COL_W;
    if (has_word(piece, "im2col::w::128"))
        shape.mode = RT_TENSOR_IM2COL_W128;
    shape.has_four_rows = has_word(piece, "tile::gather4") || has_word(piece, "tile::scatter4");
    shape.is_load = !has_word(piece, "bulk_group");
    shape.is_copy = !has_word(piece, "prefetch");
    shape.is_reduction = strncmp(piece->form->text, "cp.reduce", 9) == 0;
    shape.box_bytes = shape.mode == RT_TENSOR_IM2COL_W128 ? BOX_BYTES_W128 : BOX_BYTES;
    return shape;
}

/* ---- maps ---- */

/* Bytes of a row of the box: as many as the swizzle spans, where there is room for that. */
static uint32_t row_bytes(const struct shape *shape, const struct tensor_case *made)
{
    if (shape->mode == RT_TENSOR_IM2COL_W128)
        return 64;
    return made->swizzle == RT_TENSOR_SWIZZLE_NONE ? PLAIN_ROW_BYTES
                                                   : rt_tensor_swizzle_bytes(made->swizzle);
}

static void set_rows(const struct shape *shape, const struct tensor_case *made,
                     struct rt_tensor_map *map)
{
    struct rt_tensor_unit unit = rt_tensor_unit_of_type(made->type);
    uint32_t elements = row_bytes(shape, made) / unit.shared_bytes * unit.elements;
    map->last[0] = ROW_DATA_BYTES / unit.global_bytes * unit.elements - 1;
    if (rt_tensor_is_padded(made->type)) {
        elements = 128;
        map->last[0] = 127;
    }
    if (made->interleave != RT_TENSOR_INTERLEAVE_NONE) {
        uint32_t slice = rt_tensor_slice_bytes(made->interleave);
        map->last[0] = ROW_DATA_BYTES / slice - 1;
        map->channels = (uint16_t)(2 * slice / unit.shared_bytes);
        map->box[0] = 3;
        return;
    }
    map->box[0] = elements;
    map->channels = (uint16_t)elements;
}

static struct rt_tensor_map map_of(const struct shape *shape, const struct tensor_case *made)
{
    static const uint32_t sizes[] = {0, 4, 2, 2, 2};
    static const uint32_t boxes[] = {0, 3, 2, 1, 2};
    struct rt_tensor_map map = {
        .mark = RT_TENSOR_MAP_MARK,
        .mode = (uint8_t)shape->mode,
        .rank = (uint8_t)shape->rank,
        .type = made->type,
        .interleave = made->interleave,
        .swizzle = made->swizzle,
        .atomicity = made->atomicity,
        .fill = made->fill,
        .lower = {-1, -1, 0},
        .upper = {-1, 0, 0},
        .pixels = shape->mode == RT_TENSOR_IM2COL_W128 ? RT_TENSOR_W128_PIXELS : PIXELS,
    };
    for (uint32_t i = 0; i < RT_TENSOR_RANK_MAX; i++)
        map.steps[i] = map.box[i] = 1; /* also beyond the rank */
    set_rows(shape, made, &map);
    map.steps[0] = made->step;
    uint64_t stride = ROW_BYTES;
    for (uint32_t i = 1; i < shape->rank; i++) {
        bool is_last = i == shape->rank - 1 && shape->mode != RT_TENSOR_TILE;
        map.steps[i] = i == 2 ? 1 : made->step;
        map.strides[i - 1] = stride;
        map.last[i] = (is_last ? (uint32_t)(TENSOR_BYTES / stride) : sizes[i]) - 1;
        map.box[i] = shape->has_four_rows ? 1 : boxes[i];
        stride *= sizes[i];
    }
    switch (made->mistake) {
    case OTHER_RANK:
        map.rank = shape->rank == 5 ? 4 : (uint8_t)(shape->rank + 1);
        break;
    case NO_MARK:
        map.mark++;
        break;
    case EMPTY_BOX:
        map.box[0] = map.channels = 0;
        break;
    default:
        break;
    }
    return map;
}

static uint32_t bytes_of(const struct shape *shape, const struct rt_tensor_map *map)
{
    struct rt_tensor_unit unit = rt_tensor_unit_of(map);
    bool has_slices = map->interleave != RT_TENSOR_INTERLEAVE_NONE;
    uint32_t row = map->channels / unit.elements * unit.shared_bytes;
    if (has_slices)
        row = 2 * unit.shared_bytes;
    switch (shape->mode) {
    case RT_TENSOR_IM2COL:
        return PIXELS * row;
    case RT_TENSOR_IM2COL_W:
        return (PIXELS + HALO) * row;
    case RT_TENSOR_IM2COL_W128:
        return (128 + 4 * HALO) * row;
    default:
        break;
    }
    if (!has_slices && shape->has_four_rows)
        return 4 * row;
    uint32_t bytes =
        has_slices ? (3u + map->steps[0] - 1) / map->steps[0] * unit.shared_bytes : row;
    for (uint32_t i = 1; i < map->rank; i++)
        bytes *= (map->box[i] + map->steps[i] - 1) / map->steps[i];
    return bytes;
}

static void put_maps(struct piece *piece, const struct rt_tensor_map *map)
{
    uint64_t words[MAP_WORDS];
    memcpy(words, map, sizeof words);
    fprintf(piece->decls, ".global .align 128 .b8 tensor%u[%u];\n", piece->number,
            GROUPS * TENSOR_BYTES);
    fprintf(piece->decls, ".global .align 128 .b64 maps%u[%u] = {", piece->number,
            GROUPS * MAP_WORDS);
    for (unsigned group = 0; group < GROUPS; group++)
        for (unsigned i = 0; i < MAP_WORDS; i++) {
            fputs(group + i == 0 ? "" : ",", piece->decls);
            if (i == offsetof(struct rt_tensor_map, address) / 8)
                fprintf(piece->decls, "tensor%u+%u", piece->number, group * TENSOR_BYTES);
            else
                fprintf(piece->decls, "0x%llx", (unsigned long long)words[i]);
        }
    fputs("};\n", piece->decls);
}

/* ---- code ---- */

static void put_places(struct piece *piece, const struct shape *shape)
{
    fprintf(piece->decls,
            ".shared .align 1024 .b8 boxes%u[%u];\n.shared .align 8 .b64 objects%u[%u];\n",
            piece->number, BLOCK_GROUPS * shape->box_bytes, piece->number, BLOCK_GROUPS);
    fprintf(piece->body,
            ".reg .b64 %%map, %%box, %%tensor, %%object, %%state, %%sum, %%word, %%at;\n"
            ".reg .b32 %%group, %%part, %%index, %%number, %%left, %%c<5>;\n"
            ".reg .b16 %%o<3>, %%mask;\n.reg .pred %%copies, %%q;\n"
            "shr.u32 %%group, %%thread, 4;\nand.b32 %%part, %%thread, %u;\n"
            "mad.lo.u32 %%index, %%block, %u, %%group;\nsetp.eq.u32 %%copies, %%part, 0;\n"
            "mov.u64 %%map, maps%u;\nmad.wide.u32 %%map, %%index, %u, %%map;\n"
            "mov.u64 %%tensor, tensor%u;\nmad.wide.u32 %%tensor, %%index, %u, %%tensor;\n"
            "mov.u64 %%box, boxes%u;\nmad.wide.u32 %%box, %%group, %u, %%box;\n"
            "mov.u64 %%object, objects%u;\nmad.wide.u32 %%object, %%group, 8, %%object;\n"
            "@%%copies mbarrier.init.shared.b64 [%%object], 1;\n",
            GROUP_THREADS - 1, BLOCK_GROUPS, piece->number, RT_TENSOR_MAP_BYTES, piece->number,
            TENSOR_BYTES, piece->number, shape->box_bytes, piece->number);
}

/* Masks that make numbers of words, neither large nor small. */
static void masks_of(uint32_t type, uint32_t *kept, uint32_t *set)
{
    *kept = UINT32_MAX;
    *set = 0;
    if (type == RT_TENSOR_F16) {
        *kept = 0x8fff8fff;
        *set = 0x30003000;
    } else if (type == RT_TENSOR_BF16) {
        *kept = 0x81ff81ff;
        *set = 0x3e003e00;
    } else if (type == RT_TENSOR_F64) {
        *kept = 0x803fffff;
        *set = 0x3fc00000;
    } else if (rt_tensor_is_float(type)) {
        *kept = 0x81ffffff;
        *set = 0x3e000000;
    }
}

/* The thread's part of its group's memory: a number for each word, some of them subnormal or not
 * finite as floats. */
static void put_fill(struct piece *piece, const char *space, const char *base, uint32_t bytes,
                     uint32_t type, uint32_t salt)
{
    uint32_t kept;
    uint32_t set;
    masks_of(type, &kept, &set);
    uint32_t share = bytes / GROUP_THREADS;
    fprintf(piece->body,
            "mad.wide.u32 %%at, %%part, %u, %s;\nmad.lo.u32 %%number, %%sample, 7919, %u;\n"
            "mov.b32 %%left, %u;\nFILL%u:\nmad.lo.u32 %%number, %%number, 1664525, 1013904223;\n"
            "shr.u32 %%c0, %%number, 15;\nxor.b32 %%c0, %%c0, %%number;\n"
            "mul.lo.u32 %%c0, %%c0, 0x2c1b3c6d;\nshr.u32 %%c1, %%c0, 12;\nxor.b32 %%c0, %%c0, "
            "%%c1;\n"
            "and.b32 %%c0, %%c0, 0x%x;\nor.b32 %%c0, %%c0, 0x%x;\n",
            share, base, salt, share / 4, salt, kept, set);
    if (set == 0)
        fputs("and.b32 %c1, %number, 0x70000000;\nsetp.eq.u32 %q, %c1, 0;\n"
              "@%q and.b32 %c0, %c0, 0x807fffff;\nsetp.eq.u32 %q, %c1, 0x10000000;\n"
              "@%q or.b32 %c0, %c0, 0x7f800000;\n",
              piece->body);
    fprintf(piece->body,
            "st%s.b32 [%%at], %%c0;\nadd.s64 %%at, %%at, 4;\nsub.u32 %%left, %%left, 1;\n"
            "setp.ne.u32 %%q, %%left, 0;\n@%%q bra FILL%u;\n",
            space, salt);
}

/* A number made of the thread's part, to its output record. */
static void put_sum(struct piece *piece, const char *space, const char *base, uint32_t bytes,
                    unsigned to)
{
    uint32_t share = bytes / GROUP_THREADS;
    fprintf(piece->body,
            "mad.wide.u32 %%at, %%part, %u, %s;\nmov.b64 %%sum, 0;\nmov.b32 %%left, %u;\nSUM%u:\n"
            "ld%s.b64 %%word, [%%at];\nxor.b64 %%sum, %%sum, %%word;\n"
            "mul.lo.u64 %%sum, %%sum, 0x9e3779b97f4a7c15;\nshr.u64 %%word, %%sum, 29;\n"
            "xor.b64 %%sum, %%sum, %%word;\nadd.s64 %%at, %%at, 8;\nsub.u32 %%left, %%left, 1;\n"
            "setp.ne.u32 %%q, %%left, 0;\n@%%q bra SUM%u;\nst.global.b64 [%%out+%u], %%sum;\n",
            share, base, share / 8, to, space, to, to);
}

/* Coordinates that differ from group to group and lie partly outside of the tensor. */
static void put_coordinates(struct piece *piece, const struct shape *shape,
                            const struct tensor_case *made)
{
    uint32_t step = rt_tensor_is_padded(made->type)                        ? 128
                    : made->interleave != RT_TENSOR_INTERLEAVE_NONE        ? 1
                    : made->type == RT_TENSOR_B4X16                        ? 32
                    : rt_tensor_unit_of_type(made->type).shared_bytes == 1 ? 19
                                                                           : 3;
    fprintf(piece->body,
            "sub.u32 %%c0, %%block, 1;\nmul.lo.u32 %%c0, %%c0, %u;\nsub.u32 %%c1, %%group, 1;\n"
            "and.b32 %%c2, %%index, 1;\nshr.u32 %%c3, %%block, 1;\nsub.u32 %%c4, %%block, 2;\n",
            step);
    if (shape->has_four_rows)
        fputs("sub.u32 %c1, %group, 1;\nadd.u32 %c2, %c1, 2;\nadd.u32 %c3, %c1, 1;\n"
              "sub.u32 %c4, %c1, 1;\n",
              piece->body);
    bool is_wide = shape->mode >= RT_TENSOR_IM2COL_W;
    fprintf(piece->body, "mov.b16 %%o0, %u;\nmov.b16 %%o1, 1;\nmov.b16 %%o2, %u;\n",
            is_wide ? HALO : 2, is_wide ? 0 : 1);
}

static void put_place(struct piece *piece, const struct shape *shape)
{
    unsigned count = shape->has_four_rows ? 5 : shape->rank;
    fputs("[%map, {", piece->body);
    for (unsigned i = 0; i < count; i++)
        fprintf(piece->body, "%s%%c%u", i == 0 ? "" : ", ", i);
    fputs("}]", piece->body);
}

static void put_instruction(struct piece *piece, const struct shape *shape)
{
    bool has_offsets = shape->mode != RT_TENSOR_TILE && shape->is_load;
    bool is_load = shape->is_load && shape->is_copy;
    fprintf(piece->body, "%s ", piece->form->text);
    fputs(is_load ? "[%box], " : "", piece->body);
    put_place(piece, shape);
    fputs(is_load ? ", [%object]" : shape->is_copy ? ", [%box]" : "", piece->body);
    unsigned count = shape->mode == RT_TENSOR_IM2COL ? shape->rank - 2 : 2;
    for (unsigned i = 0; has_offsets && i < count; i++)
        fprintf(piece->body, "%s%%o%u", i == 0 ? ", {" : ", ", i);
    fputs(has_offsets ? "}" : "", piece->body);
    fputs(has_word(piece, "multicast::cluster") ? ", %mask" : "", piece->body);
    fputs(has_word(piece, "L2::cache_hint") ? ", 0x1000000000000000;\n" : ";\n", piece->body);
}

/* The first thread of a group. With a mask every other group copies. */
static void put_copy(struct piece *piece, const struct shape *shape, const struct tensor_case *made,
                     uint32_t bytes)
{
    bool is_multicast = has_word(piece, "multicast::cluster");
    put_coordinates(piece, shape, made);
    fputs("bar.sync 0;\n@!%copies bra COPIED;\n", piece->body);
    if (made->mistake == MAP_MISALIGNED)
        fputs("add.s64 %map, %map, 32;\n", piece->body);
    if (made->mistake == BOX_MISALIGNED)
        fputs("add.s64 %box, %box, 64;\n", piece->body);
    if (is_multicast)
        fprintf(piece->body,
                "and.b32 %%number, %%group, 1;\nmul.lo.u32 %%left, %%number, %u;\n"
                "%scvt.u16.u32 %%mask, %%number;\n",
                bytes, made->mistake == OTHER_BLOCKS ? "mov.b32 %number, 3;\n" : "");
    else
        fprintf(piece->body, "mov.b32 %%left, %u;\n", bytes);
    if (shape->is_load && shape->is_copy)
        fputs("mbarrier.arrive.expect_tx.shared.b64 %state, [%object], %left;\n", piece->body);
    put_instruction(piece, shape);
    if (!shape->is_load)
        fputs("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;\n", piece->body);
    fputs("mbarrier.test_wait.parity.shared.b64 %q, [%object], 0;\nselp.b32 %number, 1, 0, %q;\n"
          "st.global.b32 [%out+16], %number;\nCOPIED:\nbar.sync 0;\n",
          piece->body);
}

/* ---- which cases a form has ---- */

static bool reduces(const struct piece *piece, uint32_t type)
{
    bool is_whole = type >= RT_TENSOR_U32 && type <= RT_TENSOR_S64;
    if (has_word(piece, "add"))
        return is_whole || rt_tensor_is_float(type);
    if (has_word(piece, "min") || has_word(piece, "max"))
        return is_whole || type == RT_TENSOR_F16 || type == RT_TENSOR_BF16;
    if (has_word(piece, "inc") || has_word(piece, "dec"))
        return type == RT_TENSOR_U32;
    return is_whole;
}

static bool has_layout(const struct piece *piece, const struct shape *shape,
                       const struct tensor_case *made)
{
    bool is_wide = shape->mode >= RT_TENSOR_IM2COL_W;
    if (is_wide && (made->swizzle < RT_TENSOR_SWIZZLE_64B || made->interleave != 0 ||
                    made->atomicity == RT_TENSOR_ATOMICITY_32B_FLIP_8B))
        return false;
    if (shape->mode == RT_TENSOR_IM2COL_W128 &&
        (rt_tensor_is_padded(made->type) || made->swizzle == RT_TENSOR_SWIZZLE_96B))
        return false;
    if (made->interleave != 0 && (shape->rank < 3 || shape->has_four_rows))
        return false;
    return !shape->is_reduction || made->type == RT_TENSOR_U32 || reduces(piece, made->type);
}

static bool fits(const struct piece *piece, const struct shape *shape,
                 const struct tensor_case *made)
{
    bool is_one_way =
        made->type == RT_TENSOR_B4X16_P64 || made->atomicity == RT_TENSOR_ATOMICITY_32B_FLIP_8B;
    switch (made->mistake) {
    case OTHER_BLOCKS:
        return has_word(piece, "multicast::cluster");
    case BOX_MISALIGNED:
        return shape->is_copy;
    case ONE_WAY:
        if (made->type == RT_TENSOR_B6X16)
            return shape->is_load && shape->mode != RT_TENSOR_IM2COL_W128;
        return !shape->is_load && !shape->is_reduction;
    default:
        break;
    }
    if (is_one_way && !shape->is_load)
        return false;
    return has_layout(piece, shape, made);
}

static const struct tensor_case *find_case(const struct piece *piece, const struct shape *shape)
{
    unsigned n = piece->n;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (fits(piece, shape, &cases[i]) && n-- == 0)
            return &cases[i];
    return NULL;
}

static bool is_fault(const struct piece *piece, const struct shape *shape,
                     const struct tensor_case *made)
{
    return made->mistake != NO_MISTAKE || (shape->is_reduction && !reduces(piece, made->type));
}

static bool make_copy(struct piece *piece)
{
    struct shape shape = shape_of(piece);
    const struct tensor_case *made = find_case(piece, &shape);
    if (made == NULL)
        return false;
    struct rt_tensor_map map = map_of(&shape, made);
    uint32_t filled = shape.is_reduction ? made->type : RT_TENSOR_U8;
    piece->label = made->label;
    piece->is_alone = true;
    piece->is_fault = is_fault(piece, &shape, made);
    put_maps(piece, &map);
    put_places(piece, &shape);
    put_fill(piece, ".global", "%tensor", TENSOR_BYTES, filled, 1);
    put_fill(piece, ".shared", "%box", shape.box_bytes, filled, 2);
    put_copy(piece, &shape, made, bytes_of(&shape, &map));
    put_sum(piece, ".global", "%tensor", TENSOR_BYTES, 0);
    put_sum(piece, ".shared", "%box", shape.box_bytes, 8);
    return true;
}

/* ---- tensormap ---- */

/* The group's map, in its box, is changed there and copied. */
static void put_own_map(struct piece *piece)
{
    fputs("mad.wide.u32 %at, %part, 8, %map;\nld.global.b64 %word, [%at];\n"
          "mad.wide.u32 %at, %part, 8, %box;\nst.shared.b64 [%at], %word;\nbar.sync 0;\n",
          piece->body);
}

static const char *ordinal_of(const struct piece *piece)
{
    static const char *const ordinals[] = {"0, ", "3, ", "2, "};
    bool has_ordinal = has_word(piece, "box_dim") || has_word(piece, "global_dim") ||
                       has_word(piece, "element_stride") || has_word(piece, "global_stride");
    return has_ordinal ? ordinals[piece->n % 3] : "";
}

static void put_value(struct piece *piece)
{
    static const char *const modes[] = {"0", "1", "2"};
    bool is_mode = has_word(piece, "elemtype") || has_word(piece, "interleave_layout") ||
                   has_word(piece, "swizzle_mode") || has_word(piece, "swizzle_atomicity") ||
                   has_word(piece, "fill_mode");
    if (is_mode)
        fputs(piece->n == 2 && has_word(piece, "fill_mode") ? "1" : modes[piece->n % 3],
              piece->body);
    else if (piece->n == 1)
        fputs("3", piece->body);
    else
        fputs(has_word(piece, "b64") ? "%state" : "%number", piece->body);
}

static bool make_replace(struct piece *piece)
{
    static const char *const labels[] = {NULL, "constant", "large", "no map"};
    static const struct tensor_case made = {NULL, RT_TENSOR_F32, 0, 0, 0, 0, 1, NO_MISTAKE};
    static const struct shape shape = {.rank = 5, .box_bytes = BOX_BYTES};
    if (piece->n > 3)
        return false;
    struct rt_tensor_map map = map_of(&shape, &made);
    bool is_shared = has_word(piece, "shared::cta");
    map.mark += piece->n == 3;
    piece->label = labels[piece->n];
    piece->is_alone = true;
    piece->is_fault = piece->n == 3;
    put_maps(piece, &map);
    put_places(piece, &shape);
    put_own_map(piece);
    fprintf(piece->body,
            "mul.lo.u32 %%number, %%sample, %u;\nmov.b64 %%state, {%%number, %%index};\n"
            "@!%%copies bra REPLACED;\n%s %s, %s",
            piece->n == 2 ? 7919u : 1u, piece->form->text, is_shared ? "[%box]" : "[%map]",
            ordinal_of(piece));
    put_value(piece);
    fprintf(piece->body,
            ";\nREPLACED:\nbar.sync 0;\nmad.wide.u32 %%at, %%part, 8, %s;\n"
            "ld%s.b64 %%word, [%%at];\n",
            is_shared ? "%box" : "%map", is_shared ? ".shared" : ".global");
    /* The address differs from run to run. */
    fprintf(piece->body, "setp.eq.u32 %%q, %%part, %u;\n%s",
            (unsigned)(offsetof(struct rt_tensor_map, address) / 8),
            has_word(piece, "global_address") ? "" : "@%q mov.b64 %word, 0;\n");
    fputs("st.global.b64 [%out], %word;\n", piece->body);
    return true;
}

static bool make_map_copy(struct piece *piece)
{
    static const struct tensor_case made = {NULL, RT_TENSOR_F32, 0, 0, 0, 0, 1, NO_MISTAKE};
    static const struct shape shape = {.rank = 2, .box_bytes = BOX_BYTES};
    static const char *const labels[] = {NULL, "misaligned"};
    if (piece->n > 1)
        return false;
    struct rt_tensor_map map = map_of(&shape, &made);
    piece->label = labels[piece->n];
    piece->is_alone = true;
    piece->is_fault = piece->n == 1;
    put_maps(piece, &map);
    put_places(piece, &shape);
    put_fill(piece, ".shared", "%box", shape.box_bytes, RT_TENSOR_U8, 2);
    fprintf(piece->body,
            "bar.sync 0;\nshr.u32 %%group, %%thread, 5;\nmov.u64 %%box, boxes%u;\n"
            "mad.wide.u32 %%box, %%group, %u, %%box;\nmov.u64 %%map, maps%u;\n"
            "mad.lo.u32 %%index, %%block, 2, %%group;\nmad.wide.u32 %%map, %%index, %u, %%map;\n"
            "%s%s [%%map], [%%box], 128;\nbar.sync 0;\n"
            "mad.wide.u32 %%at, %%part, 8, %%map;\nld.global.b64 %%word, [%%at];\n"
            "st.global.b64 [%%out], %%word;\n",
            piece->number, BOX_BYTES + 128, piece->number, RT_TENSOR_MAP_BYTES,
            piece->n == 1 ? "add.s64 %map, %map, 64;\n" : "", piece->form->text);
    return true;
}

const struct template tensor_templates[] = {
    {"cp.async.bulk.tensor", make_copy},          {"cp.reduce.async.bulk.tensor", make_copy},
    {"cp.async.bulk.prefetch.tensor", make_copy}, {"tensormap.replace", make_replace},
    {"tensormap.cp_fenceproxy", make_map_copy},   {NULL, NULL},
};
