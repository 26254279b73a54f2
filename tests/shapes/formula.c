/* SPDX-License-Identifier: Apache-2.0
 *
 * Recursive descent over the text of a formula, evaluating as it goes; bodies of sums are read
 * once per turn.
 */
#include "tests/shapes/formula.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 200
#define MAX_TURNS 100000

struct formula {
    const char *at;
    int64_t i;
    int64_t j;
    int64_t k;
    int depth;
    bool is_bad;
};

uint32_t formula_hash(uint64_t a)
{
    a += UINT64_C(0x9e3779b97f4a7c15);
    a = (a ^ (a >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    a = (a ^ (a >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)(a ^ (a >> 31));
}

static void skip_blanks(struct formula *f)
{
    while (isspace((unsigned char)*f->at))
        f->at++;
}

static bool take(struct formula *f, const char *token)
{
    skip_blanks(f);
    size_t len = strlen(token);
    if (strncmp(f->at, token, len) != 0)
        return false;
    f->at += len;
    return true;
}

static void need(struct formula *f, const char *token)
{
    if (!take(f, token))
        f->is_bad = true;
}

static int64_t eval_choice(struct formula *f);

/* The text between here and the comma or parenthesis that ends the argument is read `turns` times,
 * and once without effect when there are none. */
static int64_t eval_fold(struct formula *f, char op)
{
    need(f, "(");
    int64_t turns = eval_choice(f);
    need(f, ",");
    const char *body = f->at;
    int64_t outer_j = f->j;
    int64_t outer_k = f->k;
    f->j = outer_k;
    uint64_t total = op == '&' ? ~UINT64_C(0) : 0;
    if (turns > MAX_TURNS)
        f->is_bad = true;
    for (f->k = 0; f->k < turns && !f->is_bad; f->k++) {
        f->at = body;
        uint64_t value = (uint64_t)eval_choice(f);
        total = op == '+'   ? total + value
                : op == '^' ? total ^ value
                : op == '&' ? total & value
                            : total | value;
    }
    if (turns <= 0)
        eval_choice(f);
    f->j = outer_j;
    f->k = outer_k;
    need(f, ")");
    return (int64_t)total;
}

static int64_t eval_call(struct formula *f, const char *name, size_t len)
{
    static const struct {
        const char *name;
        char op;
    } folds[] = {{"sum", '+'}, {"xor", '^'}, {"and", '&'}, {"or", '|'}};
    for (size_t n = 0; n < sizeof folds / sizeof *folds; n++)
        if (strlen(folds[n].name) == len && strncmp(folds[n].name, name, len) == 0)
            return eval_fold(f, folds[n].op);
    bool is_min = len == 3 && strncmp(name, "min", 3) == 0;
    bool is_max = len == 3 && strncmp(name, "max", 3) == 0;
    bool is_popc = len == 4 && strncmp(name, "popc", 4) == 0;
    bool is_clz = len == 3 && strncmp(name, "clz", 3) == 0;
    bool is_hash = len == 4 && strncmp(name, "hash", 4) == 0;
    need(f, "(");
    int64_t a = eval_choice(f);
    int64_t b = 0;
    if (is_min || is_max) {
        need(f, ",");
        b = eval_choice(f);
    }
    need(f, ")");
    if (is_min || is_max)
        return (a < b) == is_min ? a : b;
    if (is_popc)
        return __builtin_popcount((uint32_t)a);
    if (is_clz)
        return (uint32_t)a ? __builtin_clz((uint32_t)a) : 32;
    if (is_hash)
        return formula_hash((uint64_t)a);
    f->is_bad = true;
    return 0;
}

static int64_t eval_name(struct formula *f)
{
    const char *name = f->at;
    while (isalnum((unsigned char)*f->at))
        f->at++;
    size_t len = (size_t)(f->at - name);
    if (len == 1 && *name == 'i')
        return f->i;
    if (len == 1 && *name == 'j')
        return f->j;
    if (len == 1 && *name == 'k')
        return f->k;
    return eval_call(f, name, len);
}

static int64_t eval_unary(struct formula *f)
{
    if (++f->depth > MAX_DEPTH)
        f->is_bad = true;
    int64_t value = 0;
    skip_blanks(f);
    if (f->is_bad) {
        value = 0;
    } else if (take(f, "-")) {
        value = (int64_t)(0 - (uint64_t)eval_unary(f));
    } else if (take(f, "~")) {
        value = ~eval_unary(f);
    } else if (take(f, "!")) {
        value = !eval_unary(f);
    } else if (take(f, "(")) {
        value = eval_choice(f);
        need(f, ")");
    } else if (isdigit((unsigned char)*f->at)) {
        char *end;
        value = (int64_t)strtoull(f->at, &end, 0);
        f->at = end;
    } else if (isalpha((unsigned char)*f->at)) {
        value = eval_name(f);
    } else {
        f->is_bad = true;
    }
    f->depth--;
    return value;
}

static int64_t apply(const char *op, int64_t a, int64_t b)
{
    uint64_t ua = (uint64_t)a;
    uint64_t ub = (uint64_t)b;
    switch (op[0]) {
    case '*':
        return (int64_t)(ua * ub);
    case '/':
        return b == 0 ? 0 : b == -1 ? (int64_t)(0 - ua) : a / b;
    case '%':
        return b == 0 || b == -1 ? 0 : a % b;
    case '+':
        return (int64_t)(ua + ub);
    case '-':
        return (int64_t)(ua - ub);
    case '<':
        return op[1] == '<' ? (int64_t)(ua << (ub & 63)) : op[1] == '=' ? a <= b : a < b;
    case '>':
        return op[1] == '>' ? a >> (ub & 63) : op[1] == '=' ? a >= b : a > b;
    case '=':
        return a == b;
    case '!':
        return a != b;
    case '&':
        return op[1] == '&' ? a && b : a & b;
    case '|':
        return op[1] == '|' ? a || b : a | b;
    default:
        return a ^ b;
    }
}

/* Binary operators from the loosest level to the tightest; longer spellings come first. */
#define LEVELS 10
static const char *const levels[LEVELS][5] = {
    {"||"},       {"&&"},     {"|"},           {"^"}, {"&"}, {"==", "!="}, {"<=", ">=", "<", ">"},
    {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"},
};

/* The operator of this level that stands here, or NULL. */
static const char *take_operator(struct formula *f, int level)
{
    skip_blanks(f);
    for (int n = 0; n < 5 && levels[level][n]; n++) {
        const char *op = levels[level][n];
        size_t len = strlen(op);
        if (strncmp(f->at, op, len) != 0)
            continue;
        char next = f->at[len];
        bool is_longer = len == 1 && strchr("|&<>", op[0]) &&
                         (next == op[0] || (next == '=' && strchr("<>", op[0])));
        if (!is_longer) {
            f->at += len;
            return op;
        }
    }
    return NULL;
}

static int64_t eval_binary(struct formula *f, int level)
{
    if (level == LEVELS)
        return eval_unary(f);
    int64_t value = eval_binary(f, level + 1);
    const char *op;
    while (!f->is_bad && (op = take_operator(f, level)))
        value = apply(op, value, eval_binary(f, level + 1));
    return value;
}

static int64_t eval_choice(struct formula *f)
{
    int64_t condition = eval_binary(f, 0);
    if (f->is_bad || !take(f, "?"))
        return condition;
    int64_t yes = eval_choice(f);
    need(f, ":");
    int64_t no = eval_choice(f);
    return condition ? yes : no;
}

bool formula_eval(const char *text, int64_t i, int64_t *value)
{
    struct formula f = {.at = text, .i = i};
    *value = eval_choice(&f);
    skip_blanks(&f);
    if (f.is_bad || *f.at)
        *value = 0;
    return !f.is_bad && !*f.at;
}
