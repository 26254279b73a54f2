/* SPDX-License-Identifier: Apache-2.0
 *
 * Surfaces (PTX ISA "suld", "sust", "sured", "suq", "txq", "istypep").
 */
#include <math.h>
#include <string.h>

#include "kernel_abi/image_shape.h"
#include "tests/oracle/dispatch.h"
#include "tests/oracle/texture.h"

struct access {
    struct oracle_image image;
    uint64_t address;
    bool is_outside; /* and nothing happens */
};

/* ---- places ---- */

/* "clamp: the nearest surface location"; "zero: loads return zero, stores are ignored". */
static enum pxr_status find_place(struct access *access, const struct ptx_operand *operand,
                                  bool is_formatted, unsigned bytes)
{
    const struct ptx_inst *inst = access->image.inst;
    enum pxr_status status = oracle_open_image(&access->image, operand, RT_SURFACE_MARK);
    const struct rt_texture *surface = &access->image.descriptor;
    const struct rt_texture_level *level = &surface->levels[0];
    bool is_layered = oracle_has(inst, PTX_MOD_A1D) || oracle_has(inst, PTX_MOD_A2D);
    unsigned dimensions = oracle_has(inst, PTX_MOD_3D)                                    ? 3
                          : oracle_has(inst, PTX_MOD_2D) || oracle_has(inst, PTX_MOD_A2D) ? 2
                                                                                          : 1;
    int64_t place[4] = {0}; /* bytes, row, plane, layer */

    if (status != PXR_OK)
        return status;
    for (unsigned i = 0; i < dimensions + is_layered; i++) {
        unsigned to = !is_layered ? i : i == 0 ? 3 : i - 1;

        place[to] = oracle_read_elem(access->image.thread, &operand->elems[1], i, PTX_TYPE_S32).s32;
    }
    if (is_formatted) {
        place[0] *= surface->elem_bytes;
        bytes = surface->elem_bytes;
    }
    const int64_t last[4] = {(int64_t)level->width * surface->elem_bytes - bytes,
                             (int64_t)level->height - 1, (int64_t)level->depth - 1,
                             (int64_t)level->layers - 1};

    for (unsigned i = 0; i < 4; i++) {
        if (last[i] < 0)
            access->is_outside = true;
        if (oracle_has(inst, PTX_MOD_CLAMP))
            place[i] = place[i] < 0 ? 0 : place[i] > last[i] ? last[i] : place[i];
        else if (place[i] < 0 || place[i] > last[i])
            access->is_outside = true;
    }
    access->address = level->base + (uint64_t)place[0] + (uint64_t)place[1] * level->pitch_bytes +
                      (uint64_t)(place[2] + place[3]) * level->slice_bytes;
    if (access->is_outside && oracle_has(inst, PTX_MOD_TRAP))
        return oracle_fail(access->image.thread, inst, PXR_FAULT_ADDRESS, "outside of the surface");
    return PXR_OK;
}

static struct access start(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return (struct access){.image = {.thread = thread, .inst = inst}};
}

/* ---- loads and stores ---- */

enum pxr_status oracle_suld(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    unsigned size = ptx_type_bits(inst->types[0]) / 8;
    unsigned count = oracle_elem_count(&inst->operands[0]);
    struct access access = start(thread, inst);
    enum pxr_status status = find_place(&access, &inst->operands[1], false, size * count);

    for (unsigned i = 0; i < count && status == PXR_OK; i++) {
        union oracle_value value = {0};

        if (!access.is_outside) {
            const uint8_t *bytes =
                oracle_image_bytes(&access.image, access.address + i * size, size, ORACLE_LOAD);

            if (bytes == NULL)
                return access.image.status;
            memcpy(&value, bytes, size);
        }
        oracle_write_elem(thread, &inst->operands[0], i, inst->types[0], value);
    }
    return status;
}

enum pxr_status oracle_sust(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    unsigned size = ptx_type_bits(inst->types[0]) / 8;
    unsigned count = oracle_elem_count(&inst->operands[1]);
    struct access access = start(thread, inst);
    enum pxr_status status = find_place(&access, &inst->operands[0], false, size * count);

    for (unsigned i = 0; i < count && status == PXR_OK && !access.is_outside; i++) {
        union oracle_value value = oracle_read_elem(thread, &inst->operands[1], i, inst->types[0]);
        uint8_t *bytes =
            oracle_image_bytes(&access.image, access.address + i * size, size, ORACLE_STORE);

        if (bytes == NULL)
            return access.image.status;
        memcpy(bytes, &value, size);
    }
    return status;
}

/* "Source data is then converted from this type to the surface sample format." */
static uint32_t formatted(const struct rt_texture *surface, uint32_t bits, unsigned width)
{
    bool is_signed = surface->texel >= RT_TEXEL_S8 && surface->texel <= RT_TEXEL_S32;
    double most = ldexp(1, (int)width - is_signed) - 1;
    double least = is_signed ? -most - 1 : 0;
    float number;

    memcpy(&number, &bits, sizeof number);
    if (width == 32)
        return bits;
    if (surface->gives_floats) {
        double part = isnan(number) ? 0 : fmin(fmax((double)number, is_signed ? -1 : 0), 1);

        return (uint32_t)(int32_t)round(part * most);
    }
    double integer = is_signed ? (double)(int32_t)bits : (double)bits;
    double clamped = fmin(fmax(integer, least), most);

    return is_signed ? (uint32_t)(int32_t)clamped : (uint32_t)clamped;
}

enum pxr_status oracle_sust_formatted(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    struct access access = start(thread, inst);
    enum pxr_status status = find_place(&access, &inst->operands[0], true, 0);
    const struct rt_texture *surface = &access.image.descriptor;
    unsigned count = oracle_elem_count(&inst->operands[1]);

    if (status != PXR_OK || access.is_outside)
        return status;
    for (unsigned i = 0; i < count && i < surface->channels; i++) {
        unsigned size = surface->elem_bytes / surface->channels;
        uint32_t bits = oracle_read_elem(thread, &inst->operands[1], i, PTX_TYPE_B32).u32;
        uint32_t value = formatted(surface, bits, 8 * size);
        uint8_t *bytes =
            oracle_image_bytes(&access.image, access.address + i * size, size, ORACLE_STORE);

        if (bytes == NULL)
            return access.image.status;
        memcpy(bytes, &value, size);
    }
    return PXR_OK;
}

/* ".b32: .u32 or .s32, based on the sample type": of sured.p. */
enum pxr_status oracle_sured(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    bool is_formatted = oracle_has(inst, PTX_MOD_P);
    enum ptx_type type = inst->types[0];
    unsigned size = ptx_type_bits(type) / 8;
    struct access access = start(thread, inst);
    enum pxr_status status = find_place(&access, &inst->operands[0], is_formatted, size);
    union oracle_value old = {0};

    if (status != PXR_OK || access.is_outside)
        return status;
    if (is_formatted)
        type = access.image.descriptor.texel == RT_TEXEL_S32 ? PTX_TYPE_S32 : PTX_TYPE_U32;
    uint8_t *bytes = oracle_image_bytes(&access.image, access.address, size, ORACLE_STORE);

    if (bytes == NULL)
        return access.image.status;
    memcpy(&old, bytes, size);
    old = oracle_combine(ptx_inst_mod(inst, PTX_GROUP_ATOMOP), type, old,
                         oracle_read(thread, inst, 1, inst->types[0]), (union oracle_value){0},
                         false);
    memcpy(bytes, &old, size);
    return PXR_OK;
}

/* ---- queries ---- */

/* "Channel Data Type and Channel Order Fields" */
static uint32_t data_type(const struct rt_texture *image)
{
    static const uint16_t plain[] = {0x10da, 0x10db, 0x10dc, 0x10d7, 0x10d8,
                                     0x10d9, 0x10dd, 0x10de, 0x10d6};
    static const uint16_t parts[] = {0x10d2, 0x10d3, 0x10dc, 0x10d0, 0x10d1,
                                     0x10d9, 0x10dd, 0x10de, 0x10d6};

    return image->gives_floats ? parts[image->texel] : plain[image->texel];
}

/* "wrap, mirror, clamp_ogl, clamp_to_edge, clamp_to_border" */
static uint32_t address_mode(const struct rt_texture *image, unsigned i)
{
    static const uint8_t modes[] = {0, 3, 1, 4};

    return modes[image->address[i]];
}

static uint32_t answer(const struct ptx_inst *inst, const struct rt_texture *image, uint32_t level)
{
    unsigned dimensions = rt_texture_dimensions(image->kind);
    const struct rt_texture_level *size =
        &image->levels[level < image->level_count ? level : image->level_count - 1u];

    if (oracle_has(inst, PTX_MOD_WIDTH))
        return size->width;
    if (oracle_has(inst, PTX_MOD_HEIGHT))
        return dimensions >= 2 ? size->height : 0;
    if (oracle_has(inst, PTX_MOD_DEPTH))
        return dimensions == 3 ? size->depth : 0;
    if (oracle_has(inst, PTX_MOD_CHANNEL_DATA_TYPE))
        return data_type(image);
    if (oracle_has(inst, PTX_MOD_CHANNEL_ORDER))
        return image->channels == 4 ? 0x10b5 : image->channels == 2 ? 0x10b2 : 0x10b0;
    if (oracle_has(inst, PTX_MOD_ARRAY_SIZE))
        return !rt_texture_is_layered(image->kind) ? 0
               : rt_texture_is_cube(image->kind)   ? size->layers / 6
                                                   : size->layers;
    if (oracle_has(inst, PTX_MOD_NUM_MIPMAP_LEVELS))
        return image->level_count;
    if (oracle_has(inst, PTX_MOD_NUM_SAMPLES))
        return 1;
    if (oracle_has(inst, PTX_MOD_NORMALIZED_COORDS))
        return image->is_normalised;
    if (oracle_has(inst, PTX_MOD_FORCE_UNNORMALIZED_COORDS))
        return image->is_normalised ? 0 : 1;
    if (oracle_has(inst, PTX_MOD_FILTER_MODE))
        return image->is_linear ? 1 : 0;
    if (oracle_has(inst, PTX_MOD_MEMORY_LAYOUT))
        return 0;
    return address_mode(image, oracle_has(inst, PTX_MOD_ADDR_MODE_2)   ? 2
                               : oracle_has(inst, PTX_MOD_ADDR_MODE_1) ? 1
                                                                       : 0);
}

static enum pxr_status query(struct oracle_thread *thread, const struct ptx_inst *inst,
                             uint32_t mark)
{
    struct oracle_image image = {.thread = thread, .inst = inst};
    enum pxr_status status = oracle_open_image(&image, &inst->operands[1], mark);
    uint32_t level = inst->operand_count > 2 ? oracle_read(thread, inst, 2, PTX_TYPE_U32).u32 : 0;

    if (status == PXR_OK)
        oracle_write(thread, inst, 0, PTX_TYPE_B32,
                     (union oracle_value){.u64 = answer(inst, &image.descriptor, level)});
    return status;
}

enum pxr_status oracle_txq(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return query(thread, inst, RT_TEXTURE_MARK);
}

enum pxr_status oracle_txq_sampler(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return query(thread, inst, RT_TEXTURE_MARK);
}

enum pxr_status oracle_suq(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return query(thread, inst, RT_SURFACE_MARK);
}

enum pxr_status oracle_istypep(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    static const enum ptx_type types[] = {PTX_TYPE_TEXREF, PTX_TYPE_SURFREF, PTX_TYPE_SAMPLERREF};
    static const uint32_t marks[] = {RT_TEXTURE_MARK, RT_SURFACE_MARK, RT_SAMPLER_MARK};
    struct oracle_image image = {.thread = thread, .inst = inst};
    uint64_t handle = rt_handle_address(oracle_read(thread, inst, 1, PTX_TYPE_U64).u64);
    uint32_t mark;
    const uint8_t *bytes = oracle_image_bytes(&image, handle, sizeof mark, ORACLE_LOAD);
    bool is_so = false;

    if (bytes == NULL)
        return image.status;
    memcpy(&mark, bytes, sizeof mark);
    for (unsigned i = 0; i < 3; i++)
        is_so = is_so || (types[i] == inst->types[0] && marks[i] == mark);
    oracle_write(thread, inst, 0, PTX_TYPE_PRED, (union oracle_value){.u64 = is_so});
    return PXR_OK;
}
