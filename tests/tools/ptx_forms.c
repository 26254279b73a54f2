/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares the op table with NVIDIA's assembler: forms of every row must be accepted by ptxas at
 * the version and target that the row names, and forms with one word changed, left out or added
 * must be accepted by both or refused by both.
 *
 * usage: ptx_forms [-n FORMS_PER_ROW] [-m MUTANTS_PER_ROW] [-s SEED] [-r NAME] [-b] PTXAS DIRECTORY
 * DIRECTORY takes the modules. -r: rows of this name only. -b: also that ptxas refuses each form in
 * a module of the version or target before. Exit status 1 if there are differences, 77 without a
 * ptxas that is new enough.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ptx/forms.h"
#include "tests/tools/forms_operands.h"

#define EXIT_SKIPPED 77
#define MAX_LINES    400
#define HEAD_LINES   15
#define MAX_WORDS    2000
#define MAX_ATTEMPTS 200

enum purpose { IS_ACCEPTED, AGREES, IS_REFUSED };

struct line {
    char text[FORMS_LINE_BYTES];
    enum ptx_op op;
    enum purpose purpose;
    bool is_ours;    /* the table has it */
    bool is_refused; /* by ptxas */
    char message[200];
};

struct batch {
    unsigned ptx;
    unsigned sm;
    bool is_arch;
    unsigned count;
    struct line *lines;
};

static struct {
    const char *ptxas;
    const char *directory;
    unsigned forms_per_row;
    unsigned mutants_per_row;
    const char *name;
    bool checks_bounds;
    unsigned checked;
    unsigned known;
    unsigned differences;
    uint32_t random;
} tool = {.forms_per_row = 40, .mutants_per_row = 20, .random = 1};

static uint32_t next_random(void)
{
    tool.random = tool.random * 1664525 + 1013904223;
    return tool.random >> 8;
}

/* ---- what ptxas knows: targets, with the PTX version each needs ---- */

static const struct {
    unsigned sm;
    unsigned ptx;
} targets[] = {{75, 63}, {80, 70},  {86, 71},  {87, 74},  {88, 90}, {89, 78},
               {90, 78}, {100, 86}, {103, 88}, {120, 87}, {121, 88}};

static const unsigned versions[] = {63, 64, 65, 70, 71, 72, 73, 74, 75, 76, 77,
                                    78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static size_t target_for(unsigned sm)
{
    for (size_t i = 0; i < COUNT_OF(targets); i++)
        if (targets[i].sm >= sm)
            return i;
    return COUNT_OF(targets) - 1;
}

/* ---- differences that are known ---- */

/* Instructions of devices for which this ptxas no longer makes code, and words that it takes, or
 * asks more for, than the manual says. */
static const struct {
    enum ptx_op op;   /* any if PTX_OP_COUNT */
    const char *part; /* of the spelling */
} known[] = {
    {PTX_OP_MAD_SM1, ""},
    {PTX_OP_SHFL_LEGACY, ""},
    {PTX_OP_VOTE_LEGACY, ""},
    {PTX_OP_VOTE_LEGACY_BALLOT, ""},
    {PTX_OP_COUNT, "fma.r"}, /* with .oob, other roundings */
    {PTX_OP_COUNT, "ftz.f64"},
    {PTX_OP_COUNT, "ftz.r"}, /* of .f64 */
    {PTX_OP_COUNT, "tensormap::generic"},
    {PTX_OP_COUNT, "fma.oob"},
    {PTX_OP_COUNT, "tex.grad"}, /* whole numbers as coordinates */
    {PTX_OP_COUNT, "tex.base.2dms"},
    {PTX_OP_COUNT, "wgmma"}, /* of sm_90a alone */
    {PTX_OP_COUNT, "testp.f"},
    {PTX_OP_COUNT, "prefetch.L2"},
    {PTX_OP_COUNT, "cvt.f16.bf16"},
    {PTX_OP_COUNT, "sync_restrict"},
    {PTX_OP_COUNT, "multimem.st"},
    {PTX_OP_COUNT, "multimem.red"},
    {PTX_OP_COUNT, "wmma"},
    {PTX_OP_COUNT, "cta_group"},
    {PTX_OP_COUNT, "tensormap.cp"},
    {PTX_OP_COUNT, "st.async"},
    {PTX_OP_COUNT, "L2::evict"}, /* .lu or .cs with it */
    {PTX_OP_COUNT, ".v8."},      /* of small elements */
    {PTX_OP_COUNT, ".b128"},     /* PTX 8.4 with .sys */
    {PTX_OP_CVT_FP8, ""},        /* PTX 7.8 on sm_90, 8.1 on sm_89 */
    {PTX_OP_CVT_FP8_F16, ""},
    {PTX_OP_CVT_F16_FP8, ""},
};

static bool is_known(enum ptx_op op, const char *text)
{
    for (size_t i = 0; i < COUNT_OF(known); i++)
        if ((known[i].op == op || known[i].op == PTX_OP_COUNT) && strstr(text, known[i].part))
            return true;
    return false;
}

/* ---- modules and verdicts ---- */

static void put_module(const struct batch *batch, FILE *file)
{
    fprintf(file, ".version %u.%u\n.target sm_%u%s\n.address_size 64\n", batch->ptx / 10,
            batch->ptx % 10, batch->sm, batch->is_arch ? "a" : "");
    fputs(".global .align 16 .b8 gvar[64];\n.shared .align 16 .b8 svar[64];\n"
          ".global .texref tex; .global .surfref surf;\n"
          ".func device_function() { ret; }\n"
          ".entry k(.param .u64 param)\n{\n"
          ".reg .pred %p<10>; .reg .b8 %c<10>; .reg .b16 %h<10>; .reg .b32 %r<40>;\n"
          ".param .align 16 .b8 argument[64]; .reg .b64 %rd<10>; .reg .b128 %q<4>; .reg .f32 "
          "%f<10>; .reg .f64 %fd<10>;\n"
          "L1:\n",
          file);
    fputs("ts: .branchtargets L1;\n\n", file);
    for (unsigned i = 0; i < batch->count; i++)
        fprintf(file, "%s\n", batch->lines[i].is_refused ? "" : batch->lines[i].text);
    fputs("ret;\n}\n", file);
}

/* "…, line 17; error : …" */
static bool note_error(struct batch *batch, const char *report)
{
    const char *at = strstr(report, ", line ");
    const char *message = at ? strstr(at, "; ") : NULL;
    long number = at ? strtol(at + 7, NULL, 10) - HEAD_LINES : -1;

    if (!message || (strncmp(message, "; error", 7) != 0 && strncmp(message, "; fatal", 7) != 0))
        return false;
    if (number < 0 || number >= (long)batch->count)
        return false;
    batch->lines[number].is_refused = true;
    snprintf(batch->lines[number].message, sizeof(batch->lines[number].message), "%s",
             message + 2 + strcspn(message + 2, ":") + 1);
    return true;
}

/* Some errors hide others, so lines that are refused are taken out until nothing is refused. */
static void ask(struct batch *batch)
{
    char path[512];
    char command[1400];

    snprintf(path, sizeof(path), "%s/forms_%u_%u.ptx", tool.directory, batch->ptx, batch->sm);
    for (unsigned attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        FILE *file = fopen(path, "w");
        char report[1000];
        bool is_refused = false;

        if (!file)
            return;
        put_module(batch, file);
        fclose(file);
        snprintf(command, sizeof(command), "'%s' -O0 -arch=sm_%u%s -o /dev/null '%s' 2>&1",
                 tool.ptxas, batch->sm, batch->is_arch ? "a" : "", path);
        file = popen(command, "r");
        while (file && fgets(report, sizeof(report), file)) {
            report[strcspn(report, "\n")] = '\0';
            if (note_error(batch, report))
                is_refused = true;
            else if (strstr(report, "fatal") && !strstr(report, "aborted due to") &&
                     !strstr(report, " 32-Bit "))
                printf("%s: %s\n", path, report);
        }
        if (file)
            pclose(file);
        if (!is_refused)
            return;
    }
}

static void judge(struct batch *batch)
{
    if (batch->count == 0)
        return;
    ask(batch);
    for (unsigned i = 0; i < batch->count; i++) {
        const struct line *line = &batch->lines[i];
        bool wants_refusal = line->purpose == IS_REFUSED || !line->is_ours;

        tool.checked++;
        if (line->is_refused == wants_refusal)
            continue;
        if (is_known(line->op, line->text)) {
            tool.known++;
            continue;
        }
        tool.differences++;
        printf("%u.%u sm_%u%s %s: %s%s%s\n", batch->ptx / 10, batch->ptx % 10, batch->sm,
               batch->is_arch ? "a" : "",
               line->is_refused              ? "ptxas refuses"
               : line->purpose == IS_REFUSED ? "ptxas takes already"
                                             : "we refuse",
               line->text, line->is_refused ? "  --" : "", line->is_refused ? line->message : "");
    }
    batch->count = 0;
}

static void add_line(struct batch *batch, enum ptx_op op, const char *text, enum purpose purpose,
                     bool is_ours)
{
    struct line *line;

    if (batch->count == MAX_LINES)
        judge(batch);
    line = &batch->lines[batch->count++];
    *line = (struct line){.op = op, .purpose = purpose, .is_ours = is_ours};
    snprintf(line->text, sizeof(line->text), "%s", text);
}

/* ---- batches by version and target ---- */

static struct batch batches[200];
static unsigned batch_count;

static struct batch *batch_for(unsigned ptx, unsigned sm, bool is_arch)
{
    for (unsigned i = 0; i < batch_count; i++)
        if (batches[i].ptx == ptx && batches[i].sm == sm && batches[i].is_arch == is_arch)
            return &batches[i];
    if (batch_count == COUNT_OF(batches)) {
        fprintf(stderr, "ptx_forms: too many versions and targets\n");
        exit(2);
    }
    batches[batch_count] = (struct batch){ptx, sm, is_arch, 0, NULL};
    batches[batch_count].lines = calloc(MAX_LINES, sizeof(struct line));
    return &batches[batch_count++];
}

static void add_bounds(const struct ptx_form *form, const char *text)
{
    size_t at = target_for(form->min_sm);
    unsigned before = 0;

    for (size_t i = 0; i < COUNT_OF(versions); i++)
        if (versions[i] < form->min_ptx)
            before = versions[i];
    if (before && targets[at].ptx <= before)
        add_line(batch_for(before, targets[at].sm, form->needs_arch), form->op, text, IS_REFUSED,
                 false);
    if (at > 0 && targets[at].sm == form->min_sm)
        add_line(batch_for(90, targets[at - 1].sm, false), form->op, text, IS_REFUSED, false);
    if (form->needs_arch)
        add_line(batch_for(90, targets[at].sm, false), form->op, text, IS_REFUSED, false);
}

/* ---- words to change forms with ---- */

static char words[MAX_WORDS][40];
static unsigned word_count;

static bool collect_words(const struct ptx_form *form, void *data)
{
    char text[PTX_FORM_BYTES];
    char *rest = text;

    (void)data;
    snprintf(text, sizeof(text), "%s", form->text);
    strsep(&rest, ".");
    for (char *word = strsep(&rest, "."); word; word = strsep(&rest, ".")) {
        unsigned i = 0;

        while (i < word_count && strcmp(words[i], word) != 0)
            i++;
        if (i == word_count && word_count < MAX_WORDS)
            snprintf(words[word_count++], sizeof(words[0]), "%s", word);
    }
    return true;
}

/* The form with one word changed, left out or added. */
static void mutate(const struct ptx_form *form, char text[PTX_FORM_BYTES])
{
    char copy[PTX_FORM_BYTES];
    char *rest = copy;
    unsigned count = form->type_count + form->mod_count;
    unsigned where = count ? next_random() % count : 0;
    unsigned how = next_random() % 4; /* 0: out, 1: in, else change */
    const char *word = words[next_random() % (word_count ? word_count : 1)];

    snprintf(copy, sizeof(copy), "%s", form->text);
    snprintf(text, PTX_FORM_BYTES, "%s", strsep(&rest, "."));
    for (unsigned i = 0; i < count; i++) {
        const char *own = strsep(&rest, ".");

        if (i == where && how == 1)
            strcat(strcat(text, "."), word);
        if (i == where && how == 0)
            continue;
        strcat(strcat(text, "."), i == where && how > 1 ? word : own);
    }
}

/* ptxas takes some modifiers twice. */
static bool has_repetition(const char *text)
{
    for (const char *dot = strchr(text, '.'); dot; dot = strchr(dot + 1, '.')) {
        size_t len = strcspn(dot + 1, ".") + 1;

        for (const char *other = strchr(dot + 1, '.'); other; other = strchr(other + 1, '.'))
            if (strcspn(other + 1, ".") + 1 == len && strncmp(dot, other, len) == 0)
                return true;
    }
    return false;
}

/* The row of a spelling; fills in the form. */
static bool decode(const char *text, struct ptx_form *form)
{
    char copy[PTX_FORM_BYTES];
    char *rest = copy;
    char *name;

    *form = (struct ptx_form){0};
    snprintf(form->text, sizeof(form->text), "%s", text);
    snprintf(copy, sizeof(copy), "%s", text);
    name = strsep(&rest, ".");
    for (char *word = strsep(&rest, "."); word; word = strsep(&rest, ".")) {
        enum ptx_type type = ptx_type_find(pxr_str_from(word));

        if (type != PTX_TYPE_NONE && form->type_count == PTX_MAX_TYPES)
            return false;
        if (type != PTX_TYPE_NONE)
            form->types[form->type_count++] = type;
        else
            form->mods[form->mod_count++] = ptx_mod_find(pxr_str_from(word));
    }
    form->op = ptx_op_choose(pxr_str_from(name), form->types, form->type_count, form->mods,
                             form->mod_count, PTX_ANY_OPERAND_COUNT);
    return form->op != PTX_OP_COUNT;
}

/* ---- rows ---- */

struct visit {
    unsigned seen;
    unsigned step;
    unsigned phase;
};

static bool count_form(const struct ptx_form *form, void *data)
{
    (void)form;
    (*(unsigned *)data)++;
    return true;
}

static bool check_form(const struct ptx_form *form, void *data)
{
    struct visit *visit = data;
    size_t at = target_for(form->min_sm);
    unsigned ptx = form->min_ptx > targets[at].ptx ? form->min_ptx : targets[at].ptx;
    char text[FORMS_LINE_BYTES];

    if (visit->seen++ % visit->step != visit->phase)
        return true;
    visit->phase = next_random() % visit->step;
    forms_put_instruction(text, form, form->text);
    add_line(batch_for(ptx, targets[at].sm, form->needs_arch), form->op, text, IS_ACCEPTED, true);
    if (tool.checks_bounds)
        add_bounds(form, text);
    return true;
}

struct search {
    const char *text;
    bool is_found;
};

static bool compare_form(const struct ptx_form *form, void *data)
{
    struct search *search = data;

    search->is_found = strcmp(form->text, search->text) == 0;
    return !search->is_found;
}

/* ptxas does not take the words of all instructions in any order. */
static bool is_canonical(const struct ptx_form *form)
{
    struct search search = {form->text, false};

    ptx_op_each_form(form->op, compare_form, &search);
    return search.is_found;
}

static bool check_mutant(const struct ptx_form *form, void *data)
{
    struct visit *visit = data;
    char spelling[PTX_FORM_BYTES];
    char text[FORMS_LINE_BYTES];
    struct ptx_form mutant;
    bool is_ours;

    if (visit->seen++ % visit->step != visit->phase)
        return true;
    visit->phase = next_random() % visit->step;
    mutate(form, spelling);
    is_ours = decode(spelling, &mutant);
    mutant.min_sm = form->min_sm;
    if (is_ours && !is_canonical(&mutant))
        return true;
    if (!is_ours && has_repetition(spelling))
        return true;
    if (is_ours && (strchr(ptx_op_table[mutant.op].syntax, '*') ||
                    strcmp(ptx_op_table[mutant.op].operands, "*") == 0))
        return true;
    if (!is_ours) { /* the operands that it would have without the change */
        mutant.op = form->op;
        memcpy(mutant.types, form->types, sizeof(mutant.types));
        if (forms_vector_len(&mutant) != forms_vector_len(form))
            mutant = *form;
    }
    forms_put_instruction(text, &mutant, spelling);
    add_line(batch_for(90, mutant.min_sm > 100 ? 120 : 100, true), mutant.op, text, AGREES,
             is_ours);
    return true;
}

static void check_row(enum ptx_op op)
{
    unsigned count = 0;
    struct visit visit;

    if (strcmp(ptx_op_table[op].operands, "*") == 0)
        return;
    ptx_op_each_form(op, count_form, &count);
    visit = (struct visit){0, count / tool.forms_per_row + 1, 0};
    ptx_op_each_form(op, check_form, &visit);
    word_count = 0;
    for (unsigned i = 0; i < PTX_OP_COUNT; i++)
        if (strcmp(ptx_op_name((enum ptx_op)i), ptx_op_name(op)) == 0)
            ptx_op_each_form((enum ptx_op)i, collect_words, NULL);
    for (unsigned done = 0; done < tool.mutants_per_row && count; done += count) {
        visit = (struct visit){0, count / tool.mutants_per_row + 1, 0};
        ptx_op_each_form(op, check_mutant, &visit);
    }
}

/* This PTX is the newest that the table has. */
static bool is_new_enough(void)
{
    struct batch batch = {90, 100, true, 0, NULL};
    char path[512];
    char command[1400];
    FILE *file;

    snprintf(path, sizeof(path), "%s/forms_empty.ptx", tool.directory);
    file = fopen(path, "w");
    if (!file)
        return false;
    put_module(&batch, file);
    fclose(file);
    snprintf(command, sizeof(command), "'%s' -arch=sm_100a -o /dev/null '%s' > /dev/null 2>&1",
             tool.ptxas, path);
    return system(command) == 0;
}

static bool parse_options(int argc, char **argv)
{
    int option;

    while ((option = getopt(argc, argv, "n:m:r:bs:")) != -1) {
        if (option == 'n')
            tool.forms_per_row = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 'm')
            tool.mutants_per_row = (unsigned)strtoul(optarg, NULL, 10);
        else if (option == 's')
            tool.random = (uint32_t)strtoul(optarg, NULL, 10);
        else if (option == 'r')
            tool.name = optarg;
        else if (option == 'b')
            tool.checks_bounds = true;
        else
            return false;
    }
    if (argc - optind != 2)
        return false;
    tool.ptxas = argv[optind];
    tool.directory = argv[optind + 1];
    return true;
}

int main(int argc, char **argv)
{
    if (!parse_options(argc, argv)) {
        fprintf(stderr, "usage: ptx_forms [-n FORMS] [-m MUTANTS] [-s SEED] [-r NAME] [-b] PTXAS "
                        "DIRECTORY\n");
        return 2;
    }
    if (!is_new_enough()) {
        printf("skipped: no ptxas that knows PTX 9.0\n");
        return EXIT_SKIPPED;
    }
    for (unsigned i = 0; i < PTX_OP_COUNT; i++)
        if (!tool.name || strcmp(tool.name, ptx_op_name((enum ptx_op)i)) == 0)
            check_row((enum ptx_op)i);
    for (unsigned i = 0; i < batch_count; i++)
        judge(&batches[i]);
    printf("%u instructions, %u differences (and %u known)\n", tool.checked, tool.differences,
           tool.known);
    return tool.differences != 0;
}
