// SPDX-License-Identifier: Apache-2.0
// Kernels whose numbers go wrong, each with a twin that is right:
//   number_defects CASE wrong|right
// A line that is wrong ends in the case's name and the rule that --check=numbers finds broken
// (tests/e2e/check_defects.sh). Without arguments: the names of all cases.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#define THREADS 64
#define BLOCKS  2

// What compilers do not know.
struct numbers {
    float zero, one, minus, large, infinite, nan, hundred, million;
    double d_zero, d_large;
    int i_zero, i_large, i_row, i_width, i_seven;
    unsigned u_row, u_width;
    long long bias;
};

// Right twins count as the others do, but for the defect.
#define KERNEL(name)                                                                                                   \
    __global__ void name(float *out, const numbers *in, bool right)

static __device__ unsigned place()
{
    return blockIdx.x * blockDim.x + threadIdx.x;
}

// ---- floating point ----

KERNEL(division)
{
    float divisor = right ? in->one : in->zero;
    out[place()] = in->hundred / divisor; // division division-by-zero
}

KERNEL(double_division)
{
    double divisor = right ? 2.0 : in->d_zero;
    ((double *)out)[place()] = in->d_large / divisor; // double_division division-by-zero
}

KERNEL(zero_by_zero)
{
    float value = right ? in->one : in->zero;
    out[place()] = value / value; // zero_by_zero division-by-zero
}

KERNEL(fast_division)
{
    float divisor = right ? in->one : in->zero;
    out[place()] = __fdividef(in->one, divisor); // fast_division division-by-zero
}

KERNEL(reciprocal)
{
    float divisor = right ? in->one : in->zero;
    out[place()] = __frcp_rn(divisor) + 1; // reciprocal division-by-zero
}

KERNEL(mean_of_none)
{
    float sum = 0;
    int count = 0;
    for (int i = 0; i < 8; i++) {
        bool is_taken = right && i < 4;
        sum += is_taken ? in->one : 0;
        count += is_taken;
    }
    out[place()] = sum / count; // mean_of_none division-by-zero
}

KERNEL(root_of_negative)
{
    float value = right ? in->one : in->minus;
    out[place()] = sqrtf(value); // root_of_negative nan-made
}

KERNEL(reciprocal_root)
{
    float value = right ? in->one : in->minus;
    out[place()] = rsqrtf(value); // reciprocal_root nan-made
}

KERNEL(variance)
{
    float sum = 3 * in->million, squares = 3 * (in->million * in->million - (right ? 0 : in->million));
    float mean = sum / 3, variance = squares / 3 - mean * mean;
    if (right)
        variance = fmaxf(variance, 0);
    out[place()] = sqrtf(variance); // variance nan-made
}

KERNEL(logarithm_of_zero)
{
    float value = right ? in->one : in->zero;
    out[place()] = __log2f(value); // logarithm_of_zero infinity-made
}

KERNEL(logarithm_of_negative)
{
    float value = right ? in->one : in->minus;
    out[place()] = logf(value); // logarithm_of_negative nan-made
}

KERNEL(exponential)
{
    float value = right ? in->one : in->hundred;
    out[place()] = expf(value); // exponential infinity-made
}

KERNEL(sum_too_large)
{
    float value = right ? in->one : in->large;
    out[place()] = value + in->large; // sum_too_large infinity-made
}

KERNEL(double_product)
{
    double value = right ? 1.0 : in->d_large;
    ((double *)out)[place()] = value * in->d_large; // double_product infinity-made
}

KERNEL(fused_too_large)
{
    float value = right ? in->one : in->hundred;
    out[place()] = fmaf(value, in->large, in->one); // fused_too_large infinity-made
}

KERNEL(difference_of_infinities)
{
    float value = right ? in->one : in->infinite;
    out[place()] = in->infinite - value; // difference_of_infinities nan-made
}

KERNEL(zero_times_infinity)
{
    float factor = right ? in->one : in->zero;
    out[place()] = in->infinite * factor; // zero_times_infinity nan-made
}

KERNEL(half_product)
{
    __half a = __float2half(right ? in->one : in->hundred * 3), b = __float2half(in->hundred * 3);
    ((__half *)out)[place()] = __hmul(a, b); // half_product infinity-made
}

KERNEL(half_pairs)
{
    __half2 a = __floats2half2_rn(in->one, right ? in->one : in->hundred * 3);
    __half2 b = __floats2half2_rn(in->one, in->hundred * 3);
    ((__half2 *)out)[place()] = __hmul2(a, b); // half_pairs infinity-made
}

KERNEL(float_to_half)
{
    float value = right ? in->hundred : in->million;
    ((__half *)out)[place()] = __float2half(value); // float_to_half infinity-made
}

KERNEL(double_to_float)
{
    out[place()] = (float)(right ? 1.0 : in->d_large); // double_to_float infinity-made
}

// ---- where it matters ----

KERNEL(decides)
{
    float value = right ? in->one : in->minus;
    float root = sqrtf(value); // decides nan-made
    if (root < in->hundred)
        out[place()] = in->one;
}

KERNEL(loop_until_small)
{
    float error = in->hundred, scale = right ? in->one : in->infinite;
    int rounds = 0;
    while (error > in->one && rounds < 10) {
        error = error * 0.5f * scale - (right ? 0 : in->infinite); // loop_until_small nan-made
        rounds++;
    }
    out[place()] = rounds;
}

KERNEL(through_shared_memory)
{
    __shared__ float shared[THREADS];
    float value = right ? in->one : in->minus;
    shared[threadIdx.x] = sqrtf(value) * 2; // through_shared_memory nan-made
    __syncthreads();
    out[place()] = shared[THREADS - 1 - threadIdx.x];
}

KERNEL(atomic_sum)
{
    float value = right ? in->one : in->zero;
    atomicAdd(out, 1 / value); // atomic_sum division-by-zero
}

KERNEL(vector_store)
{
    float value = right ? in->one : in->minus;
    float4 all = {in->one, in->one, in->one, in->one};
    all.z = sqrtf(value); // vector_store nan-made
    ((float4 *)out)[place()] = all;
}

KERNEL(in_some_threads)
{
    float value = right || threadIdx.x % 7 != 3 ? in->one : in->minus;
    float root = sqrtf(value); // in_some_threads nan-made
    for (int i = 0; i < 5; i++)
        root = root * 0.5f + i;
    out[place()] = root;
}

// ---- where it does not matter ----

KERNEL(sigmoid)
{
    float power = expf(in->hundred); // sigmoid infinity-made
    out[place()] = right ? 1 / (1 + power) : power / (1 + power);
}

KERNEL(masked_softmax)
{
    float most = -INFINITY, sum = 0;
    for (int i = 0; i < 8; i++)
        most = fmaxf(most, right && i == 2 ? in->one : -in->infinite);
    for (int i = 0; i < 8; i++) {
        float score = right && i == 2 ? in->one : -in->infinite;
        float above = score - most; // masked_softmax nan-made
        sum += expf(above);
    }
    out[place()] = sum;
}

KERNEL(chosen)
{
    float quotient = in->one / in->zero; // chosen division-by-zero
    float value = right ? in->hundred : quotient;
    out[place()] = value;
    out[place() + BLOCKS * THREADS] = right ? fminf(quotient, in->one) : 0;
}

KERNEL(asked_for)
{
    float root = sqrtf(in->minus); // asked_for nan-made
    if (right ? isnan(root) : root > in->one)
        root = 0;
    if (!right)
        out[place()] = root;
    out[place() + 1] = right ? root : in->one;
}

// Library functions compute much that they do not need; nothing of it is found in the right twin.
KERNEL(library_functions)
{
    float value = in->million * (right ? 1 : in->infinite);
    float result = sinf(in->million) + cosf(in->million) + tanf(in->hundred) + powf(in->hundred, 4) + expf(-in->million) +
                   logf(in->million) + tanhf(in->million) + atan2f(in->zero, in->minus) + erff(in->hundred) +
                   fmodf(in->million, in->hundred) + cbrtf(in->million) + hypotf(in->million, in->one) +
                   exp2f(-in->million) + log1pf(in->one) + expm1f(in->one) + lgammaf(in->hundred);
    double other = sin(in->d_large) + pow(2.0, -in->d_large) + exp(-in->d_large) + log(in->d_large) + tanh(in->d_large);
    out[place()] = result + (float)(other / in->d_large) + sinf(value); // library_functions nan-made
}

// ---- conversions ----

KERNEL(too_large_for_int)
{
    float value = right ? in->million : in->large;
    ((int *)out)[place()] = (int)value; // too_large_for_int conversion-out-of-range
}

KERNEL(negative_to_unsigned)
{
    float value = right ? -0.5f * in->one : in->minus;
    ((unsigned *)out)[place()] = (unsigned)value; // negative_to_unsigned conversion-out-of-range
}

KERNEL(nan_to_int)
{
    float value = right ? in->one : in->nan;
    ((int *)out)[place()] = (int)value; // nan_to_int conversion-out-of-range
}

KERNEL(double_to_long)
{
    double value = right ? 1e18 * in->one : in->d_large;
    ((long long *)out)[place()] = (long long)value; // double_to_long conversion-out-of-range
}

KERNEL(conversion_as_index)
{
    float value = right ? in->one : in->large;
    int bin = (int)value; // conversion_as_index conversion-out-of-range
    out[min(bin, 7)] = 1;
}

KERNEL(rounded)
{
    float value = right ? in->million : in->large;
    int nearest = __float2int_rn(value); // rounded conversion-out-of-range
    if (nearest > in->i_seven)
        out[place()] = 1;
}

// ---- integers ----

KERNEL(integer_division)
{
    int divisor = right ? in->i_seven : in->i_zero;
    ((int *)out)[place()] = in->i_large / divisor; // integer_division integer-division-by-zero
}

KERNEL(remainder_of_zero)
{
    unsigned divisor = right ? in->i_seven : in->i_zero;
    out[place() % divisor] = 1; // remainder_of_zero integer-division-by-zero
}

KERNEL(long_division)
{
    long long divisor = right ? in->i_seven : in->i_zero;
    ((long long *)out)[place()] = in->bias / divisor; // long_division integer-division-by-zero
}

// ---- addresses ----

KERNEL(row_times_width)
{
    int row = right ? 1 : in->i_row, column = threadIdx.x;
    out[row * in->i_width + column - (right ? in->i_width : 0)] = 1; // row_times_width index-overflow
}

KERNEL(unsigned_product)
{
    unsigned row = right ? 0 : in->u_row;
    out[row * in->u_width + threadIdx.x] = 1; // unsigned_product index-overflow
}

KERNEL(negative_index)
{
    int side = right ? 46340 : 46341;
    int index = side * (side + in->i_zero); // negative_index index-overflow
    out[index + (right ? -2147395600LL : in->bias)] = 1;
}

KERNEL(sum_of_indices)
{
    int index = in->i_large + (right ? 0 : in->i_large); // sum_of_indices index-overflow
    out[index + (right ? -(long long)in->i_large : 294967296LL)] = 1;
}

KERNEL(shifted_row)
{
    out[((right ? 0 : in->i_row) << 16) + threadIdx.x] = 1; // shifted_row index-overflow
}

KERNEL(doubled_index)
{
    int index = (right ? 0 : in->i_large) * 2; // doubled_index index-overflow
    out[index + (right ? 0LL : 294967296LL)] = 1;
}

KERNEL(index_for_atomic)
{
    int index = in->i_row * in->i_width; // index_for_atomic index-overflow
    if (right)
        index = 0;
    atomicAdd(&out[index], 1.0f);
}

KERNEL(index_into_shared)
{
    __shared__ float shared[THREADS];
    int row = right ? 0 : in->i_row;
    shared[row * in->i_width + threadIdx.x] = 1; // index_into_shared index-overflow
    __syncthreads();
    out[place()] = shared[THREADS - 1 - threadIdx.x];
}

// Hashes and random numbers wrap by intention.
KERNEL(hashes)
{
    unsigned key = place() + 12345, state = key * 1664525u + 1013904223u, hash = key * 2654435761u;
    float sum = out[hash >> 26] + out[state % 100] + out[(state ^ hash) & 63] + out[hash % in->i_seven];
    for (int i = 0; i < 4; i++) {
        state = state * 1103515245u + 12345;
        sum += out[(state / 65536) % 64];
    }
    unsigned index = right ? 0 : in->u_row;
    sum += out[index * in->u_width]; // hashes index-overflow
    unsigned before = place() - 1;
    if (place() > 0)
        sum += out[before] + out[place() * 2 + before - place() - 1 - before];
    out[2 * BLOCKS * THREADS + place()] = sum;
}

#define CASES(X)                                                                                                       \
    X(division) X(double_division) X(zero_by_zero) X(fast_division) X(reciprocal) X(mean_of_none) X(root_of_negative)  \
    X(reciprocal_root) X(variance) X(logarithm_of_zero) X(logarithm_of_negative) X(exponential) X(sum_too_large)       \
    X(double_product) X(fused_too_large) X(difference_of_infinities) X(zero_times_infinity) X(half_product)            \
    X(half_pairs) X(float_to_half) X(double_to_float) X(decides) X(loop_until_small) X(through_shared_memory)          \
    X(atomic_sum) X(vector_store) X(in_some_threads) X(sigmoid) X(masked_softmax) X(chosen) X(asked_for)               \
    X(library_functions) X(too_large_for_int) X(negative_to_unsigned) X(nan_to_int) X(double_to_long)                  \
    X(conversion_as_index) X(rounded) X(integer_division) X(remainder_of_zero) X(long_division) X(row_times_width)     \
    X(unsigned_product) X(negative_index) X(sum_of_indices) X(shifted_row) X(doubled_index) X(index_for_atomic)        \
    X(index_into_shared) X(hashes)

static bool launch(const char *name, bool right, float *out, const numbers *in)
{
#define LAUNCH(kernel)                                                                                                 \
    if (strcmp(name, #kernel) == 0) {                                                                                  \
        kernel<<<BLOCKS, THREADS>>>(out, in, right);                                                                   \
        return true;                                                                                                   \
    }
    CASES(LAUNCH)
    return false;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
#define NAME(kernel) puts(#kernel);
        CASES(NAME)
        return 0;
    }
    const numbers values = {
        0, 1, -1, 3e38f, INFINITY, NAN, 100, 1e6f, 0, 1e300, 0, 2000000000, 65536, 65536, 7, 65536, 65536, 2147479015};
    const size_t bytes = 8 * BLOCKS * THREADS * sizeof(double);
    float *out;
    numbers *in;
    cudaMalloc(&out, bytes);
    cudaMalloc(&in, sizeof values);
    cudaMemset(out, 0, bytes);
    cudaMemcpy(in, &values, sizeof values, cudaMemcpyHostToDevice);
    if (!launch(argv[1], strcmp(argv[2], "right") == 0, out, in)) {
        fprintf(stderr, "no case '%s'\n", argv[1]);
        return 2;
    }
    cudaError_t result = cudaDeviceSynchronize();
    if (result != cudaSuccess)
        fprintf(stderr, "%s\n", cudaGetErrorString(result));
    return result != cudaSuccess;
}
