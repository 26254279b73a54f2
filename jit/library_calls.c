/* SPDX-License-Identifier: Apache-2.0
 *
 * See library_calls.h. The table is the same for every processor: a test compiles for several and
 * looks up here what their code wants (tests/unit/jit/test_library_calls.c).
 */
#include "jit/library_calls.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* The compiler's own support library; only the addresses matter here. */
void __divti3(void);
void __modti3(void);
void __udivti3(void);
void __umodti3(void);
void __fixsfti(void);
void __fixdfti(void);
void __fixunssfti(void);
void __fixunsdfti(void);
void __floattisf(void);
void __floattidf(void);
void __floatuntisf(void);
void __floatuntidf(void);

#define SERVED(name, own) {#name, (void (*)(void))own}
#define CALL(name)        SERVED(name, name)

const struct jit_library_call jit_library_calls[] = {
    /* aggregates */
    CALL(memcpy),
    CALL(memmove),
    CALL(memset),
    /* frem; fused and rounding operations on processors without instructions for them */
    CALL(fmod),
    CALL(fmodf),
    CALL(fma),
    CALL(fmaf),
    CALL(ceil),
    CALL(ceilf),
    CALL(floor),
    CALL(floorf),
    CALL(nearbyint),
    CALL(nearbyintf),
    CALL(rint),
    CALL(rintf),
    CALL(round),
    CALL(roundf),
    CALL(roundeven),
    CALL(roundevenf),
    CALL(trunc),
    CALL(truncf),
    CALL(fmin),
    CALL(fminf),
    CALL(fmax),
    CALL(fmaxf),
    /* 128-bit integers */
    CALL(__divti3),
    CALL(__modti3),
    CALL(__udivti3),
    CALL(__umodti3),
    CALL(__fixsfti),
    CALL(__fixdfti),
    CALL(__fixunssfti),
    CALL(__fixunsdfti),
    CALL(__floattisf),
    CALL(__floattidf),
    CALL(__floatuntisf),
    CALL(__floatuntidf),
    SERVED(__fixhfti, jit_half_to_i128),
    SERVED(__fixunshfti, jit_half_to_u128),
    SERVED(__floattihf, jit_i128_to_half),
    SERVED(__floatuntihf, jit_u128_to_half),
    /* floats of 16 bits */
    SERVED(__extendhfsf2, jit_extend_half),
    SERVED(__truncsfhf2, jit_float_to_half),
    SERVED(__truncdfhf2, jit_double_to_half),
    SERVED(__truncsfbf2, jit_float_to_bfloat),
    SERVED(__truncdfbf2, jit_double_to_bfloat),
};

const size_t jit_library_call_count = sizeof jit_library_calls / sizeof jit_library_calls[0];

void *jit_library_call_address(const char *name)
{
    for (size_t i = 0; i < jit_library_call_count; i++)
        if (strcmp(jit_library_calls[i].name, name) == 0)
            return (void *)(uintptr_t)jit_library_calls[i].function;
    return NULL;
}
