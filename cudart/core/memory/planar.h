/* SPDX-License-Identifier: Apache-2.0
 *
 * Formats of pictures whose brightness and colours lie in planes of their own.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_PLANAR_H
#define PTXRUN_CUDART_CORE_MEMORY_PLANAR_H

#include "cudart/core/memory/array.h"

struct crt_planar {
    unsigned format;
    unsigned channel_format; /* of every plane's texels */
    unsigned planes;         /* 2: brightness, both colours; 3: one each */
    unsigned is_half_wide;   /* the planes of colours */
    unsigned is_half_high;
};

/* How a format's planes lie; NULL for a format that has none. */
const struct crt_planar *crt_planar_of(unsigned format);

/* The shape of a plane of an array. */
struct crt_array_shape crt_planar_shape(const struct crt_planar *planar,
                                        const struct crt_array_shape *whole, unsigned plane);

#endif
