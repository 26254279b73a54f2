/* SPDX-License-Identifier: Apache-2.0
 *
 * One byte for eight, in memory that the system gives as it is touched: closed memory costs
 * nothing.
 */
#include "cudart/core/memory/shadow.h"

#include <string.h>
#include <sys/mman.h>

#include "cudart/core/check/findings.h"
#include "util/pages.h"

/* Shadows of this size are given back when they are closed, and not cleared. */
#define GIVEN_BACK_BYTES ((size_t)256 << 10)

static struct {
    uintptr_t begin;
    size_t size_bytes;
    uint8_t *bytes; /* NULL: there is none */
} shadow;

enum crt_result crt_shadow_create(uintptr_t begin, size_t size_bytes)
{
    if (!crt_check_is_on())
        return CRT_SUCCESS;
    void *bytes = mmap(NULL, size_bytes / RT_SHADOW_GRAIN + RT_SHADOW_SLACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED)
        return CRT_OUT_OF_MEMORY;
    shadow.begin = begin;
    shadow.size_bytes = size_bytes;
    shadow.bytes = bytes;
    return CRT_SUCCESS;
}

static bool is_inside(uintptr_t base, size_t size_bytes)
{
    return shadow.bytes && base - shadow.begin < shadow.size_bytes &&
           size_bytes <= shadow.size_bytes - (base - shadow.begin);
}

static uint8_t *byte_of(uintptr_t address)
{
    return shadow.bytes + (address - shadow.begin) / RT_SHADOW_GRAIN;
}

void crt_shadow_open(uintptr_t base, size_t size_bytes)
{
    if (!is_inside(base, size_bytes))
        return;
    uint8_t *first = byte_of(base);
    memset(first, RT_SHADOW_ALL, size_bytes / RT_SHADOW_GRAIN);
    if (size_bytes % RT_SHADOW_GRAIN)
        first[size_bytes / RT_SHADOW_GRAIN] = (uint8_t)(size_bytes % RT_SHADOW_GRAIN);
}

void crt_shadow_close(uintptr_t base, size_t size_bytes)
{
    if (!is_inside(base, size_bytes))
        return;
    uintptr_t first = (uintptr_t)byte_of(base);
    uintptr_t end = first + (size_bytes + RT_SHADOW_GRAIN - 1) / RT_SHADOW_GRAIN;
    uintptr_t pages = pxr_round_to_pages(first);
    uintptr_t pages_end = pxr_round_down_to_pages(end);
    if (end - first < GIVEN_BACK_BYTES ||
        madvise((void *)pages, pages_end - pages, MADV_DONTNEED) != 0) {
        memset((void *)first, 0, end - first);
        return;
    }
    memset((void *)first, 0, pages - first);
    memset((void *)pages_end, 0, end - pages_end);
}

/* Whether bytes [from, end) of a grain may be accessed. */
static bool is_open(uint8_t open, size_t from, size_t end)
{
    return open == RT_SHADOW_ALL || (from < end && end <= open);
}

bool crt_shadow_covers(uintptr_t address, size_t bytes)
{
    if (!is_inside(address, bytes))
        return false;
    while (bytes > 0) {
        size_t from = (address - shadow.begin) % RT_SHADOW_GRAIN;
        size_t here = RT_SHADOW_GRAIN - from < bytes ? RT_SHADOW_GRAIN - from : bytes;
        if (!is_open(*byte_of(address), from, from + here))
            return false;
        address += here;
        bytes -= here;
    }
    return true;
}

struct rt_checked crt_shadow_checked(void)
{
    return (struct rt_checked){
        .begin = shadow.begin, .size_bytes = shadow.size_bytes, .shadow = shadow.bytes};
}
