/* SPDX-License-Identifier: Apache-2.0
 *
 * See launch_report.h.
 */
#include "cudart/core/code/launch_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cudart/core/check/api_errors.h"
#include "cudart/core/check/findings.h"
#include "cudart/core/code/launch.h"
#include "cudart/core/code/module.h"
#include "cudart/core/streams/context.h"
#include "util/readable_name.h"

/* Whether it is the context's error from before, which every call returns. */
static bool is_older(uint32_t error)
{
    struct crt_context *ctx = crt_context_get_current();
    return crt_context_is_valid(ctx) && (uint32_t)crt_context_sticky(ctx) == error;
}

void crt_report_launch(const struct crt_kernel *kernel, const struct crt_launch_config *config,
                       uint32_t error)
{
    char what[512];
    char why[256];
    if (!crt_checks_api() || is_older(error))
        return;
    const char *name = crt_kernel_is_valid(kernel) ? crt_kernel_name(kernel) : "a kernel";
    char *readable = pxr_readable_name(name);
    const uint32_t *grid = config->grid;
    const uint32_t *block = config->block;
    snprintf(what, sizeof what, "launch of %s", readable ? readable : name);
    snprintf(why, sizeof why,
             "a grid of (%" PRIu32 ",%" PRIu32 ",%" PRIu32 ") blocks of (%" PRIu32 ",%" PRIu32
             ",%" PRIu32 ") threads with %" PRIu64 " bytes of dynamic shared memory",
             grid[0], grid[1], grid[2], block[0], block[1], block[2],
             (uint64_t)config->dynamic_shared_bytes);
    crt_api_launch_error(error, what, why);
    free(readable);
}
