/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/memory/describe.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cudart/core/memory/freed.h"
#include "cudart/core/memory/memory.h"

/* An allocation further away than this has nothing to do with the access. */
#define NEAR_BYTES (UINT64_C(1) << 30)

struct crt_allocation crt_find_near(uint64_t address)
{
    struct crt_allocation near = {0};
    if (!crt_arena_nearest((uintptr_t)address, &near))
        return near;
    uint64_t end = (uint64_t)near.base + near.size_bytes;
    uint64_t distance = address < near.base ? near.base - address : address - end;
    bool is_inside = address >= near.base && address < end;
    if (!is_inside && distance > NEAR_BYTES && near.size_bytes < distance)
        near.base = 0;
    crt_memory_find(near.base, &near); /* of a pool: the size that was asked for */
    return near;
}

/* How the bytes lie to the block: "4 bytes after". */
static void write_relation(uint64_t address, uint64_t bytes, uint64_t begin, uint64_t end,
                           char *text, size_t cap)
{
    if (address < begin)
        snprintf(text, cap, "%" PRIu64 " bytes before", begin - address);
    else if (address >= end)
        snprintf(text, cap, "%" PRIu64 " bytes after", address - end);
    else if (bytes > end - address)
        snprintf(text, cap, "it goes %" PRIu64 " bytes beyond the end of", bytes - (end - address));
    else
        snprintf(text, cap, "%" PRIu64 " bytes inside", address - begin);
}

void crt_describe_near(uint64_t address, uint64_t bytes, const struct crt_allocation *near,
                       char where[CRT_WHERE_BYTES])
{
    char relation[64];
    if (!near->base) {
        snprintf(where, CRT_WHERE_BYTES, "address 0x%" PRIx64 ": %s", address,
                 address ? "nothing is near it" : "a null pointer");
        return;
    }
    write_relation(address, bytes, near->base, near->base + near->size_bytes, relation,
                   sizeof relation);
    snprintf(where, CRT_WHERE_BYTES, "address 0x%" PRIx64 ": %s the %zu-byte block at 0x%zx",
             address, relation, near->size_bytes, (size_t)near->base);
}

bool crt_describe_freed(uint64_t address, char where[CRT_WHERE_BYTES], struct crt_frames *frames)
{
    struct crt_freed freed;
    if (!crt_freed_find(address, &freed))
        return false;
    snprintf(where, CRT_WHERE_BYTES,
             "address 0x%" PRIx64 ": %zu bytes inside the %zu-byte block that was at 0x%zx",
             address, (size_t)(address - freed.base), freed.size_bytes, (size_t)freed.base);
    *frames = freed.frames;
    return true;
}

char *crt_describe_calls(const struct crt_frames *frames, const char *what,
                         char where[CRT_WHERE_BYTES])
{
    size_t len = strlen(where);
    if (frames->count == 0)
        return NULL;
    struct crt_host_place place = crt_frames_source(frames);
    if (place.file)
        snprintf(where + len, CRT_WHERE_BYTES - len, ", %s at %s:%" PRIu32, what, place.file,
                 place.line);
    return crt_frames_text(frames);
}
