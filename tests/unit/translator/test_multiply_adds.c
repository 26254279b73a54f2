/* SPDX-License-Identifier: Apache-2.0
 *
 * module/multiply_adds.c: operands are constants, so the builder computes the arithmetic. Results
 * of f32 are compared with the C library's, those of f16 with rt/half.c's, which test_rt_half
 * compares with exact sums.
 */
#include "rt_samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>

#include "translator/module/module_steps.h"

#define LANES 4

static LLVMModuleRef parse(LLVMContextRef context, const char *text)
{
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "multiply_adds");
    LLVMModuleRef module;
    char *message = NULL;
    cr_assert(!LLVMParseIRInContext(context, buffer, &module, &message), "%s", message);
    return module;
}

/* What is multiplied and added: in LLVM's text, f32 or f16. */
struct format {
    const char *name, *suffix;
    unsigned bits;
};

static const struct format f32 = {"float", "f32", 32};
static const struct format f16 = {"half", "f16", 16};

/* Numbers go in as bits: LLVM's text of an f32 has 64. */
static void print_operand(FILE *out, const struct format *format, const uint32_t *values,
                          bool is_last)
{
    fprintf(out, "<%d x %s> bitcast (<%d x i%u> <", LANES, format->name, LANES, format->bits);
    for (int i = 0; i < LANES; i++)
        fprintf(out, "%si%u %u", i > 0 ? ", " : "", format->bits, values[i]);
    fprintf(out, "> to <%d x %s>)%s", LANES, format->name, is_last ? ")\n" : ", ");
}

static char *make_text(const struct format *format, uint32_t operands[3][LANES])
{
    char *text;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    fprintf(out, "define <%d x i%u> @f() {\n  %%v = call <%d x %s> @llvm.fma.v%d%s(", LANES,
            format->bits, LANES, format->name, LANES, format->suffix);
    for (int i = 0; i < 3; i++)
        print_operand(out, format, operands[i], i == 2);
    fprintf(out, "  %%b = bitcast <%d x %s> %%v to <%d x i%u>\n  ret <%d x i%u> %%b\n}\n", LANES,
            format->name, LANES, format->bits, LANES, format->bits);
    fclose(out);
    return text;
}

static void expect_f32(uint32_t bits, uint32_t a, uint32_t b, uint32_t c)
{
    float expected = fmaf(float_of(a), float_of(b), float_of(c));
    if (isnan(expected))
        cr_assert(isnan(float_of(bits)), "%x * %x + %x: %x, not NaN", a, b, c, bits);
    else
        cr_assert_eq(bits, float_bits(expected), "%x * %x + %x: %x, not %x", a, b, c, bits,
                     float_bits(expected));
}

static void expect_f16(uint32_t bits, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t expected = rt_half_fma(a, b, c, RT_HALF_F16);
    bool is_nan = (bits & 0x7fff) > 0x7c00;
    cr_assert(is_nan ? expected == 0x7fff : bits == expected, "%x * %x + %x: %x, not %x", a, b, c,
              bits, expected);
}

static void check(const struct format *format, uint32_t operands[3][LANES])
{
    char *text = make_text(format, operands);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse(context, text);
    tr_part_multiply_adds(module, true, false);
    LLVMValueRef cast =
        LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(LLVMGetNamedFunction(module, "f")));
    LLVMValueRef results = LLVMConstBitCast(LLVMGetOperand(cast, 0), LLVMTypeOf(cast));
    for (unsigned i = 0; i < LANES; i++) {
        LLVMValueRef lane = LLVMGetAggregateElement(results, i);
        cr_assert(lane && LLVMIsAConstantInt(lane), "a call is left");
        uint32_t bits = (uint32_t)LLVMConstIntGetZExtValue(lane);
        (format == &f32 ? expect_f32 : expect_f16)(bits, operands[0][i], operands[1][i],
                                                   operands[2][i]);
    }
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    free(text);
}

Test(multiply_adds, edges_meet_edges)
{
    static const uint32_t edges[] = {0,          0x80000000, 1,          0x80000001, 0x007fffff,
                                     0x00800000, 0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff,
                                     0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000};
    enum { COUNT = sizeof edges / sizeof *edges };
    for (size_t n = 0; n < COUNT * COUNT * COUNT; n += LANES) {
        uint32_t operands[3][LANES];
        for (size_t i = 0; i < LANES; i++) {
            operands[0][i] = edges[(n + i) % COUNT];
            operands[1][i] = edges[(n + i) / COUNT % COUNT];
            operands[2][i] = edges[(n + i) / COUNT / COUNT % COUNT];
        }
        check(&f32, operands);
    }
}

/* (1 + 2^-k) (1 - 2^-k) is 1 but for 2^-2k. As half a place of c that makes a sum just beside a
 * tie, and an f64 has no room for the difference. */
static void make_near_tie(uint64_t *state, uint32_t operands[3][LANES], int lane)
{
    uint64_t bits = random_bits(state);
    uint32_t place = 15 + (uint32_t)bits % 8;
    uint32_t exponent = 64 + (uint32_t)(bits >> 8) % 128;
    uint32_t sign = (uint32_t)(bits >> 16) << 31, other = (uint32_t)(bits >> 17) << 31;
    float smaller = 1 - ldexpf(1, -(int)place);
    operands[0][lane] = sign | (exponent - 24) << 23 | 1u << (23 - place);
    operands[1][lane] = float_bits(smaller);
    operands[2][lane] = other | exponent << 23 | (uint32_t)(bits >> 32) % (1u << 23);
}

Test(multiply_adds, ties_are_broken_by_what_was_cut)
{
    uint64_t state = 5;
    for (int n = 0; n < 1000; n++) {
        uint32_t operands[3][LANES];
        for (int i = 0; i < LANES; i++)
            make_near_tie(&state, operands, i);
        check(&f32, operands);
    }
}

Test(multiply_adds, any_bits)
{
    uint64_t state = 6;
    for (int n = 0; n < 4000; n++) {
        uint32_t operands[3][LANES];
        for (int i = 0; i < 3 * LANES; i++)
            operands[i / LANES][i % LANES] = (uint32_t)random_bits(&state);
        check(&f32, operands);
    }
}

/* The product is half a place of c but for what f32 has no room for, or halfway itself and c far
 * below. */
Test(multiply_adds, ties_of_f16_are_broken_by_what_was_cut)
{
    static const uint32_t ties[][3] = {
        {0x3801, 0x3bfe, 0x6401}, {0x3816, 0x3bd5, 0x6400}, {0x3800, 0x3c00, 0x6401},
        {0x0804, 0xbbf8, 0x35d1}, {0x3c01, 0x3e00, 0x0001}, {0x3c01, 0x3e00, 0x8001},
        {0x8000, 0x3c00, 0x8000}, {0x3c00, 0x3c00, 0xbc00}, {0x7bff, 0x3c00, 0x5000},
        {0x7bff, 0x7bff, 0xfc00}, {0x0001, 0x3800, 0x0000}, {0x7c01, 0x3c00, 0x0000},
    };
    for (size_t n = 0; n < sizeof ties / sizeof *ties; n += LANES) {
        uint32_t operands[3][LANES];
        for (size_t i = 0; i < 3 * LANES; i++)
            operands[i / LANES][i % LANES] = ties[n + i % LANES][i / LANES];
        check(&f16, operands);
    }
}

Test(multiply_adds, any_bits_of_f16)
{
    uint64_t state = 7;
    for (int n = 0; n < 4000; n++) {
        uint32_t operands[3][LANES];
        for (int i = 0; i < 3 * LANES; i++)
            operands[i / LANES][i % LANES] = (uint32_t)random_bits(&state) & 0xffff;
        check(&f16, operands);
    }
}
