/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of block-compressed images (Khronos Data Format Specification, "S3TC", "RGTC", "BPTC").
 */
#ifndef PTXRUN_TRANSLATOR_RT_BLOCKS_H
#define PTXRUN_TRANSLATOR_RT_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#define RT_BLOCK_SIDE 4

/* What the block of this format (RT_TEXEL_BC1 …) has at x, y of its four rows and columns: red,
 * green, blue and alpha. */
void rt_block_read(uint32_t texel, const uint8_t *block, uint32_t x, uint32_t y, float value[4]);

/* The same of one format. element: 4 * y + x. */
void rt_bc6h_read(const uint8_t *block, bool is_signed, uint32_t element, float value[4]);
void rt_bc7_read(const uint8_t *block, uint32_t element, float value[4]);

#endif
