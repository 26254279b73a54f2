/* SPDX-License-Identifier: Apache-2.0
 *
 * Fetches from textures of a known shape (kernel_abi/image_shape.h).
 */
#ifndef PTXRUN_TRANSLATOR_RT_SAMPLER_H
#define PTXRUN_TRANSLATOR_RT_SAMPLER_H

#include <stdint.h>

/* What rt_texture_fetch gives for a texture of that shape, which is its own sampler, of the only
 * level; without offsets, depth, gathering or halves. shape and is_float are constants where it
 * becomes part of a kernel. c01: x and y. */
unsigned __int128 rt_sample_shape(uint64_t texture, uint32_t shape, uint32_t is_float,
                                  uint64_t c01);

#endif
