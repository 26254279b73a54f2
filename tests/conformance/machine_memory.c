/* SPDX-License-Identifier: Apache-2.0
 *
 * Templates for memory, atomics and addresses.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/conformance/case.h"
#include "tests/conformance/machine_case.h"
#include "tests/conformance/piece.h"

#define POLICY "0x1000000000000000"

/* ---- spaces ---- */

enum place { PLACE_GLOBAL, PLACE_CONST, PLACE_SHARED, PLACE_LOCAL, PLACE_ENTRY, PLACE_CALL };

static bool has_space(const struct ptx_form *form, const char *space)
{
    const char *at = strstr(form->text, space);
    size_t len = strlen(space);
    return at != NULL && at[-1] == '.' && (at[len] == '.' || at[len] == ':' || at[len] == '\0');
}

static enum place place_of(const struct ptx_form *form)
{
    if (has_space(form, "shared"))
        return PLACE_SHARED;
    if (has_space(form, "local"))
        return PLACE_LOCAL;
    if (has_space(form, "const"))
        return PLACE_CONST;
    if (strstr(form->text, "param::func") != NULL)
        return PLACE_CALL;
    return has_space(form, "param") ? PLACE_ENTRY : PLACE_GLOBAL;
}

static unsigned vector_len(const struct ptx_form *form)
{
    return machine_has_word(form, "v8")   ? 8
           : machine_has_word(form, "v4") ? 4
           : machine_has_word(form, "v2") ? 2
                                          : 1;
}

static const char *place_base(enum place place)
{
    switch (place) {
    case PLACE_CONST:
        return "%const";
    case PLACE_SHARED:
        return "%shared";
    case PLACE_LOCAL:
        return "%local";
    case PLACE_GLOBAL:
    case PLACE_ENTRY:
    case PLACE_CALL:
        break;
    }
    return "%in";
}

/* The address in brackets, spelled in more ways than one. */
static void put_address(struct piece *piece, const char *base)
{
    if (piece->number % 2 == 0)
        fprintf(piece->body, ".reg .b64 %%a;\nmov.b64 %%a, %s;\n", base);
    else
        fprintf(piece->body, ".reg .b64 %%a;\nadd.s64 %%a, %s, -4096;\n", base);
}

static const char *address_text(const struct piece *piece)
{
    return piece->number % 2 == 0 ? "[%a]" : "[%a+4096]";
}

void piece_put_pattern(FILE *file, const char *space, const char *base)
{
    for (unsigned i = 0; i < 4; i++)
        fprintf(file, "st%s.b64 [%s+%u], %%d%u;\n", space, base, 8 * i, i);
}

void piece_put_dump(FILE *file, const char *space, const char *base, unsigned to)
{
    fputs(".reg .b64 %t;\n", file);
    for (unsigned i = 0; i < 4; i++)
        fprintf(file, "ld%s.b64 %%t, [%s+%u];\nst.global.b64 [%%out+%u], %%t;\n", space, base,
                8 * i, to + 8 * i);
}

/* ---- registers of a vector ---- */

static unsigned value_bits(const struct piece *piece, bool is_wide)
{
    unsigned bits = conf_register_bits(piece->form->types[0]);
    return is_wide ? (bits < 32 ? 32 : 64) : bits;
}

static void declare_values(FILE *file, unsigned count, unsigned bits)
{
    fprintf(file, ".reg .b%u %%r<%u>;\n", bits, count);
}

static void put_values(FILE *file, unsigned count)
{
    fputs(count > 1 ? "{" : "", file);
    for (unsigned i = 0; i < count; i++)
        fprintf(file, "%s%%r%u", i == 0 ? "" : ", ", i);
    fputs(count > 1 ? "}" : "", file);
}

static void store_values(FILE *file, unsigned count, unsigned bits, const char *out)
{
    for (unsigned i = 0; i < count; i++)
        fprintf(file, "st.global.b%u [%s+%u], %%r%u;\n", bits, out, i * bits / 8, i);
}

static bool has_hint(const struct piece *piece)
{
    return machine_has_word(piece->form, "L2::cache_hint");
}

static void put_hint(struct piece *piece)
{
    if (has_hint(piece))
        fputs(", %policy", piece->body);
    fputs(";\n", piece->body);
}

/* n: 0 plain, 1 wider registers */
static bool choose_width(struct piece *piece, unsigned *bits)
{
    bool is_wide = piece->n == 1;
    /* a GPU's assembler converts the value that it stores from a wider register */
    if (is_wide && ptx_type_is_float(piece->form->types[0]))
        return false;
    if (piece->n > 1 ||
        (is_wide && (ptx_type_bits(piece->form->types[0]) >= 64 || vector_len(piece->form) > 4)))
        return false;
    piece->label = is_wide ? "wider registers" : NULL;
    *bits = value_bits(piece, is_wide);
    if (has_hint(piece))
        fprintf(piece->body, ".reg .b64 %%policy;\nmov.b64 %%policy, " POLICY ";\n");
    return true;
}

/* ---- ld ---- */

static void load_in_function(struct piece *piece, unsigned bits, unsigned count)
{
    fprintf(piece->decls,
            ".func take%u(.param .b64 to, .param .align 32 .b8 data[32])\n{\n"
            ".reg .b64 %%out;\nld.param.b64 %%out, [to];\n",
            piece->number);
    declare_values(piece->decls, count, bits);
    fprintf(piece->decls, "%s ", piece->form->text);
    put_values(piece->decls, count);
    fputs(", [data];\n", piece->decls);
    store_values(piece->decls, count, bits, "%out");
    fputs("ret;\n}\n", piece->decls);
    fputs("{\n.param .b64 to;\n.param .align 32 .b8 data[32];\nst.param.b64 [to], %out;\n",
          piece->body);
    piece_put_pattern(piece->body, ".param", "data");
    fprintf(piece->body, "call take%u, (to, data);\n}\n", piece->number);
}

static bool make_load(struct piece *piece)
{
    enum place place = place_of(piece->form);
    unsigned count = vector_len(piece->form);
    unsigned bits;
    if (!choose_width(piece, &bits))
        return false;
    if (place == PLACE_CALL) {
        load_in_function(piece, bits, count);
        return true;
    }
    const char *base = place_base(place);
    if (place == PLACE_SHARED || place == PLACE_LOCAL)
        piece_put_pattern(piece->body, place == PLACE_SHARED ? ".shared" : ".local", base);
    put_address(piece, base);
    declare_values(piece->body, count, bits);
    fprintf(piece->body, "%s ", piece->form->text);
    put_values(piece->body, count);
    fprintf(piece->body, ", %s", place == PLACE_ENTRY ? "[p_data]" : address_text(piece));
    put_hint(piece);
    store_values(piece->body, count, bits, "%out");
    return true;
}

/* ---- st ---- */

/* Other bytes than the pattern that lies there before. */
static void load_values(struct piece *piece, unsigned count, unsigned bits)
{
    declare_values(piece->body, count, bits);
    for (unsigned i = 0; i < count; i++)
        fprintf(piece->body, "ld.global.b%u %%r%u, [%%in+%u];\n", bits, i, 32 + i * bits / 8);
}

/* The callee reads only the bytes that were written: the rest is undefined there. */
static void store_to_call(struct piece *piece, unsigned count, unsigned bits)
{
    unsigned type_bits = ptx_type_bits(piece->form->types[0]);
    fprintf(piece->decls,
            ".func dump%u(.param .b64 to, .param .align 32 .b8 data[32])\n{\n"
            ".reg .b64 %%out;\nld.param.b64 %%out, [to];\n",
            piece->number);
    declare_values(piece->decls, count, bits);
    for (unsigned i = 0; i < count; i++)
        fprintf(piece->decls, "ld.param.b%u %%r%u, [data+%u];\n", type_bits, i, i * type_bits / 8);
    store_values(piece->decls, count, bits, "%out");
    fputs("ret;\n}\n", piece->decls);
    fputs("{\n.param .b64 to;\n.param .align 32 .b8 data[32];\nst.param.b64 [to], %out;\n",
          piece->body);
    fprintf(piece->body, "%s [data], ", piece->form->text);
    put_values(piece->body, count);
    fprintf(piece->body, ";\ncall dump%u, (to, data);\n}\n", piece->number);
}

static bool make_store(struct piece *piece)
{
    enum place place = place_of(piece->form);
    unsigned count = vector_len(piece->form);
    unsigned bits;
    if (!choose_width(piece, &bits))
        return false;
    load_values(piece, count, bits);
    if (place == PLACE_ENTRY || place == PLACE_CALL) {
        store_to_call(piece, count, bits);
        return true;
    }
    const char *base = place == PLACE_GLOBAL ? "%out" : place_base(place);
    const char *space = place == PLACE_GLOBAL   ? ".global"
                        : place == PLACE_SHARED ? ".shared"
                                                : ".local";
    piece_put_pattern(piece->body, space, base);
    put_address(piece, base);
    fprintf(piece->body, "%s %s, ", piece->form->text, address_text(piece));
    put_values(piece->body, count);
    put_hint(piece);
    if (place != PLACE_GLOBAL)
        piece_put_dump(piece->body, space, base, 0);
    return true;
}

/* ---- atom and red ---- */

static void put_named_values(FILE *file, const char *name, unsigned count)
{
    fputs(count > 1 ? "{" : "", file);
    for (unsigned i = 0; i < count; i++)
        fprintf(file, "%s%%%s%u", i == 0 ? "" : ", ", name, i);
    fputs(count > 1 ? "}" : "", file);
}

static void load_operand(FILE *file, const char *name, unsigned count, unsigned bits,
                         unsigned offset)
{
    fprintf(file, ".reg .b%u %%%s<%u>;\n", bits, name, count);
    for (unsigned i = 0; i < count; i++)
        fprintf(file, "ld.global.b%u %%%s%u, [%%in+%u];\n", bits, name, i, offset + i * bits / 8);
}

static void put_atomic(struct piece *piece, bool has_result, unsigned count)
{
    fprintf(piece->body, "%s ", piece->form->text);
    if (has_result) {
        put_named_values(piece->body, "r", count);
        fputs(", ", piece->body);
    }
    fprintf(piece->body, "%s, ", address_text(piece));
    put_named_values(piece->body, "b", count);
    if (machine_has_word(piece->form, "cas"))
        fputs(", %c0", piece->body);
    put_hint(piece);
}

static bool make_atomic(struct piece *piece)
{
    const struct ptx_form *form = piece->form;
    bool is_shared = place_of(form) == PLACE_SHARED;
    bool has_result = strncmp(form->text, "atom", 4) == 0;
    unsigned count = vector_len(form);
    unsigned bits;
    if (piece->n > 0 || !choose_width(piece, &bits))
        return false;
    piece->value_type = form->types[0];
    const char *space = is_shared ? ".shared" : ".global";
    fputs(".reg .b64 %place;\n", piece->body);
    if (is_shared)
        fputs("mov.b64 %place, %shared;\n", piece->body);
    else
        fputs("add.s64 %place, %out, 32;\n", piece->body);
    piece_put_pattern(piece->body, space, "%place");
    put_address(piece, "%place");
    declare_values(piece->body, count, bits);
    load_operand(piece->body, "b", count, bits, 32);
    load_operand(piece->body, "c", 1, bits, 48);
    put_atomic(piece, has_result, count);
    if (has_result)
        store_values(piece->body, count, bits, "%out");
    if (is_shared)
        piece_put_dump(piece->body, space, "%place", 32);
    return true;
}

/* ---- what has no result ---- */

static bool make_fence(struct piece *piece)
{
    struct ptx_operand_rule rules[PTX_MAX_RULES];
    bool has_operands = ptx_op_operand_rules(piece->form->op, rules) > 0;
    if (piece->n > 0)
        return false;
    fprintf(piece->body, "st.global.b64 [%%out], %%d0;\n%s%s;\n", piece->form->text,
            has_operands ? " [%in], 128" : "");
    piece_put_dump(piece->body, ".global", "%out", 32);
    return true;
}

/* ---- cp.async: done when the wait behind it is; until then nobody looks ---- */

static bool make_copy(struct piece *piece)
{
    const char *text = piece->form->text;
    struct ptx_operand_rule rules[PTX_MAX_RULES];
    unsigned rule_count = ptx_op_operand_rules(piece->form->op, rules);
    bool can_ignore = rule_count > 3 && rules[3].letter == 'p';
    bool is_small = strncmp(text, "cp.async.ca", 11) == 0;
    static const unsigned sizes[] = {16, 8, 4};
    static const char *const labels[][4] = {
        {"16 bytes", "8 bytes", "4 bytes", "16 bytes, fewer read"},
        {"16 bytes or none", "8 bytes or none", "4 bytes or none", NULL}};
    unsigned n = piece->n;
    if (n > 3 || ((n == 1 || n == 2) && !is_small) || (n == 3 && can_ignore))
        return false;
    piece->label = labels[can_ignore][n];
    piece_put_pattern(piece->body, ".shared", "%shared");
    fputs(".reg .b64 %policy;\nmov.b64 %policy, " POLICY ";\n.reg .b32 %few;\n"
          "and.b32 %few, %lane, 15;\nadd.u32 %few, %few, 1;\n",
          piece->body);
    if (strncmp(text, "cp.async.c", 10) != 0 || text[11] != '.') {
        fputs("cp.async.ca.shared.global [%shared], [%in+32], 16;\ncp.async.commit_group;\n",
              piece->body);
        fprintf(piece->body, "%s%s;\ncp.async.wait_all;\n", text, rule_count > 0 ? " 0" : "");
    } else {
        fprintf(piece->body, "%s [%%shared], [%%in+32], %u", text, n == 3 ? 16 : sizes[n]);
        fputs(can_ignore ? ", %is_even" : n == 3 ? ", %few" : "", piece->body);
        put_hint(piece);
        fputs("cp.async.wait_all;\n", piece->body);
    }
    piece_put_dump(piece->body, ".shared", "%shared", 0);
    return true;
}

/* ---- the stack ---- */

/* A .u32 is for modules with 32-bit addresses. */
static bool is_for_32_bits(const struct piece *piece)
{
    return piece->form->types[0] == PTX_TYPE_U32;
}

static bool make_alloca(struct piece *piece)
{
    unsigned bits = ptx_type_bits(piece->form->types[0]);
    if (piece->n > 2 || is_for_32_bits(piece))
        return false;
    static const char *const operands[] = {"64", "%size", "48, 32"};
    static const char *const labels[] = {NULL, "size in a register", "aligned"};
    piece->label = labels[piece->n];
    fprintf(piece->body, ".reg .b%u %%size, %%place;\n.reg .b64 %%a;\nmov.b%u %%size, 40;\n", bits,
            bits);
    fprintf(piece->body, "%s %%place, %s;\nmov.b64 %%a, %%place;\n", piece->form->text,
            operands[piece->n]);
    piece_put_pattern(piece->body, ".local", "%a");
    piece_put_dump(piece->body, ".local", "%a", 0);
    if (piece->n == 2)
        fprintf(piece->body, "and.b64 %%a, %%a, 31;\nst.global.b64 [%%out+32], %%a;\n");
    return true;
}

/* More than any stack has, were it not given back each time. */
static bool make_stack(struct piece *piece)
{
    const char *type = ptx_type_table[piece->form->types[0]].name;
    if (piece->n > 0 || is_for_32_bits(piece))
        return false;
    fprintf(piece->body,
            ".reg .b%u %%mark, %%place;\n.reg .pred %%more;\n.reg .b32 %%n;\nmov.b32 %%n, 0;\n"
            "AGAIN:\nstacksave.%s %%mark;\nalloca.%s %%place, 192;\n"
            "st.local.b32 [%%place], %%n;\nld.local.b32 %%n, [%%place];\n"
            "stackrestore.%s %%mark;\nadd.u32 %%n, %%n, 1;\n"
            "setp.lt.u32 %%more, %%n, 800;\n@%%more bra AGAIN;\nst.global.b32 [%%out], %%n;\n",
            ptx_type_bits(piece->form->types[0]), type, type, type);
    return true;
}

/* ---- prefetch ---- */

static bool make_prefetch(struct piece *piece)
{
    if (piece->n > 0)
        return false;
    put_address(piece, place_base(place_of(piece->form)));
    fprintf(piece->body, "%s %s;\n", piece->form->text, address_text(piece));
    return true;
}

/* ---- addresses ---- */

static const char *const space_names[] = {
    [PLACE_GLOBAL] = "global", [PLACE_CONST] = "const", [PLACE_SHARED] = "shared",
    [PLACE_LOCAL] = "local",   [PLACE_ENTRY] = "param", [PLACE_CALL] = "param",
};

static void put_generic(FILE *body, enum place place, const char *to)
{
    if (place == PLACE_ENTRY || place == PLACE_CALL)
        fprintf(body, "mov.b64 %s, p_data;\ncvta.param.u64 %s, %s;\n", to, to, to);
    else
        fprintf(body, "cvta.%s.u64 %s, %s;\n", space_names[place], to, place_base(place));
}

/* Only what lies at an address can be compared, not the address. */
static bool make_cvta(struct piece *piece)
{
    const struct ptx_form *form = piece->form;
    enum place place = place_of(form);
    bool is_to = machine_has_word(form, "to");
    if (piece->n > 0 || is_for_32_bits(piece))
        return false;
    if (place == PLACE_SHARED || place == PLACE_LOCAL)
        piece_put_pattern(piece->body, place == PLACE_SHARED ? ".shared" : ".local",
                          place_base(place));
    fputs(".reg .b64 %g, %s;\n", piece->body);
    put_generic(piece->body, place, "%g");
    if (is_to) {
        fprintf(piece->body, "%s %%s, %%g;\n", form->text);
        char space[16];
        snprintf(space, sizeof space, ".%s", space_names[place]);
        piece_put_dump(piece->body, space, "%s", 0);
        return true;
    }
    if (place == PLACE_ENTRY)
        fprintf(piece->body, "mov.b64 %%s, p_data;\n%s %%s, %%s;\n", form->text);
    else
        fprintf(piece->body, "%s %%s, %s;\n", form->text, place_base(place));
    piece_put_dump(piece->body, "", "%s", 0);
    return true;
}

static bool make_isspacep(struct piece *piece)
{
    if (piece->n > 0)
        return false;
    fputs(".reg .b64 %g;\n.reg .pred %p;\n.reg .b32 %n;\n", piece->body);
    for (unsigned i = PLACE_GLOBAL; i <= PLACE_LOCAL; i++) {
        put_generic(piece->body, (enum place)i, "%g");
        fprintf(piece->body,
                "%s %%p, %%g;\nselp.b32 %%n, 1, 0, %%p;\nst.global.b32 [%%out+%u], %%n;\n",
                piece->form->text, 4 * i);
    }
    return true;
}

/* Of the own block and, in a cluster, of the next one. */
static bool make_ctarank(struct piece *piece)
{
    bool is_short = machine_has_word(piece->form, "u32");
    if (piece->n > 1)
        return false;
    fputs(".reg .b64 %g;\n.reg .b32 %s, %n;\n", piece->body);
    if (machine_has_word(piece->form, "shared::cluster"))
        fprintf(piece->body, "mov.b64 %%g, %s;\n", place_base(PLACE_SHARED));
    else
        put_generic(piece->body, PLACE_SHARED, "%g");
    if (piece->n == 1) {
        piece->label = "another block";
        piece->is_in_cluster = true;
        piece_put_next_rank(piece);
        fprintf(piece->body, "mapa%s.u64 %%g, %%g, %%rank;\n",
                machine_has_word(piece->form, "shared::cluster") ? ".shared::cluster" : "");
    }
    fprintf(piece->body,
            "cvt.u32.u64 %%s, %%g;\nmov.b32 %%n, 7;\n%s %%n, %s;\nst.global.b32 [%%out], %%n;\n",
            piece->form->text, is_short ? "%s" : "%g");
    return true;
}

/* What the next block of the cluster has there. */
static void make_mapa_of_next(struct piece *piece, bool is_short, bool is_generic)
{
    piece->label = "another block";
    piece->is_in_cluster = true;
    piece_put_pattern(piece->body, ".shared", "%shared");
    piece_put_next_rank(piece);
    fputs(".reg .b64 %g, %m;\n.reg .b32 %s, %t;\n", piece->body);
    if (is_generic)
        put_generic(piece->body, PLACE_SHARED, "%g");
    else
        fputs("mov.b64 %g, %shared;\n", piece->body);
    piece_put_cluster_meeting(piece->body);
    fprintf(piece->body, "cvt.u32.u64 %%s, %%g;\n%s %s, %s, %%rank;\n", piece->form->text,
            is_short ? "%t" : "%m", is_short ? "%s" : "%g");
    /* 32 bits of a generic address are enough for the rank only. */
    if (is_short && is_generic)
        fputs("getctarank.u32 %s, %t;\ncvt.u64.u32 %g, %s;\n", piece->body);
    else
        fprintf(piece->body, "ld%s.b64 %%g, [%s];\n", is_generic ? "" : ".shared::cluster",
                is_short ? "%t" : "%m");
    fputs("st.global.b64 [%out], %g;\n", piece->body);
    piece_put_cluster_meeting(piece->body);
}

/* The difference to the address itself, and what lies there. */
static bool make_mapa(struct piece *piece)
{
    bool is_short = machine_has_word(piece->form, "u32");
    bool is_generic = !machine_has_word(piece->form, "shared::cluster");
    static const char *const labels[] = {NULL, "rank in a register", "no such block"};
    if (piece->n == 3) {
        make_mapa_of_next(piece, is_short, is_generic);
        return true;
    }
    if (piece->n > 3)
        return false;
    piece->label = labels[piece->n];
    piece->is_fault = piece->is_alone = piece->n == 2;
    piece_put_pattern(piece->body, ".shared", "%shared");
    fputs(".reg .b64 %g, %m;\n.reg .b32 %s, %t, %rank;\nmov.b32 %rank, 0;\nmov.b64 %m, 0;\n",
          piece->body);
    if (is_generic)
        put_generic(piece->body, PLACE_SHARED, "%g");
    else
        fputs("mov.b64 %g, %shared;\n", piece->body);
    fprintf(piece->body, "cvt.u32.u64 %%s, %%g;\n%s %s, %s, %s;\n", piece->form->text,
            is_short ? "%t" : "%m", is_short ? "%s" : "%g",
            piece->n == 0   ? "0"
            : piece->n == 1 ? "%rank"
                            : "1");
    fputs(is_short     ? "sub.u32 %s, %t, %s;\ncvt.u64.u32 %m, %s;\nst.global.b64 [%out], %m;\n"
          : is_generic ? "ld.b64 %g, [%m];\nst.global.b64 [%out], %g;\n"
                       : "ld.shared::cluster.b64 %g, [%m];\nst.global.b64 [%out], %g;\n",
          piece->body);
    return true;
}

/* ---- cache policies: hints, so only that they are taken is tested ---- */

static bool make_policy(struct piece *piece)
{
    const char *text = piece->form->text;
    if (piece->n > 0)
        return false;
    fputs(".reg .b64 %policy, %old;\n.reg .b32 %size;\nmov.b64 %old, " POLICY
          ";\nmov.b32 %size, 128;\n",
          piece->body);
    const char *operands = strstr(text, "fractional") != NULL ? "0.5"
                           : strstr(text, "range") != NULL    ? "[%in], %size, %size"
                                                              : "%old";
    fprintf(piece->body, "%s %%policy, %s;\nst.global.b64 [%%out], %%d0;\n", text, operands);
    return true;
}

/* On a line of memory that nobody reads any more. */
static bool make_line_hint(struct piece *piece)
{
    if (piece->n > 0)
        return false;
    fprintf(piece->body,
            ".reg .b64 %%line;\nand.b64 %%line, %%in, -128;\n%s [%%line], 128;\n"
            "st.global.b64 [%%out], %%d0;\n",
            piece->form->text);
    return true;
}

/* ---- the table ---- */

const struct template memory_templates[] = {
    {"ld", make_load},
    {"ldu", make_load},
    {"st", make_store},
    {"atom", make_atomic},
    {"red", make_atomic},
    {"membar", make_fence},
    {"fence", make_fence},
    {"prefetch", make_prefetch},
    {"prefetchu", make_prefetch},
    {"cvta", make_cvta},
    {"isspacep", make_isspacep},
    {"getctarank", make_ctarank},
    {"mapa", make_mapa},
    {"cp.async", make_copy},
    {"alloca", make_alloca},
    {"stacksave", make_stack},
    {"stackrestore", make_stack},
    {"createpolicy", make_policy},
    {"applypriority", make_line_hint},
    {"discard", make_line_hint},
    {NULL, NULL},
};
