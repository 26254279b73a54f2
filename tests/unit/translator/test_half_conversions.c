/* SPDX-License-Identifier: Apache-2.0
 *
 * module/half_conversions.c: operands are constants, so the builder computes the arithmetic, and
 * the results are compared with the compiler's conversions.
 */
#include "rt_samples.h"

#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>

#include "translator/module/module_steps.h"

#define LANES 4

/* A function that converts a vector, or a scalar, and stores the bits. */
static LLVMModuleRef parse(LLVMContextRef context, const char *text)
{
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "conversions");
    LLVMModuleRef module;
    char *message = NULL;
    cr_assert(!LLVMParseIRInContext(context, buffer, &module, &message), "%s", message);
    return module;
}

static void print_values(FILE *out, const uint64_t *values, const char *type, const char *prefix)
{
    fprintf(out, "<%d x %s> <", LANES, type);
    for (int i = 0; i < LANES; i++)
        fprintf(out, "%s%s %s%llX", i > 0 ? ", " : "", type, prefix, (unsigned long long)values[i]);
    fputs(">", out);
}

/* LLVM's text of an f32 is that of the f64 of its value; a NaN keeps its upper bits. */
static uint64_t text_of_f32(uint32_t bits)
{
    uint64_t magnitude = bits & 0x7fffffffu;
    uint64_t sign = (uint64_t)(bits >> 31) << 63;
    double wide = (double)float_of((uint32_t)magnitude);
    uint64_t wide_bits;
    memcpy(&wide_bits, &wide, sizeof wide_bits);
    if (magnitude > 0x7f800000)
        wide_bits = UINT64_C(0x7ff0000000000000) | (magnitude & 0x7fffff) << 29;
    return sign | wide_bits;
}

/* Converts LANES values at once and compares the bits with what is expected. */
static void check(const char *from, const char *to, const char *opcode, const char *prefix,
                  const uint64_t *values, const uint32_t *expected)
{
    char *text;
    size_t length;
    bool is_half = to[0] == 'h';
    FILE *out = open_memstream(&text, &length);
    fprintf(out, "define <%d x i%d> @f() {\n  %%v = %s ", LANES, is_half ? 16 : 32, opcode);
    print_values(out, values, from, prefix);
    fprintf(out, " to <%d x %s>\n", LANES, to);
    fprintf(out, "  %%b = bitcast <%d x %s> %%v to <%d x i%d>\n  ret <%d x i%d> %%b\n}\n", LANES,
            to, LANES, is_half ? 16 : 32, LANES, is_half ? 16 : 32);
    fclose(out);
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = parse(context, text);
    tr_convert_halves(module);
    LLVMValueRef cast =
        LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(LLVMGetNamedFunction(module, "f")));
    LLVMValueRef bits = LLVMConstBitCast(LLVMGetOperand(cast, 0), LLVMTypeOf(cast));
    for (unsigned i = 0; i < LANES; i++) {
        LLVMValueRef lane = LLVMGetAggregateElement(bits, i);
        cr_assert(lane && LLVMIsAConstantInt(lane), "%s is left", opcode);
        cr_assert_eq(LLVMConstIntGetZExtValue(lane), expected[i], "%s of %llx: %llx, not %x",
                     opcode, (unsigned long long)values[i], LLVMConstIntGetZExtValue(lane),
                     expected[i]);
    }
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    free(text);
}

static uint32_t bits_of_half(_Float16 a)
{
    uint16_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

Test(half_conversions, extension_is_exact_and_quiet)
{
    for (uint32_t first = 0; first < 0x10000; first += LANES * 7) {
        uint64_t values[LANES];
        uint32_t expected[LANES];
        for (uint32_t i = 0; i < LANES; i++) {
            uint16_t bits = (uint16_t)(first + i);
            _Float16 value;
            memcpy(&value, &bits, sizeof value);
            values[i] = bits;
            expected[i] = float_bits((float)value);
        }
        check("half", "float", "fpext", "0xH", values, expected);
    }
}

/* Values next to those of f16 and to the middles between them, subnormal ones among them. */
static uint32_t near_a_half(uint64_t *state)
{
    uint64_t bits = random_bits(state);
    uint32_t exponent = 100 + (uint32_t)(bits >> 32) % 46;
    uint32_t mantissa = (uint32_t)bits & 0x7ff000u << (bits >> 40) % 11 & 0x7fffff;
    uint32_t value = exponent << 23 | mantissa;
    return (value + (uint32_t)(bits >> 50) % 3 - 1) | (uint32_t)(bits >> 63) << 31;
}

Test(half_conversions, truncation_rounds_to_nearest_even)
{
    static const uint32_t edges[] = {0,          0x80000000, 0x33000000, 0x33000001, 0x32ffffff,
                                     0x387fffff, 0x387fe000, 0x38800000, 0x477fe000, 0x477fefff,
                                     0x477ff000, 0x47800000, 0x7f7fffff, 0x7f800000, 0xff800000,
                                     0x7fc00000, 0xffffffff, 0x7fe02000, 0x00000001, 0x807fffff};
    size_t edge_count = sizeof edges / sizeof *edges;
    uint64_t state = 11;
    for (size_t n = 0; n < 3000; n++) {
        uint64_t values[LANES];
        uint32_t expected[LANES];
        for (size_t i = 0; i < LANES; i++) {
            uint32_t bits = n * LANES + i < edge_count ? edges[n * LANES + i] : near_a_half(&state);
            values[i] = text_of_f32(bits);
            expected[i] = bits_of_half((_Float16)float_of(bits));
        }
        check("float", "half", "fptrunc", "0x", values, expected);
    }
}
