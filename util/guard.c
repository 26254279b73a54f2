/* SPDX-License-Identifier: Apache-2.0
 *
 * Guards cost nothing where the system can mark pages without splitting a mapping
 * (MADV_GUARD_INSTALL, Linux 6.13). Elsewhere they are counted, as mappings are limited.
 */
#include "util/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/pages.h"

/* Older headers lack the name. */
#define ADVISE_GUARD_INSTALL 102

/* A guard made with mprotect splits a mapping in two, and a process may have only 65530 mappings
 * by default. Allocations and the application need some of them. */
#define SPLIT_GUARDS_MAX 12000

static atomic_uint split_guards;
static atomic_bool is_splitting_forced;

/* Whether MADV_GUARD_INSTALL has an effect. Emulators accept advice that they do not know, so this
 * looks: a system call refuses a path in a guard page. */
static bool advice_guards(void)
{
    static atomic_int known; /* 0: not yet, 1: yes, 2: no */
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (answer != 0)
        return answer == 1;
    size_t page_bytes = pxr_page_bytes();
    char *page = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return false;
    bool is_guarded = madvise(page, page_bytes, ADVISE_GUARD_INSTALL) == 0 &&
                      syscall(SYS_faccessat, AT_FDCWD, page, F_OK) == -1 && errno == EFAULT;
    munmap(page, page_bytes);
    atomic_store_explicit(&known, is_guarded ? 1 : 2, memory_order_relaxed);
    return is_guarded;
}

void pxr_guard_set_splitting(bool is_splitting)
{
    atomic_store(&is_splitting_forced, is_splitting);
}

unsigned pxr_guard_install(void *guard, size_t size_bytes)
{
    bool may_advise = !atomic_load_explicit(&is_splitting_forced, memory_order_relaxed);
    if (may_advise && advice_guards() && madvise(guard, size_bytes, ADVISE_GUARD_INSTALL) == 0)
        return 0;
    if (atomic_fetch_add(&split_guards, 1) < SPLIT_GUARDS_MAX &&
        mprotect(guard, size_bytes, PROT_NONE) == 0)
        return 1;
    atomic_fetch_sub(&split_guards, 1);
    return 0;
}

void pxr_guard_forget(unsigned count)
{
    atomic_fetch_sub(&split_guards, count);
}

/* Whole pages at a multiple of the alignment, with so much more on both sides. */
static uint8_t *map_aligned(size_t size_bytes, size_t alignment, size_t guard_bytes, int protection)
{
    size_t used, wanted;
    if (__builtin_add_overflow(size_bytes, 2 * guard_bytes, &used) ||
        __builtin_add_overflow(used, alignment - pxr_page_bytes(), &wanted))
        return NULL;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    uint8_t *whole = mmap(NULL, wanted, protection, flags, -1, 0);
    if (whole == MAP_FAILED)
        return NULL;
    size_t before = (size_t)(-((uintptr_t)whole + guard_bytes) & (alignment - 1));
    if (before)
        munmap(whole, before);
    if (wanted - used > before)
        munmap(whole + before + used, wanted - used - before);
    return whole + before + guard_bytes;
}

bool pxr_area_map_aligned(struct pxr_area *area, size_t size_bytes, size_t alignment)
{
    if (size_bytes > SIZE_MAX / 2)
        return false;
    size_t rounded = pxr_round_to_pages(size_bytes);
    uint8_t *base = map_aligned(rounded, alignment, PXR_AREA_GUARD_BYTES, PROT_READ | PROT_WRITE);
    if (!base)
        return false;
    area->base = base;
    area->size_bytes = rounded;
    area->split_guards = pxr_guard_install(base - PXR_AREA_GUARD_BYTES, PXR_AREA_GUARD_BYTES) +
                         pxr_guard_install(base + rounded, PXR_AREA_GUARD_BYTES);
    return true;
}

bool pxr_area_map(struct pxr_area *area, size_t size_bytes)
{
    return pxr_area_map_aligned(area, size_bytes, pxr_page_bytes());
}

void pxr_area_unmap(struct pxr_area *area)
{
    if (!area->base)
        return;
    munmap(area->base - PXR_AREA_GUARD_BYTES, area->size_bytes + 2 * PXR_AREA_GUARD_BYTES);
    pxr_guard_forget(area->split_guards);
    *area = (struct pxr_area){0};
}

void *pxr_reserve(size_t size_bytes, size_t alignment, size_t guard_bytes)
{
    return map_aligned(size_bytes, alignment, guard_bytes, PROT_NONE);
}

void pxr_unreserve(void *base, size_t size_bytes, size_t guard_bytes)
{
    munmap((uint8_t *)base - guard_bytes, size_bytes + 2 * guard_bytes);
}
