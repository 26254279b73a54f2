/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that only some threads may access: the processor's protection keys (x86: pkeys(7)). There
 * is one key. Threads may not use it until they say that they do; a handler of a signal begins
 * without it, whatever it has interrupted. Without a key nothing here does anything.
 */
#ifndef PTXRUN_UTIL_PROTECTION_KEY_H
#define PTXRUN_UTIL_PROTECTION_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Once, before threads that are to use it. False: the processor or the system has none. */
bool pxr_key_make(void);

/* Whether the calling thread may access memory that is locked; from now on. */
bool pxr_key_is_held(void);
void pxr_key_hold(bool holds);

/* Whole pages that can be read and written: for threads that hold the key only; for all. */
void pxr_key_lock(uintptr_t base, size_t size_bytes);
void pxr_key_unlock(uintptr_t base, size_t size_bytes);

#endif
