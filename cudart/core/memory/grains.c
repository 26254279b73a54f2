/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/memory/grains.h"

#include <string.h>
#include <sys/mman.h>

#include "util/pages.h"

/* Shadows of this size are given back when they are cleared. */
#define GIVEN_BACK_BYTES ((size_t)256 << 10)

enum crt_result crt_grains_create(struct crt_grains *grains, uintptr_t begin, size_t size_bytes)
{
    void *bytes = mmap(NULL, size_bytes / RT_SHADOW_GRAIN + RT_SHADOW_SLACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED)
        return CRT_OUT_OF_MEMORY;
    *grains = (struct crt_grains){.begin = begin, .size_bytes = size_bytes, .bytes = bytes};
    return CRT_SUCCESS;
}

void crt_grains_clear(const struct crt_grains *grains, uintptr_t base, size_t size_bytes)
{
    uintptr_t first = (uintptr_t)crt_grain_of(grains, base);
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

struct rt_checked crt_grains_checked(const struct crt_grains *grains)
{
    return (struct rt_checked){
        .begin = grains->begin, .size_bytes = grains->size_bytes, .shadow = grains->bytes};
}
