/* SPDX-License-Identifier: Apache-2.0
 *
 * See tally.h.
 */
#include "cudart/core/code/tally.h"

#include <stdatomic.h>

#include "cudart/core/base/process.h"
#include "cudart/core/code/code_cache.h"

static struct {
    _Atomic uint64_t looks[CACHE_KIND_COUNT][2]; /* [1]: that have found something */
    _Atomic uint64_t spent_ns;
    _Atomic uint64_t saved_ns;
    atomic_bool is_forgone;
} tally;

static void add(_Atomic uint64_t *count, uint64_t more)
{
    atomic_fetch_add_explicit(count, more, memory_order_relaxed);
}

void crt_tally_look(enum cache_kind kind, bool is_hit)
{
    add(&tally.looks[kind][is_hit], 1);
}

static uint64_t price_ns(const struct jit_object *object)
{
    return object->translate_ns + object->optimise_ns + object->codegen_ns;
}

void crt_tally_spent(const struct jit_object *object)
{
    add(&tally.spent_ns, price_ns(object));
}

void crt_tally_saved(const struct jit_object *object)
{
    add(&tally.saved_ns, price_ns(object));
}

void crt_tally_forgo(void)
{
    atomic_store(&tally.is_forgone, true);
}

/* An ELF destructor, not atexit: it runs after the program's own handlers and its runtime's. Who
 * has looked for nothing has not opened the cache. */
__attribute__((destructor)) static void add_at_exit(void)
{
    struct cache_counts counts = {.spent_ns = tally.spent_ns, .saved_ns = tally.saved_ns};
    for (int kind = 0; kind < CACHE_KIND_COUNT; kind++) {
        counts.misses[kind] = tally.looks[kind][0];
        counts.hits[kind] = tally.looks[kind][1];
        counts.processes |= counts.misses[kind] + counts.hits[kind] > 0;
    }
    if (counts.processes && !atomic_load(&tally.is_forgone) && crt_check_ready() == CRT_SUCCESS)
        cache_counts_add(crt_code_cache(), &counts);
}
