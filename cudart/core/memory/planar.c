/* SPDX-License-Identifier: Apache-2.0
 *
 * Planar formats.
 */
#include "cudart/core/memory/planar.h"

static const struct crt_planar formats[] = {
    {0xb0, CRT_FORMAT_U8, 2, 1, 1},  /* NV12 */
    {0x9f, CRT_FORMAT_U16, 2, 1, 1}, /* P010 */
    {0xa1, CRT_FORMAT_U16, 2, 1, 1}, /* P016 */
    {0xa2, CRT_FORMAT_U8, 2, 1, 0},  /* NV16 */
    {0xa3, CRT_FORMAT_U16, 2, 1, 0}, /* P210 */
    {0xa4, CRT_FORMAT_U16, 2, 1, 0}, /* P216 */
    {0xb2, CRT_FORMAT_U8, 3, 0, 0},  /* Y444_PLANAR8 */
    {0xb3, CRT_FORMAT_U16, 3, 0, 0}, /* Y444_PLANAR10 */
    {0xb4, CRT_FORMAT_U8, 2, 0, 0},  /* YUV444_8bit_SemiPlanar */
    {0xb5, CRT_FORMAT_U16, 2, 0, 0}, /* YUV444_16bit_SemiPlanar */
};

const struct crt_planar *crt_planar_of(unsigned format)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (formats[i].format == format)
            return &formats[i];
    return NULL;
}

struct crt_array_shape crt_planar_shape(const struct crt_planar *planar,
                                        const struct crt_array_shape *whole, unsigned plane)
{
    struct crt_array_shape shape = *whole;
    shape.format = planar->channel_format;
    shape.channels = 1;
    if (plane > 0) {
        shape.channels = planar->planes == 2 ? 2 : 1;
        shape.width >>= planar->is_half_wide;
        shape.height >>= planar->is_half_high;
    }
    return shape;
}
