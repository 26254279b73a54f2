/* SPDX-License-Identifier: Apache-2.0
 *
 * --matrix=fast: products of matrices of bf16 stay within the bound of docs/hardware.md where the
 * CPU's dot products are used, and are the same bits as without it everywhere else.
 */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ptxrun/ptxrun.h"

/* A block is a warp with a product of its own; a lane's registers are 32 words apart. */
static const char product_text[] =
    ".version 8.0\n"
    ".target sm_90a\n"
    ".address_size 64\n"
    ".visible .entry product(.param .u64 a, .param .u64 b, .param .u64 c)\n"
    "{\n"
    "    .reg .b32 %r<12>;\n"
    "    .reg .b64 %rd<6>;\n"
    "    .reg .f32 %f<4>;\n"
    "    ld.param.u64 %rd1, [a];\n"
    "    ld.param.u64 %rd2, [b];\n"
    "    ld.param.u64 %rd3, [c];\n"
    "    mov.u32 %r1, %ctaid.x;\n"
    "    mov.u32 %r2, %tid.x;\n"
    "    mad.lo.u32 %r3, %r1, 128, %r2;\n"
    "    mul.wide.u32 %rd4, %r3, 4;\n"
    "    add.u64 %rd1, %rd1, %rd4;\n"
    "    add.u64 %rd3, %rd3, %rd4;\n"
    "    mad.lo.u32 %r3, %r1, 64, %r2;\n"
    "    mul.wide.u32 %rd4, %r3, 4;\n"
    "    add.u64 %rd2, %rd2, %rd4;\n"
    "    ld.global.u32 %r4, [%rd1];\n"
    "    ld.global.u32 %r5, [%rd1+128];\n"
    "    ld.global.u32 %r6, [%rd1+256];\n"
    "    ld.global.u32 %r7, [%rd1+384];\n"
    "    ld.global.u32 %r8, [%rd2];\n"
    "    ld.global.u32 %r9, [%rd2+128];\n"
    "    ld.global.f32 %f0, [%rd3];\n"
    "    ld.global.f32 %f1, [%rd3+128];\n"
    "    ld.global.f32 %f2, [%rd3+256];\n"
    "    ld.global.f32 %f3, [%rd3+384];\n"
    "    mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3},\n"
    "        {%r4, %r5, %r6, %r7}, {%r8, %r9}, {%f0, %f1, %f2, %f3};\n"
    "    st.global.f32 [%rd3], %f0;\n"
    "    st.global.f32 [%rd3+128], %f1;\n"
    "    st.global.f32 [%rd3+256], %f2;\n"
    "    st.global.f32 [%rd3+384], %f3;\n"
    "    ret;\n"
    "}\n"
    /* All of B is 1, so that its layout does not matter; the products of A are subtracted. */
    ".visible .entry difference(.param .u64 a, .param .u64 c)\n"
    "{\n"
    "    .reg .pred %p;\n"
    "    .reg .b32 %r<12>;\n"
    "    .reg .b64 %rd<6>;\n"
    "    .reg .f32 %f<4>;\n"
    "    .shared .align 128 .b8 ones[2048];\n"
    "    ld.param.u64 %rd1, [a];\n"
    "    ld.param.u64 %rd3, [c];\n"
    "    mov.u32 %r2, %tid.x;\n"
    "    mov.u32 %r10, ones;\n"
    "    mad.lo.u32 %r11, %r2, 16, %r10;\n"
    "    mov.b32 %r3, 0x3f803f80;\n"
    "    st.shared.v4.b32 [%r11], {%r3, %r3, %r3, %r3};\n"
    "    bar.sync 0;\n"
    "    mul.wide.u32 %rd4, %r2, 16;\n"
    "    add.u64 %rd1, %rd1, %rd4;\n"
    "    add.u64 %rd3, %rd3, %rd4;\n"
    "    ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1];\n"
    "    ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd3];\n"
    "    shr.u32 %r10, %r10, 4;\n"
    "    cvt.u64.u32 %rd5, %r10;\n"
    "    or.b64 %rd5, %rd5, 0x0000001000080000;\n"
    "    setp.eq.u32 %p, %r3, 0x3f803f80;\n"
    "    wgmma.fence.sync.aligned;\n"
    "    wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%f0, %f1, %f2, %f3},\n"
    "        {%r4, %r5, %r6, %r7}, %rd5, %p, -1, 1, 0;\n"
    "    wgmma.commit_group.sync.aligned;\n"
    "    wgmma.wait_group.sync.aligned 0;\n"
    "    st.global.v4.f32 [%rd3], {%f0, %f1, %f2, %f3};\n"
    "    ret;\n"
    "}\n";

enum { LANES = 32, ROWS = 16, COLUMNS = 8, DEPTH = 16, PRODUCTS = 400 };

/* As kernels take them. */
struct products {
    uint16_t a[PRODUCTS][4][LANES][2];
    uint16_t b[PRODUCTS][2][LANES][2];
    float c[PRODUCTS][4][LANES];
    float d[PRODUCTS][4][LANES];
};

static struct products products;

/* ---- numbers ---- */

static uint32_t next_random(void)
{
    static uint32_t state = 12345;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static float number_of(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float number;
    memcpy(&number, &wide, sizeof number);
    return number;
}

/* Subnormals, numbers whose products are subnormal, and those that are not far from 1. */
static uint16_t random_bf16(void)
{
    static const uint16_t exponents[][2] = {{0, 1}, {60, 8}, {117, 20}, {124, 4}, {124, 4}};
    const uint16_t *range = exponents[next_random() % (sizeof exponents / sizeof *exponents)];
    uint32_t exponent = range[0] + next_random() % range[1];
    return (uint16_t)((next_random() & 0x807f) | exponent << 7);
}

static void fill(void)
{
    for (int i = 0; i < PRODUCTS; i++) {
        for (int e = 0; e < 4 * LANES * 2; e++)
            (&products.a[i][0][0][0])[e] = random_bf16();
        for (int e = 0; e < 2 * LANES * 2; e++)
            (&products.b[i][0][0][0])[e] = random_bf16();
        for (int e = 0; e < 4 * LANES; e++)
            (&products.c[i][0][0])[e] = number_of(random_bf16());
    }
    memcpy(products.d, products.c, sizeof products.c);
}

/* PTX ISA, "Matrix fragments for mma.m16n8k16". */
static float a_of(int product, int row, int k)
{
    int lane = row % 8 * 4 + k % 8 / 2;
    return number_of(products.a[product][row / 8 + k / 8 * 2][lane][k % 2]);
}

static float b_of(int product, int k, int column)
{
    return number_of(products.b[product][k / 8][column * 4 + k % 8 / 2][k % 2]);
}

/* ---- what a product may be ---- */

struct judgement {
    int different; /* from what is added in the order of k */
    int wrong;     /* farther from the real number than the bound */
};

static void judge(int product, int row, int column, struct judgement *judgement)
{
    int element = row / 8 * 2 + column % 2, lane = row % 8 * 4 + column / 2;
    float in_order = products.c[product][element][lane];
    float got = products.d[product][element][lane];
    long double real = in_order, sum = fabsf(in_order), lost = 0;
    for (int k = 0; k < DEPTH; k++) {
        float a = a_of(product, row, k), b = b_of(product, k, column);
        in_order = fmaf(a, b, in_order);
        real += (long double)a * b;
        sum += fabsl((long double)a * b);
        if (fpclassify(a) == FP_SUBNORMAL || fpclassify(b) == FP_SUBNORMAL)
            lost += fabsl((long double)a * b);
    }
    long double roundings = (long double)DEPTH;
    long double bound = roundings * (0x1p-24L + 0x1p-42L) * sum + lost + (roundings + 1) * FLT_MIN;
    judgement->different += memcmp(&in_order, &got, sizeof got) != 0;
    judgement->wrong += !(fabsl(got - real) <= bound);
}

/* ---- */

static struct ptxrun_kernel *find(struct ptxrun_module **module, const char *name)
{
    struct ptxrun_error err;
    struct ptxrun_kernel *kernel;
    cr_assert_eq(ptxrun_load_text(product_text, strlen(product_text), module, &err), PTXRUN_OK,
                 "%s", err.message);
    cr_assert_eq(ptxrun_find_kernel(*module, name, &kernel, &err), PTXRUN_OK, "%s", err.message);
    return kernel;
}

static struct judgement multiply(const char *matrix, const char *cpu)
{
    setenv("PTXRUN_MATRIX", matrix, true);
    setenv("PTXRUN_CPU", cpu, true);
    struct ptxrun_error err;
    struct ptxrun_module *module;
    struct ptxrun_kernel *kernel = find(&module, "product");
    void *a = products.a, *b = products.b, *d = products.d;
    fill();
    struct ptxrun_launch launch = {.grid = {PRODUCTS, 1, 1}, .block = {LANES, 1, 1}};
    cr_assert_eq(ptxrun_launch(kernel, &launch, (void *[]){&a, &b, &d}, 3, &err), PTXRUN_OK, "%s",
                 err.message);
    ptxrun_unload(module);
    struct judgement judgement = {0};
    for (int i = 0; i < PRODUCTS * ROWS * COLUMNS; i++)
        judge(i / (ROWS * COLUMNS), i / COLUMNS % ROWS, i % COLUMNS, &judgement);
    return judgement;
}

static bool has_dots(void)
{
#if defined __x86_64__
    return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512vnni");
#else
    return false;
#endif
}

/* Of Xeons from Sapphire Rapids on: slower than multiplying and adding f32. */
static bool has_slow_dots(void)
{
#if defined __x86_64__
    return has_dots() && __builtin_cpu_supports("avx512fp16") && __builtin_cpu_is("intel");
#else
    return false;
#endif
}

Test(fast_matrices, exact_products_are_added_in_the_order_of_k)
{
    struct judgement judgement = multiply("exact", has_dots() ? "cooperlake" : "");
    cr_expect_eq(judgement.different, 0);
    cr_expect_eq(judgement.wrong, 0);
}

Test(fast_matrices, fast_products_stay_within_their_bound)
{
    if (!has_dots())
        cr_skip_test("no dot products of bf16");
    struct judgement judgement = multiply("fast", "cooperlake");
    cr_expect_eq(judgement.wrong, 0);
    cr_expect_gt(judgement.different, PRODUCTS);
}

Test(fast_matrices, what_would_not_be_faster_stays_exact)
{
    struct judgement judgement =
        multiply("fast", has_dots() && !has_slow_dots() ? "x86-64-v3" : "");
    cr_expect_eq(judgement.different, 0);
}

/* In a process of its own, as options are read once: a number that all bits of the results are in.
 */
static uint64_t bits_in(const char *collapse, const char *tier)
{
    uint64_t sum = 0;
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        setenv("PTXRUN_COLLAPSE", collapse, true);
        setenv("PTXRUN_TIER", tier, true);
        multiply("fast", "cooperlake");
        const unsigned char *bytes = (const unsigned char *)products.d;
        for (size_t i = 0; i < sizeof products.d; i++)
            sum = sum * 31 + bytes[i];
        _exit(write(ends[1], &sum, sizeof sum) != sizeof sum);
    }
    close(ends[1]);
    cr_assert_eq(read(ends[0], &sum, sizeof sum), sizeof sum, "%s, %s", collapse, tier);
    waitpid(child, NULL, 0);
    close(ends[0]);
    return sum;
}

Test(fast_matrices, collapses_and_tiers_agree)
{
    static const char *const collapses[] = {"flat", "hierarchical", "vector"};
    if (!has_dots())
        cr_skip_test("no dot products of bf16");
    uint64_t bits = bits_in("precise", "best");
    cr_expect_eq(bits_in("precise", "quick"), bits);
    for (size_t i = 0; i < sizeof collapses / sizeof *collapses; i++)
        cr_expect_eq(bits_in(collapses[i], "best"), bits, "%s", collapses[i]);
}

Test(fast_matrices, fast_products_can_be_subtracted)
{
    enum { THREADS = 128 };
    static uint16_t a[THREADS][4][2];
    static float c[THREADS][4];
    if (!has_dots())
        cr_skip_test("no dot products of bf16");
    setenv("PTXRUN_MATRIX", "fast", true);
    setenv("PTXRUN_CPU", "cooperlake", true);
    struct ptxrun_error err;
    struct ptxrun_module *module;
    struct ptxrun_kernel *kernel = find(&module, "difference");
    for (int i = 0; i < THREADS * 8; i++)
        (&a[0][0][0])[i] = (uint16_t)(0x3f80 + next_random() % 2 * 0x80); /* 1 and 2 */
    void *from = a, *to = c;
    struct ptxrun_launch launch = {.grid = {1, 1, 1}, .block = {THREADS, 1, 1}};
    cr_assert_eq(ptxrun_launch(kernel, &launch, (void *[]){&from, &to}, 2, &err), PTXRUN_OK, "%s",
                 err.message);
    ptxrun_unload(module);
    for (int four = 0; four < THREADS; four += 4)
        for (int upper = 0; upper < 2; upper++) {
            float sum = 0;
            for (int i = 0; i < 16; i++)
                sum -= number_of(a[four + i / 4][upper + i % 4 / 2 * 2][i % 2]);
            for (int i = 0; i < 8; i++)
                cr_expect_eq(c[four + i / 2][upper * 2 + i % 2], sum, "row of lane %d", four);
        }
}
