/* SPDX-License-Identifier: Apache-2.0
 *
 * Walks through the syntax of an instruction's row. The text is small and is walked as it stands:
 * nothing is compiled beforehand, so a program pays only for the spellings that it has.
 */
#include "ptx/syntax.h"

#include <stddef.h>

/* Where the walk continues after the end of parts in parentheses. */
struct rest {
    const char *at;
    const struct rest *outer;
};

/* The outcome of a walk through a part. */
enum way {
    WAY_CLOSED, /* not this way: others may be tried */
    WAY_LOST,   /* no other way either */
    WAY_ENDED
};

static const struct {
    const char *name;
    const char *words;
} sets[] = {
#define SET(name, words) {#name, words},
#include "ptx/sets.def"
#undef SET
};

static bool walk(struct ptx_walker *walker, const char *at, const struct rest *rest);

const char *ptx_syntax_set(struct pxr_str name)
{
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        if (pxr_str_is(name, sets[i].name))
            return sets[i].words;
    return NULL;
}

struct pxr_str ptx_syntax_name(const char *syntax)
{
    return (struct pxr_str){syntax, strcspn(syntax, ".")};
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == ':' ||
           (c >= 'A' && c <= 'Z') || c == '*';
}

static unsigned take_number(const char **at)
{
    unsigned number = 0;

    while (**at >= '0' && **at <= '9')
        number = number * 10 + (unsigned)(*(*at)++ - '0');
    return number;
}

/* Reads a word and its demands. */
static struct ptx_word take_word(const char **at)
{
    struct ptx_word word = {{*at, 0}, 0, 0, false};

    while (is_word(**at))
        (*at)++;
    word.text.len = (size_t)(*at - word.text.ptr);
    if (**at == '@') {
        (*at)++;
        word.min_ptx = take_number(at);
        (*at)++;
        word.min_sm = take_number(at);
        word.needs_arch = **at == 'a';
        *at += word.needs_arch;
    }
    return word;
}

struct ptx_word ptx_syntax_next_word(const char **text)
{
    while (**text == ' ')
        (*text)++;
    return take_word(text);
}

/* The character behind the parenthesis that closes the one at `at`. */
static const char *behind(const char *at)
{
    unsigned depth = 0;

    do {
        depth += *at == '(';
        depth -= *at == ')';
        at++;
    } while (depth > 0);
    return at;
}

const char *ptx_syntax_part_end(const char *part)
{
    return *part == '(' ? behind(part) : part + strcspn(part, ".|)?");
}

static enum way walk_word(struct ptx_walker *walker, const struct ptx_word *word, const char *after,
                          const struct rest *rest)
{
    bool is_ended;

    if (!walker->enter(walker, word))
        return WAY_CLOSED;
    is_ended = walk(walker, after, rest);
    walker->leave(walker, word);
    if (is_ended)
        return WAY_ENDED;
    return walker->is_committed ? WAY_LOST : WAY_CLOSED;
}

static enum way walk_set(struct ptx_walker *walker, const char *words, const char *after,
                         const struct rest *rest)
{
    for (;;) {
        struct ptx_word word = ptx_syntax_next_word(&words);
        enum way way;

        if (word.text.len == 0)
            return WAY_CLOSED;
        way = walk_word(walker, &word, after, rest);
        if (way != WAY_CLOSED)
            return way;
    }
}

/* at: behind "(" */
static enum way walk_choice(struct ptx_walker *walker, const char *at, const char *after,
                            const struct rest *rest)
{
    const struct rest next = {after, rest};

    for (;;) {
        if (walk(walker, at, &next))
            return WAY_ENDED;
        while (*at != '|' && *at != ')')
            at = *at == '(' ? behind(at) : at + 1;
        if (*at == ')')
            return WAY_CLOSED;
        at++;
    }
}

/* at: the beginning of a part, or where a list of parts ends */
static bool walk(struct ptx_walker *walker, const char *at, const struct rest *rest)
{
    const char *start = at + (*at == '.');
    const char *after = start;
    struct ptx_word word = {0};
    bool is_optional;
    enum way way;

    if (*at == '\0' || *at == '|' || *at == ')')
        return rest ? walk(walker, rest->at, rest->outer) : walker->arrive(walker);
    if (*start == '(') {
        after = behind(start);
    } else {
        after += *start == '$';
        word = take_word(&after);
    }
    is_optional = *after == '?';
    after += is_optional;
    if (*start == '(')
        way = walk_choice(walker, start + 1, after, rest);
    else if (*start == '$')
        way = walk_set(walker, ptx_syntax_set(word.text), after, rest);
    else
        way = walk_word(walker, &word, after, rest);
    if (way == WAY_CLOSED && is_optional)
        return walk(walker, after, rest);
    return way == WAY_ENDED;
}

bool ptx_syntax_walk(const char *syntax, struct ptx_walker *walker)
{
    const char *name_end = syntax + strcspn(syntax, ".");

    return walk(walker, name_end, NULL);
}

static bool set_mentions(const char *words, struct pxr_str word)
{
    for (;;) {
        struct ptx_word next = ptx_syntax_next_word(&words);

        if (next.text.len == 0)
            return false;
        if (pxr_str_equal(next.text, word))
            return true;
    }
}

bool ptx_syntax_mentions(const char *syntax, struct pxr_str word)
{
    const char *at = syntax + strcspn(syntax, ".");

    while (*at != '\0') {
        bool is_set = *at == '$';
        struct ptx_word next;

        if (!is_set && !is_word(*at)) {
            at++;
            continue;
        }
        at += is_set;
        next = take_word(&at);
        if (is_set ? set_mentions(ptx_syntax_set(next.text), word) : pxr_str_equal(next.text, word))
            return true;
    }
    return false;
}
