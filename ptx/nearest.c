/* SPDX-License-Identifier: Apache-2.0
 *
 * For messages: the forms that an instruction may have, where the written one is not allowed.
 */
#include "ptx/nearest.h"

#include "ptx/forms.h"
#include "ptx/syntax.h"

/* Bytes of one row in a message. */
#define ROW_BYTES 100
#define MAX_ROWS  2

/* How many of the words the row has in some form; a modifier counts more than a type. */
static int likeness(enum ptx_op op, const struct pxr_str *words, unsigned word_count)
{
    int found = 0;

    for (unsigned i = 0; i < word_count; i++)
        if (ptx_syntax_mentions(ptx_op_table[op].syntax, words[i]))
            found += ptx_type_find(words[i]) == PTX_TYPE_NONE ? 2 : 1;
    return found;
}

bool ptx_op_mentions(struct pxr_str name, struct pxr_str word)
{
    for (unsigned i = 0; i < PTX_OP_COUNT; i++)
        if (pxr_str_is(name, ptx_op_name((enum ptx_op)i)) &&
            ptx_syntax_mentions(ptx_op_table[i].syntax, word))
            return true;
    return false;
}

static void append(char *text, size_t size_bytes, const char *part)
{
    size_t used = strlen(text);
    size_t len = strlen(part);

    if (used + len + 1 > size_bytes)
        len = size_bytes - used - 1;
    memcpy(text + used, part, len);
    text[used + len] = '\0';
}

static void append_row(char *text, size_t size_bytes, enum ptx_op op)
{
    static const char cut[] = "…";
    char row[ROW_BYTES + sizeof(cut)];

    ptx_op_print_syntax(op, row, ROW_BYTES);
    if (strlen(row) == ROW_BYTES - 1)
        append(row, sizeof(row), cut);
    append(text, size_bytes, *text ? ", " : "");
    append(text, size_bytes, row);
}

void ptx_print_nearest(struct pxr_str name, const struct pxr_str *words, unsigned word_count,
                       char *text, size_t size_bytes)
{
    enum ptx_op shown[MAX_ROWS];
    unsigned count = 0;

    *text = '\0';
    for (int wanted = 2 * (int)word_count; wanted >= 0 && count < MAX_ROWS; wanted--) {
        for (unsigned i = 0; i < PTX_OP_COUNT && count < MAX_ROWS; i++) {
            enum ptx_op op = (enum ptx_op)i;

            if (!pxr_str_is(name, ptx_op_name(op)) || likeness(op, words, word_count) != wanted ||
                (count > 0 &&
                 strcmp(ptx_op_table[op].syntax, ptx_op_table[shown[count - 1]].syntax) == 0))
                continue;
            append_row(text, size_bytes, op);
            shown[count++] = op;
        }
    }
}
