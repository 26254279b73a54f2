/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands of the right kind and number for any form of the op table.
 */
#include "tests/tools/forms_operands.h"

#include <stdio.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void put_register(char *text, enum ptx_type type, bool may_be_wider, unsigned number)
{
    unsigned bits = ptx_type_bits(type);

    if (type == PTX_TYPE_NONE)
        bits = 32;
    if (bits == 1)
        sprintf(text, "%%p%u", number % 9 + 1);
    else if (bits <= 8 && !may_be_wider)
        sprintf(text, "%%c%u", number % 9 + 1);
    else if (bits <= 16)
        sprintf(text, "%%h%u", number % 9 + 1);
    else if (bits == 32)
        sprintf(text, "%%r%u", number % 39 + 1);
    else if (bits == 64)
        sprintf(text, "%%rd%u", number % 9 + 1);
    else
        sprintf(text, "%%q%u", number % 3 + 1);
}

unsigned forms_vector_len(const struct ptx_form *form)
{
    for (unsigned i = 0; i < form->mod_count; i++) {
        if (form->mods[i] == PTX_MOD_V2)
            return 2;
        if (form->mods[i] == PTX_MOD_V4)
            return 4;
        if (form->mods[i] == PTX_MOD_V8)
            return 8;
    }
    return 1;
}

static void put_vector(char *text, enum ptx_type type, bool may_be_wider, unsigned count)
{
    if (count == 1) {
        put_register(text, type, may_be_wider, 1);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        strcat(text, i ? "," : "{");
        put_register(text + strlen(text), type, may_be_wider, i + 1);
    }
    strcat(text, "}");
}

static bool form_has(const struct ptx_form *form, enum ptx_mod mod)
{
    for (unsigned i = 0; i < form->mod_count; i++)
        if (form->mods[i] == mod)
            return true;
    return false;
}

/* An address of the space that the form names. */
static const char *address_of(const struct ptx_form *form, unsigned index)
{
    bool is_copy = strncmp(form->text, "cp.", 3) == 0;

    if (is_copy)
        return index == 0 ? "[%r1]" : "[%rd2]";
    if (strncmp(form->text, "st.", 3) == 0 &&
        (form_has(form, PTX_MOD_PARAM) || form_has(form, PTX_MOD_PARAM_FUNC)))
        return "[argument]";
    if (form_has(form, PTX_MOD_PARAM) || form_has(form, PTX_MOD_PARAM_ENTRY))
        return form->op != PTX_OP_PREFETCH_TENSORMAP ? "[param]" : "[%rd2]";
    return "[%rd2]";
}

static const char *constant_for(const struct ptx_form *form)
{
    if (strncmp(form->text, "fence", 5) == 0 || strncmp(form->text, "tensormap.c", 11) == 0 ||
        strncmp(form->text, "discard", 7) == 0 || strncmp(form->text, "applypriority", 13) == 0)
        return "128";
    if (strncmp(form->text, "tensormap.r", 11) == 0)
        return "1";
    if (strncmp(form->text, "st.bulk", 7) == 0)
        return "0";
    if (strncmp(form->text, "setmaxnreg", 10) == 0)
        return "64";
    if (strncmp(form->text, "mma.sp", 6) == 0)
        return "0";
    return strncmp(form->text, "cp.", 3) == 0 ? "16" : "8";
}

/* How many coordinates a texture, a surface or a tensor has. */
static void put_coordinates(char *text, const struct ptx_form *form)
{
    static const struct {
        enum ptx_mod mod;
        const char *coordinates;
    } shapes[] = {
        {PTX_MOD_1D, "%r1"},
        {PTX_MOD_2D, "%r1,%r2"},
        {PTX_MOD_3D, "%r1,%r2,%r3"},
        {PTX_MOD_4D, "%r1,%r2,%r3,%r4"},
        {PTX_MOD_A1D, "%r1,%r2"},
        {PTX_MOD_5D, "%r1,%r2,%r3,%r4,%r5"},
        {PTX_MOD_A2D, "%r1,%r2,%r3,%r4"},
        {PTX_MOD_CUBE, "%r1,%r2,%r3,%r4"},
        {PTX_MOD_ACUBE, "%r1,%r2,%r3,%r4"},
        {PTX_MOD_2DMS, "%r1,%r2,%r3,%r4"},
        {PTX_MOD_A2DMS, "%r1,%r2,%r3,%r4"},
    };
    bool is_texture = ptx_op_table[form->op].family == PTX_FAMILY_TEXTURE;

    if (form_has(form, PTX_MOD_TILE_GATHER4) || form_has(form, PTX_MOD_TILE_SCATTER4)) {
        strcpy(text, "[%rd2, {%r1,%r2,%r3,%r4,%r5}]");
        return;
    }
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        bool is_3d = shapes[i].mod == PTX_MOD_3D && is_texture;

        if (form_has(form, shapes[i].mod))
            sprintf(text, "[%s, {%s%s}]",
                    !is_texture                   ? "%rd2"
                    : strncmp(form->text, "s", 1) ? "tex"
                                                  : "surf",
                    shapes[i].coordinates, is_3d ? ",%r4" : "");
    }
}

/* Registers in braces: how many follows from the shape and type of a matrix. */
static void put_registers(char *text, const struct ptx_form *form, enum ptx_type type,
                          unsigned index);

static void put_operand(char *text, const struct ptx_form *form,
                        const struct ptx_operand_rule *rule, unsigned index)
{
    enum ptx_type type = ptx_rule_type(rule, form->types);

    *text = '\0';
    switch (rule->letter) {
    case 'D':
    case 'S':
        put_vector(text, type, rule->may_be_wider, forms_vector_len(form));
        break;
    case 'q':
        put_register(text, type, false, 1);
        strcat(text, "|%p5");
        break;
    case 'm':
        strcat(text, address_of(form, index));
        break;
    case 'M':
        put_coordinates(text, form);
        break;
    case 'n':
        strcat(text, "_");
        break;
    case 'Q':
        put_vector(text, type, rule->may_be_wider, forms_vector_len(form));
        break;
    case 'r':
    case 'R':
        put_registers(text, form, type, index);
        break;
    case 'i':
        strcat(text, constant_for(form));
        break;
    case 'l':
        strcat(text, "L1");
        break;
    case 't':
        strcat(text, "ts");
        break;
    case 'y':
        strcat(text, "%r1.b1");
        break;
    default:
        put_register(text, type, rule->may_be_wider, index + 1);
    }
}

/* ---- registers in braces ---- */

/* m16n8k32 of a matrix instruction; false if it has none. */
static bool shape_of(const struct ptx_form *form, unsigned *m, unsigned *n, unsigned *k)
{
    for (unsigned i = 0; i < form->mod_count; i++)
        if (sscanf(ptx_mod_table[form->mods[i]].name, "m%un%uk%u", m, n, k) == 3)
            return true;
    return false;
}

/* Which matrix an operand is: a, b, c or d. */
static char matrix_of(const struct ptx_form *form, unsigned index)
{
    if (strncmp(form->text, "wmma.load", 9) == 0)
        return form_has(form, PTX_MOD_A) ? 'a' : form_has(form, PTX_MOD_B) ? 'b' : 'c';
    if (strncmp(form->text, "wmma.store", 10) == 0)
        return 'd';
    return "dabc"[index < 4 ? index : 3];
}

static enum ptx_type element_type(const struct ptx_form *form, char matrix)
{
    if (form->type_count < 2)
        return form->types[0];
    if (form->type_count == 2) /* wmma.mma of f16 */
        return matrix == 'd' ? form->types[0] : matrix == 'c' ? form->types[1] : PTX_TYPE_F16;
    return form->types[matrix == 'd' ? 0 : matrix == 'a' ? 1 : matrix == 'b' ? 2 : 3];
}

/* Of a thread of 32, or of 128 of a warpgroup; smaller elements are packed. */
static unsigned fragment_registers(const struct ptx_form *form, unsigned index, unsigned m,
                                   unsigned n, unsigned k)
{
    char matrix = matrix_of(form, index);
    enum ptx_type type = element_type(form, matrix);
    unsigned bits = ptx_type_bits(type);
    bool is_factor = matrix == 'a' || matrix == 'b';
    unsigned threads = strncmp(form->text, "wgmma", 5) == 0 ? 128 : 32;
    unsigned count = (matrix == 'a' ? m * k : matrix == 'b' ? n * k : m * n) / threads;

    if (is_factor && type == PTX_TYPE_F16 && strncmp(form->text, "wmma", 4) == 0)
        return 8;
    if (type != PTX_TYPE_F64 && m == 8 && k == 4)
        return is_factor ? 2 : bits == 16 ? 4 : 8;
    if (matrix == 'a' &&
        (form_has(form, PTX_MOD_SP) || form_has(form, PTX_MOD_SP_ORDERED_METADATA)))
        count /= 2;
    if (ptx_type_is_float(type) && bits < 8 && !strstr(form->text, "mxf4"))
        bits = 8;
    if (bits == 64)
        bits = 32;
    count = count * bits / 32;
    return count ? count : 1;
}

static bool is_wide(const struct ptx_form *form)
{
    return form_has(form, PTX_MOD_IM2COL_W) || form_has(form, PTX_MOD_IM2COL_W_128);
}

/* Differences along the axes of a texture; offsets of im2col are two less than its dimensions. */
static unsigned other_registers(const struct ptx_form *form)
{
    bool is_copy = form_has(form, PTX_MOD_IM2COL);

    if (is_wide(form)) /* halo and offset */
        return 2;
    if (form_has(form, PTX_MOD_1D) || form_has(form, PTX_MOD_A1D))
        return 1;
    if (form_has(form, PTX_MOD_2D) || form_has(form, PTX_MOD_A2D) || form_has(form, PTX_MOD_4D))
        return 2;
    if (form_has(form, PTX_MOD_X1) || form_has(form, PTX_MOD_X2) || form_has(form, PTX_MOD_X4)) {
        unsigned count = form_has(form, PTX_MOD_X1) ? 1 : form_has(form, PTX_MOD_X2) ? 2 : 4;

        return form_has(form, PTX_MOD_M16N16) ? 2 * count : count;
    }
    return is_copy && form_has(form, PTX_MOD_3D) ? 1 : is_copy ? 3 : 4;
}

static void put_registers(char *text, const struct ptx_form *form, enum ptx_type type,
                          unsigned index)
{
    unsigned m, n, k;
    bool has_shape = shape_of(form, &m, &n, &k);
    bool is_matrix = has_shape && index < 4;
    unsigned count = is_matrix ? fragment_registers(form, index, m, n, k) : other_registers(form);
    bool is_half = form_has(form, PTX_MOD_IM2COL) || is_wide(form) || (has_shape && !is_matrix);

    if (is_matrix)
        type = element_type(form, matrix_of(form, index)) == PTX_TYPE_F64 ? PTX_TYPE_B64
                                                                          : PTX_TYPE_B32;
    if (has_shape && !is_matrix)
        count = 2; /* of a scale: byte and thread */
    strcat(text, "{");
    for (unsigned i = 0; i < count; i++) {
        strcat(text, i ? "," : "");
        if (is_half)
            strcat(text, "%h1");
        else
            put_register(text + strlen(text), type, false, i + 1);
    }
    strcat(text, "}");
}

void forms_put_instruction(char text[FORMS_LINE_BYTES], const struct ptx_form *form,
                           const char *spelling)
{
    struct ptx_operand_rule rules[PTX_MAX_RULES];
    unsigned count = ptx_op_operand_rules(form->op, rules);
    bool is_first = true;

    snprintf(text, FORMS_LINE_BYTES, "%s ", spelling);
    for (unsigned i = 0; i < count; i++) {
        char operand[FORMS_OPERAND_BYTES];

        if (rules[i].is_optional)
            continue;
        put_operand(operand, form, &rules[i], i);
        if (!is_first)
            strcat(text, ", ");
        strcat(text, operand);
        is_first = false;
    }
    strcat(text, ";");
}
