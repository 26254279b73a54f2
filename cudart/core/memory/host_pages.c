/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/memory/host_pages.h"

#include <pthread.h>
#include <stdlib.h>
#include <utlist.h>

#include "util/pages.h"
#include "util/protection_key.h"

struct area {
    struct area *next;
    struct area *prev;
    uintptr_t base;
    uintptr_t end;
    uintptr_t open; /* what may be open lies between these two */
    uintptr_t open_end;
};

/* Guarded by lock. */
static struct {
    pthread_mutex_t lock;
    bool has_begun;
    struct area *first;
} areas = {.lock = PTHREAD_MUTEX_INITIALIZER};

bool crt_host_pages_begin(void)
{
    areas.has_begun = pxr_key_make();
    return areas.has_begun;
}

void crt_host_pages_add(uintptr_t base, size_t size_bytes)
{
    struct area *area = areas.has_begun ? malloc(sizeof *area) : NULL;
    if (!area)
        return;
    uintptr_t end = base + pxr_round_to_pages(size_bytes);
    *area = (struct area){.base = base, .end = end, .open = base, .open_end = end};
    pthread_mutex_lock(&areas.lock);
    DL_APPEND(areas.first, area);
    pthread_mutex_unlock(&areas.lock);
}

static struct area *find_locked(uintptr_t address)
{
    struct area *area;
    DL_FOREACH(areas.first, area)
    if (address - area->base < area->end - area->base)
        return area;
    return NULL;
}

static void open_locked(struct area *area, uintptr_t begin, uintptr_t end)
{
    pxr_key_unlock(begin, end - begin);
    bool is_closed = area->open == area->open_end;
    area->open = is_closed || begin < area->open ? begin : area->open;
    area->open_end = is_closed || end > area->open_end ? end : area->open_end;
}

void crt_host_pages_remove(uintptr_t base)
{
    if (!areas.has_begun)
        return;
    pthread_mutex_lock(&areas.lock);
    struct area *area = find_locked(base);
    if (area) {
        open_locked(area, area->base, area->end);
        DL_DELETE(areas.first, area);
    }
    pthread_mutex_unlock(&areas.lock);
    free(area);
}

void crt_host_pages_close(void)
{
    pthread_mutex_lock(&areas.lock);
    struct area *area;
    DL_FOREACH(areas.first, area)
    if (area->open < area->open_end) {
        pxr_key_lock(area->open, area->open_end - area->open);
        area->open = area->open_end = area->base;
    }
    pthread_mutex_unlock(&areas.lock);
}

bool crt_host_pages_open(uintptr_t address, bool all)
{
    pthread_mutex_lock(&areas.lock);
    struct area *area = find_locked(address);
    uintptr_t page = pxr_round_down_to_pages(address);
    if (area && all)
        open_locked(area, area->base, area->end);
    else if (area)
        open_locked(area, page, page + pxr_page_bytes());
    pthread_mutex_unlock(&areas.lock);
    return area != NULL;
}
