/* SPDX-License-Identifier: Apache-2.0
 *
 * Spellings of opcodes, "ld.global.nc.v4.f32", to row, types and modifiers. A module uses few
 * spellings many times, so each is decoded once and kept.
 */
#include "ptx/hash.h"
#include "ptx/nearest.h"
#include "ptx/parse.h"

struct ptx_opcode {
    struct pxr_str text;
    enum ptx_op op;
    uint8_t type_count;
    uint8_t mod_count;
    enum ptx_type types[PTX_MAX_TYPES];
    enum ptx_mod mods[PTX_MAX_MODS];
    uint64_t groups;
    unsigned rule_count;
    struct ptx_operand_rule rules[PTX_MAX_RULES];
    struct ptx_need need;
    UT_hash_handle hh;
};

/* The part up to the next dot that begins a suffix; removes it and the dot from *rest. */
static struct pxr_str next_part(struct pxr_str *rest)
{
    const char *dot = memchr(rest->ptr, '.', rest->len);
    size_t len = dot ? (size_t)(dot - rest->ptr) : rest->len;
    struct pxr_str part = {rest->ptr, len};

    rest->ptr += len + (dot != NULL);
    rest->len -= len + (dot != NULL);
    return part;
}

/* A type while there is room for one, else a modifier. */
static bool add_suffix(struct ptx_opcode *opcode, struct pxr_str part)
{
    enum ptx_type type = ptx_type_find(part);
    enum ptx_mod mod;

    if (type != PTX_TYPE_NONE && opcode->type_count < PTX_MAX_TYPES) {
        opcode->types[opcode->type_count++] = type;
        return true;
    }
    mod = ptx_mod_find(part);
    if (mod == PTX_MOD_NONE)
        mod = PTX_MOD_OTHER;
    if (opcode->mod_count == PTX_MAX_MODS)
        return false;
    opcode->mods[opcode->mod_count++] = mod;
    opcode->groups |= ptx_mod_table[mod].groups;
    return true;
}

/* Reports what is wrong with a spelling, and the allowed ones. */
static bool fail_spelling(struct ptx_parser *p, const struct ptx_token *token)
{
    struct pxr_str words[PTX_MAX_TYPES + PTX_MAX_MODS];
    struct pxr_str rest = token->text;
    struct pxr_str name = next_part(&rest);
    unsigned count = 0;
    char allowed[400];

    while (rest.len > 0 && count < PTX_MAX_TYPES + PTX_MAX_MODS)
        words[count++] = next_part(&rest);
    ptx_print_nearest(name, words, count, allowed, sizeof(allowed));
    for (unsigned i = 0; i < count; i++)
        if (!ptx_op_mentions(name, words[i]))
            return ptx_fail_at(p, token, "'%.*s' cannot have '.%.*s'; allowed: %s",
                               PXR_STR_ARG(name), PXR_STR_ARG(words[i]), allowed);
    return ptx_fail_at(p, token,
                       "'%.*s' is not a combination of type and modifiers that '%.*s' has; "
                       "allowed: %s",
                       PXR_STR_ARG(token->text), PXR_STR_ARG(name), allowed);
}

static bool decode(struct ptx_parser *p, const struct ptx_token *token, struct ptx_opcode *opcode)
{
    struct pxr_str rest = token->text;
    struct pxr_str name = next_part(&rest);

    opcode->text = token->text;
    if (!ptx_op_exists(name))
        return ptx_fail_at(p, token, "'%.*s' is not a PTX instruction", PXR_STR_ARG(name));
    while (rest.len > 0)
        if (!add_suffix(opcode, next_part(&rest)))
            return ptx_fail_at(p, token, "'%.*s' has too many modifiers", PXR_STR_ARG(token->text));
    opcode->op = ptx_op_choose(name, opcode->types, opcode->type_count, opcode->mods,
                               opcode->mod_count, PTX_ANY_OPERAND_COUNT);
    if (opcode->op != PTX_OP_COUNT) {
        opcode->rule_count = ptx_op_operand_rules(opcode->op, opcode->rules);
        opcode->need = ptx_op_need(opcode->op, opcode->types, opcode->type_count, opcode->mods,
                                   opcode->mod_count);
        return true;
    }
    return fail_spelling(p, token);
}

static struct ptx_opcode *find_or_decode(struct ptx_parser *p, const struct ptx_token *token)
{
    struct pxr_arena *hash_arena = &p->scratch;
    bool hash_failed = false;
    struct ptx_opcode *opcode = NULL;

    HASH_FIND(hh, p->opcodes, token->text.ptr, token->text.len, opcode);
    if (opcode)
        return opcode;
    opcode = pxr_arena_alloc(&p->scratch, sizeof(*opcode));
    if (!opcode) {
        ptx_fail_memory(p);
        return NULL;
    }
    if (!decode(p, token, opcode))
        return NULL;
    HASH_ADD_KEYPTR(hh, p->opcodes, opcode->text.ptr, opcode->text.len, opcode);
    if (hash_failed) {
        ptx_fail_memory(p);
        return NULL;
    }
    return opcode;
}

bool ptx_decode_opcode(struct ptx_parser *p, const struct ptx_token *token, struct ptx_inst *inst)
{
    const struct ptx_opcode *opcode = find_or_decode(p, token);

    if (!opcode)
        return false;
    inst->op = opcode->op;
    inst->type_count = opcode->type_count;
    inst->mod_count = opcode->mod_count;
    memcpy(inst->types, opcode->types, sizeof(inst->types));
    memcpy(inst->mods, opcode->mods, sizeof(inst->mods));
    inst->groups = opcode->groups;
    p->rules = opcode->rules;
    p->rule_count = opcode->rule_count;
    p->need = opcode->need;
    return true;
}
