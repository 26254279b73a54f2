/* SPDX-License-Identifier: Apache-2.0
 *
 * The figures of a CPU (translator/module/figures.def), each as a loop of the very operation: on
 * data in the first cache, COSTS_UNROLLED of them in a round, none waiting for another. Made by the
 * compiler that has the JIT's code generator, for what it makes of an operation is what counts.
 */
#include "tools/bench/plain/costs.h"

#ifdef __clang__

#include <stdbool.h>

#include "tools/bench/plain/vector.h"

#define LANES VECTOR_F32

typedef float floats __attribute__((ext_vector_type(LANES)));
typedef float floats_loose __attribute__((ext_vector_type(LANES), aligned(4)));
typedef double doubles __attribute__((ext_vector_type(LANES)));
typedef int32_t ints __attribute__((ext_vector_type(LANES)));
typedef uint32_t words __attribute__((ext_vector_type(LANES)));
typedef uint8_t bytes __attribute__((ext_vector_type(LANES)));
typedef int64_t longs __attribute__((ext_vector_type(LANES)));
typedef bool lanes_on __attribute__((ext_vector_type(LANES)));

/* The compiler may know nothing of the value, and must have it in a register. It costs nothing. */
#if defined __x86_64__
#define OPAQUE(value) __asm__ volatile("" : "+v"(value))
#else
#define OPAQUE(value) __asm__ volatile("" : "+w"(value))
#endif
#define OPAQUE_WORD(value) __asm__ volatile("" : "+r"(value))
#define TO_MEMORY()        __asm__ volatile("" : : : "memory")

/* For llvm-mca (costs_model.sh). */
#ifdef COSTS_MODEL
#define COSTS_MARK(text) __asm__ volatile("# LLVM-MCA-" text)
#else
#define COSTS_MARK(text)
#endif

#define LOOP(args, ...)                                                                            \
    for (uint32_t round = 0; round < (args)->n[0]; round++) {                                      \
        COSTS_MARK("BEGIN");                                                                       \
        _Pragma("clang loop unroll(full)") for (int i = 0; i < COSTS_UNROLLED; i++)                \
            __VA_ARGS__ COSTS_MARK("END");                                                         \
    }

/* Every second lane. */
static lanes_on some_lanes(void)
{
    ints numbers;
    for (int i = 0; i < LANES; i++)
        numbers[i] = i & 1;
    OPAQUE(numbers);
    return __builtin_convertvector(numbers != 0, lanes_on);
}

/* Any elements of the first 4 KiB. */
static ints any_indices(void)
{
    ints index;
    for (int i = 0; i < LANES; i++)
        index[i] = (i * 397 + 11) % 1000;
    OPAQUE(index);
    return index;
}

/* ---- arithmetic ---- */

void cost_scalar(const struct table_args *args)
{
    float a = 1, b = 2;
    LOOP(args, {
        OPAQUE(a);
        OPAQUE(b);
        float sum = a + b;
        OPAQUE(sum);
    })
}

void cost_vector(const struct table_args *args)
{
    floats a = 1, b = 2;
    LOOP(args, {
        OPAQUE(a);
        floats sum = a + b;
        OPAQUE(sum);
    })
}

/* As translator/module/multiply_adds.c does it where there is no instruction. */
static inline floats multiply_add(floats a, floats b, floats c)
{
#if defined __x86_64__ && !defined __FMA__
    doubles product = __builtin_convertvector(a, doubles) * __builtin_convertvector(b, doubles);
    doubles addend = __builtin_convertvector(c, doubles);
    doubles sum = product + addend, added = sum - product;
    doubles error = (product - (sum - added)) + (addend - added);
    longs bits = (longs)sum, smaller = (bits ^ (longs)error) < 0;
    longs is_inexact = error < 0 | error > 0;
    bits = is_inexact ? (bits + smaller) | 1 : bits;
    return __builtin_convertvector((doubles)bits, floats);
#else
    return __builtin_elementwise_fma(a, b, c);
#endif
}

void cost_fused(const struct table_args *args)
{
    floats sums[COSTS_UNROLLED] = {0}, a = 1, b = 0.5f;
    OPAQUE(b);
    LOOP(args, {
        OPAQUE(a);
        sums[i] = multiply_add(a, b, sums[i]);
        OPAQUE(sums[i]);
    })
}

/* Pairs of bf16. */
static inline floats dot_bf16(ints a, ints b, floats sum)
{
#if defined __AVX512BF16__
    return (floats)_mm512_dpbf16_ps((__m512)sum, (__m512bh)a, (__m512bh)b);
#else
    const int high = (int)0xffff0000;
    sum = multiply_add((floats)(a & high), (floats)(b & high), sum);
    return multiply_add((floats)(a << 16), (floats)(b << 16), sum);
#endif
}

void cost_bf16_dots(const struct table_args *args)
{
    floats sums[COSTS_UNROLLED] = {0};
    ints a = 0x3f803f80, b = 0x3f003f00;
    OPAQUE(b);
    LOOP(args, {
        OPAQUE(a);
        sums[i] = dot_bf16(a, b, sums[i]);
        OPAQUE(sums[i]);
    })
}

/* Each waits for the one before. */
void cost_chain(const struct table_args *args)
{
    floats a = 1, b = 0.5f;
    LOOP(args, {
        a = multiply_add(a, b, b);
        OPAQUE(a);
    })
}

void cost_divide(const struct table_args *args)
{
    float a = 1, b = 3;
    LOOP(args, {
        OPAQUE(a);
        float quotient = a / b;
        OPAQUE(quotient);
    })
}

void cost_vector_divide(const struct table_args *args)
{
    floats a = 1, b = 3;
    LOOP(args, {
        OPAQUE(a);
        floats quotient = a / b;
        OPAQUE(quotient);
    })
}

void cost_integer_divide(const struct table_args *args)
{
    uint32_t a = 123456789, b = 321;
    LOOP(args, {
        OPAQUE_WORD(a);
        OPAQUE_WORD(b);
        uint32_t quotient = a / b;
        OPAQUE_WORD(quotient);
    })
}

/* As translator/vector/emit/divide.c does it. */
void cost_vector_integer_divide(const struct table_args *args)
{
    words a = 123456789, b = 321;
    LOOP(args, {
        OPAQUE(a);
        OPAQUE(b);
        doubles quotient =
            __builtin_convertvector(a, doubles) / __builtin_convertvector(b, doubles);
        words result = __builtin_convertvector(__builtin_convertvector(quotient, longs), words);
        OPAQUE(result);
    })
}

void cost_convert(const struct table_args *args)
{
    ints a = 12345;
    LOOP(args, {
        OPAQUE(a);
        floats converted = __builtin_convertvector(a, floats);
        OPAQUE(converted);
    })
}

void cost_convert_unsigned(const struct table_args *args)
{
    words a = 12345;
    LOOP(args, {
        OPAQUE(a);
        floats converted = __builtin_convertvector(a, floats);
        OPAQUE(converted);
    })
}

/* ---- neighbours ---- */

void cost_load(const struct table_args *args)
{
    const float *in = args->buffer[0];
    LOOP(args, {
        TO_MEMORY();
        floats loaded = *(const floats_loose *)(in + LANES * i);
        OPAQUE(loaded);
    })
}

void cost_store(const struct table_args *args)
{
    float *out = args->buffer[1];
    floats stored = 1;
    OPAQUE(stored);
    LOOP(args, {
        *(floats_loose *)(out + LANES * i) = stored;
        TO_MEMORY();
    })
}

void cost_masked_load(const struct table_args *args)
{
    const float *in = args->buffer[0];
    lanes_on mask = some_lanes();
    LOOP(args, {
        TO_MEMORY();
        floats loaded = __builtin_masked_load(mask, in + LANES * i);
        OPAQUE(loaded);
    })
}

void cost_masked_store(const struct table_args *args)
{
    float *out = args->buffer[1];
    floats stored = 1;
    OPAQUE(stored);
    lanes_on mask = some_lanes();
    LOOP(args, {
        __builtin_masked_store(mask, stored, out + LANES * i);
        TO_MEMORY();
    })
}

/* ---- elements of vectors ---- */

#if LANES == 4
#define REVERSED(v) __builtin_shufflevector(v, v, 3, 2, 1, 0)
#define EVENS(v, w) __builtin_shufflevector(v, w, 0, 2, 4, 6)
#elif LANES == 8
#define REVERSED(v) __builtin_shufflevector(v, v, 7, 6, 5, 4, 3, 2, 1, 0)
#define EVENS(v, w) __builtin_shufflevector(v, w, 0, 2, 4, 6, 8, 10, 12, 14)
#else
#define REVERSED(v)                                                                                \
    __builtin_shufflevector(v, v, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define EVENS(v, w)                                                                                \
    __builtin_shufflevector(v, w, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#endif

void cost_reverse(const struct table_args *args)
{
    floats a = 1;
    LOOP(args, {
        OPAQUE(a);
        floats permuted = REVERSED(a);
        OPAQUE(permuted);
    })
}

void cost_shuffle(const struct table_args *args)
{
    floats a = 1, b = 2;
    OPAQUE(b);
    LOOP(args, {
        OPAQUE(a);
        floats picked = EVENS(a, b);
        OPAQUE(picked);
    })
}

/* Out, and nothing else. */
void cost_extract(const struct table_args *args)
{
    ints a = 1;
    LOOP(args, {
        OPAQUE(a);
        for (int lane = 0; lane < LANES; lane++) {
            int32_t element = a[lane];
            OPAQUE_WORD(element);
        }
    })
}

/* Out, an operation, back. */
void cost_serial(const struct table_args *args)
{
    ints a = 1;
    LOOP(args, {
        OPAQUE(a);
        for (int lane = 0; lane < LANES; lane++) {
            int32_t element = a[lane];
            OPAQUE_WORD(element);
            a[lane] = element + 1;
        }
    })
}

/* ---- any addresses ---- */

void cost_gather(const struct table_args *args)
{
    const float *in = args->buffer[0];
    ints index = any_indices();
    lanes_on all = (lanes_on)-1;
    LOOP(args, {
        OPAQUE(index);
        floats loaded = __builtin_masked_gather(all, index, in + i);
        OPAQUE(loaded);
    })
}

void cost_masked_gather(const struct table_args *args)
{
    const float *in = args->buffer[0];
    ints index = any_indices();
    lanes_on mask = some_lanes();
    LOOP(args, {
        OPAQUE(index);
        floats loaded = __builtin_masked_gather(mask, index, in + i);
        OPAQUE(loaded);
    })
}

/* Without branches: the others load what means nothing. */
void cost_masked_gather_by_lane(const struct table_args *args)
{
    const float *in = args->buffer[0];
    ints index = any_indices();
    lanes_on mask = some_lanes();
    longs spare = 4;
    LOOP(args, {
        OPAQUE(index);
        floats loaded;
        longs at = (longs)(intptr_t)(in + i) + __builtin_convertvector(index, longs) * 4;
        at = mask ? at : (longs)(intptr_t)args->buffer[2] + spare;
        for (int lane = 0; lane < LANES; lane++)
            loaded[lane] = *(const float *)at[lane];
        OPAQUE(loaded);
    })
}

void cost_gather_bytes(const struct table_args *args)
{
    const uint8_t *in = args->buffer[0];
    ints index = any_indices();
    LOOP(args, {
        OPAQUE(index);
        words loaded;
        for (int lane = 0; lane < LANES; lane++)
            loaded[lane] = in[(int64_t)index[lane] + i];
        OPAQUE(loaded);
    })
}

#define DISTANCE 33 /* elements */

void cost_strided_load(const struct table_args *args)
{
    const float *in = args->buffer[0];
    LOOP(args, {
        OPAQUE_WORD(in);
        floats loaded;
        for (int lane = 0; lane < LANES; lane++)
            loaded[lane] = in[lane * DISTANCE + i];
        OPAQUE(loaded);
    })
}

void cost_strided_store(const struct table_args *args)
{
    float *out = args->buffer[1];
    floats stored = 1;
    LOOP(args, {
        OPAQUE_WORD(out);
        OPAQUE(stored);
        for (int lane = 0; lane < LANES; lane++)
            out[lane * DISTANCE + i] = stored[lane];
        TO_MEMORY();
    })
}

void cost_scatter(const struct table_args *args)
{
    float *out = args->buffer[1];
    ints index = any_indices();
    floats stored = 1;
    lanes_on all = (lanes_on)-1;
    LOOP(args, {
        OPAQUE(index);
        OPAQUE(stored);
        __builtin_masked_scatter(all, index, stored, out + i);
        TO_MEMORY();
    })
}

void cost_masked_scatter(const struct table_args *args)
{
    float *out = args->buffer[1];
    ints index = any_indices();
    floats stored = 1;
    lanes_on mask = some_lanes();
    LOOP(args, {
        OPAQUE(index);
        OPAQUE(stored);
        __builtin_masked_scatter(mask, index, stored, out + i);
        TO_MEMORY();
    })
}

void cost_masked_scatter_by_lane(const struct table_args *args)
{
    float *out = args->buffer[1];
    ints index = any_indices();
    floats stored = 1;
    lanes_on mask = some_lanes();
    longs spare = 4;
    LOOP(args, {
        OPAQUE(index);
        OPAQUE(stored);
        longs at = (longs)(intptr_t)(out + i) + __builtin_convertvector(index, longs) * 4;
        at = mask ? at : (longs)(intptr_t)args->buffer[2] + spare;
        for (int lane = 0; lane < LANES; lane++)
            *(float *)at[lane] = stored[lane];
        TO_MEMORY();
    })
}

/* Neighbours, lane by lane, in place of a masked store. */
void cost_masked_store_by_lane(const struct table_args *args)
{
    float *out = args->buffer[1];
    floats stored = 1;
    lanes_on mask = some_lanes();
    longs lane_bytes;
    for (int lane = 0; lane < LANES; lane++)
        lane_bytes[lane] = 4 * lane;
    longs spare = 4;
    LOOP(args, {
        OPAQUE(stored);
        float *at_row = out + LANES * i;
        OPAQUE_WORD(at_row);
        longs at =
            mask ? (longs)(intptr_t)at_row + lane_bytes : (longs)(intptr_t)args->buffer[2] + spare;
        for (int lane = 0; lane < LANES; lane++)
            *(float *)at[lane] = stored[lane];
        TO_MEMORY();
    })
}

#endif
