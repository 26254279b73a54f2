/* SPDX-License-Identifier: Apache-2.0
 *
 * See paragraphs.h.
 */
#include "translator/vector/paragraphs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What is said of them, and whether it is a detail. */
static const char *const titles[TR_SAID_COUNT] = {
    [TR_SAID_LOADS] = "loads",
    [TR_SAID_STORES] = "stores",
    [TR_SAID_COMBINED] = "done once for a whole vector",
    [TR_SAID_SERIAL] = "done for one thread after another",
    [TR_SAID_REASONS] = "why",
    [TR_SAID_GUARDS] = "branches that all threads are expected to take in one direction",
    [TR_SAID_COMMON] = "numbers that all threads of a vector are expected to have in common",
    [TR_SAID_STEADY] = "numbers of 32 bits that are expected not to wrap from thread to thread",
    [TR_SAID_BRANCHES] = "branches on which threads part",
};

static bool is_detail(enum tr_said said)
{
    return said >= TR_SAID_REASONS;
}

/* ---- lists of lines ---- */

static void add_line(struct tr_line_group *group, uint32_t line)
{
    uint32_t place = group->line_count;
    while (place > 0 && group->lines[place - 1] >= line)
        place--;
    if (line == 0 || (place < group->line_count && group->lines[place] == line))
        return;
    group->has_more |= group->line_count == TR_LINES_MAX;
    if (place == TR_LINES_MAX)
        return;
    group->line_count += group->line_count < TR_LINES_MAX;
    uint32_t behind = group->line_count - 1 - place;
    memmove(&group->lines[place + 1], &group->lines[place], behind * sizeof *group->lines);
    group->lines[place] = line;
}

static uint32_t index_of(const struct tr_line_list *list, const char *name)
{
    uint32_t i = 0;
    while (i < list->count && strcmp(list->groups[i].name, name) != 0)
        i++;
    return i;
}

/* The last group takes what there is no room for. */
static struct tr_line_group *find_group(struct tr_line_list *list, const char *name)
{
    uint32_t i = index_of(list, name);
    if (i < list->count)
        return &list->groups[i];
    if (i == TR_GROUPS_MAX) {
        snprintf(list->groups[i - 1].name, sizeof list->groups[0].name, "others");
        return &list->groups[i - 1];
    }
    struct tr_line_group *group = &list->groups[list->count++];
    snprintf(group->name, sizeof group->name, "%s", name);
    return group;
}

void tr_list_add(struct tr_line_list *list, const char *name, uint32_t line)
{
    add_line(find_group(list, name), line);
}

static bool has_same_names(const struct tr_line_list *a, const struct tr_line_list *b)
{
    bool is_same = a->count == b->count;
    for (uint32_t i = 0; is_same && i < a->count; i++)
        is_same = index_of(b, a->groups[i].name) < b->count;
    return is_same;
}

static void merge_lists(struct tr_line_list *to, const struct tr_line_list *from)
{
    for (uint32_t i = 0; i < from->count; i++) {
        const struct tr_line_group *group = &from->groups[i];
        struct tr_line_group *same = find_group(to, group->name);
        same->has_more |= group->has_more;
        for (uint32_t l = 0; l < group->line_count; l++)
            add_line(same, group->lines[l]);
    }
}

static void print_group(FILE *out, const struct tr_line_group *group)
{
    fputs(group->name, out);
    for (uint32_t i = 0; i < group->line_count; i++)
        fprintf(out, "%s%" PRIu32,
                i > 0                   ? ", "
                : group->line_count > 1 ? " (lines "
                                        : " (line ",
                group->lines[i]);
    fputs(group->has_more ? ", ..." : "", out);
    fputs(group->line_count > 0 ? ")" : "", out);
}

static void print_list(FILE *out, enum tr_said said, const struct tr_line_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (i == 0)
            fprintf(out, "%s  %s: ", is_detail(said) ? "\t" : "", titles[said]);
        fputs(i > 0 ? "; " : "", out);
        print_group(out, &list->groups[i]);
    }
    fputs(list->count > 0 ? "\n" : "", out);
}

/* ---- ranges of lines ---- */

static bool is_before(struct tr_range a, struct tr_range b)
{
    return a.first != b.first ? a.first < b.first : a.last < b.last;
}

void tr_ranges_add(struct tr_range_list *list, struct tr_range range)
{
    uint32_t place = list->count;
    while (place > 0 && !is_before(list->items[place - 1], range))
        place--;
    if (range.first == 0 || (place < list->count && !is_before(range, list->items[place])))
        return;
    list->has_more |= list->count == TR_LINES_MAX;
    if (place == TR_LINES_MAX)
        return;
    list->count += list->count < TR_LINES_MAX;
    uint32_t behind = list->count - 1 - place;
    memmove(&list->items[place + 1], &list->items[place], behind * sizeof *list->items);
    list->items[place] = range;
}

static void merge_ranges(struct tr_range_list *to, const struct tr_range_list *from)
{
    to->has_more |= from->has_more;
    for (uint32_t i = 0; i < from->count; i++)
        tr_ranges_add(to, from->items[i]);
}

static void print_ranges(FILE *out, const char *before, const struct tr_range_list *list)
{
    bool is_one_line = list->count == 1 && list->items[0].first == list->items[0].last;
    if (list->count > 0)
        fprintf(out, "%s%s ", before, is_one_line ? "line" : "lines");
    for (uint32_t i = 0; i < list->count; i++) {
        const struct tr_range *range = &list->items[i];
        fprintf(out, "%s%" PRIu32, i > 0 ? ", " : "", range->first);
        if (range->last > range->first)
            fprintf(out, "-%" PRIu32, range->last);
    }
    fputs(list->has_more ? ", ..." : "", out);
}

/* ---- paragraphs ---- */

static bool says_the_same(const struct tr_paragraph *a, const struct tr_paragraph *b)
{
    bool is_same = strcmp(a->choice, b->choice) == 0 &&
                   (a->uneven_loops.count > 0) == (b->uneven_loops.count > 0);
    for (int i = 0; is_same && i < TR_SAID_COUNT; i++)
        is_same = is_detail((enum tr_said)i) || has_same_names(&a->lists[i], &b->lists[i]);
    return is_same;
}

static void widen_span(struct tr_span *span, struct tr_span with)
{
    span->least = with.least < span->least ? with.least : span->least;
    span->most = with.most > span->most ? with.most : span->most;
}

static void merge(struct tr_paragraph *to, const struct tr_paragraph *loop)
{
    to->loops += loop->loops;
    merge_ranges(&to->where, &loop->where);
    merge_ranges(&to->uneven_loops, &loop->uneven_loops);
    for (int i = 0; i < TR_SAID_COUNT; i++)
        merge_lists(&to->lists[i], &loop->lists[i]);
    to->kept_loads += loop->kept_loads;
    to->kept_stores += loop->kept_stores;
    widen_span(&to->percent, loop->percent);
    widen_span(&to->instructions, loop->instructions);
    widen_span(&to->registers, loop->registers);
    widen_span(&to->masks, loop->masks);
}

static bool make_room(struct tr_paragraphs *paragraphs)
{
    if (paragraphs->count < paragraphs->capacity)
        return true;
    uint32_t capacity = paragraphs->capacity > 0 ? 2 * paragraphs->capacity : 4;
    struct tr_paragraph *items = realloc(paragraphs->items, capacity * sizeof *items);
    if (items == NULL)
        return false;
    paragraphs->items = items;
    paragraphs->capacity = capacity;
    return true;
}

bool tr_paragraphs_add(struct tr_paragraphs *paragraphs, const struct tr_paragraph *loop)
{
    for (uint32_t i = 0; i < paragraphs->count; i++)
        if (says_the_same(&paragraphs->items[i], loop)) {
            merge(&paragraphs->items[i], loop);
            return true;
        }
    if (paragraphs->count == TR_PARAGRAPHS_MAX) {
        paragraphs->more += loop->loops;
        return true;
    }
    if (!make_room(paragraphs))
        return false;
    paragraphs->items[paragraphs->count++] = *loop;
    return true;
}

static void print_span(FILE *out, const char *before, struct tr_span span, const char *after)
{
    fprintf(out, "%s%" PRIu32, before, span.least);
    if (span.most > span.least)
        fprintf(out, "-%" PRIu32, span.most);
    fputs(after, out);
}

static void print_details(FILE *out, const struct tr_paragraph *paragraph)
{
    if (paragraph->has_estimate) {
        print_span(out, "\t  estimated time: ", paragraph->percent, "% of that of single threads;");
        print_span(out, " in one vector: ", paragraph->instructions, " instructions,");
        print_span(out, " ", paragraph->registers, " vector registers live at branches,");
        print_span(out, " ", paragraph->masks, " masks\n");
    }
    if (paragraph->kept_loads + paragraph->kept_stores > 0)
        fprintf(out,
                "\t  values kept across barriers and warp operations: %" PRIu32 " loads, %" PRIu32
                " stores\n",
                paragraph->kept_loads, paragraph->kept_stores);
}

static void print_paragraph(FILE *out, const struct tr_paragraph *paragraph)
{
    if (paragraph->loops == 1)
        fprintf(out, "loop %s", paragraph->choice);
    else
        fprintf(out, "%" PRIu32 " loops %s", paragraph->loops, paragraph->choice);
    print_ranges(out, ": ", &paragraph->where);
    fputc('\n', out);
    for (int i = 0; i < TR_SAID_REASONS; i++)
        print_list(out, (enum tr_said)i, &paragraph->lists[i]);
    if (paragraph->uneven_loops.count > 0) {
        print_ranges(out,
                     "  loops that threads leave at different times: ", &paragraph->uneven_loops);
        fputc('\n', out);
    }
    for (int i = TR_SAID_REASONS; i < TR_SAID_COUNT; i++)
        print_list(out, (enum tr_said)i, &paragraph->lists[i]);
    print_details(out, paragraph);
}

void tr_paragraphs_print(const struct tr_paragraphs *paragraphs, FILE *out)
{
    for (uint32_t i = 0; i < paragraphs->count; i++)
        print_paragraph(out, &paragraphs->items[i]);
    if (paragraphs->more > 0)
        fprintf(out, "more loops: %" PRIu32 "\n", paragraphs->more);
}

void tr_paragraphs_fini(struct tr_paragraphs *paragraphs)
{
    free(paragraphs->items);
    *paragraphs = (struct tr_paragraphs){0};
}
