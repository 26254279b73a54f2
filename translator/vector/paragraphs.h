/* SPDX-License-Identifier: Apache-2.0
 *
 * What --explain says of the loops over threads of a kernel, as text: loops of which the same is
 * said are one paragraph, with the lines of all of them. Knows nothing of LLVM. Private to
 * translator/vector.
 */
#ifndef PTXRUN_TRANSLATOR_VECTOR_PARAGRAPHS_H
#define PTXRUN_TRANSLATOR_VECTOR_PARAGRAPHS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* More would not be read. */
#define TR_LINES_MAX      10
#define TR_GROUPS_MAX     8
#define TR_PARAGRAPHS_MAX 100

/* ---- lists of lines, by what is said of them ---- */

struct tr_line_group {
    char name[64];
    uint32_t lines[TR_LINES_MAX]; /* in order */
    uint32_t line_count;
    bool has_more;
};

struct tr_line_list {
    struct tr_line_group groups[TR_GROUPS_MAX];
    uint32_t count;
};

/* line: 0 if nobody knows; then the name alone is said. */
void tr_list_add(struct tr_line_list *list, const char *name, uint32_t line);

/* ---- ranges of lines ---- */

struct tr_range {
    uint32_t first; /* 0: none is known */
    uint32_t last;
};

struct tr_range_list {
    struct tr_range items[TR_LINES_MAX]; /* in order */
    uint32_t count;
    bool has_more;
};

void tr_ranges_add(struct tr_range_list *list, struct tr_range range);

/* ---- paragraphs ---- */

enum tr_said {
    TR_SAID_LOADS,
    TR_SAID_STORES,
    TR_SAID_COMBINED, /* atomic operations that are done once for a vector */
    TR_SAID_SERIAL,   /* what is done for one thread after another */
    TR_SAID_REASONS,  /* why the choice. From here on details, which do not make loops different */
    TR_SAID_GUARDS,
    TR_SAID_COMMON,
    TR_SAID_STEADY,
    TR_SAID_BRANCHES,
    TR_SAID_COUNT
};

/* The least and the most of several loops. */
struct tr_span {
    uint32_t least;
    uint32_t most;
};

struct tr_paragraph {
    uint32_t loops;
    char choice[128]; /* behind "loop": "over vectors of 16 threads" */
    struct tr_range_list where;
    struct tr_line_list lists[TR_SAID_COUNT];
    struct tr_range_list uneven_loops; /* that threads leave at different times */
    uint32_t kept_loads;               /* of values that live across synchronisation points */
    uint32_t kept_stores;
    bool has_estimate;      /* the rest is there */
    struct tr_span percent; /* of the time of single threads */
    struct tr_span instructions;
    struct tr_span registers; /* vectors live at branches */
    struct tr_span masks;
};

/* Zero-initialise. */
struct tr_paragraphs {
    struct tr_paragraph *items; /* malloc */
    uint32_t count;
    uint32_t capacity;
    uint32_t more; /* loops that there was no room for */
};

/* Another loop: a paragraph of its own, or more lines for one that says the same. False: out of
 * memory. */
bool tr_paragraphs_add(struct tr_paragraphs *paragraphs, const struct tr_paragraph *loop);
/* Lines that begin with a tab are details. */
void tr_paragraphs_print(const struct tr_paragraphs *paragraphs, FILE *out);
void tr_paragraphs_fini(struct tr_paragraphs *paragraphs);

#endif
