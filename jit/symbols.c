/* SPDX-License-Identifier: Apache-2.0
 *
 * The whitelist: the scheduler's half of scheduler/rt.h, and the library functions that LLVM's code
 * generator calls on its own. Everything else an object asks for is refused when it is loaded.
 */
#include "jit/symbols.h"

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "scheduler/rt.h"

/* The compiler's own support library; only the addresses matter here. */
void __divti3(void);
void __modti3(void);
void __udivti3(void);
void __umodti3(void);
#if defined(__x86_64__)
/* Half precision, on processors without F16C. */
void __extendhfsf2(void);
void __truncsfhf2(void);
void __truncdfhf2(void);
#endif

struct symbol {
    const char *name;
    void (*function)(void);
};

#define SYMBOL(name)                                                                               \
    {                                                                                              \
#name, (void (*)(void))name                                                                \
    }

static const struct symbol symbols[] = {
    /* scheduler/rt.h */
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
    /* aggregates */
    SYMBOL(memcpy),
    SYMBOL(memmove),
    SYMBOL(memset),
    /* frem; fused and rounding operations on processors without instructions for them */
    SYMBOL(fmod),
    SYMBOL(fmodf),
    SYMBOL(fma),
    SYMBOL(fmaf),
    SYMBOL(ceil),
    SYMBOL(ceilf),
    SYMBOL(floor),
    SYMBOL(floorf),
    SYMBOL(nearbyint),
    SYMBOL(nearbyintf),
    SYMBOL(rint),
    SYMBOL(rintf),
    SYMBOL(roundeven),
    SYMBOL(roundevenf),
    SYMBOL(trunc),
    SYMBOL(truncf),
    /* 128-bit integers */
    SYMBOL(__divti3),
    SYMBOL(__modti3),
    SYMBOL(__udivti3),
    SYMBOL(__umodti3),
#if defined(__x86_64__)
    SYMBOL(__extendhfsf2),
    SYMBOL(__truncsfhf2),
    SYMBOL(__truncdfhf2),
#endif
};

void *jit_symbol_address(const char *name)
{
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++)
        if (strcmp(symbols[i].name, name) == 0)
            return (void *)(uintptr_t)symbols[i].function;
    return NULL;
}
