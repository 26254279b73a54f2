/* SPDX-License-Identifier: Apache-2.0
 *
 * See call_forms.h. Each form is a function of its own that loads its operands and stores its
 * result, so that nothing folds.
 */
#include "call_forms.h"

#include <stdbool.h>
#include <string.h>

struct type {
    const char *name;   /* "i32" */
    const char *suffix; /* of intrinsics: "f32" */
    unsigned bits;
    bool is_float;
};

static const struct type types[] = {
    {"i8", "i8", 8, false},       {"i16", "i16", 16, false},    {"i32", "i32", 32, false},
    {"i64", "i64", 64, false},    {"i128", "i128", 128, false}, {"half", "f16", 16, true},
    {"bfloat", "bf16", 16, true}, {"float", "f32", 32, true},   {"double", "f64", 64, true},
};

#define TYPE_COUNT (sizeof types / sizeof *types)

static const unsigned widths[] = {1, 2, 4, 16, 64};

#define WIDTH_COUNT (sizeof widths / sizeof *widths)

/* Wider vectors are halved until they fit: nothing new beyond four registers of 512 bits. */
#define MAX_BITS (4 * 512)

struct writer {
    FILE *text;
    unsigned functions;
};

/* "<4 x float>", suffix: "v4f32" */
struct vector {
    char name[24];
    char suffix[12];
};

static struct vector vector_of(const struct type *type, unsigned width)
{
    struct vector vector;
    if (width == 1) {
        snprintf(vector.name, sizeof vector.name, "%s", type->name);
        snprintf(vector.suffix, sizeof vector.suffix, "%s", type->suffix);
    } else {
        snprintf(vector.name, sizeof vector.name, "<%u x %s>", width, type->name);
        snprintf(vector.suffix, sizeof vector.suffix, "v%u%s", width, type->suffix);
    }
    return vector;
}

/* Opens a function with operands %a0, %a1, … of a type. */
static void begin(struct writer *writer, const char *operand, int count)
{
    fprintf(writer->text, "define void @f%u(ptr %%p, ptr %%q) #0 {\n", writer->functions++);
    for (int i = 0; i < count; i++)
        fprintf(writer->text,
                " %%g%d = getelementptr i8, ptr %%p, i64 %d\n %%a%d = load %s, ptr %%g%d\n", i,
                i * 4096, i, operand, i);
}

static void end(struct writer *writer, const char *result)
{
    fprintf(writer->text, " store %s %%r, ptr %%q\n ret void\n}\n", result);
}

/* ---- operations ---- */

static void write_binary(struct writer *writer, const struct vector *vector, const char *operation)
{
    begin(writer, vector->name, 2);
    fprintf(writer->text, " %%r = %s %s %%a0, %%a1\n", operation, vector->name);
    end(writer, vector->name);
}

/* Declarations are made by the call: LLVM's parser knows the type of an intrinsic by its use. */
static void write_intrinsic(struct writer *writer, const struct vector *vector, const char *name,
                            int operands)
{
    begin(writer, vector->name, operands);
    fprintf(writer->text, " %%r = call %s @llvm.%s.%s(", vector->name, name, vector->suffix);
    for (int i = 0; i < operands; i++)
        fprintf(writer->text, "%s%s %%a%d", i == 0 ? "" : ", ", vector->name, i);
    fputs(")\n", writer->text);
    end(writer, vector->name);
}

struct intrinsic {
    const char *name;
    int operands;
};

static void write_integer(struct writer *writer, const struct vector *vector)
{
    static const char *const binary[] = {"add",  "sub",  "mul", "udiv", "sdiv",
                                         "urem", "srem", "shl", "lshr", "ashr"};
    static const struct intrinsic intrinsics[] = {
        {"ctpop", 1},    {"bitreverse", 1}, {"fshl", 3},     {"fshr", 3},     {"smax", 2},
        {"smin", 2},     {"umax", 2},       {"umin", 2},     {"uadd.sat", 2}, {"sadd.sat", 2},
        {"usub.sat", 2}, {"ssub.sat", 2},   {"ushl.sat", 2},
    };
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
        write_binary(writer, vector, binary[i]);
    for (size_t i = 0; i < sizeof intrinsics / sizeof *intrinsics; i++)
        write_intrinsic(writer, vector, intrinsics[i].name, intrinsics[i].operands);
}

static void write_compare(struct writer *writer, const struct type *type, unsigned width)
{
    struct vector vector = vector_of(type, width);
    struct vector bits = vector_of(&(struct type){"i1", "i1", 1, false}, width);
    begin(writer, vector.name, 2);
    fprintf(writer->text, " %%r = fcmp ult %s %%a0, %%a1\n", vector.name);
    end(writer, bits.name);
}

static void write_float(struct writer *writer, const struct type *type, unsigned width)
{
    static const char *const binary[] = {"fadd", "fsub", "fmul", "fdiv", "frem"};
    static const struct intrinsic intrinsics[] = {
        {"fma", 3},     {"fmuladd", 3},    {"sqrt", 1},       {"fabs", 1},   {"copysign", 2},
        {"floor", 1},   {"ceil", 1},       {"trunc", 1},      {"rint", 1},   {"nearbyint", 1},
        {"round", 1},   {"roundeven", 1},  {"minnum", 2},     {"maxnum", 2}, {"minimum", 2},
        {"maximum", 2}, {"minimumnum", 2}, {"maximumnum", 2},
    };
    struct vector vector = vector_of(type, width);
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
        write_binary(writer, &vector, binary[i]);
    for (size_t i = 0; i < sizeof intrinsics / sizeof *intrinsics; i++)
        write_intrinsic(writer, &vector, intrinsics[i].name, intrinsics[i].operands);
    begin(writer, vector.name, 1);
    fprintf(writer->text, " %%r = fneg %s %%a0\n", vector.name);
    end(writer, vector.name);
    write_compare(writer, type, width);
}

/* ---- conversions ---- */

static void write_conversion(struct writer *writer, const char *operation,
                             const struct vector *from, const struct vector *to)
{
    begin(writer, from->name, 1);
    fprintf(writer->text, " %%r = %s %s %%a0 to %s\n", operation, from->name, to->name);
    end(writer, to->name);
}

static void write_saturating(struct writer *writer, const char *operation,
                             const struct vector *from, const struct vector *to)
{
    begin(writer, from->name, 1);
    fprintf(writer->text, " %%r = call %s @llvm.%s.%s.%s(%s %%a0)\n", to->name, operation,
            to->suffix, from->suffix, from->name);
    end(writer, to->name);
}

static void write_conversions(struct writer *writer, const struct type *a, const struct type *b,
                              unsigned width)
{
    struct vector from = vector_of(a, width);
    struct vector to = vector_of(b, width);
    /* LLVM 22 can do no more of these for every processor. The translator makes none. */
    bool is_possible =
        a->bits < 128 || b->bits > 16 || (width == 1 && strcmp(b->name, "half") == 0);
    if (a->is_float && b->is_float && a->bits != b->bits) {
        write_conversion(writer, a->bits > b->bits ? "fptrunc" : "fpext", &from, &to);
    } else if (a->is_float && !b->is_float) {
        write_conversion(writer, "fptosi", &from, &to);
        write_conversion(writer, "fptoui", &from, &to);
        write_saturating(writer, "fptosi.sat", &from, &to);
        write_saturating(writer, "fptoui.sat", &from, &to);
    } else if (!a->is_float && b->is_float && is_possible) {
        write_conversion(writer, "sitofp", &from, &to);
        write_conversion(writer, "uitofp", &from, &to);
    }
}

/* ---- memory ---- */

static void write_overflow(struct writer *writer, const struct type *type)
{
    static const char *const operations[] = {"umul", "smul", "uadd", "sadd", "usub", "ssub"};
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        char pair[24];
        snprintf(pair, sizeof pair, "{%s, i1}", type->name);
        begin(writer, type->name, 2);
        fprintf(writer->text, " %%r = call %s @llvm.%s.with.overflow.%s(%s %%a0, %s %%a1)\n", pair,
                operations[i], type->suffix, type->name, type->name);
        end(writer, pair);
    }
}

static void write_atomic_updates(struct writer *writer, const struct type *type)
{
    static const char *const of_integers[] = {
        "add",  "sub",  "and",  "or",        "xor",       "nand",      "max",      "min",
        "umax", "umin", "xchg", "uinc_wrap", "udec_wrap", "usub_cond", "usub_sat", NULL};
    static const char *const of_floats[] = {"fadd", "fsub", "fmax", "fmin", "xchg", NULL};
    const char *const *operations = type->is_float ? of_floats : of_integers;
    for (; *operations != NULL; operations++) {
        begin(writer, type->name, 1);
        fprintf(writer->text, " %%r = atomicrmw %s ptr %%q, %s %%a0 seq_cst, align %u\n",
                *operations, type->name, type->bits / 8);
        end(writer, type->name);
    }
}

static void write_atomic_accesses(struct writer *writer, const struct type *type)
{
    char pair[24];
    snprintf(pair, sizeof pair, "{%s, i1}", type->name);
    begin(writer, type->name, 2);
    fprintf(writer->text, " %%r = cmpxchg ptr %%q, %s %%a0, %s %%a1 acq_rel monotonic, align %u\n",
            type->name, type->name, type->bits / 8);
    end(writer, pair);
    static const char *const orders[][2] = {
        {"monotonic", "monotonic"}, {"acquire", "release"}, {"seq_cst", "seq_cst"}};
    for (int i = 0; i < 3; i++) {
        begin(writer, type->name, 0);
        fprintf(writer->text,
                " %%r = load atomic %s, ptr %%p %s, align %u\n"
                " store atomic %s %%r, ptr %%q %s, align %u\n ret void\n}\n",
                type->name, orders[i][0], type->bits / 8, type->name, orders[i][1], type->bits / 8);
    }
}

static void write_blocks(struct writer *writer)
{
    static const char *const sizes[] = {"3", "64", "100000", "%n"};
    for (int i = 0; i < 4; i++)
        for (int is_move = 0; is_move < 2; is_move++) {
            begin(writer, "i64", 0);
            fprintf(writer->text,
                    " %%n = load i64, ptr %%p\n"
                    " call void @llvm.mem%s.p0.p0.i64(ptr %%q, ptr %%p, i64 %s, i1 false)\n"
                    " call void @llvm.memset.p0.i64(ptr %%q, i8 7, i64 %s, i1 false)\n"
                    " ret void\n}\n",
                    is_move ? "move" : "cpy", sizes[i], sizes[i]);
        }
}

/* ---- all ---- */

void call_forms_write(FILE *text, unsigned vector_bits)
{
    struct writer writer = {.text = text};
    for (size_t w = 0; w < WIDTH_COUNT; w++)
        for (size_t a = 0; a < TYPE_COUNT; a++) {
            if (types[a].bits * widths[w] > MAX_BITS)
                continue;
            struct vector vector = vector_of(&types[a], widths[w]);
            if (types[a].is_float)
                write_float(&writer, &types[a], widths[w]);
            else
                write_integer(&writer, &vector);
            for (size_t b = 0; b < TYPE_COUNT; b++)
                if (types[b].bits * widths[w] <= MAX_BITS)
                    write_conversions(&writer, &types[a], &types[b], widths[w]);
        }
    for (size_t t = 0; t < TYPE_COUNT; t++) {
        write_atomic_updates(&writer, &types[t]);
        if (types[t].is_float) /* their cells are accessed as integers */
            continue;
        write_overflow(&writer, &types[t]);
        write_atomic_accesses(&writer, &types[t]);
    }
    write_blocks(&writer);
    fprintf(text,
            "attributes #0 = { nounwind \"prefer-vector-width\"=\"%u\" "
            "\"min-legal-vector-width\"=\"%u\" }\n",
            vector_bits, vector_bits);
}
