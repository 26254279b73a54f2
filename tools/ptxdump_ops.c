/* SPDX-License-Identifier: Apache-2.0
 *
 * ptxdump ops: the table of PTX instructions, as text or as the page docs/instructions.md.
 */
#include "tools/ptxdump_ops.h"

#include <stdio.h>
#include <string.h>

#include "ptx/ops.h"

#define CELL_BYTES 256

/* Appends to a cell; what does not fit is cut. */
static void append(char cell[CELL_BYTES], const char *before, const char *text)
{
    size_t used = strlen(cell);
    snprintf(cell + used, CELL_BYTES - used, "%s%s", before, text);
}

/* "." and the first modifier of the group, and "…" if it has others. */
static void append_group(char cell[CELL_BYTES], int group)
{
    int count = 0;
    for (int mod = PTX_MOD_NONE + 1; mod < PTX_MOD_OTHER; mod++) {
        if (!(ptx_mod_table[mod].groups & PTX_GROUP_BIT(group)))
            continue;
        if (count++ == 0)
            append(cell, ".", ptx_mod_table[mod].name);
    }
    if (count > 1)
        append(cell, "", "…");
}

static void describe_form(const struct ptx_op_info *op, char cell[CELL_BYTES])
{
    snprintf(cell, CELL_BYTES, "%s", op->name);
    for (int group = 0; group < PTX_GROUP_ANY_MOD; group++)
        if (op->required & PTX_GROUP_BIT(group))
            append_group(cell, group);
}

static void append_types(char cell[CELL_BYTES], uint64_t types)
{
    for (int type = PTX_TYPE_NONE + 1; type < PTX_TYPE_COUNT; type++)
        if (types & (UINT64_C(1) << type))
            append(cell, *cell ? " " : "", ptx_type_table[type].name);
}

static void describe_types(const struct ptx_op_info *op, char cell[CELL_BYTES])
{
    *cell = '\0';
    append_types(cell, op->types0);
    if (op->types1) {
        append(cell, "", " /");
        append_types(cell, op->types1);
    }
}

static const char *fidelity_name(enum ptx_fidelity fidelity)
{
    static const char *const names[] = {
        [PTX_FIDELITY_EXACT] = "exact",
        [PTX_FIDELITY_ULP] = "ulp",
        [PTX_FIDELITY_APPROX] = "approx",
        [PTX_FIDELITY_UNSUPPORTED] = "unsupported",
    };
    return names[fidelity];
}

static void print_row(const struct ptx_op_info *op, bool is_markdown)
{
    char form[CELL_BYTES];
    char types[CELL_BYTES];
    describe_form(op, form);
    describe_types(op, types);
    printf(is_markdown ? "| `%s` | %s | %u.%u | sm_%u | %s |\n" : "%-32s %-60s %u.%u sm_%-4u %s\n",
           form, types, op->min_ptx / 10, op->min_ptx % 10, op->min_sm,
           fidelity_name(op->fidelity));
}

static void print_family(enum ptx_family family, bool is_markdown)
{
    if (is_markdown)
        printf("\n## %s\n\n| form | types | PTX | target | fidelity |\n|---|---|---|---|---|\n",
               ptx_family_names[family]);
    else
        printf("%s:\n", ptx_family_names[family]);
    for (int op = 0; op < PTX_OP_COUNT; op++)
        if (ptx_op_table[op].family == family)
            print_row(&ptx_op_table[op], is_markdown);
}

void ptxdump_ops(bool is_markdown)
{
    if (is_markdown)
        fputs("# Instructions\n\n"
              "Made by `ptxdump ops --markdown` from `ptx/ops.def`. Each row is a form of an "
              "instruction; `…` stands for the\nother modifiers of the same kind. Fidelity: "
              "`exact` is bit for bit what the PTX manual defines, `ulp` and `approx`\nare "
              "within its bounds, `unsupported` is parsed, and refused by name when a kernel "
              "uses it.\n",
              stdout);
    for (int family = 0; family < PTX_FAMILY_COUNT; family++)
        print_family((enum ptx_family)family, is_markdown);
}
