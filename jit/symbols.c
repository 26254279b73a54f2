/* SPDX-License-Identifier: Apache-2.0
 *
 * The whitelist: the scheduler's half of kernel_abi/rt.h, and library_calls.c. Everything else an
 * object asks for is refused when it is loaded.
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

#define SYMBOL(name) {#name, (void (*)(void))name}

static const struct symbol symbols[] = {
    SYMBOL(rt_bar_sync),
    SYMBOL(rt_bar_arrive),
    SYMBOL(rt_bar_red),
    SYMBOL(rt_warp_sync),
    SYMBOL(rt_shfl),
    SYMBOL(rt_vote),
    SYMBOL(rt_match),
    SYMBOL(rt_redux),
    SYMBOL(rt_activemask),
    SYMBOL(rt_warp_converge),
    SYMBOL(rt_elect),
    SYMBOL(rt_poll),
    SYMBOL(rt_nanosleep),
    SYMBOL(rt_exit),
    SYMBOL(rt_fault),
    SYMBOL(rt_unsupported),
    SYMBOL(rt_block_mix),
    SYMBOL(rt_arrive_bar_sync),
    SYMBOL(rt_arrive_bar_arrive),
    SYMBOL(rt_arrive_bar_red),
    SYMBOL(rt_arrive_warp_sync),
    SYMBOL(rt_arrive_shfl),
    SYMBOL(rt_arrive_vote),
    SYMBOL(rt_arrive_match),
    SYMBOL(rt_arrive_redux),
    SYMBOL(rt_arrive_activemask),
    SYMBOL(rt_arrive_elect),
    SYMBOL(rt_arrive_warp_converge),
    SYMBOL(rt_arrive_poll),
    SYMBOL(rt_arrive_nanosleep),
    SYMBOL(rt_result),
    SYMBOL(rt_clock),
    SYMBOL(rt_globaltimer),
};

void *jit_symbol_address(const char *name)
{
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        if (strcmp(symbols[i].name, name) == 0)
            return (void *)(uintptr_t)symbols[i].function;
    return jit_library_call_address(name);
}
