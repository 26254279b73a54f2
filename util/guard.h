/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory between guards: address space that cannot be accessed, so that an access beyond either end
 * faults instead of reaching memory that the system has put next to it.
 */
#ifndef PTXRUN_UTIL_GUARD_H
#define PTXRUN_UTIL_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* On each side of an area: more than all shared memory that a block can have, so that an index that
 * is off by a whole array faults, too. */
#define PXR_AREA_GUARD_BYTES ((size_t)256 * 1024)

/* Memory of the process between two guards. All zero: none. */
struct pxr_area {
    uint8_t *base;
    size_t size_bytes;
    unsigned split_guards; /* guards that have cost a mapping */
};

/* Maps at least size_bytes that can be read and written; whole pages. False when out of memory. */
bool pxr_area_map(struct pxr_area *area, size_t size_bytes);
/* The same at a multiple of a power of two, at least a page. */
bool pxr_area_map_aligned(struct pxr_area *area, size_t size_bytes, size_t alignment);
void pxr_area_unmap(struct pxr_area *area); /* does nothing for no area */

/* Makes whole pages of mapped private memory inaccessible. Best effort: where a guard costs a
 * mapping, only so many are made. Returns how many it has cost, 0 or 1. */
unsigned pxr_guard_install(void *guard, size_t size_bytes);

/* So many guards that have cost a mapping are gone. */
void pxr_guard_forget(unsigned count);

/* Reserves inaccessible address space of size_bytes (whole pages) at a multiple of alignment (a
 * power of two, at least a page), with so much more on both sides that nothing uses. NULL when
 * there is none. */
void *pxr_reserve(size_t size_bytes, size_t alignment, size_t guard_bytes);

/* Gives back what pxr_reserve has returned for the same sizes, whatever is mapped there now. */
void pxr_unreserve(void *base, size_t size_bytes, size_t guard_bytes);

/* For tests: behaves as on a system where every guard costs a mapping. */
void pxr_guard_set_splitting(bool is_splitting);

#endif
