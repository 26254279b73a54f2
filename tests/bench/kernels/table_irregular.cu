// SPDX-License-Identifier: Apache-2.0
// Kernels of ptxbench's table whose threads talk to each other or walk irregular data: reductions,
// histogram, scan, sparse matrices, a factorisation, a wavefront, a graph; and three that compute.
// table_irregular.ptx is made from this file by build_ptx.sh.

// A block of 256 threads sums 512 elements; the first addition is that of the loads.
extern "C" __global__ void reduce_block(const float *in, float *sums, unsigned n)
{
    __shared__ float part[256];
    unsigned t = threadIdx.x;
    unsigned i = blockIdx.x * (2 * blockDim.x) + t;
    float sum = i < n ? in[i] : 0.0f;
    if (i + blockDim.x < n) {
        sum += in[i + blockDim.x];
    }
    part[t] = sum;
    __syncthreads();
    for (unsigned half = blockDim.x / 2; half > 0; half >>= 1) {
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

// Leaves a sum for each block.
extern "C" __global__ void reduce_shuffle(const float *in, float *sums, unsigned n)
{
    __shared__ float part[32];
    unsigned lane = threadIdx.x % 32;
    unsigned warp = threadIdx.x / 32;
    float sum = 0.0f;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        sum += in[i];
    }
    sum = warp_sum(sum);
    if (lane == 0) {
        part[warp] = sum;
    }
    __syncthreads();
    sum = threadIdx.x < blockDim.x / 32 ? part[lane] : 0.0f;
    if (warp == 0) {
        sum = warp_sum(sum);
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
    }
}

// Adds to bins.
extern "C" __global__ void histogram(const unsigned char *in, unsigned *bins, unsigned n)
{
    __shared__ unsigned local[256];
    local[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
        atomicAdd(&local[in[i]], 1u);
    }
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

// Inclusive sums within each block of 256, and the block's sum.
extern "C" __global__ void scan(const unsigned *in, unsigned *out, unsigned *block_sums, unsigned n)
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
    if (t == blockDim.x - 1) {
        block_sums[blockIdx.x] = part[from][t];
    }
}

// The other half of a scan: block_sums are inclusive sums of those that scan left.
extern "C" __global__ void scan_add(unsigned *out, const unsigned *block_sums, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x > 0 && i < n) {
        out[i] += block_sums[blockIdx.x - 1];
    }
}

// A thread for each row.
extern "C" __global__ void spmv_scalar(const unsigned *row_begin, const unsigned *column,
                                       const float *value, const float *x, float *y, unsigned rows)
{
    unsigned row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (unsigned i = row_begin[row]; i < row_begin[row + 1]; i++) {
        sum += value[i] * x[column[i]];
    }
    y[row] = sum;
}

// A warp for each row.
extern "C" __global__ void spmv_vector(const unsigned *row_begin, const unsigned *column,
                                       const float *value, const float *x, float *y, unsigned rows)
{
    unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    unsigned lane = threadIdx.x % 32;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (unsigned i = row_begin[row] + lane; i < row_begin[row + 1]; i += 32) {
        sum += value[i] * x[column[i]];
    }
    sum = warp_sum(sum);
    if (lane == 0) {
        y[row] = sum;
    }
}

// LU factors of a panel of 128 x 32 without pivoting: a block for each panel, a thread for each
// row.
extern "C" __global__ void lu_panel(const float *in, float *out, unsigned panels)
{
    const unsigned rows = 128;
    const unsigned columns = 32;
    __shared__ float panel[rows][columns + 1];
    unsigned t = threadIdx.x;
    if (blockIdx.x >= panels) {
        return;
    }
    in += blockIdx.x * rows * columns;
    out += blockIdx.x * rows * columns;
    for (unsigned i = t; i < rows * columns; i += blockDim.x) {
        panel[i / columns][i % columns] = in[i];
    }
    __syncthreads();
    for (unsigned k = 0; k < columns; k++) {
        if (t > k) {
            float factor = panel[t][k] / panel[k][k];
            panel[t][k] = factor;
            for (unsigned j = k + 1; j < columns; j++) {
                panel[t][j] -= factor * panel[k][j];
            }
        }
        __syncthreads();
    }
    for (unsigned i = t; i < rows * columns; i += blockDim.x) {
        out[i] = panel[i / columns][i % columns];
    }
}

// A diagonal of tiles of an alignment's score matrix, which has a row and a column more than there
// are letters. A block of 32 threads makes a tile of 32 x 32 along the tile's own diagonals.
extern "C" __global__ void wavefront(const unsigned char *query, const unsigned char *target,
                                     int *scores, unsigned letters, unsigned diagonal,
                                     unsigned first_column)
{
    const int side = 32;
    const int match = 2;
    const int mismatch = -1;
    const int gap = -2;
    __shared__ int tile[side + 1][side + 1];
    __shared__ unsigned char across[side];
    __shared__ unsigned char down[side];
    int t = threadIdx.x;
    int pitch = letters + 1;
    int column = (first_column + blockIdx.x) * side;
    int row = (diagonal - first_column - blockIdx.x) * side;
    int *corner = scores + row * pitch + column;
    across[t] = target[column + t];
    down[t] = query[row + t];
    tile[t + 1][0] = corner[(t + 1) * pitch];
    tile[0][t + 1] = corner[t + 1];
    if (t == 0) {
        tile[0][0] = corner[0];
    }
    __syncthreads();
    for (int d = 0; d < 2 * side - 1; d++) {
        int y = d - t;
        if (y >= 0 && y < side) {
            int score = tile[y][t] + (down[y] == across[t] ? match : mismatch);
            score = max(score, tile[y][t + 1] + gap);
            tile[y + 1][t + 1] = max(score, tile[y + 1][t] + gap);
        }
        __syncthreads();
    }
    for (int y = 1; y <= side; y++) {
        corner[y * pitch + t + 1] = tile[y][t + 1];
    }
}

// A step of a breadth-first search: a thread for each vertex.
extern "C" __global__ void bfs_level(const unsigned *edge_begin, const unsigned *neighbour,
                                     unsigned *level, unsigned *has_found, unsigned vertices,
                                     unsigned current)
{
    unsigned vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex < vertices && level[vertex] == current) {
        for (unsigned i = edge_begin[vertex]; i < edge_begin[vertex + 1]; i++) {
            unsigned other = neighbour[i];
            if (level[other] == 0xffffffffu) {
                level[other] = current + 1;
                *has_found = 1;
            }
        }
    }
}

// Each point's nearest centre. points[dimension][point], centres[centre][dimension]; at most 1024
// numbers in all centres.
extern "C" __global__ void kmeans_assign(const float *points, const float *centres,
                                         unsigned *nearest, unsigned n, unsigned count,
                                         unsigned dimensions)
{
    __shared__ float centre[1024];
    for (unsigned i = threadIdx.x; i < count * dimensions; i += blockDim.x) {
        centre[i] = centres[i];
    }
    __syncthreads();
    unsigned point = blockIdx.x * blockDim.x + threadIdx.x;
    if (point >= n) {
        return;
    }
    float least = 3.0e38f;
    unsigned best = 0;
    for (unsigned c = 0; c < count; c++) {
        float distance = 0.0f;
        for (unsigned d = 0; d < dimensions; d++) {
            float difference = points[d * n + point] - centre[c * dimensions + d];
            distance += difference * difference;
        }
        if (distance < least) {
            least = distance;
            best = c;
        }
    }
    nearest[point] = best;
}

// closeness: weights by distance, (2 * radius + 1) squared. Outside, the image goes on as its rim.
extern "C" __global__ void bilateral(const float *image, const float *closeness, float *out,
                                     unsigned width, unsigned height, unsigned radius,
                                     float sharpness)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int w = width;
    int h = height;
    int r = radius;
    if (x >= w || y >= h) {
        return;
    }
    float centre = image[y * w + x];
    float sum = 0.0f;
    float weights = 0.0f;
    for (int dy = -r; dy <= r; dy++) {
        int row = min(max(y + dy, 0), h - 1);
        for (int dx = -r; dx <= r; dx++) {
            int column = min(max(x + dx, 0), w - 1);
            float value = image[row * w + column];
            float difference = value - centre;
            float weight = closeness[(dy + r) * (2 * r + 1) + dx + r] *
                           __expf(difference * difference * -sharpness);
            sum += weight * value;
            weights += weight;
        }
    }
    out[y * w + x] = sum / weights;
}

// Philox4x32-10: thread i leaves the four numbers of counter i.
extern "C" __global__ void philox(uint4 *out, unsigned n, unsigned seed)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    uint4 counter = make_uint4(i, 0, 0, 0);
    unsigned key0 = seed;
    unsigned key1 = 0;
    for (int round = 0; round < 10; round++) {
        unsigned high0 = __umulhi(0xd2511f53u, counter.x);
        unsigned low0 = 0xd2511f53u * counter.x;
        unsigned high1 = __umulhi(0xcd9e8d57u, counter.z);
        unsigned low1 = 0xcd9e8d57u * counter.z;
        counter = make_uint4(high1 ^ counter.y ^ key0, low1, high0 ^ counter.w ^ key1, low0);
        key0 += 0x9e3779b9u;
        key1 += 0xbb67ae85u;
    }
    out[i] = counter;
}
