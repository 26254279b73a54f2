/* SPDX-License-Identifier: Apache-2.0
 *
 * What kernels do with descriptors of textures and surfaces themselves (PTX ISA "suld", "sust",
 * "sured", "txq", "suq").
 */
#ifndef PTXRUN_TRANSLATOR_RT_SURFACE_H
#define PTXRUN_TRANSLATOR_RT_SURFACE_H

#include <stdint.h>

#include "kernel_abi/texture.h"

/* The address of so many bytes at a place of the surface; 0: it lies outside, and the mode is not
 * clamp. x counts bytes, or elements with is_formatted. */
uint64_t rt_surface_address(const struct rt_texture *surface, uint32_t mode, uint32_t is_formatted,
                            int32_t x, int32_t y, int32_t z, int32_t layer, uint32_t bytes);

/* sust.p: an element's channels of 32 bits each, as many as count. */
void rt_surface_store(const struct rt_texture *surface, uint8_t *at, uint32_t count, uint64_t c01,
                      uint64_t c23);

enum rt_surface_op {
    RT_SURFACE_ADD,
    RT_SURFACE_MIN,
    RT_SURFACE_MAX,
    RT_SURFACE_AND,
    RT_SURFACE_OR
};

/* sured. bits: 32 or 64. is_signed: 2: as the surface's format says. */
#define RT_SURFACE_BY_FORMAT 2
void rt_surface_reduce(const struct rt_texture *surface, uint8_t *at, uint32_t op, uint32_t bits,
                       uint32_t is_signed, uint64_t value);

uint32_t rt_texture_query(const struct rt_texture *texture, uint32_t query, uint32_t level);

#endif
