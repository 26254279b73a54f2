// SPDX-License-Identifier: Apache-2.0
// A product of matrices by mma, with ldmatrix and asynchronous copies in two stages, as libraries
// write it: a block of 4 warps for each 128 by 128 part, 64 by 64 a warp.
#ifndef PTXRUN_TESTS_CUDA_MATRIX_DEVICE_H
#define PTXRUN_TESTS_CUDA_MATRIX_DEVICE_H

#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

constexpr int Part = 128, Warp = 64;

__device__ uint32_t shared_address(const void *pointer)
{
    return (uint32_t)__cvta_generic_to_shared(pointer);
}

__device__ void copy_async(void *to, const void *from)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(to)), "l"(from));
}

__device__ void load_rows(uint32_t (&r)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(shared_address(row)));
}

// The type of elements decides which instruction it is.
template <typename In, typename Sum>
__device__ void multiply_add(Sum (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);

#define MULTIPLY_ADD(In, Sum, letter, spelling)                                                    \
    template <>                                                                                    \
    __device__ void multiply_add<In>(Sum(&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) \
    {                                                                                              \
        asm volatile("mma.sync.aligned." spelling                                                  \
                     " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"            \
                     : "+" letter(d[0]), "+" letter(d[1]), "+" letter(d[2]), "+" letter(d[3])      \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));              \
    }

MULTIPLY_ADD(half, float, "f", "m16n8k16.row.col.f32.f16.f16.f32")
MULTIPLY_ADD(nv_bfloat16, float, "f", "m16n8k16.row.col.f32.bf16.bf16.f32")
MULTIPLY_ADD(int8_t, int, "r", "m16n8k32.row.col.s32.s8.s8.s32")
#undef MULTIPLY_ADD

// Lines of 64 bytes, in pieces of 16 that are swapped so that ldmatrix meets no bank twice.
struct Stage {
    uint8_t a[Part][64];
    uint8_t b[Part][64];
};

__device__ uint8_t *piece_of(uint8_t (*lines)[64], int line, int piece)
{
    return &lines[line][(piece ^ (line >> 1 & 3)) * 16];
}

__device__ void copy_stage(Stage &stage, const uint8_t *a, const uint8_t *b, size_t line_bytes)
{
    for (int i = threadIdx.x; i < Part * 4; i += blockDim.x) {
        copy_async(piece_of(stage.a, i / 4, i % 4), a + i / 4 * line_bytes + i % 4 * 16);
        copy_async(piece_of(stage.b, i / 4, i % 4), b + i / 4 * line_bytes + i % 4 * 16);
    }
    asm volatile("cp.async.commit_group;");
}

// d = a * b, both with the elements of one k side by side: the lines of b are its columns.
template <typename In, typename Sum>
__device__ void multiply_matrices(const void *a, const void *b, Sum *d, int n)
{
    __shared__ __align__(128) Stage stages[2];
    Sum sum[4][8][4] = {};
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int warp_row = warp / 2 * Warp, warp_column = warp % 2 * Warp;
    size_t line_bytes = n * sizeof(In);
    const uint8_t *from_a = (const uint8_t *)a + blockIdx.y * Part * line_bytes;
    const uint8_t *from_b = (const uint8_t *)b + blockIdx.x * Part * line_bytes;
    int steps = (int)(line_bytes / 64);
    copy_stage(stages[0], from_a, from_b, line_bytes);
    for (int step = 0; step < steps; step++) {
        Stage &stage = stages[step % 2];
        if (step + 1 < steps)
            copy_stage(stages[(step + 1) % 2], from_a + (step + 1) * 64, from_b + (step + 1) * 64,
                       line_bytes);
        else
            asm volatile("cp.async.commit_group;");
        asm volatile("cp.async.wait_group 1;");
        __syncthreads();
#pragma unroll
        for (int half = 0; half < 2; half++) {
            uint32_t part_a[4][4], part_b[4][4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                load_rows(part_a[i],
                          piece_of(stage.a, warp_row + i * 16 + lane % 16, half * 2 + lane / 16));
                load_rows(part_b[i], piece_of(stage.b, warp_column + i * 16 + lane % 16,
                                              half * 2 + lane / 16));
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int k = 0; k < 8; k++)
                    multiply_add<In>(sum[i][k], part_a[i], part_b[k / 2][k % 2],
                                     part_b[k / 2][k % 2 + 2]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 8; k++)
            for (int e = 0; e < 4; e++) {
                int row = blockIdx.y * Part + warp_row + i * 16 + lane / 4 + e / 2 * 8;
                int column = blockIdx.x * Part + warp_column + k * 8 + lane % 4 * 2 + e % 2;
                d[(size_t)row * n + column] = sum[i][k][e];
            }
}

#endif
