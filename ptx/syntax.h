/* SPDX-License-Identifier: Apache-2.0
 *
 * The syntax column of ops.def, walked: every way through it, word by word. Internal to ptx/.
 *
 *   syntax = name ("." part)*
 *   part   = ( word | "$" set | "(" parts ("|" parts)* ")" ) "?"?   "?": may be left out
 *   word   = text ("@" ptx "/" sm "a"?)? its own lowest PTX version and target, as in ops.def
 *   set    = of sets.def: words
 *   parts  = part ("." part)*
 * A "*" for a part takes any words.
 */
#ifndef PTXRUN_PTX_SYNTAX_H
#define PTXRUN_PTX_SYNTAX_H

#include <stdbool.h>

#include "util/str.h"

struct ptx_word {
    struct pxr_str text;
    unsigned min_ptx; /* 0: that of the row */
    unsigned min_sm;
    bool needs_arch;
};

/* The questions of a walk. */
struct ptx_walker {
    /* For a search: once a word has been entered, nothing else is tried in its place. */
    bool is_committed;
    /* Whether the walk may go through the word; "*" stands for all that is left. */
    bool (*enter)(struct ptx_walker *walker, const struct ptx_word *word);
    /* The walk comes back: undoes enter. */
    void (*leave)(struct ptx_walker *walker, const struct ptx_word *word);
    /* The end is reached; true ends the whole walk. */
    bool (*arrive)(struct ptx_walker *walker);
};

/* Whether an arrival ended the walk. */
bool ptx_syntax_walk(const char *syntax, struct ptx_walker *walker);

/* The instruction's name, up to the first dot. */
struct pxr_str ptx_syntax_name(const char *syntax);

/* The words of a set of sets.def, separated by spaces; NULL if there is none. */
const char *ptx_syntax_set(struct pxr_str name);

/* Whether the word is anywhere in the syntax. */
bool ptx_syntax_mentions(const char *syntax, struct pxr_str word);

/* The end of a part, its "?" not included. */
const char *ptx_syntax_part_end(const char *part);

/* Takes the next word off a set or operand list; its text is empty at the end. */
struct ptx_word ptx_syntax_next_word(const char **text);

#endif
