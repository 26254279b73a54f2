/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/forms.h"
#include "ptx/syntax.h"

/* How many forms of a row a test looks at: rows of loads have tens of thousands, so of those it
 * takes one in some. */
#define FORM_LIMIT 2000

struct visit {
    unsigned seen;
    unsigned step;
    char **texts;
    unsigned count;
};

static bool count_form(const struct ptx_form *form, void *data)
{
    (void)form;
    (*(unsigned *)data)++;
    return true;
}

static unsigned count_forms(enum ptx_op op)
{
    unsigned count = 0;

    ptx_op_each_form(op, count_form, &count);
    return count;
}

static bool has_any(enum ptx_op op)
{
    return strchr(ptx_op_table[op].syntax, '*') != NULL;
}

Test(forms, every_row_has_forms_of_known_words_unless_it_takes_any)
{
    for (unsigned i = 0; i < PTX_OP_COUNT; i++) {
        enum ptx_op op = (enum ptx_op)i;

        cr_assert_eq(count_forms(op) == 0, has_any(op), "%s", ptx_op_table[i].syntax);
    }
}

static bool check_words(const struct ptx_form *form, void *data)
{
    size_t parts = 0;

    (void)data;
    for (const char *c = form->text; *c; c++)
        parts += *c == '.';
    cr_assert_eq(parts, form->type_count + form->mod_count, "%s", form->text);
    for (unsigned i = 0; i < form->mod_count; i++)
        cr_assert_neq(form->mods[i], PTX_MOD_NONE, "a word of %s is not in mods.def", form->text);
    cr_assert_lt(strlen(form->text), PTX_FORM_BYTES - 1u, "%s", form->text);
    cr_assert_geq(form->min_ptx, ptx_op_table[form->op].min_ptx);
    return true;
}

Test(forms, all_words_are_in_the_tables)
{
    for (unsigned i = 0; i < PTX_OP_COUNT; i++)
        ptx_op_each_form((enum ptx_op)i, check_words, NULL);
}

/* ---- the way back ---- */

static bool choose_back(const struct ptx_form *form, void *data)
{
    struct visit *visit = data;
    struct ptx_operand_rule rules[PTX_MAX_RULES];
    unsigned rule_count = ptx_op_operand_rules(form->op, rules);
    enum ptx_op op;

    if (visit->seen++ % visit->step != 0)
        return true;
    op = ptx_op_choose(pxr_str_from(ptx_op_name(form->op)), form->types, form->type_count,
                       form->mods, form->mod_count, rule_count);
    /* another row with the same spelling is told apart by its operands */
    while (op < form->op && strcmp(ptx_op_table[op].operands, ptx_op_table[form->op].operands))
        op = ptx_op_choose_next(op, form->types, form->type_count, form->mods, form->mod_count);
    cr_assert_eq(op, form->op, "%s of '%s' is taken for '%s'", form->text,
                 ptx_op_table[form->op].syntax,
                 op == PTX_OP_COUNT ? "nothing" : ptx_op_table[op].syntax);
    return true;
}

Test(forms, each_form_is_decoded_to_its_own_row)
{
    for (unsigned i = 0; i < PTX_OP_COUNT; i++) {
        struct visit visit = {.step = count_forms((enum ptx_op)i) / FORM_LIMIT + 1};

        ptx_op_each_form((enum ptx_op)i, choose_back, &visit);
    }
}

static bool keep_text(const struct ptx_form *form, void *data)
{
    struct visit *visit = data;

    visit->texts[visit->count] = strdup(form->text);
    return ++visit->count < FORM_LIMIT;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

Test(forms, no_form_comes_twice)
{
    char **texts = calloc(FORM_LIMIT, sizeof(*texts));

    for (unsigned i = 0; i < PTX_OP_COUNT; i++) {
        struct visit visit = {.texts = texts};

        ptx_op_each_form((enum ptx_op)i, keep_text, &visit);
        qsort(texts, visit.count, sizeof(*texts), compare_texts);
        for (unsigned k = 0; k < visit.count; k++) {
            cr_assert(k == 0 || strcmp(texts[k - 1], texts[k]) != 0, "%s", texts[k]);
        }
        for (unsigned k = 0; k < visit.count; k++)
            free(texts[k]);
    }
    free(texts);
}

/* ---- single rows ---- */

static bool join(const struct ptx_form *form, void *data)
{
    strcat(data, form->text);
    strcat(data, " ");
    return strlen(data) < 400;
}

Test(forms, options_and_choices_multiply)
{
    char all[600] = "";

    ptx_op_each_form(PTX_OP_FMA_BF16, join, all);
    cr_assert_str_eq(all, "fma.rn.relu.bf16 fma.rn.relu.bf16x2 fma.rn.bf16 fma.rn.bf16x2 ");
    *all = '\0';
    ptx_op_each_form(PTX_OP_MIN_BF16, join, all);
    cr_assert_not_null(strstr(all, "min.NaN.xorsign.abs.bf16 "));
    cr_assert_null(strstr(all, "xorsign.bf16"));
}

static bool find_form(const struct ptx_form *form, void *data)
{
    struct ptx_form *wanted = data;

    if (strcmp(form->text, wanted->text) != 0)
        return true;
    *wanted = *form;
    return false;
}

Test(forms, a_word_can_need_more_than_its_row)
{
    struct ptx_form form = {.text = "min.NaN.f32"};

    ptx_op_each_form(PTX_OP_MIN_FLOAT, find_form, &form);
    cr_assert_eq(form.min_ptx, 70);
    cr_assert_eq(form.min_sm, 80);
    form = (struct ptx_form){.text = "min.ftz.f32"};
    ptx_op_each_form(PTX_OP_MIN_FLOAT, find_form, &form);
    cr_assert_eq(form.op, PTX_OP_MIN_FLOAT);
    cr_assert_eq(form.min_ptx, 10);
}

Test(forms, syntax_is_printed_in_full)
{
    char text[200];

    ptx_op_print_syntax(PTX_OP_FMA, text, sizeof(text));
    cr_assert_str_eq(text, "fma(.rn|.rz|.rm|.rp){.ftz}{.sat}.f32");
    ptx_op_print_syntax(PTX_OP_MIN_BF16, text, sizeof(text));
    cr_assert_str_eq(text, "min{.NaN}{.xorsign.abs}(.bf16|.bf16x2)");
    ptx_op_print_syntax(PTX_OP_FMA, text, 8);
    cr_assert_str_eq(text, "fma(.rn");
}

/* ---- operands ---- */

Test(forms, operand_rules_are_complete)
{
    for (unsigned i = 0; i < PTX_OP_COUNT; i++) {
        struct ptx_operand_rule rules[PTX_MAX_RULES];
        unsigned count = ptx_op_operand_rules((enum ptx_op)i, rules);
        size_t words = *ptx_op_table[i].operands != '\0';

        for (const char *c = ptx_op_table[i].operands; *c; c++)
            words += *c == ' ';
        cr_assert_eq(count, words, "%s", ptx_op_table[i].operands);
        for (unsigned k = 0; k < count; k++) {
            cr_assert_not_null(strchr("dDuqQnsSvprRimMltxXyhHbB*", rules[k].letter), "%s",
                               ptx_op_table[i].operands);
            cr_assert(rules[k].type_code == '\0' || strchr("01234wt", rules[k].type_code), "%s",
                      ptx_op_table[i].operands);
            cr_assert_eq(rules[k].type != PTX_TYPE_NONE, rules[k].type_code == 't');
        }
    }
}

static bool check_rule_types(const struct ptx_form *form, void *data)
{
    struct ptx_operand_rule rules[PTX_MAX_RULES];
    unsigned count = ptx_op_operand_rules(form->op, rules);

    (void)data;
    for (unsigned i = 0; i < count; i++) {
        enum ptx_type type = ptx_rule_type(&rules[i], form->types);

        cr_assert_eq(type == PTX_TYPE_NONE, rules[i].type_code == '\0', "%s", form->text);
        cr_assert(rules[i].type_code < '0' || rules[i].type_code > '4' ||
                      (unsigned)(rules[i].type_code - '0') < form->type_count,
                  "%s", form->text);
    }
    return true;
}

Test(forms, every_typed_operand_has_a_type)
{
    for (unsigned i = 0; i < PTX_OP_COUNT; i++)
        ptx_op_each_form((enum ptx_op)i, check_rule_types, NULL);
}

Test(forms, operand_counts_follow_the_rules)
{
    static const struct {
        enum ptx_op op;
        unsigned least;
        unsigned most;
    } cases[] = {{PTX_OP_BAR_RED, 3, 4}, {PTX_OP_RET, 0, 0}, {PTX_OP_LOP3_BOOL, 6, 6}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ptx_operand_rule rules[PTX_MAX_RULES];
        unsigned count = ptx_op_operand_rules(cases[i].op, rules);

        for (unsigned n = 0; n < 9; n++)
            cr_assert_eq(ptx_rules_take_count(rules, count, n),
                         n >= cases[i].least && n <= cases[i].most);
    }
}
