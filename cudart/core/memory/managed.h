/* SPDX-License-Identifier: Apache-2.0
 *
 * The program's advice and prefetches for ranges of managed memory. All memory is the host's, so
 * that none of it moves anything; the program can read it back.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_MANAGED_H
#define PTXRUN_CUDART_CORE_MEMORY_MANAGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/result.h"
#include "cudart/core/memory/memory.h"

#define CRT_ACCESSED_BY_HOST 31 /* its bit in accessed_by; devices have the bit of their index */

/* The state of a range that is the same everywhere in it. */
struct crt_range_state {
    bool is_read_mostly;
    struct crt_location preferred; /* type CRT_LOCATION_NONE: no such place */
    struct crt_location prefetched;
    uint32_t accessed_by;
};

/* Changes the state of one range. */
typedef void (*crt_range_change)(struct crt_range_state *state, const void *arg);

CRT_API_BEGIN

/* CRT_INVALID_VALUE unless the range, widened to pages, lies in managed memory; with_pageable: or
 * in memory that the program can use and that the API knows nothing of. */
enum crt_result crt_managed_check(uintptr_t base, size_t size_bytes, bool with_pageable);

/* Advice and prefetches in order with a stream cannot be captured. */
enum crt_result crt_managed_check_stream(struct crt_stream *stream);

/* Applies a change to all of a range. Pageable memory in it is not remembered. */
enum crt_result crt_managed_change(uintptr_t base, size_t size_bytes, crt_range_change change,
                                   const void *arg);

/* The state that the whole range of managed memory has in common; the rest is none, or false. */
enum crt_result crt_managed_query(uintptr_t base, size_t size_bytes, struct crt_range_state *state);

CRT_API_END

/* The allocation with this number has ended; or: those have that no longer exist. */
void crt_managed_forget(uint64_t id);
void crt_managed_forget_dead(void);

#endif
