// SPDX-License-Identifier: Apache-2.0
// A thread for each element of a tensor, or a loop over the grid, whose flat index is taken apart
// into rows, columns and channels by divisions: rows of all lengths, signed and unsigned indices
// and those of 64 bits, in blocks that end anywhere in a row.
#include <algorithm>
#include <vector>

#include "expect.h"

struct shape {
    int channels, rows, columns;
    int count() const { return channels * rows * columns; }
};

// Adds a number of the element's channel, in a loop over the grid.
template <typename Index>
__global__ void add_of_channel(Index n, int *x, const int *of_channel, Index channels, Index area)
{
    for (Index i = blockIdx.x * (Index)blockDim.x + threadIdx.x; i < n;
         i += (Index)blockDim.x * gridDim.x)
        x[i] = x[i] * 3 + of_channel[i / area % channels];
}

// The neighbours below and to the right; nothing beyond the borders.
__global__ void sum_neighbours(int n, const int *in, int rows, int columns, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int column = i % columns, row = i / columns % rows, channel = i / columns / rows;
    const int *plane = in + channel * rows * columns;
    int sum = 0;
    for (int r = row; r <= row + 1; r++)
        for (int c = column; c <= column + 1; c++)
            sum += r < rows && c < columns ? plane[r * columns + c] : 0;
    out[i] = sum;
}

// Channels behind columns.
__global__ void channels_last(int n, const int *in, int channels, int area, int *out)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        out[i % area * channels + i / area] = in[i];
}

// Rows become `more` elements longer, and the last rows are written first.
__global__ void spread(unsigned n, const int *in, unsigned columns, unsigned more, unsigned rows,
                       int *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[(rows - 1 - i / columns) * (columns + more) + i % columns] = in[i];
}

// Places on both sides of 0, which C++ divides towards 0.
__global__ void around_zero(int n, int before, int columns, const int *in, int *quotients, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int place = i - before;
    quotients[i] = place / columns;
    out[i] = in[place % columns + columns - 1];
}

// By constants, of which compilers make products: of any numbers, and of places.
template <int Divisor> __global__ void by_constant(int n, const int *in, int *quotients, int *rests)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    quotients[i] = (int)((unsigned)(in[i] / Divisor) + (unsigned)in[i / Divisor]);
    rests[i] = (int)((unsigned)(in[i] % Divisor) + (unsigned)in[i] / Divisor +
                     (unsigned)in[i % Divisor % n]);
}

static int *to_device(const std::vector<int> &values)
{
    int *device = nullptr;
    EXPECT_OK(cudaMalloc(&device, values.size() * sizeof(int)));
    EXPECT_OK(cudaMemcpy(device, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice));
    return device;
}

// Whether the device has these values, which it frees.
static bool is_on_device(int *device, const std::vector<int> &values)
{
    std::vector<int> there(values.size());
    EXPECT_OK(cudaDeviceSynchronize());
    EXPECT_OK(cudaMemcpy(there.data(), device, there.size() * sizeof(int), cudaMemcpyDeviceToHost));
    EXPECT_OK(cudaFree(device));
    return there == values;
}

static std::vector<int> numbers(int count)
{
    std::vector<int> values(count);
    for (int i = 0; i < count; i++)
        values[i] = (i * 7919 + 13) % 1000;
    return values;
}

template <typename Index> static void try_channels(shape s, int blocks, int threads)
{
    int area = s.rows * s.columns;
    std::vector<int> x = numbers(s.count()), of_channel = numbers(s.channels);
    int *d = to_device(x), *c = to_device(of_channel);
    add_of_channel<Index><<<blocks, threads>>>(s.count(), d, c, s.channels, area);
    for (int i = 0; i < s.count(); i++)
        x[i] = x[i] * 3 + of_channel[i / area];
    EXPECT(is_on_device(d, x));
    EXPECT(is_on_device(c, of_channel));
}

static void try_neighbours(shape s, int threads)
{
    std::vector<int> in = numbers(s.count()), out(s.count());
    int *d = to_device(in), *o = to_device(out);
    sum_neighbours<<<(s.count() + threads - 1) / threads, threads>>>(s.count(), d, s.rows,
                                                                    s.columns, o);
    for (int i = 0; i < s.count(); i++) {
        bool has_right = i % s.columns + 1 < s.columns, has_below = i / s.columns % s.rows + 1 < s.rows;
        out[i] = in[i] + (has_right ? in[i + 1] : 0) + (has_below ? in[i + s.columns] : 0) +
                 (has_right && has_below ? in[i + s.columns + 1] : 0);
    }
    EXPECT(is_on_device(o, out));
    EXPECT(is_on_device(d, in));
}

static void try_channels_last(shape s, int blocks, int threads)
{
    int area = s.rows * s.columns;
    std::vector<int> in = numbers(s.count()), out(s.count());
    int *d = to_device(in), *o = to_device(out);
    channels_last<<<blocks, threads>>>(s.count(), d, s.channels, area, o);
    for (int i = 0; i < s.count(); i++)
        out[i % area * s.channels + i / area] = in[i];
    EXPECT(is_on_device(o, out));
    EXPECT(is_on_device(d, in));
}

static void try_spread(shape s, int threads)
{
    int rows = s.channels * s.rows, more = 5;
    std::vector<int> in = numbers(s.count()), out(rows * (s.columns + more), -1);
    int *d = to_device(in), *o = to_device(out);
    spread<<<(s.count() + threads - 1) / threads, threads>>>(s.count(), d, s.columns, more, rows, o);
    for (int i = 0; i < s.count(); i++)
        out[(rows - 1 - i / s.columns) * (s.columns + more) + i % s.columns] = in[i];
    EXPECT(is_on_device(o, out));
    EXPECT(is_on_device(d, in));
}

static void try_around_zero(int n, int before, int columns)
{
    std::vector<int> in = numbers(2 * columns), quotients(n), out(n);
    int *d = to_device(in), *q = to_device(quotients), *o = to_device(out);
    around_zero<<<(n + 127) / 128, 128>>>(n, before, columns, d, q, o);
    for (int i = 0; i < n; i++) {
        quotients[i] = (i - before) / columns;
        out[i] = in[(i - before) % columns + columns - 1];
    }
    EXPECT(is_on_device(q, quotients));
    EXPECT(is_on_device(o, out));
    EXPECT(is_on_device(d, in));
}

static std::vector<int> any_numbers(int count)
{
    std::vector<int> values(count);
    unsigned state = 1;
    for (int i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        values[i] = i % 8 == 0 ? (int)(0x80000000u + (unsigned)(i / 16)) * (i % 16 ? 1 : -1)
                               : (int)(state >> (i % 4 * 8));
    }
    return values;
}

template <int Divisor> static void try_constant()
{
    const int n = 1500;
    std::vector<int> in = any_numbers(n), quotients(n), rests(n);
    int *d = to_device(in), *q = to_device(quotients), *r = to_device(rests);
    by_constant<Divisor><<<(n + 255) / 256, 256>>>(n, d, q, r);
    for (int i = 0; i < n; i++) {
        quotients[i] = (int)((unsigned)(in[i] / Divisor) + (unsigned)in[i / Divisor]);
        rests[i] = (int)((unsigned)(in[i] % Divisor) + (unsigned)in[i] / Divisor +
                         (unsigned)in[i % Divisor % n]);
    }
    EXPECT(is_on_device(q, quotients));
    EXPECT(is_on_device(r, rests));
    EXPECT(is_on_device(d, in));
}

template <int... Divisors> static void try_constants()
{
    int all[] = {(try_constant<Divisors>(), 0)...};
    (void)all;
}

int main()
{
    const int columns[] = {1, 3, 7, 16, 17, 32, 33, 55, 100, 256};
    for (int length : columns) {
        shape s = {5, 9, length};
        try_channels<int>(s, 3, 64);
        try_channels<unsigned>(s, (s.count() + 255) / 256, 256);
        try_channels<long long>(s, 2, 96);
        try_neighbours(s, 256);
        try_neighbours(s, 96);
        try_channels_last(s, 4, 128);
        try_spread(s, 256);
        try_around_zero(700, 300, length);
    }
    try_channels<int>({3, 50, 70}, 64, 256);
    try_channels_last({3, 50, 70}, 64, 256);
    try_constants<2, 3, 5, 7, 10, 11, 25, 32, 55, 64, 100, 125, 128, 641, 1000, 3025, 65537, 2147483647>();
    return verdict("flat_indices");
}
