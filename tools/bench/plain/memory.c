/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of a machine, for `ptxbench limits`; see memory.h.
 */
#include "tools/bench/plain/memory.h"

#include "tools/bench/plain/vector.h"

#define LINE_BYTES 64
#define PAGE_BYTES 4096
#define AHEAD      16 /* pages */

/* The compiler knows nothing of the value, or of memory. */
#if defined __x86_64__
#define KEEP(value) __asm__ volatile("" : "+v"(value))
#else
#define KEEP(value) __asm__ volatile("" : "+w"(value))
#endif
#define FORGET(pointer) __asm__ volatile("" : "+r"(pointer) : : "memory")

/* ---- caches ---- */

void memory_latency(const struct table_args *args)
{
    void **at = args->buffer[0];
    for (uint32_t i = 0; i < args->n[0]; i++)
        at = *at;
    *(void **)args->buffer[1] = at;
}

void memory_read(const struct table_args *args)
{
    const vector_f32 *in = args->buffer[0];
    vector_f32 sums[8] = {0};
    for (uint32_t round = 0; round < args->n[0]; round++)
        for (uint32_t i = 0; i < args->n[1] / VECTOR_BYTES; i += 8)
            for (int k = 0; k < 8; k++)
                sums[k] += in[i + k];
    for (int k = 1; k < 8; k++)
        sums[0] += sums[k];
    *(vector_f32 *)args->buffer[1] = sums[0];
}

/* ---- prefetching ---- */

/* One line of each page, so that the machine does not look ahead by itself, and so much work for
 * each that it has not gone on to the next pages when it begins to wait. */
static float sum_of_pages(const struct table_args *args, size_t ahead)
{
    const char *in = args->buffer[0];
    float sums[8] = {0};
    for (size_t line = 0; line < 16; line++)
        for (size_t page = 0; page < args->n[1]; page += PAGE_BYTES) {
            const char *at = in + page + line * LINE_BYTES;
            if (ahead)
                __builtin_prefetch(at + ahead * PAGE_BYTES);
            for (int i = 0; i < 64; i++) {
                sums[i % 8] += *(const float *)at;
                KEEP(sums[i % 8]);
            }
        }
    for (int i = 1; i < 8; i++)
        sums[0] += sums[i];
    return sums[0];
}

void memory_pages(const struct table_args *args)
{
    *(float *)args->buffer[1] = sum_of_pages(args, 0);
}

void memory_pages_ahead(const struct table_args *args)
{
    *(float *)args->buffer[1] = sum_of_pages(args, AHEAD);
}

/* ---- stores and loads ---- */

/* Each load waits for the store before it, and the next store for the load. The pointers are the
 * same, which neither the compiler nor the names of registers tell. */
void memory_forward(const struct table_args *args)
{
    uint64_t *to = args->buffer[1], *from = to;
    uint64_t value = 1;
    FORGET(from);
    for (uint32_t i = 0; i < args->n[0]; i++) {
        *to = value;
        FORGET(to);
        value = *from;
    }
    *to = value;
}

/* Two stores, one load over both: what was stored is not in the cache yet. */
void memory_forward_parts(const struct table_args *args)
{
    char *to = args->buffer[1], *from = to;
    uint64_t value = 1;
    FORGET(from);
    for (uint32_t i = 0; i < args->n[0]; i++) {
        *(uint32_t *)to = (uint32_t)value;
        FORGET(to);
        *(uint32_t *)(to + 4) = (uint32_t)(value >> 32);
        FORGET(to);
        value = *(const uint64_t *)from;
    }
    *(uint64_t *)to = value;
}

/* What is loaded is stored next. Only if a load takes itself for one of what was just stored, to
 * the same place of another page, does it wait. */
static void copy_at(const struct table_args *args, size_t distance)
{
    char *to = args->buffer[1];
    const char *from = to + 4 * PAGE_BYTES + distance;
    uint64_t value = 0;
    for (uint32_t i = 0; i < args->n[0]; i++) {
        size_t at = i % 32 * LINE_BYTES;
        *(uint64_t *)(to + at) = value;
        FORGET(from);
        value = *(const uint64_t *)(from + at);
    }
    *(uint64_t *)to = value;
}

void memory_apart(const struct table_args *args)
{
    copy_at(args, PAGE_BYTES / 2);
}

void memory_aliased(const struct table_args *args)
{
    copy_at(args, 0);
}
