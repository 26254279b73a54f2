/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/memory/written.h"

#include "cudart/core/check/findings.h"

static struct crt_grains written;

enum crt_result crt_written_create(uintptr_t begin, size_t size_bytes)
{
    return crt_checks_written() ? crt_grains_create(&written, begin, size_bytes) : CRT_SUCCESS;
}

const struct crt_grains *crt_written(void)
{
    return &written;
}

void crt_written_set(uintptr_t base, size_t size_bytes)
{
    crt_bits_set(&written, base, size_bytes);
}

void crt_written_clear(uintptr_t base, size_t size_bytes)
{
    crt_bits_clear(&written, base, size_bytes);
}

void crt_written_copy(uintptr_t dst, uintptr_t src, size_t size_bytes)
{
    crt_bits_copy(&written, dst, &written, src, size_bytes);
}
