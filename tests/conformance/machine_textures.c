/* SPDX-License-Identifier: Apache-2.0
 *
 * Templates for textures and surfaces. The image of a texture is constant; surfaces have one for
 * each block, of which every thread puts out a part when all are done. Coordinates and numbers are
 * such that every sum is exact.
 */
#include <stddef.h>
#include <string.h>

#include "kernel_abi/image_shape.h"
#include "tests/conformance/machine_case.h"
#include "tests/conformance/piece.h"

#define IMAGE_BYTES      8192
#define IMAGE_WORDS      (IMAGE_BYTES / 4)
#define SURFACE_BYTES    2048 /* of a block */
#define DESCRIPTOR_WORDS (sizeof(struct rt_texture) / 8)
#define LEVEL_WORDS      (sizeof(struct rt_texture_level) / 8)
#define LEVELS           3
#define SIDE             4

_Static_assert(sizeof(struct rt_texture) % 8 == 0, "words");
_Static_assert(offsetof(struct rt_texture, levels) % 8 == 0, "words");
_Static_assert(offsetof(struct rt_texture_level, base) == 0, "a level begins with its address");

static bool has_word(const struct piece *piece, const char *word)
{
    return machine_has_word(piece->form, word);
}

struct image_case {
    const char *label;
    uint8_t texel;
    uint8_t channels;
    bool gives_floats;
    bool is_normalised;
    bool is_linear;
    uint8_t address;
    uint8_t levels; /* 0: one */
    bool is_mip_linear;
};

static const struct image_case cases[] = {
    {"f32", RT_TEXEL_F32, 1, true, false, false, RT_TEXTURE_CLAMP, 0, false},
    {"f32, filtered", RT_TEXEL_F32, 4, true, false, true, RT_TEXTURE_CLAMP, 0, false},
    {"f32, filtered, wrapped", RT_TEXEL_F32, 2, true, true, true, RT_TEXTURE_WRAP, 0, false},
    {"f32, filtered, mirrored", RT_TEXEL_F32, 1, true, true, true, RT_TEXTURE_MIRROR, 0, false},
    {"f32, filtered, border", RT_TEXEL_F32, 4, true, true, true, RT_TEXTURE_BORDER, 0, false},
    {"f32, mirrored", RT_TEXEL_F32, 1, true, true, false, RT_TEXTURE_MIRROR, 0, false},
    {"f16, filtered", RT_TEXEL_F16, 4, true, true, true, RT_TEXTURE_CLAMP, 0, false},
    {"u8, border", RT_TEXEL_U8, 4, false, false, false, RT_TEXTURE_BORDER, 0, false},
    {"s16, wrapped", RT_TEXEL_S16, 2, false, true, false, RT_TEXTURE_WRAP, 0, false},
    {"u32", RT_TEXEL_U32, 1, false, false, false, RT_TEXTURE_CLAMP, 0, false},
    {"parts of u8", RT_TEXEL_U8, 4, true, false, false, RT_TEXTURE_CLAMP, 0, false},
    {"parts of s8", RT_TEXEL_S8, 1, true, true, false, RT_TEXTURE_WRAP, 0, false},
    {"parts of s16", RT_TEXEL_S16, 2, true, false, false, RT_TEXTURE_BORDER, 0, false},
    {"1010102", RT_TEXEL_1010102, 4, true, false, false, RT_TEXTURE_CLAMP, 0, false},
    {"f32, filtered, border, in elements", RT_TEXEL_F32, 1, true, false, true, RT_TEXTURE_BORDER, 0,
     false},
    {"u32, border", RT_TEXEL_U32, 4, false, true, false, RT_TEXTURE_BORDER, 0, false},
    {"parts of u8, wrapped", RT_TEXEL_U8, 1, true, true, false, RT_TEXTURE_WRAP, 0, false},
    {"u8, mirrored", RT_TEXEL_U8, 2, false, true, false, RT_TEXTURE_MIRROR, 0, false},
    {"levels", RT_TEXEL_F32, 1, true, true, true, RT_TEXTURE_WRAP, LEVELS, true},
    {"nearest level", RT_TEXEL_F32, 2, true, true, false, RT_TEXTURE_CLAMP, LEVELS, false},
};
#define CASES (sizeof cases / sizeof cases[0])

enum addition { NOTHING, OFFSETS, DEPTH, OFFSETS_AND_DEPTH, RESIDENCE, OTHER_MARK, ADDITIONS };
static const char *const addition_labels[ADDITIONS] = {
    "", "offsets", "depth", "offsets and depth", "residence", "no texture"};

/* ---- images ---- */

static enum rt_texture_kind kind_of(const struct piece *piece)
{
    static const char *const words[] = {[RT_TEXTURE_1D] = "1d",      [RT_TEXTURE_2D] = "2d",
                                        [RT_TEXTURE_3D] = "3d",      [RT_TEXTURE_A1D] = "a1d",
                                        [RT_TEXTURE_A2D] = "a2d",    [RT_TEXTURE_CUBE] = "cube",
                                        [RT_TEXTURE_ACUBE] = "acube"};
    for (unsigned i = RT_TEXTURE_1D; i < RT_TEXTURE_KINDS; i++)
        if (has_word(piece, words[i]))
            return (enum rt_texture_kind)i;
    return RT_TEXTURE_2D;
}

static uint8_t texel_bytes(uint8_t texel)
{
    static const uint8_t bytes[] = {1, 2, 4, 1, 2, 4, 2, 4, 1};
    return bytes[texel];
}

static struct rt_texture describe(const struct image_case *made, enum rt_texture_kind kind)
{
    struct rt_texture image = {
        .mark = RT_TEXTURE_MARK,
        .kind = (uint8_t)kind,
        .texel = made->texel,
        .channels = made->channels,
        .elem_bytes = (uint8_t)(texel_bytes(made->texel) * made->channels),
        .gives_floats = made->gives_floats,
        .is_normalised = made->is_normalised,
        .is_linear = made->is_linear,
        .is_mip_linear = made->is_mip_linear,
        .address = {made->address, made->address, made->address},
        .level_count = made->levels ? made->levels : 1,
        .border = {2.0f, -1.0f, 0.5f, 8.0f},
        .lod_min = 0.25f,
        .lod_max = 1.5f,
    };
    uint64_t offset = 0;
    for (uint32_t i = 0; i < image.level_count; i++) {
        uint32_t side = SIDE >> i;
        struct rt_texture_level *level = &image.levels[i];
        uint32_t dimensions = rt_texture_dimensions(kind);
        *level = (struct rt_texture_level){
            .base = offset,
            .width = side,
            .height = dimensions > 1 ? side : 1,
            .depth = dimensions > 2 ? side : 1,
            .layers = kind == RT_TEXTURE_CUBE       ? RT_CUBE_FACES
                      : kind == RT_TEXTURE_ACUBE    ? 2 * RT_CUBE_FACES
                      : rt_texture_is_layered(kind) ? 3
                                                    : 1,
        };
        level->pitch_bytes = (uint64_t)side * image.elem_bytes + 16;
        level->slice_bytes = level->pitch_bytes * level->height;
        offset += level->slice_bytes * level->depth * level->layers;
    }
    return image;
}

static void put_descriptor(struct piece *piece, const struct rt_texture *image, unsigned symbol,
                           uint64_t offset)
{
    uint64_t words[DESCRIPTOR_WORDS];
    size_t first = offsetof(struct rt_texture, levels) / 8;
    memcpy(words, image, sizeof words);
    for (size_t i = 0; i < DESCRIPTOR_WORDS; i++) {
        bool is_base = i >= first && (i - first) % LEVEL_WORDS == 0 &&
                       (i - first) / LEVEL_WORDS < image->level_count;
        fputs(i == 0 && offset == 0 ? "" : ",", piece->decls);
        if (is_base)
            fprintf(piece->decls, "image%u+%llu", symbol, (unsigned long long)(words[i] + offset));
        else
            fprintf(piece->decls, "0x%llx", (unsigned long long)words[i]);
    }
}

/* Numbers from 0 to 255; a few are negative. */
static uint32_t word_of(uint8_t texel, uint32_t i)
{
    uint32_t mixed = i * 2654435761u;
    float number = (float)(mixed >> 24) * (mixed & 0x700 ? 1.0f : -1.0f);
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    if (texel == RT_TEXEL_F32)
        return bits;
    if (texel == RT_TEXEL_F16)
        return 0x3c004000u + (mixed >> 24 << 18) % 0x1000000u + (mixed >> 16 & 0xff) * 4;
    return mixed ^ mixed >> 15;
}

static void put_texture(struct piece *piece, const struct rt_texture *image)
{
    fprintf(piece->decls, ".global .align 16 .b32 image%u[%u] = {", piece->number, IMAGE_WORDS);
    for (uint32_t i = 0; i < IMAGE_WORDS; i++)
        fprintf(piece->decls, "%s0x%x", i == 0 ? "" : ",", word_of(image->texel, i));
    fprintf(piece->decls, "};\n.global .align 8 .b64 texture%u[%zu] = {", piece->number,
            DESCRIPTOR_WORDS);
    put_descriptor(piece, image, piece->number, 0);
    fputs("};\n", piece->decls);
}

/* ---- coordinates ---- */

static void put_registers(FILE *body)
{
    fputs(".reg .b64 %texture, %at, %word;\n.reg .b32 %c<4>, %r<8>, %layer, %raw;\n"
          ".reg .f32 %x, %y, %z, %lod, %depth, %g<6>;\n.reg .b16 %h<4>;\n.reg .pred %q;\n"
          ".reg .b64 %w<4>;\nmov.b64 {%raw, %layer}, %d0;\n",
          body);
    for (unsigned i = 0; i < 4; i++)
        fprintf(body, "bfe.s32 %%c%u, %%raw, %u, 6;\n", i, 6 * i);
    fputs("bfe.s32 %layer, %layer, 3, 3;\n", body);
}

/* Multiples of 1/16, and of 1/32 if they are parts of the image; and what is not a number. */
static void put_floats(FILE *body, bool is_cube, bool is_normalised)
{
    static const char *const names[] = {"x", "y", "z"};
    static const char *const odd[] = {"0f7fc00000", "0f7f800000", "0fff800000", "0f7149f2ca",
                                      "0f80000000"};
    for (unsigned i = 0; i < 3; i++)
        fprintf(body, "cvt.rn.f32.s32 %%%s, %%c%u;\nmul.f32 %%%s, %%%s, 0f%s;\n", names[i], i,
                names[i], names[i],
                is_cube         ? "3d000000"
                : is_normalised ? "3d000000"
                                : "3e000000");
    for (unsigned i = 0; i < 5 && !is_cube; i++)
        fprintf(body, "setp.eq.u32 %%q, %%lane, %u;\nselp.f32 %%%s, %s, %%%s, %%q;\n", 3 + 2 * i,
                names[i % 2], odd[i], names[i % 2]);
    fputs("cvt.rn.f32.s32 %lod, %c3;\nmul.f32 %lod, %lod, 0f3d800000;\n"
          "cvt.rn.f32.s32 %depth, %c2;\nmul.f32 %depth, %depth, 0f40800000;\n",
          body);
}

/* One of a direction's numbers is 1 or -1, and the others smaller. */
static void put_direction(FILE *body)
{
    static const char *const names[] = {"x", "y", "z"};
    fputs("rem.u32 %r0, %lane, 6;\n", body);
    for (unsigned i = 0; i < 6; i++)
        fprintf(body, "setp.eq.u32 %%q, %%r0, %u;\nselp.f32 %%%s, 0f%s, %%%s, %%q;\n", i,
                names[i % 3], i < 3 ? "3f800000" : "bf800000", names[i % 3]);
}

static unsigned coordinates_of(enum rt_texture_kind kind)
{
    return rt_texture_is_cube(kind) ? 3 : rt_texture_dimensions(kind);
}

/* {layer, x, y, z}; three are written as four. */
static void put_place(struct piece *piece, enum rt_texture_kind kind, bool is_float)
{
    static const char *const floats[] = {"%x", "%y", "%z"};
    static const char *const integers[] = {"%c0", "%c1", "%c2"};
    const char *const *names = is_float ? floats : integers;
    unsigned written = 0;
    fputs("{", piece->body);
    if (rt_texture_is_layered(kind)) {
        fputs("%layer", piece->body);
        written++;
    }
    for (unsigned i = 0; i < coordinates_of(kind); i++)
        fprintf(piece->body, "%s%s", written++ == 0 ? "" : ", ", names[i]);
    if (written == 3)
        fprintf(piece->body, ", %s", names[0]);
    fputs("}", piece->body);
}

/* ---- fetches ---- */

static void put_results(struct piece *piece, bool resides)
{
    bool is_half = has_word(piece, "f16");
    bool is_pair = has_word(piece, "f16x2");
    fputs(is_half   ? "{%h0, %h1, %h2, %h3}"
          : is_pair ? "{%r0, %r1}"
                    : "{%r0, %r1, %r2, %r3}",
          piece->body);
    fputs(resides ? "|%q" : "", piece->body);
}

static void put_output(struct piece *piece, bool resides)
{
    if (has_word(piece, "f16"))
        fputs("mov.b32 %r0, {%h0, %h1};\nmov.b32 %r1, {%h2, %h3};\n", piece->body);
    fputs("st.global.b32 [%out], %r0;\nst.global.b32 [%out+4], %r1;\n", piece->body);
    if (!has_word(piece, "f16") && !has_word(piece, "f16x2"))
        fputs("st.global.b32 [%out+8], %r2;\nst.global.b32 [%out+12], %r3;\n", piece->body);
    if (resides)
        fputs("selp.b32 %r4, 1, 0, %q;\nst.global.b32 [%out+16], %r4;\n", piece->body);
}

/* A step along one axis whose length is a power of 2. */
static void put_gradients(struct piece *piece)
{
    fputs("and.b32 %r5, %c3, 3;\nsub.s32 %r5, %r5, 2;\nshl.b32 %r5, %r5, 23;\n"
          "add.s32 %r5, %r5, 0x3f000000;\nmov.b32 %g0, %r5;\n"
          "mov.b32 %g1, 0;\nmov.b32 %g2, 0;\nmov.b32 %g3, 0;\nmov.b32 %g4, 0;\nmov.b32 %g5, 0;\n",
          piece->body);
}

static void put_gradient(struct piece *piece, enum rt_texture_kind kind, unsigned first)
{
    unsigned count = coordinates_of(kind);
    fputs(", {", piece->body);
    for (unsigned i = 0; i < (count == 3 ? 4 : count); i++)
        fprintf(piece->body, "%s%%g%u", i == 0 ? "" : ", ", first + (i < 3 ? i : 0));
    fputs("}", piece->body);
}

static void put_offsets(struct piece *piece, enum rt_texture_kind kind)
{
    static const int offsets[] = {1, -2, 3, 0};
    unsigned count = rt_texture_dimensions(kind);
    fputs(", {", piece->body);
    for (unsigned i = 0; i < (count == 3 ? 4 : count); i++)
        fprintf(piece->body, "%s%d", i == 0 ? "" : ", ", offsets[i]);
    fputs("}", piece->body);
}

static bool may_add(const struct piece *piece, enum rt_texture_kind kind, enum addition addition)
{
    bool has_offsets = addition == OFFSETS || addition == OFFSETS_AND_DEPTH;
    bool has_depth = addition == DEPTH || addition == OFFSETS_AND_DEPTH;
    bool is_float = has_word(piece, "f32") && piece->form->type_count > 1 &&
                    piece->form->types[1] == PTX_TYPE_F32;
    if (has_offsets && rt_texture_is_cube(kind))
        return false;
    return !has_depth || (is_float && kind != RT_TEXTURE_3D);
}

static bool find_case(const struct piece *piece, enum rt_texture_kind kind, unsigned *made,
                      enum addition *addition)
{
    unsigned n = piece->n;
    for (*made = 0; *made < CASES; ++*made) {
        for (unsigned i = 0; i < ADDITIONS; i++) {
            bool is_plain = i == NOTHING;
            bool is_chosen = *made % 5 == i - 1u && may_add(piece, kind, (enum addition)i);
            *addition = (enum addition)i;
            if ((is_plain || is_chosen) && n-- == 0)
                return true;
        }
    }
    return false;
}

static void put_fetch(struct piece *piece, enum rt_texture_kind kind, enum addition addition)
{
    bool is_float = piece->form->types[1] == PTX_TYPE_F32;
    fprintf(piece->body, "%s ", piece->form->text);
    put_results(piece, addition == RESIDENCE);
    fputs(", [%texture, ", piece->body);
    put_place(piece, kind, is_float);
    fputs("]", piece->body);
    if (has_word(piece, "level"))
        fputs(is_float ? ", %lod" : ", %c3", piece->body);
    if (has_word(piece, "grad")) {
        put_gradient(piece, kind, 0);
        put_gradient(piece, kind, 3);
    }
    if (addition == OFFSETS || addition == OFFSETS_AND_DEPTH)
        put_offsets(piece, kind);
    if (addition == DEPTH || addition == OFFSETS_AND_DEPTH)
        fputs(", %depth", piece->body);
    fputs(";\n", piece->body);
}

/* Handles of textures whose shape is one of the usual ones say it, as those of the host side do. */
static void put_shape(struct piece *piece, const struct rt_texture *image)
{
    uint32_t shape = rt_shape_of(image);
    if (shape != 0)
        fprintf(piece->body, "or.b64 %%texture, %%texture, 0x%x000000000000;\n", shape);
}

static bool make_fetch(struct piece *piece)
{
    static char label[64];
    enum rt_texture_kind kind = kind_of(piece);
    enum addition addition;
    unsigned index;
    if (has_word(piece, "2dms") || has_word(piece, "a2dms") ||
        !find_case(piece, kind, &index, &addition))
        return false;
    struct rt_texture image = describe(&cases[index], kind);
    snprintf(label, sizeof label, "%s %s", cases[index].label, addition_labels[addition]);
    piece->label = label;
    image.mark += addition == OTHER_MARK;
    piece->is_fault = addition == OTHER_MARK;
    piece->is_alone = true;
    put_texture(piece, &image);
    put_registers(piece->body);
    put_floats(piece->body, rt_texture_is_cube(kind), image.is_normalised);
    if (rt_texture_is_cube(kind))
        put_direction(piece->body);
    if (has_word(piece, "grad"))
        put_gradients(piece);
    fprintf(piece->body, "mov.u64 %%texture, texture%u;\n", piece->number);
    put_shape(piece, &image);
    put_fetch(piece, kind, addition);
    put_output(piece, addition == RESIDENCE);
    return true;
}

/* ---- queries ---- */

static bool make_query(struct piece *piece)
{
    if (piece->n >= CASES)
        return false;
    bool is_surface = strncmp(piece->form->text, "suq", 3) == 0;
    bool has_level = has_word(piece, "level");
    struct rt_texture image =
        describe(&cases[piece->n],
                 (enum rt_texture_kind)(RT_TEXTURE_1D + piece->n % (RT_TEXTURE_KINDS - 1)));
    image.mark = is_surface ? RT_SURFACE_MARK : RT_TEXTURE_MARK;
    piece->label = cases[piece->n].label;
    put_texture(piece, &image);
    put_registers(piece->body);
    fprintf(
        piece->body,
        "mov.u64 %%texture, texture%u;\n%s %%r0, [%%texture]%s;\nst.global.b32 [%%out], %%r0;\n",
        piece->number, piece->form->text, has_level ? ", %lane" : "");
    return true;
}

static bool make_type(struct piece *piece)
{
    static const uint32_t marks[] = {RT_TEXTURE_MARK, RT_SURFACE_MARK, RT_SAMPLER_MARK, 0};
    static const char *const labels[] = {"texture", "surface", "sampler", "nothing"};
    if (piece->n >= 4)
        return false;
    struct rt_texture image = describe(&cases[0], RT_TEXTURE_2D);
    image.mark = marks[piece->n];
    piece->label = labels[piece->n];
    put_texture(piece, &image);
    put_registers(piece->body);
    fprintf(piece->body,
            "mov.u64 %%texture, texture%u;\n%s %%q, %%texture;\nselp.b32 %%r0, 1, 0, %%q;\n"
            "st.global.b32 [%%out], %%r0;\n",
            piece->number, piece->form->text);
    return true;
}

/* ---- surfaces ---- */

struct surface_case {
    const char *label;
    uint8_t texel;
    uint8_t channels;
    bool gives_floats;
    bool is_outside;
};

static const struct surface_case surfaces[] = {
    {"u8", RT_TEXEL_U8, 4, false, false},           {"s8", RT_TEXEL_S8, 4, false, false},
    {"s16", RT_TEXEL_S16, 2, false, false},         {"u16", RT_TEXEL_U16, 4, false, true},
    {"u32", RT_TEXEL_U32, 1, false, false},         {"s32", RT_TEXEL_S32, 4, false, false},
    {"f32", RT_TEXEL_F32, 2, true, true},           {"parts of u8", RT_TEXEL_U8, 4, true, false},
    {"parts of s16", RT_TEXEL_S16, 2, true, false},
};

static void put_surfaces(struct piece *piece, const struct rt_texture *image)
{
    fprintf(piece->decls,
            ".global .align 16 .b8 image%u[%u];\n.global .align 8 .b64 texture%u[%zu] = {",
            piece->number, MACHINE_BLOCKS * SURFACE_BYTES, piece->number,
            MACHINE_BLOCKS * DESCRIPTOR_WORDS);
    for (unsigned block = 0; block < MACHINE_BLOCKS; block++)
        put_descriptor(piece, image, piece->number, (uint64_t)block * SURFACE_BYTES);
    fputs("};\n", piece->decls);
}

/* Places are inside, but for modes with a meaning for others and cases that shall fault: there
 * those of every second thread may be anywhere. In bytes they are multiples of what is accessed. */
static void put_surface_place(struct piece *piece, const struct rt_texture *image, bool is_outside)
{
    unsigned bytes = has_word(piece, "p") ? 1
                                          : (unsigned)ptx_type_bits(piece->form->types[0]) / 8 *
                                                (has_word(piece, "v4")   ? 4
                                                 : has_word(piece, "v2") ? 2
                                                                         : 1);
    put_registers(piece->body);
    fprintf(piece->body, "{ .reg .b32 %%bits, %%mask;\nand.b32 %%bits, %%thread, %u;\n",
            is_outside ? 1 : 0);
    fputs("neg.s32 %bits, %bits;\n", piece->body);
    for (unsigned i = 0; i < 3; i++)
        fprintf(piece->body, "or.b32 %%mask, %%bits, %u;\nand.b32 %%c%u, %%c%u, %%mask;\n",
                i == 0 && bytes > 1 ? SIDE * image->elem_bytes / bytes - 1 : SIDE - 1, i, i);
    fputs("}\n", piece->body);
    fprintf(piece->body, "mul.lo.s32 %%c0, %%c0, %u;\nand.b32 %%layer, %%layer, %u;\n", bytes,
            is_outside ? 7 : 1);
    fprintf(piece->body,
            "mov.u64 %%texture, texture%u;\nmad.wide.u32 %%texture, %%block, %zu, %%texture;\n"
            "mov.u64 %%at, image%u;\nmad.wide.u32 %%at, %%block, %u, %%at;\n"
            "mad.wide.u32 %%at, %%thread, %u, %%at;\n",
            piece->number, sizeof(struct rt_texture), piece->number, SURFACE_BYTES,
            SURFACE_BYTES / MACHINE_THREADS);
}

/* The thread's part of the image: bytes in, bytes out. */
static void put_part(struct piece *piece, bool is_load)
{
    for (unsigned i = 0; i < 4; i++)
        fprintf(piece->body,
                is_load ? "ld.global.b64 %%w%u, [%%at+%u];\nst.global.b64 [%%out+%u], %%w%u;\n"
                        : "mul.lo.u64 %%w%u, %%w0, %u;\nst.global.b64 [%%at+%u], %%w%u;\n",
                i, is_load ? 8 * i : 2 * i + 1, is_load ? 32 + 8 * i : 8 * i, i);
}

static unsigned width_of(const struct piece *piece)
{
    return has_word(piece, "v4") ? 4 : has_word(piece, "v2") ? 2 : 1;
}

/* All threads store the same, as several may store to one place. */
static void put_values(struct piece *piece, bool is_store)
{
    static const char *const names[] = {"%h", "%r", "%w"};
    unsigned bits = ptx_type_bits(piece->form->types[0]);
    unsigned kind = bits <= 16 ? 0 : bits == 32 ? 1 : 2;
    for (unsigned i = 0; is_store && i < width_of(piece); i++)
        fprintf(piece->body, "mov.b%u %s%u, %u;\n", kind == 0 ? 16 : bits, names[kind], i,
                kind == 0 ? 0x1234u + i * 0x0a01u : 0x3ec00000u + i * 0x00110107u);
    for (unsigned i = 0; !is_store && i < width_of(piece); i++)
        fprintf(piece->body, "st.global.b%u [%%out+%u], %s%u;\n", kind == 0 ? 16 : bits,
                (kind == 2 ? 8 : 4) * i, names[kind], i);
}

static void put_vector(struct piece *piece)
{
    static const char *const names[] = {"%h", "%r", "%w"};
    unsigned bits = ptx_type_bits(piece->form->types[0]);
    unsigned kind = bits <= 16 ? 0 : bits == 32 ? 1 : 2;
    fputs("{", piece->body);
    for (unsigned i = 0; i < width_of(piece); i++)
        fprintf(piece->body, "%s%s%u", i == 0 ? "" : ", ", names[kind], i);
    fputs("}", piece->body);
}

static const struct surface_case *find_surface(const struct piece *piece)
{
    bool is_reduction = strncmp(piece->form->text, "sured", 5) == 0;
    bool is_formatted = has_word(piece, "p");
    unsigned n = piece->n;
    for (size_t i = 0; i < sizeof surfaces / sizeof surfaces[0]; i++) {
        const struct surface_case *made = &surfaces[i];
        bool is_word = made->texel == RT_TEXEL_U32 || made->texel == RT_TEXEL_S32;
        bool is_good =
            is_reduction
                ? is_word && (!is_formatted || made->channels == 1 || made->texel == RT_TEXEL_S32)
                : is_formatted || texel_bytes(made->texel) * made->channels >= 4;
        if (is_good && n-- == 0)
            return made;
    }
    return NULL;
}

static bool make_surface(struct piece *piece)
{
    const struct surface_case *made = find_surface(piece);
    if (made == NULL)
        return false;
    bool is_load = strncmp(piece->form->text, "suld", 4) == 0;
    bool is_reduction = strncmp(piece->form->text, "sured", 5) == 0;
    bool is_outside = made->is_outside || !has_word(piece, "trap");
    const struct image_case like = {
        NULL, made->texel, made->channels, made->gives_floats, false, false, 0, 0, false};
    struct rt_texture image = describe(&like, kind_of(piece));
    image.mark = RT_SURFACE_MARK;
    piece->label = made->label;
    piece->is_alone = true;
    piece->is_fault = is_outside && has_word(piece, "trap");
    put_surfaces(piece, &image);
    put_surface_place(piece, &image, is_outside);
    fputs("mov.b64 %w0, 0x8090a0b0c0d0e0f1;\n", piece->body);
    put_part(piece, false);
    fputs("bar.sync 0;\n", piece->body);
    if (is_load) {
        fprintf(piece->body, "%s ", piece->form->text);
        put_vector(piece);
        fputs(", [%texture, ", piece->body);
        put_place(piece, kind_of(piece), false);
        fputs("];\n", piece->body);
        put_values(piece, false);
        return true;
    }
    if (!is_reduction)
        put_values(piece, true);
    fprintf(piece->body, "%s [%%texture, ", piece->form->text);
    put_place(piece, kind_of(piece), false);
    fputs("], ", piece->body);
    if (is_reduction)
        fputs(ptx_type_bits(piece->form->types[0]) == 64 ? "%d1" : "%raw", piece->body);
    else
        put_vector(piece);
    fputs(";\nbar.sync 0;\n", piece->body);
    put_part(piece, true);
    return true;
}

const struct template texture_templates[] = {
    {"tex", make_fetch},    {"tld4", make_fetch},    {"txq", make_query},
    {"suq", make_query},    {"istypep", make_type},  {"suld", make_surface},
    {"sust", make_surface}, {"sured", make_surface}, {NULL, NULL},
};
