/* SPDX-License-Identifier: Apache-2.0
 *
 * What the trampolines between tests and the CUDA API lead to.
 */
#include "api_calls.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cudart/core/base/result.h"

/* Weak: a program may have the driver only. */
#define BRIDGED(name) __attribute__((weak)) void name(void);
#include BRIDGE_LIST
#undef BRIDGED

static const struct {
    const char *name;
    void (*function)(void);
} functions[] = {
#define BRIDGED(name) {#name, name},
#include BRIDGE_LIST
#undef BRIDGED
};

/* Written by any thread, always the same values. */
extern _Atomic(uintptr_t) bridge_slots[sizeof functions / sizeof functions[0]];

uintptr_t bridge_first_use(_Atomic(uintptr_t) *slot);

_Thread_local int api_wanted;

/* A file without contents, as a test may limit the size of files. */
static void write_down(const char *function)
{
    const char *dir = getenv("API_CALLS_DIR");
    if (!dir || !criterion_current_test)
        return;
    char path[512];
    snprintf(path, sizeof path, "%s/%s.%s.%s", dir, criterion_current_test->category,
             criterion_current_test->name, function);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        abort();
    close(fd);
}

static uintptr_t do_nothing(void)
{
    return 0;
}

/* "Not ready" is an answer, no error. */
static bool expects_error(void)
{
    return api_wanted != CRT_SUCCESS && api_wanted != CRT_NOT_READY;
}

/* Called by the trampolines until the slot is filled: where a call goes. The slot of a function
 * that is to do nothing stays empty. */
uintptr_t bridge_first_use(_Atomic(uintptr_t) *slot)
{
    size_t i = (size_t)(slot - bridge_slots);
    uintptr_t function = (uintptr_t)functions[i].function;
    const char *without = getenv("API_CALLS_WITHOUT");
    write_down(functions[i].name);
    if (without && strcmp(without, functions[i].name) == 0)
        return expects_error() ? function : (uintptr_t)do_nothing;
    atomic_store_explicit(slot, function, memory_order_relaxed);
    return function;
}

const void *api_address(const char *name)
{
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        if (strcmp(functions[i].name, name) == 0)
            return (const void *)(uintptr_t)functions[i].function;
    return NULL;
}
