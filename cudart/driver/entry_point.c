/* SPDX-License-Identifier: Apache-2.0
 *
 * cuGetProcAddress: from a name without suffix and a version to a function.
 */
#include <stdlib.h>
#include <string.h>

#include "cudart/core/code/module.h"
#include "cudart/driver/entry_point.h"
#include "cudart/driver/internal.h"

/* Functions that the header does not declare are only named here, not called. */
#define IMPLEMENTED(name)
#define MISSING(name) extern char name[];
#include "cudart/driver/symbols.def"
#undef IMPLEMENTED
#undef MISSING

struct entry {
    const char *name;
    int version;
    int is_per_thread;
    const void *function;
};

static const struct entry entries[] = {
#define ENTRY(name, version, is_per_thread, symbol)                                                \
    {#name, version, is_per_thread, (const void *)symbol},
#include "cudart/driver/entry_points.def"
#undef ENTRY
};

#define ENTRY_COUNT (sizeof entries / sizeof entries[0])

static int compare_name(const void *key, const void *element)
{
    const struct entry *entry = element;
    return strcmp(key, entry->name);
}

/* The newest form of at most this version; per-thread forms only when asked for. */
static const struct entry *choose(const struct entry *first, const struct entry *end, int version,
                                  int is_per_thread)
{
    const struct entry *chosen = NULL;
    for (const struct entry *entry = first; entry < end; entry++)
        if (entry->is_per_thread == is_per_thread && entry->version <= version)
            chosen = entry;
    return chosen;
}

CUdriverProcAddressQueryResult entry_point_find(const char *name, int version, cuuint64_t flags,
                                                void **function)
{
    *function = NULL;
    const struct entry *found =
        bsearch(name, entries, ENTRY_COUNT, sizeof entries[0], compare_name);
    if (!found)
        return CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const struct entry *first = found;
    while (first > entries && strcmp(first[-1].name, name) == 0)
        first--;
    const struct entry *end = found;
    while (end < entries + ENTRY_COUNT && strcmp(end->name, name) == 0)
        end++;
    const struct entry *chosen = NULL;
    if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
        chosen = choose(first, end, version, 1);
    if (!chosen)
        chosen = choose(first, end, version, 0);
    if (!chosen)
        return CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    *function = (void *)(uintptr_t)chosen->function;
    return CU_GET_PROC_ADDRESS_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char *name, void **function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status)
{
    const cuuint64_t known =
        CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if (!name || !function || (flags & ~known) || flags == known)
        return CRT_INVALID_VALUE;
    /* A runtime that begins: the one inside a closed library shows itself by its address. */
    if (strcmp(name, "cuInit") == 0)
        crt_vendor_note(__builtin_return_address(0));
    CUdriverProcAddressQueryResult answer = entry_point_find(name, version, flags, function);
    if (status)
        *status = answer;
    return answer == CU_GET_PROC_ADDRESS_SUCCESS ? CRT_SUCCESS : CRT_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags)
{
    return cuGetProcAddress_v2(name, function, version, flags, NULL);
}
