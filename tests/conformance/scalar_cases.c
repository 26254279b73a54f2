/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of the scalar families, made from a form and its operand rules.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tests/conformance/case.h"

#define OPERAND_BYTES 48
#define LIST_SOURCES  4 /* in braces */

/* The differences from the plain case. */
struct variant {
    const char *label; /* NULL: the plain case */
    int constant_at;   /* rule whose source is a constant; -1: none */
    unsigned __int128 constant;
    bool is_wide;       /* registers wider than the type, where allowed */
    bool is_aliased;    /* the destination is the first source too */
    bool is_negated;    /* !p */
    bool is_pair;       /* p|q */
    bool with_optional; /* operands that may be left out */
    unsigned parts;     /* which parts of registers video instructions take; 0: none */
};

struct builder {
    const struct ptx_form *form;
    struct ptx_operand_rule rules[PTX_MAX_RULES];
    unsigned rule_count;
    conf_case_fn fn;
    void *data;
    struct conf_case made;
};

static void append(char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void append(char *text, size_t size, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, size - used, format, args);
    va_end(args);
}

unsigned conf_register_bits(enum ptx_type type)
{
    unsigned bits = ptx_type_bits(type);
    if (type == PTX_TYPE_PRED)
        return 1;
    return bits < 16 ? 16 : bits;
}

static enum ptx_type rule_type(const struct builder *builder, unsigned i)
{
    if (builder->rules[i].letter == 'p')
        return PTX_TYPE_PRED;
    return ptx_rule_type(&builder->rules[i], builder->form->types);
}

/* ---- constants ---- */

static bool takes_constant(enum ptx_type type)
{
    const struct ptx_type_info *info = &ptx_type_table[type];
    if (info->class == PTX_CLASS_FLOAT)
        return type == PTX_TYPE_F32 || type == PTX_TYPE_F64;
    return info->class != PTX_CLASS_PREDICATE && info->bits <= 64 && info->bits >= 8 &&
           strchr(info->name, 'x') == NULL;
}

static void constant_text(char *text, size_t size, enum ptx_type type, uint64_t bits)
{
    if (type == PTX_TYPE_F32)
        snprintf(text, size, "0f%08X", (unsigned)bits);
    else if (type == PTX_TYPE_F64)
        snprintf(text, size, "0d%016llX", (unsigned long long)bits);
    else if (ptx_type_is_signed(type) && ptx_type_bits(type) < 64)
        snprintf(text, size, "%lld",
                 (long long)((int64_t)(bits << (64 - ptx_type_bits(type))) >>
                             (64 - ptx_type_bits(type))));
    else
        snprintf(text, size, "0x%llx", (unsigned long long)bits);
}

/* ---- rows that need more than their operands ---- */

/* PTX ISA "lop3": immLut is an integer constant. */
static int required_constant(const struct ptx_form *form, unsigned rule_count)
{
    const char *name = ptx_op_name(form->op);
    if (strcmp(name, "lop3") != 0)
        return -1;
    return rule_count > 5 ? 4 : (int)rule_count - 1;
}

static bool form_has(const struct ptx_form *form, enum ptx_group group)
{
    return (form->groups & PTX_GROUP_BIT(group)) != 0;
}

static bool reads_carry(const struct ptx_form *form)
{
    const char *name = ptx_op_name(form->op);
    return strcmp(name, "addc") == 0 || strcmp(name, "subc") == 0 || strcmp(name, "madc") == 0;
}

/* ---- one case ---- */

static unsigned add_input(struct builder *builder, enum ptx_type type)
{
    struct conf_case *made = &builder->made;
    made->in_types[made->in_count] = type;
    made->in_bits[made->in_count] = conf_register_bits(type);
    return made->in_count++;
}

/* Some conversions take no wider register for a type of 8 bits. */
static bool is_byte_register(const struct builder *builder, unsigned i)
{
    return !builder->rules[i].may_be_wider && ptx_type_bits(rule_type(builder, i)) == 8;
}

static unsigned add_output(struct builder *builder, enum ptx_type type, unsigned bits)
{
    struct conf_case *made = &builder->made;
    made->out_types[made->out_count] = type;
    made->out_bits[made->out_count] = bits;
    return made->out_count++;
}

/* ---- parts of registers (PTX ISA "Video Instructions") ---- */

static const char *const byte_or_half[] = {".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};
static const char *const half_choices[] = {".h32", ".h10", ".h02", ".h31", ".h33", ".h12"};
static const char *const byte_choices[] = {".b7654", ".b3210", ".b0246",
                                           ".b7531", ".b1122", ".b4703"};
static const char *const half_masks[] = {".h0", ".h1", ".h10"};
static const char *const byte_masks[] = {".b0",  ".b1",  ".b2",   ".b3",   ".b10",
                                         ".b31", ".b32", ".b320", ".b210", ".b3210"};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* The part for operand i, or "". Which one it is goes with the form, so that a row's forms have
 * all of them. */
static const char *part_of(const struct builder *builder, unsigned i, const struct variant *variant)
{
    unsigned hash = variant->parts * 5 + i * 3;
    for (const char *at = builder->form->text; *at != '\0'; at++)
        hash = hash * 31 + (unsigned char)*at;
    hash = hash % 1009 + variant->parts;
    char letter = builder->rules[i].letter;
    if (letter == 'y')
        return byte_or_half[hash % COUNT(byte_or_half)];
    if (variant->parts == 0)
        return "";
    switch (letter) {
    case 'x':
    case 'X': /* of vmad's addend only the sign can be chosen */
        return i == 3 ? "" : byte_or_half[hash % COUNT(byte_or_half)];
    case 'h':
        return half_choices[hash % COUNT(half_choices)];
    case 'b':
        return byte_choices[hash % COUNT(byte_choices)];
    case 'H':
        return half_masks[hash % COUNT(half_masks)];
    case 'B':
        return byte_masks[hash % COUNT(byte_masks)];
    default:
        return "";
    }
}

/* At most one of the product's factors and the addend is negated. */
static bool is_minus(const struct builder *builder, unsigned i, const struct variant *variant)
{
    return builder->rules[i].letter == 'X' && variant->parts >= 2 && variant->parts - 1 == i;
}

static unsigned wider(unsigned bits)
{
    return bits < 32 ? 32 : 64;
}

static void put_source(struct builder *builder, unsigned i, const struct variant *variant,
                       char *text)
{
    enum ptx_type type = rule_type(builder, i);
    if (variant->constant_at == (int)i) {
        constant_text(text, OPERAND_BYTES, type, (uint64_t)variant->constant);
        return;
    }
    unsigned input = add_input(builder, type);
    if (is_byte_register(builder, i))
        builder->made.in_bits[input] = 8;
    if (builder->rules[i].letter == 'p') {
        snprintf(text, OPERAND_BYTES, "%s%%i%u", variant->is_negated ? "!" : "", input);
        return;
    }
    unsigned bits = conf_register_bits(type);
    if (variant->is_wide && builder->rules[i].may_be_wider && bits < 64) {
        /* The upper half is not zero, so that reading too much shows. */
        append(builder->made.body, CONF_BODY_BYTES, ".reg .b%u %%w%u;\n", wider(bits), input);
        if (bits == 16)
            append(builder->made.body, CONF_BODY_BYTES, "mov.b32 %%w%u, {%%i%u, %%i%u};\n", input,
                   input, input);
        else
            append(builder->made.body, CONF_BODY_BYTES, "mov.b64 %%w%u, {%%i%u, %%i%u};\n", input,
                   input, input);
        snprintf(text, OPERAND_BYTES, "%%w%u", input);
        return;
    }
    snprintf(text, OPERAND_BYTES, "%s%%i%u%s", is_minus(builder, i, variant) ? "-" : "", input,
             part_of(builder, i, variant));
}

/* {%i0, %i1, …} */
static void put_sources(struct builder *builder, unsigned i, char *text)
{
    *text = '\0';
    for (unsigned k = 0; k < LIST_SOURCES; k++)
        append(text, OPERAND_BYTES, "%s%%i%u", k == 0 ? "{" : ", ",
               add_input(builder, rule_type(builder, i)));
    append(text, OPERAND_BYTES, "}");
}

static void put_destination(struct builder *builder, unsigned i, const struct variant *variant,
                            char *text)
{
    enum ptx_type type = rule_type(builder, i);
    unsigned bits = is_byte_register(builder, i) ? 8 : conf_register_bits(type);
    if (variant->is_wide && builder->rules[i].may_be_wider && bits < 64)
        bits = wider(bits);
    unsigned output = add_output(builder, type, bits);
    snprintf(text, OPERAND_BYTES, "%%o%u%s", output, part_of(builder, i, variant));
    if (builder->rules[i].letter == 'q' && variant->is_pair) {
        unsigned second = add_output(builder, PTX_TYPE_PRED, 1);
        snprintf(text, OPERAND_BYTES, "%%o%u|%%o%u", output, second);
    }
}

static bool is_destination(char letter)
{
    return strchr("dDquyHB", letter) != NULL;
}

static bool put_operands(struct builder *builder, const struct variant *variant,
                         char operands[PTX_MAX_RULES][OPERAND_BYTES], unsigned *count)
{
    *count = 0;
    for (unsigned i = 0; i < builder->rule_count; i++) {
        const struct ptx_operand_rule *rule = &builder->rules[i];
        if (rule->is_optional && !variant->with_optional)
            continue;
        if (rule_type(builder, i) == PTX_TYPE_NONE || builder->made.in_count == CONF_MAX_INPUTS - 1)
            return false;
        char *text = operands[(*count)++];
        if (is_destination(rule->letter))
            put_destination(builder, i, variant, text);
        else if (rule->letter == 'r')
            put_sources(builder, i, text);
        else if (strchr("sSpvixXhb", rule->letter) != NULL)
            put_source(builder, i, variant, text);
        else
            return false;
    }
    return true;
}

/* The carry flag comes from an input and goes to an output by instructions that carry. */
static void put_carry_in(struct builder *builder)
{
    unsigned input = add_input(builder, PTX_TYPE_PRED);
    append(builder->made.body, CONF_BODY_BYTES,
           ".reg .b32 %%carry;\nselp.b32 %%carry, 1, 0, %%i%u;\n"
           "add.cc.u32 %%carry, %%carry, 0xffffffff;\n",
           input);
}

static void put_carry_out(struct builder *builder)
{
    unsigned output = add_output(builder, PTX_TYPE_U32, 32);
    append(builder->made.body, CONF_BODY_BYTES, "addc.u32 %%o%u, 0, 0;\n", output);
}

/* The destination's register holds the first source before the instruction. */
static bool alias_source(struct builder *builder, char operands[PTX_MAX_RULES][OPERAND_BYTES],
                         unsigned count)
{
    const struct conf_case *made = &builder->made;
    for (unsigned i = 1; i < count; i++) {
        unsigned input;
        if (sscanf(operands[i], "%%i%u", &input) != 1)
            continue;
        unsigned bits = made->in_bits[input];
        if (bits != made->out_bits[0] || bits == 8)
            continue;
        if (bits == 1)
            append(builder->made.body, CONF_BODY_BYTES, "mov.pred %%o0, %%i%u;\n", input);
        else
            append(builder->made.body, CONF_BODY_BYTES, "mov.b%u %%o0, %%i%u;\n", bits, input);
        snprintf(operands[i], OPERAND_BYTES, "%%o0");
        return true;
    }
    return false;
}

static bool make_case(struct builder *builder, const struct variant *variant, bool *is_known)
{
    char operands[PTX_MAX_RULES][OPERAND_BYTES];
    unsigned count;
    struct conf_case *made = &builder->made;
    memset(made, 0, sizeof *made);
    made->op = builder->form->op;
    made->ptx = builder->form->min_ptx;
    made->sm = builder->form->min_sm;
    made->needs_arch = builder->form->needs_arch;
    made->is_variant = variant->label != NULL;
    *is_known = put_operands(builder, variant, operands, &count);
    if (!*is_known || (variant->is_aliased && !alias_source(builder, operands, count)))
        return true;
    if (reads_carry(builder->form))
        put_carry_in(builder);
    append(made->body, CONF_BODY_BYTES, "%s", builder->form->text);
    for (unsigned i = 0; i < count; i++)
        append(made->body, CONF_BODY_BYTES, "%s%s", i == 0 ? " " : ", ", operands[i]);
    append(made->body, CONF_BODY_BYTES, ";\n");
    if (form_has(builder->form, PTX_GROUP_CC))
        put_carry_out(builder);
    snprintf(made->name, CONF_NAME_BYTES, "%s%s%s%s", builder->form->text,
             variant->label != NULL ? " (" : "", variant->label != NULL ? variant->label : "",
             variant->label != NULL ? ")" : "");
    return builder->fn(made, builder->data);
}

/* ---- mov with vectors: registers side by side in a wider one, and the other way ---- */

static void put_list(char *text, size_t size, char letter, unsigned count)
{
    append(text, size, "{");
    for (unsigned i = 0; i < count; i++)
        append(text, size, "%s%%%c%u", i == 0 ? "" : ", ", letter, i);
    append(text, size, "}");
}

/* in_count registers of in_bits to out_count registers of out_bits. */
static bool make_packing(struct builder *builder, unsigned in_count, unsigned in_bits,
                         unsigned out_count, unsigned out_bits)
{
    static const enum ptx_type types[] = {PTX_TYPE_B16, PTX_TYPE_B32, PTX_TYPE_B64, PTX_TYPE_B128};
    struct conf_case *made = &builder->made;
    memset(made, 0, sizeof *made);
    made->op = builder->form->op;
    made->ptx = builder->form->min_ptx;
    made->sm = builder->form->min_sm;
    made->is_variant = true;
    for (unsigned i = 0; i < in_count; i++)
        add_input(builder, types[__builtin_ctz(in_bits / 16)]);
    for (unsigned i = 0; i < out_count; i++)
        add_output(builder, types[__builtin_ctz(out_bits / 16)], out_bits);
    append(made->body, CONF_BODY_BYTES, "%s ", builder->form->text);
    if (out_count > 1)
        put_list(made->body, CONF_BODY_BYTES, 'o', out_count);
    else
        append(made->body, CONF_BODY_BYTES, "%%o0");
    append(made->body, CONF_BODY_BYTES, ", ");
    if (in_count > 1)
        put_list(made->body, CONF_BODY_BYTES, 'i', in_count);
    else
        append(made->body, CONF_BODY_BYTES, "%%i0");
    append(made->body, CONF_BODY_BYTES, ";\n");
    snprintf(made->name, CONF_NAME_BYTES, "%s (%u to %u)", builder->form->text, in_count,
             out_count);
    return builder->fn(made, builder->data);
}

static bool packing_cases(struct builder *builder)
{
    unsigned bits = ptx_type_bits(builder->form->types[0]);
    for (unsigned count = 2; count <= 4 && bits / count >= 16; count *= 2)
        if (!make_packing(builder, count, bits / count, 1, bits) ||
            !make_packing(builder, 1, bits, count, bits / count))
            return false;
    return true;
}

/* "mov.v4.b32 {…}, {…}" */
static bool vector_case(struct builder *builder)
{
    unsigned bits = conf_register_bits(builder->form->types[0]);
    unsigned count = strstr(builder->form->text, ".v4") != NULL ? 4 : 2;
    return make_packing(builder, count, bits, count, bits);
}

/* ---- which cases ---- */

static bool has_letter(const struct builder *builder, char letter)
{
    for (unsigned i = 0; i < builder->rule_count; i++)
        if (builder->rules[i].letter == letter)
            return true;
    return false;
}

static bool has_optional(const struct builder *builder)
{
    for (unsigned i = 0; i < builder->rule_count; i++)
        if (builder->rules[i].is_optional)
            return true;
    return false;
}

static bool has_wide(const struct builder *builder)
{
    for (unsigned i = 0; i < builder->rule_count; i++)
        if (builder->rules[i].may_be_wider)
            return true;
    return false;
}

#define CONSTANTS_PER_SOURCE 3
#define MOST_NEGATIVE        0x80000000u
#define MAX_AMOUNT           0xff /* constant positions, lengths, shifts */

static bool constant_cases(struct builder *builder, const struct variant *plain)
{
    static unsigned __int128 edges[CONF_MAX_EDGES];
    bool is_known;
    for (unsigned i = 0; i < builder->rule_count; i++) {
        enum ptx_type type = rule_type(builder, i);
        /* the bits of a pair of 8-bit numbers, as a type of its own: no constants */
        bool is_pair = builder->rules[i].type_code == 't' && ptx_type_bits(type) <= 16;
        bool is_simd = has_letter(builder, 'H') || has_letter(builder, 'B'); /* only registers */
        if (builder->rules[i].letter != 's' || !takes_constant(type) || is_pair || is_simd ||
            plain->constant_at >= 0)
            continue;
        size_t count = conf_edges(type, 3, edges);
        for (size_t k = 0; k < CONSTANTS_PER_SOURCE && k < count; k++) {
            char label[64];
            char text[OPERAND_BYTES];
            struct variant variant = *plain;
            variant.constant_at = (int)i;
            variant.constant = edges[(k * 5 + i * 3 + 2) % count];
            if (type == PTX_TYPE_S32 && variant.constant == MOST_NEGATIVE)
                variant.constant++; /* assemblers differ in what -2147483648 is */
            if (builder->rules[i].type_code == 't')
                variant.constant &= MAX_AMOUNT; /* more is refused in places, or taken modulo */
            constant_text(text, sizeof text, type, (uint64_t)variant.constant);
            snprintf(label, sizeof label, "operand %u is %s", i, text);
            variant.label = label;
            if (!make_case(builder, &variant, &is_known))
                return false;
        }
    }
    return true;
}

#define PART_CASES 5

static bool part_cases(struct builder *builder, const struct variant *plain)
{
    bool is_known;
    for (unsigned k = 1; k <= PART_CASES; k++) {
        char label[32];
        struct variant variant = *plain;
        variant.parts = k;
        snprintf(label, sizeof label, "parts %u", k);
        variant.label = label;
        if (!make_case(builder, &variant, &is_known))
            return false;
    }
    return true;
}

static bool is_video(const struct builder *builder)
{
    return ptx_op_table[builder->form->op].family == PTX_FAMILY_VIDEO;
}

static bool variant_cases(struct builder *builder, const struct variant *plain)
{
    bool is_known;
    struct variant variant = *plain;
    variant.label = "destination is a source";
    variant.is_aliased = true;
    if (!make_case(builder, &variant, &is_known))
        return false;
    if (has_wide(builder)) {
        variant = *plain;
        variant.label = "wider registers";
        variant.is_wide = true;
        if (!make_case(builder, &variant, &is_known))
            return false;
    }
    if (has_letter(builder, 'p')) {
        variant = *plain;
        variant.label = "negated predicate";
        variant.is_negated = true;
        if (!make_case(builder, &variant, &is_known))
            return false;
    }
    return constant_cases(builder, plain);
}

/* PTX ISA "lop3": all 256 functions of three bits. */
static bool table_cases(struct builder *builder, const struct variant *plain, unsigned step)
{
    bool is_known;
    for (unsigned lut = 1; lut < 256; lut += step) {
        char label[32];
        struct variant variant = *plain;
        variant.constant = lut;
        snprintf(label, sizeof label, "table 0x%02x", lut);
        variant.label = label;
        if (!make_case(builder, &variant, &is_known))
            return false;
    }
    return true;
}

bool conf_scalar_cases(const struct ptx_form *form, bool with_variants, conf_case_fn fn, void *data)
{
    struct builder builder = {.form = form, .fn = fn, .data = data};
    bool is_known = false;
    builder.rule_count = ptx_op_operand_rules(form->op, builder.rules);
    if (has_letter(&builder, 'D') && has_letter(&builder, 'S')) {
        vector_case(&builder);
        return true;
    }
    struct variant plain = {.constant_at = required_constant(form, builder.rule_count)};
    plain.is_pair = has_letter(&builder, 'q');
    if (!make_case(&builder, &plain, &is_known) || !is_known)
        return is_known;
    if (has_optional(&builder)) {
        struct variant longer = plain;
        longer.with_optional = true;
        longer.label = "all operands";
        if (!make_case(&builder, &longer, &is_known))
            return true;
        longer.is_negated = true;
        longer.label = "all operands, negated predicate";
        if (has_letter(&builder, 'p') && !make_case(&builder, &longer, &is_known))
            return true;
    }
    if (plain.is_pair) {
        struct variant single = plain;
        single.is_pair = false;
        single.label = "one destination";
        if (!make_case(&builder, &single, &is_known))
            return true;
    }
    if (is_video(&builder) && !part_cases(&builder, &plain))
        return true;
    if (plain.constant_at >= 0 && !table_cases(&builder, &plain, with_variants ? 1 : 17))
        return true;
    if (has_letter(&builder, 'u') && !packing_cases(&builder))
        return true;
    if (with_variants)
        variant_cases(&builder, &plain);
    return true;
}
