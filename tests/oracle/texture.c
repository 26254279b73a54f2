/* SPDX-License-Identifier: Apache-2.0
 *
 * Textures (CUDA C++ Programming Guide, "Texture Fetching"; PTX ISA "tex", "tld4", "txq",
 * "istypep"): the formulas of the guide in doubles, element by element. What a descriptor looks
 * like is ours to choose (kernel_abi/texture.h); what it means is worked out here anew.
 */
#include "tests/oracle/texture.h"

#include <math.h>
#include <string.h>

#include "kernel_abi/image_shape.h"
#include "tests/oracle/dispatch.h"
#include "tests/oracle/softfloat.h"

/* ---- descriptors ---- */

bool oracle_has(const struct ptx_inst *inst, enum ptx_mod word)
{
    return ptx_inst_has_word(inst, word);
}

static enum pxr_status read_descriptor(struct oracle_thread *thread, const struct ptx_inst *inst,
                                       uint64_t handle, struct rt_texture *descriptor)
{
    handle = rt_handle_address(handle);
    for (unsigned i = 0; i < sizeof *descriptor; i++) {
        uint8_t *byte = NULL;
        enum pxr_status status =
            oracle_resolve(thread, inst, PTX_SPACE_NONE, handle + i, 1, ORACLE_LOAD, &byte, NULL);

        if (status != PXR_OK)
            return status;
        ((uint8_t *)descriptor)[i] = *byte;
    }
    return PXR_OK;
}

static enum pxr_status refuse(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    return oracle_fail(thread, inst, PXR_FAULT_ADDRESS, "no descriptor of this kind");
}

/* A variable of opaque type is a reference: what it holds is the handle. */
static enum pxr_status read_handle(struct oracle_image *image, const struct ptx_operand *operand,
                                   uint64_t *handle)
{
    const struct ptx_operand *base = &operand->elems[0];
    uint8_t *bytes = NULL;
    enum pxr_status status = PXR_OK;

    *handle = oracle_address_of(image->thread, operand);
    if (base->kind != PTX_OPERAND_VAR || ptx_type_table[base->var->type].class != PTX_CLASS_OPAQUE)
        return PXR_OK;
    status = oracle_resolve(image->thread, image->inst, base->var->space, *handle, sizeof *handle,
                            ORACLE_LOAD, &bytes, NULL);
    if (status == PXR_OK)
        memcpy(handle, bytes, sizeof *handle);
    return status;
}

enum pxr_status oracle_open_image(struct oracle_image *image, const struct ptx_operand *operand,
                                  uint32_t mark)
{
    uint64_t handle;
    enum pxr_status status = read_handle(image, operand, &handle);

    if (status == PXR_OK)
        status = read_descriptor(image->thread, image->inst, handle, &image->descriptor);

    if (status != PXR_OK)
        return status;
    return image->descriptor.mark == mark ? PXR_OK : refuse(image->thread, image->inst);
}

uint8_t *oracle_image_bytes(struct oracle_image *image, uint64_t address, unsigned bytes,
                            enum oracle_access access)
{
    uint8_t *host = NULL;

    if (image->status == PXR_OK)
        image->status = oracle_resolve(image->thread, image->inst, PTX_SPACE_GLOBAL, address, bytes,
                                       access, &host, NULL);
    return host;
}

/* ---- coordinates ---- */

/* The guide's table: for face and direction the place s, t, and m. */
static unsigned face_of(const double at[3])
{
    double x = fabs(at[0]);
    double y = fabs(at[1]);
    double z = fabs(at[2]);

    if (x >= y && x >= z)
        return signbit(at[0]) && at[0] != 0 ? 1 : 0;
    if (y >= z)
        return at[1] < 0 ? 3 : 2;
    return at[2] < 0 ? 5 : 4;
}

static void on_face(unsigned face, const double at[3], double *m, double *s, double *t)
{
    static const struct {
        int m, s, t; /* 1 … 3: x, y, z; negative: -x … */
    } rows[] = {{1, -3, -2}, {-1, 3, -2}, {2, 1, 3}, {-2, 1, -3}, {3, 1, -2}, {-3, -1, -2}};
    const int columns[] = {rows[face].m, rows[face].s, rows[face].t};
    double values[3];

    for (unsigned i = 0; i < 3; i++)
        values[i] = columns[i] < 0 ? -at[-columns[i] - 1] : at[columns[i] - 1];
    *m = values[0];
    *s = values[1];
    *t = values[2];
}

static void set_place(struct oracle_fetch *fetch, const struct ptx_operand *vector)
{
    const struct ptx_inst *inst = fetch->image.inst;
    struct oracle_thread *thread = fetch->image.thread;
    const struct rt_texture *texture = &fetch->image.descriptor;
    bool is_layered = oracle_has(inst, PTX_MOD_A1D) || oracle_has(inst, PTX_MOD_A2D) ||
                      oracle_has(inst, PTX_MOD_ACUBE);
    unsigned count = oracle_elem_count(vector);
    double m;

    for (unsigned i = 0; i < 3 && i + is_layered < count; i++) {
        union oracle_value value =
            oracle_read_elem(thread, vector, i + is_layered, fetch->coordinate_type);

        fetch->at[i] = oracle_fetch_has_floats(fetch) ? (double)value.f32 : value.s32;
        fetch->at[i] = isnan(fetch->at[i]) ? 0 : fetch->at[i];
    }
    if (is_layered) {
        int64_t layer = oracle_read_elem(thread, vector, 0, PTX_TYPE_B32).s32;
        int64_t layers = texture->levels[0].layers / (oracle_fetch_is_cube(fetch) ? 6 : 1);

        fetch->slice = (uint32_t)(layer < 0 ? 0 : layer >= layers ? layers - 1 : layer);
    }
    if (oracle_fetch_is_cube(fetch)) {
        unsigned face = face_of(fetch->at);
        double s;
        double t;

        on_face(face, fetch->at, &m, &s, &t);
        fetch->slice = fetch->slice * 6 + face;
        fetch->at[0] = (s / m + 1) / 2;
        fetch->at[1] = (t / m + 1) / 2;
    }
}

static enum pxr_status begin(struct oracle_fetch *fetch, struct oracle_thread *thread,
                             const struct ptx_inst *inst)
{
    const struct ptx_operand *place = &inst->operands[1];

    *fetch = (struct oracle_fetch){.image = {.thread = thread, .inst = inst},
                                   .coordinate_type = inst->types[1]};
    enum pxr_status status = oracle_open_image(&fetch->image, place, RT_TEXTURE_MARK);

    if (status != PXR_OK)
        return status;
    fetch->sampler = fetch->image.descriptor;
    if (place->elem_count > 2) {
        uint64_t handle = oracle_read_operand(thread, &place->elems[1], PTX_TYPE_B64).u64;

        status = read_descriptor(thread, inst, handle, &fetch->sampler);
        if (status == PXR_OK && fetch->sampler.mark != RT_SAMPLER_MARK &&
            fetch->sampler.mark != RT_TEXTURE_MARK)
            status = refuse(thread, inst);
        if (status != PXR_OK)
            return status;
    }
    set_place(fetch, &place->elems[place->elem_count - 1]);
    return PXR_OK;
}

static void read_rest(struct oracle_fetch *fetch, unsigned next)
{
    const struct ptx_inst *inst = fetch->image.inst;

    for (; next < inst->operand_count; next++) {
        const struct ptx_operand *operand = &inst->operands[next];

        if (operand->kind != PTX_OPERAND_VECTOR) {
            fetch->compares = true;
            fetch->reference =
                (double)oracle_read_operand(fetch->image.thread, operand, PTX_TYPE_F32).f32;
            continue;
        }
        for (unsigned i = 0; i < 3 && i < oracle_elem_count(operand); i++) {
            uint32_t bits =
                oracle_read_elem(fetch->image.thread, operand, i, PTX_TYPE_B32).u32 % 16;

            fetch->offset[i] = (int)bits - (bits >= 8 ? 16 : 0);
        }
    }
}

static uint64_t to_half(uint32_t bits)
{
    const struct oracle_format *single = oracle_format(PTX_TYPE_F32);
    const struct oracle_format *half = oracle_format(PTX_TYPE_F16);

    if (oracle_is_nan(single, bits))
        return 0x7fff;
    return oracle_pack(half, oracle_unpack(single, bits), ORACLE_ROUND_NEAREST_EVEN);
}

static enum pxr_status finish(struct oracle_fetch *fetch, const struct oracle_element *element)
{
    struct oracle_thread *thread = fetch->image.thread;
    const struct ptx_inst *inst = fetch->image.inst;
    const struct ptx_operand *target = &inst->operands[0];
    const struct ptx_operand *vector = target->kind == PTX_OPERAND_PAIR ? target->elems : target;
    enum ptx_type type = inst->types[0];

    if (fetch->image.status != PXR_OK)
        return fetch->image.status;
    for (unsigned i = 0; i < oracle_elem_count(vector); i++) {
        union oracle_value value = {.u64 = element->raw[i]};

        if (type == PTX_TYPE_F16)
            value.u64 = to_half(element->raw[i]);
        if (type == PTX_TYPE_F16X2)
            value.u64 = to_half(element->raw[2 * i]) | to_half(element->raw[2 * i + 1]) << 16;
        oracle_write_elem(thread, vector, i, type, value);
    }
    oracle_write_second(thread, inst, 0, true);
    return PXR_OK;
}

/* "tex1Dfetch": no address modes, and zeros from outside. */
static struct oracle_element read_linear(struct oracle_fetch *fetch)
{
    int64_t index[3] = {(int64_t)floor(fmin(fmax(fetch->at[0], -1e9), 1e9))};
    bool is_inside = index[0] >= 0 && index[0] < fetch->image.descriptor.levels[0].width;

    return is_inside ? oracle_read_element(fetch, &fetch->image.descriptor.levels[0], index, false)
                     : (struct oracle_element){0};
}

static enum pxr_status run(struct oracle_fetch *fetch, unsigned rest, double lod)
{
    read_rest(fetch, rest);
    struct oracle_element result = fetch->image.descriptor.kind == RT_TEXTURE_LINEAR
                                       ? read_linear(fetch)
                                       : oracle_sample(fetch, lod);

    return finish(fetch, &result);
}

enum pxr_status oracle_tex(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    struct oracle_fetch fetch;
    enum pxr_status status = begin(&fetch, thread, inst);

    return status == PXR_OK ? run(&fetch, 2, 0) : status;
}

enum pxr_status oracle_tex_level(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    struct oracle_fetch fetch;
    enum pxr_status status = begin(&fetch, thread, inst);
    union oracle_value lod = oracle_read(thread, inst, 2, inst->types[1]);

    if (status != PXR_OK)
        return status;
    return run(&fetch, 3, inst->types[1] == PTX_TYPE_F32 ? (double)lod.f32 : lod.s32);
}

/* ---- gradients ---- */

/* The length of a step in elements of level 0. `from`: of a cube, the direction. */
static double step_length(const struct oracle_fetch *fetch, const double from[3], double step[3])
{
    int64_t sizes[3];
    double sum = 0;

    oracle_level_sizes(&fetch->image.descriptor.levels[0], sizes);
    if (oracle_fetch_is_cube(fetch)) {
        double m;
        double s;
        double t;
        double dm;
        double ds;
        double dt;

        on_face(face_of(from), from, &m, &s, &t);
        on_face(face_of(from), step, &dm, &ds, &dt);
        step[0] = (ds * m - s * dm) / (2 * m * m);
        step[1] = (dt * m - t * dm) / (2 * m * m);
    }
    for (unsigned i = 0; i < rt_texture_dimensions(fetch->image.descriptor.kind); i++) {
        double scale =
            fetch->sampler.is_normalised || oracle_fetch_is_cube(fetch) ? (double)sizes[i] : 1;

        sum += step[i] * scale * step[i] * scale;
    }
    return sqrt(sum);
}

enum pxr_status oracle_tex_grad(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    struct oracle_fetch fetch;
    enum pxr_status status = begin(&fetch, thread, inst);
    double longest = 0;
    double from[3] = {0};

    if (status != PXR_OK)
        return status;
    const struct ptx_operand *place = &inst->operands[1].elems[inst->operands[1].elem_count - 1];
    bool is_layered = oracle_has(inst, PTX_MOD_ACUBE);

    for (unsigned i = 0; i < 3 && oracle_fetch_is_cube(&fetch); i++)
        from[i] = (double)oracle_read_elem(thread, place, i + is_layered, PTX_TYPE_F32).f32;
    for (unsigned operand = 2; operand < 4; operand++) {
        const struct ptx_operand *vector = &inst->operands[operand];
        double step[3] = {0};

        for (unsigned i = 0; i < 3 && i < oracle_elem_count(vector); i++)
            step[i] = (double)oracle_read_elem(thread, vector, i, PTX_TYPE_F32).f32;
        longest = fmax(longest, step_length(&fetch, from, step));
    }
    return run(&fetch, 4, longest > 0 ? log2(longest) : -1000);
}

/* ---- tld4 ---- */

/* "in counter-clockwise order, beginning with the lower left": of the two rows the second first. */
enum pxr_status oracle_tld4(struct oracle_thread *thread, const struct ptx_inst *inst)
{
    static const struct {
        unsigned x, y;
    } corners[] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    struct oracle_fetch fetch;
    enum pxr_status status = begin(&fetch, thread, inst);
    struct oracle_element result = {0};
    unsigned channel = oracle_has(inst, PTX_MOD_G)   ? 1
                       : oracle_has(inst, PTX_MOD_B) ? 2
                       : oracle_has(inst, PTX_MOD_A) ? 3
                                                     : 0;
    int64_t sizes[3];

    if (status != PXR_OK)
        return status;
    read_rest(&fetch, 2);
    oracle_level_sizes(&fetch.image.descriptor.levels[0], sizes);
    for (unsigned i = 0; i < 4; i++) {
        int64_t index[3] = {0};
        double ignored = 1;
        bool has_x = oracle_linear_index(&fetch, 0, sizes[0], corners[i].x, &index[0], &ignored);
        bool has_y = oracle_linear_index(&fetch, 1, sizes[1], corners[i].y, &index[1], &ignored);

        result.raw[i] =
            oracle_read_element(&fetch, &fetch.image.descriptor.levels[0], index, !has_x || !has_y)
                .raw[channel];
    }
    return finish(&fetch, &result);
}
