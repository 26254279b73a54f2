/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies between boxes of tensors in global memory and shared memory (PTX ISA "Tensors",
 * "cp.async.bulk.tensor", "cp.reduce.async.bulk.tensor"), and what changes a tensor map.
 */
#ifndef PTXRUN_TRANSLATOR_RT_TENSOR_H
#define PTXRUN_TRANSLATOR_RT_TENSOR_H

#include <stdint.h>

#include "kernel_abi/tensor_map.h"

#define RT_TENSOR_SHARED_ALIGN 128

enum rt_tensor_action {
    RT_TENSOR_LOAD, /* to shared memory */
    RT_TENSOR_STORE,
    RT_TENSOR_REDUCE
};

/* Which elements an instruction names. */
enum rt_tensor_access {
    RT_TENSOR_ACCESS_TILE,
    RT_TENSOR_ACCESS_FOUR_ROWS, /* tile::gather4, tile::scatter4 */
    RT_TENSOR_ACCESS_IM2COL,
    RT_TENSOR_ACCESS_W,
    RT_TENSOR_ACCESS_W128
};

/* What an instruction asks for besides its map and coordinates, in one number: 16 bits each for up
 * to three offsets of im2col, or the halo and the offset of im2col::w; and what does not change. */
#define RT_TENSOR_ACTION_SHIFT 48
#define RT_TENSOR_ACCESS_SHIFT 52
#define RT_TENSOR_RANK_SHIFT   56
#define RT_TENSOR_OP_SHIFT     59 /* enum rt_bulk_op */
#define RT_TENSOR_LAST         (UINT64_C(1) << 63)

static inline uint64_t rt_tensor_request(enum rt_tensor_action action, enum rt_tensor_access access,
                                         uint32_t rank, uint32_t op)
{
    return (uint64_t)action << RT_TENSOR_ACTION_SHIFT | (uint64_t)access << RT_TENSOR_ACCESS_SHIFT |
           (uint64_t)rank << RT_TENSOR_RANK_SHIFT | (uint64_t)op << RT_TENSOR_OP_SHIFT;
}

enum rt_tensor_field {
    RT_TENSOR_FIELD_ADDRESS,
    RT_TENSOR_FIELD_RANK,
    RT_TENSOR_FIELD_BOX,
    RT_TENSOR_FIELD_SIZE,
    RT_TENSOR_FIELD_STRIDE,
    RT_TENSOR_FIELD_STEP,
    RT_TENSOR_FIELD_TYPE,
    RT_TENSOR_FIELD_INTERLEAVE,
    RT_TENSOR_FIELD_SWIZZLE,
    RT_TENSOR_FIELD_ATOMICITY,
    RT_TENSOR_FIELD_FILL
};

/* tensormap.replace. What makes no sense shows when a copy uses the map. */
void rt_tensor_replace(struct rt_tensor_map *map, uint32_t field, uint32_t ordinal, uint64_t value);

#endif
