/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart/core/memory/unused.h"

#include <stdio.h>
#include <string.h>

#include "cudart/core/base/leak.h"
#include "cudart/core/base/process.h"
#include "cudart/core/check/call_finding.h"
#include "cudart/core/check/end.h"
#include "cudart/core/check/findings.h"
#include "cudart/core/memory/describe.h"
#include "cudart/core/memory/written.h"
#include "util/options.h"

/* What has not been written. */
struct unwritten {
    size_t bytes;
    size_t first; /* its place in the allocation */
};

static struct unwritten measure(uintptr_t base, size_t size_bytes)
{
    struct unwritten unwritten = {.first = size_bytes};
    for (size_t place = 0; place < size_bytes;) {
        size_t gap;
        place += crt_bits_find_gap(crt_written(), base + place, size_bytes - place, &gap);
        if (unwritten.bytes == 0)
            unwritten.first = place;
        unwritten.bytes += gap;
        place += gap;
    }
    return unwritten;
}

static void report(uintptr_t base, size_t size_bytes, const struct crt_frames *allocated)
{
    struct unwritten unwritten = measure(base, size_bytes);
    double percent = 100.0 * (double)unwritten.bytes / (double)size_bytes;
    char access[128];
    char where[CRT_WHERE_BYTES];
    if (unwritten.bytes == 0 || percent < pxr_options_get()->unused_memory)
        return;
    snprintf(access, sizeof access, "%zu of %zu bytes of device memory (%.0f %%)", unwritten.bytes,
             size_bytes, percent);
    snprintf(where, sizeof where, "the first are at byte %zu of the block at 0x%zx",
             unwritten.first, (size_t)base);
    crt_call_finding_add(&(struct crt_finding){.kind = CRT_FINDING_UNUSED_MEMORY,
                                               .access = access,
                                               .where = where,
                                               .address = base + unwritten.first,
                                               .bytes = unwritten.bytes,
                                               .block_base = base,
                                               .block_bytes = size_bytes},
                         allocated);
}

bool crt_unused_is_on(void)
{
    return pxr_options_get()->unused_memory > 0 && crt_checks_written();
}

void crt_unused_report(uintptr_t base, size_t size_bytes)
{
    struct crt_frames allocated = {0};
    if (crt_unused_is_on() && crt_leak_frames((const void *)base, &allocated))
        report(base, size_bytes, &allocated);
}

static void report_left(const char *noun, const void *address, size_t size_bytes,
                        const struct crt_frames *frames)
{
    if (strcmp(noun, CRT_NOUN_DEVICE_MEMORY) == 0)
        report((uintptr_t)address, size_bytes, frames);
}

__attribute__((destructor(CRT_CHECK_LAST_FINDINGS))) static void end(void)
{
    if (crt_check_ready() == CRT_SUCCESS && crt_unused_is_on())
        crt_leak_each(report_left);
}
