/* SPDX-License-Identifier: Apache-2.0
 *
 * Ways to damage bytes and text.
 */
#include "mutate.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct token {
    size_t begin;
    size_t len;
};

void mutant_init(struct mutant *mutant, const void *bytes, size_t len, uint64_t seed)
{
    mutant->len = len;
    mutant->cap = len + 1;
    mutant->bytes = malloc(mutant->cap);
    if (!mutant->bytes)
        abort();
    memcpy(mutant->bytes, bytes, len);
    mutant->random = (seed + 1) * UINT64_C(0x9e3779b97f4a7c15);
    if (mutant->random == 0)
        mutant->random = 1;
}

void mutant_fini(struct mutant *mutant)
{
    free(mutant->bytes);
}

uint64_t mutant_below(struct mutant *mutant, uint64_t n)
{
    mutant->random ^= mutant->random << 13;
    mutant->random ^= mutant->random >> 7;
    mutant->random ^= mutant->random << 17;
    return (mutant->random >> 11) % n;
}

/* Puts len bytes in place of old_len bytes. */
static void replace(struct mutant *mutant, size_t at, size_t old_len, const void *bytes, size_t len)
{
    size_t new_len = mutant->len - old_len + len;
    void *copy = malloc(len + 1); /* bytes may lie in the mutant */
    if (!copy)
        abort();
    memcpy(copy, bytes, len);
    if (new_len > mutant->cap) {
        mutant->cap = new_len * 2;
        mutant->bytes = realloc(mutant->bytes, mutant->cap);
        if (!mutant->bytes)
            abort();
    }
    memmove(mutant->bytes + at + len, mutant->bytes + at + old_len, mutant->len - at - old_len);
    memcpy(mutant->bytes + at, copy, len);
    mutant->len = new_len;
    free(copy);
}

/* ---- bytes ---- */

/* Headers are at the start, so damage is more likely there. */
static size_t any_place(struct mutant *mutant)
{
    size_t limit = mutant->len;
    if (mutant_below(mutant, 2) == 0 && limit > 256)
        limit = 256;
    return (size_t)mutant_below(mutant, limit);
}

static void set_field(struct mutant *mutant)
{
    static const uint64_t extremes[] = {0,          1,          UINT64_MAX, INT64_MAX,
                                        0x80000000, UINT32_MAX, INT32_MAX,  0xffff};
    size_t width = (size_t)1 << mutant_below(mutant, 4);
    size_t at = any_place(mutant) & ~(width - 1);
    uint64_t value = extremes[mutant_below(mutant, sizeof extremes / sizeof *extremes)];
    if (mutant_below(mutant, 4) == 0)
        value = mutant->len + mutant_below(mutant, 17) - 8;
    if (at + width <= mutant->len)
        memcpy(mutant->bytes + at, &value, width);
}

static void move_part(struct mutant *mutant)
{
    size_t from = any_place(mutant);
    size_t to = any_place(mutant);
    size_t longest = mutant->len - (from > to ? from : to);
    size_t len = (size_t)mutant_below(mutant, longest < 128 ? longest : 128) + 1;
    memmove(mutant->bytes + to, mutant->bytes + from, len);
}

void mutant_damage_bytes(struct mutant *mutant)
{
    for (uint64_t n = mutant_below(mutant, 4) + 1; n > 0 && mutant->len > 0; n--) {
        switch (mutant_below(mutant, 6)) {
        case 0:
            mutant->len = (size_t)mutant_below(mutant, mutant->len);
            break;
        case 1:
        case 2:
            mutant->bytes[any_place(mutant)] ^= (uint8_t)(1u << mutant_below(mutant, 8));
            break;
        case 3:
            move_part(mutant);
            break;
        default:
            set_field(mutant);
            break;
        }
    }
}

/* ---- text ---- */

static int is_word(int c)
{
    return isalnum(c) || c == '_' || c == '$' || c == '%' || c == '.';
}

static size_t token_len(const struct mutant *mutant, size_t at)
{
    size_t end = at + 1;
    if (is_word(mutant->bytes[at]))
        while (end < mutant->len && is_word(mutant->bytes[end]))
            end++;
    return end - at;
}

/* Any token that begins near a random place. */
static struct token any_token(struct mutant *mutant)
{
    size_t at = (size_t)mutant_below(mutant, mutant->len);
    while (at > 0 && is_word(mutant->bytes[at]) && is_word(mutant->bytes[at - 1]))
        at--;
    while (at + 1 < mutant->len && isspace(mutant->bytes[at]))
        at++;
    return (struct token){at, token_len(mutant, at)};
}

static struct token any_line(struct mutant *mutant)
{
    size_t at = (size_t)mutant_below(mutant, mutant->len);
    while (at > 0 && mutant->bytes[at - 1] != '\n')
        at--;
    size_t end = at;
    while (end < mutant->len && mutant->bytes[end] != '\n')
        end++;
    return (struct token){at, end - at + (end < mutant->len)};
}

static void replace_token(struct mutant *mutant, const char *const *words, size_t count)
{
    const char *word = words[mutant_below(mutant, count)];
    struct token token = any_token(mutant);
    replace(mutant, token.begin, token.len, word, strlen(word));
}

static void put_number(struct mutant *mutant)
{
    static const char *const numbers[] = {"0",
                                          "-1",
                                          "1",
                                          "65536",
                                          "2147483647",
                                          "4294967296",
                                          "9223372036854775807",
                                          "18446744073709551615",
                                          "0d7ff0000000000000",
                                          "0f7fc00000",
                                          "0x",
                                          "3000000000"};
    /* A number where there was one is more likely to be read. */
    for (int tries = 0; tries < 20; tries++) {
        struct token token = any_token(mutant);
        if (isdigit(mutant->bytes[token.begin])) {
            const char *number = numbers[mutant_below(mutant, sizeof numbers / sizeof *numbers)];
            replace(mutant, token.begin, token.len, number, strlen(number));
            return;
        }
    }
    replace_token(mutant, numbers, sizeof numbers / sizeof *numbers);
}

static void put_word(struct mutant *mutant)
{
    static const char *const words[] = {
        ".b8",     ".u16",    ".s32",   ".f16x2", ".f64",   ".pred", ".b128", ".v4",    ".v2",
        ".global", ".shared", ".param", ".local", ".const", ".reg",  ".func", ".entry", ".align",
        "{",       "}",       "[",      "]",      ";",      ",",     "(",     ")",      "@",
        "%tid.x",  "_",       "!",      "-",      "+",      "|",     "call",  "bra",    "ret"};
    replace_token(mutant, words, sizeof words / sizeof *words);
}

/* The suffix of one instruction at another: types that do not fit. */
static void exchange_suffix(struct mutant *mutant)
{
    struct token to = any_token(mutant);
    struct token from = any_token(mutant);
    const uint8_t *to_dot = memrchr(mutant->bytes + to.begin, '.', to.len);
    const uint8_t *from_dot = memrchr(mutant->bytes + from.begin, '.', from.len);
    if (!to_dot || !from_dot)
        return;
    size_t at = (size_t)(to_dot - mutant->bytes);
    replace(mutant, at, to.begin + to.len - at, from_dot,
            from.begin + from.len - (size_t)(from_dot - mutant->bytes));
}

static void damage_text_once(struct mutant *mutant)
{
    struct token token = any_token(mutant);
    struct token other = any_token(mutant);
    struct token line = any_line(mutant);
    switch (mutant_below(mutant, 12)) {
    case 0:
        replace(mutant, token.begin, token.len, "", 0);
        break;
    case 1:
        replace(mutant, token.begin, 0, mutant->bytes + token.begin, token.len);
        break;
    case 2:
    case 3:
        replace(mutant, token.begin, token.len, mutant->bytes + other.begin, other.len);
        break;
    case 4:
    case 5:
        put_number(mutant);
        break;
    case 6:
        put_word(mutant);
        break;
    case 7:
    case 8:
        exchange_suffix(mutant);
        break;
    case 9:
        replace(mutant, line.begin, line.len, "", 0);
        break;
    case 10:
        replace(mutant, token.begin, 0, mutant->bytes + line.begin, line.len);
        break;
    default:
        if (mutant_below(mutant, 4) == 0)
            mutant->len = (size_t)mutant_below(mutant, mutant->len);
        else
            mutant->bytes[mutant_below(mutant, mutant->len)] ^=
                (uint8_t)(1u << mutant_below(mutant, 8));
    }
}

void mutant_damage_text(struct mutant *mutant)
{
    /* Mostly one: of the others, few get beyond the parser. */
    uint64_t count = mutant_below(mutant, 4) ? 1 : mutant_below(mutant, 3) + 1;
    for (; count > 0 && mutant->len > 0; count--)
        damage_text_once(mutant);
}
