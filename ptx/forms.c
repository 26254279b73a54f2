/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of the op table spelled out.
 */
#include "ptx/forms.h"

#include "ptx/syntax.h"

#define MAX_WORDS (PTX_MAX_TYPES + PTX_MAX_MODS)

/* ---- all forms ---- */

struct spelling {
    struct ptx_walker walker;
    enum ptx_op op;
    unsigned count;
    struct ptx_word words[MAX_WORDS];
    bool (*fn)(const struct ptx_form *form, void *data);
    void *data;
};

static bool enter_word(struct ptx_walker *walker, const struct ptx_word *word)
{
    struct spelling *spelling = (struct spelling *)walker;

    if (word->text.ptr[0] == '*' || spelling->count == MAX_WORDS)
        return false;
    spelling->words[spelling->count++] = *word;
    return true;
}

static void leave_word(struct ptx_walker *walker, const struct ptx_word *word)
{
    (void)word;
    ((struct spelling *)walker)->count--;
}

/* Appends what fits. */
static void append(char *text, size_t size_bytes, struct pxr_str part)
{
    size_t used = strlen(text);
    size_t len = part.len < size_bytes - used - 1 ? part.len : size_bytes - used - 1;

    memcpy(text + used, part.ptr, len);
    text[used + len] = '\0';
}

static void add_word(struct ptx_form *form, const struct ptx_word *word)
{
    enum ptx_type type = ptx_type_find(word->text);
    enum ptx_mod mod = type == PTX_TYPE_NONE ? ptx_mod_find(word->text) : PTX_MOD_NONE;

    append(form->text, sizeof(form->text), pxr_str_from("."));
    append(form->text, sizeof(form->text), word->text);
    if (type != PTX_TYPE_NONE && form->type_count < PTX_MAX_TYPES)
        form->types[form->type_count++] = type;
    if (type == PTX_TYPE_NONE && form->mod_count < PTX_MAX_MODS)
        form->mods[form->mod_count++] = mod;
    form->groups |= ptx_mod_table[mod].groups;
    if (word->min_ptx > form->min_ptx)
        form->min_ptx = word->min_ptx;
    if (word->min_sm > form->min_sm)
        form->min_sm = word->min_sm;
    form->needs_arch = form->needs_arch || word->needs_arch;
}

static bool arrive(struct ptx_walker *walker)
{
    const struct spelling *spelling = (const struct spelling *)walker;
    const struct ptx_op_info *row = &ptx_op_table[spelling->op];
    struct ptx_form form = {.op = spelling->op,
                            .min_ptx = row->min_ptx,
                            .min_sm = row->min_sm,
                            .needs_arch = row->needs_arch};

    append(form.text, sizeof(form.text), pxr_str_from(ptx_op_name(spelling->op)));
    for (unsigned i = 0; i < spelling->count; i++)
        add_word(&form, &spelling->words[i]);
    return !spelling->fn(&form, spelling->data);
}

void ptx_op_each_form(enum ptx_op op, bool (*fn)(const struct ptx_form *form, void *data),
                      void *data)
{
    struct spelling spelling = {
        .walker = {false, enter_word, leave_word, arrive}, .op = op, .fn = fn, .data = data};

    ptx_syntax_walk(ptx_op_table[op].syntax, &spelling.walker);
}

/* ---- for reading ---- */

struct printer {
    char *text;
    size_t size_bytes;
};

static void print(const struct printer *printer, const char *part)
{
    append(printer->text, printer->size_bytes, pxr_str_from(part));
}

/* words joined by "|" and a dot before each */
static void print_words(const struct printer *printer, const char *words)
{
    const char *before = ".";

    for (;;) {
        struct ptx_word word = ptx_syntax_next_word(&words);

        if (word.text.len == 0)
            return;
        print(printer, before);
        append(printer->text, printer->size_bytes, word.text);
        before = "|.";
    }
}

static const char *print_parts(const struct printer *printer, const char *at);

/* Prints a part without its successors. */
static void print_part(const struct printer *printer, const char *at)
{
    if (*at == '(') {
        do {
            if (*at == '|')
                print(printer, "|");
            at = print_parts(printer, at + 1);
        } while (*at == '|');
    } else if (*at == '$') {
        const char *name = ++at;

        print_words(printer, ptx_syntax_set(ptx_syntax_next_word(&name).text));
    } else if (*at == '*') {
        print(printer, "…");
    } else {
        print(printer, ".");
        append(printer->text, printer->size_bytes, ptx_syntax_next_word(&at).text);
    }
}

/* Parts up to "|", ")" or the end, which is returned. */
static const char *print_parts(const struct printer *printer, const char *at)
{
    while (*at != '\0' && *at != '|' && *at != ')') {
        const char *start = at + (*at == '.');
        bool is_optional;
        bool is_choice = *start == '(' || *start == '$';

        at = ptx_syntax_part_end(start);
        is_optional = *at == '?';
        at += is_optional;
        print(printer, is_optional ? "{" : is_choice ? "(" : "");
        print_part(printer, start);
        print(printer, is_optional ? "}" : is_choice ? ")" : "");
    }
    return at;
}

void ptx_op_print_syntax(enum ptx_op op, char *text, size_t size_bytes)
{
    const struct printer printer = {text, size_bytes};
    struct pxr_str name = ptx_syntax_name(ptx_op_table[op].syntax);

    *text = '\0';
    append(text, size_bytes, name);
    print_parts(&printer, name.ptr + name.len);
}
