/* SPDX-License-Identifier: Apache-2.0
 *
 * ptxdump ops: the table of PTX instructions, as text or as the page docs/instructions.md.
 */
#include "tools/ptxdump_ops.h"

#include <stdio.h>

#include "ptx/forms.h"

#define CELL_BYTES 2048

/* A bar in a cell of a Markdown table is written with a backslash. */
static void print_escaped(const char *text)
{
    for (; *text; text++) {
        if (*text == '|')
            putchar('\\');
        putchar(*text);
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

static void print_row(enum ptx_op op, bool is_markdown)
{
    const struct ptx_op_info *row = &ptx_op_table[op];
    char syntax[CELL_BYTES];
    ptx_op_print_syntax(op, syntax, sizeof(syntax));
    if (is_markdown) {
        fputs("| `", stdout);
        print_escaped(syntax);
        printf("` | %u.%u | sm_%u | %s |\n", row->min_ptx / 10, row->min_ptx % 10, row->min_sm,
               fidelity_name(row->fidelity));
    } else {
        printf("%-11s %u.%u sm_%-4u %s\n", fidelity_name(row->fidelity), row->min_ptx / 10,
               row->min_ptx % 10, row->min_sm, syntax);
    }
}

static void print_family(enum ptx_family family, bool is_markdown)
{
    if (is_markdown)
        printf("\n## %s\n\n| form | PTX | target | fidelity |\n|---|---|---|---|\n",
               ptx_family_names[family]);
    else
        printf("%s:\n", ptx_family_names[family]);
    for (int op = 0; op < PTX_OP_COUNT; op++)
        if (ptx_op_table[op].family == family)
            print_row((enum ptx_op)op, is_markdown);
}

void ptxdump_ops(bool is_markdown)
{
    if (is_markdown)
        fputs("# Instructions\n\n"
              "Made by `ptxdump ops --markdown` from `ptx/ops.def`. What is in braces may be left "
              "out; of what is in\nparentheses one is chosen. PTX version and target are the "
              "lowest of the row; some of its words need more.\nFidelity: `exact` is bit for "
              "bit what the PTX manual defines, `ulp` and `approx` are within its bounds,\n"
              "`unsupported` is parsed, and refused by name when a kernel uses it.\n",
              stdout);
    for (int family = 0; family < PTX_FAMILY_COUNT; family++)
        print_family((enum ptx_family)family, is_markdown);
}
