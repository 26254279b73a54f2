/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of types, modifiers and instructions, generated from the .def files, and the choice of an
 * instruction's row. The parser keeps decoded opcodes, so each distinct spelling is looked up once
 * per module.
 */
#include "ptx/ops.h"

#include <pthread.h>

#include "ptx/ptx.h"
#include "ptx/syntax.h"

#define G(group) PTX_GROUP_BIT(PTX_GROUP_##group)

const struct ptx_type_info ptx_type_table[PTX_TYPE_COUNT] = {
    [PTX_TYPE_NONE] = {"", 0, PTX_CLASS_BITS},
#define TYPE(ID, text, bits, CLASS) [PTX_TYPE_##ID] = {text, bits, PTX_CLASS_##CLASS},
#include "ptx/types.def"
#undef TYPE
};

const struct ptx_mod_info ptx_mod_table[PTX_MOD_COUNT] = {
    [PTX_MOD_NONE] = {"", 0},
#define MOD(ID, text, groups) [PTX_MOD_##ID] = {text, groups},
#include "ptx/mods.def"
#undef MOD
    [PTX_MOD_OTHER] = {"", G(ANY_MOD)},
};

const struct ptx_sreg_info ptx_sreg_table[PTX_SREG_COUNT] = {
    [PTX_SREG_NONE] = {"", PTX_TYPE_NONE},
#define SREG(ID, id, text, type, ...) [PTX_SREG_##ID] = {text, PTX_TYPE_##type},
#include "ptx/sregs.def"
#undef SREG
};

/* A target that needs a suffix, sm_90a. */
#define ARCH(sm) ((sm) + 1000)

const struct ptx_op_info ptx_op_table[PTX_OP_COUNT] = {
#define OP(ID, syntax, family, operands, ptx, sm, emitter, fidelity)                               \
    [PTX_OP_##ID] = {syntax,          PTX_FAMILY_##family,    operands, ptx, (sm) % ARCH(0),       \
                     (sm) >= ARCH(0), PTX_FIDELITY_##fidelity},
#include "ptx/ops.def"
#undef OP
};

const char *const ptx_family_names[PTX_FAMILY_COUNT] = {
    [PTX_FAMILY_INTEGER] = "integer", [PTX_FAMILY_FLOAT] = "float",
    [PTX_FAMILY_COMPARE] = "compare", [PTX_FAMILY_LOGIC] = "logic",
    [PTX_FAMILY_MOVE] = "move",       [PTX_FAMILY_CONVERT] = "convert",
    [PTX_FAMILY_ADDRESS] = "address", [PTX_FAMILY_MEMORY] = "memory",
    [PTX_FAMILY_ATOMIC] = "atomic",   [PTX_FAMILY_CONTROL] = "control",
    [PTX_FAMILY_BARRIER] = "barrier", [PTX_FAMILY_WARP] = "warp",
    [PTX_FAMILY_TEXTURE] = "texture", [PTX_FAMILY_MATRIX] = "matrix",
    [PTX_FAMILY_VIDEO] = "video",
};

/* ---- finding by name ---- */

#define PTX_MAX_OP_NAME 24 /* with its NUL */
#define BUCKETS         512
#define NO_ITEM         UINT16_MAX

/* Items of a table by a hash of their names; made once, at the first look-up, and then fixed. */
struct name_index {
    uint16_t first[BUCKETS];
    uint16_t *next; /* by item */
};

static uint16_t next_type[PTX_TYPE_COUNT];
static uint16_t next_mod[PTX_MOD_COUNT];
static uint16_t next_op[PTX_OP_COUNT];
static struct name_index type_index = {.next = next_type};
static struct name_index mod_index = {.next = next_mod};
static struct name_index op_index = {.next = next_op};
static char op_names[PTX_OP_COUNT][PTX_MAX_OP_NAME];
static pthread_once_t index_once = PTHREAD_ONCE_INIT;

static unsigned next_hash(unsigned hash, char c)
{
    return hash * 31 + (unsigned char)c;
}

static unsigned bucket_of(struct pxr_str name)
{
    unsigned hash = 0;

    for (size_t i = 0; i < name.len; i++)
        hash = next_hash(hash, name.ptr[i]);
    return hash % BUCKETS;
}

/* name: to its end or the first dot. Items are added from the last to the first, so that a bucket
 * has them in the table's order. */
static void add_item(struct name_index *index, unsigned item, const char *name)
{
    unsigned hash = 0;

    for (; *name != '\0' && *name != '.'; name++)
        hash = next_hash(hash, *name);
    index->next[item] = index->first[hash % BUCKETS];
    index->first[hash % BUCKETS] = (uint16_t)item;
}

static void make_indices(void)
{
    memset(type_index.first, 0xff, sizeof(type_index.first));
    memset(mod_index.first, 0xff, sizeof(mod_index.first));
    memset(op_index.first, 0xff, sizeof(op_index.first));
    for (unsigned i = PTX_TYPE_COUNT - 1; i > PTX_TYPE_NONE; i--)
        add_item(&type_index, i, ptx_type_table[i].name);
    for (unsigned i = PTX_MOD_OTHER - 1; i > PTX_MOD_NONE; i--)
        add_item(&mod_index, i, ptx_mod_table[i].name);
    for (unsigned i = PTX_OP_COUNT; i-- > 0;) {
        const char *syntax = ptx_op_table[i].syntax;

        for (unsigned k = 0; k < PTX_MAX_OP_NAME - 1 && syntax[k] && syntax[k] != '.'; k++)
            op_names[i][k] = syntax[k];
        add_item(&op_index, i, syntax);
    }
}

static unsigned first_item(const struct name_index *index, struct pxr_str name)
{
    pthread_once(&index_once, make_indices);
    return index->first[bucket_of(name)];
}

enum ptx_type ptx_type_find(struct pxr_str name)
{
    for (unsigned i = first_item(&type_index, name); i != NO_ITEM; i = next_type[i])
        if (pxr_str_is(name, ptx_type_table[i].name))
            return (enum ptx_type)i;
    return PTX_TYPE_NONE;
}

enum ptx_mod ptx_mod_find(struct pxr_str name)
{
    for (unsigned i = first_item(&mod_index, name); i != NO_ITEM; i = next_mod[i])
        if (pxr_str_is(name, ptx_mod_table[i].name))
            return (enum ptx_mod)i;
    return PTX_MOD_NONE;
}

const char *ptx_op_name(enum ptx_op op)
{
    pthread_once(&index_once, make_indices);
    return op_names[op];
}

bool ptx_op_exists(struct pxr_str name)
{
    for (unsigned i = first_item(&op_index, name); i != NO_ITEM; i = next_op[i])
        if (pxr_str_is(name, op_names[i]))
            return true;
    return false;
}

/* ---- which row ---- */

#define MAX_WORDS (PTX_MAX_TYPES + PTX_MAX_MODS)

/* A walk through a row's syntax along the words of a spelling. */
struct match {
    struct ptx_walker walker;
    unsigned type_count;
    unsigned mod_count;
    struct pxr_str types[PTX_MAX_TYPES];
    struct pxr_str mods[PTX_MAX_MODS];
    unsigned types_taken;
    uint32_t mods_taken; /* bit per modifier */
    uint32_t ordered;    /* those that may not change places */
    bool takes_rest;     /* a "*" has been entered */
    unsigned depth;
    uint32_t mod_bits[MAX_WORDS]; /* the bits that each word took; 0: a type, or the rest */
    struct ptx_need needs[MAX_WORDS];
    struct ptx_need need; /* on arrival: the most of them */
};

static bool same(struct pxr_str a, struct pxr_str b)
{
    return a.len == b.len && a.ptr[0] == b.ptr[0] && memcmp(a.ptr, b.ptr, a.len) == 0;
}

static bool enter_word(struct ptx_walker *walker, const struct ptx_word *word)
{
    struct match *match = (struct match *)walker;

    if (match->depth == MAX_WORDS)
        return false;
    match->needs[match->depth] = (struct ptx_need){word->min_ptx, word->min_sm, word->needs_arch};
    if (word->text.ptr[0] == '*') {
        match->takes_rest = true;
        match->mod_bits[match->depth++] = 0;
        return true;
    }
    if (match->types_taken < match->type_count &&
        same(word->text, match->types[match->types_taken])) {
        match->types_taken++;
        match->mod_bits[match->depth++] = 0;
        return true;
    }
    for (unsigned i = 0; i < match->mod_count; i++) {
        uint32_t bit = UINT32_C(1) << i;

        if ((match->mods_taken & bit) || !same(word->text, match->mods[i]))
            continue;
        if ((match->ordered & bit) && (match->ordered & match->mods_taken) > bit)
            continue;
        match->mods_taken |= bit;
        match->mod_bits[match->depth++] = bit;
        return true;
    }
    return false;
}

static void leave_word(struct ptx_walker *walker, const struct ptx_word *word)
{
    struct match *match = (struct match *)walker;
    uint32_t bit = match->mod_bits[--match->depth];

    if (word->text.ptr[0] == '*')
        match->takes_rest = false;
    else if (bit == 0)
        match->types_taken--;
    match->mods_taken &= ~bit;
}

/* The row is the right one if nothing is left of the spelling. */
static bool arrive(struct ptx_walker *walker)
{
    struct match *match = (struct match *)walker;

    if (!match->takes_rest && (match->types_taken != match->type_count ||
                               match->mods_taken != (UINT32_C(1) << match->mod_count) - 1))
        return false;
    match->need = (struct ptx_need){0};
    for (unsigned i = 0; i < match->depth; i++) {
        if (match->needs[i].ptx > match->need.ptx)
            match->need.ptx = match->needs[i].ptx;
        if (match->needs[i].sm > match->need.sm)
            match->need.sm = match->needs[i].sm;
        match->need.is_arch = match->need.is_arch || match->needs[i].is_arch;
    }
    return true;
}

static bool takes_count(enum ptx_op op, uint32_t operand_count)
{
    struct ptx_operand_rule rules[PTX_MAX_RULES];
    unsigned rule_count = ptx_op_operand_rules(op, rules);

    return ptx_rules_take_count(rules, rule_count, operand_count);
}

static void begin_match(struct match *match, const enum ptx_type *types, unsigned type_count,
                        const enum ptx_mod *mods, unsigned mod_count)
{
    *match = (struct match){.walker = {true, enter_word, leave_word, arrive},
                            .type_count = type_count,
                            .mod_count = mod_count};
    for (unsigned i = 0; i < type_count; i++)
        match->types[i] = pxr_str_from(ptx_type_table[types[i]].name);
    for (unsigned i = 0; i < mod_count; i++)
        match->mods[i] = pxr_str_from(ptx_mod_table[mods[i]].name);
    for (unsigned i = 0; i < mod_count; i++)
        if (ptx_mod_table[mods[i]].groups & PTX_GROUP_BIT(PTX_GROUP_LAYOUT))
            match->ordered |= UINT32_C(1) << i;
}

/* The first form of the name, from the item on, that matches. */
static enum ptx_op find_match(struct match *match, unsigned item, struct pxr_str name)
{
    for (; item != NO_ITEM; item = next_op[item])
        if (pxr_str_is(name, op_names[item]) &&
            ptx_syntax_walk(ptx_op_table[item].syntax, &match->walker))
            return (enum ptx_op)item;
    return PTX_OP_COUNT;
}

enum ptx_op ptx_op_choose(struct pxr_str name, const enum ptx_type *types, unsigned type_count,
                          const enum ptx_mod *mods, unsigned mod_count, uint32_t operand_count)
{
    unsigned item = first_item(&op_index, name);
    struct match match;

    begin_match(&match, types, type_count, mods, mod_count);
    for (;;) {
        enum ptx_op op = find_match(&match, item, name);

        if (op == PTX_OP_COUNT || operand_count == PTX_ANY_OPERAND_COUNT ||
            takes_count(op, operand_count))
            return op;
        item = next_op[op];
    }
}

enum ptx_op ptx_op_choose_next(enum ptx_op op, const enum ptx_type *types, unsigned type_count,
                               const enum ptx_mod *mods, unsigned mod_count)
{
    struct pxr_str name = pxr_str_from(ptx_op_name(op));
    struct match match;

    begin_match(&match, types, type_count, mods, mod_count);
    return find_match(&match, next_op[op], name);
}

struct ptx_need ptx_op_need(enum ptx_op op, const enum ptx_type *types, unsigned type_count,
                            const enum ptx_mod *mods, unsigned mod_count)
{
    const struct ptx_op_info *row = &ptx_op_table[op];
    struct match match;
    struct ptx_need need;

    begin_match(&match, types, type_count, mods, mod_count);
    ptx_syntax_walk(row->syntax, &match.walker);
    need = match.need;
    if (row->min_ptx > need.ptx)
        need.ptx = row->min_ptx;
    if (row->min_sm > need.sm)
        need.sm = row->min_sm;
    need.is_arch = need.is_arch || row->needs_arch;
    return need;
}

bool ptx_op_is_gone(enum ptx_op op, unsigned version, unsigned target)
{
    return (op == PTX_OP_SHFL_LEGACY || op == PTX_OP_VOTE_LEGACY ||
            op == PTX_OP_VOTE_LEGACY_BALLOT) &&
           version >= 64 && target >= 70;
}

/* ---- operands ---- */

/* rule = letter (":" type)? ">"? "?"? */
static struct ptx_operand_rule take_rule(const char **text)
{
    struct ptx_operand_rule rule = {.letter = *(*text)++};

    if (rule.letter == 'p') {
        rule.type_code = 't';
        rule.type = PTX_TYPE_PRED;
    }
    if (**text == ':') {
        size_t len = strcspn(++*text, " >?");

        rule.type_code = len == 1 ? **text : 't';
        if (len > 1)
            rule.type = ptx_type_find((struct pxr_str){*text, len});
        *text += len;
    }
    if (**text == '>') {
        rule.may_be_wider = true;
        (*text)++;
    }
    if (**text == '?') {
        rule.is_optional = true;
        (*text)++;
    }
    return rule;
}

unsigned ptx_op_operand_rules(enum ptx_op op, struct ptx_operand_rule rules[PTX_MAX_RULES])
{
    const char *text = ptx_op_table[op].operands;
    unsigned count = 0;

    while (*text && count < PTX_MAX_RULES) {
        rules[count++] = take_rule(&text);
        text += *text == ' ';
    }
    return count;
}

bool ptx_rule_is_written(const struct ptx_operand_rule *rule, unsigned index)
{
    return strchr("dDuqQyHBR", rule->letter) != NULL || (rule->letter == 'r' && index == 0);
}

bool ptx_rule_is_matrix(const struct ptx_operand_rule *rule)
{
    return rule->letter == 'r' || rule->letter == 'R';
}

static enum ptx_type doubled(enum ptx_type type)
{
    switch (type) {
    case PTX_TYPE_U16:
        return PTX_TYPE_U32;
    case PTX_TYPE_S16:
        return PTX_TYPE_S32;
    case PTX_TYPE_U32:
        return PTX_TYPE_U64;
    case PTX_TYPE_S32:
        return PTX_TYPE_S64;
    default:
        return PTX_TYPE_NONE;
    }
}

enum ptx_type ptx_rule_type(const struct ptx_operand_rule *rule, const enum ptx_type *types)
{
    switch (rule->type_code) {
    case '\0':
        return PTX_TYPE_NONE;
    case 't':
        return rule->type;
    case 'w':
        return doubled(types[0]);
    default:
        return types[rule->type_code - '0'];
    }
}

bool ptx_rules_take_count(const struct ptx_operand_rule *rules, unsigned rule_count,
                          uint32_t operand_count)
{
    uint32_t required = 0;

    for (unsigned i = 0; i < rule_count; i++) {
        if (rules[i].letter == '*')
            return true;
        required += !rules[i].is_optional;
    }
    return operand_count >= required && operand_count <= rule_count;
}
