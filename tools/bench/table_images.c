/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of `ptxbench table` that fetch from textures: an image that is turned, point by point, with
 * a linear filter, and with one of colours.
 */
#include "tools/bench/plain/table_images.h"
#include "kernel_abi/image_shape.h"
#include "tools/bench/table_case.h"

#define SIDE    1024u
#define BLOCK_X 32u
#define BLOCK_Y 8u
/* About 5 degrees, in 1/1024: all places are exact, fused operations or not. */
#define COSINE (1020.0 / 1024)
#define SINE   (89.0 / 1024)

static struct rt_texture describe(const struct table_args *args, bool is_linear)
{
    return (struct rt_texture){
        .mark = RT_TEXTURE_MARK,
        .kind = RT_TEXTURE_2D,
        .texel = RT_TEXEL_F32,
        .channels = 1,
        .elem_bytes = 4,
        .gives_floats = true,
        .is_linear = is_linear,
        .address = {RT_TEXTURE_CLAMP, RT_TEXTURE_CLAMP, RT_TEXTURE_CLAMP},
        .level_count = 1,
        .levels = {{.base = (uintptr_t)args->buffer[0],
                    .pitch_bytes = 4 * (uint64_t)args->n[0],
                    .width = args->n[0],
                    .height = args->n[1],
                    .depth = 1,
                    .layers = 1}},
    };
}

/* The descriptor lives until the launch is done. */
static void turn(struct table_run *run, const struct table_args *args, const char *entry,
                 const struct rt_texture *image)
{
    uint64_t handle = rt_handle_of(image);
    float cosine = (float)args->scalar[0];
    float sine = (float)args->scalar[1];
    table_launch(run, &(struct table_launch){.entry = entry,
                                             .grid = {args->n[0] / BLOCK_X, args->n[1] / BLOCK_Y},
                                             .block = {BLOCK_X, BLOCK_Y},
                                             .args = {&handle, &args->buffer[1], &args->n[0],
                                                      &args->n[1], &cosine, &sine}});
    table_wait(run);
}

static void turn_nearest(struct table_run *run, const struct table_args *args)
{
    struct rt_texture image = describe(args, false);
    turn(run, args, "turn_floats", &image);
}

static void turn_filtered(struct table_run *run, const struct table_args *args)
{
    struct rt_texture image = describe(args, true);
    turn(run, args, "turn_floats", &image);
}

static void turn_colours(struct table_run *run, const struct table_args *args)
{
    struct rt_texture image = describe(args, true);
    image.texel = RT_TEXEL_U8;
    image.channels = 4;
    turn(run, args, "turn_colours", &image);
}

/* Channels are 0 or 255, so that sums are exact. */
static void fill_colours(const struct table_args *args)
{
    uint32_t *image = args->buffer[0];
    for (uint32_t i = 0; i < args->n[0] * args->n[1]; i++)
        image[i] = (image[i] >> 7 & 0x01010101u) * 255u;
}

#define ROW(name, type, tolerance, ...)                                                            \
    {.kernel = #name,                                                                              \
     .size = "1024^2",                                                                             \
     .file = "table_images",                                                                       \
     .buffers = {{TABLE_IN, type, 4ul * SIDE * SIDE, 0},                                           \
                 {TABLE_OUT, type, 4ul * SIDE * SIDE, tolerance}},                                 \
     .n = {SIDE, SIDE},                                                                            \
     .scalar = {COSINE, SINE},                                                                     \
     .ours = name,                                                                                 \
     .plain = "plain_" #name,                                                                      \
     __VA_ARGS__}

static const struct table_row rows[] = {
    ROW(turn_nearest, BENCH_F32, 0),
    ROW(turn_filtered, BENCH_F32, 1e-5),
    ROW(turn_colours, BENCH_U32, 0, .fill = fill_colours),
};

const struct table_rows table_images = {rows, sizeof rows / sizeof rows[0]};
