/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversions of 16-bit floats compiled for every level of x86-64 that this machine can run, by
 * calls or by instructions, scalar and in vectors: all give the same bits, those of the nearest
 * number. What is nearest is looked up in a table of all numbers of the format.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/LLJIT.h>

#include "jit/cpu.h"
#include "jit/llvm_target.h"
#include "tests/support/orc.h"

#define COUNT 64 /* numbers in one call */

/* ---- what is right ---- */

struct format {
    const char *name;
    unsigned fraction_bits;
    int bias;
};

static const struct format half_format = {"half", 10, 15};
static const struct format bfloat_format = {"bfloat", 7, 127};

static uint32_t infinity_of(const struct format *format)
{
    return 0x7fffu >> format->fraction_bits << format->fraction_bits;
}

/* Of bits without sign up to infinity's, for which it is what the exponent's next step would be. */
static double value_of(const struct format *format, uint32_t bits)
{
    int exponent = (int)(bits >> format->fraction_bits);
    int fraction = (int)(bits & ((1u << format->fraction_bits) - 1));
    int least = 1 - format->bias - (int)format->fraction_bits;
    if (exponent == 0)
        return ldexp(fraction, least);
    return ldexp(fraction + (1 << format->fraction_bits), exponent - 1 + least);
}

static uint16_t nearest(const struct format *format, double value)
{
    uint16_t sign = signbit(value) ? 0x8000 : 0;
    uint32_t low = 0, high = infinity_of(format);
    value = fabs(value);
    if (value >= value_of(format, high))
        return (uint16_t)(sign | high);
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (value_of(format, middle) <= value)
            low = middle;
        else
            high = middle;
    }
    double below = value - value_of(format, low); /* exact */
    double above = value_of(format, high) - value;
    uint32_t even = low % 2 == 0 ? low : high;
    return (uint16_t)(sign | (below < above ? low : above < below ? high : even));
}

/* Quiet, with the sign and the upper bits. */
static uint16_t nan_of(const struct format *format, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t fraction = bits << 12 >> (64 - format->fraction_bits);
    return (uint16_t)((bits >> 48 & 0x8000) | infinity_of(format) | fraction |
                      1u << (format->fraction_bits - 1));
}

static uint16_t expected(const struct format *format, double value)
{
    return isnan(value) ? nan_of(format, value) : nearest(format, value);
}

/* ---- code ---- */

static const char code[] =
    "define void @scalar(ptr %in, ptr %out) {\n br label %loop\n"
    "loop:\n %i = phi i64 [0, %0], [%j, %loop]\n"
    " %a = getelementptr FROM, ptr %in, i64 %i\n %v = load FROM, ptr %a\n"
    " %r = CONVERT FROM %v to TO\n"
    " %b = getelementptr TO, ptr %out, i64 %i\n store TO %r, ptr %b\n"
    " %j = add i64 %i, 1\n %c = icmp ult i64 %j, 64\n br i1 %c, label %loop, label %done\n"
    "done:\n ret void\n}\n"
    "define void @vector(ptr %in, ptr %out) {\n br label %loop\n"
    "loop:\n %i = phi i64 [0, %0], [%j, %loop]\n"
    " %a = getelementptr FROM, ptr %in, i64 %i\n %v = load <16 x FROM>, ptr %a, align 2\n"
    " %r = CONVERT <16 x FROM> %v to <16 x TO>\n"
    " %b = getelementptr TO, ptr %out, i64 %i\n store <16 x TO> %r, ptr %b, align 2\n"
    " %j = add i64 %i, 16\n %c = icmp ult i64 %j, 64\n br i1 %c, label %loop, label %done\n"
    "done:\n ret void\n}\n";

typedef void (*convert_fn)(const void *in, void *out);

struct conversion {
    LLVMOrcLLJITRef jit;
    convert_fn scalar, vector;
};

static char *code_of(const char *operation, const char *from, const char *to)
{
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    for (const char *at = code; *at != '\0';) {
        static const char *const words[] = {"CONVERT", "FROM", "TO"};
        const char *const by[] = {operation, from, to};
        int word = 0;
        while (word < 3 && strncmp(at, words[word], strlen(words[word])) != 0)
            word++;
        if (word < 3)
            fputs(by[word], file);
        else
            fputc(*at, file);
        at += word < 3 ? strlen(words[word]) : 1;
    }
    fclose(file);
    return text;
}

static void check_llvm(LLVMErrorRef error)
{
    if (error != NULL)
        cr_assert_fail("%s", LLVMGetErrorMessage(error));
}

static convert_fn find(const struct conversion *conversion, const char *name)
{
    LLVMOrcExecutorAddress address = 0;
    check_llvm(LLVMOrcLLJITLookup(conversion->jit, &address, name));
    return (convert_fn)(uintptr_t)address;
}

static LLVMMemoryBufferRef emit(const struct jit_cpu *cpu, const char *text)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "conversion");
    LLVMModuleRef module = NULL;
    char *message = NULL;
    if (LLVMParseIRInContext2(context, buffer, &module, &message))
        cr_assert_fail("%s", message);
    LLVMDisposeMemoryBuffer(buffer);
    char *triple = LLVMGetDefaultTargetTriple();
    LLVMTargetMachineRef machine =
        jit_cpu_machine(cpu->name, cpu->features, triple, LLVMCodeGenLevelLess);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    LLVMSetModuleDataLayout(module, layout);
    LLVMSetTarget(module, triple);
    LLVMMemoryBufferRef object = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMObjectFile, &message, &object))
        cr_assert_fail("%s", message);
    LLVMDisposeTargetData(layout);
    LLVMDisposeTargetMachine(machine);
    LLVMDisposeMessage(triple);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return object;
}

static struct conversion compile(const struct jit_cpu *cpu, const char *operation, const char *from,
                                 const char *to)
{
    struct conversion conversion;
    char *text = code_of(operation, from, to);
    LLVMMemoryBufferRef object = emit(cpu, text);
    free(text);
    check_llvm(LLVMOrcCreateLLJIT(&conversion.jit, NULL));
    check_llvm(orc_define(conversion.jit, NULL, 0));
    check_llvm(LLVMOrcLLJITAddObjectFile(conversion.jit,
                                         LLVMOrcLLJITGetMainJITDylib(conversion.jit), object));
    conversion.scalar = find(&conversion, "scalar");
    conversion.vector = find(&conversion, "vector");
    return conversion;
}

/* Code of the JIT has no type in front of it to be checked. */
__attribute__((no_sanitize("undefined"))) static void run(convert_fn convert, const void *in,
                                                          void *out)
{
    convert(in, out);
}

/* ---- inputs ---- */

struct numbers {
    double *values;
    size_t count;
    size_t room;
};

static void add(struct numbers *numbers, double value)
{
    if (numbers->count + 2 > numbers->room) {
        numbers->room = 2 * numbers->room + COUNT;
        numbers->values = realloc(numbers->values, numbers->room * sizeof(double));
    }
    numbers->values[numbers->count++] = value;
    numbers->values[numbers->count++] = -value;
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Every number of the format, the middle between it and the next, and what lies right beside the
 * middle: in float, and so near that a float in between would round it there. */
static struct numbers make_numbers(const struct format *format)
{
    struct numbers numbers = {0};
    for (uint32_t bits = 0; bits < infinity_of(format); bits++) {
        double value = value_of(format, bits);
        double middle = (value + value_of(format, bits + 1)) / 2;
        add(&numbers, value);
        add(&numbers, middle);
        add(&numbers, nextafter(middle, 0));
        add(&numbers, nextafter(middle, INFINITY));
        add(&numbers, nextafterf((float)middle, 0));
        add(&numbers, nextafterf((float)middle, INFINITY));
    }
    for (uint64_t bits = 1; bits != 0; bits <<= 1) {
        add(&numbers, double_of(bits));
        add(&numbers, double_of(0x7ff0000000000000 | bits));
        add(&numbers, double_of(0x7ff8000000000001 | bits));
    }
    add(&numbers, INFINITY);
    while (numbers.count % COUNT != 0)
        add(&numbers, 1);
    return numbers;
}

/* ---- comparing ---- */

/* A signalling NaN of float: a conversion in C would make it quiet. */
static uint32_t float_bits(double value)
{
    uint64_t wide;
    float single = (float)value;
    uint32_t bits;
    memcpy(&wide, &value, sizeof wide);
    memcpy(&bits, &single, sizeof bits);
    if (isnan(value) && (wide >> 51 & 1) == 0 && (bits & 0x3fffff) != 0)
        bits &= ~0x400000u;
    return bits;
}

static void compare(const struct jit_cpu *cpu, const struct format *format, bool is_double,
                    const struct numbers *numbers)
{
    const char *from = is_double ? "double" : "float";
    struct conversion conversion = compile(cpu, "fptrunc", from, format->name);
    uint32_t singles[COUNT];
    uint16_t scalar[COUNT], vector[COUNT];
    int wrong = 0;
    for (size_t n = 0; n < numbers->count && wrong < 5; n += COUNT) {
        for (int i = 0; i < COUNT; i++)
            singles[i] = float_bits(numbers->values[n + i]);
        const void *in = is_double ? (const void *)&numbers->values[n] : singles;
        run(conversion.scalar, in, scalar);
        run(conversion.vector, in, vector);
        for (int i = 0; i < COUNT; i++) {
            float single;
            memcpy(&single, &singles[i], sizeof single);
            double value = is_double ? numbers->values[n + i] : (double)single;
            uint16_t right = expected(format, value);
            wrong += scalar[i] != right || vector[i] != right;
            cr_expect(scalar[i] == right && vector[i] == right,
                      "%s: %s %a to %s: %#x, in vectors %#x, not %#x", cpu->name, from, value,
                      format->name, scalar[i], vector[i], right);
        }
    }
    check_llvm(LLVMOrcDisposeLLJIT(conversion.jit));
}

/* ---- levels ---- */

static void init(void)
{
    struct jit_target *target;
    cr_assert_eq(jit_target_acquire(&target, NULL), PXR_OK);
    jit_target_release(target);
}

TestSuite(conversions, .init = init);

#if defined(__x86_64__)
static const char *const levels[] = {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
#else
static const char *const levels[] = {""};
#endif

#define LEVEL_COUNT (sizeof levels / sizeof *levels)

static void compare_levels(const struct format *format, bool is_double)
{
    struct numbers numbers = make_numbers(format);
    int compared = 0;
    for (size_t i = 0; i < LEVEL_COUNT; i++) {
        struct jit_cpu cpu;
        if (jit_cpu_named(levels[i], &cpu, NULL) != PXR_OK)
            continue;
        compare(&cpu, format, is_double, &numbers);
        jit_cpu_fini(&cpu);
        compared++;
    }
    free(numbers.values);
    cr_expect_geq(compared, 1);
}

Test(conversions, of_float_to_half_are_the_same_at_every_level)
{
    compare_levels(&half_format, false);
}

Test(conversions, of_double_to_half_are_rounded_once_at_every_level)
{
    compare_levels(&half_format, true);
}

Test(conversions, of_float_to_bfloat_are_the_same_at_every_level)
{
    compare_levels(&bfloat_format, false);
}

Test(conversions, of_double_to_bfloat_are_rounded_once_at_every_level)
{
    compare_levels(&bfloat_format, true);
}

/* All 65,536 of them. */
static void compare_extensions(const struct jit_cpu *cpu)
{
    struct conversion conversion = compile(cpu, "fpext", "half", "float");
    uint16_t in[COUNT];
    uint32_t scalar[COUNT], vector[COUNT];
    for (uint32_t first = 0; first < 0x10000; first += COUNT) {
        for (uint32_t i = 0; i < COUNT; i++)
            in[i] = (uint16_t)(first + i);
        run(conversion.scalar, in, scalar);
        run(conversion.vector, in, vector);
        for (uint32_t i = 0; i < COUNT; i++) {
            uint32_t bits = (first + i) & 0x7fff;
            float value = bits == 0x7c00 ? INFINITY : (float)value_of(&half_format, bits);
            uint32_t right;
            memcpy(&right, &value, sizeof right);
            if (bits > 0x7c00)
                right = 0x7fc00000 | (bits & 0x3ff) << 13;
            right |= (first + i) >> 15 << 31;
            cr_expect(scalar[i] == right && vector[i] == right,
                      "%s: half %#x: %#x, in vectors %#x, not %#x", cpu->name, first + i, scalar[i],
                      vector[i], right);
        }
    }
    check_llvm(LLVMOrcDisposeLLJIT(conversion.jit));
}

Test(conversions, of_half_to_float_are_the_same_at_every_level)
{
    for (size_t i = 0; i < LEVEL_COUNT; i++) {
        struct jit_cpu cpu;
        if (jit_cpu_named(levels[i], &cpu, NULL) != PXR_OK)
            continue;
        compare_extensions(&cpu);
        jit_cpu_fini(&cpu);
    }
}
