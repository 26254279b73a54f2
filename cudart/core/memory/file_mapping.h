/* SPDX-License-Identifier: Apache-2.0
 *
 * A part of a file as memory of a device: mapped between guards and known to the arena, so that
 * copies, kernels and pointer attributes find it. crt_arena_free ends the mapping.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_FILE_MAPPING_H
#define PTXRUN_CUDART_CORE_MEMORY_FILE_MAPPING_H

#include <stdint.h>

#include "cudart/core/memory/device_arena.h"

struct crt_file_part {
    int file; /* stays the caller's */
    uint64_t offset;
    uint64_t size_bytes;
};

/* Maps a part of a file that can be read and written, as memory of this kind and device that
 * belongs to ctx. CRT_MAP_FAILED where the file does not reach so far. */
enum crt_result crt_file_map(const struct crt_file_part *part, enum crt_memory kind,
                             struct crt_context *ctx, int device, struct crt_allocation *mapped);

/* Ends the mapping that begins with the page of base. */
void crt_file_unmap(uintptr_t base, size_t size_bytes);

#endif
