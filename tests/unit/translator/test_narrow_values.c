/* SPDX-License-Identifier: Apache-2.0
 *
 * module/narrow_values.c: random functions of short numbers are computed before and behind the
 * step, instruction by instruction.
 */
#include "rt_samples.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>

#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

static LLVMContextRef context;

static LLVMModuleRef parse(const char *text)
{
    char *message = NULL;
    LLVMModuleRef module = NULL;
    context = LLVMContextCreate();
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "test.ll");
    if (LLVMParseIRInContext(context, buffer, &module, &message))
        cr_assert_fail("%s\n%s", message, text);
    return module;
}

static void narrow(LLVMModuleRef module)
{
    char *message = NULL;
    struct pxr_error err;
    cr_assert_eq(tr_narrow_values(module, &err), PXR_OK);
    cr_assert_not(LLVMVerifyModule(module, LLVMReturnStatusAction, &message), "%s", message);
    LLVMDisposeMessage(message);
}

static void close_module(LLVMModuleRef module)
{
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
}

static unsigned bits_of(LLVMValueRef value)
{
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(type) : 0;
}

/* ---- computing a function ---- */

#define VALUES_MAX  512
#define RESULTS_MAX 64
#define ARGUMENTS   4

struct run {
    LLVMValueRef values[VALUES_MAX];
    int64_t numbers[VALUES_MAX]; /* with their signs */
    unsigned count;
    int64_t results[RESULTS_MAX];
    unsigned result_count;
};

static int64_t with_sign(int64_t number, unsigned bits)
{
    return (int64_t)((uint64_t)number << (64 - bits)) >> (64 - bits);
}

static int64_t without_sign(int64_t number, unsigned bits)
{
    return (int64_t)((uint64_t)number << (64 - bits) >> (64 - bits));
}

static int64_t number_of(const struct run *run, LLVMValueRef value)
{
    if (LLVMIsAConstantInt(value) != NULL)
        return LLVMConstIntGetSExtValue(value);
    for (unsigned i = run->count; i-- > 0;)
        if (run->values[i] == value)
            return run->numbers[i];
    cr_assert_fail("a value before it was computed");
    abort();
}

static void set(struct run *run, LLVMValueRef value, int64_t number)
{
    cr_assert_lt(run->count, VALUES_MAX);
    run->values[run->count] = value;
    run->numbers[run->count++] = with_sign(number, bits_of(value));
}

static bool compares(LLVMIntPredicate predicate, int64_t a, int64_t b, unsigned bits)
{
    int64_t x = without_sign(a, bits), y = without_sign(b, bits);
    switch (predicate) {
    case LLVMIntEQ:
        return a == b;
    case LLVMIntNE:
        return a != b;
    case LLVMIntSGT:
        return a > b;
    case LLVMIntSGE:
        return a >= b;
    case LLVMIntSLT:
        return a < b;
    case LLVMIntSLE:
        return a <= b;
    case LLVMIntUGT:
        return x > y;
    case LLVMIntUGE:
        return x >= y;
    case LLVMIntULT:
        return x < y;
    default:
        return x <= y;
    }
}

static int64_t call(LLVMValueRef inst, int64_t a, int64_t b, unsigned bits)
{
    bool is_less = without_sign(a, bits) < without_sign(b, bits);
    if (tr_calls_intrinsic(inst, "llvm.umin"))
        return is_less ? a : b;
    if (tr_calls_intrinsic(inst, "llvm.umax"))
        return is_less ? b : a;
    if (tr_calls_intrinsic(inst, "llvm.smin"))
        return a < b ? a : b;
    if (tr_calls_intrinsic(inst, "llvm.smax"))
        return a < b ? b : a;
    return a < 0 ? -a : a;
}

static int64_t compute(const struct run *run, LLVMValueRef inst)
{
    LLVMValueRef first = LLVMGetOperand(inst, 0);
    unsigned bits = bits_of(first);
    int64_t a = number_of(run, first);
    int64_t b = LLVMGetNumOperands(inst) > 1 ? number_of(run, LLVMGetOperand(inst, 1)) : 0;
    switch (LLVMGetInstructionOpcode(inst)) {
    case LLVMZExt:
        return without_sign(a, bits);
    case LLVMSExt:
    case LLVMTrunc:
        return a;
    case LLVMAdd:
        return a + b;
    case LLVMSub:
        return a - b;
    case LLVMMul:
        return a * b;
    case LLVMShl:
        return a * (INT64_C(1) << b);
    case LLVMLShr:
        return without_sign(a, bits) >> b;
    case LLVMAShr:
        return a >> b;
    case LLVMAnd:
        return a & b;
    case LLVMOr:
        return a | b;
    case LLVMXor:
        return a ^ b;
    case LLVMICmp:
        return compares(LLVMGetICmpPredicate(inst), a, b, bits);
    case LLVMSelect:
        return a != 0 ? b : number_of(run, LLVMGetOperand(inst, 2));
    case LLVMCall:
        return call(inst, a, b, bits);
    default:
        cr_assert_fail("an instruction that the test does not know");
        abort();
    }
}

static LLVMValueRef function_of(LLVMModuleRef module)
{
    return LLVMGetNamedFunction(module, "f");
}

static void compute_all(LLVMModuleRef module, const int64_t arguments[ARGUMENTS], struct run *run)
{
    LLVMValueRef function = function_of(module);
    run->count = run->result_count = 0;
    for (unsigned i = 0; i < ARGUMENTS; i++)
        set(run, LLVMGetParam(function, i), arguments[i]);
    TR_FOR_EACH_INSTRUCTION(inst, function) {
        if (LLVMIsAStoreInst(inst) != NULL)
            run->results[run->result_count++] = number_of(run, LLVMGetOperand(inst, 0));
        else if (LLVMIsAReturnInst(inst) == NULL)
            set(run, inst, compute(run, inst));
    }
}

/* ---- random functions ---- */

#define HEAD                                                                                       \
    "declare i32 @llvm.umin.i32(i32, i32)\ndeclare i32 @llvm.umax.i32(i32, i32)\n"                 \
    "declare i32 @llvm.smin.i32(i32, i32)\ndeclare i32 @llvm.smax.i32(i32, i32)\n"                 \
    "declare i16 @llvm.umin.i16(i16, i16)\ndeclare i16 @llvm.umax.i16(i16, i16)\n"                 \
    "declare i16 @llvm.smin.i16(i16, i16)\ndeclare i16 @llvm.smax.i16(i16, i16)\n"                 \
    "declare i32 @llvm.abs.i32(i32, i1)\ndeclare i16 @llvm.abs.i16(i16, i1)\n"                     \
    "define void @f(i8 %a, i8 %b, i16 %c, i16 %d, ptr %out) {\n"

struct writer {
    FILE *out;
    uint64_t state;
    unsigned count; /* values %v0 to %v<count - 1> … */
    unsigned bits[VALUES_MAX];
};

static unsigned below(struct writer *w, unsigned most)
{
    return (unsigned)(random_bits(&w->state) >> 33) % most;
}

/* One of the last values of so many bits. */
static unsigned some(struct writer *w, unsigned bits)
{
    unsigned n = w->count - 1 - below(w, w->count < 12 ? w->count : 12);
    while (w->bits[n] != bits)
        n = n == 0 ? w->count - 1 : n - 1;
    return n;
}

static void begin(struct writer *w, unsigned bits)
{
    fprintf(w->out, "  %%v%u = ", w->count);
    w->bits[w->count++] = bits;
}

static void write_extensions(struct writer *w)
{
    for (unsigned n = 0; n < 10; n++) {
        bool is_byte = n < 6;
        unsigned bits = is_byte && n % 3 == 2 ? 16 : 32;
        begin(w, bits);
        fprintf(w->out, "%cext i%u %%%c to i%u\n", below(w, 3) == 0 ? 's' : 'z', is_byte ? 8 : 16,
                "abcd"[(is_byte ? 0 : 2) + n % 2], bits);
    }
}

static void write_binary(struct writer *w, unsigned bits)
{
    static const char *const names[] = {"add", "sub", "sub", "and", "or", "xor", "mul"};
    static const int numbers[] = {1, 2, 3, 7, 16, 77, 127, 128, 255, -1, -3};
    const char *name = names[below(w, 7)];
    unsigned a = some(w, bits), b = some(w, bits);
    begin(w, bits);
    if (below(w, 3) == 0)
        fprintf(w->out, "%s i%u %%v%u, %d\n", name, bits, a, numbers[below(w, 11)]);
    else
        fprintf(w->out, "%s i%u %%v%u, %%v%u\n", name, bits, a, b);
}

static void write_shift(struct writer *w, unsigned bits)
{
    static const char *const names[] = {"shl", "lshr", "ashr"};
    unsigned a = some(w, bits);
    begin(w, bits);
    fprintf(w->out, "%s i%u %%v%u, %u\n", names[below(w, 3)], bits, a, 1 + below(w, 6));
}

static void write_extreme(struct writer *w, unsigned bits)
{
    static const char *const names[] = {"umin", "umax", "smin", "smax"};
    unsigned a = some(w, bits), b = some(w, bits);
    begin(w, bits);
    if (below(w, 4) == 0)
        fprintf(w->out, "call i%u @llvm.%s.i%u(i%u %%v%u, i%u %u)\n", bits, names[below(w, 4)],
                bits, bits, a, bits, below(w, 2) * 255);
    else
        fprintf(w->out, "call i%u @llvm.%s.i%u(i%u %%v%u, i%u %%v%u)\n", bits, names[below(w, 4)],
                bits, bits, a, bits, b);
}

static void write_absolute(struct writer *w, unsigned bits)
{
    unsigned a = some(w, bits);
    begin(w, bits);
    fprintf(w->out, "call i%u @llvm.abs.i%u(i%u %%v%u, i1 false)\n", bits, bits, bits, a);
}

static void write_choice(struct writer *w, unsigned bits)
{
    static const char *const names[] = {"eq",  "ne",  "slt", "sle", "sgt",
                                        "sge", "ult", "ule", "ugt", "uge"};
    unsigned a = some(w, bits), b = some(w, bits);
    begin(w, 1);
    fprintf(w->out, "icmp %s i%u %%v%u, %%v%u\n", names[below(w, 10)], bits, a, b);
    begin(w, bits);
    fprintf(w->out, "select i1 %%v%u, i%u %%v%u, i%u %%v%u\n", w->count - 2, bits, a, bits, b);
}

static void write_cast(struct writer *w, unsigned bits)
{
    unsigned a = some(w, 48 - bits);
    begin(w, bits);
    fprintf(w->out, "%s i%u %%v%u to i%u\n",
            bits == 16    ? "trunc"
            : below(w, 2) ? "zext"
                          : "sext",
            48 - bits, a, bits);
}

static void write_results(struct writer *w)
{
    unsigned count = w->count;
    for (unsigned n = 0; n < 8; n++) {
        unsigned v = count - 1 - below(w, count < 14 ? count : 14);
        unsigned to = w->bits[v] > 1 && (w->bits[v] == 16 || below(w, 2) == 0) ? 8 : 16;
        if (w->bits[v] == 1) {
            fprintf(w->out, "  store i1 %%v%u, ptr %%out\n", v);
            continue;
        }
        begin(w, to);
        fprintf(w->out, "trunc i%u %%v%u to i%u\n  store i%u %%v%u, ptr %%out\n", w->bits[v], v, to,
                to, w->count - 1);
    }
}

static char *write_function(uint64_t seed)
{
    static void (*const kinds[])(struct writer *, unsigned) = {
        write_binary, write_binary,   write_extreme, write_extreme,
        write_shift,  write_absolute, write_choice,  write_cast};
    char *text;
    size_t length;
    struct writer w = {.out = open_memstream(&text, &length), .state = seed};
    fputs(HEAD, w.out);
    write_extensions(&w);
    for (unsigned n = 2 + below(&w, 14); n > 0; n--)
        kinds[below(&w, 8)](&w, below(&w, 3) == 0 ? 16 : 32);
    write_results(&w);
    fputs("  ret void\n}\n", w.out);
    fclose(w.out);
    return text;
}

static unsigned count_of(LLVMModuleRef module, unsigned bits)
{
    unsigned count = 0;
    TR_FOR_EACH_INSTRUCTION(inst, function_of(module))
        count +=
            bits_of(inst) == bits && LLVMIsAZExtInst(inst) == NULL && LLVMIsASExtInst(inst) == NULL;
    return count;
}

static void draw_arguments(uint64_t *state, int64_t arguments[ARGUMENTS])
{
    static const int16_t edges[] = {0, 1, -1, 127, -128, 255, -32768, 32767};
    for (unsigned i = 0; i < ARGUMENTS; i++) {
        uint64_t bits = random_bits(state);
        arguments[i] = bits >> 62 == 0 ? edges[bits % 8] : (int64_t)(int16_t)bits;
    }
}

#define FUNCTIONS 3000
#define SAMPLES   60

Test(narrow_values, results_are_the_same)
{
    static struct run before[SAMPLES], behind;
    uint64_t state = 11;
    unsigned narrowed = 0;
    for (uint64_t seed = 1; seed <= FUNCTIONS; seed++) {
        int64_t arguments[SAMPLES][ARGUMENTS];
        char *text = write_function(seed);
        LLVMModuleRef module = parse(text);
        unsigned wide = count_of(module, 32);
        for (unsigned n = 0; n < SAMPLES; n++) {
            draw_arguments(&state, arguments[n]);
            compute_all(module, arguments[n], &before[n]);
        }
        narrow(module);
        narrowed += count_of(module, 32) < wide;
        for (unsigned n = 0; n < SAMPLES; n++) {
            compute_all(module, arguments[n], &behind);
            for (unsigned i = 0; i < behind.result_count; i++)
                cr_assert_eq(behind.results[i], before[n].results[i],
                             "seed %" PRIu64 ", result %u: %" PRId64 ", not %" PRId64 "\n%s", seed,
                             i, behind.results[i], before[n].results[i], text);
        }
        close_module(module);
        free(text);
    }
    cr_expect_gt(narrowed, FUNCTIONS / 2, "%u", narrowed);
}

/* ---- what becomes narrow ---- */

static const struct {
    const char *body;
    unsigned of_32, of_16; /* numbers of so many bits that are left */
} bodies[] = {
    /* The middle one of three bytes. */
    {"  %x = zext i8 %a to i16\n  %y = zext i8 %b to i16\n"
     "  %m = call i16 @llvm.umin.i16(i16 %x, i16 %y)\n"
     "  %n = call i16 @llvm.umax.i16(i16 %x, i16 %y)\n"
     "  %o = call i16 @llvm.umin.i16(i16 %n, i16 7)\n"
     "  %p = call i16 @llvm.umax.i16(i16 %m, i16 %o)\n"
     "  %r = trunc i16 %p to i8\n  store i8 %r, ptr %out\n",
     0, 0},
    /* The gradient, clamped. */
    {"  %x = zext i8 %a to i32\n  %y = zext i8 %b to i32\n  %z = shl i32 %x, 1\n"
     "  %s = sub i32 %z, %y\n  %t = call i32 @llvm.abs.i32(i32 %s, i1 true)\n"
     "  %u = call i32 @llvm.umin.i32(i32 %t, i32 255)\n  %r = trunc i32 %u to i8\n"
     "  store i8 %r, ptr %out\n",
     0, 4},
    /* A comparison takes it narrow, a conversion to more bits does not. */
    {"  %x = zext i8 %a to i32\n  %y = zext i8 %b to i32\n  %s = add i32 %x, %y\n"
     "  %q = icmp sgt i32 %s, 300\n  store i1 %q, ptr %out\n",
     0, 1},
    {"  %x = zext i8 %a to i32\n  %y = zext i8 %b to i32\n  %s = add i32 %x, %y\n"
     "  %q = icmp sgt i32 %s, 300\n  store i1 %q, ptr %out\n  store i32 %s, ptr %out\n",
     1, 0},
    /* 65025 fits 16 bits, a third of it more does not. */
    {"  %x = zext i8 %a to i32\n  %y = mul i32 %x, %x\n  %r = trunc i32 %y to i16\n"
     "  store i16 %r, ptr %out\n",
     0, 1},
    {"  %x = zext i8 %a to i32\n  %y = mul i32 %x, %x\n  %z = mul i32 %y, 3\n"
     "  %w = lshr i32 %z, 2\n  %r = trunc i32 %w to i16\n  store i16 %r, ptr %out\n",
     3, 1},
    /* Of signed and unsigned numbers none is the lesser in so few bits. */
    {"  %x = zext i8 %a to i32\n  %y = sext i8 %b to i32\n"
     "  %m = call i32 @llvm.smin.i32(i32 %x, i32 %y)\n  %r = trunc i32 %m to i8\n"
     "  store i8 %r, ptr %out\n",
     0, 1},
};

Test(narrow_values, as_few_bits_as_all_users_take)
{
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char *text;
        cr_assert_gt(asprintf(&text, "%s%s  ret void\n}\n", HEAD, bodies[i].body), 0);
        LLVMModuleRef module = parse(text);
        narrow(module);
        char *now = LLVMPrintValueToString(function_of(module));
        cr_expect_eq(count_of(module, 32), bodies[i].of_32, "%s", now);
        cr_expect_eq(count_of(module, 16), bodies[i].of_16, "%s", now);
        LLVMDisposeMessage(now);
        close_module(module);
        free(text);
    }
}
