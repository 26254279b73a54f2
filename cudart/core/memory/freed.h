/* SPDX-License-Identifier: Apache-2.0
 *
 * What was allocated at an address that has been given back, as long as it is remembered: for
 * messages of --check. Thread-safe.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_FREED_H
#define PTXRUN_CUDART_CORE_MEMORY_FREED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/host_frames.h"

/* The calling thread is about to give memory back for the program; crt_freed_note remembers its
 * calls. It takes locks of the loader. */
void crt_freed_begin(void);
void crt_freed_end(void);

/* The last ranges are remembered; without --check none. */
void crt_freed_note(uintptr_t base, size_t size_bytes);

struct crt_freed {
    uintptr_t base;
    size_t size_bytes;
    struct crt_frames frames; /* of the host; none where a stream has done it */
};

/* The range that was freed last among those that contain the address. */
bool crt_freed_find(uintptr_t address, struct crt_freed *freed);

#endif
