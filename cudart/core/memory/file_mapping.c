/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of files as memory of a device.
 */
#include "cudart/core/memory/file_mapping.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include "cudart/core/base/device.h"
#include "util/guard.h"
#include "util/pages.h"

static bool is_within(const struct crt_file_part *part)
{
    struct stat status;
    return part->size_bytes && fstat(part->file, &status) == 0 &&
           part->size_bytes <= (uint64_t)status.st_size &&
           part->offset <= (uint64_t)status.st_size - part->size_bytes;
}

/* How far into its page an address or offset is. */
static size_t in_page(uint64_t place)
{
    return (size_t)(place % pxr_page_bytes());
}

/* The address of the part, whose page is mapped as a whole; 0 when that is not possible. */
static uintptr_t map(const struct crt_file_part *part)
{
    size_t before = in_page(part->offset);
    size_t bytes = before + (size_t)part->size_bytes;
    void *start = pxr_reserve(pxr_round_to_pages(bytes), pxr_page_bytes(), CRT_MAPPING_GUARD_BYTES);
    if (!start)
        return 0;
    if (mmap(start, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, part->file,
             (off_t)(part->offset - before)) == MAP_FAILED) {
        pxr_unreserve(start, pxr_round_to_pages(bytes), CRT_MAPPING_GUARD_BYTES);
        return 0;
    }
    madvise(start, bytes, MADV_DONTFORK);
    return (uintptr_t)start + before;
}

void crt_file_unmap(uintptr_t base, size_t size_bytes)
{
    size_t before = in_page(base);
    pxr_unreserve((void *)(base - before), pxr_round_to_pages(before + size_bytes),
                  CRT_MAPPING_GUARD_BYTES);
}

enum crt_result crt_file_map(const struct crt_file_part *part, enum crt_memory kind,
                             struct crt_context *ctx, int device, struct crt_allocation *mapped)
{
    uintptr_t base = is_within(part) ? map(part) : 0;
    if (!base)
        return CRT_MAP_FAILED;
    *mapped = (struct crt_allocation){.base = base,
                                      .size_bytes = (size_t)part->size_bytes,
                                      .kind = kind,
                                      .access = CRT_ACCESS_ALL,
                                      .ctx = ctx,
                                      .device = device};
    if (crt_arena_place(mapped) == CRT_SUCCESS && crt_arena_find(base, mapped))
        return CRT_SUCCESS;
    crt_file_unmap(base, (size_t)part->size_bytes);
    return CRT_MAP_FAILED;
}
