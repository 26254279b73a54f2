/* SPDX-License-Identifier: Apache-2.0
 *
 * Fills the slots of the trampolines from the table of another library of ours. It is asked by a
 * handle: a name that is looked up in the usual way would be found in the program first.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BRIDGED(name) +1
enum {
    FUNCTION_COUNT = 0
#include BRIDGE_LIST
};

#define TEXT_OF(name) #name
#define NAME_OF(name) TEXT_OF(name)

/* Written by any thread, always the same values. */
extern _Atomic(uintptr_t) bridge_slots[FUNCTION_COUNT];

uintptr_t bridge_first_use(const _Atomic(uintptr_t) *slot);

/* The library is there already, since this one needs it, and is found as the loader has found it:
 * by its name among those that are loaded. */
static bool fill_slots(void)
{
    void *library = dlopen(BRIDGE_LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return false;
    const uintptr_t *table = dlsym(library, NAME_OF(BRIDGE_TABLE));
    bool is_same_list = table && table[0] == BRIDGE_NUMBER;
    for (size_t i = 0; is_same_list && i < FUNCTION_COUNT; i++)
        atomic_store_explicit(&bridge_slots[i], table[1 + i], memory_order_relaxed);
    dlclose(library);
    return is_same_list;
}

/* So that no call has to wait for the loader's lock later, which a thread that waits for the
 * calling one may hold. A library of another version is left for the first call to report. */
__attribute__((constructor)) static void fill_slots_early(void)
{
    fill_slots();
}

/* Called by the trampolines of calls that come before the constructor: where the call of a slot
 * goes. */
uintptr_t bridge_first_use(const _Atomic(uintptr_t) *slot)
{
    if (fill_slots())
        return atomic_load_explicit(slot, memory_order_relaxed);
    fputs("ptxrun: error: " BRIDGE_LIBRARY " belongs to another version of ptxrun\n", stderr);
    abort();
}
