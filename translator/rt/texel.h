/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of images: what textures give of them. Part of the process, not of kernels.
 */
#ifndef PTXRUN_TRANSLATOR_RT_TEXEL_H
#define PTXRUN_TRANSLATOR_RT_TEXEL_H

#include <stdint.h>

#include "kernel_abi/texture.h"

/* Four channels: floats or integers, as the texture gives them. */
struct rt_texel_value {
    uint32_t bits[4];
};

/* The element at a place that the level has. slice: the plane, layer or face. */
struct rt_texel_value rt_texel_read(const struct rt_texture *texture,
                                    const struct rt_texture_level *level, uint32_t x, uint32_t y,
                                    uint32_t slice);

/* What lies outside of the image, where the address mode is border. */
struct rt_texel_value rt_texel_border(const struct rt_texture *texture);

uint16_t rt_half_of_float(float value);

#endif
