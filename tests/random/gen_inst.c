/* SPDX-License-Identifier: Apache-2.0
 *
 * Straight-line instructions, drawn from the op table.
 */
#include <stdio.h>
#include <string.h>

#include "tests/random/gen.h"

/* ---- NaN ---- */

/* The manual leaves the bits of most NaN results open: replaces any NaN by one. */
static void make_nan_canonical(struct gen *g, enum ptx_type type, const char *name)
{
    static const struct {
        enum ptx_type type;
        unsigned bits;
        const char *magnitude;
        const char *infinity;
        const char *nan;
    } rows[] = {
        {PTX_TYPE_F16, 16, "0x7fff", "0x7c00", "0x7fff"},
        {PTX_TYPE_BF16, 16, "0x7fff", "0x7f80", "0x7fff"},
        {PTX_TYPE_F32, 32, "0x7fffffff", "0x7f800000", "0x7fffffff"},
        {PTX_TYPE_F64, 64, "0x7fffffffffffffff", "0x7ff0000000000000", "0x7fffffffffffffff"},
    };
    for (size_t n = 0; n < sizeof rows / sizeof *rows; n++) {
        if (rows[n].type != type)
            continue;
        char magnitude[NAME_BYTES];
        char is_nan[NAME_BYTES];
        gen_temp(g, rows[n].bits, magnitude);
        gen_temp(g, 1, is_nan);
        gen_line(g, "and.b%u %s, %s, %s;", rows[n].bits, magnitude, name, rows[n].magnitude);
        gen_line(g, "setp.gt.u%u %s, %s, %s;", rows[n].bits, is_nan, magnitude, rows[n].infinity);
        gen_line(g, "selp.b%u %s, %s, %s, %s;", rows[n].bits, name, rows[n].nan, name, is_nan);
    }
}

static void make_result_canonical(struct gen *g, enum ptx_type type, const char *name)
{
    enum ptx_type half = type == PTX_TYPE_F16X2    ? PTX_TYPE_F16
                         : type == PTX_TYPE_BF16X2 ? PTX_TYPE_BF16
                                                   : PTX_TYPE_NONE;
    if (half == PTX_TYPE_NONE) {
        make_nan_canonical(g, type, name);
        return;
    }
    char low[NAME_BYTES];
    char high[NAME_BYTES];
    gen_temp(g, 16, low);
    gen_temp(g, 16, high);
    gen_line(g, "mov.b32 {%s, %s}, %s;", low, high, name);
    make_nan_canonical(g, half, low);
    make_nan_canonical(g, half, high);
    gen_line(g, "mov.b32 %s, {%s, %s};", name, low, high);
}

/* ---- operands ---- */

/* A position or a length of a bit field: 0 to 255, whether constant or not. */
static void gen_field_operand(struct gen *g, char name[NAME_BYTES])
{
    char source[NAME_BYTES];
    if (dice_chance(&g->dice, 30)) {
        snprintf(name, NAME_BYTES, "%u",
                 dice_below(&g->dice, dice_chance(&g->dice, 50) ? 40 : 256));
        return;
    }
    gen_pool(g, 32, source);
    gen_temp(g, 32, name);
    gen_line(g, "and.b32 %s, %s, 0x%s;", name, source, dice_chance(&g->dice, 50) ? "3f" : "ff");
}

/* r+c, where an instruction takes a register: a small constant, or one that wraps. */
static void gen_sum(struct gen *g, char name[NAME_BYTES])
{
    size_t len = strlen(name);
    if (dice_chance(&g->dice, 50))
        snprintf(name + len, NAME_BYTES - len, "+%d", (int)dice_below(&g->dice, 256) - 128);
    else
        snprintf(name + len, NAME_BYTES - len, "+0x%x", dice_below(&g->dice, UINT32_MAX));
}

/* Values the manual leaves undefined are avoided: a divisor is neither 0 nor -1, `fns` counts
 * from a bit that exists, positions and lengths of bit fields have 8 bits. */
static void gen_special_source(struct gen *g, const struct gen_form *form, unsigned index,
                               char name[NAME_BYTES])
{
    enum ptx_type type = form->operands[index].type;
    unsigned bits = ptx_type_bits(type);
    bool is_field =
        (form->op == PTX_OP_BFE || form->op == PTX_OP_BFI) && index >= 2 && type == PTX_TYPE_U32;
    bool is_divisor = (form->op == PTX_OP_DIV_INT || form->op == PTX_OP_REM) && index == 2 &&
                      !ptx_type_is_float(type);
    enum ptx_family family = ptx_op_table[form->op].family;
    bool is_packed = family == PTX_FAMILY_VIDEO ||
                     (family == PTX_FAMILY_CONVERT && ptx_type_table[type].class == PTX_CLASS_BITS);
    char source[NAME_BYTES];
    if (is_packed)
        gen_pool(g, bits <= 16 ? 16 : bits, source);
    else
        gen_source(g, type, source);
    if (!is_packed && bits > 1 && source[0] == '%' && dice_chance(&g->dice, 4))
        gen_sum(g, source);
    snprintf(name, NAME_BYTES, "%s", source);
    if (form->op == PTX_OP_FNS && index == 2) {
        gen_pool(g, 32, source);
        gen_temp(g, 32, name);
        gen_line(g, "and.b32 %s, %s, 31;", name, source);
    } else if (is_field) {
        gen_field_operand(g, name);
    } else if (is_divisor) {
        gen_pool(g, bits, source);
        gen_temp(g, bits, name);
        gen_line(g, "or.b%u %s, %s, 1;", bits, name, source);
        if (ptx_type_is_signed(type))
            gen_line(g, "and.b%u %s, %s, 0x%s;", bits, name, name,
                     dice_chance(&g->dice, 50) ? "7f" : "3fff");
    }
}

/* A part of a register, for video instructions: see ops.def. */
static void gen_part(struct gen *g, char letter, char name[2 * NAME_BYTES + 2])
{
    static const char *const parts[] = {"", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};
    static const char *const halves[] = {"", ".h0", ".h1", ".h10"};
    char r[NAME_BYTES];
    char part[NAME_BYTES] = "";
    size_t len = 0;
    gen_pool(g, 32, r);
    if (letter == 'x' || letter == 'X') {
        snprintf(part, sizeof part, "%s", parts[dice_below(&g->dice, 7)]);
    } else if (letter == 'y') {
        snprintf(part, sizeof part, "%s", parts[1 + dice_below(&g->dice, 6)]);
    } else if (letter == 'H') {
        snprintf(part, sizeof part, "%s", halves[dice_below(&g->dice, 4)]);
    } else if (letter == 'B') {
        unsigned mask = dice_below(&g->dice, 16);
        len = (size_t)snprintf(part, sizeof part, "%s", mask ? ".b" : "");
        for (unsigned n = 4; n-- > 0;)
            if (mask >> n & 1)
                len += (size_t)snprintf(part + len, sizeof part - len, "%u", n);
    } else if (letter != 'c' && dice_chance(&g->dice, 60)) {
        bool is_half = letter == 'h';
        len = (size_t)snprintf(part, sizeof part, ".%c", letter);
        for (unsigned n = 0; n < (is_half ? 2 : 4); n++)
            len += (size_t)snprintf(part + len, sizeof part - len, "%u",
                                    dice_below(&g->dice, is_half ? 4 : 8));
    }
    snprintf(name, 2 * NAME_BYTES + 2, "%s%s%s",
             letter == 'c' && dice_chance(&g->dice, 30) ? "-" : "", r, part);
}

static void gen_operand(struct gen *g, const struct gen_form *form, unsigned index,
                        char name[2 * NAME_BYTES + 2])
{
    enum ptx_type type = form->operands[index].type;
    unsigned bits = ptx_type_bits(type);
    char first[NAME_BYTES];
    char second[NAME_BYTES];
    switch (form->operands[index].letter) {
    case 'p':
        gen_pool(g, 1, first);
        snprintf(name, NAME_BYTES, "%s%s", dice_chance(&g->dice, 30) ? "!" : "", first);
        break;
    case 'q':
        gen_pool(g, bits <= 1 ? 1 : bits, first);
        do {
            gen_pool(g, 1, second);
        } while (strcmp(first, second) == 0);
        if (form->op == PTX_OP_LOP3_BOOL || dice_chance(&g->dice, 60))
            snprintf(name, 2 * NAME_BYTES + 2, "%s|%s", first, second);
        else
            snprintf(name, NAME_BYTES, "%s", first);
        break;
    case 'd':
        gen_pool(g, bits <= 1 ? 1 : bits <= 16 ? 16 : bits, name);
        break;
    case 'i':
        snprintf(name, NAME_BYTES, "0x%x", dice_below(&g->dice, 256));
        break;
    case 's':
        gen_special_source(g, form, index, name);
        break;
    default:
        /* The addend of vmad is a whole register. */
        gen_part(g, form->op == PTX_OP_VMAD && index == 3 ? 'c' : form->operands[index].letter,
                 name);
        break;
    }
}

void gen_inst(struct gen *g)
{
    const struct gen_form *form = gen_forms_draw(g->forms, &g->dice, g->config);
    char line[256];
    char names[6][2 * NAME_BYTES + 2];
    size_t len = 0;
    for (unsigned n = 0; n < form->operand_count; n++)
        gen_operand(g, form, n, names[n]);
    line[0] = '\0';
    if (dice_chance(&g->dice, 10)) {
        char guard[NAME_BYTES];
        gen_pool(g, 1, guard);
        len += (size_t)snprintf(line, sizeof line, "@%s%s ", dice_chance(&g->dice, 50) ? "!" : "",
                                guard);
    }
    len += (size_t)snprintf(line + len, sizeof line - len, "%s", form->text);
    for (unsigned n = 0; n < form->operand_count; n++)
        len += (size_t)snprintf(line + len, sizeof line - len, "%s %s", n ? "," : "", names[n]);
    gen_line(g, "%s;", line);
    if (form->operand_count)
        make_result_canonical(g, form->operands[0].type, names[0]);
}

/* ---- moves between registers and their parts ---- */

void gen_pack(struct gen *g)
{
    unsigned first = dice_below(&g->dice, g->pools.h - 3);
    char r[NAME_BYTES];
    char other[NAME_BYTES];
    char l[NAME_BYTES];
    gen_pool(g, 32, r);
    gen_pool(g, 64, l);
    do {
        gen_pool(g, 32, other);
    } while (strcmp(r, other) == 0);
    switch (dice_below(&g->dice, 6)) {
    case 0:
        gen_line(g, "mov.b64 {%s, %s}, %s;", r, other, l);
        break;
    case 1:
        gen_line(g, "mov.b64 %s, {%s, %s};", l, r, other);
        break;
    case 2:
        gen_line(g, "mov.b64 {%%h%u, %%h%u, %%h%u, %%h%u}, %s;", first, first + 1, first + 2,
                 first + 3, l);
        break;
    case 3:
        gen_line(g, "mov.b64 %s, {%%h%u, %%h%u, %%h%u, %%h%u};", l, first + 3, first, first + 1,
                 first);
        break;
    case 4:
        gen_line(g, "mov.b32 {%%h%u, %%h%u}, %s;", first + 1, first, r);
        break;
    default:
        gen_line(g, "mov.b32 %s, {%%h%u, %%h%u};", r, first + 2, first);
        break;
    }
}

/* ---- chains of carries ---- */

/* ---- chains of arithmetic on 16 bits ---- */

/* A result is the next instruction's operand as it is, so that roundings add up. */
void gen_half_chain(struct gen *g)
{
    static const struct {
        const char *text;
        unsigned sources;
    } kinds[] = {{"fma.rn", 3}, {"fma.rn.relu", 3}, {"add.rn", 2}, {"sub.rn", 2},
                 {"mul.rn", 2}, {"min", 2},         {"max.NaN", 2}};
    static const enum ptx_type types[] = {PTX_TYPE_F16, PTX_TYPE_F16X2, PTX_TYPE_BF16,
                                          PTX_TYPE_BF16X2};
    enum ptx_type type = types[dice_below(&g->dice, 4)];
    unsigned steps = 2 + dice_below(&g->dice, 5);
    char d[NAME_BYTES];
    gen_pool(g, ptx_type_bits(type), d);
    for (unsigned n = 0; n < steps; n++) {
        unsigned kind = dice_below(&g->dice, dice_chance(&g->dice, 50) ? 2 : 7);
        char a[NAME_BYTES];
        char b[NAME_BYTES];
        gen_pool(g, ptx_type_bits(type), a);
        gen_pool(g, ptx_type_bits(type), b);
        gen_line(g, "%s.%s %s, %s, %s%s%s;", kinds[kind].text, ptx_type_table[type].name, d, d, a,
                 kinds[kind].sources == 3 ? ", " : "", kinds[kind].sources == 3 ? b : "");
    }
    make_result_canonical(g, type, d);
}

/* ---- chains of carries ---- */

/* The carry flag is defined from an instruction with .cc to the next in a straight line. */
void gen_carry_chain(struct gen *g)
{
    static const struct {
        const char *first;
        const char *next;
        bool has_addend;
    } kinds[] = {
        {"add.cc", "addc", false},
        {"sub.cc", "subc", false},
        {"mad.lo.cc", "madc.hi", true},
        {"mad.hi.cc", "madc.lo", true},
    };
    static const enum ptx_type types[] = {PTX_TYPE_U32, PTX_TYPE_S32, PTX_TYPE_U64, PTX_TYPE_S64};
    unsigned kind = dice_below(&g->dice, sizeof kinds / sizeof *kinds);
    enum ptx_type type = types[dice_below(&g->dice, 4)];
    unsigned steps = 2 + dice_below(&g->dice, 3);
    for (unsigned n = 0; n < steps; n++) {
        char d[NAME_BYTES];
        char a[NAME_BYTES];
        char b[NAME_BYTES];
        char c[NAME_BYTES];
        gen_pool(g, ptx_type_bits(type), d);
        gen_source(g, type, a);
        gen_source(g, type, b);
        gen_source(g, type, c);
        gen_line(g, "%s%s.%s %s, %s, %s%s%s;", n ? kinds[kind].next : kinds[kind].first,
                 n && n + 1 < steps ? ".cc" : "", ptx_type_table[type].name, d, a, b,
                 kinds[kind].has_addend ? ", " : "", kinds[kind].has_addend ? c : "");
    }
}

/* ---- mixing ---- */

/* Keeps values from being lost when they are overwritten, and brings fresh bits to the pools. */
void gen_mix(struct gen *g)
{
    char r[NAME_BYTES];
    char l[NAME_BYTES];
    char h[NAME_BYTES];
    char t[NAME_BYTES];
    gen_pool(g, 32, r);
    gen_pool(g, 64, l);
    gen_pool(g, 16, h);
    gen_temp(g, 32, t);
    switch (dice_below(&g->dice, 6)) {
    case 0:
        gen_line(g, "mad.lo.u32 %%acc, %%acc, 33, %s;", r);
        break;
    case 1:
        gen_line(g, "cvt.u32.u64 %s, %s;", t, l);
        gen_line(g, "mad.lo.u32 %%acc, %%acc, 31, %s;", t);
        break;
    case 2:
        gen_line(g, "cvt.u32.u16 %s, %s;", t, h);
        gen_line(g, "xor.b32 %%acc, %%acc, %s;", t);
        break;
    case 3:
        gen_line(g, "mov.b64 %s, {%%acc, %s};", l, r);
        break;
    case 4:
        gen_line(g, "mad.lo.u32 %s, %%acc, 0x%x, %%gid;", r, dice_below(&g->dice, 1 << 20) | 1);
        break;
    default:
        gen_line(g, "shr.u32 %s, %%acc, %u;", t, dice_below(&g->dice, 17));
        gen_line(g, "cvt.u16.u32 %s, %s;", h, t);
        break;
    }
}
