/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels/table_images.cu computes, as a CPU programmer writes it: indices are clamped, and
 * the compiler makes gathers. Fractions of the filter have 8 bits, as those of textures.
 */
#include "tools/bench/plain/table_images.h"

#include <math.h>

static inline int clamp(int index, int size)
{
    int below = index < 0 ? 0 : index;
    return below < size ? below : size - 1;
}

struct turn {
    int width, height;
    float cosine, sine;
};

static struct turn turn_of(const struct table_args *args)
{
    return (struct turn){(int)args->n[0], (int)args->n[1], (float)args->scalar[0],
                         (float)args->scalar[1]};
}

static inline float source_x(const struct turn *turn, int x, int y)
{
    return turn->cosine * ((float)x + 0.5f) - turn->sine * ((float)y + 0.5f);
}

static inline float source_y(const struct turn *turn, int x, int y)
{
    return turn->sine * ((float)x + 0.5f) + turn->cosine * ((float)y + 0.5f);
}

void plain_turn_nearest(const struct table_args *args)
{
    struct turn turn = turn_of(args);
    const float *image = args->buffer[0];
#pragma omp parallel for num_threads(args->threads)
    for (int y = 0; y < turn.height; y++) {
        float *out = (float *)args->buffer[1] + (long)y * turn.width;
#pragma omp simd
        for (int x = 0; x < turn.width; x++) {
            int column = clamp((int)floorf(source_x(&turn, x, y)), turn.width);
            int row = clamp((int)floorf(source_y(&turn, x, y)), turn.height);
            out[x] = image[row * turn.width + column];
        }
    }
}

/* The first of two neighbours, and the weight of the second. */
struct span {
    int first;
    float weight;
};

static inline struct span span_of(float at)
{
    int fixed = (int)rintf(at * 256.0f) - 128;
    return (struct span){fixed >> 8, (float)(fixed & 255) / 256.0f};
}

static inline float mix(float a, float b, float weight)
{
    return a + weight * (b - a);
}

void plain_turn_filtered(const struct table_args *args)
{
    struct turn turn = turn_of(args);
    const float *image = args->buffer[0];
#pragma omp parallel for num_threads(args->threads)
    for (int y = 0; y < turn.height; y++) {
        float *out = (float *)args->buffer[1] + (long)y * turn.width;
#pragma omp simd
        for (int x = 0; x < turn.width; x++) {
            struct span across = span_of(source_x(&turn, x, y));
            struct span down = span_of(source_y(&turn, x, y));
            int left = clamp(across.first, turn.width);
            int right = clamp(across.first + 1, turn.width);
            int above = clamp(down.first, turn.height) * turn.width;
            int below = clamp(down.first + 1, turn.height) * turn.width;
            out[x] =
                mix(mix(image[above + left], image[above + right], across.weight),
                    mix(image[below + left], image[below + right], across.weight), down.weight);
        }
    }
}

static inline float channel(unsigned pixel, int shift)
{
    return (float)(int)(pixel >> shift & 255);
}

void plain_turn_colours(const struct table_args *args)
{
    struct turn turn = turn_of(args);
    const unsigned *image = args->buffer[0];
#pragma omp parallel for num_threads(args->threads)
    for (int y = 0; y < turn.height; y++) {
        unsigned *out = (unsigned *)args->buffer[1] + (long)y * turn.width;
#pragma omp simd
        for (int x = 0; x < turn.width; x++) {
            struct span across = span_of(source_x(&turn, x, y));
            struct span down = span_of(source_y(&turn, x, y));
            int left = clamp(across.first, turn.width);
            int right = clamp(across.first + 1, turn.width);
            int above = clamp(down.first, turn.height) * turn.width;
            int below = clamp(down.first + 1, turn.height) * turn.width;
            unsigned a = image[above + left], b = image[above + right];
            unsigned c = image[below + left], d = image[below + right];
            unsigned pixel = 0;
            for (int shift = 0; shift < 32; shift += 8) {
                float colour =
                    mix(mix(channel(a, shift), channel(b, shift), across.weight),
                        mix(channel(c, shift), channel(d, shift), across.weight), down.weight);
                pixel |= (unsigned)(int)(colour + 0.5f) << shift;
            }
            out[x] = pixel;
        }
    }
}
