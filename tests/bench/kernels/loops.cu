// SPDX-License-Identifier: Apache-2.0
// Kernels with inner loops, barriers inside loops, or warp operations, for bench_collapse. Parameters
// of every kernel: input arrays, output arrays, sizes, scalars. loops.ptx is made from this file by
// build_ptx.sh.

extern "C" __global__ void saxpy_stride(const float *x, float *y, unsigned n, float factor)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        y[i] = factor * x[i] + y[i];
    }
}

extern "C" __global__ void matmul_naive(const float *a, const float *b, float *c, unsigned size)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < (int)size && column < (int)size) {
        float sum = 0.0f;
        for (int k = 0; k < (int)size; k++) {
            sum += a[row * (int)size + k] * b[k * (int)size + column];
        }
        c[row * (int)size + column] = sum;
    }
}

extern "C" __global__ void matmul_tiled(const float *a, const float *b, float *c, unsigned size)
{
    const int side = 16;
    __shared__ float a_tile[side][side];
    __shared__ float b_tile[side][side];
    int tx = threadIdx.x;
    int ty = threadIdx.y;
    int column = blockIdx.x * side + tx;
    int row = blockIdx.y * side + ty;
    float sum = 0.0f;
    for (int k = 0; k < (int)size; k += side) {
        a_tile[ty][tx] = a[row * (int)size + k + tx];
        b_tile[ty][tx] = b[(k + ty) * (int)size + column];
        __syncthreads();
        for (int j = 0; j < side; j++) {
            sum += a_tile[ty][j] * b_tile[j][tx];
        }
        __syncthreads();
    }
    c[row * (int)size + column] = sum;
}

// Bodies are x, y, z, mass; a block looks at a tile of blockDim.x bodies at a time.
extern "C" __global__ void nbody(const float4 *bodies, float4 *force, unsigned n)
{
    __shared__ float4 tile[256];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = bodies[i];
    float fx = 0.0f, fy = 0.0f, fz = 0.0f;
    for (unsigned first = 0; first < n; first += blockDim.x) {
        tile[threadIdx.x] = bodies[first + threadIdx.x];
        __syncthreads();
        for (unsigned j = 0; j < blockDim.x; j++) {
            float dx = tile[j].x - me.x;
            float dy = tile[j].y - me.y;
            float dz = tile[j].z - me.z;
            float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
            float scale = tile[j].w * inverse * inverse * inverse;
            fx += dx * scale;
            fy += dy * scale;
            fz += dz * scale;
        }
        __syncthreads();
    }
    force[i] = make_float4(fx, fy, fz, 0.0f);
}

// Without contraction, so that every pixel's count is that of plain C.
extern "C" __global__ void mandelbrot(unsigned *counts, unsigned width, unsigned height,
                                      unsigned limit)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) {
        return;
    }
    float re = __fadd_rn(__fmul_rn((float)x, 3.0f / 256.0f), -2.2f);
    float im = __fadd_rn(__fmul_rn((float)y, 3.0f / 256.0f), -1.5f);
    float a = 0.0f, b = 0.0f;
    unsigned count = 0;
    while (count < limit) {
        float aa = __fmul_rn(a, a);
        float bb = __fmul_rn(b, b);
        if (__fadd_rn(aa, bb) > 4.0f) {
            break;
        }
        b = __fadd_rn(__fmul_rn(__fadd_rn(a, a), b), im);
        a = __fadd_rn(__fsub_rn(aa, bb), re);
        count++;
    }
    counts[y * width + x] = count;
}

// Sums of 1024 elements by 256 threads.
extern "C" __global__ void reduce_shared(const float *in, float *sums, unsigned n)
{
    __shared__ float part[256];
    unsigned t = threadIdx.x;
    float sum = 0.0f;
    for (unsigned i = blockIdx.x * 1024 + t; i < (blockIdx.x + 1) * 1024; i += blockDim.x) {
        if (i < n) {
            sum += in[i];
        }
    }
    part[t] = sum;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half) {
            part[t] += part[t + half];
        }
        __syncthreads();
    }
    if (t == 0) {
        sums[blockIdx.x] = part[0];
    }
}

static __device__ float warp_sum(float value)
{
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_down_sync(0xffffffffu, value, offset);
    }
    return value;
}

extern "C" __global__ void reduce_shuffle(const float *in, float *sums, unsigned n)
{
    __shared__ float part[32];
    unsigned t = threadIdx.x;
    float sum = 0.0f;
    for (unsigned i = blockIdx.x * 1024 + t; i < (blockIdx.x + 1) * 1024; i += blockDim.x) {
        if (i < n) {
            sum += in[i];
        }
    }
    sum = warp_sum(sum);
    if (t % 32 == 0) {
        part[t / 32] = sum;
    }
    __syncthreads();
    if (t < 32) {
        sum = warp_sum(t < blockDim.x / 32 ? part[t] : 0.0f);
        if (t == 0) {
            sums[blockIdx.x] = sum;
        }
    }
}

// Prefix sums within each block of 256 elements, two buffers in turn.
extern "C" __global__ void scan(const unsigned *in, unsigned *out, unsigned n)
{
    __shared__ unsigned part[2][256];
    unsigned t = threadIdx.x;
    unsigned i = blockIdx.x * blockDim.x + t;
    unsigned from = 0;
    part[0][t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned distance = 1; distance < blockDim.x; distance *= 2) {
        unsigned value = part[from][t];
        if (t >= distance) {
            value += part[from][t - distance];
        }
        from = 1 - from;
        part[from][t] = value;
        __syncthreads();
    }
    if (i < n) {
        out[i] = part[from][t];
    }
}

extern "C" __global__ void histogram(const unsigned char *in, unsigned *bins, unsigned n)
{
    __shared__ unsigned local[256];
    for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        local[bin] = 0;
    }
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        atomicAdd(&local[in[i]], 1u);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        atomicAdd(&bins[bin], local[bin]);
    }
}

// One thread per row.
extern "C" __global__ void spmv(const unsigned *row_begin, const unsigned *column,
                                const float *value, const float *x, float *y, unsigned rows)
{
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (unsigned i = row_begin[row]; i < row_begin[row + 1]; i++) {
            sum += value[i] * x[column[i]];
        }
        y[row] = sum;
    }
}
