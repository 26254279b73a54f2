/* SPDX-License-Identifier: Apache-2.0
 *
 * ptxdump ops: the table of PTX instructions, with what proves each row.
 */
#include "tools/ptxdump_ops.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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

/* Tests that run the row, by name: "conformance random"; empty if there is none. */
static const char *proved_by(enum ptx_op op)
{
    static const char *const proofs[PTX_OP_COUNT] = {
#define PROVED(ID, tests) [PTX_OP_##ID] = tests,
#include "tools/proved.def"
#undef PROVED
    };
    return proofs[op] ? proofs[op] : "";
}

static void print_text_row(enum ptx_op op, const char *syntax)
{
    const struct ptx_op_info *row = &ptx_op_table[op];
    printf("%-11s %u.%u sm_%-4u %s\n", fidelity_name(row->fidelity), row->min_ptx / 10,
           row->min_ptx % 10, row->min_sm, syntax);
}

static void print_markdown_row(enum ptx_op op, const char *syntax)
{
    const struct ptx_op_info *row = &ptx_op_table[op];
    fputs("| `", stdout);
    print_escaped(syntax);
    printf("` | %u.%u | sm_%u | %s | %s |\n", row->min_ptx / 10, row->min_ptx % 10, row->min_sm,
           fidelity_name(row->fidelity), proved_by(op));
}

static bool mark_types(const struct ptx_form *form, void *data)
{
    bool *used = data;
    for (unsigned i = 0; i < form->type_count; i++)
        used[form->types[i]] = true;
    return true;
}

/* Words as the elements of an array. */
static void print_json_words(const char *words)
{
    const char *separator = "";
    while (*words) {
        int len = (int)strcspn(words, " ");
        printf("%s\"%.*s\"", separator, len, words);
        separator = ", ";
        words += len;
        words += strspn(words, " ");
    }
}

static void print_json_row(enum ptx_op op, const char *syntax)
{
    const struct ptx_op_info *row = &ptx_op_table[op];
    bool used[PTX_TYPE_COUNT] = {0};
    const char *separator = "";
    printf("  {\"name\": \"%s\", \"form\": \"%s\", \"types\": [", ptx_op_name(op), syntax);
    ptx_op_each_form(op, mark_types, used);
    for (int type = PTX_TYPE_NONE + 1; type < PTX_TYPE_COUNT; type++) {
        if (!used[type])
            continue;
        printf("%s\"%s\"", separator, ptx_type_table[type].name);
        separator = ", ";
    }
    printf("], \"ptx\": \"%u.%u\", \"target\": \"sm_%u\", \"family\": \"%s\", "
           "\"fidelity\": \"%s\", \"proved_by\": [",
           row->min_ptx / 10, row->min_ptx % 10, row->min_sm, ptx_family_names[row->family],
           fidelity_name(row->fidelity));
    print_json_words(proved_by(op));
    fputs("]}", stdout);
}

static void print_row(enum ptx_op op, enum ptxdump_format format)
{
    char syntax[CELL_BYTES];
    ptx_op_print_syntax(op, syntax, sizeof(syntax));
    if (format == PTXDUMP_JSON)
        print_json_row(op, syntax);
    else if (format == PTXDUMP_MARKDOWN)
        print_markdown_row(op, syntax);
    else
        print_text_row(op, syntax);
}

static void print_family(enum ptx_family family, enum ptxdump_format format)
{
    if (format == PTXDUMP_MARKDOWN)
        printf("\n## %s\n\n| form | PTX | target | fidelity | proved by |\n|---|---|---|---|---|\n",
               ptx_family_names[family]);
    else
        printf("%s:\n", ptx_family_names[family]);
    for (int op = 0; op < PTX_OP_COUNT; op++)
        if (ptx_op_table[op].family == family)
            print_row((enum ptx_op)op, format);
}

static void print_json(void)
{
    fputs("{\"version\": 1, \"ops\": [\n", stdout);
    for (int op = 0; op < PTX_OP_COUNT; op++) {
        print_row((enum ptx_op)op, PTXDUMP_JSON);
        fputs(op + 1 < PTX_OP_COUNT ? ",\n" : "\n", stdout);
    }
    fputs("]}\n", stdout);
}

static const char MARKDOWN_HEAD[] =
    "# Instructions\n\n"
    "Made by `ptxdump ops --markdown` from `ptx/ops.def`. What is in braces may be left out; of "
    "what "
    "is in\nparentheses one is chosen. PTX version and target are the lowest of the row; some of "
    "its "
    "words need more.\n\nFidelity: `exact` is bit for bit what the PTX manual defines (and what a "
    "device does where it departs from it,\n[hardware.md](hardware.md)); `ulp` and `approx` are "
    "within the manual's bounds; `unsupported` is parsed, and refused by\nname when a kernel uses "
    "it.\n\nProved by: `conformance`, every form against the oracle; `golden`, against results of "
    "a "
    "GPU; `random`, random kernels;\n`shapes`, kernels with expected memory (`tests/README.md`).\n";

/* The number of rows of each family with each fidelity. */
static void print_summary(void)
{
    fputs("\n| family | exact | ulp | approx | unsupported |\n|---|---|---|---|---|\n", stdout);
    for (int family = 0; family < PTX_FAMILY_COUNT; family++) {
        unsigned counts[PTX_FIDELITY_UNSUPPORTED + 1] = {0};
        for (int op = 0; op < PTX_OP_COUNT; op++)
            if (ptx_op_table[op].family == (enum ptx_family)family)
                counts[ptx_op_table[op].fidelity]++;
        printf("| %s | %u | %u | %u | %u |\n", ptx_family_names[family], counts[PTX_FIDELITY_EXACT],
               counts[PTX_FIDELITY_ULP], counts[PTX_FIDELITY_APPROX],
               counts[PTX_FIDELITY_UNSUPPORTED]);
    }
}

void ptxdump_ops(enum ptxdump_format format)
{
    if (format == PTXDUMP_JSON) {
        print_json();
        return;
    }
    if (format == PTXDUMP_MARKDOWN) {
        fputs(MARKDOWN_HEAD, stdout);
        print_summary();
    }
    for (int family = 0; family < PTX_FAMILY_COUNT; family++)
        print_family((enum ptx_family)family, format);
}
