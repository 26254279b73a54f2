/* SPDX-License-Identifier: Apache-2.0 */
#include "util/protection_key.h"

#include <sys/mman.h>

#ifdef PKEY_DISABLE_ACCESS
static int key = -1;

bool pxr_key_make(void)
{
    key = pkey_alloc(0, PKEY_DISABLE_ACCESS);
    return key >= 0;
}

bool pxr_key_is_held(void)
{
    return key >= 0 && pkey_get(key) == 0;
}

void pxr_key_hold(bool holds)
{
    if (key >= 0)
        pkey_set(key, holds ? 0 : PKEY_DISABLE_ACCESS);
}

static void set_key(uintptr_t base, size_t size_bytes, int to)
{
    if (key >= 0)
        pkey_mprotect((void *)base, size_bytes, PROT_READ | PROT_WRITE, to);
}

void pxr_key_lock(uintptr_t base, size_t size_bytes)
{
    set_key(base, size_bytes, key);
}

void pxr_key_unlock(uintptr_t base, size_t size_bytes)
{
    set_key(base, size_bytes, 0);
}
#else
bool pxr_key_make(void)
{
    return false;
}

bool pxr_key_is_held(void)
{
    return false;
}

void pxr_key_hold(bool holds)
{
    (void)holds;
}

void pxr_key_lock(uintptr_t base, size_t size_bytes)
{
    (void)base;
    (void)size_bytes;
}

void pxr_key_unlock(uintptr_t base, size_t size_bytes)
{
    (void)base;
    (void)size_bytes;
}
#endif
