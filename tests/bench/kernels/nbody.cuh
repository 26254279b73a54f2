// SPDX-License-Identifier: Apache-2.0
//
// Forces of bodies on each other, for tables of rows that are compiled with different options.
#pragma once

// Bodies are x, y, z, mass; a block looks at a tile of blockDim.x bodies at a time.
extern "C" __global__ void nbody(const float4 *bodies, float4 *force, int n, float softening)
{
    __shared__ float4 tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = i < n ? bodies[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float fx = 0.0f, fy = 0.0f, fz = 0.0f;
    for (int first = 0; first < n; first += blockDim.x) {
        int mine = first + threadIdx.x;
        tile[threadIdx.x] = mine < n ? bodies[mine] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        __syncthreads();
        for (int j = 0; j < 256; j++) {
            float4 other = tile[j];
            float dx = other.x - me.x;
            float dy = other.y - me.y;
            float dz = other.z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + softening);
            float scale = other.w * inverse * inverse * inverse;
            fx += dx * scale;
            fy += dy * scale;
            fz += dz * scale;
        }
        __syncthreads();
    }
    if (i < n) {
        force[i] = make_float4(fx, fy, fz, 0.0f);
    }
}
