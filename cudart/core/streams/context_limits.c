/* SPDX-License-Identifier: Apache-2.0
 *
 * Limits of a context, in the ranges that the driver API documents.
 */
#include "cudart/core/base/device.h"
#include "cudart/core/streams/context.h"

#define STACK_MAX           ((size_t)512 << 10) /* local memory of a thread */
#define STACK_UNIT          16
#define SYNC_DEPTH_MAX      24
#define SYNC_DEPTH_BELOW_CC 90 /* architectures from this one on do not have that limit */
#define L2_GRANULARITY_MAX  128

static const size_t defaults[CRT_LIMIT_COUNT] = {
    [CRT_LIMIT_STACK_SIZE] = 1024,          [CRT_LIMIT_PRINTF_FIFO_SIZE] = 1 << 20,
    [CRT_LIMIT_MALLOC_HEAP_SIZE] = 8 << 20, [CRT_LIMIT_SYNC_DEPTH] = 2,
    [CRT_LIMIT_PENDING_LAUNCHES] = 2048,    [CRT_LIMIT_L2_GRANULARITY] = 64,
};

void crt_context_init_limits(struct crt_context *ctx)
{
    for (int i = 0; i < CRT_LIMIT_COUNT; i++)
        atomic_store(&ctx->limits[i], defaults[i]);
    atomic_store(&ctx->has_printed, false);
    atomic_store(&ctx->has_allocated, false);
}

/* CRT_INVALID_VALUE if it is no limit, CRT_UNSUPPORTED_LIMIT if this architecture does not have it:
 * the persisting part of the L2 cache, and limits of graphics. */
static enum crt_result check_limit(unsigned limit)
{
    if (limit >= CRT_LIMIT_KNOWN)
        return CRT_INVALID_VALUE;
    if (limit == CRT_LIMIT_PERSISTING_L2 || limit >= CRT_LIMIT_COUNT)
        return CRT_UNSUPPORTED_LIMIT;
    if (limit == CRT_LIMIT_SYNC_DEPTH && crt_architecture_get()->capability >= SYNC_DEPTH_BELOW_CC)
        return CRT_UNSUPPORTED_LIMIT;
    return CRT_SUCCESS;
}

enum crt_result crt_context_get_limit(struct crt_context *ctx, unsigned limit, size_t *value)
{
    enum crt_result result = check_limit(limit);
    if (result == CRT_SUCCESS)
        *value = atomic_load(&ctx->limits[limit]);
    return result;
}

/* Brings a value into the form that is kept; false when it cannot be had, or not any more. */
static bool adjust(const struct crt_context *ctx, unsigned limit, size_t *value)
{
    switch (limit) {
    case CRT_LIMIT_STACK_SIZE:
        if (*value > STACK_MAX)
            return false;
        *value = (*value + STACK_UNIT - 1) & ~(size_t)(STACK_UNIT - 1);
        return true;
    case CRT_LIMIT_PRINTF_FIFO_SIZE:
        return !atomic_load(&ctx->has_printed);
    case CRT_LIMIT_MALLOC_HEAP_SIZE:
        return !atomic_load(&ctx->has_allocated) && *value <= ctx->device->memory_bytes;
    case CRT_LIMIT_SYNC_DEPTH:
        return *value <= SYNC_DEPTH_MAX;
    case CRT_LIMIT_L2_GRANULARITY:
        if (*value > L2_GRANULARITY_MAX)
            *value = L2_GRANULARITY_MAX;
        return true;
    default:
        return true;
    }
}

enum crt_result crt_context_set_limit(struct crt_context *ctx, unsigned limit, size_t value)
{
    enum crt_result result = check_limit(limit);
    if (result != CRT_SUCCESS)
        return result;
    if (!adjust(ctx, limit, &value))
        return CRT_INVALID_VALUE;
    atomic_store(&ctx->limits[limit], value);
    return CRT_SUCCESS;
}
