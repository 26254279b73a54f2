/* SPDX-License-Identifier: Apache-2.0
 *
 * The whitelist: the placeholders that the scheduler and translator/rt define, and library_calls.c.
 * An object that refers to any other symbol is refused.
 */
#include "jit/symbols.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "jit/library_calls.h"
#include "kernel_abi/rt.h"

struct symbol {
    const char *name;
    void (*function)(void);
};

#define SYMBOL(name) {#name, (void (*)(void))name},

/* Arrive forms of sync points. */
#define ARRIVE(name) SYMBOL(rt_arrive_##name)
#define ARRIVE_NONE(name)
#define ARRIVE_BARRIER             ARRIVE
#define ARRIVE_BARRIER_RED         ARRIVE
#define ARRIVE_WARP                ARRIVE
#define ARRIVE_LINE_UP             ARRIVE
#define ARRIVE_CLUSTER             ARRIVE
#define ARRIVE_OTHER               ARRIVE

#define FROM_SCHEDULER(name, sync) SYMBOL(rt_##name) ARRIVE_##sync(name)
#define FROM_HOST(name, sync)
#define FROM_CODE(name, sync)
#define FROM_NATIVE(name, sync) SYMBOL(rt_##name)

static const struct symbol symbols[] = {
#define PLACEHOLDER(ID, name, home, gives, takes, sync, ...) FROM_##home(name, sync)
#include "kernel_abi/placeholders.def"
#undef PLACEHOLDER
    /* Called by generated code of collapses. */
    SYMBOL(rt_block_mix) SYMBOL(rt_arrive_looped_bar_sync) SYMBOL(rt_block_cluster_wait)
        SYMBOL(rt_result)};

void *jit_symbol_address(const char *name)
{
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        if (strcmp(symbols[i].name, name) == 0)
            return (void *)(uintptr_t)symbols[i].function;
    return jit_library_call_address(name);
}

static struct {
    pthread_once_t once;
    struct jit_symbol *symbols;
    size_t count;
} table = {.once = PTHREAD_ONCE_INIT};

static void make_table(void)
{
    size_t own_count = sizeof symbols / sizeof symbols[0];
    table.count = own_count + jit_library_call_count;
    table.symbols = calloc(table.count, sizeof *table.symbols);
    for (size_t i = 0; i < table.count && table.symbols; i++) {
        bool is_own = i < own_count;
        const struct jit_library_call *call = is_own ? NULL : &jit_library_calls[i - own_count];
        table.symbols[i].name = is_own ? symbols[i].name : call->name;
        table.symbols[i].address =
            (void *)(uintptr_t)(is_own ? symbols[i].function : call->function);
    }
}

const struct jit_symbol *jit_symbol_table(size_t *count)
{
    pthread_once(&table.once, make_table);
    *count = table.count;
    return table.symbols;
}
