/* SPDX-License-Identifier: Apache-2.0
 *
 * The whitelist: the placeholders that are at home in the scheduler, and library_calls.c.
 * Everything else an object asks for is refused when it is loaded.
 */
#include "jit/symbols.h"

#include <stddef.h>
#include <stdint.h>
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
#define ARRIVE_OTHER               ARRIVE

#define FROM_SCHEDULER(name, sync) SYMBOL(rt_##name) ARRIVE_##sync(name)
#define FROM_HOST(name, sync)
#define FROM_CODE(name, sync)

static const struct symbol symbols[] = {
#define PLACEHOLDER(ID, name, home, gives, takes, sync, ...) FROM_##home(name, sync)
#include "kernel_abi/placeholders.def"
#undef PLACEHOLDER
    /* Called by what collapses make. */
    SYMBOL(rt_block_mix) SYMBOL(rt_result)};

void *jit_symbol_address(const char *name)
{
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        if (strcmp(symbols[i].name, name) == 0)
            return (void *)(uintptr_t)symbols[i].function;
    return jit_library_call_address(name);
}
