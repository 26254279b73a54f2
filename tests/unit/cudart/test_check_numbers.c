/* SPDX-License-Identifier: Apache-2.0
 *
 * --check=numbers: what is found of random arithmetic, each operation and each use of what went
 * wrong counted, against an oracle that does the same thread after thread; in each collapse. And
 * how operations are told.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/core/check/findings.h"
#include "cudart/core/code/number_text.h"
#include "driver_fixture.h"
#include "kernel_abi/numbers.h"
#include "tests/random/text.h"

#define THREADS   96
#define REGISTERS 6 /* of each kind: floats, integers */
#define STEPS     16
#define KERNELS   30

/* The line of the first step. */
#define FIRST_LINE 30

enum step_kind {
    ADD,
    SUB,
    MUL,
    FMA,
    DIV,
    SQRT,
    MIN,
    NEG,
    SELP,
    TO_INTEGER,
    FROM_INTEGER,
    INTEGERS,
    INT_ADD = INTEGERS,
    INT_SUB,
    INT_MUL,
    INT_MAD,
    INT_SHL,
    INT_AND,
    INT_SHR,
    INT_OR,
    STEP_KINDS
};

/* d: result; a, b, c: sources; amount: of shifts. */
static const char *const forms[STEP_KINDS] = {
    [ADD] = "add.rn.f32 %f{d}, %f{a}, %f{b};",
    [SUB] = "sub.rn.f32 %f{d}, %f{a}, %f{b};",
    [MUL] = "mul.rn.f32 %f{d}, %f{a}, %f{b};",
    [FMA] = "fma.rn.f32 %f{d}, %f{a}, %f{b}, %f{c};",
    [DIV] = "div.rn.f32 %f{d}, %f{a}, %f{b};",
    [SQRT] = "sqrt.rn.f32 %f{d}, %f{a};",
    [MIN] = "min.f32 %f{d}, %f{a}, %f{b};",
    [NEG] = "neg.f32 %f{d}, %f{a};",
    [SELP] = "selp.f32 %f{d}, %f{a}, %f{b}, %p1;",
    [TO_INTEGER] = "cvt.rzi.s32.f32 %r{d}, %f{a};",
    [FROM_INTEGER] = "cvt.rn.f32.s32 %f{d}, %r{a};",
    [INT_ADD] = "add.s32 %r{d}, %r{a}, %r{b};",
    [INT_SUB] = "sub.s32 %r{d}, %r{a}, %r{b};",
    [INT_MUL] = "mul.lo.s32 %r{d}, %r{a}, %r{b};",
    [INT_MAD] = "mad.lo.s32 %r{d}, %r{a}, %r{b}, %r{c};",
    [INT_SHL] = "shl.b32 %r{d}, %r{a}, {s};",
    [INT_AND] = "and.b32 %r{d}, %r{a}, %r{b};",
    [INT_SHR] = "shr.u32 %r{d}, %r{a}, {s};",
    [INT_OR] = "or.b32 %r{d}, %r{a}, %r{b};",
};

struct step {
    enum step_kind kind;
    unsigned d, a, b, c, amount;
};

union number {
    float f;
    uint32_t u;
    int32_t i;
};

/* What each thread begins with. */
struct start {
    union number f[REGISTERS];
    union number r[REGISTERS];
};

struct program {
    struct step steps[STEPS];
    struct start starts[THREADS];
    bool is_unsigned; /* how integers become addresses */
};

static struct program random_program(struct dice *dice)
{
    static const float floats[] = {0,      -0.0f,    1,         -1,  0.5f,  3e38f,
                                   -3e38f, INFINITY, -INFINITY, NAN, 1e20f, 70000};
    static const int32_t integers[] = {0, 1, -1, 7, 65536, INT32_MAX, INT32_MIN, 46341, -65537};
    struct program program = {.is_unsigned = dice_chance(dice, 50)};
    for (unsigned i = 0; i < STEPS; i++)
        program.steps[i] = (struct step){.kind = dice_below(dice, STEP_KINDS),
                                         .d = dice_below(dice, REGISTERS),
                                         .a = dice_below(dice, REGISTERS),
                                         .b = dice_below(dice, REGISTERS),
                                         .c = dice_below(dice, REGISTERS),
                                         .amount = dice_below(dice, 35)};
    for (unsigned t = 0; t < THREADS; t++)
        for (unsigned i = 0; i < REGISTERS; i++) {
            program.starts[t].f[i].f = floats[dice_below(dice, sizeof floats / sizeof *floats)];
            program.starts[t].r[i].i =
                integers[dice_below(dice, sizeof integers / sizeof *integers)];
        }
    return program;
}

/* ---- the PTX ---- */

static void add_step(struct text *text, const struct step *step)
{
    for (const char *at = forms[step->kind]; *at; at++) {
        if (*at != '{') {
            text_add_bytes(text, at, 1);
            continue;
        }
        unsigned number = at[1] == 'd'   ? step->d
                          : at[1] == 'a' ? step->a
                          : at[1] == 'b' ? step->b
                          : at[1] == 'c' ? step->c
                                         : step->amount;
        text_add(text, "%u", number);
        at += 2;
    }
    text_add(text, "\n");
}

static unsigned add_line(struct text *text, unsigned line, const char *what)
{
    text_add(text, "%s\n", what);
    return line + 1;
}

/* Every register is stored, every float decides, every integer is (times 0) part of an address. */
static void write_program(const struct program *program, struct text *text)
{
    unsigned line = 1;
    line = add_line(text, line, ".version 7.0");
    line = add_line(text, line, ".target sm_75");
    line = add_line(text, line, ".address_size 64");
    line = add_line(text, line, ".visible .entry k(.param .u64 starts, .param .u64 results)");
    line = add_line(text, line,
                    "{ .reg .f32 %f<7>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;");
    line = add_line(text, line, "mov.u32 %r8, %tid.x; ld.param.u64 %rd1, [starts];");
    line = add_line(text, line, "mul.wide.u32 %rd2, %r8, 48; add.s64 %rd1, %rd1, %rd2;");
    line = add_line(text, line, "ld.param.u64 %rd3, [results]; and.b32 %r7, %r8, 1;");
    line = add_line(text, line, "setp.eq.s32 %p1, %r7, 0;");
    for (unsigned i = 0; i < REGISTERS; i++, line++)
        text_add(text, "ld.global.f32 %%f%u, [%%rd1+%u]; ld.global.u32 %%r%u, [%%rd1+%u];\n", i,
                 4 * i, i, 4 * (REGISTERS + i));
    while (line < FIRST_LINE)
        line = add_line(text, line, "");
    for (unsigned i = 0; i < STEPS; i++)
        add_step(text, &program->steps[i]);
    for (unsigned i = 0; i < REGISTERS; i++) {
        text_add(text, "st.global.f32 [%%rd3], %%f%u; st.global.u32 [%%rd3+4], %%r%u;\n", i, i);
        text_add(text, "mul.wide.%s %%rd4, %%r%u, 0;\n", program->is_unsigned ? "u32" : "s32", i);
        text_add(text, "add.s64 %%rd5, %%rd3, %%rd4; ld.volatile.global.u32 %%r8, [%%rd5];\n");
        text_add(text, "setp.lt.f32 %%p2, %%f%u, 0f3F800000; @%%p2 bra L%u;\n", i, i);
        text_add(text, "st.volatile.global.u32 [%%rd3+8], %%r8;\nL%u:\n", i);
    }
    text_add(text, "ret;\n}\n");
}

/* ---- the oracle ---- */

struct origin {
    enum rt_number_kind kind;
    bool is_cut;
    unsigned step;
};

struct thread {
    struct start now;
    struct origin f[REGISTERS];
    struct origin r[REGISTERS];
};

static uint32_t rank_of(struct origin origin)
{
    return origin.kind == RT_NUMBER_FINE
               ? 0
               : (uint32_t)origin.kind << 16 | (uint32_t)origin.is_cut << 15 | (origin.step + 1);
}

static struct origin meet(struct origin a, struct origin b)
{
    return rank_of(a) > rank_of(b) ? a : b;
}

static bool is_wrong_number(struct origin origin)
{
    return origin.kind >= RT_NUMBER_CONVERSION;
}

static float least(float a, float b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) ? b : a;
    return a < b ? a : b;
}

static void do_float(struct thread *thread, const struct step *step, unsigned number)
{
    float a = thread->now.f[step->a].f;
    float b = thread->now.f[step->b].f;
    float c = thread->now.f[step->c].f;
    struct origin met = thread->f[step->a];
    unsigned sources = step->kind == FMA ? 3 : step->kind == SQRT || step->kind == NEG ? 1 : 2;
    if (sources > 1)
        met = meet(met, thread->f[step->b]);
    if (sources > 2)
        met = meet(met, thread->f[step->c]);
    bool is_nan = isnan(a) || (sources > 1 && isnan(b)) || (sources > 2 && isnan(c));
    bool is_finite = isfinite(a) && (sources < 2 || isfinite(b)) && (sources < 3 || isfinite(c));
    float result = step->kind == ADD    ? a + b
                   : step->kind == SUB  ? a - b
                   : step->kind == MUL  ? a * b
                   : step->kind == FMA  ? fmaf(a, b, c)
                   : step->kind == DIV  ? a / b
                   : step->kind == SQRT ? sqrtf(a)
                   : step->kind == MIN  ? least(a, b)
                                        : -a;
    struct origin origin = {0};
    bool begins = step->kind != MIN && step->kind != NEG && (isnan(result) ? !is_nan : is_finite);
    if (!isfinite(result) && is_wrong_number(met))
        origin = met;
    else if (!isfinite(result) && begins)
        origin = (struct origin){.kind = step->kind == DIV && b == 0 ? RT_NUMBER_ZERO_DIVISOR
                                         : isnan(result)             ? RT_NUMBER_NAN
                                                                     : RT_NUMBER_INFINITY,
                                 .step = number};
    thread->now.f[step->d].f = result;
    thread->f[step->d] = origin;
}

static void do_conversion(struct thread *thread, const struct step *step, unsigned number)
{
    struct origin origin = {0};
    if (step->kind == FROM_INTEGER) {
        if (thread->r[step->a].kind == RT_NUMBER_CONVERSION)
            origin = thread->r[step->a];
        thread->now.f[step->d].f = (float)thread->now.r[step->a].i;
        thread->f[step->d] = origin;
        return;
    }
    float a = thread->now.f[step->a].f;
    bool fits = a >= -0x1p31f && a < 0x1p31f;
    if (!fits && is_wrong_number(thread->f[step->a]))
        origin = thread->f[step->a];
    else if (!fits)
        origin = (struct origin){.kind = RT_NUMBER_CONVERSION, .step = number};
    thread->now.r[step->d].i = fits ? (int32_t)a : isnan(a) ? 0 : a < 0 ? INT32_MIN : INT32_MAX;
    thread->r[step->d] = origin;
}

static void do_integer(struct thread *thread, const struct step *step, unsigned number)
{
    int64_t a = thread->now.r[step->a].i;
    int64_t b = thread->now.r[step->b].i;
    int64_t c = thread->now.r[step->c].i;
    bool is_shift = step->kind == INT_SHL || step->kind == INT_SHR;
    struct origin met = thread->r[step->a];
    if (!is_shift)
        met = meet(met, thread->r[step->b]);
    if (step->kind == INT_MAD)
        met = meet(met, thread->r[step->c]);
    unsigned amount = step->amount < 32 ? step->amount : 32;
    int64_t factor = step->kind == INT_SHL ? INT64_C(1) << amount : b;
    bool is_product = step->kind == INT_MUL || step->kind == INT_MAD || step->kind == INT_SHL;
    int64_t result = step->kind == INT_ADD   ? a + b
                     : step->kind == INT_SUB ? a - b
                     : step->kind == INT_MAD ? a * b + c
                     : is_product            ? a * factor
                     : step->kind == INT_AND ? (a & b)
                     : step->kind == INT_OR  ? (a | b)
                                             : (int64_t)((uint64_t)(uint32_t)a >> amount);
    bool may_wrap = step->kind <= INT_SHL;
    bool is_both = is_product && a >= 0 && factor >= 0 && a * factor > UINT32_MAX;
    struct origin origin = met;
    if (met.kind == RT_NUMBER_FINE && may_wrap && is_both)
        origin = (struct origin){.kind = RT_NUMBER_WRAP, .step = number};
    else if (met.kind == RT_NUMBER_FINE && may_wrap && result != (int32_t)result)
        origin = (struct origin){.kind = RT_NUMBER_SIGNED_WRAP, .step = number};
    if (step->kind == INT_AND || step->kind == INT_SHR)
        origin.is_cut = origin.kind != RT_NUMBER_FINE;
    thread->now.r[step->d].u = (uint32_t)result;
    thread->r[step->d] = origin;
}

static void do_step(struct thread *thread, const struct step *step, unsigned number, bool is_even)
{
    if (step->kind >= INTEGERS) {
        do_integer(thread, step, number);
    } else if (step->kind == TO_INTEGER || step->kind == FROM_INTEGER) {
        do_conversion(thread, step, number);
    } else if (step->kind == SELP) {
        unsigned chosen = is_even ? step->a : step->b;
        thread->f[step->d] = thread->f[chosen];
        thread->now.f[step->d] = thread->now.f[chosen];
    } else {
        do_float(thread, step, number);
    }
}

/* Whether an address that an integer is part of is wrong. */
static bool is_wrong_address(struct origin origin, bool is_unsigned)
{
    if (origin.kind == RT_NUMBER_CONVERSION)
        return true;
    return (origin.kind == RT_NUMBER_WRAP ||
            (origin.kind == RT_NUMBER_SIGNED_WRAP && !is_unsigned)) &&
           !origin.is_cut;
}

/* Uses of what went wrong: by the step where it did; by kind. */
struct uses {
    uint64_t steps[STEPS];
    uint64_t kinds[RT_NUMBER_NAN + 1];
};

static void add_uses(struct uses *uses, struct origin origin, unsigned count)
{
    uses->steps[origin.step] += count;
    uses->kinds[origin.kind] += count;
}

static void count_uses(const struct program *program, struct uses *uses)
{
    for (unsigned t = 0; t < THREADS; t++) {
        struct thread thread = {.now = program->starts[t]};
        for (unsigned i = 0; i < STEPS; i++)
            do_step(&thread, &program->steps[i], i, t % 2 == 0);
        for (unsigned i = 0; i < REGISTERS; i++) {
            struct origin f = thread.f[i];
            struct origin r = thread.r[i];
            unsigned decides = isnan(thread.now.f[i].f) ? 1 : 0;
            add_uses(uses, f, is_wrong_number(f) ? 1 + decides : 0);
            add_uses(uses, r, is_wrong_number(r));
            add_uses(uses, r, is_wrong_address(r, program->is_unsigned));
        }
    }
}

/* ---- runs ---- */

static uint64_t count_found(unsigned step)
{
    size_t count;
    uint64_t found = 0;
    const struct crt_found *all = crt_findings(&count);
    for (size_t i = 0; i < count; i++)
        found += all[i].first.ptx_line == FIRST_LINE + step ? all[i].count : 0;
    return found;
}

static void run(const struct program *program, const char *text)
{
    CUmodule module;
    CUfunction function;
    CUdeviceptr starts;
    CUdeviceptr results;
    OK(cuModuleLoadData(&module, text));
    OK(cuModuleGetFunction(&function, module, "k"));
    OK(cuMemAlloc_v2(&starts, sizeof program->starts));
    OK(cuMemAlloc_v2(&results, 64));
    OK(cuMemcpyHtoD_v2(starts, program->starts, sizeof program->starts));
    void *params[] = {&starts, &results};
    OK(cuLaunchKernel(function, 1, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
    OK(cuMemFree_v2(starts));
    OK(cuMemFree_v2(results));
    OK(cuModuleUnload(module));
}

static void compare(uint32_t seed, const char *collapse, const char *tier)
{
    struct dice dice = {.state = seed};
    struct uses all = {0};
    setenv("PTXRUN_CHECK", "numbers", 1);
    setenv("PTXRUN_COLLAPSE", collapse, 1);
    setenv("PTXRUN_TIER", tier, 1);
    setenv("PTXRUN_ERROR_EXITCODE", "0", 1);
    make_context();
    cr_assert_not_null(freopen("/dev/null", "w", stderr));
    for (unsigned n = 0; n < KERNELS; n++) {
        struct text text = {0};
        uint64_t before[STEPS];
        struct uses wrong = {0};
        struct program program = random_program(&dice);
        write_program(&program, &text);
        count_uses(&program, &wrong);
        count_uses(&program, &all);
        for (unsigned i = 0; i < STEPS; i++)
            before[i] = count_found(i);
        run(&program, text.bytes);
        for (unsigned i = 0; i < STEPS; i++) {
            uint64_t found = count_found(i) - before[i];
            cr_assert_eq(found, wrong.steps[i], "%zu of %zu uses found of step %u:\n%s",
                         (size_t)found, (size_t)wrong.steps[i], i, text.bytes);
        }
        text_fini(&text);
    }
    for (unsigned kind = RT_NUMBER_FINE + 1; kind <= RT_NUMBER_NAN; kind++)
        cr_assert_gt(all.kinds[kind], 50, "%zu of kind %u", (size_t)all.kinds[kind], kind);
}

Test(check_numbers, quick_code_finds_every_use)
{
    compare(1, "auto", "quick");
}

Test(check_numbers, threads_on_stacks_find_every_use)
{
    compare(2, "precise", "best");
}

Test(check_numbers, loops_find_every_use)
{
    compare(3, "flat", "best");
}

Test(check_numbers, vectors_find_every_use)
{
    compare(4, "vector", "best");
}

/* ---- texts ---- */

static void expect_text(enum rt_number_type type, enum rt_number_operation operation,
                        uint64_t first_two, uint32_t third, const char *expected)
{
    char text[CRT_NUMBER_TEXT_BYTES];
    uint32_t origin = (uint32_t)type | (uint32_t)operation << RT_NUMBER_OPERATION_SHIFT;
    crt_number_text(origin, first_two, third, false, text);
    cr_expect_str_eq(text, expected);
}

static uint64_t join(uint32_t first, uint32_t second)
{
    return (uint64_t)second << 32 | first;
}

static uint32_t bits(float value)
{
    return (union number){.f = value}.u;
}

Test(check_numbers, operations_are_told_with_their_operands)
{
    expect_text(RT_NUMBER_F32, RT_NUMBER_DIV, join(bits(100), bits(0)), 0, "100 / 0");
    expect_text(RT_NUMBER_F32, RT_NUMBER_MAD, join(bits(2), bits(3e38f)), bits(-1),
                "2 * 3.00000001e+38 + -1");
    expect_text(RT_NUMBER_F32, RT_NUMBER_SQRT, join(bits(-1), 0), 0, "square root of -1");
    expect_text(RT_NUMBER_F64, RT_NUMBER_MUL, join(0x7e37e43c, 0x40000000), 0, "1e+300 * 2");
    expect_text(RT_NUMBER_F16, RT_NUMBER_MUL, join(0x5cb0, 0x0001), 0, "300 * 5.96046e-08");
    expect_text(RT_NUMBER_F16, RT_NUMBER_SUB, join(0x7c00, 0xfe00), 0, "inf - nan");
    expect_text(RT_NUMBER_BF16X2, RT_NUMBER_ADD, join(0x3f807f7f, 0xbf800000), 0,
                "(3.38953e+38, 1) + (0, -1)");
    expect_text(RT_NUMBER_INT, RT_NUMBER_SHL, join(65536, 16), 0, "65536 << 16");
    expect_text(RT_NUMBER_INT, RT_NUMBER_SUB, join(UINT32_C(-5), INT32_MAX), 0, "-5 - 2147483647");
    expect_text(RT_NUMBER_F32, RT_NUMBER_CVT, join(bits(3e9f), 0), 0, "conversion of 3e+09");
    expect_text(RT_NUMBER_F32, RT_NUMBER_CVT, join(bits(1), bits(70000)), 0,
                "conversion of 1 and 70000");
}

Test(check_numbers, divisions_of_integers_are_told)
{
    char text[CRT_NUMBER_TEXT_BYTES];
    uint32_t rem = RT_NUMBER_REM << RT_NUMBER_OPERATION_SHIFT;
    crt_number_text(rem, (uint64_t)-12345678901, 0, true, text);
    cr_expect_str_eq(text, "-12345678901 % 0");
}
