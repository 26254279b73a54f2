/* SPDX-License-Identifier: Apache-2.0
 *
 * The memory of a shadow: one byte for each grain of a range of addresses. It takes memory only
 * where something is not 0.
 */
#ifndef PTXRUN_CUDART_CORE_MEMORY_GRAINS_H
#define PTXRUN_CUDART_CORE_MEMORY_GRAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cudart/core/base/result.h"
#include "kernel_abi/rt.h"

struct crt_grains {
    uintptr_t begin;
    size_t size_bytes; /* of the range */
    uint8_t *bytes;    /* NULL: there are none */
};

enum crt_result crt_grains_create(struct crt_grains *grains, uintptr_t begin, size_t size_bytes);

/* Whether all of these bytes are in the range. */
static inline bool crt_grains_have(const struct crt_grains *grains, uintptr_t base,
                                   size_t size_bytes)
{
    return grains->bytes && base - grains->begin < grains->size_bytes &&
           size_bytes <= grains->size_bytes - (base - grains->begin);
}

static inline uint8_t *crt_grain_of(const struct crt_grains *grains, uintptr_t address)
{
    return grains->bytes + (address - grains->begin) / RT_SHADOW_GRAIN;
}

/* Those of the range become 0, whose first byte is the first of a grain. */
void crt_grains_clear(const struct crt_grains *grains, uintptr_t base, size_t size_bytes);

/* For launches. */
struct rt_checked crt_grains_checked(const struct crt_grains *grains);

#endif
