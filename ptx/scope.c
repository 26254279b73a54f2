/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of names, one per scope.
 */
#include "ptx/scope.h"

#include "ptx/hash.h"

struct ptx_symbol {
    struct pxr_str name;
    struct ptx_symbol_value value;
    UT_hash_handle hh;
};

static struct ptx_symbol *find(struct ptx_symbol *table, struct pxr_str name, unsigned hash)
{
    struct ptx_symbol *symbol = NULL;

    HASH_FIND_BYHASHVALUE(hh, table, name.ptr, name.len, hash, symbol);
    return symbol;
}

static unsigned hash_of(struct pxr_str name)
{
    unsigned hash;

    HASH_VALUE(name.ptr, name.len, hash);
    return hash;
}

enum ptx_define_result ptx_scope_define(struct ptx_scope *scope, struct pxr_arena *arena,
                                        struct pxr_str name, struct ptx_symbol_value value)
{
    struct pxr_arena *hash_arena = arena;
    bool hash_failed = false;
    bool is_range = value.kind == PTX_SYMBOL_RANGE || value.kind == PTX_SYMBOL_LOST_RANGE;
    struct ptx_symbol **table = is_range ? &scope->ranges : &scope->names;
    unsigned hash = hash_of(name);
    struct ptx_symbol *symbol = find(*table, name, hash);

    if (symbol && symbol->value.kind != PTX_SYMBOL_LOST &&
        symbol->value.kind != PTX_SYMBOL_LOST_RANGE)
        return PTX_DEFINE_DUPLICATE;
    if (symbol) {
        symbol->value = value;
        return PTX_DEFINE_OK;
    }
    symbol = pxr_arena_alloc(arena, sizeof(*symbol));
    if (!symbol)
        return PTX_DEFINE_NO_MEMORY;
    symbol->name = name;
    symbol->value = value;
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, *table, symbol->name.ptr, symbol->name.len, hash, symbol);
    return hash_failed ? PTX_DEFINE_NO_MEMORY : PTX_DEFINE_OK;
}

const struct ptx_symbol_value *ptx_scope_find_here(const struct ptx_scope *scope,
                                                   struct pxr_str name)
{
    struct ptx_symbol *symbol = find(scope->names, name, hash_of(name));

    return symbol ? &symbol->value : NULL;
}

bool ptx_scope_has_range(const struct ptx_scope *scope, struct pxr_str prefix)
{
    return find(scope->ranges, prefix, hash_of(prefix)) != NULL;
}

static bool has_number(const struct ptx_symbol_value *value, uint64_t number)
{
    return value->kind == PTX_SYMBOL_LOST_RANGE || number < value->range->count;
}

/* A number may begin with zeros: %r01 is %r1 of %r<2>. The prefix of a range may itself end in
 * digits (%r1<10> has %r10 … %r19), so every split of the name into prefix and number is tried; all
 * digits are the number where there is such a range. */
static const struct ptx_symbol_value *find_range(const struct ptx_scope *scope, struct pxr_str name)
{
    const struct ptx_symbol_value *value = NULL;
    uint64_t number = 0;
    uint64_t place = 1;

    if (!scope->ranges)
        return NULL;
    for (size_t len = name.len; len-- > 1;) {
        unsigned digit = (unsigned)(name.ptr[len] - '0');
        struct ptx_symbol *symbol;

        if (digit > 9 || (digit > 0 && place > UINT64_C(1000000000)))
            break;
        number += digit * place;
        if (place <= UINT64_C(1000000000))
            place *= 10;
        symbol = find(scope->ranges, (struct pxr_str){name.ptr, len},
                      hash_of((struct pxr_str){name.ptr, len}));
        if (symbol && has_number(&symbol->value, number))
            value = &symbol->value;
    }
    return value;
}

const struct ptx_symbol_value *ptx_scope_find(struct ptx_scope **scope, struct pxr_str name)
{
    unsigned hash = hash_of(name);

    for (; *scope; *scope = (*scope)->parent) {
        struct ptx_symbol *symbol = find((*scope)->names, name, hash);
        const struct ptx_symbol_value *value = symbol ? &symbol->value : find_range(*scope, name);

        if (value)
            return value;
    }
    return NULL;
}
