/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensor maps: types and functions of the driver API.
 */
#ifndef PTXRUN_CUDART_DRIVER_CUDA_TENSOR_H
#define PTXRUN_CUDART_DRIVER_CUDA_TENSOR_H

#include "cudart/driver/cuda_types.h"

typedef struct {
    _Alignas(128) cuuint64_t opaque[16];
} CUtensorMap;

enum {
    CU_TENSOR_MAP_DATA_TYPE_UINT8,
    CU_TENSOR_MAP_DATA_TYPE_UINT16,
    CU_TENSOR_MAP_DATA_TYPE_UINT32,
    CU_TENSOR_MAP_DATA_TYPE_INT32,
    CU_TENSOR_MAP_DATA_TYPE_UINT64,
    CU_TENSOR_MAP_DATA_TYPE_INT64,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
    CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
    CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ,
    CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
    CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ,
    CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B,
    CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B,
    CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B
};

enum { CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_INTERLEAVE_16B, CU_TENSOR_MAP_INTERLEAVE_32B };

enum {
    CU_TENSOR_MAP_SWIZZLE_NONE,
    CU_TENSOR_MAP_SWIZZLE_32B,
    CU_TENSOR_MAP_SWIZZLE_64B,
    CU_TENSOR_MAP_SWIZZLE_128B,
    CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B,
    CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B_FLIP_8B,
    CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B
};

enum { CU_TENSOR_MAP_L2_PROMOTION_NONE = 0, CU_TENSOR_MAP_L2_PROMOTION_L2_256B = 3 };

enum { CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA };

enum { CU_TENSOR_MAP_IM2COL_WIDE_MODE_W, CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128 };

_Pragma("GCC visibility push(default)")

    CUresult cuTensorMapEncodeTiled(CUtensorMap *map, int type, cuuint32_t rank, void *address,
                                    const cuuint64_t *sizes, const cuuint64_t *strides,
                                    const cuuint32_t *box, const cuuint32_t *steps, int interleave,
                                    int swizzle, int promotion, int fill);
CUresult cuTensorMapEncodeIm2col(CUtensorMap *map, int type, cuuint32_t rank, void *address,
                                 const cuuint64_t *sizes, const cuuint64_t *strides,
                                 const int *lower, const int *upper, cuuint32_t channels,
                                 cuuint32_t pixels, const cuuint32_t *steps, int interleave,
                                 int swizzle, int promotion, int fill);
CUresult cuTensorMapEncodeIm2colWide(CUtensorMap *map, int type, cuuint32_t rank, void *address,
                                     const cuuint64_t *sizes, const cuuint64_t *strides, int lower,
                                     int upper, cuuint32_t channels, cuuint32_t pixels,
                                     const cuuint32_t *steps, int interleave, int mode, int swizzle,
                                     int promotion, int fill);
CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *address);

_Pragma("GCC visibility pop")

#endif
