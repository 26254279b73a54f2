/* SPDX-License-Identifier: Apache-2.0
 *
 * module/narrow_values.c: random functions of short numbers are computed before the step and behind
 * it.
 */
#include "ir_interp.h"
#include "rt_samples.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <criterion/criterion.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>

#include "tests/unit/vector/parse_ir.h"
#include "translator/module/module_steps.h"
#include "translator/module/walk.h"

static LLVMContextRef context;

static LLVMModuleRef parse(const char *text)
{
    context = LLVMContextCreate();
    return parse_ir(context, text);
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

static LLVMValueRef function_of(LLVMModuleRef module)
{
    return LLVMGetNamedFunction(module, "f");
}

/* ---- computing a function ---- */

#define RESULTS 8

struct memory {
    uint8_t bytes[2];
    uint16_t words[2];
    uint16_t unused;
    uint16_t results[RESULTS];
};

static bool knows_no_function(void *data, const char *name, uint64_t *result)
{
    (void)data, (void)name, (void)result;
    return false;
}

static struct memory compute(LLVMModuleRef module, const struct memory *before)
{
    struct memory memory = *before;
    cr_assert_eq(ir_run(function_of(module), &memory, knows_no_function, NULL), IR_RETURNED);
    return memory;
}

/* ---- random functions ---- */

#define HEAD                                                                                       \
    "declare i32 @llvm.umin.i32(i32, i32)\ndeclare i32 @llvm.umax.i32(i32, i32)\n"                 \
    "declare i32 @llvm.smin.i32(i32, i32)\ndeclare i32 @llvm.smax.i32(i32, i32)\n"                 \
    "declare i16 @llvm.umin.i16(i16, i16)\ndeclare i16 @llvm.umax.i16(i16, i16)\n"                 \
    "declare i16 @llvm.smin.i16(i16, i16)\ndeclare i16 @llvm.smax.i16(i16, i16)\n"                 \
    "declare i32 @llvm.abs.i32(i32, i1)\ndeclare i16 @llvm.abs.i16(i16, i1)\n"                     \
    "define void @f(ptr %out) {\n"                                                                 \
    "  %pb = getelementptr i8, ptr %out, i64 1\n  %pc = getelementptr i16, ptr %out, i64 1\n"      \
    "  %pd = getelementptr i16, ptr %out, i64 2\n  %a = load i8, ptr %out\n"                       \
    "  %b = load i8, ptr %pb\n  %c = load i16, ptr %pc\n  %d = load i16, ptr %pd\n"

struct writer {
    FILE *out;
    uint64_t state;
    unsigned count; /* values %v0 to %v<count - 1> … */
    unsigned bits[64];
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
    static const int numbers[] = {-5, 0, 1, 127, 200, 300};
    unsigned a = some(w, bits), b = some(w, bits);
    begin(w, 1);
    fprintf(w->out, "icmp %s i%u %%v%u, ", names[below(w, 10)], bits, a);
    if (below(w, 4) == 0)
        fprintf(w->out, "%d\n", numbers[below(w, 6)]);
    else
        fprintf(w->out, "%%v%u\n", b);
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

/* Each in 8 or 16 bits. */
static void write_results(struct writer *w)
{
    unsigned count = w->count;
    for (unsigned n = 0; n < RESULTS; n++) {
        unsigned v = count - 1 - below(w, count < 14 ? count : 14);
        unsigned from = w->bits[v];
        unsigned to = from == 16 || (from == 32 && below(w, 2) == 0) ? 8 : 16;
        fprintf(w->out, "  %%p%u = getelementptr i16, ptr %%out, i64 %u\n", n, 4 + n);
        begin(w, to);
        fprintf(w->out, "%s i%u %%v%u to i%u\n  store i%u %%v%u, ptr %%p%u\n",
                from == 1 ? "zext" : "trunc", from, v, to, to, w->count - 1, n);
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

/* Numbers of so many bits that are computed. */
static unsigned count_of(LLVMModuleRef module, unsigned bits)
{
    unsigned count = 0;
    TR_FOR_EACH_INSTRUCTION(inst, function_of(module)) {
        LLVMTypeRef type = LLVMTypeOf(inst);
        bool is_number = LLVMGetTypeKind(type) == LLVMIntegerTypeKind &&
                         LLVMIsALoadInst(inst) == NULL && LLVMIsAZExtInst(inst) == NULL &&
                         LLVMIsASExtInst(inst) == NULL;
        count += is_number && LLVMGetIntTypeWidth(type) == bits;
    }
    return count;
}

static void draw(uint64_t *state, struct memory *memory)
{
    static const uint16_t edges[] = {0, 1, 0xff, 0x7f, 0x80, 0xffff, 0x7fff, 0x8000};
    uint16_t numbers[4];
    for (unsigned i = 0; i < 4; i++) {
        uint64_t bits = random_bits(state);
        numbers[i] = bits >> 62 == 0 ? edges[bits % 8] : (uint16_t)bits;
    }
    *memory = (struct memory){.bytes = {(uint8_t)numbers[0], (uint8_t)numbers[1]},
                              .words = {numbers[2], numbers[3]}};
}

#define FUNCTIONS 2000
#define SAMPLES   60

Test(narrow_values, results_are_the_same)
{
    uint64_t state = 11;
    unsigned narrowed = 0;
    for (uint64_t seed = 1; seed <= FUNCTIONS; seed++) {
        struct memory given[SAMPLES], wanted[SAMPLES];
        char *text = write_function(seed);
        LLVMModuleRef module = parse(text);
        unsigned wide = count_of(module, 32);
        for (unsigned n = 0; n < SAMPLES; n++) {
            draw(&state, &given[n]);
            wanted[n] = compute(module, &given[n]);
        }
        narrow(module);
        narrowed += count_of(module, 32) < wide;
        for (unsigned n = 0; n < SAMPLES; n++) {
            struct memory got = compute(module, &given[n]);
            cr_assert_arr_eq(got.results, wanted[n].results, sizeof got.results,
                             "seed %" PRIu64 ", sample %u\n%s", seed, n, text);
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
     "  %q = icmp sgt i32 %s, 300\n  %t = zext i1 %q to i8\n  store i8 %t, ptr %out\n",
     0, 1},
    {"  %x = zext i8 %a to i32\n  %y = zext i8 %b to i32\n  %s = add i32 %x, %y\n"
     "  %q = icmp sgt i32 %s, 300\n  %t = zext i1 %q to i8\n  store i8 %t, ptr %out\n  store i32 "
     "%s, ptr %out\n",
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
