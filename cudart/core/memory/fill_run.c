/* SPDX-License-Identifier: Apache-2.0
 *
 * Does a fill that has been checked. Programs fill memory with zeros that they have just allocated:
 * untouched memory is zero already, and takes no room until somebody touches it. Other fills get
 * the pages they need many at a time.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cudart/core/memory/access_watch.h"
#include "cudart/core/memory/copy.h"
#include "cudart/core/memory/device_arena.h"
#include "cudart/core/memory/pages_ahead.h"
#include "cudart/core/memory/written.h"
#include "util/pages.h"

/* Below this, asking the system costs more than it saves. */
#define LOOK_BYTES ((size_t)256 << 10)
#define LOOK_PAGES ((size_t)2048) /* at a time */

/* The next data in the file at or behind pos, or end; and the end of that data. */
static off_t next_data(int file, off_t pos, off_t end)
{
    off_t data = lseek(file, pos, SEEK_DATA);
    return data < 0 || data > end ? end : data;
}

static off_t next_hole(int file, off_t pos, off_t end)
{
    off_t hole = lseek(file, pos, SEEK_HOLE);
    return hole < 0 || hole > end ? end : hole;
}

/* A range known to have data, to be cleared in one go: large fills bypass the caches. */
struct run {
    uintptr_t begin;
    uintptr_t end;
};

static void end_run(struct run *run)
{
    if (run->begin < run->end)
        memset((void *)run->begin, 0, run->end - run->begin);
    run->begin = run->end;
}

static void add_to_run(struct run *run, uintptr_t begin, size_t bytes)
{
    if (begin != run->end) {
        end_run(run);
        run->begin = begin;
    }
    run->end = begin + bytes;
}

/* A range of which no page is in memory: those that were written to and swapped out are data. */
static void clear_absent(struct run *run, uintptr_t base, size_t bytes, int file, off_t offset)
{
    off_t end = offset + (off_t)bytes;
    off_t hole;
    for (off_t data = next_data(file, offset, end); data < end; data = next_data(file, hole, end)) {
        hole = next_hole(file, data, end);
        add_to_run(run, base + (uintptr_t)(data - offset), (size_t)(hole - data));
    }
}

/* Pages in a row, from the first one, of which all or none are in memory. */
static size_t pages_alike(const unsigned char *in_memory, size_t count)
{
    size_t alike = 1;
    while (alike < count && (in_memory[alike] & 1) == (in_memory[0] & 1))
        alike++;
    return alike;
}

/* Whole pages, at most as many as are looked at in one go. */
static void clear_pages(struct run *run, uintptr_t base, size_t count, int file, off_t offset)
{
    unsigned char in_memory[LOOK_PAGES];
    size_t page_bytes = pxr_page_bytes();
    if (mincore((void *)base, count * page_bytes, in_memory) != 0)
        memset(in_memory, 1, count);
    for (size_t i = 0; i < count;) {
        size_t alike = pages_alike(&in_memory[i], count - i);
        uintptr_t begin = base + i * page_bytes;
        if (in_memory[i] & 1)
            add_to_run(run, begin, alike * page_bytes);
        else
            clear_absent(run, begin, alike * page_bytes, file, offset + (off_t)(i * page_bytes));
        i += alike;
    }
}

static void clear(uintptr_t base, size_t bytes)
{
    int file;
    int64_t offset;
    if (bytes < LOOK_BYTES || !crt_arena_file(base, &file, &offset)) {
        memset((void *)base, 0, bytes);
        return;
    }
    uintptr_t end = base + bytes;
    base += (uintptr_t)(next_data(file, offset, (off_t)offset + (off_t)bytes) - (off_t)offset);
    /* The pages at both ends may be somebody else's, too. */
    uintptr_t first = pxr_round_to_pages(base);
    uintptr_t last = pxr_round_down_to_pages(end);
    if (first >= last) {
        memset((void *)base, 0, end - base);
        return;
    }
    struct run run = {.begin = base, .end = first};
    while (first < last) {
        size_t pages = (last - first) / pxr_page_bytes();
        pages = pages < LOOK_PAGES ? pages : LOOK_PAGES;
        crt_arena_file(first, &file, &offset);
        clear_pages(&run, first, pages, file, (off_t)offset);
        first += pages * pxr_page_bytes();
    }
    if (last < end)
        add_to_run(&run, last, end - last);
    end_run(&run);
}

static void fill_elements(const struct crt_fill *fill, uintptr_t base, size_t count)
{
    if (fill->elem_bytes == 1) {
        memset((void *)base, (int)(fill->value & 0xff), count);
    } else if (fill->elem_bytes == 2) {
        uint16_t *elems = (uint16_t *)base;
        for (size_t i = 0; i < count; i++)
            elems[i] = (uint16_t)fill->value;
    } else {
        uint32_t *elems = (uint32_t *)base;
        for (size_t i = 0; i < count; i++)
            elems[i] = fill->value;
    }
}

/* Where pages are absent, in pieces that get theirs before. */
static void fill_row(const struct crt_fill *fill, uintptr_t row)
{
    size_t most = CRT_AHEAD_BYTES / fill->elem_bytes;
    if (!crt_pages_are_absent(row, fill->width * fill->elem_bytes)) {
        fill_elements(fill, row, fill->width);
        return;
    }
    for (size_t done = 0; done < fill->width; done += most) {
        size_t count = fill->width - done < most ? fill->width - done : most;
        uintptr_t base = row + done * fill->elem_bytes;
        crt_pages_get(base, count * fill->elem_bytes);
        fill_elements(fill, base, count);
    }
}

static bool is_zero(const struct crt_fill *fill)
{
    uint32_t bits = fill->elem_bytes * 8;
    return (fill->value & (UINT32_MAX >> (32 - bits))) == 0;
}

static void tell_accesses(const struct crt_fill *fill, const struct crt_frames *calls)
{
    struct crt_watched watched;
    if (!crt_accesses_are_watched())
        return;
    crt_watch_begin(&watched, "fill", calls);
    for (size_t y = 0; y < fill->height; y++)
        crt_watch_access(&watched, fill->base + y * fill->pitch_bytes,
                         fill->width * fill->elem_bytes, true);
}

void crt_fill_run(const struct crt_fill *fill, const struct crt_frames *calls)
{
    size_t row_bytes = fill->width * fill->elem_bytes;
    for (size_t y = 0; y < fill->height; y++)
        crt_written_set(fill->base + y * fill->pitch_bytes, row_bytes);
    tell_accesses(fill, calls);
    bool is_dense = fill->height == 1 || fill->pitch_bytes == row_bytes;
    if (is_zero(fill) && is_dense) {
        clear(fill->base, row_bytes * fill->height);
        return;
    }
    for (size_t y = 0; y < fill->height; y++) {
        uintptr_t row = fill->base + y * fill->pitch_bytes;
        if (is_zero(fill))
            clear(row, row_bytes);
        else
            fill_row(fill, row);
    }
}
