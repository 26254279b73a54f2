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

static struct ptx_symbol *find(struct ptx_symbol *table, struct pxr_str name)
{
    struct ptx_symbol *symbol = NULL;

    HASH_FIND(hh, table, name.ptr, name.len, symbol);
    return symbol;
}

enum ptx_define_result ptx_scope_define(struct ptx_scope *scope, struct pxr_arena *arena,
                                        struct pxr_str name, struct ptx_symbol_value value)
{
    struct pxr_arena *hash_arena = arena;
    bool hash_failed = false;
    struct ptx_symbol **table = value.kind == PTX_SYMBOL_RANGE ? &scope->ranges : &scope->names;
    struct ptx_symbol *symbol;

    if (find(*table, name))
        return PTX_DEFINE_DUPLICATE;
    symbol = pxr_arena_alloc(arena, sizeof(*symbol));
    if (!symbol)
        return PTX_DEFINE_NO_MEMORY;
    symbol->name = name;
    symbol->value = value;
    HASH_ADD_KEYPTR(hh, *table, symbol->name.ptr, symbol->name.len, symbol);
    return hash_failed ? PTX_DEFINE_NO_MEMORY : PTX_DEFINE_OK;
}

const struct ptx_symbol_value *ptx_scope_find_here(const struct ptx_scope *scope,
                                                   struct pxr_str name)
{
    struct ptx_symbol *symbol = find(scope->names, name);

    return symbol ? &symbol->value : NULL;
}

/* The prefix of a range may itself end in digits (%r1<10> has %r10 … %r19), so every split of
 * the name into prefix and number is tried. */
const struct ptx_reg_range *ptx_scope_find_range(const struct ptx_scope *scope, struct pxr_str name,
                                                 uint64_t *number)
{
    uint64_t value = 0;
    uint64_t place = 1;

    if (!scope->ranges)
        return NULL;
    for (size_t len = name.len; len-- > 1;) {
        unsigned digit = (unsigned)(name.ptr[len] - '0');
        bool leads_with_zero = digit == 0 && len + 1 < name.len;
        struct ptx_symbol *symbol;

        if (digit > 9 || place > UINT64_C(1000000000))
            return NULL;
        value += digit * place;
        place *= 10;
        if (leads_with_zero)
            continue;
        symbol = find(scope->ranges, (struct pxr_str){name.ptr, len});
        if (symbol && value < symbol->value.range->count) {
            *number = value;
            return symbol->value.range;
        }
    }
    return NULL;
}
