/* SPDX-License-Identifier: Apache-2.0
 *
 * The spellings of the op table that the generator draws from: arithmetic, comparison, logic,
 * conversion and video, exact to the bit, whose operands are registers and constants.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/flush.h"
#include "ptx/forms.h"
#include "tests/random/gen.h"

#define MAX_PTX 86 /* of the kernels made */
#define MAX_SM  90

struct row {
    struct gen_form *forms;
    size_t count;
    size_t capacity;
    bool is_float;
};

struct gen_forms {
    struct row *rows;
    size_t count;
    size_t integer_count; /* rows without floating point come first */
};

static bool is_wanted_row(enum ptx_op op)
{
    const struct ptx_op_info *info = &ptx_op_table[op];
    switch (info->family) {
    case PTX_FAMILY_INTEGER:
    case PTX_FAMILY_FLOAT:
    case PTX_FAMILY_COMPARE:
    case PTX_FAMILY_LOGIC:
    case PTX_FAMILY_CONVERT:
    case PTX_FAMILY_VIDEO:
        break;
    default:
        return false;
    }
    /* The carry flag is for gen_carry_chain. */
    bool has_carry = op == PTX_OP_ADDC || op == PTX_OP_SUBC || op == PTX_OP_MADC ||
                     op == PTX_OP_ADD_CC || op == PTX_OP_SUB_CC || op == PTX_OP_MAD_CC;
    /* "mad.f32" without a rounding is for targets that nothing assembles for any more. */
    return info->fidelity == PTX_FIDELITY_EXACT && info->min_ptx <= MAX_PTX &&
           info->min_sm <= MAX_SM && !info->needs_arch && !has_carry && op != PTX_OP_MAD_SM1;
}

/* Destinations and sources of a known type that a pool holds. */
static bool take_operands(const struct ptx_form *from, struct gen_form *form)
{
    struct ptx_operand_rule rules[PTX_MAX_RULES];
    unsigned count = ptx_op_operand_rules(from->op, rules);
    size_t limit = sizeof form->operands / sizeof *form->operands;
    for (unsigned n = 0; n < count; n++) {
        enum ptx_type type = ptx_rule_type(&rules[n], from->types);
        if (rules[n].letter == 'p')
            type = PTX_TYPE_PRED;
        bool is_too_narrow =
            type == PTX_TYPE_NONE ||
            (type != PTX_TYPE_PRED && ptx_type_bits(type) < 16 && !rules[n].may_be_wider);
        if (n == limit || is_too_narrow || !strchr("dqspixXyHBhb", rules[n].letter) ||
            ptx_type_bits(type) > 64)
            return false;
        form->operands[n].letter = rules[n].letter;
        form->operands[n].type = type;
    }
    form->operand_count = count;
    return count > 1;
}

static bool is_float_form(const struct gen_form *form)
{
    for (unsigned n = 0; n < form->operand_count; n++)
        if (ptx_type_is_float(form->operands[n].type))
            return true;
    return false;
}

/* Bits below those of a .tf32 are not defined. */
static bool is_defined_form(const struct ptx_form *from)
{
    for (unsigned n = 0; n < from->type_count; n++)
        if (from->types[n] == PTX_TYPE_TF32)
            return false;
    return from->min_ptx <= MAX_PTX && from->min_sm <= MAX_SM && !from->needs_arch;
}

static bool may_flush(const struct ptx_form *from)
{
    struct ptx_inst inst = {.op = from->op,
                            .type_count = (uint8_t)from->type_count,
                            .mod_count = (uint8_t)from->mod_count,
                            .groups = from->groups};
    memcpy(inst.types, from->types, sizeof inst.types);
    memcpy(inst.mods, from->mods, sizeof inst.mods);
    return ptx_may_flush(&inst);
}

static bool add_form(const struct ptx_form *from, void *data)
{
    struct row *row = data;
    struct gen_form form = {.op = from->op, .may_flush = may_flush(from)};
    if (!is_defined_form(from) || !take_operands(from, &form))
        return true;
    if (row->count == row->capacity) {
        row->capacity = row->capacity ? row->capacity * 2 : 16;
        row->forms = realloc(row->forms, row->capacity * sizeof *row->forms);
    }
    form.text = strdup(from->text);
    if (!row->forms || !form.text) {
        fputs("out of memory\n", stderr);
        exit(2);
    }
    row->is_float |= is_float_form(&form);
    row->forms[row->count++] = form;
    return true;
}

static void add_rows(struct gen_forms *forms, bool is_float)
{
    for (int op = 0; op < PTX_OP_COUNT; op++) {
        struct row row = {0};
        if (!is_wanted_row((enum ptx_op)op))
            continue;
        ptx_op_each_form((enum ptx_op)op, add_form, &row);
        if (row.count && row.is_float == is_float) {
            forms->rows[forms->count++] = row;
            continue;
        }
        for (size_t n = 0; n < row.count; n++)
            free((char *)row.forms[n].text);
        free(row.forms);
    }
}

/* Made once and kept until the process ends. */
const struct gen_forms *gen_forms_get(void)
{
    static struct gen_forms forms;
    if (!forms.rows) {
        forms.rows = calloc(PTX_OP_COUNT, sizeof *forms.rows);
        if (!forms.rows) {
            fputs("out of memory\n", stderr);
            exit(2);
        }
        add_rows(&forms, false);
        forms.integer_count = forms.count;
        add_rows(&forms, true);
    }
    return &forms;
}

static const struct gen_form *draw(const struct gen_forms *forms, struct dice *dice, size_t rows)
{
    const struct row *row = &forms->rows[dice_below(dice, (uint32_t)rows)];
    return &row->forms[dice_below(dice, (uint32_t)row->count)];
}

const struct gen_form *gen_forms_draw(const struct gen_forms *forms, struct dice *dice,
                                      const struct generator_config *config)
{
    size_t rows = config->has_floats ? forms->count : forms->integer_count;
    const struct gen_form *form = draw(forms, dice, rows);
    while (config->is_flushed && !form->may_flush)
        form = draw(forms, dice, rows);
    return form;
}
